/* sim/collectives/resource_parts.c - which resources the time of a collective is made of.
 *
 * This is for collectives that take a known time. Where messages go step by step, each message has
 * its own parts (sim/analysis/sensitivity.c).
 */
#include "config.h"

#include "sim/engine.h"
#include "sim/analysis/parts.h"

/* Adds `total_s`, shared out as a collective's own cost is. */
static void add_own_cost(struct fr__engine *e, uint32_t collective, double total_s)
{
    struct fr__own_cost own = fr__collective_cost(e, collective);
    double alone_s = own.bandwidth_s + own.latency_s;
    double *parts_s = e->parts->now_s;

    if (!(alone_s > 0))
        return;
    parts_s[fr_link_resource(own.kind, FR_LINK_BANDWIDTH)] += total_s * own.bandwidth_s / alone_s;
    parts_s[fr_link_resource(own.kind, FR_LINK_LATENCY)] += total_s * own.latency_s / alone_s;
}

/* n messages over a route, stretched by *user. */
static void add_hops(struct fr__engine *e, void *user, uint32_t route, double bytes, double n)
{
    const struct fr__route *r = fr__route_at(e, route);
    const double *scale = user;

    if (r->n_links > 0)
        fr__parts_add_alone(e, e->parts->now_s, r, bytes, n * *scale * fr__hop_s(e, route, bytes));
}

void fr__parts_at_collective_done(struct fr__engine *e, uint32_t collective)
{
    uint32_t member = e->v->members[e->v->member_first[collective]];
    double alone_s, scale;

    fr__parts_at_end(e, member);
    if (fr__collective_has_cost(e, collective)) {
        add_own_cost(e, collective, e->now_s - e->tasks[member].start_s);
        return;
    }
    /* of a schedule as well: rings over the same links stand for its mix of latency and bytes */
    alone_s = fr__collective_hops(e, collective, NULL, NULL);
    if (!(alone_s > 0))
        return;
    scale = (e->now_s - e->tasks[member].start_s) / alone_s;
    fr__collective_hops(e, collective, add_hops, &scale);
}
