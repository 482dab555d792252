/* api/options/job.c - a job file as options: it says what is asked, and options that are given hold
 * against it. */
#include "config.h"

#include "api/options/options.h"
#include "base/error.h"

#include <string.h>

enum fr_status fr__add_job(struct fr__options *o, const char *value, struct fr_error *err)
{
    if (o->n_job_files == FR__MOST_FILES)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "more than %d files of a job", FR__MOST_FILES);
    o->job_files[o->n_job_files++] = value;
    return FR_OK;
}

enum fr_status fr__add_job_value(struct fr__options *o, const char *value, struct fr_error *err)
{
    if (!strchr(value, '=') || value[0] == '=')
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "option '--set' is \"%.60s\", expected NAME=VALUE", value);
    if (o->n_job_values == FR__MOST_JOB_VALUES)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "more than %d values by '--set'",
                        FR__MOST_JOB_VALUES);
    o->job_values[o->n_job_values++] = value;
    return FR_OK;
}

enum fr_status fr__set_lenient(struct fr__options *o, const char *value, struct fr_error *err)
{
    (void)value;
    (void)err;
    o->lenient = true;
    return FR_OK;
}

static bool is_given(const struct fr__options *o, const char *name)
{
    for (size_t i = 0; i < o->n_given; i++)
        if (strcmp(o->given[i].name, name) == 0)
            return true;
    return false;
}

static enum fr_status take_settings(struct fr__options *o, struct fr_error *err)
{
    size_t n;
    const struct fr_job_setting *settings = fr_job_setting(o->job, &n);

    for (size_t i = 0; i < n; i++) {
        if (strcmp(settings[i].name, "strategy") == 0)
            o->strategies[o->n_strategies++] = settings[i].text;
        else if (!is_given(o, settings[i].name))
            FR_TRY(fr_question_set(&o->question, settings[i].name, settings[i].text, err));
    }
    return FR_OK;
}

/* GPUs that the question is asked of, as far as is known here: where a job does not say its batch,
 * it follows from them. 0: not known, and what is wrong with a cluster is said where it is used. */
static uint64_t count_gpus(const struct fr__options *o)
{
    struct fr_topo *t;
    uint64_t n;

    if (o->question.n_gpus > 0 || !o->question.topology ||
        fr_topo_load(&t, o->question.topology, NULL) != FR_OK)
        return o->question.n_gpus;
    n = t->n_gpus;
    fr_topo_free(t);
    return n;
}

enum fr_status fr__options_ask_job(struct fr__options *o, bool asks_strategy, struct fr_error *err)
{
    const struct fr_job_options how = {.files = o->job_files,
                                       .n_files = o->n_job_files,
                                       .values = o->job_values,
                                       .n_values = o->n_job_values,
                                       .is_lenient = o->lenient};
    const struct fr_job_ask ask = {.has_workload = is_given(o, "workload"),
                                   .has_strategy = !asks_strategy || o->n_strategies > 0,
                                   .has_batch =
                                       is_given(o, "batch") || is_given(o, "batch-per-gpu"),
                                   .n_gpus = count_gpus(o),
                                   .has_gpus = is_given(o, "gpus") || is_given(o, "devices")};

    if (o->n_job_files == 0 && (o->n_job_values > 0 || o->lenient))
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "option '%s' needs a job: --job FILE",
                        o->lenient ? "--lenient" : "--set");
    if (o->n_job_files == 0)
        return FR_OK;
    FR_TRY(fr_job_read(&o->job, &how, err));
    FR_TRY(fr_job_ask(o->job, &ask, err));
    return take_settings(o, err);
}
