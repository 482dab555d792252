/* study/validate/figures.c - the figures of a validation and of its rows. */
#include "config.h"

#include "study/validate/figures.h"

#define ROW(m) FR_MEMBER(struct fr_validation_row, m)
#define ERROR(m) FR_MEMBER(struct fr_validation_errors, m), .known = has_rows
#define GROUP(m) .kind = FR_FIGURE_GROUP, .offset = offsetof(struct fr_validation_group, m)
#define VALIDATION(m) FR_MEMBER(struct fr_validation, m)

FR_CONDITION(has_rows, struct fr_validation_errors, e, e->n > 0)
FR_VALUE(class_of, struct fr_validation_row, r, text,
         r->interval_class[0] ? r->interval_class : NULL)
FR_VALUE(by_of, struct fr_validation_group, g, text, fr_validation_by_name(g->by))

const struct fr_figure fr__validation_row_figures[] = {
    {.key = "id", ROW(id)},
    {.key = "measured_s", ROW(measured_s)},
    {.key = "predicted_s", ROW(predicted_s)},
    {.key = "low_s", ROW(low_s)},
    {.key = "high_s", ROW(high_s)},
    {.key = "half_low_s", ROW(half_low_s), FR_DETAIL},
    {.key = "half_high_s", ROW(half_high_s), FR_DETAIL},
    {.key = "cost_error", ROW(cost_error), FR_DETAIL},
    {.key = "class", FR_TEXT(class_of), FR_DETAIL},
    {.key = "error", ROW(error)},
    {.key = "memory_error", ROW(memory_error)},
    {.key = "why_not", ROW(why_not)},
    FR_END_OF_FIGURES,
};

static const struct fr_figure errors[] = {
    {.key = "n", FR_MEMBER(struct fr_validation_errors, n)},
    {.key = "median", ERROR(median)},
    {.key = "mean", ERROR(mean)},
    {.key = "p90", ERROR(p90)},
    {.key = "worst", ERROR(worst)},
    {.key = "bias", ERROR(bias)},
    FR_END_OF_FIGURES,
};

static const struct fr_figure group[] = {
    {.key = "by", FR_TEXT(by_of)},
    {.key = "name", FR_MEMBER(struct fr_validation_group, name)},
    {GROUP(errors), .figures = errors},
    FR_END_OF_FIGURES,
};

static const struct fr_figure group_of_all[] = {
    {GROUP(errors), .figures = errors},
    FR_END_OF_FIGURES,
};

static const struct fr_figure summary[] = {
    {.kind = FR_FIGURE_GROUP,
     .offset = offsetof(struct fr_validation, groups),
     .is_pointer = true,
     .figures = group_of_all},
    {.key = "tau", VALIDATION(tau)},
    {.key = "scaling_median", VALIDATION(scaling_median)},
    {.key = "ranges", VALIDATION(n_ranges)},
    {.key = "in_90", VALIDATION(n_in_90)},
    {.key = "in_50", VALIDATION(n_in_50)},
    FR_END_OF_FIGURES,
};

/* Those after that of all. */
static const void *group_item(const void *validation, size_t i, union fr_item *room)
{
    const struct fr_validation *v = validation;

    (void)room;
    return 1 + i < v->n_groups ? &v->groups[1 + i] : NULL;
}

#define LINE(m) FR_MEMBER(struct fr_validation_line, m)
#define CHANGE(m) FR_MEMBER(struct fr_validation_change, m)
#define SOFTWARE(m) FR_MEMBER(struct fr_validation_software, m)

FR_VALUE(change_of, struct fr_validation_change, c, text, fr_validation_change_name(c->of))

static const struct fr_figure line[] = {
    {.key = "software", LINE(software)},
    {.key = "workload", LINE(workload)},
    {.key = "precision", LINE(precision)},
    {.key = "options", LINE(options)},
    {.key = "notes", LINE(notes)},
    {.key = "topology", LINE(topology)},
    {.key = "gpus", LINE(gpus)},
    {.key = "rows", LINE(n)},
    {.key = "least_batch", LINE(least_batch)},
    {.key = "most_batch", LINE(most_batch)},
    {.key = "measured_per_sample_s", LINE(measured_per_sample_s)},
    {.key = "predicted_per_sample_s", LINE(predicted_per_sample_s)},
    {.key = "measured_per_step_s", LINE(measured_per_step_s)},
    {.key = "predicted_per_step_s", LINE(predicted_per_step_s)},
    {.key = "noise_s", LINE(noise_s)},
    FR_END_OF_FIGURES,
};

static const struct fr_figure change[] = {
    {.key = "of", FR_TEXT(change_of)},
    {.key = "software", CHANGE(software)},
    {.key = "workload", CHANGE(workload)},
    {.key = "precision", CHANGE(precision)},
    {.key = "options", CHANGE(options)},
    {.key = "strategy", CHANGE(strategy)},
    {.key = "from", CHANGE(from)},
    {.key = "to", CHANGE(to)},
    {.key = "pairs", CHANGE(n)},
    {.key = "measured_added_s", CHANGE(measured_added_s)},
    {.key = "predicted_added_s", CHANGE(predicted_added_s)},
    {.key = "measured_ratio", CHANGE(measured_ratio)},
    {.key = "predicted_ratio", CHANGE(predicted_ratio)},
    FR_END_OF_FIGURES,
};

static const struct fr_figure software[] = {
    {.key = "software", SOFTWARE(software)},
    {.key = "lines", SOFTWARE(n_lines)},
    {.key = "per_sample_error", SOFTWARE(per_sample_error)},
    {.key = "per_step_missing_s", SOFTWARE(per_step_missing_s)},
    {.key = "changes", SOFTWARE(n_changes)},
    {.key = "per_change_missing_s", SOFTWARE(per_change_missing_s)},
    FR_END_OF_FIGURES,
};

const struct fr_figure fr__validation_figures[] = {
    {.key = "rows", FR_ITEMS(struct fr_validation, rows, n_rows, fr__validation_row_figures)},
    {.key = "summary", .kind = FR_FIGURE_OBJECT, .figures = summary},
    {.key = "groups",
     .kind = FR_FIGURE_LIST,
     .figures = group,
     .item = group_item,
     .is_open = true},
    {.key = "lines", FR_ITEMS(struct fr_validation, lines, n_lines, line)},
    {.key = "changes", FR_ITEMS(struct fr_validation, changes, n_changes, change)},
    {.key = "software", FR_ITEMS(struct fr_validation, software, n_software, software)},
    FR_END_OF_FIGURES,
};
