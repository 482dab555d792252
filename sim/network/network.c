/* sim/network/network.c - messages wait for channels, go, arrive.
 *
 * How fast a message goes is up to the network model (sim/network/model.h), what it is for is up to
 * its owner (sim/network/message.h). This file keeps it back until it has its channels, hands it to
 * the model and ends it.
 */
#include "config.h"

#include "sim/analysis/parts.h"
#include "sim/engine.h"

#include <stdlib.h>

/* ---- life ---- */

/* The model's state is made when a run first asks for the model, then used again. */
static enum fr_status reset_model(struct fr__engine *e)
{
    struct fr__network *n = &e->network;
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

enum fr_status fr__network_reset(struct fr__engine *e)
{
    struct fr__network *n = &e->network;
    const struct fr_topo *t = e->v->topo;

    fr__routes_reset(&n->routes, e->o->slowness);
    if (!fr__channels_reset(&n->channels, t->n_devices, e->o->channels))
        return fr__engine_fail_nomem(e);
    n->n_messages = n->n_under_way = 0;
    n->first_free = FR_NONE;
    n->link_bytes = NULL;
    n->before_sharing = NULL;
    n->is_next_known = false;
    if (fr__wants(e, FR_WANT_LINKS)) {
        n->link_bytes = fr__arena_alloc(e->arena, t->n_links + 1, sizeof(*n->link_bytes));
        if (!n->link_bytes)
            return fr__engine_fail_nomem(e);
    }
    return reset_model(e);
}

void fr__network_fini(struct fr__engine *e)
{
    struct fr__network *n = &e->network;

    for (unsigned i = 0; i < FR_N_NETWORKS; i++)
        if (n->states[i])
            fr__network_model((enum fr_network)i)->destroy(n->states[i]);
    fr__routes_fini(&n->routes);
    fr__channels_fini(&n->channels);
    free(n->messages);
}

/* ---- messages leave ---- */

static uint32_t new_message(struct fr__engine *e)
{
    struct fr__network *n = &e->network;
    uint32_t id = n->first_free;

    if (id != FR_NONE) {
        n->first_free = n->messages[id].of;
        return id;
    }
    if (!fr__grow(&n->messages, &n->cap_messages, n->n_messages + 1, sizeof(*n->messages))) {
        fr__engine_fail_nomem(e);
        return FR_NONE;
    }
    return (uint32_t)n->n_messages++;
}

/* What passes before the message shares its links. */
static double latency_of(struct fr__engine *e, const struct fr__message *m,
                         const struct fr__route *r)
{
    struct fr__alone a;

    if (m->owner->is_latency_behind)
        return 0;
    if (!m->owner->is_fitted || r->fit == FR__NO_FIT || !e->o->messages)
        return r->latency_s;
    a = fr__transfer_alone(e, r, m->bytes);
    e->stats.fitted_messages++;
    return a.latency_s + a.extra_s;
}

static inline const struct fr__link_load *load_of(struct fr__engine *e, const struct fr__message *m,
                                                  const struct fr__route *r)
{
    return m->owner->load ? m->owner->load(e, r) : NULL;
}

/* Of a message with a route r. */
static inline struct fr__departure departure_of(struct fr__engine *e, uint32_t id,
                                                const struct fr__message *m,
                                                const struct fr__route *r, double latency_s)
{
    const struct fr__link_load *load = load_of(e, m, r);
    bool is_one = load || e->network.model->is_end_known;

    return (struct fr__departure){.route = r,
                                  .load = load,
                                  .bytes = is_one ? m->bytes : m->bytes * m->times,
                                  .latency_s = latency_s,
                                  .stretch = fr__comm_stretch(e, m->owner->work, r->src, r->dst),
                                  .message = id};
}

static void message_done(struct fr__engine *e, uint32_t id);

static inline void follow_fate(struct fr__engine *e, uint32_t id, enum fr__fate fate, double wake_s)
{
    if (fate == FR__WAKE_AT) {
        fr__push_event(e, wake_s, id, EVENT_MESSAGE);
    } else if (fate == FR__UNDER_WAY) {
        if (e->parts && e->network.messages[id].route != FR_NONE)
            fr__parts_at_message_shared(e, id);
    } else if (fate == FR__ARRIVED) {
        message_done(e, id);
    } else {
        fr__engine_fail_nomem(e);
    }
}

/* The message leaves: its channels, if they are limited, are its own. */
static void message_go(struct fr__engine *e, uint32_t id)
{
    const struct fr__message *m = &e->network.messages[id];
    const struct fr__route *r = fr__route_at(e, m->route);
    struct fr__departure d;
    enum fr__fate fate;
    double wake_s = e->now_s;

    if (m->owner->leave)
        m->owner->leave(e, m);
    d = departure_of(e, id, m, r, latency_of(e, m, r));
    if (e->parts)
        fr__parts_message_go(e, id);
    e->network.is_next_known = false;
    fate = r->n_links > 0 ? e->network.model->start(e->network.state, &d, e->now_s, &wake_s)
                          : FR__WAKE_AT;
    follow_fate(e, id, fate, wake_s);
}

/* A message without a route has all that it needs. */
static void flow_go_on(struct fr__engine *e, uint32_t id, bool is_woken)
{
    const struct fr__message *m = &e->network.messages[id];
    const struct fr__network_model *model = e->network.model;
    struct fr__departure d = {.message = id};
    double wake_s = e->now_s;
    enum fr__fate fate;

    m->owner->depart(e, m, &d);
    e->network.is_next_known = false;
    fate = is_woken ? model->wake(e->network.state, &d, e->now_s, &wake_s)
                    : model->start(e->network.state, &d, e->now_s, &wake_s);
    follow_fate(e, id, fate, wake_s);
}

uint32_t fr__message_start(struct fr__engine *e, const struct fr__message *m)
{
    struct fr__network *n = &e->network;
    const struct fr__route *r = m->route == FR_NONE ? NULL : fr__route_at(e, m->route);
    uint32_t id;

    if (n->before_sharing && !m->owner->split && (!r || r->n_links > 0) && !n->model->is_end_known)
        n->before_sharing(e);
    id = new_message(e);
    if (id == FR_NONE)
        return FR_NONE;
    n->n_under_way++;
    n->messages[id] = *m;
    if (!r) {
        flow_go_on(e, id, false);
        return id;
    }
    e->stats.flows++;
    if (e->o->channels == 0 || r->n_links == 0)
        message_go(e, id);
    else if (fr__channels_take(&n->channels, r->src, r->dst))
        message_go(e, id);
    else if (!fr__channels_wait(&n->channels, id, r->src, r->dst))
        fr__engine_fail_nomem(e);
    return id;
}

void fr__message_split(struct fr__engine *e, uint32_t message, const struct fr__message_split *how)
{
    const struct fr__network_model *model = e->network.model;
    struct fr__message m = e->network.messages[message];
    double left_bytes = 0;
    bool is_shared = model->withdraw(e->network.state, message, e->now_s, &left_bytes);

    m.owner = m.owner->split;
    for (uint32_t k = 0; k < how->n; k++, m.hop += how->step) {
        uint32_t id = k == 0 ? message : new_message(e);
        struct fr__departure d;
        double wake_s = e->now_s;

        if (id == FR_NONE)
            return;
        m.route = how->routes[m.hop];
        e->network.messages[id] = m;
        e->network.n_under_way += k > 0;
        d = departure_of(e, id, &m, fr__route_at(e, m.route), 0);
        d.bytes = left_bytes;
        if (is_shared)
            follow_fate(e, id, model->wake(e->network.state, &d, e->now_s, &wake_s), wake_s);
        else if (k > 0) /* the first one's is in the queue */
            fr__push_event(e, how->woken_s, id, EVENT_MESSAGE);
    }
    e->network.is_next_known = false;
}

/* ---- messages arrive ---- */

static void release_channels(struct fr__engine *e, uint32_t src, uint32_t dst)
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
static void count_bytes(struct fr__engine *e, const struct fr__message *m,
                        const struct fr__route *r)
{
    const struct fr__link_load *load = load_of(e, m, r);
    double *link_bytes = e->network.link_bytes, bytes = m->bytes * m->times;

    if (m->owner->split)
        return;
    if (m->owner->counted_bytes)
        bytes = m->owner->counted_bytes(e, m);
    if (load)
        fr__link_load_count(load, m->bytes, link_bytes);
    else
        fr__route_count(&e->network.routes, r, bytes, link_bytes);
}

static void free_message(struct fr__network *n, uint32_t id)
{
    n->n_under_way--;
    n->messages[id].of = n->first_free;
    n->first_free = id;
}

static void message_done(struct fr__engine *e, uint32_t id)
{
    struct fr__network *n = &e->network;
    const struct fr__message m = n->messages[id];
    const struct fr__route *r;
    uint32_t src, dst;

    if (m.route == FR_NONE) {
        free_message(n, id);
        m.owner->arrive(e, &m, NULL);
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
    m.owner->arrive(e, &m, r);
    if (e->o->channels && src != dst)
        release_channels(e, src, dst);
    fr__route_release(e, m.route);
}

void fr__message_wake(struct fr__engine *e, uint32_t id)
{
    const struct fr__network_model *model = e->network.model;
    const struct fr__message *m = &e->network.messages[id];
    const struct fr__route *r;
    struct fr__departure d;
    double wake_s = e->now_s;
    enum fr__fate fate;

    if (m->route == FR_NONE) {
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

void fr__network_advance(struct fr__engine *e)
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
