/* strategies/lists/random.c - a free device takes any of the operations that are ready: what a
 * scheduler must at least beat. --seed chooses.
 *
 * Source:  our own; it keeps Graham's rule (strategies/lists/dispatch.h).
 */
#include "config.h"

#include "base/rng.h"
#include "strategies/list.h"
#include "strategies/lists/dispatch.h"

enum { ENTITY = 0x72616e64 }; /* "rand": its own stream of the seed */

static double by_chance(void *user, uint32_t op, double ready_s)
{
    (void)op;
    (void)ready_s;
    return fr__rng_uniform(user);
}

static enum fr_status run(struct fr__timetable *t, const struct fr_problem *in,
                          const struct fr_context *ctx, struct fr_error *err)
{
    struct fr__rng rng;

    (void)in;
    fr__rng_init(&rng, ctx ? ctx->seed : 0, ENTITY);
    return fr__dispatch(t, by_chance, &rng, ctx, err);
}

static const struct fr__list_method method = {
    .run = run,
    .caption = "planned at random",
    .reasons = fr__lists_free_first,
    .list_rule = "Whenever a device is free, it takes any operation that is ready; where several "
                 "are\nfree, it goes where it starts first (EST):",
};

static enum fr_status plan(const struct fr_problem *in, const struct fr_context *ctx,
                           struct fr_plan *out, struct fr_error *err)
{
    return fr__lists_plan(&method, in, ctx, out, err);
}

static enum fr_status explain(const struct fr_problem *in, const struct fr_context *ctx,
                              struct fr_decisions **out, struct fr_error *err)
{
    return fr__lists_explain(&method, in, ctx, out, err);
}

const struct fr_strategy fr__strategy_random = {
    .name = "random",
    .summary = "list scheduling: a free device takes any op that is ready (--seed)",
    .source = "a yardstick",
    .options = fr__lists_options,
    .plan = plan,
    .explain = explain,
    .is_by_name_only = true,
};
