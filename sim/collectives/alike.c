/* sim/collectives/alike.c - collectives that take a formula's time and are alike.
 *
 * A model whose parameters are sharded gathers each layer once or twice, always among the same
 * ranks and mostly as many bytes. What one such message takes costs a walk over all messages of its
 * algorithm: n^2 of a ring of n ranks. So the last few are kept, and a collective of the same kind,
 * ranks, root and bytes takes over what was found. Results are the same to the last bit.
 */
#include "config.h"

#include "sim/engine.h"

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
    a->has_time = false;
    return a;
}

struct fr__known fr__alike(struct engine *e, uint32_t collective)
{
    struct alike *a;

    if (!fr__collective_is_known(e, collective))
        return fr__collective_alone(e, collective);
    a = entry_of(e, collective);
    if (!a->has_time)
        a->known = fr__collective_alone(e, collective);
    a->has_time = true;
    return a->known;
}

void fr__alike_reset(struct engine *e)
{
    e->collectives.n_alike = e->collectives.next_alike = 0;
}
