/* lowering/dag/order.h - a dag's operations in the order of the program. */
#ifndef FR_LOWERING_DAG_ORDER_H
#define FR_LOWERING_DAG_ORDER_H

#include "lowering/dag/dag.h"

/* Fills order [n_ops]: variables, then the bodies of all replicas side by side in the order of the
 * graph, then sums and updates, those first whose gradients are made first. A planner's list has
 * weight gradients last, since nothing but updates reads them. That holds what they read for
 * longer, and sends gradients later. Dags without split operations. FR_ENOMEM. Cost: O(n log n). */
enum fr_status fr__dag_program_order(const struct fr__dag *dag, uint32_t order[],
                                     struct fr_error *err);
#endif
