/* strategies/lists/fifo.c - FIFO: a free device takes what became ready first.
 *
 * queue=list takes what stands first in the workload instead, which is Graham's list scheduling
 * with the list that the user wrote: there more devices, shorter tasks or fewer dependencies may
 * make the schedule longer.
 *
 * Source:  R. L. Graham, "Bounds on Multiprocessing Timing Anomalies", SIAM J. Appl. Math. 17(2),
 *          1969.
 */
#include "config.h"

#include "strategies/list.h"
#include "strategies/lists/dispatch.h"

enum { OPTION_START, OPTION_QUEUE };

enum { QUEUE_READY, QUEUE_LIST };

static const struct fr_option options[] = {
    [OPTION_START] = FR__LISTS_START_OPTION,
    [OPTION_QUEUE] = {.name = "queue",
                      .type = FR_OPTION_CHOICE,
                      .fallback = "ready",
                      .choices = "ready|list",
                      .help = "what a free device takes first: what became ready first, or what "
                              "stands first in the workload"},
    {.name = NULL},
};

static double by_time(void *user, uint32_t op, double ready_s)
{
    (void)user;
    (void)op;
    return ready_s;
}

static double by_place(void *user, uint32_t op, double ready_s)
{
    (void)user;
    (void)ready_s;
    return op;
}

static enum fr_status run(struct fr__timetable *t, const struct fr_problem *in,
                          const struct fr_context *ctx, struct fr_error *err)
{
    bool is_list = in->options->value[OPTION_QUEUE] == QUEUE_LIST;

    return fr__dispatch(t, is_list ? by_place : by_time, NULL, ctx, err);
}

static const struct fr__list_method method = {
    .run = run,
    .caption = "planned by FIFO",
    .reasons = fr__lists_free_first,
    .list_rule = "Whenever a device is free, it takes the first operation that is ready; where "
                 "several\nare free, it goes where it starts first (EST):",
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

const struct fr_strategy fr__strategy_fifo = {
    .name = "fifo",
    .summary = "list scheduling: a free device takes what became ready first (Graham)",
    .source = "Graham, SIAM J. Appl. Math. 17(2), 1969",
    .options = options,
    .plan = plan,
    .explain = explain,
    .is_by_name_only = true,
};
