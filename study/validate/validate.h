/* study/validate/validate.h - predictions compared with measurements: rows of questions with what
 * was measured.
 *
 * A row of the file is a command line (workload, topology, gpus, strategy, global_batch, precision
 * and further options as one types them) with the iteration time and peak memory that somebody
 * measured. A row that cannot be predicted is kept, with the reason.
 */
#ifndef FORERUN_VALIDATE_H
#define FORERUN_VALIDATE_H

#include "study/study.h"

#ifdef __cplusplus
extern "C" {
#endif

struct fr_validation_row {
    const char *id, *workload, *topology, *strategy, *precision, *options, *notes;
    uint64_t gpus, global_batch;
    double measured_s, measured_bytes; /* bytes 0: not measured */
    const char *why_not;               /* NULL: predicted */
    const char *device;                /* type of the first GPU; "" when not predicted */
    double predicted_s, error;         /* signed, relative; NAN when not predicted */
    double low_s, high_s;              /* 90 % of measured steps lie inside; NAN when not claimed */
    double half_low_s, half_high_s;    /* 50 % */
    double cost_error;                 /* struct fr_record_interval */
    const char *interval_class;        /* the same; "" when not claimed; a constant */
    double predicted_bytes, memory_error; /* of the fullest GPU; NAN when not known */
};

/* Relative errors |predicted / measured - 1| of n rows; bias: the median of the signed ones. */
struct fr_validation_errors {
    uint64_t n;
    double median, mean, p90, worst, bias;
};

enum fr_validation_by {
    FR_BY_ALL,
    FR_BY_WORKLOAD,
    FR_BY_DEVICE,
    FR_BY_STRATEGY,
    FR_BY_SOURCE,
    FR_N_BYS
};
const char *fr_validation_by_name(enum fr_validation_by by); /* "workload" */

struct fr_validation_group {
    enum fr_validation_by by;
    const char *name;
    struct fr_validation_errors errors;
};

/* Rows that differ only in the batch make a straight line: step = per step + per sample x batch of
 * a GPU. Least squares over n rows of the measured times, and of the predicted ones. Seconds. */
struct fr_validation_line {
    const char *software, *workload, *precision, *topology, *options, *notes; /* as in the rows */
    uint64_t gpus, n;
    double least_batch, most_batch; /* of a GPU */
    double measured_per_sample_s, predicted_per_sample_s;
    double measured_per_step_s, predicted_per_step_s;
    /* Standard error of the measured step's part, if each time is 0.7 % off: repeats of one and the
     * same run on one cluster scatter by 0.2 to 1.5 % (Oneflow-Inc/DLPerf, READMEs). */
    double noise_s;
};

enum fr_validation_change_of { FR_CHANGE_GPUS, FR_CHANGE_PRECISION, FR_N_CHANGES };
const char *fr_validation_change_name(enum fr_validation_change_of of); /* "gpus" */

/* Pairs of rows that differ only in the number of GPUs, with the same batch of each, or only in the
 * precision. Medians over n pairs, of different batches. */
struct fr_validation_change {
    enum fr_validation_change_of of;
    const char *software, *workload, *precision, *options; /* precision: "" where it changes */
    const char *strategy;                                  /* of more GPUs; "" of precisions */
    const char *from, *to;                                 /* "8", "16"; "fp32", "amp" */
    uint64_t n;
    double measured_added_s, predicted_added_s; /* what a step takes more in the second row */
    double measured_ratio, predicted_ratio;     /* second over first */
};

/* Medians over the lines, and over the changes of the number of GPUs, of one software; NAN:
 * none. */
struct fr_validation_software {
    const char *software;
    uint64_t n_lines, n_changes;
    double per_sample_error;     /* predicted / measured - 1 */
    double per_step_missing_s;   /* measured - predicted */
    double per_change_missing_s; /* the same of what GPUs add */
};

struct fr_validation {
    size_t n_rows, n_predicted, n_groups;
    const struct fr_validation_row *rows;     /* as in the file */
    const struct fr_validation_group *groups; /* all first; of each kind by name */
    struct fr_validation_errors memory;
    /* Kendall's tau of predicted against measured times over pairs of rows that differ in
     * nothing but strategy, time and id; NAN: no such pair. */
    double tau;
    uint64_t n_tau_pairs;
    /* Median of |predicted / measured - 1| of the speed-up of N GPUs over 1, of the same workload,
     * topology, batch per GPU, precision, options and source; NAN: none. */
    double scaling_median;
    uint64_t n_scaling;
    /* Rows with a range of their time; of these the ones measured inside the range that 90 %, and
     * that 50 %, are claimed to lie in. */
    uint64_t n_ranges, n_in_90, n_in_50;
    /* What of a step is off: by software, workload, precision, number of GPUs. A row's software is
     * what `notes` say before a '|', or else its recipe, or else its source. */
    size_t n_lines, n_changes, n_software;
    const struct fr_validation_line *lines;
    const struct fr_validation_change *changes;
    const struct fr_validation_software *software;
    void *priv;
};

/* How all rows of a table are predicted. */
struct fr_validate_options {
    const char *costs;      /* as in struct fr_question */
    bool allow_implausible; /* likewise */
    bool is_anchored;       /* see fr_validate */
    const char *recipe;     /* of rows that name none; NULL: none */
};

/* Reads the file and predicts all rows on n_threads threads (0: one a processor); the answers do
 * not depend on their number. FR_EPARSE, FR_ERANGE with the place; FR_ENOENT, FR_EIO, FR_ENOMEM,
 * FR_ECANCELLED. The caller frees.
 *
 * Anchored, it predicts the rows of several GPUs that have a row of one GPU: of the same source,
 * workload, machine, precision, options, notes and batch a GPU. Each is predicted with that row's
 * time as the measured step of its question. The other rows are kept, with the reason why they are
 * not. */
enum fr_status fr_validate(struct fr_validation **out, const char *path,
                           const struct fr_validate_options *how, unsigned n_threads,
                           const struct fr_context *ctx, struct fr_error *err);
void fr_validation_free(struct fr_validation *v);

#ifdef __cplusplus
}
#endif
#endif
