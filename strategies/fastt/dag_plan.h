/* strategies/fastt/dag_plan.h - the plan of a dag whose operations have been placed and put in
 * order.
 *
 * Each operation is a compute task on its device, at its place in the order; parameters are there
 * from the start (a marker). What a reader on another device needs is sent when it has been made,
 * once to each device, on no stream, so that only the network holds it up. Tasks take what
 * fr__dag_cost says and no host time of their own.
 *
 * So, in strict order, on the analytic network and without a limit on channels, the plan runs
 * exactly as a planner foresees that lets an operation begin when its inputs have arrived and the
 * one before it on the device has ended.
 *
 * The plan's graph is the dag (strategies/fastt/dag_graph.h), so tasks and buffers name the dag's
 * operations, and the plan knows which of the user's ops each stands for.
 *
 * Memory: outputs live until their last reader is done, in place where the graph says so and the
 * storage is on the device; what was received likewise; scratch while its operation runs.
 */
#ifndef FR_STRATEGIES_FASTT_DAG_PLAN_H
#define FR_STRATEGIES_FASTT_DAG_PLAN_H

#include "strategies/fastt/dag.h"

/* Adds the dag to pl's plan, which must be empty. device: [n_ops] index among the problem's
 * devices; order: [n_ops] all operations, none before what it reads; task_of: [n_ops] filled with
 * the tasks, or NULL. FR_ENOMEM. Cost: O(ops + edges devices). */
enum fr_status fr__dag_plan(struct fr__placer *pl, const struct fr__dag *dag,
                            const uint32_t device[], const uint32_t order[], uint32_t task_of[],
                            struct fr_error *err);
#endif
