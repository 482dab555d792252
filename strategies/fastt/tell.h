/* strategies/fastt/tell.h - FastT's plans as a record of decisions (lowering/decisions.h). */
#ifndef FR_STRATEGIES_FASTT_TELL_H
#define FR_STRATEGIES_FASTT_TELL_H

#include "strategies/fastt/fastt.h"
#include "strategies/strategies.h"
#include "lowering/decisions_new.h"

/* How another planner than FastT's speaks of the same decisions; the strings must live as long as
 * the record. */
struct fr__tell_words {
    const struct fr_reason *reasons; /* by enum fr__dpos_why, those that the planner has */
    const char *rank_rule, *list_rule, *path_rule; /* NULL: nothing is told of it */
    const double *down_s;                          /* [n_ops] downward ranks; NULL: it has none */
};

/* FastT's own reason. */
const struct fr_reason *fr__tell_reason(enum fr__dpos_why why);

/* One run of DPOS, and how much of it is reported. */
struct fr__tell_run {
    const struct fr__dag *dag;
    const struct fr__dpos_machine *machine;
    const struct fr__dpos_result *result;
    const struct fr__dpos_bounds *bounds;
    const uint32_t *tasks; /* [n_ops] of the plan; NULL: none */
    const struct fr__dpos_record
        *record; /* how it was decided; NULL: only the schedule is reported */
    const struct fr__tell_words *words; /* NULL: FastT's */
};

/* Fills out, without its words: token, heading, title, caption, note, is_given. All memory comes
 * from the arena. false: out of memory. Cost: O((ops + edges) devices) with a record, else
 * O(ops). */
bool fr__tell_run(struct fr_decided_plan *out, struct fr__arena *arena,
                  const struct fr__tell_run *run);

/* A new record with everything but plans. *arena is the record's. NULL: out of memory. */
struct fr_decisions *fr__tell_fastt(const struct fr__fastt *f, const struct fr_problem *in,
                                    struct fr__arena **arena);
/* Adds all splits that were tried, why the search ended, and what was compared. For a search with
 * splits only. false: out of memory. */
bool fr__tell_search(struct fr_decisions *d, const struct fr__fastt *f, struct fr__arena *arena);

/* The answer alone: one plan, with the tasks that its operations became. FR_ENOMEM. */
enum fr_status fr__tell_answer(struct fr_decisions **out, const struct fr__fastt *f,
                               const struct fr_problem *in, const uint32_t tasks[],
                               struct fr_error *err);

/* How the planner came to its answer (explain.c). The planner runs again on the dag that it started
 * from and, if the plan is of another dag, on that, and writes down what it saw at each decision
 * (struct fr__dpos_record). Errors as fr__fastt_run. Cost: that of the planner. */
enum fr_status fr__explain(struct fr_decisions **out, const struct fr_problem *in,
                           const struct fr_context *ctx, bool splits, struct fr_error *err);

#endif
