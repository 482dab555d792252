/* workloads/zoo/nn_tf1.h - ops as TensorFlow 1 runs them, which other frameworks fuse.
 *
 * A gradient there is built from ops too, and each op keeps what its own gradient reads:
 *
 *     dropout      x / keep * mask; the mask is a float tensor, which the gradient reads
 *     layer norm   inv = rsqrt(variance + epsilon) * scale has the shape of x; x * inv keeps both
 *                  factors; then offset - mean * inv is added
 *     GELU         cdf = 0.5 (1 + erf(x / sqrt(2))); erf keeps x / sqrt(2), x * cdf both factors
 *
 * A layer of BERT of n tokens, width d, h heads, sequence L and a hidden layer of 4 d keeps so
 * 4 (28 n d + 4 n + 3 h n L) bytes: queries, keys and values, what attention gives, an output of
 * each norm and the input and inv of each, two masks, 4 x 4 d; softmax, mask and dropped softmax;
 * and the rows' statistics.
 *
 * Source:  google-research/bert, modeling.py (gelu as of October 2018; with tanh, since 2019, it
 *          keeps as many tensors); TensorFlow 1.11: contrib/layers/python/layers/layers.py,
 *          layer_norm; python/ops/nn_impl.py, moments and batch_normalization; nn_ops.py, dropout;
 *          math_grad.py, _MulGrad and _ErfGrad.
 * Ignores: masks that are drawn when a step begins (at the peak all of them are there anyway).
 */
#ifndef FR_WORKLOADS_ZOO_NN_TF1_H
#define FR_WORKLOADS_ZOO_NN_TF1_H

#include "workloads/zoo/nn.h"

enum { FR__TF1_MASK_BYTES = 4 }; /* an element */

/* As fr__nn_gelu. */
struct fr__value fr__nn_tf1_gelu(struct fr__net *net, const char *name, struct fr__value x);
/* As fr__nn_layernorm. inv: what an op of kind layernorm gives of x. */
struct fr__value fr__nn_tf1_layernorm(struct fr__net *net, const char *name, struct fr__value x,
                                      struct fr__value inv);
#endif
