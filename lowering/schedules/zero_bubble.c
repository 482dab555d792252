/* lowering/schedules/zero_bubble.c - 1F1B with the backward in two parts: ZB-H1, and
 * interleaved.
 *
 * The gradient of the input (I) runs when 1F1B would run its backward, so that earlier stages can
 * go on. The gradient of the weights (W) waits: rank s runs its first W after s further I, where
 * 1F1B would have a gap. Rank s of p runs p - 1 - s + (v - 1) n forwards first.
 * With no more micro-batches than ranks nobody can hold more than ZB-H1 may, so ZB-H1 runs as many
 * forwards first as ZB-H2: without transfers that takes as long, with transfers less.
 * Source: P. Qi et al., Zero Bubble Pipeline Parallelism, ICLR 2024 (ZB-H1); as
 * PyTorch's ScheduleInterleavedZeroBubble (torch/distributed/pipelining/schedules.py,
 * _get_1f1b_rank_ops), whose list for one stage a rank is that of the authors' search with the
 * memory of 1F1B, but for m = p, where that search has the list of ZB-H2.
 */
#include "config.h"

#include "lowering/schedules/maker.h"
#include "lowering/schedules/zb_h2.h"

static void add_weights(const struct fr_schedule_spec *spec, struct fr_schedule *out, uint32_t r,
                        uint32_t i)
{
    struct fr__visit k = fr__schedule_visit(spec, i);

    fr__schedule_add(out, FR_ACTION_W, (spec->n_virtual - 1 - k.chunk) * spec->n_ranks + r,
                     k.micro);
}

static void add_rank(const struct fr_schedule_spec *spec, struct fr_schedule *out, uint32_t r)
{
    uint32_t p = spec->n_ranks, v = spec->n_virtual, n = v * spec->n_micros;
    uint32_t n_warm = fr__min_u32(p - 1 - r + (uint64_t)(v - 1) * spec->group, n);
    uint32_t n_w = 0;

    for (uint32_t i = 0; i < n_warm + n; i++) {
        struct fr__visit k;

        if (i < n) {
            k = fr__schedule_visit(spec, i);
            fr__schedule_add(out, FR_ACTION_F, k.chunk * p + r, k.micro);
        }
        if (i < n_warm)
            continue;
        k = fr__schedule_visit(spec, i - n_warm);
        fr__schedule_add(out, FR_ACTION_I, (v - 1 - k.chunk) * p + r, k.micro);
        if (i >= n_warm + r)
            add_weights(spec, out, r, n_w++);
    }
    while (n_w < n)
        add_weights(spec, out, r, n_w++);
}

static enum fr_status make(const struct fr_schedule_spec *spec, struct fr_schedule *out,
                           struct fr_error *err)
{
    (void)err;
    for (uint32_t r = 0; r < spec->n_ranks; r++) {
        fr__schedule_rank(out, r);
        add_rank(spec, out, r);
    }
    return FR_OK;
}

static enum fr_status make_h1(const struct fr_schedule_spec *spec, struct fr_schedule *out,
                              struct fr_error *err)
{
    if (spec->n_micros > spec->n_ranks)
        return make(spec, out, err);
    for (uint32_t r = 0; r < spec->n_ranks; r++) {
        fr__schedule_rank(out, r);
        fr__zb_h2_add_rank(spec, out, r);
    }
    return FR_OK;
}

const struct fr_schedule_kind fr__schedule_interleaved_zero_bubble = {
    .name = "interleaved-zero-bubble",
    .summary = "interleaved 1F1B with the backward in two parts",
    .source = "Qi et al., Zero Bubble, ICLR 2024; PyTorch",
    .placement = FR_STAGES_LOOP,
    .least_virtual = 1,
    .most_virtual = 0,
    .takes_group = true,
    .make = make,
};

const struct fr_schedule_kind fr__schedule_zb_h1 = {
    .name = "zb-h1",
    .summary = "the memory of 1F1B, a third of its bubble: weight gradients fill gaps",
    .source = "Qi et al., Zero Bubble, ICLR 2024",
    .placement = FR_STAGES_LOOP,
    .least_virtual = 1,
    .most_virtual = 1,
    .make = make_h1,
};
