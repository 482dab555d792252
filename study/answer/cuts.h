/* study/answer/cuts.h - a pipeline whose run took another time than its cut was planned for is run
 * with other cuts, and the fastest stays. */
#ifndef FR_STUDY_ANSWER_CUTS_H
#define FR_STUDY_ANSWER_CUTS_H

#include "study/answer/record.h"

/* How m's question is planned again, as m->cut asks, and run. */
struct fr__replanner {
    enum fr_status (*plan)(struct fr__making *m, void *user, struct fr_error *err);
    enum fr_status (*run)(struct fr__making *m, struct fr_error *err);
    void *user;
};

/* m: planned and run, with a cut as believed to be the best. On return it has the plan and the run
 * of the fastest cut of those kinds that strategies offer (lowering/partition/kinds.h), the first
 * of equals, and m->cut says which kind that is; the log tells of both times. Nothing is done
 * where the run took about as long as planned, some GPU is over its memory, or the plan is large
 * (lowering/cut_runs.h). Runs that decide are without random times and without slower resources
 * (fr_run_options' slowness), of which the planner knows nothing, so that these do not choose.
 * Cost: at most five plans and runs. Errors of both. */
enum fr_status fr__cuts_decide(struct fr__making *m, const struct fr__replanner *by,
                               struct fr_error *err);

#endif
