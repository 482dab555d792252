/* topo/routes/route.c - the route of each pair of devices: searched once and kept.
 *
 * A ring needs one or two routes to each destination, an all-to-all needs all of them. So routes to
 * a destination are searched one by one until that has cost as much as a search for all of them,
 * which is made then. This never costs more than twice the cheaper way (A. Karlin et al.,
 * Competitive snoopy caching, Algorithmica 3, 1988: rent until the rent has reached the price).
 */
#include "config.h"

#include "base/hash.h"
#include "topo/routes/alike.h"
#include "topo/internal.h"
#include "topo/routes/search.h"
#include "topo/routes/router.h"
#include "topo/routes/thin.h"

#include <stdlib.h>
#include <string.h>

/* The oldest trees are dropped when all would take more; routes that were given out stay. */
static const size_t MAX_TREE_BYTES = (size_t)256 << 20;

struct route {
    uint32_t src, dst;
    const uint32_t *links;
    size_t n_links;
};

/* Routes by a search of the whole topology. */
struct whole {
    struct fr__route_search *search; /* NULL: it has not been needed so far */
    uint64_t *n_seen;                /* [n_devices] links looked at for single routes towards it */
    uint32_t **trees;    /* [n_devices] next link of each vertex towards it, NULL: not searched */
    uint32_t *tree_ring; /* [n_tree_slots] destinations that have a tree, oldest at tree_head */
    size_t n_tree_slots, tree_head, n_trees;
};

/* Routes by a search of few of the machines that are alike. */
struct sample {
    struct fr__thin thin;
    struct fr__route_search *search; /* NULL: there would be too many machines, the whole is
                                        searched */
    uint32_t *next;                  /* [vertices of thin] */
};

struct fr_router {
    const struct fr_topo *topo;
    struct fr__alike *alike; /* NULL: no machines are, or their routes differ */
    bool is_odd;             /* a route was met that leads through a third machine */
    struct sample sample;
    struct whole whole;
    struct fr__arena *arena; /* the routes */
    struct route *routes;
    size_t n_routes, cap_routes;
    struct fr__hash_table by_ends; /* of routes */
};

/* ---- life ---- */

static bool sample_init(struct fr_router *r, struct fr_error *err)
{
    const struct fr_topo *t = r->topo;
    struct sample *s = &r->sample;
    bool *is_kept = calloc(t->n_machines + 1, sizeof(*is_kept));
    bool is_made = is_kept;

    if (is_kept && 2 * fr__alike_first_ones(r->alike, is_kept) <= t->n_machines) {
        is_made = fr__thin_init(&s->thin, t, is_kept, err) == FR_OK;
        s->next = is_made ? calloc(s->thin.topo.n_vertices, sizeof(*s->next)) : NULL;
        s->search = s->next ? fr__route_search_new(&s->thin.topo) : NULL;
        is_made = s->search != NULL;
    }
    free(is_kept);
    return is_made;
}

/* false: out of memory. */
static bool whole_init(struct whole *w, const struct fr_topo *t)
{
    if (w->search)
        return true;
    if (!w->n_seen) {
        w->n_tree_slots = MAX_TREE_BYTES / (t->n_vertices * sizeof(uint32_t)) + 1;
        if (w->n_tree_slots > t->n_devices)
            w->n_tree_slots = t->n_devices;
        w->n_seen = calloc(t->n_devices, sizeof(*w->n_seen));
    }
    if (!w->trees)
        w->trees = calloc(t->n_devices, sizeof(*w->trees));
    if (!w->tree_ring)
        w->tree_ring = calloc(w->n_tree_slots, sizeof(*w->tree_ring));
    if (w->n_seen && w->trees && w->tree_ring)
        w->search = fr__route_search_new(t);
    return w->search != NULL;
}

enum fr_status fr_router_new(struct fr_router **out, const struct fr_topo *t, struct fr_error *err)
{
    struct fr_router *r = calloc(1, sizeof(*r));

    if (!r)
        return fr__fail_nomem(err);
    r->topo = t;
    r->arena = fr__arena_new();
    if (!r->arena || fr__alike_new(&r->alike, t, err) != FR_OK ||
        (r->alike && !sample_init(r, err))) {
        fr_router_free(r);
        return fr__fail_nomem(err);
    }
    *out = r;
    return FR_OK;
}

static void stop_standing_in(struct fr_router *r)
{
    fr__alike_free(r->alike);
    r->alike = NULL;
    fr__route_search_free(r->sample.search);
    fr__thin_fini(&r->sample.thin);
    free(r->sample.next);
    r->sample = (struct sample){.search = NULL};
}

void fr_router_free(struct fr_router *r)
{
    if (!r)
        return;
    stop_standing_in(r);
    for (size_t d = 0; r->whole.trees && d < r->topo->n_devices; d++)
        free(r->whole.trees[d]);
    fr__route_search_free(r->whole.search);
    free(r->whole.n_seen);
    free(r->whole.trees);
    free(r->whole.tree_ring);
    fr__arena_free(r->arena);
    free(r->routes);
    fr__hash_fini(&r->by_ends);
    free(r);
}

const struct fr_topo *fr__router_topo(const struct fr_router *r)
{
    return r->topo;
}

/* ---- one destination's tree ---- */

static struct fr__target target_of(const struct fr_topo *t, uint32_t device)
{
    return (struct fr__target){t->devices[device].vertex, device};
}

/* Keeps the tree of dst, dropping the oldest where all slots are taken. */
static void keep_tree(struct whole *w, uint32_t dst, uint32_t *tree)
{
    size_t slot = (w->tree_head + w->n_trees) % w->n_tree_slots;

    if (w->n_trees == w->n_tree_slots) {
        uint32_t oldest = w->tree_ring[w->tree_head];

        free(w->trees[oldest]);
        w->trees[oldest] = NULL;
        slot = w->tree_head;
        w->tree_head = (w->tree_head + 1) % w->n_tree_slots;
        w->n_trees--;
    }
    w->tree_ring[slot] = dst;
    w->n_trees++;
    w->trees[dst] = tree;
}

/* trees[dst] exists afterwards; false: out of memory. */
static bool grow_tree(struct whole *w, const struct fr_topo *t, uint32_t dst)
{
    uint32_t *tree;

    if (w->trees[dst])
        return true;
    tree = malloc(t->n_vertices * sizeof(*tree));
    if (!tree)
        return false;
    fr__route_search_all(w->search, target_of(t, dst), tree);
    keep_tree(w, dst, tree);
    return true;
}

/* As fr__router_walk, by the links themselves. */
static enum fr_status walk(struct fr_router *r, uint32_t src, uint32_t dst,
                           uint32_t hops[FR__MAX_HOPS], size_t *n_hops, struct fr_error *err)
{
    const struct fr_device *devices = r->topo->devices;
    struct whole *w = &r->whole;
    size_t n = 0;

    *n_hops = 0;
    if (src == dst)
        return FR_OK;
    if (!whole_init(w, r->topo))
        return fr__fail_nomem(err);
    if (!r->topo->has_relays && !w->trees[dst] && w->n_seen[dst] < r->topo->n_links)
        n = fr__route_search_pair(w->search, devices[src].vertex, target_of(r->topo, dst),
                                  FR__MAX_HOPS, hops, &w->n_seen[dst]);
    else if (grow_tree(w, r->topo, dst))
        n = fr__route_search_follow(w->search, devices[src].vertex, target_of(r->topo, dst),
                                    w->trees[dst], FR__MAX_HOPS, hops);
    else
        return fr__fail_nomem(err);
    if (n == 0)
        return fr__fail(err, FR_ENOENT, FR_NOWHERE, "no route from '%s' to '%s'", devices[src].name,
                        devices[dst].name);
    if (n > FR__MAX_HOPS)
        return fr__fail(err, FR_ERANGE, FR_NOWHERE,
                        "the route from '%s' to '%s' has more than %d links", devices[src].name,
                        devices[dst].name, FR__MAX_HOPS);
    *n_hops = n;
    return FR_OK;
}

/* ---- by machines that are alike ---- */

/* The route between `ends`, devices of the sample, as if the second one had that number. Returns
 * how many links it has; 0: none, or too many. */
static size_t walk_sample(struct sample *s, const struct fr_topo *t, struct fr__stand_in ends,
                          uint32_t number, uint32_t hops[FR__MAX_HOPS])
{
    uint32_t src = fr__thin_vertex(&s->thin, t->devices[ends.src].vertex);
    struct fr__target dst = {fr__thin_vertex(&s->thin, t->devices[ends.dst].vertex), number};
    uint64_t n_seen = 0;
    size_t n;

    if (t->has_relays) {
        fr__route_search_all(s->search, dst, s->next);
        n = fr__route_search_follow(s->search, src, dst, s->next, FR__MAX_HOPS, hops);
    } else {
        n = fr__route_search_pair(s->search, src, dst, FR__MAX_HOPS, hops, &n_seen);
    }
    if (n > FR__MAX_HOPS)
        return 0;
    for (size_t i = 0; i < n; i++)
        hops[i] = s->thin.link_of[hops[i]];
    return n;
}

/* Searches the route of a stand-in and keeps it. *is_kept false: it stands for nothing. */
static enum fr_status learn(struct fr_router *r, struct fr__stand_in in, bool *is_kept,
                            struct fr_error *err)
{
    struct sample *s = &r->sample;
    struct fr__stand_in ends = s->search ? fr__alike_among_first(r->alike, in) : in;
    uint32_t hops[FR__MAX_HOPS], modulus;
    size_t n;

    *is_kept = false;
    if (s->search)
        n = walk_sample(s, r->topo, ends, in.dst, hops);
    else if (walk(r, in.src, in.dst, hops, &n, err) != FR_OK)
        n = 0;
    if (n == 0)
        return FR_OK; /* the caller's own walk says it with the right names */
    modulus = fr__route_search_modulus(s->search ? s->search : r->whole.search);
    if (modulus == 0) {
        stop_standing_in(r);
        return FR_OK;
    }
    *is_kept = true;
    if (modulus != fr__alike_modulus(r->alike)) /* now others may stand in */
        return fr__alike_set_modulus(r->alike, modulus, err);
    FR_TRY(fr__alike_keep(r->alike, in, ends, hops, n, is_kept, err));
    r->is_odd |= !*is_kept;
    return FR_OK;
}

enum fr_status fr__router_walk(struct fr_router *r, uint32_t src, uint32_t dst,
                               uint32_t hops[FR__MAX_HOPS], size_t *n_hops, struct fr_error *err)
{
    bool is_kept = true;

    while (r->alike && is_kept && src != dst) {
        struct fr__stand_in in = fr__alike_stand_in(r->alike, src, dst);

        if (fr__alike_find(r->alike, in, src, dst, hops, n_hops))
            return FR_OK;
        if (fr__alike_is_full(r->alike))
            break;
        FR_TRY(learn(r, in, &is_kept, err));
    }
    return walk(r, src, dst, hops, n_hops, err);
}

bool fr__router_is_like(const struct fr_router *r, uint32_t one, uint32_t other)
{
    return r->alike && !r->is_odd && !fr__alike_is_full(r->alike) &&
           fr__alike_is_like(r->alike, one, other);
}

size_t fr__router_links_of(const struct fr_router *r, uint32_t machine, const uint32_t **links)
{
    return fr__alike_links(r->alike, machine, links);
}

uint32_t fr__router_place(const struct fr_router *r, uint32_t machine, uint32_t link)
{
    return fr__alike_place(r->alike, machine, link);
}

/* ---- NVLink through a GPU ---- */

/* Links among which are all that leave a vertex of a machine, ascending. */
static size_t links_near(const struct fr_router *r, uint32_t vertex, const uint32_t **links)
{
    size_t n = 0;

    if (r->alike)
        return fr__alike_links(r->alike, r->topo->vertices[vertex].machine, links);
    if (r->whole.search)
        *links = fr__route_search_links_from(r->whole.search, vertex, &n);
    return n;
}

/* Of the widest NVLink from a vertex to another; 0: there is none. */
static double nvlink_Bps(const struct fr_router *r, uint32_t from, uint32_t to)
{
    const uint32_t *near;
    size_t n = links_near(r, from, &near);
    double Bps = 0;

    for (size_t i = 0; i < n; i++) {
        const struct fr_link *l = &r->topo->links[near[i]];

        if (l->kind == FR_LINK_NVLINK && l->src == from && l->dst == to && l->bw_Bps > Bps)
            Bps = l->bw_Bps;
    }
    return Bps;
}

/* The widest of all members that have both NVLinks, of equal ones the first by its link. */
static uint32_t widest_relay(const struct fr_router *r, uint32_t src, uint32_t dst,
                             const bool is_member[])
{
    const struct fr_topo *t = r->topo;
    const uint32_t *near;
    size_t n = links_near(r, t->devices[src].vertex, &near);
    uint32_t best = FR_NONE;
    double most_Bps = 0;

    for (size_t i = 0; i < n; i++) {
        const struct fr_link *l = &t->links[near[i]];
        const struct fr_vertex *mid = &t->vertices[l->dst];
        double Bps;

        if (l->kind != FR_LINK_NVLINK || l->src != t->devices[src].vertex ||
            mid->kind != FR_VERTEX_GPU || !is_member[mid->device])
            continue;
        Bps = nvlink_Bps(r, l->dst, t->devices[dst].vertex);
        Bps = l->bw_Bps < Bps ? l->bw_Bps : Bps;
        if (Bps > most_Bps) {
            most_Bps = Bps;
            best = mid->device;
        }
    }
    return best;
}

uint32_t fr__router_relay(const struct fr_router *r, uint32_t src, uint32_t dst,
                          const uint32_t links[], size_t n_links, const bool is_member[])
{
    const struct fr_device *devices = r->topo->devices;
    size_t i = 0;

    while (i < n_links && r->topo->links[links[i]].kind == FR_LINK_NVLINK)
        i++;
    if (i == n_links || devices[src].machine != devices[dst].machine)
        return FR_NONE;
    return widest_relay(r, src, dst, is_member);
}

/* ---- routes that are kept ---- */

static uint64_t hash_ends(uint32_t src, uint32_t dst)
{
    return fr__hash_id((uint64_t)src << 32 | dst);
}

/* NULL: not kept yet. */
static const struct route *find_route(const struct fr_router *r, uint32_t src, uint32_t dst)
{
    uint64_t hash = hash_ends(src, dst);
    size_t at;
    uint32_t i = fr__hash_first(&r->by_ends, hash, &at);

    while (i != FR_NONE && !(r->routes[i].src == src && r->routes[i].dst == dst))
        i = fr__hash_next(&r->by_ends, hash, &at);
    return i == FR_NONE ? NULL : &r->routes[i];
}

/* Walks from src to dst and keeps the route. */
static enum fr_status make_route(struct fr_router *r, uint32_t src, uint32_t dst,
                                 struct fr_error *err)
{
    uint32_t hops[FR__MAX_HOPS];
    uint32_t *links;
    size_t n;

    FR_TRY(fr__router_walk(r, src, dst, hops, &n, err));
    links = fr__arena_alloc(r->arena, n, sizeof(*links));
    if (!links || !fr__grow(&r->routes, &r->cap_routes, r->n_routes + 1, sizeof(*r->routes)) ||
        !fr__hash_add(&r->by_ends, hash_ends(src, dst), (uint32_t)r->n_routes))
        return fr__fail_nomem(err);
    memcpy(links, hops, n * sizeof(*links));
    r->routes[r->n_routes++] = (struct route){src, dst, links, n};
    return FR_OK;
}

enum fr_status fr_router_path(struct fr_router *r, uint32_t src, uint32_t dst,
                              const uint32_t **links, size_t *n_links, struct fr_error *err)
{
    const struct route *route;
    size_t n = r->topo->n_devices;

    if (src >= n || dst >= n)
        return fr__fail(err, FR_ERANGE, FR_NOWHERE, "device %u does not exist, '%s' has %zu",
                        (unsigned)(src >= n ? src : dst), r->topo->name, n);
    if (src == dst) {
        *links = NULL;
        *n_links = 0;
        return FR_OK;
    }
    route = find_route(r, src, dst);
    if (!route) {
        FR_TRY(make_route(r, src, dst, err));
        route = &r->routes[r->n_routes - 1];
    }
    *links = route->links;
    *n_links = route->n_links;
    return FR_OK;
}
