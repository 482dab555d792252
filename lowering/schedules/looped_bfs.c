/* lowering/schedules/looped_bfs.c - breadth first: all micro-batches through a stage, then the
 * next.
 *
 * Source: J. Lamy-Poirier, Breadth-First Pipeline Parallelism, MLSys 2023. The backwards run from
 * the last micro-batch to the first, as in PyTorch's ScheduleLoopedBFS.
 */
#include "config.h"

#include "lowering/schedules/maker.h"

static enum fr_status make(const struct fr_schedule_spec *spec, struct fr_schedule *out,
                           struct fr_error *err)
{
    uint32_t p = spec->n_ranks, v = spec->n_virtual, n = spec->n_micros;

    (void)err;
    for (uint32_t r = 0; r < p; r++) {
        fr__schedule_rank(out, r);
        for (uint32_t c = 0; c < v; c++)
            for (uint32_t m = 0; m < n; m++)
                fr__schedule_add(out, FR_ACTION_F, c * p + r, m);
        for (uint32_t c = v; c-- > 0;)
            for (uint32_t m = 0; m < n; m++)
                fr__schedule_add(out, FR_ACTION_B, c * p + r,
                                 spec->backward == FR_BACKWARD_ASCENDING ? m : n - 1 - m);
    }
    return FR_OK;
}

const struct fr_schedule_kind fr__schedule_looped_bfs = {
    .name = "looped-bfs",
    .summary = "all micro-batches through one stage of a rank, then the next",
    .source = "Lamy-Poirier, MLSys 2023",
    .placement = FR_STAGES_LOOP,
    .least_virtual = 1,
    .most_virtual = 0,
    .takes_backward = true,
    .make = make,
};
