/* calibrate/curves/residual.h - a small grid of log-residuals over the logarithms of a shape.
 *
 * Value at x: multilinear between the knots; outside, the value at the nearest border, since what
 * was not measured is not extrapolated. Knots of an axis are equally spaced.
 *
 * Fit:     minimises sum_i w_i (y_i - g(x_i))^2 + smooth * sum over neighbours (v_a - v_b)^2
 *                  + ridge * sum v^2
 *          the weights w_i = 1 / max(|y_i - g(x_i)|, 0.02) renewed four times, which makes it the sum
 *          of absolute residuals (iteratively reweighted least squares: R. Wolke and H. Schwetlick,
 *          SIAM J. Sci. Stat. Comput. 9(5), 1988); solved by conjugate gradients. The two penalties
 *          shrink a knot towards its neighbours and towards 0 where few rows speak for it; smooth
 *          is the one of a few that predicts best by five-fold cross-validation over shapes.
 */
#ifndef FR_CALIBRATE_CURVES_RESIDUAL_H
#define FR_CALIBRATE_CURVES_RESIDUAL_H

#include "base/base.h"

enum { FR__RESIDUAL_AXES = 4, FR__RESIDUAL_MAX_KNOTS = 32, FR__RESIDUAL_MAX_VALUES = 1 << 16 };

struct fr__axis {
    double first, step; /* of the knots; step > 0 */
    uint32_t n;         /* knots, at least 1 */
};

struct fr__residual {
    struct fr__axis axes[FR__RESIDUAL_AXES];
    size_t n_values;     /* the product of the axes' n; 0: no residual, everything reads 0 */
    const float *values; /* [axes[0].n][axes[1].n]...: `own`, or a table that is compiled in */
    float *own;          /* heap, or NULL */
};

double fr__residual_at(const struct fr__residual *r, const double x[FR__RESIDUAL_AXES]);
void fr__residual_fini(struct fr__residual *r);

/* Fits a grid to n points; group: [n], points with the same number stay in the same fold (the hash
 * of their shape). Values are rounded to thousandths. Fewer than 40 points: no residual. *miss: mean of
 * |y - g(x)| on folds that were left out, without a residual that of 0. FR_ENOMEM: *r is empty.
 * Cost: about a thousand passes over the points. */
enum fr_status fr__residual_fit(struct fr__residual *r, size_t n,
                                const double x[][FR__RESIDUAL_AXES], const double y[],
                                const uint64_t group[], double *miss, struct fr_error *err);
#endif
