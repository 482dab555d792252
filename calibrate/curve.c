/* calibrate/curve.c - see curve.h. */
#include "config.h"

#include "calibrate/curve.h"

#include "base/arena.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *fr_curve_class_name(enum fr_curve_class c)
{
    return c == FR_CURVE_MATMUL ? "matmul" : "unknown";
}

const char *fr_curve_parameter_name(enum fr_curve_class c, size_t i)
{
    static const char *const names[FR__MATMUL_N_PARAMETERS] = {
        [FR__MATMUL_LAUNCH_S] = "launch_s",
        [FR__MATMUL_EFFICIENCY] = "efficiency",
        [FR__MATMUL_HALF_INTENSITY] = "half_intensity",
        [FR__MATMUL_MEMORY_FRAC] = "memory_frac",
        [FR__MATMUL_BLOCK_S] = "block_s",
        [FR__MATMUL_SHARPNESS] = "sharpness",
    };

    return c == FR_CURVE_MATMUL && i < FR__MATMUL_N_PARAMETERS ? names[i] : NULL;
}

double fr__peak_flops_per_s(const struct fr_device_type *type, enum fr_dtype dtype)
{
    return type->flops_per_s[dtype];
}

/* ---- one curve ---- */

static double element_bytes(enum fr_dtype dtype)
{
    return dtype == FR_FP8 ? 1 : dtype == FR_FP16 || dtype == FR_BF16 ? 2 : 4;
}

void fr__curve_prepare(struct fr__curve *c)
{
    double in_bytes = element_bytes(c->info.dtype);

    /* products of 8-bit numbers leave in 16 bits */
    fr__matmul_init(&c->model, &c->machine, c->info.parameters, in_bytes, fmax(in_bytes, 2));
}

double fr__curve_model_s(const struct fr__curve *c, const struct fr_shape *s)
{
    return fr__matmul_s(&c->model, fmax(s->batch, 1), fmax(s->rows, 1), fmax(s->columns, 1),
                        fmax(s->depth, 1));
}

void fr__curve_coordinates(const struct fr_shape *s, double x[FR__RESIDUAL_AXES])
{
    x[0] = log2(fmax(s->rows, 1));
    x[1] = log2(fmax(s->columns, 1));
    x[2] = log2(fmax(s->depth, 1));
    x[3] = log2(fmax(s->batch, 1));
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
        free(c->curves[i]);
    }
    free(c->curves);
    free(c);
}

const char *fr_calibration_device(const struct fr_calibration *c)
{
    return c->device;
}

const struct fr_curve_info *fr_calibration_curve(const struct fr_calibration *c, size_t i)
{
    return i < c->n_curves ? &c->curves[i]->info : NULL;
}

double fr_calibration_time_s(const struct fr_calibration *c, size_t i, const struct fr_shape *shape)
{
    const struct fr__curve *curve = c->curves[i];
    double x[FR__RESIDUAL_AXES];

    fr__curve_coordinates(shape, x);
    return fr__curve_model_s(curve, shape) * exp(fr__residual_at(&curve->residual, x));
}
