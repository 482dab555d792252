/* study/explain/figures.c - the figures of an explanation: its plans, why each operation stands
 * where it does, what was tried to split.
 *
 * It is separate from the text for people, which cuts tables and leaves plans out.
 */
#include "config.h"

#include "study/explain/figures.h"

/* What the parts of a plan are read from: the decisions, the plan, and a part of it. */
#define DECISIONS(x) ((const struct fr_decisions *)(x)->pointers[0])
#define PLAN(x) ((const struct fr_decided_plan *)(x)->pointers[1])
#define OP(x) ((const struct fr_decided_op *)(x)->pointers[2])
#define OF(function, member, expression) FR_VALUE(function, union fr_item, x, member, expression)
#define WHEN(function, expression) FR_CONDITION(function, union fr_item, x, expression)

/* ---- a device that an operation or a part of the path could have gone to ---- */

#define DEVICE(x) ((const struct fr_decided_device *)(x)->pointers[0])
#define CHOICE(x) ((const struct fr_alternative *)(x)->pointers[1])
#define CANDIDATE(x) ((const struct fr_path_candidate *)(x)->pointers[1])

OF(device_of, text, DEVICE(x)->name)
OF(ready_of, number, CHOICE(x)->ready_s)
OF(est_of, number, CHOICE(x)->start_s)
OF(eft_of, number, CHOICE(x)->end_s)
OF(left_of, count, CHOICE(x)->left_bytes)

static const struct fr_figure choices[] = {
    {.key = "device", FR_TEXT(device_of)},    {.key = "ready_s", FR_NUMBER(ready_of)},
    {.key = "est_s", FR_NUMBER(est_of)},      {.key = "eft_s", FR_NUMBER(eft_of)},
    {.key = "left_bytes", FR_COUNT(left_of)}, FR_END_OF_FIGURES};

static const void *choice_item(const void *object, size_t i, union fr_item *room)
{
    const union fr_item *x = object;
    size_t op = (size_t)(OP(x) - PLAN(x)->ops);

    if (i >= DECISIONS(x)->n_devices)
        return NULL;
    room->pointers[0] = &DECISIONS(x)->devices[i];
    room->pointers[1] = &PLAN(x)->alternatives[op * DECISIONS(x)->n_devices + i];
    return room;
}

OF(from_of, count, CANDIDATE(x)->from)
OF(end_of, count, CANDIDATE(x)->end)
OF(mean_of, number, CANDIDATE(x)->mean_s)

static const struct fr_figure candidates[] = {{.key = "device", FR_TEXT(device_of)},
                                              {.key = "from", FR_COUNT(from_of)},
                                              {.key = "end", FR_COUNT(end_of)},
                                              {.key = "mean_s", FR_NUMBER(mean_of)},
                                              FR_END_OF_FIGURES};

/* The i-th device on which a part of the path fits. */
static const void *candidate_item(const void *object, size_t i, union fr_item *room)
{
    const union fr_item *x = object;
    size_t round = (size_t)((const uint32_t *)x->pointers[2] - PLAN(x)->round_device);

    for (size_t d = 0; d < DECISIONS(x)->n_devices; d++) {
        const struct fr_path_candidate *c =
            &PLAN(x)->candidates[round * DECISIONS(x)->n_devices + d];

        if (c->end == c->from || i-- > 0)
            continue;
        room->pointers[0] = &DECISIONS(x)->devices[d];
        room->pointers[1] = c;
        return room;
    }
    return NULL;
}

/* ---- an operation ---- */

OF(name_of, text, OP(x)->name)
OF(longest_of, number, OP(x)->longest_s)
OF(rank_of, number, OP(x)->rank_s)
OF(through_of, text, PLAN(x)->ops[OP(x)->via].name)
OF(move_of, number, OP(x)->via_s)
OF(on_path_of, count, OP(x)->is_on_path)
OF(why_of, text, OP(x)->reason->token)
OF(place_of, text, DECISIONS(x)->devices[OP(x)->device].name)
OF(start_of, number, OP(x)->start_s)
OF(finish_of, number, OP(x)->end_s)
OF(position_of, count, PLAN(x)->position[OP(x) - PLAN(x)->ops])
OF(reader_of, text, PLAN(x)->ops[OP(x)->follows].name)
OF(gap_begin_of, number, OP(x)->gap_begin_s)
OF(gap_end_of, number, OP(x)->gap_end_s)
OF(needs_of, count, OP(x)->needs_bytes)
WHEN(has_rank, PLAN(x)->rank_rule != NULL)
WHEN(has_via, has_rank(object) && OP(x)->via != FR_NONE)
WHEN(has_position, PLAN(x)->position != NULL)
WHEN(follows, OP(x)->reason->kind == FR_REASON_FOLLOWS)
WHEN(chooses, OP(x)->reason->kind != FR_REASON_FOLLOWS)

static const struct fr_figure ops[] = {
    {.key = "name", FR_TEXT(name_of)},
    {.key = "longest_s", FR_NUMBER(longest_of), .when = has_rank},
    {.key = "rank_s", FR_NUMBER(rank_of), .when = has_rank},
    {.key = "rank_through", FR_TEXT(through_of), .when = has_via},
    {.key = "rank_move_s", FR_NUMBER(move_of), .when = has_via},
    {.key = "on_path", FR_FLAG(on_path_of)},
    {.key = "why", FR_TEXT(why_of)},
    {.key = "device", FR_TEXT(place_of)},
    {.key = "start_s", FR_NUMBER(start_of)},
    {.key = "end_s", FR_NUMBER(finish_of)},
    {.key = "position", FR_COUNT(position_of), .when = has_position},
    {.key = "reader", FR_TEXT(reader_of), .when = follows},
    {.key = "gap_begin_s", FR_NUMBER(gap_begin_of), .when = chooses},
    {.key = "gap_end_s", FR_NUMBER(gap_end_of), .when = chooses},
    {.key = "needs_bytes", FR_COUNT(needs_of), .when = chooses},
    {.key = "devices",
     .kind = FR_FIGURE_LIST,
     .figures = choices,
     .item = choice_item,
     .is_open = true,
     .when = chooses},
    FR_END_OF_FIGURES,
};

/* ---- a plan ---- */

static const void *part(const union fr_item *plan, const void *of, union fr_item *room)
{
    room->pointers[0] = plan->pointers[0];
    room->pointers[1] = plan->pointers[1];
    room->pointers[2] = of;
    return room;
}

static const void *path_item(const void *object, size_t i, union fr_item *room)
{
    const union fr_item *x = object;

    if (i >= PLAN(x)->n_path)
        return NULL;
    room->pointers[0] = PLAN(x)->ops[PLAN(x)->path[i]].name;
    return room;
}

static const void *round_item(const void *object, size_t i, union fr_item *room)
{
    const union fr_item *x = object;

    return i < PLAN(x)->n_rounds ? part(x, &PLAN(x)->round_device[i], room) : NULL;
}

/* In the order in which they were decided. */
static const void *op_item(const void *object, size_t i, union fr_item *room)
{
    const union fr_item *x = object;
    const struct fr_decided_plan *p = PLAN(x);

    return p->list && i < p->n_ops ? part(x, &p->ops[p->list[i]], room) : NULL;
}

OF(taker_of, text, DECISIONS(x)->devices[*(const uint32_t *)x->pointers[2]].name)

static const struct fr_figure rounds[] = {{.key = "device", FR_TEXT(taker_of)},
                                          {.key = "candidates",
                                           .kind = FR_FIGURE_LIST,
                                           .figures = candidates,
                                           .item = candidate_item,
                                           .is_open = true},
                                          FR_END_OF_FIGURES};

OF(token_of, text, PLAN(x)->token)
OF(n_ops_of, count, PLAN(x)->n_ops)
OF(n_edges_of, count, PLAN(x)->n_edges)
OF(makespan_of, number, PLAN(x)->makespan_s)
OF(bound_of, number, PLAN(x)->bounds.best_s)
OF(path_bound_of, number, PLAN(x)->bounds.path_s)
OF(work_bound_of, number, PLAN(x)->bounds.work_s)
OF(cross_bound_of, number, PLAN(x)->bounds.cross_s)
OF(search_bound_of, number, PLAN(x)->bounds.search_s)
WHEN(has_search_bound, PLAN(x)->bounds.search_s > 0)

#define ITEMS(table, function)                                                                     \
    .kind = FR_FIGURE_LIST, .figures = (table), .item = (function), .is_open = true
static const struct fr_figure plans[] = {
    {.key = "of", FR_TEXT(token_of)},
    {.key = "n_ops", FR_COUNT(n_ops_of)},
    {.key = "n_edges", FR_COUNT(n_edges_of)},
    {.key = "makespan_s", FR_NUMBER(makespan_of)},
    {.key = "bound_s", FR_NUMBER(bound_of)},
    {.key = "path_bound_s", FR_NUMBER(path_bound_of)},
    {.key = "work_bound_s", FR_NUMBER(work_bound_of)},
    {.key = "cross_bound_s", FR_NUMBER(cross_bound_of)},
    {.key = "search_bound_s", FR_NUMBER(search_bound_of), .when = has_search_bound},
    {.key = "path", ITEMS(fr__values_text, path_item)},
    {.key = "path_devices", ITEMS(rounds, round_item), .has_open_items = true},
    {.key = "ops", ITEMS(ops, op_item), .has_open_items = true},
    FR_END_OF_FIGURES,
};

/* ---- the explanation ---- */

#define TRY(m) FR_MEMBER(struct fr_decided_split, m)
static const struct fr_figure tries[] = {{.key = "op", TRY(op)},
                                         {.key = "dim", TRY(dim)},
                                         {.key = "n", TRY(n)},
                                         {.key = "before_s", TRY(before_s)},
                                         {.key = "after_s", TRY(after_s)},
                                         {.key = "verdict", TRY(verdict)},
                                         FR_END_OF_FIGURES};

#define ROOM(m) FR_MEMBER(struct fr_decided_device, m)
static const struct fr_figure devices[] = {
    {.key = "name", ROOM(name)}, {.key = "room_bytes", ROOM(room_bytes)}, FR_END_OF_FIGURES};

static const void *plan_item(const void *decisions, size_t i, union fr_item *room)
{
    const struct fr_decisions *x = decisions;

    if (i >= x->n_plans)
        return NULL;
    room->pointers[0] = x;
    room->pointers[1] = &x->plans[i];
    return room;
}

FR_CONDITION(has_tries, struct fr_decisions, x, x->split_end != NULL)

static const struct fr_figure decisions[] = {
    {.key = "planned_from", FR_MEMBER(struct fr_decisions, start)},
    {.key = "devices", FR_ITEMS(struct fr_decisions, devices, n_devices, devices)},
    {.key = "plans", ITEMS(plans, plan_item), .has_open_items = true},
    {.key = "tries", FR_ITEMS(struct fr_decisions, tries, n_tries, tries), .when = has_tries},
    {.key = "ended", FR_MEMBER(struct fr_decisions, split_end), .when = has_tries},
    FR_END_OF_FIGURES,
};

#define EXPLANATION(function, member, expression)                                                  \
    FR_VALUE(function, struct fr_explanation, x, member, expression)
EXPLANATION(workload_of, text, x->problem.graph->name)
EXPLANATION(topology_of, text, x->problem.topo->name)

#define E(m) FR_MEMBER(struct fr_explanation, m)
const struct fr_figure fr__explanation_figures[] = {
    {.key = "workload", FR_TEXT(workload_of)},
    {.key = "topology", FR_TEXT(topology_of)},
    {.key = "strategy", E(question.strategy)},
    {.key = "global_batch", E(problem.global_batch)},
    {.kind = FR_FIGURE_GROUP,
     .figures = decisions,
     .offset = offsetof(struct fr_explanation, decisions),
     .is_pointer = true},
    FR_END_OF_FIGURES,
};
