/* study/interval/terms.c - the class of a step, and what its term rests on.
 *
 * The terms themselves are data, study/interval/terms.yaml; the build makes a constant table.
 */
#include "config.h"

#include "study/interval/terms.h"

#include "workloads/graph/totals.h"

#include <math.h>
#include <stddef.h>

enum { N_TERMS = FR__N_ANCHORS * FR__N_PLACES * 8 };

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
    return fr__step_terms[number_of(c)].name;
}

const struct fr__step_term *fr__step_term(struct fr__step_class c)
{
    return &fr__step_terms[number_of(c)];
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
        basis->n_rows += fr__step_terms[i].n_rows;
        if (basis->n_sources < fr__step_terms[i].n_sources)
            basis->n_sources = fr__step_terms[i].n_sources;
    }
}

/* Widens a quantile to those of all classes of its anchor that somebody published. */
static double widest(enum fr__anchor anchor, unsigned quantile, double q)
{
    for (size_t i = 0; i < N_TERMS; i++) {
        double other = fr__step_terms[i].q[quantile];

        if (class_at(i).anchor == anchor && fr__step_terms[i].n_rows > 0)
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
