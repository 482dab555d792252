/* study/interval/most_likely.h - the parts of a step that measured steps make most likely.
 *
 * Method:  Gauss-Newton steps from 0, each with the slopes of a run, halved while they lead uphill;
 *          no part goes past its end. The covariance from the slopes at the end (Laplace; Bishop,
 *          Pattern Recognition and Machine Learning, 2006, section 4.4). Misses may be Student's t,
 *          so that a step that contradicts the others counts little (Lange, Little and Taylor,
 *          Journal of the American Statistical Association 84, 1989)
 */
#ifndef FR_STUDY_INTERVAL_MOST_LIKELY_H
#define FR_STUDY_INTERVAL_MOST_LIKELY_H

#include "base/error.h"
#include "study/interval/normal.h"

#include <stddef.h>

/* Standard deviation of the logarithm of a measured step: vendors' tables are good to a few percent
 * (README of the published rates). */
static const double FR__NOISE = 0.03;

struct fr__seen {
    size_t n; /* measured steps */
    /* Simulates step i with its parts moved so: *miss = ln(measured / simulated), and the slopes of
     * ln(simulated). A failure ends the search and is its result. */
    enum fr_status (*look)(void *user, size_t i, const double moved[FR__N_MOVED], double *miss,
                           double slope[FR__N_MOVED], struct fr_error *err);
    void *user;
    struct fr__prior prior;
    double most_compute; /* compute slower than this is not believed: FR__COMPUTE's end */
    double freedom;      /* of the misses, normal.h */
};

/* moved, covariance: the answer. Cost: n looks, a few times. */
enum fr_status fr__most_likely(double moved[FR__N_MOVED],
                               double covariance[FR__N_MOVED][FR__N_MOVED],
                               const struct fr__seen *seen, struct fr_error *err);

/* The freedom for n steps: of three and more, one can contradict the others. */
double fr__freedom_of(size_t n_steps);
#endif
