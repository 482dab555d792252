/* strategies/lists/cpop.c - CPOP: the critical path on the one device that is fastest for all of
 * it, every other operation where it ends first.
 *
 * Of the operations that are ready, the one with the highest priority comes next; its priority is
 * its upward rank plus its downward rank, the length of the longest chain through it. The critical
 * path begins at the source with the highest priority and follows the edges that its rank comes
 * through.
 *
 * Ties:    the lower index, the lower device.
 * Source:  H. Topcuoglu, S. Hariri, M.-Y. Wu, "Performance-Effective and Low-Complexity Task
 *          Scheduling for Heterogeneous Computing", IEEE TPDS 13(3), 2002, section 5.
 */
#include "config.h"

#include "base/error.h"
#include "strategies/list.h"
#include "strategies/lists/lists.h"
#include "strategies/lists/ranks.h"
#include "strategies/lists/ready.h"
#include "lowering/log.h"

static double priority_s(const struct fr__timetable *t, uint32_t op)
{
    return t->rank_s[op] + t->down_s[op];
}

static void push_reader(struct fr__ready *ready, const struct fr__timetable *t, uint32_t edge)
{
    uint32_t reader = t->dag->edges[edge].dst;

    fr__ready_push(ready, -priority_s(t, reader), reader);
}

/* Marks the critical path. */
static void find_path(struct fr__timetable *t)
{
    const struct fr__dag *dag = t->dag;
    uint32_t at = FR_NONE;

    for (uint32_t i = 0; i < dag->n_ops; i++)
        if (fr__timetable_is_ready(t, i) && (at == FR_NONE || priority_s(t, i) > priority_s(t, at)))
            at = i;
    while (at != FR_NONE) {
        uint32_t through = t->record.via[at];

        t->path[t->n_path++] = at;
        t->is_on_path[at] = 1;
        at = through == FR_NONE ? FR_NONE : dag->edges[through].dst;
    }
}

/* The device on which the critical path takes least. */
static uint32_t find_path_device(const struct fr__timetable *t)
{
    uint32_t best = 0;
    double least_s = 0;

    for (uint32_t d = 0; d < t->machine->n_devices; d++) {
        double sum_s = 0;

        for (size_t k = 0; k < t->n_path; k++)
            sum_s += fr__timetable_cost(t, t->path[k], d);
        if (d == 0 || sum_s < least_s) {
            best = d;
            least_s = sum_s;
        }
    }
    return best;
}

static void place(struct fr__timetable *t, uint32_t op, uint32_t path_device)
{
    struct fr__spot spot;

    if (t->is_on_path[op] && fr__timetable_allows(t, op, path_device)) {
        spot = fr__timetable_look(t, op, path_device, true);
        fr__timetable_place(t, op, &spot, FR__DPOS_OF_PATH);
        return;
    }
    spot = fr__timetable_choose(t, op, FR__SPOT_ENDS_FIRST, true);
    fr__timetable_place(t, op, &spot, FR__DPOS_ENDS_FIRST);
}

enum fr_status fr__cpop_run(struct fr__timetable *t, const struct fr_problem *in,
                            const struct fr_context *ctx, struct fr_error *err)
{
    struct fr__ready ready;
    uint32_t path_device;

    (void)in;
    t->down_s = fr__arena_alloc(t->arena, t->dag->n_ops, sizeof(*t->down_s));
    if (!t->down_s || !fr__ready_init(&ready, t))
        return fr__fail_nomem(err);
    fr__rank_up(t, true, t->rank_s);
    fr__rank_down(t, t->down_s);
    find_path(t);
    path_device = find_path_device(t);
    for (uint32_t i = 0; i < t->dag->n_ops; i++)
        if (fr__timetable_is_ready(t, i))
            fr__ready_push(&ready, -priority_s(t, i), i);
    while (ready.n > 0) {
        uint32_t op = fr__ready_pop(&ready);

        FR_TRY(fr__check_cancelled(ctx, err));
        place(t, op, path_device);
        for (uint32_t e = t->dag->out_first[op]; e < t->dag->out_first[op + 1]; e++)
            if (fr__ready_is_new(t, op, e))
                push_reader(&ready, t, e);
    }
    return FR_OK;
}

static const struct fr__list_method method = {
    .run = fr__cpop_run,
    .caption = "planned by CPOP",
    .reasons = fr__lists_ends_first,
    .rank_rule = "Priorities: the upward rank (w, the mean cost, and the most of c + rank over the "
                 "readers)\nand the downward rank, which is the longest way from a source. In the "
                 "order in which\nthey were taken:",
    .list_rule = "Of what is ready, the highest priority first. The critical path goes to the "
                 "device\nthat is fastest for all of it, any other operation to where it ends "
                 "first:",
    .path_rule = "The critical path: from the source of the highest priority, along the edges "
                 "that its\nrank comes through:",
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

const struct fr_strategy fr__strategy_cpop = {
    .name = "cpop",
    .summary = "list scheduling: the critical path on one device, the rest where it ends first",
    .source = "Topcuoglu, Hariri, Wu, IEEE TPDS 13(3), 2002",
    .options = fr__lists_options,
    .plan = plan,
    .explain = explain,
    .is_by_name_only = true,
};
