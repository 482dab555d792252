/* calibrate/cost/transposes.h - the transposes that a library makes around a convolution where
 * images lie channel by channel (NCHW).
 *
 * Matrix units take images pixel by pixel (NHWC). Where they lie channel by channel, cuDNN
 * transposes both operands and the result: each is read and written once more. A 1 x 1 filter with
 * stride 1 is a matrix product of images as they lie where each channel begins at a multiple of 16
 * bytes (56 x 56 pixels, not 7 x 7), and what matrix units cannot take (channels that are no
 * multiples of 8, fp32) is not transposed either.
 *
 * The kernel works in blocks of 32 pixels by 32 channels. A filter has few pixels, so its blocks
 * are nearly empty: they cost as much as 3.5 KB, whether they hold 1 pixel or 9.
 *
 * Layout of a graph   tf32                        16 bits
 *     default         transposes                  as measured
 *     nchw            transposes                  transposes
 *     nhwc            none                        none
 *
 * What was measured may hold them already: baidu-research/DeepBench's rows of 16 bits do (NCHW),
 * those of our own program (calibrate/measure/cuda/conv.cu) do not in 16 bits (NHWC), and do in
 * tf32 (NCHW). So transposes are added, taken away, or neither.
 *
 * Source:  NVIDIA, cuDNN legacy API ("The cuDNN library may use padding, folding, and NCHW-to-NHWC
 *          transformations to call the Tensor Core operations"), and "Convolutional layers user's
 *          guide", tensor layouts in memory; DeepBench, code/nvidia/conv_bench.cu
 *          (CUDNN_TENSOR_NCHW but for int8, CUDNN_TENSOR_OP_MATH); PyTorch's trace of ResNet-50 on
 *          an A100 in tf32 (HolisticTraceAnalysis), where transposes are a quarter of the time of
 *          convolutions, 1 x 1 filters with stride 1 have none but on images of 7 x 7, and filters
 *          take 2.0 to 2.7 ns a block (grids of nchwToNhwc: 65536 blocks in 131 us, 32768 in 66,
 *          8192 in 22), full blocks of images 5.4. So that trace is no proof of this rule.
 * Ignores: kernels that transpose while they write; transposes between layers that two convolutions
 *          could share; pooling, whose kernels of both layouts we take as equally fast.
 */
#ifndef FR_CALIBRATE_COST_TRANSPOSES_H
#define FR_CALIBRATE_COST_TRANSPOSES_H

#include "calibrate/cost/model.h"
#include "calibrate/cost/kernel.h"

/* Whether matrix units cannot take a convolution's channels by the eight, as those of a first
 * layer. */
bool fr__layout_is_narrow(const struct fr__kernel *kernel);
/* Bytes that the transposes of a convolution move under NCHW; 0: there are none. dtype: of the
 * products, never FR_AMP. */
double fr__layout_bytes(const struct fr__kernel *kernel, enum fr_dtype dtype);
/* Bytes that they could move in the time that nearly empty blocks of filters take beyond these. */
double fr__layout_slow_bytes(const struct fr__kernel *kernel, enum fr_dtype dtype);
/* What to do with the time that k gave (its curve NULL: a matrix product's): 1 add transposes, -1
 * take them away, 0 neither. */
int fr__layout_change(enum fr_image_layout layout, enum fr_dtype dtype, const struct fr__known *k);
#endif
