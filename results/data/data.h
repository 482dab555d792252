/* results/data/data.h - answers for programs: JSON, CSV, traces.
 *
 * Their failures show as ferror(f), unless they return a status.
 */
#ifndef FR_RESULTS_DATA_DATA_H
#define FR_RESULTS_DATA_DATA_H

#include "base/json.h"
#include "results/fits.h"
#include "results/results.h"

/* An answer of the type that stands at the function. */
typedef void fr__print_fn(FILE *f, const void *answer);
/* The same in the format that the ending names. ctx may be NULL. */
typedef enum fr_status fr__write_fn(FILE *f, const void *answer, const char *ending,
                                    const struct fr_context *ctx, struct fr_error *err);

/* ---- JSON: every value ---- */

fr__print_fn fr__results_json;          /* struct fr_results */
fr__print_fn fr__fit_json;              /* struct fr_fit_answer */
fr__print_fn fr__job_json;              /* struct fr_job */
fr__print_fn fr__difference_json;       /* struct fr_difference_answer */
fr__print_fn fr__sweep_json;            /* struct fr_sweep_answer, whose rows have records */
fr__print_fn fr__search_json;           /* struct fr_search_answer */
fr__print_fn fr__curves_json;           /* struct fr_curves_answer */
fr__print_fn fr__comm_explanation_json; /* struct fr_comm_explanation */
fr__print_fn fr__learning_json;         /* struct fr_learning_answer */
fr__print_fn fr__stages_json;           /* struct fr_stage_plan */
/* struct fr_schedules_answer: an object each, in an array unless there is one */
fr__print_fn fr__schedules_json;
fr__print_fn fr__validation_json; /* struct fr_validation_answer */
fr__print_fn fr__recipe_fit_json; /* struct fr_recipe_fit */

/* A difference into an array or to the top of j. */
void fr__difference_write_json(struct fr__json *j, const struct fr_difference *d);

/* ---- CSV: a line of column names, and a line for each row ---- */

fr__print_fn fr__results_csv;    /* a record a row */
fr__print_fn fr__sweep_csv;      /* the rows that the sweep has */
fr__print_fn fr__search_csv;     /* every layout with what became of it; of several clusters their
                                    topology and GPUs come first */
fr__print_fn fr__curves_csv;     /* a size a row */
fr__print_fn fr__learning_csv;   /* a round a row */
fr__print_fn fr__validation_csv; /* the rows with their predictions */

/* ---- other programs' formats ---- */

fr__print_fn fr__recipe_fit_yaml; /* struct fr_recipe_fit: the recipe for --recipe */
/* The timeline of the first record for ui.perfetto.dev. FR_EUSAGE: it has no plan or run; what
 * fr__trace_choose says; FR_ECANCELLED, FR_ENOMEM. */
fr__write_fn fr__results_trace;
/* The first record's stages as PipeDream's profile with a stage_id a layer. FR_EUSAGE: its strategy
 * has none. */
fr__write_fn fr__results_profile;
fr__print_fn fr__stages_profile; /* the same of struct fr_stage_plan */

/* ---- rows that fitted curves are judged on ---- */

/* A line of column names, and a line for each row that is judged. FR_EIO; else as
 * fr_calibration_check. */
enum fr_status fr__fits_write_csv(const struct fr_fits *f, const char *path, struct fr_error *err);
/* The same of a system's collectives and messages. Errors as fr_system_visit; FR_EIO. */
enum fr_status fr__system_fits_write_csv(const struct fr_system_fits *f, const char *path,
                                         struct fr_error *err);

/* ---- jobs ---- */

/* A record as a member of an object that is open, without a job. */
void fr__record_write_json(struct fr__json *j, const char *key, const struct fr_record *r,
                           const struct fr_sweep_terms *terms);
/* The layouts that a search ran op by op, fastest first, as an array. */
void fr__search_write_ranked(struct fr__json *j, const char *key,
                             const struct fr_search_results *r);
/* A member "job" of an object that is open; NULL: nothing. */
void fr__job_write_json(struct fr__json *j, const struct fr_job *job);
#endif
