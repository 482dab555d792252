/* calibrate/cost/transposes.c - which convolutions are transposed; see layout.h. */
#include "config.h"

#include "calibrate/cost/transposes.h"

#include "base/dtype.h"

#include <math.h>
#include <string.h>

enum { OPERANDS_AND_RESULT = 3, ROW_BYTES = 16, BLOCK_CHANNELS = 32 };

/* What a block of 32 channels of a filter costs to transpose, in bytes of a full block: 2.0 to 2.7
 * ns, where one of 32 pixels and 8 KB takes 5.4 (layout.h). */
static const double FILTER_BLOCK_BYTES = 3.5e3;

bool fr__layout_is_narrow(const struct fr__kernel *kernel)
{
    return fmod(kernel->shape.conv.in_channels, 8) > 0;
}

/* Whether it is a product of images as they lie: a 1 x 1 filter, and channels that begin where
 * matrix units can load. */
static bool is_product(const struct fr_kernel_shape *s, double element_bytes)
{
    return s->conv.kernel_height * s->conv.kernel_width <= 1 && s->conv.stride <= 1 &&
           !(fmod(s->conv.out_height * s->conv.out_width * element_bytes, ROW_BYTES) > 0);
}

double fr__layout_bytes(const struct fr__kernel *kernel, enum fr_dtype dtype)
{
    return dtype == FR_FP32 || is_product(&kernel->shape, fr__dtype_bytes(dtype)) ||
                   fr__layout_is_narrow(kernel)
               ? 0
               : 2 * kernel->bytes;
}

double fr__layout_slow_bytes(const struct fr__kernel *kernel, enum fr_dtype dtype)
{
    const struct fr_kernel_shape *s = &kernel->shape;
    double channels = s->conv.in_channels / fmax(s->conv.groups, 1);
    double blocks = s->conv.out_channels * ceil(channels / BLOCK_CHANNELS);
    double moved = 2 * s->conv.out_channels * channels * s->conv.kernel_height *
                   s->conv.kernel_width * fr__dtype_bytes(dtype);

    return fr__layout_bytes(kernel, dtype) > 0 ? fmax(blocks * FILTER_BLOCK_BYTES - moved, 0) : 0;
}

/* Whether the times that a curve was fitted to hold transposes. */
static bool rows_are_turned(enum fr_dtype dtype, const struct fr__known *k)
{
    if (!k->curve)
        return false;
    return dtype == FR_TF32 ? k->is_users : strstr(k->curve->source, "DeepBench") != NULL;
}

int fr__layout_change(enum fr_image_layout layout, enum fr_dtype dtype, const struct fr__known *k)
{
    int has = rows_are_turned(dtype, k);
    int wanted = layout == FR_LAYOUT_DEFAULT ? dtype == FR_TF32 || has : layout == FR_LAYOUT_NCHW;

    return wanted - has;
}

void fr_layout_effect_of(const struct fr_graph *g, struct fr_layout_effect *out)
{
    const struct fr_part all = {.batch = g->batch};
    enum fr_dtype dtype = g->dtype == FR_AMP ? FR_FP16 : g->dtype;

    *out = (struct fr_layout_effect){.bytes = 0};
    for (uint32_t o = 0; o < g->n_ops; o++) {
        struct fr__kernel kernel;
        double bytes;

        if (g->ops[o].kind != FR_OP_CONV2D)
            continue;
        fr__kernel_of(g, o, &all, &kernel);
        if (!kernel.has_shape)
            continue;
        bytes = fr__layout_bytes(&kernel, dtype);
        out->n_convolutions++;
        out->n_transposes += bytes > 0 ? OPERANDS_AND_RESULT : 0;
        out->bytes += bytes;
    }
}
