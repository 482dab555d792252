/* lowering/schedules/one_f_one_b.c - one forward, one backward, with a flush at the end.
 *
 * Rank s of p runs p - 1 - s forwards, then a forward and a backward in turn.
 * Source: D. Narayanan et al., Megatron-LM, SC 2021, section 2.2 (PipeDream-Flush); as PyTorch's
 * Schedule1F1B and Megatron-LM's forward_backward_pipelining_without_interleaving.
 */
#include "config.h"

#include "lowering/schedules/maker.h"

enum fr_status fr__schedule_make_1f1b(const struct fr_schedule_spec *spec, struct fr_schedule *out,
                                      struct fr_error *err)
{
    (void)err;
    for (uint32_t r = 0; r < spec->n_ranks; r++) {
        fr__schedule_rank(out, r);
        fr__schedule_turns(out, spec, r, spec->n_ranks - 1 - r);
    }
    return FR_OK;
}

const struct fr_schedule_kind fr__schedule_1f1b = {
    .name = "1f1b",
    .summary = "one forward, one backward: at most p micro-batches live",
    .source = "Narayanan et al., Megatron-LM, SC 2021",
    .placement = FR_STAGES_LOOP,
    .least_virtual = 1,
    .most_virtual = 1,
    .make = fr__schedule_make_1f1b,
};
