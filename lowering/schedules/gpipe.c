/* lowering/schedules/gpipe.c - all forwards, then all backwards.
 *
 * Source: Y. Huang et al., GPipe, NeurIPS 2019, figure 2c: the backwards run from the last
 * micro-batch to the first, whose activations are the newest. PyTorch runs them in ascending order
 * (torch/distributed/pipelining/schedules.py, ScheduleGPipe).
 */
#include "config.h"

#include "lowering/schedules/maker.h"

static enum fr_status make(const struct fr_schedule_spec *spec, struct fr_schedule *out,
                           struct fr_error *err)
{
    (void)err;
    for (uint32_t r = 0; r < spec->n_ranks; r++) {
        fr__schedule_rank(out, r);
        for (uint32_t m = 0; m < spec->n_micros; m++)
            fr__schedule_add(out, FR_ACTION_F, r, m);
        for (uint32_t m = 0; m < spec->n_micros; m++)
            fr__schedule_add(out, FR_ACTION_B, r,
                             spec->backward == FR_BACKWARD_ASCENDING ? m : spec->n_micros - 1 - m);
    }
    return FR_OK;
}

const struct fr_schedule_kind fr__schedule_gpipe = {
    .name = "gpipe",
    .summary = "all forwards, then all backwards",
    .source = "Huang et al., GPipe, NeurIPS 2019",
    .placement = FR_STAGES_LOOP,
    .least_virtual = 1,
    .most_virtual = 1,
    .takes_backward = true,
    .make = make,
};
