/* strategies/dp.c - synchronous data parallelism: one replica a device, gradients averaged by ring
 * all-reduce in buckets or through parameter servers.
 *
 * Source: S. Li et al., PyTorch Distributed: Experiences on Accelerating Data Parallel Training, VLDB
 * 2020 (buckets in backward order, overlapped with the backward pass, launched in the same order on
 * all ranks; each rank keeps the buckets' storage beside its gradients, as DDP does by default;
 * section 3.2.3: the backward pass ends when all buckets have been reduced, and the optimizer's step
 * comes after it; section 3.2.4: with no_sync() gradients add up over micro-batches and travel during
 * the last one's backward pass only).
 */
#include "config.h"

#include "base/error.h"
#include "base/units.h"
#include "strategies/lower/buckets.h"
#include "strategies/list.h"
#include "strategies/lower/log.h"
#include "strategies/lower/parameter_server.h"
#include "strategies/lower/replica.h"
#include "strategies/single.h"

#include <stdio.h>

enum { OPTION_SYNC, OPTION_BUCKET, OPTION_OVERLAP, OPTION_STEP, OPTION_ACCUMULATE, OPTION_PULL };
enum { STEP_ALL, STEP_BUCKET };
enum { PULL_END, PULL_START };
enum { SYNC_RING, SYNC_PS_CPU, SYNC_PS_GPU0, SYNC_PS_SHARDED };

static const struct fr_option options[] = {
    [OPTION_SYNC] = {.name = "sync",
                     .type = FR_OPTION_CHOICE,
                     .fallback = "ring",
                     .choices = "ring|ps-cpu|ps-gpu0|ps-sharded",
                     .help = "how gradients are averaged"},
    [OPTION_BUCKET] = {.name = "bucket",
                       .type = FR_OPTION_BYTES,
                       .fallback = "25MiB",
                       .help = "gradients that travel together (ring)"},
    [OPTION_OVERLAP] = {.name = "overlap",
                        .type = FR_OPTION_BOOL,
                        .fallback = "1",
                        .help = "communicate during the backward pass"},
    [OPTION_STEP] = {.name = "step",
                     .type = FR_OPTION_CHOICE,
                     .fallback = "all",
                     .choices = "all|bucket",
                     .help = "an update waits for all buckets, or for its own (ring)"},
    [OPTION_ACCUMULATE] = {.name = "accumulate",
                           .type = FR_OPTION_COUNT,
                           .fallback = "1",
                           .help = "micro-batches an iteration, whose gradients add up",
                           .advice = FR_ADVICE_DOUBLE,
                           .advice_text = "micro-batches an update"},
    [OPTION_PULL] = {.name = "pull",
                     .type = FR_OPTION_CHOICE,
                     .fallback = "end",
                     .choices = "end|start",
                     .help =
                         "parameters go to workers when updated, or when an iteration begins (ps)"},
    {.name = NULL},
};

struct ring {
    struct fr__placer *pl;
    struct fr__buckets buckets;
    uint32_t first_collective; /* of the buckets, numbered on */
    uint32_t *bucket_of;       /* [n_ops] by update op, FR_NONE */
    uint32_t *members;         /* [buckets] of the rank being placed */
    uint32_t *device_of;       /* [n_ops] */
    bool overlap;
    bool is_step_by_bucket;
};

/* ---- ring ---- */

static const char *owner_name(const struct ring *g, uint32_t i)
{
    const struct fr__placer *pl = g->pl;

    return pl->graph->ops[pl->params.owners[g->buckets.owners[i]].op].name;
}

static void log_bucket(const struct ring *g, uint32_t b)
{
    uint32_t first = g->buckets.first[b], end = g->buckets.first[b + 1];
    char bytes[32];

    fr__log(g->pl->ctx, "bucket %u: %u gradients, %s, from %s to %s", b, end - first,
            fr__format_bytes((double)g->buckets.bytes[b], bytes, sizeof(bytes)),
            owner_name(g, first), owner_name(g, end - 1));
}

static uint32_t add_collective(struct ring *g, uint32_t b, uint32_t group)
{
    char label[32];

    snprintf(label, sizeof(label), "bucket %u", b);
    return fr__add_collective(
        g->pl, &(struct fr_collective){.bytes = (double)g->buckets.bytes[b],
                                       .group = group,
                                       .label = fr_plan_add_string(g->pl->plan, label),
                                       .kind = FR_ALL_REDUCE});
}

static enum fr_status make_collectives(struct ring *g, struct fr_error *err)
{
    struct fr__placer *pl = g->pl;
    const struct fr_problem *in = pl->in;
    uint32_t group = fr_plan_add_group_of(pl->plan, in->devices, (uint32_t)in->n_devices);

    g->bucket_of = fr__arena_alloc(pl->arena, pl->graph->n_ops, sizeof(*g->bucket_of));
    g->members = fr__arena_alloc(pl->arena, g->buckets.n, sizeof(*g->members));
    g->device_of = fr__arena_alloc(pl->arena, pl->graph->n_ops, sizeof(*g->device_of));
    if (!g->bucket_of || !g->members || !g->device_of)
        return fr__fail_nomem(err);
    for (size_t o = 0; o < pl->graph->n_ops; o++)
        g->bucket_of[o] = FR_NONE;
    for (uint32_t b = 0; b < g->buckets.n; b++) {
        uint32_t id = add_collective(g, b, group);

        if (b == 0)
            g->first_collective = id;
        for (uint32_t i = g->buckets.first[b]; i < g->buckets.first[b + 1]; i++) {
            const struct fr__owner *w = &pl->params.owners[g->buckets.owners[i]];

            for (uint32_t k = 0; k < w->n_updates; k++)
                g->bucket_of[pl->params.updates[w->first_update + k]] = b;
        }
        log_bucket(g, b);
    }
    return FR_OK;
}

/* The rank's part in each bucket's all-reduce, in bucket order on every rank. */
static void place_members(struct ring *g, struct fr__replica *r, uint32_t rank)
{
    struct fr__placer *pl = g->pl;
    uint32_t device = pl->in->devices[rank];

    for (uint32_t b = 0; b < g->buckets.n; b++) {
        uint32_t member = fr__add_task(pl, &(struct fr_task){.device = device,
                                                             .cost_id = FR_NONE,
                                                             .op = FR_NONE,
                                                             .collective = g->first_collective + b,
                                                             .rank = rank,
                                                             .microbatch = FR_NONE,
                                                             .kind = FR_TASK_COLLECTIVE,
                                                             .phase = FR_PHASE_BACKWARD_WEIGHT,
                                                             .stream = FR_STREAM_COMM});

        for (uint32_t i = g->buckets.first[b]; i < g->buckets.first[b + 1]; i++)
            fr__after_gradient(r, &pl->params.owners[g->buckets.owners[i]], member, false);
        if (!g->overlap)
            fr_plan_add_dep(pl->plan, r->done_of[device], member);
        if (b > 0)
            fr_plan_add_dep(pl->plan, g->members[b - 1], member);
        g->members[b] = member;
        fr__add_buffer(pl, FR_BUFFER_COMMUNICATION, device, g->buckets.bytes[b], FR_NONE, FR_NONE);
    }
}

/* Members follow each other, so that the last bucket's is the last of all. */
static void hold_back_updates(struct ring *g, const struct fr__replica *r)
{
    const struct fr__params *p = &g->pl->params;

    for (size_t i = 0; i < p->n_updates; i++) {
        uint32_t op = p->updates[i];

        uint32_t b = g->bucket_of[op];

        if (b != FR_NONE)
            fr_plan_add_dep(g->pl->plan, g->members[g->is_step_by_bucket ? b : g->buckets.n - 1],
                            fr__update_task(r, op));
    }
}

static enum fr_status place_rank(struct ring *g, uint32_t rank, const struct fr__share *share,
                                 struct fr_error *err)
{
    struct fr__placer *pl = g->pl;
    struct fr__replica r;
    enum fr_status st;

    for (size_t o = 0; o < pl->graph->n_ops; o++)
        g->device_of[o] = pl->in->devices[rank];
    st = fr__replica_init(&r, pl, g->device_of, share, err);
    if (st == FR_OK) {
        fr__place_persistent(&r, true);
        fr__place_body(&r);
        fr__place_sums(&r);
        place_members(g, &r, rank);
        fr__place_updates(&r);
        hold_back_updates(g, &r);
        st = fr__replica_status(&r, err);
    }
    fr__replica_fini(&r);
    return st;
}

/* A replica that others like it repeat. */
struct model {
    struct fr__pattern *pattern; /* NULL: none yet */
    uint32_t type;               /* of its device */
    double batch;                /* samples of its micro-batches */
};

/* Places a rank and learns from it. */
static enum fr_status place_model(struct ring *g, struct model *m, uint32_t rank,
                                  const struct fr__share *share, struct fr_error *err)
{
    const struct fr__begin nothing = {0};
    struct fr__pattern_source s = {.from = fr__placer_mark(g->pl), .after = FR_NONE};

    FR_TRY(place_rank(g, rank, share, err));
    s.to = fr__placer_mark(g->pl);
    s.row = s.size = &nothing; /* it refers to no other replica */
    fr__pattern_free(m->pattern);
    m->pattern = fr__pattern_new(g->pl->plan, &s);
    m->type = g->pl->in->topo->devices[g->pl->in->devices[rank]].type;
    m->batch = share->batch;
    return m->pattern ? FR_OK : fr__fail_nomem(err);
}

static void repeat_model(struct ring *g, const struct model *m, uint32_t rank)
{
    const struct fr__pattern_place place = {
        .after = FR_NONE,
        .microbatch = FR_NONE,
        .device = g->pl->in->devices[rank],
        .rank = rank,
    };

    g->pl->has_context[place.device] = true;
    fr__placer_repeat(g->pl, m->pattern, &place);
}

static enum fr_status place_ranks(struct ring *g, const struct fr__share shares[],
                                  struct fr_error *err)
{
    const struct fr_problem *in = g->pl->in;
    struct model m = {.pattern = NULL};
    enum fr_status st = FR_OK;

    fr__placer_expect(g->pl, in->n_devices * shares[0].n_micros);
    for (uint32_t rank = 0; rank < in->n_devices && st == FR_OK; rank++) {
        uint32_t type = in->topo->devices[in->devices[rank]].type;

        g->pl->next_priority = 0;
        if (m.pattern && m.type == type && m.batch == shares[rank].batch)
            repeat_model(g, &m, rank);
        else
            st = place_model(g, &m, rank, &shares[rank], err);
    }
    fr__pattern_free(m.pattern);
    return st;
}

static enum fr_status plan_ring(struct fr__placer *pl, const struct fr__share shares[],
                                struct fr_error *err)
{
    const uint64_t *values = pl->in->options->value;
    struct ring g = {.pl = pl,
                     .overlap = values[OPTION_OVERLAP] != 0,
                     .is_step_by_bucket = values[OPTION_STEP] == STEP_BUCKET};

    FR_TRY(fr__buckets_make(&g.buckets, &pl->params, values[OPTION_BUCKET], pl->arena, err));
    FR_TRY(make_collectives(&g, err));
    return place_ranks(&g, shares, err);
}

/* ---- the strategy ---- */

static enum fr_status check(const struct fr_problem *in, struct fr_error *err)
{
    FR_TRY(fr__check_problem(in, err));
    if (in->global_batch < in->n_devices)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "a global batch of %u over %zu devices leaves some without a sample",
                        in->global_batch, in->n_devices);
    if (in->options->is_set[OPTION_STEP] && in->options->value[OPTION_SYNC] != SYNC_RING)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "option 'step' of 'dp' belongs to sync=ring; a parameter server updates "
                        "each parameter by itself");
    if (in->options->is_set[OPTION_BUCKET] && in->options->value[OPTION_SYNC] != SYNC_RING)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "option 'bucket' of 'dp' belongs to sync=ring; parameter servers move each "
                        "parameter's gradient by itself");
    if (in->options->is_set[OPTION_PULL] && in->options->value[OPTION_SYNC] == SYNC_RING)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "option 'pull' of 'dp' belongs to parameter servers, such as sync=ps-cpu; "
                        "with sync=ring every device has all parameters");
    return FR_OK;
}

/* The first (batch mod n) devices get one sample more. */
static enum fr_status split_batch(struct fr__placer *pl, struct fr__share **out,
                                  struct fr_error *err)
{
    const struct fr_problem *in = pl->in;
    uint32_t n = (uint32_t)in->n_devices, more = in->global_batch % n;
    uint64_t accumulate = in->options->value[OPTION_ACCUMULATE];
    struct fr__share *shares = fr__arena_alloc(pl->arena, n, sizeof(*shares));

    if (!shares)
        return fr__fail_nomem(err);
    for (uint32_t i = 0; i < n; i++)
        FR_TRY(fr__share_equally(&shares[i], in->global_batch / n + (i < more), accumulate, err));
    if (more)
        fr__log(pl->ctx, "%u devices take %u samples, %u take %u", more, in->global_batch / n + 1,
                n - more, in->global_batch / n);
    else
        fr__log(pl->ctx, "%u devices take %u samples each", n, in->global_batch / n);
    if (accumulate > 1)
        fr__log(pl->ctx, "in %u micro-batches of %.0f samples; gradients travel during the last",
                shares[0].n_micros, shares[0].batch);
    *out = shares;
    return FR_OK;
}

static enum fr_status place(struct fr__placer *pl, struct fr_error *err)
{
    const uint64_t *values = pl->in->options->value;
    struct fr__server_options o = {.overlap = values[OPTION_OVERLAP] != 0,
                                   .pulls_at_start = values[OPTION_PULL] == PULL_START};
    struct fr__share *shares = NULL;

    FR_TRY(split_batch(pl, &shares, err));
    switch (values[OPTION_SYNC]) {
    case SYNC_PS_CPU:
        o.place = FR__SERVER_CPU;
        break;
    case SYNC_PS_GPU0:
        o.place = FR__SERVER_GPU0;
        break;
    case SYNC_PS_SHARDED:
        o.place = FR__SERVER_SHARDED;
        break;
    default:
        return plan_ring(pl, shares, err);
    }
    return fr__plan_parameter_server(pl, &o, shares, err);
}

static enum fr_status plan(const struct fr_problem *in, const struct fr_context *ctx,
                           struct fr_plan *out, struct fr_error *err)
{
    struct fr__placer pl;
    enum fr_status st;

    FR_TRY(check(in, err));
    if (in->n_devices == 1) {
        fr__log(ctx, "one device: nothing to average");
        return fr__plan_single(in, in->options->value[OPTION_ACCUMULATE], ctx, out, err);
    }
    st = fr__placer_init(&pl, in, ctx, out, err);
    if (st == FR_OK)
        st = place(&pl, err);
    fr__placer_fini(&pl);
    return st;
}

const struct fr_strategy fr__strategy_dp = {
    .name = "dp",
    .summary = "data parallelism: a replica on every device, gradients averaged",
    .source = "Li et al., PyTorch Distributed, VLDB 2020; Li et al., Parameter Server, OSDI 2014",
    .options = options,
    .plan = plan,
};
