/* collectives/nccl/measured.c - see measured.h.
 *
 * NCCL's constants choose between algorithms. They are no prediction: launches, the copies of each
 * step and what the protocols lose on the links are left out or the same for all machines. A pair
 * of factors is fitted to the rows of each measured system, one on latencies and one on what the
 * bytes take, and the median over systems is taken: tests/oracles/collective_rows.py --factors
 * makes the tables from measured rows of A100, H100, H20, GH200, B200, B300, GB200, GB300 and V100
 * systems (doc/collectives.md).
 *
 * By LL and LL128 only Hopper stands apart: it starts and steps in two thirds of the time of A100s
 * and B200s. What V100s take by LL nobody measured; they take the others' factors, as does all else
 * without rows. Trees inside a machine were measured on V100s by Simple alone; their bytes needed
 * no factor.
 *
 * A ring of n GPUs by Simple, and an all-to-all, take as much longer for few GPUs as if each also
 * moved an n-th of the data inside its memory: bus bandwidth grows as 2, 3, 4, 5, 8 GPUs of A100s,
 * H100s and B200s take part, and hardly does on V100s, whose links are slow. A quarter of the
 * memory bandwidth says how much on V100s, A100s and H100s, 0.9 TB/s on B200s.
 */
#include "config.h"

#include "collectives/nccl/measured.h"

#include <math.h>

enum { VOLTA, AMPERE, HOPPER, BLACKWELL, N_GENERATIONS };

static const struct fr__nccl_measured INSIDE[N_GENERATIONS][FR__NCCL_N_PROTOCOLS] = {
    [VOLTA] = {{1.37, 1.02}, {1.48, 1.48}, {1.00, 1.05}},
    [AMPERE] = {{1.37, 1.02}, {1.48, 1.48}, {2.41, 1.22}},
    [HOPPER] = {{0.93, 1.00}, {0.91, 1.03}, {1.25, 1.05}},
    [BLACKWELL] = {{1.37, 1.02}, {1.48, 1.48}, {1.63, 0.95}},
};
static const struct fr__nccl_measured NVLS_INSIDE[N_GENERATIONS] = {
    {1.89, 1.48}, {1.89, 1.48}, {1.16, 1.38}, {1.89, 1.55}};
static const struct fr__nccl_measured PAIRS_INSIDE[N_GENERATIONS] = {
    {1.28, 1.34}, {1.48, 1.48}, {0.91, 1.22}, {1.28, 1.34}};

/* Rings and trees; of few systems, so not by generation. */
static const struct fr__nccl_measured OVER_NODES[FR__NCCL_N_PROTOCOLS] = {
    {1.41, 2.41}, {1.98, 1.28}, {2.17, 1.10}};
static const struct fr__nccl_measured NVLS_OVER_NODES = {1.63, 1.34};
static const struct fr__nccl_measured PAIRS_OVER_NODES = {0.82, 1.16};

static unsigned generation_of(unsigned min_sm)
{
    if (min_sm < 80)
        return VOLTA;
    if (min_sm < 90)
        return AMPERE;
    return min_sm < 100 ? HOPPER : BLACKWELL;
}

static struct fr__nccl_measured inside(unsigned generation, enum fr__nccl_algorithm a,
                                       enum fr__nccl_protocol p)
{
    struct fr__nccl_measured m = INSIDE[generation][p];

    if (a == FR__NCCL_N_ALGORITHMS)
        return PAIRS_INSIDE[generation];
    if (a == FR__NCCL_ALGO_NVLS || a == FR__NCCL_ALGO_NVLS_TREE)
        return NVLS_INSIDE[generation];
    if (a == FR__NCCL_ALGO_TREE)
        m.bytes = 1;
    return m;
}

struct fr__nccl_measured fr__nccl_measured_of(unsigned min_sm, bool is_over_nodes,
                                              enum fr__nccl_algorithm a, enum fr__nccl_protocol p)
{
    if (min_sm == 0 || p >= FR__NCCL_N_PROTOCOLS || a == FR__NCCL_ALGO_PAT)
        return (struct fr__nccl_measured){1, 1}; /* nobody measured PAT */
    if (!is_over_nodes)
        return inside(generation_of(min_sm), a, p);
    if (a == FR__NCCL_N_ALGORITHMS)
        return PAIRS_OVER_NODES;
    if (a == FR__NCCL_ALGO_NVLS || a == FR__NCCL_ALGO_NVLS_TREE)
        return NVLS_OVER_NODES;
    return OVER_NODES[p];
}

double fr__nccl_own_Bps(double mem_Bps)
{
    static const double MOST_BPS = 900e9;

    return fmin(mem_Bps / 4, MOST_BPS);
}
