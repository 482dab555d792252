/* sim/collectives/schedule_run.c - a schedule's steps as messages over the network.
 *
 * algorithms/schedule.h says how slots, steps and messages belong together. Of each collective in
 * progress only the slots' places and the messages under way are kept.
 */
#include "config.h"

#include "sim/analysis/parts.h"
#include "sim/collectives/schedule_run.h"
#include "sim/collectives/schedule_choice.h"

#include <stdlib.h>
#include <string.h>

struct slot {
    uint32_t step, sends_left, recvs_left;
    uint32_t n_flying;                /* messages of its own that have left and not come */
    uint32_t first_early, last_early; /* of what is there before its step, by step; or FR_NONE */
    bool is_open, has_sent;
    bool is_held; /* as many messages fly as may: the next step waits for one to come */
};

/* A message that has come before its step, or (flight) waits to leave until its step begins. */
struct early {
    uint32_t step, flight, next;
};

struct flight {
    uint32_t progress, from, to, to_step; /* of a free one: progress is the next free one */
    double bytes;
    double extra_s; /* from its arrival until the receiver has it */
    enum fr_link_kind extra_kind;
    double *parts; /* the moment of its arrival, where parts are asked for; owned */
};

struct in_progress {
    struct fr__collective_schedule how;
    uint32_t collective;
    struct slot *slots;   /* [n_entities * n_slots] */
    uint32_t *slots_left; /* [n_entities] that are not over */
    uint32_t n_left;      /* entities that are not over */
    double *parts;        /* the moment of its start, likewise */
    uint32_t next_free;
};

struct fr__step_work {
    struct in_progress **at; /* each owned */
    size_t n, cap;
    struct flight *flights;
    size_t n_flights, cap_flights;
    struct early *early;
    size_t n_early, cap_early;
    uint32_t free_progress, free_flight, free_early;
};

/* ---- what a moment is made of (analysis/sensitivity.c) ---- */

/* A copy of the present moment for a later one; NULL: not asked for, or the failure is kept. */
static double *keep_moment(struct fr__engine *e)
{
    double *copy = e->parts ? malloc(e->parts->n * sizeof(*copy)) : NULL;

    if (copy)
        memcpy(copy, e->parts->now_s, e->parts->n * sizeof(*copy));
    else if (e->parts)
        fr__engine_fail_nomem(e);
    return copy;
}

/* Now is that moment and so many seconds of a latency. */
static void take_moment(struct fr__engine *e, double **kept, enum fr_link_kind kind, double s)
{
    if (!*kept)
        return;
    memcpy(e->parts->now_s, *kept, e->parts->n * sizeof(**kept));
    e->parts->now_s[fr_link_resource(kind, FR_LINK_LATENCY)] += s;
    free(*kept);
    *kept = NULL;
}

/* ---- life ---- */

static void empty(struct in_progress *p)
{
    free(p->slots);
    free(p->slots_left);
    free(p->parts);
    p->parts = NULL;
    p->slots = NULL;
    p->slots_left = NULL;
}

static void drop_moments(struct fr__step_work *w)
{
    for (size_t i = 0; i < w->n_flights; i++) {
        free(w->flights[i].parts);
        w->flights[i].parts = NULL;
    }
}

void fr__step_work_reset(struct fr__step_work *w)
{
    if (!w)
        return;
    w->free_progress = w->free_flight = w->free_early = FR_NONE;
    drop_moments(w);
    w->n_flights = w->n_early = 0;
    for (size_t i = 0; i < w->n; i++) {
        empty(w->at[i]);
        w->at[i]->next_free = w->free_progress;
        w->free_progress = (uint32_t)i;
    }
}

void fr__step_work_free(struct fr__step_work *w)
{
    if (!w)
        return;
    drop_moments(w);
    for (size_t i = 0; i < w->n; i++) {
        empty(w->at[i]);
        free(w->at[i]);
    }
    free(w->at);
    free(w->flights);
    free(w->early);
    free(w);
}

static uint32_t new_progress(struct fr__engine *e)
{
    struct fr__step_work *w = e->collectives.steps;
    uint32_t id;

    if (!w) {
        w = e->collectives.steps = calloc(1, sizeof(*w));
        if (!w)
            return FR_NONE;
        fr__step_work_reset(w);
    }
    id = w->free_progress;
    if (id != FR_NONE) {
        w->free_progress = w->at[id]->next_free;
        return id;
    }
    if (!fr__grow(&w->at, &w->cap, w->n + 1, sizeof(struct in_progress *)))
        return FR_NONE;
    w->at[w->n] = calloc(1, sizeof(struct in_progress));
    return w->at[w->n] ? (uint32_t)w->n++ : FR_NONE;
}

/* ---- messages ---- */

static uint32_t new_flight(struct fr__engine *e, struct flight flight)
{
    struct fr__step_work *w = e->collectives.steps;
    uint32_t id = w->free_flight;

    if (id != FR_NONE)
        w->free_flight = w->flights[id].progress;
    else if (fr__grow(&w->flights, &w->cap_flights, w->n_flights + 1, sizeof(*w->flights)))
        id = (uint32_t)w->n_flights++;
    else
        fr__engine_fail_nomem(e);
    if (id != FR_NONE)
        w->flights[id] = flight;
    return id;
}

/* Puts something of a later step with the slot. */
static void keep_early(struct fr__engine *e, struct slot *k, uint32_t step, uint32_t flight)
{
    struct fr__step_work *w = e->collectives.steps;
    uint32_t id = w->free_early, *at = &k->first_early;

    if (id != FR_NONE)
        w->free_early = w->early[id].next;
    else if (fr__grow(&w->early, &w->cap_early, w->n_early + 1, sizeof(*w->early)))
        id = (uint32_t)w->n_early++;
    if (id == FR_NONE) {
        fr__engine_fail_nomem(e);
        return;
    }
    if (*at != FR_NONE && w->early[k->last_early].step <= step)
        at = &w->early[k->last_early].next;
    while (*at != FR_NONE && w->early[*at].step <= step)
        at = &w->early[*at].next;
    w->early[id] = (struct early){.step = step, .flight = flight, .next = *at};
    *at = id;
    if (w->early[id].next == FR_NONE)
        k->last_early = id;
}

/* Where messages may be ahead (n_ahead of a schedule), the latency of the links passes behind the
 * bytes. */
static const struct fr__message_owner in_step, ahead;

static void leave(struct fr__engine *e, uint32_t flight)
{
    struct flight f = e->collectives.steps->flights[flight];
    struct in_progress *p = e->collectives.steps->at[f.progress];
    const struct fr__schedule *s = &p->how.schedule;
    uint32_t route = fr__scheduled_route(e, p->collective, &p->how, fr__slot_entity(s, f.from),
                                         fr__slot_entity(s, f.to));

    if (route == FR_NONE)
        return;
    e->stats.steps++;
    fr__message_start(e, &(struct fr__message){.bytes = f.bytes * p->how.wire_factor,
                                               .owner = s->n_ahead > 0 ? &ahead : &in_step,
                                               .of = flight,
                                               .route = route,
                                               .times = 1});
}

/* ---- slots ---- */

static void go_on(struct fr__engine *e, uint32_t progress, uint32_t slot);

static bool waits_for(const struct in_progress *p, uint32_t slot, uint32_t step)
{
    return p->slots[slot].is_open && p->slots[slot].step == step;
}

static void arrive(struct fr__engine *e, uint32_t progress, uint32_t slot, uint32_t step)
{
    struct in_progress *p = e->collectives.steps->at[progress];

    if (!waits_for(p, slot, step)) {
        keep_early(e, &p->slots[slot], step, FR_NONE);
        return;
    }
    p->slots[slot].recvs_left--;
    go_on(e, progress, slot);
}

static void post(struct fr__engine *e, uint32_t progress, uint32_t slot)
{
    struct in_progress *p = e->collectives.steps->at[progress];
    const struct fr__schedule *s = &p->how.schedule;
    uint32_t step = p->slots[slot].step, n = p->slots[slot].sends_left;

    p->slots[slot].has_sent = true;
    for (uint32_t k = 0; k < n && e->status == FR_OK; k++) {
        struct fr__send m;
        uint32_t id;

        fr__schedule_send(s, slot, step, k, &m);
        if (fr__slot_entity(s, m.to) == fr__slot_entity(s, slot)) { /* to itself */
            p->slots[slot].sends_left--;
            arrive(e, progress, m.to, m.to_step);
            continue;
        }
        id = new_flight(e, (struct flight){.progress = progress,
                                           .from = slot,
                                           .to = m.to,
                                           .to_step = m.to_step,
                                           .bytes = m.bytes});
        if (id == FR_NONE)
            return;
        p->slots[slot].n_flying++;
        if (s->algorithm->is_rendezvous && !waits_for(p, m.to, m.to_step))
            keep_early(e, &p->slots[m.to], m.to_step, id);
        else
            leave(e, id);
    }
}

/* Takes what came early for the step that begins, and lets what waits for it leave. */
static void take_early(struct fr__engine *e, struct slot *k)
{
    struct fr__step_work *w = e->collectives.steps;

    while (k->first_early != FR_NONE && w->early[k->first_early].step == k->step) {
        uint32_t id = k->first_early, flight = w->early[id].flight;

        k->first_early = w->early[id].next;
        w->early[id].next = w->free_early;
        w->free_early = id;
        if (flight == FR_NONE)
            k->recvs_left--;
        else
            leave(e, flight);
    }
}

static void end_slot(struct fr__engine *e, uint32_t progress, uint32_t slot)
{
    struct fr__step_work *w = e->collectives.steps;
    struct in_progress *p = w->at[progress];
    uint32_t entity = fr__slot_entity(&p->how.schedule, slot);
    uint32_t first = e->v->member_first[p->collective];

    if (--p->slots_left[entity] > 0)
        return;
    p->n_left--;
    if (entity < p->how.schedule.n)
        fr__member_done(e, e->v->members[first + entity]);
}

/* Whether a slot may not send once more to each of its receivers. */
static bool is_full(const struct fr__schedule *s, const struct slot *k, uint32_t n_sends)
{
    return s->n_ahead > 0 && n_sends > 0 && k->n_flying + n_sends > s->n_ahead * n_sends;
}

static void go_on(struct fr__engine *e, uint32_t progress, uint32_t slot)
{
    struct in_progress *p = e->collectives.steps->at[progress];
    struct slot *k = &p->slots[slot];

    while (e->status == FR_OK) {
        struct fr__step at;

        if (k->is_open) {
            if (!k->has_sent && k->recvs_left == 0)
                post(e, progress, slot);
            if (k->sends_left > 0 || k->recvs_left > 0)
                return;
            k->is_open = false;
            k->step++;
        }
        if (k->step == p->how.schedule.n_steps) {
            end_slot(e, progress, slot);
            return;
        }
        fr__schedule_step(&p->how.schedule, slot, k->step, &at);
        k->is_held = is_full(&p->how.schedule, k, at.n_sends);
        if (k->is_held)
            return;
        k->is_open = true;
        k->has_sent = false;
        k->sends_left = at.n_sends;
        k->recvs_left = at.n_recvs;
        take_early(e, k);
        if (!at.is_relay)
            post(e, progress, slot);
    }
}

/* ---- for the engine ---- */

static void finish_if_over(struct fr__engine *e, uint32_t progress)
{
    struct fr__step_work *w = e->collectives.steps;
    struct in_progress *p = w->at[progress];

    if (p->n_left > 0)
        return;
    empty(p);
    p->next_free = w->free_progress;
    w->free_progress = progress;
}

static uint32_t take(struct fr__engine *e, uint32_t flight)
{
    struct fr__step_work *w = e->collectives.steps;
    struct flight f = w->flights[flight];
    struct slot *from = &w->at[f.progress]->slots[f.from];

    w->flights[flight].progress = w->free_flight;
    w->free_flight = flight;
    from->n_flying--;
    arrive(e, f.progress, f.to, f.to_step);
    if (from->is_held)
        go_on(e, f.progress, f.from);
    return f.progress;
}

void fr__step_taken(struct fr__engine *e, uint32_t flight)
{
    struct flight *f = &e->collectives.steps->flights[flight];

    take_moment(e, &f->parts, f->extra_kind, f->extra_s);
    finish_if_over(e, take(e, flight));
}

/* A message has crossed its links. The sender goes on at once, so that what a protocol takes at the
 * receiver delays no later chunk. */
static void message_arrived(struct fr__engine *e, const struct fr__message *m,
                            const struct fr__route *route)
{
    struct fr__step_work *w = e->collectives.steps;
    uint32_t flight = m->of;
    struct flight f = w->flights[flight];
    enum fr_link_kind kind;
    double extra_s = fr__scheduled_extra_s(e, &w->at[f.progress]->how, route, &kind);
    double behind_s = m->owner->is_latency_behind ? route->latency_s : 0;

    w->at[f.progress]->slots[f.from].sends_left--;
    if (extra_s + behind_s > 0) {
        double *parts = keep_moment(e);

        if (parts && behind_s > 0)
            fr__parts_add_alone(e, parts, route, 0, behind_s);
        w->flights[flight].extra_s = extra_s;
        w->flights[flight].extra_kind = kind;
        w->flights[flight].parts = parts;
        fr__push_event(e, e->now_s + behind_s + extra_s, flight, EVENT_STEP_TAKEN);
    } else {
        take(e, flight);
    }
    go_on(e, f.progress, f.from);
    finish_if_over(e, f.progress);
}

/* Without what its links are held longer than its bytes on the wire need. */
static double counted_bytes(const struct fr__engine *e, const struct fr__message *m)
{
    const struct fr__step_work *w = e->collectives.steps;

    return m->bytes / w->at[w->flights[m->of].progress]->how.slow_factor;
}

static const struct fr__message_owner in_step = {
    .work = FR_WORK_COLLECTIVE, .counted_bytes = counted_bytes, .arrive = message_arrived};
static const struct fr__message_owner ahead = {.work = FR_WORK_COLLECTIVE,
                                               .is_latency_behind = true,
                                               .counted_bytes = counted_bytes,
                                               .arrive = message_arrived};

void fr__steps_begin(struct fr__engine *e, uint32_t progress)
{
    struct in_progress *p = e->collectives.steps->at[progress];
    uint32_t n_slots = p->how.schedule.n_entities * p->how.schedule.n_slots;

    if (p->parts)
        p->parts[fr_link_resource(p->how.start_kind, FR_LINK_BANDWIDTH)] += p->how.own_s;
    take_moment(e, &p->parts, p->how.start_kind, p->how.start_s - p->how.own_s);
    for (uint32_t slot = 0; slot < n_slots; slot++)
        if (!p->slots[slot].is_open && p->slots[slot].step == 0)
            go_on(e, progress, slot);
    finish_if_over(e, progress);
}

void fr__scheduled_start(struct fr__engine *e, uint32_t collective,
                         const struct fr__collective_schedule *how)
{
    uint32_t id = new_progress(e), n_entities = how->schedule.n_entities;
    size_t n_slots = (size_t)n_entities * how->schedule.n_slots;
    struct in_progress *p;

    if (id == FR_NONE) {
        fr__engine_fail_nomem(e);
        return;
    }
    p = e->collectives.steps->at[id];
    p->how = *how;
    p->collective = collective;
    p->n_left = n_entities;
    p->slots = calloc(n_slots, sizeof(*p->slots));
    p->slots_left = calloc(n_entities, sizeof(*p->slots_left));
    if (!p->slots || !p->slots_left) {
        empty(p);
        fr__engine_fail_nomem(e);
        return;
    }
    for (size_t i = 0; i < n_slots; i++)
        p->slots[i].first_early = p->slots[i].last_early = FR_NONE;
    for (uint32_t i = 0; i < n_entities; i++)
        p->slots_left[i] = how->schedule.n_slots;
    if (how->start_s > 0)
        p->parts = keep_moment(e);
    if (how->start_s > 0)
        fr__push_event(e, e->now_s + how->start_s, id, EVENT_STEPS_BEGIN);
    else
        fr__steps_begin(e, id);
}
