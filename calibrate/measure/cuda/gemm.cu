/* calibrate/measure/cuda/gemm.cu - times matrix products by cuBLASLt: gemm.csv.
 *
 *   gemm --shapes SHAPES.csv -o gemm.csv [--dtypes LIST] [--budget S] [--device N] [--list]
 *
 * SHAPES.csv: batch,m,n,k,trans. C [m][n] = A [m][k] B [k][n], row-major, `batch` times. The BLAS
 * counts by columns and computes C' = B' A', to which trans refers: TN is a linear layer's forward
 * pass (B = W', W [n][k]), NN the gradient of its input, NT that of its weight (A = Y', Y [k][m]).
 *
 * The algorithm is the first that cuBLASLt's heuristic names, as in frameworks, with 32 MiB of
 * workspace (PyTorch's on Hopper). fp32, fp16, bf16: sums in fp32. tf32: fp32 matrices, rounded by
 * the tensor cores. fp8: e4m3 matrices, bf16 result, TN only (cuBLASLt has no other).
 */
#include "matmul.cuh"

#include <algorithm>

static bool is_supported(dtype t, const cudaDeviceProp &device)
{
    int capability = 10 * device.major + device.minor;

    return capability >= (t == dtype::fp8 ? 89 : t == dtype::tf32 || t == dtype::bf16 ? 80 : 0);
}

/* Memory of one run: operands that stay as they are, results, workspace. */
struct pools {
    buffer in, out, workspace;
};

static size_t rounded(size_t bytes)
{
    return (bytes + 255) / 256 * 256;
}

static void measure(bench &b, cublasLtHandle_t lt, const pools &memory, const matmul &p, dtype t,
                    const std::string &key)
{
    size_t x_bytes = rounded((size_t)(p.batch * p.n * p.k) * dtype_bytes(t));
    size_t y_bytes = rounded((size_t)(p.batch * p.k * p.m) * dtype_bytes(t));
    size_t c_bytes = (size_t)(p.batch * p.n * p.m) * (t == dtype::fp8 ? 2 : dtype_bytes(t));
    rotation in(x_bytes + y_bytes, memory.in.bytes(), b.l2_bytes());
    rotation out(c_bytes, memory.out.bytes(), b.l2_bytes());

    if (!in.fits() || !out.fits()) {
        b.skip(key, "does not fit into memory");
        return;
    }
    matmul_plan q = make_matmul_plan(lt, p, t);
    if (q.has_algorithm) {
        timing time = b.time([&](int i) {
            char *x = memory.in.at(in.offset(i));
            run_matmul(lt, q, x, x + x_bytes, memory.out.at(out.offset(i)), memory.workspace.at(),
                       b.stream());
        });
        double flops = 2.0 * (double)p.batch * (double)p.m * (double)p.n * (double)p.k;
        b.row(key, number(time.median_us) + "," + number(flops / time.median_us * 1e-6) +
                       ",batch=" + count((uint64_t)p.batch) + ";" + timing_notes(time));
    } else
        b.skip(key, "cuBLASLt has no algorithm");
    free_matmul_plan(q);
}

static std::vector<dtype> formats(const char *list)
{
    static const struct {
        const char *name;
        dtype type;
    } known[] = {{"bf16", dtype::bf16},
                 {"fp32", dtype::fp32},
                 {"tf32", dtype::tf32},
                 {"fp16", dtype::fp16},
                 {"fp8", dtype::fp8}};
    std::vector<dtype> out;
    std::string padded = "," + std::string(list) + ",";

    for (const auto &k : known)
        if (padded.find("," + std::string(k.name) + ",") != std::string::npos)
            out.push_back(k.type);
    if (out.empty()) {
        fprintf(stderr, "gemm: --dtypes is \"%s\", none of bf16,fp32,tf32,fp16,fp8\n", list);
        exit(2);
    }
    return out;
}

static std::string key_of(const matmul &p, dtype t, const std::string &trans)
{
    return join(
        {dtype_text(t), count((uint64_t)p.m), count((uint64_t)p.n), count((uint64_t)p.k), trans});
}

int main(int argc, char **argv)
{
    bench b(&argc, argv, "source,gpu,dtype,m,n,k,trans,time_us,tflops,notes");
    const char *path = take_option(&argc, argv, "--shapes", "gemm_shapes.csv");
    std::vector<dtype> types =
        formats(take_option(&argc, argv, "--dtypes", "bf16,fp32,tf32,fp16,fp8"));
    refuse_rest(argc, argv);
    shape_file shapes(path, {"batch", "m", "n", "k", "trans"});
    cublasLtHandle_t lt = nullptr;
    pools *memory = nullptr;

    if (!b.is_listing()) {
        size_t each = std::min(b.free_bytes() / 2, (size_t)8 << 30) / 256 * 256;
        LT_CHECK(cublasLtCreate(&lt));
        memory = new pools{buffer(each), buffer(each), buffer(matmul_workspace_bytes)};
    }
    for (dtype t : types) {
        if (memory && !is_supported(t, b.device())) {
            b.skip(dtype_text(t), "the GPU has no such arithmetic");
            continue;
        }
        if (memory)
            memory->in.fill_random(t, b.stream());
        for (size_t i = 0; i < shapes.n_rows(); i++) {
            const std::string &trans = shapes.text(i, 4);
            matmul p = {shapes.number(i, 0), shapes.number(i, 1),
                        shapes.number(i, 2), shapes.number(i, 3),
                        trans[0] == 'T',     trans.size() > 1 && trans[1] == 'T'};
            std::string key = key_of(p, t, trans);
            if ((t != dtype::fp8 || trans == "TN") &&
                b.wants(key, "batch=" + count((uint64_t)p.batch)))
                measure(b, lt, *memory, p, t, key);
        }
    }
    delete memory;
    if (lt)
        LT_CHECK(cublasLtDestroy(lt));
    return b.finish();
}
