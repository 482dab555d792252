/* workloads/passes/quantise.h - adds the casts of a number-format recipe to the training graph of
 * one rank: what a linear layer reads is cast to 8 or 4 bits by ops of their own, and the copies
 * are what the backward pass keeps.
 *
 * Of each tensor that products with narrow operands read (workloads/graph/formats.h says which):
 *
 *     NAME.amax           a pass over the tensor, where its largest number comes first
 *     NAME.cast           reads the 16 bits, writes a copy by rows and one by columns; before the
 *                         first product that reads the tensor, which all of them share
 *     NAME.cast_columns   the copy by columns alone, in the backward pass: of an input whose 16
 *                         bits another backward op keeps anyway
 *     NAME.transpose      the copy by columns from the one by rows, where the norm in front wrote
 *                         that itself
 *     OWNER.weight_cast   weights, once a step behind their update; or once a micro-batch before
 *                         the product, where they are gathered for each use
 *
 * Forward products read copies by rows, the gradient of an input the gradient of the output by
 * rows, that of weights both by columns. So the tensor that the forward pass keeps is the input's
 * copy by columns. Between ops all tensors keep 16 bits.
 *
 * A message that gathers a tensor for such products alone (sequence parallelism) takes the copies,
 * which are made before it, and carries their bytes.
 *
 * Source:  NVIDIA Transformer Engine, docs/features/low_precision_training (each recipe's page:
 *          transposes, quantized all-gather; performance_considerations), pytorch/module/linear.py
 *          (what is saved), pytorch/csrc/extensions/normalization.cpp (norms that cast);
 *          Megatron-LM, core/transformer/attention.py (set_save_original_input).
 * Ignores: activations that cast what they write (Transformer Engine's LayerNormMLP); messages of
 *          4 bytes that bring the largest numbers of a tensor group together.
 */
#ifndef FR_WORKLOADS_PASSES_QUANTISE_H
#define FR_WORKLOADS_PASSES_QUANTISE_H

#include "workloads/graph/formats.h"
#include "workloads/passes/shard.h"

struct fr__quantise_problem {
    const struct fr_graph *graph;      /* one rank's training graph, with formats */
    const struct fr__sharded *sharded; /* that made it; NULL: it is not split */
    size_t n_axes;                     /* of `sharded` */
    enum fr_units units;               /* of the devices */
    bool casts_each_use;               /* weights are cast in each micro-batch */
};

/* Makes the graph and what is told of its ops, as fr__gather() does. FR_ENOMEM. O(ops + edges). */
enum fr_status fr__quantise(struct fr__sharded *out, const struct fr__quantise_problem *in,
                            struct fr_error *err);
#endif
