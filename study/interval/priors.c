/* study/interval/priors.c - the figures of priors.h. */
#include "config.h"

#include "study/interval/priors.h"

#include <math.h>

static const double COMPUTE = 0.1, HOST = 0.5, EXCHANGE = 0.7, COPIES = 16, STEP = 2;
static const double EXCHANGE_MEAN = 0.1, COPIES_MEAN = 8, STEP_MEAN = 1;

void fr__prior_of(struct fr__step_class c, double mean[FR__N_MOVED], double variance[FR__N_MOVED])
{
    double compute = COMPUTE * (c.is_half ? 2 : 1) * (c.knows_recipe ? 1 : 1.5);
    struct fr__step_basis basis;

    c.place = FR__ONE_GPU;
    c.anchor = FR__NOT_ANCHORED;
    mean[FR__COMPUTE] = fmax(-compute, fmin(compute, fr__step_claim(c, &basis).q[FR__Q50]));
    mean[FR__HOST] = 0;
    mean[FR__EXCHANGE] = EXCHANGE_MEAN;
    mean[FR__COPIES] = COPIES_MEAN;
    mean[FR__STEP] = STEP_MEAN;
    variance[FR__COMPUTE] = compute * compute;
    variance[FR__HOST] = HOST * HOST;
    variance[FR__EXCHANGE] = EXCHANGE * EXCHANGE;
    variance[FR__STEP] = STEP * STEP;
    variance[FR__COPIES] = COPIES * COPIES;
}
