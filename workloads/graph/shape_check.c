/* workloads/graph/shape_check.c - which shapes an op may have. Neither files nor callers are
 * trusted. */
#include "config.h"

#include "workloads/graph/shape.h"

#include "base/error.h"
#include "workloads/graph/builder.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

struct reason {
    char *text;
    size_t n;
};

static bool because(const struct reason *r, const char *fmt, ...) FR_PRINTF(2, 3);

/* Writes why a shape is refused; always false. */
static bool because(const struct reason *r, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(r->text, r->n, fmt, ap);
    va_end(ap);
    return false;
}

static uint64_t most_of(enum fr__size_type type)
{
    switch (type) {
    case FR__SIZE_FLAG:
        return 1;
    case FR__SIZE_OPERAND:
        return FR_N_OPERANDS - 1;
    default:
        return FR__MAX_BYTES;
    }
}

static bool are_sizes_in_range(const struct fr_shape *shape, const struct reason *r)
{
    for (const struct fr__size *s = fr__shape_sizes(shape->of); s->name; s++) {
        uint64_t value = fr__size_get(shape, s), most = most_of(s->type);

        if (value < s->least || value > most)
            return because(r, "'%s' is %" PRIu64 ", not %" PRIu64 " to %" PRIu64, s->name, value,
                           s->least, most);
    }
    return true;
}

/* How windows lie along one side of an image. */
struct windows {
    const char *side; /* "height" */
    uint64_t in, out, filter, stride, pad, dilation;
};

/* The last window begins inside the padded image. Where padding is not the same on both sides, or
 * the number of windows is rounded up, the last one may end up to a stride beyond it. */
static bool do_windows_fit(const struct windows *w, const struct reason *r)
{
    double reach = (double)(w->out - 1) * (double)w->stride +
                   (double)(w->filter - 1) * (double)w->dilation + 1;

    if (reach > (double)w->in + 2 * (double)w->pad + (double)w->stride)
        return because(r,
                       "%" PRIu64 " windows of %" PRIu64 " in steps of %" PRIu64
                       " do not fit a %s of %" PRIu64 " padded by %" PRIu64,
                       w->out, w->filter, w->stride, w->side, w->in, w->pad);
    return true;
}

static bool is_conv_sound(const struct fr_shape *s, const struct reason *r)
{
    const struct windows height = {"height",
                                   s->conv.in_height,
                                   s->conv.out_height,
                                   s->conv.filter_height,
                                   s->conv.stride_height,
                                   s->conv.pad_height,
                                   s->conv.dilation_height};
    const struct windows width = {"width",
                                  s->conv.in_width,
                                  s->conv.out_width,
                                  s->conv.filter_width,
                                  s->conv.stride_width,
                                  s->conv.pad_width,
                                  s->conv.dilation_width};

    if (s->conv.in_channels % s->conv.groups || s->conv.out_channels % s->conv.groups)
        return because(r, "%" PRIu64 " groups do not divide %" PRIu64 " and %" PRIu64 " channels",
                       s->conv.groups, s->conv.in_channels, s->conv.out_channels);
    return do_windows_fit(&height, r) && do_windows_fit(&width, r);
}

static bool is_class_sound(const struct fr_op *op, const struct reason *r)
{
    const struct fr_shape *s = &op->shape;

    switch (s->of) {
    case FR_SHAPE_CONV:
        return is_conv_sound(s, r);
    case FR_SHAPE_ATTENTION:
        if (s->attention.heads % s->attention.kv_heads)
            return because(r, "%" PRIu64 " kv_heads do not divide %" PRIu64 " heads",
                           s->attention.kv_heads, s->attention.heads);
        return true;
    case FR_SHAPE_PRODUCT:
        if (op->phase == FR_PHASE_FORWARD && s->product.gradient_of != FR_OPERAND_NONE)
            return because(r, "a forward op is no gradient, but 'gradient_of' is %s",
                           fr__operand_name(s->product.gradient_of));
        return true;
    default:
        return true;
    }
}

bool fr__shape_is_sound(const struct fr_op *op, char why[], size_t n)
{
    const struct reason r = {why, n};
    enum fr_shape_class want = fr_shape_class_of(op->kind);

    if (op->shape.of == FR_SHAPE_UNKNOWN)
        return true;
    if (op->shape.of != want)
        return because(&r, "a shape of class %s is not that of kind '%s'",
                       fr_shape_class_name(op->shape.of), fr_op_kind_name(op->kind));
    if (!are_sizes_in_range(&op->shape, &r) || !is_class_sound(op, &r))
        return false;
    if (fr_op_shape_flops(op) > FR__MAX_FLOPS || fr__shape_output_elements(op) > FR__MAX_FLOPS)
        return because(&r, "the sizes make over %g flops or elements", FR__MAX_FLOPS);
    return true;
}

bool fr__shape_fits_flops(const struct fr_op *op)
{
    double want = fr_op_shape_flops(op);

    return !(want > 0 && op->flops > 0) || fabs(op->flops - want) <= 0.01 * want;
}
