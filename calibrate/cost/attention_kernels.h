/* calibrate/cost/attention_kernels.h - what attention takes with an older generation of
 * FlashAttention than that of the measured kernels.
 *
 * Curves are of the newest generation that a device has (relatives.h). With an older one the time
 * is longer by
 *
 *     1 for 2               2
 *     2 for 3, on Hopper    1.754 (head_dim / 128)^0.2 / (1 + 100 / tokens)
 *     2 for Blackwell's     3 times as long as that
 *
 * forward and backward alike; the backward pass over the forward one is a ratio of its own
 * (cost.c). The second generation issues the matrix instructions of Ampere, which leave 2/5 of
 * Hopper's units idle, and more of Blackwell's.
 *
 * Source:  2 for 3: J. Shah et al., "FlashAttention-3", 2024, figures 5 and 6 (H100, without a
 *          mask and backward: within 10 % of 24 published ratios, median 4 %; of 12 with a mask and
 *          heads of 128 and 256, on which no number was fitted, 5 %, worst 15 %). 1 for 2: T. Dao,
 *          "FlashAttention-2", ICLR 2024, abstract ("around 2x"; section 4.1: 1.7 to 3.0, against
 *          Triton's version of the first generation 1.3 to 2.5). Blackwell: Dao-AILab's
 *          flash-attention, issue 1589 (generation 2) and pull request 2280 (its own), a B200.
 * In operands of 8 bits, on Hopper and later, the newest generation is faster than the same in 16
 * bits by
 *
 *     1.6 / (1 + 400 / tokens), at least 1
 *
 * since what is done in full precision, the softmax, does not get faster.
 * Source:  the same paper, figure 7 against figure 5: forward, heads of 256, with and without a
 *          mask, 512 to 16384 tokens (12 ratios: 2 % off in the median, worst 13 %). Before Hopper
 *          there are no such kernels. No rates of the backward pass are published (Transformer
 *          Engine has it by cuDNN): it gains as much, we assume.
 * Ignores: that a generation of 2024 is faster than the same of 2023.
 */
#ifndef FR_CALIBRATE_COST_ATTENTION_KERNELS_H
#define FR_CALIBRATE_COST_ATTENTION_KERNELS_H

/* A factor of 1 or more. asked: the generation wanted, 0: any; measured: that of the curve. 1 where
 * the one that is asked for is as new as the curve's, or newer. tokens, head_dim: 1 or more. */
double fr__attention_slowdown(unsigned asked, unsigned measured, double tokens, double head_dim);
/* How many times as fast operands of 8 bits are as those of 16. measured: the generation of the
 * curve in 16 bits. */
double fr__attention_gain_of_8_bits(unsigned measured, double tokens);
#endif
