/* sim/collectives/schedule_bytes.c - the bytes that a collective's steps put on each link.
 *
 * Every message counts on every link of its route. Of a symmetric collective (symmetry.h) only the
 * first machine's messages are looked at, and their bytes are summed by route.
 */
#include "config.h"

#include "collectives/grid.h"
#include "sim/collectives/symmetry.h"
#include "sim/collectives/schedule_choice.h"

struct counting {
    struct fr__engine *e;
    uint32_t collective;
    const struct fr__collective_schedule *w;
    double *link_bytes;
    const struct fr__symmetry *symmetry;
    double *by_route; /* [2][m][m] of the symmetric collective's first machine */
};

static void add_message(void *user, uint32_t from, uint32_t to, double n, double bytes)
{
    const struct counting *l = user;
    uint32_t route;

    if (!fr__engine_goes_on(l->e))
        return;
    route = fr__scheduled_route(l->e, l->collective, l->w, from, to);
    if (route == FR_NONE)
        return;
    fr__route_count(&l->e->network.routes, fr__route_at(l->e, route),
                    n * bytes * l->w->wire_factor / l->w->slow_factor, l->link_bytes);
    fr__route_release(l->e, route);
}

/* ---- one machine for all ---- */

static void add_symmetric(void *user, uint32_t from, uint32_t to, double n, double bytes)
{
    const struct counting *l = user;

    l->by_route[fr__symmetry_at(l->symmetry, from, to)] +=
        n * bytes * l->w->wire_factor / l->w->slow_factor;
}

static void add_all_symmetric(struct counting *l)
{
    struct fr__arena *scratch = l->e->scratch;
    struct fr__mark mark = fr__arena_mark(scratch);
    uint32_t m = l->symmetry->m;

    l->by_route = fr__arena_alloc(scratch, 2 * (size_t)m * m, sizeof(*l->by_route));
    for (uint32_t rank = 0; l->by_route && rank < m; rank++)
        fr__schedule_traffic(&l->w->schedule, rank, add_symmetric, l);
    if (l->by_route)
        fr__symmetry_spread(l->e, l->symmetry, l->by_route, l->link_bytes);
    else
        fr__engine_fail_nomem(l->e);
    fr__arena_rewind(scratch, mark);
}

bool fr__scheduled_is_symmetric(struct fr__engine *e, uint32_t collective,
                                const struct fr__collective_schedule *w, struct fr__symmetry *out)
{
    const struct fr__schedule *s = &w->schedule;

    return s->algorithm->is_symmetric && !s->pair_bytes && !w->devices && fr__grid_is_cyclic(s) &&
           fr__symmetry_begin(e, e->v->collectives[collective].group, s->per_node, out);
}

void fr__scheduled_bytes(struct fr__engine *e, uint32_t collective,
                         const struct fr__collective_schedule *w, double link_bytes[])
{
    struct counting l = {.e = e, .collective = collective, .w = w, .link_bytes = link_bytes};
    struct fr__symmetry symmetry;

    if (fr__scheduled_is_symmetric(e, collective, w, &symmetry)) {
        l.symmetry = &symmetry;
        add_all_symmetric(&l);
        fr__symmetry_end(e, &symmetry);
        return;
    }
    for (uint32_t entity = 0; entity < w->schedule.n_entities && e->status == FR_OK; entity++)
        fr__schedule_traffic(&w->schedule, entity, add_message, &l);
}
