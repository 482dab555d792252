/* topo/route.c - the one route of each pair of devices, by the rule of topo.h.
 *
 * For a destination, a breadth-first search against the direction of the links gives each vertex
 * its distance in links; then, nearest first, each vertex chooses its next link. Comparing
 * (latency, width) hop by hop from the destination is exact: both only get worse along a path, and
 * by the same rule whatever came before. Latencies are compared in whole picoseconds, so that two
 * equal routes whose hops come in another order stay equal.
 */
#include "config.h"

#include "topo/internal.h"
#include "topo/router.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Trees are dropped, oldest first, when they would take more; routes once given stay. */
static const size_t MAX_TREE_BYTES = (size_t)256 << 20;

/* Compressed adjacency: the links at v are list[first[v]] to list[first[v + 1] - 1], ascending. */
struct adjacency {
    uint32_t *first, *list;
};

struct route {
    uint64_t key; /* src * n_devices + dst + 1; 0: free slot */
    const uint32_t *links;
    uint32_t n_links;
};

struct fr_router {
    const struct fr_topo *topo;
    struct fr__arena *arena; /* the routes */
    struct adjacency out, in;
    uint64_t *latency_ps; /* [n_links] */
    uint32_t **trees;     /* [n_devices] next link of each vertex towards it, NULL: not searched */
    uint32_t *tree_ring;  /* [n_tree_slots] destinations that have a tree, oldest at tree_head */
    size_t n_tree_slots, tree_head, n_trees;
    struct route *routes; /* open addressing */
    size_t n_routes, n_route_slots;
    /* scratch of one search, [n_vertices] */
    uint32_t *dist, *queue;
    uint64_t *sum_ps;
    double *width_Bps;
};

/* ---- life ---- */

static bool adjacency_init(struct adjacency *a, const struct fr_topo *t, bool is_out)
{
    a->first = calloc(t->n_vertices + 2, sizeof(*a->first));
    a->list = calloc(t->n_links + 1, sizeof(*a->list));
    if (!a->first || !a->list)
        return false;
    for (size_t l = 0; l < t->n_links; l++)
        a->first[(is_out ? t->links[l].src : t->links[l].dst) + 2]++;
    for (size_t v = 0; v < t->n_vertices; v++)
        a->first[v + 2] += a->first[v + 1];
    for (size_t l = 0; l < t->n_links; l++)
        a->list[a->first[(is_out ? t->links[l].src : t->links[l].dst) + 1]++] = (uint32_t)l;
    return true;
}

static bool router_init(struct fr_router *r, const struct fr_topo *t)
{
    size_t n = t->n_vertices;

    r->topo = t;
    r->n_tree_slots = MAX_TREE_BYTES / (n * sizeof(uint32_t)) + 1;
    if (r->n_tree_slots > t->n_devices)
        r->n_tree_slots = t->n_devices;
    r->arena = fr__arena_new();
    r->latency_ps = calloc(t->n_links + 1, sizeof(*r->latency_ps));
    r->trees = calloc(t->n_devices, sizeof(*r->trees));
    r->tree_ring = calloc(r->n_tree_slots, sizeof(*r->tree_ring));
    r->dist = calloc(n, sizeof(*r->dist));
    r->queue = calloc(n, sizeof(*r->queue));
    r->sum_ps = calloc(n, sizeof(*r->sum_ps));
    r->width_Bps = calloc(n, sizeof(*r->width_Bps));
    if (!r->arena || !r->latency_ps || !r->trees || !r->tree_ring || !r->dist || !r->queue ||
        !r->sum_ps || !r->width_Bps || !adjacency_init(&r->out, t, true) ||
        !adjacency_init(&r->in, t, false))
        return false;
    for (size_t l = 0; l < t->n_links; l++)
        r->latency_ps[l] = (uint64_t)(t->links[l].latency_s * 1e12 + 0.5);
    return true;
}

enum fr_status fr_router_new(struct fr_router **out, const struct fr_topo *t, struct fr_error *err)
{
    struct fr_router *r = calloc(1, sizeof(*r));

    if (!r)
        return fr__fail_nomem(err);
    if (!router_init(r, t)) {
        fr_router_free(r);
        return fr__fail_nomem(err);
    }
    *out = r;
    return FR_OK;
}

void fr_router_free(struct fr_router *r)
{
    if (!r)
        return;
    for (size_t d = 0; r->trees && d < r->topo->n_devices; d++)
        free(r->trees[d]);
    fr__arena_free(r->arena);
    free(r->out.first);
    free(r->out.list);
    free(r->in.first);
    free(r->in.list);
    free(r->latency_ps);
    free(r->trees);
    free(r->tree_ring);
    free(r->routes);
    free(r->dist);
    free(r->queue);
    free(r->sum_ps);
    free(r->width_Bps);
    free(r);
}

const struct fr_topo *fr__router_topo(const struct fr_router *r)
{
    return r->topo;
}

/* ---- one destination's tree ---- */

/* Fills dist and queue (vertices by distance); returns how many vertices reach the target. GPUs are
 * reached but not passed through. */
static size_t search(struct fr_router *r, uint32_t target)
{
    const struct fr_topo *t = r->topo;
    size_t head = 0, tail = 0;

    for (size_t v = 0; v < t->n_vertices; v++)
        r->dist[v] = FR_NONE;
    r->dist[target] = 0;
    r->queue[tail++] = target;
    while (head < tail) {
        uint32_t v = r->queue[head++];

        if (v != target && t->vertices[v].kind == FR_VERTEX_GPU)
            continue;
        for (uint32_t i = r->in.first[v]; i < r->in.first[v + 1]; i++) {
            uint32_t u = t->links[r->in.list[i]].src;

            if (r->dist[u] == FR_NONE) {
                r->dist[u] = r->dist[v] + 1;
                r->queue[tail++] = u;
            }
        }
    }
    return tail;
}

static double narrower(double a, double b)
{
    return a < b ? a : b;
}

/* Whether link l leads from u one step nearer to the target through a vertex that forwards. */
static bool is_step(const struct fr_router *r, uint32_t u, uint32_t l)
{
    uint32_t v = r->topo->links[l].dst;

    return r->dist[v] != FR_NONE && r->dist[v] + 1 == r->dist[u] &&
           (r->dist[v] == 0 || r->topo->vertices[v].kind != FR_VERTEX_GPU);
}

/* The next link of u by the rule of topo.h; sets u's own sum and width. */
static uint32_t choose(struct fr_router *r, uint32_t u, uint32_t dst_device)
{
    const struct fr_link *links = r->topo->links;
    const uint32_t *list = r->out.list;
    uint32_t end = r->out.first[u + 1], n_best = 0, pick;
    uint64_t best_ps = UINT64_MAX;
    double best_Bps = 0;

    for (uint32_t i = r->out.first[u]; i < end; i++) {
        uint32_t l = list[i], v = links[l].dst;
        uint64_t ps;
        double width_Bps;

        if (!is_step(r, u, l))
            continue;
        ps = r->sum_ps[v] + r->latency_ps[l];
        width_Bps = narrower(r->width_Bps[v], links[l].bw_Bps);
        if (ps < best_ps || (ps == best_ps && width_Bps > best_Bps)) {
            best_ps = ps;
            best_Bps = width_Bps;
            n_best = 1;
        } else if (ps == best_ps && !(width_Bps < best_Bps)) {
            n_best++;
        }
    }
    assert(n_best > 0);
    r->sum_ps[u] = best_ps;
    r->width_Bps[u] = best_Bps;
    pick = dst_device % n_best;
    for (uint32_t i = r->out.first[u]; i < end; i++) {
        uint32_t l = list[i], v = links[l].dst;

        if (is_step(r, u, l) && r->sum_ps[v] + r->latency_ps[l] == best_ps &&
            !(narrower(r->width_Bps[v], links[l].bw_Bps) < best_Bps) && pick-- == 0)
            return l;
    }
    return FR_NONE;
}

/* Keeps the tree of dst, dropping the oldest where all slots are taken. */
static void keep_tree(struct fr_router *r, uint32_t dst, uint32_t *tree)
{
    size_t slot = (r->tree_head + r->n_trees) % r->n_tree_slots;

    if (r->n_trees == r->n_tree_slots) {
        uint32_t oldest = r->tree_ring[r->tree_head];

        free(r->trees[oldest]);
        r->trees[oldest] = NULL;
        slot = r->tree_head;
        r->tree_head = (r->tree_head + 1) % r->n_tree_slots;
        r->n_trees--;
    }
    r->tree_ring[slot] = dst;
    r->n_trees++;
    r->trees[dst] = tree;
}

/* trees[dst] exists afterwards; false: out of memory. */
static bool grow_tree(struct fr_router *r, uint32_t dst)
{
    const struct fr_topo *t = r->topo;
    uint32_t target = t->devices[dst].vertex;
    uint32_t *tree;
    size_t n;

    if (r->trees[dst])
        return true;
    tree = malloc(t->n_vertices * sizeof(*tree));
    if (!tree)
        return false;
    for (size_t v = 0; v < t->n_vertices; v++)
        tree[v] = FR_NONE;
    n = search(r, target);
    r->sum_ps[target] = 0;
    r->width_Bps[target] = INFINITY;
    for (size_t i = 1; i < n; i++)
        tree[r->queue[i]] = choose(r, r->queue[i], dst);
    keep_tree(r, dst, tree);
    return true;
}

/* ---- the table of routes ---- */

static size_t slot_of(const struct fr_router *r, uint64_t key)
{
    uint64_t z = key * UINT64_C(0x9e3779b97f4a7c15); /* Fibonacci hashing, Knuth TAOCP 3, 6.4 */
    size_t i = (size_t)(z >> 32) & (r->n_route_slots - 1);

    while (r->routes[i].key && r->routes[i].key != key)
        i = (i + 1) & (r->n_route_slots - 1);
    return i;
}

static bool reserve_route(struct fr_router *r)
{
    struct route *old = r->routes;
    size_t n_old = r->n_route_slots;
    size_t n = n_old ? n_old * 2 : 256;

    if (n_old && r->n_routes * 2 < n_old)
        return true;
    r->routes = calloc(n, sizeof(*r->routes));
    if (!r->routes) {
        r->routes = old;
        return false;
    }
    r->n_route_slots = n;
    for (size_t i = 0; i < n_old; i++)
        if (old[i].key)
            r->routes[slot_of(r, old[i].key)] = old[i];
    free(old);
    return true;
}

enum fr_status fr__router_walk(struct fr_router *r, uint32_t src, uint32_t dst,
                               uint32_t hops[FR__MAX_HOPS], size_t *n_hops, struct fr_error *err)
{
    const struct fr_topo *t = r->topo;
    const uint32_t *tree;
    size_t n = 0;

    if (!grow_tree(r, dst))
        return fr__fail_nomem(err);
    tree = r->trees[dst];
    for (uint32_t v = t->devices[src].vertex; v != t->devices[dst].vertex;
         v = t->links[hops[n++]].dst) {
        if (tree[v] == FR_NONE)
            return fr__fail(err, FR_ENOENT, FR_NOWHERE, "no route from '%s' to '%s'",
                            t->devices[src].name, t->devices[dst].name);
        if (n == FR__MAX_HOPS)
            return fr__fail(err, FR_ERANGE, FR_NOWHERE,
                            "the route from '%s' to '%s' has more than %d links",
                            t->devices[src].name, t->devices[dst].name, FR__MAX_HOPS);
        hops[n] = tree[v];
    }
    *n_hops = n;
    return FR_OK;
}

/* The route of a new pair into slot i. */
static enum fr_status walk(struct fr_router *r, uint32_t src, uint32_t dst, size_t i,
                           struct fr_error *err)
{
    uint32_t hops[FR__MAX_HOPS];
    uint32_t *links;
    size_t n;

    FR_TRY(fr__router_walk(r, src, dst, hops, &n, err));
    links = fr__arena_alloc(r->arena, n, sizeof(*links));
    if (!links)
        return fr__fail_nomem(err);
    memcpy(links, hops, n * sizeof(*links));
    r->routes[i] = (struct route){(uint64_t)src * r->topo->n_devices + dst + 1, links, (uint32_t)n};
    r->n_routes++;
    return FR_OK;
}

enum fr_status fr_router_path(struct fr_router *r, uint32_t src, uint32_t dst,
                              const uint32_t **links, size_t *n_links, struct fr_error *err)
{
    size_t i, n = r->topo->n_devices;

    if (src >= n || dst >= n)
        return fr__fail(err, FR_ERANGE, FR_NOWHERE, "device %u does not exist, '%s' has %zu",
                        (unsigned)(src >= n ? src : dst), r->topo->name, n);
    if (src == dst) {
        *links = r->out.list;
        *n_links = 0;
        return FR_OK;
    }
    if (!reserve_route(r))
        return fr__fail_nomem(err);
    i = slot_of(r, (uint64_t)src * n + dst + 1);
    if (!r->routes[i].key)
        FR_TRY(walk(r, src, dst, i, err));
    *links = r->routes[i].links;
    *n_links = r->routes[i].n_links;
    return FR_OK;
}
