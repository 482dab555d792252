/* lowering/dag/graph.h - the dag as the graph of a plan: operation i of the dag is op i. */
#ifndef FR_LOWERING_DAG_GRAPH_H
#define FR_LOWERING_DAG_GRAPH_H

#include "lowering/dag/dag.h"

/* Gives the plan the dag's operations, parts, replicas and helpers with them, as a graph of its
 * own. Each stands for the op of the problem's graph that it is, is part of or works for. To be
 * called before any task is added. FR_ENOMEM. Cost: O(ops + edges). */
enum fr_status fr__dag_give_graph(struct fr_plan *plan, const struct fr__dag *dag,
                                  struct fr_error *err);
#endif
