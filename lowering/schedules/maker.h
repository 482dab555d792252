/* lowering/schedules/maker.h - what the generators share: they append actions, rank by rank. */
#ifndef FR_LOWERING_SCHEDULES_MAKER_H
#define FR_LOWERING_SCHEDULES_MAKER_H

#include "lowering/schedules/schedule.h"

#define FR__SCHEDULE_DECLARE(name) extern const struct fr_schedule_kind fr__schedule_##name;
FR_SCHEDULES(FR__SCHEDULE_DECLARE)
#undef FR__SCHEDULE_DECLARE

/* An empty schedule with room for that many actions; the caller frees it. FR_ERANGE, FR_ENOMEM. */
enum fr_status fr__schedule_new(struct fr_schedule **out, uint32_t n_ranks, uint64_t n_actions,
                                struct fr_error *err);

/* The next rank's list begins; ranks in order from 0. */
void fr__schedule_rank(struct fr_schedule *s, uint32_t rank);
/* Appends to that rank's list; there must be room. */
void fr__schedule_add(struct fr_schedule *s, enum fr_action_kind kind, uint32_t stage,
                      uint32_t micro);
void fr__schedule_add_pair(struct fr_schedule *s, uint32_t stage, uint32_t micro,
                           uint32_t with_stage, uint32_t with_micro);

/* One forward, one backward: the rank's n_warm first forwards (no more than there are), then a
 * forward and a backward in turn, then the remaining backwards. Stages in the order of
 * fr__schedule_visit, backward from the last chunk to the first. */
void fr__schedule_turns(struct fr_schedule *s, const struct fr_schedule_spec *spec, uint32_t rank,
                        uint64_t n_warm);

/* All ranks do so, rank s of p after p - 1 - s forwards: 1F1B, for a schedule's `make`. */
enum fr_status fr__schedule_make_1f1b(const struct fr_schedule_spec *spec, struct fr_schedule *out,
                                      struct fr_error *err);

/* The i-th pass of a rank that visits its chunks in groups of micro-batches: group g runs chunk 0,
 * then chunk 1, and so on. The last group may be shorter. */
struct fr__visit {
    uint32_t chunk, micro;
};
struct fr__visit fr__schedule_visit(const struct fr_schedule_spec *spec, uint32_t i);

static inline uint32_t fr__min_u32(uint64_t a, uint32_t b)
{
    return a < b ? (uint32_t)a : b;
}

#endif
