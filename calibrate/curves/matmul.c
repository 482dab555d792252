/* calibrate/curves/matmul.c - evaluates the model of matmul.h and describes its class. */
#include "config.h"

#include "base/dtype.h"
#include "calibrate/curves/class.h"

#include <math.h>
#include <string.h>

static const struct {
    double rows, columns;
} tiles[FR__MATMUL_TILES] = {
    {256, 128}, {128, 256}, {128, 128}, {256, 64}, {64, 256}, {128, 64}, {64, 128},
    {64, 64},   {128, 32},  {32, 128},  {64, 32},  {32, 64},  {32, 32},
};

enum { N_SPLITS = 5 };
static const double splits[N_SPLITS] = {1, 2, 4, 8, 16};

void fr__matmul_init(struct fr__matmul *m, const struct fr__machine *machine,
                     const double parameters[FR__MATMUL_N_PARAMETERS], double in_bytes,
                     double out_bytes)
{
    m->n_sms = machine->n_sms;
    m->launch_s = parameters[FR__MATMUL_LAUNCH_S];
    m->block_s = parameters[FR__MATMUL_BLOCK_S];
    m->sharpness = parameters[FR__MATMUL_SHARPNESS];
    m->s_per_byte = 1 / (machine->mem_Bps * parameters[FR__MATMUL_MEMORY_FRAC]);
    m->in_bytes = in_bytes;
    m->out_bytes = out_bytes;
    for (unsigned i = 0; i < FR__MATMUL_TILES; i++) {
        double area = tiles[i].rows * tiles[i].columns;
        double intensity = area / (tiles[i].rows + tiles[i].columns);
        double eff = parameters[FR__MATMUL_EFFICIENCY] * intensity /
                     (parameters[FR__MATMUL_HALF_INTENSITY] + intensity);

        m->s_per_depth[i] = 2 * area * machine->n_sms / (machine->peak_flops_per_s * eff);
    }
}

double fr__smooth_max(double a, double b, double q)
{
    double larger = a > b ? a : b;
    double ratio = a > b ? b / a : a / b;

    return larger * pow(1 + pow(ratio, q), 1 / q);
}

/* ceil(x) for x >= 0, without calling the library. */
static inline double round_up(double x)
{
    double whole;

    if (!(x < 0x1p52)) /* so large a double is a whole number */
        return x;
    whole = (double)(int64_t)x;
    return whole < x ? whole + 1 : whole;
}

/* The waves of each tile shape and the time of one tile, before the depth is split. */
struct blocks {
    double waves[FR__MATMUL_TILES], tile_s[FR__MATMUL_TILES];
};

static void cut(const struct fr__matmul *m, double batch, double rows, double columns, double depth,
                struct blocks *b)
{
    for (unsigned i = 0; i < FR__MATMUL_TILES; i++) {
        double n = round_up(rows / tiles[i].rows) * round_up(columns / tiles[i].columns) * batch;

        b->waves[i] = n / m->n_sms;
        b->tile_s[i] = m->s_per_depth[i] * depth;
    }
}

/* Shortest time of the arithmetic with the depth split into s parts. */
static double compute_s(const struct fr__matmul *m, const struct blocks *b, double s)
{
    double part = 1 / s, best_s = INFINITY; /* exact, since s is a power of 2 */

    for (unsigned i = 0; i < FR__MATMUL_TILES; i++) {
        double t_s = round_up(b->waves[i] * s) * (b->tile_s[i] * part + m->block_s);

        best_s = t_s < best_s ? t_s : best_s;
    }
    return best_s;
}

double fr__matmul_of_bytes_s(const struct fr__matmul *m, double batch, double rows, double columns,
                             double depth, double bytes)
{
    struct blocks blocks;
    double comp_s[N_SPLITS], mem_s[N_SPLITS];
    double c_elements = batch * rows * columns, best_s;
    unsigned n = 0, first = 0;

    cut(m, batch, rows, columns, depth, &blocks);
    for (; n < N_SPLITS && (n == 0 || depth >= 32 * splits[n]); n++) {
        mem_s[n] = (bytes + (n ? 8 * splits[n] * c_elements : 0)) * m->s_per_byte;
        /* a smooth maximum is at most twice the larger of its two times */
        if (n && mem_s[n] >= fmax(comp_s[first], mem_s[first]) * 2)
            break;
        comp_s[n] = compute_s(m, &blocks, splits[n]);
        if (fmax(comp_s[n], mem_s[n]) < fmax(comp_s[first], mem_s[first]))
            first = n;
    }
    /* the best is often this one; with it first, few other powers need computing */
    best_s = fr__smooth_max(comp_s[first], mem_s[first], m->sharpness);
    for (unsigned i = 0; i < n; i++)
        if (i != first && comp_s[i] < best_s && mem_s[i] < best_s)
            best_s = fmin(best_s, fr__smooth_max(comp_s[i], mem_s[i], m->sharpness));
    return best_s;
}

double fr__matmul_s(const struct fr__matmul *m, double batch, double rows, double columns,
                    double depth)
{
    double c_elements = batch * rows * columns;
    double bytes = batch * (rows + columns) * depth * m->in_bytes + c_elements * m->out_bytes;

    return m->launch_s + fr__matmul_of_bytes_s(m, batch, rows, columns, depth, bytes);
}

/* ---- the class ---- */

static void prepare(union fr__model *model, const struct fr__machine *machine, enum fr_dtype dtype,
                    const double parameters[])
{
    double in_bytes = fr__dtype_bytes(dtype);

    /* products of 8-bit numbers are written in 16 bits */
    fr__matmul_init(&model->matmul, machine, parameters, in_bytes, fmax(in_bytes, 2));
}

static double time_s(const union fr__model *model, const struct fr_kernel_shape *s)
{
    return fr__matmul_s(&model->matmul, fmax(s->matmul.batch, 1), fmax(s->matmul.rows, 1),
                        fmax(s->matmul.columns, 1), fmax(s->matmul.depth, 1));
}

static void coordinates(const struct fr_kernel_shape *s, double x[FR__RESIDUAL_AXES])
{
    x[0] = log2(fmax(s->matmul.rows, 1));
    x[1] = log2(fmax(s->matmul.columns, 1));
    x[2] = log2(fmax(s->matmul.depth, 1));
    x[3] = log2(fmax(s->matmul.batch, 1));
}

/* Features of a result in the common tile sizes: the share of the tiles' rows and columns that is
 * used, the number of waves, and how full the waves are. */
static void cut_features(double n_sms, double batch, double rows, double columns, double x[])
{
    static const struct {
        double rows, columns;
    } common[] = {{128, 128}, {128, 64}, {256, 128}, {64, 64}, {128, 256}};
    double extent = 32;

    for (unsigned i = 0; i < 4; i++, extent *= 2) {
        *x++ = rows / (round_up(rows / extent) * extent);
        *x++ = columns / (round_up(columns / extent) * extent);
    }
    for (unsigned i = 0; i < sizeof(common) / sizeof(common[0]); i++) {
        double n = round_up(rows / common[i].rows) * round_up(columns / common[i].columns) * batch;

        *x++ = n / n_sms;
        *x++ = n / n_sms / round_up(n / n_sms);
    }
}

static void features(const struct fr__machine *machine, enum fr_dtype dtype,
                     const struct fr_kernel_shape *s, double x[FR__TREES_FEATURES])
{
    double batch = fmax(s->matmul.batch, 1), rows = fmax(s->matmul.rows, 1);
    double columns = fmax(s->matmul.columns, 1), depth = fmax(s->matmul.depth, 1);
    double left = batch * rows * depth, right = batch * columns * depth;
    double result = batch * rows * columns, work = result * depth;
    double bytes = (left + right + result) * fr__dtype_bytes(dtype);
    const double sizes[] = {rows,  columns, depth,        batch,          work, result,
                            bytes, left,    work / bytes, rows / columns, right};

    memcpy(x, sizes, sizeof(sizes));
    cut_features(machine->n_sms, batch, rows, columns, x + sizeof(sizes) / sizeof(sizes[0]));
}

static void sizes(const struct fr_kernel_shape *s, double out[FR__CURVE_SIZES])
{
    out[0] = s->matmul.batch;
    out[1] = s->matmul.rows;
    out[2] = s->matmul.columns;
    out[3] = s->matmul.depth;
}

const struct fr__curve_class fr__curve_matmul = {
    .name = "matmul",
    .size_names = {"batch", "rows", "columns", "depth"},
    .axis_names = "rows, columns, depth, batch",
    /* starts of a fit: constants fitted to an A100 in bf16, an H100 in fp16 and a V100 in fp32,
     * rounded */
    .parameters =
        {
            [FR__MATMUL_LAUNCH_S] = {"launch_s", 1e-7, 1e-3, {4e-6, 4e-6, 3e-5}},
            [FR__MATMUL_EFFICIENCY] = {"efficiency", .01, 4, {1.4, .85, .85}},
            [FR__MATMUL_HALF_INTENSITY] = {"half_intensity", 1e-3, 1e3, {60, 5, 1}},
            [FR__MATMUL_MEMORY_FRAC] = {"memory_frac", .01, 1.5, {.75, .85, .7}},
            [FR__MATMUL_BLOCK_S] = {"block_s", 1e-9, 1e-4, {.2e-6, .3e-6, .4e-6}},
            [FR__MATMUL_SHARPNESS] = {"sharpness", 1, 20, {6, 2.2, 4}},
        },
    .n_starts = 3,
    .prepare = prepare,
    .time_s = time_s,
    .coordinates = coordinates,
    .feature_names = {"rows",         "columns",      "depth",       "batch",
                      "work",         "result",       "bytes",       "left",
                      "work/bytes",   "rows/columns", "right",       "rows/32",
                      "columns/32",   "rows/64",      "columns/64",  "rows/128",
                      "columns/128",  "rows/256",     "columns/256", "waves-128x128",
                      "full-128x128", "waves-128x64", "full-128x64", "waves-256x128",
                      "full-256x128", "waves-64x64",  "full-64x64",  "waves-128x256",
                      "full-128x256"},
    .features = features,
    .sizes = sizes,
};
