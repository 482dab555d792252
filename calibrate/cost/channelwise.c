/* calibrate/cost/channelwise.c - evaluates the formula of channelwise.h. */
#include "config.h"

#include "calibrate/cost/channelwise.h"

#include <math.h>

static const double ELEMENTWISE = 0.91;
static const struct {
    double most, block, q;
} forward = {0.80, 0.85, 6}, backward = {0.79, 0.70, 4};

double fr__channelwise_slowdown(double channels, double n_sms, bool is_forward)
{
    double most = is_forward ? forward.most : backward.most;
    double block = is_forward ? forward.block : backward.block;
    double q = is_forward ? forward.q : backward.q;
    double idle = n_sms > 0 ? n_sms / (block * fmax(channels, 1)) : 0;

    return ELEMENTWISE * pow(pow(1 / most, q) + pow(idle, q), 1 / q);
}
