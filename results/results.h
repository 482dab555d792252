/* results/results.h - writes what study/ found: tables, JSON, CSV, traces, pictures.
 *
 * A format is a row of a table (results/records.c, results/kinds.c); a file's ending chooses it.
 */
#ifndef FORERUN_RESULTS_H
#define FORERUN_RESULTS_H

#include "base/base.h"
#include "study/difference/difference.h"
#include "study/answer/learn.h"
#include "lowering/stage_plan.h"
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
    size_t width; /* of a line of text: wider tables of several records are cut; 0: any */
    /* [n_differences] of a comparison: why records are slower than others; NULL: nobody asks */
    const struct fr_difference *const *differences;
    size_t n_differences;
    const struct fr_trace_options *trace; /* NULL: as zeroed */
    bool is_verbose;                      /* tables of devices, links and the critical path, too */
};

/* Writing functions of streams do not report failures: look at ferror(f) in the end. */
void fr_results_print_json(FILE *f, const struct fr_results *rs);
/* The object that JSON files hold for a record, on one line with its end. */
void fr_record_print_json(FILE *f, const struct fr_record *r);
/* For people, as all functions below that return a status: FR_ENOMEM, and then nothing is
 * printed. */
enum fr_status fr_results_print_table(FILE *f, const struct fr_results *rs, struct fr_error *err);

/* Writes the file in the format that its ending names; it appears whole or not at all. FR_EUSAGE:
 * no such format, or not for this kind of results; FR_EIO, also when gnuplot is not installed;
 * FR_ECANCELLED. ctx may be NULL. */
enum fr_status fr_results_write(const struct fr_results *rs, const char *path,
                                const struct fr_context *ctx, struct fr_error *err);
/* Asked before long work: FR_EUSAGE unless fr_results_write knows the ending, FR_EIO when the file
 * cannot be made. Leaves nothing there and touches no file that is. */
enum fr_status fr_results_check_path(const char *path, bool is_comparison, struct fr_error *err);
/* Whether the format of that path shows sensitivities, so that a question had better ask for
 * them. */
bool fr_results_shows_sensitivity(const char *path);
/* The formats for help: ending and one line about each; NULL past the end. */
const char *fr_results_format(size_t i, const char **summary);

/* How many micro-batches, and of how many, such a file shows. FR_ENOENT, FR_EPARSE, FR_ERANGE of
 * the ranks; FR_ENOMEM. */
enum fr_status fr_trace_extent(const struct fr_record *r, const struct fr_trace_options *o,
                               uint32_t *micro_batches, uint32_t *of, struct fr_error *err);

/* ---- differences ---- */

/* For people: the parts, then each list of pieces with the largest changes first. The numbers add
 * up as they are printed. is_verbose: all pieces. */
enum fr_status fr_difference_print(FILE *f, const struct fr_difference *d, bool is_verbose,
                                   struct fr_error *err);
void fr_difference_print_json(FILE *f, const struct fr_difference *d);
/* By the file's ending: .png, .svg and .pdf draw the two timelines to one scale, .html is a report
 * with both, .json what fr_difference_print_json prints. FR_EUSAGE: unknown ending; FR_EIO, also
 * without gnuplot; FR_ECANCELLED. */
enum fr_status fr_difference_write(const struct fr_difference *d, const char *path,
                                   const struct fr_context *ctx, struct fr_error *err);
/* Before long work: FR_EUSAGE, FR_EIO. */
enum fr_status fr_difference_check_path(const char *path, struct fr_error *err);
/* The formats for help, as fr_results_format. */
const char *fr_difference_format(size_t i, const char **summary);

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
    size_t width;  /* of a line: wider tables go on below; 0: any */
    enum fr_sweep_column columns[FR_SWEEP_MAX_COLUMNS];
    size_t n_columns; /* 0: those that the rows fill */
};
/* "mfu,tokens": adds columns by name. FR_EUSAGE. */
enum fr_status fr_sweep_table_columns(struct fr_sweep_table *t, const char *list,
                                      struct fr_error *err);
const char *fr_sweep_column_name(size_t i); /* NULL past the end */

/* For people. Look at ferror(f) in the end. */
enum fr_status fr_sweep_print_table(FILE *f, const struct fr_sweep *s,
                                    const struct fr_sweep_summary *m,
                                    const struct fr_sweep_table *wanted, struct fr_error *err);
/* {"results": [...], "summary": {...}}; wants rows with records. */
void fr_sweep_print_json(FILE *f, const struct fr_sweep *s, const struct fr_sweep_summary *m);
/* By the ending: .csv, .json, .html, .md (as wanted), .png, .svg, .pdf; as fr_results_write and
 * fr_results_check_path. ask: gives the runs that a report draws, as fr_sweep_ask does; NULL: it
 * draws none. */
enum fr_status fr_sweep_write(const char *path, const struct fr_sweep *s,
                              const struct fr_sweep_summary *m, const struct fr_sweep_table *wanted,
                              fr_sweep_ask_fn *ask, const struct fr_context *ctx,
                              struct fr_error *err);
enum fr_status fr_sweep_check_path(const char *path, struct fr_error *err);
/* For help: ending and one line about each; NULL past the end. */
const char *fr_sweep_format(size_t i, const char **summary);

/* ---- validations ---- */

/* Tables of errors and of reasons, after one of all rows if wanted. */
enum fr_status fr_validation_print(FILE *f, const struct fr_validation *v, bool with_rows,
                                   struct fr_error *err);
void fr_validation_print_json(FILE *f, const struct fr_validation *v);
/* By the ending: .csv has the rows with predictions; .md and .html what fr_validation_print prints;
 * .png, .svg and .pdf draw measured against predicted. FR_EUSAGE; FR_ENOENT: no row is predicted;
 * FR_EIO: also without gnuplot; FR_ECANCELLED. Check before long work. */
enum fr_status fr_validation_check_path(const char *path, struct fr_error *err);
const char *fr_validation_format(size_t i, const char **summary); /* for help */
enum fr_status fr_validation_write(const struct fr_validation *v, bool with_rows, const char *path,
                                   const struct fr_context *ctx, struct fr_error *err);

/* ---- learning of costs ---- */

/* A row for each round, and what came of it; for people. */
enum fr_status fr_learning_print(FILE *f, const struct fr_learning *l, bool is_verbose,
                                 struct fr_error *err);
void fr_learning_print_json(FILE *f, const struct fr_learning *l);
/* By the file's ending: .png, .svg and .pdf draw estimated and measured times by round with the
 * ways back marked; .csv has the rounds, .json what fr_learning_print_json prints. FR_EUSAGE:
 * unknown ending; FR_EIO. */
enum fr_status fr_learning_write(const struct fr_learning *l, const char *path,
                                 const struct fr_context *ctx, struct fr_error *err);
/* The formats for help, as fr_results_format. */
const char *fr_learning_format(size_t i, const char **summary);
/* FR_EUSAGE before long work. */
enum fr_status fr_learning_check_path(const char *path, struct fr_error *err);

/* ---- stages without a topology ---- */

enum fr_status fr_stages_print(FILE *f, const struct fr_stage_plan *p, struct fr_error *err);
void fr_stages_print_json(FILE *f, const struct fr_stage_plan *p);
/* By the ending: .txt (a PipeDream profile with stage_id), .json or .md; as fr_results_write and
 * fr_results_check_path. */
enum fr_status fr_stages_write(const struct fr_stage_plan *p, const char *path,
                               const struct fr_context *ctx, struct fr_error *err);
enum fr_status fr_stages_check_path(const char *path, struct fr_error *err);

#ifdef __cplusplus
}
#endif
#endif
