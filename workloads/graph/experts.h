/* workloads/graph/experts.h - which ops of a graph work for one expert; for passes that split
 * them or run them again. */
#ifndef FR_WORKLOADS_GRAPH_EXPERTS_H
#define FR_WORKLOADS_GRAPH_EXPERTS_H

#include "workloads/workloads.h"

/* expert_of: [n_ops] which expert a forward op belongs to, FR_NONE. Experts are the ops between a
 * dispatch (a gather with one output an expert) and its combine. */
void fr__graph_experts(const struct fr_graph *g, uint32_t expert_of[]);

#endif
