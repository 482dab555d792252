/* strategies/lists/exact.c - the shortest schedule of a small graph, or the best that was found and
 * the bound that was proved.
 *
 * It starts from the better of HEFT and ETF and looks for shorter ones by branch and bound
 * (strategies/lists/exact_search.h). What is proved holds for what the planners assume: moves that
 * do not disturb each other, and variables that stand with the first of their readers.
 */
#include "config.h"

#include "base/error.h"
#include "strategies/list.h"
#include "strategies/lists/exact_search.h"
#include "strategies/lists/lists.h"
#include "strategies/lists/ranks.h"

#include <stdio.h>

enum { OPTION_START, OPTION_NODES };

static const struct fr_option options[] = {
    [OPTION_START] = FR__LISTS_START_OPTION,
    [OPTION_NODES] = {.name = "nodes",
                      .type = FR_OPTION_COUNT,
                      .fallback = "2000000",
                      .help = "most partial schedules that are looked at"},
    {.name = NULL},
};

/* The makespan of another list scheduler. */
static enum fr_status try_list(fr__list_run_fn run, const struct fr__timetable *like,
                               const struct fr_problem *in, const struct fr_context *ctx,
                               double *makespan_s, struct fr_error *err)
{
    struct fr__timetable t;
    enum fr_status st = fr__timetable_init(&t, like->dag, like->machine, err);

    if (st == FR_OK)
        st = run(&t, in, ctx, err);
    if (st == FR_OK)
        *makespan_s = fr__timetable_finish(&t);
    fr__timetable_fini(&t);
    return st;
}

/* Places what the search found, which makes the same times again. */
static void place(struct fr__timetable *t, const struct fr__exact_answer *found)
{
    for (size_t i = 0; i < found->n_placed; i++) {
        uint32_t op = found->order[i];
        struct fr__spot spot = fr__timetable_look(t, op, found->device[op], false);

        fr__timetable_place(t, op, &spot, FR__DPOS_PLACED);
    }
}

/* Says what was proved. false: out of memory. */
static bool tell(struct fr__timetable *t, const struct fr__exact_answer *found)
{
    char text[200];

    if (found->bound_s < found->best_s)
        snprintf(text, sizeof(text),
                 "The search was stopped after %llu partial schedules: no schedule takes less than "
                 "the\nbound below, and this one may be longer than the shortest.",
                 (unsigned long long)found->n_nodes);
    else
        snprintf(text, sizeof(text), "No schedule is shorter: proved with %llu partial schedules.",
                 (unsigned long long)found->n_nodes);
    t->note = fr__arena_strdup(t->arena, text);
    t->bound_s = found->bound_s;
    return t->note;
}

static enum fr_status run(struct fr__timetable *t, const struct fr_problem *in,
                          const struct fr_context *ctx, struct fr_error *err)
{
    double heft_s, etf_s;
    struct fr__exact_answer found;

    if (t->dag->n_ops > FR__EXACT_MAX_OPS)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "'exact' is for small graphs: this one has %zu operations, at most %d are "
                        "searched",
                        t->dag->n_ops, FR__EXACT_MAX_OPS);
    FR_TRY(try_list(fr__heft_run, t, in, ctx, &heft_s, err));
    FR_TRY(try_list(fr__etf_run, t, in, ctx, &etf_s, err));
    FR_TRY(fr__exact_search(t, heft_s < etf_s ? heft_s : etf_s, in->options->value[OPTION_NODES],
                            ctx, &found, err));
    fr__rank_up(t, false, t->rank_s);
    if (found.is_from_search)
        place(t, &found);
    else
        FR_TRY((heft_s <= etf_s ? fr__heft_run : fr__etf_run)(t, in, ctx, err));
    return tell(t, &found) ? FR_OK : fr__fail_nomem(err);
}

static const struct fr_reason reasons[] = {
    [FR__DPOS_WITH_READER] = {.kind = FR_REASON_FOLLOWS,
                              .token = "with-reader",
                              .words = "a variable, stands with the first of its readers"},
    [FR__DPOS_OF_PATH] = {.kind = FR_REASON_BOUND, .token = "path", .words = "bound with the path"},
    [FR__DPOS_OF_GROUP] = {.kind = FR_REASON_BOUND,
                           .token = "group",
                           .words = "bound to where its group stands"},
    [FR__DPOS_MOST_ROOM] = {.kind = FR_REASON_BOUND, .token = "room", .words = "most room"},
    [FR__DPOS_ENDS_FIRST] = {.kind = FR_REASON_CHOSEN,
                             .token = "start",
                             .words = "as in the list schedule that the search began with",
                             .picked = "taken",
                             .picked_of_equals = "taken"},
    [FR__DPOS_PLACED] = {.kind = FR_REASON_BOUND,
                         .token = "searched",
                         .words = "where the search found the shortest step"},
};

static const struct fr__list_method method = {
    .run = run,
    .caption = "the best schedule found",
    .reasons = reasons,
    .list_rule = "The schedule, in the order of its starts:",
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

const struct fr_strategy fr__strategy_exact = {
    .name = "exact",
    .summary = "the shortest schedule of a small graph, by branch and bound, with what was proved",
    .source = "Kohler, Steiglitz, in: Computer and Job-Shop Scheduling Theory, 1976",
    .options = options,
    .plan = plan,
    .explain = explain,
    .is_by_name_only = true,
};
