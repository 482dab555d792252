/* calibrate/curves/rows.h - time of a kernel that reduces and rewrites each row of a matrix:
 * softmax, layer normalisation (also by the root mean square, which the measured fp16 rows are) and
 * batch normalisation in training.
 *
 *     t      = max(call, start + work)
 *     work   = (memory^3 + blocks^3)^(1/3)
 *     memory = the time of passes rows columns elements through memory and cache (memory.h)
 *              * (1 + reread / (1 + (reread_columns / columns)^4)) * (wide, beyond 1024 columns)
 *     blocks = ceil(rows / (n_sms * blocks_per_sm)) * (block + columns * column)
 *
 * A block of threads works on one row. Each multiprocessor holds blocks_per_sm of them at a time,
 * so that the time grows in waves if the rows are short. A row is read twice. The second time it
 * comes from registers or a near cache if it fits there; beyond about reread_columns it comes from
 * memory again. `wide` is for softmax only: up to 1024 columns PyTorch has a kernel in which a warp
 * holds rows in registers, beyond that a block for each row. `passes` is how often each element
 * must be moved at least: 2 forward and 3 backward, because a gradient reads what the forward pass
 * kept and the output's gradient, and writes its own.
 *
 * In batch normalisation a row is a channel, and its columns are all values of that channel in the
 * batch. A block takes a channel, sums its values, and goes over them again; few channels leave
 * multiprocessors idle. `reread` is about 1/2 forward and 2/3 backward.
 *
 * Source:  kernel names and launch grids of sitar-lab/NeuSight's data (a block of 32 threads times
 *          a few warps for each row; softmax_warp_forward up to 1024 columns, cunn_SoftMaxForward
 *          beyond); PyTorch, aten/src/ATen/native/cuda/SoftMax.cu (dim_size <= 1024); waves as in
 *          matmul.h. The powers 3 and 4 are our choice. Batch normalisation: names of NVIDIA
 *          cuDNN's kernels in PyTorch traces (pytorch/kineto's ResNet-50 on a V100):
 *          bn_fw_tr_1C11_singleread for few values, bn_fw_tr_1C11_kernel_NCHW for many, whose grid
 *          is the number of channels.
 * Ignores: alignment of rows (vector loads of four need multiples of four), dropout and masks in
 *          the kernel; of batch normalisation channels last, statistics summed over several GPUs,
 *          fusion with a ReLU.
 */
#ifndef FR_CALIBRATE_CURVES_ROWS_H
#define FR_CALIBRATE_CURVES_ROWS_H

#include "calibrate/curves/memory.h"

enum {
    FR__ROWS_REREAD = FR__STREAM_WRAPPER_S, /* call to cache_gain come first, as in memory.h */
    FR__ROWS_REREAD_COLUMNS,
    FR__ROWS_BLOCKS_PER_SM,
    FR__ROWS_BLOCK_S,
    FR__ROWS_COLUMN_S,
    FR__ROWS_WIDE, /* softmax only: time beyond 1024 columns over time below, for the same bytes */
    FR__ROWS_N_PARAMETERS
};

struct fr__rows {
    struct fr__stream stream;
    double pass_bytes; /* bytes of one element in all passes */
    double reread, reread_columns, blocks, block_s, column_s, wide;
};

enum { FR__ROWS_FORWARD_PASSES = 2, FR__ROWS_BACKWARD_PASSES = 3 };

/* parameters: all but `wide`, which is set to 1. */
void fr__rows_init(struct fr__rows *r, const struct fr__machine *machine,
                   const double parameters[FR__ROWS_WIDE], double element_bytes, unsigned passes);

/* Seconds without call and start; both >= 1. */
double fr__rows_work_s(const struct fr__rows *r, double rows, double columns);
/* Seconds of one kernel with its launch. */
double fr__rows_s(const struct fr__rows *r, double rows, double columns);
#endif
