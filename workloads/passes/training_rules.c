/* workloads/passes/training_rules.c - how each kind of op is differentiated.
 *
 * The rules are a table, apart from the code that follows them, so that they can be read against
 * their source: PyTorch, tools/autograd/derivatives.yaml (1.13). Each backward formula there names
 * the forward tensors that it keeps. The saved bytes that follow were checked against measurements
 * with PyTorch 1.13.1 (tests/workloads/test_zoo.c).
 */
#include "config.h"

#include "workloads/passes/training.h"

/* Short names, so that a rule fits on a line. */
enum {
    IN = FR__READ_IN,
    OUT = FR__READ_OUT,
    EXTRA = FR__READ_EXTRA,
    OTHERS = FR__READ_OTHERS,
    HELD = FR__READ_HELD,
    INDICES = FR__READ_INDICES
};

/* The backward of a product is one product for each operand, each of the forward's size. Fused
 * attention recomputes the scores: 5 products where the forward has 2 (Dao, FlashAttention-2, 2023,
 * section 3). The FLOPs per element are counted in the formulas:
 *     tanh               dy (1 - y^2)
 *     sigmoid            dy y (1 - y)
 *     softmax            y (dy - sum(y dy))
 *     dropout            dy mask scale
 *     a norm's weights   sum(dy) and sum(dy (x - m) / s)
 * A scan in chunks is made of products, and its backward computes some of them again as attention's
 * does; what it keeps beside its inputs are the states at the ends of chunks (T. Dao, A. Gu,
 * Transformers are SSMs, ICML 2024, section 6, and mamba_ssm's ssd_combined.py).
 * The gradient of a concatenation is cut into views, without a copy
 * (torch/csrc/autograd/FunctionsManual.cpp, cat_tensors_backward). */
static const struct fr__rule rules[FR_N_OP_KINDS] = {
    [FR_OP_INPUT] = {FR__FLOW_NONE, 0, 0, false, 0, 0, 0, 0},
    [FR_OP_CONV2D] = {FR__FLOW_EACH, 0, IN, false, 1, 0, 1, 0},
    [FR_OP_MATMUL] = {FR__FLOW_EACH, OTHERS, IN, false, 1, 0, 1, 0},
    [FR_OP_BATCH_MATMUL] = {FR__FLOW_EACH, OTHERS, IN, false, 1, 0, 1, 0},
    [FR_OP_BIAS] = {FR__FLOW_PASS, 0, 0, false, 0, 0, 0, 1},
    [FR_OP_RELU] = {FR__FLOW_ALL, OUT, 0, false, 0, 1, 0, 0},
    [FR_OP_GELU] = {FR__FLOW_ALL, IN, 0, false, 1, 0, 0, 0},
    [FR_OP_SILU] = {FR__FLOW_ALL, IN, 0, false, 1, 0, 0, 0},
    [FR_OP_TANH] = {FR__FLOW_ALL, OUT, 0, false, 0, 3, 0, 0},
    [FR_OP_SIGMOID] = {FR__FLOW_ALL, OUT, 0, false, 0, 3, 0, 0},
    [FR_OP_SOFTMAX] = {FR__FLOW_ALL, OUT, 0, false, 0, 4, 0, 0},
    [FR_OP_LOG_SOFTMAX] = {FR__FLOW_ALL, OUT, 0, false, 0, 4, 0, 0},
    [FR_OP_DROPOUT] = {FR__FLOW_ALL, EXTRA, 0, false, 0, 2, 0, 0},
    [FR_OP_ADD] = {FR__FLOW_PASS, 0, 0, false, 0, 0, 0, 0},
    [FR_OP_MUL] = {FR__FLOW_EACH, OTHERS, 0, false, 0, 1, 0, 0},
    [FR_OP_SCALE] = {FR__FLOW_ALL, 0, 0, false, 0, 1, 0, 0},
    [FR_OP_MASK] = {FR__FLOW_ALL, 0, 0, false, 0, 1, 0, 0},
    [FR_OP_BATCHNORM] = {FR__FLOW_ALL, IN | EXTRA, IN | EXTRA, false, 1, 0, 0, 4},
    [FR_OP_LAYERNORM] = {FR__FLOW_ALL, IN | EXTRA, IN | EXTRA, false, 1, 0, 0, 4},
    [FR_OP_RMSNORM] = {FR__FLOW_ALL, IN | EXTRA, IN | EXTRA, false, 1, 0, 0, 4},
    [FR_OP_MAXPOOL] = {FR__FLOW_ALL, HELD | EXTRA, 0, false, 0, 1, 0, 0},
    [FR_OP_AVGPOOL] = {FR__FLOW_ALL, HELD, 0, false, 1, 0, 0, 0},
    [FR_OP_EMBEDDING] = {FR__FLOW_NONE, 0, IN, false, 0, 0, 0, 1},
    [FR_OP_LSTM] = {FR__FLOW_ALL, IN | OUT | EXTRA, IN | OUT | EXTRA, false, 1, 0, 1, 0},
    [FR_OP_ATTENTION] = {FR__FLOW_ALL, IN | OUT | EXTRA, EXTRA, false, 2.5, 0, 0, 0},
    [FR_OP_CONCAT] = {FR__FLOW_PARTS, 0, 0, false, 0, 0, 0, 0},
    [FR_OP_SPLIT] = {FR__FLOW_ALL, 0, 0, true, 0, 0, 0, 0},
    [FR_OP_RESHAPE] = {FR__FLOW_PASS, 0, 0, false, 0, 0, 0, 0},
    [FR_OP_TRANSPOSE] = {FR__FLOW_ALL, 0, 0, false, 0, 0, 0, 0},
    [FR_OP_LOSS] = {FR__FLOW_ALL, HELD | EXTRA, 0, false, 1, 0, 0, 0},
    [FR_OP_CAST] = {FR__FLOW_ALL, 0, 0, false, 0, 1, 0, 1},
    [FR_OP_GRAD_ADD] = {FR__FLOW_REFUSED, 0, 0, false, 0, 0, 0, 0},
    [FR_OP_UPDATE] = {FR__FLOW_REFUSED, 0, 0, false, 0, 0, 0, 0},
    [FR_OP_ROTARY] = {FR__FLOW_ALL, 0, 0, false, 1, 0, 0, 0},
    [FR_OP_GATHER] = {FR__FLOW_ALL, INDICES, 0, true, 0, 1, 0, 0},
    [FR_OP_SCATTER] = {FR__FLOW_ALL, INDICES, 0, false, 0, 0, 0, 0},
    [FR_OP_TOPK] = {FR__FLOW_ALL, EXTRA, 0, false, 0, 0, 0, 0},
    [FR_OP_ALL_REDUCE] = {FR__FLOW_REFUSED, 0, 0, false, 0, 0, 0, 0},
    [FR_OP_ALL_GATHER] = {FR__FLOW_REFUSED, 0, 0, false, 0, 0, 0, 0},
    [FR_OP_REDUCE_SCATTER] = {FR__FLOW_REFUSED, 0, 0, false, 0, 0, 0, 0},
    [FR_OP_ALL_TO_ALL] = {FR__FLOW_REFUSED, 0, 0, false, 0, 0, 0, 0},
    [FR_OP_SLICE] = {FR__FLOW_REFUSED, 0, 0, false, 0, 0, 0, 0},
    [FR_OP_LAYER] = {FR__FLOW_ALL, IN | OUT | EXTRA, IN | OUT | EXTRA, true, 1, 0, 1, 0},
    [FR_OP_CONV1D] = {FR__FLOW_ALL, 0, IN, false, 1, 0, 1, 0},
    [FR_OP_SCAN] = {FR__FLOW_ALL, IN | EXTRA, EXTRA, false, 2.5, 0, 0, 0},
    [FR_OP_OTHER] = {FR__FLOW_ALL, IN | OUT | EXTRA, IN | OUT | EXTRA, true, 1, 0, 1, 0},
};

const struct fr__rule *fr__rule_of_kind(enum fr_op_kind kind)
{
    return &rules[kind];
}
