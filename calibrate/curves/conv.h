/* calibrate/curves/conv.h - time of a convolution and of its two gradients.
 *
 *     t = launch + the least of implicit, fused, nonfused
 *
 * Implicit: one matrix product in tiles and waves (matmul.h) that reads its operands and writes its
 * result once. With n images, c and k channels, h x w and p x q pixels, an r x s filter and g
 * groups:
 *
 *                             rows                    columns  depth
 *     forward                 n p q                   k        c/g r s
 *     gradient of the input   n p q (hw / pq)^waste   c        k/g ceil(r/stride) ceil(s/stride)
 *     gradient of the filter  k                       c/g r s  n p q
 *
 * With a stride, most pixels of the input take part in few products; a waste of 1 means that the
 * kernel computes all products anyway. On matrix units channels are padded to multiples of 8.
 *
 * Fused: Winograd's F(2 x 2, 3 x 3) in one kernel, with 16 products for four pixels instead of 36.
 * It works in blocks of 128 pixels and 32 channels, at `winograd` of the peak. Before it, a kernel
 * transforms the filters at `filter_transform` of the memory bandwidth.
 *
 * Nonfused: Winograd's F(4 x 4, 3 x 3) or F(2 x 2, 5 x 5), which are 36 matrix products with one
 * row for each tile. Kernels before and after it transform the operands and the result at
 * `transform` of the bandwidth; `stages` is the time to start all these.
 *
 * Winograd's algorithms need a square filter of 3 (fused, nonfused) or 5 (nonfused), stride 1, one
 * group, fp32.
 *
 * Source:  S. Chetlur et al., "cuDNN: efficient primitives for deep learning", arXiv:1410.0759,
 *          2014 (implicit products); A. Lavin, S. Gray, "Fast algorithms for convolutional neural
 *          networks", CVPR 2016 (Winograd); NVIDIA, "Convolutional layers user's guide" (padding of
 *          channels); launch grids of cuDNN's kernels in sitar-lab/NeuSight's data (block sizes).
 *          Two assumptions are ours: that the fastest algorithm is chosen, which cuDNN's heuristic
 *          does not always do, and that groups are packed into tiles without loss, because we have
 *          no measurements of grouped convolutions.
 * Ignores: FFT, the layout (NCHW or NHWC), limits of workspace, and Winograd on matrix units: the
 *          choices for fp16 that baidu-research/DeepBench recorded are all implicit products.
 */
#ifndef FR_CALIBRATE_CURVES_CONV_H
#define FR_CALIBRATE_CURVES_CONV_H

#include "calibrate/curves/matmul.h"

enum {
    FR__CONV_WINOGRAD = FR__MATMUL_N_PARAMETERS, /* the parameters of matrix products come first */
    FR__CONV_TRANSFORM,
    FR__CONV_FILTER_TRANSFORM,
    FR__CONV_STAGES_S,
    FR__CONV_STRIDE_WASTE,
    FR__CONV_N_PARAMETERS
};

struct fr__conv {
    struct fr__matmul product;
    bool has_matrix_units;            /* false: Winograd's algorithms are possible */
    double fused_s_per_block_channel; /* of a block of the fused kernel */
    double transform_s_per_byte, filter_s_per_byte;
    double stages_s, stride_waste;
};
#endif
