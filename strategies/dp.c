/* strategies/dp.c - synchronous data parallelism: one replica a device, gradients averaged by ring
 * all-reduce in buckets or through parameter servers (lowering/exchange/exchange.h).
 *
 * Source: S. Li et al., PyTorch Distributed: Experiences on Accelerating Data Parallel Training,
 * VLDB 2020. Section 3.2.3: the backward pass ends when all buckets have been reduced, and the
 * optimizer's step comes after it. Section 3.2.4: with no_sync() gradients add up over
 * micro-batches and travel during the last one's backward pass only.
 */
#include "config.h"

#include "base/error.h"
#include "lowering/exchange/exchange.h"
#include "strategies/list.h"
#include "lowering/log.h"
#include "lowering/check_problem.h"
#include "lowering/replica/replica.h"
#include "strategies/single.h"

enum {
    OPTION_SYNC,
    OPTION_BUCKET,
    OPTION_OVERLAP,
    OPTION_STEP,
    OPTION_ACCUMULATE,
    OPTION_PULL,
    OPTION_FIRST,
    OPTION_COPIES_IN,
    OPTION_COPIES_OUT,
    OPTION_COPIES_ON,
    OPTION_TRAVEL,
    OPTION_ADDS,
    OPTION_PASSES,
    OPTION_BUCKET_OPS,
    OPTION_PASSES_AT,
    OPTION_RECIPE
};
enum { STEP_ALL, STEP_BUCKET };
enum { PULL_END, PULL_START };
enum { COPIES_ON_COMPUTE, COPIES_ON_COMM };
enum { PASSES_AT_UPDATE, PASSES_AT_SUM };
enum { TRAVEL_KEPT, TRAVEL_COMPUTED, TRAVEL_COMPRESSED };
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
                           .help = "micro-batches per iteration; their gradients are added",
                           .advice = FR_ADVICE_DOUBLE,
                           .advice_text = "micro-batches an update"},
    [OPTION_PULL] = {.name = "pull",
                     .type = FR_OPTION_CHOICE,
                     .fallback = "end",
                     .choices = "end|start",
                     .help =
                         "parameters go to workers when updated, or when an iteration begins (ps)"},
    [OPTION_FIRST] = {.name = "first",
                      .type = FR_OPTION_BYTES,
                      .fallback = "0B",
                      .help = "gradients of the first bucket; 0B: as of the others (ring)"},
    [OPTION_COPIES_IN] = {.name = "copies-in",
                          .type = FR_OPTION_COUNT,
                          .fallback = "0",
                          .help = "passes over gradients that bring them into buckets (ring)"},
    [OPTION_COPIES_OUT] = {.name = "copies-out",
                           .type = FR_OPTION_COUNT,
                           .fallback = "0",
                           .help = "passes over gradients that bring them back (ring)"},
    [OPTION_COPIES_ON] = {.name = "copies-on",
                          .type = FR_OPTION_CHOICE,
                          .fallback = "compute",
                          .choices = "compute|comm",
                          .help = "the stream of these copies (ring)"},
    [OPTION_TRAVEL] = {.name = "travel",
                       .type = FR_OPTION_CHOICE,
                       .fallback = "kept",
                       .choices = "kept|computed|compressed",
                       .help =
                           "under fp16, bf16 and amp gradients travel as they are kept, are made "
                           "and copied in 16 bits, or are cast to 16 for the way (ring)"},
    [OPTION_ADDS] = FR__ADDS_OPTION,
    [OPTION_PASSES] = {.name = "passes",
                       .type = FR_OPTION_COUNT,
                       .fallback = "0",
                       .help = "passes over all gradients before the update: clipping and such "
                               "(ring)"},
    [OPTION_BUCKET_OPS] = {.name = "bucket-ops",
                           .type = FR_OPTION_COUNT,
                           .fallback = "0",
                           .help = "tensors of gradients that travel together at most; 0: any "
                                   "number (ring)"},
    [OPTION_PASSES_AT] = {.name = "passes-at",
                          .type = FR_OPTION_CHOICE,
                          .fallback = "update",
                          .choices = "update|sum",
                          .help =
                              "what is done to all gradients comes before the update, or before "
                              "they are summed (ring)"},
    [OPTION_RECIPE] = FR__RECIPE_OPTION,
    {.name = NULL},
};

struct replicas {
    struct fr__placer *pl;
    struct fr__exchange *exchange;
    uint32_t *device_of; /* [n_ops] of the replica being placed */
};

static struct fr__step_passes passes_of(const struct fr_problem *in)
{
    const uint64_t *v = in->options->value;

    return (struct fr__step_passes){.adds = v[OPTION_ADDS],
                                    .update = v[OPTION_PASSES],
                                    .are_before_sums = v[OPTION_PASSES_AT] == PASSES_AT_SUM};
}

/* ---- replicas that update themselves ---- */

static enum fr_status place_rank(struct replicas *g, uint32_t rank, const struct fr__share *share,
                                 struct fr_error *err)
{
    struct fr__placer *pl = g->pl;
    struct fr__replica r;
    enum fr_status st;

    for (size_t o = 0; o < pl->graph->n_ops; o++)
        g->device_of[o] = pl->in->devices[rank];
    st = fr__replica_init(&r, pl, g->device_of, share, err);
    if (st == FR_OK) {
        r.passes = passes_of(pl->in);
        fr__place_persistent(&r, true);
        fr__place_body(&r);
        fr__place_sums(&r);
        fr__exchange_place(g->exchange, &r, rank);
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
static enum fr_status place_model(struct replicas *g, struct model *m, uint32_t rank,
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

static void repeat_model(struct replicas *g, const struct model *m, uint32_t rank)
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

static enum fr_status place_ranks(struct replicas *g, const struct fr__share shares[],
                                  struct fr_error *err)
{
    const struct fr_problem *in = g->pl->in;
    struct model m = {.pattern = NULL};
    enum fr_status st = FR_OK;

    FR_TRY(fr__placer_expect(g->pl, in->n_devices * shares[0].n_micros, err));
    for (uint32_t rank = 0; rank < in->n_devices && st == FR_OK; rank++) {
        uint32_t type = in->topo->devices[in->devices[rank]].type;

        st = fr__check_cancelled(g->pl->ctx, err);
        if (st != FR_OK)
            break;
        g->pl->next_priority = 0;
        if (m.pattern && m.type == type && m.batch == shares[rank].batch)
            repeat_model(g, &m, rank);
        else
            st = place_model(g, &m, rank, &shares[rank], err);
    }
    fr__pattern_free(m.pattern);
    return st;
}

/* ---- workers whose parameters servers update ---- */

static enum fr_status place_worker(struct fr__placer *pl, struct fr__replica *r, uint32_t rank,
                                   const struct fr__share *share, struct fr_error *err)
{
    uint32_t *device_of = fr__arena_alloc(pl->arena, pl->graph->n_ops, sizeof(*device_of));

    if (!device_of)
        return fr__fail_nomem(err);
    for (size_t o = 0; o < pl->graph->n_ops; o++)
        device_of[o] = pl->in->devices[rank];
    FR_TRY(fr__replica_init(r, pl, device_of, share, err));
    pl->next_priority = 0;
    r->passes = passes_of(pl->in);
    fr__place_persistent(r, false);
    fr__place_body(r);
    fr__place_sums(r);
    return fr__replica_status(r, err);
}

static enum fr_status place_all_workers(struct replicas *g, struct fr__replica workers[],
                                        const struct fr__share shares[], struct fr_error *err)
{
    size_t n = g->pl->in->n_devices;

    for (uint32_t rank = 0; rank < n; rank++) {
        FR_TRY(fr__check_cancelled(g->pl->ctx, err));
        FR_TRY(place_worker(g->pl, &workers[rank], rank, &shares[rank], err));
    }
    FR_TRY(fr__exchange_finish(g->exchange, workers, err));
    for (uint32_t rank = 0; rank < n; rank++)
        FR_TRY(fr__replica_status(&workers[rank], err));
    return FR_OK;
}

static enum fr_status place_workers(struct replicas *g, const struct fr__share shares[],
                                    struct fr_error *err)
{
    size_t n = g->pl->in->n_devices;
    struct fr__replica *workers = fr__arena_alloc(g->pl->arena, n, sizeof(*workers));
    enum fr_status st;

    if (!workers)
        return fr__fail_nomem(err);
    st = place_all_workers(g, workers, shares, err);
    for (uint32_t rank = 0; rank < n; rank++)
        fr__replica_fini(&workers[rank]);
    return st;
}

/* ---- the strategy ---- */

/* How gradients are averaged. Where a recipe says by servers and the user names an option of rings,
 * the user is right. */
static uint64_t sync_of(const struct fr_option_values *v)
{
    static const unsigned of_rings[] = {
        OPTION_BUCKET,     OPTION_STEP,      OPTION_FIRST,  OPTION_COPIES_IN,  OPTION_TRAVEL,
        OPTION_COPIES_OUT, OPTION_COPIES_ON, OPTION_PASSES, OPTION_BUCKET_OPS, OPTION_PASSES_AT};

    for (size_t i = 0; i < sizeof(of_rings) / sizeof(of_rings[0]) && !v->is_set[OPTION_SYNC]; i++)
        if (v->is_set[of_rings[i]])
            return SYNC_RING;
    return v->value[OPTION_SYNC];
}

/* A recipe's copies are left out where each update reads its own bucket in place. */
static uint64_t copies_out(const struct fr_problem *in)
{
    const struct fr_option_values *v = in->options;
    bool is_typed = v->is_set[OPTION_COPIES_OUT];

    return v->value[OPTION_STEP] == STEP_BUCKET && !is_typed ? 0 : v->value[OPTION_COPIES_OUT];
}

/* Options of buckets make no sense where servers move each gradient by itself. */
static enum fr_status check_buckets(const struct fr_problem *in, struct fr_error *err)
{
    static const unsigned of_buckets[] = {OPTION_FIRST,     OPTION_COPIES_IN, OPTION_COPIES_OUT,
                                          OPTION_COPIES_ON, OPTION_TRAVEL,    OPTION_PASSES,
                                          OPTION_PASSES_AT};
    const struct fr_option_values *v = in->options;

    for (size_t i = 0; i < sizeof(of_buckets) / sizeof(of_buckets[0]); i++)
        if (v->is_set[of_buckets[i]] && sync_of(v) != SYNC_RING)
            return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                            "option '%s' of 'dp' belongs to sync=ring; parameter servers move each "
                            "parameter's gradient by itself",
                            options[of_buckets[i]].name);
    if (copies_out(in) > 0 && v->value[OPTION_STEP] == STEP_BUCKET)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "copies-out=%llu of 'dp' needs step=all: an update that waits for its own "
                        "bucket reads it in place",
                        (unsigned long long)v->value[OPTION_COPIES_OUT]);
    FR_TRY(fr__check_passes(v, OPTION_COPIES_IN, OPTION_COPIES_OUT, err));
    return fr__check_passes(v, OPTION_ADDS, OPTION_PASSES, err);
}

static enum fr_status check(const struct fr_problem *in, struct fr_error *err)
{
    FR_TRY(check_buckets(in, err));
    FR_TRY(fr__check_problem(in, err));
    if (in->global_batch < in->n_devices)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "a global batch of %u over %zu devices leaves some without a sample",
                        in->global_batch, in->n_devices);
    if (in->options->is_set[OPTION_STEP] && sync_of(in->options) != SYNC_RING)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "option 'step' of 'dp' belongs to sync=ring; a parameter server updates "
                        "each parameter by itself");
    if (in->options->is_set[OPTION_BUCKET] && sync_of(in->options) != SYNC_RING)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "option 'bucket' of 'dp' belongs to sync=ring; parameter servers move each "
                        "parameter's gradient by itself");
    if (in->options->is_set[OPTION_PULL] && sync_of(in->options) == SYNC_RING)
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

/* Bytes of a gradient in the 16 bits of products, over those as it is kept; 1 where products have
 * more. */
static double half_frac(const struct fr__placer *pl)
{
    enum fr_dtype dtype = pl->graph->dtype;
    bool is_16_bit = dtype == FR_FP16 || dtype == FR_BF16 || dtype == FR_AMP;
    double kept_bytes = pl->graph->param_elem_bytes * pl->gradient_factor;

    return is_16_bit && kept_bytes > 2 ? 2 / kept_bytes : 1;
}

/* What the options ask for. */
static struct fr__exchange_options exchange_options(const struct fr__placer *pl)
{
    const struct fr_problem *in = pl->in;
    const uint64_t *values = in->options->value, travel = values[OPTION_TRAVEL];
    static const struct {
        enum fr__exchange_policy policy;
        enum fr__server_place place;
    } of_sync[] = {
        [SYNC_RING] = {.policy = FR__EXCHANGE_BUCKETS},
        [SYNC_PS_CPU] = {FR__EXCHANGE_SERVERS, FR__SERVER_CPU},
        [SYNC_PS_GPU0] = {FR__EXCHANGE_SERVERS, FR__SERVER_GPU0},
        [SYNC_PS_SHARDED] = {FR__EXCHANGE_SERVERS, FR__SERVER_SHARDED},
    };

    return (struct fr__exchange_options){.policy = of_sync[sync_of(in->options)].policy,
                                         .place = of_sync[sync_of(in->options)].place,
                                         .overlap = values[OPTION_OVERLAP] != 0,
                                         .bucket_bytes = values[OPTION_BUCKET],
                                         .most_in_bucket = values[OPTION_BUCKET_OPS],
                                         .first_bucket_bytes = values[OPTION_FIRST],
                                         .n_passes_in = values[OPTION_COPIES_IN],
                                         .n_passes_out = copies_out(in),
                                         .copies_on_comm =
                                             values[OPTION_COPIES_ON] == COPIES_ON_COMM,
                                         .travel_frac = travel == TRAVEL_KEPT ? 1 : half_frac(pl),
                                         .copy_frac = travel == TRAVEL_COMPUTED ? half_frac(pl) : 1,
                                         .is_step_by_bucket = values[OPTION_STEP] == STEP_BUCKET,
                                         .pulls_at_start = values[OPTION_PULL] == PULL_START};
}

/* One group of all devices. */
static enum fr_status average_over_all(struct fr__placer *pl, struct fr__exchange_options *o,
                                       struct fr__reduce_part *part, struct fr_error *err)
{
    o->n_stages = 1;
    o->n_replicas = (uint32_t)pl->in->n_devices;
    o->devices = pl->in->devices;
    o->keeps_copies = true;
    o->n_parts = 1;
    o->parts = part;
    *part = (struct fr__reduce_part){.shards = 1};
    return fr__group_all(&part->over, pl, 1, o->n_replicas, o->devices, err);
}

static enum fr_status place(struct fr__placer *pl, struct fr_error *err)
{
    struct fr__exchange_options o = exchange_options(pl);
    struct fr__reduce_part part;
    struct fr__share *shares = NULL;
    struct replicas g = {.pl = pl};

    fr_plan_say_gradients(pl->plan, pl->graph->param_elem_bytes * pl->gradient_factor,
                          pl->graph->param_elem_bytes * pl->gradient_factor *
                              (o.travel_frac > 0 ? o.travel_frac : 1));
    FR_TRY(split_batch(pl, &shares, err));
    FR_TRY(average_over_all(pl, &o, &part, err));
    FR_TRY(fr__exchange_new(&g.exchange, pl, &o, err));
    if (!fr__exchange_is_local(g.exchange))
        return place_workers(&g, shares, err);
    g.device_of = fr__arena_alloc(pl->arena, pl->graph->n_ops, sizeof(*g.device_of));
    return g.device_of ? place_ranks(&g, shares, err) : fr__fail_nomem(err);
}

static enum fr_status plan(const struct fr_problem *in, const struct fr_context *ctx,
                           struct fr_plan *out, struct fr_error *err)
{
    const struct fr__step_passes passes = passes_of(in);
    const struct fr__recipe *recipe;
    struct fr__placer pl;
    enum fr_status st;

    FR_TRY(check(in, err));
    FR_TRY(fr__recipe_read(&recipe, fr_option_text(in->options, OPTION_RECIPE), in->graph, err));
    if (in->n_devices == 1) {
        fr__log(ctx, "one device: nothing to average");
        return fr__plan_single(in, in->options->value[OPTION_ACCUMULATE], &passes, recipe, ctx, out,
                               err);
    }
    st = fr__placer_init(&pl, in, ctx, out, err);
    if (st == FR_OK)
        st = fr__placer_keep(&pl, recipe, err);
    if (st == FR_OK)
        st = place(&pl, err);
    fr__placer_fini(&pl);
    return st;
}

/* Today's software has no parameter servers. */
static enum fr_software_run software_run(const struct fr_option_values *v)
{
    return sync_of(v) == SYNC_RING ? FR_RUN_WHOLE : FR_RUN_BY_NONE;
}

const struct fr_strategy fr__strategy_dp = {
    .name = "dp",
    .summary = "data parallelism: a replica on every device, gradients averaged",
    .source = "Li et al., PyTorch Distributed, VLDB 2020; Li et al., Parameter Server, OSDI 2014",
    .options = options,
    .plan = plan,
    .software_run = software_run,
    .is_trusted = true,
};
