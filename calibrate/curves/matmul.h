/* calibrate/curves/matmul.h - time of a (batched) matrix product in tiles and waves.
 *
 * C[rows][columns] = A[rows][depth] B[depth][columns], `batch` times, is cut into tiles. Each of
 * the n_sms multiprocessors works on one tile at a time, so that the time grows in steps of one
 * wave of tiles. A long depth may be split into s parts that are added afterwards:
 *
 *     t    = launch + min over (tile, s) of (comp^q + mem^q)^(1/q)
 *     comp = ceil(ceil(rows / tm) ceil(columns / tn) batch s / n_sms)
 *            * (2 tm tn (depth / s) / (peak / n_sms * eff(tm, tn)) + block)
 *     eff  = efficiency I / (half_intensity + I),  I = tm tn / (tm + tn)
 *     mem  = (bytes of A, B and C, and of the fp32 partial sums, written and read, when s > 1)
 *            / (mem_Bps * memory)
 *
 * Source:  S. Lee, A. Phanishayee, D. Mahajan, "Forecasting GPU performance for deep learning
 *          training and inference" (NeuSight), ASPLOS 2025, for tiles and waves; NVIDIA CUTLASS,
 *          media/docs, "Efficient GEMM in CUDA", for the tile shapes and split-K. The smooth
 *          maximum is our choice.
 * Ignores: which tile the library chooses; it is not always the best one, and trees of residuals
 *          (trees.h) learn the difference from sizes, bytes and waves. Alignment and transposition
 *          of operands, clocks that drop under load, and what an earlier kernel left in the L2
 *          cache become part of `efficiency` and of the residual.
 */
#ifndef FR_CALIBRATE_CURVES_MATMUL_H
#define FR_CALIBRATE_CURVES_MATMUL_H

#include "calibrate/curves/machine.h"

enum {
    FR__MATMUL_LAUNCH_S,       /* time of a product of next to nothing */
    FR__MATMUL_EFFICIENCY,     /* of the peak, for endless tiles */
    FR__MATMUL_HALF_INTENSITY, /* tile intensity I at which half of it is reached */
    FR__MATMUL_MEMORY_FRAC,    /* of the memory bandwidth */
    FR__MATMUL_BLOCK_S,        /* start and end of a tile */
    FR__MATMUL_SHARPNESS,      /* q: 1 adds, large takes the larger */
    FR__MATMUL_N_PARAMETERS
};

enum { FR__MATMUL_TILES = 13 };

struct fr__matmul {
    double n_sms;
    double launch_s, block_s, sharpness;
    double s_per_byte, in_bytes, out_bytes;
    double s_per_depth[FR__MATMUL_TILES]; /* of one tile on one multiprocessor */
};

/* in_bytes, out_bytes: of an element of the operands and of the product. */
void fr__matmul_init(struct fr__matmul *m, const struct fr__machine *machine,
                     const double parameters[FR__MATMUL_N_PARAMETERS], double in_bytes,
                     double out_bytes);

/* The same without launch_s, for a kernel that does the products but reads and writes `bytes` (a
 * convolution as an implicit product reads its input once, not once for each product). */
double fr__matmul_of_bytes_s(const struct fr__matmul *m, double batch, double rows, double columns,
                             double depth, double bytes);

/* Seconds; all sizes >= 1. Cost: 65 products of a few numbers, under 1 us. */
double fr__matmul_s(const struct fr__matmul *m, double batch, double rows, double columns,
                    double depth);
#endif
