/* study/interval/terms.c - the terms of terms.h as numbers.
 *
 * Do not edit the table. `make truth` prints how it does on sources left out, and
 *     interval_terms.py --write study/interval/terms.c ROWS.csv PREDICTED.json ...
 * of tests/oracles makes it anew, from the files that `make truth` leaves: training_rows.csv with
 * truth.json and truth_anchored.json, recipe_rows.csv with recipe_rows.json and
 * recipe_anchored.json, large_rows.csv with large_rows.json. It is of 502 training rows, 303 of
 * these with recipes, 234 large ones of up to 64 GPUs, and 266 and 211 anchored ones.
 */
#include "config.h"

#include "study/interval/terms.h"

#include "workloads/graph/totals.h"

#include <stddef.h>

enum { N_TERMS = 2 * FR__N_PLACES * 8 };

/* By anchored, place, numbers, kind of work, recipe. 5, 25, 50, 75, 95 % quantiles of
 * ln(measured / predicted); error of their costs; rows; sources. */
static const struct fr__step_term terms[N_TERMS] = {
    /* terms: made */
    /* one-gpu fp32 convolutions */
    {{-0.1777, 0.0285, 0.1275, 0.3642, 0.5082}, 0.0842, 37, 4},
    /* one-gpu fp32 convolutions recipe */
    {{-0.1757, 0.0297, 0.1274, 0.3644, 0.5082}, 0.0842, 18, 3},
    /* one-gpu fp32 products */
    {{-0.1744, 0.0007, 0.1116, 0.2879, 0.6093}, 0.0452, 39, 2},
    /* one-gpu fp32 products recipe */
    {{-0.1552, -0.0005, 0.1161, 0.2715, 0.6549}, 0.0490, 31, 2},
    /* one-gpu half convolutions */
    {{-0.2549, -0.0327, 0.3104, 0.4855, 0.7486}, 0.0716, 14, 3},
    /* one-gpu half convolutions recipe */
    {{-0.2478, -0.0324, 0.3097, 0.4857, 0.7488}, 0.0716, 14, 3},
    /* one-gpu half products */
    {{-0.2019, -0.1018, 0.0584, 0.2039, 0.4454}, 0.0337, 38, 3},
    /* one-gpu half products recipe */
    {{-0.2021, -0.0811, 0.0584, 0.2037, 0.4453}, 0.0333, 28, 2},
    /* one-machine fp32 convolutions */
    {{-0.1537, 0.0695, 0.1733, 0.3820, 0.5811}, 0.0842, 92, 4},
    /* one-machine fp32 convolutions recipe */
    {{-0.1548, 0.0603, 0.1731, 0.3742, 0.5600}, 0.0841, 40, 3},
    /* one-machine fp32 products */
    {{-0.1057, 0.0610, 0.2594, 0.3945, 0.7196}, 0.0452, 94, 2},
    /* one-machine fp32 products recipe */
    {{-0.0948, 0.0746, 0.2517, 0.3661, 0.7080}, 0.0407, 76, 2},
    /* one-machine half convolutions */
    {{-0.2103, 0.0639, 0.3218, 0.5715, 0.7954}, 0.0477, 30, 3},
    /* one-machine half convolutions recipe */
    {{-0.2123, 0.0646, 0.3176, 0.5503, 0.7798}, 0.0476, 30, 3},
    /* one-machine half products */
    {{-0.0443, 0.1077, 0.2353, 0.3474, 0.4973}, 0.0363, 217, 10},
    /* one-machine half products recipe */
    {{-0.0530, 0.1083, 0.2231, 0.3433, 0.4979}, 0.0363, 58, 2},
    /* machines fp32 convolutions */
    {{-0.1880, 0.0886, 0.3953, 0.5433, 0.6426}, 0.2271, 10, 1},
    /* machines fp32 convolutions recipe */
    {{-0.1770, 0.0826, 0.3935, 0.5437, 0.6431}, 0.2271, 0, 0},
    /* machines fp32 products */
    {{-0.1381, -0.0059, 0.1495, 0.2346, 0.4183}, 0.0820, 28, 1},
    /* machines fp32 products recipe */
    {{-0.1355, -0.0356, 0.1377, 0.2075, 0.4209}, 0.0823, 3, 1},
    /* machines half convolutions */
    {{-0.1844, 0.0701, 0.3105, 0.5034, 0.6617}, 0.2271, 0, 0},
    /* machines half convolutions recipe */
    {{-0.1763, 0.0703, 0.3099, 0.5035, 0.6618}, 0.2271, 0, 0},
    /* machines half products */
    {{-0.1563, 0.0334, 0.1589, 0.2222, 0.3286}, 0.0264, 140, 9},
    /* machines half products recipe */
    {{-0.1678, 0.0229, 0.1572, 0.2223, 0.3287}, 0.0259, 5, 1},
    /* one-gpu fp32 convolutions anchored */
    {{-0.0073, 0.0228, 0.0490, 0.0986, 0.3118}, 0.0298, 0, 0},
    /* one-gpu fp32 convolutions recipe anchored */
    {{-0.0144, 0.0212, 0.0432, 0.0947, 0.2789}, 0.0298, 0, 0},
    /* one-gpu fp32 products anchored */
    {{-0.0174, 0.0309, 0.0554, 0.1906, 0.5068}, 0.0298, 0, 0},
    /* one-gpu fp32 products recipe anchored */
    {{-0.0249, 0.0178, 0.0440, 0.1711, 0.4853}, 0.0299, 0, 0},
    /* one-gpu half convolutions anchored */
    {{-0.0073, 0.0228, 0.0490, 0.0986, 0.3118}, 0.0298, 0, 0},
    /* one-gpu half convolutions recipe anchored */
    {{-0.0144, 0.0212, 0.0432, 0.0947, 0.2789}, 0.0298, 0, 0},
    /* one-gpu half products anchored */
    {{-0.0174, 0.0309, 0.0554, 0.1906, 0.5068}, 0.0298, 0, 0},
    /* one-gpu half products recipe anchored */
    {{-0.0249, 0.0178, 0.0440, 0.1711, 0.4853}, 0.0299, 0, 0},
    /* one-machine fp32 convolutions anchored */
    {{-0.0002, 0.0174, 0.0409, 0.0605, 0.2481}, 0.0298, 80, 4},
    /* one-machine fp32 convolutions recipe anchored */
    {{-0.0025, 0.0220, 0.0366, 0.0601, 0.2415}, 0.0298, 34, 3},
    /* one-machine fp32 products anchored */
    {{-0.0078, 0.0344, 0.0752, 0.2066, 0.5910}, 0.0297, 86, 2},
    /* one-machine fp32 products recipe anchored */
    {{-0.0220, 0.0160, 0.0525, 0.1735, 0.5934}, 0.0299, 84, 2},
    /* one-machine half convolutions anchored */
    {{0.0025, 0.0186, 0.0518, 0.0975, 0.2052}, 0.0298, 26, 3},
    /* one-machine half convolutions recipe anchored */
    {{-0.0056, 0.0208, 0.0487, 0.0815, 0.1902}, 0.0298, 27, 3},
    /* one-machine half products anchored */
    {{-0.0192, 0.0385, 0.0751, 0.2915, 0.6362}, 0.0298, 68, 2},
    /* one-machine half products recipe anchored */
    {{-0.0241, 0.0165, 0.0425, 0.2111, 0.5970}, 0.0297, 66, 2},
    /* machines fp32 convolutions anchored */
    {{-0.0064, 0.0310, 0.0781, 0.1442, 0.2940}, 0.0296, 6, 1},
    /* machines fp32 convolutions recipe anchored */
    {{-0.0151, 0.0239, 0.0781, 0.1411, 0.2936}, 0.0296, 0, 0},
    /* machines fp32 products anchored */
    {{-0.0174, 0.0309, 0.0554, 0.1906, 0.5068}, 0.0298, 0, 0},
    /* machines fp32 products recipe anchored */
    {{-0.0249, 0.0178, 0.0440, 0.1711, 0.4853}, 0.0299, 0, 0},
    /* machines half convolutions anchored */
    {{-0.0088, 0.0265, 0.0616, 0.1441, 0.2991}, 0.0296, 0, 0},
    /* machines half convolutions recipe anchored */
    {{-0.0146, 0.0216, 0.0575, 0.1451, 0.3061}, 0.0296, 0, 0},
    /* machines half products anchored */
    {{-0.0174, 0.0309, 0.0554, 0.1906, 0.5068}, 0.0298, 0, 0},
    /* machines half products recipe anchored */
    {{-0.0249, 0.0178, 0.0440, 0.1711, 0.4853}, 0.0299, 0, 0},
    /* terms: end */
};

/* NAMED(A): the names of all classes that are anchored, or of all that are not. */
#define NAMED_NUMBERS(place, numbers, a)                                                           \
    place " " numbers " convolutions" a, place " " numbers " convolutions recipe" a,               \
        place " " numbers " products" a, place " " numbers " products recipe" a
#define NAMED_PLACE(place, a) NAMED_NUMBERS(place, "fp32", a), NAMED_NUMBERS(place, "half", a)
#define NAMED(a)                                                                                   \
    NAMED_PLACE("one-gpu", a), NAMED_PLACE("one-machine", a), NAMED_PLACE("machines", a)
static const char *const names[N_TERMS] = {NAMED(""), NAMED(" anchored")};

static size_t number_of(struct fr__step_class c)
{
    size_t n = (size_t)c.is_anchored * FR__N_PLACES + (size_t)c.place;

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

double fr__pair_error(void)
{
    return 0.1242; /* pair: made */
}
