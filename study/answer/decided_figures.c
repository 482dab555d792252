/* study/answer/decided_figures.c - the figures of what a strategy that plans decided, as a record's
 * JSON has them.
 *
 * It is separate from the record's because they are read from another struct, through its plan.
 */
#include "config.h"

#include "study/answer/figures.h"

#define WHEN(function, expression) FR_CONDITION(function, struct fr_decisions, d, expression)
#define OF(function, member, expression)                                                           \
    FR_VALUE(function, struct fr_decisions, d, member, expression)
#define D(m) FR_MEMBER(struct fr_decisions, m)

WHEN(asked_the_engine, d->own_s > 0)
WHEN(has_search_bound, fr_decisions_plan(d)->bounds.search_s > 0)

OF(bound_of, number, fr_decisions_plan(d)->bounds.best_s)
OF(chain_of, number, fr_decisions_plan(d)->bounds.path_s)
OF(work_of, number, fr_decisions_plan(d)->bounds.work_s)
OF(crossing_of, number, fr_decisions_plan(d)->bounds.cross_s)
OF(search_of, number, fr_decisions_plan(d)->bounds.search_s)
OF(gap_cause_of, text, fr_decisions_gap_cause(d))

static void contention_of(const void *decisions, struct fr_value *v)
{
    double launch_s;

    fr_decisions_gap(decisions, &v->number, &launch_s);
}

static void launch_of(const void *decisions, struct fr_value *v)
{
    double contention_s;

    fr_decisions_gap(decisions, &contention_s, &v->number);
}

/* ---- items ---- */

static const char *plain_name(const void *decisions, size_t i)
{
    return ((const struct fr_decisions *)decisions)->plain[i].name;
}

static const void *plain_item(const void *decisions, size_t i, union fr_item *room)
{
    const struct fr_decisions *d = decisions;

    (void)room;
    return i < d->n_plain ? &d->plain[i].made_s : NULL;
}

/* The operation that is number i to be run. */
static const struct fr_decided_op *op_at(const struct fr_decisions *d, size_t i)
{
    const struct fr_decided_plan *p = fr_decisions_plan(d);

    return i < p->n_ops ? &p->ops[p->order[i]] : NULL;
}

static const char *op_name(const void *decisions, size_t i)
{
    return op_at(decisions, i)->name;
}

static const void *op_item(const void *decisions, size_t i, union fr_item *room)
{
    const struct fr_decided_op *op = op_at(decisions, i);

    (void)room;
    return op ? &op->name : NULL;
}

static const void *place_item(const void *decisions, size_t i, union fr_item *room)
{
    const struct fr_decisions *d = decisions;
    const struct fr_decided_op *op = op_at(d, i);

    (void)room;
    return op ? &d->devices[op->device].name : NULL;
}

/* ---- tables ---- */

static const struct fr_figure bounds[] = {
    {.key = "chain_s", FR_NUMBER(chain_of)},
    {.key = "work_s", FR_NUMBER(work_of)},
    {.key = "crossing_s", FR_NUMBER(crossing_of)},
    {.key = "search_s", FR_NUMBER(search_of), .when = has_search_bound},
    FR_END_OF_FIGURES,
};

static const struct fr_figure gap[] = {{.key = "contention", FR_NUMBER(contention_of)},
                                       {.key = "launch_and_order", FR_NUMBER(launch_of)},
                                       FR_END_OF_FIGURES};

/* Whose plan it is, where the engine was asked: the strategy's own, or that of another strategy
 * that was faster. own_gap_s: what the engine made of the own plan beyond what was planned. */
static const struct fr_figure own[] = {
    {.key = "plan_of", D(plan_of)},
    {.key = "own_s", D(own_s)},
    {.key = "own_rule", D(rule)},
    {.key = "own_gap_s", .kind = FR_FIGURE_OBJECT, .figures = gap},
    {.key = "gap_cause", FR_TEXT(gap_cause_of)},
    {.key = "plain_s",
     .kind = FR_FIGURE_MAP,
     .figures = fr__values_number,
     .item = plain_item,
     .name = plain_name},
    {.key = "plans_run", D(n_asked)},
    {.key = "plans_given_up", D(n_given_up)},
    FR_END_OF_FIGURES,
};

#define SPLIT(m) FR_MEMBER(struct fr_decided_split, m)
static const struct fr_figure splits[] = {{.key = "op", SPLIT(op)},
                                          {.key = "dim", SPLIT(dim)},
                                          {.key = "n", SPLIT(n)},
                                          {.key = "before_s", SPLIT(before_s)},
                                          {.key = "after_s", SPLIT(after_s)},
                                          FR_END_OF_FIGURES};

const struct fr_figure fr__decided_figures[] = {
    {.key = "planned_s", D(believed_s)},
    {.key = "planned_before_splits_s", D(start_s)},
    {.key = "planned_bound_s", FR_NUMBER(bound_of)},
    {.key = "planned_bounds", .kind = FR_FIGURE_OBJECT, .figures = bounds},
    {.key = "planned_from", D(start)},
    {.key = "keeps_replicas", D(keeps_replicas)},
    {.kind = FR_FIGURE_GROUP, .figures = own, .when = asked_the_engine},
    {.key = "placement",
     .kind = FR_FIGURE_MAP,
     .figures = fr__values_text,
     .item = place_item,
     .name = op_name,
     .is_open = true},
    {.key = "planned_order",
     .kind = FR_FIGURE_LIST,
     .figures = fr__values_text,
     .item = op_item,
     .is_open = true},
    {.key = "splits", FR_ITEMS(struct fr_decisions, splits, n_splits, splits)},
    {.key = "splits_tried", D(n_tried)},
    {.key = "evaluations", D(n_whole)},
    {.key = "evaluations_stopped", D(n_stopped)},
    FR_END_OF_FIGURES,
};
