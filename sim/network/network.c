/* sim/network/network.c - transfers start and end; messages wait for channels, go, arrive.
 *
 * How fast a message goes is up to the network model (sim/network/model.h). This file finds its
 * route, keeps it back until it has its channels, hands it to the model and ends it. The latency of
 * a transfer may be a measured one (sim/network/alone.h); that of a collective's step is its
 * route's.
 */
#include "config.h"

#include "sim/collectives/load.h"
#include "sim/collectives/run.h"
#include "sim/analysis/parts.h"
#include "sim/engine.h"

#include <stdlib.h>

/* ---- life ---- */

/* The model's state is made when a run first asks for the model, then used again. */
static enum fr_status reset_model(struct engine *e)
{
    struct network *n = &e->network;
    enum fr_network which = e->o->network;

    n->model = fr__network_model(which);
    if (!n->model)
        return fr__fail(e->err, FR_EUSAGE, FR_NOWHERE, "there is no network model %d", (int)which);
    if (n->model->make && !n->states[which])
        n->states[which] = n->model->make(&n->routes);
    n->state = n->states[which];
    if (n->model->make && !n->state)
        return fr__engine_fail_nomem(e);
    if (n->model->reset && !n->model->reset(n->state, fr__wants(e, FR_WANT_PARTS)))
        return fr__engine_fail_nomem(e);
    return FR_OK;
}

enum fr_status fr__network_reset(struct engine *e)
{
    struct network *n = &e->network;
    const struct fr_topo *t = e->v->topo;

    fr__routes_reset(&n->routes, e->o->slowness);
    if (!fr__channels_reset(&n->channels, t->n_devices, e->o->channels))
        return fr__engine_fail_nomem(e);
    n->n_messages = n->n_under_way = 0;
    n->first_free = FR_NONE;
    n->link_bytes = NULL;
    n->is_next_known = false;
    if (fr__wants(e, FR_WANT_LINKS)) {
        n->link_bytes = fr__arena_alloc(e->arena, t->n_links + 1, sizeof(*n->link_bytes));
        if (!n->link_bytes)
            return fr__engine_fail_nomem(e);
    }
    return reset_model(e);
}

void fr__network_fini(struct engine *e)
{
    struct network *n = &e->network;

    for (unsigned i = 0; i < FR_N_NETWORKS; i++)
        if (n->states[i])
            fr__network_model((enum fr_network)i)->destroy(n->states[i]);
    fr__routes_fini(&n->routes);
    fr__channels_fini(&n->channels);
    free(n->messages);
}

/* ---- messages leave ---- */

static uint32_t new_message(struct engine *e)
{
    struct network *n = &e->network;
    uint32_t id = n->first_free;

    if (id != FR_NONE) {
        n->first_free = n->messages[id].owner;
        return id;
    }
    if (!fr__grow(&n->messages, &n->cap_messages, n->n_messages + 1, sizeof(*n->messages))) {
        fr__engine_fail_nomem(e);
        return FR_NONE;
    }
    return (uint32_t)n->n_messages++;
}

static void mark_moving(struct engine *e, uint32_t device, bool is_beginning)
{
    struct device *k = &e->devices[device];

    fr__device_account(e, k);
    k->n_copying += is_beginning ? 1 : (uint32_t)-1;
    fr__rerate(e, device);
}

static void task_moves(struct engine *e, uint32_t task)
{
    fr__task_started(e, task);
    if (e->o->alloc_at_start)
        fr__memory_alloc(e, task);
    mark_moving(e, fr__device_of(e, task), true);
}

/* What passes before the message shares its links. */
static double latency_of(struct engine *e, const struct message *m, const struct fr__route *r)
{
    struct fr__alone a;

    if (m->is_ahead)
        return 0;
    if (m->owner_kind != MESSAGE_OF_TRANSFER || r->fit == FR__NO_FIT || !e->o->messages)
        return r->latency_s;
    a = fr__transfer_alone(e, r, m->bytes);
    e->stats.fitted_messages++;
    return a.latency_s + a.extra_s;
}

/* The bytes that the links of a message carry: its own and those of the transfers that it stands
 * for. */
static inline double loaded(const struct engine *e, const struct message *m)
{
    if (m->owner_kind != MESSAGE_OF_TRANSFER)
        return m->bytes;
    return m->bytes * e->v->transfers[m->owner].share;
}

/* A transfer of a folded plan goes with those of all ranks that do the same. */
static const struct fr__load *load_of(struct engine *e, const struct message *m,
                                      const struct fr__route *r)
{
    if (m->owner_kind != MESSAGE_OF_TRANSFER || !e->v->device_counts)
        return NULL;
    return fr__load_of_pair(e, r->src, r->dst);
}

static inline struct fr__departure departure_of(struct engine *e, uint32_t id,
                                                const struct message *m, const struct fr__route *r,
                                                double latency_s)
{
    enum fr_work_class c = m->owner_kind == MESSAGE_OF_TRANSFER ? FR_WORK_COPY : FR_WORK_COLLECTIVE;
    const struct fr__load *load = load_of(e, m, r);
    bool is_one = load || e->network.model->is_end_known;

    return (struct fr__departure){.route = r,
                                  .load = load,
                                  .bytes = is_one ? m->bytes : loaded(e, m),
                                  .latency_s = latency_s,
                                  .stretch = fr__comm_stretch(e, c, r->src, r->dst),
                                  .message = id};
}

static void message_done(struct engine *e, uint32_t id);

static inline void follow_fate(struct engine *e, uint32_t id, enum fr__fate fate, double wake_s)
{
    if (fate == FR__WAKE_AT) {
        fr__push_event(e, wake_s, id, EVENT_MESSAGE);
    } else if (fate == FR__UNDER_WAY) {
        if (e->parts && e->network.messages[id].owner_kind != MESSAGE_OF_COLLECTIVE)
            fr__parts_at_message_shared(e, id);
    } else if (fate == FR__ARRIVED) {
        message_done(e, id);
    } else {
        fr__engine_fail_nomem(e);
    }
}

/* The message leaves: its channels, if they are limited, are its own. */
static void message_go(struct engine *e, uint32_t id)
{
    const struct message *m = &e->network.messages[id];
    const struct fr__route *r = fr__route_at(e, m->route);
    struct fr__departure d;
    enum fr__fate fate;
    double wake_s = e->now_s;

    if (m->owner_kind == MESSAGE_OF_TRANSFER) {
        task_moves(e, e->v->transfers[m->owner].send);
        task_moves(e, e->v->transfers[m->owner].recv);
    }
    d = departure_of(e, id, m, r, latency_of(e, m, r));
    if (e->parts)
        fr__parts_message_go(e, id);
    e->network.is_next_known = false;
    fate = r->n_links > 0 ? e->network.model->start(e->network.state, &d, e->now_s, &wake_s)
                          : FR__WAKE_AT;
    follow_fate(e, id, fate, wake_s);
}

uint32_t fr__message_start(struct engine *e, enum message_owner kind, uint32_t owner, uint32_t hop,
                           uint32_t route, double bytes)
{
    const struct fr__route *r = fr__route_at(e, route);
    uint32_t id;

    if (e->collectives.n_folded > 0 && kind != MESSAGE_OF_FOLD && r->n_links > 0 &&
        !e->network.model->is_end_known)
        fr__rings_unfold(e);
    id = new_message(e);
    if (id == FR_NONE)
        return FR_NONE;
    e->network.n_under_way++;
    e->network.messages[id] =
        (struct message){.bytes = bytes,
                         .route = route,
                         .owner = owner,
                         .hop = hop,
                         .owner_kind = (uint8_t)kind,
                         .is_ahead = kind == MESSAGE_OF_STEP && fr__step_is_ahead(e, owner)};
    e->stats.flows++;
    if (e->o->channels == 0 || r->n_links == 0)
        message_go(e, id);
    else if (fr__channels_take(&e->network.channels, r->src, r->dst))
        message_go(e, id);
    else if (!fr__channels_wait(&e->network.channels, id, r->src, r->dst))
        fr__engine_fail_nomem(e);
    return id;
}

static void flow_go_on(struct engine *e, uint32_t id, bool is_woken)
{
    const struct message *m = &e->network.messages[id];
    const struct collective_flow *f = &e->collectives.flows[m->owner];
    const struct fr__departure d = {.load = f->load,
                                    .bytes = f->bytes,
                                    .latency_s = f->before_s,
                                    .stretch = f->stretch,
                                    .message = id,
                                    .most_Bps = f->most_Bps,
                                    .own = m->owner,
                                    .kind = f->kind};
    const struct fr__network_model *model = e->network.model;
    double wake_s = e->now_s;
    enum fr__fate fate;

    e->network.is_next_known = false;
    fate = is_woken ? model->wake(e->network.state, &d, e->now_s, &wake_s)
                    : model->start(e->network.state, &d, e->now_s, &wake_s);
    follow_fate(e, id, fate, wake_s);
}

void fr__flow_message_start(struct engine *e, uint32_t flow)
{
    uint32_t id;

    if (e->collectives.n_folded > 0)
        fr__rings_unfold(e);
    id = new_message(e);
    if (id == FR_NONE)
        return;
    e->network.n_under_way++;
    e->network.messages[id] =
        (struct message){.route = FR_NONE, .owner = flow, .owner_kind = MESSAGE_OF_COLLECTIVE};
    flow_go_on(e, id, false);
}

void fr__message_unfold(struct engine *e, uint32_t message, double woken_s, const uint32_t routes[],
                        uint32_t step, uint32_t n)
{
    const struct fr__network_model *model = e->network.model;
    struct message m = e->network.messages[message];
    double left_bytes = 0;
    bool is_shared = model->withdraw(e->network.state, message, e->now_s, &left_bytes);

    m.owner_kind = MESSAGE_OF_RING;
    for (uint32_t k = 0; k < n; k++, m.hop += step) {
        uint32_t id = k == 0 ? message : new_message(e);
        struct fr__departure d;
        double wake_s = e->now_s;

        if (id == FR_NONE)
            return;
        m.route = routes[m.hop];
        e->network.messages[id] = m;
        e->network.n_under_way += k > 0;
        d = departure_of(e, id, &m, fr__route_at(e, m.route), 0);
        d.bytes = left_bytes;
        if (is_shared)
            follow_fate(e, id, model->wake(e->network.state, &d, e->now_s, &wake_s), wake_s);
        else if (k > 0) /* the first one's is in the queue */
            fr__push_event(e, woken_s, id, EVENT_MESSAGE);
    }
    e->network.is_next_known = false;
}

/* ---- messages arrive ---- */

static void transfer_done(struct engine *e, uint32_t transfer)
{
    const struct fr_transfer *x = &e->v->transfers[transfer];

    mark_moving(e, fr__device_of(e, x->send), false);
    mark_moving(e, fr__device_of(e, x->recv), false);
    fr__task_done(e, x->send);
    fr__task_done(e, x->recv);
}

static void release_channels(struct engine *e, uint32_t src, uint32_t dst)
{
    struct fr__channels *c = &e->network.channels;
    uint32_t next;

    fr__channels_give(c, src, dst);
    next = fr__channels_next_out(c, src);
    if (next != FR_NONE)
        message_go(e, next);
    next = fr__channels_next_in(c, dst);
    if (next != FR_NONE)
        message_go(e, next);
}

/* Counts what it has moved. */
static void count_bytes(struct engine *e, const struct message *m, const struct fr__route *r)
{
    const uint32_t *links = fr__route_links(&e->network.routes, r);
    const struct fr__load *load = load_of(e, m, r);
    double bytes = loaded(e, m), *link_bytes = e->network.link_bytes;

    if (m->owner_kind == MESSAGE_OF_FOLD)
        return;
    if (m->owner_kind == MESSAGE_OF_STEP)
        bytes /= fr__step_slow_factor(e, m->owner);
    if (load)
        fr__load_count(load, m->bytes, link_bytes);
    for (uint32_t i = 0; !load && i < r->n_links; i++)
        link_bytes[links[i]] += bytes;
}

static void free_message(struct network *n, uint32_t id)
{
    n->n_under_way--;
    n->messages[id].owner = n->first_free;
    n->first_free = id;
}

static void message_done(struct engine *e, uint32_t id)
{
    struct network *n = &e->network;
    struct message m = n->messages[id];
    const struct fr__route *r;
    uint32_t src, dst;

    if (m.owner_kind == MESSAGE_OF_COLLECTIVE) {
        free_message(n, id);
        fr__flow_part_done(e, m.owner);
        return;
    }
    r = fr__route_at(e, m.route);
    src = r->src;
    dst = r->dst;
    if (e->parts)
        fr__parts_at_message_done(e, id);
    if (n->link_bytes)
        count_bytes(e, &m, r);
    free_message(n, id);
    if (m.owner_kind == MESSAGE_OF_TRANSFER)
        transfer_done(e, m.owner);
    else if (m.owner_kind == MESSAGE_OF_STEP)
        fr__step_done(e, m.owner, r);
    else
        fr__ring_hop_done(e, m.owner, m.hop);
    if (e->o->channels && src != dst)
        release_channels(e, src, dst);
    fr__route_release(e, m.route);
}

void fr__message_wake(struct engine *e, uint32_t id)
{
    const struct fr__network_model *model = e->network.model;
    const struct message *m = &e->network.messages[id];
    const struct fr__route *r;
    struct fr__departure d;
    double wake_s = e->now_s;
    enum fr__fate fate;

    if (m->owner_kind == MESSAGE_OF_COLLECTIVE) {
        flow_go_on(e, id, true);
        return;
    }
    r = fr__route_at(e, m->route);
    if (model->is_end_known || r->n_links == 0) {
        message_done(e, id);
        return;
    }
    d = departure_of(e, id, m, r, 0);
    e->network.is_next_known = false;
    fate = model->wake(e->network.state, &d, e->now_s, &wake_s);
    follow_fate(e, id, fate, wake_s);
}

/* ---- the model's own clock ---- */

void fr__network_advance(struct engine *e)
{
    const struct fr__network_model *model = e->network.model;
    uint32_t id;
    bool is_any;

    e->network.is_next_known = false;
    do {
        is_any = model->advance(e->network.state, e->now_s, &id);
        if (e->parts) /* advancing may change rates */
            fr__parts_rates_changed(e);
        if (is_any)
            message_done(e, id);
    } while (is_any);
}

/* ---- transfers ---- */

void fr__transfer_arrive(struct engine *e, uint32_t task)
{
    uint32_t transfer = e->tasks[task].transfer;
    const struct fr_transfer *x = &e->v->transfers[transfer];
    struct state *peer = &e->tasks[x->send == task ? x->recv : x->send];
    double launched_s = fr__host_launch(e, task);

    e->tasks[task].start_s = launched_s;
    if (peer->progress != TASK_DISPATCHED)
        return;
    /* this one came last, so what it waited for is what both waited for */
    peer->cause = e->tasks[task].cause;
    if (peer->start_s > launched_s)
        launched_s = peer->start_s;
    if (launched_s > e->now_s)
        fr__push_event(e, launched_s, transfer, EVENT_TRANSFER_START);
    else
        fr__transfer_start(e, transfer);
}

void fr__transfer_start(struct engine *e, uint32_t transfer)
{
    const struct fr_transfer *x = &e->v->transfers[transfer];
    uint32_t route = fr__route_take(e, fr__device_of(e, x->send), fr__device_of(e, x->recv));

    if (route != FR_NONE)
        fr__message_start(e, MESSAGE_OF_TRANSFER, transfer, 0, route, x->bytes);
}

/* The launches of both ends are over; the later one's is what they waited for. */
void fr__transfer_launched(struct engine *e, uint32_t transfer)
{
    const struct fr_transfer *x = &e->v->transfers[transfer];
    uint32_t later = e->tasks[x->send].start_s > e->tasks[x->recv].start_s ? x->send : x->recv;

    if (e->parts)
        fr__parts_at_launch(e, e->v->tasks[later].device);
    fr__transfer_start(e, transfer);
}
