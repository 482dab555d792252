/* workloads/graph/graph.c - makes the finished graph from a builder, sorted and indexed. */
#include "config.h"

#include "workloads/graph/builder.h"

#include "base/error.h"
#include "workloads/graph/formats.h"

#include <stdlib.h>
#include <string.h>

/* Working space of one fr_graph_builder_finish. */
struct finish {
    const struct fr_graph_builder *b;
    struct fr__arena *keep;    /* what the graph keeps */
    struct fr__arena *scratch; /* what it does not */
    uint32_t *order;           /* [n_ops]: old number of each new one */
    uint32_t *rank;            /* [n_ops]: the inverse */
    uint32_t *tensor_rank;     /* [n_tensors] */
    struct fr_op *ops;
    struct fr_tensor *tensors;
    struct fr_edge *edges;
    struct fr_graph *g;
};

static uint32_t renumber(const uint32_t rank[], uint32_t id)
{
    return id == FR_NONE ? FR_NONE : rank[id];
}

/* first[k] .. first[k + 1]: where the edges whose key is k go when sorted by key. */
static void count_keys(const struct fr_edge edges[], size_t n_edges, bool by_dst, size_t n_keys,
                       uint32_t first[])
{
    for (size_t e = 0; e < n_edges; e++)
        first[(by_dst ? edges[e].dst : edges[e].src) + 1]++;
    for (size_t k = 0; k < n_keys; k++)
        first[k + 1] += first[k];
}

static enum fr_status order_ops(struct finish *f, struct fr_error *err)
{
    const struct fr_graph_builder *b = f->b;
    uint32_t *first, *fill, *dst;

    first = fr__arena_alloc(f->scratch, b->n_ops + 1, sizeof(*first));
    fill = fr__arena_alloc(f->scratch, b->n_ops, sizeof(*fill));
    dst = fr__arena_alloc(f->scratch, b->n_edges, sizeof(*dst));
    f->order = fr__arena_alloc(f->scratch, b->n_ops, sizeof(*f->order));
    f->rank = fr__arena_alloc(f->scratch, b->n_ops, sizeof(*f->rank));
    if (!first || !fill || !dst || !f->order || !f->rank)
        return fr__fail_nomem(err);
    count_keys(b->edges, b->n_edges, false, b->n_ops, first);
    for (size_t e = 0; e < b->n_edges; e++)
        dst[first[b->edges[e].src] + fill[b->edges[e].src]++] = b->edges[e].dst;
    FR_TRY(fr__topological_order(b->ops, b->n_ops, first, dst, f->order, err));
    for (size_t i = 0; i < b->n_ops; i++)
        f->rank[f->order[i]] = (uint32_t)i;
    return FR_OK;
}

/* Layers count up in the order of the forward ops; those without forward ops come last. */
static enum fr_status number_layers(struct finish *f, struct fr_error *err)
{
    const struct fr__strings *layers = &f->b->layers;
    const char **names;
    uint32_t *number, n = 0;

    number = fr__arena_alloc(f->scratch, layers->n, sizeof(*number));
    names = fr__arena_alloc(f->keep, layers->n, sizeof(*names));
    if (!number || !names)
        return fr__fail_nomem(err);
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < f->b->n_ops; i++) {
            struct fr_op *op = &f->ops[i];

            if (number[op->layer] || (pass == 0 && op->phase > FR_PHASE_FORWARD))
                continue;
            names[n] = layers->keys[op->layer];
            number[op->layer] = ++n;
        }
    for (size_t i = 0; i < f->b->n_ops; i++)
        f->ops[i].layer = number[f->ops[i].layer] - 1;
    f->g->layer_names = names;
    f->g->n_layers = n;
    return FR_OK;
}

static enum fr_status place_ops(struct finish *f, struct fr_error *err)
{
    const struct fr_graph_builder *b = f->b;
    uint32_t n_placed = 0;

    f->ops = fr__arena_alloc(f->keep, b->n_ops, sizeof(*f->ops));
    f->tensors = fr__arena_alloc(f->keep, b->n_tensors, sizeof(*f->tensors));
    f->tensor_rank = fr__arena_alloc(f->scratch, b->n_tensors, sizeof(*f->tensor_rank));
    if (!f->ops || !f->tensors || !f->tensor_rank)
        return fr__fail_nomem(err);
    for (size_t i = 0; i < b->n_ops; i++) {
        struct fr_op *op = &f->ops[i];

        *op = b->ops[f->order[i]];
        op->forward = renumber(f->rank, op->forward);
        for (uint32_t t = op->first_tensor; t < op->first_tensor + op->n_tensors; t++) {
            f->tensors[n_placed] = b->tensors[t];
            f->tensors[n_placed].op = (uint32_t)i;
            f->tensor_rank[t] = n_placed++;
        }
        op->first_tensor = n_placed - op->n_tensors;
    }
    f->g->ops = f->ops;
    f->g->n_ops = b->n_ops;
    f->g->tensors = f->tensors;
    f->g->n_tensors = b->n_tensors;
    return number_layers(f, err);
}

/* Makes every alias name the tensor at the root of its chain, so that nobody has to walk it. A
 * chain longer than all tensors together is a ring. */
static enum fr_status flatten_aliases(struct finish *f, struct fr_error *err)
{
    size_t n = f->b->n_tensors;

    for (size_t t = 0; t < n; t++)
        f->tensors[t].alias = renumber(f->tensor_rank, f->tensors[t].alias);
    for (size_t t = 0; t < n; t++) {
        uint32_t root = (uint32_t)t;
        size_t steps = 0;

        while (f->tensors[root].alias != FR_NONE && steps++ <= n)
            root = f->tensors[root].alias;
        if (steps > n)
            return fr__fail(err, FR_EPARSE, f->ops[f->tensors[t].op].loc,
                            "an output of op '%s' shares storage with itself in a ring",
                            f->ops[f->tensors[t].op].name);
        for (uint32_t at = (uint32_t)t, next; at != root; at = next) {
            next = f->tensors[at].alias;
            f->tensors[at].alias = root;
        }
    }
    return FR_OK;
}

static int compare_edges(const void *a, const void *b)
{
    const struct fr_edge *x = a, *y = b;

    bool is_x_tie = x->tensor == FR_NONE && x->bytes > 0;
    bool is_y_tie = y->tensor == FR_NONE && y->bytes > 0;

    if (x->dst != y->dst)
        return x->dst < y->dst ? -1 : 1;
    if (x->tensor != y->tensor)
        return x->tensor < y->tensor ? -1 : 1;
    return is_x_tie - is_y_tie;
}

/* An op that reads a tensor twice needs it once: of equal edges the larger one is kept. A tie of
 * weights is no dependency, so it is kept in addition to one. */
static size_t merge_edges(struct fr_edge edges[], size_t n)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++) {
        struct fr_edge *last = kept ? &edges[kept - 1] : NULL;

        if (!last || last->src != edges[i].src || compare_edges(last, &edges[i]) != 0)
            edges[kept++] = edges[i];
        else if (edges[i].bytes > last->bytes)
            last->bytes = edges[i].bytes;
    }
    return kept;
}

static enum fr_status place_edges(struct finish *f, struct fr_error *err)
{
    const struct fr_graph_builder *b = f->b;
    struct fr_edge *moved;
    uint32_t *first, *fill;

    moved = fr__arena_alloc(f->scratch, b->n_edges, sizeof(*moved));
    first = fr__arena_alloc(f->scratch, b->n_ops + 1, sizeof(*first));
    fill = fr__arena_alloc(f->scratch, b->n_ops, sizeof(*fill));
    f->edges = fr__arena_alloc(f->keep, b->n_edges, sizeof(*f->edges));
    if (!moved || !first || !fill || !f->edges)
        return fr__fail_nomem(err);
    for (size_t e = 0; e < b->n_edges; e++) {
        moved[e] = b->edges[e];
        moved[e].src = f->rank[moved[e].src];
        moved[e].dst = f->rank[moved[e].dst];
        moved[e].tensor = renumber(f->tensor_rank, moved[e].tensor);
        if (moved[e].bytes == FR__TIE)
            moved[e].bytes = f->ops[moved[e].src].param_bytes;
    }
    count_keys(moved, b->n_edges, false, b->n_ops, first);
    for (size_t e = 0; e < b->n_edges; e++)
        f->edges[first[moved[e].src] + fill[moved[e].src]++] = moved[e];
    for (size_t o = 0; o < b->n_ops; o++)
        if (fill[o] > 1)
            qsort(&f->edges[first[o]], fill[o], sizeof(*f->edges), compare_edges);
    f->g->n_edges = merge_edges(f->edges, b->n_edges);
    f->g->edges = f->edges;
    return FR_OK;
}

static enum fr_status index_edges(struct finish *f, struct fr_error *err)
{
    size_t n_ops = f->g->n_ops, n_edges = f->g->n_edges;
    uint32_t *out_first, *in_first, *in_edges, *fill;

    out_first = fr__arena_alloc(f->keep, n_ops + 1, sizeof(*out_first));
    in_first = fr__arena_alloc(f->keep, n_ops + 1, sizeof(*in_first));
    in_edges = fr__arena_alloc(f->keep, n_edges, sizeof(*in_edges));
    fill = fr__arena_alloc(f->scratch, n_ops, sizeof(*fill));
    if (!out_first || !in_first || !in_edges || !fill)
        return fr__fail_nomem(err);
    count_keys(f->edges, n_edges, false, n_ops, out_first);
    count_keys(f->edges, n_edges, true, n_ops, in_first);
    for (uint32_t e = 0; e < n_edges; e++)
        in_edges[in_first[f->edges[e].dst] + fill[f->edges[e].dst]++] = e;
    f->g->out_first = out_first;
    f->g->in_first = in_first;
    f->g->in_edges = in_edges;
    return FR_OK;
}

/* A sample and its place in the order of coming, which decides between equals. */
struct ranked_sample {
    struct fr_sample s;
    size_t seq;
};

size_t fr_graph_first_sample(const struct fr_graph *g, uint32_t op)
{
    size_t low = 0, high = g->n_samples;

    while (low < high) {
        size_t mid = low + (high - low) / 2;

        if (g->samples[mid].op < op)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static int compare_samples(const void *a, const void *b)
{
    const struct ranked_sample *x = a, *y = b;
    int by_device;

    if (x->s.op != y->s.op)
        return x->s.op < y->s.op ? -1 : 1;
    by_device = strcmp(x->s.device, y->s.device);
    if (by_device)
        return by_device;
    if (x->s.batch != y->s.batch)
        return x->s.batch < y->s.batch ? -1 : 1;
    return x->seq < y->seq ? -1 : x->seq > y->seq;
}

/* Puts n samples in order. */
static enum fr_status sort_samples(struct fr_sample samples[], size_t n, struct fr_error *err)
{
    struct ranked_sample *ranked = calloc(n + 1, sizeof(*ranked));

    if (!ranked)
        return fr__fail_nomem(err);
    for (size_t i = 0; i < n; i++)
        ranked[i] = (struct ranked_sample){samples[i], i};
    qsort(ranked, n, sizeof(*ranked), compare_samples);
    for (size_t i = 0; i < n; i++)
        samples[i] = ranked[i].s;
    free(ranked);
    return FR_OK;
}

static enum fr_status place_samples(struct finish *f, struct fr_error *err)
{
    size_t n = f->b->n_samples;
    struct fr_sample *samples = fr__arena_alloc(f->keep, n, sizeof(*samples));

    if (!samples)
        return fr__fail_nomem(err);
    for (size_t i = 0; i < n; i++) {
        samples[i] = f->b->samples[i];
        samples[i].op = f->rank[samples[i].op];
    }
    FR_TRY(sort_samples(samples, n, err));
    f->g->samples = samples;
    f->g->n_samples = n;
    return FR_OK;
}

enum fr_status fr__graph_name_device(struct fr_graph *g, const char *device, struct fr_error *err)
{
    const struct fr__graph_priv *priv = g->priv;
    struct fr_sample *samples = fr__arena_alloc(priv->arena, g->n_samples, sizeof(*samples));
    const char *name = fr__arena_strdup(priv->arena, device);

    if (!samples || !name)
        return fr__fail_nomem(err);
    for (size_t i = 0; i < g->n_samples; i++) {
        samples[i] = g->samples[i];
        if (strcmp(samples[i].device, "*") == 0)
            samples[i].device = name;
    }
    FR_TRY(sort_samples(samples, g->n_samples, err));
    g->samples = samples;
    return FR_OK;
}

static enum fr_status count_saved(struct finish *f, uint64_t *saved_bytes, struct fr_error *err)
{
    bool *is_saved = fr__arena_alloc(f->scratch, f->g->n_tensors, sizeof(*is_saved));

    if (!is_saved)
        return fr__fail_nomem(err);
    fr__mark_saved(f->g, is_saved);
    for (size_t t = 0; t < f->g->n_tensors; t++)
        if (is_saved[t])
            *saved_bytes += f->tensors[t].bytes;
    return FR_OK;
}

bool fr__graph_set_formats(struct fr_graph *g, const struct fr_formats *f)
{
    struct fr__graph_priv *priv = g->priv;

    return fr__formats_copy(&g->formats, f, priv->arena);
}

static enum fr_status copy_info(struct finish *f, const struct fr_graph *info, struct fr_error *err)
{
    struct fr_graph *g = f->g;

    g->name = fr__arena_strdup(f->keep, info->name);
    g->source = fr__arena_strdup(f->keep, info->source ? info->source : "");
    if (!g->name || !g->source)
        return fr__fail_nomem(err);
    g->batch = info->batch;
    g->seq_len = info->seq_len;
    g->dtype = info->dtype;
    if (!fr__formats_copy(&g->formats, info->formats, f->keep))
        return fr__fail_nomem(err);
    g->layout = info->layout;
    g->param_elem_bytes = info->param_elem_bytes;
    g->is_tasks = info->is_tasks;
    return FR_OK;
}

static enum fr_status make_graph(struct finish *f, const struct fr_graph *info,
                                 struct fr_error *err)
{
    struct fr__graph_priv *priv;

    f->g = fr__arena_alloc(f->keep, 1, sizeof(*f->g));
    priv = fr__arena_alloc(f->keep, 1, sizeof(*priv));
    if (!f->g || !priv)
        return fr__fail_nomem(err);
    FR_TRY(copy_info(f, info, err));
    FR_TRY(order_ops(f, err));
    FR_TRY(place_ops(f, err));
    FR_TRY(flatten_aliases(f, err));
    FR_TRY(place_edges(f, err));
    FR_TRY(index_edges(f, err));
    FR_TRY(place_samples(f, err));
    FR_TRY(count_saved(f, &priv->saved_bytes, err));
    priv->arena = f->keep;
    f->g->priv = priv;
    return FR_OK;
}

enum fr_status fr_graph_builder_finish(struct fr_graph_builder *b, const struct fr_graph *info,
                                       struct fr_graph **out, struct fr_error *err)
{
    struct finish f = {.b = b, .keep = b->arena};
    enum fr_status st;

    if (b->is_out_of_memory)
        return fr__fail_nomem(err);
    if (b->has_fault) {
        if (err)
            *err = b->fault;
        return b->fault.code;
    }
    FR_TRY(fr__builder_check(b, info, err));
    f.scratch = fr__arena_new();
    if (!f.scratch)
        return fr__fail_nomem(err);
    st = make_graph(&f, info, err);
    fr__arena_free(f.scratch);
    if (st != FR_OK)
        return st;
    b->arena = NULL;
    *out = f.g;
    return FR_OK;
}

void fr_graph_free(struct fr_graph *g)
{
    if (g)
        fr__arena_free(((struct fr__graph_priv *)g->priv)->arena);
}
