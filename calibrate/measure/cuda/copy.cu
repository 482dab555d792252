/* calibrate/measure/cuda/copy.cu - times copies between host and device, on a device, and between
 * devices: p2p.csv.
 *
 *   copy -o p2p.csv [--system NAME] [--budget S] [--device N] [--list]
 *
 * bandwidth_GBps is bytes over time, of both directions together if the notes begin with bw_bi.
 * latency_us is the whole time of the copy (median), not only its start. Pinned memory is timed by
 * events, pageable memory by the host's clock, which includes the call. A copy inside one device
 * reads and writes, so its traffic is twice the bytes.
 */
#include "bench.cuh"

#include <algorithm>
#include <cstring>

static const size_t most_bytes = (size_t)1 << 30, least_bytes = 1024;

/* One way of copying: where from and to, and what carries it. */
struct route {
    const char *from, *to, *link, *tag;
};

struct memory {
    buffer *device[2];
    char *pinned[2], *pageable;
    cudaStream_t other;
    cudaEvent_t fork, join;
};

static std::string key_of(const route &r, size_t bytes)
{
    return join({r.from, r.to, r.link, count(bytes)});
}

/* Measures one row; copied: bytes that move in one launch. */
static void measure(bench &b, const route &r, size_t bytes, size_t copied, bool by_host,
                    const std::function<void(int)> &launch)
{
    timing t = by_host ? b.time_by_host(launch) : b.time(launch);

    b.row(key_of(r, bytes), number((double)copied / t.median_us * 1e-3) + "," +
                                number(t.median_us) + "," + r.tag + ";" + timing_notes(t));
}

static void run_one_way(bench &b, memory *m, const route &r, cudaMemcpyKind kind, bool is_pageable)
{
    for (size_t bytes = most_bytes; bytes >= least_bytes; bytes /= 4) {
        if (!b.wants(key_of(r, bytes), r.tag))
            continue;
        rotation sets(bytes, most_bytes, b.l2_bytes());
        char *host = is_pageable ? m->pageable : m->pinned[0];
        measure(b, r, bytes, bytes, is_pageable, [&](int i) {
            size_t at = sets.offset(i);
            char *to = kind == cudaMemcpyDeviceToHost ? host : m->device[0]->at();
            char *from = kind == cudaMemcpyHostToDevice ? host : m->device[1]->at();
            CUDA_CHECK(cudaMemcpyAsync(to + at, from + at, bytes, kind, b.stream()));
        });
    }
}

/* Both directions at once: the second runs on a stream of its own between two events. */
static void run_both_ways(bench &b, memory *m)
{
    const route r = {"host-pinned", "gpu", "host link", "bw_bi"};

    for (size_t bytes = most_bytes; bytes >= least_bytes; bytes /= 4) {
        if (!b.wants(key_of(r, bytes), r.tag))
            continue;
        rotation sets(bytes, most_bytes, b.l2_bytes());
        measure(b, r, bytes, 2 * bytes, false, [&](int i) {
            size_t at = sets.offset(i);
            CUDA_CHECK(cudaEventRecord(m->fork, b.stream()));
            CUDA_CHECK(cudaStreamWaitEvent(m->other, m->fork, 0));
            CUDA_CHECK(cudaMemcpyAsync(m->device[0]->at(at), m->pinned[0] + at, bytes,
                                       cudaMemcpyHostToDevice, b.stream()));
            CUDA_CHECK(cudaMemcpyAsync(m->pinned[1] + at, m->device[1]->at(at), bytes,
                                       cudaMemcpyDeviceToHost, m->other));
            CUDA_CHECK(cudaEventRecord(m->join, m->other));
            CUDA_CHECK(cudaStreamWaitEvent(b.stream(), m->join, 0));
        });
    }
}

/* From this device to every other, with and without direct access. */
static void run_peers(bench &b, memory *m)
{
    int n = 0, here = b.device_number();

    CUDA_CHECK(cudaGetDeviceCount(&n));
    for (int there = 0; there < n; there++) {
        std::string from = "gpu" + std::to_string(here), to = "gpu" + std::to_string(there);
        int is_direct = 0;
        char *far;

        if (there == here)
            continue;
        CUDA_CHECK(cudaDeviceCanAccessPeer(&is_direct, here, there));
        CUDA_CHECK(cudaSetDevice(there));
        CUDA_CHECK(cudaMalloc((void **)&far, most_bytes));
        CUDA_CHECK(cudaSetDevice(here));
        for (int with = 0; with <= is_direct; with++) {
            const route r = {from.c_str(), to.c_str(), with ? "peer access" : "no peer access",
                             "bw_uni"};
            if (with)
                CUDA_CHECK(cudaDeviceEnablePeerAccess(there, 0));
            for (size_t bytes = most_bytes; bytes >= least_bytes; bytes /= 4) {
                if (!b.wants(key_of(r, bytes), r.tag))
                    continue;
                rotation sets(bytes, most_bytes, b.l2_bytes());
                measure(b, r, bytes, bytes, false, [&](int i) {
                    size_t at = sets.offset(i);
                    CUDA_CHECK(cudaMemcpyPeerAsync(far + at, there, m->device[0]->at(at), here,
                                                   bytes, b.stream()));
                });
            }
        }
        if (is_direct)
            CUDA_CHECK(cudaDeviceDisablePeerAccess(there));
        CUDA_CHECK(cudaSetDevice(there));
        CUDA_CHECK(cudaFree(far));
        CUDA_CHECK(cudaSetDevice(here));
    }
}

int main(int argc, char **argv)
{
    bench b(&argc, argv, "source,system,gpu,src,dst,link,bytes,bandwidth_GBps,latency_us,notes");
    memory m = {};
    refuse_rest(argc, argv);

    if (!b.is_listing()) {
        if (b.free_bytes() < 2 * most_bytes)
            bench_die(__FILE__, __LINE__, "memory", "2 GiB of free device memory are needed");
        for (int i = 0; i < 2; i++) {
            m.device[i] = new buffer(most_bytes);
            m.device[i]->fill_random(dtype::fp32, b.stream());
            CUDA_CHECK(cudaHostAlloc((void **)&m.pinned[i], most_bytes, cudaHostAllocDefault));
            memset(m.pinned[i], i + 1, most_bytes);
        }
        m.pageable = new char[most_bytes];
        memset(m.pageable, 3, most_bytes); /* so that its pages exist */
        CUDA_CHECK(cudaStreamCreateWithFlags(&m.other, cudaStreamNonBlocking));
        CUDA_CHECK(cudaEventCreateWithFlags(&m.fork, cudaEventDisableTiming));
        CUDA_CHECK(cudaEventCreateWithFlags(&m.join, cudaEventDisableTiming));
    }
    run_one_way(b, &m, {"host-pinned", "gpu", "host link", "bw_uni"}, cudaMemcpyHostToDevice,
                false);
    run_one_way(b, &m, {"gpu", "host-pinned", "host link", "bw_uni"}, cudaMemcpyDeviceToHost,
                false);
    run_one_way(b, &m, {"gpu", "gpu", "device memory", "bw_uni"}, cudaMemcpyDeviceToDevice, false);
    run_both_ways(b, &m);
    run_one_way(b, &m, {"host-pageable", "gpu", "host link", "bw_uni"}, cudaMemcpyHostToDevice,
                true);
    run_one_way(b, &m, {"gpu", "host-pageable", "host link", "bw_uni"}, cudaMemcpyDeviceToHost,
                true);
    if (!b.is_listing()) {
        run_peers(b, &m);
        CUDA_CHECK(cudaEventDestroy(m.join));
        CUDA_CHECK(cudaEventDestroy(m.fork));
        CUDA_CHECK(cudaStreamDestroy(m.other));
        delete[] m.pageable;
        for (int i = 0; i < 2; i++) {
            CUDA_CHECK(cudaFreeHost(m.pinned[i]));
            delete m.device[i];
        }
    }
    return b.finish();
}
