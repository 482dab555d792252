/* calibrate/curves/machine.h - what cost curves take from a device's data sheet. */
#ifndef FR_CALIBRATE_CURVES_MACHINE_H
#define FR_CALIBRATE_CURVES_MACHINE_H

#include "base/base.h"
#include "topo/topo.h"

struct fr__machine {
    double n_sms, peak_flops_per_s, mem_Bps; /* > 0, finite */
};

/* (a^q + b^q)^(1/q) without overflow, for a, b >= 0 that are not both 0 (matmul.c). */
double fr__smooth_max(double a, double b, double q);
#endif
