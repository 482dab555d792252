/* workloads/graph/infer_shape.h - the shape of an op that never had one, guessed from its FLOPs and
 * tensors.
 *
 * The zoo and native folders with a `shape` column say what an op works on. PipeDream's profiles
 * and older folders do not. For these alone the sizes are worked out here, from the dims of the
 * tensors of the op's forward op and from FLOPs:
 *
 *     matrix product    forward [rows][columns], depth = FLOPs / (2 rows columns); rows of a
 *                       gradient = its own FLOPs / (2 columns depth)
 *     both gradients    a backward op of a product or a convolution with at least 1.5 times the
 *                       FLOPs of its forward op: two products of the forward op's sizes
 *     batched product   the leading dims of its own output are the batch, the last two rows and
 *                       columns
 *     convolution       output [images][K][P][Q] of input [images][C][H][W]: filter size
 *                       = FLOPs / (2 images K P Q) / C (a square where that is one, else one row),
 *                       stride = H / P rounded, padding = what makes the sizes fit, groups = the
 *                       fewest for which the division by C has no remainder
 *     softmax, norms    rows of the last dim of the forward op's output
 *     batch norm        channels are the forward output's second dim
 *     attention         forward output [batch][seq][hidden] and a sum [batch][heads][seq] for each
 *                       row; causal where the FLOPs are those of half the products; as many
 *                       key-value heads as heads
 *
 * It is in workloads/, with what it reads, so that all who need the shape of an op (costs, passes
 * that split ops) get the same one. Guesses are not stored in the graph: a graph says only what is
 * known.
 *
 * A guess is a kernel of some FLOPs, and the op has as many kernels as its own FLOPs make
 * (fr__op_parts): what is done is what the graph says, whatever the guess.
 *
 * Ignores: what FLOPs and dims do not tell: filters that are not square, key-value heads, products
 * of one row.
 */
#ifndef FR_WORKLOADS_GRAPH_INFER_SHAPE_H
#define FR_WORKLOADS_GRAPH_INFER_SHAPE_H

#include "workloads/workloads.h"

/* The op's own shape, or else the guess. Returns whether there is one; *out is of class unknown if
 * not. */
bool fr__op_shape(const struct fr_graph *g, uint32_t op, struct fr_shape *out);

/* What an op does, in kernels of its shape. */
struct fr__op_parts {
    unsigned n_gradients; /* 2: those of both operands, of which the shape is the first; else 1 */
    double repeats;       /* of each of these; their FLOPs together are the op's */
};
/* shape: what fr__op_shape gave for the op. An op that has a shape of its own is one kernel. */
struct fr__op_parts fr__op_parts(const struct fr_graph *g, uint32_t op,
                                 const struct fr_shape *shape);
#endif
