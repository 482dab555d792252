/* workloads/passes/training.c - from a forward graph to a training step: reverse-mode differentiation, one
 * rule a kind of op.
 *
 * Ops are visited in reverse order. Each that lies between a parameter and the loss gives
 *   NAME.dgrad     the gradient of its inputs; NAME.dgrad0, NAME.dgrad1, ... (numbered as its
 *                  in-edges) where each input's gradient is a kernel of its own
 *   NAME.wgrad     the gradient of its parameters, one tensor of their size
 *   NAME.update    once all gradients are there, in forward order
 *   NAME.grad_add  a pairwise sum, where the op's output is read more than once (then grad_add2, ...)
 *   NAME.wgrad_add the same for parameters that other ops use too
 * Tied weights are an edge without a tensor but with bytes: its head uses its tail's parameters. Ops of
 * one layer that use the same parameters are steps of a recurrence: they have one weight gradient,
 * NAME.wgrad of the owner, which reads what each step's would. That is cuDNN's way (Chetlur et al.,
 * 2014, and cudnnRNNBackwardWeights: one product over all steps after the data gradients) and keeps
 * the gradients of all steps' outputs instead of as many copies of the parameters. Weights that a
 * cast has made (workloads/passes/autocast.h) have one gradient for all that use them, in the same way.
 *
 * A sum is made as soon as there are two gradients to add, not when it is needed: PyTorch's way.
 *
 * The rules say which forward tensors each backward op reads; these stay in memory until then.
 * Source: PyTorch, tools/autograd/derivatives.yaml (1.13), where each backward formula names what it
 * keeps; checked against saved bytes measured with PyTorch 1.13.1 (tests/workloads/test_zoo.c).
 * Ignores: that the data gradient of a normalisation waits for the sums its weight gradient makes;
 * fusion of the bias gradient into a matrix product.
 */
#include "config.h"

#include "base/arena.h"
#include "base/error.h"
#include "workloads/graph/elements.h"
#include "workloads/graph/shape.h"
#include "workloads/workloads.h"

#include <stdio.h>
#include <stdlib.h>

/* What the gradient of the inputs is made of. */
enum flow {
    FLOW_REFUSED, /* has no place in a forward graph */
    FLOW_NONE,    /* inputs are data or indices */
    FLOW_PASS,    /* the output's gradient itself: no op */
    FLOW_EACH,    /* one op for each input */
    FLOW_ALL,     /* one op for all inputs */
    FLOW_PARTS    /* each input has a part of the output's gradient: one op, of views */
};

/* Which forward tensors a backward op reads. */
enum {
    IN = 1,      /* the inputs */
    OUT = 2,     /* the output */
    EXTRA = 4,   /* the further outputs: statistics, mask, indices */
    OTHERS = 8,  /* the inputs but the one the gradient is for; a lone one is both operands */
    HELD = 16,   /* the inputs are kept alive but not read: PyTorch asks for shapes only */
    INDICES = 32 /* the inputs that have no gradient */
};

struct rule {
    enum flow flow;
    unsigned char data_reads, weight_reads;
    bool all_outputs; /* every output has a gradient, not only the first */
    /* arithmetic, relative to the forward op's and to the elements of the output's gradient */
    double data_of_forward, data_of_element;
    double weight_of_forward, weight_of_element;
};

/* A product's backward is one product for each operand, each of the forward's size. Fused attention
 * recomputes the scores: 5 products for 2 (Dao, FlashAttention-2, 2023, section 3). The figures per
 * element count the formulas: tanh and sigmoid dy (1 - y^2) and dy y (1 - y), softmax
 * y (dy - sum(y dy)), dropout dy mask scale, a norm's parameters sum(dy) and sum(dy (x - m) / s). A
 * concatenation's gradient is cut up without a copy (torch/csrc/autograd/FunctionsManual.cpp,
 * cat_tensors_backward). */
static const struct rule rules[FR_N_OP_KINDS] = {
    [FR_OP_INPUT] = {FLOW_NONE, 0, 0, false, 0, 0, 0, 0},
    [FR_OP_CONV2D] = {FLOW_EACH, 0, IN, false, 1, 0, 1, 0},
    [FR_OP_MATMUL] = {FLOW_EACH, OTHERS, IN, false, 1, 0, 1, 0},
    [FR_OP_BATCH_MATMUL] = {FLOW_EACH, OTHERS, IN, false, 1, 0, 1, 0},
    [FR_OP_BIAS] = {FLOW_PASS, 0, 0, false, 0, 0, 0, 1},
    [FR_OP_RELU] = {FLOW_ALL, OUT, 0, false, 0, 1, 0, 0},
    [FR_OP_GELU] = {FLOW_ALL, IN, 0, false, 1, 0, 0, 0},
    [FR_OP_SILU] = {FLOW_ALL, IN, 0, false, 1, 0, 0, 0},
    [FR_OP_TANH] = {FLOW_ALL, OUT, 0, false, 0, 3, 0, 0},
    [FR_OP_SIGMOID] = {FLOW_ALL, OUT, 0, false, 0, 3, 0, 0},
    [FR_OP_SOFTMAX] = {FLOW_ALL, OUT, 0, false, 0, 4, 0, 0},
    [FR_OP_LOG_SOFTMAX] = {FLOW_ALL, OUT, 0, false, 0, 4, 0, 0},
    [FR_OP_DROPOUT] = {FLOW_ALL, EXTRA, 0, false, 0, 2, 0, 0},
    [FR_OP_ADD] = {FLOW_PASS, 0, 0, false, 0, 0, 0, 0},
    [FR_OP_MUL] = {FLOW_EACH, OTHERS, 0, false, 0, 1, 0, 0},
    [FR_OP_SCALE] = {FLOW_ALL, 0, 0, false, 0, 1, 0, 0},
    [FR_OP_MASK] = {FLOW_ALL, 0, 0, false, 0, 1, 0, 0},
    [FR_OP_BATCHNORM] = {FLOW_ALL, IN | EXTRA, IN | EXTRA, false, 1, 0, 0, 4},
    [FR_OP_LAYERNORM] = {FLOW_ALL, IN | EXTRA, IN | EXTRA, false, 1, 0, 0, 4},
    [FR_OP_RMSNORM] = {FLOW_ALL, IN | EXTRA, IN | EXTRA, false, 1, 0, 0, 4},
    [FR_OP_MAXPOOL] = {FLOW_ALL, HELD | EXTRA, 0, false, 0, 1, 0, 0},
    [FR_OP_AVGPOOL] = {FLOW_ALL, HELD, 0, false, 1, 0, 0, 0},
    [FR_OP_EMBEDDING] = {FLOW_NONE, 0, IN, false, 0, 0, 0, 1},
    [FR_OP_LSTM] = {FLOW_ALL, IN | OUT | EXTRA, IN | OUT | EXTRA, false, 1, 0, 1, 0},
    [FR_OP_ATTENTION] = {FLOW_ALL, IN | OUT | EXTRA, 0, false, 2.5, 0, 0, 0},
    [FR_OP_CONCAT] = {FLOW_PARTS, 0, 0, false, 0, 0, 0, 0},
    [FR_OP_SPLIT] = {FLOW_ALL, 0, 0, true, 0, 0, 0, 0},
    [FR_OP_RESHAPE] = {FLOW_PASS, 0, 0, false, 0, 0, 0, 0},
    [FR_OP_TRANSPOSE] = {FLOW_ALL, 0, 0, false, 0, 0, 0, 0},
    [FR_OP_LOSS] = {FLOW_ALL, HELD | EXTRA, 0, false, 1, 0, 0, 0},
    [FR_OP_CAST] = {FLOW_ALL, 0, 0, false, 0, 1, 0, 1},
    [FR_OP_GRAD_ADD] = {FLOW_REFUSED, 0, 0, false, 0, 0, 0, 0},
    [FR_OP_UPDATE] = {FLOW_REFUSED, 0, 0, false, 0, 0, 0, 0},
    [FR_OP_ROTARY] = {FLOW_ALL, 0, 0, false, 1, 0, 0, 0},
    [FR_OP_GATHER] = {FLOW_ALL, INDICES, 0, true, 0, 1, 0, 0},
    [FR_OP_SCATTER] = {FLOW_ALL, INDICES, 0, false, 0, 0, 0, 0},
    [FR_OP_TOPK] = {FLOW_ALL, EXTRA, 0, false, 0, 0, 0, 0},
    [FR_OP_LAYER] = {FLOW_ALL, IN | OUT | EXTRA, IN | OUT | EXTRA, true, 1, 0, 1, 0},
    [FR_OP_OTHER] = {FLOW_ALL, IN | OUT | EXTRA, IN | OUT | EXTRA, true, 1, 0, 1, 0},
};

/* A tensor of the new graph that a backward op reads, and the next one of the same ring. */
struct read {
    uint32_t op, tensor;
    uint64_t bytes;
    bool scales;
    bool is_held; /* kept, but no traffic */
    uint32_t next;
};

struct expansion {
    const struct fr_graph *f;
    struct fr_graph_builder *b;
    struct fr__arena *scratch;
    uint32_t n_ops, n_tensors; /* made so far */
    unsigned elem_bytes;
    bool *is_needed;        /* [ops]: it has parameters, or reads what comes from some */
    uint32_t *tied_to;      /* [ops]: whose parameters it uses: its own, another's or FR_NONE */
    uint32_t *grads;        /* [tensors]: last of the ring of its gradients in reads, or FR_NONE */
    uint32_t *weight_grads; /* [ops]: the same for its parameters */
    uint32_t *step_reads;   /* [ops]: the same for what its later steps' weight gradients read */
    double *step_flops;     /* [ops]: their arithmetic */
    uint64_t *step_samples; /* [ops]: the sum of the sizes of theirs that grow with the batch */
    unsigned *n_sums;       /* [ops]: of gradients of its outputs, so far */
    uint32_t *cast_user;    /* [ops]: first user of the weights that it casts, FR_NONE */
    struct read *reads;     /* gradients, in the order they came */
    size_t n_reads, cap_reads;
    struct read *now; /* what the op being made reads */
    size_t n_now, cap_now;
    char *name;
    size_t cap_name;
    bool is_out_of_memory;
};

static const struct rule *rule_of(const struct expansion *x, uint32_t op)
{
    return &rules[x->f->ops[op].kind];
}

/* Elements of a tensor; precisions may be mixed, so its dims know better than its bytes. */
static double n_elements(const struct expansion *x, const struct fr_tensor *t)
{
    double n = 1;

    for (unsigned d = 0; d < t->n_dims; d++)
        n *= t->dims[d];
    return t->n_dims ? n : (double)t->bytes / x->elem_bytes;
}

static uint32_t n_gradient_outputs(const struct expansion *x, uint32_t op)
{
    uint32_t n = x->f->ops[op].n_tensors;

    return n > 1 && !rule_of(x, op)->all_outputs ? 1 : n;
}

/* ---- gradients as they come ---- */

static void append_read(struct expansion *x, struct read **list, size_t *n, size_t *cap,
                        struct read r)
{
    if (!fr__grow(list, cap, *n + 1, sizeof(**list))) {
        x->is_out_of_memory = true;
        return;
    }
    (*list)[(*n)++] = r;
}

/* Puts a gradient at the end of the ring whose last element is *last. */
static void contribute(struct expansion *x, uint32_t *last, struct read grad)
{
    uint32_t at = (uint32_t)x->n_reads;

    grad.is_held = false;
    grad.next = *last == FR_NONE ? at : x->reads[*last].next;
    append_read(x, &x->reads, &x->n_reads, &x->cap_reads, grad);
    if (x->is_out_of_memory)
        return;
    if (*last != FR_NONE)
        x->reads[*last].next = at;
    *last = at;
}

static void read_now(struct expansion *x, struct read r)
{
    append_read(x, &x->now, &x->n_now, &x->cap_now, r);
}

static void read_forward(struct expansion *x, uint32_t tensor, bool is_held)
{
    const struct fr_tensor *t = &x->f->tensors[tensor];

    read_now(x, (struct read){t->op, tensor, t->bytes, t->scales, is_held, FR_NONE});
}

/* ---- making ops ---- */

static const char *derived_name(struct expansion *x, const char *base, const char *suffix,
                                unsigned number)
{
    int n = snprintf(NULL, 0, "%s.%s%u", base, suffix, number);

    if (n < 0 || !fr__grow(&x->name, &x->cap_name, (size_t)n + 1, 1)) {
        x->is_out_of_memory = true;
        return "";
    }
    if (number == FR_NONE)
        snprintf(x->name, x->cap_name, "%s.%s", base, suffix);
    else
        snprintf(x->name, x->cap_name, "%s.%s%u", base, suffix, number);
    return x->name;
}

/* Bytes moved: if anything scales with the batch, what scales, else everything. */
static double traffic(const struct expansion *x, const struct fr_tensor outputs[], size_t n_outputs,
                      bool scales)
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

/* Adds an op that derives from forward op `from` and reads the list `now`, which it empties. op holds
 * kind, phase, flops, shape and param_bytes; name, number and the rest are filled in here. */
static void add_op(struct expansion *x, uint32_t from, const char *suffix, unsigned number,
                   struct fr_op op, const struct fr_tensor outputs[], size_t n_outputs)
{
    const struct fr_op *f = &x->f->ops[from];

    op.name = derived_name(x, f->name, suffix, number);
    if (x->is_out_of_memory)
        return;
    op.loc = f->loc;
    op.forward = from;
    for (size_t i = 0; i < x->n_now; i++)
        op.scales = op.scales || x->now[i].scales;
    if (n_outputs == 0 || outputs[0].alias == FR_NONE) /* views cost nothing */
        op.bytes = traffic(x, outputs, n_outputs, op.scales);
    if (fr_graph_builder_op(x->b, &op, x->f->layer_names[f->layer], outputs, n_outputs) == FR_NONE)
        x->is_out_of_memory = true;
    for (size_t i = 0; i < x->n_now; i++)
        fr_graph_builder_edge(x->b, x->now[i].op, x->n_ops, x->now[i].tensor, x->now[i].bytes);
    x->n_now = 0;
    x->n_ops++;
    x->n_tensors += (uint32_t)n_outputs;
}

/* A gradient shaped like forward tensor t, in a storage of its own. */
static struct fr_tensor gradient_of(const struct fr_tensor *t)
{
    struct fr_tensor g = *t;

    g.alias = FR_NONE;
    return g;
}

static struct read made(const struct expansion *x, uint32_t n_back, const struct fr_tensor *t)
{
    return (struct read){x->n_ops - 1, x->n_tensors - n_back, t->bytes, t->scales, false, FR_NONE};
}

/* The sums of one op: how they are called and how many there are so far. */
struct summing {
    uint32_t from;
    const char *suffix;
    enum fr_phase phase;
    unsigned n_sums;
};

/* Sums a ring of gradients pairwise, in the order they came; false: there is none. PyTorch's
 * engine adds out of place as well (torch/csrc/autograd/input_buffer.cpp). */
static bool sum_up(struct expansion *x, struct summing *s, uint32_t last,
                   const struct fr_tensor *shape, struct read *sum)
{
    struct fr_op op = {.kind = FR_OP_GRAD_ADD, .phase = s->phase};

    if (last == FR_NONE)
        return false;
    op.shape = shape->n_dims ? fr__shape_of_output(FR_OP_GRAD_ADD, shape)
                             : fr__shape_of_parameters(n_elements(x, shape));
    *sum = x->reads[x->reads[last].next];
    op.flops = n_elements(x, shape);
    for (uint32_t at = x->reads[last].next; at != last;) {
        at = x->reads[at].next;
        read_now(x, *sum);
        read_now(x, x->reads[at]);
        s->n_sums++;
        add_op(x, s->from, s->suffix, s->n_sums == 1 ? FR_NONE : s->n_sums, op, shape, 1);
        *sum = made(x, 1, shape);
    }
    return true;
}

/* ---- one op's backward ---- */

static bool wants_gradient(const struct expansion *x, const struct fr_edge *e)
{
    const struct fr_op *src = &x->f->ops[e->src];

    return e->tensor != FR_NONE && x->is_needed[e->src] &&
           e->tensor - src->first_tensor < n_gradient_outputs(x, e->src);
}

/* Reads what the mask names of forward op o; `input` is the in-edge whose gradient is wanted. */
static void read_saved(struct expansion *x, uint32_t o, unsigned mask, uint32_t input)
{
    const struct fr_graph *f = x->f;
    const struct fr_op *op = &f->ops[o];
    uint32_t n_grads = n_gradient_outputs(x, o), n_in = 0;

    for (uint32_t i = f->in_first[o]; i < f->in_first[o + 1]; i++)
        n_in += f->edges[f->in_edges[i]].tensor != FR_NONE;
    for (uint32_t i = f->in_first[o]; i < f->in_first[o + 1]; i++) {
        uint32_t t = f->edges[f->in_edges[i]].tensor;
        bool is_square = n_in == 1 && x->tied_to[o] == FR_NONE;

        if (t == FR_NONE)
            continue;
        if (mask & (IN | HELD) || (mask & OTHERS && (i != input || is_square)) ||
            (mask & INDICES && !wants_gradient(x, &f->edges[f->in_edges[i]])))
            read_forward(x, t, mask & HELD);
    }
    for (uint32_t k = 0; k < op->n_tensors; k++)
        if (mask & (k < n_grads ? OUT : EXTRA))
            read_forward(x, op->first_tensor + k, false);
}

/* The gradients of an op's outputs; *elements: how many there are. */
struct output_grads {
    struct read *reads;
    size_t n;
    double elements;
};

static struct output_grads collect(struct expansion *x, uint32_t o)
{
    const struct fr_op *op = &x->f->ops[o];
    uint32_t n = n_gradient_outputs(x, o);
    struct output_grads dy = {.reads = fr__arena_alloc(x->scratch, n, sizeof(*dy.reads))};

    if (!dy.reads) {
        x->is_out_of_memory = true;
        return dy;
    }
    for (uint32_t k = 0; k < n; k++) {
        uint32_t t = op->first_tensor + k;
        struct fr_tensor shape = gradient_of(&x->f->tensors[t]);

        if (x->grads[t] == FR_NONE)
            continue;
        dy.reads[dy.n] = x->reads[x->grads[t]];
        dy.elements += (double)dy.reads[dy.n].bytes / (double)shape.bytes * n_elements(x, &shape);
        dy.n++;
    }
    return dy;
}

static void read_grads(struct expansion *x, const struct output_grads *dy)
{
    for (size_t i = 0; i < dy->n; i++)
        read_now(x, dy->reads[i]);
}

static struct fr_op data_op(const struct expansion *x, uint32_t o, const struct output_grads *dy)
{
    const struct rule *r = rule_of(x, o);
    struct fr_op op = {
        .kind = x->f->ops[o].kind, .phase = FR_PHASE_BACKWARD_DATA, .shape = x->f->ops[o].shape};

    if (op.shape.of == FR_SHAPE_PRODUCT)
        op.shape.product.gradient_of = FR_OPERAND_LEFT;
    op.flops = r->data_of_forward * x->f->ops[o].flops + r->data_of_element * dy->elements;
    if (x->tied_to[o] != FR_NONE)
        op.param_bytes = x->f->ops[x->tied_to[o]].param_bytes;
    return op;
}

/* Keeps what the weight gradient of o reads and computes, for `owner` to take up, whose turn comes
 * later. */
static void put_off(struct expansion *x, uint32_t o, uint32_t owner, double flops)
{
    struct fr_shape shape = x->f->ops[o].shape;
    const uint64_t *samples = fr__shape_samples(&shape, x->f->ops[o].kind);

    x->step_flops[owner] += flops;
    x->step_samples[owner] += samples ? *samples : 0;
    for (size_t i = 0; i < x->n_now; i++)
        contribute(x, &x->step_reads[owner], x->now[i]);
    x->n_now = 0;
}

/* Sets the shape of a weight gradient of o, which adds up those of other ops with `more` samples. Not
 * known where the others' shapes are not: it would not make the op's FLOPs. */
static void set_weight_shape(const struct expansion *x, uint32_t o, bool has_part, uint64_t more,
                             struct fr_op *op)
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

static void take_up(struct expansion *x, uint32_t o)
{
    uint32_t last = x->step_reads[o], at = last;

    while (last != FR_NONE) {
        at = x->reads[at].next;
        read_now(x, x->reads[at]);
        if (at == last)
            break;
    }
}

/* Whether the edge brings weights that a cast has made: under mixed precision a product's parameters
 * are an input like any other. */
static bool is_weight(const struct expansion *x, const struct fr_edge *e)
{
    return e->tensor != FR_NONE && x->f->ops[e->src].kind == FR_OP_CAST &&
           x->tied_to[e->src] != FR_NONE;
}

static void put_off_to_cast(struct expansion *x, uint32_t o, const struct fr_edge *e,
                            const struct output_grads *dy)
{
    const struct rule *r = rule_of(x, o);

    /* a convolution's backward asks for both operands, always */
    if (x->f->ops[o].kind == FR_OP_CONV2D && x->cast_user[e->src] == FR_NONE)
        read_forward(x, e->tensor, true);
    put_off(x, o, e->src,
            r->weight_of_forward * x->f->ops[o].flops + r->weight_of_element * dy->elements);
    x->cast_user[e->src] = o;
}

/* The gradient of cast weights, one for all that use them; the cast's own backward then gives that of
 * the parameters. */
static void add_cast_weight_op(struct expansion *x, uint32_t cast)
{
    uint32_t user = x->cast_user[cast], tensor = x->f->ops[cast].first_tensor;
    struct fr_tensor dw = gradient_of(&x->f->tensors[tensor]);
    struct fr_op op = {.phase = FR_PHASE_BACKWARD_WEIGHT, .flops = x->step_flops[cast]};

    if (user == FR_NONE)
        return;
    op.kind = x->f->ops[user].kind;
    set_weight_shape(x, user, false, x->step_samples[cast], &op);
    take_up(x, cast);
    x->step_reads[cast] = FR_NONE;
    x->step_flops[cast] = 0;
    x->step_samples[cast] = 0;
    op.param_bytes = dw.bytes;
    add_op(x, user, "wgrad", FR_NONE, op, &dw, 1);
    contribute(x, &x->grads[tensor], made(x, 1, &dw));
}

/* Whether a tensor that a product of two activations reads is its right operand. Edges do not say
 * which operand they bring, but the left one's rows have `depth` elements. Where both are of one
 * shape, so are their gradients. */
static bool is_right_operand(const struct fr_op *op, const struct fr_tensor *t)
{
    const struct fr_shape *s = &op->shape;
    double elements = 1, left;

    if (s->of != FR_SHAPE_PRODUCT || op->kind != FR_OP_BATCH_MATMUL || t->n_dims == 0)
        return false;
    for (unsigned d = 0; d < t->n_dims; d++)
        elements *= t->dims[d];
    left = (double)s->product.batch * (double)s->product.rows * (double)s->product.depth;
    return elements < left || elements > left || t->dims[t->n_dims - 1] != s->product.depth;
}

static void add_data_op_each(struct expansion *x, uint32_t o, const struct output_grads *dy)
{
    const struct fr_graph *f = x->f;
    uint32_t first = f->in_first[o], n_in = 0;
    unsigned mask = rule_of(x, o)->data_reads;

    for (uint32_t i = first; i < f->in_first[o + 1]; i++) {
        bool is_weights = is_weight(x, &f->edges[f->in_edges[i]]);

        n_in += f->edges[f->in_edges[i]].tensor != FR_NONE && !is_weights;
        mask = is_weights ? OTHERS : mask;
    }
    for (uint32_t i = first; i < f->in_first[o + 1]; i++) {
        const struct fr_edge *e = &f->edges[f->in_edges[i]];
        struct fr_tensor dx;
        struct fr_op op;

        if (!wants_gradient(x, e))
            continue;
        dx = gradient_of(&f->tensors[e->tensor]);
        read_grads(x, dy);
        read_saved(x, o, mask, i);
        if (is_weight(x, e)) {
            put_off_to_cast(x, o, e, dy);
            continue;
        }
        op = data_op(x, o, dy);
        if (is_right_operand(&f->ops[o], &dx))
            op.shape.product.gradient_of = FR_OPERAND_RIGHT;
        add_op(x, o, "dgrad", n_in > 1 ? i - first : FR_NONE, op, &dx, 1);
        contribute(x, &x->grads[e->tensor], made(x, 1, &dx));
    }
}

static void add_data_op_all(struct expansion *x, uint32_t o, const struct output_grads *dy)
{
    const struct fr_graph *f = x->f;
    uint32_t first = f->in_first[o], end = f->in_first[o + 1], n = 0;
    struct fr_tensor *dx = fr__arena_alloc(x->scratch, end - first, sizeof(*dx));

    if (!dx) {
        x->is_out_of_memory = true;
        return;
    }
    for (uint32_t i = first; i < end; i++)
        if (wants_gradient(x, &f->edges[f->in_edges[i]])) {
            dx[n] = gradient_of(&f->tensors[f->edges[f->in_edges[i]].tensor]);
            if (rule_of(x, o)->flow == FLOW_PARTS)
                dx[n].alias = dy->reads[0].tensor;
            n++;
        }
    if (n == 0)
        return;
    read_grads(x, dy);
    read_saved(x, o, rule_of(x, o)->data_reads, FR_NONE);
    add_op(x, o, "dgrad", FR_NONE, data_op(x, o, dy), dx, n);
    for (uint32_t i = first, k = 0; i < end; i++)
        if (wants_gradient(x, &f->edges[f->in_edges[i]])) {
            contribute(x, &x->grads[f->edges[f->in_edges[i]].tensor], made(x, n - k, &dx[k]));
            k++;
        }
}

static void pass_on(struct expansion *x, uint32_t o, const struct output_grads *dy)
{
    for (uint32_t i = x->f->in_first[o]; i < x->f->in_first[o + 1]; i++) {
        const struct fr_edge *e = &x->f->edges[x->f->in_edges[i]];

        if (wants_gradient(x, e))
            contribute(x, &x->grads[e->tensor], dy->reads[0]);
    }
}

static struct fr_tensor parameter_gradient(const struct expansion *x, uint32_t owner)
{
    return (struct fr_tensor){.bytes = x->f->ops[owner].param_bytes, .alias = FR_NONE};
}

static bool is_later_step(const struct expansion *x, uint32_t o)
{
    uint32_t owner = x->tied_to[o];

    return owner != FR_NONE && owner != o && x->f->ops[owner].layer == x->f->ops[o].layer;
}

/* has_part: o has a gradient of its own, not only its later steps. */
static void add_weight_op(struct expansion *x, uint32_t o, const struct output_grads *dy,
                          bool has_part)
{
    const struct rule *r = rule_of(x, o);
    uint32_t owner = x->tied_to[o];
    struct fr_tensor dw;
    struct fr_op op = {.kind = x->f->ops[o].kind, .phase = FR_PHASE_BACKWARD_WEIGHT};

    if (owner == FR_NONE)
        return;
    if (has_part) {
        op.flops = r->weight_of_forward * x->f->ops[o].flops + r->weight_of_element * dy->elements;
        read_grads(x, dy);
        read_saved(x, o, r->weight_reads, FR_NONE);
    }
    if (is_later_step(x, o)) {
        put_off(x, o, owner, op.flops);
        return;
    }
    op.flops += x->step_flops[o];
    set_weight_shape(x, o, has_part, x->step_samples[o], &op);
    take_up(x, o);
    if (x->n_now == 0)
        return;
    dw = parameter_gradient(x, owner);
    if (x->f->ops[o].kind != FR_OP_CAST) /* whose traffic is all fixed and so counted as a whole */
        op.param_bytes = dw.bytes;
    add_op(x, o, "wgrad", FR_NONE, op, &dw, 1);
    contribute(x, &x->weight_grads[owner], made(x, 1, &dw));
}

/* Sums what has come together for an input of o. PyTorch's engine does so as soon as o is through,
 * and does not wait until the sum is needed (torch/csrc/autograd/engine.cpp, evaluate_function). */
static void sum_input_gradients(struct expansion *x, uint32_t o)
{
    const struct fr_graph *f = x->f;

    for (uint32_t i = f->in_first[o]; i < f->in_first[o + 1]; i++) {
        uint32_t t = f->edges[f->in_edges[i]].tensor, *last = &x->grads[t == FR_NONE ? 0 : t];
        struct summing sums = {.suffix = "grad_add", .phase = FR_PHASE_BACKWARD_DATA};
        struct fr_tensor shape;
        struct read sum;

        if (t == FR_NONE || *last == FR_NONE || x->reads[*last].next == *last)
            continue;
        shape = gradient_of(&f->tensors[t]);
        sums.from = f->tensors[t].op;
        sums.n_sums = x->n_sums[sums.from];
        sum_up(x, &sums, *last, &shape, &sum);
        x->n_sums[sums.from] = sums.n_sums;
        *last = FR_NONE;
        contribute(x, last, sum);
    }
}

/* Nothing to do for an op whose outputs have no gradient: it has no part in the loss. */
static void add_backward(struct expansion *x, uint32_t o)
{
    struct fr__mark mark = fr__arena_mark(x->scratch);
    enum flow flow = rule_of(x, o)->flow;
    struct output_grads dy;
    bool has_part;

    if (!x->is_needed[o])
        return;
    add_cast_weight_op(x, o);
    dy = collect(x, o);
    has_part = dy.n > 0 || x->f->ops[o].kind == FR_OP_LOSS;
    if (has_part && !x->is_out_of_memory) {
        if (flow == FLOW_EACH)
            add_data_op_each(x, o, &dy);
        else if (flow == FLOW_ALL || flow == FLOW_PARTS)
            add_data_op_all(x, o, &dy);
        else if (flow == FLOW_PASS)
            pass_on(x, o, &dy);
    }
    if (!x->is_out_of_memory)
        add_weight_op(x, o, &dy, has_part);
    if (!x->is_out_of_memory)
        sum_input_gradients(x, o);
    fr__arena_rewind(x->scratch, mark);
}

/* Reads the gradient, reads and writes the parameters; momentum and the like are up to the
 * optimizer and priced by the strategy. 2 FLOPs a parameter: w -= lr g. */
static void add_update(struct expansion *x, uint32_t o)
{
    struct fr_tensor shape = parameter_gradient(x, o);
    struct fr_op op = {.kind = FR_OP_UPDATE, .phase = FR_PHASE_UPDATE};
    struct summing sums = {.from = o, .suffix = "wgrad_add", .phase = FR_PHASE_BACKWARD_WEIGHT};
    struct read dw;

    if (!sum_up(x, &sums, x->weight_grads[o], &shape, &dw))
        return;
    read_now(x, dw);
    op.flops = 2 * (double)shape.bytes / x->f->param_elem_bytes;
    op.shape = fr__shape_of_parameters((double)(shape.bytes / x->f->param_elem_bytes));
    op.param_bytes = shape.bytes;
    add_op(x, o, "update", FR_NONE, op, NULL, 0);
}

/* ---- the whole ---- */

static enum fr_status refuse_unfit(const struct fr_graph *f, struct fr_error *err)
{
    bool has_loss = false;

    for (size_t i = 0; i < f->n_ops; i++) {
        const struct fr_op *op = &f->ops[i];

        if (op->phase > FR_PHASE_FORWARD || rules[op->kind].flow == FLOW_REFUSED)
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

static bool allocate(struct expansion *x)
{
    size_t n_ops = x->f->n_ops, n_tensors = x->f->n_tensors;

    x->b = fr_graph_builder_new();
    x->scratch = fr__arena_new();
    if (!x->b || !x->scratch)
        return false;
    x->is_needed = fr__arena_alloc(x->scratch, n_ops, sizeof(*x->is_needed));
    x->tied_to = fr__arena_alloc(x->scratch, n_ops, sizeof(*x->tied_to));
    x->weight_grads = fr__arena_alloc(x->scratch, n_ops, sizeof(*x->weight_grads));
    x->step_reads = fr__arena_alloc(x->scratch, n_ops, sizeof(*x->step_reads));
    x->step_flops = fr__arena_alloc(x->scratch, n_ops, sizeof(*x->step_flops));
    x->step_samples = fr__arena_alloc(x->scratch, n_ops, sizeof(*x->step_samples));
    x->cast_user = fr__arena_alloc(x->scratch, n_ops, sizeof(*x->cast_user));
    x->n_sums = fr__arena_alloc(x->scratch, n_ops, sizeof(*x->n_sums));
    x->grads = fr__arena_alloc(x->scratch, n_tensors, sizeof(*x->grads));
    if (!x->is_needed || !x->tied_to || !x->weight_grads || !x->step_reads || !x->step_flops ||
        !x->step_samples || !x->cast_user || !x->n_sums || !x->grads)
        return false;
    for (size_t i = 0; i < n_ops; i++)
        x->weight_grads[i] = x->step_reads[i] = x->cast_user[i] = FR_NONE;
    for (size_t i = 0; i < n_tensors; i++)
        x->grads[i] = FR_NONE;
    return true;
}

static void release(struct expansion *x)
{
    fr_graph_builder_free(x->b);
    fr__arena_free(x->scratch);
    free(x->reads);
    free(x->now);
    free(x->name);
}

/* Fills tied_to and is_needed in one forward pass. */
static void mark_needed(struct expansion *x)
{
    const struct fr_graph *f = x->f;

    for (uint32_t o = 0; o < f->n_ops; o++) {
        x->tied_to[o] = f->ops[o].param_bytes ? o : FR_NONE;
        for (uint32_t i = f->in_first[o]; i < f->in_first[o + 1]; i++) {
            const struct fr_edge *e = &f->edges[f->in_edges[i]];

            if (wants_gradient(x, e))
                x->is_needed[o] = true;
            if (e->tensor == FR_NONE && e->bytes && x->tied_to[o] == FR_NONE)
                x->tied_to[o] = f->ops[e->src].param_bytes ? e->src : FR_NONE;
        }
        if (x->tied_to[o] != FR_NONE)
            x->is_needed[o] = true;
    }
}

/* The forward graph is sorted, so that its ops and tensors keep their numbers. */
static void copy_forward(struct expansion *x)
{
    const struct fr_graph *f = x->f;

    for (size_t i = 0; i < f->n_ops; i++) {
        const struct fr_op *op = &f->ops[i];

        if (fr_graph_builder_op(x->b, op, f->layer_names[op->layer], &f->tensors[op->first_tensor],
                                op->n_tensors) == FR_NONE)
            x->is_out_of_memory = true;
    }
    for (size_t i = 0; i < f->n_edges; i++) {
        const struct fr_edge *e = &f->edges[i];

        if (e->tensor == FR_NONE && e->bytes > 0)
            fr_graph_builder_tie(x->b, e->src, e->dst);
        else
            fr_graph_builder_edge(x->b, e->src, e->dst, e->tensor, e->bytes);
    }
    for (size_t i = 0; i < f->n_samples; i++)
        fr_graph_builder_sample(x->b, f->samples[i].op, f->samples[i].device, f->samples[i].batch,
                                f->samples[i].time_s);
    x->n_ops = (uint32_t)f->n_ops;
    x->n_tensors = (uint32_t)f->n_tensors;
}

enum fr_status fr_graph_expand_training(const struct fr_graph *forward, struct fr_graph **out,
                                        struct fr_error *err)
{
    struct expansion x = {.f = forward, .elem_bytes = fr__elem_bytes(forward->dtype)};
    enum fr_status st;

    FR_TRY(refuse_unfit(forward, err));
    if (!allocate(&x)) {
        st = fr__fail_nomem(err);
        goto done;
    }
    mark_needed(&x);
    copy_forward(&x);
    for (uint32_t o = (uint32_t)forward->n_ops; o-- > 0 && !x.is_out_of_memory;)
        add_backward(&x, o);
    for (uint32_t o = 0; o < forward->n_ops && !x.is_out_of_memory; o++)
        add_update(&x, o);
    st = x.is_out_of_memory ? fr__fail_nomem(err) : fr_graph_builder_finish(x.b, forward, out, err);
done:
    release(&x);
    return st;
}
