/* topo/routes/rings.c - rings for collectives, the widest first.
 *
 * The bandwidth of a ring is the greatest rate that all its edges can carry at once. For each link
 * that is what earlier rings left of it, divided by the number of edges of this ring that cross it;
 * the least of these counts. A ring goes through one machine after the other, so inside each
 * machine it is an order of its devices. Machines with the same devices share the order. It is
 * found by branch and bound on the first of them, together with its edge to the next machine. Among
 * orders of equal bandwidth the one with the widest edges is taken (the greatest sum of what each
 * edge could carry alone), which leaves the narrow links for further rings.
 *
 * On separate rails a ring that enters each machine at the same device has to go back to that
 * device's rail over NVLink before it leaves. A ring may also go through every other machine
 * backwards: it leaves a machine at the device at which it enters the next one, and stays on that
 * rail. NCCL does so as well (crossNic 2: src/graph/connect.cc exchanges the two rings of a pair on
 * odd nodes). Both are tried, and whichever rings carry more together are taken.
 *
 * Where no ring stays on NVLink, edges may go through another GPU of the group that has an NVLink
 * to both ends, NCCL's path NVB (src/graph/paths.cc; search.cc relaxes the kind of path only as
 * long as it has no ring). So five GPUs of a DGX-1 have two rings of NVLinks, which vTrain's V100
 * tables measure at 37 GB/s. PCIe carries a third of that.
 */
#include "config.h"

#include "topo/internal.h"
#include "topo/routes/router.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { EXACT = 8 }; /* up to so many devices in a machine, every order is tried */

/* A ring that would add less than this share of the first one's bandwidth is not worth its latency.
 * NCCL does not mix rings on NVLink with rings on PCIe either: all-reduce on 6 and 7 GPUs of a
 * DGX-1 is measured at 46 and 88 GB/s (vTrain's V100 tables), which is 2 and 4 NVLink rings. */
static const double LEAST_GAIN_FRAC = 1.0 / 3;
/* Two bandwidths closer than this are equal: they differ only by rounding. */
static const double SAME_FRAC = 1e-9;

struct machine {
    size_t first, n; /* devices [first, first + n) of the call's list, once grouped */
    size_t shape;    /* the first machine with the same devices inside */
    uint32_t *order; /* [n] positions, the current ring's */
};

struct search {
    struct fr_router *router;
    const struct fr_topo *topo;
    uint32_t *devices; /* [n] grouped by machine */
    size_t n;
    struct machine *machines;
    size_t n_machines;
    bool is_alternating; /* every other machine backwards */
    bool is_relayed;     /* edges may go through another GPU */
    double *left_Bps;    /* [n_links] what earlier rings left */
    uint32_t *uses;      /* [n_links] edges of the ring in the making that cross it */
    bool *is_member;     /* [n_devices] */
    struct fr__arena *arena;
    struct fr_error *err;
};

/* ---- grouping ---- */

/* The place of a device in its machine: its vertex, counted from the machine's first GPU. */
static uint32_t place_of(const struct fr_topo *t, uint32_t device)
{
    const struct fr__topo_priv *priv = t->priv;

    const struct fr_device *first = &t->devices[priv->first_gpu[t->devices[device].machine]];

    return t->devices[device].vertex - first->vertex;
}

/* Whether machines a and b take part with the same types at the same places. */
static bool is_same_shape(const struct search *s, const struct machine *a, const struct machine *b)
{
    const struct fr_device *d = s->topo->devices;

    if (a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++) {
        uint32_t x = s->devices[a->first + i], y = s->devices[b->first + i];

        if (d[x].type != d[y].type || place_of(s->topo, x) != place_of(s->topo, y))
            return false;
    }
    return true;
}

/* Copies the devices grouped by machine, machines in the order of their first device; rank:
 * [n_machines of the topology], scratch. */
static void group(struct search *s, const uint32_t devices[], uint32_t rank[])
{
    size_t at = 0;

    for (size_t m = 0; m < s->topo->n_machines; m++)
        rank[m] = FR_NONE;
    for (size_t i = 0; i < s->n; i++) {
        uint32_t m = s->topo->devices[devices[i]].machine;

        if (rank[m] == FR_NONE)
            rank[m] = (uint32_t)s->n_machines++;
        s->machines[rank[m]].n++;
    }
    for (size_t m = 0; m < s->n_machines; m++) {
        s->machines[m].first = at;
        at += s->machines[m].n;
        s->machines[m].n = 0;
    }
    for (size_t i = 0; i < s->n; i++) {
        struct machine *m = &s->machines[rank[s->topo->devices[devices[i]].machine]];

        s->devices[m->first + m->n++] = devices[i];
    }
    for (size_t m = 0; m < s->n_machines; m++) {
        struct machine *x = &s->machines[m];

        x->shape = m;
        if (m > 0 && is_same_shape(s, x, &s->machines[s->machines[m - 1].shape]))
            x->shape = s->machines[m - 1].shape;
    }
}

/* ---- the best order inside one machine ---- */

struct edge {
    const uint32_t *links;
    size_t n_links;
    double alone_Bps; /* bandwidth if it were the only edge */
};

struct inside {
    struct search *s;
    size_t n;
    struct edge inner[EXACT][EXACT]; /* [from][to] */
    struct edge outer[EXACT][EXACT]; /* [last][first]: to the next machine, or back to the start */
    struct edge cross[2][EXACT]; /* alternating: to the same device of the next machine at the last,
                                    and from there on at the first */
    uint32_t order[EXACT], best[EXACT];
    bool is_used[EXACT];
    double best_Bps, best_sum;
    double inner_Bps; /* the widest inner edge */
    double outer_Bps; /* the widest outer edge to the current order's first device */
};

/* Turns an edge that leaves NVLink into one through a GPU of the group, if there is one. */
static enum fr_status relay_edge(struct search *s, uint32_t src, uint32_t dst, struct edge *e)
{
    uint32_t *links, via;
    struct edge on;

    if (!s->is_relayed)
        return FR_OK;
    via = fr__router_relay(s->router, src, dst, e->links, e->n_links, s->is_member);
    if (via == FR_NONE)
        return FR_OK;
    FR_TRY(fr_router_path(s->router, src, via, &e->links, &e->n_links, s->err));
    FR_TRY(fr_router_path(s->router, via, dst, &on.links, &on.n_links, s->err));
    links = fr__arena_alloc(s->arena, e->n_links + on.n_links, sizeof(*links));
    if (!links)
        return fr__fail_nomem(s->err);
    memcpy(links, e->links, e->n_links * sizeof(*links));
    memcpy(links + e->n_links, on.links, on.n_links * sizeof(*links));
    e->links = links;
    e->n_links += on.n_links;
    return FR_OK;
}

static enum fr_status find_edge(struct search *s, uint32_t src, uint32_t dst, struct edge *e)
{
    FR_TRY(fr_router_path(s->router, src, dst, &e->links, &e->n_links, s->err));
    FR_TRY(relay_edge(s, src, dst, e));
    e->alone_Bps = INFINITY;
    for (size_t i = 0; i < e->n_links; i++)
        if (s->left_Bps[e->links[i]] < e->alone_Bps)
            e->alone_Bps = s->left_Bps[e->links[i]];
    return FR_OK;
}

/* Adds an edge to the ring. Bps: bandwidth of the ring before; returns it with the edge. */
static double take(struct search *s, const struct edge *e, double Bps)
{
    for (size_t i = 0; i < e->n_links; i++) {
        uint32_t l = e->links[i];
        double share = s->left_Bps[l] / (double)++s->uses[l];

        if (share < Bps)
            Bps = share;
    }
    return Bps;
}

static void put_back(struct search *s, const struct edge *e)
{
    for (size_t i = 0; i < e->n_links; i++)
        s->uses[e->links[i]]--;
}

/* ---- out of the machine ---- */

static double narrower(double a, double b)
{
    return a < b ? a : b;
}

static double outer_alone_Bps(const struct inside *x, uint32_t last, uint32_t first)
{
    if (!x->s->is_alternating)
        return x->outer[last][first].alone_Bps;
    return narrower(x->cross[0][last].alone_Bps, x->cross[1][first].alone_Bps);
}

static double take_outer(const struct inside *x, uint32_t last, uint32_t first, double Bps)
{
    if (!x->s->is_alternating)
        return take(x->s, &x->outer[last][first], Bps);
    return take(x->s, &x->cross[1][first], take(x->s, &x->cross[0][last], Bps));
}

static void put_back_outer(const struct inside *x, uint32_t last, uint32_t first)
{
    if (!x->s->is_alternating) {
        put_back(x->s, &x->outer[last][first]);
        return;
    }
    put_back(x->s, &x->cross[0][last]);
    put_back(x->s, &x->cross[1][first]);
}

/* The widest way out of an order that begins at `first`. */
static double widest_outer_Bps(const struct inside *x, uint32_t first)
{
    double most_Bps = 0;

    for (uint32_t last = 0; last < x->n; last++)
        if (x->s->is_alternating || x->outer[last][first].n_links > 0)
            most_Bps = fmax(most_Bps, outer_alone_Bps(x, last, first));
    return most_Bps;
}

/* ---- all orders ---- */

static bool is_better(const struct inside *x, double Bps, double sum)
{
    double margin = x->best_Bps * SAME_FRAC;

    return Bps > x->best_Bps + margin ||
           (Bps >= x->best_Bps - margin && sum > x->best_sum * (1 + SAME_FRAC));
}

/* Tries every order that starts with the first `depth` chosen ones; Bps and sum are theirs. */
static void descend(struct inside *x, size_t depth, double Bps, double sum)
{
    uint32_t last = x->order[depth - 1];

    if (!is_better(x, narrower(Bps, x->outer_Bps),
                   sum + (double)(x->n - depth) * x->inner_Bps + x->outer_Bps))
        return; /* not even with the widest edges for the rest */
    if (depth == x->n) {
        uint32_t first = x->order[0];

        Bps = take_outer(x, last, first, Bps);
        sum += outer_alone_Bps(x, last, first);
        if (is_better(x, Bps, sum)) {
            x->best_Bps = Bps;
            x->best_sum = sum;
            memcpy(x->best, x->order, sizeof(x->best));
        }
        put_back_outer(x, last, first);
        return;
    }
    for (uint32_t i = 0; i < x->n; i++) {
        const struct edge *e = &x->inner[last][i];

        if (x->is_used[i])
            continue;
        x->is_used[i] = true;
        x->order[depth] = i;
        descend(x, depth + 1, take(x->s, e, Bps), sum + e->alone_Bps);
        put_back(x->s, e);
        x->is_used[i] = false;
    }
}

/* Finds the edges of machine m and those to the next machine. If the next one has another shape,
 * its own order is not known yet, and its first device stands in for its beginning. */
static enum fr_status find_edges(struct inside *x, const struct machine *m,
                                 const struct machine *next)
{
    struct search *s = x->s;
    bool is_alike = next->shape == m->shape;

    for (size_t i = 0; i < x->n; i++)
        for (size_t j = 0; j < x->n; j++) {
            struct edge *in = &x->inner[i][j], *out = &x->outer[i][j];

            FR_TRY(find_edge(s, s->devices[m->first + i], s->devices[m->first + j], in));
            FR_TRY(find_edge(s, s->devices[m->first + i],
                             s->devices[next->first + (is_alike ? j : 0)], out));
            if (i != j && in->alone_Bps > x->inner_Bps)
                x->inner_Bps = in->alone_Bps;
        }
    return FR_OK;
}

/* The same for rings that alternate; after: the machine behind the next one. */
static enum fr_status find_crossings(struct inside *x, const struct machine *m,
                                     const struct machine *next, const struct machine *after)
{
    struct search *s = x->s;

    for (size_t i = 0; s->is_alternating && i < x->n; i++) {
        FR_TRY(
            find_edge(s, s->devices[m->first + i], s->devices[next->first + i], &x->cross[0][i]));
        FR_TRY(find_edge(s, s->devices[next->first + i], s->devices[after->first + i],
                         &x->cross[1][i]));
    }
    return FR_OK;
}

static enum fr_status order_exactly(struct search *s, struct machine *m, const struct machine *next,
                                    const struct machine *after)
{
    struct inside x = {.s = s, .n = m->n, .best_Bps = -1, .best_sum = -1};
    size_t n_starts = next == m ? 1 : m->n; /* a ring closed inside may start anywhere */

    FR_TRY(find_edges(&x, m, next));
    FR_TRY(find_crossings(&x, m, next, after));
    for (uint32_t i = 0; i < n_starts; i++) {
        x.outer_Bps = widest_outer_Bps(&x, i);
        x.order[0] = i;
        x.is_used[i] = true;
        descend(&x, 1, INFINITY, 0);
        x.is_used[i] = false;
    }
    memcpy(m->order, x.best, m->n * sizeof(*x.best));
    return FR_OK;
}

/* For more devices than EXACT: starts at the first and always takes the widest edge. */
static enum fr_status order_greedily(struct search *s, struct machine *m)
{
    for (size_t i = 0; i < m->n; i++)
        m->order[i] = (uint32_t)i;
    for (size_t at = 1; at + 1 < m->n; at++) {
        size_t best = at;
        double best_Bps = -1;

        for (size_t i = at; i < m->n; i++) {
            struct edge e;

            FR_TRY(find_edge(s, s->devices[m->first + m->order[at - 1]],
                             s->devices[m->first + m->order[i]], &e));
            if (e.alone_Bps > best_Bps) {
                best_Bps = e.alone_Bps;
                best = i;
            }
        }
        for (uint32_t chosen = m->order[best]; best >= at; best--)
            m->order[best] = best > at ? m->order[best - 1] : chosen;
    }
    return FR_OK;
}

/* ---- one ring over all machines ---- */

static enum fr_status find_ring(struct search *s, uint32_t order[])
{
    for (size_t i = 0; i < s->n_machines; i++) {
        struct machine *m = &s->machines[i];

        if (m->shape != i)
            memcpy(m->order, s->machines[m->shape].order, m->n * sizeof(*m->order));
        else if (m->n <= EXACT)
            FR_TRY(order_exactly(s, m, &s->machines[(i + 1) % s->n_machines],
                                 &s->machines[(i + 2) % s->n_machines]));
        else
            FR_TRY(order_greedily(s, m));
        for (size_t k = 0; k < m->n; k++) {
            size_t at = s->is_alternating && i % 2 == 1 ? m->n - 1 - k : k;

            order[m->first + k] = s->devices[m->first + m->order[at]];
        }
    }
    return FR_OK;
}

/* The bandwidth of a whole ring, at most most_Bps. If it is at least least_Bps, takes it from
 * left_Bps. */
static enum fr_status use_ring(struct search *s, const uint32_t order[], double least_Bps,
                               double most_Bps, double *out_Bps)
{
    double Bps = most_Bps;
    struct edge e;

    for (size_t i = 0; i < s->n; i++) {
        FR_TRY(find_edge(s, order[i], order[(i + 1) % s->n], &e));
        Bps = take(s, &e, Bps);
    }
    for (size_t i = 0; i < s->n; i++) {
        FR_TRY(find_edge(s, order[i], order[(i + 1) % s->n], &e));
        put_back(s, &e);
        for (size_t k = 0; k < e.n_links && Bps >= least_Bps; k++) {
            double *left_Bps = &s->left_Bps[e.links[k]];

            *left_Bps = *left_Bps > Bps * (1 + SAME_FRAC) ? *left_Bps - Bps : 0;
        }
    }
    *out_Bps = Bps;
    return FR_OK;
}

struct rings {
    uint32_t *order;  /* [max][n] */
    double *ring_Bps; /* [max] */
    size_t max, n;
    double total_Bps;
};

/* Finds rings until another one would add less than LEAST_GAIN_FRAC of first_Bps (0: of the first
 * ring's own); each has at most most_Bps. */
static enum fr_status find_rings(struct search *s, double first_Bps, double most_Bps,
                                 struct rings *out)
{
    for (size_t l = 0; l < s->topo->n_links; l++)
        s->left_Bps[l] = s->topo->links[l].bw_Bps;
    out->total_Bps = 0;
    for (out->n = 0; out->n < out->max; out->n++) {
        double least_Bps = first_Bps * LEAST_GAIN_FRAC, Bps;
        uint32_t *ring = out->order + out->n * s->n;

        FR_TRY(find_ring(s, ring));
        FR_TRY(use_ring(s, ring, least_Bps, most_Bps, &Bps));
        if (out->n && !(Bps >= least_Bps && Bps > 0))
            break;
        if (first_Bps <= 0)
            first_Bps = Bps;
        out->ring_Bps[out->n] = Bps;
        out->total_Bps += Bps;
    }
    return FR_OK;
}

/* Finds other rings, and takes them if they carry more together. */
static enum fr_status try_others(struct search *s, struct fr__arena *a, double first_Bps,
                                 double most_Bps, struct rings *best)
{
    struct rings other = {.max = best->max};

    other.order = fr__arena_alloc(a, other.max * s->n, sizeof(*other.order));
    other.ring_Bps = fr__arena_alloc(a, other.max, sizeof(*other.ring_Bps));
    if (!other.order || !other.ring_Bps)
        return fr__fail_nomem(s->err);
    FR_TRY(find_rings(s, first_Bps, most_Bps, &other));
    if (other.total_Bps <= best->total_Bps * (1 + SAME_FRAC))
        return FR_OK;
    memcpy(best->order, other.order, other.n * s->n * sizeof(*other.order));
    memcpy(best->ring_Bps, other.ring_Bps, other.n * sizeof(*other.ring_Bps));
    best->n = other.n;
    best->total_Bps = other.total_Bps;
    return FR_OK;
}

static bool are_all_of_one_shape(const struct search *s)
{
    for (size_t m = 0; m < s->n_machines; m++)
        if (s->machines[m].shape != 0)
            return false;
    return true;
}

/* Finds rings at full bandwidth and at half of it, and takes whichever carry more together, the
 * full ones if equal. Full rings can block each other where half ones would fill the links: four
 * GPUs with a link between any two have three rings both ways at half bandwidth, together worth
 * three links, but at full bandwidth only two fit. NCCL splits links in this way too (52 GB/s
 * measured on four P100 with links of 18.4 GB/s, Tartan, IISWC 2018). On rails it tries rings that
 * alternate instead. */
static enum fr_status find_straight_rings(struct search *s, struct fr__arena *a, struct rings *best)
{
    FR_TRY(find_rings(s, 0, INFINITY, best));
    s->is_alternating = s->topo->has_relays && s->n_machines > 1 && are_all_of_one_shape(s);
    if (s->is_alternating)
        return try_others(s, a, 0, INFINITY, best);
    if (best->n < 2 || s->n_machines > 1 || s->n > EXACT)
        return FR_OK;
    return try_others(s, a, best->ring_Bps[0], best->ring_Bps[0] / 2, best);
}

static enum fr_status find_best_rings(struct search *s, struct fr__arena *a, struct rings *best)
{
    double straight_Bps;
    bool may_relay = false;

    FR_TRY(find_straight_rings(s, a, best));
    for (size_t i = 0; i < s->n && !may_relay; i++) {
        uint32_t src = best->order[i], dst = best->order[(i + 1) % s->n];
        struct edge e;

        FR_TRY(find_edge(s, src, dst, &e));
        may_relay =
            fr__router_relay(s->router, src, dst, e.links, e.n_links, s->is_member) != FR_NONE;
    }
    if (!may_relay)
        return FR_OK;
    straight_Bps = best->total_Bps;
    s->is_alternating = false;
    s->is_relayed = true;
    FR_TRY(try_others(s, a, 0, INFINITY, best));
    s->is_relayed = best->total_Bps > straight_Bps;
    if (!s->is_relayed || best->n < 2 || s->n_machines > 1 || s->n > EXACT)
        return FR_OK;
    return try_others(s, a, best->ring_Bps[0], best->ring_Bps[0] / 2, best);
}

/* ---- the call ---- */

static enum fr_status check_devices(const struct fr_topo *t, const uint32_t devices[], size_t n,
                                    struct fr_error *err)
{
    bool *is_seen = calloc(t->n_devices, sizeof(*is_seen));
    enum fr_status status = is_seen ? FR_OK : fr__fail_nomem(err);

    for (size_t i = 0; i < n && status == FR_OK; i++) {
        if (devices[i] >= t->n_devices)
            status = fr__fail(err, FR_ERANGE, FR_NOWHERE, "device %u does not exist, '%s' has %zu",
                              (unsigned)devices[i], t->name, t->n_devices);
        else if (is_seen[devices[i]])
            status = fr__fail(err, FR_ERANGE, FR_NOWHERE, "device '%s' is twice in the group",
                              t->devices[devices[i]].name);
        else
            is_seen[devices[i]] = true;
    }
    free(is_seen);
    return status;
}

static enum fr_status search_all(struct search *s, struct fr__arena *a, const uint32_t devices[],
                                 size_t max_rings, uint32_t order[], double share_frac[],
                                 size_t *n_rings)
{
    uint32_t *rank = fr__arena_alloc(a, s->topo->n_machines, sizeof(*rank));
    uint32_t *orders = fr__arena_alloc(a, s->n, sizeof(*orders));
    struct rings rings = {.order = order, .ring_Bps = share_frac, .max = max_rings};

    s->devices = fr__arena_alloc(a, s->n, sizeof(*s->devices));
    s->machines = fr__arena_alloc(a, s->n, sizeof(*s->machines));
    s->left_Bps = fr__arena_alloc(a, s->topo->n_links, sizeof(*s->left_Bps));
    s->uses = fr__arena_alloc(a, s->topo->n_links, sizeof(*s->uses));
    s->is_member = fr__arena_alloc(a, s->topo->n_devices, sizeof(*s->is_member));
    if (!rank || !orders || !s->devices || !s->machines || !s->left_Bps || !s->uses ||
        !s->is_member)
        return fr__fail_nomem(s->err);
    FR_TRY(check_devices(s->topo, devices, s->n, s->err));
    for (size_t i = 0; i < s->n; i++)
        s->is_member[devices[i]] = true;
    group(s, devices, rank);
    for (size_t m = 0; m < s->n_machines; m++)
        s->machines[m].order = orders + s->machines[m].first;
    FR_TRY(find_best_rings(s, a, &rings));
    *n_rings = rings.n;
    for (size_t i = 0; i < rings.n; i++)
        share_frac[i] = rings.ring_Bps[i] / rings.total_Bps;
    return FR_OK;
}

enum fr_status fr_topo_rings(struct fr_router *r, const uint32_t devices[], size_t n,
                             size_t max_rings, uint32_t order[], double share_frac[],
                             size_t *n_rings, struct fr_error *err)
{
    bool is_relayed;

    return fr__router_rings(r, devices, n, max_rings, order, share_frac, n_rings, &is_relayed, err);
}

enum fr_status fr__router_rings(struct fr_router *r, const uint32_t devices[], size_t n,
                                size_t max_rings, uint32_t order[], double share_frac[],
                                size_t *n_rings, bool *is_relayed, struct fr_error *err)
{
    struct search s = {.router = r, .topo = fr__router_topo(r), .n = n, .err = err};
    struct fr__arena *a;
    enum fr_status status;

    *n_rings = 0;
    *is_relayed = false;
    if (n < 2)
        return FR_OK;
    if (max_rings == 0)
        return fr__fail(err, FR_ERANGE, FR_NOWHERE, "0 rings asked for, at least 1 expected");
    a = fr__arena_new();
    if (!a)
        return fr__fail_nomem(err);
    s.arena = a;
    status = search_all(&s, a, devices, max_rings, order, share_frac, n_rings);
    if (status != FR_OK)
        *n_rings = 0;
    *is_relayed = status == FR_OK && s.is_relayed;
    fr__arena_free(a);
    return status;
}
