/* calibrate/kernel.h - what kernel an op of a graph is, and of what shape.
 *
 * Read from what the graph says: the dims of the tensors of the op's forward op, its FLOPs and bytes.
 * So a graph that was written by hand or exported and read again has the same kernels.
 *
 *     matrix product    forward [rows][columns], depth = FLOPs / (2 rows columns);
 *                       data gradient [rows][depth] over columns, weight gradient [columns][depth]
 *                       over rows, where rows = FLOPs of the op itself / (2 columns depth)
 *     batched product   the leading dims of its own output are the batch, the last two rows and columns
 *     convolution       output [images][K][P][Q] of input [images][C][H][W]: filter size
 *                       = FLOPs / (2 images K P Q) / C (a square where that is one, else one row),
 *                       stride = H / P rounded, padding = what makes the sizes fit, groups = the
 *                       fewest for which the division by C has no remainder
 *     softmax, norms    rows of the last dim of the forward op's output
 *     batch norm        channels are the forward output's second dim, values the rest of it
 *     attention         forward output [batch][heads][seq][head_dim] or [batch][seq][hidden]
 *     the rest          a pass over its bytes
 */
#ifndef FR_CALIBRATE_KERNEL_H
#define FR_CALIBRATE_KERNEL_H

#include "calibrate/calibrate.h"

struct fr__kernel {
    bool has_shape; /* false: only FLOPs and bytes are known */
    struct fr_kernel_shape shape;
    double flops, bytes;  /* of the part asked for; bytes with parameters */
    double element_bytes; /* of the forward op's first output; 0: not known */
};

void fr__kernel_of(const struct fr_graph *g, uint32_t op, const struct fr_part *part,
                   struct fr__kernel *out);
#endif
