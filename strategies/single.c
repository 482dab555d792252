/* strategies/single.c - everything on the first device: the baseline. */
#include "config.h"

#include "lowering/check_problem.h"
#include "strategies/single.h"

#include "base/error.h"
#include "strategies/list.h"
#include "lowering/log.h"
#include "lowering/replica/replica.h"

#include <inttypes.h>

static enum fr_status place(struct fr__replica *r, struct fr__placer *pl, uint64_t accumulate,
                            const struct fr__step_passes *passes, struct fr_error *err)
{
    const struct fr_problem *in = pl->in;
    uint32_t *device_of = fr__arena_alloc(pl->arena, in->graph->n_ops, sizeof(*device_of));
    struct fr__share share;

    if (!device_of)
        return fr__fail_nomem(err);
    FR_TRY(fr__share_equally(&share, in->global_batch, accumulate, err));
    for (size_t o = 0; o < in->graph->n_ops; o++)
        device_of[o] = in->devices[0];
    FR_TRY(fr__replica_init(r, pl, device_of, &share, err));
    r->passes = *passes;
    fr__place_persistent(r, true);
    fr__place_body(r);
    fr__place_sums(r);
    fr__place_updates(r);
    return fr__replica_status(r, err);
}

enum fr_status fr__plan_single(const struct fr_problem *in, uint64_t accumulate,
                               const struct fr__step_passes *passes,
                               const struct fr__recipe *recipe, const struct fr_context *ctx,
                               struct fr_plan *out, struct fr_error *err)
{
    struct fr__placer pl;
    struct fr__replica r = {0};
    enum fr_status st;

    FR_TRY(fr__check_problem(in, err));
    st = fr__placer_init(&pl, in, ctx, out, err);
    if (st == FR_OK)
        st = fr__placer_keep(&pl, recipe, err);
    if (st == FR_OK)
        st = place(&r, &pl, accumulate, passes, err);
    if (st == FR_OK)
        fr__log(ctx, "all %zu ops on %s, batch %u", in->graph->n_ops,
                in->topo->devices[in->devices[0]].name, in->global_batch);
    if (st == FR_OK && accumulate > 1)
        fr__log(ctx, "%" PRIu64 " micro-batches of %.0f samples", accumulate,
                in->global_batch / (double)accumulate);
    fr__replica_fini(&r);
    fr__placer_fini(&pl);
    return st;
}

enum { OPTION_ACCUMULATE, OPTION_ADDS, OPTION_PASSES, OPTION_RECIPE };

static const struct fr_option options[] = {
    [OPTION_ACCUMULATE] = {.name = "accumulate",
                           .type = FR_OPTION_COUNT,
                           .fallback = "1",
                           .help = "micro-batches per iteration; their gradients are added",
                           .advice = FR_ADVICE_DOUBLE,
                           .advice_text = "micro-batches an update"},
    [OPTION_ADDS] = FR__ADDS_OPTION,
    [OPTION_PASSES] = FR__PASSES_OPTION,
    [OPTION_RECIPE] = FR__RECIPE_OPTION,
    {.name = NULL},
};

static enum fr_status plan(const struct fr_problem *in, const struct fr_context *ctx,
                           struct fr_plan *out, struct fr_error *err)
{
    const uint64_t *v = in->options->value;
    const struct fr__step_passes passes = {.adds = v[OPTION_ADDS], .update = v[OPTION_PASSES]};

    const struct fr__recipe *recipe;

    FR_TRY(fr__check_passes(in->options, OPTION_ADDS, OPTION_PASSES, err));
    FR_TRY(fr__recipe_read(&recipe, fr_option_text(in->options, OPTION_RECIPE), in->graph, err));
    return fr__plan_single(in, v[OPTION_ACCUMULATE], &passes, recipe, ctx, out, err);
}

static enum fr_software_run software_run(const struct fr_option_values *v)
{
    (void)v;
    return FR_RUN_WHOLE;
}

const struct fr_strategy fr__strategy_single = {
    .name = "single",
    .summary = "the whole model on the first device",
    .source = "baseline",
    .options = options,
    .plan = plan,
    .software_run = software_run,
    .is_trusted = true,
    .is_baseline = true,
};
