/* strategies/mp.c - model parallelism: the forward ops are cut into contiguous parts, one on each
 * device. The whole batch passes at once, so that devices wait for each other. Parts that follow
 * each other are on devices with a fast connection (lowering/replica/line_up.h).
 *
 * Source:  J. Dean et al., Large Scale Distributed Deep Networks, NIPS 2012, section 3. Layers of a
 *          network are spread over devices as by A. Krizhevsky (2014) and in PyTorch's tutorial on
 *          model parallelism.
 */
#include "config.h"

#include "base/error.h"
#include "lowering/replica/line_up.h"
#include "strategies/list.h"
#include "lowering/check_problem.h"
#include "lowering/replica/replica.h"
#include "lowering/pipeline/stages.h"

enum { OPTION_PASSES, OPTION_RECIPE };

static const struct fr_option options[] = {
    [OPTION_PASSES] = FR__PASSES_OPTION,
    [OPTION_RECIPE] = FR__RECIPE_OPTION,
    {.name = NULL},
};

static enum fr_status place(struct fr__replica *r, struct fr__placer *pl, struct fr_error *err)
{
    const struct fr_problem *in = pl->in;
    uint32_t *device_of = fr__arena_alloc(pl->arena, in->graph->n_ops, sizeof(*device_of));
    uint32_t *devices = fr__arena_alloc(pl->arena, in->n_devices, sizeof(*devices));
    double *in_flight = fr__arena_alloc(pl->arena, in->n_devices, sizeof(*in_flight));
    double batch = in->global_batch;
    const struct fr__share whole = {.n_micros = 1, .last_batch = batch};
    struct fr__stages stages;

    if (!device_of || !devices || !in_flight)
        return fr__fail_nomem(err);
    for (size_t s = 0; s < in->n_devices; s++)
        in_flight[s] = 1;
    FR_TRY(fr__line_up(pl, devices, err));
    FR_TRY(fr__stages_cut(&stages, pl,
                          &(struct fr__stages_problem){.n_stages = in->n_devices,
                                                       .devices = devices,
                                                       .in_flight = in_flight,
                                                       .batch = batch,
                                                       .stages_a_device = 1},
                          err));
    for (size_t o = 0; o < in->graph->n_ops; o++)
        device_of[o] = devices[stages.stage_of[o]];
    FR_TRY(fr__replica_init(r, pl, device_of, &whole, err));
    r->passes.update = in->options->value[OPTION_PASSES];
    fr__place_persistent(r, true);
    fr__place_body(r);
    fr__place_sums(r);
    fr__place_updates(r);
    fr__refresh_tied(r);
    return fr__replica_status(r, err);
}

static enum fr_status plan(const struct fr_problem *in, const struct fr_context *ctx,
                           struct fr_plan *out, struct fr_error *err)
{
    struct fr__placer pl;
    const struct fr__recipe *recipe;
    struct fr__replica r = {0};
    enum fr_status st;

    FR_TRY(fr__check_problem(in, err));
    FR_TRY(fr__check_passes(in->options, OPTION_PASSES, OPTION_PASSES, err));
    FR_TRY(fr__recipe_read(&recipe, fr_option_text(in->options, OPTION_RECIPE), in->graph, err));
    st = fr__placer_init(&pl, in, ctx, out, err);
    if (st == FR_OK)
        st = fr__placer_keep(&pl, recipe, err);
    if (st == FR_OK)
        st = place(&r, &pl, err);
    fr__replica_fini(&r);
    fr__placer_fini(&pl);
    return st;
}

const struct fr_strategy fr__strategy_mp = {
    .name = "mp",
    .summary =
        "model parallelism: contiguous parts of the model on the devices, one batch at a time",
    .source = "Dean et al., Large Scale Distributed Deep Networks, NIPS 2012",
    .options = options,
    .plan = plan,
    .is_trusted = true,
};
