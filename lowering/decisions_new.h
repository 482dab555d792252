/* lowering/decisions_new.h - makes a record of decisions for a strategy to fill. */
#ifndef FR_LOWERING_DECISIONS_NEW_H
#define FR_LOWERING_DECISIONS_NEW_H

#include "base/arena.h"
#include "lowering/decisions.h"
#include "lowering/lowering.h"

/* An empty record. What it points to comes from *arena, which the record owns; the problem's
 * devices are filled in, each with no room and column 0. NULL: out of memory. */
struct fr_decisions *fr__decisions_new(const struct fr_problem *in, struct fr__arena **arena,
                                       struct fr_decided_device **devices);
/* Leaves a record with a promise (copied) where the problem wants one. stages, NULL: none: a plan
 * for it to own, with a copy of its profile; *stages is NULL then. FR_ENOMEM. */
enum fr_status fr__decisions_promise(const struct fr_problem *in,
                                     const struct fr_decided_promise *promise,
                                     struct fr_stage_plan **stages, struct fr_error *err);
/* The record frees the schedule, its only one, with itself. */
void fr__decisions_own(struct fr_decisions *d, struct fr_schedule *schedule);
#endif
