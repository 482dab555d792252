/* workloads/graph/experts.c - which ops work for one expert: what lies between a dispatch, a gather
 * with one output an expert, and its combine. */
#include "config.h"

#include "workloads/graph/experts.h"

void fr__graph_experts(const struct fr_graph *g, uint32_t expert_of[])
{
    for (uint32_t o = 0; o < g->n_ops; o++) {
        const struct fr_op *op = &g->ops[o];

        expert_of[o] = FR_NONE;
        if (op->phase != FR_PHASE_FORWARD || op->kind == FR_OP_SCATTER)
            continue;
        for (uint32_t i = g->in_first[o]; i < g->in_first[o + 1]; i++) {
            const struct fr_edge *e = &g->edges[g->in_edges[i]];
            const struct fr_op *src = &g->ops[e->src];

            if (e->tensor == FR_NONE)
                continue;
            if (src->kind == FR_OP_GATHER && src->n_tensors > 1)
                expert_of[o] = e->tensor - src->first_tensor;
            else if (expert_of[o] == FR_NONE)
                expert_of[o] = expert_of[e->src];
        }
    }
}
