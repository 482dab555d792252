/* strategies/hybrid/crossings.c - which tensors go from stage to stage in parts.
 *
 * Without sequence parallelism each rank of a tensor group has the whole activation between two
 * layers, and sends all of it to its own rank of the next stage. In parts, rank i sends the i-th
 * part alone, and the next stage's tensor group gathers them, over links that are faster.
 */
#include "config.h"

#include "strategies/hybrid/hybrid.h"

#include "base/error.h"

static bool is_body(enum fr__role role)
{
    return role == FR__ROLE_FORWARD || role == FR__ROLE_BACKWARD;
}

/* Whether each rank of a tensor group has all of it: it has the bytes of an output of the op that
 * it comes from, but that context parallelism splits it. */
static bool is_whole(const struct fr__hybrid_graph *g, const struct fr__hybrid_options *o,
                     uint32_t tensor)
{
    const struct fr_tensor *t = &g->graph->tensors[tensor];
    const struct fr_op *from = &g->whole->ops[g->sharded.from[t->op]];

    for (uint32_t k = from->first_tensor; k < from->first_tensor + from->n_tensors; k++)
        if (t->bytes * o->cp == g->whole->tensors[k].bytes)
            return true;
    return false;
}

/* The crossing of the same tensor to the same rank by an edge before i; FR_NONE. */
static uint32_t crossing_before(const struct fr_graph *g, uint32_t i, const uint32_t crossing_of[],
                                const uint32_t stage_of[], const uint32_t rank_of[])
{
    const struct fr_edge *e = &g->edges[i];

    for (uint32_t k = g->out_first[e->src]; k < i; k++)
        if (g->edges[k].tensor == e->tensor &&
            rank_of[stage_of[g->edges[k].dst]] == rank_of[stage_of[e->dst]])
            return crossing_of[k];
    return FR_NONE;
}

enum fr_status fr__hybrid_crossings(struct fr__group_ops_problem *out,
                                    const struct fr__hybrid_graph *g,
                                    const struct fr__hybrid_options *o, const uint32_t stage_of[],
                                    const uint32_t rank_of[], const struct fr__placer *pl,
                                    struct fr_error *err)
{
    const struct fr_graph *graph = g->graph;
    struct fr__arena *arena = pl->arena;
    uint32_t *crossing_of = fr__arena_alloc(arena, graph->n_edges, sizeof(*crossing_of));
    struct fr__crossing *crossings = fr__arena_alloc(arena, graph->n_edges, sizeof(*crossings));
    uint32_t n = 0;

    if (!crossing_of || !crossings)
        return fr__fail_nomem(err);
    for (uint32_t i = 0; i < graph->n_edges; i++) {
        const struct fr_edge *e = &graph->edges[i];

        crossing_of[i] = FR_NONE;
        if (e->tensor == FR_NONE || rank_of[stage_of[e->src]] == rank_of[stage_of[e->dst]] ||
            !is_body(pl->params.roles[e->src]) || !is_body(pl->params.roles[e->dst]) ||
            !is_whole(g, o, e->tensor))
            continue;
        crossing_of[i] = crossing_before(graph, i, crossing_of, stage_of, rank_of);
        if (crossing_of[i] != FR_NONE)
            continue;
        crossing_of[i] = n;
        crossings[n++] = (struct fr__crossing){.stage = stage_of[e->dst],
                                               .bytes = (double)graph->tensors[e->tensor].bytes,
                                               .scales = graph->tensors[e->tensor].scales};
    }
    out->n_crossings = n;
    out->crossings = crossings;
    out->crossing_of = crossing_of;
    out->crossing_axis = FR__HYBRID_TP;
    return FR_OK;
}
