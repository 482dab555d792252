/* results/data/stage_profile.c - the stages that a planner cut a model into, as PipeDream's
 * optimizer writes them: the profile with a stage_id a layer. */
#include "config.h"

#include "results/data/record.h"

#include "base/error.h"

enum fr_status fr__results_write_profile(FILE *f, const struct fr_results *rs, struct fr_error *err)
{
    const struct fr_decisions *d = rs->records[0]->decisions;

    if (!d || !d->stages)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "strategy '%s' has no stages of a profile to write ('.txt')",
                        rs->records[0]->strategy);
    fr_profile_write(f, d->stages->profile, d->stages->stage_of);
    return FR_OK;
}
