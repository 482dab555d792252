/* sim/analysis/selfcheck.h - checks a run's result against what the plan alone says must have
 * happened. */
#ifndef FR_SIM_ANALYSIS_SELFCHECK_H
#define FR_SIM_ANALYSIS_SELFCHECK_H

#include "sim/sim.h"

/* Checks of every run:
 *   order    no task starts before its predecessors have ended, none ends before it starts
 *   account  on each device compute + exposed communication + idle time = makespan, and the compute
 *            time is that of its tasks when these share one stream; likewise what it did in the
 *            last iteration sums to run->iteration_s
 *   bytes    each link carried what the plan's messages put on it
 *   memory   at the end each device holds its persistent buffers and nothing else
 *   bound    the makespan is not below run->makespan_bound_s, the iteration not below
 *            run->lower_bound_s
 *   parts    where asked for, the parts of the iteration sum to its time
 * expected_link_bytes: [n_links]. FR_ECHECK names the check that failed, the place and both values.
 * Cost: O(tasks + dependencies + links). */
enum fr_status fr__self_check(const struct fr_plan *p, const struct fr_run *run,
                              const double expected_link_bytes[], struct fr_error *err);
/* Under a network model that shares links:
 *   links    no link carried more than its bandwidth in the makespan
 * link_Bps: [n_links] as fast as the run made them. Cost: O(links). */
enum fr_status fr__check_links(const struct fr_plan *p, const struct fr_run *run,
                               const double link_Bps[], struct fr_error *err);
#endif
