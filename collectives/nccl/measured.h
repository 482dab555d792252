/* collectives/nccl/measured.h - how much longer measured collectives take than NCCL's constants
 * and the links say. */
#ifndef FR_COLLECTIVES_NCCL_MEASURED_H
#define FR_COLLECTIVES_NCCL_MEASURED_H

#include "collectives/nccl/tuner.h"

struct fr__nccl_measured {
    double latency, bytes; /* factors on starts and hops, and on what the bytes take */
};

/* Of an algorithm by a protocol, inside a machine or over several. FR__NCCL_N_ALGORITHMS: messages
 * between all pairs. min_sm: compute capability, 90; 0: not known, and both are 1. */
struct fr__nccl_measured fr__nccl_measured_of(unsigned min_sm, bool is_over_nodes,
                                              enum fr__nccl_algorithm a, enum fr__nccl_protocol p);

/* At what rate a GPU moves the n-th of the data that is its own inside its memory, of a ring by
 * Simple and of an all-to-all; mem_Bps: its memory bandwidth. */
double fr__nccl_own_Bps(double mem_Bps);

#endif
