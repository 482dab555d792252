/* calibrate/measure/cuda/matmul.cuh - one matrix product by cuBLASLt as frameworks call it: the
 * first algorithm that its heuristic names, with 32 MiB of workspace (PyTorch's on Hopper).
 *
 * C [m][n] = A [m][k] B [k][n], row-major. The BLAS counts by columns and computes C' = B' A'; x =
 * B' is its first operand and y = A' its second. fp32, fp16, bf16: sums in fp32. tf32: fp32
 * matrices. fp8: e4m3 operands, bf16 result; cuBLASLt has it only with x transposed and y not.
 */
#ifndef FR_CALIBRATE_MATMUL_CUH
#define FR_CALIBRATE_MATMUL_CUH

#include "bench.cuh"

#include <cublasLt.h>

#define LT_CHECK(call)                                                                             \
    do {                                                                                           \
        cublasStatus_t status_ = (call);                                                           \
        if (status_ != CUBLAS_STATUS_SUCCESS)                                                      \
            bench_die(__FILE__, __LINE__, #call, cublasLtGetStatusString(status_));                \
    } while (0)

static const size_t matmul_workspace_bytes = (size_t)32 << 20;

struct matmul {
    int64_t batch, m, n, k;
    bool first_is_t, second_is_t; /* of BLAS's operands: B' and A' */
};

static inline cudaDataType_t data_type(dtype t)
{
    switch (t) {
    case dtype::fp16:
        return CUDA_R_16F;
    case dtype::bf16:
        return CUDA_R_16BF;
    case dtype::fp8:
        return CUDA_R_8F_E4M3;
    default:
        return CUDA_R_32F;
    }
}

static inline cublasLtMatrixLayout_t layout(cudaDataType_t type, int64_t rows, int64_t columns,
                                            int64_t batch)
{
    cublasLtMatrixLayout_t l;
    int32_t n = (int32_t)batch;
    int64_t stride = rows * columns;

    LT_CHECK(cublasLtMatrixLayoutCreate(&l, type, (uint64_t)rows, (uint64_t)columns, rows));
    LT_CHECK(
        cublasLtMatrixLayoutSetAttribute(l, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &n, sizeof(n)));
    LT_CHECK(cublasLtMatrixLayoutSetAttribute(l, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                                              &stride, sizeof(stride)));
    return l;
}

/* What cuBLASLt needs for one product; x is BLAS's first operand, y its second. */
struct matmul_plan {
    cublasLtMatmulDesc_t product;
    cublasLtMatrixLayout_t x, y, c;
    cublasLtMatmulAlgo_t algorithm;
    bool has_algorithm;
};

static inline matmul_plan make_matmul_plan(cublasLtHandle_t lt, const matmul &p, dtype t)
{
    cublasComputeType_t arithmetic =
        t == dtype::tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
    cudaDataType_t out = t == dtype::fp8 ? CUDA_R_16BF : data_type(t);
    cublasOperation_t op_x = p.first_is_t ? CUBLAS_OP_T : CUBLAS_OP_N;
    cublasOperation_t op_y = p.second_is_t ? CUBLAS_OP_T : CUBLAS_OP_N;
    cublasLtMatmulPreference_t preference;
    cublasLtMatmulHeuristicResult_t found;
    int n_found = 0;
    matmul_plan q = {};

    LT_CHECK(cublasLtMatmulDescCreate(&q.product, arithmetic, CUDA_R_32F));
    LT_CHECK(cublasLtMatmulDescSetAttribute(q.product, CUBLASLT_MATMUL_DESC_TRANSA, &op_x,
                                            sizeof(op_x)));
    LT_CHECK(cublasLtMatmulDescSetAttribute(q.product, CUBLASLT_MATMUL_DESC_TRANSB, &op_y,
                                            sizeof(op_y)));
    q.x = layout(data_type(t), p.first_is_t ? p.k : p.n, p.first_is_t ? p.n : p.k, p.batch);
    q.y = layout(data_type(t), p.second_is_t ? p.m : p.k, p.second_is_t ? p.k : p.m, p.batch);
    q.c = layout(out, p.n, p.m, p.batch);
    LT_CHECK(cublasLtMatmulPreferenceCreate(&preference));
    LT_CHECK(cublasLtMatmulPreferenceSetAttribute(
        preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &matmul_workspace_bytes,
        sizeof(matmul_workspace_bytes)));
    cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(lt, q.product, q.x, q.y, q.c, q.c,
                                                           preference, 1, &found, &n_found);
    if (status != CUBLAS_STATUS_SUCCESS && status != CUBLAS_STATUS_NOT_SUPPORTED &&
        status != CUBLAS_STATUS_INVALID_VALUE)
        LT_CHECK(status);
    q.has_algorithm =
        status == CUBLAS_STATUS_SUCCESS && n_found > 0 && found.state == CUBLAS_STATUS_SUCCESS;
    q.algorithm = found.algo;
    LT_CHECK(cublasLtMatmulPreferenceDestroy(preference));
    return q;
}

static inline void free_matmul_plan(matmul_plan &q)
{
    LT_CHECK(cublasLtMatrixLayoutDestroy(q.c));
    LT_CHECK(cublasLtMatrixLayoutDestroy(q.y));
    LT_CHECK(cublasLtMatrixLayoutDestroy(q.x));
    LT_CHECK(cublasLtMatmulDescDestroy(q.product));
}

static inline void run_matmul(cublasLtHandle_t lt, const matmul_plan &q, const void *x,
                              const void *y, void *c, void *workspace, cudaStream_t stream)
{
    const float one = 1, zero = 0;

    LT_CHECK(cublasLtMatmul(lt, q.product, &one, x, q.x, y, q.y, &zero, c, q.c, c, q.c,
                            &q.algorithm, workspace, matmul_workspace_bytes, stream));
}
#endif
