/* calibrate/measure/cuda/device_memory.cu - device memory that is used before a program asks for
 * any: device_memory.csv.
 *
 *   device_memory -o device_memory.csv [--budget S] [--device N] [--list]
 *
 *   context            used by the context of a second process: free memory before and after
 *   used-at-start      total less free memory right after the first context: all that is not ours
 *   cublaslt-handle    used by the library's handle; so is cudnn-handle (left out if not built in)
 *   malloc-step        smallest change of free memory by repeated cudaMalloc of 1 byte
 *   malloc-alignment   smallest distance between two such blocks
 *
 * The other process is forked before CUDA is used here, since a context does not survive a fork.
 */
#include "bench.cuh"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>
#if HAVE_CUBLASLT
#include <cublasLt.h>
#endif
#if HAVE_CUDNN
#include <cudnn.h>
#endif

/* A process that makes a context when told to. */
struct second_process {
    pid_t pid;
    int to, from; /* pipes; a byte each way */
};

static void make_context_when_told(int device, int from, int to)
{
    char c;

    if (read(from, &c, 1) != 1)
        _exit(1);
    CUDA_CHECK(cudaSetDevice(device));
    CUDA_CHECK(cudaFree(nullptr));
    if (write(to, &c, 1) != 1 || read(from, &c, 1) != 0) /* until the parent closes its end */
        _exit(1);
    _exit(0);
}

static second_process fork_second(int device)
{
    int down[2], up[2];
    second_process s;

    if (pipe(down) != 0 || pipe(up) != 0)
        bench_die(__FILE__, __LINE__, "pipe", strerror(errno));
    s.pid = fork();
    if (s.pid < 0)
        bench_die(__FILE__, __LINE__, "fork", strerror(errno));
    if (s.pid == 0) {
        close(down[1]);
        close(up[0]);
        make_context_when_told(device, down[0], up[1]);
    }
    close(down[0]);
    close(up[1]);
    s.to = down[1];
    s.from = up[0];
    return s;
}

static void end(second_process s)
{
    close(s.to);
    close(s.from);
    waitpid(s.pid, nullptr, 0);
}

static size_t free_now()
{
    size_t free, total;

    CUDA_CHECK(cudaDeviceSynchronize());
    CUDA_CHECK(cudaMemGetInfo(&free, &total));
    return free;
}

static void write_row(bench &b, const char *what, double bytes)
{
    if (b.wants(what))
        b.row(what, number(bytes) + ",");
}

static double taken(size_t before)
{
    return (double)before - (double)free_now();
}

static void measure_handles(bench &b)
{
#if HAVE_CUBLASLT
    size_t before_lt = free_now();
    cublasLtHandle_t lt;
    if (cublasLtCreate(&lt) != CUBLAS_STATUS_SUCCESS)
        bench_die(__FILE__, __LINE__, "cublasLtCreate", "failed");
    write_row(b, "cublaslt-handle", taken(before_lt));
    cublasLtDestroy(lt);
#endif
#if HAVE_CUDNN
    size_t before_dnn = free_now();
    cudnnHandle_t dnn;
    if (cudnnCreate(&dnn) != CUDNN_STATUS_SUCCESS)
        bench_die(__FILE__, __LINE__, "cudnnCreate", "failed");
    write_row(b, "cudnn-handle", taken(before_dnn));
    cudnnDestroy(dnn);
#endif
    (void)b;
}

static void measure_malloc(bench &b)
{
    std::vector<char *> blocks;
    size_t before = free_now(), step = 0, distance = SIZE_MAX;

    for (int i = 0; i < 20000; i++) {
        char *p;
        CUDA_CHECK(cudaMalloc((void **)&p, 1));
        blocks.push_back(p);
        size_t now = free_now();
        if (now < before && (step == 0 || before - now < step))
            step = before - now;
        before = now;
    }
    std::sort(blocks.begin(), blocks.end());
    for (size_t i = 1; i < blocks.size(); i++)
        distance = std::min(distance, (size_t)(blocks[i] - blocks[i - 1]));
    for (char *p : blocks)
        CUDA_CHECK(cudaFree(p));
    write_row(b, "malloc-step", (double)step);
    write_row(b, "malloc-alignment", (double)distance);
}

int main(int argc, char **argv)
{
    bench b(&argc, argv, "source,gpu,what,bytes,notes");
    refuse_rest(argc, argv);

    if (b.is_listing()) {
        for (const char *what : {"used-at-start", "context", "cublaslt-handle", "cudnn-handle",
                                 "malloc-step", "malloc-alignment"})
            b.wants(what);
        return b.finish();
    }
    second_process second = fork_second(b.device_number());
    char c = 'x';
    CUDA_CHECK(cudaSetDevice(b.device_number()));
    CUDA_CHECK(cudaFree(nullptr));
    size_t free, total;
    CUDA_CHECK(cudaMemGetInfo(&free, &total));
    write_row(b, "used-at-start", (double)(total - free));
    size_t before = free_now();
    if (write(second.to, &c, 1) == 1 && read(second.from, &c, 1) == 1)
        write_row(b, "context", taken(before));
    else
        b.skip("context", "the second process could not make one");
    end(second);
    measure_handles(b);
    measure_malloc(b);
    return b.finish();
}
