/* calibrate/curves/residual.c - reads a grid of residuals and fits one by conjugate gradients. */
#include "config.h"

#include "base/error.h"
#include "calibrate/curves/residual.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    AXES = FR__RESIDUAL_AXES,
    CORNERS = 1 << AXES,
    MIN_POINTS = 40,
    FOLDS = 5,
    MAX_FITTED = 2500,
    PER_POINT = 4
};
enum { REWEIGHTINGS = 4, MAX_STEPS = 60 };
static const double SMOOTHS[] = {0.1, 0.3, 1, 3, 10};
enum { N_SMOOTHS = sizeof(SMOOTHS) / sizeof(SMOOTHS[0]) };
static const double RIDGE_FRAC = 0.05; /* times `smooth` */
static const double MIN_RESIDUAL = 0.02;

/* ---- looking up ---- */

/* The knots around a point and their weights, which sum to 1. */
struct stencil {
    uint32_t at[CORNERS];
    float weight[CORNERS];
};

static void find_corners(const struct fr__axis axes[AXES], const double x[AXES], struct stencil *s)
{
    unsigned n = 1;

    s->at[0] = 0;
    s->weight[0] = 1;
    for (unsigned a = 0; a < AXES; a++) {
        double place = (x[a] - axes[a].first) / axes[a].step, last = (double)axes[a].n - 1;
        uint32_t low;
        float high_part;

        place = place > 0 ? place : 0; /* also where place is NaN */
        place = place < last ? place : last;
        low = (uint32_t)place;
        low -= low > 0 && low + 1 == axes[a].n;
        high_part = (float)(place - low);
        for (unsigned i = 0; i < n; i++) {
            s->at[i] = s->at[i] * axes[a].n + low;
            if (axes[a].n > 1) {
                s->at[i + n] = s->at[i] + 1;
                s->weight[i + n] = s->weight[i] * high_part;
                s->weight[i] *= 1 - high_part;
            }
        }
        n *= axes[a].n > 1 ? 2 : 1;
    }
    for (; n < CORNERS; n++) {
        s->at[n] = 0;
        s->weight[n] = 0;
    }
}

static double read_values(const struct stencil *s, const double values[])
{
    double sum = 0;

    for (unsigned i = 0; i < CORNERS; i++)
        sum += (double)s->weight[i] * values[s->at[i]];
    return sum;
}

double fr__residual_at(const struct fr__residual *r, const double x[AXES])
{
    struct stencil s;
    double sum = 0;

    if (r->n_values == 0)
        return 0;
    find_corners(r->axes, x, &s);
    for (unsigned i = 0; i < CORNERS; i++)
        sum += (double)s.weight[i] * (double)r->values[s.at[i]];
    return sum;
}

void fr__residual_fini(struct fr__residual *r)
{
    free(r->own);
    memset(r, 0, sizeof(*r));
}

/* ---- the linear system (W'diag(w)W + smooth D'D + ridge) v = W'diag(w) y ---- */

struct problem {
    size_t n_points, n_values;
    const struct fr__axis *axes;
    struct stencil *stencils; /* [n_points] */
    const double *y;
    const uint64_t *group;
    double *weight; /* [n_points]; 0 for those left out */
    double smooth;
    double *v, *r, *p, *q; /* [n_values] each: solution and work space of the solver */
};

static void add_differences(const struct problem *pr, const double in[], double out[])
{
    size_t stride = 1;

    for (unsigned a = AXES; a-- > 0;) {
        for (size_t i = 0; i + stride < pr->n_values; i++) {
            double d;

            if ((i / stride) % pr->axes[a].n + 1 == pr->axes[a].n)
                continue;
            d = pr->smooth * (in[i + stride] - in[i]);
            out[i + stride] += d;
            out[i] -= d;
        }
        stride *= pr->axes[a].n;
    }
}

static void multiply(const struct problem *pr, const double in[], double out[])
{
    for (size_t i = 0; i < pr->n_values; i++)
        out[i] = RIDGE_FRAC * pr->smooth * in[i];
    add_differences(pr, in, out);
    for (size_t k = 0; k < pr->n_points; k++) {
        const struct stencil *s = &pr->stencils[k];
        double value;

        if (pr->weight[k] <= 0)
            continue;
        value = pr->weight[k] * read_values(s, in);
        for (unsigned i = 0; i < CORNERS; i++)
            out[s->at[i]] += (double)s->weight[i] * value;
    }
}

static double dot(size_t n, const double a[], const double b[])
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Conjugate gradients (Hestenes and Stiefel, 1952) from the v at hand. */
static void solve(struct problem *pr)
{
    size_t n = pr->n_values;
    double rr, start;

    multiply(pr, pr->v, pr->q);
    memset(pr->r, 0, n * sizeof(*pr->r));
    for (size_t k = 0; k < pr->n_points; k++)
        for (unsigned i = 0; i < CORNERS; i++)
            pr->r[pr->stencils[k].at[i]] +=
                pr->weight[k] * (double)pr->stencils[k].weight[i] * pr->y[k];
    for (size_t i = 0; i < n; i++)
        pr->p[i] = pr->r[i] -= pr->q[i];
    start = rr = dot(n, pr->r, pr->r);
    for (unsigned step = 0; step < MAX_STEPS && rr > 1e-10 * start && rr > 0; step++) {
        double alpha, next;

        multiply(pr, pr->p, pr->q);
        alpha = rr / dot(n, pr->p, pr->q);
        for (size_t i = 0; i < n; i++) {
            pr->v[i] += alpha * pr->p[i];
            pr->r[i] -= alpha * pr->q[i];
        }
        next = dot(n, pr->r, pr->r);
        for (size_t i = 0; i < n; i++)
            pr->p[i] = pr->r[i] + next / rr * pr->p[i];
        rr = next;
    }
}

/* Solves with renewed weights. fold: the one that is left out; FOLDS: none. */
static void solve_robustly(struct problem *pr, unsigned fold)
{
    memset(pr->v, 0, pr->n_values * sizeof(*pr->v));
    for (unsigned round = 0; round < REWEIGHTINGS; round++) {
        for (size_t k = 0; k < pr->n_points; k++) {
            double miss = fabs(pr->y[k] - read_values(&pr->stencils[k], pr->v));

            pr->weight[k] = pr->group[k] / FOLDS % FOLDS == fold ? 0
                            : miss > MIN_RESIDUAL                ? MIN_RESIDUAL / miss
                                                                 : 1;
        }
        solve(pr);
    }
}

/* Mean absolute miss on the points that each fold leaves out. */
static double cross_validate(struct problem *pr)
{
    double sum = 0;

    for (unsigned fold = 0; fold < FOLDS; fold++) {
        solve_robustly(pr, fold);
        for (size_t k = 0; k < pr->n_points; k++)
            if (pr->group[k] / FOLDS % FOLDS == fold)
                sum += fabs(pr->y[k] - read_values(&pr->stencils[k], pr->v));
    }
    return sum / (double)pr->n_points;
}

/* ---- the fit ---- */

/* Places the knots at most `octaves` apart; returns the number of values of the grid. */
static size_t space_knots(struct fr__axis axes[AXES], size_t n, const double x[][AXES],
                          double octaves)
{
    size_t n_values = 1;

    for (unsigned a = 0; a < AXES; a++) {
        double low = x[0][a], high = x[0][a];

        for (size_t k = 1; k < n; k++) {
            low = x[k][a] < low ? x[k][a] : low;
            high = x[k][a] > high ? x[k][a] : high;
        }
        low = floor(low * 1000) / 1000;
        axes[a].n = 1 + (uint32_t)ceil((high - low) / octaves);
        if (axes[a].n > FR__RESIDUAL_MAX_KNOTS)
            axes[a].n = FR__RESIDUAL_MAX_KNOTS;
        axes[a].first = low;
        axes[a].step = axes[a].n > 1 ? ceil((high - low) / (axes[a].n - 1) * 1000) / 1000 : 1;
        n_values *= axes[a].n;
    }
    return n_values;
}

/* Places one knot an octave; fewer if the grid would have more than a few thousand values, or more
 * than a few for each point. */
static size_t choose_axes(struct fr__axis axes[AXES], size_t n, const double x[][AXES])
{
    double octaves = 1;
    size_t n_values, most = n < MAX_FITTED / PER_POINT ? n * PER_POINT : MAX_FITTED;

    while ((n_values = space_knots(axes, n, x, octaves)) > most)
        octaves *= 1.1;
    return n_values;
}

static bool allocate(struct problem *pr)
{
    pr->stencils = calloc(pr->n_points, sizeof(*pr->stencils));
    pr->weight = calloc(pr->n_points, sizeof(*pr->weight));
    pr->v = calloc(4 * pr->n_values, sizeof(*pr->v));
    if (!pr->stencils || !pr->weight || !pr->v)
        return false;
    pr->r = pr->v + pr->n_values;
    pr->p = pr->r + pr->n_values;
    pr->q = pr->p + pr->n_values;
    return true;
}

/* Finds the best `smooth` and its values v; returns the miss by cross-validation. */
static double find_best(struct problem *pr)
{
    double best = INFINITY, best_smooth = SMOOTHS[N_SMOOTHS - 1];

    for (unsigned i = 0; i < N_SMOOTHS; i++) {
        double miss;

        pr->smooth = SMOOTHS[i];
        miss = cross_validate(pr);
        if (miss < best) {
            best = miss;
            best_smooth = SMOOTHS[i];
        }
    }
    pr->smooth = best_smooth;
    solve_robustly(pr, FOLDS);
    return best;
}

enum fr_status fr__residual_fit(struct fr__residual *r, size_t n, const double x[][AXES],
                                const double y[], const uint64_t group[], double *miss,
                                struct fr_error *err)
{
    struct problem pr = {.n_points = n, .axes = r->axes, .y = y, .group = group};
    enum fr_status st = FR_OK;

    memset(r, 0, sizeof(*r));
    *miss = 0;
    for (size_t k = 0; k < n; k++)
        *miss += fabs(y[k]) / (double)n;
    if (n < MIN_POINTS)
        return FR_OK;
    pr.n_values = choose_axes(r->axes, n, x);
    r->values = r->own = calloc(pr.n_values, sizeof(*r->own));
    if (!allocate(&pr) || !r->own) {
        st = fr__fail_nomem(err);
        goto free_all;
    }
    for (size_t k = 0; k < n; k++)
        find_corners(r->axes, x[k], &pr.stencils[k]);
    *miss = find_best(&pr);
    for (size_t i = 0; i < pr.n_values; i++)
        r->own[i] = (float)(round(pr.v[i] * 1000) / 1000);
    r->n_values = pr.n_values;
free_all:
    free(pr.v);
    free(pr.weight);
    free(pr.stencils);
    if (st != FR_OK)
        fr__residual_fini(r);
    return st;
}
