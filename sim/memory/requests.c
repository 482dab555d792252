/* sim/memory/requests.c - plays allocators' requests, like ones once. */
#include "config.h"

#include "sim/memory/requests.h"

#include "base/arena.h"
#include "base/bytes.h"
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

/* What one device after the other is played with. */
struct player {
    struct fr__allocator *allocator; /* NULL: none yet */
    uint32_t *blocks;                /* [cap] of the takes */
    size_t cap;
};

static bool make_ready(struct player *p, const struct fr__requests *r)
{
    if (!p->allocator)
        p->allocator = fr__allocator_new(r->limit_bytes, r->rules);
    else
        fr__allocator_reset(p->allocator, r->limit_bytes);
    return p->allocator &&
           fr__grow(&p->blocks, &p->cap, (size_t)r->n_takes + 1, sizeof(*p->blocks));
}

/* An allocator never uses an address twice, with a gap behind each segment. All takes together are
 * kept below a quarter of the addresses, once it is known that they do not fit. */
static const uint64_t MOST_TAKEN_BYTES = UINT64_C(1) << 61;

/* Whether the take of so many bytes must not be played: the device is over anyway. */
static bool is_beyond(const struct fr__requests *r, const struct fr__allocator_stats *stats,
                      uint64_t bytes, uint64_t *taken_bytes)
{
    *taken_bytes = fr__add_bytes(*taken_bytes, bytes);
    return *taken_bytes > MOST_TAKEN_BYTES && (stats->is_over || bytes > r->limit_bytes);
}

static bool play(struct player *p, const struct fr__requests *r, struct fr__played *out)
{
    const struct fr__allocator_stats *stats;
    struct fr__allocator *a;
    uint32_t *blocks, n_takes = 0;
    uint64_t taken_bytes = 0;

    if (!make_ready(p, r))
        return false;
    a = p->allocator;
    blocks = p->blocks;
    stats = fr__allocator_stats(a);
    out->first_over = FR_NONE;
    out->is_cut = false;
    for (size_t i = 0; i < r->n && !out->is_cut; i++) {
        uint64_t asked = r->asked[i];

        if (!(asked & 1)) {
            fr__allocator_give(a, blocks[asked >> 1]);
            continue;
        }
        out->is_cut = is_beyond(r, stats, asked >> 1, &taken_bytes);
        if (!out->is_cut)
            blocks[n_takes] = fr__allocator_take(a, asked >> 1);
        if (!out->is_cut && blocks[n_takes] == FR_NONE)
            return false;
        if ((stats->is_over || out->is_cut) && out->first_over == FR_NONE)
            out->first_over = n_takes;
        n_takes++;
    }
    out->stats = *stats;
    out->stats.is_over |= out->is_cut;
    return true;
}

static bool is_same(const struct fr__requests *x, const struct fr__requests *y)
{
    return x->n == y->n && x->limit_bytes == y->limit_bytes &&
           (x->n == 0 || memcmp(x->asked, y->asked, x->n * sizeof(*x->asked)) == 0);
}

/* A device before i that asks for the same, or FR_NONE. */
static uint32_t find_like(const struct fr__requests of[], const struct fr__hash_table *t,
                          uint32_t i)
{
    size_t at;
    uint32_t k = fr__hash_first(t, of[i].hash, &at);

    while (k != FR_NONE && !(of[k].hash == of[i].hash && is_same(&of[k], &of[i])))
        k = fr__hash_next(t, of[i].hash, &at);
    return k;
}

bool fr__requests_play(const struct fr__requests of[], size_t n, struct fr__played played[])
{
    struct fr__hash_table table = {0};
    struct player p = {.allocator = NULL};
    bool ok = true;

    for (uint32_t i = 0; ok && i < n; i++) {
        uint32_t like = find_like(of, &table, i);

        if (like != FR_NONE)
            played[i] = played[like];
        else
            ok = play(&p, &of[i], &played[i]) && fr__hash_add(&table, of[i].hash, i);
    }
    fr__allocator_free(p.allocator);
    free(p.blocks);
    fr__hash_fini(&table);
    return ok;
}
