/* sim/collectives/loads.c - the bytes that a collective's steps put on each link.
 *
 * Every message counts on every link of its route. Of an even collective (even.h) only the first
 * machine's messages are looked at, and their bytes are summed by route.
 */
#include "config.h"

#include "collectives/grid.h"
#include "sim/collectives/even.h"
#include "sim/collectives/way.h"

struct loads {
    struct engine *e;
    uint32_t collective;
    const struct fr__way *w;
    double *link_bytes;
    const struct fr__even *even;
    double *by_route; /* [2][m][m] of the even collective's first machine */
};

static void add_message(void *user, uint32_t from, uint32_t to, double n, double bytes)
{
    const struct loads *l = user;
    const struct fr__routes *routes = &l->e->network.routes;
    uint32_t route = fr__way_route(l->e, l->collective, l->w, from, to);
    const struct fr__route *r;
    const uint32_t *links;

    if (route == FR_NONE)
        return;
    r = fr__route_at(l->e, route);
    links = fr__route_links(routes, r);
    for (uint32_t i = 0; i < r->n_links; i++)
        l->link_bytes[links[i]] += n * bytes * l->w->wire_factor / l->w->slow_factor;
    fr__route_release(l->e, route);
}

/* ---- one machine for all ---- */

static void add_even(void *user, uint32_t from, uint32_t to, double n, double bytes)
{
    const struct loads *l = user;

    l->by_route[fr__even_at(l->even, from, to)] +=
        n * bytes * l->w->wire_factor / l->w->slow_factor;
}

static void add_all_even(struct loads *l)
{
    struct fr__arena *scratch = l->e->scratch;
    struct fr__mark mark = fr__arena_mark(scratch);
    uint32_t m = l->even->m;

    l->by_route = fr__arena_alloc(scratch, 2 * (size_t)m * m, sizeof(*l->by_route));
    for (uint32_t rank = 0; l->by_route && rank < m; rank++)
        fr__schedule_traffic(&l->w->schedule, rank, add_even, l);
    if (l->by_route)
        fr__even_spread(l->e, l->even, l->by_route, l->link_bytes);
    else
        fr__engine_fail_nomem(l->e);
    fr__arena_rewind(scratch, mark);
}

bool fr__way_is_even(struct engine *e, uint32_t collective, const struct fr__way *w,
                     struct fr__even *out)
{
    const struct fr__schedule *s = &w->schedule;

    return s->algorithm->is_even && !s->pair_bytes && !w->devices && fr__grid_is_cyclic(s) &&
           fr__even_begin(e, e->v->collectives[collective].group, s->per_node, out);
}

void fr__way_bytes(struct engine *e, uint32_t collective, const struct fr__way *w,
                   double link_bytes[])
{
    struct loads l = {.e = e, .collective = collective, .w = w, .link_bytes = link_bytes};
    struct fr__even even;

    if (fr__way_is_even(e, collective, w, &even)) {
        l.even = &even;
        add_all_even(&l);
        fr__even_end(e, &even);
        return;
    }
    for (uint32_t entity = 0; entity < w->schedule.n_entities && e->status == FR_OK; entity++)
        fr__schedule_traffic(&w->schedule, entity, add_message, &l);
}
