/* api/options/options.h - the options of all verbs: one table of rows, and what they set.
 *
 * It is separate from the verbs because words of a command line (api/verbs/parse.c) and members
 * of a request (api/call/request.c) become options by the same setters, with the same errors. Texts
 * are not copied: they must outlive the options.
 */
#ifndef FR_API_OPTIONS_OPTIONS_H
#define FR_API_OPTIONS_OPTIONS_H

#include "base/base.h"
#include "results/draw.h"
#include "results/results.h"
#include "study/comm/comm.h"
#include "jobfile/job.h"

/* Which options a verb takes: a sum of groups, of 64 bits. */
#define OPTIONS_COMMON (UINT64_C(1) << 0) /* help, version, quiet, verbose */
#define OPTIONS_SHAPE                                                                              \
    (UINT64_C(1) << 1) /* of a workload: batch, precision, sequence and image size */
#define OPTIONS_PROBLEM (UINT64_C(1) << 2) /* workload, cluster and strategy */
#define OPTIONS_RUN (UINT64_C(1) << 3)     /* how the engine runs a plan */
#define OPTIONS_FILES (UINT64_C(1) << 4)
#define OPTIONS_JSON (UINT64_C(1) << 5)
#define OPTIONS_LAYERS (UINT64_C(1) << 6)  /* of graph show */
#define OPTIONS_PICTURE (UINT64_C(1) << 7) /* the file of a drawing */
#define OPTIONS_OPS (UINT64_C(1) << 8)     /* which ops of a graph are drawn */
#define OPTIONS_ADVICE (UINT64_C(1) << 9)  /* of simulate */
#define OPTIONS_SWEEP (UINT64_C(1) << 10)  /* settings of the question make a grid */
#define OPTIONS_DEVICE (UINT64_C(1) << 11) /* a device and its GPU's names in data */
#define OPTIONS_ROWS (UINT64_C(1) << 12)   /* which rows of data */
#define OPTIONS_VALIDATE (UINT64_C(1) << 13)
#define OPTIONS_FITS (UINT64_C(1) << 14)    /* pictures of fit against data */
#define OPTIONS_EXPLAIN (UINT64_C(1) << 15) /* which ops are told of */
#define OPTIONS_COSTS (UINT64_C(1) << 16)   /* whence costs come */
#define OPTIONS_ANSWER (UINT64_C(1) << 17)  /* what else to find out in an answer */
#define OPTIONS_LEARN (UINT64_C(1) << 18)
#define OPTIONS_GPUS (UINT64_C(1) << 19) /* which GPUs of a cluster */
#define OPTIONS_SCHEDULE (UINT64_C(1) << 20)
#define OPTIONS_SCHEDULE_DRAW (UINT64_C(1) << 21)
#define OPTIONS_SCHEDULE_COMMS (UINT64_C(1) << 22)
#define OPTIONS_EXCHANGE (UINT64_C(1) << 23) /* files of a cluster */
#define OPTIONS_IMPORT (UINT64_C(1) << 24)   /* what a file of another tool leaves out */
#define OPTIONS_WHOLE (UINT64_C(1) << 25)    /* the whole training run */
#define OPTIONS_COMM (UINT64_C(1) << 26)     /* sizes of a collective, and how it goes */
#define OPTIONS_COMPARE (UINT64_C(1) << 27)  /* why strategies differ */
#define OPTIONS_DIFF (UINT64_C(1) << 28)     /* files of a difference */
#define OPTIONS_RANDOM (UINT64_C(1) << 29)   /* the file of a random graph */
#define OPTIONS_SEARCH (UINT64_C(1) << 30)   /* the space of a search */
#define OPTIONS_JOB (UINT64_C(1) << 31)      /* a job file that says what is asked */
#define OPTIONS_MANIFEST (UINT64_C(1) << 34) /* what an answer rests on */
#define OPTIONS_STRICT (UINT64_C(1) << 35)   /* warnings that must not pass unseen */
#define OPTIONS_SOFTWARE (UINT64_C(1) << 33) /* no software named means the usual one */
#define OPTIONS_JOB_READ (UINT64_C(1) << 32) /* how job files are read */

enum {
    FR__MOST_STRATEGIES = 64,
    FR__MOST_FILES = 16,
    FR__MOST_ARGUMENTS = 256,
    FR__MOST_GPUS = 16,
    FR__MOST_STAGES = 256,
    FR__MOST_SIZES = 4096,
    FR__MOST_WAYS = 16,
    FR__MOST_AXES = 32,
    FR__MOST_GIVEN = 256,
    FR__MOST_JOB_VALUES = 64
};

/* The values that a setting was given, in order. */
struct fr__variation {
    const char *name;
    const char *values[FR__MOST_FILES];
    size_t n;
    bool is_of_run; /* how plans are run, not what is asked */
};

/* The value of an option that takes one. */
struct fr__given {
    const char *name, *value;
};

struct fr__options {
    struct fr_question question;            /* but for the strategy */
    struct fr__given typed[FR__MOST_GIVEN]; /* every option, in order; value NULL: it takes none */
    size_t n_typed;
    const char *manifest;          /* NULL: none */
    struct fr__arena *asked_again; /* of the options that came from it; NULL: none did */
    const char *promised;          /* digest of the answer, which the manifest says; likewise */
    bool strict;
    bool takes_several; /* compare only: settings may have several values, which are noted: */
    struct fr__variation variations[FR_N_SETTINGS];
    size_t n_variations;
    struct fr__given given[FR__MOST_GIVEN]; /* by options that take one value */
    size_t n_given;
    const char *strategies[FR__MOST_STRATEGIES];
    const char *files[FR__MOST_FILES];
    const char *arguments[FR__MOST_ARGUMENTS];
    size_t n_strategies, n_files, n_arguments;
    const char *gpu_type; /* of topo import; NULL: what the file says */
    struct fr_draw_graph_options drawing;
    bool json, layers, no_advice, quiet, verbose, help, version;
    bool grey; /* pictures */
    struct fr_trace_options trace;
    struct fr_sweep_terms terms; /* of the whole training run */
    /* sweeps only */
    struct fr_sweep *sweep; /* gets the settings instead of the question; else NULL */
    struct fr_sweep_table table;
    double memory_bytes; /* --memory-limit; 0: what is free, INFINITY: none */
    const char *store;
    unsigned n_jobs;
    bool dry_run;
    /* explain only */
    size_t most_ops; /* 0: all */
    const char *op;  /* NULL: all */
    /* calibrate only */
    const char *gpus[FR__MOST_GPUS]; /* names in data */
    const char *device;              /* NULL: not given */
    const char *from;                /* a measured device in its place; NULL: not given */
    const char *system;              /* whose collectives; NULL: not given */
    const char *rows_of;             /* a system in data; NULL: the one that was fitted */
    uint64_t min_bytes;              /* of collectives */
    size_t n_gpus;
    bool all;      /* sweeps too */
    bool anchored; /* validate only */
    struct fr_learn_options learning;
    /* schedule only */
    struct fr_schedule_spec schedule; /* but for the name */
    struct fr_schedule_times times;
    bool has_times, is_one_model, has_comms;
    double stage_scale[FR__MOST_STAGES];
    size_t n_stage_scale; /* 0: not given */
    /* comm only; 0: not given */
    uint64_t comm_min_bytes, comm_max_bytes, comm_step_bytes;
    uint32_t comm_factor;
    uint64_t comm_sizes[FR__MOST_SIZES];
    size_t n_comm_sizes;
    const struct fr_comm_type *comm_type; /* NULL: float */
    const char *comm_op;                  /* NULL: sum */
    const char *comm_ways[FR__MOST_WAYS]; /* algorithms by hand; NULL: as for none */
    size_t n_comm_ways;
    char comm_way_text[1024]; /* their names, one after the other */
    size_t n_comm_way_text;
    bool comm_links, comm_explain;
    /* search only */
    const char *axes[FR__MOST_AXES]; /* of its space: "tp=4,8" */
    size_t n_axes, n_best;
    const char *why_layout; /* "tp=8,pp=16": what became of such layouts; NULL */
    double within_frac;
    bool exhaustive;
    enum fr_framework flags_of; /* FR_N_FRAMEWORKS: none */
    bool why;                   /* compare only: why the others take longer than the first */
    /* a job file that says what is asked */
    const char *job_files[FR__MOST_FILES], *job_values[FR__MOST_JOB_VALUES];
    size_t n_job_files, n_job_values;
    bool lenient;
    struct fr_job *job; /* read by fr__options_ask_job(); NULL: none */
};

/* ---- command.c ---- */

/* argv quoted for a shell, its first word as "forerun"; the caller frees it. NULL: out of
 * memory. */
char *fr__command_line(int argc, char *const argv[]);

/* ---- overwrite.c ---- */

/* Refuses outputs that are inputs too; words: all values of options and arguments, which options
 * point into. */
enum fr_status fr__check_overwrite(const struct fr__options *o, int n, char *const words[],
                                   struct fr_error *err);

/* ---- options.c ---- */

/* The defaults; groups: of the verb. FR_ENOMEM. */
enum fr_status fr__options_init(struct fr__options *o, uint64_t groups, struct fr_error *err);
void fr__options_fini(struct fr__options *o);

/* An option of the table. */
struct fr__option {
    char letter; /* 0: none */
    const char *name, *argument, *help;
    size_t which; /* its row */
    /* what holds if it is not given; NULL: the help says it, or it is a setting's
     * (fr_question_text) */
    const char *fallback;
    bool is_setting; /* of the question (fr_question_setting) by its name */
    bool adds_up;    /* may be given several times */
};
/* Sets the option of that row; value: NULL for one that takes none. Errors name the option. */
enum fr_status fr__options_set(struct fr__options *o, size_t which, const char *value,
                               struct fr_error *err);
/* The options of a verb's groups, one after the other: *at starts at 0. false: no more. */
bool fr__options_next(uint64_t groups, size_t *at, struct fr__option *out);

/* What a verb's groups call by that name, or, without one, by that letter. false: nothing. */
bool fr__options_find(uint64_t groups, const char *name, size_t length, char letter,
                      struct fr__option *out);
/* FR_EUSAGE for a name, or letter, that is no option here: which one is meant, or where it would be
 * one. verb: "topo show", for that. */
enum fr_status fr__options_unknown(uint64_t groups, const char *verb, const char *name,
                                   size_t length, char letter, struct fr_error *err);

/* What o's question is to find out about sensitivities: its files may show them. */
enum fr_sensitivity fr__options_sensitivity(const struct fr__options *o);

/* ---- the other files: setters of single options ---- */

enum fr_status fr__set_rounds(struct fr__options *o, const char *value, struct fr_error *err);
enum fr_status fr__set_measured(struct fr__options *o, const char *value, struct fr_error *err);
enum fr_status fr__set_profiles(struct fr__options *o, const char *value, struct fr_error *err);
enum fr_status fr__set_every(struct fr__options *o, const char *value, struct fr_error *err);
/* api/options/answer.c */
/* Keeps the value of a setting: compare asks for each that it is given. */
enum fr_status fr__options_note(struct fr__options *o, const char *name, const char *value,
                                bool is_of_run, struct fr_error *err);
enum fr_status fr__set_manifest(struct fr__options *o, const char *value, struct fr_error *err);
enum fr_status fr__set_seeds(struct fr__options *o, const char *value, struct fr_error *err);
enum fr_status fr__set_sensitivity(struct fr__options *o, const char *value, struct fr_error *err);
enum fr_status fr__set_uncertainty(struct fr__options *o, const char *value, struct fr_error *err);
enum fr_status fr__set_why_uncertain(struct fr__options *o, const char *value,
                                     struct fr_error *err);
enum fr_status fr__set_sensitivity_rerun(struct fr__options *o, const char *value,
                                         struct fr_error *err);
enum fr_status fr__set_trace_ranks(struct fr__options *o, const char *value, struct fr_error *err);
enum fr_status fr__set_trace_micro(struct fr__options *o, const char *value, struct fr_error *err);
enum fr_status fr__set_memory_limit(struct fr__options *o, const char *value, struct fr_error *err);
/* api/options/sweep.c */
enum fr_status fr__set_store(struct fr__options *o, const char *value, struct fr_error *err);
enum fr_status fr__add_prices(struct fr__options *o, const char *value, struct fr_error *err);
enum fr_status fr__set_samples(struct fr__options *o, const char *value, struct fr_error *err);
enum fr_status fr__set_tokens(struct fr__options *o, const char *value, struct fr_error *err);
enum fr_status fr__set_deadline(struct fr__options *o, const char *value, struct fr_error *err);
enum fr_status fr__set_jobs(struct fr__options *o, const char *value, struct fr_error *err);
enum fr_status fr__add_columns(struct fr__options *o, const char *value, struct fr_error *err);
enum fr_status fr__set_shard(struct fr__options *o, const char *value, struct fr_error *err);
/* api/options/search.c */
enum fr_status fr__set_top(struct fr__options *o, const char *value, struct fr_error *err);
enum fr_status fr__set_within(struct fr__options *o, const char *value, struct fr_error *err);
enum fr_status fr__add_axis(struct fr__options *o, const char *value, struct fr_error *err);
enum fr_status fr__set_why_layout(struct fr__options *o, const char *value, struct fr_error *err);
enum fr_status fr__set_exhaustive(struct fr__options *o, const char *value, struct fr_error *err);
enum fr_status fr__set_flags_of(struct fr__options *o, const char *value, struct fr_error *err);
/* api/options/device.c */
enum fr_status fr__add_gpu(struct fr__options *o, const char *value, struct fr_error *err);
enum fr_status fr__set_system(struct fr__options *o, const char *value, struct fr_error *err);
enum fr_status fr__set_rows_of(struct fr__options *o, const char *value, struct fr_error *err);
enum fr_status fr__set_min_bytes(struct fr__options *o, const char *value, struct fr_error *err);
enum fr_status fr__set_from(struct fr__options *o, const char *value, struct fr_error *err);
enum fr_status fr__set_device(struct fr__options *o, const char *value, struct fr_error *err);
/* api/options/job.c */
enum fr_status fr__add_job(struct fr__options *o, const char *value, struct fr_error *err);
enum fr_status fr__add_job_value(struct fr__options *o, const char *value, struct fr_error *err);
enum fr_status fr__set_lenient(struct fr__options *o, const char *value, struct fr_error *err);
/* Reads the job files, if there are any, and gives the question the settings that they ask for and
 * that were not given. asks_strategy: else the caller chooses it. Errors as fr_job_read and
 * fr_job_ask. */
enum fr_status fr__options_ask_job(struct fr__options *o, bool asks_strategy, struct fr_error *err);
/* api/options/comm.c */
enum fr_status fr__set_comm_min(struct fr__options *o, const char *value, struct fr_error *err);
enum fr_status fr__set_comm_max(struct fr__options *o, const char *value, struct fr_error *err);
enum fr_status fr__set_comm_factor(struct fr__options *o, const char *value, struct fr_error *err);
enum fr_status fr__set_comm_step(struct fr__options *o, const char *value, struct fr_error *err);
enum fr_status fr__add_comm_sizes(struct fr__options *o, const char *value, struct fr_error *err);
enum fr_status fr__set_comm_type(struct fr__options *o, const char *value, struct fr_error *err);
enum fr_status fr__set_comm_op(struct fr__options *o, const char *value, struct fr_error *err);
enum fr_status fr__set_comm_links(struct fr__options *o, const char *value, struct fr_error *err);
enum fr_status fr__set_comm_explain(struct fr__options *o, const char *value, struct fr_error *err);
enum fr_status fr__add_comm_way(struct fr__options *o, const char *value, struct fr_error *err);
/* A reduction by its name, else a file to write. */
enum fr_status fr__add_comm_output(struct fr__options *o, const char *value, struct fr_error *err);
enum fr_status fr__set_eps(struct fr__options *o, const char *value, struct fr_error *err);
enum fr_status fr__set_activation(struct fr__options *o, const char *value, struct fr_error *err);
enum fr_status fr__set_drift(struct fr__options *o, const char *value, struct fr_error *err);
enum fr_status fr__set_ranks(struct fr__options *o, const char *value, struct fr_error *err);
enum fr_status fr__set_virtual(struct fr__options *o, const char *value, struct fr_error *err);
enum fr_status fr__set_micros(struct fr__options *o, const char *value, struct fr_error *err);
enum fr_status fr__set_group(struct fr__options *o, const char *value, struct fr_error *err);
enum fr_status fr__set_backward(struct fr__options *o, const char *value, struct fr_error *err);
enum fr_status fr__set_vertical_sync(struct fr__options *o, const char *value,
                                     struct fr_error *err);
enum fr_status fr__set_times(struct fr__options *o, const char *value, struct fr_error *err);
enum fr_status fr__set_comms(struct fr__options *o, const char *value, struct fr_error *err);
enum fr_status fr__set_one_model(struct fr__options *o, const char *value, struct fr_error *err);
enum fr_status fr__set_stage_scale(struct fr__options *o, const char *value, struct fr_error *err);

#endif
