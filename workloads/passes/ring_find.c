/* workloads/passes/ring_find.c - which messages are cut, and the ops beside them; the rules are in
 * ring.h. */
#include "config.h"

#include "workloads/passes/ring_parts.h"

/* ---- which messages may be cut ---- */

static bool is_message(const struct fr__ring *r, uint32_t op, enum fr_op_kind kind, uint32_t *axis)
{
    const struct fr__comm *m = fr__ring_comm(r, op);

    if (!m || r->g->ops[op].kind != kind || m->axis >= r->in->n_axes || m->is_step ||
        r->in->axes[m->axis].ranks < 2)
        return false;
    *axis = m->axis;
    return true;
}

uint32_t fr__ring_source(const struct fr__ring *r, uint32_t gather)
{
    for (uint32_t i = r->g->in_first[gather]; i < r->g->in_first[gather + 1]; i++)
        if (r->g->edges[r->g->in_edges[i]].tensor != FR_NONE)
            return r->g->edges[r->g->in_edges[i]].tensor;
    return FR_NONE;
}

/* The only reader of tensor t; FR_NONE: there is none, or another. */
static uint32_t only_reader(const struct fr_graph *g, uint32_t t)
{
    uint32_t op = g->tensors[t].op, reader = FR_NONE;

    for (uint32_t i = g->out_first[op]; i < g->out_first[op + 1]; i++) {
        if (g->edges[i].tensor != t)
            continue;
        if (reader != FR_NONE)
            return FR_NONE;
        reader = g->edges[i].dst;
    }
    return reader;
}

uint32_t fr__ring_scatter_of(const struct fr__ring *r, uint32_t t)
{
    uint32_t reader = only_reader(r->g, t);

    return reader != FR_NONE && fr__ring_is_message(r, reader) &&
                   r->g->ops[reader].kind == FR_OP_REDUCE_SCATTER
               ? reader
               : FR_NONE;
}

/* A product's rows are shared alike by the parts. Of keys in a window the parts of a ring would not
 * be alike: they are gathered. */
static bool has_parts(const struct fr_op *op, uint32_t n)
{
    return op->shape.of == FR_SHAPE_PRODUCT ? op->shape.product.rows % n == 0
           : op->shape.of == FR_SHAPE_ATTENTION
               ? op->shape.attention.key_len % n == 0 && !op->shape.attention.window
               : false;
}

static bool is_reader(const struct fr__ring *r, uint32_t op, uint32_t axis)
{
    const struct fr_op *o = &r->g->ops[op];

    return o->kind == r->in->axes[axis].reader &&
           (o->phase == FR_PHASE_FORWARD || o->phase == FR_PHASE_BACKWARD_DATA) &&
           (r->axis[op] == FR_NONE || r->axis[op] == axis) && has_parts(o, r->in->axes[axis].ranks);
}

static void cut_gather(struct fr__ring *r, uint32_t gather)
{
    const struct fr_graph *g = r->g;
    bool is_backward = g->ops[gather].phase != FR_PHASE_FORWARD;
    uint32_t axis;

    if (!is_message(r, gather, FR_OP_ALL_GATHER, &axis) || fr__ring_source(r, gather) == FR_NONE)
        return;
    for (uint32_t i = g->out_first[gather]; i < g->out_first[gather + 1]; i++) {
        uint32_t dst = g->edges[i].dst;

        if (g->edges[i].tensor == FR_NONE || !is_reader(r, dst, axis) ||
            (g->ops[dst].phase != FR_PHASE_FORWARD) != is_backward)
            continue;
        r->axis[gather] = r->axis[dst] = axis;
        r->lead[gather] = gather;
        r->reads_parts[dst] = true;
    }
}

/* All that it reads is there when its op has run. */
static bool waits_for_op_alone(const struct fr_graph *g, uint32_t scatter, uint32_t op)
{
    for (uint32_t i = g->in_first[scatter]; i < g->in_first[scatter + 1]; i++)
        if (g->edges[g->in_edges[i]].src > op)
            return false;
    return true;
}

static void cut_scatter(struct fr__ring *r, uint32_t scatter)
{
    const struct fr_graph *g = r->g;
    uint32_t axis, op, source;

    if (!is_message(r, scatter, FR_OP_REDUCE_SCATTER, &axis))
        return;
    source = fr__ring_source(r, scatter);
    op = source == FR_NONE ? FR_NONE : g->tensors[source].op;
    if (op == FR_NONE || only_reader(g, source) != scatter || !is_reader(r, op, axis) ||
        (!fr_op_runs_forward(&g->ops[op]) && !r->in->axes[axis].cuts_gradient_sums) ||
        !waits_for_op_alone(g, scatter, op))
        return;
    r->axis[scatter] = r->axis[op] = axis;
    r->lead[scatter] = op;
    r->sums_parts[op] = true;
}

/* ---- what travels together ---- */

/* Whether gather `before` may wait until gather `op` is there. */
static bool can_wait(const struct fr__ring *r, uint32_t before, uint32_t op)
{
    const struct fr_graph *g = r->g;

    for (uint32_t i = g->out_first[before]; i < g->out_first[before + 1]; i++)
        if (g->edges[i].dst <= op)
            return false;
    return true;
}

/* The gathers of an op that is cut travel together where they can. */
static void join_gathers(struct fr__ring *r, uint32_t op)
{
    const struct fr_graph *g = r->g;
    uint32_t last = FR_NONE;

    for (uint32_t i = g->in_first[op]; i < g->in_first[op + 1]; i++) {
        uint32_t src = g->edges[g->in_edges[i]].src;

        if (fr__ring_is_message(r, src) && r->lead[src] == src && (last == FR_NONE || src > last))
            last = src;
    }
    for (uint32_t i = g->in_first[op]; last != FR_NONE && i < g->in_first[op + 1]; i++) {
        uint32_t src = g->edges[g->in_edges[i]].src;

        if (fr__ring_is_message(r, src) && r->lead[src] == src && src != last &&
            r->joined[src] == FR_NONE && can_wait(r, src, last)) {
            r->lead[src] = last;
            r->joined[src] = r->joined[last];
            r->joined[last] = src;
        }
    }
}

void fr__ring_find(struct fr__ring *r, size_t n_cut[])
{
    for (size_t a = 0; a < r->in->n_axes; a++)
        n_cut[a] = 0;
    for (uint32_t o = 0; o < r->g->n_ops; o++)
        cut_gather(r, o);
    for (uint32_t o = 0; o < r->g->n_ops; o++)
        cut_scatter(r, o);
    for (uint32_t o = 0; o < r->g->n_ops; o++)
        if (r->axis[o] != FR_NONE && !fr__ring_comm(r, o)) {
            join_gathers(r, o);
            n_cut[r->axis[o]]++;
        }
}
