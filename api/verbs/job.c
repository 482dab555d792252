/* api/verbs/job.c - what a job file says, without asking what comes of it. */
#include "config.h"

#include "api/verbs/verbs.h"
#include "base/error.h"
#include "results/results.h"

/* The settings that it asks for belong to the answer; a job that cannot be asked for is shown
 * without them, and a note says why. */
enum fr_status fr__verb_job_show(struct fr__call *s, struct fr_error *err)
{
    struct fr__options *o = &s->options;
    const struct fr_job_options how = {.files = o->arguments,
                                       .n_files = o->n_arguments,
                                       .values = o->job_values,
                                       .n_values = o->n_job_values,
                                       .is_lenient = o->lenient};
    struct fr_error why = {.code = FR_OK};
    char sentence[sizeof(why.text) + 288];

    FR_TRY(fr__check_files(o, FR_KIND_JOB, err));
    FR_TRY(fr_job_read(&o->job, &how, err));
    if (fr_job_ask(o->job, &(struct fr_job_ask){.has_workload = false}, &why) != FR_OK) {
        if (why.code == FR_ENOMEM)
            return fr__fail_nomem(err);
        fr__note(s, "%s", fr_error_string(&why, sentence, sizeof(sentence)));
    }
    return fr__show(s, fr_shown_job(o->job), err);
}
