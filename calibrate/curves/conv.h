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
 *     gradient of the input   n p q (hw / pq)^waste   c        k/g r s
 *     gradient of the filter  k                       c/g r s  n p q
 *
 * So a 1 x 1 filter is a plain product, and 1 x 7 and 7 x 1 are products of the same depth; no
 * unfolded image is written. With a stride, most pixels of the input take part in few products; a
 * waste of 0 means that the kernel computes only these, 1 that it multiplies all of the zeros
 * between them too. It never computes less than the forward pass.
 *
 * The gradient of the input may also be a product of output pixels (rows), all taps of the filter
 * (columns) over the output channels (depth), which is written out unfolded and then folded into
 * the image (Chetlur et al., section 3; it is how Caffe does it). We count on it in two cases. With
 * stride 1 the result may have fewer than half of the image's pixels, since a filter is nearly as
 * large as an image without padding: the implicit product would multiply mostly zeros. And an image
 * of fewer than 32 channels, such as a network's input, leaves most of the narrowest tile empty.
 *
 * On matrix units channels are padded to multiples of 8, and where they are no such multiples (the
 * first layer), only a share `narrow` of their rate is reached: libraries before cuDNN 7.3 leave
 * the units, later ones still load and pad pixel by pixel.
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
 * group, fp32. Others, residual included, are never faster than the peak, and these never faster
 * than the peak by what Winograd saves: 4 of a filter of 3, 100/36 of a filter of 5.
 *
 * The residual is that of the filter areas that were measured. A curve that was fitted to 3 x 3
 * alone has none for 1 x 1 or 1 x 7: how often a library's choice of Winograd's algorithm misses
 * says nothing about products.
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

#include "calibrate/calibrate.h"
#include "calibrate/curves/matmul.h"

enum {
    FR__CONV_WINOGRAD = FR__MATMUL_N_PARAMETERS, /* the parameters of matrix products come first */
    FR__CONV_TRANSFORM,
    FR__CONV_FILTER_TRANSFORM,
    FR__CONV_STAGES_S,
    FR__CONV_STRIDE_WASTE,
    FR__CONV_NARROW,
    FR__CONV_N_PARAMETERS
};

struct fr__conv {
    struct fr__matmul product, narrow; /* narrow: channels that are no multiples of 8 */
    bool has_matrix_units;             /* false: Winograd's algorithms are possible */
    double peak_flops_per_s;
    double fused_s_per_block_channel; /* of a block of the fused kernel */
    double transform_s_per_byte, filter_s_per_byte;
    double stages_s, stride_waste;
};

/* How many times fewer products Winograd's algorithms have than the convolution, at the most; 1:
 * they are not for this shape. */
double fr__conv_saving(const struct fr_kernel_shape *shape);
/* Numbers that the kernel reads and writes at the least. With a stride larger than the filter not
 * all pixels are read. */
double fr__conv_elements(const struct fr_kernel_shape *shape);
#endif
