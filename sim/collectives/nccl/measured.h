/* sim/collectives/nccl/measured.h - how much longer measured collectives take than NCCL's constants
 * and the links say. */
#ifndef FR_SIM_COLLECTIVES_NCCL_MEASURED_H
#define FR_SIM_COLLECTIVES_NCCL_MEASURED_H

#include "sim/collectives/nccl/tuner.h"

/* The factor on the whole time of an algorithm by a protocol, inside a machine or over several.
 * min_sm: compute capability, 90; 0: not known, and the factor is 1. */
double fr__nccl_measured_factor(unsigned min_sm, bool is_over_nodes, enum fr__nccl_algorithm a,
                                enum fr__nccl_protocol p);

#endif
