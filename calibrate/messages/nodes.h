/* calibrate/messages/nodes.h - collectives over several nodes: NCCL's choice of a way, then what
 * that way costs.
 *
 * A way is an algorithm with a protocol. n GPUs, N nodes, g = n / N; steps as in system.h.
 *
 * The choice: NCCL takes the way that it believes to be the cheapest, by its own constants and its
 * own model of the machine. That model is often wrong, and then measured times jump. bus is
 * near_Bps up to two nodes (tree_near_Bps for trees), and far_Bps beyond.
 *
 *   ring  lat = base + (steps - far) * max(near hop, overhead) + far * far hop, far = 2 N or N - 1,
 *         bw = (LL: min(cap, bus / 4), LL128: 0.92 bus, Simple: bus) * n / steps
 *   tree  lat = base + 2 ((g - 1) near hop + log2(N) far hop), all-reduce only
 *         bw = 0.92 bus (LL: / 3.8 and at most the cap, LL128: 120/128) / 2 * correction(bytes)
 *
 * The cost of the chosen way, with fitted constants:
 *
 *   ring  base + far * far_hop + (steps - far) * near_hop + bytes * steps / n / Bps,
 *         far = 2 (N - 1) or N - 1
 *   tree  base + 2 log2(N) * (far_hop + chunk / chunk_Bps) + 2 (g - 1) near_hop + m * bytes / Bps
 *         chunk = bytes * chunk_bytes / (bytes + chunk_bytes); a node forwards whole chunks
 *         m = 1 for two nodes, each of which sends the sum once; otherwise 2: up and down
 *            each of two trees
 *         log2(N) is rounded up here, and down in NCCL's choice
 *   all-to-all
 *         base + (n - g) * hop + x / Bps * (1 + (knee / x)^power)
 *         x = bytes * (n - g) / n: what leaves a node over the links of one GPU
 *
 * Source:  NVIDIA NCCL 2.28.7, src/graph/tuning.cc lines 142-199 (latencies, LL's bandwidth of
 *          Hopper) and commit b6475625fb (formulas, correction of trees, 1.4 times the latency for
 *          rings of Simple).
 * Ignores: trees with NVLS in the switch (NVLSTree), PAT, SHARP, and which GPUs share a network
 *          card.
 */
#ifndef FR_CALIBRATE_MESSAGES_NODES_H
#define FR_CALIBRATE_MESSAGES_NODES_H

#include "calibrate/messages/system.h"

/* The way that NCCL would take among those that nodes->has_way; FR_N_SYSTEM_WAYS: none can do that
 * op. */
enum fr_system_way fr__nodes_choose(const struct fr_system_nodes *nodes,
                                    const struct fr_system_call *call);

/* Seconds of a way with those parameters. */
double fr__nodes_way_s(enum fr_system_way way, const double p[FR_SYSTEM_WAY_PARAMETERS],
                       const struct fr_system_call *call);
double fr__nodes_all_to_all_s(const double p[FR_SYSTEM_NODES_ALL_TO_ALL],
                              const struct fr_system_call *call);
/* Seconds of the way that NCCL chooses; 0 if no way can do it. */
double fr__nodes_time_s(const struct fr_system_nodes *nodes, const struct fr_system_call *call);

size_t fr__nodes_n_parameters(enum fr_system_way way);
/* Where a fit starts: NCCL's own latencies, and guesses for the rest at a bus of that bandwidth. */
void fr__nodes_start(enum fr_system_way way, double bus_Bps, double p[FR_SYSTEM_WAY_PARAMETERS]);

/* t = p[0] + x / p[1] * (1 + (p[2] / x)^p[3]); x > 0 */
double fr__knee_s(const double p[4], double x);
#endif
