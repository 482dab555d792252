/* workloads/passes/autocast.h - mixed precision as PyTorch's automatic casts do it: `-p amp`.
 *
 * Parameters, their gradients and the optimizer's states stay in fp32. By kind of op:
 *   half    matrix products and convolutions read and write fp16; their fp32 inputs and weights
 *           are cast first
 *   full    softmax, layer norm and losses read and write fp32; their fp16 inputs are cast first
 *   follow  the others write the widest type that they read, in their own kernel
 * A cast is an op of its own (kind `cast`, named NAME.cast or NAME.weight_cast). A weight is cast
 * once a forward pass, whoever uses it; an activation once for each op that reads it. What is saved
 * for the backward pass follows from that: the fp16 copies of weights live until then.
 *
 * Source:  PyTorch 1.13, aten/src/ATen/autocast_mode.cpp (lists and the cache of leaf casts);
 *          P. Micikevicius et al., Mixed precision training, ICLR 2018.
 * Ignores: the casts of biases and other parameters of ops that are not matrix products; loss
 *          scaling's check of the gradients is priced with the update.
 */
#ifndef FR_WORKLOADS_PASSES_AUTOCAST_H
#define FR_WORKLOADS_PASSES_AUTOCAST_H

#include "workloads/workloads.h"

/* Makes the mixed-precision graph of a forward graph in fp32; the caller frees it. A tensor counts
 * as floating-point where an element of its dims takes 4 bytes. FR_ENOMEM. O(ops + edges). */
enum fr_status fr__autocast(const struct fr_graph *forward, struct fr_graph **out,
                            struct fr_error *err);

#endif
