/* workloads/passes/fuse.h - fuses ops of a training graph into one kernel each, as frameworks do.
 *
 * A fused op reads what its ops read from outside and writes what is read outside; what only they
 * read among themselves is no tensor any more, so its memory and its traffic are gone. FLOPs add
 * up. It has the kind and the shape of its costliest op, whose curve prices it by the bytes that
 * are left.
 *
 *     bias-activation      a bias and the GELU, ReLU, SiLU, tanh or sigmoid behind it
 *     gated-activation     an activation and the product with what it gates (SwiGLU, GeGLU); the
 *                          gradient makes the activation again from its input
 *     bias-dropout-add     dropout and the residual addition, with a bias before it if there is one
 *     activation-dropout   an activation and the dropout behind it
 *     scale-mask-softmax   scaling, masking, a cast, and the softmax behind them
 *     batchnorm-activation batch norm, the residual addition, and the activation behind them
 *     gemm-bias            a matrix product and the bias behind it
 *     gemm-epilogue        the same with the ReLU or GELU behind it, and in the backward pass the
 *                          product that gives the gradient of the activation's output with the
 *                          activation's gradient, and that of the weights with the bias's
 *     xla                  clusters of elementwise ops, with at most one norm or softmax each;
 *                          these are reductions that read their input again, and ops of the zoo
 *                          are those of TensorFlow 1 (workloads/zoo/nn_tf1.h); dropout reads random
 *                          numbers of 32 bits that another kernel wrote
 *     inductor             the same clusters, where a norm or softmax is one kernel, and the
 *                          backward pass makes cheap values again instead of reading them
 *
 *     small-ops            no fusion: GELU, dropout, layer norm and softmax that nothing above took
 *                          move what TensorFlow's small ops move (small_ops.h); each stays one op
 *     torch-norms          the same of RMS norm and rotary positions as PyTorch models write them
 *     torch-gelu           the same of GELU as GPT-2 in PyTorch writes it
 *
 * A product keeps its own FLOPs and time; what else its kernel moves (the activation's input, which
 * the backward pass reads) is its shape's `epilogue`.
 *
 * Casts between the ops of a pattern belong to it. The backward ops of the ops of a pattern become
 * one op too. Where a tensor inside a group is read outside by ops that derive from the group (the
 * gradient of GELU reads what the bias wrote; the gradient of a batch norm's weights reads the
 * gradient of the ReLU), these make it again from the group's inputs, if that moves no more bytes
 * than to write and read it; else the fused op writes it too. XLA does not compute a GELU, SiLU,
 * tanh or sigmoid twice.
 *
 * Sources:  Megatron-LM, megatron/model/fused_bias_gelu.py (the backward pass adds the bias again),
 *           fused_softmax.py, transformer.py (bias_dropout_add), megatron/core/fusions/
 *           fused_bias_swiglu.py (SwiGLUFunction saves its input alone); NVIDIA cuDNN,
 *           cudnnBatchNormalizationForwardTrainingEx, CUDNN_BATCHNORM_OPS_BN_ADD_ACTIVATION;
 *           NVIDIA, cuBLAS,
 *           cublasLtEpilogue_t (BIAS, GELU_AUX_BIAS, DGELU, BGRADA); Paddle,
 *           fuse_gemm_epilogue_pass.cc; PyTorch, aten/src/ATen/native/cuda/Blas.cpp, addmm
 *           (gemm_and_bias); TensorFlow, XLA, instruction_fusion (a producer that is not
 *           expensive goes into each of its consumers); TensorFlow, tf2xla/xla_op_registry.h
 *           (cluster_stateful_rng_ops = false) and jit/compilability_check_util.cc: random numbers
 *           are drawn outside of clusters; PyTorch, torch/_inductor and
 *           torch/_functorch/partitioners.py (min-cut recomputation).
 * Ignores:  that a batch norm's fused kernel keeps a bit for the sign of each value instead of
 *           reading its output; the limits on a kernel's size and registers; reductions of several
 *           outputs in one kernel.
 */
#ifndef FR_WORKLOADS_PASSES_FUSE_H
#define FR_WORKLOADS_PASSES_FUSE_H

#include "workloads/workloads.h"

/* Makes the fused graph of a training graph; the caller frees it. fusions: bit 1 << f for each
 * fr_fusion. A graph with measured samples is not fused: its times are those of its own ops.
 * FR_ENOMEM. O(ops + edges log edges). */
enum fr_status fr__fuse(const struct fr_graph *g, unsigned fusions, struct fr_graph **out,
                        struct fr_error *err);

#endif
