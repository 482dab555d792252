/* calibrate/fit/fit.c - fits the curves of a device to measured rows.
 *
 * First the parameters of the model are fitted (fitting.h), from several starts, on the mean of
 * |log(predicted / measured)|. Then the residuals are fitted by a grid, or by trees if
 * cross-validation on the fitted rows says that these predict clearly better. Standard deviations
 * come from a bootstrap over rows.
 */
#include "config.h"

#include "base/cancel.h"
#include "base/error.h"
#include "calibrate/fit/plausible_rows.h"
#include "calibrate/fit/beside.h"
#include "calibrate/curves/curve.h"
#include "calibrate/fit/read/data.h"
#include "calibrate/fit/fitting.h"
#include "calibrate/fit/launches.h"
#include "calibrate/fit/read/row_hash.h"
#include "base/round.h"

#include <gsl/gsl_sort_double.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_P = FR_CURVE_PARAMETERS, MIN_ROWS = 40, N_DRAWS = 12 };
static const double CLEARLY = 0.95; /* trees must miss by less than this share of the grid's miss */
enum { STEPS = 50, DRAW_STEPS = 10 }; /* steps of the simplex for each parameter */

struct fit {
    const struct fr__curve_class *op_class;
    unsigned n_parameters, n_active;
    unsigned active[MAX_P]; /* [n_active] parameters on which some prediction depends */
    struct fr__curve *curve;
    const struct fr__measured *const *rows; /* [n] */
    const double *log_s;                    /* [n] */
    const uint32_t *draws;                  /* [n] how often a row counts; NULL: once */
    size_t n;
    double most_launch_s; /* upper bound of the launch */
};

static double log_ratio(const void *user, size_t k)
{
    const struct fit *f = user;

    return log(fr__curve_model_s(f->curve, &f->rows[k]->shape)) - f->log_s[k];
}

/* Mean miss with the parameters of the curve. */
static double mean_miss(const struct fit *f)
{
    fr__curve_prepare(f->curve);
    return fr__mean_miss(f->n, f->draws, log_ratio, f);
}

static double miss(void *user, const double active[])
{
    struct fit *f = user;

    for (unsigned i = 0; i < f->n_active; i++)
        f->curve->info.parameters[f->active[i]] = active[i];
    return mean_miss(f);
}

/* Moves parameters[] to the nearest optimum; returns the miss there, or NaN out of memory. */
static double minimise(struct fit *f, double parameters[MAX_P], double size,
                       unsigned steps_per_parameter)
{
    double low[MAX_P], high[MAX_P], active[MAX_P], centre[MAX_P], best;
    bool is_pulled = f->n > 0 && f->curve->info.dtype == FR_FP32;
    double pull = is_pulled ? f->op_class->fp32_pull * f->n_active / (double)f->n : 0;
    struct fr__simplex s = {.n = f->n_active,
                            .low = low,
                            .high = high,
                            .miss = miss,
                            .user = f,
                            .centre = pull > 0 ? centre : NULL,
                            .pull = pull};

    memcpy(f->curve->info.parameters, parameters, sizeof(f->curve->info.parameters));
    for (unsigned i = 0; i < f->n_active; i++) {
        const struct fr__curve_parameter *p = &f->op_class->parameters[f->active[i]];

        low[i] = p->low;
        high[i] = f->active[i] == 0 ? fmin(p->high, f->most_launch_s) : p->high;
        active[i] = parameters[f->active[i]];
        centre[i] = p->starts[0];
    }
    best = fr__simplex_minimise(&s, active, size, steps_per_parameter * f->n_active);
    for (unsigned i = 0; i < f->n_active; i++)
        parameters[f->active[i]] = active[i];
    return best;
}

static void set_start(const struct fit *f, unsigned start, double parameters[MAX_P])
{
    memset(parameters, 0, MAX_P * sizeof(*parameters));
    for (unsigned i = 0; i < f->n_parameters; i++)
        parameters[i] = f->op_class->parameters[i].starts[start];
}

/* A parameter on which no prediction depends (such as Winograd's in a format without it) keeps its
 * first start. The simplex would only lose its way along it. */
static void find_active(struct fit *f)
{
    double *p = f->curve->info.parameters;

    while (f->n_parameters < MAX_P && f->op_class->parameters[f->n_parameters].name)
        f->n_parameters++;
    set_start(f, 0, p);
    for (unsigned i = 0; i < f->n_parameters; i++) {
        double kept = p[i], low, high;

        p[i] = f->op_class->parameters[i].low;
        low = mean_miss(f);
        p[i] = f->op_class->parameters[i].high;
        high = mean_miss(f);
        p[i] = kept;
        if (low != high)
            f->active[f->n_active++] = i;
    }
}

static enum fr_status find_parameters(struct fit *f, double best_parameters[MAX_P],
                                      struct fr_error *err)
{
    double best = INFINITY;

    for (unsigned i = 0; i < f->op_class->n_starts; i++) {
        double p[MAX_P], miss;

        set_start(f, i, p);
        miss = minimise(f, p, 0.4, STEPS);
        if (isnan(miss))
            return fr__fail_nomem(err);
        if (miss < best) {
            best = miss;
            memcpy(best_parameters, p, sizeof(p));
        }
    }
    return FR_OK;
}

static bool refit(void *user, const uint32_t draws[], double parameters[])
{
    struct fit *f = user;
    double p[MAX_P] = {0}, miss_there;

    memcpy(p, parameters, f->n_parameters * sizeof(*p));
    f->draws = draws;
    miss_there = minimise(f, p, 0.1, DRAW_STEPS);
    f->draws = NULL;
    memcpy(parameters, p, f->n_parameters * sizeof(*p));
    return !isnan(miss_there);
}

/* Fits a grid to the residuals y[n] of the fitted rows. group[n]: rows of one shape stay
 * together. */
static enum fr_status fit_grid(struct fit *f, const double y[], const uint64_t group[],
                               double *miss, struct fr_error *err)
{
    double(*x)[FR__RESIDUAL_AXES] = calloc(f->n + 1, sizeof(*x));
    enum fr_status st;

    if (!x)
        return fr__fail_nomem(err);
    for (size_t k = 0; k < f->n; k++)
        f->op_class->coordinates(&f->rows[k]->shape, x[k]);
    st = fr__residual_fit(&f->curve->residual, f->n, (const double(*)[FR__RESIDUAL_AXES])x, y,
                          group, miss, err);
    free(x);
    return st;
}

static enum fr_status fit_trees(struct fit *f, const double y[], const uint64_t group[],
                                double *miss, struct fr_error *err)
{
    struct fr__trees_points p = {.n = f->n, .y = y, .group = group};
    double features[FR__TREES_FEATURES], *x;
    enum fr_status st;

    while (f->op_class->feature_names[p.n_features])
        p.n_features++;
    x = calloc(f->n * p.n_features + 1, sizeof(*x));
    if (!x)
        return fr__fail_nomem(err);
    for (size_t k = 0; k < f->n; k++) {
        f->op_class->features(&f->curve->machine, f->curve->info.dtype, &f->rows[k]->shape,
                              features);
        memcpy(x + k * p.n_features, features, p.n_features * sizeof(*x));
    }
    p.x = x;
    st = fr__trees_fit(&f->curve->trees, &p, miss, err);
    free(x);
    return st;
}

static enum fr_status fit_better(struct fit *f, const double y[], const uint64_t group[],
                                 struct fr_error *err)
{
    struct fr__curve *c = f->curve;
    double grid_miss, trees_miss = INFINITY;

    FR_TRY(fit_grid(f, y, group, &grid_miss, err));
    if (f->op_class->features)
        FR_TRY(fit_trees(f, y, group, &trees_miss, err));
    if (trees_miss < CLEARLY * grid_miss)
        fr__residual_fini(&c->residual);
    else
        fr__trees_fini(&c->trees);
    c->info.n_residuals = c->residual.n_values + c->trees.n * FR__TREES_LEAVES;
    return FR_OK;
}

static enum fr_status fit_residual(struct fit *f, struct fr_error *err)
{
    double *y = calloc(f->n + 1, sizeof(*y));
    uint64_t *group = calloc(f->n + 1, sizeof(*group));
    enum fr_status st = y && group ? FR_OK : fr__fail_nomem(err);

    for (size_t k = 0; st == FR_OK && k < f->n; k++) {
        y[k] = f->log_s[k] - log(fr__curve_model_s(f->curve, &f->rows[k]->shape));
        group[k] = f->rows[k]->hash;
    }
    if (st == FR_OK)
        st = fit_better(f, y, group, err);
    free(group);
    free(y);
    return st;
}

static enum fr_status fit_curve(struct fit *f, struct fr_error *err)
{
    double p[MAX_P];

    find_active(f);
    FR_TRY(find_parameters(f, p, err));
    FR_TRY(fr__bootstrap(f->n, NULL, N_DRAWS, refit, f, f->n_parameters, p, f->curve->info.errors,
                         err));
    for (unsigned i = 0; i < f->n_parameters; i++)
        f->curve->info.parameters[i] = fr__round_digits(p[i]);
    fr__curve_prepare(f->curve);
    return fit_residual(f, err);
}

/* ---- choosing rows ---- */

/* The rows that one curve is fitted to: one GPU, one source. Kernels or launches of another
 * software need another curve. */
struct kind {
    enum fr_curve_class op_class;
    enum fr_dtype dtype;
    uint32_t gpu, source;
};

static bool is_of_kind(const struct fr__measured *row, const struct kind *kind)
{
    return row->shape.op_class == kind->op_class && row->dtype == kind->dtype &&
           row->gpu == kind->gpu && row->source == kind->source;
}

static uint64_t hash_rows(const struct fr__data *d, const struct kind *kind)
{
    uint64_t h = FR__FNV_START;

    for (size_t k = 0; k < d->n_rows; k++)
        if (is_of_kind(&d->rows[k], kind))
            h = fr__hash_row(h, d->rows[k].hash, d->rows[k].time_s);
    return h;
}

static enum fr_status judge_held_out(struct fr_calibration *c, size_t at, const struct fr__data *d,
                                     const struct kind *kind, struct fr_error *err)
{
    struct fr_misses *m = &c->curves[at]->info.held_out;
    double *errors = calloc(d->n_rows + 1, sizeof(*errors));
    size_t n = 0;

    if (!errors)
        return fr__fail_nomem(err);
    for (size_t k = 0; k < d->n_rows; k++)
        if (is_of_kind(&d->rows[k], kind) && fr__is_held_out(d->rows[k].hash))
            errors[n++] = fr_calibration_time_s(c, at, &d->rows[k].shape) / d->rows[k].time_s - 1;
    *m = fr__misses_of(errors, n);
    fr__round_misses(m);
    free(errors);
    return FR_OK;
}

struct timed {
    uint64_t hash;
    double time_s;
};

static int by_hash_and_time(const void *a, const void *b)
{
    const struct timed *x = a, *y = b;

    if (x->hash != y->hash)
        return x->hash > y->hash ? 1 : -1;
    return (x->time_s > y->time_s) - (x->time_s < y->time_s);
}

/* Median of all times but the one at `out`; times ascend, n >= 2. */
static double median_of_others(const struct timed t[], size_t n, size_t out)
{
    size_t low = (n - 2) / 2, high = (n - 1) / 2;

    return (t[low + (low >= out)].time_s + t[high + (high >= out)].time_s) / 2;
}

/* How well one measurement predicts the next one of the same shape, of all rows, held out or not.
 * No curve can be better than this. */
static enum fr_status find_repeats(struct fr_misses *m, const struct fr__data *d,
                                   const struct kind *kind, struct fr_error *err)
{
    struct timed *t = calloc(d->n_rows + 1, sizeof(*t));
    double *errors = calloc(d->n_rows + 1, sizeof(*errors));
    enum fr_status st = t && errors ? FR_OK : fr__fail_nomem(err);
    size_t n = 0, n_errors = 0;

    for (size_t k = 0; st == FR_OK && k < d->n_rows; k++)
        if (is_of_kind(&d->rows[k], kind))
            t[n++] = (struct timed){d->rows[k].hash, d->rows[k].time_s};
    if (st == FR_OK)
        qsort(t, n, sizeof(*t), by_hash_and_time);
    for (size_t from = 0, to; from < n; from = to) {
        for (to = from + 1; to < n && t[to].hash == t[from].hash;)
            to++;
        for (size_t k = from; to - from > 1 && k < to; k++)
            errors[n_errors++] = median_of_others(t + from, to - from, k - from) / t[k].time_s - 1;
    }
    *m = fr__misses_of(errors, n_errors);
    fr__round_misses(m);
    free(errors);
    free(t);
    return st;
}

/* Sets kind->source to the source that has most rows to fit of kind's GPU; returns their number. */
static size_t choose_source(const struct fr__data *d, struct kind *kind)
{
    size_t most = 0;
    uint32_t best = 0;

    for (kind->source = 0; kind->source < d->n_sources; kind->source++) {
        size_t n = 0;

        for (size_t k = 0; k < d->n_rows; k++)
            n += is_of_kind(&d->rows[k], kind) && !fr__is_held_out(d->rows[k].hash);
        best = n > most ? kind->source : best;
        most = n > most ? n : most;
    }
    kind->source = best;
    return most;
}

/* Finds the first GPU that has enough rows to fit from one source; false: none has. */
static bool choose_rows(const struct fr__data *d, size_t n_gpus, struct kind *kind)
{
    for (kind->gpu = 0; kind->gpu < n_gpus; kind->gpu++)
        if (choose_source(d, kind) >= MIN_ROWS)
            return true;
    return false;
}

/* Bounds the launch: a hundredth of the rows take less. Without a bound, a fit to times that vary a
 * lot would count everything unexplained as launch. */
static enum fr_status bound_launch(struct fit *f, struct fr_error *err)
{
    double *sorted = calloc(f->n, sizeof(*sorted));

    if (!sorted)
        return fr__fail_nomem(err);
    memcpy(sorted, f->log_s, f->n * sizeof(*sorted));
    gsl_sort(sorted, 1, f->n);
    f->most_launch_s = f->op_class->has_noisy_launch ? exp(sorted[f->n / 100]) : INFINITY;
    free(sorted);
    return FR_OK;
}

static enum fr_status fit_rows(struct fr_calibration *c, const struct fr__data *d,
                               const struct fr_fit_request *request, const struct kind *kind,
                               struct fr_error *err)
{
    const struct fr__measured **rows = calloc(d->n_rows + 1, sizeof(*rows));
    double *log_s = calloc(d->n_rows + 1, sizeof(*log_s));
    struct fit f = {.op_class = fr__curve_class_of(kind->op_class),
                    .curve = fr__calibration_add(c),
                    .rows = rows,
                    .log_s = log_s};
    enum fr_status st;

    if (!rows || !log_s || !f.curve) {
        st = fr__fail_nomem(err);
        goto free_all;
    }
    for (size_t k = 0; k < d->n_rows; k++)
        if (is_of_kind(&d->rows[k], kind) && !fr__is_held_out(d->rows[k].hash)) {
            log_s[f.n] = log(d->rows[k].time_s);
            rows[f.n++] = &d->rows[k];
        }
    f.curve->info.op_class = kind->op_class;
    f.curve->info.dtype = kind->dtype;
    f.curve->info.n_fitted = f.n;
    f.curve->machine =
        (struct fr__machine){.n_sms = request->device->n_sms,
                             .peak_flops_per_s = fr__peak_flops_per_s(request->device, kind->dtype),
                             .mem_Bps = request->device->mem_Bps};
    f.curve->info.data_hash = hash_rows(d, kind);
    snprintf(f.curve->gpus, FR__CURVE_TEXT, "%s", request->gpus[kind->gpu]);
    snprintf(f.curve->source, FR__CURVE_TEXT, "%s", d->sources[kind->source]);
    st = bound_launch(&f, err);
    if (st == FR_OK)
        st = fit_curve(&f, err);
    if (st == FR_OK)
        st = judge_held_out(c, c->n_curves - 1, d, kind, err);
    if (st == FR_OK)
        st = find_repeats(&f.curve->info.repeats, d, kind, err);
free_all:
    free(log_s);
    free(rows);
    return st;
}

/* Fits a curve to each class and dtype. */
static enum fr_status fit_all(struct fr_calibration *c, const struct fr__data *d,
                              const struct fr_fit_request *request, const struct fr_context *ctx,
                              struct fr_error *err)
{
    enum { N = FR_N_CURVE_CLASSES * FR_N_DTYPES };

    for (unsigned i = 0; i < N; i++) {
        struct kind kind = {.op_class = (enum fr_curve_class)(i / FR_N_DTYPES),
                            .dtype = (enum fr_dtype)(i % FR_N_DTYPES)};

        if (ctx && fr__flag_is_set(ctx->cancel))
            return fr__fail(err, FR_ECANCELLED, FR_NOWHERE, "interrupted");
        if (fr__peak_flops_per_s(request->device, kind.dtype) > 0 &&
            choose_rows(d, request->n_gpus, &kind))
            FR_TRY(fit_rows(c, d, request, &kind, err));
        if (ctx && ctx->progress)
            ctx->progress(ctx->progress_user, "fitting", i + 1, N);
    }
    return FR_OK;
}

static enum fr_status fit_the_rest(struct fr_calibration *c, const struct fr__data *d,
                                   const struct fr_fit_request *request, struct fr_error *err)
{
    struct fr__slowdowns *slowdowns = NULL;
    struct fr__launches *launches = NULL;
    enum fr_status st = fr__slowdowns_fit(&slowdowns, d, request->gpus, request->n_gpus, err);

    if (st == FR_OK)
        st = fr__launches_fit(&launches, d, request->gpus, request->n_gpus, err);
    fr__calibration_take(c, slowdowns, launches);
    return st;
}

enum fr_status fr_calibration_fit(struct fr_calibration **out, const struct fr_fit_request *request,
                                  const struct fr_context *ctx, struct fr_error *err)
{
    struct fr_calibration *c = fr__calibration_new(request->device->name);
    struct fr__data d = {0};
    enum fr_status st = c ? FR_OK : fr__fail_nomem(err);

    for (size_t i = 0; st == FR_OK && i < request->n_paths; i++)
        st = fr__data_read(&d, request->paths[i], (uint32_t)i, request->gpus, request->n_gpus, err);
    if (st == FR_OK && !request->allow_implausible)
        st = fr__rows_plausible(&d, request->device, request->paths, err);
    if (st == FR_OK)
        st = fit_all(c, &d, request, ctx, err);
    if (st == FR_OK)
        st = fit_the_rest(c, &d, request, err);
    if (st == FR_OK && c->n_curves == 0 && !c->slowdowns && !c->launches)
        st = fr__fail(err, FR_ENOENT, FR_NOWHERE,
                      "no class and number format has %d rows to fit among the %zu of the GPU's "
                      "rows that a curve can be fitted to",
                      MIN_ROWS, d.n_rows);
    fr__data_fini(&d);
    if (st == FR_OK)
        *out = c;
    else
        fr_calibration_free(c);
    return st;
}
