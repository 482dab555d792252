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
    {{-0.1239, 0.0007, 0.0875, 0.2734, 0.6571}, 0.0483, 39, 2},
    /* one-gpu fp32 products recipe */
    {{-0.1632, -0.0620, 0.0560, 0.1666, 0.4916}, 0.0404, 23, 1},
    /* one-gpu half convolutions */
    {{-0.3383, -0.0636, 0.3457, 0.5602, 0.7195}, 0.0493, 14, 3},
    /* one-gpu half convolutions recipe */
    {{-0.1470, 0.0094, 0.1111, 0.3510, 0.5320}, 0.0557, 11, 2},
    /* one-gpu half products */
    {{-0.2281, -0.1090, 0.0560, 0.1063, 0.2835}, 0.0339, 38, 3},
    /* one-gpu half products recipe */
    {{-0.1577, -0.1077, 0.0306, 0.0694, 0.3909}, 0.0326, 24, 1},
    /* one-machine fp32 convolutions */
    {{-0.1831, 0.0201, 0.0901, 0.2727, 0.4882}, 0.1273, 81, 4},
    /* one-machine fp32 convolutions recipe */
    {{-0.1683, -0.0088, 0.1189, 0.3443, 0.4967}, 0.0812, 25, 2},
    /* one-machine fp32 products */
    {{-0.1087, 0.0416, 0.2589, 0.4074, 0.7891}, 0.0482, 94, 2},
    /* one-machine fp32 products recipe */
    {{-0.0945, -0.0176, 0.1161, 0.2924, 0.5168}, 0.0364, 51, 1},
    /* one-machine half convolutions */
    {{-0.2895, 0.0252, 0.4137, 0.6635, 0.7566}, 0.0488, 28, 3},
    /* one-machine half convolutions recipe */
    {{-0.1492, 0.0336, 0.2206, 0.3995, 0.5314}, 0.0549, 19, 2},
    /* one-machine half products */
    {{-0.1062, 0.0915, 0.1820, 0.3304, 0.4826}, 0.0397, 217, 10},
    /* one-machine half products recipe */
    {{-0.0909, 0.0691, 0.1340, 0.2866, 0.4600}, 0.0397, 51, 1},
    /* machines fp32 convolutions */
    {{0.0315, 0.0388, 0.3070, 0.4770, 0.5783}, 0.1294, 21, 2},
    /* machines fp32 convolutions recipe */
    {{-0.1549, 0.1222, 0.3807, 0.4741, 0.5480}, 0.1810, 0, 0},
    /* machines fp32 products */
    {{-0.1246, -0.0323, 0.0921, 0.1887, 0.3758}, 0.0866, 14, 1},
    /* machines fp32 products recipe */
    {{-0.1289, -0.0228, 0.1100, 0.1608, 0.3726}, 0.0681, 11, 1},
    /* machines half convolutions */
    {{-0.0591, 0.2607, 0.5130, 0.7747, 0.7777}, 0.0481, 2, 1},
    /* machines half convolutions recipe */
    {{-0.1684, 0.0164, 0.3069, 0.4646, 0.5632}, 0.1810, 0, 0},
    /* machines half products */
    {{-0.1824, 0.0100, 0.1311, 0.1990, 0.3370}, 0.0288, 123, 9},
    /* machines half products recipe */
    {{-0.0970, 0.0100, 0.1300, 0.1993, 0.3351}, 0.0288, 12, 1},
    /* one-gpu fp32 convolutions anchored */
    {{-0.0522, 0.0222, 0.0506, 0.1042, 0.2261}, 0.0296, 0, 0},
    /* one-gpu fp32 convolutions recipe anchored */
    {{-0.0907, -0.0105, 0.0302, 0.0881, 0.2119}, 0.0296, 0, 0},
    /* one-gpu fp32 products anchored */
    {{-0.0521, 0.0222, 0.0506, 0.1042, 0.2261}, 0.0296, 0, 0},
    /* one-gpu fp32 products recipe anchored */
    {{-0.0907, -0.0105, 0.0302, 0.0881, 0.2119}, 0.0296, 0, 0},
    /* one-gpu half convolutions anchored */
    {{-0.0521, 0.0222, 0.0506, 0.1042, 0.2261}, 0.0296, 0, 0},
    /* one-gpu half convolutions recipe anchored */
    {{-0.0907, -0.0105, 0.0302, 0.0881, 0.2119}, 0.0296, 0, 0},
    /* one-gpu half products anchored */
    {{-0.0521, 0.0222, 0.0506, 0.1042, 0.2261}, 0.0296, 0, 0},
    /* one-gpu half products recipe anchored */
    {{-0.0907, -0.0105, 0.0302, 0.0881, 0.2119}, 0.0296, 0, 0},
    /* one-machine fp32 convolutions anchored */
    {{-0.0522, 0.0222, 0.0506, 0.1042, 0.2261}, 0.0296, 51, 3},
    /* one-machine fp32 convolutions recipe anchored */
    {{-0.0907, -0.0105, 0.0302, 0.0881, 0.2119}, 0.0296, 25, 2},
    /* one-machine fp32 products anchored */
    {{-0.0521, 0.0222, 0.0506, 0.1042, 0.2261}, 0.0296, 62, 1},
    /* one-machine fp32 products recipe anchored */
    {{-0.0907, -0.0105, 0.0302, 0.0881, 0.2119}, 0.0296, 47, 1},
    /* one-machine half convolutions anchored */
    {{-0.0521, 0.0222, 0.0506, 0.1042, 0.2261}, 0.0296, 19, 2},
    /* one-machine half convolutions recipe anchored */
    {{-0.0907, -0.0105, 0.0302, 0.0881, 0.2119}, 0.0296, 19, 2},
    /* one-machine half products anchored */
    {{-0.0521, 0.0222, 0.0506, 0.1042, 0.2261}, 0.0296, 65, 1},
    /* one-machine half products recipe anchored */
    {{-0.0907, -0.0105, 0.0302, 0.0881, 0.2119}, 0.0296, 49, 1},
    /* machines fp32 convolutions anchored */
    {{-0.0522, 0.0222, 0.0506, 0.1042, 0.2261}, 0.0296, 15, 1},
    /* machines fp32 convolutions recipe anchored */
    {{-0.0907, -0.0105, 0.0302, 0.0881, 0.2119}, 0.0296, 0, 0},
    /* machines fp32 products anchored */
    {{-0.0521, 0.0222, 0.0506, 0.1042, 0.2261}, 0.0296, 2, 1},
    /* machines fp32 products recipe anchored */
    {{-0.0907, -0.0105, 0.0302, 0.0881, 0.2119}, 0.0296, 2, 1},
    /* machines half convolutions anchored */
    {{-0.0521, 0.0222, 0.0506, 0.1042, 0.2261}, 0.0296, 0, 0},
    /* machines half convolutions recipe anchored */
    {{-0.0907, -0.0105, 0.0302, 0.0881, 0.2119}, 0.0296, 0, 0},
    /* machines half products anchored */
    {{-0.0521, 0.0222, 0.0506, 0.1042, 0.2261}, 0.0296, 3, 1},
    /* machines half products recipe anchored */
    {{-0.0907, -0.0105, 0.0302, 0.0881, 0.2119}, 0.0296, 3, 1},
    /* one-gpu fp32 convolutions anchored by several */
    {{-0.1688, -0.0071, 0.0124, 0.0401, 0.1482}, 0.0300, 0, 0},
    /* one-gpu fp32 convolutions recipe anchored by several */
    {{-0.1847, -0.0142, 0.0051, 0.0294, 0.1467}, 0.0300, 0, 0},
    /* one-gpu fp32 products anchored by several */
    {{-0.1688, -0.0071, 0.0124, 0.0401, 0.1482}, 0.0300, 0, 0},
    /* one-gpu fp32 products recipe anchored by several */
    {{-0.1847, -0.0142, 0.0052, 0.0294, 0.1467}, 0.0300, 0, 0},
    /* one-gpu half convolutions anchored by several */
    {{-0.1688, -0.0071, 0.0124, 0.0401, 0.1482}, 0.0300, 0, 0},
    /* one-gpu half convolutions recipe anchored by several */
    {{-0.1847, -0.0142, 0.0052, 0.0294, 0.1467}, 0.0300, 0, 0},
    /* one-gpu half products anchored by several */
    {{-0.1688, -0.0071, 0.0124, 0.0401, 0.1482}, 0.0300, 0, 0},
    /* one-gpu half products recipe anchored by several */
    {{-0.1847, -0.0142, 0.0051, 0.0294, 0.1467}, 0.0300, 0, 0},
    /* one-machine fp32 convolutions anchored by several */
    {{-0.1688, -0.0071, 0.0124, 0.0401, 0.1482}, 0.0300, 37, 3},
    /* one-machine fp32 convolutions recipe anchored by several */
    {{-0.1847, -0.0142, 0.0051, 0.0294, 0.1467}, 0.0300, 16, 2},
    /* one-machine fp32 products anchored by several */
    {{-0.1688, -0.0071, 0.0124, 0.0401, 0.1482}, 0.0300, 37, 1},
    /* one-machine fp32 products recipe anchored by several */
    {{-0.1847, -0.0142, 0.0051, 0.0294, 0.1467}, 0.0300, 27, 1},
    /* one-machine half convolutions anchored by several */
    {{-0.1688, -0.0071, 0.0124, 0.0401, 0.1482}, 0.0300, 12, 2},
    /* one-machine half convolutions recipe anchored by several */
    {{-0.1847, -0.0142, 0.0051, 0.0294, 0.1467}, 0.0300, 12, 2},
    /* one-machine half products anchored by several */
    {{-0.1688, -0.0071, 0.0124, 0.0401, 0.1482}, 0.0300, 42, 1},
    /* one-machine half products recipe anchored by several */
    {{-0.1847, -0.0142, 0.0051, 0.0294, 0.1467}, 0.0300, 32, 1},
    /* machines fp32 convolutions anchored by several */
    {{-0.1688, -0.0071, 0.0124, 0.0401, 0.1482}, 0.0300, 30, 1},
    /* machines fp32 convolutions recipe anchored by several */
    {{-0.1847, -0.0142, 0.0052, 0.0294, 0.1467}, 0.0300, 0, 0},
    /* machines fp32 products anchored by several */
    {{-0.1688, -0.0071, 0.0124, 0.0401, 0.1482}, 0.0300, 7, 1},
    /* machines fp32 products recipe anchored by several */
    {{-0.1847, -0.0142, 0.0052, 0.0294, 0.1467}, 0.0300, 7, 1},
    /* machines half convolutions anchored by several */
    {{-0.1688, -0.0071, 0.0124, 0.0401, 0.1482}, 0.0300, 0, 0},
    /* machines half convolutions recipe anchored by several */
    {{-0.1847, -0.0142, 0.0052, 0.0294, 0.1467}, 0.0300, 0, 0},
    /* machines half products anchored by several */
    {{-0.1688, -0.0071, 0.0124, 0.0401, 0.1482}, 0.0300, 11, 1},
    /* machines half products recipe anchored by several */
    {{-0.1847, -0.0142, 0.0052, 0.0294, 0.1467}, 0.0300, 11, 1},
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

double fr__pair_error(void)
{
    return 0.0912; /* pair: made */
}
