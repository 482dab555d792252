/* calibrate/curves/trees.c - evaluates boosted trees and fits them. */
#include "config.h"

#include "calibrate/curves/trees.h"
#include "base/round.h"

#include "base/error.h"
#include "calibrate/fit/fitting.h"

#include <gsl/gsl_sort_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH = FR__TREES_DEPTH, LEAVES = FR__TREES_LEAVES, BINS = 32, MIN_POINTS = 40, FOLDS = 5 };
static const double RATE = 0.3;         /* share of the median that a leaf takes */
static const double SPLIT_SHRINK = 3;   /* points added to each side of a question */
static const double LEAF_SHRINK = 2;    /* points of value 0 added to a leaf */
static const double MOST_VALUE = 10000; /* thousandths */
static const size_t COUNTS[] = {0, 4, 8, 16, 24, 32, 48, 64};
enum { N_COUNTS = sizeof(COUNTS) / sizeof(COUNTS[0]) };

/* ---- looking up ---- */

static int sum_at(const struct fr__tree trees[], size_t n, const double features[])
{
    int sum = 0;

    for (size_t i = 0; i < n; i++) {
        unsigned leaf = 0;

        for (unsigned d = 0; d < DEPTH; d++) {
            const struct fr__split *s = &trees[i].splits[d];

            leaf = 2 * leaf + (features[s->feature] >= s->from);
        }
        sum += trees[i].thousandths[leaf];
    }
    return sum;
}

double fr__trees_at(const struct fr__trees *t, const double features[])
{
    int sum = sum_at(t->trees, t->n, features);

    sum = sum > t->low ? sum : t->low;
    sum = sum < t->high ? sum : t->high;
    return sum / 1000.0;
}

enum fr_status fr__trees_copy(struct fr__trees *to, const struct fr__trees *from,
                              struct fr_error *err)
{
    struct fr__tree *trees = NULL;

    memset(to, 0, sizeof(*to));
    if (from->n == 0)
        return FR_OK;
    trees = calloc(from->n, sizeof(*trees));
    if (!trees)
        return fr__fail_nomem(err);
    memcpy(trees, from->trees, from->n * sizeof(*trees));
    *to = (struct fr__trees){from->n, trees, from->low, from->high, trees};
    return FR_OK;
}

void fr__trees_fini(struct fr__trees *t)
{
    free(t->own);
    memset(t, 0, sizeof(*t));
}

/* ---- bins: a feature's values fall between at most BINS - 1 edges ---- */

struct edges {
    unsigned n;
    double at[BINS - 1];
};

/* Chooses the edges of a feature: halfway between neighbouring values if these are few, otherwise
 * such that about equally many points lie between two edges. sorted: [n]. An edge has five digits,
 * as in a device file. */
static void find_edges(size_t n, const double sorted[], struct edges *e)
{
    size_t n_distinct = 1;

    for (size_t i = 1; i < n; i++)
        n_distinct += sorted[i] != sorted[i - 1];
    e->n = 0;
    for (size_t i = 1; i < n && e->n < BINS - 1; i++) {
        double edge;

        if (sorted[i] == sorted[i - 1] || (n_distinct > BINS && i * BINS < (e->n + 1) * n))
            continue;
        edge = fr__round_digits((sorted[i] + sorted[i - 1]) / 2);
        if (edge > sorted[0] && edge <= sorted[n - 1] && (e->n == 0 || edge > e->at[e->n - 1]))
            e->at[e->n++] = edge;
    }
}

static uint8_t bin_of(const struct edges *e, double x)
{
    uint8_t bin = 0;

    while (bin < e->n && x >= e->at[bin])
        bin++;
    return bin;
}

/* ---- the fit ---- */

struct problem {
    size_t n, n_features;
    struct edges *edges; /* [n_features] */
    uint8_t *bins;       /* [n_features][n] */
    const double *y;
    const uint64_t *group;
    double *left;   /* [n] y less the trees so far */
    double *sorted; /* [n] scratch for medians */
    int8_t *sign;   /* [n] of left; 0 for a point of the fold left out */
    bool *is_out;   /* [n] */
    uint8_t *leaf;  /* [n] */
};

static bool allocate(struct problem *pr, const struct fr__trees_points *p)
{
    size_t n = p->n, m = p->n_features;

    pr->edges = calloc(m, sizeof(*pr->edges));
    pr->bins = calloc(n * m, sizeof(*pr->bins));
    pr->left = calloc(n, sizeof(*pr->left));
    pr->sorted = calloc(n, sizeof(*pr->sorted));
    pr->sign = calloc(n, sizeof(*pr->sign));
    pr->is_out = calloc(n, sizeof(*pr->is_out));
    pr->leaf = calloc(n, sizeof(*pr->leaf));
    return pr->edges && pr->bins && pr->left && pr->sorted && pr->sign && pr->is_out && pr->leaf;
}

static void release(struct problem *pr)
{
    free(pr->leaf);
    free(pr->is_out);
    free(pr->sign);
    free(pr->sorted);
    free(pr->left);
    free(pr->bins);
    free(pr->edges);
}

static void fill_bins(struct problem *pr, const struct fr__trees_points *p)
{
    for (size_t f = 0; f < p->n_features; f++) {
        for (size_t k = 0; k < p->n; k++)
            pr->sorted[k] = p->x[k * p->n_features + f];
        gsl_sort(pr->sorted, 1, p->n);
        find_edges(p->n, pr->sorted, &pr->edges[f]);
        for (size_t k = 0; k < p->n; k++)
            pr->bins[f * p->n + k] = bin_of(&pr->edges[f], p->x[k * p->n_features + f]);
    }
}

/* How much of the signs each edge of a feature explains, the points being in n_leaves leaves.
 * gains: one for each edge. Sums of signs are whole numbers, so that nothing is rounded before the
 * quotients. */
static void find_gains(const struct problem *pr, size_t feature, unsigned n_leaves, double gains[])
{
    int signs[LEAVES][BINS] = {{0}}, points[LEAVES][BINS] = {{0}};
    const uint8_t *bins = pr->bins + feature * pr->n;
    unsigned n_edges = pr->edges[feature].n;

    for (size_t k = 0; k < pr->n; k++) {
        signs[pr->leaf[k]][bins[k]] += pr->sign[k];
        points[pr->leaf[k]][bins[k]] += !pr->is_out[k];
    }
    for (unsigned e = 0; e < n_edges; e++)
        gains[e] = 0;
    for (unsigned l = 0; l < n_leaves; l++) {
        int above = 0, n_above = 0, below = 0, n_below = 0;

        for (unsigned b = 0; b <= n_edges; b++) {
            above += signs[l][b];
            n_above += points[l][b];
        }
        for (unsigned e = 0; e < n_edges; e++) {
            above -= signs[l][e];
            n_above -= points[l][e];
            below += signs[l][e];
            n_below += points[l][e];
            gains[e] += (double)below * below / (n_below + SPLIT_SHRINK);
            gains[e] += (double)above * above / (n_above + SPLIT_SHRINK);
        }
    }
}

/* Adds the question that explains most, of equal ones the first, and moves the points to the new
 * leaves. */
static void add_split(struct problem *pr, unsigned n_leaves, struct fr__split *split)
{
    double best = -1, gains[BINS];
    unsigned best_edge = 0;
    const uint8_t *bins;

    *split = (struct fr__split){0, 0}; /* if no feature varies */
    for (size_t f = 0; f < pr->n_features; f++) {
        find_gains(pr, f, n_leaves, gains);
        for (unsigned e = 0; e < pr->edges[f].n; e++)
            if (gains[e] > best) {
                best = gains[e];
                best_edge = e;
                *split = (struct fr__split){(unsigned)f, pr->edges[f].at[e]};
            }
    }
    bins = pr->bins + split->feature * pr->n;
    for (size_t k = 0; k < pr->n; k++)
        pr->leaf[k] = (uint8_t)(2 * pr->leaf[k] + (best < 0 || bins[k] > best_edge));
}

/* The value of a leaf, from those of its points that are not left out. */
static int leaf_value(struct problem *pr, unsigned leaf)
{
    size_t n = 0;
    double median, value;

    for (size_t k = 0; k < pr->n; k++)
        if (pr->leaf[k] == leaf && !pr->is_out[k])
            pr->sorted[n++] = pr->left[k];
    if (n == 0)
        return 0;
    gsl_sort(pr->sorted, 1, n);
    median = (pr->sorted[(n - 1) / 2] + pr->sorted[n / 2]) / 2;
    value = 1000 * RATE * median * (double)n / ((double)n + LEAF_SHRINK);
    return (int)lround(fmax(-MOST_VALUE, fmin(value, MOST_VALUE)));
}

static void grow(struct problem *pr, struct fr__tree *tree)
{
    for (size_t k = 0; k < pr->n; k++)
        pr->sign[k] = (int8_t)(pr->is_out[k] ? 0 : (pr->left[k] > 0) - (pr->left[k] < 0));
    memset(pr->leaf, 0, pr->n * sizeof(*pr->leaf));
    for (unsigned d = 0; d < DEPTH; d++)
        add_split(pr, 1u << d, &tree->splits[d]);
    for (unsigned l = 0; l < LEAVES; l++)
        tree->thousandths[l] = (int16_t)leaf_value(pr, l);
    for (size_t k = 0; k < pr->n; k++)
        pr->left[k] -= tree->thousandths[pr->leaf[k]] / 1000.0;
}

static void leave_out(struct problem *pr, unsigned fold)
{
    memcpy(pr->left, pr->y, pr->n * sizeof(*pr->left));
    for (size_t k = 0; k < pr->n; k++)
        pr->is_out[k] = pr->group[k] / FOLDS % FOLDS == fold;
}

/* The index in COUNTS of the number of trees with the least mean miss on the folds left out. */
static size_t cross_validate(struct problem *pr, double *miss)
{
    double sums[N_COUNTS] = {0};
    size_t best = 0;

    for (unsigned fold = 0; fold < FOLDS; fold++) {
        struct fr__tree tree;

        leave_out(pr, fold);
        for (size_t i = 0, n = 0; i < N_COUNTS; i++) {
            for (; n < COUNTS[i]; n++)
                grow(pr, &tree);
            for (size_t k = 0; k < pr->n; k++)
                sums[i] += pr->is_out[k] ? fabs(pr->left[k]) : 0;
        }
    }
    for (size_t i = 1; i < N_COUNTS; i++)
        best = sums[i] < sums[best] ? i : best;
    *miss = sums[best] / (double)pr->n;
    return best;
}

static void grow_all(struct problem *pr, const struct fr__trees_points *p, struct fr__trees *t)
{
    leave_out(pr, FOLDS); /* leaves out no fold */
    for (size_t i = 0; i < t->n; i++)
        grow(pr, &t->own[i]);
    t->low = t->high = sum_at(t->trees, t->n, p->x);
    for (size_t k = 1; k < p->n; k++) {
        int sum = sum_at(t->trees, t->n, p->x + k * p->n_features);

        t->low = sum < t->low ? sum : t->low;
        t->high = sum > t->high ? sum : t->high;
    }
}

enum fr_status fr__trees_fit(struct fr__trees *t, const struct fr__trees_points *p, double *miss,
                             struct fr_error *err)
{
    struct problem pr = {.n = p->n, .n_features = p->n_features, .y = p->y, .group = p->group};
    enum fr_status st = FR_OK;

    memset(t, 0, sizeof(*t));
    *miss = 0;
    for (size_t k = 0; k < p->n; k++)
        *miss += fabs(p->y[k]) / (double)p->n;
    if (p->n < MIN_POINTS)
        return FR_OK;
    if (!allocate(&pr, p)) {
        st = fr__fail_nomem(err);
        goto release;
    }
    fill_bins(&pr, p);
    t->n = COUNTS[cross_validate(&pr, miss)];
    t->trees = t->own = t->n ? calloc(t->n, sizeof(*t->own)) : NULL;
    if (t->n && !t->own) {
        t->n = 0;
        st = fr__fail_nomem(err);
        goto release;
    }
    if (t->n)
        grow_all(&pr, p, t);
release:
    release(&pr);
    return st;
}
