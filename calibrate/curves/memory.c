/* calibrate/curves/memory.c - evaluates the model of memory.h and describes the classes that use
 * it. */
#include "config.h"

#include "calibrate/curves/class.h"

#include <math.h>

void fr__stream_init(struct fr__stream *m, const struct fr__machine *machine,
                     const double parameters[FR__STREAM_WRAPPER_S])
{
    m->call_s = parameters[FR__STREAM_CALL_S];
    m->start_s = parameters[FR__STREAM_START_S];
    m->wrapper_s = 0;
    m->s_per_byte = 1 / (machine->mem_Bps * parameters[FR__STREAM_FRAC]);
    m->cache_bytes = parameters[FR__STREAM_CACHE_BYTES];
    m->s_per_cached_byte = m->s_per_byte / fmax(parameters[FR__STREAM_CACHE_GAIN], 1);
}

double fr__stream_work_s(const struct fr__stream *m, double bytes)
{
    double hit = fmin(bytes, m->cache_bytes);

    return (bytes - hit) * m->s_per_byte + hit * m->s_per_cached_byte;
}

/* Seconds of one kernel with its launch. */
static double stream_s(const struct fr__stream *m, double bytes, bool is_wrapped)
{
    return fmax(m->call_s + (is_wrapped ? m->wrapper_s : 0),
                m->start_s + fr__stream_work_s(m, bytes));
}

/* ---- the classes ---- */

static void prepare_elementwise(union fr__model *model, const struct fr__machine *machine,
                                enum fr_dtype dtype, const double parameters[])
{
    (void)dtype;
    fr__stream_init(&model->stream, machine, parameters);
    model->stream.wrapper_s = parameters[FR__STREAM_WRAPPER_S];
}

static void prepare_stream(union fr__model *model, const struct fr__machine *machine,
                           enum fr_dtype dtype, const double parameters[])
{
    (void)dtype;
    fr__stream_init(&model->stream, machine, parameters);
}

static double time_s(const union fr__model *model, const struct fr_kernel_shape *s)
{
    return stream_s(&model->stream, fmax(s->memory.bytes, 1), s->memory.is_wrapped);
}

static double work_s(const union fr__model *model, const struct fr_kernel_shape *s)
{
    return fr__stream_work_s(&model->stream, fmax(s->memory.bytes, 1));
}

static void coordinates(const struct fr_kernel_shape *s, double x[FR__RESIDUAL_AXES])
{
    for (unsigned a = 1; a < FR__RESIDUAL_AXES; a++)
        x[a] = 0;
    x[0] = log2(fmax(s->memory.bytes, 1));
}

static void sizes(const struct fr_kernel_shape *s, double out[FR__CURVE_SIZES])
{
    out[0] = s->memory.bytes;
}

/* starts of a fit: a V100 in fp32 with a framework's calls; an A100 in fp16, kernels alone;
 * rounded */
#define PARAMETERS                                                                                 \
    [FR__STREAM_CALL_S] = {"call_s", 1e-7, 1e-3, {3e-5, 1e-6}},                                    \
    [FR__STREAM_START_S] = {"start_s", 1e-7, 1e-3, {1.8e-5, 2e-6}},                                \
    [FR__STREAM_FRAC] = {"memory_frac", .01, 1, {.9, .8}},                                         \
    [FR__STREAM_CACHE_BYTES] = {"cache_bytes", 1e5, 2e8, {6e6, 3e7}},                              \
    [FR__STREAM_CACHE_GAIN] = {"cache_gain", 1, 20, {1.5, 1.5}}

const struct fr__curve_class fr__curve_elementwise = {
    .name = "elementwise",
    .size_names = {"bytes"},
    .axis_names = "bytes, -, -, -",
    .parameters = {PARAMETERS, [FR__STREAM_WRAPPER_S] = {"wrapper_s", 1e-8, 1e-4, {6e-6, 6e-6}}},
    .n_starts = 2,
    .prepare = prepare_elementwise,
    .time_s = time_s,
    .work_s = work_s,
    .coordinates = coordinates,
    .sizes = sizes,
};

/* A class whose time depends on its bytes alone and that has no wrapper. */
#define STREAM_CLASS(NAME)                                                                         \
    {                                                                                              \
        .name = NAME, .size_names = {"bytes"}, .axis_names = "bytes, -, -, -",                     \
        .parameters = {PARAMETERS}, .n_starts = 2, .prepare = prepare_stream, .time_s = time_s,    \
        .work_s = work_s, .coordinates = coordinates, .sizes = sizes,                              \
    }

const struct fr__curve_class fr__curve_embedding = STREAM_CLASS("embedding");
const struct fr__curve_class fr__curve_embedding_backward = STREAM_CLASS("embedding-backward");
const struct fr__curve_class fr__curve_pooling = STREAM_CLASS("pooling");
const struct fr__curve_class fr__curve_pooling_backward = STREAM_CLASS("pooling-backward");
const struct fr__curve_class fr__curve_dropout = STREAM_CLASS("dropout");
const struct fr__curve_class fr__curve_reduction = STREAM_CLASS("reduction");
const struct fr__curve_class fr__curve_transpose = STREAM_CLASS("transpose");
const struct fr__curve_class fr__curve_optimizer = STREAM_CLASS("optimizer");
