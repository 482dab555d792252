/* sim/network/ring_period.c - the period of rings: see ring_period.h. */
#include "config.h"

#include "sim/network/ring_period.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

/* Rings of fewer ranks are simulated in a moment as they are. */
enum { FEW_RANKS = 64 };

/* One link of each class, for the first, second, ... time that a hop crosses the class. */
struct pick {
    uint32_t link, nth;
};

struct search {
    struct fr__routes *routes;
    const struct fr__ring_set *set;
    uint32_t period;      /* to be tried */
    uint64_t *crossed_by; /* [n_links] sum over the hops that cross it, of their class */
    uint32_t *last;       /* [n_links] the last hop of the class in hand to cross it, or FR_NONE */
    struct pick *picks;
    size_t n_picks, cap_picks;
    struct fr__hash_table table; /* of picks */
};

static const struct fr__route *hop(const struct search *s, uint32_t ring, uint32_t position)
{
    return &s->routes->at[s->set->routes[(size_t)ring * s->set->n + position]];
}

static const uint32_t *links_of(const struct search *s, const struct fr__route *r)
{
    return fr__route_links(s->routes, r);
}

static bool are_alike(const struct search *s, uint32_t a, uint32_t b)
{
    const struct fr_link *l = &s->routes->topo->links[a], *k = &s->routes->topo->links[b];

    return l->kind == k->kind && l->bw_Bps >= k->bw_Bps && l->bw_Bps <= k->bw_Bps &&
           l->latency_s >= k->latency_s && l->latency_s <= k->latency_s &&
           s->crossed_by[a] == s->crossed_by[b];
}

/* Whether both hops cross links of the same classes in the same order. */
static bool are_hops_alike(const struct search *s, const struct fr__route *a,
                           const struct fr__route *b)
{
    const uint32_t *l = links_of(s, a), *k = links_of(s, b);

    if (a->n_links != b->n_links)
        return false;
    for (uint32_t i = 0; i < a->n_links; i++)
        if (!are_alike(s, l[i], k[i]))
            return false;
    return true;
}

static bool are_all_alike(const struct search *s)
{
    for (uint32_t r = 0; r < s->set->n_rings; r++)
        for (uint32_t i = s->period; i < s->set->n; i++)
            if (!are_hops_alike(s, hop(s, r, i), hop(s, r, i - s->period)))
                return false;
    return true;
}

/* Notes which classes cross each link; false: a class crosses one twice. */
static bool count_crossings(struct search *s)
{
    const struct fr__ring_set *set = s->set;
    size_t n_links = s->routes->topo->n_links;

    memset(s->last, 0xff, n_links * sizeof(*s->last));
    memset(s->crossed_by, 0, n_links * sizeof(*s->crossed_by));
    for (uint32_t cls = 0; cls < set->n_rings * s->period; cls++)
        for (uint32_t i = cls % s->period; i < set->n; i += s->period) {
            const struct fr__route *r = hop(s, cls / s->period, i);
            const uint32_t *links = links_of(s, r);

            for (uint32_t l = 0; l < r->n_links; l++) {
                if (s->last[links[l]] == cls)
                    return false;
                s->last[links[l]] = cls;
                s->crossed_by[links[l]] += fr__hash_id((uint64_t)cls + 1);
            }
        }
    return true;
}

/* The first look is at the links alone, which is cheap and mostly enough to say no. */
static bool is_period(struct search *s)
{
    memset(s->crossed_by, 0, s->routes->topo->n_links * sizeof(*s->crossed_by));
    return are_all_alike(s) && count_crossings(s) && are_all_alike(s);
}

/* ---- the routes that stand for all ---- */

/* The link that stands for all of its class when a hop crosses the class for the nth time. */
static bool pick(struct search *s, uint32_t link, uint32_t nth, uint32_t *out)
{
    uint64_t hash = fr__hash_id(s->crossed_by[link] + nth);
    size_t at;
    uint32_t id = fr__hash_first(&s->table, hash, &at);

    while (id != FR_NONE && (s->picks[id].nth != nth || !are_alike(s, s->picks[id].link, link)))
        id = fr__hash_next(&s->table, hash, &at);
    if (id != FR_NONE) {
        *out = s->picks[id].link;
        return true;
    }
    if (!fr__grow(&s->picks, &s->cap_picks, s->n_picks + 1, sizeof(*s->picks)) ||
        !fr__hash_add(&s->table, hash, (uint32_t)s->n_picks))
        return false;
    s->picks[s->n_picks++] = (struct pick){link, nth};
    *out = link;
    return true;
}

static enum fr_status make_route(struct search *s, uint32_t ring, uint32_t position, uint32_t *out,
                                 struct fr_error *err)
{
    const struct fr__route *r = hop(s, ring, position);
    const uint32_t *links = links_of(s, r);
    uint32_t picked[UINT8_MAX];

    if (r->n_links > UINT8_MAX) /* no route is so long (topo/routes/router.h) */
        return fr__fail(err, FR_ERANGE, FR_NOWHERE, "a route of %u links", (unsigned)r->n_links);
    for (uint32_t l = 0; l < r->n_links; l++) {
        uint32_t nth = 0;

        for (uint32_t k = 0; k < l; k++)
            nth += are_alike(s, links[k], links[l]);
        if (!pick(s, links[l], nth, &picked[l]))
            return fr__fail_nomem(err);
    }
    return fr__routes_like(s->routes, s->set->routes[(size_t)ring * s->set->n + position], picked,
                           out, err);
}

static enum fr_status make_routes(struct search *s, uint32_t **out, struct fr_error *err)
{
    uint32_t n = s->set->n_rings * s->period;
    uint32_t *routes = calloc(n, sizeof(*routes));
    enum fr_status st = routes ? FR_OK : fr__fail_nomem(err);

    for (uint32_t cls = 0; cls < n && st == FR_OK; cls++)
        st = make_route(s, cls / s->period, cls % s->period, &routes[cls], err);
    if (st == FR_OK)
        *out = routes;
    else
        free(routes);
    return st;
}

enum fr_status fr__ring_period(struct fr__routes *routes, const struct fr__ring_set *set,
                               uint32_t *period, uint32_t **period_routes, struct fr_error *err)
{
    struct search s = {.routes = routes, .set = set};
    size_t n_links = routes->topo->n_links;
    enum fr_status st = FR_OK;

    *period = set->n;
    *period_routes = NULL;
    if (set->n < FEW_RANKS)
        return FR_OK;
    s.crossed_by = malloc((n_links + 1) * sizeof(*s.crossed_by));
    s.last = malloc((n_links + 1) * sizeof(*s.last));
    if (!s.crossed_by || !s.last)
        st = fr__fail_nomem(err);
    for (s.period = 1; s.period <= set->n / 2 && st == FR_OK; s.period++) {
        if (set->n % s.period != 0 || !is_period(&s))
            continue;
        st = make_routes(&s, period_routes, err);
        if (st == FR_OK)
            *period = s.period;
        break;
    }
    free(s.crossed_by);
    free(s.last);
    free(s.picks);
    fr__hash_fini(&s.table);
    return st;
}
