/* calibrate/cost/efficiency.c - the fraction of the data sheet's peaks that each kind of op
 * reaches.
 *
 * Each number is the median of (datasheet roofline time / measured time) over measured kernels that
 * run longer than 200 us, taken apart by the side of the roofline that bounds the kernel. If
 * several GPUs were measured, one number stands for V100, A100 and H100, and the source gives their
 * medians. A kind without measurements uses the numbers of the nearest kind, and says so.
 *
 * Source:  NeuSight (Lee et al., ASPLOS 2025, its published fp32 data set), DeepBench (Baidu
 *          Research, 2017 results), aiconfigurator (NVIDIA, bf16 tables) and vidur (Agrawal et al.,
 *          MLSys 2024).
 * Ignores: the shape. In the same rows the 10th to 90th percentile is 0.2 to 1.2 for fp32
 *          convolutions (Winograd exceeds the direct peak) and 0.65 to 0.90 for bf16 matrix
 *          products.
 */
#include "config.h"

#include "calibrate/calibrate.h"

/* Ops with the same efficiency. */
enum op_class {
    CONV,
    MATMUL,
    BATCH_MATMUL,
    ATTENTION,
    LSTM,
    ELEMENTWISE,
    LIKE_ELEMENTWISE,
    SOFTMAX,
    LAYERNORM,
    LIKE_LAYERNORM,
    LAYER,
    N_CLASSES
};

static const struct fr_efficiency efficiencies[N_CLASSES] = {
    [CONV] = {0.60, 0.60,
              "forward fp32 0.69 V100, 0.57 A100, 0.63 P100, 0.52 T4 (NeuSight); fp16 0.65 V100; "
              "bandwidth-bound 0.60 T4 (DeepBench)"},
    [MATMUL] = {0.80, 0.75,
                "bf16 0.82 A100, 0.78 H100 (aiconfigurator); fp16 0.79, fp32 0.84 V100 "
                "(DeepBench); bandwidth-bound 0.76 A100, 0.83 H100, 0.75 B200 (aiconfigurator)"},
    [BATCH_MATMUL] = {0.64, 0.42,
                      "fp32 0.61 V100, 0.64 A100, 0.65 H100; bandwidth-bound 0.42 V100, 0.43 H100 "
                      "(NeuSight)"},
    [ATTENTION] = {0.48, 0.29,
                   "bf16 prefill 0.49 A100, 0.47 H100; bandwidth-bound 0.29 A100 and H100 "
                   "(aiconfigurator)"},
    [LSTM] = {0.40, 0.75,
              "fp32 forward 0.40, backward-data 0.65 V100 (DeepBench, 16 T H^2 FLOPs a sample); "
              "bandwidth as matmul: no measurement of its own"},
    [ELEMENTWISE] = {1.0, 0.87,
                     "add, mul, relu, gelu, tanh: 0.90 V100, 0.87 A100, 0.74 P100 and T4 "
                     "(NeuSight, fp32)"},
    [LIKE_ELEMENTWISE] = {1.0, 0.87,
                          "as elementwise ops (NeuSight, fp32): no measurement of its own"},
    [SOFTMAX] = {1.0, 0.66, "0.63 V100, 0.70 and 0.76 A100, 0.61 T4 (NeuSight, fp32)"},
    [LAYERNORM] = {1.0, 0.60,
                   "0.58 V100, 0.63 A100, 0.51 T4 (NeuSight, fp32); 0.35 A100 fp16 "
                   "(vidur)"},
    [LIKE_LAYERNORM] = {1.0, 0.60, "as layernorm (NeuSight, fp32): no measurement of its own"},
    [LAYER] = {0.60, 0.75,
               "a whole layer: FLOPs as conv2d, bytes as matmul; no measurement of its own"},
};

static enum op_class class_of(enum fr_op_kind kind)
{
    switch (kind) {
    case FR_OP_CONV2D:
        return CONV;
    case FR_OP_MATMUL:
        return MATMUL;
    case FR_OP_BATCH_MATMUL:
        return BATCH_MATMUL;
    case FR_OP_ATTENTION:
        return ATTENTION;
    case FR_OP_LSTM:
        return LSTM;
    case FR_OP_BIAS:
    case FR_OP_RELU:
    case FR_OP_GELU:
    case FR_OP_TANH:
    case FR_OP_ADD:
    case FR_OP_MUL:
    case FR_OP_SCALE:
    case FR_OP_GRAD_ADD:
        return ELEMENTWISE;
    case FR_OP_SOFTMAX:
    case FR_OP_LOG_SOFTMAX:
    case FR_OP_LOSS:
        return SOFTMAX;
    case FR_OP_LAYERNORM:
        return LAYERNORM;
    case FR_OP_BATCHNORM:
    case FR_OP_RMSNORM:
        return LIKE_LAYERNORM;
    case FR_OP_LAYER:
        return LAYER;
    default:
        return LIKE_ELEMENTWISE;
    }
}

struct fr_efficiency fr_efficiency_of(enum fr_op_kind kind)
{
    return efficiencies[class_of(kind)];
}
