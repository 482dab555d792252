/* sim/network/rings.c - finds the rings of a group of devices and keeps them for later runs. */
#include "config.h"

#include "sim/network/rings.h"

#include "base/arena.h"
#include "base/error.h"
#include "sim/network/ring_period.h"
#include "topo/routes/router.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_RANKS = 1 << 22 };

struct fr__kept_rings {
    struct fr__ring_set set;
    size_t max_rings;
    uint32_t *devices; /* [n] */
    uint32_t *ranks, *routes, *period_routes;
    double *share_frac;
    struct fr__relayed *relayed;
    bool is_relayed;
    size_t cap_relayed;
};

/* ---- the table ---- */

static uint64_t hash_of(const uint32_t devices[], uint32_t n, size_t max_rings)
{
    return fr__hash_id(fr__hash_bytes(devices, n * sizeof(*devices)) ^ max_rings);
}

static const struct fr__kept_rings *find(const struct fr__rings *r, uint64_t hash,
                                         const uint32_t devices[], uint32_t n, size_t max_rings)
{
    size_t at;

    for (uint32_t id = fr__hash_first(&r->table, hash, &at); id != FR_NONE;
         id = fr__hash_next(&r->table, hash, &at)) {
        const struct fr__kept_rings *k = r->kept[id];

        if (k->set.n == n && k->max_rings == max_rings &&
            memcmp(k->devices, devices, n * sizeof(*devices)) == 0)
            return k;
    }
    return NULL;
}

/* ---- life ---- */

static void free_rings(struct fr__kept_rings *k)
{
    if (!k)
        return;
    free(k->devices);
    free(k->ranks);
    free(k->routes);
    free(k->period_routes);
    free(k->share_frac);
    free(k->relayed);
    free(k);
}

void fr__rings_fini(struct fr__rings *r)
{
    for (size_t i = 0; i < r->n; i++)
        free_rings(r->kept[i]);
    free(r->kept);
    fr__hash_fini(&r->table);
    *r = (struct fr__rings){.n_searches = r->n_searches};
}

void fr__rings_reset(struct fr__rings *r)
{
    if (r->n_ranks > MOST_RANKS)
        fr__rings_fini(r);
}

/* ---- making them ---- */

/* Turns devices[n] back into ranks. rank_of: [n_devices of the topology] zeros, scratch. */
static enum fr_status name_ranks(const struct fr__kept_rings *k, size_t n_rings, uint32_t rank_of[],
                                 struct fr_error *err)
{
    for (uint32_t rank = 0; rank < k->set.n; rank++)
        rank_of[k->devices[rank]] = rank + 1;
    for (size_t i = 0; i < n_rings * k->set.n; i++) {
        uint32_t device = k->ranks[i];

        if (rank_of[device] == 0)
            return fr__fail(err, FR_ECHECK, FR_NOWHERE,
                            "a ring visits device %u, which is not in its group", device);
        k->ranks[i] = rank_of[device] - 1;
    }
    return FR_OK;
}

/* The rings of the topology, their devices turned back into ranks. */
static enum fr_status search(struct fr__rings *r, struct fr__kept_rings *k,
                             const struct fr__routes *routes, struct fr_error *err)
{
    uint32_t n = k->set.n, *rank_of;
    size_t n_rings = 0;
    enum fr_status st;

    r->n_searches++;
    FR_TRY(fr__router_rings(routes->router, k->devices, n, k->max_rings, k->ranks, k->share_frac,
                            &n_rings, &k->is_relayed, err));
    rank_of = calloc(routes->topo->n_devices, sizeof(*rank_of));
    st = rank_of ? name_ranks(k, n_rings, rank_of, err) : fr__fail_nomem(err);
    free(rank_of);
    k->set.n_rings = (uint32_t)n_rings;
    return st;
}

static void in_rank_order(struct fr__kept_rings *k)
{
    for (uint32_t i = 0; i < k->set.n; i++)
        k->ranks[i] = i;
    k->share_frac[0] = 1;
    k->set.n_rings = 1;
}

/* Of one hop from rank a to rank b, through a GPU of the group where NCCL does so. */
static enum fr_status find_route(struct fr__kept_rings *k, struct fr__routes *routes,
                                 const bool is_member[], uint32_t a, uint32_t b, uint32_t *out,
                                 struct fr_error *err)
{
    uint32_t src = k->devices[a], dst = k->devices[b], via, one, other;
    const struct fr__route *direct;

    FR_TRY(fr__routes_find(routes, src, dst, out, err));
    if (!k->is_relayed)
        return FR_OK;
    direct = &routes->at[*out];
    via = fr__router_relay(routes->router, src, dst, fr__route_links(routes, direct),
                           direct->n_links, is_member);
    if (via == FR_NONE)
        return FR_OK;
    FR_TRY(fr__routes_find(routes, src, via, &one, err));
    FR_TRY(fr__routes_find(routes, via, dst, &other, err));
    FR_TRY(fr__routes_join(routes, one, other, out, err));
    if (!fr__grow(&k->relayed, &k->cap_relayed, k->set.n_relayed + 1, sizeof(*k->relayed)))
        return fr__fail_nomem(err);
    k->relayed[k->set.n_relayed++] = (struct fr__relayed){a, b, *out};
    return FR_OK;
}

static enum fr_status find_routes(struct fr__kept_rings *k, struct fr__routes *routes,
                                  struct fr_error *err)
{
    uint32_t n = k->set.n;
    bool *is_member = calloc(routes->topo->n_devices, sizeof(*is_member));
    enum fr_status st = is_member ? FR_OK : fr__fail_nomem(err);

    for (uint32_t i = 0; is_member && i < n; i++)
        is_member[k->devices[i]] = true;
    for (size_t i = 0; n > 1 && i < (size_t)k->set.n_rings * n && st == FR_OK; i++)
        st = find_route(k, routes, is_member, k->ranks[i], k->ranks[i / n * n + (i + 1) % n],
                        &k->routes[i], err);
    free(is_member);
    k->set.relayed = k->relayed;
    return st;
}

/* FR_LINK_NVLINK < FR_LINK_PCIE < FR_LINK_CPU < FR_LINK_NET: from the GPU outwards. */
static enum fr_link_kind outermost_kind(const struct fr__kept_rings *k,
                                        const struct fr__routes *routes)
{
    enum fr_link_kind kind = FR_LINK_NVLINK;

    for (uint32_t i = 0; k->set.n > 1 && i < k->set.n; i++) {
        const struct fr__route *route = &routes->at[k->routes[i]];
        const uint32_t *links = fr__route_links(routes, route);

        for (uint32_t l = 0; l < route->n_links; l++)
            if (routes->topo->links[links[l]].kind > kind)
                kind = routes->topo->links[links[l]].kind;
    }
    return kind;
}

static enum fr_status fill(struct fr__rings *r, struct fr__kept_rings *k, struct fr__routes *routes,
                           const uint32_t devices[], struct fr_error *err)
{
    uint32_t n = k->set.n;

    k->devices = calloc((size_t)n + 1, sizeof(*k->devices));
    k->ranks = calloc(k->max_rings * n + 1, sizeof(*k->ranks));
    k->routes = calloc(k->max_rings * n + 1, sizeof(*k->routes));
    k->share_frac = calloc(k->max_rings, sizeof(*k->share_frac));
    if (!k->devices || !k->ranks || !k->routes || !k->share_frac)
        return fr__fail_nomem(err);
    memcpy(k->devices, devices, n * sizeof(*devices));
    if (k->max_rings == 1 || n < 2)
        in_rank_order(k);
    else
        FR_TRY(search(r, k, routes, err));
    FR_TRY(find_routes(k, routes, err));
    k->set.ranks = k->ranks;
    k->set.routes = k->routes;
    k->set.share_frac = k->share_frac;
    k->set.kind = outermost_kind(k, routes);
    FR_TRY(fr__ring_period(routes, &k->set, &k->set.period, &k->period_routes, err));
    k->set.period_routes = k->period_routes;
    return FR_OK;
}

enum fr_status fr__rings_find(struct fr__rings *r, struct fr__routes *routes,
                              const uint32_t devices[], uint32_t n, size_t max_rings,
                              const struct fr__ring_set **out, struct fr_error *err)
{
    uint64_t hash = hash_of(devices, n, max_rings);
    const struct fr__kept_rings *found = find(r, hash, devices, n, max_rings);
    struct fr__kept_rings *k;
    enum fr_status st;

    if (found) {
        *out = &found->set;
        return FR_OK;
    }
    k = calloc(1, sizeof(*k));
    if (!k)
        return fr__fail_nomem(err);
    k->max_rings = max_rings;
    k->set.n = n;
    st = fill(r, k, routes, devices, err);
    if (st == FR_OK && (!fr__grow(&r->kept, &r->cap, r->n + 1, sizeof(struct fr__kept_rings *)) ||
                        !fr__hash_add(&r->table, hash, (uint32_t)r->n)))
        st = fr__fail_nomem(err);
    if (st != FR_OK) {
        free_rings(k);
        return st;
    }
    r->kept[r->n++] = k;
    r->n_ranks += max_rings * n;
    *out = &k->set;
    return FR_OK;
}
