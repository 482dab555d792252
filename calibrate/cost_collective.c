/* calibrate/cost_collective.c - a collective's row of the cost table, from its machine's system. */
#include "config.h"

#include "calibrate/cost_model.h"

#include <math.h>

/* Every way of the model is linear in the bytes and their soft minimum homogeneous of degree 1 in all
 * of its terms, so that (Euler) bytes x d time / d bytes is the part that the bytes account for. */
static double bytes_part_s(const struct fr_system *s, const struct fr_system_call *call)
{
    const double step = 1e-4;
    struct fr_system_call more = *call, less = *call;
    double slope_s;

    more.bytes *= exp(step);
    less.bytes *= exp(-step);
    slope_s = (fr_system_time_s(s, &more) - fr_system_time_s(s, &less)) / (2 * step);
    return fmin(fmax(slope_s, 0), fr_system_time_s(s, call));
}

bool fr_cost_collective(const struct fr_cost_model *m, uint32_t system,
                        const struct fr_system_call *call, struct fr_cost *out)
{
    const struct fr_system *s = fr__cost_model_system(m, system);
    const struct fr_system_info *info = s ? fr_system_info(s) : NULL;

    if (!info || call->n_nodes > 1 || call->n_gpus < 2 || call->n_gpus > info->most_gpus ||
        !fr_system_covers(s, call->op, 1))
        return false;
    *out = (struct fr_cost){
        .mean_s = fr_system_time_s(s, call),
        .error_frac = fr__error_of_median(info->held_out[call->op].median),
        .bytes_s = bytes_part_s(s, call),
        .kind = FR_N_OP_KINDS,
        .trust = FR_TRUST_CALIBRATED,
    };
    return true;
}
