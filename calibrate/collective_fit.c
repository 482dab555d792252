/* calibrate/collective_fit.c - fits a system's collectives to measured rows, and judges them.
 *
 * As calibrate/fit.c does for kernels: the simplex of Nelder and Mead (GSL's nmsimplex2; the soft
 * minimum is smooth, the absolute value is not) on the mean of |log(predicted / measured)|, in the
 * logarithms of the parameters, from several starts and once more from the best. All-to-all shares no
 * parameter with the rest and is fitted by itself.
 */
#include "config.h"

#include "base/error.h"
#include "calibrate/collective_data.h"
#include "calibrate/data.h"
#include "calibrate/row_hash.h"
#include "calibrate/system_model.h"

#include <gsl/gsl_multimin.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MIN_ROWS = 24, MIN_ALL_TO_ALL = 12, STEPS = 4000, N_STARTS = 3, NVLS = 9, ALL_TO_ALL = 11 };

/* NCCL's own constants for NVLink (src/graph/tuning.cc, commit 01afd20a77) and two looser guesses; rates
 * of an A100's, an H100's and a B200's NVLink. */
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
    size_t n;
    size_t first, n_active; /* of the parameters that move */
};

static double mean_miss(const struct fit *f)
{
    double sum = 0;

    for (size_t i = 0; i < f->n; i++)
        sum += fabs(log(fr_system_time_s(f->system, &f->rows[i]->call) / f->rows[i]->time_s));
    return sum / (double)f->n;
}

static double objective(const gsl_vector *v, void *user)
{
    struct fit *f = user;
    double outside = 0;

    for (size_t i = 0; i < f->n_active; i++) {
        double p = exp(gsl_vector_get(v, i));
        double within = fmin(fmax(p, fr__system_parameter_low(f->first + i)),
                             fr__system_parameter_high(f->first + i));

        f->system->info.parameters[f->first + i] = within;
        outside += fabs(log(p / within));
    }
    return mean_miss(f) + 0.01 * outside;
}

/* From the system's parameters to the nearest optimum; the miss there, or NaN out of memory. */
static double minimise(struct fit *f, double size)
{
    gsl_multimin_fminimizer *m =
        gsl_multimin_fminimizer_alloc(gsl_multimin_fminimizer_nmsimplex2, f->n_active);
    gsl_vector *x = gsl_vector_alloc(f->n_active), *step = gsl_vector_alloc(f->n_active);
    gsl_multimin_function fn = {.f = objective, .n = f->n_active, .params = f};
    double best = NAN;

    if (!m || !x || !step)
        goto free_all;
    for (size_t i = 0; i < f->n_active; i++)
        gsl_vector_set(x, i, log(f->system->info.parameters[f->first + i]));
    gsl_vector_set_all(step, size);
    gsl_multimin_fminimizer_set(m, &fn, x, step);
    for (unsigned i = 0; i < STEPS; i++)
        if (gsl_multimin_fminimizer_iterate(m) != GSL_SUCCESS ||
            gsl_multimin_test_size(gsl_multimin_fminimizer_size(m), 1e-4) == GSL_SUCCESS)
            break;
    best = objective(gsl_multimin_fminimizer_x(m), f);
free_all:
    gsl_vector_free(step);
    gsl_vector_free(x);
    gsl_multimin_fminimizer_free(m);
    return best;
}

/* The best of all starts, begun anew twice: a simplex may have shrunk too early. *best: its miss. */
static enum fr_status find_parameters(struct fit *f, double *best, struct fr_error *err)
{
    double *p = f->system->info.parameters + f->first, kept[FR_SYSTEM_PARAMETERS] = {0};
    size_t bytes = f->n_active * sizeof(*p);

    *best = INFINITY;
    for (unsigned s = 0; s < N_STARTS; s++) {
        double miss = INFINITY;

        memcpy(p, starts[s] + f->first, bytes);
        for (unsigned again = 0; again < 3; again++) {
            miss = minimise(f, 0.4);
            if (isnan(miss))
                return fr__fail_nomem(err);
        }
        if (miss < *best) {
            *best = miss;
            memcpy(kept, p, bytes);
        }
    }
    memcpy(p, kept, bytes);
    return FR_OK;
}

/* Five digits are more than the data hold. */
static double round_digits(double x)
{
    double exponent = floor(log10(x)) - 4, scale = pow(10, fabs(exponent));

    return exponent < 0 ? round(x * scale) / scale : round(x / scale) * scale;
}

/* With the switch's sums and without; they stay if the rows ask for them. */
static enum fr_status fit_rings(struct fit *f, struct fr_error *err)
{
    struct fr_system_info without;
    double miss, with_nvls;

    f->first = 0;
    f->n_active = NVLS;
    FR_TRY(find_parameters(f, &miss, err));
    without = f->system->info;
    f->system->info.has_nvls = true;
    f->n_active = ALL_TO_ALL;
    FR_TRY(find_parameters(f, &with_nvls, err));
    if (with_nvls > 0.97 * miss - 0.001) {
        f->system->info = without;
        memset(f->system->info.parameters + NVLS, 0, 2 * sizeof(double));
    }
    return FR_OK;
}

static enum fr_status fit_all_to_all(struct fit *f, struct fr_error *err)
{
    double miss;

    f->first = ALL_TO_ALL;
    f->n_active = FR_SYSTEM_PARAMETERS - ALL_TO_ALL;
    return find_parameters(f, &miss, err);
}

/* ---- rows ---- */

static enum fr_status read_all(struct fr__collective_data *d, const char *system,
                               const char *const paths[], size_t n_paths, struct fr_error *err)
{
    for (size_t i = 0; i < n_paths; i++)
        FR_TRY(fr__collective_data_read(d, paths[i], (uint32_t)i, system, err));
    return FR_OK;
}

static uint32_t choose_source(const struct fr__collective_data *d)
{
    uint32_t best = 0;
    size_t most = 0;

    for (uint32_t s = 0; s < d->n_sources; s++) {
        size_t n = 0;

        for (size_t k = 0; k < d->n_rows; k++)
            n += d->rows[k].source == s;
        if (n >= most) {
            best = s;
            most = n;
        }
    }
    return best;
}

static uint64_t hash_rows(const struct fr__collective_data *d, uint32_t source)
{
    uint64_t h = FR__HASH_START;

    for (size_t k = 0; k < d->n_rows; k++)
        if (d->rows[k].source == source)
            h = fr__hash_row(h, d->rows[k].hash, d->rows[k].time_s);
    return h;
}

static double round_5(double x)
{
    return round(x * 1e5) / 1e5;
}

/* ---- judging ---- */

static double miss_of(const struct fr_system_row *r)
{
    return fabs(r->predicted_s / r->measured_s - 1);
}

static enum fr_status check_op(const struct fr_system *s, const struct fr__collective_data *d,
                               const char *source, const char *const paths[], double min_bytes,
                               bool is_all, enum fr_system_op op, struct fr_system_check *check,
                               struct fr_error *err)
{
    double *errors = calloc(d->n_rows + 1, sizeof(*errors));
    size_t n = 0;

    if (!errors)
        return fr__fail_nomem(err);
    *check = (struct fr_system_check){.n_left_out = 0};
    for (size_t k = 0; k < d->n_rows; k++) {
        const struct fr__collective_row *m = &d->rows[k];
        struct fr_system_row row = {.line = m->line, .call = m->call, .measured_s = m->time_s};

        if (m->call.op != op || m->call.bytes < min_bytes ||
            (source && strcmp(d->sources[m->source], source) != 0))
            continue;
        if (!is_all && !fr__is_held_out(m->hash)) {
            check->n_left_out++;
            continue;
        }
        row.predicted_s = fr_system_time_s(s, &m->call);
        errors[n++] = row.predicted_s / row.measured_s - 1;
        if (n == 1 || miss_of(&row) > miss_of(&check->worst)) {
            snprintf(row.file, sizeof(row.file), "%s", paths[m->file]);
            check->worst = row;
        }
    }
    check->misses = fr__misses_of(errors, n);
    free(errors);
    return FR_OK;
}

enum fr_status fr_system_check(const struct fr_system *s, const char *system,
                               const char *const paths[], size_t n_paths, double min_bytes,
                               bool is_all, struct fr_system_check checks[FR_N_SYSTEM_OPS],
                               struct fr_error *err)
{
    struct fr__collective_data d = {0};
    enum fr_status st = read_all(&d, system ? system : s->info.name, paths, n_paths, err);

    for (unsigned op = 0; st == FR_OK && op < FR_N_SYSTEM_OPS; op++)
        st = check_op(s, &d, system ? NULL : s->info.source, paths, min_bytes, is_all,
                      (enum fr_system_op)op, &checks[op], err);
    fr__collective_data_fini(&d);
    return st;
}

/* ---- fitting ---- */

static size_t take_rows(const struct fr__collective_data *d, uint32_t source, bool is_all_to_all,
                        const struct fr__collective_row **rows)
{
    size_t n = 0;

    for (size_t k = 0; k < d->n_rows; k++)
        if (d->rows[k].source == source && !fr__is_held_out(d->rows[k].hash) &&
            (d->rows[k].call.op == FR_SYSTEM_ALL_TO_ALL) == is_all_to_all)
            rows[n++] = &d->rows[k];
    return n;
}

static enum fr_status fail_few(const struct fr_system *s, size_t n, struct fr_error *err)
{
    return fr__fail(
        err, FR_ENOENT, FR_NOWHERE,
        "the data leave %zu rows to fit for '%s'; a fit needs %d of all-to-alls inside a "
        "node and %d of the other collectives",
        n, s->info.name, MIN_ALL_TO_ALL, MIN_ROWS);
}

static enum fr_status fit_rows(struct fr_system *s, const struct fr__collective_data *d,
                               uint32_t source, const struct fr__collective_row **rows,
                               struct fr_error *err)
{
    struct fit f = {.system = s, .rows = rows};

    f.n = take_rows(d, source, true, rows);
    if (f.n < MIN_ALL_TO_ALL)
        return fail_few(s, f.n, err);
    FR_TRY(fit_all_to_all(&f, err));
    s->info.n_fitted = f.n;
    f.n = take_rows(d, source, false, rows);
    if (f.n < MIN_ROWS)
        return fail_few(s, f.n, err);
    s->info.n_fitted += f.n;
    return fit_rings(&f, err);
}

static enum fr_status judge(struct fr_system *s, const struct fr__collective_data *d,
                            const char *const paths[], struct fr_error *err)
{
    for (unsigned op = 0; op < FR_N_SYSTEM_OPS; op++) {
        struct fr_system_check check;
        struct fr_misses *m = &s->info.held_out[op];

        FR_TRY(check_op(s, d, s->info.source, paths, 0, false, (enum fr_system_op)op, &check, err));
        *m = check.misses;
        m->median = round_5(m->median);
        m->p90 = round_5(m->p90);
        m->worst = round_5(m->worst);
        m->bias = round_5(m->bias);
    }
    return FR_OK;
}

static enum fr_status fit_source(struct fr_system *s, const struct fr__collective_data *d,
                                 const char *const paths[], struct fr_error *err)
{
    const struct fr__collective_row **rows = calloc(d->n_rows + 1, sizeof(*rows));
    uint32_t source = choose_source(d);
    enum fr_status st = rows ? FR_OK : fr__fail_nomem(err);

    if (st == FR_OK)
        st = fit_rows(s, d, source, rows, err);
    free(rows);
    FR_TRY(st);
    for (size_t i = 0; i < FR_SYSTEM_PARAMETERS; i++)
        if (fr__system_has_parameter(&s->info, i))
            s->info.parameters[i] = round_digits(s->info.parameters[i]);
    snprintf(s->info.source, sizeof(s->info.source), "%s", d->sources[source]);
    s->info.data_hash = hash_rows(d, source);
    for (size_t k = 0; k < d->n_rows; k++)
        if (d->rows[k].source == source && d->rows[k].call.n_gpus > s->info.most_gpus)
            s->info.most_gpus = d->rows[k].call.n_gpus;
    return judge(s, d, paths, err);
}

enum fr_status fr_system_fit(struct fr_system **out, const char *system, const char *const paths[],
                             size_t n_paths, struct fr_error *err)
{
    struct fr_system *s = calloc(1, sizeof(*s));
    struct fr__collective_data d = {0};
    enum fr_status st;

    if (!s)
        return fr__fail_nomem(err);
    if (strlen(system) >= sizeof(s->info.name))
        st = fr__fail(err, FR_ERANGE, FR_NOWHERE, "the system's name is longer than %zu bytes",
                      sizeof(s->info.name) - 1);
    else
        st = read_all(&d, system, paths, n_paths, err);
    if (st == FR_OK) {
        strcpy(s->info.name, system);
        st = fit_source(s, &d, paths, err);
    }
    fr__collective_data_fini(&d);
    if (st == FR_OK)
        *out = s;
    else
        fr_system_free(s);
    return st;
}
