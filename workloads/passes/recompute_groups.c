/* workloads/passes/recompute_groups.c - the groups of ops that are recomputed together: units, or
 * attention cores; modules are in recompute_modules.c. */
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

static void group_cores(struct fr__groups *out, const struct fr__recompute_problem *in)
{
    const struct fr_graph *g = in->graph;

    for (uint32_t o = 0; o < g->n_ops; o++) {
        uint32_t unit = in->units->unit_of_layer[g->ops[o].layer];

        if (g->ops[o].kind != FR_OP_SOFTMAX || g->ops[o].phase != FR_PHASE_FORWARD ||
            (in->group_of && unit != FR_NONE && in->group_of[unit] == FR_NONE))
            continue;
        if (fr__groups_mark_core(g, o, (uint32_t)out->n_groups, out->group_of_op))
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
    else if (in->how == FR__RECOMPUTE_MODULES)
        FR_TRY(fr__groups_of_modules(out, in, arena, err));
    else if (in->how != FR__RECOMPUTE_NONE && in->units->n_units == 0)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "'%s' repeats no block of layers, so there is nothing to recompute by "
                        "layers",
                        g->name);
    else if (in->how != FR__RECOMPUTE_NONE)
        group_units(out, in);
    if (!out->discards)
        out->discards = fr__arena_alloc(arena, out->n_groups + 1, sizeof(*out->discards));
    if (!out->discards)
        return fr__fail_nomem(err);
    group_backward(out, g);
    return list_ops(out, g, arena) ? FR_OK : fr__fail_nomem(err);
}
