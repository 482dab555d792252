/* strategies/hybrid/graph.c - the graph that one rank runs. */
#include "config.h"

#include "strategies/hybrid/hybrid.h"

#include "base/error.h"
#include "workloads/passes/recompute_budget.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- weights of both ends ---- */

/* Replicas and stages alone keep what `dp` and `pp` keep. */
static bool is_plain(const struct fr__hybrid_options *o)
{
    return o->tp == 1 && o->cp == 1 && o->ep == 1 && o->etp == 1 && o->zero == 0 && !o->recipe &&
           o->recompute == FR__RECOMPUTE_NONE;
}

/* Whether messages of a sharded optimizer are ops of the graph, once a micro-batch: of FSDP, and of
 * ZeRO's second level where there are several micro-batches, since their whole gradients are not
 * kept, unless they are asked to be. */
static bool is_in_graph(const struct fr__hybrid_options *o)
{
    return (o->dp > 1 || o->cp > 1) &&
           (o->zero >= 3 || (o->zero == 2 && o->n_micros > 1 && !o->scatters_once));
}

/* The rank that runs a stage; FR_NONE: none does. */
static uint32_t rank_of_stage(const struct fr_schedule *s, uint32_t stage)
{
    for (uint32_t r = 0; r < s->n_ranks; r++)
        for (size_t i = s->first[r]; i < s->first[r + 1]; i++)
            if (s->actions[i].kind == FR_ACTION_F && s->actions[i].stage == stage)
                return r;
    return FR_NONE;
}

/* *meet: the first stage and the last are on one rank, as in schedules whose stages go down the
 * ranks and up again. One copy of what both ends use is enough there. */
static enum fr_status find_meeting(const struct fr__hybrid_options *o, bool *meet,
                                   struct fr_error *err)
{
    const struct fr_schedule_spec spec = fr__hybrid_schedule(o);
    struct fr_schedule *s;

    *meet = o->pp == 1;
    if (o->pp == 1)
        return FR_OK;
    FR_TRY(fr__schedule_for_pipeline(&s, &spec, err));
    *meet = rank_of_stage(s, 0) == rank_of_stage(s, s->n_stages - 1);
    fr_schedule_free(s);
    return FR_OK;
}

/* On the stages of a pipeline each end has a copy, but where one rank has both; else only where
 * they are not to be shared. Where the gradients of each end leave with every micro-batch, they
 * are apart on one rank too, which holds the weights once. */
static enum fr_status untie(struct fr__hybrid_graph *out, const struct fr_graph *g,
                            const struct fr__hybrid_options *o, struct fr_error *err)
{
    struct fr__units units;
    enum fr_status st;
    bool meet;

    FR_TRY(find_meeting(o, &meet, err));
    if (o->ties && ((meet && (o->pp == 1 || !is_in_graph(o))) || is_plain(o)))
        return FR_OK;
    FR_TRY(fr__units_find(&units, g, err));
    st = fr__untie(&out->untied, g, &units, err);
    fr__units_free(&units);
    out->is_untied = st == FR_OK && out->untied.graph;
    out->ends_meet = out->is_untied && o->ties && meet;
    return st;
}

/* ---- recomputation ---- */

static bool recomputes(const struct fr__hybrid_options *o)
{
    return o->recompute != FR__RECOMPUTE_NONE;
}

/* Groups of units; their stages are taken as even parts of the model. */
static enum fr_status group_units(const struct fr__hybrid_options *o, size_t n_units,
                                  uint32_t group_of[], struct fr_error *err)
{
    uint32_t n_stages = o->pp * (o->n_virtual ? o->n_virtual : 1);
    uint32_t *stage_of = calloc(n_units + 1, sizeof(*stage_of));

    if (!stage_of)
        return fr__fail_nomem(err);
    for (size_t u = 0; u < n_units; u++)
        stage_of[u] = (uint32_t)(u * n_stages / n_units);
    fr__recompute_groups(o->recompute, o->n_recomputed, n_units, stage_of, group_of);
    free(stage_of);
    return FR_OK;
}

/* What a budget keeps, by the times of ops as they are on one device, at a micro-batch; NULL: there
 * is no budget. The caller frees it. */
static enum fr_status keep_part(const struct fr_problem *in, const struct fr_graph *g,
                                const struct fr__hybrid_options *o, const struct fr__units *units,
                                bool **is_kept, struct fr_error *err)
{
    const struct fr_part part = {.batch = o->micro_batch};
    double *cost_s;
    enum fr_status st;

    *is_kept = NULL;
    if (o->recompute != FR__RECOMPUTE_BUDGET)
        return FR_OK;
    cost_s = calloc(g->n_ops + 1, sizeof(*cost_s));
    *is_kept = calloc(g->n_tensors + 1, sizeof(**is_kept));
    if (!cost_s || !*is_kept) {
        free(cost_s);
        return fr__fail_nomem(err);
    }
    for (uint32_t op = 0; op < g->n_ops; op++)
        if (g->ops[op].phase == FR_PHASE_FORWARD) {
            struct fr_cost cost;

            fr_cost_op(in->costs, in->topo->devices[in->devices[0]].type, g, op, &part, &cost);
            cost_s[op] = cost.mean_s;
        }
    st = fr__budget_keep(g, units, cost_s, o->kept_part, *is_kept, err);
    free(cost_s);
    return st;
}

static enum fr_status recompute_units(struct fr__hybrid_graph *out, const struct fr_graph *g,
                                      const struct fr__hybrid_options *o,
                                      const struct fr__units *units, const bool is_kept[],
                                      struct fr_error *err)
{
    struct fr__recompute_problem p = {.graph = g,
                                      .units = units,
                                      .how = o->recompute,
                                      .modules = o->modules,
                                      .runs_all = !o->stops_early};
    uint32_t *group_of = calloc(units->n_units + 1, sizeof(*group_of));
    enum fr_status st =
        group_of ? group_units(o, units->n_units, group_of, err) : fr__fail_nomem(err);

    p.group_of = group_of;
    p.is_kept = is_kept;
    if (st == FR_OK)
        st = fr__recompute(&out->recomputed, &p, err);
    out->is_recomputed = st == FR_OK;
    free(group_of);
    return st;
}

static enum fr_status recompute(struct fr__hybrid_graph *out, const struct fr_graph *g,
                                const struct fr_problem *in, const struct fr__hybrid_options *o,
                                struct fr_error *err)
{
    struct fr__units units;
    bool *is_kept = NULL;
    enum fr_status st;

    FR_TRY(fr__units_find(&units, g, err));
    st = keep_part(in, g, o, &units, &is_kept, err);
    if (st == FR_OK)
        st = recompute_units(out, g, o, &units, is_kept, err);
    free(is_kept);
    fr__units_free(&units);
    return st;
}

/* ---- splits ---- */

static enum fr_status read_splits(const struct fr_graph *g, const struct fr__hybrid_options *o,
                                  uint8_t *const split[], struct fr_error *err)
{
    static const char *const names[FR__N_HYBRID_AXES] = {
        [FR__HYBRID_TP] = "tp", [FR__HYBRID_CP] = "cp"};

    if (strncmp(o->annotations, "file:", 5) == 0)
        return fr__shard_read(o->annotations + 5, g, names, FR__N_HYBRID_AXES, split, err);
    FR_TRY(fr__shard_megatron(g, o->vocab_parallel, split[FR__HYBRID_TP], err));
    fr__shard_context(g, o->context == FR__CP_HEADS ? FR__CONTEXT_HEADS : FR__CONTEXT_GATHER,
                      split[FR__HYBRID_CP]);
    return FR_OK;
}

uint32_t fr__hybrid_alike(const struct fr__hybrid_graph *g, size_t op)
{
    const struct fr__sharded *s = &g->sharded;
    uint32_t tp = 1u << FR__HYBRID_TP;

    if (!g->is_sharded || !(s->divided[op] & tp) || !(s->partial[op] & tp))
        return 1;
    return s->replicas[op] > 1 ? s->replicas[op] : 1;
}

/* Refuses an axis whose ranks would all do the same. */
static enum fr_status refuse_idle_axes(const struct fr__shard_problem *p,
                                       const struct fr__sharded *made,
                                       const struct fr__hybrid_options *o, struct fr_error *err)
{
    for (size_t a = 0; a < p->n_axes; a++) {
        const uint8_t *split = made->split + a * made->graph->n_ops;
        bool has_any = p->axes[a].size == 1;

        for (size_t i = 0; i < made->graph->n_ops && !has_any; i++)
            has_any = split[i] > FR__SPLIT_NONE;
        if (!has_any)
            return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                            "%s=%u splits no op of '%s' under shard=%s, so its ranks would all do "
                            "the same; give a layout with shard=file:PATH",
                            p->axes[a].name, p->axes[a].size, p->graph->name, o->annotations);
    }
    return FR_OK;
}

static enum fr_status shard_axes(struct fr__hybrid_graph *out, const struct fr__shard_problem *p,
                                 uint8_t *const split[], const struct fr__hybrid_options *o,
                                 struct fr_error *err)
{
    FR_TRY(read_splits(p->graph, o, split, err));
    FR_TRY(fr__shard(&out->sharded, p, err));
    out->is_sharded = true;
    return refuse_idle_axes(p, &out->sharded, o, err);
}

static enum fr_status shard(struct fr__hybrid_graph *out, const struct fr_graph *g,
                            const struct fr__hybrid_options *o, struct fr_error *err)
{
    uint32_t n_experts = fr__shard_n_experts(g);
    uint8_t *splits = calloc(FR__N_HYBRID_AXES * g->n_ops + 1, sizeof(*splits)),
            *split[FR__N_HYBRID_AXES];
    double *shares = calloc(n_experts + 1, sizeof(*shares));
    const struct fr__shard_axis axes[FR__N_HYBRID_AXES] = {
        [FR__HYBRID_TP] = {.name = "tp",
                           .size = o->tp,
                           .partial_to_sequence = o->sequence_parallel,
                           .keeps_gathered = o->keeps_gathered,
                           .split = splits},
        [FR__HYBRID_CP] = {.name = "cp",
                           .size = o->cp,
                           .refuses_copies = o->context == FR__CP_HEADS,
                           .split = splits ? splits + g->n_ops : NULL},
    };
    struct fr__shard_problem p = {.graph = g, .n_axes = FR__N_HYBRID_AXES, .axes = axes};
    enum fr_status st;

    for (size_t a = 0; splits && a < FR__N_HYBRID_AXES; a++)
        split[a] = splits + a * g->n_ops;
    if (splits && shares) {
        fr__hybrid_dispatch(o, n_experts, shares, &p.experts);
        st = shard_axes(out, &p, split, o, err);
    } else
        st = fr__fail_nomem(err);
    free(splits);
    free(shares);
    return st;
}

/* ---- casts ---- */

/* The units of the devices, of several types the least. */
static enum fr_units units_of(const struct fr_problem *in)
{
    enum fr_units least = FR_UNITS_MX_NV;

    for (size_t i = 0; i < in->n_devices; i++) {
        const struct fr_device_type *type =
            &in->topo->types[in->topo->devices[in->devices[i]].type];

        least = type->units < least ? type->units : least;
    }
    return least;
}

/* The graph with its casts takes the place of the one before. */
static enum fr_status quantise(struct fr__hybrid_graph *out, const struct fr_problem *in,
                               const struct fr_graph *g, const struct fr__hybrid_options *o,
                               struct fr_error *err)
{
    const struct fr__quantise_problem p = {
        .graph = out->is_sharded ? out->sharded.graph : g,
        .sharded = out->is_sharded ? &out->sharded : NULL,
        .n_axes = FR__N_HYBRID_AXES,
        .units = units_of(in),
        .casts_each_use = o->zero >= 3 && (o->dp > 1 || o->cp > 1),
    };
    struct fr__sharded made;

    FR_TRY(fr__quantise(&made, &p, err));
    if (out->is_sharded)
        fr__sharded_free(&out->sharded);
    out->sharded = made;
    out->is_sharded = true;
    return FR_OK;
}

/* ---- shared parameters ---- */

/* Parameters of fewer elements have no message of their own. DeepSpeed keeps them whole
 * (stage3_param_persistence_threshold, deepspeed/runtime/zero/config.py). */
enum { SMALL_MODULE = 100000 };

/* [n_ops] bytes of each owner's gathered weights with their narrow copies, of which weights in 8
 * bits are one; NULL: out of memory. The caller frees it. */
static double *kept_with_copies(const struct fr_problem *in, const struct fr_graph *g,
                                const struct fr__recipe *recipe)
{
    const double wide_bytes = 2, weight = recipe->bytes[FR__PART_WEIGHT];
    double *kept = calloc(g->n_ops + 1, sizeof(*kept));

    for (uint32_t op = 0; kept && op < g->n_ops; op++) {
        double numbers = (double)g->ops[op].param_bytes / g->param_elem_bytes;
        double copies =
            fr__formats_weight_bytes(g->formats, g, op, fr__units_take_columns(units_of(in)));

        if (!(copies > 0))
            kept[op] = numbers * fmax(weight, wide_bytes);
        else
            kept[op] = weight < wide_bytes ? copies : numbers * weight + copies;
    }
    return kept;
}

/* The graph with its gathers takes the place of the sharded one. */
static enum fr_status gather_units(struct fr__hybrid_graph *out, const struct fr_problem *in,
                                   const struct fr_graph *g, const struct fr__hybrid_options *o,
                                   const struct fr__units *units, struct fr_error *err)
{
    const struct fr__recipe *recipe = fr__hybrid_recipe(o, g);
    double elem_bytes = g->param_elem_bytes, weight = fr__recipe_gathered_bytes(recipe);
    bool sends_wide = g->formats && !fr__formats_send_copies(g->formats);
    double *kept = g->formats ? kept_with_copies(in, g, recipe) : NULL;
    struct fr__sharded gathered;
    enum fr_status st;
    const struct fr__gather_problem p = {
        .graph = g,
        .sharded = out->is_sharded ? &out->sharded : NULL,
        .n_axes = FR__N_HYBRID_AXES,
        .units = units,
        .copies = o->dp * o->cp / o->shard_group,
        .ranks = {[FR__GATHER_DENSE] = o->shard_group,
                  [FR__GATHER_EXPERTS] = o->dp * o->cp * o->tp / (o->ep * o->etp)},
        .prefetch = o->prefetch,
        .reshards = o->reshards,
        .keeps_last = o->keeps_last,
        .packs = o->packs && o->zero >= 3,
        .are_modules = o->gathers_modules,
        .keeps_parameters = (o->zero < 3),
        .bucket_bytes = o->bucket_bytes,
        .overlaps = o->overlap,
        .is_cut = (o->pp > 1),
        .sent = (sends_wide ? fmax(weight, 2) : weight) / elem_bytes,
        .kept = (weight + recipe->bytes[FR__PART_CACHE]) / elem_bytes,
        .gradient = fr__recipe_reduced_bytes(recipe) / elem_bytes,
        .kept_of = kept,
    };

    st = g->formats && !kept ? fr__fail_nomem(err) : fr__gather(&gathered, &p, err);
    free(kept);
    if (st != FR_OK)
        return st;
    if (out->is_sharded)
        fr__sharded_free(&out->sharded);
    out->sharded = gathered;
    out->is_sharded = out->is_scattered = true;
    out->is_gathered = o->zero >= 3;
    return FR_OK;
}

static enum fr_status gather(struct fr__hybrid_graph *out, const struct fr_problem *in,
                             const struct fr_graph *g, const struct fr__hybrid_options *o,
                             struct fr_error *err)
{
    struct fr__units units, modules;
    enum fr_status st;

    FR_TRY(fr__units_within(&units, g, out->whole, err));
    if (!o->gathers_modules || o->zero < 3) {
        st = gather_units(out, in, g, o, &units, err);
    } else {
        st = fr__units_by_module(&modules, &units, g, SMALL_MODULE * g->param_elem_bytes, err);
        if (st == FR_OK) {
            st = gather_units(out, in, g, o, &modules, err);
            fr__units_free(&modules);
        }
    }
    fr__units_free(&units);
    return st;
}

/* ---- messages in steps ---- */

static bool goes_in_steps(const struct fr__hybrid_options *o)
{
    return o->overlaps_tensor || (o->cp > 1 && o->context == FR__CP_RING);
}

static enum fr_status refuse_uncut(const struct fr__hybrid_options *o,
                                   const struct fr__ring_axis axes[], const size_t n_cut[],
                                   const struct fr_graph *g, struct fr_error *err)
{
    if (axes[FR__HYBRID_CP].ranks > 1 && n_cut[FR__HYBRID_CP] == 0)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "cp-comm=ring needs attention as one op, which '%s' has not (where the "
                        "model has it, attention=flash)",
                        g->name);
    if (axes[FR__HYBRID_TP].ranks > 1 && n_cut[FR__HYBRID_TP] == 0 && o->is_tensor_overlap_wanted)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "tp-overlap=1: '%s' has no product with a message over tp beside it",
                        g->name);
    return FR_OK;
}

/* The graph with its steps takes the place of the sharded one. */
static enum fr_status go_in_steps(struct fr__hybrid_graph *out, const struct fr__hybrid_options *o,
                                  struct fr_error *err)
{
    const struct fr__ring_axis axes[FR__N_HYBRID_AXES] = {
        [FR__HYBRID_TP] = {o->overlaps_tensor ? o->tp : 1, FR_OP_MATMUL, false},
        [FR__HYBRID_CP] = {o->context == FR__CP_RING ? o->cp : 1, FR_OP_ATTENTION, true},
    };
    const struct fr__ring_problem p = {
        .sharded = &out->sharded, .axes = axes, .n_axes = FR__N_HYBRID_AXES};
    size_t n_cut[FR__N_HYBRID_AXES];
    struct fr__sharded cut;

    FR_TRY(fr__ring_cut(&cut, &p, n_cut, err));
    fr__sharded_free(&out->sharded);
    out->sharded = cut;
    return refuse_uncut(o, axes, n_cut, cut.graph, err);
}

/* ---- the plan's graph ---- */

/* The op that each op of the rank's graph stands for, before anything ran again or was split. */
static uint32_t whole_op(const struct fr__hybrid_graph *g, size_t op)
{
    uint32_t o = (uint32_t)op;

    if (g->is_sharded)
        o = g->sharded.from[o];
    return g->is_recomputed ? g->recomputed.from[o] : o;
}

/* The user's op. */
static uint32_t user_op(const struct fr__hybrid_graph *g, size_t op)
{
    uint32_t o = whole_op(g, op);

    return g->is_untied ? g->untied.from[o] : o;
}

bool fr__hybrid_is_end(const struct fr__hybrid_graph *g, const struct fr__hybrid_options *o,
                       size_t op)
{
    const struct fr_op *f = &g->graph->ops[op];

    if (!g->is_untied || !o->ties || f->phase != FR_PHASE_FORWARD || f->param_bytes == 0)
        return false;
    for (size_t k = 0; k < g->untied.n_pairs; k++)
        if (whole_op(g, op) == g->untied.pairs[k].owner ||
            whole_op(g, op) == g->untied.pairs[k].user)
            return true;
    return false;
}

bool fr__hybrid_is_second(const struct fr__hybrid_graph *g, size_t op)
{
    const struct fr_op *f = &g->graph->ops[op];

    if (!g->ends_meet || f->phase != FR_PHASE_FORWARD || f->param_bytes == 0)
        return false;
    for (size_t k = 0; k < g->untied.n_pairs; k++)
        if (whole_op(g, op) == g->untied.pairs[k].user)
            return true;
    return false;
}

static enum fr_status own(struct fr__hybrid_graph *g, struct fr_plan *plan, struct fr_error *err)
{
    struct fr_graph **graph = g->is_sharded      ? &g->sharded.graph
                              : g->is_recomputed ? &g->recomputed.graph
                                                 : &g->untied.graph;
    size_t n = (*graph)->n_ops;
    uint32_t *ids = malloc((2 * n + 2) * sizeof(*ids));
    enum fr_status st;

    if (!ids)
        return fr__fail_nomem(err);
    for (size_t o = 0; o <= n; o++)
        ids[o] = (uint32_t)o;
    for (size_t o = 0; o < n; o++)
        ids[n + 1 + o] = user_op(g, o);
    st = fr_plan_own_graph(plan, *graph, &(struct fr_op_map){.first = ids, .user = ids + n + 1},
                           err);
    free(ids);
    if (st != FR_OK)
        return st;
    g->graph = *graph;
    *graph = NULL; /* the plan's now */
    return FR_OK;
}

enum fr_status fr__hybrid_graph_make(struct fr__hybrid_graph *out, const struct fr_problem *in,
                                     const struct fr__hybrid_options *o, struct fr_plan *plan,
                                     struct fr_error *err)
{
    const struct fr_graph *g = in->graph;

    *out = (struct fr__hybrid_graph){.graph = g};
    FR_TRY(untie(out, g, o, err));
    if (out->is_untied)
        g = out->untied.graph;
    if (recomputes(o)) {
        FR_TRY(recompute(out, g, in, o, err));
        g = out->recomputed.graph;
    }
    out->whole = g;
    if (o->tp > 1 || o->cp > 1 || o->ep > 1 || o->etp > 1)
        FR_TRY(shard(out, g, o, err));
    if (g->formats)
        FR_TRY(quantise(out, in, g, o, err));
    if (is_in_graph(o))
        FR_TRY(gather(out, in, out->is_sharded ? out->sharded.graph : g, o, err));
    if (goes_in_steps(o))
        FR_TRY(go_in_steps(out, o, err));
    return g == in->graph && !out->is_sharded ? FR_OK : own(out, plan, err);
}

void fr__hybrid_graph_free(struct fr__hybrid_graph *g)
{
    if (g->is_sharded)
        fr__sharded_free(&g->sharded);
    if (g->is_recomputed)
        fr__recomputed_free(&g->recomputed);
    if (g->is_untied)
        fr__untied_free(&g->untied);
}
