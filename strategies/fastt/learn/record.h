/* strategies/fastt/learn/record.h - FastT's learning on the simulated cluster, as a neutral record.
 *
 * Strategies dpos and os-dpos point their field `learn` here.
 */
#ifndef FR_STRATEGIES_FASTT_LEARN_RECORD_H
#define FR_STRATEGIES_FASTT_LEARN_RECORD_H

#include "strategies/fastt/learn/sim.h"

/* Field `learn` of struct fr_strategy, for in's options. splits: OS-DPOS, else DPOS. */
enum fr_status fr__fastt_learn(const struct fr_problem *in, bool splits,
                               const struct fr_learn_options *o, const struct fr_run_options *run,
                               const struct fr_context *ctx, struct fr_learning **out,
                               struct fr_error *err);
#endif
