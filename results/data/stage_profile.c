/* results/data/stage_profile.c - the stages that a planner cut a model into, as PipeDream's
 * optimizer writes them: the profile with a stage_id a layer. */
#include "config.h"

#include "results/formats.h"

#include "base/error.h"

static enum fr_status write_profile(const struct fr_results *rs, FILE *f,
                                    const struct fr_context *ctx, struct fr_error *err)
{
    const struct fr_decisions *d = rs->records[0]->decisions;

    (void)ctx;
    if (!d || !d->stages)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "strategy '%s' has no stages of a profile to write ('.txt')",
                        rs->records[0]->strategy);
    fr_profile_write(f, d->stages->profile, d->stages->stage_of);
    return FR_OK;
}

const struct fr__format fr__format_stage_profile = {
    .ending = ".txt",
    .summary = "stages as a PipeDream profile with stage_id (simulate -s pipedream)",
    .takes_comparison = false,
    .write = write_profile,
};
