/* calibrate/machine.h - what cost curves take from a device's data sheet. */
#ifndef FR_CALIBRATE_MACHINE_H
#define FR_CALIBRATE_MACHINE_H

#include "base/base.h"
#include "topo/topo.h"

struct fr__machine {
    double n_sms, peak_flops_per_s, mem_Bps; /* > 0, finite */
};
#endif
