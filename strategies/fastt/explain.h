/* strategies/fastt/explain.h - how DPOS or OS-DPOS came to a plan, from the planner's own record.
 *
 * The planner runs again on the dag that it started from and, where something else became the plan, on
 * that, and writes down what it saw at each decision (struct fr__dpos_record). Nothing is
 * worked out a second time but the gap that an operation was put into: what was taken on its device by
 * those before it in the list.
 */
#ifndef FR_STRATEGIES_EXPLAIN_H
#define FR_STRATEGIES_EXPLAIN_H

#include "strategies/fastt/fastt.h"

enum fr__explained_kind {
    FR__EXPLAINED_START,   /* what was started from, by DPOS */
    FR__EXPLAINED_SPLITS,  /* with the splits that were kept */
    FR__EXPLAINED_REPLICAS /* replicas left alone, where these are the plan */
};

/* One run of DPOS. */
struct fr__explained_plan {
    enum fr__explained_kind kind;
    const struct fr__dag *dag;
    struct fr__dpos_result result;
    struct fr__dpos_record record;
    struct fr__dpos_bounds bounds;
    const uint32_t *place; /* [n_ops] in the list by falling rank */
    /* [n_ops] the free interval at the moment of the decision; the end may be infinite. Of no meaning for
     * a variable that waited. */
    const double *gap_begin_s, *gap_end_s;
};

struct fr_explained {
    const struct fr_problem *problem;
    const struct fr__fastt *fastt; /* the machine, what was started from, the splits tried */
    bool splits;                   /* OS-DPOS */
    size_t n_plans;                /* at least 1 */
    /* The start, unless DPOS finds no room for it; then what became the plan in its place, if anything
     * did. */
    struct fr__explained_plan plans[2];
};

/* *in and what it points to must stay. Errors as fr__fastt_run. Cost: as the planner's. */
enum fr_status fr__explain(struct fr_explained **out, const struct fr_problem *in,
                           const struct fr_context *ctx, bool splits, struct fr_error *err);
void fr__explained_free(struct fr_explained *e);

/* The first of the readers that a variable waited for. */
uint32_t fr__explained_reader(const struct fr__explained_plan *p, uint32_t variable);

/* Devices on which an operation would have ended as early as where it stands. */
size_t fr__explained_equals(const struct fr__explained_plan *p, uint32_t op, size_t n_devices);

#endif
