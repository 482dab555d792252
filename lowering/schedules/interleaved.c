/* lowering/schedules/interleaved.c - 1F1B over several stages a rank, as in Megatron-LM.
 *
 * Rank s of p runs 2 (p - 1 - s) + (v - 1) n forwards first, with v stages a rank and n
 * micro-batches a group. Overlapping the all-to-all of experts takes one forward more.
 * Source: D. Narayanan et al., Megatron-LM, SC 2021, section 2.2; warm-up and order as in
 * Megatron-LM, megatron/core/pipeline_parallel/schedules.py, get_pp_rank_microbatches and
 * get_schedule_table.
 */
#include "config.h"

#include "lowering/schedules/maker.h"

static enum fr_status make_with(const struct fr_schedule_spec *spec, struct fr_schedule *out,
                                uint32_t n_more)
{
    uint64_t between = (uint64_t)(spec->n_virtual - 1) * spec->group + n_more;

    for (uint32_t r = 0; r < spec->n_ranks; r++) {
        fr__schedule_rank(out, r);
        fr__schedule_turns(out, spec, r, 2 * (uint64_t)(spec->n_ranks - 1 - r) + between);
    }
    return FR_OK;
}

static enum fr_status make(const struct fr_schedule_spec *spec, struct fr_schedule *out,
                           struct fr_error *err)
{
    (void)err;
    return make_with(spec, out, 0);
}

static enum fr_status make_moe(const struct fr_schedule_spec *spec, struct fr_schedule *out,
                               struct fr_error *err)
{
    (void)err;
    return make_with(spec, out, 1);
}

const struct fr_schedule_kind fr__schedule_interleaved_1f1b = {
    .name = "interleaved-1f1b",
    .summary = "1F1B over several stages a rank: a smaller bubble",
    .source = "Narayanan et al., Megatron-LM, SC 2021",
    .placement = FR_STAGES_LOOP,
    .least_virtual = 1,
    .most_virtual = 0,
    .takes_group = true,
    .make = make,
};

const struct fr_schedule_kind fr__schedule_moe_overlap = {
    .name = "moe-overlap",
    .summary = "interleaved 1F1B with one more forward first, to overlap all-to-alls",
    .source = "Megatron-LM, schedules.py (overlap_moe_expert_parallel_comm)",
    .placement = FR_STAGES_LOOP,
    .least_virtual = 1,
    .most_virtual = 0,
    .takes_group = true,
    .make = make_moe,
};
