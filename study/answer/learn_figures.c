/* study/answer/learn_figures.c - the figures of learning costs, and of each of its rounds. */
#include "config.h"

#include "study/answer/learn_figures.h"

#include <math.h>

#define ROUND(m) FR_MEMBER(struct fr_learn_round, m)
#define LEARN(m) FR_MEMBER(struct fr_learning, m)
#define OF(function, member, expression)                                                           \
    FR_VALUE(function, struct fr_learn_round, x, member, expression)

OF(outcome_of, text, fr_learn_outcome_name(x->outcome))
OF(oom_of, count, isinf(x->measured_s) ? 1 : 0)
OF(changed_of, text, x->changed[0] ? x->changed : NULL)

const struct fr_figure fr__learn_round_figures[] = {
    {.key = "is_profile", ROUND(is_profile)},
    {.key = "iteration", ROUND(iteration)},
    {.key = "strategy", ROUND(strategy)},
    {.key = "outcome", FR_TEXT(outcome_of)},
    {.key = "in_use", ROUND(in_use)},
    {.key = "planned_s", ROUND(planned_s)},
    {.key = "estimated_s", ROUND(estimated_s)},
    {.key = "measured_s", ROUND(measured_s)},
    {.key = "oom", FR_FLAG(oom_of), FR_DETAIL},
    {.key = "activation_s", ROUND(activation_s)},
    {.key = "ops", ROUND(n_ops), FR_DETAIL},
    {.key = "splits", ROUND(n_splits)},
    {.key = "gpus", ROUND(n_gpus)},
    {.key = "costs_measured", ROUND(n_measured)},
    {.key = "costs_new", ROUND(n_new)},
    {.key = "costs_changed", ROUND(n_changed)},
    {.key = "largest_change", ROUND(change)},
    {.key = "largest_change_of", FR_TEXT(changed_of)},
    FR_END_OF_FIGURES,
};

static const char *gpu_name(const void *learning, size_t i)
{
    return ((const struct fr_learning *)learning)->gpus[i].name;
}

static const void *gpu_item(const void *learning, size_t i, union fr_item *room)
{
    const struct fr_learning *l = learning;

    if (i >= l->n_gpus)
        return NULL;
    room->count = l->gpus[i].n_ops;
    return room;
}

const struct fr_figure fr__learn_figures[] = {
    {.key = "workload", LEARN(workload)},
    {.key = "topology", LEARN(topology)},
    {.key = "strategy", LEARN(strategy)},
    {.key = "n_gpus", LEARN(n_gpus)},
    {.key = "global_batch", LEARN(global_batch)},
    {.key = "seed", LEARN(seed)},
    {.key = "start", LEARN(start)},
    {.key = "rounds", FR_ITEMS(struct fr_learning, rounds, n_rounds, fr__learn_round_figures)},
    {.key = "has_converged", LEARN(has_converged)},
    {.key = "rounds_of_pre_training", LEARN(n_pre_training)},
    {.key = "first_s", LEARN(first_s)},
    {.key = "in_use_s", LEARN(in_use_s)},
    {.key = "iterations", LEARN(n_iterations)},
    {.key = "training_s", LEARN(training_s)},
    {.key = "activation_s", LEARN(activation_s)},
    {.key = "activated", LEARN(n_activated)},
    {.key = "rolled_back", LEARN(n_rolled_back)},
    {.key = "placement",
     .kind = FR_FIGURE_MAP,
     .figures = fr__values_u64,
     .item = gpu_item,
     .name = gpu_name},
    {.key = "splits", FR_ITEMS(struct fr_learning, splits, n_splits, fr__values_text)},
    FR_END_OF_FIGURES,
};
