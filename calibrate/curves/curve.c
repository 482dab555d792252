/* calibrate/curves/curve.c - makes curves ready for use and evaluates them, and holds the curves of
 * one device. */
#include "config.h"

#include "calibrate/curves/curve.h"

#include "base/arena.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double fr__peak_flops_per_s(const struct fr_device_type *type, enum fr_dtype dtype)
{
    return type->flops_per_s[dtype];
}

/* ---- one curve ---- */

void fr__curve_prepare(struct fr__curve *c)
{
    fr__curve_class_of(c->info.op_class)
        ->prepare(&c->model, &c->machine, c->info.dtype, c->info.parameters);
}

double fr__curve_model_s(const struct fr__curve *c, const struct fr_kernel_shape *s)
{
    return fr__curve_class_of(c->info.op_class)->time_s(&c->model, s);
}

double fr__curve_residual(const struct fr__curve *c, const struct fr_kernel_shape *s)
{
    const struct fr__curve_class *op_class = fr__curve_class_of(c->info.op_class);
    double axes[FR__RESIDUAL_AXES], features[FR__TREES_FEATURES];

    if (op_class->is_like_measured && c->residual.n_values > 0 &&
        !op_class->is_like_measured(&c->residual, s))
        return 0;
    if (c->trees.n > 0) {
        op_class->features(&c->machine, c->info.dtype, s, features);
        return fr__trees_at(&c->trees, features);
    }
    op_class->coordinates(s, axes);
    return fr__residual_at(&c->residual, axes);
}

double fr__curve_least_s(const struct fr__curve *c, const struct fr_kernel_shape *s)
{
    const struct fr__curve_class *op_class = fr__curve_class_of(c->info.op_class);

    return op_class->least_s ? op_class->least_s(&c->model, s) : 0;
}

/* ---- the curves of a device ---- */

struct fr_calibration *fr__calibration_new(const char *device)
{
    struct fr_calibration *c = calloc(1, sizeof(*c));

    if (c)
        snprintf(c->device, sizeof(c->device), "%s", device);
    return c;
}

struct fr__curve *fr__calibration_add(struct fr_calibration *c)
{
    struct fr__curve *curve;

    if (!fr__grow(&c->curves, &c->cap, c->n_curves + 1, sizeof(*c->curves)))
        return NULL;
    curve = calloc(1, sizeof(*curve));
    if (!curve)
        return NULL;
    curve->info.gpus = curve->gpus;
    curve->info.source = curve->source;
    c->curves[c->n_curves++] = curve;
    return curve;
}

void fr_calibration_free(struct fr_calibration *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->n_curves; i++) {
        fr__residual_fini(&c->curves[i]->residual);
        fr__trees_fini(&c->curves[i]->trees);
        free(c->curves[i]);
    }
    free(c->curves);
    free(c->slowdowns);
    free(c->launches);
    free(c);
}

void fr__calibration_take(struct fr_calibration *c, struct fr__slowdowns *s, struct fr__launches *l)
{
    c->slowdowns = s;
    c->launches = l;
    if (s) {
        s->info.gpus = s->gpus;
        s->info.source = s->source;
    }
    if (l) {
        l->info.gpus = l->gpus;
        l->info.source = l->source;
    }
}

const struct fr_slowdowns *fr_calibration_slowdowns(const struct fr_calibration *c)
{
    return c->slowdowns ? &c->slowdowns->info : NULL;
}

const struct fr_launches *fr_calibration_launches(const struct fr_calibration *c)
{
    return c->launches ? &c->launches->info : NULL;
}

const char *fr_calibration_device(const struct fr_calibration *c)
{
    return c->device;
}

const struct fr_curve_info *fr_calibration_curve(const struct fr_calibration *c, size_t i)
{
    return i < c->n_curves ? &c->curves[i]->info : NULL;
}

size_t fr_calibration_find(const struct fr_calibration *c, enum fr_curve_class op_class,
                           enum fr_dtype dtype)
{
    for (size_t i = 0; i < c->n_curves; i++)
        if (c->curves[i]->info.op_class == op_class && c->curves[i]->info.dtype == dtype)
            return i;
    return SIZE_MAX;
}

double fr_calibration_time_s(const struct fr_calibration *c, size_t i,
                             const struct fr_kernel_shape *shape)
{
    const struct fr__curve *curve = c->curves[i];

    return fmax(fr__curve_model_s(curve, shape) * exp(fr__curve_residual(curve, shape)),
                fr__curve_least_s(curve, shape));
}

double fr_calibration_form_s(const struct fr_calibration *c, size_t i,
                             const struct fr_kernel_shape *shape)
{
    return fr__curve_model_s(c->curves[i], shape);
}
