/* workloads/passes/recompute_core.c - the attention core: from the product of queries and keys to
 * the product with the values, around a softmax. Selective recomputation and the module core_attn
 * share it.
 */
#include "config.h"

#include "workloads/passes/recompute_groups.h"

/* What may stand between the products of an attention core, beside the softmax. */
static bool is_between(enum fr_op_kind kind)
{
    switch (kind) {
    case FR_OP_SCALE:
    case FR_OP_MASK:
    case FR_OP_ADD:
    case FR_OP_BIAS:
    case FR_OP_CAST:
    case FR_OP_DROPOUT:
    case FR_OP_RESHAPE:
        return true;
    default:
        return false;
    }
}

/* The forward op that writes the largest tensor that o reads; FR_NONE. */
static uint32_t largest_source(const struct fr_graph *g, uint32_t o)
{
    uint32_t source = FR_NONE;
    uint64_t most = 0;

    for (uint32_t i = g->in_first[o]; i < g->in_first[o + 1]; i++) {
        const struct fr_edge *e = &g->edges[g->in_edges[i]];

        if (e->tensor == FR_NONE || g->tensors[e->tensor].bytes <= most)
            continue;
        most = g->tensors[e->tensor].bytes;
        source = e->src;
    }
    return source;
}

/* The forward op that reads what o writes and may be part of a core; FR_NONE. */
static uint32_t reader_in_core(const struct fr_graph *g, uint32_t o)
{
    for (uint32_t i = g->out_first[o]; i < g->out_first[o + 1]; i++) {
        const struct fr_edge *e = &g->edges[i];
        const struct fr_op *dst = &g->ops[e->dst];

        if (e->tensor != FR_NONE && dst->phase == FR_PHASE_FORWARD &&
            (dst->kind == FR_OP_BATCH_MATMUL || is_between(dst->kind)))
            return e->dst;
    }
    return FR_NONE;
}

/* Walks from the softmax to the product at one end of the core; FR_NONE: there is none. Marks what
 * it passes with the group, if that is not FR_NONE. */
static uint32_t walk(const struct fr_graph *g, uint32_t softmax, bool is_up, uint32_t group,
                     uint32_t group_of_op[])
{
    uint32_t o = softmax;

    do {
        if (group != FR_NONE)
            group_of_op[o] = group;
        o = is_up ? largest_source(g, o) : reader_in_core(g, o);
    } while (o != FR_NONE && is_between(g->ops[o].kind));
    if (o == FR_NONE || g->ops[o].kind != FR_OP_BATCH_MATMUL)
        return FR_NONE;
    if (group != FR_NONE)
        group_of_op[o] = group;
    return o;
}

bool fr__groups_mark_core(const struct fr_graph *g, uint32_t softmax, uint32_t group,
                          uint32_t group_of_op[])
{
    if (walk(g, softmax, true, FR_NONE, group_of_op) == FR_NONE ||
        walk(g, softmax, false, FR_NONE, group_of_op) == FR_NONE)
        return false;
    if (group != FR_NONE) {
        walk(g, softmax, true, group, group_of_op);
        walk(g, softmax, false, group, group_of_op);
    }
    return true;
}
