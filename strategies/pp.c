/* strategies/pp.c - pipeline parallelism: contiguous stages, micro-batches, one update an
 * iteration; several replicas of the pipeline average each stage's gradients by ring all-reduce.
 *
 * Sources: Y. Huang et al., GPipe, NeurIPS 2019; D. Narayanan et al., PipeDream, SOSP 2019 and
 * Megatron-LM, SC 2021 (1F1B with a flush). Stage s of replica r of R stands on device s R + r: the
 * replicas of a stage, which exchange more than neighbouring stages, sit side by side. A single
 * pipeline runs along devices that are well joined (lowering/replica/line_up.h).
 *
 * A stage's blocks (one micro-batch, one direction) follow each other by explicit dependencies, so
 * the schedule holds under any order of ready tasks. Replicas reduce accumulated gradients in place
 * after the last micro-batch.
 */
#include "config.h"

#include "base/error.h"
#include "strategies/list.h"
#include "lowering/decisions_new.h"
#include "lowering/exchange/exchange.h"
#include "lowering/replica/line_up.h"
#include "lowering/log.h"
#include "lowering/pipeline/async.h"
#include "lowering/pipeline/sums.h"
#include "lowering/pipeline/times.h"
#include "lowering/check_problem.h"
#include "lowering/pipeline/stages_given.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    OPTION_STAGES,
    OPTION_MICRO,
    OPTION_SCHEDULE,
    OPTION_VIRTUAL,
    OPTION_SYNC,
    OPTION_CUTS,
    OPTION_ADDS,
    OPTION_PASSES,
    OPTION_RECIPE
};

static const struct fr_option options[] = {
    [OPTION_STAGES] = {.name = "stages",
                       .type = FR_OPTION_COUNT,
                       .fallback = "0",
                       .help = "stages of a pipeline; 0: all devices"},
    [OPTION_MICRO] = {.name = "micro",
                      .type = FR_OPTION_COUNT,
                      .fallback = "0",
                      .help = "samples per micro-batch; 0: at least four micro-batches per stage",
                      .advice = FR_ADVICE_LEAST,
                      .advice_text = "1"},
    [OPTION_SCHEDULE] = {.name = "schedule",
                         .type = FR_OPTION_TEXT,
                         .fallback = "1f1b",
                         .help = "order of forward and backward passes: a name that `forerun "
                                 "schedule list` shows, or file:PATH"},
    [OPTION_VIRTUAL] = {.name = "virtual",
                        .type = FR_OPTION_COUNT,
                        .fallback = "0",
                        .help = "parts of the model a device; 0: as the schedule needs"},
    [OPTION_SYNC] = {.name = "vertical-sync",
                     .type = FR_OPTION_BOOL,
                     .fallback = "0",
                     .help = "of PipeDream: all stages read the first stage's version of weights"},
    [OPTION_CUTS] = {.name = "cuts",
                     .type = FR_OPTION_TEXT,
                     .fallback = "",
                     .help =
                         "layers or ops with which further stages begin, layer12;layer24; none: "
                         "the best cut"},
    [OPTION_ADDS] = FR__ADDS_OPTION,
    [OPTION_PASSES] = FR__PASSES_OPTION,
    [OPTION_RECIPE] = FR__RECIPE_OPTION,
    {.name = NULL},
};

struct pipeline {
    struct fr__placer *pl;
    uint32_t n_stages, n_replicas; /* devices of a pipeline; pipelines */
    uint32_t *devices;             /* [n_stages][n_replicas] */
    uint32_t micro_batch;          /* samples */
    struct fr_schedule *schedule;  /* of n_micros */
    uint32_t n_micros;
    struct fr__pipeline line;
    struct fr__exchange *exchange;
    uint32_t *replica_devices;            /* [n_stages] of the replica being placed */
    uint32_t *device_of[FR__MOST_COPIES]; /* [n_ops] */
};

static uint32_t device_at(const struct pipeline *p, uint32_t stage, uint32_t replica)
{
    return p->devices[stage * p->n_replicas + replica];
}

/* Samples of one replica: the first (batch mod n) have one more. */
static uint32_t batch_of(const struct pipeline *p, uint32_t replica)
{
    uint32_t batch = p->pl->in->global_batch;

    return batch / p->n_replicas + (replica < batch % p->n_replicas);
}

/* ---- options ---- */

static struct fr__step_passes passes_of(const struct pipeline *p)
{
    const uint64_t *v = p->pl->in->options->value;

    return (struct fr__step_passes){.adds = v[OPTION_ADDS], .update = v[OPTION_PASSES]};
}

static struct fr_schedule_spec spec_of(const struct pipeline *p, uint32_t n_micros)
{
    const struct fr_option_values *v = p->pl->in->options;

    return (struct fr_schedule_spec){.name = fr_option_text(v, OPTION_SCHEDULE),
                                     .n_ranks = p->n_stages,
                                     .n_micros = n_micros,
                                     .n_virtual = (uint32_t)v->value[OPTION_VIRTUAL],
                                     .vertical_sync = v->value[OPTION_SYNC] != 0};
}

static enum fr_status make_schedule(struct pipeline *p, uint32_t n_micros, struct fr_error *err)
{
    const struct fr_schedule_spec spec = spec_of(p, n_micros);

    if (p->schedule && p->n_micros == n_micros)
        return FR_OK;
    fr_schedule_free(p->schedule);
    p->schedule = NULL;
    p->n_micros = n_micros;
    return fr__schedule_for_pipeline(&p->schedule, &spec, err);
}

/* As many as cuts given by hand make, with one stage a device; else one a device. */
static uint32_t default_stages(const struct fr_problem *in)
{
    size_t n_cuts = fr__stages_count_given(fr_option_text(in->options, OPTION_CUTS));

    if (n_cuts > 0 && n_cuts < in->n_devices && in->options->value[OPTION_VIRTUAL] <= 1)
        return (uint32_t)n_cuts + 1;
    return (uint32_t)in->n_devices;
}

static enum fr_status read_options(struct pipeline *p, struct fr_error *err)
{
    const struct fr_problem *in = p->pl->in;
    const uint64_t *values = in->options->value;
    uint32_t n = (uint32_t)in->n_devices, batch, shortest, n_micros;

    p->n_stages = values[OPTION_STAGES] ? (uint32_t)values[OPTION_STAGES] : default_stages(in);
    if (p->n_stages > n || n % p->n_stages)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "%u devices do not make whole pipelines of %u stages", n, p->n_stages);
    p->n_replicas = n / p->n_stages;
    if (in->global_batch < p->n_replicas)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "a global batch of %u over %u pipelines leaves some without a sample",
                        in->global_batch, p->n_replicas);
    batch = batch_of(p, 0);
    shortest = batch_of(p, p->n_replicas - 1);
    p->micro_batch = (uint32_t)values[OPTION_MICRO];
    if (p->micro_batch > batch)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "micro=%u is more than the %u samples of a pipeline", p->micro_batch,
                        batch);
    if (p->micro_batch == 0) {
        p->micro_batch = shortest / (4 * p->n_stages); /* GPipe: a small bubble from M >= 4 K on */
        p->micro_batch += p->micro_batch == 0;
    }
    n_micros = (batch - 1) / p->micro_batch + 1;
    if ((uint64_t)n_micros * in->graph->n_ops >= INT32_MAX / 4)
        return fr__fail(err, FR_ERANGE, FR_NOWHERE,
                        "%u micro-batches of %zu ops are too many tasks for one plan", n_micros,
                        in->graph->n_ops);
    FR_TRY(make_schedule(p, n_micros, err));
    fr__log(p->pl->ctx, "%u pipeline%s of %u stages, %u micro-batches of %u samples, schedule %s",
            p->n_replicas, p->n_replicas == 1 ? "" : "s", p->n_stages, n_micros, p->micro_batch,
            p->schedule->name);
    return FR_OK;
}

/* ---- devices ---- */

static enum fr_status choose_devices(struct pipeline *p, struct fr_error *err)
{
    const struct fr_problem *in = p->pl->in;

    p->devices = fr__arena_alloc(p->pl->arena, in->n_devices, sizeof(*p->devices));
    p->replica_devices = fr__arena_alloc(p->pl->arena, p->n_stages, sizeof(*p->replica_devices));
    if (!p->devices || !p->replica_devices)
        return fr__fail_nomem(err);
    if (p->n_replicas == 1)
        return fr__line_up(p->pl, p->devices, err);
    memcpy(p->devices, in->devices, in->n_devices * sizeof(*p->devices));
    return FR_OK;
}

static void take_replica(struct pipeline *p, uint32_t replica)
{
    for (uint32_t s = 0; s < p->n_stages; s++)
        p->replica_devices[s] = device_at(p, s, replica);
}

/* ---- gradients ---- */

/* The replicas of a stage, each copy of the model among them. */
static enum fr_status make_exchange(struct pipeline *p, struct fr_error *err)
{
    const struct fr__pipeline *line = &p->line;
    struct fr__exchange_options o = {.policy = FR__EXCHANGE_STAGES,
                                     .overlap = true,
                                     .n_stages = line->n_stages,
                                     .n_replicas = p->n_replicas * line->n_copies,
                                     .stage_of = line->stages.stage_of,
                                     .n_parts = 1,
                                     .has_two_stages = line->n_copies > 1};
    struct fr__reduce_part *part = fr__arena_alloc(p->pl->arena, 1, sizeof(*part));
    uint32_t *devices =
        fr__arena_alloc(p->pl->arena, (size_t)o.n_stages * o.n_replicas, sizeof(*devices));

    if (!part || !devices)
        return fr__fail_nomem(err);
    for (uint32_t s = 0; s < o.n_stages; s++)
        for (uint32_t i = 0; i < o.n_replicas; i++)
            devices[(size_t)s * o.n_replicas + i] = device_at(
                p, line->rank_of[i % line->n_copies * o.n_stages + s], i / line->n_copies);
    part->shards = 1;
    o.devices = devices;
    o.parts = part;
    FR_TRY(fr__group_all(&part->over, p->pl, o.n_stages, o.n_replicas, devices, err));
    return fr__exchange_new(&p->exchange, p->pl, &o, err);
}

/* ---- one replica ---- */

static enum fr_status init_copies(struct pipeline *p, struct fr__replica copies[], uint32_t replica,
                                  struct fr_error *err)
{
    struct fr__placer *pl = p->pl;
    uint32_t batch = batch_of(p, replica), first, n_copies = p->line.n_copies;

    for (uint32_t c = 0; c < n_copies; c++) {
        struct fr__share share = {.n_micros = fr__pipeline_micros(&p->line, p->schedule, c, &first),
                                  .batch = p->micro_batch,
                                  .last_batch = p->micro_batch};

        if (c + 1 == n_copies)
            share.last_batch = batch - (p->n_micros - 1) * p->micro_batch;
        for (size_t o = 0; o < pl->graph->n_ops; o++)
            p->device_of[c][o] =
                p->replica_devices[p->line
                                       .rank_of[c * p->line.n_stages + p->line.stages.stage_of[o]]];
        FR_TRY(fr__replica_init(&copies[c], pl, p->device_of[c], &share, err));
        copies[c].number = replica * n_copies + c;
        copies[c].passes = passes_of(p);
        fr__replica_count_from(&copies[c], first, p->n_micros);
    }
    return FR_OK;
}

static enum fr_status place_copies(struct pipeline *p, struct fr__replica copies[],
                                   uint32_t replica, struct fr_error *err)
{
    uint32_t n_copies = p->line.n_copies;

    FR_TRY(init_copies(p, copies, replica, err));
    p->pl->next_priority = 0;
    for (uint32_t c = 0; c < n_copies; c++)
        fr__place_persistent(&copies[c], true);
    FR_TRY(fr__pipeline_place(&p->line, p->schedule, copies, p->replica_devices, err));
    for (uint32_t c = 0; c < n_copies;
         c++) /* of all, before updates that wait for several copies */
        fr__place_sums(&copies[c]);
    for (uint32_t c = 0; c < n_copies; c++) {
        fr__exchange_place(p->exchange, &copies[c], replica * n_copies + c);
        fr__refresh_tied(&copies[c]);
        FR_TRY(fr__replica_status(&copies[c], err));
    }
    return FR_OK;
}

static enum fr_status place_replica(struct pipeline *p, uint32_t replica, struct fr_error *err)
{
    struct fr__replica copies[FR__MOST_COPIES] = {{0}};
    enum fr_status st;

    FR_TRY(make_schedule(p, (batch_of(p, replica) - 1) / p->micro_batch + 1, err));
    take_replica(p, replica);
    st = place_copies(p, copies, replica, err);
    for (uint32_t c = 0; c < p->line.n_copies; c++)
        fr__replica_fini(&copies[c]);
    return st;
}

/* ---- no flush ---- */

static enum fr_status place_async(struct pipeline *p, struct fr_error *err)
{
    const struct fr_schedule_spec spec = spec_of(p, p->n_micros);
    struct fr_pass_times *times = fr__arena_alloc(p->pl->arena, p->line.n_stages, sizeof(*times));
    struct fr__unrolled u;
    enum fr_status st;

    if (!times)
        return fr__fail_nomem(err);
    if (p->n_replicas > 1 || batch_of(p, 0) % p->micro_batch)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "schedule '%s' never flushes: it takes one pipeline of all devices, and "
                        "micro-batches that divide the batch",
                        p->schedule->name);
    fr__pipeline_times(times, &p->line, p->replica_devices, p->micro_batch);
    FR_TRY(fr__pipeline_unroll(&u, &spec, times, err));
    for (size_t o = 0; o < p->pl->graph->n_ops; o++)
        p->device_of[0][o] = p->replica_devices[p->line.rank_of[p->line.stages.stage_of[o]]];
    p->pl->next_priority = 0;
    st = fr__pipeline_place_async(&p->line, &u, p->micro_batch, p->device_of[0], p->replica_devices,
                                  err);
    fr_schedule_free(u.schedule);
    return st;
}

/* ---- all of it ---- */

static enum fr_status make_line(struct pipeline *p, struct fr_error *err)
{
    const struct fr_option_values *v = p->pl->in->options;
    struct fr__stage_sums sums = {0};
    const struct fr__recipe *recipe;

    FR_TRY(fr__check_passes(v, OPTION_ADDS, OPTION_PASSES, err));
    FR_TRY(fr__recipe_read(&recipe, fr_option_text(v, OPTION_RECIPE), p->pl->graph, err));
    FR_TRY(fr__placer_keep(p->pl, recipe, err));
    FR_TRY(read_options(p, err));
    FR_TRY(choose_devices(p, err));
    take_replica(p, 0);
    FR_TRY(fr__pipeline_sums(&sums, p->pl,
                             &(struct fr__sums_problem){.n_ranks = p->n_stages,
                                                        .n_replicas = p->n_replicas,
                                                        .devices = p->devices,
                                                        .bucket_bytes = INFINITY},
                             err));
    FR_TRY(fr__pipeline_make(
        &p->line, p->pl,
        &(struct fr__pipeline_problem){.schedule = p->schedule,
                                       .devices = p->replica_devices,
                                       .micro_batch = p->micro_batch,
                                       .sums = sums,
                                       .cuts = fr_option_text(p->pl->in->options, OPTION_CUTS),
                                       .is_asynchronous = true},
        err));
    for (uint32_t c = 0; c < p->line.n_copies; c++) {
        p->device_of[c] =
            fr__arena_alloc(p->pl->arena, p->pl->graph->n_ops, sizeof(*p->device_of[c]));
        if (!p->device_of[c])
            return fr__fail_nomem(err);
    }
    return FR_OK;
}

/* What the plan of the cut says of an iteration, for the answer. */
static enum fr_status promise(const struct pipeline *p, struct fr_error *err)
{
    const struct fr__choice *c = p->line.stages.choice;
    bool is_async = p->schedule->weights != FR_WEIGHTS_FLUSH;
    char left_out[160];

    snprintf(left_out, sizeof(left_out), "%slinks that messages share, interference",
             batch_of(p, 0) % p->micro_batch ? "a smaller last micro-batch, " : "");
    return fr__decisions_promise(
        p->pl->in,
        &(struct fr_decided_promise){.planned_s = p->line.stages.planned_s,
                                     .by = is_async ? "slowest stage or link"
                                           : c && c->rule == FR__CUT_PHASES &&
                                                   c->by != FR__CHOSEN_REPLAY
                                               ? "closed form of the schedule"
                                               : "replay of the schedule",
                                     .left_out = left_out},
        NULL, err);
}

static enum fr_status place_flushed(struct pipeline *p, struct fr_error *err)
{
    FR_TRY(make_exchange(p, err));
    for (uint32_t replica = 0; replica < p->n_replicas; replica++)
        FR_TRY(place_replica(p, replica, err));
    return FR_OK;
}

static enum fr_status place(struct pipeline *p, struct fr_error *err)
{
    FR_TRY(make_line(p, err));
    FR_TRY(p->schedule->weights == FR_WEIGHTS_FLUSH ? place_flushed(p, err) : place_async(p, err));
    return promise(p, err);
}

static enum fr_status plan(const struct fr_problem *in, const struct fr_context *ctx,
                           struct fr_plan *out, struct fr_error *err)
{
    struct fr__placer pl;
    struct pipeline p = {.pl = &pl};
    enum fr_status st;

    FR_TRY(fr__check_problem(in, err));
    st = fr__placer_init(&pl, in, ctx, out, err);
    if (st == FR_OK)
        st = place(&p, err);
    fr_schedule_free(p.schedule);
    fr__placer_fini(&pl);
    return st;
}

/* ---- explained ---- */

static const char *first_op(const struct pipeline *p, uint32_t stage, struct fr__arena *arena)
{
    const struct fr__block_ops *forward = &p->line.blocks[stage][FR_ACTION_F];

    return forward->n ? fr__arena_strdup(arena, p->pl->graph->ops[forward->ops[0]].name) : "";
}

static enum fr_status tell(struct pipeline *p, struct fr_decisions **out, struct fr_error *err)
{
    uint32_t n = p->line.n_stages;
    struct fr_decided_device *devices;
    struct fr__arena *arena;
    struct fr_decisions *d = fr__decisions_new(p->pl->in, &arena, &devices);
    struct fr_decided_pipeline *line = d ? fr__arena_alloc(arena, 1, sizeof(*line)) : NULL;
    struct fr_pass_times *times = d ? fr__arena_alloc(arena, n, sizeof(*times)) : NULL;
    uint32_t *device_of = d ? fr__arena_alloc(arena, n, sizeof(*device_of)) : NULL;
    const char **names = d ? fr__arena_alloc(arena, n, sizeof(*names)) : NULL;
    bool is_out_of_memory = !line || !times || !device_of || !names;

    for (uint32_t s = 0; !is_out_of_memory && s < n; s++) {
        device_of[s] = p->replica_devices[p->line.rank_of[s]];
        names[s] = first_op(p, s, arena);
        is_out_of_memory = !names[s];
    }
    if (is_out_of_memory) {
        fr_decisions_free(d);
        return fr__fail_nomem(err);
    }
    fr__pipeline_times(times, &p->line, p->replica_devices, p->micro_batch);
    *line = (struct fr_decided_pipeline){.schedule = p->schedule,
                                         .of_stage = times,
                                         .device_of = device_of,
                                         .first_op = names,
                                         .n_pipelines = p->n_replicas,
                                         .micro_batch = p->micro_batch};
    fr__decisions_own(d, p->schedule);
    p->schedule = NULL;
    d->pipeline = line;
    *out = d;
    return FR_OK;
}

static enum fr_status explain(const struct fr_problem *in, const struct fr_context *ctx,
                              struct fr_decisions **out, struct fr_error *err)
{
    struct fr__placer pl;
    struct pipeline p = {.pl = &pl};
    struct fr_plan *scratch;
    enum fr_status st;

    FR_TRY(fr__check_problem(in, err));
    scratch = fr_plan_new(in->topo, in->graph);
    if (!scratch)
        return fr__fail_nomem(err);
    st = fr__placer_init(&pl, in, ctx, scratch, err);
    if (st == FR_OK)
        st = make_line(&p, err);
    if (st == FR_OK)
        st = tell(&p, out, err);
    fr_schedule_free(p.schedule);
    fr__placer_fini(&pl);
    fr_plan_free(scratch);
    return st;
}

const struct fr_strategy fr__strategy_pp = {
    .name = "pp",
    .summary = "pipeline parallelism: stages work on different micro-batches at once",
    .source = "Huang et al., GPipe, NeurIPS 2019; Narayanan et al., PipeDream, SOSP 2019",
    .options = options,
    .plan = plan,
    .explain = explain,
    .is_trusted = true,
};
