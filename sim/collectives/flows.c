/* sim/collectives/flows.c - collectives of a known time as flows over the links.
 *
 * What such a collective takes alone is known when it starts (cost.c): a latency and the time of
 * its bytes. Here the bytes share links with everything else that is on the way. The collective is
 * one flow of the network model, whose load (load.h) says what each link carries of it. Alone it is
 * as fast as its closed form says, or as the links of all groups that it stands for allow. Nothing
 * makes it faster than that.
 *
 * The latency delays a collective and takes no link. It is that of its rounds, between which others
 * have the links. So a collective goes in parts, one a round: a latency, then bytes. Of many rounds
 * MOST_PARTS equal parts stand for all. As many parts as rounds give exactly what messages one by
 * one give, where all hops of a ring are alike.
 */
#include "config.h"

#include "sim/collectives/load.h"

#include <math.h>

enum { MOST_PARTS = 16 };

static uint32_t new_flow(struct engine *e)
{
    struct collectives *c = &e->collectives;
    uint32_t id = c->free_flow;

    if (id != FR_NONE) {
        c->free_flow = c->flows[id].collective;
        return id;
    }
    if (!fr__grow(&c->flows, &c->cap_flows, c->n_flows + 1, sizeof(*c->flows))) {
        fr__engine_fail_nomem(e);
        return FR_NONE;
    }
    return (uint32_t)c->n_flows++;
}

bool fr__flow_start(struct engine *e, uint32_t collective)
{
    struct fr__known known;
    struct fr__moved moved;
    struct collective_flow flow;
    double n_parts;
    uint32_t id;

    if (e->network.model->is_end_known)
        return false;
    known = fr__collective_known(e, collective);
    moved = fr__moved_by(e, collective, known.bytes_s);
    if (!moved.load || !(moved.held_bytes > 0) || !(known.bytes_s > 0))
        return false;
    id = new_flow(e);
    if (id == FR_NONE)
        return true;
    n_parts = known.latency_s > 0 ? fmin(fmax(known.n_rounds, 1), MOST_PARTS) : 1;
    flow = (struct collective_flow){.load = moved.load,
                                    .collective = collective,
                                    .parts_left = (uint32_t)n_parts,
                                    .before_s = known.start_s,
                                    .latency_s = known.latency_s / n_parts,
                                    .bytes = moved.held_bytes / n_parts,
                                    .most_Bps = moved.held_bytes / known.bytes_s,
                                    .stretch = fr__collective_stretch(e, collective),
                                    .kind = known.kind,
                                    .is_behind = known.is_behind};
    if (!flow.is_behind)
        flow.before_s += flow.latency_s;
    e->collectives.flows[id] = flow;
    fr__flow_message_start(e, id);
    return true;
}

void fr__flow_part_done(struct engine *e, uint32_t flow)
{
    struct collective_flow *f = &e->collectives.flows[flow];
    uint32_t collective = f->collective;
    double behind_s = f->is_behind ? f->latency_s * f->stretch : 0;

    f->before_s = f->latency_s;
    f->stretch = fr__collective_stretch(e, collective);
    if (--f->parts_left > 0) {
        fr__flow_message_start(e, flow);
        return;
    }
    f->collective = e->collectives.free_flow;
    e->collectives.free_flow = flow;
    if (behind_s > 0)
        fr__push_event(e, e->now_s + behind_s, collective, EVENT_COLLECTIVE_DONE);
    else
        fr__collective_done(e, collective);
}
