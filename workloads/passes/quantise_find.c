/* workloads/passes/quantise_find.c - who reads which tensor as a narrow operand, and by rows or by
 * columns: see quantise.h. */
#include "config.h"

#include "workloads/passes/quantise_parts.h"

#include "workloads/graph/elements.h"

enum { WIDE_BITS = 16, WIDE_BYTES = 2 };

/* Whether a tensor has numbers of 16 bits. */
static bool is_castable(const struct fr_graph *g, uint32_t t)
{
    const struct fr_tensor *tensor = &g->tensors[t];
    double bytes = WIDE_BYTES * fr__tensor_elements(tensor);

    return tensor->n_dims > 1 && (double)tensor->bytes <= bytes && (double)tensor->bytes >= bytes;
}

unsigned fr__quantise_use(const struct fr__quantising *q, uint32_t o, const struct fr_edge *e)
{
    const struct fr_graph *g = q->g;
    const struct fr_op *op = &g->ops[o];

    if (e->tensor == FR_NONE || !is_castable(g, e->tensor) ||
        e->bytes != g->tensors[e->tensor].bytes)
        return 0;
    if (q->carries[o])
        return q->carries[o];
    if (fr__formats_bits(q->f, g, o) >= WIDE_BITS)
        return 0;
    if (fr_op_runs_forward(op))
        return FR__BY_ROWS;
    if (!q->is_gradient[e->tensor])
        return FR__BY_COLUMNS;
    return op->phase == FR_PHASE_BACKWARD_WEIGHT ? FR__BY_COLUMNS : FR__BY_ROWS;
}

/* A message is of the backward pass where it moves a gradient. */
static void find_gradients(struct fr__quantising *q)
{
    const struct fr_graph *g = q->g;

    for (uint32_t o = 0; o < g->n_ops; o++) {
        const struct fr_op *op = &g->ops[o];
        bool is_gradient = op->phase > FR_PHASE_FORWARD && !op->is_recomputed;

        if (fr_op_kind_is_message(op->kind))
            for (uint32_t i = g->in_first[o]; i < g->in_first[o + 1]; i++) {
                uint32_t t = g->edges[g->in_edges[i]].tensor;

                is_gradient = t != FR_NONE ? q->is_gradient[t] : is_gradient;
            }
        for (uint32_t k = 0; k < op->n_tensors; k++)
            q->is_gradient[op->first_tensor + k] = is_gradient;
    }
}

/* The tensor that a message gathers; FR_NONE: it is no such message. */
static uint32_t gathered_by(const struct fr__quantising *q, uint32_t o)
{
    const struct fr_graph *g = q->g;
    uint32_t found = FR_NONE;

    if (g->ops[o].kind != FR_OP_ALL_GATHER || g->ops[o].n_tensors != 1 || !q->in->sharded ||
        q->in->sharded->comm_of[o] == FR_NONE || !is_castable(g, g->ops[o].first_tensor))
        return FR_NONE;
    for (uint32_t i = g->in_first[o]; i < g->in_first[o + 1]; i++) {
        uint32_t t = g->edges[g->in_edges[i]].tensor;

        if (t == FR_NONE)
            continue;
        if (found != FR_NONE)
            return FR_NONE;
        found = t;
    }
    return found != FR_NONE && is_castable(g, found) ? found : FR_NONE;
}

static void note_read(struct fr__quantising *q, uint32_t o, const struct fr_edge *e)
{
    const struct fr_op *op = &q->g->ops[o];
    unsigned use = fr__quantise_use(q, o, e);

    if (e->tensor == FR_NONE)
        return;
    q->uses[e->tensor] |= (uint8_t)use;
    if (use)
        return;
    q->is_wide[e->tensor] = true;
    if (op->phase > FR_PHASE_FORWARD && !op->is_recomputed && !q->is_gradient[e->tensor])
        q->is_kept[e->tensor] = true;
}

/* From the last op to the first: what a message carries is known by who reads what it brings. */
static void find_uses(struct fr__quantising *q)
{
    const struct fr_graph *g = q->g;

    for (uint32_t o = (uint32_t)g->n_ops; o-- > 0;) {
        uint32_t in = gathered_by(q, o), out = g->ops[o].first_tensor;

        if (in != FR_NONE && q->uses[out] && !q->is_wide[out])
            q->carries[o] = q->uses[out];
        for (uint32_t i = g->in_first[o]; i < g->in_first[o + 1]; i++)
            note_read(q, o, &g->edges[g->in_edges[i]]);
    }
}

bool fr__quantise_find(struct fr__quantising *q)
{
    struct fr__arena *a = q->w.scratch;
    size_t n_tensors = q->g->n_tensors;

    q->uses = fr__arena_alloc(a, n_tensors, sizeof(*q->uses));
    q->carries = fr__arena_alloc(a, q->g->n_ops, sizeof(*q->carries));
    q->is_gradient = fr__arena_alloc(a, n_tensors, sizeof(*q->is_gradient));
    q->is_wide = fr__arena_alloc(a, n_tensors, sizeof(*q->is_wide));
    q->is_kept = fr__arena_alloc(a, n_tensors, sizeof(*q->is_kept));
    q->n_made = fr__arena_alloc(a, n_tensors, sizeof(*q->n_made));
    q->rows = fr__arena_nones(a, n_tensors);
    q->columns = fr__arena_nones(a, n_tensors);
    if (!q->uses || !q->carries || !q->is_gradient || !q->is_wide || !q->is_kept || !q->n_made ||
        !q->rows || !q->columns)
        return false;
    find_gradients(q);
    find_uses(q);
    return true;
}
