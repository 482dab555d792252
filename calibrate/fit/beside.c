/* calibrate/fit/beside.c - fits how much longer work takes beside other work, and reads and writes
 * these factors in device files. */
#include "config.h"

#include "calibrate/fit/beside.h"
#include "base/round.h"

#include "base/error.h"
#include "base/names.h"
#include "calibrate/files/fields.h"
#include "calibrate/fit/fitting.h"
#include "calibrate/fit/read/row_hash.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N_DRAWS = 50 };
static const double MOST = 1000; /* a larger factor is taken for a wrong measurement */

static const char *const names[FR_N_BESIDE] = {"compute", "copy", "collective"};
static const struct fr__name_list list = FR__NAMES(names);

const char *fr_beside_name(enum fr_beside c)
{
    return fr__name_of(&list, c);
}

/* ---- fitting ---- */

struct rows {
    const struct fr__beside_row **row; /* [n] rows to fit */
    size_t n;
};

static double ratio(const struct rows *r, const uint32_t *draws)
{
    double alone_s = 0, together_s = 0;

    for (size_t k = 0; k < r->n; k++) {
        double times = draws ? draws[k] : 1;

        alone_s += times * r->row[k]->alone_s;
        together_s += times * r->row[k]->together_s;
    }
    return alone_s > 0 ? fmin(fmax(together_s / alone_s, 1), MOST) : 1;
}

static bool refit(void *user, const uint32_t draws[], double parameters[])
{
    parameters[0] = ratio(user, draws);
    return true;
}

struct kind {
    uint32_t gpu, source;
    enum fr_beside of, beside;
};

static bool is_of_kind(const struct fr__beside_row *r, const struct kind *k)
{
    return r->gpu == k->gpu && r->source == k->source && r->of == k->of && r->beside == k->beside;
}

static enum fr_status judge(struct fr_slowdown *out, const struct fr__data *d,
                            const struct kind *kind, struct fr_error *err)
{
    double *errors = calloc(d->n_beside + 1, sizeof(*errors));
    size_t n = 0;

    if (!errors)
        return fr__fail_nomem(err);
    for (size_t k = 0; k < d->n_beside; k++)
        if (is_of_kind(&d->beside[k], kind) && fr__is_held_out(d->beside[k].hash))
            errors[n++] = out->factor * d->beside[k].alone_s / d->beside[k].together_s - 1;
    out->held_out = fr__misses_of(errors, n);
    fr__round_misses(&out->held_out);
    free(errors);
    return FR_OK;
}

static enum fr_status fit_pair(struct fr_slowdown *out, const struct fr__data *d,
                               const struct kind *kind, struct fr_error *err)
{
    struct rows r = {.row = calloc(d->n_beside + 1, sizeof(struct fr__beside_row *))};
    enum fr_status st = FR_OK;

    if (!r.row)
        return fr__fail_nomem(err);
    for (size_t k = 0; k < d->n_beside; k++)
        if (is_of_kind(&d->beside[k], kind) && !fr__is_held_out(d->beside[k].hash))
            r.row[r.n++] = &d->beside[k];
    if (r.n >= FR__BESIDE_MIN_ROWS) {
        out->factor = ratio(&r, NULL);
        out->n_fitted = r.n;
        st = fr__bootstrap(r.n, NULL, N_DRAWS, refit, &r, 1, &out->factor, &out->error, err);
        out->factor = fr__round_digits(out->factor);
        if (st == FR_OK)
            st = judge(out, d, kind, err);
    }
    free(r.row);
    return st;
}

/* Finds the first GPU that has rows, and the source that has most of them. false: there are no
 * rows. */
static bool choose(const struct fr__data *d, size_t n_gpus, struct kind *kind)
{
    for (kind->gpu = 0; kind->gpu < n_gpus; kind->gpu++) {
        size_t most = 0;

        for (uint32_t source = 0; source < d->n_sources; source++) {
            size_t n = 0;

            for (size_t k = 0; k < d->n_beside; k++)
                n += d->beside[k].gpu == kind->gpu && d->beside[k].source == source;
            kind->source = n > most ? source : kind->source;
            most = n > most ? n : most;
        }
        if (most > 0)
            return true;
    }
    return false;
}

static uint64_t hash_rows(const struct fr__data *d, const struct kind *kind)
{
    uint64_t h = FR__FNV_START;

    for (size_t k = 0; k < d->n_beside; k++) {
        const struct fr__beside_row *r = &d->beside[k];

        if (r->gpu == kind->gpu && r->source == kind->source)
            h = fr__hash_row(fr__hash_row(h, r->hash, r->alone_s), r->hash, r->together_s);
    }
    return h;
}

enum fr_status fr__slowdowns_fit(struct fr__slowdowns **out, const struct fr__data *d,
                                 const char *const gpus[], size_t n_gpus, struct fr_error *err)
{
    struct kind kind = {0};
    struct fr__slowdowns *s;
    bool has_any = false;

    *out = NULL;
    if (!choose(d, n_gpus, &kind))
        return FR_OK;
    s = calloc(1, sizeof(*s));
    if (!s)
        return fr__fail_nomem(err);
    snprintf(s->gpus, FR__CURVE_TEXT, "%s", gpus[kind.gpu]);
    snprintf(s->source, FR__CURVE_TEXT, "%s", d->sources[kind.source]);
    s->info.data_hash = hash_rows(d, &kind);
    for (unsigned i = 0; i < FR_N_BESIDE * FR_N_BESIDE; i++) {
        struct fr_slowdown *pair = &s->info.of[i / FR_N_BESIDE][i % FR_N_BESIDE];
        enum fr_status st;

        kind.of = (enum fr_beside)(i / FR_N_BESIDE);
        kind.beside = (enum fr_beside)(i % FR_N_BESIDE);
        pair->factor = 1;
        st = fit_pair(pair, d, &kind, err);
        if (st != FR_OK) {
            free(s);
            return st;
        }
        has_any = has_any || pair->n_fitted > 0;
    }
    if (has_any)
        *out = s;
    else
        free(s);
    return FR_OK;
}

/* ---- files ---- */

static enum fr_status read_class(const struct fr__yaml *map, const char *key, enum fr_beside *out,
                                 struct fr_error *err)
{
    const char *text;
    struct fr_loc loc;
    unsigned i = 0;

    FR_TRY(fr__yaml_text(map, key, NULL, &text, &loc, err));
    while (i < FR_N_BESIDE && strcmp(names[i], text) != 0)
        i++;
    if (i == FR_N_BESIDE)
        return fr__fail(err, FR_EPARSE, loc,
                        "'%s' is \"%.40s\", expected compute, copy or collective", key, text);
    *out = (enum fr_beside)i;
    return FR_OK;
}

static enum fr_status read_pair(struct fr__slowdowns *s, const struct fr__yaml *map,
                                struct fr_error *err)
{
    static const char *const known[] = {"of", "beside", "factor", "rows_fitted", "held_out", NULL};
    const struct fr__yaml *held_out;
    enum fr_beside of, beside;
    struct fr_slowdown *pair;

    FR_TRY(fr__yaml_expect(map, FR__YAML_MAP, "a pair", err));
    FR_TRY(fr__yaml_only(map, known, err));
    FR_TRY(read_class(map, "of", &of, err));
    FR_TRY(read_class(map, "beside", &beside, err));
    pair = &s->info.of[of][beside];
    if (pair->n_fitted > 0)
        return fr__fail(err, FR_EPARSE, map->loc, "%s beside %s comes twice", names[of],
                        names[beside]);
    FR_TRY(fr__fit_pair(map, "factor", 1, MOST, &pair->factor, &pair->error, err));
    FR_TRY(fr__fit_count(map, "rows_fitted", UINT64_C(1) << 48, &pair->n_fitted, err));
    FR_TRY(fr__fit_child(map, "held_out", FR__YAML_MAP, &held_out, err));
    if (pair->n_fitted == 0)
        return fr__fail(err, FR_EPARSE, map->loc, "'rows_fitted' is 0");
    return fr__fit_misses(held_out, &pair->held_out, err);
}

enum fr_status fr__slowdowns_read(struct fr__slowdowns **out, const struct fr__yaml *root,
                                  struct fr_error *err)
{
    static const char *const known[] = {"gpus", "source", "data_hash", "pairs", NULL};
    const struct fr__yaml *map = fr__yaml_get(root, "interference"), *pairs;
    struct fr__slowdowns *s;

    *out = NULL;
    if (!map)
        return FR_OK;
    s = calloc(1, sizeof(*s));
    if (!s)
        return fr__fail_nomem(err);
    *out = s;
    for (unsigned i = 0; i < FR_N_BESIDE * FR_N_BESIDE; i++)
        s->info.of[i / FR_N_BESIDE][i % FR_N_BESIDE].factor = 1;
    FR_TRY(fr__yaml_expect(map, FR__YAML_MAP, "interference", err));
    FR_TRY(fr__yaml_only(map, known, err));
    FR_TRY(fr__fit_text(map, "gpus", s->gpus, FR__CURVE_TEXT, err));
    FR_TRY(fr__fit_text(map, "source", s->source, FR__CURVE_TEXT, err));
    FR_TRY(fr__fit_hash(map, &s->info.data_hash, err));
    FR_TRY(fr__fit_child(map, "pairs", FR__YAML_LIST, &pairs, err));
    for (size_t i = 0; i < pairs->n; i++)
        FR_TRY(read_pair(s, pairs->items[i], err));
    return FR_OK;
}

void fr__slowdowns_write(FILE *f, const struct fr__slowdowns *s)
{
    fputs("interference: # how many times as long: value, error\n", f);
    fr__put_text(f, "  ", "gpus", s->gpus);
    fr__put_text(f, "  ", "source", s->source);
    fprintf(f, "  data_hash: '%016" PRIx64 "'\n  pairs:\n", s->info.data_hash);
    for (unsigned i = 0; i < FR_N_BESIDE * FR_N_BESIDE; i++) {
        const struct fr_slowdown *pair = &s->info.of[i / FR_N_BESIDE][i % FR_N_BESIDE];

        if (pair->n_fitted == 0)
            continue;
        fprintf(f, "    - of: %s\n      beside: %s\n", names[i / FR_N_BESIDE],
                names[i % FR_N_BESIDE]);
        fr__put_pair(f, "      ", "factor", pair->factor, pair->error);
        fprintf(f, "      rows_fitted: %" PRIu64 "\n      held_out: ", pair->n_fitted);
        fr__put_misses(f, &pair->held_out);
    }
}
