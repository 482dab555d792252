/* calibrate/curves/batchnorm.h - time of batch normalisation in training, and of its gradient.
 *
 * The model of curve_rows.h with a channel for a row and all its values in the batch for the columns: a block
 * of threads takes a channel, sums over its values, and goes over them again, which come from registers or
 * caches where there are few and from memory where there are many (`reread` is about 1/2 forward, 2/3
 * backward then). The passes that must be are 2 forward and 3 backward. So few channels leave
 * multiprocessors idle: `blocks_per_sm` and the time of a value say how much.
 *
 * Source:  NVIDIA cuDNN's kernels by their names in PyTorch traces (pytorch/kineto's ResNet-50 on a V100):
 *          bn_fw_tr_1C11_singleread for the small ones, bn_fw_tr_1C11_kernel_NCHW for the large, whose grid
 *          is the number of channels.
 * Ignores: layouts with channels last, statistics summed over several GPUs, fusion with a ReLU.
 */
#ifndef FR_CALIBRATE_CURVES_BATCHNORM_H
#define FR_CALIBRATE_CURVES_BATCHNORM_H

#include "calibrate/curves/rows.h"

enum { FR__BATCHNORM_N_PARAMETERS = FR__ROWS_WIDE }; /* as in curve_rows.h, without the last */
#endif
