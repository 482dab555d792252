/* workloads/passes/shard/rules.h - which loops each kind of op has, and which dimension of each
 * operand carries which loop.
 *
 * A loop that is divided over ranks gives the placement of every operand: one that carries the loop
 * is split along that dimension, one that does not is replicated, and a result that sums over the
 * loop is partial. The same loops serve the backward ops, for the gradient of a tensor has the
 * tensor's dimensions: a gradient that lacks the divided loop has been summed over it and is
 * partial.
 *
 * Source: placements found by execution for 53 cases (large-models 1.2); the rules give the same.
 */
#ifndef FR_WORKLOADS_PASSES_SHARD_RULES_H
#define FR_WORKLOADS_PASSES_SHARD_RULES_H

#include "workloads/passes/shard.h"

enum {
    FR__LACKS = -1,  /* the operand does not carry the loop */
    FR__PACKED = -2, /* packed queries, keys and values: only the queries carry it, dimension 1 */
};

/* Dimension in which input `input` (an index into in_edges, from in_first[op] on) or output k of
 * the forward op carries the loop; FR__LACKS, FR__PACKED. A dimension of extent 1 carries none. */
int fr__shard_input_dim(const struct fr_graph *g, uint32_t op, uint32_t input, enum fr__split loop);
int fr__shard_output_dim(const struct fr_graph *g, uint32_t op, uint32_t k, enum fr__split loop);

/* Whether the forward op has the loop; its parameters carry it; its first output is a sum over
 * it. */
bool fr__shard_has_loop(const struct fr_graph *g, uint32_t op, enum fr__split loop);
bool fr__shard_params_carry(const struct fr_graph *g, uint32_t op, enum fr__split loop);
bool fr__shard_sums_over(const struct fr_graph *g, uint32_t op, enum fr__split loop);

/* Whether the op may read partial inputs and write a partial output: it is linear in them. An op
 * of several inputs is linear in all of them together (sums) or in one of them (products). */
bool fr__shard_is_linear(const struct fr_graph *g, uint32_t op);

/* A product with weights: matmul or convolution. */
bool fr__shard_is_product(const struct fr_op *op);

/* Bits by dimension-wise division of a shape: divides the size that the loop stands for into
 * `parts`, rounded up. kind: of the op whose shape it is. */
void fr__shape_divide(struct fr_shape *shape, enum fr_op_kind kind, enum fr__split loop,
                      uint64_t parts);
#endif
