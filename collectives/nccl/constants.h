/* collectives/nccl/constants.h - the numbers of NCCL's tuner, by version. */
#ifndef FR_COLLECTIVES_NCCL_CONSTANTS_H
#define FR_COLLECTIVES_NCCL_CONSTANTS_H

#include "collectives/nccl/tuner.h"

/* Rows of the limits: generations of GPUs by compute capability. */
enum fr__nccl_generation {
    FR__NCCL_VOLTA, /* and older */
    FR__NCCL_AMPERE,
    FR__NCCL_HOPPER,
    FR__NCCL_BLACKWELL,
    FR__NCCL_N_GENERATIONS
};
/* Columns: one machine, two, more. */
enum { FR__NCCL_N_SIZES = 3 };

struct fr__nccl_constants {
    double base_us[FR__NCCL_N_ALGORITHMS][FR__NCCL_N_PROTOCOLS];
    double hop_us[FR__NCCL_N_HOPS][FR__NCCL_N_ALGORITHMS][FR__NCCL_N_PROTOCOLS];
    double ll_most[FR__NCCL_N_GENERATIONS][FR__NCCL_N_SIZES];    /* GB/s of all channels */
    double ring_ll128[FR__NCCL_N_GENERATIONS][FR__NCCL_N_SIZES]; /* GB/s of a channel, */
    double tree_ll128[FR__NCCL_N_GENERATIONS][FR__NCCL_N_SIZES];
    double tree[FR__NCCL_N_GENERATIONS][FR__NCCL_N_SIZES];
    double nvls_tree[FR__NCCL_N_GENERATIONS][FR__NCCL_N_SIZES]; /* 0: no limit */
    double nvls_efficiency[FR__NCCL_N_GENERATIONS];
    /* GB/s of a channel by a Simple tree whose block of threads first sums towards the root, then
     * copies away from it; 0: it does both at once. No part of NCCL's table. */
    double tree_in_turn[FR__NCCL_N_GENERATIONS];
    bool has_pat, has_nvls;
    bool has_old_nvls;       /* NVLS with a ratio of 5/6 */
    bool has_full_net_steps; /* a ring's network steps are 2 N, not 2 (N - 1) */
    /* With one GPU a machine: LL128 gets .7 instead of .92 of the bandwidth, and a ring's network
     * hop takes its own time, not a tree's. */
    bool is_old_when_alone;
};

/* version: one of fr__nccl_version_at. */
struct fr__nccl_constants fr__nccl_constants_of(unsigned version);

#endif
