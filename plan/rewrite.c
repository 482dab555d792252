/* plan/rewrite.c - a graph that a strategy made of the user's, owned by plans, and the way back.
 *
 * Copies of a plan (unrolled, put in order) share the graph. It is freed with the last of them, in
 * whatever thread that is: the count of plans is atomic, all else is read-only once it is made.
 */
#include "config.h"

#include "plan/internal.h"

#include "base/error.h"

#include <stdatomic.h>
#include <string.h>

struct fr__rewrite {
    atomic_uint n_plans;
    struct fr_graph *graph;
    uint32_t *first, *user;  /* as struct fr_op_map */
    struct fr__arena *arena; /* holds this and the map */
};

static enum fr_status check_map(const struct fr_plan *p, const struct fr_graph *g,
                                const struct fr_op_map *map, struct fr_error *err)
{
    const struct fr_graph *user = p->view.user_graph;

    if (!user || p->view.n_tasks > 0 || p->n_tasks.n > 0 || p->rewrite)
        return fr__fail(
            err, FR_ERANGE, FR_NOWHERE,
            "a rewritten graph comes once, before any task, to a plan that has a graph");
    if (map->first[0] != 0)
        return fr__fail(err, FR_ERANGE, FR_NOWHERE, "the map of ops begins at %u, not at 0",
                        map->first[0]);
    for (size_t o = 0; o < g->n_ops; o++)
        if (map->first[o + 1] < map->first[o])
            return fr__fail(err, FR_ERANGE, FR_NOWHERE, "the map of op %zu ends before it begins",
                            o);
    for (uint32_t i = 0; i < map->first[g->n_ops]; i++)
        if (map->user[i] >= user->n_ops)
            return fr__fail(err, FR_ERANGE, FR_NOWHERE,
                            "the map names op %u of the user's graph, which has %zu", map->user[i],
                            user->n_ops);
    return FR_OK;
}

static struct fr__rewrite *new_rewrite(const struct fr_graph *g, const struct fr_op_map *map)
{
    struct fr__arena *arena = fr__arena_new();
    struct fr__rewrite *r = arena ? fr__arena_alloc(arena, 1, sizeof(*r)) : NULL;
    size_t n = map->first[g->n_ops];

    if (r) {
        r->arena = arena;
        r->first = fr__arena_take(arena, g->n_ops + 1, sizeof(*r->first));
        r->user = fr__arena_take(arena, n, sizeof(*r->user));
    }
    if (!r || !r->first || !r->user) {
        if (arena)
            fr__arena_free(arena);
        return NULL;
    }
    memcpy(r->first, map->first, (g->n_ops + 1) * sizeof(*r->first));
    if (n > 0)
        memcpy(r->user, map->user, n * sizeof(*r->user));
    atomic_init(&r->n_plans, 1);
    return r;
}

enum fr_status fr_plan_own_graph(struct fr_plan *p, struct fr_graph *graph,
                                 const struct fr_op_map *map, struct fr_error *err)
{
    FR_TRY(check_map(p, graph, map, err));
    p->rewrite = new_rewrite(graph, map);
    if (!p->rewrite)
        return fr__fail_nomem(err);
    p->rewrite->graph = graph;
    p->view.graph = graph;
    return FR_OK;
}

void fr__rewrite_share(const struct fr_plan *p, struct fr_plan *out)
{
    out->view.graph = p->view.graph;
    out->rewrite = p->rewrite;
    if (p->rewrite)
        atomic_fetch_add(&p->rewrite->n_plans, 1);
}

void fr__rewrite_leave(struct fr__rewrite *r)
{
    if (!r || atomic_fetch_sub(&r->n_plans, 1) > 1)
        return;
    fr_graph_free(r->graph);
    fr__arena_free(r->arena);
}

/* ---- the way back ---- */

const struct fr_graph *fr_plan_user_graph(const struct fr_plan *p)
{
    return p->view.user_graph;
}

size_t fr_plan_user_ops(const struct fr_plan *p, uint32_t op, const uint32_t **ops)
{
    const struct fr__rewrite *r = p->rewrite;

    if (!r || op >= r->graph->n_ops)
        return 0;
    *ops = r->user + r->first[op];
    return r->first[op + 1] - r->first[op];
}

uint32_t fr_plan_user_op(const struct fr_plan *p, uint32_t op)
{
    const struct fr_graph *g = p->view.graph;
    const uint32_t *ops;

    if (!g || op >= g->n_ops)
        return FR_NONE;
    if (!p->rewrite)
        return op;
    return fr_plan_user_ops(p, op, &ops) > 0 ? ops[0] : FR_NONE;
}

const char *fr_plan_user_op_name(const struct fr_plan *p, uint32_t op)
{
    uint32_t user = fr_plan_user_op(p, op);

    return user == FR_NONE ? NULL : p->view.user_graph->ops[user].name;
}
