/* calibrate/measure/cuda/interference.cu - times kernels and copies that run at the same time:
 * interference.csv.
 *
 *   interference -o interference.csv [--budget S] [--device N] [--list]
 *
 * Measures how much slower `kernel` gets while `beside` runs on another stream. Both are timed
 * alone first. Then `beside` is queued often enough to run before, during and after a number of
 * launches of `kernel`. Events on both streams check this; rows for which it was not so are left
 * out.
 */
#include "matmul.cuh"

#include <algorithm>
#include <memory>

/* Work that can be queued on any stream. */
struct work {
    std::string kernel, shape;
    dtype type;
    std::function<void(int, cudaStream_t)> launch;
    double alone_us;
};

static __global__ void add(const float4 *a, const float4 *b, float4 *out, size_t n)
{
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n;
         i += (size_t)gridDim.x * blockDim.x) {
        float4 x = a[i], y = b[i];
        out[i] = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
    }
}

/* Time of one launch of `victim` while `other` runs all the time; below 0: it did not. */
static double beside_us(bench &b, const work &victim, const work &other, cudaStream_t streams[2],
                        cudaEvent_t events[4])
{
    const int most = 400; /* launches on a stream, well under the 1024 that it queues */
    float before_ms, victim_ms, after_ms;
    int n = (int)std::min(std::max(2000 / victim.alone_us, 3.0), 100.0);
    /* others for three times as long, even if the victim gets twice as slow, and some in front */
    double lasting_us = std::max(2 * 3 * n * victim.alone_us, 8 * other.alone_us);
    int n_front = 2,
        n_others = (int)std::min(n_front + lasting_us / other.alone_us + 1, (double)most);

    b.hold(streams[1], 20000);
    for (int i = 0; i < n_others; i++) {
        other.launch(i, streams[1]);
        if (i == n_front - 1)
            CUDA_CHECK(cudaEventRecord(events[0], streams[1]));
    }
    CUDA_CHECK(cudaEventRecord(events[1], streams[1]));
    CUDA_CHECK(cudaStreamWaitEvent(streams[0], events[0], 0));
    CUDA_CHECK(cudaEventRecord(events[2], streams[0]));
    for (int i = 0; i < n; i++)
        victim.launch(i, streams[0]);
    CUDA_CHECK(cudaEventRecord(events[3], streams[0]));
    CUDA_CHECK(cudaDeviceSynchronize());
    CUDA_CHECK(cudaEventElapsedTime(&before_ms, events[0], events[2]));
    CUDA_CHECK(cudaEventElapsedTime(&victim_ms, events[2], events[3]));
    CUDA_CHECK(cudaEventElapsedTime(&after_ms, events[3], events[1]));
    return before_ms >= 0 && after_ms > 0 ? victim_ms * 1e3 / n : -1;
}

static void measure(bench &b, work &victim, work &other, cudaStream_t streams[2],
                    cudaEvent_t events[4])
{
    std::string key =
        join({victim.kernel, victim.shape, dtype_text(victim.type), other.kernel, other.shape});
    std::vector<double> us;

    if (!b.wants(key))
        return;
    for (work *w : {&victim, &other})
        if (w->alone_us == 0)
            w->alone_us = b.time([&](int i) { w->launch(i, b.stream()); }).median_us;
    for (int i = 0; i < 13; i++) {
        double t = beside_us(b, victim, other, streams, events);
        if (t < 0) {
            b.skip(key, "the other one was over first");
            return;
        }
        if (i >= 2)
            us.push_back(t);
    }
    std::sort(us.begin(), us.end());
    timing t = {us[us.size() / 2], us.front(), us.back(), (int)us.size(), 1};
    b.row(key,
          join({number(victim.alone_us), number(t.median_us), number(t.median_us / victim.alone_us),
                number(other.alone_us), timing_notes(t)}));
}

/* What all of it works on. */
struct memory {
    buffer pool, workspace;
    char *pinned;
    cublasLtHandle_t lt;
    std::vector<matmul_plan> plans;
};

static work product(memory *m, int64_t size, dtype t)
{
    size_t part = (size_t)(size * size) * dtype_bytes(t);
    std::string side = count((uint64_t)size);
    size_t plan = 0;

    if (m) {
        plan = m->plans.size();
        m->plans.push_back(make_matmul_plan(m->lt, {1, size, size, size, true, false}, t));
        if (!m->plans[plan].has_algorithm)
            bench_die(__FILE__, __LINE__, "cublasLtMatmulAlgoGetHeuristic", "no algorithm");
    }
    return {"matmul", "m=" + side + ";n=" + side + ";k=" + side, t,
            [=](int i, cudaStream_t s) {
                size_t sets = ((size_t)256 << 20) / (2 * part), at = (size_t)i % sets * 2 * part;
                run_matmul(m->lt, m->plans[plan], m->pool.at(at), m->pool.at(at + part),
                           m->pool.at((size_t)256 << 20), m->workspace.at(), s);
            },
            0};
}

static work copying(memory *m, const char *name, size_t bytes, cudaMemcpyKind kind)
{
    return {name, "bytes=" + count(bytes), dtype::fp32,
            [=](int, cudaStream_t s) {
                char *here = m->pool.at((size_t)512 << 20), *there = here + bytes;
                char *to = kind == cudaMemcpyDeviceToHost ? m->pinned : there;
                char *from = kind == cudaMemcpyHostToDevice ? m->pinned : here;
                CUDA_CHECK(cudaMemcpyAsync(to, from, bytes, kind, s));
            },
            0};
}

static work adding(memory *m, size_t bytes)
{
    size_t part = bytes / 3 / 256 * 256;

    return {"add", "elements=" + count(part / 4), dtype::fp32,
            [=](int, cudaStream_t s) {
                char *p = m->pool.at((size_t)768 << 20);
                add<<<2048, 256, 0, s>>>((float4 *)p, (float4 *)(p + part),
                                         (float4 *)(p + 2 * part), part / 16);
                CUDA_CHECK(cudaGetLastError());
            },
            0};
}

int main(int argc, char **argv)
{
    bench b(&argc, argv,
            "source,gpu,kernel,shape,dtype,beside,beside_shape,alone_us,together_us,slowdown,"
            "beside_alone_us,notes");
    const size_t copy_bytes = (size_t)32 << 20;
    cudaStream_t streams[2] = {};
    cudaEvent_t events[4] = {};
    std::unique_ptr<memory> m;
    refuse_rest(argc, argv);

    if (!b.is_listing()) {
        b.device();
        m.reset(new memory{
            buffer((size_t)1 << 30), buffer(matmul_workspace_bytes), nullptr, nullptr, {}});
        CUDA_CHECK(cudaHostAlloc((void **)&m->pinned, copy_bytes, cudaHostAllocDefault));
        LT_CHECK(cublasLtCreate(&m->lt));
        /* numbers for fp32, too: a pair of bf16 is one fp32 with more digits */
        m->pool.fill_random(b.device().major >= 8 ? dtype::bf16 : dtype::fp16, b.stream());
        for (cudaStream_t &s : streams)
            CUDA_CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
        for (cudaEvent_t &e : events)
            CUDA_CHECK(cudaEventCreate(&e));
    }
    bool has_bf16 = b.is_listing() || b.device().major >= 8;
    std::vector<work> victims, others;
    for (int64_t size : {2048, 4096}) {
        victims.push_back(product(m.get(), size, dtype::fp32));
        victims.push_back(product(m.get(), size, has_bf16 ? dtype::bf16 : dtype::fp16));
    }
    others.push_back(copying(m.get(), "copy-h2d", copy_bytes, cudaMemcpyHostToDevice));
    others.push_back(copying(m.get(), "copy-d2h", copy_bytes, cudaMemcpyDeviceToHost));
    others.push_back(copying(m.get(), "copy-d2d", copy_bytes, cudaMemcpyDeviceToDevice));
    others.push_back(adding(m.get(), (size_t)192 << 20));
    for (work &v : victims)
        for (work &o : others) {
            measure(b, v, o, streams, events);
            measure(b, o, v, streams, events);
        }
    if (m) {
        for (matmul_plan &q : m->plans)
            free_matmul_plan(q);
        LT_CHECK(cublasLtDestroy(m->lt));
        CUDA_CHECK(cudaFreeHost(m->pinned));
        for (cudaStream_t s : streams)
            CUDA_CHECK(cudaStreamDestroy(s));
        for (cudaEvent_t e : events)
            CUDA_CHECK(cudaEventDestroy(e));
    }
    return b.finish();
}
