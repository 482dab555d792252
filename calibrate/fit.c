/* calibrate/fit.c - fits the curves of a device to measured rows.
 *
 * The model's parameters first, by the simplex of Nelder and Mead (GSL's nmsimplex2: the minimum over
 * tiles has kinks, which rules out gradients) from several starts on the mean of
 * |log(predicted / measured)|, in the logarithms of the parameters; then the grid of residuals of what
 * is left. Standard deviations: the spread of fits to rows drawn with replacement (B. Efron,
 * Annals of Statistics 7(1), 1979), each from the optimum.
 */
#include "config.h"

#include "base/error.h"
#include "base/rng.h"
#include "calibrate/curve.h"
#include "calibrate/data.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_multimin.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_P = FR_CURVE_PARAMETERS, MIN_ROWS = 100, N_DRAWS = 12 };
enum { STEPS = 300, DRAW_STEPS = 60 };

struct fit {
    const struct fr__curve_class *op_class;
    unsigned n_parameters;
    struct fr__curve *curve;
    const struct fr__measured *const *rows; /* [n] */
    const double *log_s;                    /* [n] */
    const uint32_t *draws;                  /* [n] how often a row counts; NULL: once */
    size_t n;
};

static double clamp(const struct fit *f, double x, unsigned i)
{
    const struct fr__curve_parameter *p = &f->op_class->parameters[i];

    return fmin(fmax(x, p->low), p->high);
}

static double objective(const gsl_vector *v, void *user)
{
    struct fit *f = user;
    double sum = 0, outside = 0;

    for (unsigned i = 0; i < f->n_parameters; i++) {
        double p = exp(gsl_vector_get(v, i));

        f->curve->info.parameters[i] = clamp(f, p, i);
        outside += fabs(log(p / f->curve->info.parameters[i]));
    }
    fr__curve_prepare(f->curve);
    for (size_t k = 0; k < f->n; k++)
        if (!f->draws || f->draws[k])
            sum += (f->draws ? f->draws[k] : 1) *
                   fabs(log(fr__curve_model_s(f->curve, &f->rows[k]->shape)) - f->log_s[k]);
    return sum / (double)f->n + 0.01 * outside;
}

/* From parameters[] to the nearest optimum, in place; the objective there, or NaN out of memory. */
static double minimise(struct fit *f, double parameters[], double size, unsigned n_steps)
{
    gsl_multimin_fminimizer *m =
        gsl_multimin_fminimizer_alloc(gsl_multimin_fminimizer_nmsimplex2, f->n_parameters);
    gsl_vector *x = gsl_vector_alloc(f->n_parameters), *step = gsl_vector_alloc(f->n_parameters);
    gsl_multimin_function fn = {.f = objective, .n = f->n_parameters, .params = f};
    double best = NAN;

    if (!m || !x || !step)
        goto free_all;
    for (unsigned i = 0; i < f->n_parameters; i++)
        gsl_vector_set(x, i, log(parameters[i]));
    gsl_vector_set_all(step, size);
    gsl_multimin_fminimizer_set(m, &fn, x, step);
    for (unsigned i = 0; i < n_steps; i++)
        if (gsl_multimin_fminimizer_iterate(m) != GSL_SUCCESS ||
            gsl_multimin_test_size(gsl_multimin_fminimizer_size(m), 1e-4) == GSL_SUCCESS)
            break;
    best = gsl_multimin_fminimizer_minimum(m);
    for (unsigned i = 0; i < f->n_parameters; i++)
        parameters[i] = clamp(f, exp(gsl_vector_get(gsl_multimin_fminimizer_x(m), i)), i);
free_all:
    gsl_vector_free(step);
    gsl_vector_free(x);
    gsl_multimin_fminimizer_free(m);
    return best;
}

/* Five digits are more than the data hold. */
static double round_digits(double x)
{
    double scale = pow(10, 4 - floor(log10(fabs(x))));

    return x > 0 ? round(x * scale) / scale : 0;
}

static enum fr_status find_parameters(struct fit *f, double best_parameters[MAX_P],
                                      struct fr_error *err)
{
    double best = INFINITY;

    for (unsigned i = 0; i < f->op_class->n_starts; i++) {
        double p[MAX_P] = {0}, miss;

        for (unsigned k = 0; k < f->n_parameters; k++)
            p[k] = f->op_class->parameters[k].starts[i];
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

static enum fr_status find_errors(struct fit *f, const double parameters[MAX_P],
                                  double errors[MAX_P], struct fr_error *err)
{
    uint32_t *draws = calloc(f->n, sizeof(*draws));
    double sum[MAX_P] = {0}, squares[MAX_P] = {0};

    if (!draws)
        return fr__fail_nomem(err);
    f->draws = draws;
    for (unsigned draw = 0; draw < N_DRAWS; draw++) {
        struct fr__rng rng;
        double p[MAX_P];

        fr__rng_init(&rng, 1, draw);
        memset(draws, 0, f->n * sizeof(*draws));
        for (size_t k = 0; k < f->n; k++)
            draws[fr__rng_below(&rng, f->n)]++;
        memcpy(p, parameters, sizeof(p));
        minimise(f, p, 0.1, DRAW_STEPS);
        for (unsigned i = 0; i < f->n_parameters; i++) {
            sum[i] += p[i] / N_DRAWS;
            squares[i] += p[i] * p[i] / N_DRAWS;
        }
    }
    for (unsigned i = 0; i < f->n_parameters; i++)
        errors[i] = round_digits(sqrt(fmax(squares[i] - sum[i] * sum[i], 0)));
    f->draws = NULL;
    free(draws);
    return FR_OK;
}

static enum fr_status fit_residual(struct fit *f, struct fr_error *err)
{
    double(*x)[FR__RESIDUAL_AXES] = calloc(f->n, sizeof(*x));
    double *y = calloc(f->n, sizeof(*y));
    uint64_t *group = calloc(f->n, sizeof(*group));
    enum fr_status st = FR_ENOMEM;

    if (!x || !y || !group) {
        fr__fail_nomem(err);
        goto free_all;
    }
    for (size_t k = 0; k < f->n; k++) {
        f->op_class->coordinates(&f->rows[k]->shape, x[k]);
        y[k] = f->log_s[k] - log(fr__curve_model_s(f->curve, &f->rows[k]->shape));
        group[k] = f->rows[k]->hash;
    }
    st = fr__residual_fit(&f->curve->residual, f->n, (const double(*)[FR__RESIDUAL_AXES])x, y,
                          group, err);
    f->curve->info.n_residuals = f->curve->residual.n_values;
free_all:
    free(group);
    free(y);
    free(x);
    return st;
}

static enum fr_status fit_curve(struct fit *f, struct fr_error *err)
{
    double p[MAX_P];

    FR_TRY(find_parameters(f, p, err));
    FR_TRY(find_errors(f, p, f->curve->info.errors, err));
    for (unsigned i = 0; i < f->n_parameters; i++)
        f->curve->info.parameters[i] = round_digits(p[i]);
    fr__curve_prepare(f->curve);
    return fit_residual(f, err);
}

/* ---- choosing rows ---- */

/* "A; B" */
static void join(char text[FR__CURVE_TEXT], const char *word)
{
    size_t used = strlen(text);

    snprintf(text + used, FR__CURVE_TEXT - used, "%s%s", used ? "; " : "", word);
}

static void describe(struct fr__curve *c, const struct fr__data *d,
                     const struct fr_fit_request *request)
{
    bool is_used[64] = {false};
    uint64_t h = UINT64_C(14695981039346656037);

    for (size_t i = 0; i < request->n_gpus; i++)
        join(c->gpus, request->gpus[i]);
    for (size_t k = 0; k < d->n_rows; k++) {
        const struct fr__measured *row = &d->rows[k];
        uint64_t words[2] = {row->hash, (uint64_t)llround(row->time_s * 1e12)};

        if (row->dtype != c->info.dtype || row->shape.op_class != c->info.op_class)
            continue;
        if (row->source < 64 && !is_used[row->source]) {
            is_used[row->source] = true;
            join(c->source, d->sources[row->source]);
        }
        for (unsigned byte = 0; byte < 16; byte++)
            h = (h ^ (words[byte / 8] >> (byte % 8 * 8) & 0xff)) * UINT64_C(1099511628211);
    }
    c->info.data_hash = h;
}

static enum fr_status judge_held_out(struct fr_calibration *c, size_t at, const struct fr__data *d,
                                     struct fr_error *err)
{
    struct fr_curve_info *info = &c->curves[at]->info;
    double *errors = calloc(d->n_rows + 1, sizeof(*errors));
    size_t n = 0;

    if (!errors)
        return fr__fail_nomem(err);
    for (size_t k = 0; k < d->n_rows; k++)
        if (d->rows[k].dtype == info->dtype && d->rows[k].shape.op_class == info->op_class &&
            fr__is_held_out(d->rows[k].hash))
            errors[n++] = fr_calibration_time_s(c, at, &d->rows[k].shape) / d->rows[k].time_s - 1;
    info->held_out = fr__misses_of(errors, n);
    info->held_out.median = round(info->held_out.median * 1e5) / 1e5;
    info->held_out.p90 = round(info->held_out.p90 * 1e5) / 1e5;
    info->held_out.worst = round(info->held_out.worst * 1e5) / 1e5;
    info->held_out.bias = round(info->held_out.bias * 1e5) / 1e5;
    free(errors);
    return FR_OK;
}

static enum fr_status fit_rows(struct fr_calibration *c, const struct fr__data *d,
                               const struct fr_fit_request *request, enum fr_curve_class op_class,
                               enum fr_dtype dtype, struct fr_error *err)
{
    const struct fr__measured **rows = calloc(d->n_rows + 1, sizeof(*rows));
    double *log_s = calloc(d->n_rows + 1, sizeof(*log_s));
    struct fit f = {.op_class = fr__curve_class_of(op_class), .rows = rows, .log_s = log_s};
    enum fr_status st = FR_OK;

    if (!rows || !log_s) {
        st = fr__fail_nomem(err);
        goto free_all;
    }
    for (size_t k = 0; k < d->n_rows; k++)
        if (d->rows[k].dtype == dtype && d->rows[k].shape.op_class == op_class &&
            !fr__is_held_out(d->rows[k].hash)) {
            log_s[f.n] = log(d->rows[k].time_s);
            rows[f.n++] = &d->rows[k];
        }
    if (f.n < MIN_ROWS || !(fr__peak_flops_per_s(request->device, dtype) > 0))
        goto free_all;
    f.curve = fr__calibration_add(c);
    if (!f.curve) {
        st = fr__fail_nomem(err);
        goto free_all;
    }
    while (f.n_parameters < MAX_P && f.op_class->parameters[f.n_parameters].name)
        f.n_parameters++;
    f.curve->info.op_class = op_class;
    f.curve->info.dtype = dtype;
    f.curve->info.n_fitted = f.n;
    f.curve->machine =
        (struct fr__machine){.n_sms = request->device->n_sms,
                             .peak_flops_per_s = fr__peak_flops_per_s(request->device, dtype),
                             .mem_Bps = request->device->mem_Bps};
    describe(f.curve, d, request);
    st = fit_curve(&f, err);
    if (st == FR_OK)
        st = judge_held_out(c, c->n_curves - 1, d, err);
free_all:
    free(log_s);
    free(rows);
    return st;
}

/* Every class and dtype in turn. */
static enum fr_status fit_all(struct fr_calibration *c, const struct fr__data *d,
                              const struct fr_fit_request *request, const struct fr_context *ctx,
                              struct fr_error *err)
{
    enum { N = FR_N_CURVE_CLASSES * FR_N_DTYPES };

    for (unsigned i = 0; i < N; i++) {
        enum fr_curve_class op_class = (enum fr_curve_class)(i / FR_N_DTYPES);

        if (ctx && ctx->cancel && *ctx->cancel)
            return fr__fail(err, FR_ECANCELLED, FR_NOWHERE, "interrupted");
        if (fr__curve_class_of(op_class))
            FR_TRY(fit_rows(c, d, request, op_class, (enum fr_dtype)(i % FR_N_DTYPES), err));
        if (ctx && ctx->progress)
            ctx->progress(ctx->progress_user, "fitting", i + 1, N);
    }
    return FR_OK;
}

enum fr_status fr_calibration_fit(struct fr_calibration **out, const struct fr_fit_request *request,
                                  const struct fr_context *ctx, struct fr_error *err)
{
    struct fr_calibration *c = fr__calibration_new(request->device->name);
    struct fr__data d = {0};
    enum fr_status st = c ? FR_OK : fr__fail_nomem(err);

    for (size_t i = 0; st == FR_OK && i < request->n_paths; i++)
        st = fr__data_read(&d, request->paths[i], (uint32_t)i, request->gpus, request->n_gpus, err);
    if (st == FR_OK)
        st = fit_all(c, &d, request, ctx, err);
    if (st == FR_OK && c->n_curves == 0)
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
