/* calibrate/measure/cuda/collectives.cu - times NCCL's collectives on the GPUs of one machine:
 * collectives.csv.
 *
 *   collectives -o collectives.csv [--system NAME] [--budget S] [--list]
 *
 * One process and one thread; all calls of an operation are in one group; 2, 4, 8 .. and all GPUs.
 * A row is the time of the slowest GPU, by events around a run of operations, out of place, after a
 * warm-up. bytes is as in nccl-tests: the larger of what a GPU puts in and gets out (all_gather:
 * gathered, reduce_scatter: before). busbw_GBps is algbw times 2(n-1)/n for all_reduce, (n-1)/n for
 * all_gather, reduce_scatter and alltoall, 1 for broadcast and send_recv (nccl-tests,
 * doc/PERFORMANCE.md). NCCL chooses algorithm and protocol, unless NCCL_ALGO and NCCL_PROTO are
 * set.
 */
#include "bench.cuh"

#include <nccl.h>

#include <algorithm>
#include <cstdlib>

#define NCCL_CHECK(call)                                                                           \
    do {                                                                                           \
        ncclResult_t status_ = (call);                                                             \
        if (status_ != ncclSuccess)                                                                \
            bench_die(__FILE__, __LINE__, #call, ncclGetErrorString(status_));                     \
    } while (0)

static const size_t most_bytes = (size_t)1 << 30, least_bytes = 8;

struct gpu {
    char *in, *out;
    cudaStream_t stream;
    cudaEvent_t begin, end;
    ncclComm_t comm;
};

struct format {
    const char *name;
    ncclDataType_t type;
    size_t bytes;
};
static const format formats[] = {{"float32", ncclFloat32, 4}, {"bfloat16", ncclBfloat16, 2}};

/* An operation of rank r of n; elements: of `bytes`. */
struct operation {
    const char *name;
    bool in_pair; /* only between two */
    double (*bus_factor)(double n);
    void (*call)(const gpu &g, int r, int n, size_t elements, const format &f);
};

static void all_reduce(const gpu &g, int, int, size_t e, const format &f)
{
    NCCL_CHECK(ncclAllReduce(g.in, g.out, e, f.type, ncclSum, g.comm, g.stream));
}
static void all_gather(const gpu &g, int, int n, size_t e, const format &f)
{
    NCCL_CHECK(ncclAllGather(g.in, g.out, e / (size_t)n, f.type, g.comm, g.stream));
}
static void reduce_scatter(const gpu &g, int, int n, size_t e, const format &f)
{
    NCCL_CHECK(ncclReduceScatter(g.in, g.out, e / (size_t)n, f.type, ncclSum, g.comm, g.stream));
}
static void broadcast(const gpu &g, int, int, size_t e, const format &f)
{
    NCCL_CHECK(ncclBroadcast(g.in, g.out, e, f.type, 0, g.comm, g.stream));
}
static void send_recv(const gpu &g, int r, int, size_t e, const format &f)
{
    if (r == 0)
        NCCL_CHECK(ncclSend(g.in, e, f.type, 1, g.comm, g.stream));
    else
        NCCL_CHECK(ncclRecv(g.out, e, f.type, 0, g.comm, g.stream));
}
static void all_to_all(const gpu &g, int, int n, size_t e, const format &f)
{
    size_t part = e / (size_t)n;

    for (int peer = 0; peer < n; peer++) {
        size_t at = (size_t)peer * part * f.bytes;
        NCCL_CHECK(ncclSend(g.in + at, part, f.type, peer, g.comm, g.stream));
        NCCL_CHECK(ncclRecv(g.out + at, part, f.type, peer, g.comm, g.stream));
    }
}

static double factor_1(double)
{
    return 1;
}
static double factor_once(double n)
{
    return (n - 1) / n;
}
static double factor_twice(double n)
{
    return 2 * (n - 1) / n;
}

static const operation operations[] = {
    {"all_reduce", false, factor_twice, all_reduce},
    {"all_gather", false, factor_once, all_gather},
    {"reduce_scatter", false, factor_once, reduce_scatter},
    {"send_recv", true, factor_1, send_recv},
    {"broadcast", false, factor_1, broadcast},
    {"alltoall", false, factor_once, all_to_all},
};

/* Microseconds of one operation, by the slowest GPU. */
static double sample_us(std::vector<gpu> &gpus, const operation &op, size_t elements,
                        const format &f, int n_times)
{
    int n = (int)gpus.size();
    double slowest_ms = 0;

    for (int r = 0; r < n; r++) {
        CUDA_CHECK(cudaSetDevice(r));
        CUDA_CHECK(cudaEventRecord(gpus[(size_t)r].begin, gpus[(size_t)r].stream));
    }
    for (int i = 0; i < n_times; i++) {
        NCCL_CHECK(ncclGroupStart());
        for (int r = 0; r < n; r++)
            op.call(gpus[(size_t)r], r, n, elements, f);
        NCCL_CHECK(ncclGroupEnd());
    }
    for (int r = 0; r < n; r++) {
        CUDA_CHECK(cudaSetDevice(r));
        CUDA_CHECK(cudaEventRecord(gpus[(size_t)r].end, gpus[(size_t)r].stream));
    }
    for (int r = 0; r < n; r++) {
        float ms;
        CUDA_CHECK(cudaEventSynchronize(gpus[(size_t)r].end));
        CUDA_CHECK(cudaEventElapsedTime(&ms, gpus[(size_t)r].begin, gpus[(size_t)r].end));
        slowest_ms = std::max(slowest_ms, (double)ms);
    }
    return slowest_ms * 1e3 / n_times;
}

static timing measure(std::vector<gpu> &gpus, const operation &op, size_t elements, const format &f)
{
    int n_times = (int)std::min(std::max(2000 / sample_us(gpus, op, elements, f, 5), 2.0), 50.0);
    std::vector<double> us;

    sample_us(gpus, op, elements, f, n_times);
    for (int i = 0; i < 15; i++)
        us.push_back(sample_us(gpus, op, elements, f, n_times));
    std::sort(us.begin(), us.end());
    return {us[us.size() / 2], us.front(), us.back(), (int)us.size(), n_times};
}

static std::vector<gpu> connect(int n)
{
    std::vector<gpu> gpus((size_t)n);
    std::vector<ncclComm_t> comms((size_t)n);

    NCCL_CHECK(ncclCommInitAll(comms.data(), n, nullptr));
    for (int r = 0; r < n; r++) {
        gpu &g = gpus[(size_t)r];
        g.comm = comms[(size_t)r];
        CUDA_CHECK(cudaSetDevice(r));
        CUDA_CHECK(cudaMalloc((void **)&g.in, most_bytes));
        CUDA_CHECK(cudaMalloc((void **)&g.out, most_bytes));
        CUDA_CHECK(cudaStreamCreateWithFlags(&g.stream, cudaStreamNonBlocking));
        CUDA_CHECK(cudaEventCreate(&g.begin));
        CUDA_CHECK(cudaEventCreate(&g.end));
        CUDA_CHECK(cudaMemset(g.in, 0, most_bytes));
    }
    return gpus;
}

static void disconnect(std::vector<gpu> &gpus)
{
    for (size_t r = 0; r < gpus.size(); r++) {
        CUDA_CHECK(cudaSetDevice((int)r));
        NCCL_CHECK(ncclCommDestroy(gpus[r].comm));
        CUDA_CHECK(cudaEventDestroy(gpus[r].begin));
        CUDA_CHECK(cudaEventDestroy(gpus[r].end));
        CUDA_CHECK(cudaStreamDestroy(gpus[r].stream));
        CUDA_CHECK(cudaFree(gpus[r].in));
        CUDA_CHECK(cudaFree(gpus[r].out));
    }
}

/* What NCCL was told to use; "auto": its own choice. */
static std::string told(const char *variable)
{
    const char *value = getenv(variable);
    std::string text = value && *value ? value : "auto";

    std::replace(text.begin(), text.end(), ',', ' ');
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text;
}

static void run(bench &b, std::vector<gpu> &gpus, int n, const std::string &version)
{
    for (size_t bytes = most_bytes; bytes >= least_bytes; bytes /= 2)
        for (const operation &op : operations)
            for (const format &f : formats) {
                size_t elements = bytes / f.bytes / (size_t)n * (size_t)n;
                std::string key =
                    join({count((uint64_t)n), "1", "not stated", op.name, count(elements * f.bytes),
                          f.name, told("NCCL_ALGO"), told("NCCL_PROTO")});
                if (elements == 0 || (op.in_pair && n != 2) || !b.wants(key))
                    continue;
                timing t = measure(gpus, op, elements, f);
                double rate = (double)(elements * f.bytes) / t.median_us * 1e-3;
                b.row(key, join({number(t.median_us), number(rate), number(rate * op.bus_factor(n)),
                                 version + ";" + timing_notes(t)}));
            }
}

int main(int argc, char **argv)
{
    bench b(&argc, argv,
            "source,system,gpu,gpus,nodes,link,op,bytes,dtype,algorithm,protocol,time_us,"
            "algbw_GBps,busbw_GBps,notes");
    int n_gpus = 8, nccl = 0;
    refuse_rest(argc, argv);

    if (!b.is_listing()) {
        CUDA_CHECK(cudaGetDeviceCount(&n_gpus));
        NCCL_CHECK(ncclGetVersion(&nccl));
    }
    if (n_gpus < 2) {
        b.skip("all collectives", "there is one GPU");
        return b.finish();
    }
    std::vector<int> counts;
    for (int n = 2; n < n_gpus; n *= 2)
        counts.push_back(n);
    counts.push_back(n_gpus);
    for (int n : counts) {
        std::vector<gpu> gpus;
        if (!b.is_listing())
            gpus = connect(n);
        run(b, gpus, n, "NCCL " + std::to_string(nccl));
        if (!b.is_listing())
            disconnect(gpus);
    }
    return b.finish();
}
