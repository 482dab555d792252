/* strategies/lists/dispatch.h - greedy dispatching: whenever a device is free, it takes the first
 * operation that is ready.
 *
 * An operation is ready when all that it reads has been computed, on any device. Its device is the
 * one, among those that are free at that moment, where it starts first (its inputs may have to
 * come from elsewhere), of equal ones where it ends first, then the lowest. A device waits for the
 * inputs of what it took. So no device is idle while something is ready, which is Graham's rule.
 *
 * Source:  R. L. Graham, "Bounds on Multiprocessing Timing Anomalies", SIAM J. Appl. Math. 17(2),
 *          1969: without communication, at most 2 - 1/n times the optimum on n like devices.
 */
#ifndef FR_STRATEGIES_LISTS_DISPATCH_H
#define FR_STRATEGIES_LISTS_DISPATCH_H

#include "strategies/lists/lists.h"

/* What ready operations are sorted by, the least first, of equal ones the lower index. ready_s:
 * when the operation became ready. */
typedef double (*fr__dispatch_key_fn)(void *user, uint32_t op, double ready_s);

/* Places all operations. FR_ENOMEM, FR_ECANCELLED. Cost: O(ops (log ops + devices inputs)). */
enum fr_status fr__dispatch(struct fr__timetable *t, fr__dispatch_key_fn key, void *user,
                            const struct fr_context *ctx, struct fr_error *err);

#endif
