/* results/data/stage_profile.c - the stages that a planner cut a model into, as PipeDream's
 * optimizer writes them: the profile with a stage_id a layer. */
#include "config.h"

#include "results/data/data.h"

#include "base/error.h"

enum fr_status fr__results_profile(FILE *f, const void *what, const char *ending,
                                   const struct fr_context *ctx, struct fr_error *err)
{
    const struct fr_results *rs = what;
    const struct fr_decisions *d = rs->records[0]->decisions;

    (void)ending, (void)ctx;
    if (!d || !d->stages)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "strategy '%s' has no stages of a profile to write ('.txt')",
                        rs->records[0]->strategy);
    fr_profile_write(f, d->stages->profile, d->stages->stage_of);
    return FR_OK;
}

void fr__stages_profile(FILE *f, const void *what)
{
    const struct fr_stage_plan *p = what;

    fr_profile_write(f, p->profile, p->stage_of);
}
