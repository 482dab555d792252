/* lowering/dag/links.c - what messages between the devices of a problem take alone. */
#include "config.h"

#include "lowering/dag/dag.h"

#include "base/error.h"
#include "sim/network/alone.h"
#include "lowering/dag/shared_links.h"
#include "lowering/log.h"

#include <math.h>
#include <stdlib.h>

static enum fr_status measure(struct fr__dag_links *l, const struct fr__placer *pl,
                              struct fr__routes *routes, size_t i, size_t j, struct fr_error *err)
{
    const uint32_t *devices = pl->in->devices;
    size_t n = pl->in->n_devices;
    struct fr__alone_line line;
    uint32_t route;

    FR_TRY(fr__routes_take(routes, devices[i], devices[j], &route, err));
    line = fr__alone_line(&routes->at[route], fr_cost_messages(pl->in->costs));
    fr__routes_release(routes, route);
    l->latency_s[i * n + j] = line.latency_s;
    l->s_per_byte[i * n + j] = 1 / line.Bps;
    return FR_OK;
}

enum fr_status fr__dag_links_make(struct fr__dag_links *out, struct fr__placer *pl,
                                  struct fr_error *err)
{
    size_t n = pl->in->n_devices;
    struct fr__routes routes;
    enum fr_status st;

    out->latency_s = fr__arena_alloc(pl->arena, n * n, sizeof(*out->latency_s));
    out->s_per_byte = fr__arena_alloc(pl->arena, n * n, sizeof(*out->s_per_byte));
    if (!out->latency_s || !out->s_per_byte)
        return fr__fail_nomem(err);
    st = fr__routes_init(&routes, pl->in->topo, err);
    for (size_t i = 0; i < n && st == FR_OK; i++) {
        st = fr__check_cancelled(pl->ctx, err);
        for (size_t j = 0; j < n && st == FR_OK; j++)
            st = measure(out, pl, &routes, i, j, err);
    }
    fr__routes_fini(&routes);
    return st;
}

/* ---- relays ---- */

/* Seconds a byte takes on each pair's links [n][n] if all pairs send at the same time: a link that
 * k pairs use gives each a k-th. */
static enum fr_status find_shared(double shared[], const struct fr__placer *pl,
                                  struct fr__routes *routes, uint32_t n_users[],
                                  struct fr_error *err)
{
    size_t n = pl->in->n_devices;

    for (int pass = 0; pass < 2; pass++) /* count the users of links, then go by them */
        for (size_t k = 0; k < n * n; k++) {
            const struct fr__route *r;
            const uint32_t *links;
            uint32_t route;

            if (k / n == k % n) {
                FR_TRY(fr__check_cancelled(pl->ctx, err));
                continue;
            }
            FR_TRY(fr__routes_take(routes, pl->in->devices[k / n], pl->in->devices[k % n], &route,
                                   err));
            r = &routes->at[route];
            links = fr__route_links(routes, r);
            for (size_t l = 0; l < r->n_links && pass == 0; l++)
                n_users[links[l]]++;
            for (size_t l = 0; l < r->n_links && pass == 1; l++)
                shared[k] = fmax(shared[k], n_users[links[l]] / fr__link_bw_Bps(routes, links[l]));
            fr__routes_release(routes, route);
        }
    return FR_OK;
}

/* The device that messages from i to j go by: the one whose two ways are least used, if both
 * together take less than the straight way; FR_NONE: none. n_uses: [n][n] relays by each pair. */
static uint32_t relay_of(const double shared[], const uint32_t n_uses[], size_t n, size_t i,
                         size_t j)
{
    double best_s = INFINITY;
    uint32_t best = FR_NONE;

    for (size_t c = 0; c < n; c++) {
        size_t in = i * n + c, out = c * n + j;
        double busy_s;

        if (c == i || c == j || shared[in] + shared[out] >= shared[i * n + j])
            continue;
        busy_s = (1 + n_uses[in]) * shared[in] + (1 + n_uses[out]) * shared[out];
        if (busy_s < best_s) {
            best_s = busy_s;
            best = (uint32_t)c;
        }
    }
    return best;
}

enum fr_status fr__dag_links_relay(const uint32_t **via, struct fr__dag_links *l,
                                   struct fr__placer *pl, bool shares, struct fr_error *err)
{
    size_t n = pl->in->n_devices;
    double *shared = fr__arena_alloc(pl->arena, n * n, sizeof(*shared));
    uint32_t *n_users = fr__arena_alloc(pl->arena, pl->in->topo->n_links + 1, sizeof(*n_users));
    uint32_t *n_uses = fr__arena_alloc(pl->arena, n * n, sizeof(*n_uses));
    uint32_t *by = fr__arena_alloc(pl->arena, n * n, sizeof(*by));
    const struct fr__dag_links was = *l;
    struct fr__routes routes;
    enum fr_status st;

    l->latency_s = fr__arena_alloc(pl->arena, n * n, sizeof(*l->latency_s));
    l->s_per_byte = fr__arena_alloc(pl->arena, n * n, sizeof(*l->s_per_byte));
    if (!shared || !n_users || !n_uses || !by || !l->latency_s || !l->s_per_byte)
        return fr__fail_nomem(err);
    st = fr__routes_init(&routes, pl->in->topo, err);
    if (st == FR_OK)
        st = find_shared(shared, pl, &routes, n_users, err);
    fr__routes_fini(&routes);
    for (size_t k = 0; k < n * n && st == FR_OK; k++) {
        uint32_t c = by[k] = k / n == k % n ? FR_NONE : relay_of(shared, n_uses, n, k / n, k % n);
        size_t in = k / n * n + c, out = c * n + k % n;

        l->latency_s[k] = c == FR_NONE ? was.latency_s[k] : was.latency_s[in] + was.latency_s[out];
        l->s_per_byte[k] =
            c == FR_NONE ? was.s_per_byte[k] : was.s_per_byte[in] + was.s_per_byte[out];
        if (shares && k / n != k % n)
            l->s_per_byte[k] =
                fmax(l->s_per_byte[k], c == FR_NONE ? shared[k] : shared[in] + shared[out]);
        if (k % n == 0)
            st = fr__check_cancelled(pl->ctx, err);
        if (c == FR_NONE)
            continue;
        n_uses[in]++;
        n_uses[out]++;
    }
    *via = by;
    return st;
}

/* ---- shared links ---- */

struct mapping {
    struct fr__placer *pl;
    struct fr__routes routes;
    struct fr__link_map *map;
    double *link_s_per_byte, *latency_s, *extra_s_per_byte;
    uint32_t *first, *links;
    size_t cap_links; /* heap: links, until all are known */
    uint32_t *number; /* [n_links of the topology] of those in use, from 0; FR_NONE */
};

/* Adds the links of the next pair. */
static enum fr_status map_pair(struct mapping *g, size_t pair, struct fr_error *err)
{
    size_t n = g->pl->in->n_devices, n_before = g->first[pair];
    const uint32_t *devices = g->pl->in->devices, *links;
    struct fr__alone_line line;
    const struct fr__route *r;
    double narrowest_s = 0;
    uint32_t route;

    g->first[pair + 1] = g->first[pair];
    g->latency_s[pair] = g->extra_s_per_byte[pair] = 0;
    if (pair / n == pair % n)
        return FR_OK;
    FR_TRY(fr__routes_take(&g->routes, devices[pair / n], devices[pair % n], &route, err));
    r = &g->routes.at[route];
    links = fr__route_links(&g->routes, r);
    line = fr__alone_line(r, fr_cost_messages(g->pl->in->costs));
    if (!fr__grow(&g->links, &g->cap_links, n_before + r->n_links, sizeof(*g->links)))
        return fr__fail_nomem(err);
    for (size_t k = 0; k < r->n_links; k++) {
        uint32_t *number = &g->number[links[k]];
        double s_per_byte = 1 / fr__link_bw_Bps(&g->routes, links[k]);

        if (*number == FR_NONE) {
            *number = (uint32_t)g->map->n_links++;
            g->link_s_per_byte[*number] = s_per_byte;
        }
        narrowest_s = fmax(narrowest_s, s_per_byte);
        g->links[g->first[pair + 1]++] = *number;
    }
    g->latency_s[pair] = line.latency_s;
    g->extra_s_per_byte[pair] = fmax(1 / line.Bps - narrowest_s, 0);
    fr__routes_release(&g->routes, route);
    return FR_OK;
}

static enum fr_status map_all(struct mapping *g, struct fr_error *err)
{
    struct fr__arena *a = g->pl->arena;
    size_t n_pairs = g->pl->in->n_devices * g->pl->in->n_devices;
    size_t n_links = g->pl->in->topo->n_links;
    uint32_t *kept;

    g->first = fr__arena_alloc(a, n_pairs + 1, sizeof(*g->first));
    g->latency_s = fr__arena_alloc(a, n_pairs, sizeof(*g->latency_s));
    g->extra_s_per_byte = fr__arena_alloc(a, n_pairs, sizeof(*g->extra_s_per_byte));
    g->link_s_per_byte = fr__arena_alloc(a, n_links + 1, sizeof(*g->link_s_per_byte));
    g->number = fr__arena_alloc(a, n_links + 1, sizeof(*g->number));
    if (!g->first || !g->latency_s || !g->extra_s_per_byte || !g->link_s_per_byte || !g->number)
        return fr__fail_nomem(err);
    for (size_t l = 0; l < n_links; l++)
        g->number[l] = FR_NONE;
    for (size_t pair = 0; pair < n_pairs; pair++) {
        if (pair % g->pl->in->n_devices == 0)
            FR_TRY(fr__check_cancelled(g->pl->ctx, err));
        FR_TRY(map_pair(g, pair, err));
    }
    kept = fr__arena_take(a, g->first[n_pairs] + 1, sizeof(*kept));
    if (!kept)
        return fr__fail_nomem(err);
    for (size_t k = 0; k < g->first[n_pairs]; k++)
        kept[k] = g->links[k];
    g->map->links = kept;
    return FR_OK;
}

enum fr_status fr__dag_links_map(const struct fr__link_map **out, const uint32_t *via,
                                 struct fr__placer *pl, struct fr_error *err)
{
    struct mapping g = {.pl = pl};
    enum fr_status st;

    g.map = fr__arena_alloc(pl->arena, 1, sizeof(*g.map));
    if (!g.map)
        return fr__fail_nomem(err);
    st = fr__routes_init(&g.routes, pl->in->topo, err);
    if (st == FR_OK)
        st = map_all(&g, err);
    fr__routes_fini(&g.routes);
    free(g.links);
    g.map->n_devices = pl->in->n_devices;
    g.map->link_s_per_byte = g.link_s_per_byte;
    g.map->first = g.first;
    g.map->latency_s = g.latency_s;
    g.map->extra_s_per_byte = g.extra_s_per_byte;
    g.map->via = via;
    *out = g.map;
    return st;
}
