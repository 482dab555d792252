/* workloads/passes/shard/annotate.c - splits by structure, for models of any name.
 *
 * M. Shoeybi et al., Megatron-LM, 2019, section 3: a block begins with products that are split by
 * columns and ends with one that is split by depth; between them every op works on its own columns
 * or heads. So a product is split by columns where all that reads its columns leads to other
 * products without meeting an op that needs all columns (a norm) or a sum with something else (a
 * residual). What leads to the classes of a loss is the head.
 */
#include "config.h"

#include "workloads/passes/shard/walk.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

/* ---- where a product's columns go ---- */

struct tracing {
    const struct fr_graph *g;
    uint32_t *stack; /* [n_ops] */
    uint32_t *seen;  /* [n_ops] number of the trace that saw the op last */
    uint32_t *ends;  /* [n_ops] products by depth that the trace ended in */
    uint32_t *sides; /* [n_ops] products of adapters that are added to its columns */
    uint32_t n_ends, number, n_stack, n_sides;
    bool is_head; /* it ended in a loss's classes */
};

static void visit(struct tracing *t, uint32_t op)
{
    if (t->seen[op] == t->number)
        return;
    t->seen[op] = t->number;
    t->stack[t->n_stack++] = op;
}

/* Notes the products of the adapter that `sum` adds to what it reads (workloads/passes/tune.h). */
static void note_adapter(struct tracing *t, uint32_t sum)
{
    const struct fr_graph *g = t->g;
    uint32_t o = sum, next = sum;

    if (t->seen[sum] == t->number)
        return;
    do {
        o = next;
        if (o != sum && g->ops[o].kind == FR_OP_MATMUL)
            t->sides[t->n_sides++] = o;
        for (uint32_t i = g->in_first[o]; i < g->in_first[o + 1]; i++) {
            const struct fr_edge *e = &g->edges[g->in_edges[i]];

            if (e->tensor != FR_NONE && g->ops[e->src].is_adapter &&
                g->ops[e->src].kind != FR_OP_ADD && g->ops[e->src].kind != FR_OP_DROPOUT)
                next = e->src;
        }
    } while (next != o);
}

/* Goes on from what `op` reads over in-edge i; false: its columns cannot stay split there. */
static bool pass_through(struct tracing *t, uint32_t op, uint32_t i)
{
    const struct fr_graph *g = t->g;
    const struct fr_op *o = &g->ops[op];

    if (fr__shard_is_product(o)) {
        if (fr__shard_input_dim(g, op, i, FR__SPLIT_DEPTH) < 0 || o->kind != FR_OP_MATMUL)
            return false;
        if (t->seen[op] != t->number)
            t->ends[t->n_ends++] = op;
        t->seen[op] = t->number;
        return true;
    }
    if (o->kind == FR_OP_LOG_SOFTMAX && fr__shard_input_dim(g, op, i, FR__SPLIT_DEPTH) >= 0) {
        t->is_head = true;
        return true;
    }
    if (o->is_adapter)
        note_adapter(t, op);
    if ((o->kind == FR_OP_ADD && !o->is_adapter) || o->kind == FR_OP_SCATTER ||
        o->kind == FR_OP_GATHER || fr__shard_input_dim(g, op, i, FR__SPLIT_COLUMNS) < 0)
        return false;
    visit(t, op);
    return true;
}

/* Whether the columns that p writes may stay split until they are summed over. */
static bool trace(struct tracing *t, uint32_t p)
{
    const struct fr_graph *g = t->g;

    t->number++;
    t->n_ends = t->n_stack = t->n_sides = 0;
    t->is_head = false;
    visit(t, p);
    while (t->n_stack > 0) {
        uint32_t o = t->stack[--t->n_stack];

        for (uint32_t e = g->out_first[o]; e < g->out_first[o + 1]; e++) {
            uint32_t dst = g->edges[e].dst, tensor = g->edges[e].tensor;

            if (tensor == FR_NONE || g->ops[dst].phase != FR_PHASE_FORWARD)
                continue;
            for (uint32_t i = g->in_first[dst]; i < g->in_first[dst + 1]; i++)
                if (g->in_edges[i] == e && !pass_through(t, dst, i))
                    return false;
        }
    }
    return t->n_ends > 0 || t->is_head;
}

/* ---- annotations ---- */

/* Product o is split by columns, and what reads these by depth. The adapters of a product that is
 * split by columns are too, both products of each; those of one that is split by depth follow what
 * they read (NVIDIA NeMo, ParallelLinearAdapter). */
static void split_columns(const struct tracing *t, uint32_t o, uint8_t split[])
{
    split[o] = FR__SPLIT_COLUMNS;
    for (uint32_t i = 0; i < t->n_ends; i++)
        split[t->ends[i]] = FR__SPLIT_DEPTH;
    for (uint32_t i = 0; i < t->n_sides; i++)
        split[t->sides[i]] = FR__SPLIT_COLUMNS;
}

/* Whether another op of o's layer reads tensor t too. */
static bool is_shared_in_layer(const struct fr_graph *g, uint32_t o, uint32_t t)
{
    uint32_t src = g->tensors[t].op;

    for (uint32_t e = g->out_first[src]; e < g->out_first[src + 1]; e++) {
        uint32_t dst = g->edges[e].dst;

        if (g->edges[e].tensor == t && dst != o && g->ops[dst].phase == FR_PHASE_FORWARD &&
            g->ops[dst].layer == g->ops[o].layer)
            return true;
    }
    return false;
}

/* Marks the steps of recurrences: ops of one layer that use the same parameters, or the same cast
 * of them. */
static void mark_steps(const struct fr_graph *g, bool is_step[])
{
    for (size_t i = 0; i < g->n_edges; i++) {
        const struct fr_edge *e = &g->edges[i];

        if (fr__edge_is_tie(e) && g->ops[e->src].layer == g->ops[e->dst].layer)
            is_step[e->src] = is_step[e->dst] = true;
        if (e->tensor != FR_NONE && g->ops[e->src].kind == FR_OP_CAST &&
            g->ops[e->src].param_bytes && g->ops[e->dst].phase == FR_PHASE_FORWARD &&
            is_shared_in_layer(g, e->dst, e->tensor))
            is_step[e->dst] = true;
    }
}

/* Rows of the largest table that is looked up by what the samples say: the vocabulary. */
static uint64_t largest_vocabulary(const struct fr_graph *g)
{
    uint64_t most = 0;

    for (uint32_t o = 0; o < g->n_ops; o++) {
        const struct fr_op *op = &g->ops[o];

        if (op->phase == FR_PHASE_FORWARD && op->shape.of == FR_SHAPE_EMBEDDING && op->scales &&
            op->shape.embedding.vocabulary > most)
            most = op->shape.embedding.vocabulary;
    }
    return most;
}

static bool is_vocabulary(const struct fr_op *op, uint64_t vocabulary)
{
    return op->kind == FR_OP_EMBEDDING && op->shape.of == FR_SHAPE_EMBEDDING && op->scales &&
           op->shape.embedding.vocabulary == vocabulary;
}

static void annotate(struct tracing *t, const uint32_t expert_of[], const bool is_step[],
                     bool vocab_parallel, uint8_t split[])
{
    const struct fr_graph *g = t->g;
    uint64_t vocabulary = vocab_parallel ? largest_vocabulary(g) : 0;

    for (uint32_t o = 0; o < g->n_ops; o++) {
        const struct fr_op *op = &g->ops[o];

        if (op->phase != FR_PHASE_FORWARD)
            continue;
        if (vocab_parallel && is_vocabulary(op, vocabulary))
            split[o] = FR__SPLIT_DEPTH;
        if (op->kind != FR_OP_MATMUL || split[o] != FR__SPLIT_DERIVED || expert_of[o] != FR_NONE ||
            is_step[o] || op->is_adapter || fr__shard_output_dim(g, o, 0, FR__SPLIT_COLUMNS) < 0)
            continue;
        if (!trace(t, o) || (t->is_head && (!vocab_parallel || t->n_ends > 0)))
            continue;
        split_columns(t, o, split);
    }
}

/* The products of experts: by columns, then by depth. */
static void annotate_experts(struct tracing *t, const uint32_t expert_of[], uint8_t split[])
{
    for (uint32_t o = 0; o < t->g->n_ops; o++) {
        if (expert_of[o] == FR_NONE || t->g->ops[o].kind != FR_OP_MATMUL ||
            split[o] != FR__SPLIT_DERIVED || t->g->ops[o].is_adapter || !trace(t, o) || t->is_head)
            continue;
        split_columns(t, o, split);
    }
}

enum fr_status fr__shard_annotate_experts(const struct fr_graph *g, const uint32_t expert_of[],
                                          uint8_t split[], struct fr_error *err)
{
    uint32_t *numbers = calloc(4 * g->n_ops, sizeof(*numbers));
    struct tracing t = {.g = g};

    if (!numbers)
        return fr__fail_nomem(err);
    t.stack = numbers;
    t.seen = numbers + g->n_ops;
    t.ends = numbers + 2 * g->n_ops;
    t.sides = numbers + 3 * g->n_ops;
    annotate_experts(&t, expert_of, split);
    free(numbers);
    return FR_OK;
}

enum fr_status fr__shard_megatron(const struct fr_graph *g, bool vocab_parallel, uint8_t split[],
                                  struct fr_error *err)
{
    uint32_t *numbers = calloc(5 * g->n_ops, sizeof(*numbers));
    bool *is_step = calloc(g->n_ops, sizeof(*is_step));
    struct tracing t = {.g = g};

    if (!numbers || !is_step) {
        free(numbers);
        free(is_step);
        return fr__fail_nomem(err);
    }
    t.stack = numbers;
    t.seen = numbers + g->n_ops;
    t.ends = numbers + 2 * g->n_ops;
    t.sides = numbers + 4 * g->n_ops;
    memset(split, FR__SPLIT_DERIVED, g->n_ops);
    fr__graph_experts(g, numbers + 3 * g->n_ops);
    mark_steps(g, is_step);
    annotate(&t, numbers + 3 * g->n_ops, is_step, vocab_parallel, split);
    free(numbers);
    free(is_step);
    return FR_OK;
}

/* Whether the op is attention itself, or a product of an unfused one: of heads, so in four
 * dimensions. */
static bool attends(const struct fr_graph *g, uint32_t o)
{
    const struct fr_op *op = &g->ops[o];
    bool is_product = op->kind == FR_OP_BATCH_MATMUL && g->tensors[op->first_tensor].n_dims == 4;

    return op->phase == FR_PHASE_FORWARD && (op->kind == FR_OP_ATTENTION || is_product) &&
           fr__shard_has_loop(g, o, FR__SPLIT_COLUMNS);
}

/* Whether what the product writes is what a softmax reads: it multiplies queries and keys. */
static bool leads_to_softmax(const struct fr_graph *g, uint32_t o)
{
    for (uint32_t i = g->out_first[o]; i < g->out_first[o + 1]; i++) {
        const struct fr_edge *e = &g->edges[i];
        const struct fr_op *dst = &g->ops[e->dst];

        if (e->tensor == FR_NONE || dst->phase != FR_PHASE_FORWARD)
            continue;
        switch (dst->kind) {
        case FR_OP_SOFTMAX:
            return true;
        case FR_OP_SCALE:
        case FR_OP_TANH: /* of a soft cap */
        case FR_OP_MASK:
        case FR_OP_ADD:
        case FR_OP_BIAS:
        case FR_OP_CAST:
            return leads_to_softmax(g, e->dst);
        default:
            break;
        }
    }
    return false;
}

/* Attention by heads, and who reads its outcome by positions again. */
static void annotate_heads(const struct fr_graph *g, uint8_t split[])
{
    for (uint32_t o = 0; o < g->n_ops; o++) {
        if (!attends(g, o))
            continue;
        split[o] = FR__SPLIT_COLUMNS;
        for (uint32_t i = g->out_first[o]; !leads_to_softmax(g, o) && i < g->out_first[o + 1];
             i++) {
            const struct fr_edge *e = &g->edges[i];

            if (e->tensor != FR_NONE && g->ops[e->dst].phase == FR_PHASE_FORWARD &&
                fr__shard_has_loop(g, e->dst, FR__SPLIT_SEQUENCE))
                split[e->dst] = FR__SPLIT_SEQUENCE;
        }
    }
}

void fr__shard_context(const struct fr_graph *g, enum fr__context how, uint8_t split[])
{
    for (uint32_t o = 0; o < g->n_ops; o++)
        split[o] = g->ops[o].phase == FR_PHASE_FORWARD && g->ops[o].kind == FR_OP_EMBEDDING &&
                           fr__shard_has_loop(g, o, FR__SPLIT_SEQUENCE)
                       ? FR__SPLIT_SEQUENCE
                       : FR__SPLIT_DERIVED;
    if (how == FR__CONTEXT_HEADS)
        annotate_heads(g, split);
}
