/* sim/collectives/alike.c - collectives that take a formula's time and are alike.
 *
 * A model whose parameters are sharded gathers each layer once or twice, always among the same
 * ranks and mostly as many bytes. What one such message takes, and puts on each link, costs a walk
 * over all messages of its algorithm: n^2 of a ring of n ranks. So the last few are kept, and a
 * collective of the same kind, ranks, root and bytes takes over what was found. Results are the
 * same to the last bit as long as bytes are whole numbers, which doubles add without rounding.
 */
#include "config.h"

#include "sim/engine.h"

#include <stdlib.h>
#include <string.h>

static bool is_same(const struct fr_collective *a, const struct fr_collective *b)
{
    return a->kind == b->kind && a->group == b->group && a->root == b->root && a->bytes == b->bytes;
}

/* The entry of a collective; of one that is not kept, the oldest entry takes its place. */
static struct alike *entry_of(struct engine *e, uint32_t collective)
{
    struct collectives *c = &e->collectives;
    struct alike *a;

    for (uint32_t i = 0; i < c->n_alike; i++)
        if (is_same(&e->v->collectives[c->alike[i].of], &e->v->collectives[collective]))
            return &c->alike[i];
    a = &c->alike[c->next_alike];
    c->next_alike = (c->next_alike + 1) % N_ALIKE;
    if (c->n_alike < N_ALIKE)
        c->n_alike++;
    a->of = collective;
    a->has_time = a->has_bytes = false;
    return a;
}

double fr__alike_s(struct engine *e, uint32_t collective)
{
    struct alike *a;

    if (!e->v->collectives[collective].is_formula)
        return fr__collective_alone(e, collective);
    a = entry_of(e, collective);
    if (!a->has_time)
        a->time_s = fr__collective_alone(e, collective);
    a->has_time = true;
    return a->time_s;
}

/* Room for what it puts on each link, set to 0. */
static bool has_room(struct engine *e, struct alike *a)
{
    size_t n = e->v->topo->n_links;

    if (a->n_links < n) {
        double *bytes = realloc(a->link_bytes, n * sizeof(*bytes));

        if (!bytes) {
            fr__engine_fail_nomem(e);
            return false;
        }
        a->link_bytes = bytes;
        a->n_links = n;
    }
    memset(a->link_bytes, 0, n * sizeof(*a->link_bytes));
    return true;
}

void fr__alike_bytes(struct engine *e, uint32_t collective, double link_bytes[])
{
    struct alike *a;

    if (!e->v->collectives[collective].is_formula || e->v->topo->n_links == 0) {
        fr__collective_bytes(e, collective, link_bytes);
        return;
    }
    a = entry_of(e, collective);
    if (!a->has_bytes) {
        if (!has_room(e, a))
            return;
        fr__collective_bytes(e, collective, a->link_bytes);
        a->has_bytes = true;
    }
    for (size_t l = 0; l < e->v->topo->n_links; l++)
        link_bytes[l] += a->link_bytes[l];
}

void fr__alike_reset(struct engine *e)
{
    e->collectives.n_alike = e->collectives.next_alike = 0;
}

void fr__alike_fini(struct engine *e)
{
    for (size_t i = 0; i < N_ALIKE; i++)
        free(e->collectives.alike[i].link_bytes);
}
