/* calibrate/fit/fitting.c - the simplex, the bootstrap and the rounding that all fits use. */
#include "config.h"

#include "calibrate/fit/fitting.h"
#include "base/round.h"

#include "base/error.h"
#include "base/rng.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_multimin.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DRAW_STEPS = 40 }; /* of the simplex in each draw of a bootstrap, for each parameter */

double fr__mean_miss(size_t n, const uint32_t *draws,
                     double (*log_ratio)(const void *user, size_t row), const void *user)
{
    double sum = 0;

    for (size_t k = 0; k < n; k++)
        if (!draws || draws[k] > 0)
            sum += (draws ? draws[k] : 1) * fabs(log_ratio(user, k));
    return sum / (double)n;
}

struct search {
    const struct fr__simplex *s;
    double *parameters; /* [n] the parameters tried last, within their bounds */
};

static double objective(const gsl_vector *v, void *user)
{
    const struct search *search = user;
    const struct fr__simplex *s = search->s;
    double outside = 0, away = 0;

    for (size_t i = 0; i < s->n; i++) {
        double p = exp(gsl_vector_get(v, i)), within = fmin(fmax(p, s->low[i]), s->high[i]);

        search->parameters[i] = within;
        outside += fabs(log(p / within));
        if (s->centre)
            away += pow(log(within / s->centre[i]), 2);
    }
    return s->miss(s->user, search->parameters) + 0.01 * outside + s->pull * away / (double)s->n;
}

double fr__simplex_minimise(const struct fr__simplex *s, double parameters[], double size,
                            unsigned steps)
{
    struct search search = {s, parameters};
    gsl_multimin_fminimizer *m =
        gsl_multimin_fminimizer_alloc(gsl_multimin_fminimizer_nmsimplex2, s->n);
    gsl_vector *x = gsl_vector_alloc(s->n), *step = gsl_vector_alloc(s->n);
    gsl_multimin_function fn = {.f = objective, .n = s->n, .params = &search};
    double best = NAN;

    if (!m || !x || !step)
        goto free_all;
    for (size_t i = 0; i < s->n; i++)
        gsl_vector_set(x, i, log(parameters[i]));
    gsl_vector_set_all(step, size);
    if (gsl_multimin_fminimizer_set(m, &fn, x, step) == GSL_ENOMEM)
        goto free_all;
    for (unsigned i = 0; i < steps; i++)
        if (gsl_multimin_fminimizer_iterate(m) != GSL_SUCCESS ||
            gsl_multimin_test_size(gsl_multimin_fminimizer_size(m), 1e-4) == GSL_SUCCESS)
            break;
    best = objective(gsl_multimin_fminimizer_x(m), &search);
free_all:
    if (step)
        gsl_vector_free(step);
    if (x)
        gsl_vector_free(x);
    if (m)
        gsl_multimin_fminimizer_free(m);
    return best;
}

static double log_ratio_now(const void *user, size_t row)
{
    const struct fr__rows_fit *f = user;

    return f->log_ratio(f->user, f->now, row);
}

double fr__rows_miss(struct fr__rows_fit *f, const double parameters[])
{
    f->now = parameters;
    return fr__mean_miss(f->n, f->draws, log_ratio_now, f);
}

static double rows_miss(void *user, const double parameters[])
{
    return fr__rows_miss(user, parameters);
}

double fr__rows_fit_best(struct fr__rows_fit *f, size_t n_starts, const double starts[],
                         double size, unsigned steps, double out[])
{
    double best = INFINITY;

    f->simplex.low = f->low;
    f->simplex.high = f->high;
    f->simplex.miss = rows_miss;
    f->simplex.user = f;
    for (size_t s = 0; s < n_starts; s++) {
        double p[FR__FIT_MOST], now = INFINITY;

        memcpy(p, starts + s * f->simplex.n, f->simplex.n * sizeof(*p));
        for (unsigned again = 0; again < 3 && !isnan(now); again++)
            now = fr__simplex_minimise(&f->simplex, p, size, steps);
        if (isnan(now))
            return NAN;
        if (now < best) {
            best = now;
            memcpy(out, p, f->simplex.n * sizeof(*p));
        }
    }
    return best;
}

struct numbered {
    uint64_t hash;
    size_t row;
};

static int by_hash(const void *a, const void *b)
{
    const struct numbered *x = a, *y = b;

    return (x->hash > y->hash) - (x->hash < y->hash);
}

/* Numbers the distinct hashes from 0 on, into groups[n]. Returns how many there are; 0: out of
 * memory, or n is 0. */
static size_t number_groups(size_t n, const uint64_t hashes[], uint32_t groups[])
{
    struct numbered *sorted = calloc(n + 1, sizeof(*sorted));
    size_t n_groups = 0;

    if (!sorted)
        return 0;
    for (size_t k = 0; k < n; k++)
        sorted[k] = (struct numbered){hashes[k], k};
    qsort(sorted, n, sizeof(*sorted), by_hash);
    for (size_t k = 0; k < n; k++) {
        n_groups += k == 0 || sorted[k].hash != sorted[k - 1].hash;
        groups[sorted[k].row] = (uint32_t)n_groups - 1;
    }
    free(sorted);
    return n_groups;
}

static size_t find_groups(size_t n, const uint64_t *hashes, uint32_t groups[])
{
    if (hashes)
        return number_groups(n, hashes, groups);
    for (size_t k = 0; k < n; k++)
        groups[k] = (uint32_t)k;
    return n;
}

/* Draws groups with replacement; then each row counts as often as its group. times: [n_groups] */
static void draw_rows(unsigned draw, size_t n_rows, const uint32_t groups[], size_t n_groups,
                      uint32_t times[], uint32_t draws[])
{
    struct fr__rng rng;

    fr__rng_init(&rng, 1, draw);
    memset(times, 0, n_groups * sizeof(*times));
    for (size_t k = 0; k < n_groups; k++)
        times[fr__rng_below(&rng, n_groups)]++;
    for (size_t k = 0; k < n_rows; k++)
        draws[k] = times[groups[k]];
}

enum fr_status fr__bootstrap(size_t n_rows, const uint64_t *hashes, unsigned n_draws,
                             fr__refit_fn refit, void *user, size_t n_parameters,
                             const double parameters[], double errors[], struct fr_error *err)
{
    size_t n = n_parameters, n_groups = 0;
    uint32_t *draws = calloc(n_rows + 1, sizeof(*draws));
    uint32_t *times = calloc(n_rows + 1, sizeof(*times));
    uint32_t *groups = calloc(n_rows + 1, sizeof(*groups));
    double *p = calloc(n + 1, sizeof(*p)), *sum = calloc(n + 1, sizeof(*sum));
    double *squares = calloc(n + 1, sizeof(*squares));
    enum fr_status st = FR_OK;

    if (draws && times && groups && p && sum && squares)
        n_groups = find_groups(n_rows, hashes, groups);
    if (n_groups == 0)
        st = fr__fail_nomem(err);
    for (unsigned draw = 0; st == FR_OK && draw < n_draws; draw++) {
        draw_rows(draw, n_rows, groups, n_groups, times, draws);
        memcpy(p, parameters, n * sizeof(*p));
        if (!refit(user, draws, p)) {
            st = fr__fail_nomem(err);
            break;
        }
        for (size_t i = 0; i < n; i++) {
            sum[i] += p[i] / n_draws;
            squares[i] += p[i] * p[i] / n_draws;
        }
    }
    for (size_t i = 0; st == FR_OK && i < n; i++)
        errors[i] = fr__round_digits(sqrt(fmax(squares[i] - sum[i] * sum[i], 0)));
    free(squares);
    free(sum);
    free(p);
    free(groups);
    free(times);
    free(draws);
    return st;
}

static bool refit_rows(void *user, const uint32_t draws[], double parameters[])
{
    struct fr__rows_fit *f = user;
    double miss_there;

    f->draws = draws;
    miss_there =
        fr__simplex_minimise(&f->simplex, parameters, 0.1, DRAW_STEPS * (unsigned)f->simplex.n);
    f->draws = NULL;
    return !isnan(miss_there);
}

enum fr_status fr__rows_fit_errors(struct fr__rows_fit *f, unsigned n_draws,
                                   const double parameters[], double errors[], struct fr_error *err)
{
    uint64_t *hashes = calloc(f->n + 1, sizeof(*hashes));
    enum fr_status st;

    if (!hashes)
        return fr__fail_nomem(err);
    for (size_t k = 0; k < f->n; k++)
        hashes[k] = f->hash(f->user, k);
    st = fr__bootstrap(f->n, hashes, n_draws, refit_rows, f, f->simplex.n, parameters, errors, err);
    free(hashes);
    return st;
}

static double round_5(double x)
{
    return round(x * 1e5) / 1e5;
}

void fr__round_misses(struct fr_misses *m)
{
    m->median = round_5(m->median);
    m->p90 = round_5(m->p90);
    m->worst = round_5(m->worst);
    m->bias = round_5(m->bias);
}
