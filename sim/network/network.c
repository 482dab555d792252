/* sim/network/network.c - messages: routes, latency, channels, and how fast they go.
 *
 * The latency is that of the route's links, or what was measured (message.c).
 * analytic: a message takes latency + bytes / bandwidth of its narrowest link, whatever else moves.
 * flow: after its latency (which takes no bandwidth) it shares every link of its route max-min
 * fairly with the others (Bertsekas and Gallager, Data Networks, 1992, section 6.5.2).
 */
#include "config.h"

#include "sim/engine.h"

#include "topo/router.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_TABLE = 256, MOST_KEPT_ROUTES = 4096 };

/* Of so many devices, each pair has its place in a table, a quarter of a megabyte at most: what is
 * looked up for each message should stay in the second cache. */
enum { FEW_DEVICES = 256 };

static bool make_pairs(struct engine *e, size_t n_devices)
{
    size_t n = n_devices * n_devices;

    e->route_of = malloc((n + 1) * sizeof(*e->route_of));
    if (!e->route_of)
        return false;
    for (size_t i = 0; i < n; i++)
        e->route_of[i] = FR_NONE;
    return true;
}

enum fr_status fr__network_init(struct engine *e)
{
    const struct fr_topo *t = e->v->topo;
    double *capacity_Bps;

    e->free_flow = e->free_route = FR_NONE;
    FR_TRY(fr_router_new(&e->router, t, e->err));
    if (t->n_devices <= FEW_DEVICES && !make_pairs(e, t->n_devices))
        return fr__engine_fail_nomem(e);
    if (e->o->channels)
        for (size_t d = 0; d < t->n_devices; d++) {
            struct device *k = &e->devices[d];

            k->waiting_out = k->waiting_out_last = k->waiting_in = k->waiting_in_last = FR_NONE;
        }
    if (e->o->network != FR_NETWORK_FLOW)
        return FR_OK;
    capacity_Bps = malloc((t->n_links + 1) * sizeof(*capacity_Bps));
    if (!capacity_Bps)
        return fr__engine_fail_nomem(e);
    for (size_t l = 0; l < t->n_links; l++)
        capacity_Bps[l] = fr__link_bw_Bps(e, (uint32_t)l);
    e->solver = fr__maxmin_new((uint32_t)t->n_links, capacity_Bps);
    free(capacity_Bps);
    if (!e->solver)
        return fr__engine_fail_nomem(e);
    if (e->o->with_parts)
        fr__maxmin_watch(e->solver);
    return FR_OK;
}

void fr__network_fini(struct engine *e)
{
    fr__maxmin_free(e->solver);
    fr_router_free(e->router);
    free(e->routes);
    free(e->long_links);
    free(e->route_of);
    free(e->route_table);
    free(e->flows);
}

/* ---- routes ---- */

static uint64_t route_key(uint32_t src, uint32_t dst)
{
    return (uint64_t)src << 32 | dst;
}

static size_t table_slot(const struct route_entry table[], size_t size, uint64_t key)
{
    size_t mask = size - 1;
    size_t i = (size_t)((key ^ key >> 29) * UINT64_C(0x9e3779b97f4a7c15) >> 32) & mask;

    while (table[i].route != FR_NONE && table[i].key != key)
        i = (i + 1) & mask;
    return i;
}

static bool grow_table(struct engine *e)
{
    size_t size = e->route_table_size ? e->route_table_size * 2 : FIRST_TABLE;
    struct route_entry *table = malloc(size * sizeof(*table));

    if (!table)
        return false;
    for (size_t i = 0; i < size; i++)
        table[i].route = FR_NONE;
    for (size_t i = 0; i < e->route_table_size; i++)
        if (e->route_table[i].route != FR_NONE)
            table[table_slot(table, size, e->route_table[i].key)] = e->route_table[i];
    free(e->route_table);
    e->route_table = table;
    e->route_table_size = size;
    return true;
}

static uint32_t new_route(struct engine *e)
{
    uint32_t id = e->free_route;

    if (id != FR_NONE) {
        e->free_route = e->routes[id].links[0];
        return id;
    }
    if (!fr__grow(&e->routes, &e->cap_routes, e->n_routes + 1, sizeof(*e->routes))) {
        fr__engine_fail_nomem(e);
        return FR_NONE;
    }
    return (uint32_t)e->n_routes++;
}

static bool set_links(struct engine *e, struct route *r, const uint32_t hops[], size_t n)
{
    r->n_links = (uint16_t)n;
    if (n <= INLINE_HOPS) {
        memcpy(r->links, hops, n * sizeof(*hops));
        return true;
    }
    if (!fr__grow(&e->long_links, &e->cap_long_links, e->n_long_links + n, sizeof(*e->long_links)))
        return false;
    r->links[0] = (uint32_t)e->n_long_links;
    memcpy(e->long_links + e->n_long_links, hops, n * sizeof(*hops));
    e->n_long_links += n;
    return true;
}

/* Walks from src to dst and writes the route down; its number, or FR_NONE with the failure kept. */
static uint32_t make_route(struct engine *e, uint32_t src, uint32_t dst)
{
    struct route r = {.src = src, .dst = dst, .bw_Bps = INFINITY};
    uint32_t hops[FR__MAX_HOPS] = {0}, id;
    size_t n = 0;

    if (e->status == FR_OK)
        e->status = fr__router_walk(e->router, src, dst, hops, &n, e->err);
    if (e->status != FR_OK)
        return FR_NONE;
    for (size_t i = 0; i < n; i++) {
        double bw_Bps = fr__link_bw_Bps(e, hops[i]);

        r.latency_s += fr__link_latency_s(e, hops[i]);
        if (bw_Bps < r.bw_Bps)
            r.bw_Bps = bw_Bps;
    }
    id = new_route(e);
    if (id == FR_NONE || !set_links(e, &r, hops, n)) {
        fr__engine_fail_nomem(e);
        return FR_NONE;
    }
    e->routes[id] = r;
    e->routes[id].message = fr__route_message(e, &e->routes[id]);
    return id;
}

static uint32_t kept_route(const struct engine *e, uint32_t src, uint32_t dst)
{
    size_t slot;

    if (e->route_of)
        return e->route_of[src * e->v->topo->n_devices + dst];
    if (e->route_table_size == 0)
        return FR_NONE;
    slot = table_slot(e->route_table, e->route_table_size, route_key(src, dst));
    return e->route_table[slot].route;
}

static uint32_t keep_route(struct engine *e, uint32_t src, uint32_t dst)
{
    uint32_t id = make_route(e, src, dst);
    uint64_t key = route_key(src, dst);

    if (id == FR_NONE)
        return id;
    e->n_kept_routes++;
    if (e->route_of) {
        e->route_of[src * e->v->topo->n_devices + dst] = id;
        return id;
    }
    if (e->n_kept_routes * 2 > e->route_table_size && !grow_table(e)) {
        fr__engine_fail_nomem(e);
        return FR_NONE;
    }
    e->route_table[table_slot(e->route_table, e->route_table_size, key)] =
        (struct route_entry){key, id};
    return id;
}

uint32_t fr__route_find(struct engine *e, uint32_t src, uint32_t dst)
{
    uint32_t id = kept_route(e, src, dst);

    return id != FR_NONE ? id : keep_route(e, src, dst);
}

uint32_t fr__route_take(struct engine *e, uint32_t src, uint32_t dst)
{
    uint32_t id = kept_route(e, src, dst);

    if (id != FR_NONE)
        return id;
    if (e->n_kept_routes < MOST_KEPT_ROUTES)
        return keep_route(e, src, dst);
    id = make_route(e, src, dst);
    /* a long route's links are not taken back, so it is better kept */
    if (id != FR_NONE && e->routes[id].n_links <= INLINE_HOPS)
        e->routes[id].is_passing = true;
    return id;
}

void fr__route_release(struct engine *e, uint32_t route)
{
    if (!e->routes[route].is_passing)
        return;
    e->routes[route].links[0] = e->free_route;
    e->free_route = route;
}

/* ---- flows ---- */

static uint32_t new_flow(struct engine *e)
{
    uint32_t id = e->free_flow;

    if (id != FR_NONE) {
        e->free_flow = e->flows[id].next_out;
        return id;
    }
    if (!fr__grow(&e->flows, &e->cap_flows, e->n_flows + 1, sizeof(*e->flows))) {
        fr__engine_fail_nomem(e);
        return FR_NONE;
    }
    return (uint32_t)e->n_flows++;
}

static void mark_moving(struct engine *e, uint32_t device, bool is_beginning)
{
    fr__device_account(e, device);
    e->devices[device].n_copying += is_beginning ? 1 : (uint32_t)-1;
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
static double latency_of(struct engine *e, const struct flow *f)
{
    const struct route *r = &e->routes[f->route];
    struct message_time t;

    if (f->owner_kind != FLOW_OF_TRANSFER || r->message == NO_MESSAGE)
        return r->latency_s;
    t = fr__message_time(e, r, f->bytes);
    e->stats.fitted_messages++;
    return t.latency_s + t.extra_s;
}

/* The message leaves: its channels, if they are limited, are its own. */
static void flow_go(struct engine *e, uint32_t id)
{
    struct flow *f = &e->flows[id];
    const struct route *r = &e->routes[f->route];
    enum fr_work_class c = f->owner_kind == FLOW_OF_TRANSFER ? FR_WORK_COPY : FR_WORK_COLLECTIVE;
    double stretch, latency_s;

    if (f->owner_kind == FLOW_OF_TRANSFER) {
        task_moves(e, e->v->transfers[f->owner].send);
        task_moves(e, e->v->transfers[f->owner].recv);
    }
    stretch = fr__comm_stretch(e, c, r->src, r->dst);
    latency_s = latency_of(e, f);
    f->slot = FR_NONE;
    if (e->parts)
        fr__parts_flow_go(e, id);
    if (r->n_links == 0)
        fr__push_event(e, e->now_s, id, EVENT_FLOW_DONE);
    else if (!e->solver)
        fr__push_event(e, e->now_s + (latency_s + f->bytes / r->bw_Bps) * stretch, id,
                       EVENT_FLOW_DONE);
    else if (latency_s > 0)
        fr__push_event(e, e->now_s + latency_s * stretch, id, EVENT_FLOW_ACTIVE);
    else
        fr__flow_event(e, id, EVENT_FLOW_ACTIVE);
}

/* ---- channels ---- */

static bool has_channels(const struct engine *e, const struct flow *f)
{
    const struct route *r = &e->routes[f->route];

    return e->devices[r->src].n_out < e->o->channels && e->devices[r->dst].n_in < e->o->channels;
}

static void take_channels(struct engine *e, const struct flow *f)
{
    e->devices[e->routes[f->route].src].n_out++;
    e->devices[e->routes[f->route].dst].n_in++;
}

static void wait_for_channels(struct engine *e, uint32_t id)
{
    struct flow *f = &e->flows[id];
    struct device *src = &e->devices[e->routes[f->route].src];
    struct device *dst = &e->devices[e->routes[f->route].dst];

    f->next_out = f->next_in = FR_NONE;
    f->prev_out = src->waiting_out_last;
    f->prev_in = dst->waiting_in_last;
    if (f->prev_out == FR_NONE)
        src->waiting_out = id;
    else
        e->flows[f->prev_out].next_out = id;
    if (f->prev_in == FR_NONE)
        dst->waiting_in = id;
    else
        e->flows[f->prev_in].next_in = id;
    src->waiting_out_last = dst->waiting_in_last = id;
}

static void stop_waiting(struct engine *e, uint32_t id)
{
    struct flow *f = &e->flows[id];
    struct device *src = &e->devices[e->routes[f->route].src];
    struct device *dst = &e->devices[e->routes[f->route].dst];

    *(f->prev_out == FR_NONE ? &src->waiting_out : &e->flows[f->prev_out].next_out) = f->next_out;
    *(f->next_out == FR_NONE ? &src->waiting_out_last : &e->flows[f->next_out].prev_out) =
        f->prev_out;
    *(f->prev_in == FR_NONE ? &dst->waiting_in : &e->flows[f->prev_in].next_in) = f->next_in;
    *(f->next_in == FR_NONE ? &dst->waiting_in_last : &e->flows[f->next_in].prev_in) = f->prev_in;
}

static void go_if_free(struct engine *e, uint32_t id)
{
    stop_waiting(e, id);
    take_channels(e, &e->flows[id]);
    flow_go(e, id);
}

/* The oldest message that waits at either end and finds both ends free may go. */
static void release_channels(struct engine *e, uint32_t src, uint32_t dst)
{
    uint32_t id;

    e->devices[src].n_out--;
    e->devices[dst].n_in--;
    for (id = e->devices[src].waiting_out; id != FR_NONE; id = e->flows[id].next_out)
        if (has_channels(e, &e->flows[id])) {
            go_if_free(e, id);
            break;
        }
    for (id = e->devices[dst].waiting_in; id != FR_NONE; id = e->flows[id].next_in)
        if (has_channels(e, &e->flows[id])) {
            go_if_free(e, id);
            break;
        }
}

void fr__flow_start(struct engine *e, enum flow_owner kind, uint32_t owner, uint32_t hop,
                    uint32_t route, double bytes)
{
    uint32_t id = new_flow(e);
    struct flow *f;

    if (id == FR_NONE)
        return;
    f = &e->flows[id];
    f->bytes = bytes;
    f->route = route;
    f->owner = owner;
    f->owner_kind = (uint8_t)kind;
    f->hop = hop;
    e->stats.flows++;
    if (e->o->channels == 0 || e->routes[route].n_links == 0) {
        flow_go(e, id);
    } else if (has_channels(e, f)) {
        take_channels(e, f);
        flow_go(e, id);
    } else {
        wait_for_channels(e, id);
    }
}

/* ---- ends ---- */

static void transfer_done(struct engine *e, uint32_t transfer)
{
    const struct fr_transfer *x = &e->v->transfers[transfer];

    mark_moving(e, fr__device_of(e, x->send), false);
    mark_moving(e, fr__device_of(e, x->recv), false);
    fr__task_done(e, x->send);
    fr__task_done(e, x->recv);
}

static void flow_done(struct engine *e, uint32_t id)
{
    struct flow f = e->flows[id];
    const struct route *r = &e->routes[f.route];
    const uint32_t *links = fr__route_links(e, r);
    uint32_t src = r->src, dst = r->dst;

    if (e->parts)
        fr__parts_at_flow_done(e, id);
    for (uint32_t i = 0; i < r->n_links; i++)
        e->link_bytes[links[i]] += f.bytes;
    e->flows[id].next_out = e->free_flow;
    e->free_flow = id;
    if (f.owner_kind == FLOW_OF_TRANSFER)
        transfer_done(e, f.owner);
    else
        fr__ring_hop_done(e, f.owner, f.hop);
    if (e->o->channels && src != dst)
        release_channels(e, src, dst);
    fr__route_release(e, f.route);
}

void fr__flow_event(struct engine *e, uint32_t id, enum event_what what)
{
    const struct flow *f = &e->flows[id];
    const struct route *r = &e->routes[f->route];
    double bytes = f->bytes;

    if (what == EVENT_FLOW_DONE) {
        flow_done(e, id);
        return;
    }
    if (e->parts)
        fr__parts_at_flow_active(e, id);
    if (fr__has_interference(e))
        bytes *= fr__comm_stretch(
            e, f->owner_kind == FLOW_OF_TRANSFER ? FR_WORK_COPY : FR_WORK_COLLECTIVE, r->src,
            r->dst);
    e->flows[id].slot =
        fr__maxmin_add(e->solver, e->now_s, fr__route_links(e, r), r->n_links, bytes, id);
    if (e->flows[id].slot == FR_NONE)
        fr__engine_fail_nomem(e);
}

double fr__network_next(struct engine *e)
{
    double next_s;

    if (!e->solver)
        return INFINITY;
    next_s = fr__maxmin_solve(e->solver, e->now_s);
    if (e->parts)
        fr__parts_rates_changed(e);
    return next_s;
}

void fr__network_complete(struct engine *e)
{
    uint32_t id;

    bool is_any;

    do {
        is_any = fr__maxmin_pop_finished(e->solver, e->now_s, &id);
        if (e->parts) /* popping may solve */
            fr__parts_rates_changed(e);
        if (is_any)
            flow_done(e, id);
    } while (is_any);
}

/* ---- transfers ---- */

void fr__transfer_meet(struct engine *e, uint32_t task)
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
        fr__flow_start(e, FLOW_OF_TRANSFER, transfer, 0, route, x->bytes);
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
