/* workloads/passes/training_weights.c - gradients of parameters, and updates: the ops NAME.wgrad,
 * NAME.wgrad_add and NAME.update.
 *
 * Some gradients are deferred: what they read and their FLOPs are kept for another op, whose one
 * gradient then covers them all. That op is the owner of the parameters for the steps of a
 * recurrence, and the cast for weights that a cast has made.
 */
#include "config.h"

#include "workloads/passes/training.h"

#include "workloads/graph/shape.h"

/* Keeps the FLOPs of o's gradient and what it reads for `owner`, which is visited later. */
static void defer(struct fr__expansion *x, uint32_t o, uint32_t owner, double flops)
{
    struct fr_shape shape = x->f->ops[o].shape;
    const uint64_t *samples = fr__shape_samples(&shape, x->f->ops[o].kind);

    x->step_flops[owner] += flops;
    x->step_samples[owner] += samples ? *samples : 0;
    for (size_t i = 0; i < x->n_now; i++)
        fr__expansion_contribute(x, &x->step_reads[owner], x->now[i]);
    x->n_now = 0;
}

/* Sets the shape of a weight gradient of o that covers deferred gradients of `more` samples too. It
 * stays unknown where the deferred ops' shapes are unknown: it would not make the op's FLOPs. */
static void set_weight_shape(const struct fr__expansion *x, uint32_t o, bool has_part,
                             uint64_t more, struct fr_op *op)
{
    uint64_t *samples;

    op->shape = x->f->ops[o].shape;
    samples = fr__shape_samples(&op->shape, op->kind);
    if (op->shape.of == FR_SHAPE_PRODUCT)
        op->shape.product.gradient_of = FR_OPERAND_RIGHT;
    if (samples)
        *samples = (has_part ? *samples : 0) + more;
    if (samples && (*samples == 0 || !fr__shape_fits_flops(op)))
        op->shape.of = FR_SHAPE_UNKNOWN;
}

/* The next op reads what the gradients deferred to o read. */
static void read_deferred(struct fr__expansion *x, uint32_t o)
{
    uint32_t last = x->step_reads[o], at = last;

    while (last != FR_NONE) {
        at = x->reads[at].next;
        fr__expansion_read(x, x->reads[at]);
        if (at == last)
            break;
    }
}

static struct fr_tensor parameter_gradient(const struct fr__expansion *x, uint32_t owner)
{
    return (struct fr_tensor){.bytes = x->f->ops[owner].param_bytes, .alias = FR_NONE};
}

/* Whether o is a step of a recurrence, and the owner of the parameters is an earlier one. */
static bool is_later_step(const struct fr__expansion *x, uint32_t o)
{
    uint32_t owner = x->tied_to[o];

    return owner != FR_NONE && owner != o && x->f->ops[owner].layer == x->f->ops[o].layer;
}

/* Whether the kernel of the data's gradient has the gradient of the parameters on the way, so that
 * a small sum is left: sinks of attention, decays and steps of a scan. */
static bool is_made_with_data(const struct fr__expansion *x, uint32_t o)
{
    return x->f->ops[o].kind == FR_OP_ATTENTION || x->f->ops[o].kind == FR_OP_SCAN;
}

void fr__expansion_add_weight_op(struct fr__expansion *x, uint32_t o,
                                 const struct fr__output_grads *dy, bool has_part)
{
    const struct fr__rule *r = fr__expansion_rule(x, o);
    uint32_t owner = x->tied_to[o];
    struct fr_tensor dw;
    struct fr_op op = {.kind = x->f->ops[o].kind, .phase = FR_PHASE_BACKWARD_WEIGHT};

    if (!fr__expansion_is_trained(x, owner))
        return;
    if (has_part) {
        op.flops = r->weight_of_forward * x->f->ops[o].flops + r->weight_of_element * dy->elements;
        if (!is_made_with_data(x, o))
            fr__expansion_read_grads(x, dy);
        fr__expansion_read_saved(x, o, r->weight_reads, FR_NONE);
    }
    if (is_later_step(x, o)) {
        defer(x, o, owner, op.flops);
        return;
    }
    op.flops += x->step_flops[o];
    if (is_made_with_data(x, o))
        op.kind = FR_OP_OTHER;
    else
        set_weight_shape(x, o, has_part, x->step_samples[o], &op);
    read_deferred(x, o);
    if (x->n_now == 0)
        return;
    dw = parameter_gradient(x, owner);
    /* a cast's traffic is all fixed, so its bytes count the parameters already */
    if (x->f->ops[o].kind != FR_OP_CAST)
        op.param_bytes = dw.bytes;
    fr__expansion_add_op(x, o, "wgrad", FR_NONE, op, &dw, 1);
    fr__expansion_contribute(x, &x->weight_grads[owner], fr__expansion_made(x, 1, &dw));
}

/* ---- weights that a cast has made ---- */

bool fr__expansion_is_cast_weight(const struct fr__expansion *x, const struct fr_edge *e)
{
    return e->tensor != FR_NONE && x->f->ops[e->src].kind == FR_OP_CAST &&
           x->tied_to[e->src] != FR_NONE;
}

void fr__expansion_defer_to_cast(struct fr__expansion *x, uint32_t o, const struct fr_edge *e,
                                 const struct fr__output_grads *dy)
{
    const struct fr__rule *r = fr__expansion_rule(x, o);

    /* PyTorch's backward of a convolution keeps both operands, always */
    if (x->f->ops[o].kind == FR_OP_CONV2D && x->cast_user[e->src] == FR_NONE)
        fr__expansion_read_forward(x, e->tensor, true);
    defer(x, o, e->src,
          r->weight_of_forward * x->f->ops[o].flops + r->weight_of_element * dy->elements);
    x->cast_user[e->src] = o;
}

void fr__expansion_add_cast_weight_op(struct fr__expansion *x, uint32_t cast)
{
    uint32_t user = x->cast_user[cast], tensor = x->f->ops[cast].first_tensor;
    struct fr_tensor dw = fr__expansion_gradient_of(&x->f->tensors[tensor]);
    struct fr_op op = {.phase = FR_PHASE_BACKWARD_WEIGHT, .flops = x->step_flops[cast]};

    if (user == FR_NONE)
        return;
    op.kind = x->f->ops[user].kind;
    set_weight_shape(x, user, false, x->step_samples[cast], &op);
    read_deferred(x, cast);
    x->step_reads[cast] = FR_NONE;
    x->step_flops[cast] = 0;
    x->step_samples[cast] = 0;
    op.param_bytes = dw.bytes;
    fr__expansion_add_op(x, user, "wgrad", FR_NONE, op, &dw, 1);
    fr__expansion_contribute(x, &x->grads[tensor], fr__expansion_made(x, 1, &dw));
}

/* ---- updates ---- */

/* The update reads the gradient, and reads and writes the parameters. 2 FLOPs a parameter:
 * w -= lr g. The strategy prices momentum and other states of the optimizer. */
void fr__expansion_add_update(struct fr__expansion *x, uint32_t o)
{
    struct fr_tensor shape = parameter_gradient(x, o);
    struct fr_op op = {.kind = FR_OP_UPDATE, .phase = FR_PHASE_UPDATE};
    struct fr__summing sums = {.from = o, .suffix = "wgrad_add", .phase = FR_PHASE_BACKWARD_WEIGHT};
    struct fr__read dw;

    if (!fr__expansion_sum_up(x, &sums, x->weight_grads[o], &shape, &dw))
        return;
    fr__expansion_read(x, dw);
    op.flops = 2 * (double)shape.bytes / x->f->param_elem_bytes;
    op.shape = fr__shape_of_parameters((double)(shape.bytes / x->f->param_elem_bytes));
    op.param_bytes = shape.bytes;
    fr__expansion_add_op(x, o, "update", FR_NONE, op, NULL, 0);
}
