/* lowering/pipeline/stages_price.h - a graph's items as the chain that lowering/partition cuts:
 * times by stage, transfers by place of the cut, memory.
 *
 * Apart from stages.h, since those who cut by passes alone need none of it.
 */
#ifndef FR_LOWERING_PIPELINE_STAGES_PRICE_H
#define FR_LOWERING_PIPELINE_STAGES_PRICE_H

#include "lowering/pipeline/stages_memory.h"

/* Fills *out, with arrays from the placer's arena. Items, of which ops belong to them: as
 * struct fr__items; memory: of them, whose arrays go over. in->schedule must be given.
 *
 * What crosses a cut: each tensor that a forward op before it makes and one after it reads, once;
 * and so back. Each storage is a message, and the time is that of all of them one after the
 * other, alone (sim/network/alone.h), times the messages that share the links in a folded plan.
 * A tensor that skips stages is counted at each cut that it crosses. Kept versions of weights
 * count as the schedule keeps them. FR_ENOMEM. */
enum fr_status fr__stages_price(struct fr__choice_problem *out, struct fr__placer *pl,
                                const struct fr__stages_problem *in, const struct fr__items *items,
                                const struct fr__stages_memory *memory, struct fr_error *err);

#endif
