/* sim/network/message.c - what a transfer between two GPUs takes alone, where messages over its link were measured.
 *
 * A route is of a fit (struct fr_topo_message) if all of its links of the outermost kind are, and both ends are
 * GPUs: NVLinks between two GPUs, or the network between two machines, whatever leads to it. Collectives' steps are
 * none of these: they are priced as a whole, or run over the links as they are.
 *
 *   alone   = fit's latency + fit's time of the bytes, but no less than latency + bytes / bandwidth of the links:
 *             capacities stay the links', also where a fit extrapolates beyond them
 *   latency = alone - bytes / bandwidth of the narrowest link
 *
 * Under the analytic network the fit's time of the bytes is their share of its bandwidth, without the knee: a
 * straight line, which planners know as well (strategies/fastt/dag.c).
 *
 * The latency passes first and takes no bandwidth; the bytes then share the links at their bandwidth, as all
 * do. So alone the message takes the fitted time, and with others what it lacks of the links' bandwidth is lost
 * to itself only. Where links are made faster or slower, the fit's latency follows the latency of the narrowest
 * link's kind and its time of the bytes the bandwidth.
 */
#include "config.h"

#include "sim/engine.h"

#include <math.h>

static enum fr_link_kind narrowest_kind(const struct engine *e, const struct route *r)
{
    const uint32_t *hops = fr__route_links(e, r);
    uint32_t narrowest = hops[0];

    for (uint32_t i = 1; i < r->n_links; i++)
        if (fr__link_bw_Bps(e, hops[i]) < fr__link_bw_Bps(e, narrowest))
            narrowest = hops[i];
    return e->v->topo->links[narrowest].kind;
}

static double slowness(const struct engine *e, enum fr_link_kind kind, enum fr_link_resource what)
{
    return e->o->slowness ? e->o->slowness[fr_link_resource(kind, what)] : 1;
}

uint8_t fr__route_message(const struct engine *e, const struct route *r)
{
    uint32_t message;

    if (!e->o->messages)
        return NO_MESSAGE;
    message = fr_topo_message_of(e->v->topo, r->src, r->dst, fr__route_links(e, r), r->n_links);
    return message < NO_MESSAGE ? (uint8_t)message : NO_MESSAGE;
}

struct message_time fr__message_time(const struct engine *e, const struct route *r, double bytes)
{
    struct message_time t = {.latency_s = r->latency_s};
    const struct fr_message_fit *fit;
    enum fr_link_kind kind;
    double bytes_s;

    if (r->message == NO_MESSAGE)
        return t;
    fit = &e->o->messages[r->message];
    kind = narrowest_kind(e, r);
    t.latency_s = fmax(fit->latency_s * slowness(e, kind, FR_LINK_LATENCY), r->latency_s);
    bytes_s =
        e->o->network == FR_NETWORK_ANALYTIC ? bytes / fit->Bps : fr_message_bytes_s(fit, bytes);
    t.extra_s = fmax(bytes_s * slowness(e, kind, FR_LINK_BANDWIDTH) - bytes / r->bw_Bps, 0);
    t.kind = kind;
    t.is_fitted = true;
    return t;
}
