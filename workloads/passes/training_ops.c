/* workloads/passes/training_ops.c - makes backward ops: what they read, their names, their sums.
 *
 * Both kinds of gradients, of inputs (training_data.c) and of parameters (training_weights.c), are
 * made with these functions.
 */
#include "config.h"

#include "workloads/passes/training.h"

#include "workloads/graph/elements.h"
#include "workloads/graph/shape.h"

/* ---- what a rule says of an op ---- */

const struct fr__rule *fr__expansion_rule(const struct fr__expansion *x, uint32_t o)
{
    return fr__rule_of_kind(x->f->ops[o].kind);
}

/* Elements of a tensor, from its dims where it has some: in mixed precision the bytes of an element
 * differ from tensor to tensor. */
static double n_elements(const struct fr__expansion *x, const struct fr_tensor *t)
{
    return t->n_dims ? fr__tensor_elements(t) : (double)t->bytes / x->elem_bytes;
}

static uint32_t n_gradient_outputs(const struct fr__expansion *x, uint32_t op)
{
    uint32_t n = x->f->ops[op].n_tensors;

    return n > 1 && !fr__expansion_rule(x, op)->all_outputs ? 1 : n;
}

bool fr__expansion_wants_gradient(const struct fr__expansion *x, const struct fr_edge *e)
{
    const struct fr_op *src = &x->f->ops[e->src];

    return e->tensor != FR_NONE && x->is_needed[e->src] &&
           e->tensor - src->first_tensor < n_gradient_outputs(x, e->src);
}

/* ---- what the next op reads, and gradients as they come ---- */

static void append_read(struct fr__expansion *x, struct fr__read **list, size_t *n, size_t *cap,
                        struct fr__read r)
{
    if (!fr__grow(list, cap, *n + 1, sizeof(**list))) {
        fr__rewriter_fail(&x->w);
        return;
    }
    (*list)[(*n)++] = r;
}

void fr__expansion_contribute(struct fr__expansion *x, uint32_t *last, struct fr__read grad)
{
    uint32_t at = (uint32_t)x->n_reads;

    grad.is_held = false;
    grad.next = *last == FR_NONE ? at : x->reads[*last].next;
    append_read(x, &x->reads, &x->n_reads, &x->cap_reads, grad);
    if (fr__rewriter_has_failed(&x->w))
        return;
    if (*last != FR_NONE)
        x->reads[*last].next = at;
    *last = at;
}

void fr__expansion_read(struct fr__expansion *x, struct fr__read r)
{
    append_read(x, &x->now, &x->n_now, &x->cap_now, r);
}

void fr__expansion_read_forward(struct fr__expansion *x, uint32_t tensor, bool is_held)
{
    const struct fr_tensor *t = &x->f->tensors[tensor];

    fr__expansion_read(x, (struct fr__read){t->op, tensor, t->bytes, t->scales, is_held, FR_NONE});
}

void fr__expansion_read_saved(struct fr__expansion *x, uint32_t o, unsigned mask, uint32_t input)
{
    const struct fr_graph *f = x->f;
    const struct fr_op *op = &f->ops[o];
    uint32_t n_grads = n_gradient_outputs(x, o), n_in = 0;

    for (uint32_t i = f->in_first[o]; i < f->in_first[o + 1]; i++)
        n_in += f->edges[f->in_edges[i]].tensor != FR_NONE;
    for (uint32_t i = f->in_first[o]; i < f->in_first[o + 1]; i++) {
        uint32_t t = f->edges[f->in_edges[i]].tensor;
        bool is_square = n_in == 1 && x->tied_to[o] == FR_NONE;

        if (t == FR_NONE || f->ops[f->edges[f->in_edges[i]].src].packing)
            continue;
        if (mask & (FR__READ_IN | FR__READ_HELD) ||
            (mask & FR__READ_OTHERS && (i != input || is_square)) ||
            (mask & FR__READ_INDICES &&
             !fr__expansion_wants_gradient(x, &f->edges[f->in_edges[i]])))
            fr__expansion_read_forward(x, t, mask & FR__READ_HELD);
    }
    for (uint32_t k = 0; k < op->n_tensors; k++)
        if (mask & (k < n_grads ? FR__READ_OUT : FR__READ_EXTRA))
            fr__expansion_read_forward(x, op->first_tensor + k, false);
}

struct fr_tensor fr__expansion_gradient_of(const struct fr_tensor *t)
{
    struct fr_tensor g = *t;

    g.alias = FR_NONE;
    return g;
}

struct fr__output_grads fr__expansion_collect(struct fr__expansion *x, uint32_t o)
{
    const struct fr_op *op = &x->f->ops[o];
    uint32_t n = n_gradient_outputs(x, o);
    struct fr__output_grads dy = {.reads = fr__arena_alloc(x->w.scratch, n, sizeof(*dy.reads))};

    if (!dy.reads) {
        fr__rewriter_fail(&x->w);
        return dy;
    }
    for (uint32_t k = 0; k < n; k++) {
        uint32_t t = op->first_tensor + k;
        struct fr_tensor shape = fr__expansion_gradient_of(&x->f->tensors[t]);

        if (x->grads[t] == FR_NONE)
            continue;
        dy.reads[dy.n] = x->reads[x->grads[t]];
        dy.elements += (double)dy.reads[dy.n].bytes / (double)shape.bytes * n_elements(x, &shape);
        dy.n++;
    }
    return dy;
}

void fr__expansion_read_grads(struct fr__expansion *x, const struct fr__output_grads *dy)
{
    for (size_t i = 0; i < dy->n; i++)
        fr__expansion_read(x, dy->reads[i]);
}

/* ---- making ops ---- */

/* Bytes that the next op moves. Where the op scales with the batch, only what scales counts. */
static double traffic(const struct fr__expansion *x, const struct fr_tensor outputs[],
                      size_t n_outputs, bool scales)
{
    double bytes = 0;

    for (size_t i = 0; i < x->n_now; i++)
        if (x->now[i].scales == scales && !x->now[i].is_held)
            bytes += (double)x->now[i].bytes;
    for (size_t i = 0; i < n_outputs; i++)
        if (outputs[i].scales == scales)
            bytes += (double)outputs[i].bytes;
    return bytes;
}

void fr__expansion_add_op(struct fr__expansion *x, uint32_t from, const char *suffix,
                          unsigned number, struct fr_op op, const struct fr_tensor outputs[],
                          size_t n_outputs)
{
    const struct fr_op *f = &x->f->ops[from];
    struct fr__mark mark = fr__arena_mark(x->w.scratch);
    uint32_t made;

    op.name = fr__rewriter_name(&x->w, f->name, suffix, number);
    op.loc = f->loc;
    op.layer = f->layer;
    op.forward = from;
    for (size_t i = 0; i < x->n_now; i++)
        op.scales = op.scales || x->now[i].scales;
    if (n_outputs == 0 || outputs[0].alias == FR_NONE) /* views move nothing */
        op.bytes = traffic(x, outputs, n_outputs, op.scales);
    made = fr__rewriter_add(&x->w, from, &op, outputs, n_outputs);
    for (size_t i = 0; i < x->n_now; i++)
        fr__rewriter_edge(&x->w, x->now[i].op, made, x->now[i].tensor, x->now[i].bytes);
    x->n_now = 0;
    fr__arena_rewind(x->w.scratch, mark);
}

struct fr__read fr__expansion_made(const struct fr__expansion *x, uint32_t n_back,
                                   const struct fr_tensor *t)
{
    return (struct fr__read){fr__rewriter_n_ops(&x->w) - 1,
                             fr__rewriter_n_tensors(&x->w) - n_back,
                             t->bytes,
                             t->scales,
                             false,
                             FR_NONE};
}

/* Each sum has a tensor of its own: PyTorch's engine adds out of place as well
 * (torch/csrc/autograd/input_buffer.cpp). */
bool fr__expansion_sum_up(struct fr__expansion *x, struct fr__summing *s, uint32_t last,
                          const struct fr_tensor *shape, struct fr__read *sum)
{
    struct fr_op op = {.kind = FR_OP_GRAD_ADD, .phase = s->phase};

    if (last == FR_NONE)
        return false;
    op.shape = shape->n_dims ? fr__shape_of_output(FR_OP_GRAD_ADD, shape)
                             : fr__shape_of_parameters(n_elements(x, shape));
    *sum = x->reads[x->reads[last].next];
    for (uint32_t at = x->reads[last].next; at != last;) {
        at = x->reads[at].next;
        /* what is the same for all samples may come as one gradient for each */
        op.flops = n_elements(x, shape);
        if (x->reads[at].scales && !shape->scales && shape->bytes > 0)
            op.flops *= (double)x->reads[at].bytes / (double)shape->bytes;
        fr__expansion_read(x, *sum);
        fr__expansion_read(x, x->reads[at]);
        s->n_sums++;
        fr__expansion_add_op(x, s->from, s->suffix, s->n_sums == 1 ? FR_NONE : s->n_sums, op, shape,
                             1);
        *sum = fr__expansion_made(x, 1, shape);
    }
    return true;
}
