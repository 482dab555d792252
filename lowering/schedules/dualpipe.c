/* lowering/schedules/dualpipe.c - DualPipe: micro-batches from both ends, forwards that hide
 * communication of backwards.
 *
 * The chain of p stages stands on the ranks twice, in opposite directions, and half of the
 * micro-batches runs in each. On the ranks of the second half the directions change places.
 * DualPipeV folds the two directions into one: each rank holds stages r and 2 p - 1 - r, and what
 * was the other direction is the second stage.
 * Source: DeepSeek-AI, DualPipe, github.com/deepseek-ai/DualPipe (2025), dualpipe.py and
 * dualpipev.py, eight steps; PyTorch's ScheduleDualPipeV has the same lists.
 */
#include "config.h"

#include "base/error.h"
#include "lowering/schedules/maker.h"

#include <stdlib.h>

/* The passes of one rank. Phase 0 is the direction, or the stage, that a micro-batch meets
 * first. */
struct rank {
    struct fr_schedule *out;
    uint32_t stage[2], base[2]; /* by phase: the stage, and the number of its first micro-batch */
    uint32_t f[2], b[2];        /* passes done */
    struct owed {
        uint32_t stage, micro;
    } * owed; /* weight gradients, in the order of their I */
    uint32_t n_owed, n_paid;
};

static void forward(struct rank *k, unsigned phase)
{
    fr__schedule_add(k->out, FR_ACTION_F, k->stage[phase], k->base[phase] + k->f[phase]++);
}

static void backward(struct rank *k, unsigned phase)
{
    fr__schedule_add(k->out, FR_ACTION_B, k->stage[phase], k->base[phase] + k->b[phase]++);
}

static void inputs(struct rank *k, unsigned phase)
{
    struct owed w = {k->stage[phase], k->base[phase] + k->b[phase]++};

    fr__schedule_add(k->out, FR_ACTION_I, w.stage, w.micro);
    k->owed[k->n_owed++] = w;
}

static void weights(struct rank *k)
{
    struct owed w = k->owed[k->n_paid++];

    fr__schedule_add(k->out, FR_ACTION_W, w.stage, w.micro);
}

/* The forward of one phase beside the backward of the other. */
static void both(struct rank *k, unsigned forward_phase)
{
    unsigned other = 1 - forward_phase;

    fr__schedule_add_pair(k->out, k->stage[forward_phase],
                          k->base[forward_phase] + k->f[forward_phase]++, k->stage[other],
                          k->base[other] + k->b[other]++);
}

/* q ranks in the V, this one the j-th from its end. n_main: pairs of pairs. is_middle: both phases
 * meet on this rank or between it and its neighbour, and its first pair is not overlapped. */
static void add_rank(struct rank *k, uint32_t q, uint32_t j, uint32_t n_main, bool is_middle)
{
    for (uint32_t i = 0; i < 2 * (q - j - 1); i++)
        forward(k, 0);
    for (uint32_t i = 0; i < j + 1; i++) {
        forward(k, 0);
        forward(k, 1);
    }
    for (uint32_t i = 0; i < q - j - 1; i++) {
        inputs(k, 1);
        weights(k);
        forward(k, 1);
    }
    for (uint32_t i = 0; i < n_main; i++) {
        if (i == 0 && is_middle) {
            forward(k, 0);
            backward(k, 1);
        } else {
            both(k, 0);
        }
        both(k, 1);
    }
    for (uint32_t i = 0; i < q - j - 1; i++) {
        backward(k, 1);
        both(k, 1);
    }
    /* the second half of these 2 (j + 1) passes leaves its weight gradients for the end */
    for (uint32_t i = 0; i < 2 * (j + 1); i++)
        (i < j + 1 ? backward : inputs)(k, 1 - i % 2);
    for (uint32_t i = 0; i < q - j - 1; i++) {
        weights(k);
        inputs(k, 0);
    }
    while (k->n_paid < k->n_owed)
        weights(k);
}

/* ---- two directions ---- */

static enum fr_status check_two(const struct fr_schedule_spec *spec, struct fr_error *err)
{
    if (spec->n_ranks % 2 == 0 && spec->n_micros % 2 == 0 && spec->n_micros >= 2 * spec->n_ranks)
        return FR_OK;
    return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                    "'dualpipe' needs an even number of ranks, not %u, and an even number of "
                    "micro-batches, at least two a rank, not %u",
                    spec->n_ranks, spec->n_micros);
}

static enum fr_status make_two(const struct fr_schedule_spec *spec, struct fr_schedule *out,
                               struct fr_error *err)
{
    uint32_t p = spec->n_ranks, half = spec->n_micros / 2;
    struct owed *owed = calloc(spec->n_micros, sizeof(*owed));

    if (!owed)
        return fr__fail_nomem(err);
    for (uint32_t r = 0; r < p; r++) {
        bool is_second = r >= p / 2;
        uint32_t j = is_second ? p - 1 - r : r;
        struct rank k = {.out = out, .owed = owed};

        k.stage[is_second] = r;
        k.base[is_second] = 0;
        k.stage[!is_second] = p - 1 - r;
        k.base[!is_second] = half;
        fr__schedule_rank(out, r);
        add_rank(&k, p / 2, j, half - p + j + 1, j == p / 2 - 1);
    }
    free(owed);
    return FR_OK;
}

/* ---- a V ---- */

static enum fr_status check_v(const struct fr_schedule_spec *spec, struct fr_error *err)
{
    if (spec->n_micros >= 2 * spec->n_ranks)
        return FR_OK;
    return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                    "'dualpipe-v' needs at least two micro-batches a rank, not %u for %u ranks",
                    spec->n_micros, spec->n_ranks);
}

static enum fr_status make_v(const struct fr_schedule_spec *spec, struct fr_schedule *out,
                             struct fr_error *err)
{
    uint32_t p = spec->n_ranks;
    struct owed *owed = calloc(2 * (size_t)spec->n_micros, sizeof(*owed));

    if (!owed)
        return fr__fail_nomem(err);
    for (uint32_t r = 0; r < p; r++) {
        struct rank k = {.out = out, .owed = owed, .stage = {r, 2 * p - 1 - r}};

        fr__schedule_rank(out, r);
        add_rank(&k, p, r, spec->n_micros - 2 * p + r + 1, r == p - 1);
    }
    free(owed);
    return FR_OK;
}

const struct fr_schedule_kind fr__schedule_dualpipe = {
    .name = "dualpipe",
    .summary = "two copies in opposite directions, forwards overlapped with backwards",
    .source = "DeepSeek-AI, DualPipe, 2025",
    .placement = FR_STAGES_TWO,
    .least_virtual = 2,
    .most_virtual = 2,
    .has_pairs = true,
    .check = check_two,
    .make = make_two,
};

const struct fr_schedule_kind fr__schedule_dualpipe_v = {
    .name = "dualpipe-v",
    .summary = "DualPipe with one copy: two stages a rank in a V",
    .source = "DeepSeek-AI, DualPipeV, 2025",
    .placement = FR_STAGES_V,
    .least_virtual = 2,
    .most_virtual = 2,
    .has_pairs = true,
    .check = check_v,
    .make = make_v,
};
