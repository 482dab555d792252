/* calibrate/fit/fitting.h - what the fits of curves (fit.c) and of systems share.
 *
 * Optimum:  the simplex of J. A. Nelder and R. Mead (The Computer Journal 7(4), 1965; GSL's nmsimplex2) in the
 *           logarithms of the parameters: minima over tiles and protocols have kinks, which rules out
 *           gradients. Outside its bounds a parameter counts as at them, for 0.01 a factor e.
 * Errors:   the spread of fits to rows drawn with replacement, each from the optimum (B. Efron, Annals of
 *           Statistics 7(1), 1979). Seeded, so always the same.
 */
#ifndef FR_CALIBRATE_FIT_FITTING_H
#define FR_CALIBRATE_FIT_FITTING_H

#include "calibrate/calibrate.h"

/* Mean of |log_ratio| over n rows, ln(predicted / measured) of each; row k counts draws[k]
 * times, once when draws is NULL. */
double fr__mean_miss(size_t n, const uint32_t *draws,
                     double (*log_ratio)(const void *user, size_t row), const void *user);

struct fr__simplex {
    size_t n;
    const double *low, *high;                              /* [n], > 0 */
    double (*miss)(void *user, const double parameters[]); /* [n], within the bounds */
    void *user;
    const double *centre; /* [n] where parameters go that the rows say little of; NULL: nowhere */
    double pull;          /* this times the mean of ln(parameter / centre)^2 is added to the miss */
};

/* From parameters to the nearest optimum, in place: at most that many steps of a simplex of that
 * size (factor e for 1). The miss there, with the pull; NaN out of memory. */
double fr__simplex_minimise(const struct fr__simplex *s, double parameters[], double size,
                            unsigned steps);

/* Fits parameters[n_parameters], in place, with row k counted draws[k] times. */
typedef void (*fr__refit_fn)(void *user, const uint32_t draws[], double parameters[]);

/* Standard deviations of parameters over n_draws fits, to five digits. n_rows > 0. hashes:
 * [n_rows], rows of one hash are drawn together (a shape measured several times tells once);
 * NULL: each row by itself. FR_ENOMEM. */
enum fr_status fr__bootstrap(size_t n_rows, const uint64_t *hashes, unsigned n_draws,
                             fr__refit_fn refit, void *user, size_t n_parameters,
                             const double parameters[], double errors[], struct fr_error *err);

double fr__round_digits(double x); /* to five digits, more than the data hold; 0 for x <= 0 */
void fr__round_misses(struct fr_misses *m);
#endif
