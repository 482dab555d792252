/* calibrate/curves/attention.h - time of fused attention over whole sequences (training, prefill).
 *
 * softmax(Q K' / sqrt(head_dim)) V of `batch` sequences and `heads` heads, without storing the
 * scores. A block of threads takes 64 rows of Q of one head and goes over K and V in parts of 128
 * rows. With a causal mask it goes no further than the diagonal, and computes the part on the
 * diagonal in full.
 *
 *     t     = launch + (comp^q + mem^q)^(1/q)
 *     comp  = max(waves * parts of the mean block, parts of the longest) * part + waves * block
 *     waves = batch heads ceil(seq / 64) / n_sms, rounded up
 *     part  = 4 * 64 * min(seq, 128) (head_dim + half_head_dim)
 *             / (peak / n_sms * efficiency)
 *     mem   = 2 batch seq (heads + kv_passes kv_heads) head_dim * bytes of a number
 *             / (mem_Bps * memory)
 *
 * half_head_dim is the cost of the exponential and the sums of one score, in half multiply-adds.
 * kv_passes is how often K and V move: a framework that stores them also writes a copy. If
 * sequences have one token, the heads that share K and V are the rows of one block.
 *
 * The gradient has the same formula with parameters of its own, 2.5 times the arithmetic (5
 * products instead of 2, since it computes the scores again) and twice the bytes (Q, K, V, the
 * output and their gradients).
 *
 * Source:  T. Dao, "FlashAttention-2: faster attention with better parallelism and work
 *          partitioning", ICLR 2024, for blocks, the order of loops and the diagonal. The kernels
 *          choose their block sizes by head_dim and device; 64 x 128 for all is our choice.
 * Ignores: splitting long K and V over idle multiprocessors, dropout, windows.
 */
#ifndef FR_CALIBRATE_CURVES_ATTENTION_H
#define FR_CALIBRATE_CURVES_ATTENTION_H

#include "calibrate/curves/machine.h"

enum {
    FR__ATTENTION_LAUNCH_S,
    FR__ATTENTION_EFFICIENCY,
    FR__ATTENTION_HALF_HEAD_DIM,
    FR__ATTENTION_MEMORY_FRAC,
    FR__ATTENTION_KV_PASSES,
    FR__ATTENTION_BLOCK_S,
    FR__ATTENTION_SHARPNESS,
    FR__ATTENTION_N_PARAMETERS
};

struct fr__attention {
    double n_sms, launch_s, block_s, sharpness, half_head_dim, kv_passes;
    double s_per_flop; /* on one multiprocessor */
    double s_per_byte, element_bytes;
};
#endif
