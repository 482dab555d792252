/* strategies/fastt/tell.h - FastT's plans as a record of decisions (strategies/decisions.h). */
#ifndef FR_STRATEGIES_FASTT_TELL_H
#define FR_STRATEGIES_FASTT_TELL_H

#include "strategies/fastt/fastt.h"
#include "strategies/lower/decisions.h"

/* One run of DPOS, and what is to be told of it. */
struct fr__tell_run {
    const struct fr__dag *dag;
    const struct fr__dpos_machine *machine;
    const struct fr__dpos_result *result;
    const struct fr__dpos_bounds *bounds;
    const uint32_t *tasks;                /* [n_ops] of the plan; NULL: none */
    const struct fr__dpos_record *record; /* how it was decided; NULL: the schedule alone is told */
};

/* Fills out, without its words: token, heading, title, caption, note, is_given. All memory comes
 * from the arena. false: out of memory. Cost: O((ops + edges) devices) with a record, else
 * O(ops). */
bool fr__tell_run(struct fr_decided_plan *out, struct fr__arena *arena,
                  const struct fr__tell_run *run);

/* A new record with all that is not a plan; *arena is the record's. NULL: out of memory. */
struct fr_decisions *fr__tell_fastt(const struct fr__fastt *f, const struct fr_problem *in,
                                    struct fr__arena **arena);
/* All splits that were tried, why no more, and what was compared; with splits only. false: out of
 * memory. */
bool fr__tell_search(struct fr_decisions *d, const struct fr__fastt *f, struct fr__arena *arena);

/* The answer alone: one plan, with the tasks that its operations became. FR_ENOMEM. */
enum fr_status fr__tell_answer(struct fr_decisions **out, const struct fr__fastt *f,
                               const struct fr_problem *in, const uint32_t tasks[],
                               struct fr_error *err);

/* strategies/fastt/explain.c: the way to the answer. The planner runs again on the dag that it
 * started from and, where something else became the plan, on that, and writes down what it saw at
 * each decision (struct fr__dpos_record). Errors as fr__fastt_run. Cost: as the planner's. */
enum fr_status fr__explain(struct fr_decisions **out, const struct fr_problem *in,
                           const struct fr_context *ctx, bool splits, struct fr_error *err);

#endif
