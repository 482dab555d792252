/* calibrate/curves/conv.c - evaluates the model of conv.h and describes its three classes: forward,
 * gradient of the input, gradient of the filter. */
#include "config.h"

#include "base/dtype.h"
#include "calibrate/curves/class.h"

#include <math.h>

enum { UNIT_CHANNELS = 8, BLOCK_PIXELS = 128, BLOCK_CHANNELS = 32, TILE = 6 };

static double at_least_1(double x)
{
    return x > 1 ? x : 1;
}

/* Sizes of the input, clamped to at least 1, and of the output. */
struct extents {
    double n, c, h, w, k, r, s, stride, groups, p, q;
};

static double output_extent(double input, double filter, double pad, double stride)
{
    return at_least_1(floor((input + 2 * fmax(pad, 0) - filter) / stride) + 1);
}

static struct extents extents_of(const struct fr_kernel_shape *shape)
{
    struct extents e = {
        .n = at_least_1(shape->conv.images),
        .c = at_least_1(shape->conv.in_channels),
        .h = at_least_1(shape->conv.height),
        .w = at_least_1(shape->conv.width),
        .k = at_least_1(shape->conv.out_channels),
        .r = at_least_1(shape->conv.kernel_height),
        .s = at_least_1(shape->conv.kernel_width),
        .stride = at_least_1(shape->conv.stride),
        .groups = at_least_1(shape->conv.groups),
    };

    e.p = shape->conv.out_height;
    e.q = shape->conv.out_width;
    if (!(e.p >= 1 && e.q >= 1)) {
        e.p = output_extent(e.h, e.r, shape->conv.pad, e.stride);
        e.q = output_extent(e.w, e.s, shape->conv.pad, e.stride);
    }
    return e;
}

/* ---- implicit product ---- */

static double bytes_of(const struct fr__conv *m, const struct extents *e)
{
    double input = e->n * e->c * e->h * e->w, output = e->n * e->k * e->p * e->q;

    return m->product.in_bytes * (input + output + e->k * e->c / e->groups * e->r * e->s);
}

static double implicit_s(const struct fr__conv *m, const struct extents *e, enum fr_curve_class op)
{
    double c = m->has_matrix_units ? ceil(e->c / UNIT_CHANNELS) * UNIT_CHANNELS : e->c;
    double k = m->has_matrix_units ? ceil(e->k / UNIT_CHANNELS) * UNIT_CHANNELS : e->k;
    double pixels = e->n * e->p * e->q, rows, columns, depth;

    if (op == FR_CURVE_CONV_BACKWARD_DATA) {
        double spread = e->stride > 1 ? at_least_1(e->h * e->w / (e->p * e->q)) : 1;

        rows = e->stride > 1 ? pixels * pow(spread, m->stride_waste) : e->n * e->h * e->w;
        columns = c;
        depth = k / e->groups * ceil(e->r / e->stride) * ceil(e->s / e->stride);
    } else if (op == FR_CURVE_CONV_BACKWARD_FILTER) {
        rows = k;
        columns = c / e->groups * e->r * e->s;
        depth = pixels;
    } else {
        rows = pixels;
        columns = k;
        depth = c / e->groups * e->r * e->s;
    }
    return fr__matmul_of_bytes_s(&m->product, 1, rows, at_least_1(columns), at_least_1(depth),
                                 bytes_of(m, e));
}

/* ---- Winograd ---- */

/* A convolution as Winograd's algorithms see it: output pixels, each a sum over channels. For the
 * gradient of the filter they are the pixels of the forward pass's result. */
struct winograd {
    double images, height, width, from, to; /* channels summed over, channels produced */
    double filter, bytes;                   /* width of the filter; bytes of operands and result */
};

static struct winograd winograd_of(const struct fr__conv *m, const struct extents *e,
                                   enum fr_curve_class op)
{
    bool is_data = op == FR_CURVE_CONV_BACKWARD_DATA;

    return (struct winograd){
        .images = e->n,
        .height = is_data ? e->h : e->p,
        .width = is_data ? e->w : e->q,
        .from = is_data ? e->k : e->c,
        .to = is_data ? e->c : e->k,
        .filter = e->r,
        .bytes = bytes_of(m, e),
    };
}

/* Time to transform filters of r x r numbers into tiles of `elements`. */
static double filters_s(const struct fr__conv *m, const struct winograd *w, double elements)
{
    return (w->filter * w->filter + elements) * w->from * w->to * m->product.in_bytes *
           m->filter_s_per_byte;
}

static double fused_s(const struct fr__conv *m, const struct winograd *w)
{
    double wide = ceil(w->height / 8) * ceil(w->width / 16) * w->images;
    double square = ceil(w->height / 4) * ceil(w->width / 8) * ceil(w->images / 4);
    double blocks = fmin(wide, square) * ceil(w->to / BLOCK_CHANNELS);
    double comp_s = ceil(blocks / m->product.n_sms) *
                    (w->from * m->fused_s_per_block_channel + m->product.block_s);

    return fmax(comp_s, w->bytes * m->product.s_per_byte) + filters_s(m, w, 16);
}

static double nonfused_s(const struct fr__conv *m, const struct winograd *w, enum fr_curve_class op)
{
    double out = TILE + 1 - w->filter; /* width of the output of a tile */
    double tiles = w->images * ceil(w->height / out) * ceil(w->width / out), product_s;
    double moved = TILE * TILE * m->product.in_bytes * tiles * (w->from + w->to);

    if (op == FR_CURVE_CONV_BACKWARD_FILTER)
        product_s = fr__matmul_of_bytes_s(&m->product, TILE * TILE, w->to, w->from, tiles, moved);
    else
        product_s = fr__matmul_of_bytes_s(&m->product, TILE * TILE, tiles, w->to, w->from, moved);
    return m->stages_s + (w->bytes + moved) * m->transform_s_per_byte +
           filters_s(m, w, TILE * TILE) + product_s;
}

/* ---- the classes ---- */

static double time_s(const union fr__model *model, const struct fr_kernel_shape *shape)
{
    const struct fr__conv *m = &model->conv;
    struct extents e = extents_of(shape);
    double best_s = implicit_s(m, &e, shape->op_class);

    if (!m->has_matrix_units && e.r == e.s && (e.r == 3 || e.r == 5) && e.stride == 1 &&
        e.groups == 1 && !shape->conv.is_dilated) {
        struct winograd w = winograd_of(m, &e, shape->op_class);

        best_s = fmin(best_s, nonfused_s(m, &w, shape->op_class));
        if (e.r == 3)
            best_s = fmin(best_s, fused_s(m, &w));
    }
    return m->product.launch_s + best_s;
}

static void prepare(union fr__model *model, const struct fr__machine *machine, enum fr_dtype dtype,
                    const double parameters[])
{
    struct fr__conv *m = &model->conv;
    double bytes = fr__dtype_bytes(dtype);
    double block_flops = 2 * 16 * (BLOCK_PIXELS / 4.0) * BLOCK_CHANNELS;

    fr__matmul_init(&m->product, machine, parameters, bytes, bytes);
    m->has_matrix_units = dtype != FR_FP32;
    m->fused_s_per_block_channel =
        block_flops / (machine->peak_flops_per_s / machine->n_sms * parameters[FR__CONV_WINOGRAD]);
    m->transform_s_per_byte = 1 / (machine->mem_Bps * parameters[FR__CONV_TRANSFORM]);
    m->filter_s_per_byte = 1 / (machine->mem_Bps * parameters[FR__CONV_FILTER_TRANSFORM]);
    m->stages_s = parameters[FR__CONV_STAGES_S];
    m->stride_waste = fmin(parameters[FR__CONV_STRIDE_WASTE], 2);
}

static void coordinates(const struct fr_kernel_shape *shape, double x[FR__RESIDUAL_AXES])
{
    struct extents e = extents_of(shape);

    x[0] = log2(e.n * e.p * e.q);
    x[1] = log2(e.k);
    x[2] = log2(e.c);
    x[3] = log2(e.r * e.s);
}

static void sizes(const struct fr_kernel_shape *s, double out[FR__CURVE_SIZES])
{
    out[0] = s->conv.images;
    out[1] = s->conv.in_channels;
    out[2] = s->conv.height;
    out[3] = s->conv.width;
    out[4] = s->conv.out_channels;
    out[5] = s->conv.kernel_height;
    out[6] = s->conv.kernel_width;
    out[7] = s->conv.stride;
    out[8] = s->conv.pad;
    out[9] = s->conv.groups;
}

/* The three classes differ only in what time_s() computes from the shape. Starts of a fit:
 * parameters fitted to NeuSight's and DeepBench's rows on a V100 in fp32, to those on a V100 in
 * fp16 and to NeuSight's on an A100, rounded. */
#define PARAMETERS                                                                                 \
    {                                                                                              \
        [FR__MATMUL_LAUNCH_S] = {"launch_s", 1e-7, 1e-3, {1e-4, 4e-6, 4e-6, 1e-4}},                \
        [FR__MATMUL_EFFICIENCY] = {"efficiency", .01, 4, {.9, .9, .5, .75}},                       \
        [FR__MATMUL_HALF_INTENSITY] = {"half_intensity", 1e-3, 1e3, {2, 2, 20, 2}},                \
        [FR__MATMUL_MEMORY_FRAC] = {"memory_frac", .01, 1.5, {.6, .7, .5, .6}},                    \
        [FR__MATMUL_BLOCK_S] = {"block_s", 1e-9, 1e-4, {2e-6, 2e-6, 2e-6, 4e-6}},                  \
        [FR__MATMUL_SHARPNESS] = {"sharpness", 1, 20, {4, 4, 2, 4}},                               \
        [FR__CONV_WINOGRAD] = {"winograd", .01, 4, {.95, .7, .3, .65}},                            \
        [FR__CONV_TRANSFORM] = {"transform", .01, 4, {.8, .8, .4, .8}},                            \
        [FR__CONV_FILTER_TRANSFORM] = {"filter_transform", .01, 4, {.3, .5, .5, .5}},              \
        [FR__CONV_STAGES_S] = {"stages_s", 1e-9, 1e-3, {1e-5, 1e-5, 2e-5, 1e-5}},                  \
        [FR__CONV_STRIDE_WASTE] = {"stride_waste", .1, 1.5, {.5, .5, .5, .5}},                     \
    }
#define CLASS(variable, word)                                                                      \
    const struct fr__curve_class variable = {                                                      \
        .name = word,                                                                              \
        .size_names = {"images", "channels", "height", "width", "filters", "filter height",        \
                       "filter width", "stride", "pad", "groups"},                                 \
        .axis_names = "output pixels, filters, channels, filter area",                             \
        .parameters = PARAMETERS,                                                                  \
        .n_starts = 4,                                                                             \
        .has_noisy_launch = true,                                                                  \
        .prepare = prepare,                                                                        \
        .time_s = time_s,                                                                          \
        .coordinates = coordinates,                                                                \
        .sizes = sizes,                                                                            \
    }

CLASS(fr__curve_conv_forward, "conv-forward");
CLASS(fr__curve_conv_backward_data, "conv-backward-data");
CLASS(fr__curve_conv_backward_filter, "conv-backward-filter");
