/* lowering/pipeline/moments.h - how many micro-batches a rank holds, at the moments of its order
 * of work at which it may hold most. */
#ifndef FR_LOWERING_PIPELINE_MOMENTS_H
#define FR_LOWERING_PIPELINE_MOMENTS_H

#include "base/arena.h"
#include "lowering/partition/chain.h"
#include "lowering/schedules/schedule.h"

/* Fills *out with [n_ranks] from the arena. Each rank's actions are walked: a micro-batch is whole
 * in a stage from its forward on, and half once the gradient of its input has run, where that of
 * the weights comes apart. Of all moments those stay that no other has at least as much of
 * everything. rank_of: [n_stages]; each stage is on one rank. FR_ENOMEM.
 * O(actions * moments kept * stages of a rank). */
enum fr_status fr__moments_find(const struct fr__moments **out, const struct fr_schedule *s,
                                const uint32_t rank_of[], struct fr__arena *arena,
                                struct fr_error *err);

#endif
