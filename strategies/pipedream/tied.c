/* strategies/pipedream/tied.c - what weights that stages share cost: the planner of the paper knows
 * none, and where two stages use one tensor of weights, each micro-batch sends its gradient one way
 * and the updated weights the other. */
#include "config.h"

#include "strategies/pipedream/cluster.h"

#include "base/error.h"

#include <math.h>
#include <stdlib.h>

/* An edge between forward ops with bytes but no tensor: dst uses the parameters of src. */
static bool is_tied(const struct fr__placer *pl, const struct fr_edge *e)
{
    return e->tensor == FR_NONE && e->bytes > 0 && pl->params.roles[e->src] == FR__ROLE_FORWARD &&
           pl->params.roles[e->dst] == FR__ROLE_FORWARD && pl->params.owner_of[e->src] != FR_NONE;
}

enum fr_status fr__pd_tied_layers(struct fr__pd_options *o, const struct fr__placer *pl,
                                  const uint32_t item_of[], struct fr_error *err)
{
    const struct fr_graph *g = pl->graph;
    uint32_t(*pairs)[2] = fr__arena_alloc(pl->arena, g->n_edges, sizeof(*pairs));
    size_t n = 0;

    if (!pairs)
        return fr__fail_nomem(err);
    for (size_t i = 0; i < g->n_edges; i++) {
        uint32_t a = item_of[g->edges[i].src], b = item_of[g->edges[i].dst];

        if (!is_tied(pl, &g->edges[i]) || a == b)
            continue;
        pairs[n][0] = a;
        pairs[n++][1] = b;
    }
    o->together = (const uint32_t(*)[2])pairs;
    o->n_together = n;
    return FR_OK;
}

/* ---- loads of links ---- */

struct loads {
    const struct fr__pd_run *run;
    struct fr_router *router;
    double *bytes[2]; /* [n_links] of copies, of gradients */
    bool has_flush;
};

/* Bytes that replicas of one stage send to those of another, each to its own; a micro-batch's share
 * of it, since replicas take turns, or an iteration's. */
static enum fr_status load(struct loads *l, double bytes[], uint32_t from, uint32_t to,
                           double n_bytes, struct fr_error *err)
{
    const struct fr__pd_seats *s = l->run->seats;
    uint32_t r =
        s->replicas_of[from] < s->replicas_of[to] ? s->replicas_of[from] : s->replicas_of[to];

    for (uint32_t q = 0; q < r; q++) {
        const uint32_t *links;
        size_t n;

        FR_TRY(fr_router_path(l->router, s->devices[(size_t)from * s->most + q],
                              s->devices[(size_t)to * s->most + q], &links, &n, err));
        for (size_t k = 0; k < n; k++)
            bytes[links[k]] += l->has_flush ? n_bytes : n_bytes / r;
    }
    return FR_OK;
}

/* Whether an edge before i takes the same weights to the same stage. */
static bool is_taken(const struct fr__pd_run *run, uint32_t i)
{
    const struct fr_graph *g = run->pl->graph;

    for (uint32_t k = g->out_first[g->edges[i].src]; k < i; k++)
        if (is_tied(run->pl, &g->edges[k]) &&
            run->stage_of[g->edges[k].dst] == run->stage_of[g->edges[i].dst])
            return true;
    return false;
}

static enum fr_status load_all(struct loads *l, struct fr_error *err)
{
    const struct fr__placer *pl = l->run->pl;
    const struct fr_graph *g = pl->graph;

    for (uint32_t i = 0; i < g->n_edges; i++) {
        const struct fr_edge *e = &g->edges[i];
        uint32_t from = l->run->stage_of[e->src], to = l->run->stage_of[e->dst];

        if (from == to)
            continue;
        if (is_tied(pl, e) && !is_taken(l->run, i))
            FR_TRY(load(l, l->bytes[0], from, to,
                        (double)pl->params.owners[pl->params.owner_of[e->src]].bytes, err));
        else if (pl->params.roles[e->dst] == FR__ROLE_SUM && e->tensor != FR_NONE)
            FR_TRY(load(l, l->bytes[1], from, to, (double)g->tensors[e->tensor].bytes, err));
    }
    return FR_OK;
}

/* Without a flush copies and gradients of different micro-batches share links; with one, updates
 * stand between them. */
static double busiest_s(const struct loads *l)
{
    const struct fr_topo *t = l->run->pl->in->topo;
    double most_s[2] = {0}, both_s = 0;

    for (size_t k = 0; k < t->n_links; k++) {
        double a = l->bytes[0][k] / t->links[k].bw_Bps, b = l->bytes[1][k] / t->links[k].bw_Bps;

        most_s[0] = fmax(most_s[0], a);
        most_s[1] = fmax(most_s[1], b);
        both_s = fmax(both_s, a + b);
    }
    return l->has_flush ? most_s[0] + most_s[1] : both_s;
}

enum fr_status fr__pd_tied_s(const struct fr__pd_run *run, bool has_flush, double *out_s,
                             struct fr_error *err)
{
    struct loads l = {.run = run, .has_flush = has_flush};
    size_t n_links = run->pl->in->topo->n_links;
    enum fr_status st;

    FR_TRY(fr_router_new(&l.router, run->pl->in->topo, err));
    l.bytes[0] = calloc(n_links + 1, sizeof(double));
    l.bytes[1] = calloc(n_links + 1, sizeof(double));
    st = l.bytes[0] && l.bytes[1] ? load_all(&l, err) : fr__fail_nomem(err);
    if (st == FR_OK)
        *out_s = busiest_s(&l);
    free(l.bytes[0]);
    free(l.bytes[1]);
    fr_router_free(l.router);
    return st;
}
