/* collectives/nccl/constants.c - see constants.h.
 *
 * Source: NVIDIA/nccl src/graph/tuning.cc: baseLat, hwLat, llMaxBws, perChMaxRingLL128Bws,
 * perChMaxTreeLL128Bws, perChMaxTreeBws, perChMaxNVLSTreeBws, nvlsEfficiency at the tags v2.30.7,
 * v2.28, v2.23, v2.21.5 and v2.18.6. A version has the constants of the newest of these that is not
 * newer; 2.5 to 2.17 have those of 2.18, except for NVLS, which they lack. Theirs differ in trees'
 * limits and latencies by 10 to 30 %; which of ring and tree two machines take for 64 MiB and more
 * is the same.
 *
 * One block of threads a channel does a tree's sums and copies by Simple, all chunks up and then
 * all chunks down, until 2.9; up and down are two halves of the block from 2.10 on
 * (src/collectives/device/all_reduce.h of v2.4.8, v2.7.8, v2.8.4, v2.9.9 and v2.10.3). What a block
 * moves so on a V100: two DGX-1 with four EDR cards each reach 58 GB/s of bus bandwidth by trees
 * (NVIDIA/nccl issue 307, a maintainer), 30.9 GB/s of data, 7.7 a card. The table of 2.8 allows a
 * channel 9.25, and says 12 before.
 */
#include "config.h"

#include "collectives/nccl/constants.h"

static const struct fr__nccl_constants NEWEST = {
    .base_us = {[FR__NCCL_ALGO_TREE] = {6.8, 14.0, 8.4},
                [FR__NCCL_ALGO_RING] = {6.6, 14.0, 8.4},
                [FR__NCCL_ALGO_PAT] = {8, 8, 8}},
    .hop_us = {[FR__NCCL_HOP_NVLINK] = {[FR__NCCL_ALGO_TREE] = {.6, 1.25, 4.0},
                                        [FR__NCCL_ALGO_RING] = {.6, 1.9, 3.4},
                                        [FR__NCCL_ALGO_NVLS] = {0, 0, 25},
                                        [FR__NCCL_ALGO_NVLS_TREE] = {0, 0, 25},
                                        [FR__NCCL_ALGO_PAT] = {0, 0, 4.0}},
               [FR__NCCL_HOP_PCI] = {[FR__NCCL_ALGO_TREE] = {1.0, 1.9, 4.0},
                                     [FR__NCCL_ALGO_RING] = {1.0, 2.5, 5.7},
                                     [FR__NCCL_ALGO_PAT] = {0, 0, 4.0}},
               [FR__NCCL_HOP_NET] = {[FR__NCCL_ALGO_TREE] = {5.0, 8.5, 14},
                                     [FR__NCCL_ALGO_RING] = {2.7, 4.0, 14.0},
                                     [FR__NCCL_ALGO_NVLS] = {0, 0, 18},
                                     [FR__NCCL_ALGO_NVLS_TREE] = {0, 0, 20.9},
                                     [FR__NCCL_ALGO_PAT] = {0, 0, 14}}},
    .ll_most = {{39, 39, 20.4}, {87.7, 22.5, 19}, {141, 45, 35}, {282, 90, 70}},
    .ring_ll128 = {{20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 36.7}, {40, 40, 40}},
    .tree_ll128 = {{20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 29}, {55.6, 31.67, 20}},
    .tree = {{26.5, 18.5, 10}, {24, 23.6, 17.8}, {38.7, 41.4, 36}, {70, 42.8, 24}},
    .nvls_tree = {{0}, {0}, {0, 57.7, 45.5}, {0, 96, 80}},
    .nvls_efficiency = {0, 0, .85, .74},
    .has_pat = true,
    .has_nvls = true,
};

static void as_hopper(double limits[FR__NCCL_N_GENERATIONS][FR__NCCL_N_SIZES])
{
    for (unsigned i = 0; i < FR__NCCL_N_SIZES; i++)
        limits[FR__NCCL_BLACKWELL][i] = limits[FR__NCCL_HOPPER][i];
}

/* 2.23 to 2.27 know no Blackwell, and NVLS by a plain ratio. */
static void make_2_27(struct fr__nccl_constants *c)
{
    as_hopper(c->ll_most);
    as_hopper(c->ring_ll128);
    as_hopper(c->tree_ll128);
    as_hopper(c->tree);
    c->has_old_nvls = true;
    c->hop_us[FR__NCCL_HOP_NET][FR__NCCL_ALGO_NVLS_TREE][FR__NCCL_SIMPLE] = 14;
}

static void make_2_21(struct fr__nccl_constants *c)
{
    c->base_us[FR__NCCL_ALGO_TREE][FR__NCCL_SIMPLE] = 0;
    for (unsigned hop = 0; hop < FR__NCCL_N_HOPS; hop++)
        c->hop_us[hop][FR__NCCL_ALGO_TREE][FR__NCCL_SIMPLE] = 28;
    c->has_full_net_steps = true;
    c->is_old_when_alone = true;
    c->has_pat = false;
}

static void make_2_18(struct fr__nccl_constants *c)
{
    static const double TREE_SIMPLE_US[FR__NCCL_N_HOPS] = {4, 6, 14};

    for (unsigned hop = 0; hop < FR__NCCL_N_HOPS; hop++)
        c->hop_us[hop][FR__NCCL_ALGO_TREE][FR__NCCL_SIMPLE] = TREE_SIMPLE_US[hop];
    c->base_us[FR__NCCL_ALGO_NVLS][FR__NCCL_SIMPLE] = 23;
    c->base_us[FR__NCCL_ALGO_NVLS_TREE][FR__NCCL_SIMPLE] = 23;
    c->hop_us[FR__NCCL_HOP_NVLINK][FR__NCCL_ALGO_NVLS][FR__NCCL_SIMPLE] = 0;
    c->hop_us[FR__NCCL_HOP_NVLINK][FR__NCCL_ALGO_NVLS_TREE][FR__NCCL_SIMPLE] = 0;
    c->hop_us[FR__NCCL_HOP_NET][FR__NCCL_ALGO_NVLS_TREE][FR__NCCL_SIMPLE] = 19;
    for (unsigned i = 0; i < FR__NCCL_N_SIZES; i++)
        for (unsigned g = FR__NCCL_HOPPER; g < FR__NCCL_N_GENERATIONS; g++)
            c->ll_most[g][i] = c->ll_most[FR__NCCL_AMPERE][i];
}

static void make_2_9(struct fr__nccl_constants *c)
{
    c->tree_in_turn[FR__NCCL_VOLTA] = 7.7;
}

struct fr__nccl_constants fr__nccl_constants_of(unsigned version)
{
    struct fr__nccl_constants c = NEWEST;

    if (version < 228)
        make_2_27(&c);
    if (version < 223)
        make_2_21(&c);
    if (version < 221)
        make_2_18(&c);
    c.has_nvls = version >= 218;
    if (version < 210)
        make_2_9(&c);
    return c;
}
