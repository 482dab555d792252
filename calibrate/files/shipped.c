/* calibrate/files/shipped.c - finds the compiled-in device and system files by name and makes
 * calibrations from their tables. */
#include "config.h"

#include "calibrate/files/shipped.h"

#include "base/error.h"
#include "base/file.h"
#include "calibrate/files/device_file.h"
#include "calibrate/messages/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 16 << 20 };

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
    snprintf(s->gpus, sizeof(s->gpus), "%s", from->gpus);
    snprintf(s->source, sizeof(s->source), "%s", from->source);
    *out = s;
    return FR_OK;
}

/* The calibration of shipped device file i; grids and trees stay in the tables. FR_ENOMEM. */
static enum fr_status shipped_take(struct fr_calibration **out, size_t i, struct fr_error *err)
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

static enum fr_status fail_unknown_device(const char *name, struct fr_error *err)
{
    const char *names[64];
    char hint[128];
    size_t n = 0;

    for (; n < 64 && fr_calibration_shipped(n); n++)
        names[n] = fr_calibration_shipped(n);
    return fr__fail(
        err, FR_ENOENT, FR_NOWHERE,
        "'%s' is no device file, neither shipped ('forerun calibrate show') nor a path%s", name,
        fr__did_you_mean(name, names, n, hint, sizeof(hint)));
}

enum fr_status fr_calibration_load(struct fr_calibration **out, const char *name_or_path,
                                   struct fr_error *err)
{
    char *text;
    size_t len;
    enum fr_status st;

    for (size_t i = 0; fr_calibration_shipped(i); i++)
        if (strcmp(fr_calibration_shipped(i), name_or_path) == 0)
            return shipped_take(out, i, err);
    if (!fr__exists(name_or_path))
        return fail_unknown_device(name_or_path, err);
    FR_TRY(fr__read_file(name_or_path, MOST_BYTES, &text, &len, err));
    st = fr__device_file_read(out, text, len, name_or_path, err);
    free(text);
    return st;
}

/* ---- systems ---- */

const char *fr_system_shipped(size_t i)
{
    return i < fr__n_shipped_systems ? fr__shipped_systems[i].name : NULL;
}

static enum fr_status fail_unknown_system(const char *name, struct fr_error *err)
{
    const char *names[64];
    char hint[128];
    size_t n = 0;

    for (; n < 64 && n < fr__n_shipped_systems; n++)
        names[n] = fr__shipped_systems[n].name;
    return fr__fail(err, FR_ENOENT, FR_NOWHERE,
                    "'%s' is no system, neither shipped ('forerun calibrate show') nor a path%s",
                    name, fr__did_you_mean(name, names, n, hint, sizeof(hint)));
}

static enum fr_status take_system(struct fr_system **out, const struct fr_system_info *info,
                                  struct fr_error *err)
{
    struct fr_system *s = malloc(sizeof(*s));

    if (!s)
        return fr__fail_nomem(err);
    s->info = *info;
    *out = s;
    return FR_OK;
}

enum fr_status fr_system_load(struct fr_system **out, const char *name_or_path,
                              struct fr_error *err)
{
    char *text;
    size_t len;
    enum fr_status st;

    for (size_t i = 0; i < fr__n_shipped_systems; i++)
        if (strcmp(fr__shipped_systems[i].name, name_or_path) == 0)
            return take_system(out, fr__shipped_systems[i].info, err);
    if (!fr__exists(name_or_path))
        return fail_unknown_system(name_or_path, err);
    FR_TRY(fr__read_file(name_or_path, MOST_BYTES, &text, &len, err));
    st = fr_system_read(out, text, len, name_or_path, err);
    free(text);
    return st;
}
