/* calibrate/cost/move.c - the curves of one device, moved to another.
 *
 * Every parameter but the launch is a fraction of a figure of the data sheet (peak rate, memory
 * bandwidth, multiprocessors). So the other device's figures replace those of the measured one, and
 * the residuals stay. Boards of 70 to 75 W do not keep the clock of their peak rate (relatives.h).
 * `forerun calibrate check -d DEVICE --from MEASURED` says how large the error is on rows of DEVICE
 * (table in doc/calibration.md).
 *
 * Source:  the idea is Habitat's wave scaling (G. X. Yu et al., USENIX ATC 2021, section 3).
 */
#include "config.h"

#include "base/error.h"
#include "calibrate/curves/curve.h"
#include "calibrate/cost/relatives.h"

#include <stdlib.h>
#include <string.h>

static enum fr_status move_curve(struct fr_calibration *to, const struct fr__curve *c,
                                 const struct fr_device_type *type, double sustained_ratio,
                                 struct fr_error *err)
{
    size_t size = c->residual.n_values * sizeof(*c->residual.own);
    struct fr__curve *copy = fr__calibration_add(to);

    if (!copy)
        return fr__fail_nomem(err);
    memcpy(copy, c, sizeof(*copy));
    copy->info.gpus = copy->gpus;
    copy->info.source = copy->source;
    copy->residual.values = copy->residual.own = NULL;
    FR_TRY(fr__trees_copy(&copy->trees, &c->trees, err));
    if (size > 0) {
        copy->residual.values = copy->residual.own = malloc(size);
        if (!copy->residual.own)
            return fr__fail_nomem(err);
        memcpy(copy->residual.own, c->residual.values, size);
    }
    copy->machine = (struct fr__machine){
        .n_sms = type->n_sms,
        .peak_flops_per_s = fr__peak_flops_per_s(type, c->info.dtype) * sustained_ratio,
        .mem_Bps = type->mem_Bps};
    fr__curve_prepare(copy);
    return FR_OK;
}

enum fr_status fr_calibration_move(struct fr_calibration **out, const struct fr_calibration *from,
                                   const struct fr_device_type *type, struct fr_error *err)
{
    struct fr_calibration *to = fr__calibration_new(type->name);
    enum fr_status st = to ? FR_OK : fr__fail_nomem(err);

    for (size_t i = 0; st == FR_OK && i < from->n_curves; i++)
        if (fr__peak_flops_per_s(type, from->curves[i]->info.dtype) > 0)
            st = move_curve(to, from->curves[i], type,
                            fr__sustained_ratio(type->name, from->device), err);
    if (st == FR_OK)
        *out = to;
    else
        fr_calibration_free(to);
    return st;
}
