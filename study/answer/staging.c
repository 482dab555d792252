/* study/answer/staging.c - from a question without a topology to stages. */
#include "config.h"

#include "study/answer/staging.h"

#include "base/error.h"

bool fr_staging_is_for(const struct fr_question *q)
{
    const struct fr_strategy *strategy;
    struct fr_option_values values;

    return !q->topology && q->strategy &&
           fr_strategy_parse(q->strategy, &strategy, &values, NULL) == FR_OK &&
           strategy->plan_stages;
}

/* What would be read past. */
static enum fr_status check(const struct fr_question *q, struct fr_error *err)
{
    const char *option = NULL;

    if (!q->workload)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "no workload given (-w, --workload)");
    if (q->n_gpus > 0)
        option = "--gpus";
    else if (q->is_spread)
        option = "--spread";
    else if (q->devices)
        option = "--devices";
    else if (q->global_batch || q->batch_per_gpu)
        option = "--batch";
    else if (q->seq_len)
        option = "--seq-len";
    else if (q->image_size)
        option = "--image-size";
    else if (q->tune)
        option = "--tune";
    else if (q->dtype != FR_N_DTYPES)
        option = "--precision";
    else if (q->measured)
        option = "--measured";
    if (option)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "option '%s' needs a topology (-t): without one the profile is planned as "
                        "it was measured, for the strategy's own 'machines'",
                        option);
    return FR_OK;
}

enum fr_status fr_staging_make(struct fr_staging *out, const struct fr_question *q,
                               const struct fr_context *ctx, struct fr_error *err)
{
    const struct fr_strategy *strategy;
    struct fr_option_values values;
    struct fr_staging s = {NULL, NULL};
    enum fr_status st;

    *out = s;
    FR_TRY(check(q, err));
    FR_TRY(fr_strategy_parse(q->strategy, &strategy, &values, err));
    FR_TRY(fr_profile_load(&s.profile, q->workload, err));
    st = strategy->plan_stages(s.profile, &values, ctx, &s.plan, err);
    if (st == FR_OK)
        *out = s;
    else
        fr_profile_free(s.profile);
    return st;
}

void fr_staging_fini(struct fr_staging *s)
{
    fr_stage_plan_free(s->plan);
    fr_profile_free(s->profile);
    *s = (struct fr_staging){NULL, NULL};
}
