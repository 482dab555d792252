/* lowering/schedules/zero_bubble.c - 1F1B with the backward in two parts: ZB-H1, interleaved, and
 * ZB-H2.
 *
 * The gradient of the input (I) runs when 1F1B would run its backward, so that earlier stages can
 * go on. The gradient of the weights (W) waits: rank s runs its first W after s further I, where
 * 1F1B would have a gap. Rank s of p runs p - 1 - s + (v - 1) n forwards first.
 * With no more micro-batches than ranks nobody can hold more than ZB-H1 may, so ZB-H1 runs as many
 * forwards first as ZB-H2: without transfers that takes as long, with transfers less.
 *
 * ZB-H2 has no bubble from step to step, with twice the forwards. Rank s runs w = 2 (p - s) - 1 of
 * them first: until its first gradient comes back it never waits. Then I and F in turn. A W follows
 * each of the first m - (2 p - 1) I; the others wait until there are no forwards left, so that the
 * gradients of the last 2 p - 1 micro-batches run back without a gap and every rank is busy from
 * its first action to its last, m (F + I + W). The authors' search with twice the memory of 1F1B
 * has the same makespan and span, and never less memory. It needs an optimizer step of each stage
 * of its own.
 *
 * Source: P. Qi et al., Zero Bubble Pipeline Parallelism, ICLR 2024; as PyTorch's
 * ScheduleInterleavedZeroBubble (torch/distributed/pipelining/schedules.py, _get_1f1b_rank_ops),
 * whose list for one stage a rank is that of the authors' search with the memory of 1F1B, but for
 * m = p, where that search has the list of ZB-H2.
 */
#include "config.h"

#include "lowering/schedules/maker.h"
#include "lowering/schedules/schedule.h"

/* ---- ZB-H2 ---- */

/* Appends the rank's list; no rank holds more than the smaller of 2 p - 1 and m micro-batches. */
static void add_rank_of_h2(const struct fr_schedule_spec *spec, struct fr_schedule *out, uint32_t r)
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

/* A schedule of lists that add_rank appends. */
static enum fr_status make_of(const struct fr_schedule_spec *spec, struct fr_schedule *out,
                              void (*add_rank)(const struct fr_schedule_spec *spec,
                                               struct fr_schedule *out, uint32_t r))
{
    for (uint32_t r = 0; r < spec->n_ranks; r++) {
        fr__schedule_rank(out, r);
        add_rank(spec, out, r);
    }
    return FR_OK;
}

static enum fr_status make_h2(const struct fr_schedule_spec *spec, struct fr_schedule *out,
                              struct fr_error *err)
{
    (void)err;
    return make_of(spec, out, add_rank_of_h2);
}

const struct fr_schedule_kind fr__schedule_zb_h2 = {
    .name = "zb-h2",
    .summary = "twice the memory of 1F1B, no bubble between steps",
    .source = "Qi et al., Zero Bubble, ICLR 2024",
    .placement = FR_STAGES_LOOP,
    .least_virtual = 1,
    .most_virtual = 1,
    .make = make_h2,
};

/* ---- ZB-H1, and interleaved ---- */

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
    return make_of(spec, out, add_rank);
}

static enum fr_status make_h1(const struct fr_schedule_spec *spec, struct fr_schedule *out,
                              struct fr_error *err)
{
    (void)err;
    return make_of(spec, out, spec->n_micros > spec->n_ranks ? add_rank : add_rank_of_h2);
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
