/* calibrate/messages/nodes.c - evaluates the model of system_nodes.h: NCCL's choice with NCCL's
 * constants, then the cost with fitted ones. */
#include "config.h"

#include "calibrate/messages/nodes.h"

#include <math.h>
#include <string.h>

enum { PROTOCOLS = 3, LL = 0, LL128 = 1, SIMPLE = 2 };
enum { BASE, FAR_HOP, NEAR_HOP, BPS, CHUNK_BYTES, CHUNK_BPS };
enum { A2A_BASE, A2A_HOP, A2A_KNEE };

/* NCCL's constants, in us and GB/s: [tree, ring][protocol] */
static const double base_us[2][PROTOCOLS] = {{6.8, 14.0, 8.4}, {6.6, 14.0, 8.4}};
static const double near_us[2][PROTOCOLS] = {{0.6, 1.25, 4.0}, {0.6, 1.9, 3.4}};
static const double far_us[2][PROTOCOLS] = {{5.0, 8.5, 14.0}, {2.7, 4.0, 14.0}};
/* What the network card adds to each step of a ring, on any link. */
static const double overhead_us[PROTOCOLS] = {1, 1, 3};
static const double ll_cap_two_nodes_Bps = 45e9, ll_cap_Bps = 35e9;

/* for 64 B, 128 B, ... 256 MB */
enum { CORRECTIONS = 23 };
static const double tree_correction[PROTOCOLS][CORRECTIONS] = {
    {1.0, 1.0, 1.0, 1.0, .9, .8, .7, .7,  .7,  .7,  .6, .5,
     .4,  .4,  .5,  .6,  .7, .8, .9, 1.0, 1.0, 1.0, 1.0},
    {1.0, 1.0, 1.0, 1.0, 1.0, .9, .8, .8, .8, .7,  .6, .6,
     .6,  .6,  .6,  .6,  .8,  .9, .9, .9, .9, 1.0, 1.0},
    {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5, .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9},
};

static bool is_ring(enum fr_system_way way)
{
    return way >= FR_SYSTEM_RING_LL;
}

static unsigned protocol_of(enum fr_system_way way)
{
    return (unsigned)way % PROTOCOLS;
}

static double log2_floor(double x)
{
    int exponent;

    frexp(x, &exponent);
    return exponent - 1;
}

static double log2_ceil(double n)
{
    double floor = log2_floor(n);

    return floor + (ldexp(1, (int)floor) < n);
}

/* ---- the choice ---- */

static double believed_ring_s(const struct fr_system_choice *c, unsigned protocol,
                              const struct fr_system_call *call)
{
    double n = call->n_gpus, nodes = call->n_nodes, steps = n - 1, far = nodes - 1;
    double bus = nodes <= 2 ? c->near_Bps : c->far_Bps, latency_us, Bps = bus;

    if (call->op == FR_SYSTEM_ALL_REDUCE) {
        steps *= 2;
        far = 2 * nodes;
    }
    if (protocol == LL)
        Bps = fmin(bus / 4, nodes <= 2 ? ll_cap_two_nodes_Bps : ll_cap_Bps);
    else if (protocol == LL128)
        Bps = 0.92 * bus;
    latency_us = base_us[1][protocol] +
                 (steps - far) * fmax(near_us[1][protocol], overhead_us[protocol]) +
                 far * far_us[1][protocol];
    /* our guess: 16 channels with at least 64 bytes for each GPU */
    if (protocol == SIMPLE && call->op == FR_SYSTEM_ALL_REDUCE && call->bytes >= 1024 * n)
        latency_us *= 1.4;
    return latency_us * 1e-6 + call->bytes * steps / n / Bps;
}

static double believed_tree_s(const struct fr_system_choice *c, unsigned protocol,
                              const struct fr_system_call *call)
{
    double nodes = call->n_nodes, a_node = call->n_gpus / nodes;
    double Bps = 0.92 * (nodes <= 2 ? c->tree_near_Bps : c->far_Bps);
    double latency_us = base_us[0][protocol] + 2 * ((a_node - 1) * near_us[0][protocol] +
                                                    log2_floor(nodes) * far_us[0][protocol]);
    double size = log2_floor(fmax(call->bytes / 64, 1));

    if (protocol == LL)
        Bps = fmin(Bps / 3.8, nodes <= 2 ? ll_cap_two_nodes_Bps : ll_cap_Bps);
    else if (protocol == LL128)
        Bps *= 120.0 / 128;
    if (size < CORRECTIONS)
        Bps *= tree_correction[protocol][(size_t)size];
    return latency_us * 1e-6 + call->bytes / (Bps / 2);
}

enum fr_system_way fr__nodes_choose(const struct fr_system_nodes *nodes,
                                    const struct fr_system_call *call)
{
    enum fr_system_way best = FR_N_SYSTEM_WAYS;
    double best_s = INFINITY;

    for (unsigned w = 0; w < FR_N_SYSTEM_WAYS; w++) {
        enum fr_system_way way = (enum fr_system_way)w;
        unsigned protocol = protocol_of(way);
        double t;

        if (!nodes->has_way[w] || (protocol == LL128 && !nodes->choice.has_ll128) ||
            (!is_ring(way) && call->op != FR_SYSTEM_ALL_REDUCE))
            continue;
        t = is_ring(way) ? believed_ring_s(&nodes->choice, protocol, call)
                         : believed_tree_s(&nodes->choice, protocol, call);
        if (t < best_s) {
            best_s = t;
            best = way;
        }
    }
    return best;
}

/* ---- the cost ---- */

size_t fr__nodes_n_parameters(enum fr_system_way way)
{
    return is_ring(way) ? BPS + 1 : FR_SYSTEM_WAY_PARAMETERS;
}

void fr__nodes_start(enum fr_system_way way, double bus_Bps, double p[FR_SYSTEM_WAY_PARAMETERS])
{
    static const double chunk_bytes[PROTOCOLS] = {16e3, 64e3, 256e3};
    static const double share[PROTOCOLS] = {0.25, 0.9, 1};
    unsigned protocol = protocol_of(way);

    p[BASE] = 1e-6 * base_us[is_ring(way)][protocol];
    p[FAR_HOP] = 1e-6 * far_us[is_ring(way)][protocol];
    p[NEAR_HOP] = 1e-6 * near_us[is_ring(way)][protocol];
    p[BPS] = bus_Bps * share[protocol];
    p[CHUNK_BYTES] = is_ring(way) ? 0 : chunk_bytes[protocol];
    p[CHUNK_BPS] = is_ring(way) ? 0 : p[BPS] / 4;
}

double fr__nodes_way_s(enum fr_system_way way, const double p[FR_SYSTEM_WAY_PARAMETERS],
                       const struct fr_system_call *call)
{
    double n = call->n_gpus, nodes = call->n_nodes, bytes = fmax(call->bytes, 1);
    double times = call->op == FR_SYSTEM_ALL_REDUCE ? 2 : 1, steps = times * (n - 1),
           far = times * (nodes - 1);

    if (is_ring(way))
        return p[BASE] + far * p[FAR_HOP] + (steps - far) * p[NEAR_HOP] +
               bytes * steps / n / p[BPS];
    return p[BASE] +
           2 * log2_ceil(nodes) *
               (p[FAR_HOP] + bytes * p[CHUNK_BYTES] / (bytes + p[CHUNK_BYTES]) / p[CHUNK_BPS]) +
           2 * (n / nodes - 1) * p[NEAR_HOP] + (nodes > 2 ? 2 : 1) * bytes / p[BPS];
}

double fr__knee_s(const double p[4], double x)
{
    return p[0] + x / p[1] * (1 + pow(p[2] / x, p[3]));
}

double fr__nodes_all_to_all_s(const double p[FR_SYSTEM_NODES_ALL_TO_ALL],
                              const struct fr_system_call *call)
{
    double n = call->n_gpus, others = n - n / call->n_nodes;
    double knee[4] = {p[A2A_BASE] + others * p[A2A_HOP], p[A2A_KNEE], p[A2A_KNEE + 1],
                      p[A2A_KNEE + 2]};

    return fr__knee_s(knee, fmax(call->bytes, 1) * others / n);
}

double fr__nodes_time_s(const struct fr_system_nodes *nodes, const struct fr_system_call *call)
{
    enum fr_system_way way;

    if (call->op == FR_SYSTEM_ALL_TO_ALL)
        return nodes->has_all_to_all ? fr__nodes_all_to_all_s(nodes->all_to_all, call) : 0;
    way = fr__nodes_choose(nodes, call);
    return way < FR_N_SYSTEM_WAYS ? fr__nodes_way_s(way, nodes->ways[way], call) : 0;
}
