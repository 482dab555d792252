/* workloads/passes/training_data.c - gradients of inputs: the ops NAME.dgrad and their sums. */
#include "config.h"

#include "workloads/passes/training.h"

#include "workloads/graph/elements.h"

/* FLOPs of the gradient over those of fused attention: 2.5 where a head's values are as wide as its
 * keys (attention_flops in workloads/graph/shape.c). */
static double attention_ratio(const struct fr_shape *s)
{
    double width = (double)s->attention.head_width, values = (double)fr_shape_value_width(s);

    return (3 * width + 2 * values) / (width + values);
}

/* An op that makes gradients of o's inputs, without its name and bytes. */
static struct fr_op data_op(const struct fr__expansion *x, uint32_t o,
                            const struct fr__output_grads *dy)
{
    const struct fr__rule *r = fr__expansion_rule(x, o);
    struct fr_op op = {
        .kind = x->f->ops[o].kind, .phase = FR_PHASE_BACKWARD_DATA, .shape = x->f->ops[o].shape};

    if (op.shape.of == FR_SHAPE_PRODUCT)
        op.shape.product.gradient_of = FR_OPERAND_LEFT;
    op.flops = r->data_of_forward * x->f->ops[o].flops + r->data_of_element * dy->elements;
    if (op.shape.of == FR_SHAPE_ATTENTION)
        op.flops *= attention_ratio(&op.shape) / r->data_of_forward;
    if (x->tied_to[o] != FR_NONE)
        op.param_bytes = x->f->ops[x->tied_to[o]].param_bytes;
    return op;
}

/* Whether tensor t is the right operand of a product of two activations. Edges do not say which
 * operand they carry, but the rows of the left one have `depth` elements. Where both operands have
 * the same shape, their gradients do too, and the answer does not matter. */
static bool is_right_operand(const struct fr_op *op, const struct fr_tensor *t)
{
    const struct fr_shape *s = &op->shape;
    double elements, left;

    if (s->of != FR_SHAPE_PRODUCT || op->kind != FR_OP_BATCH_MATMUL || t->n_dims == 0)
        return false;
    elements = fr__tensor_elements(t);
    left = (double)s->product.batch * (double)s->product.rows * (double)s->product.depth;
    return elements < left || elements > left || t->dims[t->n_dims - 1] != s->product.depth;
}

/* Weights in 4 bits are decoded again for the gradient: what the forward pass made of them is not
 * kept (bitsandbytes, autograd/_functions.py, MatMul4Bit.backward). Returns what it reads instead
 * of the weights that edge e brings. */
static struct fr__read decode_again(struct fr__expansion *x, const struct fr_edge *e,
                                    const struct fr__output_grads *dy)
{
    const struct fr_op *cast = &x->f->ops[e->src];
    struct fr_tensor weights = fr__expansion_gradient_of(&x->f->tensors[e->tensor]);
    struct fr_op op = *cast;
    uint32_t made;

    op.name = fr__rewriter_name(&x->w, cast->name, "backward", FR_NONE);
    op.phase = FR_PHASE_BACKWARD_DATA;
    op.is_recomputed = true;
    op.forward = e->src;
    op.n_params = 0;
    made = fr__rewriter_add(&x->w, e->src, &op, &weights, 1);
    if (dy->n > 0)
        fr__rewriter_order(&x->w, dy->reads[0].op, made);
    return fr__expansion_made(x, 1, &weights);
}

static void add_data_op_each(struct fr__expansion *x, uint32_t o, const struct fr__output_grads *dy)
{
    const struct fr_graph *f = x->f;
    uint32_t first = f->in_first[o], n_in = 0, packed = FR_NONE;
    unsigned mask = fr__expansion_rule(x, o)->data_reads;

    for (uint32_t i = first; i < f->in_first[o + 1]; i++) {
        bool is_weights = fr__expansion_is_cast_weight(x, &f->edges[f->in_edges[i]]);

        if (is_weights && f->ops[f->edges[f->in_edges[i]].src].packing)
            packed = f->in_edges[i];

        n_in += f->edges[f->in_edges[i]].tensor != FR_NONE && !is_weights;
        mask = is_weights ? FR__READ_OTHERS : mask;
    }
    for (uint32_t i = first; i < f->in_first[o + 1]; i++) {
        const struct fr_edge *e = &f->edges[f->in_edges[i]];
        struct fr_tensor dx;
        struct fr_op op;

        if (!fr__expansion_wants_gradient(x, e))
            continue;
        dx = fr__expansion_gradient_of(&f->tensors[e->tensor]);
        if (packed != FR_NONE)
            fr__expansion_read(x, decode_again(x, &f->edges[packed], dy));
        fr__expansion_read_grads(x, dy);
        fr__expansion_read_saved(x, o, mask, i);
        if (fr__expansion_is_cast_weight(x, e)) {
            fr__expansion_defer_to_cast(x, o, e, dy);
            continue;
        }
        op = data_op(x, o, dy);
        if (is_right_operand(&f->ops[o], &dx))
            op.shape.product.gradient_of = FR_OPERAND_RIGHT;
        fr__expansion_add_op(x, o, "dgrad", n_in > 1 ? i - first : FR_NONE, op, &dx, 1);
        fr__expansion_contribute(x, &x->grads[e->tensor], fr__expansion_made(x, 1, &dx));
    }
}

static void add_data_op_all(struct fr__expansion *x, uint32_t o, const struct fr__output_grads *dy)
{
    const struct fr_graph *f = x->f;
    uint32_t first = f->in_first[o], end = f->in_first[o + 1], n = 0;
    struct fr_tensor *dx = fr__arena_alloc(x->w.scratch, end - first, sizeof(*dx));

    if (!dx) {
        fr__rewriter_fail(&x->w);
        return;
    }
    for (uint32_t i = first; i < end; i++)
        if (fr__expansion_wants_gradient(x, &f->edges[f->in_edges[i]])) {
            dx[n] = fr__expansion_gradient_of(&f->tensors[f->edges[f->in_edges[i]].tensor]);
            if (fr__expansion_rule(x, o)->flow == FR__FLOW_PARTS)
                dx[n].alias = dy->reads[0].tensor;
            n++;
        }
    if (n == 0)
        return;
    fr__expansion_read_grads(x, dy);
    fr__expansion_read_saved(x, o, fr__expansion_rule(x, o)->data_reads, FR_NONE);
    fr__expansion_add_op(x, o, "dgrad", FR_NONE, data_op(x, o, dy), dx, n);
    for (uint32_t i = first, k = 0; i < end; i++)
        if (fr__expansion_wants_gradient(x, &f->edges[f->in_edges[i]])) {
            fr__expansion_contribute(x, &x->grads[f->edges[f->in_edges[i]].tensor],
                                     fr__expansion_made(x, n - k, &dx[k]));
            k++;
        }
}

static void pass_on(struct fr__expansion *x, uint32_t o, const struct fr__output_grads *dy)
{
    for (uint32_t i = x->f->in_first[o]; i < x->f->in_first[o + 1]; i++) {
        const struct fr_edge *e = &x->f->edges[x->f->in_edges[i]];

        if (fr__expansion_wants_gradient(x, e))
            fr__expansion_contribute(x, &x->grads[e->tensor], dy->reads[0]);
    }
}

void fr__expansion_add_data_ops(struct fr__expansion *x, uint32_t o,
                                const struct fr__output_grads *dy)
{
    enum fr__flow flow = fr__expansion_rule(x, o)->flow;

    if (flow == FR__FLOW_EACH)
        add_data_op_each(x, o, dy);
    else if (flow == FR__FLOW_ALL || flow == FR__FLOW_PARTS)
        add_data_op_all(x, o, dy);
    else if (flow == FR__FLOW_PASS)
        pass_on(x, o, dy);
}

/* PyTorch's engine adds up gradients as soon as o's backward has run. It does not wait until the
 * sum is needed (torch/csrc/autograd/engine.cpp, evaluate_function). */
void fr__expansion_sum_input_gradients(struct fr__expansion *x, uint32_t o)
{
    const struct fr_graph *f = x->f;

    for (uint32_t i = f->in_first[o]; i < f->in_first[o + 1]; i++) {
        uint32_t t = f->edges[f->in_edges[i]].tensor, *last = &x->grads[t == FR_NONE ? 0 : t];
        struct fr__summing sums = {.suffix = "grad_add", .phase = FR_PHASE_BACKWARD_DATA};
        struct fr_tensor shape;
        struct fr__read sum;

        if (t == FR_NONE || *last == FR_NONE || x->reads[*last].next == *last)
            continue;
        shape = fr__expansion_gradient_of(&f->tensors[t]);
        sums.from = f->tensors[t].op;
        sums.n_sums = x->n_sums[sums.from];
        fr__expansion_sum_up(x, &sums, *last, &shape, &sum);
        x->n_sums[sums.from] = sums.n_sums;
        *last = FR_NONE;
        fr__expansion_contribute(x, last, sum);
    }
}
