/* study/interval/terms.c - the terms of terms.h as numbers.
 *
 * Do not edit the table. `make truth` prints how it does on sources left out, and
 *     interval_terms.py --write study/interval/terms.c ROWS.csv PREDICTED.json ...
 * of tests/oracles makes it anew, from the files that `make truth` leaves: training_rows.csv with
 * truth.json and truth_anchored.json, recipe_rows.csv with recipe_rows.json and
 * recipe_anchored.json, large_rows.csv with large_rows.json. It is of 456 training rows, 363 of
 * these with recipes, 252 large ones, all of up to 64 GPUs, and 300 and 235 anchored ones.
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
    {{-0.2137, -0.0154, 0.0492, 0.2590, 0.4842}, 0.0858, 37, 4},
    /* one-gpu fp32 convolutions recipe */
    {{-0.1637, -0.0118, 0.0503, 0.2588, 0.4840}, 0.0858, 18, 3},
    /* one-gpu fp32 products */
    {{-0.1244, -0.0086, 0.0875, 0.2734, 0.6571}, 0.0454, 39, 2},
    /* one-gpu fp32 products recipe */
    {{-0.1169, -0.0091, 0.0654, 0.2566, 0.6621}, 0.0448, 38, 2},
    /* one-gpu half convolutions */
    {{-0.3383, -0.0633, 0.3455, 0.5606, 0.7225}, 0.0493, 14, 3},
    /* one-gpu half convolutions recipe */
    {{-0.2111, -0.0025, 0.3455, 0.5689, 0.7225}, 0.0546, 14, 3},
    /* one-gpu half products */
    {{-0.2281, -0.1090, 0.0560, 0.1062, 0.2835}, 0.0337, 38, 3},
    /* one-gpu half products recipe */
    {{-0.2122, -0.1044, 0.0560, 0.0707, 0.2355}, 0.0335, 34, 2},
    /* one-machine fp32 convolutions */
    {{-0.1841, 0.0194, 0.0984, 0.2729, 0.5274}, 0.0857, 92, 4},
    /* one-machine fp32 convolutions recipe */
    {{-0.1557, 0.0078, 0.0897, 0.2563, 0.5252}, 0.0857, 40, 3},
    /* one-machine fp32 products */
    {{-0.1091, 0.0317, 0.2603, 0.4229, 0.7888}, 0.0453, 94, 2},
    /* one-machine fp32 products recipe */
    {{-0.0940, 0.0001, 0.2250, 0.3599, 0.7688}, 0.0447, 92, 2},
    /* one-machine half convolutions */
    {{-0.2904, 0.0388, 0.4201, 0.6625, 0.7715}, 0.0489, 30, 3},
    /* one-machine half convolutions recipe */
    {{-0.1923, 0.0748, 0.3957, 0.6411, 0.7417}, 0.0539, 30, 3},
    /* one-machine half products */
    {{-0.1067, 0.0360, 0.1602, 0.3341, 0.5014}, 0.0395, 217, 10},
    /* one-machine half products recipe */
    {{-0.0908, 0.0333, 0.1580, 0.3308, 0.5015}, 0.0395, 74, 2},
    /* machines fp32 convolutions */
    {{-0.1015, 0.4319, 0.4967, 0.5821, 0.5936}, 0.2259, 10, 1},
    /* machines fp32 convolutions recipe */
    {{-0.0944, 0.4318, 0.4974, 0.5818, 0.5934}, 0.2259, 0, 0},
    /* machines fp32 products */
    {{-0.1247, -0.0326, 0.0919, 0.1870, 0.3352}, 0.0827, 14, 1},
    /* machines fp32 products recipe */
    {{-0.0967, -0.0159, 0.0790, 0.1562, 0.3381}, 0.0650, 11, 1},
    /* machines half convolutions */
    {{-0.1976, 0.1001, 0.4448, 0.5901, 0.6083}, 0.2259, 0, 0},
    /* machines half convolutions recipe */
    {{-0.1608, 0.1032, 0.4452, 0.5854, 0.6064}, 0.2259, 0, 0},
    /* machines half products */
    {{-0.1821, -0.0117, 0.1202, 0.1988, 0.2998}, 0.0265, 123, 9},
    /* machines half products recipe */
    {{-0.1320, -0.0076, 0.1201, 0.1987, 0.3006}, 0.0265, 12, 1},
    /* one-gpu fp32 convolutions anchored */
    {{-0.0597, 0.0275, 0.0906, 0.1903, 0.3057}, 0.0297, 0, 0},
    /* one-gpu fp32 convolutions recipe anchored */
    {{-0.0931, 0.0005, 0.0663, 0.1809, 0.3190}, 0.0297, 0, 0},
    /* one-gpu fp32 products anchored */
    {{-0.0597, 0.0275, 0.0906, 0.1903, 0.3057}, 0.0297, 0, 0},
    /* one-gpu fp32 products recipe anchored */
    {{-0.0931, 0.0005, 0.0663, 0.1809, 0.3190}, 0.0297, 0, 0},
    /* one-gpu half convolutions anchored */
    {{-0.0597, 0.0275, 0.0906, 0.1903, 0.3057}, 0.0297, 0, 0},
    /* one-gpu half convolutions recipe anchored */
    {{-0.0931, 0.0005, 0.0663, 0.1809, 0.3190}, 0.0297, 0, 0},
    /* one-gpu half products anchored */
    {{-0.0597, 0.0275, 0.0906, 0.1903, 0.3057}, 0.0297, 0, 0},
    /* one-gpu half products recipe anchored */
    {{-0.0931, 0.0005, 0.0663, 0.1809, 0.3190}, 0.0297, 0, 0},
    /* one-machine fp32 convolutions anchored */
    {{-0.0597, 0.0275, 0.0906, 0.1903, 0.3057}, 0.0297, 92, 4},
    /* one-machine fp32 convolutions recipe anchored */
    {{-0.0931, 0.0005, 0.0663, 0.1809, 0.3190}, 0.0297, 40, 3},
    /* one-machine fp32 products anchored */
    {{-0.0597, 0.0275, 0.0906, 0.1903, 0.3057}, 0.0297, 89, 2},
    /* one-machine fp32 products recipe anchored */
    {{-0.0931, 0.0005, 0.0663, 0.1809, 0.3190}, 0.0297, 88, 2},
    /* one-machine half convolutions anchored */
    {{-0.0597, 0.0275, 0.0906, 0.1903, 0.3057}, 0.0297, 30, 3},
    /* one-machine half convolutions recipe anchored */
    {{-0.0931, 0.0005, 0.0663, 0.1809, 0.3190}, 0.0297, 30, 3},
    /* one-machine half products anchored */
    {{-0.0597, 0.0275, 0.0906, 0.1903, 0.3057}, 0.0297, 74, 2},
    /* one-machine half products recipe anchored */
    {{-0.0931, 0.0005, 0.0663, 0.1809, 0.3190}, 0.0297, 72, 2},
    /* machines fp32 convolutions anchored */
    {{-0.0597, 0.0275, 0.0906, 0.1903, 0.3057}, 0.0297, 10, 1},
    /* machines fp32 convolutions recipe anchored */
    {{-0.0931, 0.0005, 0.0663, 0.1809, 0.3190}, 0.0297, 0, 0},
    /* machines fp32 products anchored */
    {{-0.0597, 0.0275, 0.0906, 0.1903, 0.3057}, 0.0297, 2, 1},
    /* machines fp32 products recipe anchored */
    {{-0.0930, 0.0005, 0.0663, 0.1809, 0.3190}, 0.0297, 2, 1},
    /* machines half convolutions anchored */
    {{-0.0597, 0.0275, 0.0906, 0.1903, 0.3057}, 0.0297, 0, 0},
    /* machines half convolutions recipe anchored */
    {{-0.0931, 0.0005, 0.0663, 0.1809, 0.3190}, 0.0297, 0, 0},
    /* machines half products anchored */
    {{-0.0597, 0.0275, 0.0906, 0.1903, 0.3057}, 0.0297, 3, 1},
    /* machines half products recipe anchored */
    {{-0.0931, 0.0005, 0.0663, 0.1809, 0.3190}, 0.0297, 3, 1},
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
    return 0.1217; /* pair: made */
}
