/* calibrate/cost/attention_kernels.c - evaluates the formulas of attention_kernels.h. */
#include "config.h"

#include "calibrate/cost/attention_kernels.h"

#include <math.h>

enum { FIRST = 1, HOPPER = 3 }; /* generations; kernels of Blackwell count as later ones */

static const double FIRST_FOR_SECOND = 2, BLACKWELL_FOR_HOPPER = 1.75;

static double second_for_third(double tokens, double head_dim)
{
    return fmax(1.754 * pow(fmax(head_dim, 1) / 128, 0.2) / (1 + 100 / fmax(tokens, 1)), 1);
}

double fr__attention_slowdown(unsigned asked, unsigned measured, double tokens, double head_dim)
{
    double factor = 1;

    if (asked == 0 || asked >= measured || asked >= HOPPER)
        return 1;
    if (asked == FIRST)
        factor *= FIRST_FOR_SECOND;
    if (measured >= HOPPER)
        factor *= second_for_third(tokens, head_dim);
    if (measured > HOPPER)
        factor *= BLACKWELL_FOR_HOPPER;
    return factor;
}

double fr__attention_gain_of_8_bits(unsigned measured, double tokens)
{
    return measured < HOPPER ? 1 : fmax(1.6 / (1 + 400 / fmax(tokens, 1)), 1);
}
