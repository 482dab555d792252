/* calibrate/curves/rows.h - time of a kernel that reduces and rewrites each row of a matrix: softmax,
 * layer normalisation (and the root-mean-square one, which its rows of fp16 data are of).
 *
 *     t      = max(call, start + work)
 *     work   = (memory^3 + blocks^3)^(1/3)
 *     memory = the time of passes rows columns elements through memory and cache (curve_memory.h)
 *              * (1 + reread / (1 + (reread_columns / columns)^4)) * (wide, beyond 1024 columns)
 *     blocks = ceil(rows / (n_sms * blocks_per_sm)) * (block + columns * column)
 *
 * A block of threads works on one row; each multiprocessor holds blocks_per_sm of them at a time, so
 * that time grows in waves when the rows are short. A row is read twice, the second time from
 * registers or a cache near the threads as long as it fits there: beyond about reread_columns it comes
 * from memory again. `wide` is softmax's alone: up to 1024 columns PyTorch has a kernel in which a warp
 * holds rows in registers, beyond a block per row. passes: how often each element must move at least: 2
 * forward; 3 of a gradient, which reads what forward kept and the output's gradient and writes its own.
 *
 * Source:  kernel names and launch grids of sitar-lab/NeuSight's data (a block of 32 threads times a few
 *          warps a row; softmax_warp_forward up to 1024 columns, cunn_SoftMaxForward beyond) and PyTorch,
 *          aten/src/ATen/native/cuda/SoftMax.cu (dim_size <= 1024) for what the classes do; waves as in
 *          curve_matmul.h. The powers 3 and 4 are our choice.
 * Ignores: alignment of rows (vectors of four need a multiple of it), dropout and masks in the kernel.
 */
#ifndef FR_CALIBRATE_CURVES_ROWS_H
#define FR_CALIBRATE_CURVES_ROWS_H

#include "calibrate/curves/memory.h"

enum {
    FR__ROWS_REREAD =
        FR__STREAM_WRAPPER_S, /* before it: call to cache_gain, as in curve_memory.h */
    FR__ROWS_REREAD_COLUMNS,
    FR__ROWS_BLOCKS_PER_SM,
    FR__ROWS_BLOCK_S,
    FR__ROWS_COLUMN_S,
    FR__ROWS_WIDE, /* softmax only: time beyond 1024 columns over that below, at the same bytes */
    FR__ROWS_N_PARAMETERS
};

struct fr__rows {
    struct fr__stream stream;
    double pass_bytes; /* that one element takes in all passes */
    double reread, reread_columns, blocks, block_s, column_s, wide;
};

enum { FR__ROWS_FORWARD_PASSES = 2, FR__ROWS_BACKWARD_PASSES = 3 };

/* parameters: those before `wide`, which is set to 1. */
void fr__rows_init(struct fr__rows *r, const struct fr__machine *machine,
                   const double parameters[FR__ROWS_WIDE], double element_bytes, unsigned passes);

/* Seconds without call and start; both >= 1. */
double fr__rows_work_s(const struct fr__rows *r, double rows, double columns);
/* Seconds in all. */
double fr__rows_s(const struct fr__rows *r, double rows, double columns);
#endif
