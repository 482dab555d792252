/* lowering/schedules/chimera.c - Chimera: two pipelines in opposite directions fill each other's
 * gaps.
 *
 * The chain of p stages stands on the ranks twice; half of the micro-batches runs in each
 * direction. Units of p micro-batches follow each other. With time slots of one pass, within a
 * unit the k-th micro-batch of its direction is forward on stage s in slot s + 2 k and backward in
 * slot 2 p - 1 - s + 2 k; a unit begins 2 p slots after the one before. No two passes of a rank
 * share a slot, so the order of the slots is the order of the rank's list.
 * Source: S. Li and T. Hoefler, Chimera, SC 2021, section 3.5 for more than p micro-batches (direct
 * concatenation); slots derived from the order that the authors' generator prints, whose
 * micro-batches count on in each direction. From 3 p micro-batches and six ranks on that generator
 * orders units otherwise: chimera_released.c.
 */
#include "config.h"

#include "base/error.h"
#include "lowering/schedules/maker.h"

static enum fr_status check(const struct fr_schedule_spec *spec, struct fr_error *err)
{
    if (spec->n_ranks % 2 == 0 && spec->n_micros % spec->n_ranks == 0)
        return FR_OK;
    return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                    "'chimera' needs an even number of ranks, not %u, that divides the number of "
                    "micro-batches, not %u",
                    spec->n_ranks, spec->n_micros);
}

/* What runs on stage s of one direction in a slot, counted from the beginning; micro-batches count
 * from 0. kind FR_ACTION_NONE: nothing. */
static struct fr_action action_in(const struct fr_schedule_spec *spec, uint32_t s, uint64_t slot)
{
    uint32_t p = spec->n_ranks, n_units = spec->n_micros / p;
    const uint32_t begin[] = {s, 2 * p - 1 - s};
    const enum fr_action_kind kind[] = {FR_ACTION_F, FR_ACTION_B};

    for (unsigned i = 0; i < 2; i++) {
        uint64_t since = slot - begin[i], unit = since / (2 * p), k = since % (2 * p) / 2;

        if (slot >= begin[i] && since % 2 == 0 && unit < n_units && k < p / 2)
            return (struct fr_action){
                .kind = (uint8_t)kind[i], .stage = s, .micro = (uint32_t)(unit * (p / 2) + k)};
    }
    return (struct fr_action){.kind = FR_ACTION_NONE};
}

static enum fr_status make(const struct fr_schedule_spec *spec, struct fr_schedule *out,
                           struct fr_error *err)
{
    uint32_t p = spec->n_ranks;
    uint64_t n_slots = 2 * (uint64_t)spec->n_micros + 2 * (uint64_t)p;

    (void)err;
    for (uint32_t r = 0; r < p; r++) {
        fr__schedule_rank(out, r);
        for (uint64_t slot = 0; slot < n_slots; slot++) {
            struct fr_action a = action_in(spec, r, slot), b = action_in(spec, p - 1 - r, slot);

            if (a.kind != FR_ACTION_NONE)
                fr__schedule_add(out, a.kind, a.stage, a.micro);
            if (b.kind != FR_ACTION_NONE)
                fr__schedule_add(out, b.kind, b.stage, spec->n_micros / 2 + b.micro);
        }
    }
    return FR_OK;
}

const struct fr_schedule_kind fr__schedule_chimera = {
    .name = "chimera",
    .summary = "two copies in opposite directions: half the bubble of 1F1B",
    .source = "Li and Hoefler, Chimera, SC 2021",
    .placement = FR_STAGES_TWO,
    .least_virtual = 2,
    .most_virtual = 2,
    .check = check,
    .make = make,
};
