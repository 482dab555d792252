/* sim/network/routes.c - the table of routes: walked with the router, then looked up by pair. */
#include "config.h"

#include "sim/network/routes.h"

#include "base/arena.h"
#include "base/error.h"
#include "topo/routes/router.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_KEPT = 4096 };

/* Up to so many devices each pair has its place in a table of a quarter of a megabyte at most: what
 * is looked up for each message should stay in the second-level cache. */
enum { FEW_DEVICES = 256 };

/* ---- life ---- */

static bool make_pairs(struct fr__routes *r, size_t n_devices)
{
    size_t n = n_devices * n_devices;

    r->of_pair = malloc((n + 1) * sizeof(*r->of_pair));
    if (!r->of_pair)
        return false;
    memset(r->of_pair, 0xff, n * sizeof(*r->of_pair)); /* FR_NONE each */
    return true;
}

enum fr_status fr__routes_init(struct fr__routes *r, const struct fr_topo *t, struct fr_error *err)
{
    *r = (struct fr__routes){.topo = t, .first_free = FR_NONE};
    FR_TRY(fr_router_new(&r->router, t, err));
    if (t->n_devices <= FEW_DEVICES && !make_pairs(r, t->n_devices))
        return fr__fail_nomem(err);
    return FR_OK;
}

void fr__routes_fini(struct fr__routes *r)
{
    fr_router_free(r->router);
    free(r->at);
    free(r->long_links);
    free(r->of_pair);
    fr__hash_fini(&r->table);
    *r = (struct fr__routes){.topo = NULL};
}

/* ---- making a route ---- */

static bool new_route(struct fr__routes *r, uint32_t *out)
{
    if (r->first_free != FR_NONE) {
        *out = r->first_free;
        r->first_free = r->at[*out].links[0];
        return true;
    }
    if (!fr__grow(&r->at, &r->cap, r->n + 1, sizeof(*r->at)))
        return false;
    *out = (uint32_t)r->n++;
    return true;
}

static bool set_links(struct fr__routes *r, struct fr__route *route, const uint32_t hops[],
                      size_t n)
{
    route->n_links = (uint16_t)n;
    if (n <= FR__INLINE_HOPS) {
        memcpy(route->links, hops, n * sizeof(*hops));
        return true;
    }
    if (!fr__grow(&r->long_links, &r->cap_long_links, r->n_long_links + n, sizeof(*r->long_links)))
        return false;
    route->links[0] = (uint32_t)r->n_long_links;
    memcpy(r->long_links + r->n_long_links, hops, n * sizeof(*hops));
    r->n_long_links += n;
    return true;
}

/* Sums up the links of a route as fast as they are now. */
static inline void set_speed(const struct fr__routes *r, struct fr__route *route)
{
    const uint32_t *links = fr__route_links(r, route);
    double latency_s = 0, least_Bps = INFINITY;
    enum fr_link_kind narrowest = FR_LINK_NVLINK;

    for (uint32_t i = 0; i < route->n_links; i++) {
        double bw_Bps = fr__link_bw_Bps(r, links[i]);

        latency_s += fr__link_latency_s(r, links[i]);
        if (bw_Bps < least_Bps) {
            least_Bps = bw_Bps;
            narrowest = r->topo->links[links[i]].kind;
        }
    }
    route->latency_s = latency_s;
    route->bw_Bps = least_Bps;
    route->narrowest = (uint8_t)narrowest;
}

static enum fr_status make_route(struct fr__routes *r, uint32_t src, uint32_t dst, uint32_t *out,
                                 struct fr_error *err)
{
    struct fr__route route = {.src = src, .dst = dst};
    uint32_t hops[FR__MAX_HOPS], fit = FR_NONE;
    size_t n = 0;

    r->n_searches++;
    FR_TRY(fr__router_walk(r->router, src, dst, hops, &n, err));
    if (!set_links(r, &route, hops, n) || !new_route(r, out))
        return fr__fail_nomem(err);
    if (r->topo->n_messages > 0)
        fit = fr_topo_message_of(r->topo, src, dst, hops, n);
    route.fit = fit < FR__NO_FIT ? (uint8_t)fit : FR__NO_FIT;
    set_speed(r, &route);
    r->at[*out] = route;
    return FR_OK;
}

/* ---- looking up ---- */

static uint64_t hash_of(uint32_t src, uint32_t dst)
{
    return fr__hash_id((uint64_t)src << 32 | dst);
}

static uint32_t kept_route(const struct fr__routes *r, uint32_t src, uint32_t dst)
{
    uint64_t hash = hash_of(src, dst);
    uint32_t id;
    size_t at;

    if (r->of_pair)
        return fr__routes_kept(r, src, dst);
    id = fr__hash_first(&r->table, hash, &at);
    while (id != FR_NONE && (r->at[id].src != src || r->at[id].dst != dst))
        id = fr__hash_next(&r->table, hash, &at);
    return id;
}

static enum fr_status keep_route(struct fr__routes *r, uint32_t src, uint32_t dst, uint32_t *out,
                                 struct fr_error *err)
{
    FR_TRY(make_route(r, src, dst, out, err));
    r->n_kept++;
    if (r->of_pair)
        r->of_pair[src * r->topo->n_devices + dst] = *out;
    else if (!fr__hash_add(&r->table, hash_of(src, dst), *out))
        return fr__fail_nomem(err);
    return FR_OK;
}

enum fr_status fr__routes_find(struct fr__routes *r, uint32_t src, uint32_t dst, uint32_t *out,
                               struct fr_error *err)
{
    *out = kept_route(r, src, dst);
    return *out != FR_NONE ? FR_OK : keep_route(r, src, dst, out, err);
}

enum fr_status fr__routes_take(struct fr__routes *r, uint32_t src, uint32_t dst, uint32_t *out,
                               struct fr_error *err)
{
    *out = kept_route(r, src, dst);
    if (*out != FR_NONE)
        return FR_OK;
    if (r->n_kept < MOST_KEPT)
        return keep_route(r, src, dst, out, err);
    FR_TRY(make_route(r, src, dst, out, err));
    /* a long route's links are never taken back, so nobody frees it */
    r->at[*out].is_passing = r->at[*out].n_links <= FR__INLINE_HOPS;
    r->n_passing += r->at[*out].is_passing;
    return FR_OK;
}

enum fr_status fr__routes_part(struct fr__routes *r, uint32_t route, uint32_t first, uint32_t n,
                               uint32_t *out, struct fr_error *err)
{
    const struct fr__route *whole = &r->at[route];
    struct fr__route part = {.src = whole->src, .dst = whole->dst, .fit = FR__NO_FIT};
    uint32_t hops[FR__MAX_HOPS];

    memcpy(hops, fr__route_links(r, whole) + first, n * sizeof(*hops));
    if (!set_links(r, &part, hops, n) || !new_route(r, out))
        return fr__fail_nomem(err);
    set_speed(r, &part);
    part.is_passing = n <= FR__INLINE_HOPS;
    r->n_passing += part.is_passing;
    r->at[*out] = part;
    return FR_OK;
}

enum fr_status fr__routes_like(struct fr__routes *r, uint32_t route, const uint32_t links[],
                               uint32_t *out, struct fr_error *err)
{
    struct fr__route like = r->at[route];

    if (!set_links(r, &like, links, like.n_links) || !new_route(r, out))
        return fr__fail_nomem(err);
    set_speed(r, &like);
    r->at[*out] = like;
    return FR_OK;
}

enum fr_status fr__routes_join(struct fr__routes *r, uint32_t one, uint32_t other, uint32_t *out,
                               struct fr_error *err)
{
    const struct fr__route *a = &r->at[one], *b = &r->at[other];
    struct fr__route joined = {.src = a->src, .dst = b->dst, .fit = FR__NO_FIT};
    uint32_t hops[2 * FR__MAX_HOPS];

    memcpy(hops, fr__route_links(r, a), a->n_links * sizeof(*hops));
    memcpy(hops + a->n_links, fr__route_links(r, b), b->n_links * sizeof(*hops));
    if (!set_links(r, &joined, hops, a->n_links + b->n_links) || !new_route(r, out))
        return fr__fail_nomem(err);
    set_speed(r, &joined);
    r->at[*out] = joined;
    return FR_OK;
}

/* ---- another run ---- */

static void free_passing(struct fr__routes *r)
{
    r->first_free = FR_NONE;
    r->n_passing = 0;
    for (size_t i = r->n; i-- > 0;)
        if (r->at[i].is_passing) {
            r->at[i].links[0] = r->first_free;
            r->first_free = (uint32_t)i;
        }
}

void fr__routes_reset(struct fr__routes *r, const double *slowness)
{
    bool is_changed = slowness || r->slowness;

    r->slowness = slowness;
    if (r->n_passing > 0) /* a run that failed or stopped */
        free_passing(r);
    for (size_t i = 0; is_changed && i < r->n; i++)
        if (!r->at[i].is_passing)
            set_speed(r, &r->at[i]);
}
