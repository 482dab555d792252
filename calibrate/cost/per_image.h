/* calibrate/cost/per_image.h - 1 x 1 convolutions on matrix units as one product an image.
 *
 * Frameworks keep images of numbers of 4 bytes channel by channel (NCHW). There a 1 x 1 filter of
 * stride 1 needs no change of layout: each image is a matrix of channels by pixels, and the library
 * multiplies a batch of them. With n images, c and k channels and p pixels an image:
 *
 *                             batch  rows  columns  depth
 *     forward                 n      k     p        c
 *     gradient of the input   n      c     p        k
 *     gradient of the filter  n      k     c        p
 *
 * The gradient of the filter is written once an image, n k c numbers; another kernel sums them up.
 * So small images do not fill a tile, and the sums of a deep layer move more bytes than its
 * operands. Rows of a matrix must begin at multiples of 16 bytes: pixels and channels come by
 * fours. Images of 7 x 7 do not.
 *
 * Source:  kernels of ResNet-50 in tf32, 32 images, PyTorch on an A100
 *          (facebookresearch/HolisticTraceAnalysis, nccl_parser_config): its 28 layers of that kind
 *          run s1688gemm_{nn,nt,tn}_align4 with 32 grids of tiles, and reduce_wgrad_nchw_helper
 *          with a thread a number of the filter after 22 of the 28 gradients of filters. NVIDIA,
 *          cuDNN's developer guide (tensor cores ask for 16-byte alignment).
 * Ignores: how the library chooses. The other 6 gradients of filters turn the images round, which
 * we
 *          count on where it is faster (cost.c).
 */
#ifndef FR_CALIBRATE_COST_PER_IMAGE_H
#define FR_CALIBRATE_COST_PER_IMAGE_H

#include "calibrate/calibrate.h"

/* Whether a convolution whose images lie channel by channel in numbers of 4 bytes is such a
 * product. */
bool fr__is_per_image(const struct fr_kernel_shape *conv);
/* Sets *product to it. Returns the bytes of the sums that are written once an image; 0: none. */
double fr__per_image_product(const struct fr_kernel_shape *conv, struct fr_kernel_shape *product);
#endif
