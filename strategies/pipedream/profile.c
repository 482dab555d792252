/* strategies/pipedream/profile.c - a training graph as the profile that the planner reads. */
#include "config.h"

#include "strategies/pipedream/cluster.h"

#include "base/error.h"
#include "strategies/pipeline/stages.h"

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

/* Edges between forward ops of two items, each pair once. */
static enum fr_status join(struct building *b, struct fr_error *err)
{
    const struct fr_graph *g = b->pl->graph;
    uint32_t *seen_by = fr__arena_alloc(b->pl->arena, b->items.n, sizeof(*seen_by));

    b->edges = fr__arena_alloc(b->pl->arena, g->n_edges, sizeof(*b->edges));
    if (!seen_by || !b->edges)
        return fr__fail_nomem(err);
    for (uint32_t o = 0; o < g->n_ops; o++)
        for (uint32_t e = g->out_first[o]; e < g->out_first[o + 1]; e++) {
            uint32_t from = b->items.item_of[o], to = b->items.item_of[g->edges[e].dst];

            if (g->ops[o].phase != FR_PHASE_FORWARD ||
                g->ops[g->edges[e].dst].phase != FR_PHASE_FORWARD || from == to ||
                seen_by[to] == from + 1)
                continue;
            seen_by[to] = from + 1;
            b->edges[b->n_edges][0] = from;
            b->edges[b->n_edges++][1] = to;
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
