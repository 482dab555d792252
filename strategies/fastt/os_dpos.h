/* strategies/fastt/os_dpos.h - OS-DPOS: DPOS of a dag whose operations may be split.
 *
 * The start is planned by DPOS. The operations of that plan's longest path (costs on the chosen
 * devices and moves, without waiting) are sorted by falling cost. In this order each operation that
 * can be split is tried: the whole dag is planned for each way to split it. The best way is kept if
 * it makes the step shorter; of equal times the one with fewer parts, then the batch before the
 * channels. The first operation for which no way is shorter ends the search (with patience n: n of
 * them in a row). An operation that cannot be split is skipped.
 *
 * Two shortcuts change no answer. An evaluation stops as soon as its makespan is known to reach
 * that of the best way so far (the end of an operation plus the longest chain of cheapest costs
 * after it). And an evaluation takes over the plan before the split up to the first decision that
 * differs (dpos.h).
 *
 * Source:  X. Yi et al., FastT, Middleware 2020, Algorithm 2. The paper does not say how an
 *          operation of the path that cannot be split affects the loop; here it counts neither way.
 */
#ifndef FR_STRATEGIES_FASTT_OS_DPOS_H
#define FR_STRATEGIES_FASTT_OS_DPOS_H

#include "strategies/fastt/dpos.h"
#include "strategies/fastt/os_dpos_split.h"

struct fr__os_dpos_options {
    unsigned max_parts;   /* 1: no splits; 0: as many as devices */
    bool powers_of_two;   /* only 2, 4, 8 parts */
    uint8_t dims;         /* bits FR__DAG_BATCH and FR__DAG_CHANNEL; 0: both */
    unsigned max_tried;   /* operations that are tried; 0: no limit */
    double most_made;     /* operations of all dags that are tried, about; 0: no limit */
    unsigned patience;    /* the search ends after so many operations in a row without gain; 0: 1 */
    bool evaluates_whole; /* stops no evaluation early */
    bool plans_anew;      /* takes over nothing from the plan before the split */
    bool inputs_wait,
        looks_ahead; /* as struct fr__dpos_options; looking ahead plans anew, and so do
                                    * links that are shared */
    struct fr__split_costs costs;
};

/* One way to split one operation. */
struct fr__os_dpos_try {
    uint32_t op; /* of the start */
    enum fr__dag_dim dim;
    unsigned n;
    double before_s;
    double after_s; /* infinite: does not fit; NaN: stopped, not shorter than the best so far */
    bool is_kept;
};

enum fr__os_dpos_end {
    FR__OS_DPOS_NOTHING_TO_SPLIT, /* on the path */
    FR__OS_DPOS_NO_GAIN,          /* no gain from the last operations tried */
    FR__OS_DPOS_ALL_TRIED,
    FR__OS_DPOS_SPENT /* max_tried, most_made */
};

struct fr__os_dpos_result {
    double start_s;            /* step of the start */
    const struct fr__dag *dag; /* with all splits that were kept */
    struct fr__dpos_result
        plan;             /* its plan; outcome NO_ROOM: the start does not fit, and nothing was
                           * tried */
    const uint32_t *path; /* [n_path] of the start's plan, by falling cost */
    const struct fr__os_dpos_try *tries; /* [n_tries] in order */
    size_t n_path, n_tries;
    enum fr__os_dpos_end end;
    size_t n_ops_tried, n_splits;
    size_t n_whole, n_stopped;  /* evaluations in full; stopped early */
    size_t n_decisions, n_kept; /* decisions of all evaluations; those taken over */
};

struct fr__os_dpos;

/* Searches. The planner owns what the result points to; free it when the result is no longer used.
 * The dag must outlive it; ctx may be NULL. FR_ENOMEM, FR_ECANCELLED. */
enum fr_status fr__os_dpos_run(struct fr__os_dpos **out, const struct fr__dag *start,
                               const struct fr__dpos_machine *m,
                               const struct fr__os_dpos_options *options,
                               const struct fr_context *ctx, struct fr__os_dpos_result *result,
                               struct fr_error *err);
void fr__os_dpos_free(struct fr__os_dpos *o);
#endif
