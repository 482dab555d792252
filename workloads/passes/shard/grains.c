/* workloads/passes/shard/grains.c - how finely tensors and loops can be split.
 *
 * The width of queries is one number for each element, but only whole heads can be shared. Which
 * tensors hold heads follows from the ops that read them, back through all that keep the columns
 * apart: to the product that writes them.
 */
#include "config.h"

#include "workloads/passes/shard/walk.h"

static uint64_t gcd(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t r = a % b;

        a = b;
        b = r;
    }
    return a;
}

static uint64_t units_of(const struct fr__sharding *s, uint32_t t, int dim)
{
    const struct fr__grain *grain = &s->grains[t];

    return grain->dim == dim ? grain->units : s->g->tensors[t].dims[dim];
}

/* Makes the units of dimension dim of t no finer than `units`. */
static void coarsen(struct fr__sharding *s, uint32_t t, int dim, uint64_t units, bool is_shared,
                    bool may_be_uneven)
{
    struct fr__grain *grain = &s->grains[t];

    *grain = (struct fr__grain){.units = gcd(units_of(s, t, dim), units),
                                .dim = (int8_t)dim,
                                .is_shared = is_shared || (grain->dim == dim && grain->is_shared),
                                .may_be_uneven =
                                    may_be_uneven || (grain->dim == dim && grain->may_be_uneven)};
}

/* The grain that op o asks of its input t. */
static void coarsen_input(struct fr__sharding *s, uint32_t o, uint32_t input, uint32_t t)
{
    const struct fr_graph *g = s->g;
    const struct fr_op *op = &g->ops[o];
    int dim = fr__shard_input_dim(g, o, input, FR__SPLIT_COLUMNS);
    int classes = fr__shard_input_dim(g, o, input, FR__SPLIT_DEPTH);
    int out;

    if ((op->kind == FR_OP_LOG_SOFTMAX ||
         (op->kind == FR_OP_LOSS && g->in_first[o + 1] > g->in_first[o] + 1)) &&
        classes >= 0)
        coarsen(s, t, classes, g->tensors[t].dims[classes], false, true);
    if (dim < 0 || op->n_tensors == 0 || fr__shard_is_product(op))
        return;
    if (op->kind == FR_OP_ATTENTION && op->shape.of == FR_SHAPE_ATTENTION) {
        bool has_queries = fr__shard_input_dim(g, o, input, FR__SPLIT_SEQUENCE) != FR__LACKS;
        bool is_shared = !has_queries && op->shape.attention.kv_heads < op->shape.attention.heads;

        coarsen(s, t, dim, is_shared ? op->shape.attention.kv_heads : op->shape.attention.heads,
                is_shared, false);
        return;
    }
    out = fr__shard_output_dim(g, o, 0, FR__SPLIT_COLUMNS);
    if (out < 0)
        return;
    if (op->kind == FR_OP_SPLIT && op->n_tensors > 1) {
        for (uint32_t k = 0; k < op->n_tensors; k++) /* each holds a part of every head */
            coarsen(s, t, dim, units_of(s, op->first_tensor + k, out), false, false);
        return;
    }
    coarsen(s, t, dim, units_of(s, op->first_tensor, out),
            s->grains[op->first_tensor].is_shared ||
                (op->kind == FR_OP_CONCAT && g->tensors[t].n_dims == 4 &&
                 g->tensors[t].dims[dim] < g->tensors[op->first_tensor].dims[out]),
            s->grains[op->first_tensor].may_be_uneven);
}

void fr__sharding_find_grains(struct fr__sharding *s)
{
    const struct fr_graph *g = s->g;

    for (size_t t = 0; t < g->n_tensors; t++)
        s->grains[t].dim = -1;
    for (uint32_t o = (uint32_t)g->n_ops; o-- > 0;) {
        const struct fr_op *op = &g->ops[o];

        if (op->phase != FR_PHASE_FORWARD)
            continue;
        if (op->kind == FR_OP_ATTENTION && op->n_tensors && op->shape.of == FR_SHAPE_ATTENTION)
            coarsen(s, op->first_tensor, 2, op->shape.attention.heads, false, false);
        for (uint32_t i = g->in_first[o]; i < g->in_first[o + 1]; i++)
            if (g->edges[g->in_edges[i]].tensor != FR_NONE)
                coarsen_input(s, o, i, g->edges[g->in_edges[i]].tensor);
    }
}

/* ---- parts ---- */

uint64_t fr__parts_of(const struct fr__extent *e, uint64_t ranks)
{
    if (ranks == 0 || e->units % ranks == 0 || (e->may_be_uneven && e->units > ranks))
        return ranks;
    return e->is_shared && ranks % e->units == 0 ? e->units : 0;
}

uint64_t fr__sharding_parts(const struct fr__sharding *s, uint32_t t, size_t a, int d)
{
    const struct fr__grain *grain = &s->grains[t];
    uint64_t ranks = s->axes[a].size;

    return grain->dim == d && grain->is_shared && grain->units < ranks ? grain->units : ranks;
}

struct fr__extent fr__sharding_extent(const struct fr__sharding *s, uint32_t t, int d)
{
    const struct fr__grain *grain = &s->grains[t];
    bool has_grain = grain->dim == d;

    return (struct fr__extent){units_of(s, t, d), has_grain && grain->is_shared,
                               has_grain && grain->may_be_uneven};
}

/* The loop's extent in the op's output, or else in an input. */
struct fr__extent fr__sharding_loop(const struct fr__sharding *s, uint32_t op, enum fr__split loop)
{
    const struct fr_graph *g = s->g;
    const struct fr_op *o = &g->ops[op];

    if (o->kind == FR_OP_EMBEDDING && loop == FR__SPLIT_DEPTH)
        return (struct fr__extent){
            o->shape.of == FR_SHAPE_EMBEDDING ? o->shape.embedding.vocabulary : 1, false, true};
    for (uint32_t k = 0; k < o->n_tensors; k++) {
        int d = fr__shard_output_dim(g, op, k, loop);

        if (d >= 0)
            return fr__sharding_extent(s, o->first_tensor + k, d);
    }
    for (uint32_t i = g->in_first[op]; i < g->in_first[op + 1]; i++) {
        int d = fr__shard_input_dim(g, op, i, loop);

        if (d >= 0)
            return fr__sharding_extent(s, g->edges[g->in_edges[i]].tensor, d);
    }
    return (struct fr__extent){1, false, false};
}

struct fr__cut fr__sharding_cut(const struct fr__sharding *s, uint32_t op, size_t a)
{
    struct fr__extent e = fr__sharding_loop(s, op, fr__sharding_split(s, op, a));
    uint64_t ranks = s->axes[a].size;

    return (struct fr__cut){e.units, e.is_shared && e.units < ranks ? e.units : ranks};
}
