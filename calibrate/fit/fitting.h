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

/* A fit of at most FR__FIT_MOST parameters on the mean of |log_ratio| of rows. */
enum { FR__FIT_MOST = 20 };
struct fr__rows_fit {
    size_t n;              /* rows */
    const uint32_t *draws; /* [n] how often a row counts; NULL: once */
    double (*log_ratio)(const void *user, const double parameters[], size_t row);
    uint64_t (*hash)(const void *user, size_t row); /* rows of the same one are drawn together */
    const void *user;
    struct fr__simplex simplex; /* n, centre and pull; the rest is set by fr__rows_fit_best */
    double low[FR__FIT_MOST], high[FR__FIT_MOST];
    const double *now; /* the parameters being tried */
};

/* The mean of |log_ratio| there. */
double fr__rows_miss(struct fr__rows_fit *f, const double parameters[]);
/* Finds the best parameters from each of the starts[n_starts][simplex.n]; each is restarted
 * twice, because a simplex may shrink too early. Returns the miss, with the pull, or NaN out of
 * memory. */
double fr__rows_fit_best(struct fr__rows_fit *f, size_t n_starts, const double starts[],
                         double size, unsigned steps, double out[]);
/* Their standard errors, by fr__bootstrap; after fr__rows_fit_best. */
enum fr_status fr__rows_fit_errors(struct fr__rows_fit *f, unsigned n_draws,
                                   const double parameters[], double errors[],
                                   struct fr_error *err);

void fr__round_misses(struct fr_misses *m);
#endif
