/* study/answer/stage_figures.c - the figures of a plan of stages, and of each stage. */
#include "config.h"

#include "study/answer/stage_figures.h"

/* ---- a stage ---- */

#define PLAN(x) ((const struct fr_stage_plan *)(x)->pointers[0])
#define STAGE(x) ((const struct fr_stage *)(x)->pointers[1])
#define OF(function, member, expression) FR_VALUE(function, union fr_item, x, member, expression)

OF(replicas_of, count, STAGE(x)->replicas)
OF(time_of, number, STAGE(x)->time_s)
OF(compute_of, number, STAGE(x)->compute_s)
OF(exchange_of, number, STAGE(x)->exchange_s)
OF(params_of, number, STAGE(x)->param_bytes)
OF(activations_of, number, STAGE(x)->activation_bytes)
OF(out_of, number, STAGE(x)->out_bytes)

static const void *level_item(const void *object, size_t i, union fr_item *room)
{
    const union fr_item *x = object;

    (void)room;
    return i < PLAN(x)->n_levels ? &STAGE(x)->replicas_of_level[i] : NULL;
}

static const void *node_item(const void *object, size_t i, union fr_item *room)
{
    const union fr_item *x = object;

    if (i >= STAGE(x)->n_layers)
        return NULL;
    room->pointers[0] = PLAN(x)->profile->layers[STAGE(x)->layers[i]].name;
    return room;
}

const struct fr_figure fr__stage_figures[] = {
    {.key = "replicas", FR_COUNT(replicas_of), .title = "replicas"},
    {.key = "replicas_of_level",
     .kind = FR_FIGURE_LIST,
     .figures = fr__values_u32,
     .item = level_item},
    {.key = "time_s", FR_NUMBER(time_of), .title = "time"},
    {.key = "compute_s", FR_NUMBER(compute_of), .title = "compute"},
    {.key = "exchange_s", FR_NUMBER(exchange_of), .title = "exchange"},
    {.key = "param_bytes", FR_NUMBER(params_of), .title = "parameters"},
    {.key = "activation_bytes", FR_NUMBER(activations_of)},
    {.key = "out_bytes", FR_NUMBER(out_of), .title = "sends on"},
    {.key = "nodes", .kind = FR_FIGURE_LIST, .figures = fr__values_text, .item = node_item},
    FR_END_OF_FIGURES,
};

static const void *stage_item(const void *plan, size_t i, union fr_item *room)
{
    const struct fr_stage_plan *p = plan;

    if (i >= p->n_stages)
        return NULL;
    room->pointers[0] = p;
    room->pointers[1] = &p->stages[i];
    return room;
}

/* ---- what was cut on each level ---- */

#define PART(m) FR_MEMBER(struct fr_stage_part, m)
static const struct fr_figure parts[] = {{.key = "start", PART(begin)},
                                         {.key = "end", PART(end)},
                                         {.key = "replicas", PART(replicas)},
                                         {.key = "compute_s", PART(compute_s)},
                                         FR_END_OF_FIGURES};

FR_VALUE(level_of, struct fr_stage_split, x, count, x->level + UINT64_C(1))

#define SPLIT(m) FR_MEMBER(struct fr_stage_split, m)
static const struct fr_figure splits[] = {
    {.key = "level", FR_COUNT(level_of)},
    {.key = "start", SPLIT(begin)},
    {.key = "end", SPLIT(end)},
    {.key = "time_s", SPLIT(time_s)},
    {.key = "unused_machines", SPLIT(n_unused)},
    {.key = "parts", FR_WORDS(struct fr_stage_split, parts, n_parts, parts)},
    FR_END_OF_FIGURES,
};

/* ---- the plan ---- */

static const void *machine_item(const void *plan, size_t i, union fr_item *room)
{
    const struct fr_stage_plan *p = plan;

    (void)room;
    return i < p->n_levels ? &p->machines[i] : NULL;
}

static const void *bandwidth_item(const void *plan, size_t i, union fr_item *room)
{
    const struct fr_stage_plan *p = plan;

    (void)room;
    return i < p->n_levels ? &p->bandwidth_Bps[i] : NULL;
}

FR_VALUE(workload_of, struct fr_stage_plan, x, text, x->profile->name)
FR_CONDITION(is_counted, struct fr_stage_plan, x, x->n_states > 0)
FR_CONDITION(is_impossible, struct fr_stage_plan, x, x->first_unreal < x->n_stages)

#define P(m) FR_MEMBER(struct fr_stage_plan, m)
const struct fr_figure fr__stage_plan_figures[] = {
    {.key = "workload", FR_TEXT(workload_of)},
    {.key = "strategy", P(strategy)},
    {.key = "mode", P(mode)},
    {.key = "machines", .kind = FR_FIGURE_LIST, .figures = fr__values_u32, .item = machine_item},
    {.key = "bandwidth_Bps",
     .kind = FR_FIGURE_LIST,
     .figures = fr__values_number,
     .item = bandwidth_item},
    {.key = "pipeline_time_s", P(pipeline_time_s)},
    {.key = "dp_time_s", P(dp_time_s)},
    {.key = "single_time_s", P(single_time_s)},
    {.key = "states", P(n_states), .known = is_counted},
    {.key = "states_at_least", P(n_states_at_least)},
    {.key = "states_planned", P(n_planned)},
    {.key = "restricted", P(is_restricted)},
    {.key = "lower_bound_s", P(lower_bound_s)},
    {.key = "unreached_nodes", P(n_unreached)},
    {.key = "first_impossible_stage", P(first_unreal), .known = is_impossible},
    {.key = "stages",
     .kind = FR_FIGURE_LIST,
     .figures = fr__stage_figures,
     .item = stage_item,
     .is_open = true},
    {.key = "levels", FR_ITEMS(struct fr_stage_plan, splits, n_splits, splits)},
    FR_END_OF_FIGURES,
};
