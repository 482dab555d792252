/* strategies/fastt/os_dpos.h - OS-DPOS: DPOS of a dag whose operations may be split.
 *
 * The start is planned; the longest path of that plan (costs where operations stand and moves, no time
 * of waiting) is sorted by falling cost. In this order each operation that can be split is tried in all
 * ways, the whole dag planned for each; the best way is kept when the step becomes shorter. The
 * first operation tried for which none is shorter ends the search (with patience n: n of them in a
 * row); one that cannot be split is passed over. Of equal times fewer parts, then the batch before the channels.
 *
 * Neither of these changes an answer: an evaluation is stopped as soon as its makespan is known to reach
 * that of the best way so far (an end and the longest chain of cheapest costs behind it); and it takes
 * over the plan before the split up to the first decision that is another (dpos.h), undoing what
 * came after it there.
 *
 * Source: X. Yi et al., FastT, Middleware 2020, Algorithm 2. The paper does not say what a path
 *         operation that cannot be split does to the loop; here it carries no evidence.
 */
#ifndef FR_STRATEGIES_FASTT_OS_DPOS_H
#define FR_STRATEGIES_FASTT_OS_DPOS_H

#include "strategies/fastt/dpos.h"
#include "strategies/fastt/os_dpos_split.h"

struct fr__os_dpos_options {
    unsigned max_parts;   /* at least 2 to split at all; 0: as many as devices */
    bool powers_of_two;   /* only 2, 4, 8 parts */
    uint8_t dims;         /* bits FR__DAG_BATCH and FR__DAG_CHANNEL; 0: both */
    unsigned max_tried;   /* operations; 0: no limit */
    unsigned patience;    /* operations in a row for which nothing is shorter end it; 0: 1 */
    bool evaluates_whole; /* stops no evaluation early */
    bool plans_anew;      /* takes over nothing from the plan before the split */
    struct fr__split_costs costs;
};

/* One way of one operation. */
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
    FR__OS_DPOS_NO_GAIN,          /* of the last operations tried */
    FR__OS_DPOS_ALL_TRIED,
    FR__OS_DPOS_SPENT /* max_tried */
};

struct fr__os_dpos_result {
    double start_s;            /* what the start takes */
    const struct fr__dag *dag; /* with all splits that were kept */
    struct fr__dpos_result
        plan;             /* of it; outcome NO_ROOM: the start does not fit, nothing was tried */
    const uint32_t *path; /* [n_path] of the start's plan, by falling cost */
    const struct fr__os_dpos_try *tries; /* [n_tries] in order */
    size_t n_path, n_tries;
    enum fr__os_dpos_end end;
    size_t n_ops_tried, n_splits, n_whole, n_stopped; /* evaluations of either sort */
    size_t n_decisions, n_kept;                       /* of all evaluations; those taken over */
};

struct fr__os_dpos;

/* The planner owns what the result points to, and stays for as long. FR_ENOMEM, FR_ECANCELLED.
 * The dag must stay; ctx may be NULL. */
enum fr_status fr__os_dpos_run(struct fr__os_dpos **out, const struct fr__dag *start,
                               const struct fr__dpos_machine *m,
                               const struct fr__os_dpos_options *options,
                               const struct fr_context *ctx, struct fr__os_dpos_result *result,
                               struct fr_error *err);
void fr__os_dpos_free(struct fr__os_dpos *o);
#endif
