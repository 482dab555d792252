/* study/recipe_fit/figures.c - the figures of a fitted recipe, its rows and its parts. */
#include "config.h"

#include "study/recipe_fit/figures.h"

#include "study/recipe_fit/recipe_fit.h"

#define ROW(m) FR_MEMBER(struct fr_recipe_fit_row, m)
static const struct fr_figure rows[] = {
    {.key = "id", ROW(id)},
    {.key = "workload", ROW(workload)},
    {.key = "topology", ROW(topology)},
    {.key = "strategy", ROW(strategy)},
    {.key = "gpus", ROW(gpus)},
    {.key = "global_batch", ROW(global_batch)},
    {.key = "measured_s", ROW(measured_s)},
    {.key = "before_s", ROW(before_s)},
    {.key = "after_s", ROW(after_s)},
    {.key = "low_s", ROW(low_s)},
    {.key = "high_s", ROW(high_s)},
    {.key = "error_before", ROW(error_before)},
    {.key = "error_after", ROW(error_after)},
    {.key = "weight", ROW(weight)},
    FR_END_OF_FIGURES,
};

#define PART(m) FR_MEMBER(struct fr_recipe_fit_part, m)
static const struct fr_figure parts[] = {
    {.key = "part", PART(name)},
    {.key = "mean", PART(mean)},
    {.key = "deviation", PART(deviation)},
    {.key = "believed_mean", PART(believed_mean)},
    {.key = "believed_deviation", PART(believed_deviation)},
    FR_END_OF_FIGURES,
};

#define NEXT(m) FR_MEMBER(struct fr_recipe_fit_next, m)
static const struct fr_figure next[] = {
    {.key = "like", NEXT(like)},
    {.key = "strategy", NEXT(strategy)},
    {.key = "gpus", NEXT(gpus)},
    {.key = "global_batch", NEXT(global_batch)},
    {.key = "width_before", NEXT(width_before)},
    {.key = "width_after", NEXT(width_after)},
    FR_END_OF_FIGURES,
};

static const void *part_item(const void *fit, size_t i, union fr_item *room)
{
    (void)room;
    return i < FR_RECIPE_FIT_PARTS ? &((const struct fr_recipe_fit *)fit)->parts[i] : NULL;
}

static const void *next_item(const void *fit, size_t i, union fr_item *room)
{
    const struct fr_recipe_fit *f = fit;

    (void)room;
    return i < f->n_next ? &f->next[i] : NULL;
}

static const void *row_item(const void *fit, size_t i, union fr_item *room)
{
    const struct fr_recipe_fit *f = fit;

    (void)room;
    return i < f->n_rows ? &f->rows[i] : NULL;
}

const struct fr_figure fr__recipe_fit_figures[] = {
    {.key = "base", FR_MEMBER(struct fr_recipe_fit, base)},
    {.key = "steps", FR_MEMBER(struct fr_recipe_fit, n_steps)},
    {.key = "lacks_network", FR_MEMBER(struct fr_recipe_fit, lacks_network)},
    {.key = "parts", .kind = FR_FIGURE_LIST, .figures = parts, .item = part_item, .is_open = true},
    {.key = "rows", .kind = FR_FIGURE_LIST, .figures = rows, .item = row_item, .is_open = true},
    {.key = "next", .kind = FR_FIGURE_LIST, .figures = next, .item = next_item, .is_open = true},
    FR_END_OF_FIGURES,
};
