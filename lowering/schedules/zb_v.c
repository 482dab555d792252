/* lowering/schedules/zb_v.c - ZB-V: two stages a rank in a V, no bubble with the memory of 1F1B.
 *
 * Rank r of p holds stages r and 2 p - 1 - r. The rule is stated for at least 2 p - 1
 * micro-batches; where there are fewer, the same list without the others.
 * Source: P. Qi et al., Pipeline Parallelism with Controllable Memory, NeurIPS 2024, section 4
 * (ZB-V); as PyTorch's ScheduleZBVZeroBubble (torch/distributed/pipelining/schedules.py).
 */
#include "config.h"

#include "lowering/schedules/maker.h"
#include "lowering/schedules/zb_v.h"

/* Actions of one rank; counts go up to the rule's number of micro-batches. */
struct rank {
    struct fr_schedule *out;
    uint32_t n_micros;         /* that there are */
    uint32_t stage[2];         /* by chunk */
    uint32_t f[2], i[2], w[2]; /* done so far, by chunk */
};

static void add(struct rank *k, enum fr_action_kind kind, uint32_t n[2], unsigned chunk)
{
    uint32_t micro = n[chunk]++;

    if (micro < k->n_micros)
        fr__schedule_add(k->out, kind, k->stage[chunk], micro);
}

static void forward(struct rank *k, unsigned chunk)
{
    add(k, FR_ACTION_F, k->f, chunk);
}

static void inputs(struct rank *k, unsigned chunk)
{
    add(k, FR_ACTION_I, k->i, chunk);
}

static void weights(struct rank *k, unsigned chunk)
{
    add(k, FR_ACTION_W, k->w, chunk);
}

static void backward(struct rank *k, unsigned chunk)
{
    inputs(k, chunk);
    weights(k, chunk);
}

static void warm_up(struct rank *k, uint32_t p, uint32_t r)
{
    for (uint32_t n = 0; n < 2 * (p - r) - 1; n++)
        forward(k, 0);
    for (uint32_t n = 0; n < r; n++) {
        forward(k, 1);
        forward(k, 0);
    }
    for (uint32_t n = 0; n < p - r; n++) {
        forward(k, 1);
        backward(k, 1);
    }
}

static void cool_down(struct rank *k, uint32_t p, uint32_t r)
{
    for (uint32_t n = 0; n < r; n++) {
        inputs(k, 0);
        inputs(k, 1);
    }
    for (uint32_t n = 0; n < p - r; n++)
        backward(k, 0);
    while (k->w[1] < k->i[1])
        weights(k, 1);
    while (k->w[0] < k->i[0])
        weights(k, 0);
}

void fr__zb_v_rank(struct fr_schedule *out, const struct fr_schedule_spec *spec, uint32_t r)
{
    uint32_t p = spec->n_ranks;
    uint32_t n = spec->n_micros > 2 * p - 1 ? spec->n_micros : 2 * p - 1;
    struct rank k = {.out = out, .n_micros = spec->n_micros, .stage = {r, 2 * p - 1 - r}};

    warm_up(&k, p, r);
    while (k.f[1] < k.f[0] || k.f[0] < n) {
        if (k.f[0] < n)
            forward(&k, 0);
        backward(&k, 0);
        forward(&k, 1);
        backward(&k, 1);
    }
    cool_down(&k, p, r);
}

static enum fr_status make(const struct fr_schedule_spec *spec, struct fr_schedule *out,
                           struct fr_error *err)
{
    (void)err;
    for (uint32_t r = 0; r < spec->n_ranks; r++) {
        fr__schedule_rank(out, r);
        fr__zb_v_rank(out, spec, r);
    }
    return FR_OK;
}

const struct fr_schedule_kind fr__schedule_zb_v = {
    .name = "zb-v",
    .summary = "two stages a rank in a V: the memory of 1F1B, no bubble between steps",
    .source = "Qi et al., Controllable Memory, NeurIPS 2024",
    .placement = FR_STAGES_V,
    .least_virtual = 2,
    .most_virtual = 2,
    .make = make,
};
