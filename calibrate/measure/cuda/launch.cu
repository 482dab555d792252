/* calibrate/measure/cuda/launch.cu - times the start of kernels: other_kernels.csv.
 *
 *   launch -o other_kernels.csv [--budget S] [--device N] [--list]
 *
 *   launch_host   host time of one asynchronous launch of an empty kernel, with room in the queue
 *   launch_chain  time from kernel to kernel of a chain that is already queued
 *   launch_stream the same without a full queue: the larger of host and device
 *   launch_graph  time from kernel to kernel in a replayed CUDA graph of `nodes` in a chain
 *   launch_sync   launch of one empty kernel and waiting for it, by the host's clock
 */
#include "bench.cuh"

#include <algorithm>
#include <chrono>

static __global__ void empty()
{
}

static double now_us()
{
    using namespace std::chrono;
    return duration<double, std::micro>(steady_clock::now().time_since_epoch()).count();
}

/* Median, minimum and maximum of 15 calls of sample(), which says microseconds a kernel. */
template <class Sample> static timing repeat(Sample sample, int launches)
{
    std::vector<double> us;

    sample();
    for (int i = 0; i < 15; i++)
        us.push_back(sample());
    std::sort(us.begin(), us.end());
    return {us[us.size() / 2], us.front(), us.back(), (int)us.size(), launches};
}

static void write(bench &b, const std::string &key, const timing &t)
{
    b.row(key, "," + number(t.median_us) + "," + timing_notes(t));
}

static std::string key_of(const char *kernel, int nodes)
{
    return join({kernel, "nodes=" + count((uint64_t)nodes), "float32", "0"});
}

static double host_us(bench &b, int n)
{
    CUDA_CHECK(cudaStreamSynchronize(b.stream()));
    double start = now_us();
    for (int i = 0; i < n; i++)
        empty<<<1, 1, 0, b.stream()>>>();
    double each = (now_us() - start) / n;
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaStreamSynchronize(b.stream()));
    return each;
}

static double stream_us(bench &b, int n)
{
    CUDA_CHECK(cudaStreamSynchronize(b.stream()));
    double start = now_us();
    for (int i = 0; i < n; i++)
        empty<<<1, 1, 0, b.stream()>>>();
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaStreamSynchronize(b.stream()));
    return (now_us() - start) / n;
}

static cudaGraphExec_t chain_graph(bench &b, int n)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;

    CUDA_CHECK(cudaStreamBeginCapture(b.stream(), cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < n; i++)
        empty<<<1, 1, 0, b.stream()>>>();
    CUDA_CHECK(cudaStreamEndCapture(b.stream(), &graph));
    CUDA_CHECK(cudaGraphInstantiateWithFlags(&exec, graph, 0));
    CUDA_CHECK(cudaGraphDestroy(graph));
    return exec;
}

static void run_graph(bench &b, int n)
{
    std::string key = key_of("launch_graph", n);

    if (!b.wants(key))
        return;
    cudaGraphExec_t exec = chain_graph(b, n);
    timing t = b.time([&](int) { CUDA_CHECK(cudaGraphLaunch(exec, b.stream())); });
    t.median_us /= n;
    t.min_us /= n;
    t.max_us /= n;
    write(b, key, t);
    CUDA_CHECK(cudaGraphExecDestroy(exec));
}

int main(int argc, char **argv)
{
    bench b(&argc, argv, "source,gpu,kernel,shape,dtype,bytes,flops,time_us,notes");
    const int few = 200; /* fewer than a stream queues */
    refuse_rest(argc, argv);

    if (b.wants(key_of("launch_host", few)))
        write(b, key_of("launch_host", few), repeat([&] { return host_us(b, few); }, few));
    if (b.wants(key_of("launch_stream", 10000)))
        write(b, key_of("launch_stream", 10000),
              repeat([&] { return stream_us(b, 10000); }, 10000));
    if (b.wants(key_of("launch_chain", 1)))
        write(b, key_of("launch_chain", 1), b.time([&](int) { empty<<<1, 1, 0, b.stream()>>>(); }));
    for (int n : {1, 10, 100, 1000})
        run_graph(b, n);
    if (b.wants(key_of("launch_sync", 1)))
        write(b, key_of("launch_sync", 1),
              b.time_by_host([&](int) { empty<<<1, 1, 0, b.stream()>>>(); }, 101));
    return b.finish();
}
