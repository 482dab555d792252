/* api/verbs/stages.c - simulate without a topology: stages for machines that a strategy's options
 * describe. */
#include "config.h"

#include "base/error.h"
#include "api/verbs/verbs.h"
#include "study/answer/staging.h"

enum fr_status fr__verb_stages(struct fr__call *s, const struct fr_question *q,
                               struct fr_error *err)
{
    const struct fr__options *o = &s->options;
    struct fr_staging staging;
    enum fr_status st = FR_OK;

    for (size_t i = 0; i < o->n_files; i++)
        FR_TRY(fr_stages_check_path(o->files[i], err));
    FR_TRY(fr_staging_make(&staging, q, &s->context, err));
    for (size_t i = 0; i < o->n_files && st == FR_OK; i++)
        st = fr__file_done(s, fr_stages_write(staging.plan, o->files[i], &s->context, err), err);
    if (st == FR_OK && o->json)
        fr_stages_print_json(s->out, staging.plan);
    else if (st == FR_OK)
        st = fr_stages_print(s->out, staging.plan, err);
    fr_staging_fini(&staging);
    return st;
}
