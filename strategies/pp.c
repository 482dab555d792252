/* strategies/pp.c - pipeline parallelism: contiguous stages, micro-batches, one update an
 * iteration; several replicas of the pipeline average each stage's gradients by ring all-reduce.
 *
 * Sources: Y. Huang et al., GPipe, NeurIPS 2019; D. Narayanan et al., PipeDream, SOSP 2019 and
 * Megatron-LM, SC 2021 (1F1B with a flush). Stage s of replica r of R stands on device s R + r: the
 * replicas of a stage, which exchange more than neighbouring stages, sit side by side. A single
 * pipeline runs along devices that are well joined (strategies/lower/line_up.h).
 *
 * A stage's blocks (one micro-batch, one direction) follow each other by explicit dependencies, so
 * the schedule holds under any order of ready tasks. Replicas reduce accumulated gradients in place
 * after the last micro-batch.
 */
#include "config.h"

#include "base/error.h"
#include "strategies/lower/exchange.h"
#include "strategies/lower/line_up.h"
#include "strategies/list.h"
#include "strategies/lower/log.h"
#include "strategies/lower/problem.h"
#include "strategies/lower/replica.h"
#include "strategies/lower/schedule.h"
#include "strategies/single.h"
#include "strategies/lower/stages.h"

#include <string.h>

enum { OPTION_STAGES, OPTION_MICRO, OPTION_SCHEDULE };

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
                         .type = FR_OPTION_CHOICE,
                         .fallback = "1f1b",
                         .choices = "gpipe|1f1b",
                         .help = "order of forward and backward passes"},
    {.name = NULL},
};

/* The ops of one stage, forward and backward apart, in graph order. */
struct block_ops {
    uint32_t *ops;
    size_t n;
};

struct pipeline {
    struct fr__placer *pl;
    enum fr__schedule schedule;
    uint32_t n_stages, n_replicas;
    uint32_t *devices;    /* [n_stages n_replicas] stage by stage */
    uint32_t micro_batch; /* samples */
    struct fr__stages stages;
    struct block_ops (*blocks)[2]; /* [n_stages] */
    struct fr__exchange *exchange;
    /* of the replica being placed */
    struct fr__replica *r;
    uint32_t replica, n_micros;
    uint32_t *device_of; /* [n_ops] */
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

static enum fr_status read_options(struct pipeline *p, struct fr_error *err)
{
    const struct fr_problem *in = p->pl->in;
    const uint64_t *values = in->options->value;
    uint32_t n = (uint32_t)in->n_devices, batch, shortest;

    p->n_stages = values[OPTION_STAGES] ? (uint32_t)values[OPTION_STAGES] : n;
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
    p->n_micros = (batch - 1) / p->micro_batch + 1;
    p->schedule = (enum fr__schedule)values[OPTION_SCHEDULE];
    if ((uint64_t)p->n_micros * in->graph->n_ops >= INT32_MAX / 4)
        return fr__fail(err, FR_ERANGE, FR_NOWHERE,
                        "%u micro-batches of %zu ops are too many tasks for one plan", p->n_micros,
                        in->graph->n_ops);
    fr__log(p->pl->ctx, "%u pipeline%s of %u stages, %u micro-batches of %u samples, schedule %s",
            p->n_replicas, p->n_replicas == 1 ? "" : "s", p->n_stages, p->n_micros, p->micro_batch,
            p->schedule == FR__SCHEDULE_GPIPE ? "gpipe" : "1f1b");
    return FR_OK;
}

/* ---- stages ---- */

static enum fr_status choose_devices(struct pipeline *p, struct fr_error *err)
{
    const struct fr_problem *in = p->pl->in;

    p->devices = fr__arena_alloc(p->pl->arena, in->n_devices, sizeof(*p->devices));
    if (!p->devices)
        return fr__fail_nomem(err);
    if (p->n_replicas == 1)
        return fr__line_up(p->pl, p->devices, err);
    memcpy(p->devices, in->devices, in->n_devices * sizeof(*p->devices));
    return FR_OK;
}

static enum fr_status cut_stages(struct pipeline *p, struct fr_error *err)
{
    struct fr__arena *arena = p->pl->arena;
    uint32_t *devices = fr__arena_alloc(arena, p->n_stages, sizeof(*devices));
    double *in_flight = fr__arena_alloc(arena, p->n_stages, sizeof(*in_flight));

    if (!devices || !in_flight)
        return fr__fail_nomem(err);
    for (uint32_t s = 0; s < p->n_stages; s++) {
        devices[s] = device_at(p, s, 0);
        in_flight[s] = fr__schedule_in_flight(p->schedule, s, p->n_stages, p->n_micros);
    }
    return fr__stages_cut(&p->stages, p->pl, devices, p->n_stages, p->micro_batch, in_flight, err);
}

static bool is_backward(enum fr__role role)
{
    return role == FR__ROLE_BACKWARD;
}

static enum fr_status list_blocks(struct pipeline *p, struct fr_error *err)
{
    const struct fr_graph *g = p->pl->graph;
    const enum fr__role *roles = p->pl->params.roles;
    struct fr__arena *arena = p->pl->arena;

    p->blocks = fr__arena_alloc(arena, p->n_stages, sizeof(*p->blocks));
    if (!p->blocks)
        return fr__fail_nomem(err);
    for (uint32_t o = 0; o < g->n_ops; o++)
        p->blocks[p->stages.stage_of[o]][is_backward(roles[o])].n++;
    for (uint32_t s = 0; s < p->n_stages; s++)
        for (int b = 0; b < 2; b++) {
            struct block_ops *k = &p->blocks[s][b];

            k->ops = fr__arena_alloc(arena, k->n, sizeof(*k->ops));
            if (!k->ops)
                return fr__fail_nomem(err);
            k->n = 0;
        }
    for (uint32_t o = 0; o < g->n_ops; o++) {
        struct block_ops *k = &p->blocks[p->stages.stage_of[o]][is_backward(roles[o])];

        if (roles[o] == FR__ROLE_FORWARD || roles[o] == FR__ROLE_BACKWARD)
            k->ops[k->n++] = o;
    }
    return FR_OK;
}

/* ---- blocks in an order in which they can run ---- */

struct progress {
    struct fr__slot *slots; /* [n_stages][2 n_micros] */
    uint32_t *at;           /* [n_stages] next slot */
    uint32_t *marker;       /* [n_stages] end of the block before, FR_NONE */
    bool *is_placed;        /* [n_stages][2][n_micros] */
    /* blocks are numbered 2 stage + direction; see repeats */
    struct fr__begin *begin;       /* [n_micros][2 n_stages] */
    struct fr__begin *size;        /* [2 n_stages] of whole micro-batches */
    struct fr__begin *size_so_far; /* [2 n_stages] scratch */
    struct fr__pattern **pattern;  /* [2 n_stages] */
};

static bool *placed(const struct pipeline *p, const struct progress *g, uint32_t stage,
                    bool backward, uint32_t micro)
{
    return &g->is_placed[((size_t)stage * 2 + backward) * p->n_micros + micro];
}

/* Activations come from the stage before, gradients from the stage after. */
static bool can_place(const struct pipeline *p, const struct progress *g, uint32_t stage,
                      const struct fr__slot *k)
{
    if (!k->is_backward)
        return stage == 0 || *placed(p, g, stage - 1, false, k->micro);
    return stage + 1 == p->n_stages ? *placed(p, g, stage, false, k->micro)
                                    : *placed(p, g, stage + 1, true, k->micro);
}

/* The micro-batch whose block the later ones repeat: the second in that direction, since the first
 * may come after nothing. Those of the last micro-batch, which may be smaller, are no pattern. */
static uint32_t pattern_micro(const struct pipeline *p, bool is_backward)
{
    return p->schedule == FR__SCHEDULE_GPIPE && is_backward ? p->n_micros - 2 : 1;
}

/* Whether all blocks of a micro-batch are copies. */
static bool repeats(const struct pipeline *p, uint32_t micro)
{
    return micro > 1 && micro + 1 < p->n_micros && micro != pattern_micro(p, true);
}

static void learn_block(struct pipeline *p, struct progress *g, uint32_t block,
                        const struct fr__pattern_source *source, uint32_t micro)
{
    struct fr__pattern_source s = *source;

    s.n_blocks = 2 * p->n_stages;
    s.row = g->begin + (size_t)micro * s.n_blocks;
    s.size = g->size_so_far;
    for (uint32_t b = 0; b < s.n_blocks; b++)
        g->size_so_far[b] = *placed(p, g, b / 2, b % 2, micro) ? g->size[b] : (struct fr__begin){0};
    g->pattern[block] = fr__pattern_new(p->pl->plan, &s);
    p->r->is_out_of_memory |= !g->pattern[block];
}

static void make_block(struct pipeline *p, struct progress *g, uint32_t stage,
                       const struct fr__slot *k)
{
    const struct block_ops *b = &p->blocks[stage][k->is_backward];
    uint32_t block = 2 * stage + k->is_backward;
    struct fr__pattern_source s = {.from = fr__placer_mark(p->pl), .after = g->marker[stage]};

    fr__place_ops(p->r, k->micro, b->ops, b->n, g->marker[stage]);
    g->marker[stage] =
        fr__place_join(p->r, k->micro, b->ops, b->n, device_at(p, stage, p->replica));
    if (k->micro + 1 == p->n_micros)
        return;
    s.to = fr__placer_mark(p->pl);
    g->size[block] = (struct fr__begin){.task = s.to.n_tasks - s.from.n_tasks,
                                        .buffer = s.to.n_buffers - s.from.n_buffers,
                                        .priority = s.to.priority - s.from.priority};
    if (k->micro == pattern_micro(p, k->is_backward))
        learn_block(p, g, block, &s, k->micro);
}

static void repeat_block(struct pipeline *p, struct progress *g, uint32_t stage,
                         const struct fr__slot *k)
{
    const struct fr__pattern *pattern = g->pattern[2 * stage + k->is_backward];
    const struct fr__pattern_place place = {.row = g->begin + (size_t)k->micro * 2 * p->n_stages,
                                            .after = g->marker[stage],
                                            .microbatch = k->micro,
                                            .device = FR_NONE,
                                            .rank = FR_NONE};

    if (!pattern)
        return; /* out of memory */
    fr__placer_repeat(p->pl, pattern, &place);
    g->marker[stage] = p->pl->n_tasks - 1;
}

static void place_block(struct pipeline *p, struct progress *g, uint32_t stage,
                        const struct fr__slot *k)
{
    struct fr__plan_mark here = fr__placer_mark(p->pl);

    g->begin[((size_t)k->micro * p->n_stages + stage) * 2 + k->is_backward] =
        (struct fr__begin){here.n_tasks, here.n_buffers, here.priority};
    *placed(p, g, stage, k->is_backward, k->micro) = true;
    if (p->blocks[stage][k->is_backward].n == 0)
        return;
    if (repeats(p, k->micro))
        repeat_block(p, g, stage, k);
    else
        make_block(p, g, stage, k);
}

/* Sweeps over the stages, each time one block a stage where its inputs are there: about the order
 * in which the blocks will run. Cost: O(n_stages (n_micros + n_stages)) besides the blocks. */
static enum fr_status place_blocks(struct pipeline *p, struct progress *g, struct fr_error *err)
{
    size_t n_slots = 2 * (size_t)p->n_micros, left = n_slots * p->n_stages;

    for (uint32_t s = 0; s < p->n_stages; s++) {
        g->marker[s] = FR_NONE;
        fr__schedule_stage(p->schedule, s, p->n_stages, p->n_micros, g->slots + s * n_slots);
    }
    while (left > 0) {
        if (fr__is_cancelled(p->pl->ctx))
            return fr__fail(err, FR_ECANCELLED, FR_NOWHERE, "interrupted");
        for (uint32_t s = 0; s < p->n_stages; s++) {
            const struct fr__slot *k = &g->slots[s * n_slots + g->at[s]];

            if (g->at[s] == n_slots || !can_place(p, g, s, k))
                continue;
            place_block(p, g, s, k);
            g->at[s]++;
            left--;
        }
    }
    for (uint32_t s = 0; s < p->n_stages; s++)
        p->r->done_of[device_at(p, s, p->replica)] = g->marker[s];
    return FR_OK;
}

/* ---- one replica ---- */

static enum fr_status place_replica_in(struct pipeline *p, struct fr__arena *scratch,
                                       struct fr_error *err)
{
    struct fr__placer *pl = p->pl;
    uint32_t batch = batch_of(p, p->replica);
    enum fr_status st;
    struct fr__share share;
    struct progress g;

    p->n_micros = (batch - 1) / p->micro_batch + 1;
    share = (struct fr__share){.n_micros = p->n_micros,
                               .batch = p->micro_batch,
                               .last_batch = batch - (p->n_micros - 1) * p->micro_batch};
    g.slots = fr__arena_alloc(scratch, 2 * (size_t)p->n_micros * p->n_stages, sizeof(*g.slots));
    g.at = fr__arena_alloc(scratch, p->n_stages, sizeof(*g.at));
    g.marker = fr__arena_alloc(scratch, p->n_stages, sizeof(*g.marker));
    g.is_placed = fr__arena_alloc(scratch, 2 * (size_t)p->n_micros * p->n_stages, sizeof(bool));
    g.begin = fr__arena_alloc(scratch, 2 * (size_t)p->n_micros * p->n_stages, sizeof(*g.begin));
    g.size = fr__arena_alloc(scratch, 2 * (size_t)p->n_stages, sizeof(*g.size));
    g.size_so_far = fr__arena_alloc(scratch, 2 * (size_t)p->n_stages, sizeof(*g.size_so_far));
    g.pattern = fr__arena_alloc(scratch, 2 * (size_t)p->n_stages, sizeof(struct fr__pattern *));
    if (!g.slots || !g.at || !g.marker || !g.is_placed || !g.begin || !g.size || !g.size_so_far ||
        !g.pattern)
        return fr__fail_nomem(err);
    for (size_t o = 0; o < pl->graph->n_ops; o++)
        p->device_of[o] = device_at(p, p->stages.stage_of[o], p->replica);
    FR_TRY(fr__replica_init(p->r, pl, p->device_of, &share, err));
    pl->next_priority = 0;
    fr__place_persistent(p->r, true);
    st = place_blocks(p, &g, err);
    if (st == FR_OK) {
        fr__place_sums(p->r);
        fr__exchange_place(p->exchange, p->r, p->replica);
        fr__refresh_tied(p->r);
    }
    for (uint32_t b = 0; b < 2 * p->n_stages; b++)
        fr__pattern_free(g.pattern[b]);
    return st == FR_OK ? fr__replica_status(p->r, err) : st;
}

static enum fr_status place_replica(struct pipeline *p, uint32_t replica, struct fr_error *err)
{
    struct fr__arena *scratch = fr__arena_new();
    struct fr__replica r = {0};
    enum fr_status st;

    p->r = &r;
    p->replica = replica;
    st = scratch ? place_replica_in(p, scratch, err) : fr__fail_nomem(err);
    fr__replica_fini(&r);
    fr__arena_free(scratch);
    return st;
}

static enum fr_status place(struct pipeline *p, struct fr_error *err)
{
    struct fr__exchange_options exchange = {.policy = FR__EXCHANGE_STAGES, .overlap = true};

    FR_TRY(read_options(p, err));
    FR_TRY(choose_devices(p, err));
    FR_TRY(cut_stages(p, err));
    FR_TRY(list_blocks(p, err));
    exchange.n_stages = p->n_stages;
    exchange.n_replicas = p->n_replicas;
    exchange.stage_of = p->stages.stage_of;
    exchange.devices = p->devices;
    FR_TRY(fr__exchange_new(&p->exchange, p->pl, &exchange, err));
    p->device_of = fr__arena_alloc(p->pl->arena, p->pl->graph->n_ops, sizeof(*p->device_of));
    if (!p->device_of)
        return fr__fail_nomem(err);
    for (uint32_t replica = 0; replica < p->n_replicas; replica++)
        FR_TRY(place_replica(p, replica, err));
    return FR_OK;
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
    fr__placer_fini(&pl);
    return st;
}

const struct fr_strategy fr__strategy_pp = {
    .name = "pp",
    .summary = "pipeline parallelism: stages work on different micro-batches at once",
    .source = "Huang et al., GPipe, NeurIPS 2019; Narayanan et al., PipeDream, SOSP 2019",
    .options = options,
    .plan = plan,
    .is_trusted = true,
};
