/* sim/collectives/cost.c - the time of a collective that is known when it starts.
 *
 * It is that of the closed form (form.c), or a cost of the collective's own. A collective with a
 * row of the cost table takes that row's time. No traffic changes it, and it takes no link from
 * other traffic. Links are still counted the bytes of the steps. Where links are made faster or
 * slower, the part that grows with the bytes follows a bandwidth. It is the one of the outermost
 * kind of link that the first ring crosses, which is the network where there are several machines.
 * The rest (start, steps) follows the latency of that kind.
 */
#include "config.h"

#include "sim/engine.h"

bool fr__collective_has_cost(const struct engine *e, uint32_t collective)
{
    const struct fr_collective *c = &e->v->collectives[collective];

    return c->has_cost && (c->is_folded || !e->o->rings_only) &&
           fr_plan_group_size(e->plan, c->group) > 1;
}

struct own_cost fr__collective_cost(struct engine *e, uint32_t collective)
{
    const struct fr_collective *c = &e->v->collectives[collective];
    const struct fr_cost *cost = &e->v->costs[c->cost_id];
    double mean_s = e->o->cost_s ? e->o->cost_s[c->cost_id] : cost->mean_s;
    const struct fr__ring_set *rings = fr__group_rings(e, c->group);
    struct own_cost own = {.kind = rings ? rings->kind : FR_LINK_NVLINK};

    if (cost->mean_s > 0)
        own.bandwidth_s = mean_s * (cost->bytes_s / cost->mean_s);
    own.latency_s = mean_s - own.bandwidth_s;
    if (e->o->slowness) {
        own.bandwidth_s *= e->o->slowness[fr_link_resource(own.kind, FR_LINK_BANDWIDTH)];
        own.latency_s *= e->o->slowness[fr_link_resource(own.kind, FR_LINK_LATENCY)];
    }
    return own;
}

double fr__collective_s(struct engine *e, uint32_t collective)
{
    const struct fr_collective *c = &e->v->collectives[collective];
    struct own_cost own;

    if (!fr__collective_has_cost(e, collective))
        return fr__alike_s(e, collective) * (c->is_formula && c->crowding > 1 ? c->crowding : 1);
    own = fr__collective_cost(e, collective);
    return own.bandwidth_s + own.latency_s;
}
