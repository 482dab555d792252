/* calibrate/curves/curve.h - a cost curve: seconds of one kernel from its shape, fitted to
 * measurements.
 *
 * t = model(shape; parameters) * exp(residual(shape)). The model describes the machine. The
 * residual, a grid or trees, describes what the library's choice of kernels adds. A curve does not
 * change after it was read or fitted.
 */
#ifndef FR_CALIBRATE_CURVES_CURVE_H
#define FR_CALIBRATE_CURVES_CURVE_H

#include "calibrate/calibrate.h"
#include "calibrate/curves/class.h"
#include "calibrate/curves/residual.h"
#include "calibrate/curves/trees.h"

enum { FR__CURVE_TEXT = 512 };

struct fr__curve {
    struct fr_curve_info info; /* its strings point into the arrays below */
    struct fr__machine machine;
    union fr__model model; /* computed from the machine and info's parameters */
    struct fr__residual residual;
    struct fr__trees trees; /* if there are any, they replace the grid */
    char gpus[FR__CURVE_TEXT], source[FR__CURVE_TEXT];
};

struct fr__slowdowns {
    struct fr_slowdowns info; /* its strings point into the arrays below */
    char gpus[FR__CURVE_TEXT], source[FR__CURVE_TEXT];
};

struct fr__launches {
    struct fr_launches info;
    char gpus[FR__CURVE_TEXT], source[FR__CURVE_TEXT];
};

/* A device has few curves, so an array on the heap is enough. */
struct fr_calibration {
    char device[FR__CURVE_TEXT];
    size_t n_curves, cap;
    struct fr__curve **curves;
    struct fr__slowdowns *slowdowns; /* NULL: not measured */
    struct fr__launches *launches;   /* NULL: not measured */
};

/* A new curve at the end, zeroed, all texts empty; NULL: out of memory. */
struct fr__curve *fr__calibration_add(struct fr_calibration *c);
/* Takes over what fits and readers made (NULL is allowed) and sets their strings. */
void fr__calibration_take(struct fr_calibration *c, struct fr__slowdowns *s,
                          struct fr__launches *l);
struct fr_calibration *fr__calibration_new(const char *device); /* NULL: out of memory */

/* Computes the model from info.parameters and machine. */
void fr__curve_prepare(struct fr__curve *c);
/* The model's time without the residual. */
double fr__curve_model_s(const struct fr__curve *c, const struct fr_kernel_shape *shape);
/* The residual: ln(time / model's time). */
double fr__curve_residual(const struct fr__curve *c, const struct fr_kernel_shape *shape);
/* No kernel of this shape is faster than that, whatever the residual says; 0: no such bound. */
double fr__curve_least_s(const struct fr__curve *c, const struct fr_kernel_shape *shape);
/* Peak rate of a device for a dtype, as the curves use it; 0: not known. */
double fr__peak_flops_per_s(const struct fr_device_type *type, enum fr_dtype dtype);
#endif
