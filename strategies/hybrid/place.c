/* strategies/hybrid/place.c - the ranks of a hybrid become tasks: their graph, micro-batch after
 * micro-batch, and what sums their gradients. */
#include "config.h"

#include "lowering/optimizer.h"
#include "strategies/hybrid/hybrid.h"

#include "base/error.h"
#include "strategies/hybrid/message_times.h"
#include "lowering/pipeline/pipeline.h"
#include "workloads/passes/units.h"

#include <math.h>
#include <string.h>

struct placing {
    struct fr__placer *pl;
    const struct fr__hybrid_options *o;
    const struct fr__hybrid_graph *g;
    struct fr__hybrid_ranks *ranks;
    struct fr__share share;
    struct fr_schedule *schedule; /* NULL: one stage, micro-batch after micro-batch */
    struct fr__pipeline line;
    struct fr__stage_ends ends; /* NULL: gradients leave when all micro-batches are done */
    uint32_t n_stages;          /* of the schedule, or 1 */
    const uint32_t *stage_of;   /* [n_ops]; NULL: one stage */
    uint32_t *devices;          /* [n_stages][n_replicas] */
    uint32_t *rank_devices;     /* [pp] of the replica being placed */
    uint32_t *device_of;        /* [n_ops] likewise */
    struct fr__rank_groups tensor, context, experts, expert_tensor; /* by stage of the schedule */
    struct fr__rank_groups replicas[2], copies;                     /* likewise; by part */
    struct fr__reduce_part parts[2];
    uint8_t *part_of; /* [n_ops] owners of experts: 1 */
    struct fr__late_sum
        *late; /* [n_late] gradients that a tensor group sums, or neighbours in it */
    uint32_t n_late;
    struct fr__exchange *exchange;
    struct fr__keeping keeping;
    uint32_t *shards; /* [n_ops] of owners */
};

enum { PART_DENSE, PART_EXPERTS };

/* ---- stages ---- */

static uint32_t rank_of_stage(const struct placing *p, uint32_t stage)
{
    return p->schedule ? p->line.rank_of[stage] : stage;
}

/* The groups of the schedule's stages, from those of the ranks. */
static enum fr_status by_stage(const struct placing *p, const struct fr__rank_groups *of_rank,
                               struct fr__rank_groups *out, struct fr_error *err)
{
    uint32_t n = of_rank->n_groups;
    uint32_t *groups = fr__arena_alloc(p->pl->arena, (size_t)p->n_stages * n, sizeof(*groups));

    if (!groups)
        return fr__fail_nomem(err);
    for (uint32_t s = 0; s < p->n_stages; s++)
        for (uint32_t g = 0; g < n; g++)
            groups[(size_t)s * n + g] = of_rank->plan_group[(size_t)rank_of_stage(p, s) * n + g];
    *out = *of_rank;
    out->plan_group = groups;
    return FR_OK;
}

/* Bytes of parameters in a bucket. Megatron-LM: max(40e6, 1e6 d) parameters of d replicas
 * (megatron/core/distributed/distributed_data_parallel.py). */
static uint64_t bucket_bytes(const struct placing *p)
{
    uint64_t replicas = p->ranks->data.n_ranks;

    if (p->o->bucket_bytes)
        return p->o->bucket_bytes;
    return 1000000 * (replicas > 40 ? replicas : 40) * p->pl->graph->param_elem_bytes;
}

static enum fr_status make_line(struct placing *p, const uint32_t unit_of_layer[],
                                struct fr_error *err)
{
    const struct fr__hybrid_ranks *r = p->ranks;
    struct fr__stage_sums sums = {0};
    struct fr__ends_sum ends = {.is_end = NULL};
    const double *message_s;

    for (uint32_t s = 0; s < p->o->pp; s++)
        p->rank_devices[s] = fr__hybrid_device(r, s, 0);
    FR_TRY(fr__hybrid_message_times(&message_s, p->pl, p->g, r, err));
    if (!p->g->is_scattered)
        FR_TRY(fr__hybrid_sum_times(
            &sums, p->pl, r,
            p->o->overlap ? (double)bucket_bytes(p) * p->pl->gradient_factor : INFINITY, err));
    FR_TRY(fr__hybrid_ends_time(&ends, p->pl, p->o, p->g, r, err));
    FR_TRY(fr__pipeline_make(
        &p->line, p->pl,
        &(struct fr__pipeline_problem){.schedule = p->schedule,
                                       .devices = p->rank_devices,
                                       .micro_batch = p->o->micro_batch,
                                       .message_s = message_s,
                                       .sums = sums,
                                       .ends = ends,
                                       .unit_of_layer = unit_of_layer,
                                       .cuts = p->o->cuts,
                                       .is_by_count = p->o->cuts_by_count && unit_of_layer},
        err));
    if (p->line.n_copies > 1)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "schedule '%s' keeps two copies of the model, which hybrid does not "
                        "combine with other parallelism; use pp:schedule=%s",
                        p->schedule->name, p->schedule->name);
    p->n_stages = p->line.n_stages;
    p->stage_of = p->line.stages.stage_of;
    return FR_OK;
}

/* The first op of the head that shares the embedding's weights; n_ops: there is none. */
static size_t find_head(const struct placing *p, const struct fr__units *units)
{
    const struct fr_graph *g = p->pl->graph;
    size_t head = g->n_ops;

    for (size_t o = 0; o < g->n_ops; o++)
        if (fr__hybrid_is_end(p->g, p->o, o))
            head = o;
    for (size_t i = 0; head == g->n_ops && p->o->ties && i < g->n_edges; i++) {
        const struct fr_edge *e = &g->edges[i];

        if (e->tensor == FR_NONE && e->bytes > 0 && g->ops[e->dst].phase == FR_PHASE_FORWARD &&
            units->unit_of_layer[g->ops[e->src].layer] == FR_NONE &&
            units->unit_of_layer[g->ops[e->dst].layer] == FR_NONE &&
            g->ops[e->src].layer != g->ops[e->dst].layer)
            head = e->dst;
    }
    return head;
}

/* The unit of each layer. A head that shares the embedding's weights stays with all that follows:
 * the two are summed between the first stage and the last, or are one where a rank has both stages.
 * By count it does so anyway. */
static enum fr_status map_units(struct placing *p, const struct fr__units *units,
                                const uint32_t **unit_of_layer, struct fr_error *err)
{
    const struct fr_graph *g = p->pl->graph;
    size_t head = p->o->cuts_by_count ? g->n_ops : find_head(p, units);
    uint32_t *unit_of = fr__arena_alloc(p->pl->arena, g->n_layers, sizeof(*unit_of));

    if (!unit_of)
        return fr__fail_nomem(err);
    memcpy(unit_of, units->unit_of_layer, g->n_layers * sizeof(*unit_of));
    for (size_t o = head; o < g->n_ops; o++)
        if (g->ops[o].phase == FR_PHASE_FORWARD && unit_of[g->ops[o].layer] == FR_NONE)
            unit_of[g->ops[o].layer] = (uint32_t)units->n_units;
    *unit_of_layer = unit_of;
    return FR_OK;
}

/* Stages are cut between units. Where nothing else is split, anywhere, as `pp` does. */
static enum fr_status cut_stages(struct placing *p, struct fr_error *err)
{
    const struct fr_schedule_spec spec = fr__hybrid_schedule(p->o);
    const uint32_t *unit_of_layer = NULL; /* cut anywhere */
    struct fr__units units = {0};
    enum fr_status st;

    p->n_stages = 1;
    p->rank_devices = fr__arena_alloc(p->pl->arena, p->o->pp, sizeof(*p->rank_devices));
    if (!p->rank_devices)
        return fr__fail_nomem(err);
    if (p->o->pp == 1)
        return FR_OK;
    FR_TRY(fr__schedule_for_pipeline(&p->schedule, &spec, err));
    if (p->g->is_sharded || p->g->is_recomputed || p->o->zero > 0 || p->o->cuts_by_count)
        FR_TRY(fr__units_within(&units, p->pl->graph, p->g->whole, err));
    st = units.n_units ? map_units(p, &units, &unit_of_layer, err) : FR_OK;
    if (st == FR_OK)
        st = make_line(p, unit_of_layer, err);
    fr__units_free(&units);
    return st;
}

static enum fr_status list_devices(struct placing *p, struct fr_error *err)
{
    uint32_t n = p->ranks->n_replicas;

    p->devices = fr__arena_alloc(p->pl->arena, (size_t)p->n_stages * n, sizeof(*p->devices));
    if (!p->devices)
        return fr__fail_nomem(err);
    for (uint32_t s = 0; s < p->n_stages; s++)
        for (uint32_t i = 0; i < n; i++)
            p->devices[(size_t)s * n + i] = fr__hybrid_device(p->ranks, rank_of_stage(p, s), i);
    return FR_OK;
}

/* ---- what is summed over whom ---- */

static enum fr_status find_parts(struct placing *p, struct fr_error *err)
{
    size_t n = p->pl->graph->n_ops;
    const struct fr__sharded *s = &p->g->sharded;

    p->part_of = fr__arena_alloc(p->pl->arena, n, sizeof(*p->part_of));
    if (!p->part_of)
        return fr__fail_nomem(err);
    p->parts[PART_DENSE].shards = p->o->zero ? p->ranks->data.n_ranks : 1;
    p->parts[PART_EXPERTS].shards = p->o->zero ? p->ranks->expert_data.n_ranks : 1;
    for (size_t o = 0; p->g->is_sharded && o < n; o++)
        p->part_of[o] = s->divided[o] & 1u << FR__AXIS_EXPERTS ? PART_EXPERTS : PART_DENSE;
    return FR_OK;
}

/* Gradients that are summed over `over` once a step: of ops that as many neighbours hold, 1: that
 * the whole tensor group has parts of. */
static enum fr_status add_late_sum(struct placing *p, const struct fr__rank_groups *over,
                                   uint32_t n_alike, const char *label, struct fr_error *err)
{
    size_t n = p->pl->graph->n_ops;
    bool *is_partial = fr__arena_alloc(p->pl->arena, n, sizeof(*is_partial));
    struct fr__late_sum *late = &p->late[p->n_late++];

    if (!is_partial)
        return fr__fail_nomem(err);
    for (size_t o = 0; p->g->is_sharded && o < n; o++)
        is_partial[o] =
            p->g->sharded.partial[o] & 1u << FR__HYBRID_TP && fr__hybrid_alike(p->g, o) == n_alike;
    *late = (struct fr__late_sum){
        .is_partial = is_partial, .shards = p->g->is_scattered ? p->shards : NULL, .label = label};
    return by_stage(p, over, &late->over, err);
}

static enum fr_status find_late_sums(struct placing *p, struct fr_error *err)
{
    const struct fr__hybrid_ranks *r = p->ranks;

    p->late = fr__arena_alloc(p->pl->arena, r->n_alike + 2, sizeof(*p->late));
    if (!p->late)
        return fr__fail_nomem(err);
    if (!p->g->is_sharded)
        return FR_OK;
    FR_TRY(add_late_sum(p, &r->tensor, 1, "partial gradients", err));
    for (uint32_t i = 0; i < r->n_alike; i++)
        FR_TRY(add_late_sum(p, &r->alike[i], r->alike[i].n_ranks, "gradients of equal heads", err));
    return FR_OK;
}

/* The gradients of weights that both ends of the model have. */
static enum fr_status sum_ends(struct placing *p, struct fr_error *err)
{
    const struct fr__rank_groups *ends = &p->ranks->ends;
    size_t n = p->pl->graph->n_ops;
    bool *is_end = fr__arena_alloc(p->pl->arena, n, sizeof(*is_end));
    uint32_t *groups =
        fr__arena_alloc(p->pl->arena, (size_t)p->n_stages * ends->n_groups, sizeof(*groups));
    struct fr__late_sum late = {.over = *ends,
                                .is_partial = is_end,
                                .shards = p->g->is_scattered ? p->shards : NULL,
                                .label = "shared weights",
                                .joins_stages = true};

    if (!is_end || !groups)
        return fr__fail_nomem(err);
    for (size_t o = 0; o < n; o++)
        is_end[o] = fr__hybrid_is_end(p->g, p->o, o);
    for (uint32_t i = 0; i < p->n_stages * ends->n_groups; i++)
        groups[i] = ends->plan_group[i % ends->n_groups];
    late.over.plan_group = groups;
    /* where the last stage is on the device of the first, both copies are there */
    late.over.n_ranks = rank_of_stage(p, 0) == rank_of_stage(p, p->n_stages - 1) ? 1 : 2;
    p->late[p->n_late++] = late;
    return FR_OK;
}

static enum fr_status find_groups(struct placing *p, struct fr_error *err)
{
    const struct fr__hybrid_ranks *r = p->ranks;

    FR_TRY(by_stage(p, &r->data, &p->parts[PART_DENSE].over, err));
    FR_TRY(by_stage(p, &r->expert_data, &p->parts[PART_EXPERTS].over, err));
    FR_TRY(by_stage(p, &r->copies, &p->copies, err));
    FR_TRY(by_stage(p, &r->tensor, &p->tensor, err));
    FR_TRY(by_stage(p, &r->context, &p->context, err));
    FR_TRY(by_stage(p, &r->experts, &p->experts, err));
    FR_TRY(by_stage(p, &r->expert_tensor, &p->expert_tensor, err));
    p->replicas[PART_DENSE] = p->parts[PART_DENSE].over;
    p->replicas[PART_EXPERTS] = p->parts[PART_EXPERTS].over;
    p->parts[PART_DENSE].is_summed = p->parts[PART_EXPERTS].is_summed = p->g->is_scattered;
    if (p->g->is_gathered) /* and nothing is gathered at the end */
        p->parts[PART_DENSE].over.n_ranks = p->parts[PART_EXPERTS].over.n_ranks = 1;
    FR_TRY(find_late_sums(p, err));
    return p->ranks->ends.n_groups ? sum_ends(p, err) : FR_OK;
}

/* Replicas and stages alone keep what `dp` and `pp` keep. */
static bool is_plain(const struct placing *p)
{
    return !p->g->is_sharded && !p->g->is_recomputed && p->o->zero == 0 && !p->o->recipe;
}

/* What is usual in the precision, or asked for, shared out as ZeRO says. */
static enum fr_status choose_keeping(struct placing *p, struct fr_error *err)
{
    struct fr__placer *pl = p->pl;
    bool *is_second;

    if (is_plain(p))
        return FR_OK;
    p->shards = fr__arena_alloc(pl->arena, pl->graph->n_ops, sizeof(*p->shards));
    is_second = fr__arena_alloc(pl->arena, pl->graph->n_ops, sizeof(*is_second));
    if (!p->shards || !is_second)
        return fr__fail_nomem(err);
    for (size_t o = 0; o < pl->graph->n_ops; o++) {
        p->shards[o] = p->parts[p->part_of[o]].shards;
        is_second[o] = fr__hybrid_is_second(p->g, o);
    }
    p->keeping = (struct fr__keeping){.recipe = fr__hybrid_recipe(p->o, pl->graph),
                                      .zero = p->o->zero,
                                      .shards = p->shards,
                                      .is_scattered = p->g->is_scattered,
                                      .is_whole_first = p->o->scatters_once,
                                      .is_second = p->g->ends_meet ? is_second : NULL,
                                      .casts_gathered = p->o->casts_gathered && p->o->zero >= 3};
    fr__placer_keep_so(pl, &p->keeping);
    if (p->g->is_gathered)
        fr_plan_say_shards(pl->plan, p->ranks->data.n_ranks);
    return FR_OK;
}

/* Of the owners on a rank of the pipeline, dense ones or experts. */
static enum fr_status share_out(const struct placing *p, uint32_t rank, uint8_t part,
                                struct fr__busiest busiest[], uint32_t owners[],
                                struct fr_error *err)
{
    const struct fr__params *all = &p->pl->params;
    struct fr__busiest b;
    size_t n = 0;

    for (uint32_t i = 0; i < all->n_owners; i++) {
        uint32_t o = all->owners[i].op;

        if (p->part_of[o] == part && rank_of_stage(p, p->stage_of ? p->stage_of[o] : 0) == rank)
            owners[n++] = i;
    }
    FR_TRY(fr__share_out(&b, all, owners, n, p->parts[part].shards, p->pl->in->optimizer,
                         p->pl->arena, err));
    for (size_t i = 0; i < n; i++)
        busiest[all->owners[owners[i]].op] = b;
    return FR_OK;
}

/* Optimizers that update whole matrices have whole ones on each rank, once stages are known. */
static enum fr_status share_whole_tensors(struct placing *p, struct fr_error *err)
{
    struct fr__placer *pl = p->pl;
    enum fr_optimizer optimizer = pl->in->optimizer;
    struct fr__busiest *busiest;
    uint32_t *owners;

    if (is_plain(p) || p->o->zero == 0 || !fr__takes_whole_tensors(optimizer))
        return FR_OK;
    if (p->o->zero == 3 && p->ranks->data.n_ranks > 1)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "%s updates whole matrices, but with zero=3 each rank has a slice of every "
                        "one: zero=1 and zero=2 share out whole ones",
                        fr_optimizer_name(optimizer));
    busiest = fr__arena_alloc(pl->arena, pl->graph->n_ops, sizeof(*busiest));
    owners = fr__arena_alloc(pl->arena, pl->params.n_owners, sizeof(*owners));
    if (!busiest || !owners)
        return fr__fail_nomem(err);
    for (uint32_t rank = 0; rank < p->o->pp; rank++) {
        FR_TRY(share_out(p, rank, PART_DENSE, busiest, owners, err));
        FR_TRY(share_out(p, rank, PART_EXPERTS, busiest, owners, err));
    }
    p->keeping.busiest = busiest;
    return FR_OK;
}

static bool has_experts_apart(const struct placing *p)
{
    for (size_t o = 0; o < p->pl->graph->n_ops; o++)
        if (p->part_of[o] == PART_EXPERTS)
            return true;
    return false;
}

/* Megatron-LM has two buffers, of dense gradients and of the experts', which fill buckets apart
 * (distributed_data_parallel.py, buffers and expert_parallel_buffers), with stages or without. */
static enum fr__exchange_policy policy(const struct placing *p)
{
    if (!p->schedule)
        return has_experts_apart(p) ? FR__EXCHANGE_STAGE_BUCKETS : FR__EXCHANGE_BUCKETS;
    return p->ends.order ? FR__EXCHANGE_STAGE_BUCKETS : FR__EXCHANGE_STAGES;
}

static enum fr_status make_exchange(struct placing *p, struct fr_error *err)
{
    static const uint32_t only_stage = 0;
    const struct fr__exchange_options o = {
        .policy = policy(p),
        .overlap = p->o->overlap,
        .bucket_bytes = bucket_bytes(p),
        .gathers_at_start = p->o->gathers_at_start,
        .stage_order = p->schedule ? p->ends.order : &only_stage,
        /* Megatron-LM reduces its gradients where they are kept (param_and_grad_buffer.py) */
        .keeps_copies = p->ranks->data.n_ranks > 1 && is_plain(p),
        .n_stages = p->n_stages,
        .n_replicas = p->ranks->n_replicas,
        .stage_of = p->stage_of,
        .devices = p->devices,
        .n_parts = p->g->is_sharded ? 2 : 1,
        .parts = p->parts,
        .part_of = p->g->is_sharded ? p->part_of : NULL,
        .n_late = p->n_late,
        .late = p->late,
        .is_folded = p->ranks->is_folded,
    };

    return fr__exchange_new(&p->exchange, p->pl, &o, err);
}

/* Where stages have replicas, their gradients leave during their last backward pass. */
static enum fr_status find_ends(struct placing *p, struct fr_error *err)
{
    bool is_summed =
        p->parts[PART_DENSE].over.n_ranks > 1 || p->parts[PART_EXPERTS].over.n_ranks > 1;

    if (!p->schedule || !p->o->overlap || !is_summed || p->g->is_scattered)
        return FR_OK;
    return fr__pipeline_ends(&p->ends, &p->line, p->schedule, err);
}

static enum fr_status add_messages(struct placing *p, struct fr_error *err)
{
    struct fr__group_ops_problem in = {.sharded = &p->g->sharded,
                                       .stage_of = p->stage_of,
                                       .share = &p->share,
                                       .is_folded = p->ranks->is_folded};

    if (!p->g->is_sharded)
        return FR_OK;
    in.axes[FR__HYBRID_TP] = &p->tensor;
    in.axes[FR__HYBRID_CP] = &p->context;
    in.axes[FR__AXIS_REPLICAS] = &p->replicas[PART_DENSE];
    in.axes[FR__AXIS_EXPERT_REPLICAS] = &p->replicas[PART_EXPERTS];
    in.axes[FR__AXIS_COPIES] = &p->copies;
    in.axes[FR__AXIS_EXPERTS] = &p->experts;
    in.axes[FR__AXIS_EXPERT_TENSOR] = &p->expert_tensor;
    in.computes_nothing_beside[FR__HYBRID_TP] = !p->o->is_tensor_async;
    if (p->o->sends_parts)
        FR_TRY(fr__hybrid_crossings(&in, p->g, p->o, p->stage_of, p->line.rank_of, p->pl, err));
    return fr__group_ops_add(p->pl, &in, err);
}

/* ---- one replica ---- */

static enum fr_status place_body(struct placing *p, struct fr__replica *r, struct fr_error *err)
{
    p->pl->next_priority = 0;
    fr__place_persistent(r, true);
    if (p->schedule)
        return fr__pipeline_place(&p->line, p->schedule, r, p->rank_devices, err);
    fr__place_body(r);
    return FR_OK;
}

static enum fr_status place_replica(struct placing *p, uint32_t replica, struct fr_error *err)
{
    struct fr__placer *pl = p->pl;
    struct fr__replica r;
    enum fr_status st;

    for (uint32_t s = 0; s < p->o->pp; s++)
        p->rank_devices[s] = fr__hybrid_device(p->ranks, s, replica);
    for (size_t o = 0; o < pl->graph->n_ops; o++)
        p->device_of[o] = p->rank_devices[rank_of_stage(p, p->stage_of ? p->stage_of[o] : 0)];
    st = fr__replica_init(&r, pl, p->device_of, &p->share, err);
    r.number = replica;
    r.passes = p->o->passes;
    r.last_micro = p->ends.last_micro;
    if (st == FR_OK)
        st = place_body(p, &r, err);
    if (st == FR_OK) {
        fr__place_sums(&r);
        fr__exchange_place(p->exchange, &r, replica);
        fr__refresh_tied(&r);
        st = fr__replica_status(&r, err);
    }
    fr__replica_fini(&r);
    return st;
}

/* The ranks of each stage in the same order. */
static enum fr_status fold_devices(const struct placing *p, struct fr_error *err)
{
    const struct fr__hybrid_ranks *r = p->ranks;
    uint32_t n = r->dense.n_ranks / p->o->pp;
    uint32_t *devices;

    if (!r->is_folded)
        return FR_OK;
    devices = fr__arena_alloc(p->pl->arena, n, sizeof(*devices));
    if (!devices)
        return fr__fail_nomem(err);
    for (uint32_t s = 0; s < p->o->pp; s++) {
        fr__hybrid_stage_devices(r, s, devices);
        fr_plan_fold_device(p->pl->plan, fr__hybrid_device(r, s, 0), n, devices);
    }
    return FR_OK;
}

static enum fr_status place_all(struct placing *p, struct fr_error *err)
{
    struct fr__placer *pl = p->pl;

    p->device_of = fr__arena_alloc(pl->arena, pl->graph->n_ops, sizeof(*p->device_of));
    if (!p->device_of)
        return fr__fail_nomem(err);
    FR_TRY(find_parts(p, err));
    FR_TRY(choose_keeping(p, err));
    FR_TRY(cut_stages(p, err));
    FR_TRY(share_whole_tensors(p, err));
    FR_TRY(list_devices(p, err));
    FR_TRY(find_groups(p, err));
    FR_TRY(find_ends(p, err));
    FR_TRY(make_exchange(p, err));
    FR_TRY(add_messages(p, err));
    for (uint32_t i = 0; i < p->ranks->n_replicas; i++)
        FR_TRY(place_replica(p, i, err));
    return fold_devices(p, err);
}

enum fr_status fr__hybrid_place(struct fr__placer *pl, const struct fr__hybrid_options *o,
                                const struct fr__hybrid_graph *g, struct fr__hybrid_ranks *r,
                                struct fr_decisions **tell, struct fr_error *err)
{
    uint32_t samples = pl->in->global_batch / o->dp;
    struct placing p = {.pl = pl, .o = o, .g = g, .ranks = r};
    enum fr_status st;

    p.share = (struct fr__share){.n_micros = o->n_micros,
                                 .batch = o->micro_batch,
                                 .last_batch = samples - (o->n_micros - 1) * o->micro_batch};
    st = place_all(&p, err);
    if (st == FR_OK && tell)
        st = fr__hybrid_tell(tell, pl, o, g, r,
                             &(struct fr__hybrid_placed){.line = p.schedule ? &p.line : NULL,
                                                         .schedule = &p.schedule,
                                                         .n_stages = p.n_stages,
                                                         .stage_of = p.stage_of},
                             err);
    fr_schedule_free(p.schedule);
    return st;
}
