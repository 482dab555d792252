/* sim/network/alone.h - how long a message takes alone on its route.
 *
 * All ask here: the network models, the lower bound, the oracle of the order `tac`, and the
 * planners. There are two ways to price a message:
 *
 *   a link's numbers  latency of all links + bytes / bandwidth of the narrowest
 *   a measured fit    the larger of that and the fit: its latency + its time of the bytes
 *
 * A route has a fit (struct fr_topo_message) if all its links of the outermost kind have the same
 * one and both ends are GPUs: NVLinks between two GPUs, or the network between two machines,
 * whatever leads to it. Only transfers use fits. The steps of collectives do not: a collective is
 * priced as a whole, or its steps run over the links as they are.
 *
 * A fit does not change the capacity of a link. So the time has three parts. First the latency
 * passes, which takes no bandwidth. It includes extra_s, the time by which the fit exceeds the
 * bandwidth of the links, and this delays the message itself only. Then the bytes share the links
 * at their bandwidth. If links are made faster or slower, the fit's latency follows the latency of
 * the narrowest link's kind, and its time of the bytes follows the bandwidth.
 */
#ifndef FR_SIM_NETWORK_ALONE_H
#define FR_SIM_NETWORK_ALONE_H

#include "sim/network/routes.h"

/* Seconds; the message takes the sum. */
struct fr__alone {
    double latency_s;
    double extra_s; /* by which a fit's time exceeds bytes_s */
    double bytes_s; /* bytes / bandwidth of the narrowest link */
    bool is_fitted;
};

static inline double fr__alone_sum(struct fr__alone a)
{
    return a.latency_s + a.extra_s + a.bytes_s;
}

/* A message of so many bytes over a route. fits: [the topology's n_messages]; NULL: none.
 * fr__alone_by_curve takes a fit as measured, with its knee.
 * fr__alone_by_line takes only its latency and bandwidth: a straight line. */
typedef struct fr__alone fr__alone_fn(const struct fr__routes *r, const struct fr__route *route,
                                      const struct fr_message_fit *fits, double bytes);
fr__alone_fn fr__alone_by_curve, fr__alone_by_line;

/* The same line for callers that keep it: latency_s + bytes / Bps. */
struct fr__alone_line {
    double latency_s;
    double Bps; /* INFINITY: no links */
};
struct fr__alone_line fr__alone_line(const struct fr__route *route,
                                     const struct fr_message_fit *fits);

#endif
