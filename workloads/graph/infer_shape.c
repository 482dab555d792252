/* workloads/graph/infer_shape.c - guesses an op's shape from its FLOPs and tensors, kind by
 * kind. */
#include "config.h"

#include "workloads/graph/infer_shape.h"

#include "workloads/graph/elements.h"
#include "workloads/graph/shape.h"

#include <math.h>

/* What a shape is guessed from. */
struct source {
    const struct fr_graph *g;
    const struct fr_op *op, *forward;
    const struct fr_tensor *output; /* of the forward op, with dims */
};

static const struct fr_tensor *first_input(const struct fr_graph *g, const struct fr_op *o)
{
    uint32_t id = (uint32_t)(o - g->ops);

    for (uint32_t i = g->in_first[id]; i < g->in_first[id + 1]; i++) {
        uint32_t t = g->edges[g->in_edges[i]].tensor;

        if (t != FR_NONE && g->tensors[t].n_dims > 0)
            return &g->tensors[t];
    }
    return NULL;
}

static uint32_t last_dim(const struct fr_tensor *t)
{
    return t->dims[t->n_dims - 1];
}

/* The nearest size; 0 where it is no size, which fr__shape_is_sound refuses. */
static uint64_t size_of(double x)
{
    return x >= 0.5 && x < 0x1p53 ? (uint64_t)round(x) : 0;
}

/* A backward op with so many times the FLOPs of its forward op has two products where that has
 * one. Between 1 and 2 lies what else an import may count: a bias, an activation. */
static const double LEAST_OF_BOTH = 1.5;

static bool is_backward(const struct fr_op *op)
{
    return !fr_op_runs_forward(op) &&
           (op->phase == FR_PHASE_BACKWARD_DATA || op->phase == FR_PHASE_BACKWARD_WEIGHT);
}

/* Whether an op holds the gradients of both operands of its forward op. A weight gradient of a
 * matrix product may be one product over the rows of many steps, so that its FLOPs do not tell. */
static bool has_both_gradients(const struct source *s)
{
    const struct fr_op *op = s->op;
    bool may_sum = op->kind == FR_OP_MATMUL && op->phase == FR_PHASE_BACKWARD_WEIGHT;

    return is_backward(op) && s->forward != op && !may_sum &&
           (op->kind == FR_OP_MATMUL || op->kind == FR_OP_BATCH_MATMUL ||
            op->kind == FR_OP_CONV2D) &&
           op->flops >= LEAST_OF_BOTH * s->forward->flops;
}

static void guess_matmul(const struct source *s, struct fr_shape *out)
{
    double columns = last_dim(s->output), rows = fr__tensor_elements(s->output) / columns;
    double depth = s->forward->flops / (2 * rows * columns);

    out->of = FR_SHAPE_PRODUCT;
    out->product.batch = 1;
    if (!has_both_gradients(s))
        rows = s->op->flops / (2 * columns * depth); /* of all steps */
    out->product.rows = size_of(rows);
    out->product.columns = last_dim(s->output);
    out->product.depth = size_of(depth);
    out->product.is_transposed = true;
    if (!fr_op_runs_forward(s->op))
        out->product.gradient_of =
            s->op->phase == FR_PHASE_BACKWARD_WEIGHT ? FR_OPERAND_RIGHT : FR_OPERAND_LEFT;
}

/* As a product of its own, whatever it is a gradient of; of two gradients, one of them. */
static void guess_batch_matmul(const struct source *s, struct fr_shape *out)
{
    const struct fr_tensor *t =
        s->op->n_tensors > 0 ? &s->g->tensors[s->op->first_tensor] : s->output;
    double flops = s->op->flops / (has_both_gradients(s) ? 2 : 1);

    if (t->n_dims < 2)
        return;
    out->of = FR_SHAPE_PRODUCT;
    out->product.rows = t->dims[t->n_dims - 2];
    out->product.columns = last_dim(t);
    out->product.depth = size_of(flops / (2 * fr__tensor_elements(t)));
    out->product.batch =
        size_of(fr__tensor_elements(t) / ((double)t->dims[t->n_dims - 2] * (double)last_dim(t)));
}

static bool divides(double divisor, double number)
{
    return fmod(number, divisor) < 0.5;
}

static uint64_t padding(uint64_t in, uint64_t out, uint64_t stride, uint64_t filter)
{
    double missing = ((double)out - 1) * (double)stride + (double)filter - (double)in;

    return missing > 0 ? (uint64_t)ceil(missing / 2) : 0;
}

static void guess_filter(double area, struct fr_shape *out)
{
    double side = round(sqrt(area));

    out->conv.filter_height = side * side < area || side * side > area ? 1 : size_of(side);
    out->conv.filter_width = size_of(area / (double)out->conv.filter_height);
}

static void guess_conv(const struct source *s, struct fr_shape *out)
{
    const struct fr_tensor *y = s->output, *x = first_input(s->g, s->forward);
    double depth, groups = 1, channels;

    if (!x || x->n_dims != 4 || y->n_dims != 4)
        return;
    channels = x->dims[1];
    depth = round(s->forward->flops / (2 * fr__tensor_elements(y)));
    if (!(depth >= 1))
        return;
    while (groups < channels && !(divides(groups, channels) && divides(channels / groups, depth)))
        groups++;
    out->of = FR_SHAPE_CONV;
    out->conv.images = y->dims[0];
    out->conv.in_channels = x->dims[1];
    out->conv.out_channels = y->dims[1];
    out->conv.groups = size_of(groups);
    out->conv.in_height = x->dims[2];
    out->conv.in_width = x->dims[3];
    out->conv.out_height = y->dims[2];
    out->conv.out_width = y->dims[3];
    guess_filter(fmax(round(depth * groups / channels), 1), out);
    out->conv.stride_height = size_of(fmax(round((double)x->dims[2] / y->dims[2]), 1));
    out->conv.stride_width = out->conv.stride_height;
    out->conv.pad_height =
        padding(x->dims[2], y->dims[2], out->conv.stride_height, out->conv.filter_height);
    out->conv.pad_width =
        padding(x->dims[3], y->dims[3], out->conv.stride_width, out->conv.filter_width);
    out->conv.dilation_height = out->conv.dilation_width = 1;
}

static void guess_attention(const struct source *s, struct fr_shape *out)
{
    const struct fr_tensor *y = s->output, *sums = y + 1;

    if (y->n_dims != 3 || s->forward->n_tensors < 2 || sums->n_dims != 3 || sums->dims[1] == 0)
        return;
    out->of = FR_SHAPE_ATTENTION;
    out->attention.batch = y->dims[0];
    out->attention.heads = out->attention.kv_heads = sums->dims[1];
    out->attention.head_width = y->dims[2] / sums->dims[1];
    out->attention.query_len = out->attention.key_len = y->dims[1];
    out->attention.is_causal = s->forward->flops / (4 * fr__tensor_elements(y)) < 0.75 * y->dims[1];
}

static void guess(const struct source *s, struct fr_shape *out)
{
    switch (s->op->kind) {
    case FR_OP_MATMUL:
        guess_matmul(s, out);
        return;
    case FR_OP_BATCH_MATMUL:
        guess_batch_matmul(s, out);
        return;
    case FR_OP_CONV2D:
        guess_conv(s, out);
        return;
    case FR_OP_ATTENTION:
        guess_attention(s, out);
        return;
    case FR_OP_SOFTMAX:
    case FR_OP_LOG_SOFTMAX:
    case FR_OP_LAYERNORM:
    case FR_OP_RMSNORM:
    case FR_OP_BATCHNORM:
        if (s->op->kind != FR_OP_BATCHNORM || s->output->n_dims > 1)
            *out = fr__shape_of_output(s->op->kind, s->output);
        return;
    default:
        return;
    }
}

static struct source source_of(const struct fr_graph *g, uint32_t op)
{
    const struct fr_op *o = &g->ops[op];

    return (struct source){
        .g = g, .op = o, .forward = o->forward == FR_NONE ? o : &g->ops[o->forward]};
}

bool fr__op_shape(const struct fr_graph *g, uint32_t op, struct fr_shape *out)
{
    const struct fr_op *o = &g->ops[op];
    struct source s = source_of(g, op);
    struct fr_op guessed = *o;
    char why[160];

    *out = o->shape;
    if (out->of != FR_SHAPE_UNKNOWN)
        return true;
    if (s.forward->n_tensors == 0 || !(o->flops > 0))
        return false;
    s.output = &g->tensors[s.forward->first_tensor];
    if (s.output->n_dims == 0)
        return false;
    guess(&s, &guessed.shape);
    if (guessed.shape.of == FR_SHAPE_UNKNOWN || !fr__shape_is_sound(&guessed, why, sizeof(why)))
        return false;
    *out = guessed.shape;
    return true;
}

/* Attention's backward pass runs five products for two. An import that counts the scores, which it
 * computes again, only once, has four. */
static const double LEAST_BACKWARD_OF_FIVE = 0.75;

/* How far rounded sizes may be from the FLOPs that they were worked out from. */
static const double ROUNDING = 0.01;

struct fr__op_parts fr__op_parts(const struct fr_graph *g, uint32_t op,
                                 const struct fr_shape *shape)
{
    const struct source s = source_of(g, op);
    struct fr_op guessed = *s.op;
    struct fr__op_parts parts = {.n_gradients = 1, .repeats = 1};
    double flops;

    if (s.op->shape.of != FR_SHAPE_UNKNOWN)
        return parts;
    guessed.shape = *shape;
    flops = fr_op_shape_flops(&guessed);
    if (!(flops > 0) || !(s.op->flops > 0))
        return parts;
    if (has_both_gradients(&s))
        parts.n_gradients = 2;
    parts.repeats = s.op->flops / (parts.n_gradients * flops);
    if (s.op->kind == FR_OP_ATTENTION && is_backward(s.op) && parts.repeats < 1 &&
        parts.repeats > LEAST_BACKWARD_OF_FIVE)
        parts.repeats = 1;
    if (fabs(parts.repeats - 1) <= ROUNDING)
        parts.repeats = 1;
    return parts;
}
