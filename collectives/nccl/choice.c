/* collectives/nccl/choice.c - what NCCL chooses by its table: algorithm, protocol, channels,
 * threads.
 *
 * Source: NVIDIA/nccl src/graph/tuning.cc (ncclTopoGetAlgoTime, treeCorrectionFactor) and
 * src/enqueue.cc (topoGetAlgoInfo) of 2.30.7.
 */
#include "config.h"

#include "collectives/nccl/tuner.h"

#include <math.h>

/* By floor(log2(bytes / 64)); 1 beyond, for trees one step before the row's end. */
enum { N_CORRECTIONS = 24 };
static const double TREE_CORRECTION[FR__NCCL_N_PROTOCOLS][N_CORRECTIONS] = {
    {1, 1, 1, 1, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9, 1, 1, 1, 1, 1},
    {1, 1, 1, 1, 1, .9, .8, .8, .8, .7, .6, .6, .6, .6, .6, .6, .8, .9, .9, .9, .9, 1, 1, 1},
    {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5,
     .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9, .9},
};

static double correction(const struct fr__nccl_model *m, enum fr__nccl_algorithm a,
                         enum fr__nccl_protocol p, double bytes)
{
    bool is_tree = a == FR__NCCL_ALGO_TREE;
    double level = floor(log2(floor(bytes / 64)));

    if (a == FR__NCCL_ALGO_NVLS_TREE)
        is_tree = m->comm.version >= 228 && m->comm.min_sm >= 100 && m->comm.is_x86;
    if (!is_tree || !(level >= 0) || level >= N_CORRECTIONS - (a == FR__NCCL_ALGO_TREE))
        return 1;
    return TREE_CORRECTION[p][(unsigned)level];
}

double fr__nccl_time_us(const struct fr__nccl_model *m, enum fr_collective_kind kind,
                        enum fr__nccl_algorithm a, enum fr__nccl_protocol p, double bytes)
{
    const struct fr__nccl_entry *e = &m->of[kind][a][p];
    double latency_us = e->latency_us, bw_GBps = e->bw_GBps;

    if (!(bw_GBps > 0))
        return INFINITY;
    if (kind == FR_ALL_REDUCE)
        bw_GBps *= correction(m, a, p, bytes);
    if (a == FR__NCCL_ALGO_RING && p == FR__NCCL_SIMPLE && m->comm.n_nodes > 1 &&
        kind == FR_ALL_REDUCE &&
        floor(bytes / ((double)m->comm.n_channels * m->comm.n_ranks)) >= 64)
        latency_us *= m->comm.min_sm < 80 ? 1.9 : 1.4;
    return latency_us + bytes / (1000 * bw_GBps);
}

/* ---- channels and threads ---- */

static unsigned nvls_channels(const struct fr__nccl_comm *c)
{
    if (c->min_sm < 100)
        return 16;
    return c->n_nodes == 1 ? 24 : 32;
}

static double threshold(const struct fr__nccl_model *m, enum fr__nccl_algorithm a,
                        enum fr__nccl_protocol p)
{
    if (p == FR__NCCL_SIMPLE)
        return 64;
    return p == FR__NCCL_LL && a == FR__NCCL_ALGO_RING ? 8.0 * m->comm.n_ranks : 8;
}

static void size_it(const struct fr__nccl_model *m, struct fr__nccl_choice *c, double bytes)
{
    bool is_nvls = c->algorithm == FR__NCCL_ALGO_NVLS || c->algorithm == FR__NCCL_ALGO_NVLS_TREE;
    double least = threshold(m, c->algorithm, c->protocol);
    unsigned nc = is_nvls ? nvls_channels(&m->comm) : m->comm.n_channels;
    unsigned nt = m->max_threads[c->algorithm][c->protocol];

    while (!is_nvls && bytes < (double)nc * nt * least && nc > 1)
        nc--;
    while (!is_nvls && bytes < (double)nc * nt * least && nt % 128 == 0)
        nt /= 2;
    if (c->algorithm == FR__NCCL_ALGO_RING && c->protocol == FR__NCCL_SIMPLE)
        nt += 32; /* a warp to synchronise */
    nt = nt < 96 ? 96 : nt;
    if (c->algorithm == FR__NCCL_ALGO_TREE || c->algorithm == FR__NCCL_ALGO_PAT)
        nt = 640;
    c->channels = nc;
    c->threads = nt;
}

bool fr__nccl_choose(const struct fr__nccl_model *m, enum fr_collective_kind kind, double bytes,
                     enum fr__nccl_algorithm only, enum fr__nccl_protocol only_p,
                     struct fr__nccl_choice *out)
{
    struct fr__nccl_choice best = {.time_us = INFINITY};

    for (unsigned a = 0; a < FR__NCCL_N_ALGORITHMS; a++)
        for (unsigned p = 0; p < FR__NCCL_N_PROTOCOLS; p++) {
            double time_us;

            if ((only < FR__NCCL_N_ALGORITHMS && a != (unsigned)only) ||
                (only_p < FR__NCCL_N_PROTOCOLS && p != (unsigned)only_p))
                continue;
            time_us = fr__nccl_time_us(m, kind, (enum fr__nccl_algorithm)a,
                                       (enum fr__nccl_protocol)p, bytes);
            if (time_us < best.time_us)
                best = (struct fr__nccl_choice){.algorithm = (enum fr__nccl_algorithm)a,
                                                .protocol = (enum fr__nccl_protocol)p,
                                                .time_us = time_us};
        }
    if (!(best.time_us < INFINITY))
        return false;
    size_it(m, &best, bytes);
    *out = best;
    return true;
}

bool fr__nccl_choose_for(const struct fr__nccl_model *m, enum fr_collective_kind kind, double bytes,
                         enum fr__nccl_protocol p, bool can_switch_sum, struct fr__nccl_choice *out)
{
    struct fr__nccl_choice c;
    bool is_any = false;

    if (can_switch_sum)
        return fr__nccl_choose(m, kind, bytes, FR__NCCL_N_ALGORITHMS, p, out);
    for (unsigned a = 0; a < FR__NCCL_N_ALGORITHMS; a++)
        if (a != FR__NCCL_ALGO_NVLS && a != FR__NCCL_ALGO_NVLS_TREE &&
            fr__nccl_choose(m, kind, bytes, (enum fr__nccl_algorithm)a, p, &c) &&
            (!is_any || c.time_us < out->time_us)) {
            *out = c;
            is_any = true;
        }
    return is_any;
}
