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
    {{-0.2128, -0.0153, 0.0459, 0.2100, 0.4451}, 0.1274, 37, 4},
    /* one-gpu fp32 convolutions recipe */
    {{-0.1600, 0.0034, 0.0549, 0.2696, 0.4634}, 0.1275, 15, 2},
    /* one-gpu fp32 products */
    {{-0.1242, -0.0146, 0.0875, 0.2897, 0.6571}, 0.0483, 45, 2},
    /* one-gpu fp32 products recipe */
    {{-0.1599, -0.0586, 0.0408, 0.1502, 0.4950}, 0.0355, 29, 1},
    /* one-gpu half convolutions */
    {{-0.3383, -0.0636, 0.3457, 0.5602, 0.7195}, 0.0493, 14, 3},
    /* one-gpu half convolutions recipe */
    {{-0.1469, 0.0087, 0.1107, 0.3510, 0.5313}, 0.0557, 11, 2},
    /* one-gpu half products */
    {{-0.2577, -0.1206, 0.0558, 0.1063, 0.2839}, 0.0339, 44, 3},
    /* one-gpu half products recipe */
    {{-0.1591, -0.0762, 0.0370, 0.1051, 0.4259}, 0.0329, 30, 1},
    /* one-machine fp32 convolutions */
    {{-0.1831, 0.0201, 0.0901, 0.2727, 0.4881}, 0.1273, 81, 4},
    /* one-machine fp32 convolutions recipe */
    {{-0.1668, -0.0127, 0.1093, 0.3458, 0.4982}, 0.0812, 25, 2},
    /* one-machine fp32 products */
    {{-0.1105, -0.0005, 0.2667, 0.4047, 0.7874}, 0.0482, 109, 2},
    /* one-machine fp32 products recipe */
    {{-0.1133, -0.0223, 0.0569, 0.2784, 0.5301}, 0.0354, 66, 1},
    /* one-machine half convolutions */
    {{-0.2945, 0.0246, 0.4137, 0.6635, 0.7566}, 0.0488, 28, 3},
    /* one-machine half convolutions recipe */
    {{-0.1427, 0.0120, 0.1678, 0.4094, 0.5433}, 0.0549, 19, 2},
    /* one-machine half products */
    {{-0.1042, 0.0041, 0.1242, 0.3253, 0.4879}, 0.0333, 232, 10},
    /* one-machine half products recipe */
    {{-0.0922, -0.0037, 0.1059, 0.2954, 0.4615}, 0.0298, 66, 1},
    /* machines fp32 convolutions */
    {{0.0315, 0.0388, 0.3070, 0.4770, 0.5784}, 0.1294, 21, 2},
    /* machines fp32 convolutions recipe */
    {{-0.1699, -0.0046, 0.3070, 0.4646, 0.5644}, 0.1810, 0, 0},
    /* machines fp32 products */
    {{-0.1133, -0.0351, 0.0406, 0.1974, 0.5448}, 0.0866, 18, 1},
    /* machines fp32 products recipe */
    {{-0.1151, -0.0239, 0.0470, 0.1660, 0.4703}, 0.0681, 15, 1},
    /* machines half convolutions */
    {{-0.0741, 0.2607, 0.5130, 0.7747, 0.7777}, 0.0481, 2, 1},
    /* machines half convolutions recipe */
    {{-0.1443, -0.0060, 0.1769, 0.4279, 0.5699}, 0.1810, 0, 0},
    /* machines half products */
    {{-0.1818, -0.0319, 0.0349, 0.1357, 0.3405}, 0.0288, 127, 9},
    /* machines half products recipe */
    {{-0.0920, -0.0242, 0.0379, 0.1364, 0.3401}, 0.0288, 16, 1},
    /* one-gpu fp32 convolutions anchored */
    {{-0.0493, 0.0269, 0.0543, 0.1130, 0.2265}, 0.0296, 0, 0},
    /* one-gpu fp32 convolutions recipe anchored */
    {{-0.0891, -0.0066, 0.0336, 0.0901, 0.2199}, 0.0295, 0, 0},
    /* one-gpu fp32 products anchored */
    {{-0.0493, 0.0269, 0.0543, 0.1130, 0.2265}, 0.0296, 0, 0},
    /* one-gpu fp32 products recipe anchored */
    {{-0.0891, -0.0066, 0.0336, 0.0901, 0.2199}, 0.0295, 0, 0},
    /* one-gpu half convolutions anchored */
    {{-0.0493, 0.0269, 0.0543, 0.1130, 0.2265}, 0.0296, 0, 0},
    /* one-gpu half convolutions recipe anchored */
    {{-0.0891, -0.0066, 0.0336, 0.0901, 0.2199}, 0.0295, 0, 0},
    /* one-gpu half products anchored */
    {{-0.0493, 0.0269, 0.0543, 0.1130, 0.2265}, 0.0296, 0, 0},
    /* one-gpu half products recipe anchored */
    {{-0.0891, -0.0066, 0.0336, 0.0901, 0.2199}, 0.0295, 0, 0},
    /* one-machine fp32 convolutions anchored */
    {{-0.0493, 0.0269, 0.0543, 0.1130, 0.2265}, 0.0296, 51, 3},
    /* one-machine fp32 convolutions recipe anchored */
    {{-0.0891, -0.0066, 0.0336, 0.0901, 0.2199}, 0.0295, 25, 2},
    /* one-machine fp32 products anchored */
    {{-0.0493, 0.0269, 0.0543, 0.1130, 0.2265}, 0.0296, 73, 1},
    /* one-machine fp32 products recipe anchored */
    {{-0.0891, -0.0066, 0.0336, 0.0901, 0.2199}, 0.0295, 58, 1},
    /* one-machine half convolutions anchored */
    {{-0.0493, 0.0269, 0.0543, 0.1130, 0.2265}, 0.0296, 19, 2},
    /* one-machine half convolutions recipe anchored */
    {{-0.0891, -0.0066, 0.0336, 0.0901, 0.2199}, 0.0295, 19, 2},
    /* one-machine half products anchored */
    {{-0.0493, 0.0269, 0.0543, 0.1130, 0.2265}, 0.0296, 76, 1},
    /* one-machine half products recipe anchored */
    {{-0.0891, -0.0066, 0.0336, 0.0901, 0.2199}, 0.0295, 60, 1},
    /* machines fp32 convolutions anchored */
    {{-0.0493, 0.0269, 0.0543, 0.1130, 0.2265}, 0.0296, 15, 1},
    /* machines fp32 convolutions recipe anchored */
    {{-0.0891, -0.0066, 0.0336, 0.0901, 0.2199}, 0.0295, 0, 0},
    /* machines fp32 products anchored */
    {{-0.0493, 0.0269, 0.0543, 0.1130, 0.2265}, 0.0296, 2, 1},
    /* machines fp32 products recipe anchored */
    {{-0.0891, -0.0066, 0.0336, 0.0901, 0.2199}, 0.0295, 2, 1},
    /* machines half convolutions anchored */
    {{-0.0493, 0.0269, 0.0543, 0.1130, 0.2265}, 0.0296, 0, 0},
    /* machines half convolutions recipe anchored */
    {{-0.0891, -0.0066, 0.0336, 0.0901, 0.2199}, 0.0295, 0, 0},
    /* machines half products anchored */
    {{-0.0493, 0.0269, 0.0543, 0.1130, 0.2265}, 0.0296, 3, 1},
    /* machines half products recipe anchored */
    {{-0.0891, -0.0066, 0.0336, 0.0901, 0.2199}, 0.0295, 3, 1},
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
    return 0.0889; /* pair: made */
}
