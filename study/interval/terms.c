/* study/interval/terms.c - the terms of terms.h as numbers.
 *
 * Do not edit the table. `make truth` prints how it does on sources left out, and
 *     interval_terms.py --write study/interval/terms.c --measured training.csv ROWS.csv ...
 * of tests/oracles makes it anew, from the files that `make truth` leaves: training_rows.csv with
 * truth.json and truth_anchored.json, recipe_rows.csv with recipe_rows.json and
 * recipe_anchored.json, large_rows.csv with large_rows.json.
 */
#include "config.h"

#include "study/interval/terms.h"

#include "workloads/graph/totals.h"

#include <math.h>
#include <stddef.h>

enum { N_TERMS = FR__N_ANCHORS * FR__N_PLACES * 8 };

/* By anchor, place, numbers, kind of work, recipe. 5, 25, 50, 75, 95 % quantiles of
 * ln(measured / predicted); error of their costs; rows; sources. */
static const struct fr__step_term terms[N_TERMS] = {
    /* terms: made */
    /* one-gpu fp32 convolutions */
    {{-0.2128, -0.0153, 0.0459, 0.2152, 0.4451}, 0.1274, 37, 4},
    /* one-gpu fp32 convolutions recipe */
    {{-0.1899, 0.0038, 0.0526, 0.2676, 0.4555}, 0.1275, 15, 2},
    /* one-gpu fp32 products */
    {{-0.1242, 0.0044, 0.0877, 0.2896, 0.6571}, 0.0483, 45, 2},
    /* one-gpu fp32 products recipe */
    {{-0.1633, -0.0629, 0.0560, 0.1546, 0.4906}, 0.0355, 29, 1},
    /* one-gpu half convolutions */
    {{-0.3383, -0.0636, 0.3457, 0.5602, 0.7195}, 0.0493, 14, 3},
    /* one-gpu half convolutions recipe */
    {{-0.1470, 0.0094, 0.1111, 0.3510, 0.5320}, 0.0557, 11, 2},
    /* one-gpu half products */
    {{-0.2578, -0.1206, 0.0560, 0.1198, 0.2881}, 0.0339, 44, 3},
    /* one-gpu half products recipe */
    {{-0.1593, -0.1085, 0.0376, 0.0751, 0.4039}, 0.0329, 30, 1},
    /* one-machine fp32 convolutions */
    {{-0.1831, 0.0201, 0.0901, 0.2727, 0.4885}, 0.1273, 81, 4},
    /* one-machine fp32 convolutions recipe */
    {{-0.1683, -0.0088, 0.1189, 0.3443, 0.4967}, 0.0812, 25, 2},
    /* one-machine fp32 products */
    {{-0.1108, 0.0547, 0.2682, 0.4053, 0.7870}, 0.0482, 109, 2},
    /* one-machine fp32 products recipe */
    {{-0.0945, -0.0189, 0.1120, 0.2931, 0.5177}, 0.0354, 66, 1},
    /* one-machine half convolutions */
    {{-0.2895, 0.0252, 0.4137, 0.6635, 0.7566}, 0.0488, 28, 3},
    /* one-machine half convolutions recipe */
    {{-0.1491, 0.0336, 0.2206, 0.3995, 0.5314}, 0.0549, 19, 2},
    /* one-machine half products */
    {{-0.1082, 0.0908, 0.2056, 0.3339, 0.4839}, 0.0397, 232, 10},
    /* one-machine half products recipe */
    {{-0.0864, 0.0716, 0.1364, 0.3221, 0.4599}, 0.0397, 66, 1},
    /* machines fp32 convolutions */
    {{0.0315, 0.0388, 0.3070, 0.4770, 0.5784}, 0.1294, 21, 2},
    /* machines fp32 convolutions recipe */
    {{-0.1549, 0.1223, 0.3807, 0.4741, 0.5479}, 0.1810, 0, 0},
    /* machines fp32 products */
    {{-0.1278, -0.0353, 0.1060, 0.1956, 0.5301}, 0.0866, 18, 1},
    /* machines fp32 products recipe */
    {{-0.1321, -0.0253, 0.1246, 0.2147, 0.5160}, 0.0681, 15, 1},
    /* machines half convolutions */
    {{-0.0591, 0.2607, 0.5130, 0.7747, 0.7777}, 0.0481, 2, 1},
    /* machines half convolutions recipe */
    {{-0.1684, 0.0164, 0.3069, 0.4646, 0.5591}, 0.1810, 0, 0},
    /* machines half products */
    {{-0.1824, 0.0116, 0.1315, 0.2018, 0.3343}, 0.0288, 127, 9},
    /* machines half products recipe */
    {{-0.0971, 0.0130, 0.1315, 0.2018, 0.3353}, 0.0288, 16, 1},
    /* one-gpu fp32 convolutions anchored */
    {{-0.0496, 0.0268, 0.0542, 0.1119, 0.2265}, 0.0296, 0, 0},
    /* one-gpu fp32 convolutions recipe anchored */
    {{-0.0892, -0.0066, 0.0337, 0.0901, 0.2200}, 0.0295, 0, 0},
    /* one-gpu fp32 products anchored */
    {{-0.0496, 0.0268, 0.0542, 0.1119, 0.2265}, 0.0296, 0, 0},
    /* one-gpu fp32 products recipe anchored */
    {{-0.0892, -0.0066, 0.0337, 0.0901, 0.2200}, 0.0295, 0, 0},
    /* one-gpu half convolutions anchored */
    {{-0.0496, 0.0268, 0.0542, 0.1119, 0.2265}, 0.0296, 0, 0},
    /* one-gpu half convolutions recipe anchored */
    {{-0.0892, -0.0066, 0.0337, 0.0901, 0.2200}, 0.0295, 0, 0},
    /* one-gpu half products anchored */
    {{-0.0496, 0.0268, 0.0542, 0.1119, 0.2265}, 0.0296, 0, 0},
    /* one-gpu half products recipe anchored */
    {{-0.0892, -0.0066, 0.0337, 0.0901, 0.2200}, 0.0295, 0, 0},
    /* one-machine fp32 convolutions anchored */
    {{-0.0496, 0.0268, 0.0542, 0.1119, 0.2265}, 0.0296, 51, 3},
    /* one-machine fp32 convolutions recipe anchored */
    {{-0.0892, -0.0066, 0.0337, 0.0901, 0.2200}, 0.0295, 25, 2},
    /* one-machine fp32 products anchored */
    {{-0.0496, 0.0268, 0.0542, 0.1119, 0.2265}, 0.0296, 73, 1},
    /* one-machine fp32 products recipe anchored */
    {{-0.0892, -0.0066, 0.0337, 0.0901, 0.2200}, 0.0295, 58, 1},
    /* one-machine half convolutions anchored */
    {{-0.0496, 0.0268, 0.0542, 0.1119, 0.2265}, 0.0296, 19, 2},
    /* one-machine half convolutions recipe anchored */
    {{-0.0892, -0.0066, 0.0337, 0.0901, 0.2200}, 0.0295, 19, 2},
    /* one-machine half products anchored */
    {{-0.0496, 0.0268, 0.0542, 0.1119, 0.2265}, 0.0296, 76, 1},
    /* one-machine half products recipe anchored */
    {{-0.0892, -0.0066, 0.0337, 0.0901, 0.2200}, 0.0295, 60, 1},
    /* machines fp32 convolutions anchored */
    {{-0.0496, 0.0268, 0.0542, 0.1119, 0.2265}, 0.0296, 15, 1},
    /* machines fp32 convolutions recipe anchored */
    {{-0.0891, -0.0066, 0.0337, 0.0901, 0.2200}, 0.0295, 0, 0},
    /* machines fp32 products anchored */
    {{-0.0496, 0.0268, 0.0542, 0.1119, 0.2265}, 0.0296, 2, 1},
    /* machines fp32 products recipe anchored */
    {{-0.0892, -0.0066, 0.0337, 0.0901, 0.2200}, 0.0295, 2, 1},
    /* machines half convolutions anchored */
    {{-0.0496, 0.0268, 0.0542, 0.1119, 0.2265}, 0.0296, 0, 0},
    /* machines half convolutions recipe anchored */
    {{-0.0892, -0.0066, 0.0337, 0.0901, 0.2200}, 0.0295, 0, 0},
    /* machines half products anchored */
    {{-0.0496, 0.0268, 0.0542, 0.1119, 0.2265}, 0.0296, 3, 1},
    /* machines half products recipe anchored */
    {{-0.0892, -0.0066, 0.0337, 0.0901, 0.2200}, 0.0295, 3, 1},
    /* one-gpu fp32 convolutions anchored by several */
    {{-0.1635, -0.0062, 0.0175, 0.0525, 0.1544}, 0.0300, 0, 0},
    /* one-gpu fp32 convolutions recipe anchored by several */
    {{-0.1778, -0.0092, 0.0122, 0.0421, 0.1496}, 0.0300, 0, 0},
    /* one-gpu fp32 products anchored by several */
    {{-0.1635, -0.0062, 0.0175, 0.0525, 0.1544}, 0.0300, 0, 0},
    /* one-gpu fp32 products recipe anchored by several */
    {{-0.1778, -0.0092, 0.0122, 0.0421, 0.1496}, 0.0300, 0, 0},
    /* one-gpu half convolutions anchored by several */
    {{-0.1635, -0.0062, 0.0175, 0.0525, 0.1544}, 0.0300, 0, 0},
    /* one-gpu half convolutions recipe anchored by several */
    {{-0.1778, -0.0092, 0.0122, 0.0421, 0.1496}, 0.0300, 0, 0},
    /* one-gpu half products anchored by several */
    {{-0.1635, -0.0062, 0.0175, 0.0525, 0.1544}, 0.0300, 0, 0},
    /* one-gpu half products recipe anchored by several */
    {{-0.1778, -0.0092, 0.0122, 0.0421, 0.1496}, 0.0300, 0, 0},
    /* one-machine fp32 convolutions anchored by several */
    {{-0.1635, -0.0062, 0.0175, 0.0525, 0.1544}, 0.0300, 37, 3},
    /* one-machine fp32 convolutions recipe anchored by several */
    {{-0.1778, -0.0092, 0.0122, 0.0421, 0.1496}, 0.0300, 16, 2},
    /* one-machine fp32 products anchored by several */
    {{-0.1635, -0.0062, 0.0175, 0.0525, 0.1544}, 0.0300, 43, 1},
    /* one-machine fp32 products recipe anchored by several */
    {{-0.1778, -0.0092, 0.0122, 0.0421, 0.1496}, 0.0300, 33, 1},
    /* one-machine half convolutions anchored by several */
    {{-0.1635, -0.0062, 0.0175, 0.0525, 0.1544}, 0.0300, 12, 2},
    /* one-machine half convolutions recipe anchored by several */
    {{-0.1778, -0.0092, 0.0122, 0.0421, 0.1496}, 0.0300, 12, 2},
    /* one-machine half products anchored by several */
    {{-0.1635, -0.0062, 0.0175, 0.0525, 0.1544}, 0.0300, 48, 1},
    /* one-machine half products recipe anchored by several */
    {{-0.1778, -0.0092, 0.0122, 0.0421, 0.1496}, 0.0300, 38, 1},
    /* machines fp32 convolutions anchored by several */
    {{-0.1635, -0.0062, 0.0175, 0.0525, 0.1544}, 0.0300, 30, 1},
    /* machines fp32 convolutions recipe anchored by several */
    {{-0.1778, -0.0092, 0.0122, 0.0421, 0.1496}, 0.0300, 0, 0},
    /* machines fp32 products anchored by several */
    {{-0.1635, -0.0062, 0.0175, 0.0525, 0.1544}, 0.0300, 9, 1},
    /* machines fp32 products recipe anchored by several */
    {{-0.1778, -0.0092, 0.0122, 0.0421, 0.1496}, 0.0300, 9, 1},
    /* machines half convolutions anchored by several */
    {{-0.1635, -0.0062, 0.0175, 0.0525, 0.1544}, 0.0300, 0, 0},
    /* machines half convolutions recipe anchored by several */
    {{-0.1778, -0.0092, 0.0122, 0.0421, 0.1496}, 0.0300, 0, 0},
    /* machines half products anchored by several */
    {{-0.1635, -0.0062, 0.0175, 0.0525, 0.1544}, 0.0300, 12, 1},
    /* machines half products recipe anchored by several */
    {{-0.1778, -0.0092, 0.0122, 0.0421, 0.1496}, 0.0300, 12, 1},
    /* one-gpu fp32 convolutions anchored by as many */
    {{-0.0698, -0.0286, 0.0000, 0.0286, 0.0698}, 0.0300, 12, 1},
    /* one-gpu fp32 convolutions recipe anchored by as many */
    {{-0.0698, -0.0286, 0.0000, 0.0286, 0.0698}, 0.0300, 0, 0},
    /* one-gpu fp32 products anchored by as many */
    {{-0.0698, -0.0286, 0.0000, 0.0286, 0.0698}, 0.0300, 0, 0},
    /* one-gpu fp32 products recipe anchored by as many */
    {{-0.0698, -0.0286, 0.0000, 0.0286, 0.0698}, 0.0300, 0, 0},
    /* one-gpu half convolutions anchored by as many */
    {{-0.0698, -0.0286, 0.0000, 0.0286, 0.0698}, 0.0300, 0, 0},
    /* one-gpu half convolutions recipe anchored by as many */
    {{-0.0698, -0.0286, 0.0000, 0.0286, 0.0698}, 0.0300, 0, 0},
    /* one-gpu half products anchored by as many */
    {{-0.0698, -0.0286, 0.0000, 0.0286, 0.0698}, 0.0300, 0, 0},
    /* one-gpu half products recipe anchored by as many */
    {{-0.0698, -0.0286, 0.0000, 0.0286, 0.0698}, 0.0300, 0, 0},
    /* one-machine fp32 convolutions anchored by as many */
    {{-0.0698, -0.0286, 0.0000, 0.0286, 0.0698}, 0.0300, 16, 1},
    /* one-machine fp32 convolutions recipe anchored by as many */
    {{-0.0698, -0.0286, 0.0000, 0.0286, 0.0698}, 0.0300, 0, 0},
    /* one-machine fp32 products anchored by as many */
    {{-0.0698, -0.0286, 0.0000, 0.0286, 0.0698}, 0.0300, 4, 1},
    /* one-machine fp32 products recipe anchored by as many */
    {{-0.0698, -0.0286, 0.0000, 0.0286, 0.0698}, 0.0300, 2, 1},
    /* one-machine half convolutions anchored by as many */
    {{-0.0698, -0.0286, 0.0000, 0.0286, 0.0698}, 0.0300, 0, 0},
    /* one-machine half convolutions recipe anchored by as many */
    {{-0.0698, -0.0286, 0.0000, 0.0286, 0.0698}, 0.0300, 0, 0},
    /* one-machine half products anchored by as many */
    {{-0.0698, -0.0286, 0.0000, 0.0286, 0.0698}, 0.0300, 24, 1},
    /* one-machine half products recipe anchored by as many */
    {{-0.0698, -0.0286, 0.0000, 0.0286, 0.0698}, 0.0300, 0, 0},
    /* machines fp32 convolutions anchored by as many */
    {{-0.0698, -0.0286, 0.0000, 0.0286, 0.0698}, 0.0300, 12, 1},
    /* machines fp32 convolutions recipe anchored by as many */
    {{-0.0698, -0.0286, 0.0000, 0.0286, 0.0698}, 0.0300, 0, 0},
    /* machines fp32 products anchored by as many */
    {{-0.0698, -0.0286, 0.0000, 0.0286, 0.0698}, 0.0300, 0, 0},
    /* machines fp32 products recipe anchored by as many */
    {{-0.0698, -0.0286, 0.0000, 0.0286, 0.0698}, 0.0300, 0, 0},
    /* machines half convolutions anchored by as many */
    {{-0.0698, -0.0286, 0.0000, 0.0286, 0.0698}, 0.0300, 0, 0},
    /* machines half convolutions recipe anchored by as many */
    {{-0.0698, -0.0286, 0.0000, 0.0286, 0.0698}, 0.0300, 0, 0},
    /* machines half products anchored by as many */
    {{-0.0698, -0.0286, 0.0000, 0.0286, 0.0698}, 0.0300, 0, 0},
    /* machines half products recipe anchored by as many */
    {{-0.0698, -0.0286, 0.0000, 0.0286, 0.0698}, 0.0300, 0, 0},
    /* terms: end */
};

/* NAMED(A): the names of all classes of one anchor. */
#define NAMED_NUMBERS(place, numbers, a)                                                           \
    place " " numbers " convolutions" a, place " " numbers " convolutions recipe" a,               \
        place " " numbers " products" a, place " " numbers " products recipe" a
#define NAMED_PLACE(place, a) NAMED_NUMBERS(place, "fp32", a), NAMED_NUMBERS(place, "half", a)
#define NAMED(a)                                                                                   \
    NAMED_PLACE("one-gpu", a), NAMED_PLACE("one-machine", a), NAMED_PLACE("machines", a)
static const char *const names[N_TERMS] = {
    NAMED(""), NAMED(" anchored"), NAMED(" anchored by several"), NAMED(" anchored by as many")};

static size_t number_of(struct fr__step_class c)
{
    size_t n = (size_t)c.anchor * FR__N_PLACES + (size_t)c.place;

    return ((n * 2 + c.is_half) * 2 + !c.is_convolutional) * 2 + c.knows_recipe;
}

struct fr__step_class fr__step_class_of(const struct fr_graph *g)
{
    struct fr__step_class c = {.place = FR__ONE_GPU};
    double convolutions = 0;

    for (size_t i = 0; i < g->n_ops; i++)
        if (g->ops[i].kind == FR_OP_CONV2D)
            convolutions += g->ops[i].flops;
    c.is_convolutional = convolutions > fr__product_flops(g).hardware / 2;
    c.is_half = g->dtype != FR_FP32 && g->dtype != FR_TF32;
    return c;
}

enum fr__place fr__place_of(const struct fr_topo *t, const uint32_t devices[], size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (t->devices[devices[i]].machine != t->devices[devices[0]].machine)
            return FR__MACHINES;
    return n > 1 ? FR__ONE_MACHINE : FR__ONE_GPU;
}

const char *fr__place_name(enum fr__place place)
{
    static const char *const words[FR__N_PLACES] = {"one GPU", "one machine", "several machines"};

    return words[place];
}

const char *fr__step_class_name(struct fr__step_class c)
{
    return names[number_of(c)];
}

const struct fr__step_term *fr__step_term(struct fr__step_class c)
{
    return &terms[number_of(c)];
}

/* ---- what a term rests on ---- */

/* Whether b is as near to a as that. Both are of one anchor. */
static bool is_near(struct fr__step_class a, struct fr__step_class b, enum fr__basis basis)
{
    if (a.knows_recipe != b.knows_recipe || a.anchor != b.anchor)
        return false;
    switch (basis) {
    case FR__OWN_ROWS:
        return a.place == b.place && a.is_convolutional == b.is_convolutional &&
               a.is_half == b.is_half;
    case FR__OTHER_NUMBERS:
        return a.place == b.place && a.is_convolutional == b.is_convolutional;
    case FR__OTHER_PLACES:
        return a.is_convolutional == b.is_convolutional;
    default:
        return true;
    }
}

static struct fr__step_class class_at(size_t i)
{
    return (struct fr__step_class){.place = (enum fr__place)(i / 8 % FR__N_PLACES),
                                   .is_half = i / 4 % 2,
                                   .is_convolutional = !(i / 2 % 2),
                                   .knows_recipe = i % 2,
                                   .anchor = (enum fr__anchor)(i / 8 / FR__N_PLACES)};
}

static void count_rows(struct fr__step_class c, struct fr__step_basis *basis)
{
    basis->n_rows = basis->n_sources = 0;
    for (size_t i = 0; i < N_TERMS; i++) {
        if (!is_near(c, class_at(i), basis->rows))
            continue;
        basis->n_rows += terms[i].n_rows;
        if (basis->n_sources < terms[i].n_sources)
            basis->n_sources = terms[i].n_sources;
    }
}

/* Widens a quantile to those of all classes of its anchor that somebody published. */
static double widest(enum fr__anchor anchor, unsigned quantile, double q)
{
    for (size_t i = 0; i < N_TERMS; i++) {
        double other = terms[i].q[quantile];

        if (class_at(i).anchor == anchor && terms[i].n_rows > 0)
            q = quantile < FR__Q50 ? fmin(q, other) : fmax(q, other);
    }
    return q;
}

struct fr__step_term fr__step_claim(struct fr__step_class c, struct fr__step_basis *basis)
{
    struct fr__step_term term = *fr__step_term(c);
    double median = term.q[FR__Q50];

    *basis = (struct fr__step_basis){.rows = FR__OWN_ROWS};
    count_rows(c, basis);
    while (basis->n_rows == 0 && basis->rows < FR__OTHER_WORK) {
        basis->rows = (enum fr__basis)(basis->rows + 1);
        count_rows(c, basis);
    }
    basis->is_guess = basis->rows > FR__OTHER_NUMBERS || basis->n_rows == 0;
    for (unsigned i = 0; basis->is_guess && i < FR__N_QUANTILES; i++)
        if (i != FR__Q50)
            term.q[i] = widest(c.anchor, i, median + sqrt(2) * (term.q[i] - median));
    return term;
}

double fr__pair_error(void)
{
    return 0.0912; /* pair: made */
}
