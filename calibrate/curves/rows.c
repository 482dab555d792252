/* calibrate/curves/rows.c - evaluates the model of rows.h and describes the classes that use it:
 * softmax, layernorm, batchnorm and their gradients. */
#include "config.h"

#include "base/dtype.h"
#include "calibrate/curves/class.h"

#include <math.h>

enum { NARROW_COLUMNS = 1024 };

void fr__rows_init(struct fr__rows *r, const struct fr__machine *machine,
                   const double parameters[FR__ROWS_WIDE], double element_bytes, unsigned passes)
{
    fr__stream_init(&r->stream, machine, parameters);
    r->pass_bytes = passes * element_bytes;
    r->reread = parameters[FR__ROWS_REREAD];
    r->reread_columns = parameters[FR__ROWS_REREAD_COLUMNS];
    r->blocks = fmax(machine->n_sms * parameters[FR__ROWS_BLOCKS_PER_SM], 1);
    r->block_s = parameters[FR__ROWS_BLOCK_S];
    r->column_s = parameters[FR__ROWS_COLUMN_S];
    r->wide = 1;
}

double fr__rows_work_s(const struct fr__rows *r, double rows, double columns)
{
    double spill = pow(r->reread_columns / columns, 4);
    double memory_s = fr__stream_work_s(&r->stream, rows * columns * r->pass_bytes) *
                      (1 + r->reread / (1 + spill)) * (columns > NARROW_COLUMNS ? r->wide : 1);
    double blocks_s = ceil(rows / r->blocks) * (r->block_s + columns * r->column_s);
    double larger = fmax(memory_s, blocks_s), ratio = fmin(memory_s, blocks_s) / larger;

    return larger * cbrt(1 + ratio * ratio * ratio);
}

double fr__rows_s(const struct fr__rows *r, double rows, double columns)
{
    return fmax(r->stream.call_s, r->stream.start_s + fr__rows_work_s(r, rows, columns));
}

/* ---- the classes ---- */

static void prepare_softmax(union fr__model *model, const struct fr__machine *machine,
                            enum fr_dtype dtype, const double parameters[])
{
    fr__rows_init(&model->rows, machine, parameters, fr__dtype_bytes(dtype),
                  FR__ROWS_FORWARD_PASSES);
    model->rows.wide = parameters[FR__ROWS_WIDE];
}

static void prepare_forward(union fr__model *model, const struct fr__machine *machine,
                            enum fr_dtype dtype, const double parameters[])
{
    fr__rows_init(&model->rows, machine, parameters, fr__dtype_bytes(dtype),
                  FR__ROWS_FORWARD_PASSES);
}

static void prepare_backward(union fr__model *model, const struct fr__machine *machine,
                             enum fr_dtype dtype, const double parameters[])
{
    fr__rows_init(&model->rows, machine, parameters, fr__dtype_bytes(dtype),
                  FR__ROWS_BACKWARD_PASSES);
}

/* Rows and columns; of batch normalisation, channels and the values of each. */
static void sizes(const struct fr_kernel_shape *s, double out[FR__CURVE_SIZES])
{
    bool is_batchnorm =
        s->op_class == FR_CURVE_BATCHNORM || s->op_class == FR_CURVE_BATCHNORM_BACKWARD;

    out[0] = is_batchnorm ? s->batchnorm.channels : s->rows.rows;
    out[1] = is_batchnorm ? s->batchnorm.values : s->rows.columns;
}

static double time_s(const union fr__model *model, const struct fr_kernel_shape *s)
{
    double size[FR__CURVE_SIZES];

    sizes(s, size);
    return fr__rows_s(&model->rows, fmax(size[0], 1), fmax(size[1], 1));
}

static double work_s(const union fr__model *model, const struct fr_kernel_shape *s)
{
    double size[FR__CURVE_SIZES];

    sizes(s, size);
    return fr__rows_work_s(&model->rows, fmax(size[0], 1), fmax(size[1], 1));
}

static void coordinates(const struct fr_kernel_shape *s, double x[FR__RESIDUAL_AXES])
{
    double size[FR__CURVE_SIZES];

    sizes(s, size);
    for (unsigned a = 0; a < FR__RESIDUAL_AXES; a++)
        x[a] = a < 2 ? log2(fmax(size[a], 1)) : 0;
}

/* Features beside the sizes: how full the last wave is, with one block and with four blocks to a
 * multiprocessor, and how much of the next power of two the columns fill (PyTorch's softmax pads to
 * it up to 1024 columns). */
static void features(const struct fr__machine *machine, enum fr_dtype dtype,
                     const struct fr_kernel_shape *s, double x[FR__TREES_FEATURES])
{
    double rows = fmax(s->rows.rows, 1), columns = fmax(s->rows.columns, 1), power = 1;
    double waves = rows / machine->n_sms;

    (void)dtype;
    while (power < columns)
        power *= 2;
    x[0] = rows;
    x[1] = columns;
    x[2] = rows * columns;
    x[3] = rows / columns;
    x[4] = waves / ceil(waves);
    x[5] = waves / 4 / ceil(waves / 4);
    x[6] = columns / power;
    x[7] = fmod(columns, 4) == 0;
}

/* starts of a fit: a V100 in fp32 with a framework's calls, with few and with many blocks; an A100
 * in fp16, kernels alone; rounded */
#define PARAMETERS                                                                                 \
    [FR__STREAM_CALL_S] = {"call_s", 1e-7, 1e-3, {4e-5, 1e-6, 4e-5}},                              \
    [FR__STREAM_START_S] = {"start_s", 1e-7, 1e-3, {2.5e-5, 2e-6, 2.5e-5}},                        \
    [FR__STREAM_FRAC] = {"memory_frac", .01, 1, {.8, .8, .8}},                                     \
    [FR__STREAM_CACHE_BYTES] = {"cache_bytes", 1e5, 2e8, {6e6, 2e7, 6e6}},                         \
    [FR__STREAM_CACHE_GAIN] = {"cache_gain", 1, 20, {1.5, 1.5, 1.5}},                              \
    [FR__ROWS_REREAD] = {"reread", 1e-3, 4, {.5, .5, .5}},                                         \
    [FR__ROWS_REREAD_COLUMNS] = {"reread_columns", 64, 65536, {4000, 4000, 4000}},                 \
    [FR__ROWS_BLOCKS_PER_SM] = {"blocks_per_sm", .5, 128, {4, 8, 16}},                             \
    [FR__ROWS_BLOCK_S] = {"block_s", 1e-9, 1e-4, {1e-6, 5e-7, 1e-6}},                              \
    [FR__ROWS_COLUMN_S] = {"column_s", 1e-13, 1e-6, {3e-9, 1e-9, 3e-9}}

const struct fr__curve_class fr__curve_softmax = {
    .name = "softmax",
    .size_names = {"rows", "columns"},
    .axis_names = "rows, columns, -, -",
    .parameters = {PARAMETERS, [FR__ROWS_WIDE] = {"wide", .5, 4, {1.2, 1.2, 1.5}}},
    .n_starts = 3,
    .prepare = prepare_softmax,
    .time_s = time_s,
    .work_s = work_s,
    .coordinates = coordinates,
    .feature_names = {"rows", "columns", "elements", "rows/columns", "full-1", "full-4",
                      "columns/power", "columns%4=0"},
    .features = features,
    .sizes = sizes,
};

/* A gradient has two kernels, the second for the gradients of gain and offset. They count as
 * one. */
#define ROWS_CLASS(NAME, PREPARE)                                                                  \
    {                                                                                              \
        .name = NAME, .size_names = {"rows", "columns"}, .axis_names = "rows, columns, -, -",      \
        .parameters = {PARAMETERS}, .n_starts = 3, .prepare = PREPARE, .time_s = time_s,           \
        .work_s = work_s, .coordinates = coordinates, .sizes = sizes,                              \
    }

const struct fr__curve_class fr__curve_layernorm = ROWS_CLASS("layernorm", prepare_forward);
const struct fr__curve_class fr__curve_softmax_backward =
    ROWS_CLASS("softmax-backward", prepare_backward);
const struct fr__curve_class fr__curve_layernorm_backward =
    ROWS_CLASS("layernorm-backward", prepare_backward);

/* starts of a fit: a V100 in fp32, first kernels alone, then a framework's calls; rounded */
#define BATCHNORM_CLASS(NAME, PREPARE, REREAD)                                                     \
    {                                                                                              \
        .name = NAME, .size_names = {"channels", "values"},                                        \
        .axis_names = "channels, values, -, -",                                                    \
        .parameters =                                                                              \
            {                                                                                      \
                [FR__STREAM_CALL_S] = {"call_s", 1e-7, 1e-3, {1e-6, 4e-5, 1e-6}},                  \
                [FR__STREAM_START_S] = {"start_s", 1e-7, 1e-3, {3e-6, 2e-5, 3e-6}},                \
                [FR__STREAM_FRAC] = {"memory_frac", .01, 1, {.8, .8, .8}},                         \
                [FR__STREAM_CACHE_BYTES] = {"cache_bytes", 1e5, 2e8, {6e6, 6e6, 3e7}},             \
                [FR__STREAM_CACHE_GAIN] = {"cache_gain", 1, 20, {1.5, 1.5, 1.5}},                  \
                [FR__ROWS_REREAD] = {"reread", 1e-3, 4, {REREAD, REREAD, REREAD}},                 \
                [FR__ROWS_REREAD_COLUMNS] = {"reread_values", 64, 1e7, {2e4, 2e4, 2e5}},           \
                [FR__ROWS_BLOCKS_PER_SM] = {"blocks_per_sm", .5, 128, {2, 2, 8}},                  \
                [FR__ROWS_BLOCK_S] = {"block_s", 1e-9, 1e-4, {1e-6, 1e-6, 1e-6}},                  \
                [FR__ROWS_COLUMN_S] = {"value_s", 1e-13, 1e-6, {2e-10, 2e-10, 2e-11}},             \
            },                                                                                     \
        .n_starts = 3, .prepare = PREPARE, .time_s = time_s, .work_s = work_s,                     \
        .coordinates = coordinates, .sizes = sizes,                                                \
    }

const struct fr__curve_class fr__curve_batchnorm =
    BATCHNORM_CLASS("batchnorm", prepare_forward, .5);
const struct fr__curve_class fr__curve_batchnorm_backward =
    BATCHNORM_CLASS("batchnorm-backward", prepare_backward, .67);
