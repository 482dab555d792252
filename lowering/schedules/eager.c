/* lowering/schedules/eager.c - eager 1F1B: twice as many forwards before the first backward.
 *
 * Rank s of p runs 2 (p - 1 - s) forwards first. The micro-batches in between hide the time that
 * activations and gradients travel; more of them are live.
 * Source: Y. Zhuang et al., On Optimizing the Communication of Model Parallelism, MLSys 2023
 * (eager-1F1B).
 */
#include "config.h"

#include "lowering/schedules/maker.h"

static enum fr_status make(const struct fr_schedule_spec *spec, struct fr_schedule *out,
                           struct fr_error *err)
{
    (void)err;
    for (uint32_t r = 0; r < spec->n_ranks; r++) {
        fr__schedule_rank(out, r);
        fr__schedule_turns(out, spec, r, 2 * (uint64_t)(spec->n_ranks - 1 - r));
    }
    return FR_OK;
}

const struct fr_schedule_kind fr__schedule_eager_1f1b = {
    .name = "eager-1f1b",
    .summary = "1F1B with twice the warm-up, which hides transfers",
    .source = "Zhuang et al., MLSys 2023",
    .placement = FR_STAGES_LOOP,
    .least_virtual = 1,
    .most_virtual = 1,
    .make = make,
};
