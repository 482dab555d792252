/* calibrate/cost/kernel.c - turns an op, or a part of it, into the kernel that a curve can
 * price. */
#include "config.h"

#include "calibrate/cost/kernel.h"

#include "workloads/graph/formats.h"
#include "workloads/graph/infer_shape.h"

#include <math.h>
#include <string.h>

/* ---- traffic ---- */

/* Bytes of the parameters of other ops that a forward op uses (tied weights). */
static double borrowed_bytes(const struct fr_graph *g, const struct fr_op *o)
{
    size_t op = (size_t)(o - g->ops);
    double bytes = 0;

    if (o->phase != FR_PHASE_FORWARD)
        return 0; /* an op that runs again has them in its param_bytes */
    for (uint32_t i = g->in_first[op]; i < g->in_first[op + 1]; i++) {
        const struct fr_edge *e = &g->edges[g->in_edges[i]];

        if (e->tensor == FR_NONE && g->ops[e->src].phase == FR_PHASE_FORWARD)
            bytes += (double)e->bytes;
    }
    return bytes;
}

/* Bytes of parameters that an op reads or writes. They are all of them, except for a table of
 * embeddings in the forward pass: of that only the rows looked up are read, and these are part of
 * `bytes`. */
static double param_traffic(const struct fr_graph *g, const struct fr_op *o)
{
    bool is_lookup = o->kind == FR_OP_EMBEDDING && fr_op_runs_forward(o) && o->bytes > 0;

    return is_lookup ? 0 : (double)fr_op_stored_bytes(g, o) + borrowed_bytes(g, o);
}

/* Bytes of inputs that do not grow with the batch, read by an op that does; an op's `bytes` leave
 * them out. Without gathered parameters: of a whole unit's an op reads its own, which are its
 * param_bytes. */
static double fixed_input_bytes(const struct fr_graph *g, const struct fr_op *o)
{
    uint32_t id = (uint32_t)(o - g->ops);
    double bytes = 0;

    for (uint32_t i = g->in_first[id]; o->scales && i < g->in_first[id + 1]; i++) {
        const struct fr_edge *e = &g->edges[g->in_edges[i]];

        if (e->tensor != FR_NONE && !g->tensors[e->tensor].scales &&
            g->ops[e->src].kind != FR_OP_ALL_GATHER)
            bytes += (double)g->tensors[e->tensor].bytes;
    }
    return bytes;
}

/* ---- the part of a shape ---- */

/* An op, or the part of it, whose kernel is asked for. */
struct piece {
    const struct fr_op *op;
    const struct fr_shape *shape;
    double ratio; /* samples of the part over those of the graph */
    double parts,
        in_parts; /* into how many parts the channels are cut: those written, those read */
};

static double share(double size, double parts)
{
    return fmax(size / parts, 1);
}

/* The product of a gradient. That of the left operand is [rows][depth] over the columns, that of
 * the right operand is [depth][columns] over the rows, or its transpose. */
static void turn_around(const struct fr_shape *shape, double rows, double columns, double depth,
                        struct fr_kernel_shape *out)
{
    enum fr_operand of = shape->product.gradient_of;
    bool is_right = of == FR_OPERAND_RIGHT, is_swapped = is_right && shape->product.is_transposed;

    out->matmul.rows = is_swapped ? columns : is_right ? depth : rows;
    out->matmul.columns = is_swapped || of == FR_OPERAND_LEFT ? depth : columns;
    out->matmul.depth = is_right ? rows : of == FR_OPERAND_LEFT ? columns : depth;
}

static void product_of(const struct piece *p, struct fr_kernel_shape *out)
{
    const struct fr_shape *s = p->shape;
    double batch = (double)s->product.batch, rows = (double)s->product.rows;
    double columns = (double)s->product.columns, depth = (double)s->product.depth;

    out->op_class = FR_CURVE_MATMUL;
    if (p->op->kind == FR_OP_BATCH_MATMUL) {
        batch = share(batch * p->ratio, p->parts * p->in_parts);
    } else {
        rows *= p->ratio;
        columns /= p->parts;
        depth /= p->in_parts;
    }
    out->matmul.batch = batch;
    turn_around(s, rows, columns, depth, out);
}

static void conv_of(const struct piece *p, struct fr_kernel_shape *out)
{
    const struct fr_shape *s = p->shape;

    out->op_class = fr_op_runs_forward(p->op)                ? FR_CURVE_CONV_FORWARD
                    : p->op->phase == FR_PHASE_BACKWARD_DATA ? FR_CURVE_CONV_BACKWARD_DATA
                                                             : FR_CURVE_CONV_BACKWARD_FILTER;
    out->conv.images = share((double)s->conv.images * p->ratio, 1);
    out->conv.in_channels = (double)s->conv.in_channels / p->in_parts;
    out->conv.out_channels = (double)s->conv.out_channels / p->parts;
    out->conv.groups = (double)s->conv.groups;
    out->conv.height = (double)s->conv.in_height;
    out->conv.width = (double)s->conv.in_width;
    out->conv.out_height = (double)s->conv.out_height;
    out->conv.out_width = (double)s->conv.out_width;
    out->conv.kernel_height = (double)s->conv.filter_height;
    out->conv.kernel_width = (double)s->conv.filter_width;
    out->conv.stride = sqrt((double)s->conv.stride_height * (double)s->conv.stride_width);
    out->conv.pad = (double)s->conv.pad_height;
    out->conv.is_dilated = s->conv.dilation_height > 1 || s->conv.dilation_width > 1;
}

static void rows_of(const struct piece *p, enum fr_curve_class op_class,
                    struct fr_kernel_shape *out)
{
    out->op_class = op_class;
    out->rows.columns = (double)p->shape->rows.columns;
    out->rows.rows = share((double)p->shape->rows.rows * p->ratio, p->parts * p->in_parts);
}

static void batchnorm_of(const struct piece *p, struct fr_kernel_shape *out)
{
    const struct fr_shape *s = p->shape;

    out->op_class = fr_op_runs_forward(p->op) ? FR_CURVE_BATCHNORM : FR_CURVE_BATCHNORM_BACKWARD;
    out->batchnorm.channels = (double)s->elements.channels / p->parts;
    out->batchnorm.values =
        share((double)s->elements.batch * (double)s->elements.positions * p->ratio, 1);
}

/* The curve has one width of a head: the one that makes as many FLOPs. */
static double head_dim(const struct piece *p)
{
    double width = (double)p->shape->attention.head_width;
    double values = (double)fr_shape_value_width(p->shape);

    return fr_op_runs_forward(p->op) ? (width + values) / 2 : (3 * width + 2 * values) / 5;
}

/* Queries that see a window count as many short sequences, each as long as the keys that a query
 * sees on average: as many scores, and as many queries that are read. */
static void window_of(const struct fr_shape *s, struct fr_kernel_shape *out)
{
    double keys = fr_shape_keys(s), queries = (double)s->attention.query_len;

    out->attention.batch *= queries / keys;
    out->attention.seq = keys;
    out->attention.is_causal = false;
}

/* A part of the heads has the key-value heads of its groups. The curve knows one length only:
 * queries and keys of different lengths count as the one length that has as many scores. */
static void attention_of(const struct piece *p, struct fr_kernel_shape *out)
{
    const struct fr_shape *s = p->shape;
    double queries = (double)s->attention.query_len, keys = (double)s->attention.key_len;

    out->op_class = FR_CURVE_ATTENTION;
    out->attention.batch = share((double)s->attention.batch * p->ratio, 1);
    out->attention.heads = (double)s->attention.heads / p->parts;
    out->attention.kv_heads = share((double)s->attention.kv_heads, p->parts);
    out->attention.seq =
        s->attention.query_len == s->attention.key_len ? queries : sqrt(queries * keys);
    out->attention.head_dim = head_dim(p);
    out->attention.is_causal = s->attention.is_causal;
    if (s->attention.window && s->attention.window < s->attention.key_len)
        window_of(s, out);
}

/* false: ops of this kind are priced by their bytes alone. */
static bool kernel_shape_of(const struct piece *p, struct fr_kernel_shape *out)
{
    switch (p->op->kind) {
    case FR_OP_MATMUL:
    case FR_OP_BATCH_MATMUL:
        product_of(p, out);
        return true;
    case FR_OP_CONV2D:
        conv_of(p, out);
        return true;
    case FR_OP_SOFTMAX:
    case FR_OP_LOG_SOFTMAX:
        rows_of(p, FR_CURVE_SOFTMAX, out);
        return true;
    case FR_OP_LAYERNORM:
    case FR_OP_RMSNORM:
        rows_of(p, FR_CURVE_LAYERNORM, out);
        return true;
    case FR_OP_ATTENTION:
        attention_of(p, out);
        return true;
    case FR_OP_BATCHNORM:
        batchnorm_of(p, out);
        return true;
    default:
        return false;
    }
}

/* Sizes of a weight that 8-bit matrix units take. */
enum { FP8_MULTIPLE = 16 };

/* Whether operands have 8 bits in fp8 training; see kernel.h. shape NULL: not known. */
static bool runs_in_8_bits(const struct fr_graph *g, const struct fr_op *o,
                           const struct fr_shape *shape)
{
    const struct fr_op *forward = o->forward == FR_NONE ? o : &g->ops[o->forward];

    if (g->formats)
        return fr__formats_bits(g->formats, g, (uint32_t)(o - g->ops)) <= 8;
    switch (o->kind) {
    case FR_OP_ATTENTION:
        return shape && shape->attention.is_8_bit;
    case FR_OP_BATCH_MATMUL: /* of two activations, unless experts own the right operand */
        return forward->param_bytes > 0;
    case FR_OP_MATMUL:
        return !shape || (!shape->product.is_wide && shape->product.columns % FP8_MULTIPLE == 0 &&
                          shape->product.depth % FP8_MULTIPLE == 0);
    default:
        return false;
    }
}

/* Bytes of one number of the forward op's first output; 0: not known. */
static double element_bytes(const struct fr_graph *g, const struct fr_op *o)
{
    const struct fr_op *forward = o->forward == FR_NONE ? o : &g->ops[o->forward];
    const struct fr_tensor *t;
    double n = 1;

    if (forward->n_tensors == 0)
        return 0;
    t = &g->tensors[forward->first_tensor];
    if (t->n_dims == 0)
        return 0;
    for (unsigned d = 0; d < t->n_dims; d++)
        n *= t->dims[d];
    return (double)t->bytes / n;
}

/* FLOPs of an op; of a pooling layer's gradient those of the forward pass, one for each element of
 * each window, since its kernel visits them all again. */
static double window_flops(const struct fr_graph *g, const struct fr_op *o)
{
    bool is_pooling = o->kind == FR_OP_MAXPOOL || o->kind == FR_OP_AVGPOOL;

    return is_pooling && o->forward != FR_NONE ? g->ops[o->forward].flops : o->flops;
}

/* One of the two gradients of a piece that holds both. */
static void gradient_of(const struct piece *p, enum fr_phase phase, struct fr_kernel_shape *out)
{
    struct fr_op op = *p->op;
    struct fr_shape shape = *p->shape;
    struct piece one = *p;

    op.phase = phase;
    if (op.kind == FR_OP_MATMUL)
        shape.product.gradient_of =
            phase == FR_PHASE_BACKWARD_DATA ? FR_OPERAND_LEFT : FR_OPERAND_RIGHT;
    one.op = &op;
    one.shape = &shape;
    kernel_shape_of(&one, out);
}

/* How many kernels of its shape the op is. */
static void count_kernels(const struct fr_graph *g, uint32_t op, const struct piece *p,
                          struct fr__kernel *out)
{
    struct fr__op_parts parts = fr__op_parts(g, op, p->shape);

    out->repeats = parts.repeats;
    out->flops /= parts.n_gradients * parts.repeats;
    out->bytes /= parts.n_gradients * parts.repeats;
    out->is_pair = parts.n_gradients == 2;
    if (!out->is_pair)
        return;
    gradient_of(p, FR_PHASE_BACKWARD_DATA, &out->shape);
    gradient_of(p, FR_PHASE_BACKWARD_WEIGHT, &out->second);
}

void fr__kernel_of(const struct fr_graph *g, uint32_t op, const struct fr_part *part,
                   struct fr__kernel *out)
{
    const struct fr_op *o = &g->ops[op];
    struct fr_shape shape;
    struct piece p = {.op = o,
                      .shape = &shape,
                      .ratio = o->scales && g->batch > 0 ? part->batch / g->batch : 1,
                      .parts = part->channel_parts > 1 ? part->channel_parts : 1,
                      .in_parts = part->input_parts > 1 ? part->input_parts : 1};

    *out = (struct fr__kernel){
        .repeats = 1,
        .flops = window_flops(g, o) * p.ratio / (p.parts * p.in_parts),
        .bytes = (o->bytes * p.ratio + fixed_input_bytes(g, o) + param_traffic(g, o)) /
                 (p.parts * p.in_parts),
        .element_bytes = element_bytes(g, o)};
    if (o->kind == FR_OP_CONV2D || o->kind == FR_OP_BATCHNORM)
        out->layout = g->layout;
    out->has_shape = fr__op_shape(g, op, &shape) && kernel_shape_of(&p, &out->shape);
    out->is_8_bit = runs_in_8_bits(g, o, out->has_shape ? &shape : NULL);
    out->is_cast_apart = g->formats && out->is_8_bit;
    out->is_4_bit = out->is_cast_apart && fr__formats_bits(g->formats, g, op) <= 4;
    if (out->has_shape)
        count_kernels(g, op, &p, out);
    if (out->has_shape && o->kind == FR_OP_MATMUL)
        out->epilogue_bytes = (double)shape.product.epilogue * p.ratio / (p.parts * p.in_parts);
    if (out->has_shape && o->kind == FR_OP_ATTENTION)
        out->generation = (double)shape.attention.generation;
}

/* ---- as bits ---- */

static size_t conv_numbers(const struct fr_kernel_shape *s, double n[])
{
    size_t i = 0;

    n[i++] = s->conv.images;
    n[i++] = s->conv.in_channels;
    n[i++] = s->conv.height;
    n[i++] = s->conv.width;
    n[i++] = s->conv.out_channels;
    n[i++] = s->conv.kernel_height;
    n[i++] = s->conv.kernel_width;
    n[i++] = s->conv.stride;
    n[i++] = s->conv.pad;
    n[i++] = s->conv.groups;
    n[i++] = s->conv.out_height;
    n[i++] = s->conv.out_width;
    n[i++] = s->conv.is_dilated;
    return i;
}

/* Those of the classes that kernel_shape_of makes. */
static size_t shape_numbers(const struct fr_kernel_shape *s, double n[])
{
    size_t i = 0;

    switch (s->op_class) {
    case FR_CURVE_SOFTMAX:
    case FR_CURVE_LAYERNORM:
        n[i++] = s->rows.rows;
        n[i++] = s->rows.columns;
        return i;
    case FR_CURVE_BATCHNORM:
    case FR_CURVE_BATCHNORM_BACKWARD:
        n[i++] = s->batchnorm.channels;
        n[i++] = s->batchnorm.values;
        return i;
    case FR_CURVE_ATTENTION:
        n[i++] = s->attention.batch;
        n[i++] = s->attention.heads;
        n[i++] = s->attention.kv_heads;
        n[i++] = s->attention.seq;
        n[i++] = s->attention.head_dim;
        n[i++] = s->attention.is_causal;
        return i;
    case FR_CURVE_MATMUL:
        n[i++] = s->matmul.batch;
        n[i++] = s->matmul.rows;
        n[i++] = s->matmul.columns;
        n[i++] = s->matmul.depth;
        return i;
    default:
        return conv_numbers(s, n);
    }
}

void fr__kernel_words(const struct fr__kernel *k, uint64_t words[FR__KERNEL_WORDS])
{
    double n[FR__KERNEL_WORDS] = {k->flops,
                                  k->bytes,
                                  k->element_bytes,
                                  k->generation,
                                  k->has_shape + 2 * k->is_8_bit + 4 * k->is_4_bit +
                                      8 * k->is_cast_apart,
                                  k->is_pair,
                                  k->repeats};
    size_t last = FR__KERNEL_WORDS - 1; /* no shape has so many sizes */

    if (k->has_shape) {
        n[7] = (double)k->shape.op_class;
        shape_numbers(&k->shape, n + 8); /* the second shape follows from the first */
        n[last] = k->shape.op_class == FR_CURVE_MATMUL ? k->epilogue_bytes : (double)k->layout;
    }
    memcpy(words, n, sizeof(n));
}
