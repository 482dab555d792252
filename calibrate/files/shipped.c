/* calibrate/files/shipped.c - finds the compiled-in device and system files by name and makes
 * calibrations from their tables. */
#include "config.h"

#include "calibrate/files/shipped.h"

#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>

const char *fr_calibration_shipped(size_t i)
{
    return i < fr__n_shipped_devices ? fr__shipped_devices[i].name : NULL;
}

static enum fr_status take_curve(struct fr_calibration *c, const struct fr__shipped_curve *from,
                                 struct fr_error *err)
{
    struct fr__curve *curve = fr__calibration_add(c);

    if (!curve)
        return fr__fail_nomem(err);
    snprintf(curve->gpus, sizeof(curve->gpus), "%s", from->info.gpus);
    snprintf(curve->source, sizeof(curve->source), "%s", from->info.source);
    curve->info = from->info;
    curve->info.gpus = curve->gpus;
    curve->info.source = curve->source;
    curve->machine = from->machine;
    curve->residual = from->residual;
    curve->trees = from->trees;
    fr__curve_prepare(curve);
    return FR_OK;
}

static enum fr_status take_launches(struct fr__launches **out, const struct fr_launches *from,
                                    struct fr_error *err)
{
    struct fr__launches *l = malloc(sizeof(*l));

    if (!l)
        return fr__fail_nomem(err);
    l->info = *from;
    snprintf(l->gpus, sizeof(l->gpus), "%s", from->gpus);
    snprintf(l->source, sizeof(l->source), "%s", from->source);
    *out = l;
    return FR_OK;
}

static enum fr_status take_slowdowns(struct fr__slowdowns **out, const struct fr_slowdowns *from,
                                     struct fr_error *err)
{
    struct fr__slowdowns *s = malloc(sizeof(*s));

    if (!s)
        return fr__fail_nomem(err);
    s->info = *from;
    for (unsigned i = 0; i < FR_N_BESIDE * FR_N_BESIDE; i++)
        if (s->info.of[i / FR_N_BESIDE][i % FR_N_BESIDE].n_fitted == 0)
            s->info.of[i / FR_N_BESIDE][i % FR_N_BESIDE].factor = 1;
    snprintf(s->gpus, sizeof(s->gpus), "%s", from->gpus);
    snprintf(s->source, sizeof(s->source), "%s", from->source);
    *out = s;
    return FR_OK;
}

enum fr_status fr__shipped_take(struct fr_calibration **out, size_t i, struct fr_error *err)
{
    const struct fr__shipped_device *from = &fr__shipped_devices[i];
    struct fr_calibration *c = fr__calibration_new(from->device);
    struct fr__slowdowns *slowdowns = NULL;
    struct fr__launches *launches = NULL;
    enum fr_status st = c ? FR_OK : fr__fail_nomem(err);

    for (size_t k = 0; st == FR_OK && k < from->n_curves; k++)
        st = take_curve(c, &from->curves[k], err);
    if (st == FR_OK && from->slowdowns)
        st = take_slowdowns(&slowdowns, from->slowdowns, err);
    if (st == FR_OK && from->launches)
        st = take_launches(&launches, from->launches, err);
    if (c)
        fr__calibration_take(c, slowdowns, launches);
    if (st == FR_OK)
        *out = c;
    else
        fr_calibration_free(c);
    return st;
}
