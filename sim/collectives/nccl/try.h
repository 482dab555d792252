/* sim/collectives/nccl/try.h - between the two halves of the search: search.c and levels.c. */
#ifndef FR_SIM_COLLECTIVES_NCCL_TRY_H
#define FR_SIM_COLLECTIVES_NCCL_TRY_H

#include "sim/collectives/nccl/system.h"

/* Channels, and under which conditions. */
struct found {
    enum fr__nccl_pattern pattern;
    uint32_t n; /* channels */
    float speed_intra, speed_inter, latency_inter;
    unsigned type_intra, type_inter; /* the worst allowed, enum fr__nccl_path */
    bool same_channels;
    unsigned cross_nic;
    int n_hops;
    uint32_t *gpus; /* [most + 1][n_gpus] */
    uint32_t *nets; /* [most + 1][2] */
};

struct trial {
    struct fr__ns *s;
    uint32_t least, most; /* channels */
    struct found now;
    struct found *best;
};

/* Finds as many channels as fit under t->now's conditions, and puts them in *t->best where they are
 * better. *time: visits of GPUs that are left; -1 on return: as many channels as there may be. */
void fr__ns_try(struct trial *t, int *time);

#endif
