/* strategies/lists/critical_path.c - a free device takes what the longest chain depends on.
 *
 * The level of an operation is the longest chain of mean costs from it to the end, without moves.
 *
 * Source:  T. C. Hu, "Parallel Sequencing and Assembly Line Problems", Operations Research 9(6),
 *          1961, which is optimal for trees of equal tasks; T. L. Adam, K. M. Chandy, J. R.
 *          Dickson, "A Comparison of List Schedules for Parallel Processing Systems", CACM 17(12),
 *          1974 (HLF, highest level first), within 5 % of the optimum in their 880 cases.
 */
#include "config.h"

#include "strategies/list.h"
#include "strategies/lists/dispatch.h"
#include "strategies/lists/ranks.h"

static double by_level(void *user, uint32_t op, double ready_s)
{
    const struct fr__timetable *t = user;

    (void)ready_s;
    return -t->rank_s[op];
}

enum fr_status fr__critical_path_run(struct fr__timetable *t, const struct fr_problem *in,
                                     const struct fr_context *ctx, struct fr_error *err)
{
    (void)in;
    fr__rank_up(t, false, t->rank_s);
    return fr__dispatch(t, by_level, t, ctx, err);
}

static const struct fr__list_method method = {
    .run = fr__critical_path_run,
    .caption = "planned by critical path",
    .reasons = fr__lists_free_first,
    .rank_rule = "Levels: the longest chain of mean costs from the operation to the end, without "
                 "moves.\nIn the order in which they were taken:",
    .list_rule = "Whenever a device is free, it takes the ready operation of the highest level; "
                 "where\nseveral are free, it goes where it starts first (EST):",
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

const struct fr_strategy fr__strategy_critical_path = {
    .name = "critical-path",
    .summary = "list scheduling: a free device takes what the longest chain depends on (HLF)",
    .source = "Hu, Operations Research 9(6), 1961; Adam, Chandy, Dickson, CACM 17(12), 1974",
    .options = fr__lists_options,
    .plan = plan,
    .explain = explain,
    .is_by_name_only = true,
};
