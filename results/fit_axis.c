/* results/fit_axis.c - see fit_axis.h. */
#include "config.h"

#include "results/fit_axis.h"

#include "calibrate/curve_class.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const struct axis {
    enum fr_curve_class op_class;
    size_t offset; /* of a double in struct fr_shape */
    const char *name;
} axes[] = {
    {FR_CURVE_MATMUL, offsetof(struct fr_shape, matmul.rows), "rows"},
    {FR_CURVE_MATMUL, offsetof(struct fr_shape, matmul.columns), "columns"},
    {FR_CURVE_MATMUL, offsetof(struct fr_shape, matmul.depth), "depth"},
    {FR_CURVE_MATMUL, offsetof(struct fr_shape, matmul.batch), "products in the batch"},
    {FR_CURVE_CONV_FORWARD, offsetof(struct fr_shape, conv.images), "images"},
    {FR_CURVE_CONV_BACKWARD_DATA, offsetof(struct fr_shape, conv.images), "images"},
    {FR_CURVE_CONV_BACKWARD_FILTER, offsetof(struct fr_shape, conv.images), "images"},
    {FR_CURVE_ELEMENTWISE, offsetof(struct fr_shape, memory.bytes), "bytes read and written"},
    {FR_CURVE_EMBEDDING, offsetof(struct fr_shape, memory.bytes), "bytes read and written"},
    {FR_CURVE_SOFTMAX, offsetof(struct fr_shape, rows.columns), "columns"},
    {FR_CURVE_SOFTMAX, offsetof(struct fr_shape, rows.rows), "rows"},
    {FR_CURVE_LAYERNORM, offsetof(struct fr_shape, rows.columns), "columns"},
    {FR_CURVE_LAYERNORM, offsetof(struct fr_shape, rows.rows), "rows"},
    {FR_CURVE_ATTENTION, offsetof(struct fr_shape, attention.seq), "sequence length"},
};

double *fr__fit_axis(struct fr_shape *s, unsigned axis, const char **name)
{
    for (size_t i = 0; i < sizeof(axes) / sizeof(axes[0]); i++)
        if (axes[i].op_class == s->op_class && axis-- == 0) {
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

double fr__fit_work(const struct fr_shape *s, enum fr_dtype dtype)
{
    switch (s->op_class) {
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
    case FR_CURVE_LAYERNORM:
        return 2 * s->rows.rows * s->rows.columns * fr__element_bytes(dtype);
    case FR_CURVE_ATTENTION:
        return (s->attention.is_causal ? 2 : 4) * s->attention.batch * s->attention.heads *
               s->attention.seq * s->attention.seq * s->attention.head_dim;
    case FR_CURVE_ELEMENTWISE:
    case FR_CURVE_EMBEDDING:
    case FR_N_CURVE_CLASSES:
        break;
    }
    return s->memory.bytes;
}

bool fr__fit_is_arithmetic(enum fr_curve_class c)
{
    return c == FR_CURVE_MATMUL || c == FR_CURVE_CONV_FORWARD || c == FR_CURVE_CONV_BACKWARD_DATA ||
           c == FR_CURVE_CONV_BACKWARD_FILTER || c == FR_CURVE_ATTENTION;
}

static bool is_wrapped(const struct fr_shape *s)
{
    return s->op_class == FR_CURVE_ELEMENTWISE && s->memory.is_wrapped;
}

int fr__fit_compare(const struct fr_shape *a, const struct fr_shape *b)
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

const char *fr__fit_label(const struct fr_shape *s, unsigned axis, char *text, size_t n)
{
    const struct fr__curve_class *c = fr__curve_class_of(s->op_class);
    struct fr_shape other = *s;
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
    if (s->op_class == FR_CURVE_ATTENTION && used < n)
        snprintf(text + used, n - used, "%s", s->attention.is_causal ? ", causal" : "");
    if (used == 0)
        snprintf(text, n, "%s", is_wrapped(s) ? "wrapped by a function" : "plain");
    return text;
}
