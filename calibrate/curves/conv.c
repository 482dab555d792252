/* calibrate/curves/conv.c - evaluates the model of conv.h and describes its three classes: forward,
 * gradient of the input, gradient of the filter. */
#include "config.h"

#include "base/dtype.h"
#include "calibrate/curves/class.h"

#include <math.h>
#include <string.h>

enum {
    UNIT_CHANNELS = 8,
    BLOCK_PIXELS = 128,
    BLOCK_CHANNELS = 32,
    TILE = 6,
    CROPPED = 2,
    NARROW = 32
};

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

/* Whether matrix units get channels that they cannot load by the eight. */
static bool is_narrow(const struct fr__conv *m, const struct extents *e)
{
    return m->has_matrix_units &&
           (fmod(e->c / e->groups, UNIT_CHANNELS) > 0 || fmod(e->k / e->groups, UNIT_CHANNELS) > 0);
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
        depth = k / e->groups * e->r * e->s;
    } else if (op == FR_CURVE_CONV_BACKWARD_FILTER) {
        rows = k;
        columns = c / e->groups * e->r * e->s;
        depth = pixels;
    } else {
        rows = pixels;
        columns = k;
        depth = c / e->groups * e->r * e->s;
    }
    return fr__matmul_of_bytes_s(is_narrow(m, e) ? &m->narrow : &m->product, 1, rows,
                                 at_least_1(columns), at_least_1(depth), bytes_of(m, e));
}

/* The gradient of the input as the product of output pixels and filters, which is written out and
 * then folded into the image. It multiplies no zeros, which is less work where the result has fewer
 * than half (CROPPED) of the image's pixels; and its columns are the taps of all channels, which
 * fill a tile where the channels alone (fewer than NARROW, the narrowest tile) do not. */
static double folded_s(const struct fr__conv *m, const struct extents *e)
{
    double pixels = e->n * e->p * e->q, taps = e->c / e->groups * e->r * e->s;
    double unfolded = m->product.in_bytes * pixels * e->groups * taps;

    return fr__matmul_of_bytes_s(is_narrow(m, e) ? &m->narrow : &m->product, e->groups, pixels,
                                 at_least_1(taps), at_least_1(e->k / e->groups), unfolded) +
           (unfolded + bytes_of(m, e)) * m->product.s_per_byte;
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

static bool is_for_winograd(const struct extents *e, bool is_dilated)
{
    return e->r == e->s && (e->r == 3 || e->r == 5) && e->stride == 1 && e->groups == 1 &&
           !is_dilated;
}

static bool is_winograd(const struct fr__conv *m, const struct extents *e, bool is_dilated)
{
    return !m->has_matrix_units && is_for_winograd(e, is_dilated);
}

double fr__conv_saving(const struct fr_kernel_shape *shape)
{
    struct extents e = extents_of(shape);
    double out = TILE + 1 - e.r;

    return is_for_winograd(&e, shape->conv.is_dilated) ? out * out * e.r * e.r / (TILE * TILE) : 1;
}

double fr__conv_elements(const struct fr_kernel_shape *shape)
{
    struct extents e = extents_of(shape);
    double pixels = fmin(e.h * e.w, e.p * e.q * e.r * e.s);

    return e.n * (e.c * pixels + e.k * e.p * e.q) + e.k * e.c / e.groups * e.r * e.s;
}

/* No kernel is faster than the peak, but for the products that Winograd's algorithms save. */
static double least_s(const union fr__model *model, const struct fr_kernel_shape *shape)
{
    const struct fr__conv *m = &model->conv;
    struct extents e = extents_of(shape);
    double products = e.n * e.p * e.q * e.k * e.c / e.groups * e.r * e.s;

    if (is_winograd(m, &e, shape->conv.is_dilated))
        products /= fr__conv_saving(shape);
    return 2 * products / m->peak_flops_per_s;
}

/* Whether the filter's area is one of those that the residual was fitted to, or between them. */
static bool is_like_measured(const struct fr__residual *r, const struct fr_kernel_shape *shape)
{
    const struct fr__axis *areas = &r->axes[3];
    struct extents e = extents_of(shape);
    double area = log2(e.r * e.s), last = areas->first + (areas->n - 1) * areas->step;

    return area > areas->first - 0.1 && area < last + 0.1;
}

static double time_s(const union fr__model *model, const struct fr_kernel_shape *shape)
{
    const struct fr__conv *m = &model->conv;
    struct extents e = extents_of(shape);
    double best_s = implicit_s(m, &e, shape->op_class);

    if (shape->op_class == FR_CURVE_CONV_BACKWARD_DATA &&
        (e.c < NARROW || (e.h * e.w >= CROPPED * e.p * e.q && e.stride <= 1)))
        best_s = fmin(best_s, folded_s(m, &e));
    if (is_winograd(m, &e, shape->conv.is_dilated)) {
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
    double narrow[FR__MATMUL_N_PARAMETERS];

    fr__matmul_init(&m->product, machine, parameters, bytes, bytes);
    memcpy(narrow, parameters, sizeof(narrow));
    narrow[FR__MATMUL_EFFICIENCY] *= fmin(parameters[FR__CONV_NARROW], 1);
    fr__matmul_init(&m->narrow, machine, narrow, bytes, bytes);
    m->peak_flops_per_s = machine->peak_flops_per_s;
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

/* The three classes differ in what time_s() computes from the shape, and in where a fit starts.
 * First starts: medians of fits to DeepBench's rows of GPUs that have no device file (Titan X of
 * Maxwell and of Pascal, GTX 1080 Ti, M40), so that no curve is drawn to rows that it is judged on;
 * `narrow` is a guess. Forward and gradient of the input are pulled there: five-fold
 * cross-validation on P100, V100 and T4 in fp32 goes from 13.0 to 10.8 % and from 19.0 to 16.2 %
 * by it (p90 39 to 35 % and 49 to 43 %); gradients of the filter do not gain (14.6 to 16.2 %),
 * since these GPUs differ too much in theirs. */
#define PARAMETERS(LAUNCH, EFFICIENCY, HALF, MEMORY, BLOCK, WINOGRAD, FILTER, NARROW)              \
    {                                                                                              \
        [FR__MATMUL_LAUNCH_S] = {"launch_s", 1e-7, 1e-3, {LAUNCH, 4e-6, 4e-6, 1e-4}},              \
        [FR__MATMUL_EFFICIENCY] = {"efficiency", .01, 1, {EFFICIENCY, .9, .5, .75}},               \
        [FR__MATMUL_HALF_INTENSITY] = {"half_intensity", 1e-3, 1e3, {HALF, 2, 20, 2}},             \
        [FR__MATMUL_MEMORY_FRAC] = {"memory_frac", .01, 1.5, {MEMORY, .7, .5, .6}},                \
        [FR__MATMUL_BLOCK_S] = {"block_s", 1e-9, 1e-4, {BLOCK, 2e-6, 2e-6, 4e-6}},                 \
        [FR__MATMUL_SHARPNESS] = {"sharpness", 1, 20, {2.5, 4, 2, 4}},                             \
        [FR__CONV_WINOGRAD] = {"winograd", .01, 4, {WINOGRAD, .7, .3, .65}},                       \
        [FR__CONV_TRANSFORM] = {"transform", .01, 4, {.7, .8, .4, .8}},                            \
        [FR__CONV_FILTER_TRANSFORM] = {"filter_transform", .01, 4, {FILTER, .5, .5, .5}},          \
        [FR__CONV_STAGES_S] = {"stages_s", 1e-9, 1e-3, {7e-6, 1e-5, 2e-5, 1e-5}},                  \
        [FR__CONV_STRIDE_WASTE] = {"stride_waste", .01, 1, {.6, .5, .5, .5}},                      \
        [FR__CONV_NARROW] = {"narrow", .01, 1, {NARROW, .3, .3, .3}},                              \
    }
#define CLASS(variable, word, PULL, ...)                                                           \
    const struct fr__curve_class variable = {                                                      \
        .name = word,                                                                              \
        .size_names = {"images", "channels", "height", "width", "filters", "filter height",        \
                       "filter width", "stride", "pad", "groups"},                                 \
        .axis_names = "output pixels, filters, channels, filter area",                             \
        .parameters = PARAMETERS(__VA_ARGS__),                                                     \
        .n_starts = 4,                                                                             \
        .fp32_pull = PULL,                                                                         \
        .last_if_absent = 1,                                                                       \
        .has_noisy_launch = true,                                                                  \
        .prepare = prepare,                                                                        \
        .time_s = time_s,                                                                          \
        .least_s = least_s,                                                                        \
        .is_like_measured = is_like_measured,                                                      \
        .coordinates = coordinates,                                                                \
        .sizes = sizes,                                                                            \
    }

CLASS(fr__curve_conv_forward, "conv-forward", .4, 1.7e-5, .84, 4, .76, 1.2e-6, .65, .45, .3);
CLASS(fr__curve_conv_backward_data, "conv-backward-data", .4, 1.1e-5, .83, 9, .75, 2.2e-6, .68, .4,
      .3);
CLASS(fr__curve_conv_backward_filter, "conv-backward-filter", 0, 1.9e-5, .76, 9, .45, 9e-6, .5, .7,
      .1);
