/* calibrate/curves/trees.h - residuals ln(measured / model) by boosted trees over features of a
 * shape.
 *
 * A library chooses its kernels by rules over sizes, tiles and waves, so that the error of a
 * formula jumps where such a rule decides otherwise. A tree asks FR__TREES_DEPTH questions about
 * features, always the same ones whatever the answers ("oblivious"), and has a value for each of
 * the 2^depth combinations of answers:
 *
 *     g(x) = sum over trees of value[answers(x)], kept within its range on the points fitted
 *
 * It is constant between the thresholds of the questions and beyond all of them, because we do not
 * extrapolate what was not measured. Values are whole thousandths, so that their sum is exact and
 * the same everywhere.
 *
 * Fit:     each tree is fitted to the signs of what the trees before it leave. Each question is the
 *          one that explains most of these signs. The value of a leaf is 0.3 times the median of
 *          what is left in it, shrunk towards 0 where points are few. Of a few numbers of trees the
 *          one is taken that predicts best by five-fold cross-validation over shapes.
 * Source:  J. H. Friedman, "Greedy function approximation: a gradient boosting machine", Annals of
 *          Statistics 29(5), 2001, section 4.3 (least absolute deviation); L. Prokhorenkova et al.,
 *          "CatBoost: unbiased boosting with categorical features", NeurIPS 2018, section 4
 *          (oblivious trees). Depth, rate, shrinkage and bins were chosen by cross-validation on
 *          the rows of matrix products that are fitted; they matter little.
 */
#ifndef FR_CALIBRATE_CURVES_TREES_H
#define FR_CALIBRATE_CURVES_TREES_H

#include "base/base.h"

enum {
    FR__TREES_FEATURES = 40, /* at most */
    FR__TREES_DEPTH = 5,
    FR__TREES_LEAVES = 1 << FR__TREES_DEPTH,
    FR__TREES_MAX = 64
};

/* Whether feature >= from. */
struct fr__split {
    unsigned feature;
    double from;
};

struct fr__tree {
    struct fr__split
        splits[FR__TREES_DEPTH]; /* the first question gives the highest bit of the leaf's number */
    int16_t thousandths[FR__TREES_LEAVES];
};

struct fr__trees {
    size_t n;                     /* 0: no trees, the residual is 0 everywhere */
    const struct fr__tree *trees; /* [n]: `own`, or a table that is compiled in */
    int low, high;                /* thousandths; range of the sum */
    struct fr__tree *own;         /* heap, or NULL */
};

/* features: as many as in the fit, finite. */
double fr__trees_at(const struct fr__trees *t, const double features[]);
/* FR_ENOMEM: *to is empty. */
enum fr_status fr__trees_copy(struct fr__trees *to, const struct fr__trees *from,
                              struct fr_error *err);
void fr__trees_fini(struct fr__trees *t);

struct fr__trees_points {
    size_t n, n_features;
    const double *x;       /* [n][n_features] */
    const double *y;       /* [n] */
    const uint64_t *group; /* [n] hash of the shape; equal ones stay in the same fold */
};
/* *miss: mean of |y - g(x)| on the folds that were left out, for the number of trees chosen; mean
 * of |y| if there are none (none predicts better, or there are fewer than 40 points). FR_ENOMEM: *t
 * is empty. Cost: 6 times 64 trees, each some n n_features depth steps. */
enum fr_status fr__trees_fit(struct fr__trees *t, const struct fr__trees_points *p, double *miss,
                             struct fr_error *err);
#endif
