/* calibrate/fit/collective_fit.c - fits collectives inside a node (system.h).
 *
 * All-to-all is fitted apart, since it shares no parameter with the rest.
 */
#include "config.h"

#include "base/error.h"
#include "calibrate/fit/fitting.h"
#include "calibrate/fit/system_fit.h"
#include "calibrate/messages/model.h"
#include "base/round.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 4000, N_STARTS = 3 };
_Static_assert((int)FR_SYSTEM_PARAMETERS <= (int)FR__FIT_MOST, "a fit has room for all");

/* NCCL's own constants for NVLink (src/graph/tuning.cc, commit 01afd20a77) and two rougher guesses,
 * each with the rates of an A100's, an H100's and a B200's NVLink. */
static const double starts[N_STARTS][FR_SYSTEM_PARAMETERS] = {
    {3.6e-6, 0.47e-6, 60e9, 10e-6, 1.9e-6, 180e9, 8.4e-6, 3.4e-6, 235e9, 15e-6, 120e9, 10e-6, 1e-6,
     50e9, 30e-6, 1e-6, 200e9},
    {8e-6, 0.8e-6, 60e9, 10e-6, 1e-6, 200e9, 20e-6, 2e-6, 340e9, 20e-6, 270e9, 10e-6, 1e-6, 100e9,
     30e-6, 1e-6, 300e9},
    {10e-6, 1e-6, 100e9, 15e-6, 1e-6, 400e9, 30e-6, 1e-6, 650e9, 30e-6, 480e9, 15e-6, 1e-6, 200e9,
     40e-6, 1e-6, 600e9},
};

struct fit {
    struct fr_system *system;
    const struct fr__collective_row *const *rows; /* [n] */
    size_t first;                                 /* of the parameters that are fitted */
    struct fr__rows_fit fit;
};

static double log_ratio(const void *user, const double active[], size_t k)
{
    const struct fit *f = user;

    memcpy(f->system->info.parameters + f->first, active, f->fit.simplex.n * sizeof(*active));
    return log(fr_system_time_s(f->system, &f->rows[k]->call) / f->rows[k]->time_s);
}

static uint64_t hash_of(const void *user, size_t k)
{
    return ((const struct fit *)user)->rows[k]->hash;
}

static void set_range(struct fit *f, size_t first, size_t end)
{
    f->first = first;
    f->fit.log_ratio = log_ratio;
    f->fit.hash = hash_of;
    f->fit.user = f;
    f->fit.simplex.n = end - first;
    for (size_t i = 0; i < f->fit.simplex.n; i++) {
        struct fr__range range = fr__system_range(fr_system_parameter_name(first + i));

        f->fit.low[i] = range.low;
        f->fit.high[i] = range.high;
    }
}

/* Finds the best parameters of all starts; returns their miss, or NaN out of memory. */
static double find_parameters(struct fit *f)
{
    double own[N_STARTS * FR_SYSTEM_PARAMETERS], best[FR_SYSTEM_PARAMETERS] = {0}, miss;
    size_t n = f->fit.simplex.n;

    for (unsigned s = 0; s < N_STARTS; s++)
        memcpy(own + s * n, starts[s] + f->first, n * sizeof(*own));
    miss = fr__rows_fit_best(&f->fit, N_STARTS, own, 0.4, STEPS, best);
    memcpy(f->system->info.parameters + f->first, best, n * sizeof(*best));
    return miss;
}

/* Stores rounded parameters and their standard errors in info. */
static enum fr_status keep(struct fit *f, struct fr_system_info *info, struct fr_error *err)
{
    double *p = info->parameters + f->first;

    *info = f->system->info;
    for (size_t i = 0; i < f->fit.simplex.n; i++)
        p[i] = fr__round_digits(p[i]);
    return fr__rows_fit_errors(&f->fit, FR__SYSTEM_DRAWS, p, info->errors + f->first, err);
}

/* Fits with sums in the switch (NVLS) and without. NVLS stays if the rows need it. */
enum fr_status fr__fit_rings(struct fr_system_info *info,
                             const struct fr__collective_row *const rows[], size_t n,
                             struct fr_error *err)
{
    struct fr_system with = {*info}, without = {*info};
    struct fit f = {.system = &without, .rows = rows, .fit = {.n = n}};
    double miss_without, miss_with;

    without.info.has_rings = true;
    set_range(&f, 0, FR__RINGS_END);
    miss_without = find_parameters(&f);
    with.info.has_rings = with.info.has_nvls = true;
    f.system = &with;
    set_range(&f, 0, FR__NVLS_END);
    miss_with = find_parameters(&f);
    if (isnan(miss_with) || isnan(miss_without))
        return fr__fail_nomem(err);
    if (miss_with > 0.97 * miss_without - 0.001) {
        f.system = &without;
        set_range(&f, 0, FR__RINGS_END);
    }
    return keep(&f, info, err);
}

enum fr_status fr__fit_all_to_all(struct fr_system_info *info,
                                  const struct fr__collective_row *const rows[], size_t n,
                                  struct fr_error *err)
{
    struct fr_system s = {*info};
    struct fit f = {.system = &s, .rows = rows, .fit = {.n = n}};

    s.info.has_all_to_all = true;
    set_range(&f, FR__NVLS_END, FR_SYSTEM_PARAMETERS);
    if (isnan(find_parameters(&f)))
        return fr__fail_nomem(err);
    return keep(&f, info, err);
}
