/* study/interval/normal.c - a dense system of four equations. */
#include "config.h"

#include "study/interval/normal.h"

#include <math.h>

double fr__normal_weight(double miss, double variance, double freedom)
{
    return freedom > 0 ? 1 / (1 + miss * miss / (freedom * variance)) : 1;
}

double fr__normal_add(struct fr__normal *n, const double slope[FR__N_MOVED], double miss,
                      double variance, double freedom)
{
    double weight = fr__normal_weight(miss, variance, freedom);

    n->misfit += freedom > 0 ? -freedom * log(weight) : miss * miss / variance;
    for (unsigned k = 0; k < FR__N_MOVED; k++) {
        n->b[k] += weight * slope[k] * miss / variance;
        for (unsigned l = 0; l < FR__N_MOVED; l++)
            n->a[k][l] += weight * slope[k] * slope[l] / variance;
    }
    return weight;
}

/* a = c c', the lower triangle. a is positive definite. */
static void factorise(const double a[FR__N_MOVED][FR__N_MOVED], double c[FR__N_MOVED][FR__N_MOVED])
{
    for (unsigned i = 0; i < FR__N_MOVED; i++)
        for (unsigned j = 0; j <= i; j++) {
            double sum = a[i][j];

            for (unsigned k = 0; k < j; k++)
                sum -= c[i][k] * c[j][k];
            c[i][j] = i == j ? sqrt(sum) : sum / c[j][j];
        }
}

/* c c' x = b, x in the place of b. */
static void substitute(double c[FR__N_MOVED][FR__N_MOVED], double b[FR__N_MOVED])
{
    for (unsigned i = 0; i < FR__N_MOVED; i++) {
        for (unsigned k = 0; k < i; k++)
            b[i] -= c[i][k] * b[k];
        b[i] /= c[i][i];
    }
    for (unsigned i = FR__N_MOVED; i-- > 0;) {
        for (unsigned k = i + 1; k < FR__N_MOVED; k++)
            b[i] -= c[k][i] * b[k];
        b[i] /= c[i][i];
    }
}

static void invert(double c[FR__N_MOVED][FR__N_MOVED], double inverse[FR__N_MOVED][FR__N_MOVED])
{
    for (unsigned k = 0; k < FR__N_MOVED; k++) {
        for (unsigned l = 0; l < FR__N_MOVED; l++)
            inverse[k][l] = k == l;
        substitute(c, inverse[k]);
    }
}

bool fr__normal_invert(const double a[FR__N_MOVED][FR__N_MOVED],
                       double inverse[FR__N_MOVED][FR__N_MOVED])
{
    double c[FR__N_MOVED][FR__N_MOVED];

    factorise(a, c);
    for (unsigned k = 0; k < FR__N_MOVED; k++)
        if (!(c[k][k] > 0) || !isfinite(c[k][k]))
            return false;
    invert(c, inverse);
    return true;
}

void fr__prior_set(struct fr__prior *p, const double mean[FR__N_MOVED],
                   const double variance[FR__N_MOVED])
{
    for (unsigned k = 0; k < FR__N_MOVED; k++) {
        p->mean[k] = mean[k];
        for (unsigned l = 0; l < FR__N_MOVED; l++)
            p->precision[k][l] = k == l ? 1 / variance[k] : 0;
    }
}

double fr__prior_misfit(const struct fr__prior *p, const double x[FR__N_MOVED])
{
    double sum = 0;

    for (unsigned k = 0; k < FR__N_MOVED; k++)
        for (unsigned l = 0; l < FR__N_MOVED; l++)
            sum += (x[k] - p->mean[k]) * p->precision[k][l] * (x[l] - p->mean[l]);
    return sum;
}

void fr__normal_solve(const struct fr__normal *n, const double x[FR__N_MOVED],
                      const struct fr__prior *prior, double d[FR__N_MOVED],
                      double covariance[FR__N_MOVED][FR__N_MOVED])
{
    double a[FR__N_MOVED][FR__N_MOVED], c[FR__N_MOVED][FR__N_MOVED];

    for (unsigned k = 0; k < FR__N_MOVED; k++) {
        d[k] = n->b[k];
        for (unsigned l = 0; l < FR__N_MOVED; l++) {
            a[k][l] = n->a[k][l] + prior->precision[k][l];
            d[k] += prior->precision[k][l] * (prior->mean[l] - x[l]);
        }
    }
    factorise((const double(*)[FR__N_MOVED])a, c);
    substitute(c, d);
    invert(c, covariance);
}

double fr__normal_spread(const double slope[FR__N_MOVED],
                         const double covariance[FR__N_MOVED][FR__N_MOVED])
{
    double sum = 0;

    for (unsigned k = 0; k < FR__N_MOVED; k++)
        for (unsigned l = 0; l < FR__N_MOVED; l++)
            sum += slope[k] * covariance[k][l] * slope[l];
    return fmax(0, sum);
}
