/* sim/collectives/flows.c - collectives of a known time as flows over the links.
 *
 * What such a collective takes alone is known when it starts (known_time.c): a latency and the time
 * of its bytes. Here the bytes share links with everything else that is on the way. The collective
 * is one flow of the network model, whose load (link_load.h) says what each link carries of it.
 * Alone it is as fast as its closed form says, or as the links of all groups that it stands for
 * allow. Nothing makes it faster than that.
 *
 * The latency delays a collective and takes no link. It is that of its rounds, between which others
 * have the links. So a collective goes in parts, one a round: a latency, then bytes. Of many rounds
 * MOST_PARTS equal parts stand for all. As many parts as rounds give exactly what messages one by
 * one give, where all hops of a ring are alike.
 */
#include "config.h"

#include "sim/analysis/parts.h"
#include "sim/collectives/link_load.h"

#include <math.h>

enum { MOST_PARTS = 16 };

/* How much slower other work on its devices makes a collective now; >= 1. */
static double stretch_of(const struct fr__engine *e, uint32_t collective)
{
    uint32_t first = e->v->member_first[collective], past = e->v->member_first[collective + 1];
    double stretch = 1;

    for (uint32_t i = first; fr__has_interference(e) && i < past; i++) {
        uint32_t d = fr__device_of(e, e->v->members[i]);
        double s = fr__comm_stretch(e, FR_WORK_COLLECTIVE, d, d);

        stretch = s > stretch ? s : stretch;
    }
    return stretch;
}

static uint32_t new_flow(struct fr__engine *e)
{
    struct fr__collectives *c = &e->collectives;
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

static const struct fr__message_owner part;

static void start_part(struct fr__engine *e, uint32_t flow)
{
    fr__message_start(
        e, &(struct fr__message){.owner = &part, .of = flow, .route = FR_NONE, .times = 1});
}

/* false: it shares no links, and only its time passes. */
static bool start_flow(struct fr__engine *e, uint32_t collective)
{
    struct fr__known known;
    struct fr__moved moved;
    struct fr__collective_flow flow;
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
    flow = (struct fr__collective_flow){.load = moved.load,
                                        .collective = collective,
                                        .parts_left = (uint32_t)n_parts,
                                        .before_s = known.start_s,
                                        .latency_s = known.latency_s / n_parts,
                                        .bytes = moved.held_bytes / n_parts,
                                        .most_Bps = moved.held_bytes / known.bytes_s,
                                        .stretch = stretch_of(e, collective),
                                        .kind = known.kind,
                                        .is_behind = known.is_behind};
    if (!flow.is_behind)
        flow.before_s += flow.latency_s;
    e->collectives.flows[id] = flow;
    start_part(e, id);
    return true;
}

void fr__collective_done(struct fr__engine *e, uint32_t collective)
{
    uint32_t first = e->v->member_first[collective];
    uint32_t n = e->v->member_first[collective + 1] - first;

    if (e->parts)
        fr__parts_at_collective_done(e, collective);
    if (e->network.link_bytes)
        fr__count_known(e, collective, e->network.link_bytes);
    for (uint32_t i = 0; i < n; i++)
        fr__member_done(e, e->v->members[first + i]);
}

static void part_arrives(struct fr__engine *e, const struct fr__message *m,
                         const struct fr__route *route)
{
    uint32_t flow = m->of;
    struct fr__collective_flow *f = &e->collectives.flows[flow];
    uint32_t collective = f->collective;
    double behind_s = f->is_behind ? f->latency_s * f->stretch : 0;

    (void)route;
    f->before_s = f->latency_s;
    f->stretch = stretch_of(e, collective);
    if (--f->parts_left > 0) {
        start_part(e, flow);
        return;
    }
    f->collective = e->collectives.free_flow;
    e->collectives.free_flow = flow;
    if (behind_s > 0)
        fr__push_event(e, e->now_s + behind_s, collective, EVENT_COLLECTIVE_DONE);
    else
        fr__collective_done(e, collective);
}

static void depart(const struct fr__engine *e, const struct fr__message *m,
                   struct fr__departure *out)
{
    const struct fr__collective_flow *f = &e->collectives.flows[m->of];

    out->load = f->load;
    out->bytes = f->bytes;
    out->latency_s = f->before_s;
    out->stretch = f->stretch;
    out->most_Bps = f->most_Bps;
    out->own = m->of;
    out->kind = f->kind;
}

static const struct fr__message_owner part = {
    .work = FR_WORK_COLLECTIVE, .depart = depart, .arrive = part_arrives};

void fr__known_start(struct fr__engine *e, uint32_t collective)
{
    if (!start_flow(e, collective) && e->status == FR_OK)
        fr__push_event(e, e->now_s + fr__collective_s(e, collective) * stretch_of(e, collective),
                       collective, EVENT_COLLECTIVE_DONE);
}
