/* calibrate/measure/cuda/conv.cu - times convolutions by cuDNN, forward and both gradients:
 * conv.csv.
 *
 *   conv --shapes SHAPES.csv -o conv.csv [--dtypes LIST] [--budget S] [--device N] [--list]
 *
 * SHAPES.csv: n,c,h,w,k,r,s,stride,pad. Each of the three is timed with the algorithm that cuDNN's
 * Find measures as the fastest within 1 GiB of workspace (as PyTorch with cudnn.benchmark). The
 * notes have its name and workspace. fp32: NCHW, no tensor cores (CUDNN_FMA_MATH); tf32: NCHW,
 * tensor cores; fp16 and bf16: NHWC, tensor cores, sums in fp32.
 */
#include "bench.cuh"

#include <cudnn.h>

#include <algorithm>

#define CUDNN_CHECK(call)                                                                          \
    do {                                                                                           \
        cudnnStatus_t status_ = (call);                                                            \
        if (status_ != CUDNN_STATUS_SUCCESS)                                                       \
            bench_die(__FILE__, __LINE__, #call, cudnnGetErrorString(status_));                    \
    } while (0)

static const size_t most_workspace_bytes = (size_t)1 << 30;

struct format {
    dtype type;
    const char *name;
    cudnnDataType_t data;
    cudnnTensorFormat_t order;
    cudnnMathType_t math;
    int capability; /* least capability of the GPU */
};
static const format formats[] = {
    {dtype::fp32, "fp32", CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, CUDNN_FMA_MATH, 0},
    {dtype::bf16, "bf16", CUDNN_DATA_BFLOAT16, CUDNN_TENSOR_NHWC, CUDNN_TENSOR_OP_MATH, 80},
    {dtype::tf32, "tf32", CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, CUDNN_DEFAULT_MATH, 80},
    {dtype::fp16, "fp16", CUDNN_DATA_HALF, CUDNN_TENSOR_NHWC, CUDNN_TENSOR_OP_MATH, 70},
};

struct shape {
    int n, c, h, w, k, r, s, stride, pad;
};

struct descriptors {
    cudnnTensorDescriptor_t x, y;
    cudnnFilterDescriptor_t w;
    cudnnConvolutionDescriptor_t conv;
    size_t x_bytes, y_bytes, w_bytes;
};

static bool describe(const shape &s, const format &f, descriptors *d)
{
    int n, k, p, q;
    size_t e = dtype_bytes(f.type);

    CUDNN_CHECK(cudnnCreateTensorDescriptor(&d->x));
    CUDNN_CHECK(cudnnCreateTensorDescriptor(&d->y));
    CUDNN_CHECK(cudnnCreateFilterDescriptor(&d->w));
    CUDNN_CHECK(cudnnCreateConvolutionDescriptor(&d->conv));
    CUDNN_CHECK(cudnnSetTensor4dDescriptor(d->x, f.order, f.data, s.n, s.c, s.h, s.w));
    CUDNN_CHECK(cudnnSetFilter4dDescriptor(d->w, f.data, f.order, s.k, s.c, s.r, s.s));
    CUDNN_CHECK(cudnnSetConvolution2dDescriptor(d->conv, s.pad, s.pad, s.stride, s.stride, 1, 1,
                                                CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
    CUDNN_CHECK(cudnnSetConvolutionMathType(d->conv, f.math));
    if (cudnnGetConvolution2dForwardOutputDim(d->conv, d->x, d->w, &n, &k, &p, &q) !=
        CUDNN_STATUS_SUCCESS)
        return false;
    CUDNN_CHECK(cudnnSetTensor4dDescriptor(d->y, f.order, f.data, n, k, p, q));
    d->x_bytes = e * (size_t)s.n * (size_t)s.c * (size_t)s.h * (size_t)s.w;
    d->w_bytes = e * (size_t)s.k * (size_t)s.c * (size_t)s.r * (size_t)s.s;
    d->y_bytes = e * (size_t)n * (size_t)k * (size_t)p * (size_t)q;
    return true;
}

static void forget(descriptors *d)
{
    CUDNN_CHECK(cudnnDestroyConvolutionDescriptor(d->conv));
    CUDNN_CHECK(cudnnDestroyFilterDescriptor(d->w));
    CUDNN_CHECK(cudnnDestroyTensorDescriptor(d->y));
    CUDNN_CHECK(cudnnDestroyTensorDescriptor(d->x));
}

/* Memory of one run. */
struct pools {
    buffer in, out, workspace;
};

/* What differs between the three directions. x, w, y of a direction are the data that it reads or
 * writes. */
struct direction {
    const char *name;
    /* Finds the fastest algorithm; false: there is none. */
    bool (*find)(cudnnHandle_t h, const descriptors &d, const void *in1, const void *in2, void *out,
                 const pools &m, int *algorithm, size_t *workspace_bytes);
    cudnnStatus_t (*run)(cudnnHandle_t h, const descriptors &d, const void *in1, const void *in2,
                         void *out, const pools &m, int algorithm, size_t workspace_bytes);
};

static const float one = 1, zero = 0;
enum { MOST_ALGORITHMS = 16 };

template <class Result>
static bool best(const Result *results, int n, int *algorithm, size_t *workspace_bytes)
{
    for (int i = 0; i < n; i++) /* fastest first */
        if (results[i].status == CUDNN_STATUS_SUCCESS &&
            results[i].memory <= most_workspace_bytes) {
            *algorithm = (int)results[i].algo;
            *workspace_bytes = results[i].memory;
            return true;
        }
    return false;
}

/* Whether Find succeeded; that it knows no algorithm for the shape is no failure. */
static bool found(cudnnStatus_t status)
{
    if (status == CUDNN_STATUS_SUCCESS)
        return true;
    if (status != CUDNN_STATUS_NOT_SUPPORTED && status != CUDNN_STATUS_BAD_PARAM)
        CUDNN_CHECK(status);
    return false;
}

static bool find_forward(cudnnHandle_t h, const descriptors &d, const void *x, const void *w,
                         void *y, const pools &m, int *algorithm, size_t *workspace_bytes)
{
    cudnnConvolutionFwdAlgoPerf_t results[MOST_ALGORITHMS];
    int n = 0;

    return found(cudnnFindConvolutionForwardAlgorithmEx(h, d.x, x, d.w, w, d.conv, d.y, y,
                                                        MOST_ALGORITHMS, &n, results,
                                                        m.workspace.at(), most_workspace_bytes)) &&
           best(results, n, algorithm, workspace_bytes);
}

static cudnnStatus_t run_forward(cudnnHandle_t h, const descriptors &d, const void *x,
                                 const void *w, void *y, const pools &m, int algorithm,
                                 size_t workspace_bytes)
{
    return cudnnConvolutionForward(h, &one, d.x, x, d.w, w, d.conv,
                                   (cudnnConvolutionFwdAlgo_t)algorithm, m.workspace.at(),
                                   workspace_bytes, &zero, d.y, y);
}

static bool find_data(cudnnHandle_t h, const descriptors &d, const void *w, const void *dy,
                      void *dx, const pools &m, int *algorithm, size_t *workspace_bytes)
{
    cudnnConvolutionBwdDataAlgoPerf_t results[MOST_ALGORITHMS];
    int n = 0;

    return found(cudnnFindConvolutionBackwardDataAlgorithmEx(
               h, d.w, w, d.y, dy, d.conv, d.x, dx, MOST_ALGORITHMS, &n, results, m.workspace.at(),
               most_workspace_bytes)) &&
           best(results, n, algorithm, workspace_bytes);
}

static cudnnStatus_t run_data(cudnnHandle_t h, const descriptors &d, const void *w, const void *dy,
                              void *dx, const pools &m, int algorithm, size_t workspace_bytes)
{
    return cudnnConvolutionBackwardData(h, &one, d.w, w, d.y, dy, d.conv,
                                        (cudnnConvolutionBwdDataAlgo_t)algorithm, m.workspace.at(),
                                        workspace_bytes, &zero, d.x, dx);
}

static bool find_filter(cudnnHandle_t h, const descriptors &d, const void *x, const void *dy,
                        void *dw, const pools &m, int *algorithm, size_t *workspace_bytes)
{
    cudnnConvolutionBwdFilterAlgoPerf_t results[MOST_ALGORITHMS];
    int n = 0;

    return found(cudnnFindConvolutionBackwardFilterAlgorithmEx(
               h, d.x, x, d.y, dy, d.conv, d.w, dw, MOST_ALGORITHMS, &n, results, m.workspace.at(),
               most_workspace_bytes)) &&
           best(results, n, algorithm, workspace_bytes);
}

static cudnnStatus_t run_filter(cudnnHandle_t h, const descriptors &d, const void *x,
                                const void *dy, void *dw, const pools &m, int algorithm,
                                size_t workspace_bytes)
{
    return cudnnConvolutionBackwardFilter(h, &one, d.x, x, d.y, dy, d.conv,
                                          (cudnnConvolutionBwdFilterAlgo_t)algorithm,
                                          m.workspace.at(), workspace_bytes, &zero, d.w, dw);
}

static const direction directions[] = {{"fwd", find_forward, run_forward},
                                       {"bwd_data", find_data, run_data},
                                       {"bwd_filter", find_filter, run_filter}};

static size_t rounded(size_t bytes)
{
    return (bytes + 255) / 256 * 256;
}

/* Appends the time, empty where cuDNN has no algorithm, and what is noted of it. */
static bool measure_one(bench &b, cudnnHandle_t h, const pools &m, const descriptors &d, int which,
                        std::string *times, std::string *notes)
{
    const direction &way = directions[which];
    size_t in1 = rounded(which == 1 ? d.w_bytes : d.x_bytes);
    size_t in2 = which == 0 ? d.w_bytes : d.y_bytes;
    size_t out_bytes = which == 0 ? d.y_bytes : which == 1 ? d.x_bytes : d.w_bytes;
    rotation in(in1 + in2, m.in.bytes(), b.l2_bytes()), out(out_bytes, m.out.bytes(), b.l2_bytes());
    int algorithm = 0;
    size_t workspace_bytes = 0;

    *times += ",";
    if (!in.fits() || !out.fits() ||
        !way.find(h, d, m.in.at(), m.in.at(in1), m.out.at(), m, &algorithm, &workspace_bytes))
        return false;
    timing t = b.time([&](int i) {
        char *p = m.in.at(in.offset(i));
        CUDNN_CHECK(
            way.run(h, d, p, p + in1, m.out.at(out.offset(i)), m, algorithm, workspace_bytes));
    });
    *times += number(t.median_us);
    *notes += std::string(notes->empty() ? "" : ";") + way.name +
              ":algorithm=" + count((uint64_t)algorithm) +
              ";workspace_bytes=" + count(workspace_bytes) + ";" + timing_notes(t);
    return true;
}

static void measure(bench &b, cudnnHandle_t h, const pools &m, const shape &s, const format &f,
                    const std::string &key)
{
    descriptors d;
    std::string times, notes;
    int n_measured = 0;

    if (!describe(s, f, &d))
        b.skip(key, "no such convolution");
    else {
        for (int which = 0; which < 3; which++)
            n_measured += measure_one(b, h, m, d, which, &times, &notes);
        if (n_measured)
            b.row(key, times.substr(1) + "," + notes);
        else
            b.skip(key, "does not fit into memory, or cuDNN has no algorithm");
    }
    forget(&d);
}

int main(int argc, char **argv)
{
    bench b(&argc, argv,
            "source,gpu,dtype,n,c,h,w,k,r,s,stride,pad,fwd_us,bwd_data_us,bwd_filter_us,notes");
    const char *path = take_option(&argc, argv, "--shapes", "conv_shapes.csv");
    std::string wanted =
        "," + std::string(take_option(&argc, argv, "--dtypes", "fp32,bf16,tf32,fp16")) + ",";
    refuse_rest(argc, argv);
    shape_file shapes(path, {"n", "c", "h", "w", "k", "r", "s", "stride", "pad"});
    cudnnHandle_t h = nullptr;
    pools *memory = nullptr;

    if (!b.is_listing()) {
        b.device();
        CUDNN_CHECK(cudnnCreate(&h));
        CUDNN_CHECK(cudnnSetStream(h, b.stream()));
        size_t spare = most_workspace_bytes + ((size_t)1 << 30); /* Find needs some memory itself */
        size_t free = b.free_bytes();
        size_t each = free > 2 * spare ? std::min((free - spare) / 2, (size_t)8 << 30) : free / 8;
        memory = new pools{buffer(each / 256 * 256), buffer(each / 256 * 256),
                           buffer(most_workspace_bytes)};
    }
    for (const format &f : formats) {
        if (wanted.find("," + std::string(f.name) + ",") == std::string::npos)
            continue;
        if (memory && 10 * b.device().major + b.device().minor < f.capability) {
            b.skip(dtype_text(f.type), "the GPU has no such arithmetic");
            continue;
        }
        if (memory)
            memory->in.fill_random(f.type, b.stream());
        for (size_t i = 0; i < shapes.n_rows(); i++) {
            int v[9];
            std::string key = dtype_text(f.type);
            for (size_t j = 0; j < 9; j++) {
                v[j] = (int)shapes.number(i, j);
                key += "," + count((uint64_t)v[j]);
            }
            shape s = {v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8]};
            if (b.wants(key))
                measure(b, h, *memory, s, f, key);
        }
    }
    delete memory;
    if (h)
        CUDNN_CHECK(cudnnDestroy(h));
    return b.finish();
}
