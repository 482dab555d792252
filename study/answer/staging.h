/* study/answer/staging.h - a question without a topology, to a strategy that cuts a measured
 * profile into stages for machines of its own options.
 */
#ifndef FORERUN_STAGING_H
#define FORERUN_STAGING_H

#include "lowering/stage_plan.h"
#include "study/study.h"

#ifdef __cplusplus
extern "C" {
#endif

struct fr_staging {
    struct fr_profile *profile;
    struct fr_stage_plan *plan; /* on the profile */
};

/* Whether q names no topology and a strategy that needs none. */
bool fr_staging_is_for(const struct fr_question *q);
/* Loads the profile and plans; ctx may be NULL. Release with fr_staging_fini. FR_EUSAGE: the
 * question says what only a topology gives a meaning; as fr_profile_load and the strategy. On a
 * failure *out is empty. */
enum fr_status fr_staging_make(struct fr_staging *out, const struct fr_question *q,
                               const struct fr_context *ctx, struct fr_error *err);
void fr_staging_fini(struct fr_staging *s);

#ifdef __cplusplus
}
#endif
#endif
