/* lowering/cut_runs.h - whether it is worth running a model with further cuts, and which of them
 * are new. For all who run a strategy's plans: questions, and planners that weigh strategies. */
#ifndef FR_LOWERING_CUT_RUNS_H
#define FR_LOWERING_CUT_RUNS_H

#include "lowering/lowering.h"

/* How many kinds of further cuts are worth a run, from the first on; 0: none. Some are where the
 * run of a plan that is cut as c says took another time than was believed, so that another cut
 * may be faster, and where the plan is small enough to be run again. */
unsigned fr__cut_wants_runs(const struct fr_cut_choice *c, double made_s);

/* Whether a run could want others at all: there is a choice, and the plan may be small enough. */
bool fr__cut_may_want_runs(const struct fr_cut_choice *c);

/* Cuts that were run. */
struct fr__cuts_seen {
    uint64_t signatures[FR_CUT_KINDS];
    unsigned n;
};
/* Whether c fits and is none of them; then it is one of them. At most FR_CUT_KINDS times. */
bool fr__cut_is_new(struct fr__cuts_seen *seen, const struct fr_cut_choice *c);

#endif
