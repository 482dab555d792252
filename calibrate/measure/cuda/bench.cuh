/* calibrate/measure/cuda/bench.cuh - what the micro-benchmarks share: options, the CSV file that
 * they write, random data, and one way to time.
 *
 * How a kernel is timed. Sets of buffers rotate, so that what a launch reads was pushed out of the
 * L2 cache by the launches before it (all sets together are at least three times its size). A
 * sample is a number of launches between two events on one stream. It is long enough for the
 * resolution of events, 0.5 us (CUDA runtime, cudaEventElapsedTime), to be under 1 %. A spinning
 * kernel runs first, until the host has queued all launches. So kernels that are shorter than their
 * launch are timed back to back on the device, and not at the pace of the host. If the host was too
 * slow, the sample is taken again with a longer spin. After a warm-up there are at least 10
 * samples; their median, minimum and maximum are written.
 *
 * Every status of CUDA and its libraries is checked. A failure ends the program with a message that
 * names the call and the place; rows written before stay. A shape for which a library has no
 * kernel, or that does not fit into memory, is counted and left out.
 */
#ifndef FR_CALIBRATE_BENCH_CUH
#define FR_CALIBRATE_BENCH_CUH

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <unordered_set>
#include <vector>

[[noreturn]] void bench_die(const char *file, int line, const char *call, const char *why);

#define CUDA_CHECK(call)                                                                           \
    do {                                                                                           \
        cudaError_t status_ = (call);                                                              \
        if (status_ != cudaSuccess)                                                                \
            bench_die(__FILE__, __LINE__, #call, cudaGetErrorString(status_));                     \
    } while (0)

enum class dtype { fp32, tf32, fp16, bf16, fp8 };
const char *dtype_text(dtype t); /* as in the CSV files: "float32", "tf32", "float16", ... */
size_t dtype_bytes(dtype t);

struct timing {
    double median_us, min_us, max_us;
    int repeats, launches; /* samples, and launches in each */
};
std::string timing_notes(const timing &t); /* "min_us=1.2;max_us=1.4;repeats=15;launches=8" */

/* One run of one program: its options, device, and output file. */
class bench
{
  public:
    /* Reads the options that all programs have, which are taken out of argv:
     *   -o FILE     CSV to append to (needed); rows that it has are not measured again
     *   --budget S  stop after S seconds, at the end of the row (default: no limit)
     *   --device N  CUDA's number of the GPU (default 0)
     *   --list      only say what would be measured; nothing touches a GPU
     *   --system S  name of the machine, where the file has a column for it (default "unnamed")
     * header: the CSV's first line, which an existing file must have, too. */
    bench(int *argc, char **argv, const char *header);
    ~bench();
    bench(const bench &) = delete;
    bench &operator=(const bench &) = delete;

    /* Whether the row with these cells after source, system and gpu should be measured: it is not
     * in the file and time is left. tag: the beginning of the notes of such a row, up to the first
     * ';'; empty: anything. With --list prints the row and returns false. */
    bool wants(const std::string &key, const std::string &tag = "");
    /* Appends the row whose beginning wants() was asked for; rest holds the columns after it. When
     * this returns, the row is in the file. */
    void row(const std::string &key, const std::string &rest);
    void skip(const std::string &key, const char *why); /* counts it and says why */
    bool is_over() const;                               /* the budget is spent */
    bool is_listing() const
    {
        return listing_;
    }
    /* Prints how many rows were measured, were there already, were skipped, are left. Returns the
     * exit status: 0, or 3 if the budget ended first. */
    int finish();

    const cudaDeviceProp &device();
    int device_number() const
    {
        return device_;
    }
    /* Keeps a stream busy while the host queues what follows. */
    void hold(cudaStream_t stream, double us);
    cudaStream_t stream();
    size_t l2_bytes();
    size_t free_bytes(); /* free device memory, less a reserve of 5 % */

    /* Times launch(i), which queues the work on set i % sets of the buffers on stream(). It begins
     * with set 0. */
    timing time(const std::function<void(int)> &launch, int repeats = 15);
    /* The same for launches that wait for the device themselves (pageable copies): host clock, one
     * launch a sample. */
    timing time_by_host(const std::function<void(int)> &launch, int repeats = 15);

  private:
    void open_output();
    void remember(const std::string &line);
    std::string who();
    std::string source();

    std::string path_, header_, system_; /* "NAME," where the file has the column */
    FILE *out_ = nullptr;
    std::unordered_set<std::string> done_, asked_;
    double deadline_s_ = 0;
    bool listing_ = false;
    int device_ = 0, n_measured_ = 0, n_there_ = 0, n_skipped_ = 0, n_left_ = 0;
    bool is_started_ = false;
    cudaDeviceProp properties_;
    cudaStream_t stream_ = nullptr;
    cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

/* Device memory that is given back. */
class buffer
{
  public:
    explicit buffer(size_t bytes);
    ~buffer();
    buffer(const buffer &) = delete;
    buffer &operator=(const buffer &) = delete;
    char *at(size_t offset = 0) const
    {
        return data_ + offset;
    }
    size_t bytes() const
    {
        return bytes_;
    }
    /* The same pseudo-random numbers in every run, uniform in [-1, 1). Power, and with it the
     * clock, depends on the data. tf32 is filled as fp32. */
    void fill_random(dtype t, cudaStream_t stream);
    void fill_zero(cudaStream_t stream);

  private:
    char *data_ = nullptr;
    size_t bytes_;
};

/* Where set i of equal sets of buffers lies in a pool: as many as three L2 caches need and fit. */
struct rotation {
    rotation(size_t set_bytes, size_t pool_bytes, size_t l2_bytes);
    size_t offset(int i) const
    {
        return (size_t)(i % n) * stride;
    }
    bool fits() const
    {
        return n > 0;
    }
    size_t stride; /* multiple of 256 */
    int n;         /* sets; 0: not even one fits */
};

/* n copies, joined by commas. */
std::string join(const std::vector<std::string> &cells);
std::string number(double x); /* %.6g */
std::string count(uint64_t n);

/* Rows of a CSV file of shapes: cells by column name; dies on what is not there. */
class shape_file
{
  public:
    shape_file(const char *path, const std::vector<std::string> &columns);
    size_t n_rows() const
    {
        return rows_.size();
    }
    const std::string &text(size_t row, size_t column) const
    {
        return rows_[row][column];
    }
    int64_t number(size_t row, size_t column) const;

  private:
    std::string path_;
    std::vector<std::vector<std::string>> rows_;
};

/* Value of "--name VALUE", taken out of argv; fallback when absent. */
const char *take_option(int *argc, char **argv, const char *name, const char *fallback);
void refuse_rest(int argc, char **argv);
#endif
