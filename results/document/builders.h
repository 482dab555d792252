/* results/document/builders.h - the kinds of answers that have a document, and their builders. */
#ifndef FR_RESULTS_DOCUMENT_BUILDERS_H
#define FR_RESULTS_DOCUMENT_BUILDERS_H

#include "results/document/document.h"
#include "results/explain.h"
#include "results/results.h"

/* Makes the document of *what, of the type that stands at the builder. FR_ENOMEM, and what the
 * builder says. */
typedef enum fr_status fr__build_fn(struct fr__document *doc, const void *what,
                                    struct fr_error *err);

fr__build_fn fr__document_of_results;          /* struct fr_results */
fr__build_fn fr__document_of_difference;       /* struct fr_difference_answer */
fr__build_fn fr__document_of_sweep;            /* struct fr_sweep_answer */
fr__build_fn fr__document_of_search;           /* struct fr_search_answer, n 0 or more */
fr__build_fn fr__document_of_curves;           /* struct fr_curves_answer */
fr__build_fn fr__document_of_comm_explanation; /* struct fr_comm_explanation */
fr__build_fn fr__document_of_learning;         /* struct fr_learning_answer */
fr__build_fn fr__document_of_stages;           /* struct fr_stage_plan */
fr__build_fn fr__document_of_schedules;        /* struct fr_schedules_answer, over time */
fr__build_fn fr__document_of_checked;          /* the same, what a check of each found */
fr__build_fn fr__document_of_validation;       /* struct fr_validation_answer */
fr__build_fn fr__document_of_recipe_fit;       /* struct fr_recipe_fit */
fr__build_fn fr__document_of_explanation;      /* struct fr_explanation_answer */
fr__build_fn fr__document_of_pipelines;        /* struct fr_pipelines_answer */
fr__build_fn fr__document_of_fit;              /* struct fr_fit_answer */
fr__build_fn fr__document_of_job;              /* struct fr_job */

/* A few lines about the job file that asked, above its answer; NULL: nothing. */
void fr__put_job(struct fr__document *doc, const struct fr_job *j);

#endif
