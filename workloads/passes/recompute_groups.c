/* workloads/passes/recompute_groups.c - the groups of ops that are recomputed together: units, or
 * attention cores. */
#include "config.h"

#include "workloads/passes/recompute_groups.h"

#include "base/error.h"

void fr__recompute_groups(enum fr__recompute how, uint32_t n, size_t n_units,
                          const uint32_t stage_of[], uint32_t group_of[])
{
    uint32_t group = 0, in_stage = 0;

    for (size_t u = 0; u < n_units; u++) {
        if (u > 0 && stage_of && stage_of[u] != stage_of[u - 1]) {
            group += how == FR__RECOMPUTE_FULL;
            in_stage = 0;
        }
        if (how == FR__RECOMPUTE_FULL && in_stage > 0 && in_stage % (n ? n : 1) == 0)
            group++;
        group_of[u] = group;
        if (how == FR__RECOMPUTE_NONE || (how == FR__RECOMPUTE_SOME && in_stage >= n))
            group_of[u] = FR_NONE;
        else if (how != FR__RECOMPUTE_FULL)
            group++;
        in_stage++;
    }
}

/* ---- attention cores ---- */

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

static void group_cores(struct fr__groups *out, const struct fr__recompute_problem *in)
{
    const struct fr_graph *g = in->graph;

    for (uint32_t o = 0; o < g->n_ops; o++) {
        uint32_t unit = in->units->unit_of_layer[g->ops[o].layer];

        if (g->ops[o].kind != FR_OP_SOFTMAX || g->ops[o].phase != FR_PHASE_FORWARD ||
            (in->group_of && unit != FR_NONE && in->group_of[unit] == FR_NONE) ||
            walk(g, o, true, FR_NONE, out->group_of_op) == FR_NONE ||
            walk(g, o, false, FR_NONE, out->group_of_op) == FR_NONE)
            continue;
        walk(g, o, true, (uint32_t)out->n_groups, out->group_of_op);
        walk(g, o, false, (uint32_t)out->n_groups, out->group_of_op);
        out->n_groups++;
    }
}

/* ---- feed-forward layers ---- */

enum {
    MOST_STEPS = 8
}; /* between the products of a feed-forward layer: bias, activation, product
                            with a gate, dropout, casts */

static bool is_activation(enum fr_op_kind kind)
{
    return kind == FR_OP_RELU || kind == FR_OP_GELU || kind == FR_OP_SILU;
}

static bool is_inside_mlp(enum fr_op_kind kind)
{
    return is_activation(kind) || kind == FR_OP_MUL || kind == FR_OP_BIAS ||
           kind == FR_OP_DROPOUT || kind == FR_OP_CAST;
}

/* The product behind an activation, with nothing between but elementwise ops; FR_NONE. */
static uint32_t product_behind(const struct fr_graph *g, uint32_t o)
{
    for (unsigned n = 0; n < MOST_STEPS; n++) {
        uint32_t next = FR_NONE;

        for (uint32_t i = g->out_first[o]; i < g->out_first[o + 1]; i++) {
            const struct fr_edge *e = &g->edges[i];

            if (e->tensor != FR_NONE && g->ops[e->dst].phase == FR_PHASE_FORWARD)
                next = e->dst;
        }
        if (next == FR_NONE || g->ops[next].kind == FR_OP_MATMUL)
            return next;
        if (!is_inside_mlp(g->ops[next].kind))
            return FR_NONE;
        o = next;
    }
    return FR_NONE;
}

/* Marks what op o is made of, back to the products that begin the layer. */
static void mark_sources(const struct fr_graph *g, uint32_t o, uint32_t group,
                         uint32_t group_of_op[])
{
    for (uint32_t i = g->in_first[o]; i < g->in_first[o + 1]; i++) {
        const struct fr_edge *e = &g->edges[g->in_edges[i]];
        const struct fr_op *src = &g->ops[e->src];

        if (e->tensor == FR_NONE || src->phase != FR_PHASE_FORWARD ||
            group_of_op[e->src] == group ||
            !(src->kind == FR_OP_MATMUL || is_inside_mlp(src->kind)))
            continue;
        group_of_op[e->src] = group;
        if (src->kind != FR_OP_MATMUL)
            mark_sources(g, e->src, group, group_of_op);
    }
}

static void group_mlps(struct fr__groups *out, const struct fr__recompute_problem *in)
{
    const struct fr_graph *g = in->graph;

    for (uint32_t o = 0; o < g->n_ops; o++) {
        uint32_t unit = in->units->unit_of_layer[g->ops[o].layer], end;

        if (!is_activation(g->ops[o].kind) || g->ops[o].phase != FR_PHASE_FORWARD ||
            unit == FR_NONE || (in->group_of && in->group_of[unit] == FR_NONE))
            continue;
        end = product_behind(g, o);
        if (end == FR_NONE || out->group_of_op[end] != FR_NONE)
            continue;
        out->group_of_op[end] = (uint32_t)out->n_groups;
        mark_sources(g, end, (uint32_t)out->n_groups, out->group_of_op);
        out->n_groups++;
    }
}

/* ---- units ---- */

static void group_units(struct fr__groups *out, const struct fr__recompute_problem *in)
{
    const struct fr_graph *g = in->graph;

    for (uint32_t o = 0; o < g->n_ops; o++) {
        uint32_t unit = in->units->unit_of_layer[g->ops[o].layer];
        uint32_t group = unit == FR_NONE ? FR_NONE : in->group_of ? in->group_of[unit] : unit;

        if (group == FR_NONE || g->ops[o].phase != FR_PHASE_FORWARD)
            continue;
        out->group_of_op[o] = group;
        if (group >= out->n_groups)
            out->n_groups = (size_t)group + 1;
    }
}

/* ---- both ---- */

/* A backward op belongs to the group of its forward op. */
static void group_backward(struct fr__groups *out, const struct fr_graph *g)
{
    for (uint32_t o = 0; o < g->n_ops; o++) {
        const struct fr_op *op = &g->ops[o];

        if ((op->phase == FR_PHASE_BACKWARD_DATA || op->phase == FR_PHASE_BACKWARD_WEIGHT) &&
            op->forward != FR_NONE)
            out->group_of_op[o] = out->group_of_op[op->forward];
    }
}

static bool list_ops(struct fr__groups *out, const struct fr_graph *g, struct fr__arena *arena)
{
    uint32_t *fill = fr__arena_alloc(arena, out->n_groups + 1, sizeof(*fill));

    out->first = fr__arena_alloc(arena, out->n_groups + 1, sizeof(*out->first));
    out->ops = fr__arena_alloc(arena, g->n_ops, sizeof(*out->ops));
    if (!fill || !out->first || !out->ops)
        return false;
    for (size_t o = 0; o < g->n_ops; o++)
        if (out->group_of_op[o] != FR_NONE)
            out->first[out->group_of_op[o] + 1]++;
    for (size_t k = 0; k < out->n_groups; k++)
        fill[k + 1] = out->first[k + 1] += out->first[k];
    for (uint32_t o = 0; o < g->n_ops; o++)
        if (out->group_of_op[o] != FR_NONE)
            out->ops[fill[out->group_of_op[o]]++] = o;
    return true;
}

enum fr_status fr__groups_find(struct fr__groups *out, const struct fr__recompute_problem *in,
                               struct fr__arena *arena, struct fr_error *err)
{
    const struct fr_graph *g = in->graph;

    *out = (struct fr__groups){0};
    out->group_of_op = fr__arena_nones(arena, g->n_ops);
    if (!out->group_of_op)
        return fr__fail_nomem(err);
    if (in->how == FR__RECOMPUTE_SELECTIVE)
        group_cores(out, in);
    else if (in->how == FR__RECOMPUTE_MLP)
        group_mlps(out, in);
    else if (in->how != FR__RECOMPUTE_NONE && in->units->n_units == 0)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "'%s' repeats no block of layers, so there is nothing to recompute by "
                        "layers",
                        g->name);
    else if (in->how != FR__RECOMPUTE_NONE)
        group_units(out, in);
    group_backward(out, g);
    return list_ops(out, g, arena) ? FR_OK : fr__fail_nomem(err);
}
