/* workloads/passes/shard/backward.c - pairs the tensors of the backward pass with forward ones.
 *
 * The gradient of a tensor has its dimensions, so it has its loops and grain too. Edges do not say
 * of which input a gradient is; it follows from the order in which differentiation makes them
 * (training_data.c): one output, or one op, for each input that wants a gradient, in the order of
 * the in-edges.
 */
#include "config.h"

#include "workloads/passes/shard/walk.h"

#include "base/error.h"
#include "workloads/passes/training.h"

#include <string.h>

bool fr__sharding_runs_forward(const struct fr_op *op)
{
    return op->phase <= FR_PHASE_FORWARD || op->is_recomputed;
}

enum fr__pass fr__sharding_pass(const struct fr_op *op)
{
    if (op->phase <= FR_PHASE_FORWARD)
        return FR__PASS_FORWARD;
    return op->is_recomputed ? FR__PASS_AGAIN : FR__PASS_BACKWARD;
}

bool fr__sharding_is_gradient(const struct fr_graph *g, uint32_t tensor)
{
    return !fr__sharding_runs_forward(&g->ops[g->tensors[tensor].op]);
}

/* ---- which inputs want a gradient ---- */

static bool has_gradient(const struct fr_graph *g, const bool is_needed[], const struct fr_edge *e)
{
    const struct fr_op *src = &g->ops[e->src];
    uint32_t n = src->n_tensors;

    if (e->tensor == FR_NONE || src->phase > FR_PHASE_FORWARD)
        return false;
    n = n > 1 && !fr__rule_of_kind(src->kind)->all_outputs ? 1 : n;
    return is_needed[e->src] && e->tensor - src->first_tensor < n;
}

static void find_needed(struct fr__sharding *s, bool is_needed[])
{
    const struct fr_graph *g = s->g;

    for (uint32_t o = 0; o < g->n_ops; o++) {
        if (g->ops[o].phase > FR_PHASE_FORWARD)
            continue;
        s->tied_to[o] = g->ops[o].param_bytes ? o : FR_NONE;
        for (uint32_t i = g->in_first[o]; i < g->in_first[o + 1]; i++) {
            const struct fr_edge *e = &g->edges[g->in_edges[i]];

            is_needed[o] = is_needed[o] || has_gradient(g, is_needed, e);
            if (fr__edge_is_tie(e) && s->tied_to[o] == FR_NONE)
                s->tied_to[o] = s->tied_to[e->src];
        }
        is_needed[o] =
            is_needed[o] || (s->tied_to[o] != FR_NONE && !g->ops[s->tied_to[o]].is_frozen);
    }
}

static bool is_alike(const struct fr_tensor *a, const struct fr_tensor *b)
{
    return a->n_dims == b->n_dims && memcmp(a->dims, b->dims, sizeof(a->dims)) == 0;
}

/* ---- pairs ---- */

struct pairing {
    struct fr__sharding *s;
    const bool *is_needed;
    uint32_t *n_made; /* [n_ops] gradients of the forward op's inputs so far */
};

/* The tensor of the n-th input of forward op f that wants a gradient, weights that a cast has made
 * left out. FR_NONE. */
static uint32_t wanting(const struct pairing *p, uint32_t f, uint32_t n)
{
    const struct fr_graph *g = p->s->g;

    for (uint32_t i = g->in_first[f]; i < g->in_first[f + 1]; i++) {
        const struct fr_edge *e = &g->edges[g->in_edges[i]];
        bool is_weights = e->tensor != FR_NONE && g->ops[e->src].kind == FR_OP_CAST &&
                          p->s->tied_to[e->src] != FR_NONE;

        if (has_gradient(g, p->is_needed, e) && !is_weights && n-- == 0)
            return e->tensor;
    }
    return FR_NONE;
}

/* The output of f that looks like t. FR_NONE. */
static uint32_t alike_output(const struct fr_graph *g, uint32_t f, uint32_t t)
{
    const struct fr_op *op = &g->ops[f];

    for (uint32_t k = 0; k < op->n_tensors; k++)
        if (is_alike(&g->tensors[op->first_tensor + k], &g->tensors[t]))
            return op->first_tensor + k;
    return FR_NONE;
}

/* The output of f whose gradients sum t adds up: what it reads is the gradient of that, or was
 * passed on by a sum and looks alike. The first one if none does. */
static uint32_t summed_output(const struct pairing *p, uint32_t f, uint32_t o, uint32_t t)
{
    const struct fr_graph *g = p->s->g;
    const struct fr_op *op = &g->ops[f];

    for (uint32_t i = g->in_first[o]; i < g->in_first[o + 1]; i++) {
        uint32_t read = g->edges[g->in_edges[i]].tensor;
        uint32_t twin = read == FR_NONE ? FR_NONE : p->s->twin[read];

        if (twin != FR_NONE && g->tensors[twin].op == f)
            return twin;
    }
    if (alike_output(g, f, t) != FR_NONE)
        return alike_output(g, f, t);
    return op->n_tensors ? op->first_tensor : FR_NONE;
}

/* Gradients of inputs. A fused op may write one tensor more: where it first sums what the readers
 * of f's output hand back, and the gradient of f's weights reads that sum (fuse.c), it is the
 * gradient of the output. */
static void pair_data(struct pairing *p, uint32_t o, uint32_t f)
{
    const struct fr_graph *g = p->s->g;
    const struct fr_op *op = &g->ops[o];

    for (uint32_t k = 0; k < op->n_tensors; k++) {
        uint32_t t = op->first_tensor + k, input = wanting(p, f, p->n_made[f]);

        p->n_made[f] += input != FR_NONE;
        p->s->twin[t] = input != FR_NONE ? input : alike_output(g, f, t);
    }
}

/* A weight gradient has no dimensions, but that of weights that a cast has made, which has one. */
static void pair_weights(struct pairing *p, uint32_t o, uint32_t f)
{
    const struct fr_graph *g = p->s->g;
    const struct fr_op *op = &g->ops[o];

    for (uint32_t i = g->in_first[f]; op->n_tensors && i < g->in_first[f + 1]; i++) {
        const struct fr_edge *e = &g->edges[g->in_edges[i]];

        if (e->tensor != FR_NONE && g->ops[e->src].kind == FR_OP_CAST &&
            p->s->tied_to[e->src] != FR_NONE && g->tensors[e->tensor].n_dims <= 1 &&
            op->kind != FR_OP_GRAD_ADD)
            p->s->twin[op->first_tensor] = e->tensor;
    }
}

static void pair_op(struct pairing *p, uint32_t o)
{
    const struct fr_graph *g = p->s->g;
    const struct fr_op *op = &g->ops[o];
    uint32_t f = op->forward;

    for (uint32_t k = 0; k < op->n_tensors; k++) {
        uint32_t t = op->first_tensor + k;

        p->s->twin[t] = FR_NONE;
        if (op->phase <= FR_PHASE_FORWARD)
            p->s->twin[t] = t;
        else if (f == FR_NONE)
            continue;
        else if (op->is_recomputed)
            p->s->twin[t] = g->ops[f].first_tensor + k;
        else if (op->kind == FR_OP_GRAD_ADD && op->phase == FR_PHASE_BACKWARD_DATA)
            p->s->twin[t] = summed_output(p, f, o, t);
    }
    if (op->phase <= FR_PHASE_FORWARD || f == FR_NONE || op->is_recomputed ||
        op->kind == FR_OP_GRAD_ADD)
        return;
    if (op->phase == FR_PHASE_BACKWARD_DATA)
        pair_data(p, o, f);
    else if (op->phase == FR_PHASE_BACKWARD_WEIGHT)
        pair_weights(p, o, f);
}

enum fr_status fr__sharding_pair(struct fr__sharding *s, struct fr_error *err)
{
    const struct fr_graph *g = s->g;
    bool *is_needed = fr__arena_alloc(s->w.scratch, g->n_ops, sizeof(*is_needed));
    struct pairing p = {s, is_needed, fr__arena_alloc(s->w.scratch, g->n_ops, sizeof(uint32_t))};

    if (!is_needed || !p.n_made)
        return fr__fail_nomem(err);
    for (uint32_t o = 0; o < g->n_ops; o++)
        s->tied_to[o] = FR_NONE;
    find_needed(s, is_needed);
    for (uint32_t o = 0; o < g->n_ops; o++)
        pair_op(&p, o);
    return FR_OK;
}

enum fr_status fr__sharding_check_pairs(const struct fr__sharding *s, struct fr_error *err)
{
    const struct fr_graph *g = s->g;

    for (size_t t = 0; t < g->n_tensors; t++) {
        const struct fr_op *op = &g->ops[g->tensors[t].op];
        uint32_t f = op->forward, twin = s->twin[t];

        if (op->phase != FR_PHASE_BACKWARD_DATA || f == FR_NONE ||
            (twin != FR_NONE && is_alike(&g->tensors[twin], &g->tensors[t])))
            continue;
        for (size_t a = 0; a < s->n_axes; a++)
            if (fr__sharding_split(s, f, a) > FR__SPLIT_NONE)
                return fr__fail(err, FR_EUSAGE, op->loc,
                                "op '%s' cannot be split over '%s': what its gradient '%s' writes "
                                "is like none of its inputs",
                                g->ops[f].name, s->axes[a].name, op->name);
    }
    return FR_OK;
}
