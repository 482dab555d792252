/* results/explain.h - how a strategy came to its plan, step by step: text, JSON, pictures.
 *
 * All of it is read from the strategy's record of decisions (lowering/decisions.h). A strategy
 * that fills the record can be explained; nothing here knows one.
 */
#ifndef FORERUN_EXPLAIN_H
#define FORERUN_EXPLAIN_H

#include "results/results.h"
#include "study/explain/explanation.h"

#ifdef __cplusplus
extern "C" {
#endif

struct fr_explanation_view {
    size_t n_ops;   /* most rows of a table, and most operations that are explained; 0: all */
    const char *op; /* only this operation; NULL: all */
};
/* FR_ENOENT: no such operation, with the nearest. */
struct fr_explanation_answer {
    const struct fr_explanation *explanation;
    struct fr_explanation_view view;
};
/* Pipelines side by side: an explanation and its schedule each. */
struct fr_pipelines_answer {
    const struct fr_explanation *const *explanations; /* [schedules.n] */
    struct fr_schedules_answer schedules;
};

/* All of it. FR_ENOMEM. */
enum fr_status fr_explanation_print_json(FILE *f, const struct fr_explanation *e,
                                         struct fr_error *err);

/* Of strategies that are pipelines, several side by side: what their stages take and their
 * schedules over time. FR_EUSAGE: one of several is no pipeline; FR_ENOMEM; as
 * fr_show_file, which also refuses what the strategy has not: a mesh, a graph, a schedule. */
enum fr_status fr_explanation_print_pipelines(FILE *f, const struct fr_explanation *const es[],
                                              size_t n, bool is_json, struct fr_error *err);
enum fr_status fr_explanation_write_pipelines(const struct fr_explanation *const es[], size_t n,
                                              const char *path, const struct fr_context *ctx,
                                              struct fr_error *err);

#ifdef __cplusplus
}
#endif
#endif
