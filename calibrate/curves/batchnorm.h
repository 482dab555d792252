/* calibrate/curves/batchnorm.h - time of batch normalisation in training, and of its gradient.
 *
 * The model is the one of rows.h. A row is a channel, and its columns are all values of that
 * channel in the batch. A block of threads takes a channel, sums its values, and goes over them
 * again. The second time the values come from registers or caches if there are few, and from memory
 * if there are many (then `reread` is about 1/2 forward, 2/3 backward). At least 2 passes are
 * needed forward and 3 backward. Few channels leave multiprocessors idle; `blocks_per_sm` and the
 * time of a value describe this.
 *
 * Source:  names of NVIDIA cuDNN's kernels in PyTorch traces (pytorch/kineto's ResNet-50 on a
 *          V100): bn_fw_tr_1C11_singleread for few values, bn_fw_tr_1C11_kernel_NCHW for many,
 *          whose grid is the number of channels.
 * Ignores: layouts with channels last, statistics summed over several GPUs, fusion with a ReLU.
 */
#ifndef FR_CALIBRATE_CURVES_BATCHNORM_H
#define FR_CALIBRATE_CURVES_BATCHNORM_H

#include "calibrate/curves/rows.h"

enum { FR__BATCHNORM_N_PARAMETERS = FR__ROWS_WIDE }; /* parameters as in rows.h, without the last */
#endif
