/* workloads/passes/small_ops.h - memory traffic of ops that software runs as several small ones
 * instead of one kernel.
 *
 * Each small op reads whole tensors and writes one. TensorFlow without XLA has no kernel of its own
 * for GELU, dropout, layer norm and the gradient of softmax. Per number of the op's result, r reads
 * and w writes of its size (mask: a byte, random number: 4 bytes):
 *
 *     GELU         x / sqrt(2), erf, 1 +, times 0.5: r w each; times x: 2r w.        6r + 5w, 5 ops
 *       gradient   of the product, times both factors: 2r w twice; times 0.5: r w; of erf, the
 *                  square, minus, exp, 2 / sqrt(pi): r w each, times what came: 2r w; / sqrt(2):
 *                  r w; the sum of both ways: 2r w.                               14r + 10w, 10 ops
 *     dropout      times 1 / keep: r w; random numbers: written; compared with the rate: read, mask
 *                  written; the mask as numbers: read, w; times it: 2r w.     3r + 3w + 10 B, 5 ops
 *       gradient   times the mask's numbers: 2r w; times 1 / keep: r w.             3r + 2w, 2 ops
 *     layer norm   mean: r; squared differences: r w; mean: r; 1 / deviation times scale: w; times
 *                  x: 2r w; times the mean: r w; shift minus that: r w; sum: 2r w.  9r + 6w, 8 ops
 *       gradient   of the shift: r w, r; of the mean's product: r w, 2r w, r; of x's: 2r w twice,
 *                  their sum: 2r w; of the scale: r w, r, r w, r; of the variance: r w three times
 *                  and w; of the mean: w, r w; sum of three ways: 3r w.           23r + 15w, 19 ops
 *     softmax      largest, sum of exp, result: 3r + w in one op.
 *       gradient   times the result: 2r w; sum: r; minus it: r w; times the result: 2r w.
 *                                                                              6r + 3w, 4 ops
 *
 * PyTorch models that write out RMS norm, rotary positions and GPT-2's GELU run them as small ops,
 * too. The first two work in 32 bits: c is a read or a write of such numbers of 4 bytes, and ops
 * marked by * are casts, which are left out where the result has 32 bits anyway:
 *
 *     RMS norm     float*: r + c; square, mean, times 1 / root: 5c; back*: c + w; times the weight:
 *                  r w.                                              2(r + w) + 7c, 8 ops
 *       gradient   times the weight: r w; of the weight: 2r w, r; float*: r + c; of the product:
 *                  2c, 3c, c; of the square: power 2c, twice it 2c, times what came 2c; the sum of
 *                  both ways: 3c; back*: c + w.                        5r + 3w + 17c, 15 ops
 *     rotary       float*: r + c; complex product: 2c; back*: c + w.       r + w + 4c, 3 ops
 *       gradient   the same.
 *     GPT-2's GELU cube, times 0.04, times 0.8, tanh, 1 +, times 0.5: r w each; the sum with x, the
 *                  product: 2r w each.                                 10r + 8w, 8 ops
 *       gradient   of the product: 2r w twice; of tanh: 2r w; times 0.8, 0.04, 0.5: r w each; of
 *                  the cube: r w twice, 2r w; sums of three ways: 2r w twice.   17r + 11w, 11 ops
 *
 * Sources: meta-llama/llama, llama/model.py (RMSNorm, apply_rotary_emb); pytorch/torchtitan,
 *          torchtitan/models/norms.py and llama/model.py (2024); huggingface/transformers,
 *          models/llama/modeling_llama.py (LlamaRMSNorm; its rotate_half moves as much or more),
 *          activations.py (NewGELUActivation); gradients: PyTorch, tools/autograd/derivatives.yaml.
 *          TensorFlow 2.x, python/ops/nn_ops.py (dropout_v2), math_grad.py (_ErfGrad, _MulGrad,
 *          _SquaredDifferenceGrad, _MeanGrad), nn_grad.py (_SoftmaxGrad), nn_impl.py (moments,
 *          batch_normalization), core/kernels/softmax_op_gpu.cu.cc; keras, layers/normalization
 *          (epsilon below 1.001e-5: not the fused batch norm); GELU with erf, as in NVIDIA's and
 *          Hugging Face's ELECTRA.
 * Ignores: the launches of the small ops; what more of them is kept for the backward pass
 *          (--memory tf1 counts that).
 */
#ifndef FR_WORKLOADS_PASSES_SMALL_OPS_H
#define FR_WORKLOADS_PASSES_SMALL_OPS_H

#include "workloads/workloads.h"

#include <stdint.h>

/* What the small ops move of an op of a training graph. n_ops 0: the framework has a kernel for it,
 * too, or it makes no tensor. more_bytes: beyond the op's own `bytes`. */
struct fr__small_ops {
    unsigned n_ops;
    double more_bytes;
    enum fr_fusion by; /* which of the fusions says so */
};

/* fusions: bit 1 << f for each that is asked for. */
struct fr__small_ops fr__small_ops_of(const struct fr_graph *g, uint32_t op, unsigned fusions);

#endif
