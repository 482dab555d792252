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

void fr__normal_solve(const struct fr__normal *n, const double x[FR__N_MOVED],
                      const double mean[FR__N_MOVED], const double prior_variance[FR__N_MOVED],
                      double d[FR__N_MOVED], double covariance[FR__N_MOVED][FR__N_MOVED])
{
    double a[FR__N_MOVED][FR__N_MOVED], c[FR__N_MOVED][FR__N_MOVED];

    for (unsigned k = 0; k < FR__N_MOVED; k++) {
        for (unsigned l = 0; l < FR__N_MOVED; l++)
            a[k][l] = n->a[k][l] + (k == l ? 1 / prior_variance[k] : 0);
        d[k] = n->b[k] + (mean[k] - x[k]) / prior_variance[k];
    }
    factorise((const double(*)[FR__N_MOVED])a, c);
    substitute(c, d);
    for (unsigned k = 0; k < FR__N_MOVED; k++) {
        for (unsigned l = 0; l < FR__N_MOVED; l++)
            covariance[k][l] = k == l;
        substitute(c, covariance[k]);
    }
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
