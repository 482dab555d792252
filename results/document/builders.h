/* results/document/builders.h - the kinds of answers that have a document, and their builders. */
#ifndef FR_RESULTS_DOCUMENT_BUILDERS_H
#define FR_RESULTS_DOCUMENT_BUILDERS_H

#include "results/comm_table.h"
#include "results/document/document.h"
#include "results/explain.h"
#include "results/results.h"
#include "results/schedules.h"
#include "results/search_answer.h"

/* Makes the document of *what, of the type that stands at the builder. FR_ENOMEM, and what the
 * builder says. */
typedef enum fr_status fr__build_fn(struct fr__document *doc, const void *what,
                                    struct fr_error *err);

fr__build_fn fr__document_of_results; /* struct fr_results */
fr__build_fn fr__document_of_stages;  /* struct fr_stage_plan */
fr__build_fn fr__document_of_story;   /* struct fr_comm_story */

struct fr__difference_answer {
    const struct fr_difference *difference;
    bool is_verbose;
};
fr__build_fn fr__document_of_difference;

struct fr__sweep_answer {
    const struct fr_sweep *sweep;
    const struct fr_sweep_summary *summary;
    const struct fr_sweep_table *wanted;
    fr_sweep_ask_fn *ask; /* NULL: nobody asks again */
};
fr__build_fn fr__document_of_sweep;

struct fr__search_answer {
    size_t n; /* clusters; 0: one search, as it is by itself */
    const struct fr_search_results *results;
};
fr__build_fn fr__document_of_search;   /* n 0 */
fr__build_fn fr__document_of_clusters; /* n > 0 */

struct fr__curves_answer {
    struct fr_comm_table *const *tables; /* [n] */
    size_t n;
    bool has_links;
};
fr__build_fn fr__document_of_curves;

struct fr__learning_answer {
    const struct fr_learning *learning;
    bool is_verbose;
};
fr__build_fn fr__document_of_learning;

struct fr__validation_answer {
    const struct fr_validation *validation;
    bool with_rows;
};
fr__build_fn fr__document_of_validation;

struct fr__schedules_answer {
    const struct fr_timed_schedule *schedules; /* [n] */
    size_t n;
};
fr__build_fn fr__document_of_schedules; /* over time, one below the other in one scale */
fr__build_fn fr__document_of_checked;   /* what a check of each found */

struct fr__explanation_answer {
    const struct fr_explanation *explanation;
    struct fr_explanation_view view;
};
fr__build_fn fr__document_of_explanation;

/* Pipelines side by side: an explanation and its schedule each. */
struct fr__pipelines_answer {
    const struct fr_explanation *const *explanations; /* [schedules.n] */
    struct fr__schedules_answer schedules;
};
fr__build_fn fr__document_of_pipelines;

#endif
