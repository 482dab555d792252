/* strategies/hybrid/explain.c - what a hybrid decided, as a record: its mesh, how each op is split,
 * its pipeline.
 *
 * It is separate from the placing, which it reads and does not change.
 */
#include "config.h"

#include "strategies/hybrid/hybrid.h"

#include "base/error.h"
#include "lowering/decisions_new.h"
#include "lowering/pipeline/times.h"
#include "workloads/passes/shard/rules.h"
#include "workloads/passes/units.h"

#include <string.h>

enum { FIRST_EXPERT_AXIS = FR__N_MESH_AXES };

struct telling {
    const struct fr__hybrid_placed *p;
    const struct fr__hybrid_options *o;
    const struct fr__hybrid_graph *g;
    const struct fr__hybrid_ranks *r;
    const struct fr_graph *graph; /* of one rank */
    const struct fr_graph *given; /* that was split into it */
    struct fr__arena *arena;
    struct fr_layout *out;
    uint32_t axis_of[2 * FR__N_MESH_AXES]; /* index of the layout's axes; FR_NONE */
};

static void *take(const struct telling *t, size_t n, size_t size)
{
    return fr__arena_alloc(t->arena, n + 1, size);
}

/* ---- the mesh ---- */

static void list_mesh(struct telling *t, struct fr_layout_axis axes[], const struct fr__mesh *m,
                      bool is_of_experts)
{
    static const char *const names[2][FR__N_MESH_AXES] = {{"tp", "cp", "ep", "dp", "pp"},
                                                          {"etp", "cp", "ep", "edp", "pp"}};
    static const char *const what[2][FR__N_MESH_AXES] = {
        {[FR__MESH_TP] = "each layer's columns and rows",
         [FR__MESH_CP] = "each sequence",
         [FR__MESH_DP] = "samples",
         [FR__MESH_PP] = "layers"},
        {[FR__MESH_TP] = "each expert", [FR__MESH_EP] = "experts", [FR__MESH_DP] = "tokens"}};

    for (size_t i = 0; i < FR__N_MESH_AXES; i++) {
        enum fr__mesh_axis a = m->order[i];
        struct fr_layout_axis *x = &axes[t->out->n_axes];

        if (!what[is_of_experts][a])
            continue;
        t->axis_of[(is_of_experts ? FIRST_EXPERT_AXIS : 0) + a] = (uint32_t)t->out->n_axes++;
        *x = (struct fr_layout_axis){.name = names[is_of_experts][a],
                                     .what = what[is_of_experts][a],
                                     .size = m->size[a],
                                     .stride = m->stride[a],
                                     .is_of_experts = is_of_experts,
                                     .is_stages = a == FR__MESH_PP};
    }
}

static bool tell_mesh(struct telling *t)
{
    struct fr_layout *l = t->out;
    struct fr_layout_axis *axes = take(t, 2 * FR__N_MESH_AXES, sizeof(*axes));
    uint32_t n = t->r->dense.n_ranks;
    uint32_t *devices = take(t, n, sizeof(*devices));
    uint32_t *rank_of = take(t, t->p->n_stages, sizeof(*rank_of));

    memset(t->axis_of, 0xff, sizeof(t->axis_of));
    if (!axes || !devices || !rank_of)
        return false;
    list_mesh(t, axes, &t->r->dense, false);
    if (t->o->ep > 1 || t->o->etp > 1)
        list_mesh(t, axes, &t->r->expert, true);
    memcpy(devices, t->r->devices_by_rank, n * sizeof(*devices));
    for (uint32_t s = 0; s < t->p->n_stages; s++)
        rank_of[s] = t->p->line ? t->p->line->rank_of[s] : 0;
    l->axes = axes;
    l->map = fr__arena_strdup(t->arena, t->o->map);
    l->n_ranks = n;
    l->devices = devices;
    l->n_stages = t->p->n_stages;
    l->rank_of = rank_of;
    l->n_micros = t->o->n_micros;
    l->micro_batch = t->o->micro_batch;
    l->zero = t->o->zero;
    return l->map;
}

/* ---- ops ---- */

static void add_split(const struct telling *t, struct fr_layout_split splits[], size_t *n,
                      unsigned mesh_axis, const char *loop, uint32_t op, enum fr__split split)
{
    uint32_t from = t->g->is_sharded ? t->g->sharded.from[op] : op;
    struct fr_layout_split *s = &splits[*n];
    int dim = -1;

    if (t->axis_of[mesh_axis] == FR_NONE || t->out->axes[t->axis_of[mesh_axis]].size < 2)
        return;
    *s = (struct fr_layout_split){.axis = t->axis_of[mesh_axis], .loop = loop};
    s->divides_weights =
        t->graph->ops[op].param_bytes > 0 && fr__shard_params_carry(t->given, from, split);
    if (t->given->ops[from].n_tensors > 0)
        dim = fr__shard_output_dim(t->given, from, 0, split);
    if (fr__shard_sums_over(t->given, from, split))
        s->output = FR_LAYOUT_PARTIAL;
    else if (dim >= 0)
        s->output = FR_LAYOUT_SPLIT;
    else if (!s->divides_weights)
        return;
    s->dim = (uint8_t)(dim >= 0 ? dim : 0);
    (*n)++;
}

/* Splits of samples are the same for all ops; those over experts follow from who holds them. */
static size_t split_op(const struct telling *t, uint32_t op, struct fr_layout_split splits[])
{
    static const struct {
        unsigned mesh_axis, shard_axis;
    } axes[] = {{FR__MESH_TP, FR__HYBRID_TP}, {FR__MESH_CP, FR__HYBRID_CP}};
    const struct fr__sharded *s = &t->g->sharded;
    size_t n = 0;

    add_split(t, splits, &n, FR__MESH_DP, "samples", op, FR__SPLIT_SAMPLES);
    if (!t->g->is_sharded)
        return n;
    for (size_t k = 0; k < 2; k++) {
        enum fr__split split = (enum fr__split)s->split[axes[k].shard_axis * t->graph->n_ops + op];

        if (split > FR__SPLIT_NONE)
            add_split(t, splits, &n, axes[k].mesh_axis, fr__split_name(split), op, split);
    }
    for (unsigned k = 0; k < 2; k++) {
        unsigned bit = k ? FR__AXIS_EXPERT_TENSOR : FR__AXIS_EXPERTS;
        uint32_t axis = t->axis_of[FIRST_EXPERT_AXIS + (k ? FR__MESH_TP : FR__MESH_EP)];

        if (axis == FR_NONE || !(s->divided[op] & 1u << bit) || t->out->axes[axis].size < 2)
            continue;
        splits[n++] = (struct fr_layout_split){
            .axis = axis, .loop = k ? "width" : "experts", .divides_weights = true};
    }
    return n;
}

static bool tell_ops(struct telling *t)
{
    struct fr_layout_op *ops = take(t, t->graph->n_ops, sizeof(*ops));
    size_t n = 0;

    for (uint32_t o = 0; ops && o < t->graph->n_ops; o++) {
        const struct fr_op *op = &t->graph->ops[o];
        struct fr_layout_split splits[8];
        struct fr_layout_split *kept;

        if (op->phase != FR_PHASE_FORWARD || fr_op_kind_is_message(op->kind))
            continue;
        ops[n] = (struct fr_layout_op){.op = o, .n_splits = split_op(t, o, splits)};
        kept = take(t, ops[n].n_splits, sizeof(*kept));
        if (!kept)
            return false;
        memcpy(kept, splits, ops[n].n_splits * sizeof(*kept));
        ops[n++].splits = kept;
    }
    t->out->n_ops = n;
    t->out->ops = ops;
    return ops;
}

static bool tell_units(struct telling *t, const struct fr__units *units)
{
    struct fr_layout *l = t->out;
    uint32_t *unit_of = take(t, t->graph->n_ops, sizeof(*unit_of));
    uint32_t *stage_of = take(t, t->graph->n_ops, sizeof(*stage_of));
    const char **names = take(t, units->n_units, sizeof(*names));

    if (!unit_of || !stage_of || !names)
        return false;
    for (size_t u = 0; u < units->n_units; u++) {
        names[u] = fr__arena_strdup(t->arena, units->units[u].name);
        if (!names[u])
            return false;
    }
    for (size_t o = 0; o < t->graph->n_ops; o++) {
        unit_of[o] = units->n_units ? units->unit_of_layer[t->graph->ops[o].layer] : FR_NONE;
        stage_of[o] = t->p->stage_of ? t->p->stage_of[o] : 0;
    }
    l->n_units = units->n_units;
    l->units = names;
    l->n_graph_ops = t->graph->n_ops;
    l->unit_of = unit_of;
    l->stage_of = stage_of;
    return true;
}

/* ---- the pipeline ---- */

static const char *first_op(const struct telling *t, uint32_t stage)
{
    const struct fr__block_ops *forward = &t->p->line->blocks[stage][FR_ACTION_F];

    return forward->n ? fr__arena_strdup(t->arena, t->graph->ops[forward->ops[0]].name) : "";
}

static bool tell_pipeline(struct telling *t, struct fr_decisions *d)
{
    uint32_t n = t->p->n_stages;
    struct fr_decided_pipeline *line = take(t, 1, sizeof(*line));
    struct fr_pass_times *times = take(t, n, sizeof(*times));
    uint32_t *device_of = take(t, n, sizeof(*device_of));
    uint32_t *ranks = take(t, t->o->pp, sizeof(*ranks));
    const char **names = take(t, n, sizeof(*names));

    if (!line || !times || !device_of || !ranks || !names)
        return false;
    for (uint32_t i = 0; i < t->o->pp; i++)
        ranks[i] = fr__hybrid_device(t->r, i, 0);
    for (uint32_t s = 0; s < n; s++) {
        device_of[s] = ranks[t->p->line->rank_of[s]];
        names[s] = first_op(t, s);
        if (!names[s])
            return false;
    }
    fr__pipeline_times(times, t->p->line, ranks, t->o->micro_batch);
    *line = (struct fr_decided_pipeline){.schedule = *t->p->schedule,
                                         .of_stage = times,
                                         .device_of = device_of,
                                         .first_op = names,
                                         .n_pipelines = t->r->dense.n_ranks / t->o->pp,
                                         .micro_batch = t->o->micro_batch};
    d->pipeline = line;
    return true;
}

/* ---- all of it ---- */

static bool tell_all(struct telling *t, const struct fr__units *units)
{
    return tell_mesh(t) && tell_ops(t) && tell_units(t, units);
}

enum fr_status fr__hybrid_tell(struct fr_decisions **out, const struct fr__placer *pl,
                               const struct fr__hybrid_options *o, const struct fr__hybrid_graph *g,
                               const struct fr__hybrid_ranks *r,
                               const struct fr__hybrid_placed *placed, struct fr_error *err)
{
    struct fr_decided_device *devices;
    struct telling t = {.p = placed, .o = o, .g = g, .r = r, .graph = g->graph};
    struct fr_decisions *d;
    struct fr__units units;
    bool is_done;

    t.given = g->is_recomputed && g->recomputed.graph ? g->recomputed.graph
                                                      : fr_plan_user_graph(pl->plan);
    FR_TRY(fr__units_within(&units, g->graph, g->whole, err));
    d = fr__decisions_new(pl->in, &t.arena, &devices);
    t.out = d ? take(&t, 1, sizeof(*t.out)) : NULL;
    is_done = t.out && tell_all(&t, &units) && (!placed->line || tell_pipeline(&t, d));
    fr__units_free(&units);
    if (!is_done) {
        fr_decisions_free(d);
        return fr__fail_nomem(err);
    }
    d->layout = t.out;
    if (placed->line) {
        fr__decisions_own(d, *placed->schedule);
        *placed->schedule = NULL;
    }
    *out = d;
    return FR_OK;
}
