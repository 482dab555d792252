/* strategies/fastt/dpos_moves.h - what a plan becomes when single operations move to other devices.
 *
 * All operations of the plan are placed, so that only their times are found: DPOS takes them by
 * falling rank, and the times of an operation depend on those before it alone. A plan with one
 * operation moved is that plan up to the operation. So the planner undoes what comes behind, and
 * plans only that again, until the step is known to take too long.
 */
#ifndef FR_STRATEGIES_FASTT_DPOS_MOVES_H
#define FR_STRATEGIES_FASTT_DPOS_MOVES_H

#include "strategies/fastt/dpos.h"

struct fr__dpos_moves;

/* Starts from options->placed, which fits. Of the other options, list, ranks_of_means and appends
 * count. dag and p must outlive *out; nothing else is planned with p until *out is freed.
 * FR_ENOMEM. Cost: as fr__dpos_run on one device. */
enum fr_status fr__dpos_moves_new(struct fr__dpos_moves **out, struct fr__dpos *p,
                                  const struct fr__dag *dag, const struct fr__dpos_options *options,
                                  struct fr_error *err);
void fr__dpos_moves_free(struct fr__dpos_moves *m);

/* The devices of operations, [n_ops]. Valid until *m is freed. */
const uint32_t *fr__dpos_moves_device(const struct fr__dpos_moves *m);

/* Moves an operation, with all of its group, to another device. The move stays if the makespan
 * becomes less than *makespan_s, which then is the new one; *is_better says so. FR_ENOMEM,
 * FR_ECANCELLED. */
enum fr_status fr__dpos_moves_try(struct fr__dpos_moves *m, uint32_t op, uint32_t device,
                                  double *makespan_s, bool *is_better, struct fr_error *err);
#endif
