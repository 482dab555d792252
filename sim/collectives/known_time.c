/* sim/collectives/known_time.c - the time of a collective that is known when it starts.
 *
 * It is that of the closed form (closed_form.c), or a cost of the collective's own. A collective
 * with a row of the cost table takes that row's time, and longer where others use its links
 * (flows.c). Links are counted the bytes of the steps. Other groups that do the same at the same
 * time crowd its links. They slow down its bytes, not its latency. Where links are made faster or
 * slower, the part that grows with the bytes follows a bandwidth. It is the one of the outermost
 * kind of link that the first ring crosses, which is the network where there are several machines.
 * The rest (start, steps) follows the latency of that kind.
 */
#include "config.h"

#include "sim/engine.h"
#include "sim/collectives/schedule_choice.h"

#include <math.h>

bool fr__collective_has_cost(const struct fr__engine *e, uint32_t collective)
{
    const struct fr_collective *c = &e->v->collectives[collective];

    return c->has_cost && !e->o->rings_only && fr_plan_group_size(e->plan, c->group) > 1;
}

struct fr__own_cost fr__collective_cost(struct fr__engine *e, uint32_t collective)
{
    const struct fr_collective *c = &e->v->collectives[collective];
    const struct fr_cost *cost = &e->v->costs[c->cost_id];
    double mean_s = e->o->cost_s ? e->o->cost_s[c->cost_id] : cost->mean_s;
    const struct fr__ring_set *rings = fr__group_rings(e, c->group);
    struct fr__own_cost own = {.kind = rings ? rings->kind : FR_LINK_NVLINK};

    if (cost->mean_s > 0)
        own.bandwidth_s = mean_s * (cost->bytes_s / cost->mean_s);
    own.latency_s = mean_s - own.bandwidth_s;
    if (e->o->slowness) {
        own.bandwidth_s *= e->o->slowness[fr_link_resource(own.kind, FR_LINK_BANDWIDTH)];
        own.latency_s *= e->o->slowness[fr_link_resource(own.kind, FR_LINK_LATENCY)];
    }
    return own;
}

/* Whether the network model shares links among a collective and the groups that do the same. Then
 * their crowding comes about by itself (link_load.h). A load says how many bytes links carry in
 * all. Where rounds differ, as an all-to-all's do, the slowest message of each round counts too, so
 * the crowding stands for those. */
static bool shares_links(const struct fr__engine *e, const struct fr_collective *c)
{
    return !e->network.model->is_end_known && c->kind != FR_ALL_TO_ALL && !e->o->way;
}

/* Whether messages one by one say what a folded collective takes. Where all ranks have a place in
 * the plan, one by a chosen algorithm goes so, if nothing crowds its links. The closed forms of
 * such algorithms leave out that their own messages share links: a tree inside a machine takes
 * two to three times as long. Rings share none, and their form is exact. */
static bool is_rehearsed(struct fr__engine *e, const struct fr_collective *c, uint32_t collective)
{
    const double MOST_STEPS = 2e5; /* about half a second */
    struct fr__collective_schedule way;
    const struct fr__schedule *s = &way.schedule;

    if (!c->is_folded || c->is_formula || e->o->closed_form_collectives ||
        e->network.model->is_end_known || !fr__collective_schedule_of(e, collective, &way))
        return false;
    return s->algorithm != &fr__ring_algorithm &&
           (double)s->n_entities * s->n_slots * s->n_steps <= MOST_STEPS;
}

struct fr__known fr__collective_known(struct fr__engine *e, uint32_t collective)
{
    const struct fr_collective *c = &e->v->collectives[collective];
    struct fr__known known;
    struct fr__repeat *repeat;
    struct fr__own_cost own;

    if (fr__collective_has_cost(e, collective)) {
        own = fr__collective_cost(e, collective);
        return (struct fr__known){
            .start_s = own.latency_s, .bytes_s = own.bandwidth_s, .n_rounds = 1, .kind = own.kind};
    }
    repeat = fr__repeat_of(e, collective);
    if (!repeat)
        return (struct fr__known){.n_rounds = 1};
    if (!repeat->has_known) {
        known = fr__collective_alone(e, collective);
        if (e->status == FR_OK && is_rehearsed(e, c, collective))
            known.bytes_s = fmax(e->rehearse(e, collective) - known.start_s - known.latency_s, 0);
        repeat = fr__repeat_of(e, collective);
        repeat->known = known;
        repeat->has_known = true;
    }
    known = repeat->known;
    if (c->is_formula && c->crowding > 1 && !shares_links(e, c))
        known.bytes_s *= c->crowding;
    return known;
}

bool fr__collective_is_known(const struct fr__engine *e, uint32_t collective)
{
    const struct fr_collective *c = &e->v->collectives[collective];

    return c->is_formula || c->is_folded || e->o->closed_form_collectives ||
           fr__collective_has_cost(e, collective);
}
