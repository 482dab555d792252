/* sim/collectives/symmetry.c - whether machines of a group are alike, and the bytes of all links
 * from the first machine's messages; see symmetry.h. */
#include "config.h"

#include "sim/collectives/symmetry.h"

#include "topo/routes/router.h"

#include <stdlib.h>

static uint32_t device_of(const struct fr__engine *e, uint32_t group, uint32_t rank)
{
    return fr_plan_group_device(e->plan, group, rank);
}

/* Every m ranks are in one machine, and each has the place of the first machine's. */
static bool are_places_alike(const struct fr__engine *e, uint32_t group, uint32_t n, uint32_t m)
{
    const struct fr_router *router = e->network.routes.router;
    const struct fr_device *devices = e->v->topo->devices;

    for (uint32_t rank = 0; rank < n; rank++) {
        uint32_t device = device_of(e, group, rank), first = device_of(e, group, rank - rank % m);

        if (devices[device].machine != devices[first].machine ||
            !fr__router_is_like(router, device, device_of(e, group, rank % m)))
            return false;
    }
    return true;
}

/* From the first machine to itself and to the second. */
static bool take_routes(struct fr__engine *e, struct fr__symmetry *out)
{
    uint32_t m = out->m;

    for (uint32_t i = 0; i < 2 * m * m; i++) {
        uint32_t src = device_of(e, out->group, i / m % m);
        uint32_t dst = device_of(e, out->group, i / (m * m) * m + i % m);

        if (src == dst)
            continue;
        out->routes[i] = fr__route_take(e, src, dst);
        if (out->routes[i] == FR_NONE)
            return false;
    }
    return true;
}

bool fr__symmetry_begin(struct fr__engine *e, uint32_t group, uint32_t m, struct fr__symmetry *out)
{
    uint32_t n = fr_plan_group_size(e->plan, group);

    *out = (struct fr__symmetry){.group = group, .n = n, .m = m};
    if (m == 0 || n <= m || n % m != 0 || !are_places_alike(e, group, n, m))
        return false;
    out->routes = malloc(2 * (size_t)m * m * sizeof(*out->routes));
    if (!out->routes) {
        fr__engine_fail_nomem(e);
        return false;
    }
    for (uint32_t i = 0; i < 2 * m * m; i++)
        out->routes[i] = FR_NONE;
    /* the walks may have shown what tells machines apart */
    if (take_routes(e, out) && are_places_alike(e, group, n, m))
        return true;
    fr__symmetry_end(e, out);
    return false;
}

void fr__symmetry_end(struct fr__engine *e, struct fr__symmetry *symmetry)
{
    for (uint32_t i = 0; i < 2 * symmetry->m * symmetry->m; i++)
        if (symmetry->routes[i] != FR_NONE)
            fr__route_release(e, symmetry->routes[i]);
    free(symmetry->routes);
    symmetry->routes = NULL;
}

/* ---- bytes ---- */

static uint32_t machine_of(const struct fr__engine *e, const struct fr__symmetry *symmetry,
                           uint32_t rank)
{
    return e->v->topo->devices[device_of(e, symmetry->group, rank)].machine;
}

/* Adds a route's bytes: to a machine's own links by their places, to the network's those of all
 * machines. */
static void add_route(const struct fr__engine *e, const struct fr__symmetry *symmetry,
                      uint32_t route, double bytes, double of_machine[], double link_bytes[])
{
    const struct fr_topo *t = e->v->topo;
    const struct fr__route *r = fr__route_at(e, route);
    const uint32_t *links = fr__route_links(&e->network.routes, r);
    double n_machines = symmetry->n / symmetry->m;

    for (uint32_t i = 0; i < r->n_links; i++) {
        const struct fr_link *link = &t->links[links[i]];
        uint32_t src = t->vertices[link->src].machine, dst = t->vertices[link->dst].machine;
        uint32_t machine = src != FR_NONE ? src : dst;

        if (machine == FR_NONE)
            link_bytes[links[i]] += n_machines * bytes;
        else
            of_machine[fr__router_place(e->network.routes.router, machine, links[i])] += bytes;
    }
}

/* On its own links a machine has what the first machine sends, and what reaches its places from all
 * others, which is as much as the first machine sends to those places of all others. */
void fr__symmetry_spread(struct fr__engine *e, const struct fr__symmetry *symmetry,
                         const double by_route[], double link_bytes[])
{
    const struct fr_router *router = e->network.routes.router;
    struct fr__mark mark = fr__arena_mark(e->scratch);
    const uint32_t *links;
    size_t n = fr__router_links_of(router, machine_of(e, symmetry, 0), &links);
    double *of_machine = fr__arena_alloc(e->scratch, n, sizeof(*of_machine));

    if (!of_machine) {
        fr__engine_fail_nomem(e);
        return;
    }
    for (uint32_t i = 0; i < 2 * symmetry->m * symmetry->m; i++)
        if (by_route[i] > 0)
            add_route(e, symmetry, symmetry->routes[i], by_route[i], of_machine, link_bytes);
    for (uint32_t rank = 0; rank < symmetry->n; rank += symmetry->m) {
        n = fr__router_links_of(router, machine_of(e, symmetry, rank), &links);
        for (size_t i = 0; i < n; i++)
            link_bytes[links[i]] += of_machine[i];
    }
    fr__arena_rewind(e->scratch, mark);
}
