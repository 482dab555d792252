/* jobfile/job.h - what a launch script or a configuration of a training framework asks for.
 *
 * Reading and asking are apart. A job is read into *facts*, in words that all frameworks share (tp,
 * micro_batch, precision, layers, ...), whatever of them can be asked here. fr_job_ask() makes
 * settings of a question of them, and says which argument stands in the way where it cannot.
 *
 * Nothing in a file is executed, and no other file is opened. Every argument gets a verdict:
 * understood; without effect on time and memory; not modelled, which is a warning; or unknown,
 * which is an error unless the reading is lenient. What each argument is, tables of data say
 * (jobfile/frameworks/, jobfile/asked_models.yaml), each with its source.
 */
#ifndef FORERUN_JOB_H
#define FORERUN_JOB_H

#include "base/base.h"

#ifdef __cplusplus
extern "C" {
#endif

struct fr_job;

struct fr_job_options {
    const char *const *files; /* [n_files], at least one */
    size_t n_files;
    /* [n_values] "NAME=VALUE" of variables that a script takes from its environment or arguments
     * ("NNODES", "1"); they hold against what the script assigns */
    const char *const *values;
    size_t n_values;
    bool is_lenient; /* unknown arguments are warnings */
};

/* Reads the files together. Texts of o are not kept. FR_ENOENT, FR_EIO: a file; FR_EPARSE: no job
 * that is known here, an argument that is unknown or has no such value, at file:line:column;
 * FR_ERANGE: too large; FR_ENOMEM. An argument whose variable has no value is no fact; asking says
 * so. */
enum fr_status fr_job_read(struct fr_job **out, const struct fr_job_options *o,
                           struct fr_error *err);
void fr_job_free(struct fr_job *j);

enum fr_job_verdict {
    FR_JOB_UNDERSTOOD,
    FR_JOB_NO_EFFECT, /* on time and memory */
    FR_JOB_NOT_MODELLED,
    FR_JOB_UNKNOWN,
    FR_N_JOB_VERDICTS
};
const char *fr_job_verdict_name(enum fr_job_verdict v); /* "no effect" */

/* An argument as it stands in the file. */
struct fr_job_argument {
    const char *name, *value; /* value NULL: it stands alone */
    struct fr_loc loc;
    enum fr_job_verdict verdict;
    const char *why; /* understood: the fact that it sets; unknown: NULL */
};

/* A fact. */
struct fr_job_fact {
    const char *name, *value;
    const char
        *argument;     /* that set it; NULL: the framework's default, or it follows from others */
    struct fr_loc loc; /* of that argument */
};

/* A setting of a question that the job asks for (fr_question_set). */
struct fr_job_setting {
    const char *name, *text;
};

struct fr_job_summary {
    const char *framework, *title; /* "megatron-lm"; one line about it */
    const char *flags; /* whose words a layout can be written in (fr_framework_parse); or NULL */
    const char *const *files;
    size_t n_files, n_arguments, n_facts;
    size_t n[FR_N_JOB_VERDICTS]; /* arguments */
    size_t n_notes;
    const char *const *notes; /* a sentence each: what was assumed, what is not modelled */
};
const struct fr_job_summary *fr_job_summary(const struct fr_job *j);
const struct fr_job_argument *fr_job_argument(const struct fr_job *j, size_t i);
const struct fr_job_fact *fr_job_fact(const struct fr_job *j, size_t i);
/* The value of a fact by its name; NULL: it is not known. */
const char *fr_job_fact_value(const struct fr_job *j, const char *name);

/* Which settings the user gives; those of the job are then not needed. */
struct fr_job_ask {
    bool has_workload, has_strategy, has_batch;
    bool has_gpus;   /* else those of the job */
    uint64_t n_gpus; /* of the cluster, or that were asked for; 0: not known */
};
/* Makes the settings; notes about what they leave out join those of the summary. Once a job.
 * FR_EUNSUPPORTED: a fact cannot be asked, at its argument; FR_EUSAGE: a fact is missing;
 * FR_ENOMEM. */
enum fr_status fr_job_ask(struct fr_job *j, const struct fr_job_ask *ask, struct fr_error *err);
const struct fr_job_setting *fr_job_setting(const struct fr_job *j, size_t *n);

#ifdef __cplusplus
}
#endif
#endif
