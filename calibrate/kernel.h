/* calibrate/kernel.h - which kernel an op of a graph is, and of what shape.
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
 */
#ifndef FR_CALIBRATE_KERNEL_H
#define FR_CALIBRATE_KERNEL_H

#include "calibrate/calibrate.h"

struct fr__kernel {
    bool has_shape; /* false: only FLOPs and bytes are known */
    struct fr_kernel_shape shape;
    double flops, bytes;         /* of the part that is asked for; bytes include parameters */
    double element_bytes;        /* of the forward op's first output; 0: not known */
    enum fr_image_layout layout; /* of images: convolutions and batch norms */
    double epilogue_bytes; /* products: what ops fused behind it move beside operands and result */
    double generation;     /* of FlashAttention; 0: the newest for the device, or no attention */
};

void fr__kernel_of(const struct fr_graph *g, uint32_t op, const struct fr_part *part,
                   struct fr__kernel *out);

/* All that a kernel is made of, as bits: two of equal words are priced alike, where op kind and
 * phase are equal too. */
enum { FR__KERNEL_WORDS = 20 };
void fr__kernel_words(const struct fr__kernel *k, uint64_t words[FR__KERNEL_WORDS]);
#endif
