/* calibrate/curves/conv.h - time of a convolution and of its two gradients.
 *
 *     t = launch + the least of implicit, fused, nonfused
 *
 * implicit  one matrix product by tiles and waves (curve_matmul.h) that reads its operands and writes
 *           its result once. n images, c and k channels, h x w and p x q pixels, r x s filter, g groups:
 *                                     rows                        columns   depth
 *             forward                 n p q                       k         c/g r s
 *             gradient of the input   n p q (hw / pq)^waste       c         k/g ceil(r/stride) ceil(s/stride)
 *             gradient of the filter  k                           c/g r s   n p q
 *           With a stride most pixels of the input take part in few products: a waste of 1 computes
 *           them all the same. On matrix units channels are padded to multiples of 8.
 * fused     Winograd's F(2 x 2, 3 x 3) in one kernel: 16 products for four pixels instead of 36, in
 *           blocks of 128 pixels and 32 channels, at `winograd` of the peak, after a kernel that
 *           transforms the filters at `filter_transform` of the memory bandwidth.
 * nonfused  Winograd's F(4 x 4, 3 x 3) or F(2 x 2, 5 x 5): 36 matrix products with a row for each tile,
 *           between kernels that transform operands and result at `transform` of the bandwidth, and
 *           `stages` for starting these.
 * Winograd's are for square filters of 3 (fused, nonfused) and 5 (nonfused), stride 1, one group, fp32.
 *
 * Source:  S. Chetlur et al., "cuDNN: efficient primitives for deep learning", arXiv:1410.0759, 2014
 *          (implicit products); A. Lavin, S. Gray, "Fast algorithms for convolutional neural networks",
 *          CVPR 2016 (Winograd); NVIDIA, "Convolutional layers user's guide" (padding of channels);
 *          sizes of blocks from the launch grids of cuDNN's kernels in sitar-lab/NeuSight's data. That
 *          the fastest is chosen, which cuDNN's heuristic does not quite, is our assumption; so is that
 *          groups are packed into tiles without loss: no measurements of grouped ones are at hand.
 * Ignores: FFT, layout (NCHW or NHWC), limits of workspace. Winograd on matrix units: cuDNN's choices
 *          for fp16 that baidu-research/DeepBench recorded are all implicit products.
 */
#ifndef FR_CALIBRATE_CURVES_CONV_H
#define FR_CALIBRATE_CURVES_CONV_H

#include "calibrate/curves/matmul.h"

enum {
    FR__CONV_WINOGRAD = FR__MATMUL_N_PARAMETERS, /* before it: those of the products */
    FR__CONV_TRANSFORM,
    FR__CONV_FILTER_TRANSFORM,
    FR__CONV_STAGES_S,
    FR__CONV_STRIDE_WASTE,
    FR__CONV_N_PARAMETERS
};

struct fr__conv {
    struct fr__matmul product;
    bool has_matrix_units;            /* otherwise Winograd's algorithms */
    double fused_s_per_block_channel; /* of a block of the fused kernel */
    double transform_s_per_byte, filter_s_per_byte;
    double stages_s, stride_waste;
};
#endif
