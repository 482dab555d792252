/* calibrate/curves/class.h - a class of cost curves: a model with parameters, and the axes of its
 * residuals.
 *
 * Each class has a file of its own (calibrate/curves/<class>.c) and a row in class.c. The readers
 * in calibrate/fit/read/ say which measured kernels belong to which class.
 */
#ifndef FR_CALIBRATE_CURVES_CLASS_H
#define FR_CALIBRATE_CURVES_CLASS_H

#include "calibrate/calibrate.h"
#include "calibrate/curves/attention.h"
#include "calibrate/curves/conv.h"
#include "calibrate/curves/matmul.h"
#include "calibrate/curves/memory.h"
#include "calibrate/curves/rows.h"
#include "calibrate/curves/machine.h"
#include "calibrate/curves/residual.h"
#include "calibrate/curves/trees.h"

enum { FR__CURVE_STARTS = 4, FR__CURVE_SIZES = 10 };

struct fr__curve_parameter {
    const char *name; /* as in device files; NULL: no more */
    double low, high; /* range for a fit, > 0 */
    double starts[FR__CURVE_STARTS];
};

/* The model of a class, with its parameters, ready to be evaluated. */
union fr__model {
    struct fr__matmul matmul;
    struct fr__conv conv;
    struct fr__attention attention;
    struct fr__stream stream;
    struct fr__rows rows;
};

struct fr__curve_class {
    const char *name;
    const char *size_names[FR__CURVE_SIZES + 1]; /* of `sizes`; ends with NULL */
    const char *axis_names;                      /* what `coordinates` are the log2 of */
    struct fr__curve_parameter
        parameters[FR_CURVE_PARAMETERS + 1]; /* the first: launch_s or call_s */
    unsigned n_starts;
    /* The last parameter, in device files of before there was it; 0: it has to be there. */
    double last_if_absent;
    bool has_noisy_launch; /* measured times vary so much that a fit would count all of them as
                           * launch */
    /* In fp32 the fit adds this / rows * sum of ln(parameter / first start)^2 to the mean miss, so
     * that what few rows leave open stays plausible. With errors whose mean absolute logarithm is b
     * it is b / 2 over the variance of ln(parameter) among devices (a maximum a posteriori).
     * 0: none. */
    double fp32_pull;
    void (*prepare)(union fr__model *model, const struct fr__machine *machine, enum fr_dtype dtype,
                    const double parameters[]);
    /* Seconds, finite and >= 0 for finite sizes; sizes below 1 count as 1. No more than 1 us. */
    double (*time_s)(const union fr__model *model, const struct fr_kernel_shape *shape);
    /* The part of it in which the device works, without the launch and the host. NULL: time_s less
     * the first parameter. */
    double (*work_s)(const union fr__model *model, const struct fr_kernel_shape *shape);
    /* No kernel of this shape is faster, residual included. NULL: no such bound. */
    double (*least_s)(const union fr__model *model, const struct fr_kernel_shape *shape);
    /* Whether the residual holds for this shape. NULL: for all. */
    bool (*is_like_measured)(const struct fr__residual *r, const struct fr_kernel_shape *shape);
    /* Position on the axes of the residual; 0 on an axis that the class does not use. */
    void (*coordinates)(const struct fr_kernel_shape *shape, double x[FR__RESIDUAL_AXES]);
    /* Features that the trees of residuals may ask about: finite numbers. Names have no commas and
     * spaces, and end with NULL. A class without features has a grid only. */
    const char *feature_names[FR__TREES_FEATURES + 1];
    void (*features)(const struct fr__machine *machine, enum fr_dtype dtype,
                     const struct fr_kernel_shape *shape, double x[FR__TREES_FEATURES]);
    /* The sizes, whole numbers. Measured rows that agree in all of them are held out together. */
    void (*sizes)(const struct fr_kernel_shape *shape, double out[FR__CURVE_SIZES]);
};

extern const struct fr__curve_class fr__curve_matmul, fr__curve_conv_forward,
    fr__curve_conv_backward_data, fr__curve_conv_backward_filter, fr__curve_elementwise,
    fr__curve_softmax, fr__curve_layernorm, fr__curve_embedding, fr__curve_attention,
    fr__curve_attention_backward, fr__curve_softmax_backward, fr__curve_layernorm_backward,
    fr__curve_batchnorm, fr__curve_batchnorm_backward, fr__curve_pooling,
    fr__curve_pooling_backward, fr__curve_dropout, fr__curve_reduction, fr__curve_transpose,
    fr__curve_embedding_backward, fr__curve_optimizer;

/* NULL: no such class, or it has no curves yet. */
const struct fr__curve_class *fr__curve_class_of(enum fr_curve_class c);
enum fr_curve_class fr__curve_class_parse(const char *name); /* FR_N_CURVE_CLASSES: no such */

#endif
