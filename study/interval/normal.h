/* study/interval/normal.h - the equations of a small least-squares problem with a prior.
 *
 * Method:  Gauss-Newton; the matrix by Cholesky (Golub and Van Loan, Matrix Computations, 4.2)
 */
#ifndef FR_STUDY_INTERVAL_NORMAL_H
#define FR_STUDY_INTERVAL_NORMAL_H

#include <stdbool.h>

/* What measured steps say of a question's parts. COMPUTE, HOST: logarithms of the factors on
 * compute and on host time an op. EXCHANGE, STEP, COPIES: what is added, in units of
 * fr__step_units. */
enum { FR__COMPUTE, FR__HOST, FR__EXCHANGE, FR__STEP, FR__COPIES, FR__N_MOVED };

/* J'J / v, J' r / v, and what is to be least, the misfit of the steps and of the prior. */
struct fr__normal {
    double a[FR__N_MOVED][FR__N_MOVED], b[FR__N_MOVED], misfit;
};

/* Adds a step that misses by so much, with the slopes of its logarithm. variance: of the miss.
 * freedom: of Student's t of the misses, by which a step far from the rest counts little; 0: they
 * are normal. Returns its weight, 1 near the rest. */
double fr__normal_add(struct fr__normal *n, const double slope[FR__N_MOVED], double miss,
                      double variance, double freedom);
/* The weight alone. */
double fr__normal_weight(double miss, double variance, double freedom);

/* What is known of the parts apart from the steps. precision: the inverse of its covariance, which
 * is positive definite. */
struct fr__prior {
    double mean[FR__N_MOVED], precision[FR__N_MOVED][FR__N_MOVED];
};

/* Parts that are believed apart from each other. variance: > 0. */
void fr__prior_set(struct fr__prior *p, const double mean[FR__N_MOVED],
                   const double variance[FR__N_MOVED]);
/* (x - mean)' P (x - mean) */
double fr__prior_misfit(const struct fr__prior *p, const double x[FR__N_MOVED]);

/* Solves (P + a) d = b - P (x - mean), P the prior's precision. covariance: the inverse of that
 * matrix. */
void fr__normal_solve(const struct fr__normal *n, const double x[FR__N_MOVED],
                      const struct fr__prior *prior, double d[FR__N_MOVED],
                      double covariance[FR__N_MOVED][FR__N_MOVED]);

/* The inverse of a symmetric matrix; false: it is not positive definite. */
bool fr__normal_invert(const double a[FR__N_MOVED][FR__N_MOVED],
                       double inverse[FR__N_MOVED][FR__N_MOVED]);

/* s' V s */
double fr__normal_spread(const double slope[FR__N_MOVED],
                         const double covariance[FR__N_MOVED][FR__N_MOVED]);

#endif
