/* sim/collective.c - collectives: members meet, then rings turn, or a known time passes.
 *
 * Ring algorithms (Patarasuk and Yuan, J. Parallel Distrib. Comput. 69(2), 2009): with n ranks the
 * bytes are cut into n chunks; reduce-scatter and all-gather take n-1 rounds each, an all-reduce
 * both. In round r a rank sends one chunk to the next rank, once its own send of round r-1 is done
 * and the chunk of round r-1 has come from the rank before.
 *
 * A chunk is floor(bytes / n). Several rings side by side (one a set of links, see fr_topo_rings)
 * each carry their share of the bytes.
 *
 * Closed form: rounds x (latency + chunk / bandwidth) of the slowest hop, the slowest ring counting.
 * It equals the steps wherever no link is shared: the slowest hop is never idle, and the others
 * have ended when it ends.
 *
 * Own cost: a collective with a row of the cost table takes its time, which no traffic changes and
 * which takes no link from other traffic; links are still counted the bytes of rings. Where links are
 * made faster or slower, the part that grows with the bytes follows the bandwidth of the outermost kind of
 * link that its first ring crosses (of several machines the network) and the rest (starting, steps) their
 * latency.
 */
#include "config.h"

#include "sim/engine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RINGS = 16 };

enum fr_status fr__collectives_init(struct engine *e)
{
    const struct fr_plan_view *v = e->v;
    size_t n_members = v->n_collectives ? v->member_first[v->n_collectives] : 0;

    e->free_ring = FR_NONE;
    e->meetings = calloc(v->n_collectives + 1, sizeof(*e->meetings));
    e->rings_left = calloc(n_members + 1, sizeof(*e->rings_left));
    e->tours = calloc(v->n_groups + 1, sizeof(*e->tours));
    return e->meetings && e->rings_left && e->tours ? FR_OK : fr__engine_fail_nomem(e);
}

void fr__collectives_fini(struct engine *e)
{
    for (size_t g = 0; e->tours && g < e->v->n_groups; g++) {
        free(e->tours[g].ranks);
        free(e->tours[g].routes);
        free(e->tours[g].share_frac);
    }
    for (size_t r = 0; r < e->n_rings; r++)
        free(e->rings[r].launched);
    free(e->tours);
    free(e->meetings);
    free(e->rings_left);
    free(e->rings);
}

/* ---- rings of a group ---- */

static int rank_of(const struct fr_plan *p, uint32_t group, uint32_t device, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (fr_plan_group_device(p, group, i) == device)
            return (int)i;
    return -1;
}

/* The tours of the topology, devices turned back into ranks. */
static enum fr_status look_for_rings(struct engine *e, uint32_t group, struct tours *t,
                                     size_t max_rings, uint32_t n)
{
    uint32_t *devices = calloc(n, sizeof(*devices)), *order = t->ranks;
    size_t n_rings = 0;
    enum fr_status st;

    if (!devices)
        return fr__fail_nomem(e->err);
    for (uint32_t i = 0; i < n; i++)
        devices[i] = fr_plan_group_device(e->plan, group, i);
    st = fr_topo_rings(e->router, devices, n, max_rings, order, t->share_frac, &n_rings, e->err);
    free(devices);
    if (st != FR_OK)
        return st;
    for (size_t i = 0; i < n_rings * n; i++) {
        int rank = rank_of(e->plan, group, order[i], n);

        if (rank < 0)
            return fr__fail(e->err, FR_ECHECK, FR_NOWHERE,
                            "a ring visits device %u, which is not in its group", order[i]);
        order[i] = (uint32_t)rank;
    }
    t->n_rings = (uint32_t)n_rings;
    return FR_OK;
}

/* FR_LINK_NVLINK < FR_LINK_PCIE < FR_LINK_CPU < FR_LINK_NET: from the GPU outwards. */
static enum fr_link_kind outermost_kind(const struct engine *e, const struct tours *t, uint32_t n)
{
    enum fr_link_kind kind = FR_LINK_NVLINK;

    for (uint32_t i = 0; i < n; i++) {
        const struct route *r = &e->routes[t->routes[i]];

        for (uint32_t l = 0; l < r->n_links; l++) {
            enum fr_link_kind k = e->v->topo->links[fr__route_links(e, r)[l]].kind;

            kind = k > kind ? k : kind;
        }
    }
    return kind;
}

static enum fr_status find_tours(struct engine *e, uint32_t group, struct tours *t)
{
    uint32_t n = fr_plan_group_size(e->plan, group);
    size_t max_rings = e->o->rings && e->o->rings < MOST_RINGS ? e->o->rings : MOST_RINGS;

    t->ranks = calloc(max_rings * n, sizeof(*t->ranks));
    t->routes = calloc(max_rings * n, sizeof(*t->routes));
    t->share_frac = calloc(max_rings, sizeof(*t->share_frac));
    if (!t->ranks || !t->routes || !t->share_frac)
        return fr__fail_nomem(e->err);
    if (e->o->rings == 1 || n < 2) {
        for (uint32_t i = 0; i < n; i++)
            t->ranks[i] = i;
        t->share_frac[0] = 1;
        t->n_rings = 1;
    } else {
        FR_TRY(look_for_rings(e, group, t, max_rings, n));
    }
    for (uint32_t r = 0; n > 1 && r < t->n_rings; r++)
        for (uint32_t i = 0; i < n; i++) {
            uint32_t a = t->ranks[r * n + i], b = t->ranks[r * n + (i + 1) % n];

            t->routes[r * n + i] = fr__route_find(e, fr_plan_group_device(e->plan, group, a),
                                                  fr_plan_group_device(e->plan, group, b));
            if (t->routes[r * n + i] == FR_NONE)
                return e->status;
        }
    t->kind = n > 1 ? outermost_kind(e, t, n) : FR_LINK_NVLINK;
    return FR_OK;
}

const struct tours *fr__group_tours(struct engine *e, uint32_t group)
{
    struct tours *t = &e->tours[group];
    enum fr_status st;

    if (t->n_rings == 0) {
        st = find_tours(e, group, t);
        if (st != FR_OK) {
            if (e->status == FR_OK)
                e->status = st;
            return NULL;
        }
    }
    return t;
}

/* ---- arithmetic ---- */

uint32_t fr__ring_rounds(enum fr_collective_kind kind, uint32_t n)
{
    return kind == FR_ALL_REDUCE ? 2 * (n - 1) : n - 1;
}

double fr__ring_chunk(const struct fr_collective *c, const struct tours *t, uint32_t r, uint32_t n)
{
    double bytes = t->n_rings == 1 ? c->bytes : c->bytes * t->share_frac[r];

    return floor(bytes / n);
}

struct slowest_hop fr__collective_alone(struct engine *e, uint32_t collective)
{
    const struct fr_collective *c = &e->v->collectives[collective];
    uint32_t n = fr_plan_group_size(e->plan, c->group);
    const struct tours *t = fr__group_tours(e, c->group);
    struct slowest_hop slowest = {.route = FR_NONE};

    if (!t || n < 2)
        return slowest;
    for (uint32_t r = 0; r < t->n_rings; r++) {
        double chunk_bytes = fr__ring_chunk(c, t, r, n);

        for (uint32_t i = 0; i < n; i++) {
            uint32_t route = t->routes[r * n + i];
            const struct route *k = &e->routes[route];
            double hop_s = k->n_links ? k->latency_s + chunk_bytes / k->bw_Bps : 0;
            double s = fr__ring_rounds(c->kind, n) * hop_s;

            if (s > slowest.s)
                slowest = (struct slowest_hop){s, route, chunk_bytes};
        }
    }
    return slowest;
}

/* ---- a cost of its own ---- */

bool fr__collective_has_cost(const struct engine *e, uint32_t collective)
{
    const struct fr_collective *c = &e->v->collectives[collective];

    return c->has_cost && !e->o->rings_only && fr_plan_group_size(e->plan, c->group) > 1;
}

struct own_cost fr__collective_cost(struct engine *e, uint32_t collective)
{
    const struct fr_collective *c = &e->v->collectives[collective];
    const struct fr_cost *cost = &e->v->costs[c->cost_id];
    double mean_s = e->o->cost_s ? e->o->cost_s[c->cost_id] : cost->mean_s;
    const struct tours *t = fr__group_tours(e, c->group);
    struct own_cost own = {.kind = t ? t->kind : FR_LINK_NVLINK};

    if (cost->mean_s > 0)
        own.bandwidth_s = mean_s * (cost->bytes_s / cost->mean_s);
    own.latency_s = mean_s - own.bandwidth_s;
    if (e->o->slowness) {
        own.bandwidth_s *= e->o->slowness[fr_link_resource(own.kind, FR_LINK_BANDWIDTH)];
        own.latency_s *= e->o->slowness[fr_link_resource(own.kind, FR_LINK_LATENCY)];
    }
    return own;
}

/* What passes between start and end, with nothing else on the devices. */
static double known_s(struct engine *e, uint32_t collective)
{
    struct own_cost own;

    if (!fr__collective_has_cost(e, collective))
        return fr__collective_alone(e, collective).s;
    own = fr__collective_cost(e, collective);
    return own.bandwidth_s + own.latency_s;
}

/* ---- meeting ---- */

void fr__collective_meet(struct engine *e, uint32_t task)
{
    uint32_t c = e->tasks[task].ref;
    struct meeting *m = &e->meetings[c];
    double launched_s = fr__host_launch(e, task);

    if (launched_s > m->start_s) {
        m->start_s = launched_s;
        m->latest = task;
    }
    m->last = task;
    if (++m->n_arrived < e->v->member_first[c + 1] - e->v->member_first[c])
        return;
    if (m->start_s > e->now_s)
        fr__push_event(e, m->start_s, c, EVENT_COLLECTIVE_START);
    else
        fr__collective_start(e, c);
}

static void member_start(struct engine *e, uint32_t task, uint32_t cause)
{
    uint32_t d = fr__device_of(e, task);

    fr__task_started(e, task);
    e->tasks[task].cause = cause;
    if (e->parts)
        fr__parts_keep(e, task);
    if (e->o->alloc_at_start)
        fr__memory_alloc(e, task);
    fr__device_account(e, d);
    e->devices[d].n_collective++;
    fr__rerate(e, d);
}

void fr__member_done(struct engine *e, uint32_t task)
{
    uint32_t d = fr__device_of(e, task);

    fr__device_account(e, d);
    e->devices[d].n_collective--;
    fr__rerate(e, d);
    fr__task_done(e, task);
}

/* ---- steps ---- */

static uint32_t new_ring(struct engine *e, uint32_t n)
{
    uint32_t id = e->free_ring;
    struct ring *r;

    if (id != FR_NONE) {
        e->free_ring = e->rings[id].next_free;
    } else {
        if (!fr__grow(&e->rings, &e->cap_rings, e->n_rings + 1, sizeof(*e->rings))) {
            fr__engine_fail_nomem(e);
            return FR_NONE;
        }
        id = (uint32_t)e->n_rings++;
        e->rings[id] = (struct ring){.cap = 0};
    }
    r = &e->rings[id];
    if (n > r->cap) {
        free(r->launched);
        r->launched = malloc(3 * (size_t)n * sizeof(*r->launched));
        r->cap = r->launched ? n : 0;
    }
    if (!r->launched) {
        fr__engine_fail_nomem(e);
        return FR_NONE;
    }
    r->sent = r->launched + n;
    r->received = r->sent + n;
    memset(r->launched, 0, 3 * (size_t)n * sizeof(*r->launched));
    return id;
}

/* Sends the next chunk of the rank at place i, if it may. */
static void try_hop(struct engine *e, uint32_t ring, uint32_t i)
{
    struct ring *r = &e->rings[ring];
    uint32_t round = r->launched[i];

    if (round == r->rounds || r->sent[i] != round || r->received[i] < round)
        return;
    r->launched[i]++;
    e->stats.steps++;
    fr__flow_start(e, FLOW_OF_RING, ring, i, r->routes[i], r->chunk_bytes);
}

/* The rank at place i of a ring may have nothing left to do there; its task ends with its last
 * ring. */
static void end_rank_if_done(struct engine *e, uint32_t ring, uint32_t i)
{
    struct ring *r = &e->rings[ring];
    uint32_t first = e->v->member_first[r->collective], member;

    if (r->sent[i] < r->rounds || r->received[i] < r->rounds)
        return;
    member = first + r->ranks[i];
    if (++r->n_done == r->n) {
        r->next_free = e->free_ring;
        e->free_ring = ring;
    }
    if (--e->rings_left[member] == 0)
        fr__member_done(e, e->v->members[member]);
}

void fr__ring_hop_done(struct engine *e, uint32_t ring, uint32_t i)
{
    struct ring *r = &e->rings[ring];
    uint32_t next = i + 1 == r->n ? 0 : i + 1;

    r->sent[i]++;
    r->received[next]++;
    if (r->sent[i] == r->rounds || r->received[next] == r->rounds) {
        end_rank_if_done(e, ring, i);
        end_rank_if_done(e, ring, next);
    }
    try_hop(e, ring, i);
    try_hop(e, ring, next);
}

static void start_rings(struct engine *e, uint32_t collective, uint32_t n)
{
    const struct fr_collective *c = &e->v->collectives[collective];
    const struct tours *t = fr__group_tours(e, c->group);
    uint32_t first = e->v->member_first[collective];

    if (!t)
        return;
    for (uint32_t i = 0; i < n; i++)
        e->rings_left[first + i] = t->n_rings;
    for (uint32_t k = 0; k < t->n_rings; k++) {
        uint32_t id = new_ring(e, n);
        struct ring *r;

        if (id == FR_NONE)
            return;
        r = &e->rings[id];
        r->collective = collective;
        r->n = n;
        r->n_done = 0;
        r->rounds = fr__ring_rounds(c->kind, n);
        r->chunk_bytes = fr__ring_chunk(c, t, k, n);
        r->ranks = t->ranks + (size_t)k * n;
        r->routes = t->routes + (size_t)k * n;
        for (uint32_t i = 0; i < n; i++)
            try_hop(e, id, i);
    }
}

/* ---- a known time ---- */

static void start_known(struct engine *e, uint32_t collective, uint32_t n)
{
    const struct fr_collective *c = &e->v->collectives[collective];
    double stretch = 1;

    for (uint32_t i = 0; i < n; i++) {
        uint32_t d = fr_plan_group_device(e->plan, c->group, i);
        double s = fr__comm_stretch(e, FR_WORK_COLLECTIVE, d, d);

        stretch = s > stretch ? s : stretch;
    }
    fr__push_event(e, e->now_s + known_s(e, collective) * stretch, collective,
                   EVENT_COLLECTIVE_DONE);
}

static void count_bytes(struct engine *e, uint32_t collective, uint32_t n)
{
    const struct fr_collective *c = &e->v->collectives[collective];
    const struct tours *t = fr__group_tours(e, c->group);

    for (uint32_t r = 0; t && n > 1 && r < t->n_rings; r++) {
        double bytes = fr__ring_rounds(c->kind, n) * fr__ring_chunk(c, t, r, n);

        for (uint32_t i = 0; i < n; i++) {
            const struct route *k = &e->routes[t->routes[r * n + i]];
            const uint32_t *links = fr__route_links(e, k);

            for (uint32_t l = 0; l < k->n_links; l++)
                e->link_bytes[links[l]] += bytes;
        }
    }
}

void fr__collective_done(struct engine *e, uint32_t collective)
{
    uint32_t first = e->v->member_first[collective];
    uint32_t n = e->v->member_first[collective + 1] - first;

    if (e->parts)
        fr__parts_at_collective_done(e, collective);
    count_bytes(e, collective, n);
    for (uint32_t i = 0; i < n; i++)
        fr__member_done(e, e->v->members[first + i]);
}

void fr__collective_start(struct engine *e, uint32_t collective)
{
    uint32_t first = e->v->member_first[collective];
    uint32_t n = e->v->member_first[collective + 1] - first;
    uint32_t cause = e->tasks[e->meetings[collective].last].cause;

    for (uint32_t i = 0; i < n; i++)
        member_start(e, e->v->members[first + i], cause);
    if (n < 2 || e->o->closed_form_collectives || fr__collective_has_cost(e, collective))
        start_known(e, collective, n);
    else
        start_rings(e, collective, n);
}
