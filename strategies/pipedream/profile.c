/* strategies/pipedream/profile.c - a training graph as the profile that the planner reads. */
#include "config.h"

#include "strategies/pipedream/cluster.h"

#include "base/error.h"
#include "lowering/pipeline/stages.h"

#include <string.h>

struct building {
    struct fr__placer *pl;
    struct fr__items items;
    double batch;
    struct fr_profile_layer *layers;
    uint32_t (*edges)[2];
    size_t n_edges;
};

static bool is_body(const struct building *b, uint32_t op)
{
    return b->pl->params.roles[op] == FR__ROLE_FORWARD ||
           b->pl->params.roles[op] == FR__ROLE_BACKWARD;
}

/* Times on one type of device; each layer keeps the slowest. */
static enum fr_status time_layers(struct building *b, uint32_t type, struct fr_error *err)
{
    const struct fr_part part = {.batch = b->batch};
    const struct fr_graph *g = b->pl->graph;
    double(*both)[2] = fr__arena_alloc(b->pl->arena, b->items.n, sizeof(*both));

    if (!both)
        return fr__fail_nomem(err);
    for (uint32_t o = 0; o < g->n_ops; o++) {
        struct fr_cost cost;

        if (!is_body(b, o))
            continue;
        fr__price_by_model(b->pl->in, type, o, &part, &cost);
        both[b->items.item_of[o]][b->pl->params.roles[o] == FR__ROLE_BACKWARD] += cost.mean_s;
    }
    for (size_t i = 0; i < b->items.n; i++) {
        struct fr_profile_layer *l = &b->layers[i];

        if (both[i][0] + both[i][1] <= l->both_s)
            continue;
        l->forward_s = both[i][0];
        l->backward_s = both[i][1];
        l->both_s = both[i][0] + both[i][1];
    }
    return FR_OK;
}

static enum fr_status time_all(struct building *b, struct fr_error *err)
{
    const struct fr_problem *in = b->pl->in;

    for (size_t d = 0; d < in->n_devices; d++) {
        size_t same = 0;

        while (in->topo->devices[in->devices[same]].type != in->topo->devices[in->devices[d]].type)
            same++;
        if (same == d)
            FR_TRY(time_layers(b, in->topo->devices[in->devices[d]].type, err));
    }
    return FR_OK;
}

static void weigh(struct building *b)
{
    const struct fr_graph *g = b->pl->graph;
    const struct fr__params *p = &b->pl->params;

    for (uint32_t t = 0; t < g->n_tensors; t++) {
        uint32_t op = g->tensors[t].op;

        if (g->ops[op].phase == FR_PHASE_FORWARD)
            b->layers[b->items.item_of[op]].activation_bytes +=
                (double)fr__bytes_at(b->pl, g->tensors[t].bytes, g->tensors[t].scales, b->batch);
    }
    for (size_t i = 0; i < p->n_owners; i++)
        b->layers[b->items.item_of[p->owners[i].op]].param_bytes += (double)p->owners[i].bytes;
}

static void join_items(struct building *b, uint32_t from, uint32_t to, uint32_t seen_by[])
{
    if (from == to || seen_by[to] == from + 1)
        return;
    seen_by[to] = from + 1;
    b->edges[b->n_edges][0] = from;
    b->edges[b->n_edges++][1] = to;
}

/* Whether a backward op that reads another keeps its forward op at or before the other's stage.
 * Sums of gradients do not: they stand with the first stage that feeds them. */
static bool holds_back(const struct fr_graph *g, uint32_t op)
{
    return g->ops[op].phase == FR_PHASE_BACKWARD_DATA && g->ops[op].kind != FR_OP_GRAD_ADD;
}

/* next: [n_ops] of the backward ops of one item, the next; last: [n_items]. */
static void list_backward(const struct building *b, uint32_t last[], uint32_t next[])
{
    const struct fr_graph *g = b->pl->graph;

    memset(last, 0xff, b->items.n * sizeof(*last)); /* FR_NONE each */
    for (uint32_t o = 0; o < g->n_ops; o++) {
        next[o] = FR_NONE;
        if (!holds_back(g, o))
            continue;
        next[o] = last[b->items.item_of[o]];
        last[b->items.item_of[o]] = o;
    }
}

/* A fused kernel may sum gradients of several branches, and then reads the backward pass of another
 * branch, which its forward op does not. No stage may begin between the two. */
static void join_backward(struct building *b, uint32_t item, const uint32_t last[],
                          const uint32_t next[], uint32_t seen_by[])
{
    const struct fr_graph *g = b->pl->graph;

    for (uint32_t o = last[item]; o != FR_NONE; o = next[o])
        for (uint32_t i = g->in_first[o]; i < g->in_first[o + 1]; i++) {
            uint32_t src = g->edges[g->in_edges[i]].src;

            if (holds_back(g, src) && item < b->items.item_of[src])
                join_items(b, item, b->items.item_of[src], seen_by);
        }
}

/* Edges between two items, each pair once: of forward ops, and of backward ops the other way. */
static enum fr_status join(struct building *b, struct fr_error *err)
{
    const struct fr_graph *g = b->pl->graph;
    uint32_t *seen_by = fr__arena_alloc(b->pl->arena, b->items.n, sizeof(*seen_by));
    uint32_t *last = fr__arena_take(b->pl->arena, b->items.n, sizeof(*last));
    uint32_t *next = fr__arena_take(b->pl->arena, g->n_ops, sizeof(*next));

    b->edges = fr__arena_alloc(b->pl->arena, g->n_edges, sizeof(*b->edges));
    if (!seen_by || !last || !next || !b->edges)
        return fr__fail_nomem(err);
    list_backward(b, last, next);
    for (uint32_t o = 0; o < g->n_ops; o++) {
        uint32_t item = b->items.item_of[o];

        if (g->ops[o].phase != FR_PHASE_FORWARD)
            continue;
        for (uint32_t e = g->out_first[o]; e < g->out_first[o + 1]; e++)
            if (g->ops[g->edges[e].dst].phase == FR_PHASE_FORWARD)
                join_items(b, item, b->items.item_of[g->edges[e].dst], seen_by);
        join_backward(b, item, last, next, seen_by);
    }
    return FR_OK;
}

enum fr_status fr__pd_profile_of(struct fr_profile *out, const uint32_t **item_of,
                                 struct fr__placer *pl, double batch, struct fr_error *err)
{
    struct building b = {.pl = pl, .batch = batch};

    FR_TRY(fr__items_list(&b.items, pl, err));
    b.layers = fr__arena_alloc(pl->arena, b.items.n, sizeof(*b.layers));
    if (!b.layers)
        return fr__fail_nomem(err);
    for (size_t i = 0; i < b.items.n; i++) {
        b.layers[i].name = pl->graph->ops[b.items.first[i]].name;
        b.layers[i].description = fr_op_kind_name(pl->graph->ops[b.items.first[i]].kind);
    }
    FR_TRY(time_all(&b, err));
    weigh(&b);
    FR_TRY(join(&b, err));
    *out = (struct fr_profile){.name = pl->graph->name,
                               .n_layers = b.items.n,
                               .n_edges = b.n_edges,
                               .layers = b.layers,
                               .edges = (const uint32_t(*)[2])b.edges};
    *item_of = b.items.item_of;
    return FR_OK;
}
