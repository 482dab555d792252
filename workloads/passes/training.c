/* workloads/passes/training.c - from a forward graph to a training step, by reverse-mode
 * differentiation.
 *
 * Forward ops are visited in reverse order. Each op between a parameter and the loss adds
 *   NAME.dgrad     the gradient of its inputs; NAME.dgrad0, NAME.dgrad1, ... (numbered as its
 *                  in-edges) where the gradient of each input is a kernel of its own
 *   NAME.wgrad     the gradient of its parameters, one tensor of their size
 *   NAME.update    once all gradients are there, in forward order
 *   NAME.grad_add  a pairwise sum, where the op's output is read more than once (then
 *                  NAME.grad_add2, ...)
 *   NAME.wgrad_add the same for parameters that other ops use too
 * A sum is made as soon as there are two gradients to add, as PyTorch does, not when it is needed.
 *
 * Tied weights are an edge with bytes but without a tensor: its head uses the parameters of its
 * tail. Ops of one layer that use the same parameters are the steps of a recurrence. They have one
 * weight gradient, NAME.wgrad of the owner, which reads what the gradient of each step would read.
 * cuDNN does so: one product over all steps after the data gradients (Chetlur et al., 2014;
 * cudnnRNNBackwardWeights). This keeps the gradients of all steps' outputs instead of as many
 * copies of the parameters. Weights that a cast has made (workloads/passes/autocast.h) likewise
 * have one gradient for all ops that use them.
 *
 * The rules (training_rules.c) say which forward tensors each backward op reads. These stay in
 * memory until then.
 *
 * Ignores: that the data gradient of a normalisation waits for sums that its weight gradient makes;
 * fusion of the bias gradient into a matrix product.
 */
#include "config.h"

#include "base/error.h"
#include "workloads/graph/elements.h"
#include "workloads/passes/training.h"

#include <stdlib.h>

static enum fr_status refuse_unfit(const struct fr_graph *f, struct fr_error *err)
{
    bool has_loss = false;

    for (size_t i = 0; i < f->n_ops; i++) {
        const struct fr_op *op = &f->ops[i];

        if (op->phase > FR_PHASE_FORWARD || fr__rule_of_kind(op->kind)->flow == FR__FLOW_REFUSED)
            return fr__fail(err, FR_EUSAGE, op->loc,
                            "op '%s' (%s, %s) has no place in a forward graph", op->name,
                            fr_op_kind_name(op->kind), fr_phase_name(op->phase));
        has_loss = has_loss || op->kind == FR_OP_LOSS;
    }
    if (!has_loss)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "graph '%s' has no op of kind 'loss', so there is nothing to train",
                        f->name);
    return FR_OK;
}

static bool allocate(struct fr__expansion *x)
{
    size_t n_ops = x->f->n_ops, n_tensors = x->f->n_tensors;

    x->is_needed = fr__arena_alloc(x->w.scratch, n_ops, sizeof(*x->is_needed));
    x->tied_to = fr__arena_alloc(x->w.scratch, n_ops, sizeof(*x->tied_to));
    x->weight_grads = fr__arena_nones(x->w.scratch, n_ops);
    x->step_reads = fr__arena_nones(x->w.scratch, n_ops);
    x->step_flops = fr__arena_alloc(x->w.scratch, n_ops, sizeof(*x->step_flops));
    x->step_samples = fr__arena_alloc(x->w.scratch, n_ops, sizeof(*x->step_samples));
    x->cast_user = fr__arena_nones(x->w.scratch, n_ops);
    x->n_sums = fr__arena_alloc(x->w.scratch, n_ops, sizeof(*x->n_sums));
    x->grads = fr__arena_nones(x->w.scratch, n_tensors);
    return x->is_needed && x->tied_to && x->weight_grads && x->step_reads && x->step_flops &&
           x->step_samples && x->cast_user && x->n_sums && x->grads;
}

/* Fills tied_to and is_needed in one forward pass. */
static void mark_needed(struct fr__expansion *x)
{
    const struct fr_graph *f = x->f;

    for (uint32_t o = 0; o < f->n_ops; o++) {
        x->tied_to[o] = f->ops[o].param_bytes ? o : FR_NONE;
        for (uint32_t i = f->in_first[o]; i < f->in_first[o + 1]; i++) {
            const struct fr_edge *e = &f->edges[f->in_edges[i]];

            if (fr__expansion_wants_gradient(x, e))
                x->is_needed[o] = true;
            if (fr__edge_is_tie(e) && x->tied_to[o] == FR_NONE)
                x->tied_to[o] = f->ops[e->src].param_bytes ? e->src : FR_NONE;
        }
        if (fr__expansion_is_trained(x, x->tied_to[o]))
            x->is_needed[o] = true;
    }
}

/* Copies the forward graph. It is sorted, so its ops and tensors keep their numbers. */
static void copy_forward(struct fr__expansion *x)
{
    const struct fr_graph *f = x->f;

    for (uint32_t o = 0; o < f->n_ops; o++)
        fr__rewriter_keep(&x->w, o);
    for (size_t i = 0; i < f->n_edges; i++)
        fr__rewriter_keep_edge(&x->w, &f->edges[i]);
    fr__rewriter_keep_samples(&x->w);
}

/* Adds what o's backward needs. An op whose outputs have no gradient has no part in the loss: it
 * has only the gradients that others deferred to it. */
static void add_backward(struct fr__expansion *x, uint32_t o)
{
    struct fr__mark mark = fr__arena_mark(x->w.scratch);
    struct fr__output_grads dy;
    bool has_part;

    if (!x->is_needed[o])
        return;
    fr__expansion_add_cast_weight_op(x, o);
    dy = fr__expansion_collect(x, o);
    has_part = dy.n > 0 || x->f->ops[o].kind == FR_OP_LOSS;
    if (has_part && !fr__rewriter_has_failed(&x->w))
        fr__expansion_add_data_ops(x, o, &dy);
    if (!fr__rewriter_has_failed(&x->w))
        fr__expansion_add_weight_op(x, o, &dy, has_part);
    if (!fr__rewriter_has_failed(&x->w))
        fr__expansion_sum_input_gradients(x, o);
    fr__arena_rewind(x->w.scratch, mark);
}

enum fr_status fr_graph_expand_training(const struct fr_graph *forward, struct fr_graph **out,
                                        struct fr_error *err)
{
    struct fr__expansion x = {.f = forward, .elem_bytes = fr__elem_bytes(forward->dtype)};
    enum fr_status st;

    FR_TRY(refuse_unfit(forward, err));
    FR_TRY(fr__rewriter_init(&x.w, forward, err));
    if (!allocate(&x)) {
        st = fr__fail_nomem(err);
        goto done;
    }
    mark_needed(&x);
    copy_forward(&x);
    for (uint32_t o = (uint32_t)forward->n_ops; o-- > 0 && !fr__rewriter_has_failed(&x.w);)
        add_backward(&x, o);
    for (uint32_t o = 0; o < forward->n_ops && !fr__rewriter_has_failed(&x.w); o++)
        fr__expansion_add_update(&x, o);
    st = fr__rewriter_finish(&x.w, forward, out, err);
done:
    fr__rewriter_fini(&x.w);
    free(x.reads);
    free(x.now);
    return st;
}
