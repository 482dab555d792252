/* sim/collectives/schedule_choice.c - the algorithm, protocol, lanes and chunks of a collective,
 * and the routes of its messages; see schedule_choice.h. */
#include "config.h"

#include "sim/collectives/nccl_choice.h"
#include "collectives/grid.h"
#include "collectives/nccl/measured.h"
#include "sim/collectives/schedule_choice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* NCCL's chunk of trees and chains, data in one of 8 steps (NCCL_STEPS) of its buffers: 4 MiB
 * by Simple, 256 KiB by LL, half of it flags, 640 * 120 * 8 * 8 B by LL128, 15 of 16 of it data
 * (src/init.cc, src/device/prims_ll*.h); and of NVLS (src/enqueue.cc). More chunks than MOST_CHUNKS
 * change a pipeline by less than its depth in 64. */
enum { CHUNK_BYTES = 512 << 10, LL_CHUNK_BYTES = 16 << 10, LL128_CHUNK_BYTES = 576000 };
enum { NVLS_CHUNK_BYTES = 128 << 10, MOST_CHUNKS = 64, MOST_TREES = 16 };
enum { LL_PEER_BYTES = 16 << 10 };

/* What is to be done, and by which protocol. */
struct recipe {
    const struct fr__algorithm *algorithm; /* NULL: rings, chains, shifts of closed_form.c */
    enum fr__nccl_protocol protocol;
    unsigned n_channels;
};

static uint32_t chunks_of(double bytes, double chunk_bytes)
{
    return (uint32_t)fmin(fmax(ceil(bytes / chunk_bytes), 1), MOST_CHUNKS);
}

/* By LL128 a tree halves its chunk while there are few for its depth (src/enqueue.cc). */
static double tree_ll128_chunk(const struct fr__schedule *s)
{
    double m = s->per_node, depth = 1 + log2((double)s->n / m) + 0.1 * m, chunk = LL128_CHUNK_BYTES;
    double lane_bytes = s->bytes / (s->n_lanes ? s->n_lanes : 1);

    while (chunk > 128 << 10 && lane_bytes / chunk < depth * 64 / m)
        chunk /= 2;
    while (chunk > 32 << 10 && lane_bytes / chunk < depth * 16 / m)
        chunk /= 2;
    return chunk;
}

static double chunk_bytes(const struct fr__schedule *s, enum fr__nccl_protocol p)
{
    if (p == FR__NCCL_LL)
        return LL_CHUNK_BYTES;
    if (p != FR__NCCL_LL128)
        return s->algorithm == &fr__nvls_algorithm ? NVLS_CHUNK_BYTES : CHUNK_BYTES;
    return s->algorithm == &fr__tree_algorithm ? tree_ll128_chunk(s) : LL128_CHUNK_BYTES;
}

/* Lanes and chunks of a pipeline. Trees: a pair for each rank of a machine, so that each begins at
 * another NIC. */
static void set_pipeline(const struct recipe *r, struct fr__schedule *s)
{
    const struct fr__algorithm *a = s->algorithm;

    if (a == &fr__tree_algorithm && s->kind == FR_ALL_REDUCE) {
        uint32_t most = s->n_lanes ? s->n_lanes : 2 * s->per_node;

        most = most < MOST_TREES ? most : MOST_TREES;
        s->n_lanes = r->n_channels && r->n_channels < most ? r->n_channels : most;
    }
    if (a == &fr__nvls_algorithm)
        s->n_lanes = s->per_node * (s->n > s->per_node ? 2 : 1);
    if (a->is_pipeline)
        s->n_chunks =
            chunks_of(s->bytes / (s->n_lanes ? s->n_lanes : 1), chunk_bytes(s, r->protocol));
}

/* Rings over the link graph, as closed_form.c has them. */
static bool set_rings(struct fr__engine *e, const struct fr_collective *c,
                      struct fr__collective_schedule *out)
{
    struct fr__schedule *s = &out->schedule;
    const struct fr__ring_set *rings = fr__group_rings(e, c->group);
    uint32_t *place;

    if (!rings)
        return false;
    place = fr__arena_alloc(e->scratch, (size_t)rings->n_rings * rings->n, sizeof(*place));
    if (!place) {
        fr__engine_fail_nomem(e);
        return false;
    }
    for (uint32_t r = 0; r < rings->n_rings; r++)
        for (uint32_t i = 0; i < rings->n; i++)
            place[r * rings->n + rings->ranks[r * rings->n + i]] = i;
    out->rings = rings;
    s->n_lanes = rings->n_rings;
    s->order = rings->ranks;
    s->place = place;
    s->period = rings->period;
    s->share_frac = rings->share_frac;
    return true;
}

/* As NCCL's search finds them; without its model by number. */
static void set_chains(struct fr__engine *e, uint32_t group, struct fr__schedule *s)
{
    struct fr__chains chains;

    if (!fr__group_chains(e, group, e->o->way->version, &chains) || chains.per_node != s->per_node)
        return;
    s->n_lanes = chains.n_lanes;
    s->order = chains.order;
    s->place = chains.place;
}

/* Where links are made slower in latency, so is what a protocol takes over them. */
static double slowness(const struct fr__engine *e, enum fr_link_kind kind,
                       enum fr_link_resource what)
{
    return e->o->slowness ? e->o->slowness[fr_link_resource(kind, what)] : 1;
}

/* As measured systems were; 1 where that is not asked for, or nobody measured it. */
static struct fr__nccl_measured measured(struct fr__engine *e, uint32_t group,
                                         enum fr__nccl_algorithm row, enum fr__nccl_protocol p,
                                         bool is_over_nodes)
{
    const struct fr_collective_way *way = e->o->way;

    if (!way->as_measured)
        return (struct fr__nccl_measured){1, 1};
    return fr__nccl_measured_of(fr__group_min_sm(e, group, way->version), is_over_nodes, row, p);
}

/* How much longer than its bytes on the wire a message holds its links. LL is bound by the
 * processor and not by the links. In a tree inside one machine the threads of a channel sum upwards
 * and copy downwards in turn, so NCCL counts its bandwidth half (src/graph/tuning.cc). */
static double held_longer(struct fr__engine *e, uint32_t collective, enum fr__nccl_algorithm row,
                          enum fr__nccl_protocol p, bool is_over_nodes)
{
    double slower = fr__protocol_slowdown(e, collective, e->o->way->version, row, p);
    double both_ways = row == FR__NCCL_ALGO_TREE && !is_over_nodes && slower > 0 ? 2 : 1;

    return both_ways * (p == FR__NCCL_LL ? fmax(slower / fr__nccl_wire_factor(p), 1) : 1);
}

/* What of the data is the GPU's own already goes from one buffer to the other. */
static double own_s(const struct fr__engine *e, const struct fr__schedule *s, uint32_t group)
{
    const struct fr_topo *t = e->v->topo;
    const struct fr_device *d = &t->devices[fr_plan_group_device(e->plan, group, 0)];
    double Bps = fr__nccl_own_Bps(t->types[d->type].mem_Bps);

    return Bps > 0 ? s->bytes / s->n / Bps : 0;
}

/* A buffer has 8 steps (NCCL_STEPS), each of which is a message's until its receiver has it. A
 * ring's chunk by Simple takes 4 of them (src/include/collectives.h, ALLREDUCE_CHUNKSTEPS and those
 * of the other two), every other one. How NCCL sends: src/device/prims_simple.h and prims_ll*.h,
 * waitPeer and waitSend; src/transport/net.cc, sendProxyProgress. */
static uint32_t ahead_of(const struct fr__algorithm *a, enum fr__nccl_protocol p,
                         bool is_over_nodes)
{
    if (a == &fr__nvls_algorithm && !is_over_nodes) /* threads load sums and wait for them */
        return 0;
    return a == &fr__ring_algorithm && p == FR__NCCL_SIMPLE ? FR__MOST_AHEAD / 4 : FR__MOST_AHEAD;
}

static void set_protocol_costs(struct fr__engine *e, uint32_t collective, enum fr__nccl_protocol p,
                               struct fr__collective_schedule *out)
{
    static const enum fr__nccl_hop HOPS[FR_N_LINK_KINDS] = {
        [FR_LINK_NVLINK] = FR__NCCL_HOP_NVLINK,
        [FR_LINK_PCIE] = FR__NCCL_HOP_PCI,
        [FR_LINK_CPU] = FR__NCCL_HOP_PCI,
        [FR_LINK_NET] = FR__NCCL_HOP_NET,
    };
    const struct fr__algorithm *a = out->schedule.algorithm;
    enum fr__nccl_algorithm row = FR__NCCL_ALGO_RING;
    unsigned version = e->o->way->version;
    bool is_over_nodes = out->schedule.per_node < out->schedule.n;
    bool is_pairs = out->schedule.kind == FR_ALL_TO_ALL;
    uint32_t group = e->v->collectives[collective].group;
    struct fr__nccl_measured slow;

    out->wire_factor = out->slow_factor = out->slow_latency = 1;
    if (p == FR__NCCL_N_PROTOCOLS)
        return;
    if (a == &fr__tree_algorithm)
        row = FR__NCCL_ALGO_TREE;
    else if (a == &fr__nvls_algorithm)
        row = FR__NCCL_ALGO_NVLS_TREE;
    else if (a == &fr__pat_algorithm)
        row = FR__NCCL_ALGO_PAT;
    slow = measured(e, group, is_pairs ? FR__NCCL_N_ALGORITHMS : row, p, is_over_nodes);
    row = row == FR__NCCL_ALGO_PAT ? FR__NCCL_ALGO_RING : row;
    out->slow_latency = slow.latency;
    out->start_kind = is_over_nodes ? FR_LINK_NET : FR_LINK_NVLINK;
    out->start_s = 1e-6 * slow.latency * fr__nccl_base_us(version, row, p) *
                   slowness(e, out->start_kind, FR_LINK_LATENCY);
    if (e->o->way->as_measured && (is_pairs || (a == &fr__ring_algorithm && p == FR__NCCL_SIMPLE)))
        out->own_s =
            own_s(e, &out->schedule, group) * slowness(e, out->start_kind, FR_LINK_BANDWIDTH);
    out->start_s += out->own_s;
    if (is_pairs) { /* all peers' messages are on their way at once */
        out->slow_factor = slow.bytes;
        out->wire_factor = slow.bytes * fr__nccl_wire_factor(p);
        return;
    }
    out->schedule.n_ahead = ahead_of(a, p, is_over_nodes);
    out->slow_factor = slow.bytes * held_longer(e, collective, row, p, is_over_nodes);
    out->wire_factor = out->slow_factor * fr__nccl_wire_factor(p);
    for (unsigned k = 0; k < FR_N_LINK_KINDS; k++)
        out->hop_s[k] = 1e-6 * fr__nccl_hop_us(version, HOPS[k], row, p) *
                        slowness(e, (enum fr_link_kind)k, FR_LINK_LATENCY);
    if (row ==
        FR__NCCL_ALGO_NVLS_TREE) /* the table has it once for the four ways to and from a switch */
        out->hop_s[FR_LINK_NVLINK] /= 4;
}

/* Of messages between two ranks: LL up to 16 KiB a channel (src/enqueue.cc, NCCL_P2P_LL_THRESHOLD),
 * and two channels a peer. They have no LL128. */
static enum fr__nccl_protocol peer_protocol(const struct fr__engine *e, uint32_t collective)
{
    const struct fr_collective *c = &e->v->collectives[collective];
    double each = c->bytes / fr_plan_group_size(e->plan, c->group);

    if (e->o->way->protocol == FR__NCCL_LL || e->o->way->protocol == FR__NCCL_SIMPLE)
        return e->o->way->protocol;
    return each <= 2 * LL_PEER_BYTES ? FR__NCCL_LL : FR__NCCL_SIMPLE;
}

/* As NCCL chooses; where it has no model rings by the protocol asked for. */
static struct recipe nccl_recipe(struct fr__engine *e, uint32_t collective)
{
    static const struct fr__algorithm *const ALGORITHMS[FR__NCCL_N_ALGORITHMS] = {
        [FR__NCCL_ALGO_TREE] = &fr__tree_algorithm,
        [FR__NCCL_ALGO_NVLS] = &fr__nvls_algorithm,
        [FR__NCCL_ALGO_NVLS_TREE] = &fr__nvls_algorithm,
        [FR__NCCL_ALGO_PAT] = &fr__pat_algorithm};
    const struct fr_collective_way *way = e->o->way;
    enum fr_collective_kind kind = e->v->collectives[collective].kind;
    uint32_t group = e->v->collectives[collective].group;
    bool is_one_node = fr__group_nodes(e, group, way->version) == 1;
    struct fr__nccl_choice c;

    if (kind == FR_ALL_TO_ALL && !is_one_node)
        return (struct recipe){&fr__shift_algorithm, peer_protocol(e, collective), 0};
    if (kind == FR_ALL_TO_ALL && fr__group_min_sm(e, group, way->version) > 0)
        return (struct recipe){&fr__pairwise_algorithm, peer_protocol(e, collective), 0};
    if (!fr__nccl_choice_of(e, collective, way, &c))
        return (struct recipe){way->protocol < FR__NCCL_N_PROTOCOLS ? fr__algorithm_usual(kind)
                                                                    : NULL,
                               way->protocol, way->n_channels};
    return (struct recipe){c.algorithm == FR__NCCL_ALGO_RING ? fr__algorithm_usual(kind)
                                                             : ALGORITHMS[c.algorithm],
                           c.protocol, way->n_channels ? way->n_channels : c.channels};
}

/* What is asked for by hand stands for the kinds that it has. */
static struct recipe recipe_of(struct fr__engine *e, uint32_t collective)
{
    const struct fr_collective_way *way = e->o->way;
    const struct fr__algorithm *a = way ? way->algorithm : NULL;
    enum fr_collective_kind kind = e->v->collectives[collective].kind;
    struct recipe r = {.protocol = FR__NCCL_N_PROTOCOLS};

    if (!way || kind == FR_RING_STEP) /* messages between neighbours, whatever is chosen */
        return r;
    if (way->is_nccl)
        return nccl_recipe(e, collective);
    r.protocol = way->protocol;
    r.n_channels = way->n_channels;
    if (a && fr_collective_way_has(way, kind))
        r.algorithm = a;
    else if (way->protocol < FR__NCCL_N_PROTOCOLS)
        r.algorithm = fr__algorithm_usual(kind);
    if (way->protocol == FR__NCCL_N_PROTOCOLS &&
        (r.algorithm == &fr__ring_algorithm || r.algorithm == &fr__chain_algorithm))
        r.algorithm = NULL; /* as closed_form.c has them */
    return r;
}

struct ranks {
    struct fr__engine *e;
    uint32_t group;
};

static uint32_t count_hops(void *user, uint32_t from, uint32_t to)
{
    const struct ranks *r = user;
    uint32_t src = fr_plan_group_device(r->e->plan, r->group, from);
    uint32_t dst = fr_plan_group_device(r->e->plan, r->group, to);
    uint32_t route = fr__route_take(r->e, src, dst), n;

    if (route == FR_NONE)
        return 0; /* the failure is kept */
    n = fr__route_at(r->e, route)->n_links;
    fr__route_release(r->e, route);
    return n;
}

bool fr__schedule_choose(struct fr__engine *e, uint32_t collective,
                         struct fr__collective_schedule *out)
{
    const struct fr_collective *c = &e->v->collectives[collective];
    struct fr__schedule *s = &out->schedule;
    uint32_t n = fr_plan_group_size(e->plan, c->group), machines;
    const struct fr__algorithm *a;
    struct recipe r;
    enum fr_status st;

    if (n < 2 || !e->o->way)
        return false;
    r = recipe_of(e, collective);
    a = r.algorithm;
    if (!a)
        return false;
    machines = fr__group_nodes(e, c->group, e->o->way->version);
    *out = (struct fr__collective_schedule){.start_s = 0};
    *s = (struct fr__schedule){.algorithm = a, .kind = c->kind, .n = n, .bytes = c->bytes};
    s->root = c->kind == FR_BROADCAST || c->kind == FR_REDUCE ? c->root : 0;
    s->per_node = machines ? n / machines : 1;
    s->custom = e->o->way->custom;
    fr__grid_sides(s, count_hops, &(struct ranks){e, c->group});
    if ((a == &fr__ring_algorithm || a == &fr__chain_algorithm) && !set_rings(e, c, out))
        return false;
    if (a == &fr__tree_algorithm)
        set_chains(e, c->group, s);
    set_pipeline(&r, s);
    set_protocol_costs(e, collective, r.protocol, out);
    out->protocol = r.protocol;
    st = fr__schedule_make(s, e->err);
    if (st != FR_OK)
        fr__engine_fail(e, st);
    return st == FR_OK;
}

/* ---- messages ---- */

static uint32_t device_of(const struct fr__engine *e, uint32_t collective,
                          const struct fr__collective_schedule *w, uint32_t rank)
{
    if (w->devices)
        return w->devices[rank];
    return fr_plan_group_device(e->plan, e->v->collectives[collective].group, rank);
}

/* How many links of a route lead to the switch that sums; 0: none. NVLS: the first NVSwitch. Else
 * of the network switches on the way the one in the middle. */
static uint32_t links_to_switch(const struct fr__engine *e, uint32_t route, bool is_nvls)
{
    const struct fr__route *r = fr__route_at(e, route);
    const uint32_t *links = fr__route_links(&e->network.routes, r);
    const struct fr_topo *t = e->v->topo;
    enum fr_vertex_kind kind = is_nvls ? FR_VERTEX_NVSWITCH : FR_VERTEX_SWITCH;
    uint32_t n = 0, at = 0;

    for (uint32_t i = 0; i < r->n_links; i++)
        n += t->vertices[t->links[links[i]].dst].kind == kind;
    for (uint32_t i = 0, seen = 0; i < r->n_links && at == 0; i++)
        if (t->vertices[t->links[links[i]].dst].kind == kind && seen++ == (is_nvls ? 0 : n / 2))
            at = i + 1;
    return at;
}

/* A rank whose route from `rank` crosses the switch: the next of its machine, or of another one. */
static uint32_t rank_beyond(const struct fr__engine *e, uint32_t collective,
                            const struct fr__schedule *s, uint32_t rank, bool is_nvls)
{
    uint32_t m = s->per_node;

    (void)e, (void)collective;
    if (is_nvls)
        return rank / m * m + (rank % m + 1) % m;
    return (rank + (s->n > m ? m : 1)) % s->n;
}

static uint32_t switch_route(struct fr__engine *e, uint32_t collective,
                             const struct fr__collective_schedule *w, uint32_t rank, bool is_up)
{
    bool is_nvls = w->schedule.algorithm == &fr__nvls_algorithm;
    uint32_t beyond = rank_beyond(e, collective, &w->schedule, rank, is_nvls);
    uint32_t src = device_of(e, collective, w, is_up ? rank : beyond);
    uint32_t dst = device_of(e, collective, w, is_up ? beyond : rank);
    uint32_t whole, part = FR_NONE, at;
    enum fr_status st = FR_OK;

    if (src == dst) { /* alone in its machine: nothing to sum */
        return fr__route_take(e, src, dst);
    }
    whole = fr__route_take(e, src, dst);
    if (whole == FR_NONE)
        return FR_NONE;
    at = links_to_switch(e, whole, is_nvls);
    if (at == 0)
        st = fr__fail(e->err, FR_EUSAGE, FR_NOWHERE, "%s: no %s between %s and %s that could sum",
                      w->schedule.algorithm->name, is_nvls ? "NVSwitch" : "network switch",
                      e->v->topo->devices[src].name, e->v->topo->devices[dst].name);
    else if (is_up)
        st = fr__routes_part(&e->network.routes, whole, 0, at, &part, e->err);
    else
        st = fr__routes_part(&e->network.routes, whole, at, fr__route_at(e, whole)->n_links - at,
                             &part, e->err);
    fr__route_release(e, whole);
    if (st != FR_OK)
        fr__engine_fail(e, st);
    return part;
}

/* Through another GPU, where NCCL sends so; FR_NONE: straight on. */
static uint32_t relayed_route(const struct fr__collective_schedule *w, uint32_t from, uint32_t to)
{
    const struct fr__relayed *k = w->rings ? w->rings->relayed : NULL;

    for (size_t i = 0; k && i < w->rings->n_relayed; i++)
        if (k[i].from == from && k[i].to == to)
            return k[i].route;
    return FR_NONE;
}

uint32_t fr__scheduled_route(struct fr__engine *e, uint32_t collective,
                             const struct fr__collective_schedule *w, uint32_t from, uint32_t to)
{
    uint32_t relayed;

    if (to >= w->schedule.n)
        return switch_route(e, collective, w, from, true);
    if (from >= w->schedule.n)
        return switch_route(e, collective, w, to, false);
    relayed = w->devices ? FR_NONE : relayed_route(w, from, to);
    if (relayed != FR_NONE)
        return relayed;
    return fr__route_take(e, device_of(e, collective, w, from), device_of(e, collective, w, to));
}

double fr__scheduled_extra_s(const struct fr__engine *e, const struct fr__collective_schedule *w,
                             const struct fr__route *route, enum fr_link_kind *kind)
{
    const uint32_t *links = fr__route_links(&e->network.routes, route);
    enum fr_link_kind outermost = FR_LINK_NVLINK;

    for (uint32_t i = 0; i < route->n_links; i++)
        if (e->v->topo->links[links[i]].kind > outermost)
            outermost = e->v->topo->links[links[i]].kind;
    *kind = outermost;
    if (route->n_links == 0)
        return 0;
    return fmax(w->slow_latency * fmax(w->hop_s[outermost], route->latency_s) - route->latency_s,
                0);
}
