/* results/results.h - the answers that can be shown (results/show.h), a type a kind.
 *
 * Each says what of the answer is wanted; a kind not here is of a type of study/.
 */
#ifndef FORERUN_RESULTS_H
#define FORERUN_RESULTS_H

#include "base/base.h"
#include "lowering/schedules/schedule.h"
#include "lowering/stage_plan.h"
#include "results/show.h"
#include "study/answer/learn.h"
#include "study/comm/comm.h"
#include "study/difference/difference.h"
#include "jobfile/job.h"
#include "study/layouts/search.h"
#include "study/study.h"
#include "study/sweep/sweep.h"
#include "study/validate/validate.h"

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- answers ---- */

/* What .trace.json files show; zeroed, everything that FR_TRACE_TASKS allows. */
struct fr_trace_options {
    const char *ranks;      /* "0,4", "n0.gpu0..3": numbers or names of devices; NULL: all */
    uint32_t micro_batches; /* the first so many; 0: as many as make FR_TRACE_TASKS tasks */
};
enum { FR_TRACE_TASKS = 50000 };

struct fr_results {
    const struct fr_record *const *records; /* [n] */
    size_t n;
    bool is_comparison; /* several strategies, even if one is left: {"results": [...]} */
    const struct fr_sweep_terms *terms; /* of the whole training run, or NULL: nobody asks */
    /* [n_differences] of a comparison: why records are slower than others; NULL: nobody asks */
    const struct fr_difference *const *differences;
    size_t n_differences;
    const struct fr_trace_options *trace; /* NULL: as zeroed */
    const struct fr_job *job;             /* the job file that asked, of one record; NULL: none */
    bool is_verbose;                      /* tables of devices, links and the critical path, too */
};

/* The object that JSON files hold for a record, on one line with its end. */
void fr_record_print_json(FILE *f, const struct fr_record *r);

/* How many micro-batches, and of how many, such a file shows. FR_ENOENT, FR_EPARSE, FR_ERANGE of
 * the ranks; FR_ENOMEM. */
enum fr_status fr_trace_extent(const struct fr_record *r, const struct fr_trace_options *o,
                               uint32_t *micro_batches, uint32_t *of, struct fr_error *err);

/* ---- differences ---- */

/* The parts, then each list of pieces with the largest changes first. The numbers add up as they
 * are printed. */
struct fr_difference_answer {
    const struct fr_difference *difference;
    bool is_verbose; /* all pieces */
};

/* ---- sweeps ---- */

/* Columns about what came of a point, in the order of a table that nobody chose. */
enum fr_sweep_column {
    FR_SWEEP_GPUS,
    FR_SWEEP_ITERATION,      /* of several seeds their mean */
    FR_SWEEP_STANDARD_ERROR, /* of that mean; these three of several seeds */
    FR_SWEEP_MIN,
    FR_SWEEP_MAX,
    FR_SWEEP_RANGE, /* 90 % of measured steps lie inside */
    FR_SWEEP_SAMPLES,
    FR_SWEEP_TOKENS,
    FR_SWEEP_TOKENS_PER_GPU,
    FR_SWEEP_TFLOPS, /* of the model, a GPU */
    FR_SWEEP_MFU,
    FR_SWEEP_HFU,
    FR_SWEEP_EFFICIENCY, /* struct fr_sweep_summary's scaling */
    FR_SWEEP_COMPUTE,
    FR_SWEEP_EXPOSED,
    FR_SWEEP_BUBBLE,
    FR_SWEEP_MEMORY,
    FR_SWEEP_TIME, /* of the whole run */
    FR_SWEEP_COST, /* without prices GPU hours */
    FR_N_SWEEP_COLUMNS
};
enum { FR_SWEEP_MAX_COLUMNS = 17 };

/* How a sweep is printed; zeroed, with the columns that its rows fill. */
struct fr_sweep_table {
    bool all_rows; /* each point, too */
    enum fr_sweep_column columns[FR_SWEEP_MAX_COLUMNS];
    size_t n_columns; /* 0: those that the rows fill */
};
/* "mfu,tokens": adds columns by name. FR_EUSAGE. */
enum fr_status fr_sweep_table_columns(struct fr_sweep_table *t, const char *list,
                                      struct fr_error *err);
const char *fr_sweep_column_name(size_t i); /* NULL past the end */

/* A row needs its record for JSON and pages. */
struct fr_sweep_answer {
    const struct fr_sweep *sweep;
    const struct fr_sweep_summary *summary;
    const struct fr_sweep_table *wanted;
    fr_sweep_ask_fn *ask; /* gives the runs that a page draws, as fr_sweep_ask does; NULL: none */
};

/* ---- searches ---- */

/* A job on a cluster, and what it could be. */
struct fr_search_results;
struct fr_fit_answer {
    const struct fr_results *results; /* of one record, with its job; of none if refused */
    bool is_narrow;      /* of those near it, only some were looked at, the plan being large */
    const char *refused; /* why the job's own layout cannot be planned on these GPUs; NULL */
    const struct fr_search_results *near; /* layouts near the job's */
    enum fr_framework flags_of;           /* FR_N_FRAMEWORKS: no words of its own */
};

/* A search, and how its answer is to be shown. */
struct fr_search_results {
    const struct fr_search *search;
    size_t n_shown;                     /* rows of the table */
    const struct fr_sweep_terms *terms; /* prices, and the whole run */
    bool is_exhaustive;
    bool is_interrupted; /* the search was: what it has is the best so far */
    const char *why; /* what became of layouts with these values is printed, too; NULL: of none */
    const struct fr_job *job; /* the job file that asked; NULL: none */
};

/* The best layouts with both times, what became of the others, and how sure the best is; of several
 * clusters the best of each, and what no layout of any beats in time, memory and price. */
struct fr_search_answer {
    size_t n; /* clusters; 0: one search, as it is by itself */
    const struct fr_search_results *results;
};

/* ---- collectives ---- */

/* A collective over a range of sizes. Several tables are of one question by several algorithms; one
 * by models stands alone. */
struct fr_curves_answer {
    struct fr_comm_table *const *tables; /* [n] */
    size_t n;
    bool has_links; /* with the busiest link of each size */
};

/* ---- pipeline schedules ---- */

struct fr_timed_schedule {
    const struct fr_schedule *schedule; /* whoever made it frees it */
    struct fr_replay replay;
    const char *unit; /* of its times; NULL: none */
};
/* Over time, a line a rank, one below the other in one scale; or what a check of each found. */
struct fr_schedules_answer {
    const struct fr_timed_schedule *schedules; /* [n] */
    size_t n;
};
/* CSV, a row each: makespan, spans, bubble, and by rank what it holds (parts separated by ';'). */
void fr_schedules_print_summary(FILE *f, const struct fr_timed_schedule all[], size_t n);

/* ---- validations ---- */

/* Tables of errors and of reasons, after one of all rows if wanted. */
struct fr_validation_answer {
    const struct fr_validation *validation;
    bool with_rows;
};

/* ---- learning of costs ---- */

/* A row for each round, and what came of it. */
struct fr_learning_answer {
    const struct fr_learning *learning;
    bool is_verbose;
};

#ifdef __cplusplus
}
#endif
#endif
