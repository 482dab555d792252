/* lowering/dag/plan.h - the plan of a dag whose operations have been placed and put in
 * order.
 *
 * Each operation is a compute task on its device, at its place in the order. Parameters exist from
 * the start (a marker). What a reader on another device needs is sent once to each device as soon
 * as it is made. Messages are on no stream, so only the network delays them. Tasks take what
 * fr__dag_cost says, and no time of the host.
 *
 * So a planner foresees the plan's run exactly, if it lets an operation begin when its inputs have
 * arrived and the operation before it on the device has ended, and if the plan runs in strict
 * order, on the analytic network and without a limit on channels.
 *
 * The plan's graph is the dag (lowering/dag/graph.h), so tasks and buffers name the dag's
 * operations, and the plan knows which op of the user each stands for.
 *
 * Memory:  an output lives until its last reader is done; it shares storage with an input where the
 *          graph says so and the storage is on the device. A received copy is treated in the same
 *          way. Scratch lives while its operation runs.
 */
#ifndef FR_LOWERING_DAG_PLAN_H
#define FR_LOWERING_DAG_PLAN_H

#include "lowering/dag/dag.h"
#include "lowering/dag/lines.h"

/* A dag whose operations are placed and in order. */
struct fr__placed_dag {
    const struct fr__dag *dag;
    const uint32_t *device, *order;    /* [n_ops] as fr__dag_plan takes them */
    const struct fr__dag_turns *turns; /* for messages that line up; NULL: pair by pair */
};

/* Adds the dag to pl's plan, which must be empty. device: [n_ops] index among the problem's
 * devices; order: [n_ops] all operations, none before what it reads; task_of: [n_ops] filled with
 * the tasks, or NULL. FR_ENOMEM. Cost: O(ops + edges devices). */
enum fr_status fr__dag_plan(struct fr__placer *pl, const struct fr__placed_dag *placed,
                            uint32_t task_of[], struct fr_error *err);
#endif
