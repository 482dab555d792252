/* calibrate/curves/residual.h - a small grid of residuals ln(measured / model) over the logarithms
 * of a shape's sizes.
 *
 * Between the knots the value is multilinear. Outside the grid it is that of the nearest border,
 * because we do not extrapolate what was not measured. The knots of an axis are equally spaced.
 *
 * Fit:     minimises sum_i w_i (y_i - g(x_i))^2 + smooth * sum over neighbours (v_a - v_b)^2 +
 *          ridge * sum v^2 by conjugate gradients. The weights w_i = 1 / max(|y_i - g(x_i)|, 0.02)
 *          are renewed four times, so that it is the sum of absolute residuals that is minimised
 *          (iteratively reweighted least squares: R. Wolke and H. Schwetlick, SIAM J. Sci. Stat.
 *          Comput. 9(5), 1988). The two penalties pull a knot towards its neighbours and towards 0
 *          if it has few rows. Of a few values of `smooth` the one is taken that predicts best by
 *          five-fold cross-validation over shapes.
 */
#ifndef FR_CALIBRATE_CURVES_RESIDUAL_H
#define FR_CALIBRATE_CURVES_RESIDUAL_H

#include "base/base.h"

enum { FR__RESIDUAL_AXES = 4, FR__RESIDUAL_MAX_KNOTS = 32, FR__RESIDUAL_MAX_VALUES = 1 << 16 };

struct fr__axis {
    double first, step; /* first knot and distance of knots; step > 0 */
    uint32_t n;         /* knots, at least 1 */
};

struct fr__residual {
    struct fr__axis axes[FR__RESIDUAL_AXES];
    size_t n_values;     /* the product of the axes' n; 0: no residual, it is 0 everywhere */
    const float *values; /* [axes[0].n][axes[1].n]...: `own`, or a table that is compiled in */
    float *own;          /* heap, or NULL */
};

double fr__residual_at(const struct fr__residual *r, const double x[FR__RESIDUAL_AXES]);
void fr__residual_fini(struct fr__residual *r);

/* Fits a grid to n points. group: [n] hash of the point's shape; points with the same hash stay in
 * the same fold. Values are rounded to thousandths. Fewer than 40 points: no residual. *miss: mean
 * of |y - g(x)| on the folds that were left out; without a residual, mean of |y|. FR_ENOMEM: *r is
 * empty. Cost: about a thousand passes over the points. */
enum fr_status fr__residual_fit(struct fr__residual *r, size_t n,
                                const double x[][FR__RESIDUAL_AXES], const double y[],
                                const uint64_t group[], double *miss, struct fr_error *err);
#endif
