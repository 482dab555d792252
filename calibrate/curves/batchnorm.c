/* calibrate/curves/batchnorm.c - evaluates the model of batchnorm.h and describes its two classes,
 * forward and backward. */
#include "config.h"

#include "base/dtype.h"
#include "calibrate/curves/class.h"

#include <math.h>

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

static double time_s(const union fr__model *model, const struct fr_kernel_shape *s)
{
    return fr__rows_s(&model->rows, fmax(s->batchnorm.channels, 1), fmax(s->batchnorm.values, 1));
}

static double work_s(const union fr__model *model, const struct fr_kernel_shape *s)
{
    return fr__rows_work_s(&model->rows, fmax(s->batchnorm.channels, 1),
                           fmax(s->batchnorm.values, 1));
}

static void coordinates(const struct fr_kernel_shape *s, double x[FR__RESIDUAL_AXES])
{
    for (unsigned a = 2; a < FR__RESIDUAL_AXES; a++)
        x[a] = 0;
    x[0] = log2(fmax(s->batchnorm.channels, 1));
    x[1] = log2(fmax(s->batchnorm.values, 1));
}

static void sizes(const struct fr_kernel_shape *s, double out[FR__CURVE_SIZES])
{
    out[0] = s->batchnorm.channels;
    out[1] = s->batchnorm.values;
}

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
