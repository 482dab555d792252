/* calibrate/curves/class.c - the table of classes of curves; a new class is a file and a row. */
#include "config.h"

#include "calibrate/curves/class.h"

#include <stdio.h>
#include <string.h>

static const struct fr__curve_class *const classes[FR_N_CURVE_CLASSES] = {
    [FR_CURVE_MATMUL] = &fr__curve_matmul,
    [FR_CURVE_CONV_FORWARD] = &fr__curve_conv_forward,
    [FR_CURVE_CONV_BACKWARD_DATA] = &fr__curve_conv_backward_data,
    [FR_CURVE_CONV_BACKWARD_FILTER] = &fr__curve_conv_backward_filter,
    [FR_CURVE_ELEMENTWISE] = &fr__curve_elementwise,
    [FR_CURVE_SOFTMAX] = &fr__curve_softmax,
    [FR_CURVE_LAYERNORM] = &fr__curve_layernorm,
    [FR_CURVE_EMBEDDING] = &fr__curve_embedding,
    [FR_CURVE_ATTENTION] = &fr__curve_attention,
    [FR_CURVE_ATTENTION_BACKWARD] = &fr__curve_attention_backward,
    [FR_CURVE_SOFTMAX_BACKWARD] = &fr__curve_softmax_backward,
    [FR_CURVE_LAYERNORM_BACKWARD] = &fr__curve_layernorm_backward,
    [FR_CURVE_BATCHNORM] = &fr__curve_batchnorm,
    [FR_CURVE_BATCHNORM_BACKWARD] = &fr__curve_batchnorm_backward,
    [FR_CURVE_POOLING] = &fr__curve_pooling,
    [FR_CURVE_POOLING_BACKWARD] = &fr__curve_pooling_backward,
    [FR_CURVE_DROPOUT] = &fr__curve_dropout,
    [FR_CURVE_REDUCTION] = &fr__curve_reduction,
    [FR_CURVE_TRANSPOSE] = &fr__curve_transpose,
    [FR_CURVE_EMBEDDING_BACKWARD] = &fr__curve_embedding_backward,
    [FR_CURVE_OPTIMIZER] = &fr__curve_optimizer,
};

const struct fr__curve_class *fr__curve_class_of(enum fr_curve_class c)
{
    return (unsigned)c < FR_N_CURVE_CLASSES ? classes[c] : NULL;
}

enum fr_curve_class fr__curve_class_parse(const char *name)
{
    unsigned i = 0;

    while (i < FR_N_CURVE_CLASSES && !(classes[i] && strcmp(classes[i]->name, name) == 0))
        i++;
    return (enum fr_curve_class)i;
}

const char *fr_curve_class_name(enum fr_curve_class c)
{
    const struct fr__curve_class *known = fr__curve_class_of(c);

    return known ? known->name : "unknown";
}

const char *fr_curve_parameter_name(enum fr_curve_class c, size_t i)
{
    const struct fr__curve_class *known = fr__curve_class_of(c);

    return known && i < FR_CURVE_PARAMETERS ? known->parameters[i].name : NULL;
}

const char *fr_kernel_shape_format(const struct fr_kernel_shape *shape, char *text, size_t n)
{
    const struct fr__curve_class *known = fr__curve_class_of(shape->op_class);
    double sizes[FR__CURVE_SIZES];
    size_t used = 0;

    if (n > 0)
        text[0] = '\0';
    if (!known)
        return text;
    known->sizes(shape, sizes);
    for (size_t i = 0; known->size_names[i] && used < n; i++)
        used += (size_t)snprintf(text + used, n - used, "%s%.0f", i ? " x " : "", sizes[i]);
    for (size_t i = 0; known->size_names[i] && used < n; i++)
        used +=
            (size_t)snprintf(text + used, n - used, "%s%s", i ? ", " : " (", known->size_names[i]);
    if (used < n)
        snprintf(text + used, n - used, ")");
    return text;
}
