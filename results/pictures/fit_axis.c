/* results/pictures/fit_axis.c - the sizes along which rows of a kernel are compared, and its work.
 *
 * It is separate because it holds what differs from class to class of kernels.
 */
#include "config.h"

#include "results/pictures/fit_axis.h"

#include "base/dtype.h"
#include "calibrate/curves/class.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const struct axis {
    enum fr_curve_class op_class;
    size_t offset; /* of a double in struct fr_kernel_shape */
    const char *name;
} axes[] = {
    {FR_CURVE_MATMUL, offsetof(struct fr_kernel_shape, matmul.rows), "rows"},
    {FR_CURVE_MATMUL, offsetof(struct fr_kernel_shape, matmul.columns), "columns"},
    {FR_CURVE_MATMUL, offsetof(struct fr_kernel_shape, matmul.depth), "depth"},
    {FR_CURVE_MATMUL, offsetof(struct fr_kernel_shape, matmul.batch), "products in the batch"},
    {FR_CURVE_CONV_FORWARD, offsetof(struct fr_kernel_shape, conv.images), "images"},
    {FR_CURVE_CONV_BACKWARD_DATA, offsetof(struct fr_kernel_shape, conv.images), "images"},
    {FR_CURVE_CONV_BACKWARD_FILTER, offsetof(struct fr_kernel_shape, conv.images), "images"},
    {FR_CURVE_ELEMENTWISE, offsetof(struct fr_kernel_shape, memory.bytes),
     "bytes read and written"},
    {FR_CURVE_SOFTMAX, offsetof(struct fr_kernel_shape, rows.columns), "columns"},
    {FR_CURVE_SOFTMAX, offsetof(struct fr_kernel_shape, rows.rows), "rows"},
    {FR_CURVE_BATCHNORM, offsetof(struct fr_kernel_shape, batchnorm.values), "values a channel"},
    {FR_CURVE_BATCHNORM, offsetof(struct fr_kernel_shape, batchnorm.channels), "channels"},
    {FR_CURVE_ATTENTION, offsetof(struct fr_kernel_shape, attention.seq), "sequence length"},
};

/* The class that says what sizes a class's shapes have. */
static enum fr_curve_class kin_of(enum fr_curve_class c)
{
    switch (c) {
    case FR_CURVE_LAYERNORM:
    case FR_CURVE_SOFTMAX_BACKWARD:
    case FR_CURVE_LAYERNORM_BACKWARD:
        return FR_CURVE_SOFTMAX;
    case FR_CURVE_BATCHNORM_BACKWARD:
        return FR_CURVE_BATCHNORM;
    case FR_CURVE_ATTENTION_BACKWARD:
        return FR_CURVE_ATTENTION;
    case FR_CURVE_EMBEDDING:
    case FR_CURVE_EMBEDDING_BACKWARD:
    case FR_CURVE_POOLING:
    case FR_CURVE_POOLING_BACKWARD:
    case FR_CURVE_DROPOUT:
    case FR_CURVE_REDUCTION:
    case FR_CURVE_TRANSPOSE:
    case FR_CURVE_OPTIMIZER:
        return FR_CURVE_ELEMENTWISE;
    default:
        return c;
    }
}

double *fr__fit_axis(struct fr_kernel_shape *s, unsigned axis, const char **name)
{
    for (size_t i = 0; i < sizeof(axes) / sizeof(axes[0]); i++)
        if (axes[i].op_class == kin_of(s->op_class) && axis-- == 0) {
            if (name)
                *name = axes[i].name;
            return (double *)(void *)((char *)s + axes[i].offset);
        }
    return NULL;
}

/* Output pixels a side: M. "conv.pad" on both sides. */
static double outputs(double inputs, double filter, double pad, double stride)
{
    return fmax(floor((inputs + 2 * pad - filter) / stride) + 1, 1);
}

static double passes_of(enum fr_curve_class c)
{
    bool is_forward = c == FR_CURVE_SOFTMAX || c == FR_CURVE_LAYERNORM || c == FR_CURVE_BATCHNORM;

    return is_forward ? FR__ROWS_FORWARD_PASSES : FR__ROWS_BACKWARD_PASSES;
}

double fr__fit_work(const struct fr_kernel_shape *s, enum fr_dtype dtype)
{
    double is_backward = s->op_class == FR_CURVE_ATTENTION_BACKWARD ? 2.5 : 1;

    switch (kin_of(s->op_class)) {
    case FR_CURVE_MATMUL:
        return 2 * s->matmul.batch * s->matmul.rows * s->matmul.columns * s->matmul.depth;
    case FR_CURVE_CONV_FORWARD:
    case FR_CURVE_CONV_BACKWARD_DATA:
    case FR_CURVE_CONV_BACKWARD_FILTER:
        return 2 * s->conv.images * s->conv.out_channels * s->conv.in_channels / s->conv.groups *
               s->conv.kernel_height * s->conv.kernel_width *
               outputs(s->conv.height, s->conv.kernel_height, s->conv.pad, s->conv.stride) *
               outputs(s->conv.width, s->conv.kernel_width, s->conv.pad, s->conv.stride);
    case FR_CURVE_SOFTMAX:
        return passes_of(s->op_class) * s->rows.rows * s->rows.columns * fr__dtype_bytes(dtype);
    case FR_CURVE_BATCHNORM:
        return passes_of(s->op_class) * s->batchnorm.channels * s->batchnorm.values *
               fr__dtype_bytes(dtype);
    case FR_CURVE_ATTENTION:
        return is_backward * (s->attention.is_causal ? 2 : 4) * s->attention.batch *
               s->attention.heads * s->attention.seq * s->attention.seq * s->attention.head_dim;
    default:
        return s->memory.bytes;
    }
}

bool fr__fit_is_arithmetic(enum fr_curve_class c)
{
    return c == FR_CURVE_MATMUL || c == FR_CURVE_CONV_FORWARD || c == FR_CURVE_CONV_BACKWARD_DATA ||
           c == FR_CURVE_CONV_BACKWARD_FILTER || kin_of(c) == FR_CURVE_ATTENTION;
}

static bool is_wrapped(const struct fr_kernel_shape *s)
{
    return s->op_class == FR_CURVE_ELEMENTWISE && s->memory.is_wrapped;
}

int fr__fit_compare(const struct fr_kernel_shape *a, const struct fr_kernel_shape *b)
{
    const struct fr__curve_class *c = fr__curve_class_of(a->op_class);
    double x[FR__CURVE_SIZES] = {0}, y[FR__CURVE_SIZES] = {0};

    c->sizes(a, x);
    c->sizes(b, y);
    for (size_t i = 0; c->size_names[i]; i++)
        if (x[i] < y[i] || x[i] > y[i])
            return x[i] < y[i] ? -1 : 1;
    return (int)is_wrapped(a) - (int)is_wrapped(b);
}

const char *fr__fit_label(const struct fr_kernel_shape *s, unsigned axis, char *text, size_t n)
{
    const struct fr__curve_class *c = fr__curve_class_of(s->op_class);
    struct fr_kernel_shape other = *s;
    double *varied = fr__fit_axis(&other, axis, NULL);
    double x[FR__CURVE_SIZES] = {0}, y[FR__CURVE_SIZES] = {0};
    size_t used = 0;

    *varied += 1; /* what differs between the sizes of both is the axis */
    c->sizes(s, x);
    c->sizes(&other, y);
    text[0] = '\0';
    for (size_t i = 0; c->size_names[i] && used < n; i++)
        if (!(x[i] < y[i]) && strcmp(c->size_names[i], "causal") != 0)
            used += (size_t)snprintf(text + used, n - used, "%s%s %.0f", used ? ", " : "",
                                     c->size_names[i], x[i]);
    if (kin_of(s->op_class) == FR_CURVE_ATTENTION && used < n)
        snprintf(text + used, n - used, "%s", s->attention.is_causal ? ", causal" : "");
    if (used == 0)
        snprintf(text, n, "%s", is_wrapped(s) ? "wrapped by a function" : "plain");
    return text;
}
