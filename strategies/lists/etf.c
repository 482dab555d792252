/* strategies/lists/etf.c - ETF: of all ready operations and all devices, the pair that can start
 * first.
 *
 * Nothing is put into gaps.
 *
 * Ties:    at equal starts the higher static level (the longest chain of mean costs to the end,
 *          without moves), then the lower index, then the lower device.
 * Makespan: at most (2 - 1/n) times the optimum without communication plus the most communication
 *          of a chain, on n devices that are alike.
 * Source:  J.-J. Hwang, Y.-C. Chow, F. D. Anger, C.-Y. Lee, "Scheduling Precedence Graphs in
 *          Systems with Interprocessor Communication Times", SIAM J. Comput. 18(2), 1989.
 * Cost:    O(ops ready devices inputs).
 */
#include "config.h"

#include "base/error.h"
#include "strategies/list.h"
#include "strategies/lists/lists.h"
#include "strategies/lists/ranks.h"
#include "strategies/lists/ready.h"
#include "lowering/log.h"

/* Of the ready operations, the one to be placed now, as an index into them. */
static size_t choose(struct fr__timetable *t, const struct fr__ready *ready, struct fr__spot *best)
{
    size_t taken = 0;

    for (size_t k = 0; k < ready->n; k++) {
        struct fr__spot spot =
            fr__timetable_choose(t, ready->at[k].op, FR__SPOT_STARTS_FIRST, false);
        const struct fr__ranked *a = &ready->at[k], *b = &ready->at[taken];

        if (k > 0 && (spot.start_s > best->start_s ||
                      (spot.start_s >= best->start_s &&
                       (a->key > b->key || (a->key >= b->key && a->op > b->op)))))
            continue;
        *best = spot;
        taken = k;
    }
    return taken;
}

enum fr_status fr__etf_run(struct fr__timetable *t, const struct fr_problem *in,
                           const struct fr_context *ctx, struct fr_error *err)
{
    struct fr__ready ready;

    (void)in;
    if (!fr__ready_init(&ready, t))
        return fr__fail_nomem(err);
    fr__rank_up(t, false, t->rank_s);
    for (uint32_t i = 0; i < t->dag->n_ops; i++)
        if (fr__timetable_is_ready(t, i))
            ready.at[ready.n++] = (struct fr__ranked){-t->rank_s[i], i};
    while (ready.n > 0) {
        struct fr__spot spot;
        size_t taken = choose(t, &ready, &spot);
        uint32_t op = ready.at[taken].op;

        FR_TRY(fr__check_cancelled(ctx, err));
        fr__timetable_place(t, op, &spot, FR__DPOS_ENDS_FIRST);
        ready.at[taken] = ready.at[--ready.n];
        for (uint32_t e = t->dag->out_first[op]; e < t->dag->out_first[op + 1]; e++)
            if (fr__ready_is_new(t, op, e)) {
                uint32_t reader = t->dag->edges[e].dst;

                ready.at[ready.n++] = (struct fr__ranked){-t->rank_s[reader], reader};
            }
    }
    return FR_OK;
}

static const struct fr__list_method method = {
    .run = fr__etf_run,
    .caption = "planned by ETF",
    .reasons = fr__lists_starts_first,
    .rank_rule = "Static levels: the longest chain of mean costs from the operation to the end, "
                 "without\nmoves. In the order in which they were taken:",
    .list_rule = "Again and again, of all that is ready and all devices, the pair that can start "
                 "first;\nof equal ones the higher level:",
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

const struct fr_strategy fr__strategy_etf = {
    .name = "etf",
    .summary = "list scheduling: of all that is ready, what can start first anywhere",
    .source = "Hwang, Chow, Anger, Lee, SIAM J. Comput. 18(2), 1989",
    .options = fr__lists_options,
    .plan = plan,
    .explain = explain,
    .is_by_name_only = true,
};
