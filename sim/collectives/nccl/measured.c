/* sim/collectives/nccl/measured.c - see measured.h.
 *
 * NCCL's constants choose between algorithms. They are no prediction: launches, the copies of each
 * step and what the protocols lose on the links are left out or the same for all machines. The
 * factors are measured over simulated time, per system the median of its rows and of these the
 * median over systems: tests/oracles/collective_rows.py --factors makes the table from measured
 * rows of A100, H100, H20, GH200, B200, B300, GB200, GB300 and V100 systems (doc/collectives.md).
 *
 * Inside a machine Hopper stands apart: H100, H20 and GH200 start and step in two thirds of the
 * time of A100s and B200s. A V100's rings by Simple lose less of their narrow links. What V100s
 * take by LL nobody measured; they take the others' factor, as does all else without rows.
 */
#include "config.h"

#include "sim/collectives/nccl/measured.h"

enum { VOLTA, HOPPER, OTHERS, N_GENERATIONS };

/* Rings and trees by LL, LL128, Simple; NVLS. */
enum { N_COLUMNS = 4, NVLS_COLUMN = 3 };

static const double INSIDE[N_GENERATIONS][N_COLUMNS] = {
    [VOLTA] = {1.38, 1.51, 1.07, 1.65},
    [HOPPER] = {0.94, 1.00, 1.20, 1.31},
    [OTHERS] = {1.38, 1.57, 1.42, 1.65},
};
/* Of few systems, so not by generation. Rings by LL over nodes were measured on one alone. */
static const double RING_OVER_NODES[FR__NCCL_N_PROTOCOLS] = {1, 1.71, 1.15};
static const double TREE_OVER_NODES[FR__NCCL_N_PROTOCOLS] = {1.51, 1.61, 1.15};
static const double NVLS_OVER_NODES = 1.21;

static unsigned generation_of(unsigned min_sm)
{
    if (min_sm < 80)
        return VOLTA;
    return min_sm >= 90 && min_sm < 100 ? HOPPER : OTHERS;
}

double fr__nccl_measured_factor(unsigned min_sm, bool is_over_nodes, enum fr__nccl_algorithm a,
                                enum fr__nccl_protocol p)
{
    bool is_nvls = a == FR__NCCL_ALGO_NVLS || a == FR__NCCL_ALGO_NVLS_TREE;

    if (min_sm == 0 || p >= FR__NCCL_N_PROTOCOLS || a == FR__NCCL_ALGO_PAT)
        return 1; /* nobody measured PAT */
    if (!is_over_nodes)
        return INSIDE[generation_of(min_sm)][is_nvls ? NVLS_COLUMN : (unsigned)p];
    if (is_nvls)
        return NVLS_OVER_NODES;
    return a == FR__NCCL_ALGO_TREE ? TREE_OVER_NODES[p] : RING_OVER_NODES[p];
}
