/* sim/collectives/repeats.c - collectives that take a known time and repeat each other.
 *
 * A model whose parameters are sharded gathers each layer once or twice, always among the same
 * ranks and mostly as many bytes. What one such message takes, and puts on each link, costs a walk
 * over all messages of its algorithm: n^2 of a ring of n ranks. So it is found once a run for all
 * collectives of the same kind, ranks, root and bytes.
 */
#include "config.h"

#include "base/hash.h"
#include "sim/collectives/link_load.h"

#include <stdlib.h>
#include <string.h>

struct fr__repeats {
    struct fr__hash_table table;
    struct fr__repeat *at; /* [n] */
    size_t n, cap;
    uint32_t *of; /* [n_collectives] its entry + 1; 0: not asked for yet */
};

void fr__repeats_free(struct fr__repeats *t)
{
    if (!t)
        return;
    fr__hash_fini(&t->table);
    free(t->at);
    free(t);
}

enum fr_status fr__repeats_reset(struct fr__engine *e)
{
    struct fr__repeats *t = e->collectives.repeats;

    if (!t)
        t = e->collectives.repeats = calloc(1, sizeof(*t));
    if (!t)
        return fr__engine_fail_nomem(e);
    fr__hash_fini(&t->table);
    t->n = 0;
    t->of = fr__arena_alloc(e->scratch, e->v->n_collectives, sizeof(*t->of));
    return t->of ? FR_OK : fr__engine_fail_nomem(e);
}

static bool is_same(const struct fr_collective *a, const struct fr_collective *b)
{
    return a->kind == b->kind && a->group == b->group && a->root == b->root && a->bytes == b->bytes;
}

static uint64_t hash_of(const struct fr_collective *c)
{
    uint64_t bytes;

    memcpy(&bytes, &c->bytes, sizeof(bytes));
    return fr__hash_id(bytes ^ fr__hash_id((uint64_t)c->group << 32 ^ c->root) ^ c->kind);
}

/* The number of the entry; FR_NONE: out of memory. */
static uint32_t find(struct fr__engine *e, struct fr__repeats *t, uint32_t collective)
{
    const struct fr_collective *c = &e->v->collectives[collective];
    uint64_t hash = hash_of(c);
    size_t at;

    for (uint32_t id = fr__hash_first(&t->table, hash, &at); id != FR_NONE;
         id = fr__hash_next(&t->table, hash, &at))
        if (is_same(&e->v->collectives[t->at[id].of], c))
            return id;
    if (!fr__grow(&t->at, &t->cap, t->n + 1, sizeof(*t->at)) ||
        !fr__hash_add(&t->table, hash, (uint32_t)t->n))
        return FR_NONE;
    t->at[t->n] = (struct fr__repeat){.of = collective};
    return (uint32_t)t->n++;
}

struct fr__repeat *fr__repeat_of(struct fr__engine *e, uint32_t collective)
{
    struct fr__repeats *t = e->collectives.repeats;
    uint32_t id = t->of[collective];

    if (id == 0) {
        id = find(e, t, collective);
        if (id == FR_NONE) {
            fr__engine_fail_nomem(e);
            return NULL;
        }
        t->of[collective] = ++id;
    }
    return &t->at[id - 1];
}
