/* lowering/pipeline/ties.h - parameters that ops of several items use: a table that is a model's
 * embedding and its output weights. Stages that hold such items exchange its gradient, and the new
 * table, once an iteration.
 *
 * Apart from stages_price.h, since these times hang on two stages, not on one place of a cut.
 */
#ifndef FR_LOWERING_PIPELINE_TIES_H
#define FR_LOWERING_PIPELINE_TIES_H

#include "lowering/pipeline/stages.h"
#include "sim/network/alone.h"

/* Fills the ties of *out, with arrays from the placer's arena, and leaves its other fields.
 *
 * Two kinds. Edges of the graph tie an op to the owner of its parameters: its gradient goes to the
 * owner's stage, a message for each op that makes one, and the new parameters come back. What
 * in->ends says instead is summed by both stages. A message has its links alone, but for those of
 * other replicas in a folded plan: latency + bytes / bandwidth. Only stages in which an item can
 * stand are priced. FR_ENOMEM. O(edges ties + ties n_stages^2). */
enum fr_status fr__stages_ties(struct fr__choice_problem *out, struct fr__placer *pl,
                               const struct fr__stages_problem *in, const struct fr__items *items,
                               struct fr__routes *routes, struct fr_error *err);

#endif
