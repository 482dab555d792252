/* study/interval/terms.h - how far published steps are from what we predict, class by class.
 *
 * A step's error is more than its ops' errors: software, input, clocks and what we do not model. So
 * the terms come from whole steps that others measured: r = ln(measured / predicted). Rows of one
 * source share their software and machine, so a source counts once, however many rows it has.
 * Source: tests/oracles/interval_terms.py, which says how a class with few sources leans on its
 * parent, and judges the terms on sources left out, one at a time.
 */
#ifndef FR_STUDY_INTERVAL_TERMS_H
#define FR_STUDY_INTERVAL_TERMS_H

#include "topo/topo.h"
#include "workloads/workloads.h"

#include <stdbool.h>

enum fr__place { FR__ONE_GPU, FR__ONE_MACHINE, FR__MACHINES, FR__N_PLACES };
const char *fr__place_name(enum fr__place place); /* "one GPU" */
/* Where these GPUs are. devices: [n]. */
enum fr__place fr__place_of(const struct fr_topo *t, const uint32_t devices[], size_t n);

/* Measured steps that correct a question, by how many GPUs they were measured on: one, several but
 * not as many as are asked for, or as many. */
enum fr__anchor {
    FR__NOT_ANCHORED,
    FR__BY_ONE_GPU,
    FR__BY_SEVERAL_GPUS,
    FR__BY_AS_MANY_GPUS,
    FR__N_ANCHORS
};

/* What is known of a step before it is run. */
struct fr__step_class {
    enum fr__place place;
    bool is_convolutional; /* of the FLOPs of its products, most are convolutions' */
    bool is_half;          /* numbers of 16 bits or fewer: fp16, bf16, amp, fp8; not tf32 */
    bool knows_recipe;     /* the question says what software it is */
    enum fr__anchor anchor;
};

enum { FR__Q05, FR__Q25, FR__Q50, FR__Q75, FR__Q95, FR__N_QUANTILES };

struct fr__step_term {
    const char *name;          /* of the class */
    double q[FR__N_QUANTILES]; /* of ln(measured / predicted) */
    double cost_error;         /* what these steps' own costs allow, see cost_error.h: the median */
    unsigned n_rows, n_sources; /* of the class itself; its parents' rows count beside them */
};

/* By anchor, place, numbers, kind of work, recipe (study/interval/terms.yaml). */
extern const struct fr__step_term fr__step_terms[];
extern const size_t fr__n_step_terms;

/* The class of a step of this graph on one GPU, with no recipe given and nothing measured. */
struct fr__step_class fr__step_class_of(const struct fr_graph *g);

/* "one-gpu fp32 convolutions", "machines half products recipe anchored by several": how
 * programs and tests/oracles name it. */
const char *fr__step_class_name(struct fr__step_class c);

/* The term as it was made. Never NULL: a class without rows has its parent's quantiles. */
const struct fr__step_term *fr__step_term(struct fr__step_class c);

/* What the term of a class rests on: the published rows that are nearest to it. */
enum fr__basis { FR__OWN_ROWS, FR__OTHER_NUMBERS, FR__OTHER_PLACES, FR__OTHER_WORK };

struct fr__step_basis {
    enum fr__basis rows;        /* of the class; of its place and kind of work; of that work; any */
    unsigned n_rows, n_sources; /* sources: at least so many, where several classes are taken */
    bool is_guess;              /* nobody published a step of this place and kind of work */
};

/* The term that a claim is made with, and what it rests on. The term of a guess is at least as wide
 * as the widest of the classes that somebody published, with or without a recipe, and each of its
 * quantiles is at least the root of 2 times as far from the median as its parents': what one source
 * more adds to the spread of one, sqrt(1 + 1/1), as in the prediction interval of a normal
 * distribution. */
struct fr__step_term fr__step_claim(struct fr__step_class c, struct fr__step_basis *basis);

/* The natural logarithm of how many times as long one of two steps of the same model and software
 * must be predicted to take, so that it did take longer in 90 % of the published pairs that lie so
 * far apart. */
double fr__pair_error(void);

#endif
