/* calibrate/fit/launches.c - medians of measured launches, and how device files store them. */
#include "config.h"

#include "calibrate/fit/launches.h"
#include "base/round.h"

#include "base/error.h"
#include "base/names.h"
#include "calibrate/files/fields.h"
#include "calibrate/fit/fitting.h"
#include "calibrate/fit/read/row_hash.h"

#include <gsl/gsl_sort_double.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[FR_N_LAUNCHES] = {
    [FR_LAUNCH_GAP] = "gap_s",
    [FR_LAUNCH_GRAPH_GAP] = "graph_gap_s",
    [FR_LAUNCH_HOST] = "host_s",
    [FR_LAUNCH_FRAMEWORK] = "framework_s",
};
static const struct fr__name_list list = FR__NAMES(names);

const char *fr_launch_name(enum fr_launch what)
{
    return fr__name_of(&list, what);
}

static bool is_of(const struct fr__launch_row *r, uint32_t gpu, uint32_t source)
{
    return r->gpu == gpu && r->source == source;
}

/* Fits one kind of launch. sorted: room for all rows. */
static void fit_one(struct fr__launches *l, enum fr_launch what, const struct fr__data *d,
                    uint32_t gpu, uint32_t source, double sorted[])
{
    size_t n = 0;

    for (size_t k = 0; k < d->n_launches; k++)
        if (is_of(&d->launches[k], gpu, source) && d->launches[k].what == what)
            sorted[n++] = d->launches[k].time_s;
    if (n == 0)
        return;
    gsl_sort(sorted, 1, n);
    l->info.time_s[what] = fr__round_digits((sorted[(n - 1) / 2] + sorted[n / 2]) / 2);
    l->info.error_s[what] = fr__round_digits((sorted[(n - 1) * 9 / 10] - sorted[n / 10]) / 2);
}

static bool choose(const struct fr__data *d, size_t n_gpus, uint32_t *gpu, uint32_t *source)
{
    for (*gpu = 0; *gpu < n_gpus; (*gpu)++) {
        size_t most = 0;

        for (uint32_t s = 0; s < d->n_sources; s++) {
            size_t n = 0;

            for (size_t k = 0; k < d->n_launches; k++)
                n += is_of(&d->launches[k], *gpu, s);
            *source = n > most ? s : *source;
            most = n > most ? n : most;
        }
        if (most > 0)
            return true;
    }
    return false;
}

enum fr_status fr__launches_fit(struct fr__launches **out, const struct fr__data *d,
                                const char *const gpus[], size_t n_gpus, struct fr_error *err)
{
    double *sorted = calloc(d->n_launches + 1, sizeof(*sorted));
    struct fr__launches *l = calloc(1, sizeof(*l));
    uint32_t gpu = 0, source = 0;
    enum fr_status st = FR_OK;

    *out = NULL;
    if (!sorted || !l) {
        st = fr__fail_nomem(err);
    } else if (choose(d, n_gpus, &gpu, &source)) {
        snprintf(l->gpus, FR__CURVE_TEXT, "%s", gpus[gpu]);
        snprintf(l->source, FR__CURVE_TEXT, "%s", d->sources[source]);
        l->info.data_hash = FR__FNV_START;
        for (size_t k = 0; k < d->n_launches; k++)
            if (is_of(&d->launches[k], gpu, source))
                l->info.data_hash = fr__hash_row(l->info.data_hash, (uint64_t)d->launches[k].what,
                                                 d->launches[k].time_s);
        for (unsigned w = 0; w < FR_N_LAUNCHES; w++)
            fit_one(l, (enum fr_launch)w, d, gpu, source, sorted);
        *out = l;
        l = NULL;
    }
    free(l);
    free(sorted);
    return st;
}

/* ---- files ---- */

enum fr_status fr__launches_read(struct fr__launches **out, const struct fr__yaml *root,
                                 struct fr_error *err)
{
    static const char *const known[] = {"gpus",        "source", "data_hash",   "gap_s",
                                        "graph_gap_s", "host_s", "framework_s", NULL};
    const struct fr__yaml *map = fr__yaml_get(root, "launch");
    struct fr__launches *l;

    *out = NULL;
    if (!map)
        return FR_OK;
    l = calloc(1, sizeof(*l));
    if (!l)
        return fr__fail_nomem(err);
    *out = l;
    FR_TRY(fr__yaml_expect(map, FR__YAML_MAP, "launch", err));
    FR_TRY(fr__yaml_only(map, known, err));
    FR_TRY(fr__fit_text(map, "gpus", l->gpus, FR__CURVE_TEXT, err));
    FR_TRY(fr__fit_text(map, "source", l->source, FR__CURVE_TEXT, err));
    FR_TRY(fr__fit_hash(map, &l->info.data_hash, err));
    for (unsigned w = 0; w < FR_N_LAUNCHES; w++)
        if (fr__yaml_get(map, names[w]))
            FR_TRY(fr__fit_pair(map, names[w], 1e-9, 1e-2, &l->info.time_s[w], &l->info.error_s[w],
                                err));
    return FR_OK;
}

void fr__launches_write(FILE *f, const struct fr__launches *l)
{
    fputs("launch: # seconds: value, error\n", f);
    fr__put_text(f, "  ", "gpus", l->gpus);
    fr__put_text(f, "  ", "source", l->source);
    fprintf(f, "  data_hash: '%016" PRIx64 "'\n", l->info.data_hash);
    for (unsigned w = 0; w < FR_N_LAUNCHES; w++)
        if (l->info.time_s[w] > 0)
            fr__put_pair(f, "  ", names[w], l->info.time_s[w], l->info.error_s[w]);
}
