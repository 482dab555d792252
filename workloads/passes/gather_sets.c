/* workloads/passes/gather_sets.c - which op reads which set of parameters, and which gradient goes
 * to which set; the rules are in gather.h. */
#include "config.h"

#include "workloads/passes/gather_parts.h"

void fr__gather_for_sets(struct fr__gathering *x, uint32_t op, fr__gather_reader call)
{
    const struct fr_graph *g = x->g;
    uint32_t f = g->ops[op].forward;
    bool reads = g->ops[op].phase == FR_PHASE_FORWARD ||
                 (g->ops[op].phase == FR_PHASE_BACKWARD_DATA && g->ops[op].param_bytes > 0);

    if (!reads || f == FR_NONE)
        return;
    if (fr__gather_owns(&g->ops[f]) && fr__gather_is_shared(x, f))
        call(x, op, fr__gather_unit_for(x, f, f), fr__gather_set_of(x, f));
    for (uint32_t i = g->in_first[f]; i < g->in_first[f + 1]; i++) {
        const struct fr_edge *e = &g->edges[g->in_edges[i]];

        if (fr__edge_is_tie(e) && fr__gather_owns(&g->ops[e->src]) &&
            fr__gather_is_shared(x, e->src))
            call(x, op, fr__gather_unit_for(x, e->src, f), fr__gather_set_of(x, e->src));
    }
}

struct fr__gather_set *fr__gather_of_update(const struct fr__gathering *x, size_t i)
{
    const struct fr_edge *e = &x->g->edges[i];
    uint32_t owner = x->g->ops[e->dst].forward;

    if (x->g->ops[e->dst].phase != FR_PHASE_UPDATE || owner == FR_NONE ||
        !fr__gather_owns(&x->g->ops[owner]) || !fr__gather_is_shared(x, owner) ||
        !fr__gather_is_backward(&x->g->ops[e->src]))
        return NULL;
    return &x->units[fr__gather_unit_from(x, owner)].sets[fr__gather_set_of(x, owner)];
}
