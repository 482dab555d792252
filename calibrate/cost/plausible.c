/* calibrate/cost/plausible.c - limits of what costs may be: device files and systems. Limits of
 * device types and links are in topo/plausible.c.
 *
 * A parameter of a curve may be what a fit may find: the fit's own bounds are at least ten times
 * beyond all that was measured. Peaks and bandwidths have the limits of device types, and may not
 * be ten times those of the type that the file is about. A collective of a system takes at least as
 * long as one GPU needs to send its part over all its links: switches that add up on the way (NVLS,
 * SHARP) still get all bytes once.
 */
#include "config.h"

#include "calibrate/cost/plausible.h"

#include "base/error.h"
#include "base/units.h"
#include "calibrate/cost/model.h"
#include "calibrate/curves/class.h"
#include "calibrate/curves/curve.h"
#include "calibrate/messages/system.h"

#include <string.h>

/* How far a device file's peak may be from the data sheet of its type. */
static const double MOST_OFF = 10;

/* Bytes of the collective that is held against the links: large, so that its time is bandwidth. */
static const double LARGE_bytes = 1073741824;

/* By how much a fit may be faster than the links as they are written down, which are often rounded
 * or an efficiency's worth below what was measured. */
static const double MOST_FASTER = 2;

static enum fr_status refuse(const char *path, const struct fr__curve *c, const char *what,
                             double x, double low, double high, const char *why,
                             struct fr_error *err)
{
    return fr__fail(err, FR_ERANGE, (struct fr_loc){path, 0, 0},
                    "%s, %s: %s of %g is implausible (from %g to %g: %s); --allow-implausible "
                    "goes on",
                    fr__curve_class_of(c->info.op_class)->name, fr_dtype_name(c->info.dtype), what,
                    x, low, high, why);
}

static enum fr_status check_parameters(const struct fr__curve *c, const char *path,
                                       struct fr_error *err)
{
    const struct fr__curve_class *k = fr__curve_class_of(c->info.op_class);

    for (size_t i = 0; k->parameters[i].name; i++) {
        double x = c->info.parameters[i], low = k->parameters[i].low, high = k->parameters[i].high;

        /* files hold five digits */
        if (!(x >= low * 0.999 && x <= high * 1.001))
            return refuse(path, c, k->parameters[i].name, x, low, high, "no fit finds another one",
                          err);
    }
    return FR_OK;
}

static enum fr_status check_machine(const struct fr__curve *c, const struct fr_device_type *type,
                                    const char *path, struct fr_error *err)
{
    const struct fr__machine *m = &c->machine;
    double peak = type->flops_per_s[c->info.dtype] > 0 ? type->flops_per_s[c->info.dtype]
                                                       : type->vector_flops_per_s;
    static const char why[] = "within ten times the data sheet of its device type";

    if (peak > 0 &&
        !(m->peak_flops_per_s >= peak / MOST_OFF && m->peak_flops_per_s <= peak * MOST_OFF))
        return refuse(path, c, "peak_flops_per_s", m->peak_flops_per_s, peak / MOST_OFF,
                      peak * MOST_OFF, why, err);
    if (!(m->mem_Bps >= type->mem_Bps / MOST_OFF && m->mem_Bps <= type->mem_Bps * MOST_OFF))
        return refuse(path, c, "mem_Bps", m->mem_Bps, type->mem_Bps / MOST_OFF,
                      type->mem_Bps * MOST_OFF, why, err);
    return FR_OK;
}

static enum fr_status check_file(const struct fr_calibration *own, const struct fr_topo *topo,
                                 const char *path, struct fr_error *err)
{
    for (size_t i = 0; i < own->n_curves; i++) {
        FR_TRY(check_parameters(own->curves[i], path, err));
        for (size_t t = 0; t < topo->n_types; t++)
            if (strcmp(topo->types[t].name, own->device) == 0)
                FR_TRY(check_machine(own->curves[i], &topo->types[t], path, err));
    }
    return FR_OK;
}

/* ---- systems ---- */

/* The first GPU of the first machine that system `s` is of, and how many GPUs that machine has. */
static const struct fr_device *first_gpu(const struct fr_topo *t, uint32_t s, unsigned *n)
{
    const struct fr_device *first = NULL;

    *n = 0;
    for (size_t d = 0; d < t->n_gpus; d++) {
        const struct fr_device *g = &t->devices[d];

        if (t->system_of[g->machine] != s || (first && g->machine != first->machine))
            continue;
        first = first ? first : g;
        ++*n;
    }
    return first;
}

static double out_Bps(const struct fr_topo *t, uint32_t vertex)
{
    double sum_Bps = 0;

    for (size_t i = 0; i < t->n_links; i++)
        if (t->links[i].src == vertex)
            sum_Bps += t->links[i].bw_Bps;
    return sum_Bps;
}

static enum fr_status check_system(const struct fr_topo *t, uint32_t s,
                                   const struct fr_system *system, struct fr_error *err)
{
    const struct fr_system_info *info = fr_system_info(system);
    struct fr_system_call call = {.op = FR_SYSTEM_ALL_REDUCE,
                                  .bytes = LARGE_bytes,
                                  .is_summed_in_switch = true,
                                  .n_nodes = 1};
    const struct fr_device *g = first_gpu(t, s, &call.n_gpus);
    char took[32], least[32], rate[32];
    double s_by_links, fitted_s;

    if (!g || call.n_gpus < 2 || call.n_gpus > info->most_gpus ||
        !fr_system_covers(system, call.op, 1))
        return FR_OK;
    fitted_s = fr_system_time_s(system, &call);
    s_by_links = LARGE_bytes / out_Bps(t, g->vertex);
    if (fitted_s * MOST_FASTER >= s_by_links)
        return FR_OK;
    return fr__fail(err, FR_ERANGE, t->systems[s].loc,
                    "collectives of '%.60s' are implausible here: %u GPUs add up 1 GiB in %s, and "
                    "the links of '%.40s' (%s) need %s; --allow-implausible goes on",
                    t->systems[s].name, call.n_gpus, fr__format_time(fitted_s, took, sizeof(took)),
                    t->vertices[g->vertex].name,
                    fr__format_rate(out_Bps(t, g->vertex), rate, sizeof(rate)),
                    fr__format_time(s_by_links, least, sizeof(least)));
}

enum fr_status fr__costs_plausible(const struct fr_cost_model *m, const struct fr_topo *topo,
                                   const char *path, struct fr_error *err)
{
    const struct fr_calibration *own = fr__cost_model_own_file(m);

    if (own)
        FR_TRY(check_file(own, topo, path, err));
    for (uint32_t s = 0; s < topo->n_systems; s++)
        if (fr__cost_model_system(m, s))
            FR_TRY(check_system(topo, s, fr__cost_model_system(m, s), err));
    return FR_OK;
}
