/* lowering/schedules/zb_h2.c - ZB-H2: no bubble from step to step, with twice the forwards.
 *
 * Rank s of p runs w = 2 (p - s) - 1 forwards first: until its first gradient comes back it never
 * waits. Then I and F in turn. A W follows each of the first m - (2 p - 1) I; the others wait
 * until there are no forwards left, so that the gradients of the last 2 p - 1 micro-batches run
 * back without a gap and every rank is busy from its first action to its last, m (F + I + W). No
 * rank holds more than 2 p - 1 micro-batches.
 * Source: P. Qi et al., Zero Bubble Pipeline Parallelism, ICLR 2024 (ZB-H2). The
 * authors' search with twice the memory of 1F1B has the same makespan and span, and never less
 * memory. It needs an optimizer step of each stage of its own.
 */
#include "config.h"

#include "lowering/schedules/zb_h2.h"

#include "lowering/schedules/maker.h"

void fr__zb_h2_add_rank(const struct fr_schedule_spec *spec, struct fr_schedule *out, uint32_t r)
{
    uint32_t p = spec->n_ranks, n = spec->n_micros;
    uint32_t n_warm = fr__min_u32(2 * (uint64_t)(p - r) - 1, n);
    uint32_t n_early = n > 2 * p - 1 ? n - (2 * p - 1) : 0, n_w = 0;

    for (uint32_t m = 0; m < n_warm; m++)
        fr__schedule_add(out, FR_ACTION_F, r, m);
    for (uint32_t m = 0; m < n; m++) {
        bool has_forward = n_warm + m < n;

        fr__schedule_add(out, FR_ACTION_I, r, m);
        if (!has_forward || n_w < n_early)
            fr__schedule_add(out, FR_ACTION_W, r, n_w++);
        if (has_forward)
            fr__schedule_add(out, FR_ACTION_F, r, n_warm + m);
    }
    while (n_w < n)
        fr__schedule_add(out, FR_ACTION_W, r, n_w++);
}

static enum fr_status make(const struct fr_schedule_spec *spec, struct fr_schedule *out,
                           struct fr_error *err)
{
    (void)err;
    for (uint32_t r = 0; r < spec->n_ranks; r++) {
        fr__schedule_rank(out, r);
        fr__zb_h2_add_rank(spec, out, r);
    }
    return FR_OK;
}

const struct fr_schedule_kind fr__schedule_zb_h2 = {
    .name = "zb-h2",
    .summary = "twice the memory of 1F1B, no bubble between steps",
    .source = "Qi et al., Zero Bubble, ICLR 2024",
    .placement = FR_STAGES_LOOP,
    .least_virtual = 1,
    .most_virtual = 1,
    .make = make,
};
