/* collectives/options.h - what a person asks of collectives, read once and shared by runs. */
#ifndef FR_COLLECTIVES_OPTIONS_H
#define FR_COLLECTIVES_OPTIONS_H

#include "collectives/algorithms/custom.h"
#include "collectives/collectives.h"
#include "collectives/nccl/tuner.h"

struct fr_collective_way {
    const struct fr__algorithm *algorithm; /* NULL: none by hand */
    bool is_nccl;                          /* what NCCL would choose */
    struct fr__custom *custom;             /* owned; NULL: not from a file */
    enum fr__nccl_protocol protocol; /* FR__NCCL_N_PROTOCOLS: none, messages as the links are */
    unsigned version;                /* of NCCL, whose latencies a protocol has */
    unsigned n_channels;             /* 0: as many as the algorithm likes */
    bool no_switch_sums;             /* NCCL takes no NVLS */
    bool as_measured;                /* protocols take as long as on measured systems */
};

#endif
