/* study/interval/terms.c - the terms of terms.h as numbers.
 *
 * Do not edit the table. `make truth` prints how it does on sources left out, and
 *     interval_terms.py --write study/interval/terms.c ROWS.csv PREDICTED.json ...
 * of tests/oracles makes it anew, from the files that `make truth` leaves: training_rows.csv with
 * truth.json and truth_anchored.json, large_rows.csv with large_rows.json. It is of 426 training
 * rows, 324 large ones (of up to 64 GPUs and some larger) and 208 anchored ones.
 */
#include "config.h"

#include "study/interval/terms.h"

#include <stddef.h>

enum { N_TERMS = 2 * FR__N_PLACES * 4 };

/* By anchored, place, numbers, recipe. 5, 25, 50, 75, 95 % quantiles of ln(measured / predicted);
 * error of their costs; rows; sources. */
static const struct fr__step_term terms[N_TERMS] = {
    /* terms: made */
    /* one-gpu fp32 */
    {{-0.1470, 0.0079, 0.1212, 0.4128, 0.7117}, 0.0809, 60, 4},
    /* one-gpu fp32 recipe */
    {{-0.1470, 0.0079, 0.1212, 0.4128, 0.7117}, 0.0809, 0, 0},
    /* one-gpu half */
    {{-0.5046, -0.1125, 0.1032, 0.4938, 0.7049}, 0.0433, 41, 4},
    /* one-gpu half recipe */
    {{-0.5046, -0.1125, 0.1032, 0.4938, 0.7049}, 0.0433, 0, 0},
    /* one-machine fp32 */
    {{-0.1026, 0.0560, 0.1822, 0.5129, 0.7756}, 0.0805, 151, 4},
    /* one-machine fp32 recipe */
    {{-0.1026, 0.0560, 0.1822, 0.5129, 0.7756}, 0.0805, 0, 0},
    /* one-machine half */
    {{-0.0955, 0.0995, 0.2531, 0.4513, 0.6251}, 0.0305, 229, 11},
    /* one-machine half recipe */
    {{-0.0955, 0.0995, 0.2531, 0.4513, 0.6251}, 0.0305, 0, 0},
    /* machines fp32 */
    {{-0.2976, -0.0321, 0.1427, 0.7952, 1.1204}, 0.0828, 29, 2},
    /* machines fp32 recipe */
    {{-0.2976, -0.0321, 0.1427, 0.7952, 1.1204}, 0.0828, 0, 0},
    /* machines half */
    {{-0.2045, -0.0505, 0.1064, 0.1631, 0.2332}, 0.0250, 180, 9},
    /* machines half recipe */
    {{-0.2045, -0.0505, 0.1064, 0.1631, 0.2332}, 0.0250, 0, 0},
    /* one-gpu fp32 anchored */
    {{-0.0193, 0.0162, 0.0493, 0.1510, 0.5269}, 0.0298, 0, 0},
    /* one-gpu fp32 recipe anchored */
    {{-0.0193, 0.0162, 0.0493, 0.1510, 0.5269}, 0.0298, 0, 0},
    /* one-gpu half anchored */
    {{-0.0193, 0.0162, 0.0493, 0.1510, 0.5269}, 0.0298, 0, 0},
    /* one-gpu half recipe anchored */
    {{-0.0193, 0.0162, 0.0493, 0.1510, 0.5269}, 0.0298, 0, 0},
    /* one-machine fp32 anchored */
    {{-0.0118, 0.0159, 0.0450, 0.0883, 0.5759}, 0.0298, 129, 4},
    /* one-machine fp32 recipe anchored */
    {{-0.0118, 0.0159, 0.0450, 0.0883, 0.5759}, 0.0298, 0, 0},
    /* one-machine half anchored */
    {{-0.0249, 0.0014, 0.0537, 0.1235, 0.5738}, 0.0298, 67, 3},
    /* one-machine half recipe anchored */
    {{-0.0249, 0.0014, 0.0537, 0.1235, 0.5738}, 0.0298, 0, 0},
    /* machines fp32 anchored */
    {{-0.0834, 0.0060, 0.1278, 0.2185, 0.4094}, 0.0296, 10, 1},
    /* machines fp32 recipe anchored */
    {{-0.0834, 0.0060, 0.1278, 0.2185, 0.4094}, 0.0296, 0, 0},
    /* machines half anchored */
    {{-0.0697, 0.0026, 0.0874, 0.2472, 0.5258}, 0.0296, 0, 0},
    /* machines half recipe anchored */
    {{-0.0697, 0.0026, 0.0874, 0.2472, 0.5258}, 0.0296, 0, 0},
    /* terms: end */
};

static const char *const names[N_TERMS] = {
    "one-gpu fp32",
    "one-gpu fp32 recipe",
    "one-gpu half",
    "one-gpu half recipe",
    "one-machine fp32",
    "one-machine fp32 recipe",
    "one-machine half",
    "one-machine half recipe",
    "machines fp32",
    "machines fp32 recipe",
    "machines half",
    "machines half recipe",
    "one-gpu fp32 anchored",
    "one-gpu fp32 recipe anchored",
    "one-gpu half anchored",
    "one-gpu half recipe anchored",
    "one-machine fp32 anchored",
    "one-machine fp32 recipe anchored",
    "one-machine half anchored",
    "one-machine half recipe anchored",
    "machines fp32 anchored",
    "machines fp32 recipe anchored",
    "machines half anchored",
    "machines half recipe anchored",
};

static size_t number_of(struct fr__step_class c)
{
    return (((size_t)c.is_anchored * FR__N_PLACES + (size_t)c.place) * 2 + c.is_half) * 2 +
           c.knows_recipe;
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
    return 0.1250; /* pair: made */
}
