/* sim/network/routes.h - the routes between the devices of a topology, searched once and kept.
 *
 * A route knows the links that it crosses, the sum of their latencies and its narrowest link, as
 * fast as the slowness of the run makes them. The engine, sim/order.c and planners all look routes
 * up here; what a message takes on one of them says sim/network/alone.h.
 */
#ifndef FR_SIM_NETWORK_ROUTES_H
#define FR_SIM_NETWORK_ROUTES_H

#include "base/hash.h"
#include "sim/sim.h"

enum { FR__INLINE_HOPS = 8 };
enum { FR__NO_FIT = UINT8_MAX }; /* a topology has fewer kinds of fitted messages */

/* 64 bytes. */
struct fr__route {
    double latency_s; /* of all links together */
    double bw_Bps;    /* of the narrowest link; INFINITY: no links */
    uint32_t src, dst;
    uint16_t n_links;
    uint8_t fit;                     /* index into the topology's messages, or FR__NO_FIT */
    uint8_t narrowest;               /* enum fr_link_kind of the (first) narrowest link */
    bool is_passing;                 /* belongs to one message: fr__routes_release frees it */
    uint32_t links[FR__INLINE_HOPS]; /* longer routes: links[0] is where they begin in long_links;
                                        freed routes: links[0] is the next free one */
};

struct fr__routes {
    const struct fr_topo *topo;
    const double *slowness; /* [fr_n_resources] or NULL: 1 each */
    struct fr_router *router;
    struct fr__route *at; /* [n] by route number */
    uint32_t *long_links;
    size_t n, cap, n_long_links, cap_long_links, n_kept, n_passing;
    uint32_t first_free;
    uint32_t *of_pair;           /* [n_devices][n_devices]; NULL: there are too many */
    struct fr__hash_table table; /* then: of the kept routes, on (src, dst) */
    uint64_t n_searches;         /* routes walked so far */
};

/* Makes an empty set of routes over a topology, which must outlive it. The caller calls
 * fr__routes_fini, also after a failure. FR_ENOMEM. */
enum fr_status fr__routes_init(struct fr__routes *r, const struct fr_topo *t, struct fr_error *err);
void fr__routes_fini(struct fr__routes *r);

/* Prepares for another run: gives back all passing routes and sets all links' speed. slowness:
 * [fr_n_resources], borrowed, or NULL. Cost: O(1), or O(routes) where the speeds may have
 * changed. */
void fr__routes_reset(struct fr__routes *r, const double *slowness);

/* The route from one device to another if the table of few devices holds it, else FR_NONE. */
static inline uint32_t fr__routes_kept(const struct fr__routes *r, uint32_t src, uint32_t dst)
{
    return r->of_pair ? r->of_pair[src * r->topo->n_devices + dst] : FR_NONE;
}

/* Finds the route from one device to another and keeps it. *out: its number, valid until fini.
 * FR_ENOENT: there is none; FR_ERANGE: it has too many links; FR_ENOMEM. */
enum fr_status fr__routes_find(struct fr__routes *r, uint32_t src, uint32_t dst, uint32_t *out,
                               struct fr_error *err);
/* The same for one message; give the route back with fr__routes_release. Of a great many pairs only
 * the first few thousand are kept, since a look-up in a large table costs as much as a walk. */
enum fr_status fr__routes_take(struct fr__routes *r, uint32_t src, uint32_t dst, uint32_t *out,
                               struct fr_error *err);

/* Part of a route for one message: n links of it from `first` on, as a route from the same device
 * to the same device. Give it back with fr__routes_release. FR_ENOMEM. */
enum fr_status fr__routes_part(struct fr__routes *r, uint32_t route, uint32_t first, uint32_t n,
                               uint32_t *out, struct fr_error *err);

/* A route like another one, but over other links: as many, each as fast as the one whose place it
 * takes. It is kept until fini. FR_ENOMEM. */
enum fr_status fr__routes_like(struct fr__routes *r, uint32_t route, const uint32_t links[],
                               uint32_t *out, struct fr_error *err);

/* Two kept routes one after the other, as one from the first device to the last. It is kept until
 * fini, but not found by its pair. FR_ENOMEM. */
enum fr_status fr__routes_join(struct fr__routes *r, uint32_t one, uint32_t other, uint32_t *out,
                               struct fr_error *err);

static inline void fr__routes_release(struct fr__routes *r, uint32_t route)
{
    if (!r->at[route].is_passing)
        return;
    r->at[route].links[0] = r->first_free;
    r->first_free = route;
    r->n_passing--;
}

static inline const uint32_t *fr__route_links(const struct fr__routes *r,
                                              const struct fr__route *route)
{
    return route->n_links <= FR__INLINE_HOPS ? route->links : r->long_links + route->links[0];
}

/* Adds bytes to what each link of a route carries. link_bytes: [n_links]. */
static inline void fr__route_count(const struct fr__routes *r, const struct fr__route *route,
                                   double bytes, double link_bytes[])
{
    const uint32_t *links = fr__route_links(r, route);

    for (uint32_t i = 0; i < route->n_links; i++)
        link_bytes[links[i]] += bytes;
}

/* ---- links, as fast as the slowness makes them ---- */

static inline double fr__link_bw_Bps(const struct fr__routes *r, uint32_t link)
{
    const struct fr_link *l = &r->topo->links[link];

    if (!r->slowness)
        return l->bw_Bps;
    return l->bw_Bps / r->slowness[fr_link_resource(l->kind, FR_LINK_BANDWIDTH)];
}

static inline double fr__link_latency_s(const struct fr__routes *r, uint32_t link)
{
    const struct fr_link *l = &r->topo->links[link];

    if (!r->slowness)
        return l->latency_s;
    return l->latency_s * r->slowness[fr_link_resource(l->kind, FR_LINK_LATENCY)];
}

#endif
