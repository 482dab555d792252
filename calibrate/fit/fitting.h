/* calibrate/fit/fitting.h - the optimiser and the standard errors that the fits of curves (fit.c)
 * and of systems share.
 *
 * The optimum is found by the simplex of J. A. Nelder and R. Mead (The Computer Journal 7(4), 1965;
 * GSL's nmsimplex2) in the logarithms of the parameters. Gradients would not do, because the
 * function has kinks where the best tile or protocol changes. A parameter outside its bounds counts
 * as being on the bound, plus 0.01 for each factor e beyond it.
 *
 * Standard errors are the spread of fits to rows drawn with replacement, each started from the
 * optimum (bootstrap: B. Efron, Annals of Statistics 7(1), 1979). The draws are seeded, so that the
 * result is always the same.
 */
#ifndef FR_CALIBRATE_FIT_FITTING_H
#define FR_CALIBRATE_FIT_FITTING_H

#include "calibrate/calibrate.h"

/* Mean of |log_ratio| over n rows, log_ratio being ln(predicted / measured). Row k counts draws[k]
 * times, or once if draws is NULL. */
double fr__mean_miss(size_t n, const uint32_t *draws,
                     double (*log_ratio)(const void *user, size_t row), const void *user);

struct fr__simplex {
    size_t n;
    const double *low, *high;                              /* [n], > 0 */
    double (*miss)(void *user, const double parameters[]); /* [n], within the bounds */
    void *user;
    const double *centre; /* [n] parameters on which the rows say little go here; NULL: nowhere */
    double pull; /* `pull` times the mean of ln(parameter / centre)^2 is added to the miss */
};

/* Moves parameters to the nearest optimum, with at most that many steps of a simplex of that size
 * (1 is a factor e). Returns the miss there, including the pull; NaN: out of memory. */
double fr__simplex_minimise(const struct fr__simplex *s, double parameters[], double size,
                            unsigned steps);

/* Fits parameters[n_parameters] in place, with row k counted draws[k] times. false: out of
 * memory. */
typedef bool (*fr__refit_fn)(void *user, const uint32_t draws[], double parameters[]);

/* Standard deviations of the parameters over n_draws fits, to five digits. n_rows > 0. hashes:
 * [n_rows], rows with the same hash are drawn together, since a shape that was measured several
 * times tells only once; NULL: each row by itself. FR_ENOMEM. */
enum fr_status fr__bootstrap(size_t n_rows, const uint64_t *hashes, unsigned n_draws,
                             fr__refit_fn refit, void *user, size_t n_parameters,
                             const double parameters[], double errors[], struct fr_error *err);

void fr__round_misses(struct fr_misses *m);
#endif
