/* calibrate/measure/cuda/memory_bound.cu - times kernels that are bound by memory, over bytes:
 * other_kernels.csv.
 *
 *   memory_bound -o other_kernels.csv [--budget S] [--device N] [--list]
 *
 * copy, add, relu, gelu, dropout, sums, transposition, softmax, layernorm, batchnorm, pooling,
 * embedding, the gradients of these, and the updates of SGD, momentum and Adam. They are written as
 * a framework's own kernels are: each thread accesses 16 bytes at a time if rows allow it, sums are
 * in fp32, softmax and layer norm have one block for each row. bytes is what must be read and
 * written at least once, so bytes over time is at most the memory's bandwidth, unless the data stay
 * in L2. The gradients of both norms include the sums for gain and offset.
 */
#include "bench.cuh"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>

enum { THREADS = 256 };

template <class T> struct alignas(16) vec {
    enum { N = 16 / sizeof(T) };
    T v[N];
};

/* ---- elementwise: out = f(a, b), vectors of 16 bytes, grid-stride ---- */

struct f_copy {
    enum { INPUTS = 1 };
    static constexpr const char *name = "copy";
    __device__ static float of(float a, float)
    {
        return a;
    }
};
struct f_relu {
    enum { INPUTS = 1 };
    static constexpr const char *name = "relu";
    __device__ static float of(float a, float)
    {
        return fmaxf(a, 0);
    }
};
struct f_gelu { /* Hendrycks and Gimpel, arXiv 1606.08415: x Phi(x) */
    enum { INPUTS = 1 };
    static constexpr const char *name = "gelu";
    __device__ static float of(float a, float)
    {
        return 0.5f * a * (1 + erff(a * 0.70710678f));
    }
};
struct f_add {
    enum { INPUTS = 2 };
    static constexpr const char *name = "add";
    __device__ static float of(float a, float b)
    {
        return a + b;
    }
};

template <class T, class F>
static __global__ void elementwise(const vec<T> *a, const vec<T> *b, vec<T> *out, size_t n_vecs)
{
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n_vecs;
         i += (size_t)gridDim.x * blockDim.x) {
        vec<T> x = a[i], y = F::INPUTS == 2 ? b[i] : x, z;
#pragma unroll
        for (int j = 0; j < vec<T>::N; j++)
            z.v[j] = T(F::of(float(x.v[j]), float(y.v[j])));
        out[i] = z;
    }
}

/* ---- dropout: a byte of mask an element ---- */

/* 16 random bits from an element's number: the end of splitmix64 (Steele et al., OOPSLA 2014). */
__device__ static unsigned random16(unsigned long long x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return (unsigned)((x ^ (x >> 31)) & 0xffff);
}

template <class T> struct alignas(vec<T>::N) mask_of {
    unsigned char v[vec<T>::N];
};

template <class T>
static __global__ void dropout(const vec<T> *in, vec<T> *out, mask_of<T> *mask, size_t n_vecs,
                               unsigned seed)
{
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n_vecs;
         i += (size_t)gridDim.x * blockDim.x) {
        vec<T> x = in[i], y;
        mask_of<T> kept;
#pragma unroll
        for (int j = 0; j < vec<T>::N; j++) {
            kept.v[j] = random16((i + seed) * vec<T>::N + j) >= 6554; /* a tenth is dropped */
            y.v[j] = T(kept.v[j] ? float(x.v[j]) * (1 / 0.9f) : 0);
        }
        out[i] = y;
        mask[i] = kept;
    }
}

template <class T>
static __global__ void dropout_backward(const vec<T> *dy, const mask_of<T> *mask, vec<T> *dx,
                                        size_t n_vecs)
{
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n_vecs;
         i += (size_t)gridDim.x * blockDim.x) {
        vec<T> x = dy[i], y;
        mask_of<T> kept = mask[i];
#pragma unroll
        for (int j = 0; j < vec<T>::N; j++)
            y.v[j] = T(kept.v[j] ? float(x.v[j]) * (1 / 0.9f) : 0);
        dx[i] = y;
    }
}

/* ---- transposition: tiles of 32 x 32 through shared memory, both sides in whole lines ---- */

enum { TILE = 32, TILE_ROWS = 8 };

template <class T>
static __global__ void transpose(const T *in, T *out, unsigned rows, unsigned columns)
{
    __shared__ T tile[TILE][TILE + 1]; /* a column more: no two rows in one bank */
    unsigned x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;

    for (unsigned j = 0; j < TILE; j += TILE_ROWS)
        tile[threadIdx.y + j][threadIdx.x] = in[(size_t)(y + j) * columns + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    for (unsigned j = 0; j < TILE; j += TILE_ROWS)
        out[(size_t)(y + j) * rows + x] = tile[threadIdx.x][threadIdx.y + j];
}

/* ---- sums ---- */

__device__ static float block_sum(float x)
{
    __shared__ float warps[32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;

    for (int step = 16; step; step /= 2)
        x += __shfl_xor_sync(~0u, x, step);
    __syncthreads();
    if (lane == 0)
        warps[warp] = x;
    __syncthreads();
    x = lane < (int)(blockDim.x + 31) / 32 ? warps[lane] : 0;
    for (int step = 16; step; step /= 2)
        x += __shfl_xor_sync(~0u, x, step);
    return x;
}

__device__ static float block_max(float x)
{
    __shared__ float warps[32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;

    for (int step = 16; step; step /= 2)
        x = fmaxf(x, __shfl_xor_sync(~0u, x, step));
    __syncthreads();
    if (lane == 0)
        warps[warp] = x;
    __syncthreads();
    x = lane < (int)(blockDim.x + 31) / 32 ? warps[lane] : -INFINITY;
    for (int step = 16; step; step /= 2)
        x = fmaxf(x, __shfl_xor_sync(~0u, x, step));
    return x;
}

template <class T> static __global__ void reduction(const vec<T> *a, float *out, size_t n_vecs)
{
    float sum = 0;

    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n_vecs;
         i += (size_t)gridDim.x * blockDim.x) {
        vec<T> x = a[i];
#pragma unroll
        for (int j = 0; j < vec<T>::N; j++)
            sum += float(x.v[j]);
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0)
        atomicAdd(out, sum);
}

/* The sum of each column, as the gradient of a bias is. A thread takes a vector of columns and some
 * of the rows. */
template <class T>
static __global__ void column_sums(const vec<T> *a, float *out, size_t rows, size_t n_vecs)
{
    size_t column = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    float sum[vec<T>::N] = {};

    if (column >= n_vecs)
        return;
    for (size_t row = blockIdx.y; row < rows; row += gridDim.y) {
        vec<T> x = a[row * n_vecs + column];
#pragma unroll
        for (int j = 0; j < vec<T>::N; j++)
            sum[j] += float(x.v[j]);
    }
    for (int j = 0; j < vec<T>::N; j++)
        atomicAdd(&out[column * vec<T>::N + j], sum[j]);
}

/* ---- one block for each row; a row that fits its registers is read once, else again ---- */

enum { HELD = 4 }; /* vectors a thread */

template <class T, class Pass>
__device__ static void each(const vec<T> *row, vec<T> held[HELD], int n_vecs, bool is_first,
                            Pass pass)
{
#pragma unroll
    for (int h = 0; h < HELD; h++) {
        int i = h * blockDim.x + threadIdx.x;
        if (i < n_vecs) {
            if (is_first)
                held[h] = row[i];
            pass(held[h], i);
        }
    }
    for (int i = HELD * blockDim.x + threadIdx.x; i < n_vecs; i += blockDim.x) {
        vec<T> x = row[i];
        pass(x, i);
    }
}

/* The same for two rows side by side. */
template <class T, class Pass>
__device__ static void both(const vec<T> *a, const vec<T> *b, vec<T> held_a[HELD],
                            vec<T> held_b[HELD], int n_vecs, bool is_first, Pass pass)
{
#pragma unroll
    for (int h = 0; h < HELD; h++) {
        int i = h * blockDim.x + threadIdx.x;
        if (i < n_vecs) {
            if (is_first) {
                held_a[h] = a[i];
                held_b[h] = b[i];
            }
            pass(held_a[h], held_b[h], i);
        }
    }
    for (int i = HELD * blockDim.x + threadIdx.x; i < n_vecs; i += blockDim.x) {
        vec<T> x = a[i], y = b[i];
        pass(x, y, i);
    }
}

template <class T> static __global__ void softmax(const vec<T> *in, vec<T> *out, int n_vecs)
{
    const vec<T> *row = in + (size_t)blockIdx.x * n_vecs;
    vec<T> *to = out + (size_t)blockIdx.x * n_vecs, held[HELD];
    float most = -INFINITY, sum = 0;

    each(row, held, n_vecs, true, [&](vec<T> &x, int) {
        for (int j = 0; j < vec<T>::N; j++)
            most = fmaxf(most, float(x.v[j]));
    });
    most = block_max(most);
    each(row, held, n_vecs, false, [&](vec<T> &x, int) {
        for (int j = 0; j < vec<T>::N; j++)
            sum += __expf(float(x.v[j]) - most);
    });
    float scale = 1 / block_sum(sum);
    each(row, held, n_vecs, false, [&](vec<T> &x, int i) {
        vec<T> y;
        for (int j = 0; j < vec<T>::N; j++)
            y.v[j] = T(__expf(float(x.v[j]) - most) * scale);
        to[i] = y;
    });
}

/* Gain and offset are read, too. */
template <class T>
static __global__ void layernorm(const vec<T> *in, const vec<T> *gain, const vec<T> *offset,
                                 vec<T> *out, int n_vecs)
{
    const vec<T> *row = in + (size_t)blockIdx.x * n_vecs;
    vec<T> *to = out + (size_t)blockIdx.x * n_vecs, held[HELD];
    float sum = 0, squares = 0;
    float n = (float)n_vecs * vec<T>::N;

    each(row, held, n_vecs, true, [&](vec<T> &x, int) {
        for (int j = 0; j < vec<T>::N; j++)
            sum += float(x.v[j]);
    });
    float mean = block_sum(sum) / n;
    each(row, held, n_vecs, false, [&](vec<T> &x, int) {
        for (int j = 0; j < vec<T>::N; j++)
            squares += (float(x.v[j]) - mean) * (float(x.v[j]) - mean);
    });
    float scale = rsqrtf(block_sum(squares) / n + 1e-5f);
    each(row, held, n_vecs, false, [&](vec<T> &x, int i) {
        vec<T> g = gain[i], o = offset[i], y;
        for (int j = 0; j < vec<T>::N; j++)
            y.v[j] = T((float(x.v[j]) - mean) * scale * float(g.v[j]) + float(o.v[j]));
        to[i] = y;
    });
}

/* dx = y (dy - sum(y dy)) */
template <class T>
static __global__ void softmax_backward(const vec<T> *y, const vec<T> *dy, vec<T> *dx, int n_vecs)
{
    size_t first = (size_t)blockIdx.x * n_vecs;
    vec<T> held_y[HELD], held_dy[HELD];
    float sum = 0;

    both(y + first, dy + first, held_y, held_dy, n_vecs, true, [&](vec<T> &a, vec<T> &b, int) {
        for (int j = 0; j < vec<T>::N; j++)
            sum += float(a.v[j]) * float(b.v[j]);
    });
    sum = block_sum(sum);
    both(y + first, dy + first, held_y, held_dy, n_vecs, false, [&](vec<T> &a, vec<T> &b, int i) {
        vec<T> out;
        for (int j = 0; j < vec<T>::N; j++)
            out.v[j] = T(float(a.v[j]) * (float(b.v[j]) - sum));
        dx[first + i] = out;
    });
}

/* Gradient of the input, with the mean and scale that forward has kept: scale (g dy - mean(g dy) -
 * x' mean(g dy x')), x' being the normalised input. */
template <class T>
static __global__ void layernorm_backward(const vec<T> *x, const vec<T> *dy, const vec<T> *gain,
                                          const float2 *kept, vec<T> *dx, int n_vecs)
{
    size_t first = (size_t)blockIdx.x * n_vecs;
    float n = (float)n_vecs * vec<T>::N, mean = kept[blockIdx.x].x, scale = kept[blockIdx.x].y;
    vec<T> held_x[HELD], held_dy[HELD];
    float sum = 0, product = 0;

    both(x + first, dy + first, held_x, held_dy, n_vecs, true, [&](vec<T> &a, vec<T> &b, int i) {
        vec<T> g = gain[i];
        for (int j = 0; j < vec<T>::N; j++) {
            float gradient = float(b.v[j]) * float(g.v[j]);
            sum += gradient;
            product += gradient * (float(a.v[j]) - mean) * scale;
        }
    });
    sum = block_sum(sum) / n;
    product = block_sum(product) / n;
    both(x + first, dy + first, held_x, held_dy, n_vecs, false, [&](vec<T> &a, vec<T> &b, int i) {
        vec<T> g = gain[i], out;
        for (int j = 0; j < vec<T>::N; j++)
            out.v[j] = T(scale * (float(b.v[j]) * float(g.v[j]) - sum -
                                  (float(a.v[j]) - mean) * scale * product));
        dx[first + i] = out;
    });
}

/* Gradients of gain and offset: sums over rows. */
template <class T>
static __global__ void layernorm_sums(const vec<T> *x, const vec<T> *dy, const float2 *kept,
                                      float *gain, float *offset, size_t rows, size_t n_vecs)
{
    size_t column = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    float sum[vec<T>::N] = {}, product[vec<T>::N] = {};

    if (column >= n_vecs)
        return;
    for (size_t row = blockIdx.y; row < rows; row += gridDim.y) {
        vec<T> a = x[row * n_vecs + column], b = dy[row * n_vecs + column];
        float2 k = kept[row];
#pragma unroll
        for (int j = 0; j < vec<T>::N; j++) {
            sum[j] += float(b.v[j]);
            product[j] += float(b.v[j]) * (float(a.v[j]) - k.x) * k.y;
        }
    }
    for (int j = 0; j < vec<T>::N; j++) {
        atomicAdd(&offset[column * vec<T>::N + j], sum[j]);
        atomicAdd(&gain[column * vec<T>::N + j], product[j]);
    }
}

/* ---- batch normalisation in training, [n][c][pixels]: sums a channel, then the result ---- */

template <class T>
static __global__ void channel_sums(const vec<T> *in, float *sums, int n, int c, int n_vecs)
{
    float sum = 0, squares = 0;

    for (int image = blockIdx.y; image < n; image += gridDim.y) {
        const vec<T> *plane = in + ((size_t)image * c + blockIdx.x) * n_vecs;
        for (int i = threadIdx.x; i < n_vecs; i += blockDim.x) {
            vec<T> x = plane[i];
#pragma unroll
            for (int j = 0; j < vec<T>::N; j++) {
                sum += float(x.v[j]);
                squares += float(x.v[j]) * float(x.v[j]);
            }
        }
    }
    sum = block_sum(sum);
    squares = block_sum(squares);
    if (threadIdx.x == 0) {
        atomicAdd(&sums[2 * blockIdx.x], sum);
        atomicAdd(&sums[2 * blockIdx.x + 1], squares);
    }
}

template <class T>
static __global__ void normalise(const vec<T> *in, const float *sums, vec<T> *out, int c,
                                 int n_vecs, float count)
{
    int channel = blockIdx.x % c;
    float mean = sums[2 * channel] / count;
    float variance = sums[2 * channel + 1] / count - mean * mean;
    float scale = rsqrtf(fmaxf(variance, 0) + 1e-5f);
    size_t first = (size_t)blockIdx.x * n_vecs;

    for (int i = threadIdx.x; i < n_vecs; i += blockDim.x) {
        vec<T> x = in[first + i], y;
#pragma unroll
        for (int j = 0; j < vec<T>::N; j++)
            y.v[j] = T((float(x.v[j]) - mean) * scale);
        out[first + i] = y;
    }
}

/* Sums of dy and of dy x, then dx = scale (dy - mean(dy) - x' mean(dy x')). sums: dy, dy x, mean,
 * scale. */
template <class T>
static __global__ void gradient_sums(const vec<T> *in, const vec<T> *dy, float *sums, int n, int c,
                                     int n_vecs)
{
    float sum = 0, product = 0;

    for (int image = blockIdx.y; image < n; image += gridDim.y) {
        size_t first = ((size_t)image * c + blockIdx.x) * n_vecs;
        for (int i = threadIdx.x; i < n_vecs; i += blockDim.x) {
            vec<T> x = in[first + i], g = dy[first + i];
#pragma unroll
            for (int j = 0; j < vec<T>::N; j++) {
                sum += float(g.v[j]);
                product += float(g.v[j]) * float(x.v[j]);
            }
        }
    }
    sum = block_sum(sum);
    product = block_sum(product);
    if (threadIdx.x == 0) {
        atomicAdd(&sums[2 * blockIdx.x], sum);
        atomicAdd(&sums[2 * blockIdx.x + 1], product);
    }
}

template <class T>
static __global__ void batchnorm_backward(const vec<T> *in, const vec<T> *dy, const float *sums,
                                          vec<T> *dx, int c, int n_vecs, float count)
{
    int channel = blockIdx.x % c;
    float mean = sums[2 * channel] / count, product = sums[2 * channel + 1] / count;
    size_t first = (size_t)blockIdx.x * n_vecs;

    for (int i = threadIdx.x; i < n_vecs; i += blockDim.x) {
        vec<T> x = in[first + i], g = dy[first + i], out;
#pragma unroll
        for (int j = 0; j < vec<T>::N; j++)
            out.v[j] = T(float(g.v[j]) - mean - float(x.v[j]) * product);
        dx[first + i] = out;
    }
}

/* ---- pooling, [n][c][h][w], no padding: a thread makes an output or an input's gradient ---- */

struct window {
    int height, width, out_height, out_width, size, stride;
};

template <class T>
static __global__ void maxpool(const T *in, T *out, unsigned char *where, window w,
                               size_t n_outputs)
{
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n_outputs;
         i += (size_t)gridDim.x * blockDim.x) {
        size_t plane = i / (w.out_width * w.out_height);
        int y = (int)(i / w.out_width % w.out_height), x = (int)(i % w.out_width);
        const T *corner = in + (plane * w.height + (size_t)y * w.stride) * w.width + x * w.stride;
        float most = -INFINITY;
        int at = 0;

        for (int k = 0; k < w.size * w.size; k++) {
            float v = float(corner[(size_t)(k / w.size) * w.width + k % w.size]);
            if (v > most) {
                most = v;
                at = k;
            }
        }
        out[i] = T(most);
        where[i] = (unsigned char)at;
    }
}

template <class T> static __global__ void avgpool(const T *in, T *out, window w, size_t n_outputs)
{
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n_outputs;
         i += (size_t)gridDim.x * blockDim.x) {
        size_t plane = i / (w.out_width * w.out_height);
        int y = (int)(i / w.out_width % w.out_height), x = (int)(i % w.out_width);
        const T *corner = in + (plane * w.height + (size_t)y * w.stride) * w.width + x * w.stride;
        float sum = 0;

        for (int k = 0; k < w.size * w.size; k++)
            sum += float(corner[(size_t)(k / w.size) * w.width + k % w.size]);
        out[i] = T(sum / (float)(w.size * w.size));
    }
}

/* where: NULL: of averages. Reads the outputs whose windows hold the input. */
template <class T>
static __global__ void pool_backward(const T *dy, const unsigned char *where, T *dx, window w,
                                     size_t n_inputs)
{
    float share = 1 / (float)(w.size * w.size);

    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n_inputs;
         i += (size_t)gridDim.x * blockDim.x) {
        size_t plane = i / (w.width * w.height);
        int y = (int)(i / w.width % w.height), x = (int)(i % w.width);
        int y0 = y < w.size ? 0 : (y - w.size) / w.stride + 1;
        int x0 = x < w.size ? 0 : (x - w.size) / w.stride + 1;
        float sum = 0;

        for (int oy = y0; oy <= y / w.stride && oy < w.out_height; oy++)
            for (int ox = x0; ox <= x / w.stride && ox < w.out_width; ox++) {
                size_t o = (plane * w.out_height + oy) * w.out_width + ox;
                int k = (y - oy * w.stride) * w.size + x - ox * w.stride;
                if (!where)
                    sum += share * float(dy[o]);
                else if (where[o] == k)
                    sum += float(dy[o]);
            }
        dx[i] = T(sum);
    }
}

/* ---- rows that indices name; one block a row ---- */

template <class T>
static __global__ void gather(const vec<T> *table, vec<T> *out, int n_vecs, unsigned n_rows,
                              unsigned seed)
{
    unsigned row = (blockIdx.x + seed) * 2654435761u; /* Knuth's multiplicative hash */

    row = (unsigned)(((unsigned long long)row * n_rows) >> 32);
    for (int i = threadIdx.x; i < n_vecs; i += blockDim.x)
        out[(size_t)blockIdx.x * n_vecs + i] = table[(size_t)row * n_vecs + i];
}

/* The gradient of a table, cleared before: rows are added to it where the indices say. */
template <class T>
static __global__ void scatter_add(const vec<T> *dy, float *table, int n_vecs, unsigned n_rows,
                                   unsigned seed)
{
    unsigned row = (blockIdx.x + seed) * 2654435761u;

    row = (unsigned)(((unsigned long long)row * n_rows) >> 32);
    for (int i = threadIdx.x; i < n_vecs; i += blockDim.x) {
        vec<T> x = dy[(size_t)blockIdx.x * n_vecs + i];
        for (int j = 0; j < vec<T>::N; j++)
            atomicAdd(&table[((size_t)row * n_vecs + i) * vec<T>::N + j], float(x.v[j]));
    }
}

/* ---- optimizers, fp32, four elements a thread ---- */

enum class rule { sgd, momentum, adam };

template <rule R>
static __global__ void update(float4 *weights, const float4 *gradients, float4 *first,
                              float4 *second, size_t n_vecs)
{
    const float rate = 1e-6f, beta1 = 0.9f, beta2 = 0.999f;

    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n_vecs;
         i += (size_t)gridDim.x * blockDim.x) {
        float4 w4 = weights[i], g4 = gradients[i], m4 = w4, v4 = w4;
        float *w = &w4.x, *g = &g4.x, *m = &m4.x, *v = &v4.x;
        if (R != rule::sgd)
            m4 = first[i];
        if (R == rule::adam)
            v4 = second[i];
#pragma unroll
        for (int j = 0; j < 4; j++) {
            if (R == rule::sgd)
                w[j] -= rate * g[j];
            if (R == rule::momentum) {
                m[j] = beta1 * m[j] + g[j];
                w[j] -= rate * m[j];
            }
            if (R == rule::adam) {
                m[j] = beta1 * m[j] + (1 - beta1) * g[j];
                v[j] = beta2 * v[j] + (1 - beta2) * g[j] * g[j];
                w[j] -= rate * m[j] / (sqrtf(fabsf(v[j])) + 1e-8f);
            }
        }
        weights[i] = w4;
        if (R != rule::sgd)
            first[i] = m4;
        if (R == rule::adam)
            second[i] = v4;
    }
}

/* ---- what is measured ---- */

struct run {
    bench &b;
    buffer *pool; /* NULL when only listing */
    size_t pool_bytes;
};

/* Blocks for n_items of work a thread each: all that fit on the device at once, or fewer. */
static int grid(bench &b, size_t n_items)
{
    size_t most = (size_t)b.device().multiProcessorCount * 2048 / THREADS;

    return (int)std::min((n_items + THREADS - 1) / THREADS, most);
}

template <class Launch>
static void measure(run &r, const std::string &kernel, const std::string &shape, dtype t,
                    size_t set_bytes, size_t moved_bytes, Launch launch)
{
    std::string key = join({kernel, shape, dtype_text(t), count(moved_bytes)});

    if (!r.b.wants(key))
        return;
    rotation sets(set_bytes, r.pool_bytes, r.b.l2_bytes());
    if (!sets.fits()) {
        r.b.skip(key, "does not fit into memory");
        return;
    }
    timing time = r.b.time([&](int i) {
        launch(r.pool->at(sets.offset(i)), i);
        CUDA_CHECK(cudaGetLastError());
    });
    r.b.row(key, "," + number(time.median_us) + "," + timing_notes(time));
}

template <class T, class F> static void run_elementwise(run &r, dtype t, size_t n)
{
    size_t part = n * sizeof(T), inputs = F::INPUTS;

    measure(r, F::name, "rows=1;cols=" + count(n), t, (inputs + 1) * part, (inputs + 1) * part,
            [&](char *p, int) {
                elementwise<T, F><<<grid(r.b, part / 16), THREADS, 0, r.b.stream()>>>(
                    (vec<T> *)p, (vec<T> *)(p + (inputs - 1) * part), (vec<T> *)(p + inputs * part),
                    part / 16);
            });
}

template <class T> static void run_reduction(run &r, dtype t, size_t n)
{
    measure(r, "reduction", "rows=1;cols=" + count(n), t, n * sizeof(T) + 256, n * sizeof(T),
            [&](char *p, int) {
                reduction<T><<<grid(r.b, n * sizeof(T) / 16), THREADS, 0, r.b.stream()>>>(
                    (vec<T> *)p, (float *)(p + n * sizeof(T)), n * sizeof(T) / 16);
            });
}

template <class T> static void run_dropout(run &r, dtype t, size_t n)
{
    size_t part = n * sizeof(T), bytes = 2 * part + n;
    std::string shape = "rows=1;cols=" + count(n);

    measure(r, "dropout", shape, t, bytes, bytes, [&](char *p, int i) {
        dropout<T><<<grid(r.b, part / 16), THREADS, 0, r.b.stream()>>>(
            (vec<T> *)p, (vec<T> *)(p + part), (mask_of<T> *)(p + 2 * part), part / 16,
            (unsigned)i * 7919u);
    });
    measure(r, "dropout_backward", shape, t, bytes, bytes, [&](char *p, int) {
        dropout_backward<T><<<grid(r.b, part / 16), THREADS, 0, r.b.stream()>>>(
            (vec<T> *)p, (mask_of<T> *)(p + 2 * part), (vec<T> *)(p + part), part / 16);
    });
}

/* Rows and columns multiples of 32. */
template <class T> static void run_transpose(run &r, dtype t, size_t rows, size_t cols)
{
    size_t part = rows * cols * sizeof(T);

    measure(r, "transpose", "rows=" + count(rows) + ";cols=" + count(cols), t, 2 * part, 2 * part,
            [&](char *p, int) {
                dim3 blocks((unsigned)(cols / TILE), (unsigned)(rows / TILE));
                transpose<T><<<blocks, dim3(TILE, TILE_ROWS), 0, r.b.stream()>>>(
                    (T *)p, (T *)(p + part), (unsigned)rows, (unsigned)cols);
            });
}

/* Threads side by side take the columns; as many blocks below each other as fill the device. */
static dim3 column_blocks(bench &b, size_t rows, size_t n_vecs)
{
    size_t across = (n_vecs + THREADS - 1) / THREADS;
    size_t down = std::max((size_t)grid(b, SIZE_MAX / 2) / across, (size_t)1);

    return dim3((unsigned)across, (unsigned)std::min({down, rows, (size_t)65535}));
}

template <class T> static void run_column_sum(run &r, dtype t, size_t rows, size_t cols)
{
    size_t part = rows * cols * sizeof(T), n_vecs = cols * sizeof(T) / 16;

    measure(r, "column_sum", "rows=" + count(rows) + ";cols=" + count(cols), t, part + 4 * cols,
            part + 4 * cols, [&](char *p, int) {
                CUDA_CHECK(cudaMemsetAsync(p + part, 0, 4 * cols, r.b.stream()));
                column_sums<T><<<column_blocks(r.b, rows, n_vecs), THREADS, 0, r.b.stream()>>>(
                    (vec<T> *)p, (float *)(p + part), rows, n_vecs);
            });
}

template <class T> static void run_rows_backward(run &r, dtype t, size_t rows, size_t cols)
{
    std::string shape = "rows=" + count(rows) + ";cols=" + count(cols);
    size_t part = rows * cols * sizeof(T), row_bytes = cols * sizeof(T);
    int n_vecs = (int)(row_bytes / 16);
    int threads = std::min(std::max((n_vecs + 31) / 32 * 32, 32), 1024);

    measure(r, "softmax_backward", shape, t, 3 * part, 3 * part, [&](char *p, int) {
        softmax_backward<T><<<(unsigned)rows, threads, 0, r.b.stream()>>>(
            (vec<T> *)p, (vec<T> *)(p + part), (vec<T> *)(p + 2 * part), n_vecs);
    });
    measure(r, "ln_backward", shape, t, 3 * part + row_bytes + 8 * cols + 8 * rows, 3 * part,
            [&](char *p, int) {
                char *gain = p + 3 * part, *sums = gain + row_bytes, *kept = sums + 8 * cols;
                CUDA_CHECK(cudaMemsetAsync(sums, 0, 8 * cols, r.b.stream()));
                layernorm_backward<T><<<(unsigned)rows, threads, 0, r.b.stream()>>>(
                    (vec<T> *)p, (vec<T> *)(p + part), (vec<T> *)gain, (float2 *)kept,
                    (vec<T> *)(p + 2 * part), n_vecs);
                layernorm_sums<T><<<column_blocks(r.b, rows, n_vecs), THREADS, 0, r.b.stream()>>>(
                    (vec<T> *)p, (vec<T> *)(p + part), (float2 *)kept, (float *)sums,
                    (float *)sums + cols, rows, n_vecs);
            });
}

template <class T> static void run_rows(run &r, dtype t, size_t rows, size_t cols)
{
    std::string shape = "rows=" + count(rows) + ";cols=" + count(cols);
    size_t part = rows * cols * sizeof(T), row_bytes = cols * sizeof(T);
    int n_vecs = (int)(row_bytes / 16);
    int threads = std::min(std::max((n_vecs + 31) / 32 * 32, 32), 1024);

    measure(r, "softmax", shape, t, 2 * part, 2 * part, [&](char *p, int) {
        softmax<T><<<(unsigned)rows, threads, 0, r.b.stream()>>>((vec<T> *)p, (vec<T> *)(p + part),
                                                                 n_vecs);
    });
    measure(r, "ln", shape, t, 2 * part + 2 * row_bytes, 2 * part, [&](char *p, int) {
        char *gain = p + 2 * part;
        layernorm<T><<<(unsigned)rows, threads, 0, r.b.stream()>>>((vec<T> *)p, (vec<T> *)gain,
                                                                   (vec<T> *)(gain + row_bytes),
                                                                   (vec<T> *)(p + part), n_vecs);
    });
}

template <class T> static void run_batchnorm(run &r, dtype t, int n, int c, int pixels)
{
    size_t part = (size_t)n * (size_t)c * (size_t)pixels * sizeof(T), sums = (size_t)c * 8;
    int n_vecs = (int)((size_t)pixels * sizeof(T) / 16);
    std::string shape = "n=" + count((uint64_t)n) + ";c=" + count((uint64_t)c) +
                        ";pixels=" + count((uint64_t)pixels);

    /* read for the sums, read again, written */
    measure(r, "batchnorm", shape, t, 2 * part + sums, 3 * part, [&](char *p, int) {
        float *s = (float *)(p + 2 * part);
        dim3 blocks((unsigned)c, (unsigned)std::min(n, 8));
        CUDA_CHECK(cudaMemsetAsync(s, 0, sums, r.b.stream()));
        channel_sums<T><<<blocks, THREADS, 0, r.b.stream()>>>((vec<T> *)p, s, n, c, n_vecs);
        normalise<T><<<(unsigned)(n * c), THREADS, 0, r.b.stream()>>>(
            (vec<T> *)p, s, (vec<T> *)(p + part), c, n_vecs, (float)n * (float)pixels);
    });
}

template <class T> static void run_batchnorm_backward(run &r, dtype t, int n, int c, int pixels)
{
    size_t part = (size_t)n * (size_t)c * (size_t)pixels * sizeof(T), sums = (size_t)c * 8;
    int n_vecs = (int)((size_t)pixels * sizeof(T) / 16);
    std::string shape = "n=" + count((uint64_t)n) + ";c=" + count((uint64_t)c) +
                        ";pixels=" + count((uint64_t)pixels);

    /* both read for the sums, read again, one written */
    measure(r, "batchnorm_backward", shape, t, 3 * part + sums, 5 * part, [&](char *p, int) {
        float *s = (float *)(p + 3 * part);
        dim3 blocks((unsigned)c, (unsigned)std::min(n, 8));
        CUDA_CHECK(cudaMemsetAsync(s, 0, sums, r.b.stream()));
        gradient_sums<T><<<blocks, THREADS, 0, r.b.stream()>>>((vec<T> *)p, (vec<T> *)(p + part), s,
                                                               n, c, n_vecs);
        batchnorm_backward<T><<<(unsigned)(n * c), THREADS, 0, r.b.stream()>>>(
            (vec<T> *)p, (vec<T> *)(p + part), s, (vec<T> *)(p + 2 * part), c, n_vecs,
            (float)n * (float)pixels);
    });
}

template <class T>
static void run_pooling(run &r, dtype t, int n, int c, int side, int size, int stride)
{
    int out = (side - size) / stride + 1;
    window w = {side, side, out, out, size, stride};
    size_t inputs = (size_t)n * (size_t)c * (size_t)side * (size_t)side;
    size_t outputs = (size_t)n * (size_t)c * (size_t)out * (size_t)out;
    size_t in_bytes = inputs * sizeof(T), out_bytes = outputs * sizeof(T);
    std::string shape = "n=" + count((uint64_t)n) + ";c=" + count((uint64_t)c) +
                        ";h=" + count((uint64_t)side) + ";w=" + count((uint64_t)side) +
                        ";k=" + count((uint64_t)size) + ";stride=" + count((uint64_t)stride);
    size_t average = (in_bytes + out_bytes + 255) / 256 * 256, most = average + outputs;

    measure(r, "maxpool", shape, t, most, most, [&](char *p, int) {
        maxpool<T><<<grid(r.b, outputs), THREADS, 0, r.b.stream()>>>(
            (T *)p, (T *)(p + in_bytes), (unsigned char *)(p + average), w, outputs);
    });
    measure(r, "avgpool", shape, t, average, average, [&](char *p, int) {
        avgpool<T><<<grid(r.b, outputs), THREADS, 0, r.b.stream()>>>((T *)p, (T *)(p + in_bytes), w,
                                                                     outputs);
    });
    measure(r, "maxpool_backward", shape, t, most, most, [&](char *p, int) {
        pool_backward<T><<<grid(r.b, inputs), THREADS, 0, r.b.stream()>>>(
            (T *)(p + in_bytes), (unsigned char *)(p + average), (T *)p, w, inputs);
    });
    measure(r, "avgpool_backward", shape, t, average, average, [&](char *p, int) {
        pool_backward<T><<<grid(r.b, inputs), THREADS, 0, r.b.stream()>>>(
            (T *)(p + in_bytes), (const unsigned char *)nullptr, (T *)p, w, inputs);
    });
}

template <class T> static void run_gather(run &r, dtype t, size_t tokens, size_t width)
{
    const unsigned n_rows = 30522; /* BERT's words */
    size_t row_bytes = width * sizeof(T);
    std::string shape =
        "tokens=" + count(tokens) + ";hidden=" + count(width) + ";words=" + count(n_rows);

    measure(r, "emb", shape, t, (n_rows + tokens) * row_bytes, 2 * tokens * row_bytes,
            [&](char *p, int i) {
                gather<T><<<(unsigned)tokens, 128, 0, r.b.stream()>>>(
                    (vec<T> *)p, (vec<T> *)(p + n_rows * row_bytes), (int)(row_bytes / 16), n_rows,
                    (unsigned)i * 7919u);
            });
}

/* Cleared and written whole, as a dense gradient is; what is added to is read once more. */
template <class T> static void run_scatter(run &r, dtype t, size_t tokens, size_t width)
{
    const unsigned n_rows = 30522;
    size_t row_bytes = width * sizeof(T), table = (size_t)n_rows * width * 4;
    std::string shape =
        "tokens=" + count(tokens) + ";hidden=" + count(width) + ";words=" + count(n_rows);

    measure(r, "emb_backward", shape, t, table + tokens * row_bytes, table + tokens * row_bytes,
            [&](char *p, int i) {
                CUDA_CHECK(cudaMemsetAsync(p, 0, table, r.b.stream()));
                scatter_add<T><<<(unsigned)tokens, 128, 0, r.b.stream()>>>(
                    (vec<T> *)(p + table), (float *)p, (int)(row_bytes / 16), n_rows,
                    (unsigned)i * 7919u);
            });
}

template <rule R> static void run_update(run &r, const char *name, size_t n)
{
    size_t part = 4 * n, parts = R == rule::sgd ? 2 : R == rule::momentum ? 3 : 4;
    size_t moved = (R == rule::sgd ? 3 : R == rule::momentum ? 5 : 7) * part;

    measure(r, name, "rows=1;cols=" + count(n), dtype::fp32, parts * part, moved,
            [&](char *p, int) {
                float4 *w = (float4 *)p, *g = (float4 *)(p + part);
                float4 *m = (float4 *)(p + std::min(parts - 1, (size_t)2) * part);
                float4 *v = (float4 *)(p + (parts - 1) * part);
                update<R><<<grid(r.b, n / 4), THREADS, 0, r.b.stream()>>>(w, g, m, v, n / 4);
            });
}

template <class T> static void run_format(run &r, dtype t)
{
    if (r.pool)
        r.pool->fill_random(t, r.b.stream());
    for (size_t bytes = (size_t)1 << 30; bytes >= 4096; bytes /= 2) /* largest first: bandwidth */
        for (size_t part : {bytes, bytes / 4 * 3}) {
            size_t n = part / sizeof(T);
            run_elementwise<T, f_copy>(r, t, n);
            run_elementwise<T, f_add>(r, t, n);
            run_elementwise<T, f_relu>(r, t, n);
            run_elementwise<T, f_gelu>(r, t, n);
            run_dropout<T>(r, t, n);
            run_dropout<T>(r, t, n / 8 * 7);
            run_reduction<T>(r, t, n);
        }
    for (size_t cols = 64; cols <= 65536; cols *= 2)
        for (size_t rows = 64; rows * cols <= (size_t)1 << 28 && rows <= 1 << 20; rows *= 4) {
            run_rows<T>(r, t, rows, cols);
            run_rows_backward<T>(r, t, rows, cols);
        }
    for (size_t cols = 64; cols <= 65536; cols *= 4)
        for (size_t rows = 64; rows * cols <= (size_t)1 << 28 && rows <= 1 << 20; rows *= 2) {
            run_transpose<T>(r, t, rows, cols);
            run_column_sum<T>(r, t, rows, cols);
        }
    for (int n = 8; n <= 128; n *= 2)
        for (int c = 32; c <= 2048; c *= 2)
            for (int side : {8, 16, 28, 56, 112})
                if ((size_t)n * (size_t)c * (size_t)(side * side) <= (size_t)1 << 27) {
                    run_batchnorm<T>(r, t, n, c, side * side);
                    run_batchnorm_backward<T>(r, t, n, c, side * side);
                }
    for (int n = 8; n <= 128; n *= 2)
        for (int c : {64, 192, 832})
            for (int side : {112, 56, 28, 14})
                if ((size_t)n * (size_t)c * (size_t)(side * side) <= (size_t)1 << 27) {
                    run_pooling<T>(r, t, n, c, side, 3, 2);
                    run_pooling<T>(r, t, n, c, side, 2, 2);
                }
    for (size_t width : {256, 512, 768, 1024, 1600, 2048, 4096})
        for (size_t tokens = 128; tokens <= 65536; tokens *= 2) {
            run_gather<T>(r, t, tokens, width);
            run_scatter<T>(r, t, tokens, width);
        }
}

int main(int argc, char **argv)
{
    bench b(&argc, argv, "source,gpu,kernel,shape,dtype,bytes,flops,time_us,notes");
    refuse_rest(argc, argv);
    size_t bytes = b.is_listing() ? 0 : std::min(b.free_bytes(), (size_t)12 << 30) / 256 * 256;
    buffer *pool = b.is_listing() ? nullptr : new buffer(bytes);
    run r = {b, pool, bytes};

    run_format<float>(r, dtype::fp32);
    for (size_t n = (size_t)1 << 28; n >= 1024; n /= 2) {
        run_update<rule::sgd>(r, "sgd", n);
        run_update<rule::momentum>(r, "momentum", n);
        run_update<rule::adam>(r, "adam", n);
    }
    run_format<__half>(r, dtype::fp16);
    if (b.is_listing() || b.device().major >= 8)
        run_format<__nv_bfloat16>(r, dtype::bf16);
    delete pool;
    return b.finish();
}
