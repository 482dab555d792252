/* strategies/lists/exact_search.h - branch and bound over schedules of a small dag.
 *
 * A node is a schedule of some operations. Its children place one more ready operation on one
 * device, behind all that the device has, and not before the start of the operation placed last:
 * each schedule in which nothing could start earlier is reached, sorted by starts. A node is cut
 * off where no schedule behind it can be shorter than the best that is known:
 *
 *  - an operation that is ready cannot end before its earliest end anywhere, and behind it comes
 *    the longest chain of least costs;
 *  - all devices together need what they have taken and the least costs of what is left.
 *
 * Devices that are alike (same costs, and moves that take the same to and from all others) and have
 * nothing yet are tried once.
 *
 * Cost:    exponential. max_nodes ends it; then the least bound of what was not looked at is what
 *          is proved.
 * Source:  W. H. Kohler, K. Steiglitz, "Enumerative and Iterative Computational Approaches", in
 *          E. G. Coffman (ed.), Computer and Job-Shop Scheduling Theory, 1976.
 */
#ifndef FR_STRATEGIES_LISTS_EXACT_SEARCH_H
#define FR_STRATEGIES_LISTS_EXACT_SEARCH_H

#include "strategies/lists/timetable.h"

enum { FR__EXACT_MAX_OPS = 256 };

struct fr__exact_answer {
    uint32_t *order,
        *device; /* [n_ops] of t's arena: in which they are placed, and where; variables
                                 are not in it */
    size_t n_placed;
    double best_s;  /* the makespan; that of the start if nothing better was found */
    double bound_s; /* no schedule is shorter; best_s: it is the optimum */
    uint64_t n_nodes;
    bool is_from_search; /* order and device are filled: it is shorter than the start */
};

/* Looks for a schedule that is shorter than best_s. t is empty; its arrays are used and left empty.
 * FR_ENOMEM, FR_ECANCELLED. */
enum fr_status fr__exact_search(struct fr__timetable *t, double best_s, uint64_t max_nodes,
                                const struct fr_context *ctx, struct fr__exact_answer *out,
                                struct fr_error *err);

#endif
