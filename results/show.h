/* results/show.h - shows an answer of any kind: as text, as JSON, as a file by its ending.
 *
 * A kind is a row of results/kinds.c, which names its document, its chart and its files.
 */
#ifndef FORERUN_SHOW_H
#define FORERUN_SHOW_H

#include "base/base.h"

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The kinds of answers and the type of each. */
#define FR_KINDS(X)                                                                                \
    X(RUN, run, fr_results) /* of one record */                                                    \
    X(COMPARISON, comparison, fr_results)                                                          \
    X(DIFFERENCE, difference, fr_difference_answer)                                                \
    X(SWEEP, sweep, fr_sweep_answer)                                                               \
    X(SEARCH, search, fr_search_answer)                                                            \
    X(CURVES, curves, fr_curves_answer)                                                            \
    X(COMM_EXPLANATION, comm_explanation, fr_comm_explanation)                                     \
    X(LEARNING, learning, fr_learning_answer)                                                      \
    X(STAGES, stages, fr_stage_plan)                                                               \
    X(SCHEDULES, schedules, fr_schedules_answer) /* over time */                                   \
    X(CHECKED, checked, fr_schedules_answer)     /* what a check of each found */                  \
    X(VALIDATION, validation, fr_validation_answer)                                                \
    X(RECIPE_FIT, recipe_fit, fr_recipe_fit)                                                       \
    X(EXPLANATION, explanation, fr_explanation_answer)                                             \
    X(PIPELINES, pipelines, fr_pipelines_answer)                                                   \
    X(FIT, fit, fr_fit_answer)                                                                     \
    X(JOB, job, fr_job)                                                                            \
    X(DRAWING, drawing, fr_drawing_answer) /* no text, only files */

#define FR_KIND_ID(NAME, name, type) FR_KIND_##NAME,
enum fr_kind { FR_KIND_NONE, FR_KINDS(FR_KIND_ID) FR_N_KINDS };
#undef FR_KIND_ID

/* An answer that is to be shown, made by a function of its kind: fr_shown_sweep(&answer). */
struct fr_shown {
    enum fr_kind kind;
    const void *answer; /* must live as long */
};

/* For people, on lines of `width` characters where a table can be cut (0: any). FR_ENOMEM, and then
 * nothing is printed; FR_ENOENT: what the answer is asked to show does not exist. */
enum fr_status fr_show_text(FILE *f, struct fr_shown x, size_t width, struct fr_error *err);
/* Every value. Writing functions of streams do not report failures: look at ferror(f) in the end.
 * The kind must have JSON, as all but FR_KIND_CHECKED, FR_KIND_EXPLANATION, FR_KIND_PIPELINES and
 * FR_KIND_DRAWING have. */
void fr_show_json(FILE *f, struct fr_shown x);
/* Writes the file in the format that its ending names; it appears whole or not at all. FR_EUSAGE:
 * no such format of this kind, or it cannot show this answer; FR_EIO, also when gnuplot is not
 * installed; FR_ENOENT: nothing in it to draw; FR_ENOMEM; FR_ECANCELLED. ctx may be NULL. */
enum fr_status fr_show_file(struct fr_shown x, const char *path, const struct fr_context *ctx,
                            struct fr_error *err);

/* Asked before long work: FR_EUSAGE unless the kind has that ending, FR_EIO when the file cannot be
 * made. Leaves nothing there and touches no file that is. */
enum fr_status fr_kind_check_path(enum fr_kind k, const char *path, struct fr_error *err);
/* The i-th ending for help and a line about it; NULL past the end, and of FR_KIND_NONE. */
const char *fr_kind_ending(enum fr_kind k, size_t i, const char **summary);
/* Whether such a file is a page, which shows sensitivities: a question had better ask for them. */
bool fr_kind_is_page(enum fr_kind k, const char *path);

/* ---- an answer of each kind ---- */

#define FR_KIND_SHOWN(NAME, name, type)                                                            \
    struct type;                                                                                   \
    static inline struct fr_shown fr_shown_##name(const struct type *answer)                       \
    {                                                                                              \
        const struct fr_shown shown = {FR_KIND_##NAME, answer};                                    \
        return shown;                                                                              \
    }
FR_KINDS(FR_KIND_SHOWN)
#undef FR_KIND_SHOWN

#ifdef __cplusplus
}
#endif
#endif
