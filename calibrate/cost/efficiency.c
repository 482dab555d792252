/* calibrate/cost/efficiency.c - the fraction of the data sheet's peaks that each kind of op
 * reaches: which ops are alike. The figures are data, efficiencies.yaml. */
#include "config.h"

#include "calibrate/cost/efficiency.h"

#include <assert.h>

static enum fr__op_class class_of(enum fr_op_kind kind)
{
    switch (kind) {
    case FR_OP_CONV2D:
        return FR__OP_CLASS_CONV;
    case FR_OP_MATMUL:
        return FR__OP_CLASS_MATMUL;
    case FR_OP_BATCH_MATMUL:
    case FR_OP_SCAN: /* in chunks, whose work is products of heads */
        return FR__OP_CLASS_BATCH_MATMUL;
    case FR_OP_ATTENTION:
        return FR__OP_CLASS_ATTENTION;
    case FR_OP_LSTM:
        return FR__OP_CLASS_LSTM;
    case FR_OP_BIAS:
    case FR_OP_RELU:
    case FR_OP_GELU:
    case FR_OP_TANH:
    case FR_OP_ADD:
    case FR_OP_MUL:
    case FR_OP_SCALE:
    case FR_OP_GRAD_ADD:
        return FR__OP_CLASS_ELEMENTWISE;
    case FR_OP_SOFTMAX:
    case FR_OP_LOG_SOFTMAX:
    case FR_OP_LOSS:
        return FR__OP_CLASS_SOFTMAX;
    case FR_OP_LAYERNORM:
        return FR__OP_CLASS_LAYERNORM;
    case FR_OP_BATCHNORM:
    case FR_OP_RMSNORM:
        return FR__OP_CLASS_LIKE_LAYERNORM;
    case FR_OP_LAYER:
        return FR__OP_CLASS_LAYER;
    default:
        return FR__OP_CLASS_LIKE_ELEMENTWISE;
    }
}

struct fr_efficiency fr_efficiency_of(enum fr_op_kind kind)
{
    assert(fr__n_efficiencies == FR__N_OP_CLASSES);
    return fr__efficiencies[class_of(kind)];
}
