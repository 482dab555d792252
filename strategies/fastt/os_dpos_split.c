/* strategies/fastt/os_dpos_split.c - makes the nodes and edges of a split operation: slices before
 * it, its parts, joins or sums after it. */
#include "config.h"

#include "strategies/fastt/os_dpos_split.h"

#include "base/error.h"

#include <assert.h>
#include <string.h>

/* at: index of the first new operation of each kind. */
struct split {
    const struct fr__dag *from;
    struct fr__dag *to;
    const struct fr__split_costs *costs;
    uint32_t op, n, n_slices, n_joins, slices_at, parts_at, joins_at;
    uint32_t *join_of; /* [out edges of op] number of the join that feeds it; FR_NONE: only order */
    enum fr__dag_dim dim;
};

static bool is_activation(const struct fr__dag_edge *e)
{
    return e->cargo == FR__DAG_ACTIVATION || e->cargo == FR__DAG_SHARED;
}

/* Whether an input of a weight gradient is the gradient of the output. A part needs only its own
 * channels of that, and the other input as a whole. */
static bool is_gradient_of_output(const struct split *s, const struct fr__dag_edge *e)
{
    return s->from->ops[s->op].phase == FR_PHASE_BACKWARD_WEIGHT && is_activation(e) &&
           s->from->ops[e->src].phase == FR_PHASE_BACKWARD_DATA;
}

static bool is_sliced(const struct split *s, const struct fr__dag_edge *e)
{
    if (s->dim == FR__DAG_BATCH)
        return e->cargo == FR__DAG_ACTIVATION;
    if (is_activation(e))
        return s->from->ops[s->op].has_channels_apart || is_gradient_of_output(s, e);
    return e->cargo == FR__DAG_WEIGHT || e->cargo == FR__DAG_GRADIENT;
}

static bool is_added(const struct split *s, const struct fr__dag_edge *e)
{
    return s->dim == FR__DAG_BATCH && (e->cargo == FR__DAG_GRADIENT || e->cargo == FR__DAG_SHARED);
}

static uint64_t slice(uint64_t bytes, uint32_t n, uint32_t k)
{
    return bytes / n + (k < bytes % n);
}

/* Edges of one tensor need one join. */
static void number_joins(struct split *s)
{
    uint32_t first = s->from->out_first[s->op], end = s->from->out_first[s->op + 1];
    const struct fr__dag_edge *edges = s->from->edges;

    for (uint32_t e = first; e < end; e++) {
        uint32_t f = first;

        s->join_of[e - first] = FR_NONE;
        if (edges[e].cargo == FR__DAG_ORDER)
            continue;
        while (edges[f].tensor != edges[e].tensor || edges[f].bytes != edges[e].bytes ||
               edges[f].cargo != edges[e].cargo)
            f++;
        s->join_of[e - first] = f == e ? s->n_joins++ : s->join_of[f - first];
    }
}

static uint32_t add_cost(struct fr__dag *dag)
{
    return (uint32_t)dag->n_costs++;
}

static uint32_t add_bytes_cost(struct split *s, double bytes)
{
    uint32_t row = add_cost(s->to);

    s->costs->bytes(s->from, bytes, s->to->cost_s + row * s->to->n_types);
    return row;
}

/* A slicing, a joining or a sum. */
static struct fr__dag_op helper(const struct split *s, enum fr__dag_role role, uint64_t held_bytes,
                                uint32_t cost)
{
    struct fr__dag_op o = s->from->ops[s->op];

    o.resident_bytes = 0;
    o.output_bytes = held_bytes;
    o.cost = cost;
    o.group = FR_NONE;
    o.part = 0;
    o.n_parts = 1;
    o.dim = FR__DAG_WHOLE;
    o.role = (uint8_t)role;
    o.split_mask = 0;
    return o;
}

static void add_slices(struct split *s)
{
    const struct fr__dag *g = s->from;
    uint32_t at = s->slices_at;

    for (uint32_t k = g->in_first[s->op]; k < g->in_first[s->op + 1]; k++) {
        const struct fr__dag_edge *e = &g->edges[g->in_edges[k]];

        if (is_sliced(s, e))
            s->to->ops[at++] = helper(s, FR__DAG_SPLIT, e->cargo == FR__DAG_WEIGHT ? e->bytes : 0,
                                      add_bytes_cost(s, 2.0 * (double)e->bytes));
    }
}

/* Adds the joins, which hold what the operation held. */
static void add_joins(struct split *s)
{
    const struct fr__dag *g = s->from;
    uint64_t left = g->ops[s->op].output_bytes;
    uint32_t first = g->out_first[s->op], next = 0;

    for (uint32_t e = first; e < g->out_first[s->op + 1]; e++) {
        const struct fr__dag_edge *x = &g->edges[e];
        uint64_t held = x->bytes < left ? x->bytes : left;
        double written = (double)x->bytes;

        if (s->join_of[e - first] != next)
            continue;
        s->to->ops[s->joins_at + next++] =
            is_added(s, x) ? helper(s, FR__DAG_SUM, held, add_bytes_cost(s, (s->n + 1.0) * written))
                           : helper(s, FR__DAG_CONCAT, held, add_bytes_cost(s, 2.0 * written));
        left -= held;
    }
}

/* Bytes of the outputs that every part makes whole. */
static uint64_t added_bytes(const struct split *s)
{
    const struct fr__dag *g = s->from;
    uint32_t first = g->out_first[s->op], next = 0;
    uint64_t bytes = 0;

    for (uint32_t e = first; e < g->out_first[s->op + 1]; e++) {
        if (s->join_of[e - first] != next)
            continue;
        next++;
        if (is_added(s, &g->edges[e]))
            bytes += g->edges[e].bytes;
    }
    return bytes;
}

static void add_parts(struct split *s)
{
    const struct fr__dag_op *whole = &s->from->ops[s->op];
    uint64_t added = added_bytes(s);
    uint32_t cost = add_cost(s->to);

    s->costs->part(s->from, s->op, s->dim, s->n, s->to->cost_s + cost * s->to->n_types);
    for (uint32_t k = 0; k < s->n; k++) {
        struct fr__dag_op o = *whole;

        if (s->dim == FR__DAG_CHANNEL)
            o.resident_bytes = slice(whole->resident_bytes, s->n, k);
        o.output_bytes = added < whole->output_bytes ? added : whole->output_bytes;
        o.cost = cost;
        o.group = FR_NONE;
        o.part = (uint16_t)k;
        o.n_parts = (uint16_t)s->n;
        o.dim = (uint8_t)s->dim;
        o.split_mask = 0;
        s->to->ops[s->parts_at + k] = o;
    }
}

static void add_ops(struct split *s)
{
    const struct fr__dag *g = s->from;
    uint32_t after = s->joins_at + s->n_joins;

    memcpy(s->to->ops, g->ops, s->op * sizeof(*g->ops));
    memcpy(s->to->ops + after, g->ops + s->op + 1, (g->n_ops - s->op - 1) * sizeof(*g->ops));
    add_slices(s);
    add_parts(s);
    add_joins(s);
}

static uint32_t moved(const struct split *s, uint32_t op)
{
    return op < s->op ? op : op - s->op - 1 + s->joins_at + s->n_joins;
}

static void add_edge(struct split *s, const struct fr__dag_edge *like, uint32_t src, uint32_t dst,
                     uint64_t bytes, uint32_t tensor)
{
    struct fr__dag_edge e = *like;

    e.bytes = bytes;
    e.src = src;
    e.dst = dst;
    e.tensor = tensor;
    s->to->edges[s->to->n_edges++] = e;
}

/* Adds an edge of a slice; slices of activations are freed soon. */
static void add_slice(struct split *s, const struct fr__dag_edge *like, uint32_t src, uint32_t dst,
                      uint64_t bytes, uint32_t tensor)
{
    add_edge(s, like, src, dst, bytes, tensor);
    s->to->edges[s->to->n_edges - 1].stays = like->stays && !is_activation(like);
}

/* The number of the split node of an input of op: how many inputs before it are sliced too. */
static uint32_t slice_node(const struct split *s, uint32_t edge)
{
    const struct fr__dag *g = s->from;
    uint32_t at = s->slices_at;

    for (uint32_t k = g->in_first[s->op]; g->in_edges[k] != edge; k++)
        at += is_sliced(s, &g->edges[g->in_edges[k]]);
    return at;
}

static bool is_after(const struct fr__dag_edge *x, const struct fr__dag_edge *y)
{
    if (x->dst != y->dst)
        return x->dst > y->dst;
    return x->tensor > y->tensor;
}

/* The few edges that one operation has into the new ones. */
static void sort_edges(struct fr__dag_edge *e, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        struct fr__dag_edge x = e[i];
        size_t j = i;

        for (; j > 0 && is_after(&e[j - 1], &x); j--)
            e[j] = e[j - 1];
        e[j] = x;
    }
}

/* Adds all edges of src into op: to the split node, or else to each part. */
static uint32_t add_edges_in(struct split *s, uint32_t e)
{
    const struct fr__dag *g = s->from;
    uint32_t src = g->edges[e].src;
    size_t first = s->to->n_edges;

    for (; e < g->out_first[src + 1] && g->edges[e].dst == s->op; e++) {
        const struct fr__dag_edge *x = &g->edges[e];

        if (is_sliced(s, x))
            add_edge(s, x, src, slice_node(s, e), x->bytes, x->tensor);
        else
            for (uint32_t k = 0; k < s->n; k++)
                add_edge(s, x, src, s->parts_at + k, x->bytes, x->tensor);
    }
    sort_edges(s->to->edges + first, s->to->n_edges - first);
    return e;
}

static void add_edges_of_slices(struct split *s)
{
    const struct fr__dag *g = s->from;
    uint32_t at = s->slices_at;

    for (uint32_t k = g->in_first[s->op]; k < g->in_first[s->op + 1]; k++) {
        const struct fr__dag_edge *x = &g->edges[g->in_edges[k]];

        if (!is_sliced(s, x))
            continue;
        s->to->out_first[at] = (uint32_t)s->to->n_edges;
        for (uint32_t part = 0; part < s->n; part++)
            add_slice(s, x, at, s->parts_at + part, slice(x->bytes, s->n, part), part);
        at++;
    }
}

/* Adds the edges of a part: to the joins in their order, then to what every part must precede. */
static void add_edges_of_part(struct split *s, uint32_t part)
{
    const struct fr__dag *g = s->from;
    uint32_t first = g->out_first[s->op], end = g->out_first[s->op + 1], next = 0;
    uint32_t src = s->parts_at + part;

    s->to->out_first[src] = (uint32_t)s->to->n_edges;
    for (uint32_t e = first; e < end; e++) {
        const struct fr__dag_edge *x = &g->edges[e];

        if (s->join_of[e - first] != next)
            continue;
        add_slice(s, x, src, s->joins_at + next,
                  is_added(s, x) ? x->bytes : slice(x->bytes, s->n, part), x->tensor);
        next++;
    }
    for (uint32_t e = first; e < end; e++)
        if (g->edges[e].cargo == FR__DAG_ORDER)
            add_edge(s, &g->edges[e], src, moved(s, g->edges[e].dst), g->edges[e].bytes,
                     g->edges[e].tensor);
}

static void add_edges_of_joins(struct split *s)
{
    const struct fr__dag *g = s->from;
    uint32_t first = g->out_first[s->op], end = g->out_first[s->op + 1];

    for (uint32_t j = 0; j < s->n_joins; j++) {
        s->to->out_first[s->joins_at + j] = (uint32_t)s->to->n_edges;
        for (uint32_t e = first; e < end; e++)
            if (s->join_of[e - first] == j)
                add_edge(s, &g->edges[e], s->joins_at + j, moved(s, g->edges[e].dst),
                         g->edges[e].bytes, g->edges[e].tensor);
    }
}

static void add_edges_of(struct split *s, uint32_t src)
{
    const struct fr__dag *g = s->from;
    uint32_t e = g->out_first[src];

    s->to->out_first[moved(s, src)] = (uint32_t)s->to->n_edges;
    while (e < g->out_first[src + 1]) {
        const struct fr__dag_edge *x = &g->edges[e];

        if (x->dst == s->op)
            e = add_edges_in(s, e);
        else {
            add_edge(s, x, moved(s, src), moved(s, x->dst), x->bytes, x->tensor);
            e++;
        }
    }
}

static void add_edges(struct split *s)
{
    for (uint32_t i = 0; i < s->op; i++)
        add_edges_of(s, i);
    add_edges_of_slices(s);
    for (uint32_t k = 0; k < s->n; k++)
        add_edges_of_part(s, k);
    add_edges_of_joins(s);
    for (uint32_t i = s->op + 1; i < s->from->n_ops; i++)
        add_edges_of(s, i);
    s->to->out_first[s->to->n_ops] = (uint32_t)s->to->n_edges;
}

/* While it is filled, in_first is shifted by one: in_first[i + 1] goes from the first to the last
 * input of i. */
static void index_inputs(struct fr__dag *dag)
{
    uint32_t at = 0;

    for (size_t e = 0; e < dag->n_edges; e++)
        if (dag->edges[e].dst + 1 < dag->n_ops)
            dag->in_first[dag->edges[e].dst + 2]++;
    for (size_t i = 0; i <= dag->n_ops; i++)
        dag->in_first[i] = at += dag->in_first[i];
    for (size_t e = 0; e < dag->n_edges; e++)
        dag->in_edges[dag->in_first[dag->edges[e].dst + 1]++] = (uint32_t)e;
}

static enum fr_status make_room(struct split *s, struct fr__arena *arena, struct fr_error *err)
{
    const struct fr__dag *g = s->from;
    struct fr__dag *to = s->to;
    uint32_t n_in = g->in_first[s->op + 1] - g->in_first[s->op];
    uint32_t n_out = g->out_first[s->op + 1] - g->out_first[s->op];
    size_t max_edges = g->n_edges + (size_t)n_in * (s->n + 1) + (size_t)n_out * (s->n + 1);

    s->join_of = fr__arena_alloc(arena, n_out, sizeof(*s->join_of));
    if (!s->join_of)
        return fr__fail_nomem(err);
    number_joins(s);
    for (uint32_t k = g->in_first[s->op]; k < g->in_first[s->op + 1]; k++)
        s->n_slices += is_sliced(s, &g->edges[g->in_edges[k]]);
    s->slices_at = s->op;
    s->parts_at = s->slices_at + s->n_slices;
    s->joins_at = s->parts_at + s->n;
    *to = *g;
    to->arena = arena;
    to->n_ops = g->n_ops - 1 + s->n_slices + s->n + s->n_joins;
    to->n_edges = 0;
    to->ops = fr__arena_alloc(arena, to->n_ops, sizeof(*to->ops));
    to->edges = fr__arena_alloc(arena, max_edges, sizeof(*to->edges));
    to->in_edges = fr__arena_alloc(arena, max_edges, sizeof(*to->in_edges));
    to->out_first = fr__arena_alloc(arena, to->n_ops + 1, sizeof(*to->out_first));
    to->in_first = fr__arena_alloc(arena, to->n_ops + 2, sizeof(*to->in_first));
    to->cost_s = fr__arena_alloc(arena, (g->n_costs + 1 + s->n_slices + s->n_joins) * g->n_types,
                                 sizeof(*to->cost_s));
    if (!to->ops || !to->edges || !to->in_edges || !to->out_first || !to->in_first || !to->cost_s)
        return fr__fail_nomem(err);
    memcpy(to->cost_s, g->cost_s, g->n_costs * g->n_types * sizeof(*to->cost_s));
    return FR_OK;
}

enum fr_status fr__dag_split(struct fr__dag *out, const struct fr__dag *dag, uint32_t op,
                             enum fr__dag_dim dim, unsigned n, const struct fr__split_costs *costs,
                             struct fr__arena *arena, struct fr_error *err)
{
    struct split s = {.from = dag, .to = out, .costs = costs, .op = op, .n = n, .dim = dim};

    assert(n >= 2 && dag->ops[op].split_mask >> dim & 1);
    FR_TRY(make_room(&s, arena, err));
    add_ops(&s);
    add_edges(&s);
    index_inputs(out);
    return FR_OK;
}
