/* workloads/graph/check.c - reports what is odd in a graph, though not invalid. */
#include "config.h"

#include "workloads/workloads.h"

#include "base/error.h"
#include "workloads/graph/elements.h"
#include "workloads/graph/shape.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct checker {
    const struct fr_graph *g;
    void (*say)(void *user, const char *line);
    void *user;
    size_t n_said;
    bool *has_backward, *has_update, *has_sample; /* [n_ops] */
    bool *is_trained; /* [n_ops] it has parameters, or reads what comes from some */
    bool *is_read;    /* [n_tensors] */
};

static void report(struct checker *c, const char *fmt, ...) FR_PRINTF(2, 3);

static void report(struct checker *c, const char *fmt, ...)
{
    char line[FR_SHAPE_TEXT + 512];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(line, sizeof(line), fmt, ap);
    va_end(ap);
    if (c->say)
        c->say(c->user, line);
    c->n_said++;
}

static void mark_read(struct checker *c, uint32_t o)
{
    for (uint32_t t = 0; o != FR_NONE && t < c->g->ops[o].n_tensors; t++)
        c->is_read[c->g->ops[o].first_tensor + t] = true;
}

/* Where an op runs again, what it made the first time may serve nobody, or the second time.
 * Returns whether there is any backward op. */
static bool mark(struct checker *c)
{
    const struct fr_graph *g = c->g;
    bool any = false;

    for (size_t i = 0; i < g->n_ops; i++) {
        const struct fr_op *op = &g->ops[i];
        bool is_update = op->phase == FR_PHASE_UPDATE;
        bool is_backward = op->phase > FR_PHASE_FORWARD && !is_update && !op->is_recomputed;

        any = any || is_backward;
        if (op->forward != FR_NONE && is_backward)
            c->has_backward[op->forward] = true;
        if (op->forward != FR_NONE && is_update)
            c->has_update[op->forward] = true;
        if (op->is_recomputed) {
            mark_read(c, op->forward);
            mark_read(c, (uint32_t)i);
        }
    }
    for (size_t i = 0; i < g->n_edges; i++)
        if (g->edges[i].tensor != FR_NONE)
            c->is_read[g->edges[i].tensor] = true;
    for (size_t i = 0; i < g->n_samples; i++)
        c->has_sample[g->samples[i].op] = true;
    return any;
}

static bool is_view(const struct fr_graph *g, const struct fr_op *op)
{
    for (uint32_t t = 0; t < op->n_tensors; t++)
        if (g->tensors[op->first_tensor + t].alias == FR_NONE)
            return false;
    return op->n_tensors > 0 && op->flops <= 0;
}

/* Indices, masks and statistics are further outputs: they carry no gradient. */
static bool carries_gradient(const struct fr_graph *g, const struct fr_edge *e)
{
    const struct fr_op *src = &g->ops[e->src];
    bool is_any = src->kind == FR_OP_SPLIT || src->kind == FR_OP_LAYER || src->kind == FR_OP_OTHER;

    return e->tensor != FR_NONE && (is_any || e->tensor == src->first_tensor);
}

static void mark_trained(struct checker *c)
{
    const struct fr_graph *g = c->g;

    for (uint32_t o = 0; o < g->n_ops; o++) {
        c->is_trained[o] = g->ops[o].param_bytes > 0 && !g->ops[o].is_frozen;
        for (uint32_t i = g->in_first[o]; i < g->in_first[o + 1]; i++) {
            const struct fr_edge *e = &g->edges[g->in_edges[i]];
            bool is_tied = e->tensor == FR_NONE && e->bytes > 0 && !g->ops[e->src].is_frozen;

            if (is_tied || (carries_gradient(g, e) && c->is_trained[e->src]))
                c->is_trained[o] = true;
        }
    }
}

/* A loss, or a sum of losses. */
static bool is_loss(const struct fr_graph *g, uint32_t o)
{
    if (g->ops[o].kind != FR_OP_ADD)
        return g->ops[o].kind == FR_OP_LOSS;
    for (uint32_t i = g->in_first[o]; i < g->in_first[o + 1]; i++)
        if (g->ops[g->edges[g->in_edges[i]].src].kind != FR_OP_LOSS)
            return false;
    return g->in_first[o] < g->in_first[o + 1];
}

/* The gradient of its inputs may be that of its output, so it needs no backward op. A message of a
 * sharded graph has its mirror image where one is needed. */
static bool passes_gradient(const struct fr_graph *g, const struct fr_op *op)
{
    return op->kind == FR_OP_ADD || op->kind == FR_OP_BIAS || op->kind == FR_OP_RESHAPE ||
           is_view(g, op) || fr_op_kind_is_message(op->kind) || op->kind == FR_OP_SLICE;
}

static void check_op(struct checker *c, uint32_t o, bool is_training)
{
    const struct fr_op *op = &c->g->ops[o];
    bool is_forward = op->phase == FR_PHASE_FORWARD;

    if (is_forward && is_training && c->is_trained[o] && !c->has_backward[o] &&
        !passes_gradient(c->g, op))
        report(c, "op '%s' has no backward op", op->name);
    if (is_forward && op->param_bytes && !op->is_frozen && is_training && !c->has_update[o])
        report(c, "op '%s' has parameters but no update op", op->name);
    if (op->phase > FR_PHASE_FORWARD && op->forward == FR_NONE)
        report(c, "op '%s' (%s) does not say which forward op it derives from", op->name,
               fr_phase_name(op->phase));
    if (op->flops <= 0 && op->bytes <= 0 && op->param_bytes == 0 && !c->has_sample[o] &&
        op->phase != FR_PHASE_INPUT && !is_view(c->g, op) && !fr_op_kind_is_message(op->kind))
        report(c, "op '%s' costs nothing: no flops, no bytes, no measured time", op->name);
    if (is_forward && op->param_bytes % c->g->param_elem_bytes)
        report(c, "op '%s' has %" PRIu64 " bytes of parameters, not a multiple of %u", op->name,
               op->param_bytes, c->g->param_elem_bytes);
    if (is_forward && (op->param_bytes == 0) != (op->n_params == 0))
        report(c, "op '%s' has %" PRIu64 " bytes in %" PRIu32 " parameter tensors", op->name,
               op->param_bytes, op->n_params);
}

/* Whether the dims of what a forward op writes and its shape agree, or one of them does not say. */
static bool fits_output(const struct fr_graph *g, const struct fr_op *op)
{
    double want = fr__shape_output_elements(op), elements;
    const struct fr_tensor *t;

    if (op->phase != FR_PHASE_FORWARD || op->n_tensors == 0 || want <= 0)
        return true;
    t = &g->tensors[op->first_tensor];
    elements = fr__tensor_elements(t);
    return t->n_dims == 0 || (elements >= want && elements <= want);
}

static void check_shape(struct checker *c, const struct fr_op *op)
{
    char shape[FR_SHAPE_TEXT];

    fr_shape_format(&op->shape, shape, sizeof(shape));
    if (!fr__shape_fits_flops(op))
        report(c, "op '%s' has %g flops, but its shape (%s) makes %g", op->name, op->flops, shape,
               fr_op_shape_flops(op));
    if (!fits_output(c->g, op))
        report(c, "op '%s' writes an output whose dims are not those of its shape (%s)", op->name,
               shape);
}

/* Elements have 1 (masks), 2, 4 or 8 bytes (indices). */
static bool has_odd_size(const struct fr_tensor *t)
{
    double elements = fr__tensor_elements(t);

    for (unsigned size = 1; size <= 8; size *= 2)
        if (elements * size >= (double)t->bytes && elements * size <= (double)t->bytes)
            return false;
    return t->n_dims > 0;
}

static void check_tensor(struct checker *c, uint32_t t)
{
    const struct fr_tensor *tensor = &c->g->tensors[t];
    const struct fr_op *op = &c->g->ops[tensor->op];
    const struct fr_tensor *root = tensor->alias == FR_NONE ? NULL : &c->g->tensors[tensor->alias];
    uint32_t k = t - op->first_tensor;

    /* statistics that a frozen op makes for a backward pass which it has not, are read by nobody */
    if (!c->is_read[t] && !is_loss(c->g, tensor->op) &&
        !(op->is_frozen && k > 0 && !c->has_backward[tensor->op]))
        report(c, "output %" PRIu32 " of op '%s' is read by nobody", k, op->name);
    if (has_odd_size(tensor))
        report(c,
               "output %" PRIu32 " of op '%s' has %" PRIu64 " bytes, not 1, 2, 4 or 8 for each "
               "element of its dims",
               k, op->name, tensor->bytes);
    if (root && tensor->bytes > root->bytes)
        report(c, "output %" PRIu32 " of op '%s' has %" PRIu64 " bytes in a storage of %" PRIu64, k,
               op->name, tensor->bytes, root->bytes);
    if (tensor->scales && tensor->bytes % c->g->batch)
        report(c,
               "output %" PRIu32 " of op '%s' scales, but its %" PRIu64 " bytes are no multiple "
               "of the batch %" PRIu32,
               k, op->name, tensor->bytes, c->g->batch);
}

static void check_edge(struct checker *c, const struct fr_edge *e)
{
    const struct fr_graph *g = c->g;

    if (e->tensor != FR_NONE && e->bytes > g->tensors[e->tensor].bytes)
        report(c, "the edge from '%s' to '%s' moves %" PRIu64 " bytes of a tensor of %" PRIu64,
               g->ops[e->src].name, g->ops[e->dst].name, e->bytes, g->tensors[e->tensor].bytes);
}

static void check_all(struct checker *c)
{
    const struct fr_graph *g = c->g;
    bool is_training = mark(c);

    mark_trained(c);
    if (!is_training)
        report(c, "graph '%s' has no backward ops", g->name);
    for (uint32_t o = 0; o < g->n_ops; o++) {
        check_op(c, o, is_training);
        check_shape(c, &g->ops[o]);
    }
    for (uint32_t t = 0; t < g->n_tensors; t++)
        check_tensor(c, t);
    for (size_t e = 0; e < g->n_edges; e++)
        check_edge(c, &g->edges[e]);
}

size_t fr_graph_check(const struct fr_graph *g, void (*say)(void *user, const char *line),
                      void *user)
{
    struct checker c = {.g = g, .say = say, .user = user};
    bool *flags = calloc(4 * g->n_ops + g->n_tensors, sizeof(*flags));

    if (!flags)
        return SIZE_MAX;
    c.has_backward = flags;
    c.has_update = flags + g->n_ops;
    c.has_sample = flags + 2 * g->n_ops;
    c.is_trained = flags + 3 * g->n_ops;
    c.is_read = flags + 4 * g->n_ops;
    check_all(&c);
    free(flags);
    return c.n_said;
}
