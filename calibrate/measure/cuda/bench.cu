/* calibrate/measure/cuda/bench.cu - options, the CSV file, timing and random data of the
 * micro-benchmarks. */
#include "bench.cuh"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <locale>
#include <sstream>

void bench_die(const char *file, int line, const char *call, const char *why)
{
    fprintf(stderr, "%s:%d: %s: %s\n", file, line, call, why);
    exit(1);
}

static double now_s()
{
    using namespace std::chrono;
    return duration<double>(steady_clock::now().time_since_epoch()).count();
}

const char *dtype_text(dtype t)
{
    switch (t) {
    case dtype::fp32:
        return "float32";
    case dtype::tf32:
        return "tf32";
    case dtype::fp16:
        return "float16";
    case dtype::bf16:
        return "bfloat16";
    case dtype::fp8:
        return "fp8";
    }
    return "unknown";
}

size_t dtype_bytes(dtype t)
{
    return t == dtype::fp8 ? 1 : t == dtype::fp16 || t == dtype::bf16 ? 2 : 4;
}

/* ---- text ---- */

std::string join(const std::vector<std::string> &cells)
{
    std::string s;

    for (size_t i = 0; i < cells.size(); i++)
        s += (i ? "," : "") + cells[i];
    return s;
}

std::string number(double x)
{
    std::ostringstream s;

    s.imbue(std::locale::classic());
    s.precision(6);
    s << x;
    return s.str();
}

std::string count(uint64_t n)
{
    return std::to_string(n);
}

std::string timing_notes(const timing &t)
{
    return "min_us=" + number(t.min_us) + ";max_us=" + number(t.max_us) +
           ";repeats=" + count((uint64_t)t.repeats) + ";launches=" + count((uint64_t)t.launches);
}

static std::vector<std::string> split(const std::string &line)
{
    std::vector<std::string> cells(1);

    for (char c : line) {
        if (c == ',')
            cells.emplace_back();
        else if (c != '\r')
            cells.back() += c;
    }
    return cells;
}

/* Reads a line without its end; false at the end of the file. */
static bool read_line(FILE *f, std::string *line)
{
    int c;

    line->clear();
    while ((c = getc(f)) != EOF && c != '\n')
        *line += (char)c;
    return c != EOF || !line->empty();
}

/* ---- options ---- */

static void remove_arguments(int *argc, char **argv, int i, int n)
{
    for (int j = i; j + n <= *argc; j++) /* the NULL at the end, too */
        argv[j] = argv[j + n];
    *argc -= n;
}

const char *take_option(int *argc, char **argv, const char *name, const char *fallback)
{
    for (int i = 1; i < *argc; i++)
        if (strcmp(argv[i], name) == 0) {
            if (i + 1 == *argc) {
                fprintf(stderr, "%s: %s needs a value\n", argv[0], name);
                exit(2);
            }
            const char *value = argv[i + 1];
            remove_arguments(argc, argv, i, 2);
            return value;
        }
    return fallback;
}

static bool take_flag(int *argc, char **argv, const char *name)
{
    for (int i = 1; i < *argc; i++)
        if (strcmp(argv[i], name) == 0) {
            remove_arguments(argc, argv, i, 1);
            return true;
        }
    return false;
}

static double positive(const char *program, const char *name, const char *text)
{
    char *end;
    double x = strtod(text, &end);

    if (end == text || *end || !(x >= 0) || !std::isfinite(x)) {
        fprintf(stderr, "%s: %s is \"%s\", not a number\n", program, name, text);
        exit(2);
    }
    return x;
}

void refuse_rest(int argc, char **argv)
{
    if (argc > 1) {
        fprintf(stderr, "%s: what is \"%s\"?\n", argv[0], argv[1]);
        exit(2);
    }
}

/* ---- shapes ---- */

shape_file::shape_file(const char *path, const std::vector<std::string> &columns) : path_(path)
{
    FILE *f = fopen(path, "r");
    std::string line;
    std::vector<size_t> places;

    if (!f)
        bench_die(path, 0, "fopen", strerror(errno));
    do {
        if (!read_line(f, &line))
            bench_die(path, 0, "reading", "no header");
    } while (line[0] == '#');
    std::vector<std::string> header = split(line);
    for (const std::string &column : columns) {
        auto at = std::find(header.begin(), header.end(), column);
        if (at == header.end())
            bench_die(path, 1, column.c_str(), "no such column");
        places.push_back((size_t)(at - header.begin()));
    }
    while (read_line(f, &line)) {
        std::vector<std::string> cells = split(line), row;
        for (size_t place : places) {
            if (place >= cells.size())
                bench_die(path, (int)rows_.size() + 2, line.c_str(), "too few cells");
            row.push_back(cells[place]);
        }
        rows_.push_back(row);
    }
    fclose(f);
}

int64_t shape_file::number(size_t row, size_t column) const
{
    const std::string &cell = rows_[row][column];
    char *end;
    errno = 0;
    long long n = strtoll(cell.c_str(), &end, 10);

    if (cell.empty() || *end || errno || n < 0 || n > INT32_MAX)
        bench_die(path_.c_str(), (int)row + 2, cell.c_str(), "not a size");
    return n;
}

/* ---- a run ---- */

bench::bench(int *argc, char **argv, const char *header)
{
    const char *path = take_option(argc, argv, "-o", nullptr);
    double budget_s = positive(argv[0], "--budget", take_option(argc, argv, "--budget", "0"));

    const char *system = take_option(argc, argv, "--system", "unnamed");

    if (strncmp(header, "source,system,", 14) == 0)
        system_ = std::string(system) + ",";
    if (strpbrk(system, ",\"\n")) {
        fprintf(stderr, "%s: --system has a comma, quote or line end in it\n", argv[0]);
        exit(2);
    }
    device_ = (int)positive(argv[0], "--device", take_option(argc, argv, "--device", "0"));
    listing_ = take_flag(argc, argv, "--list");
    deadline_s_ = budget_s > 0 ? now_s() + budget_s : INFINITY;
    header_ = header;
    path_ = path ? path : "";
    if (!path && !listing_) {
        fprintf(stderr, "%s: -o FILE is missing\n", argv[0]);
        exit(2);
    }
}

bench::~bench()
{
    if (out_)
        fclose(out_);
    if (!is_started_)
        return;
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
    cudaStreamDestroy(stream_);
}

/* Enters all keys of a row: each run of cells that begins after the source, which has a date, with
 * the notes' first item and without. */
void bench::remember(const std::string &line)
{
    size_t first = line.find(',') + 1, notes = line.rfind(',') + 1;
    std::string tag = "|" + line.substr(notes, line.find(';', notes) - notes);

    for (size_t at = line.find(',', first); at != std::string::npos; at = line.find(',', at + 1)) {
        done_.insert(line.substr(first, at - first));
        done_.insert(line.substr(first, at - first) + tag);
    }
}

/* A line without its end, left by a program that was killed, is overwritten. */
void bench::open_output()
{
    const char *path = path_.c_str();
    std::string line;
    long end = 0;

    out_ = fopen(path, "r+");
    if (!out_ && errno == ENOENT)
        out_ = fopen(path, "w+");
    if (!out_)
        bench_die(path, 0, "fopen", strerror(errno));
    for (int c; (c = getc(out_)) != EOF;) {
        if (c != '\n') {
            line += (char)c;
            continue;
        }
        if (end == 0 && line != header_)
            bench_die(path, 1, line.c_str(), "not the header of this program's output");
        if (end)
            remember(line);
        line.clear();
        end = ftell(out_);
    }
    if (fseek(out_, end, SEEK_SET) != 0)
        bench_die(path, 0, "fseek", strerror(errno));
    if (end == 0)
        fprintf(out_, "%s\n", header_.c_str());
}

bool bench::is_over() const
{
    return now_s() > deadline_s_;
}

bool bench::wants(const std::string &key, const std::string &tag)
{
    std::string whole = tag.empty() ? key : key + "|" + tag;

    if (!asked_.insert(whole).second)
        return false;
    if (listing_) {
        puts(whole.c_str());
        n_left_++;
        return false;
    }
    if (!out_) /* not earlier, so that a wrong option leaves no file */
        open_output();
    if (done_.count(who() + "," + whole)) {
        n_there_++;
        return false;
    }
    if (is_over()) {
        n_left_++;
        return false;
    }
    return true;
}

void bench::row(const std::string &key, const std::string &rest)
{
    if (fprintf(out_, "%s,%s,%s,%s\n", source().c_str(), who().c_str(), key.c_str(), rest.c_str()) <
            0 ||
        fflush(out_))
        bench_die(path_.c_str(), 0, "writing", strerror(errno));
    n_measured_++;
}

void bench::skip(const std::string &key, const char *why)
{
    fprintf(stderr, "skipped %s: %s\n", key.c_str(), why);
    n_skipped_++;
}

int bench::finish()
{
    if (listing_) {
        fprintf(stderr, "%d rows\n", n_left_);
        return 0;
    }
    fprintf(stderr,
            "%s: %d rows measured, %d there already, %d skipped, %d left for lack of time\n",
            path_.c_str(), n_measured_, n_there_, n_skipped_, n_left_);
    return n_left_ ? 3 : 0;
}

const cudaDeviceProp &bench::device()
{
    if (!is_started_) {
        CUDA_CHECK(cudaSetDevice(device_));
        CUDA_CHECK(cudaGetDeviceProperties(&properties_, device_));
        CUDA_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
        CUDA_CHECK(cudaEventCreate(&begin_));
        CUDA_CHECK(cudaEventCreate(&end_));
        is_started_ = true;
    }
    return properties_;
}

/* What stands between the source and a row's key. */
std::string bench::who()
{
    return system_ + device().name;
}

std::string bench::source()
{
    time_t now = std::time(nullptr);
    char date[16];
    int driver, runtime;

    CUDA_CHECK(cudaDriverGetVersion(&driver));
    CUDA_CHECK(cudaRuntimeGetVersion(&runtime));
    strftime(date, sizeof(date), "%Y-%m-%d", gmtime(&now));
    return "forerun/calibrate " + std::string(date) + " CUDA driver " + std::to_string(driver) +
           " runtime " + std::to_string(runtime);
}

cudaStream_t bench::stream()
{
    device();
    return stream_;
}

size_t bench::l2_bytes()
{
    return (size_t)device().l2CacheSize;
}

size_t bench::free_bytes()
{
    size_t free, total;

    device();
    CUDA_CHECK(cudaMemGetInfo(&free, &total));
    return free - std::min(free, total / 20);
}

/* ---- timing ---- */

/* Keeps the stream busy for a time, until the host has queued what follows. One multiprocessor
 * spins on the device's own clock of nanoseconds. */
static __global__ void spin(unsigned long long duration_ns)
{
    unsigned long long start, now;

    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
    do
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    while (now - start < duration_ns);
}

void bench::hold(cudaStream_t stream, double us)
{
    spin<<<1, 1, 0, stream>>>((unsigned long long)(us * 1e3));
    CUDA_CHECK(cudaGetLastError());
}

static timing summary(std::vector<double> samples, int launches)
{
    size_t n = samples.size();

    std::sort(samples.begin(), samples.end());
    return {(samples[(n - 1) / 2] + samples[n / 2]) / 2, samples.front(), samples.back(), (int)n,
            launches};
}

timing bench::time(const std::function<void(int)> &launch, int repeats)
{
    const double wanted_us = 200, most_spin_us = 20000;
    const int most_launches = 256; /* well under the 1024 that a stream queues */
    int launches = 1, set = 0;
    double spin_us = 50;
    std::vector<double> samples;

    device();
    for (int i = 0; i < 3; i++) /* the first one loads the kernel */
        launch(set++);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaStreamSynchronize(stream_));
    for (bool is_warm = false; (int)samples.size() < repeats;) {
        float elapsed_ms;
        hold(stream_, spin_us);
        double queued_s = now_s();
        CUDA_CHECK(cudaEventRecord(begin_, stream_));
        for (int i = 0; i < launches; i++)
            launch(set++);
        CUDA_CHECK(cudaEventRecord(end_, stream_));
        double queueing_us = (now_s() - queued_s) * 1e6;
        CUDA_CHECK(cudaGetLastError());
        CUDA_CHECK(cudaEventSynchronize(end_));
        CUDA_CHECK(cudaEventElapsedTime(&elapsed_ms, begin_, end_));
        if (queueing_us > spin_us && spin_us < most_spin_us) {
            spin_us = std::min(2 * queueing_us, most_spin_us);
            continue;
        }
        if (elapsed_ms * 1e3 < wanted_us && launches < most_launches) {
            double each_us = std::max((double)elapsed_ms * 1e3 / launches, 0.1);
            launches = std::max(2 * launches, (int)std::ceil(wanted_us / each_us));
            launches = std::min(launches, most_launches);
            continue;
        }
        if (is_warm)
            samples.push_back((double)elapsed_ms * 1e3 / launches);
        is_warm = true; /* one sample of the final length goes before those that count */
    }
    return summary(samples, launches);
}

timing bench::time_by_host(const std::function<void(int)> &launch, int repeats)
{
    std::vector<double> samples;

    device();
    for (int i = 0; i < repeats + 3; i++) {
        CUDA_CHECK(cudaStreamSynchronize(stream_));
        double start_s = now_s();
        launch(i);
        CUDA_CHECK(cudaStreamSynchronize(stream_));
        if (i >= 3)
            samples.push_back((now_s() - start_s) * 1e6);
    }
    return summary(samples, 1);
}

/* ---- memory ---- */

buffer::buffer(size_t bytes) : bytes_(bytes)
{
    CUDA_CHECK(cudaMalloc((void **)&data_, std::max(bytes, (size_t)256)));
}

buffer::~buffer()
{
    cudaFree(data_);
}

/* SplitMix64 of the index (Steele, Lea and Flood, OOPSLA 2014). */
static __device__ float uniform(size_t i)
{
    unsigned long long z = (i + 1) * 0x9e3779b97f4a7c15ull;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    z ^= z >> 31;
    return (float)(z >> 40) * (2.0f / (1 << 24)) - 1.0f;
}

template <class T> static __global__ void fill(T *x, size_t n)
{
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n;
         i += (size_t)gridDim.x * blockDim.x)
        x[i] = T(uniform(i));
}

template <class T> static void fill_as(char *data, size_t bytes, cudaStream_t stream)
{
    if (bytes >= sizeof(T))
        fill<<<4096, 256, 0, stream>>>((T *)data, bytes / sizeof(T));
    CUDA_CHECK(cudaGetLastError());
}

void buffer::fill_random(dtype t, cudaStream_t stream)
{
    switch (t) {
    case dtype::fp32:
    case dtype::tf32:
        fill_as<float>(data_, bytes_, stream);
        break;
    case dtype::fp16:
        fill_as<__half>(data_, bytes_, stream);
        break;
    case dtype::bf16:
        fill_as<__nv_bfloat16>(data_, bytes_, stream);
        break;
    case dtype::fp8:
        fill_as<__nv_fp8_e4m3>(data_, bytes_, stream);
        break;
    }
    CUDA_CHECK(cudaStreamSynchronize(stream));
}

void buffer::fill_zero(cudaStream_t stream)
{
    CUDA_CHECK(cudaMemsetAsync(data_, 0, bytes_, stream));
    CUDA_CHECK(cudaStreamSynchronize(stream));
}

rotation::rotation(size_t set_bytes, size_t pool_bytes, size_t l2_bytes)
    : stride((set_bytes + 255) / 256 * 256)
{
    size_t wanted = stride ? (3 * l2_bytes + stride - 1) / stride + 1 : 1;
    size_t most = stride ? pool_bytes / stride : 1;

    n = (int)std::min({std::max(wanted, (size_t)2), most, (size_t)1 << 20});
}
