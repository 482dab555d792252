/* calibrate/cost/kernel.h - which kernel an op of a graph is, and of what shape.
 *
 * The sizes come from the op's shape (struct fr_shape; if it has none, from
 * workloads/graph/infer_shape.h), at the batch and for the part that are asked for:
 *
 *     products        [rows][columns] over depth; the gradients of the operands as they need
 *     convolutions    by phase: forward, gradient of the input, gradient of the filter
 *     softmax, norms  rows of one length
 *     batch norm      values of each channel
 *     attention       heads and key-value heads of whole sequences
 *     the rest        a pass over its bytes
 *
 * In a step that is trained in fp8 only linear layers have operands of 8 bits, forward and in both
 * gradients, and fused attention where it is asked for. All else keeps 16 bits: scores and values
 * of attention, output layers and routers (fr_shape's `is_wide`), convolutions, recurrent cells,
 * and linear layers whose sizes are no multiples of 16, which 8-bit matrix units do not take.
 * Source: NVIDIA, Transformer Engine, "Using FP8" (linear modules; sizes divisible by 16;
 * recipe.fp8_dpa is false by default); PyTorch, torchao.float8 (swaps nn.Linear, skips sizes that
 * are not divisible by 16); torchtitan, docs/float8.md (filter_fqns "output", "router.gate");
 * DeepSeek-AI, DeepSeek-V3, 2024, section 3.3.1 (embedding, output head, gating, norms and
 * attention keep their precision).
 *
 * An op whose shape is a guess may be several kernels, since its FLOPs are the op's: a backward op
 * that holds both gradients of a product or a convolution is one kernel of each, and where sizes
 * and FLOPs disagree otherwise, it is a kernel so many times.
 */
#ifndef FR_CALIBRATE_COST_KERNEL_H
#define FR_CALIBRATE_COST_KERNEL_H

#include "calibrate/calibrate.h"

struct fr__kernel {
    bool has_shape; /* false: only FLOPs and bytes are known */
    bool is_pair;   /* the op has a second kernel, of `second`, with as many FLOPs and bytes */
    struct fr_kernel_shape shape, second;
    double repeats;      /* how often the op runs the kernel, or both; 1 where its shape is known */
    double flops, bytes; /* of one kernel of the part that is asked for; bytes include
                                    parameters */
    double element_bytes;        /* of the forward op's first output; 0: not known */
    enum fr_image_layout layout; /* of images: convolutions and batch norms */
    double epilogue_bytes; /* products: what ops fused behind it move beside operands and result */
    double generation;     /* of FlashAttention; 0: the newest for the device, or no attention */
    bool is_8_bit;      /* in fp8 and fp4 training its products have operands of 8 bits or fewer, */
    bool is_4_bit;      /* of 4, else of 16 */
    bool is_cast_apart; /* other ops cast them */
};

void fr__kernel_of(const struct fr_graph *g, uint32_t op, const struct fr_part *part,
                   struct fr__kernel *out);

/* All that a kernel is made of, as bits: two of equal words are priced alike, where op kind, phase
 * and whether it runs again are equal too. */
enum { FR__KERNEL_WORDS = 22 };
void fr__kernel_words(const struct fr__kernel *k, uint64_t words[FR__KERNEL_WORDS]);
#endif
