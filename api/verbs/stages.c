/* api/verbs/stages.c - simulate without a topology: stages for machines that a strategy's options
 * describe. */
#include "config.h"

#include "base/error.h"
#include "api/verbs/verbs.h"
#include "study/answer/staging.h"

enum fr_status fr__verb_stages(struct fr__call *s, const struct fr_question *q,
                               struct fr_error *err)
{
    struct fr_staging staging;
    enum fr_status st;

    FR_TRY(fr__check_files(&s->options, FR_KIND_STAGES, err));
    FR_TRY(fr_staging_make(&staging, q, &s->context, err));
    st = fr__show(s, fr_shown_stages(staging.plan), err);
    fr_staging_fini(&staging);
    return st;
}
