/* calibrate/kernel.c - see kernel.h. */
#include "config.h"

#include "calibrate/kernel.h"

#include <math.h>

/* ---- traffic ---- */

/* Parameters of other ops that a forward op uses (tied weights). */
static double borrowed_bytes(const struct fr_graph *g, const struct fr_op *o)
{
    size_t op = (size_t)(o - g->ops);
    double bytes = 0;

    if (o->phase != FR_PHASE_FORWARD)
        return 0;
    for (uint32_t i = g->in_first[op]; i < g->in_first[op + 1]; i++) {
        const struct fr_edge *e = &g->edges[g->in_edges[i]];

        if (e->tensor == FR_NONE && g->ops[e->src].phase == FR_PHASE_FORWARD)
            bytes += (double)e->bytes;
    }
    return bytes;
}

/* Parameters are read or written whole, but for a table of embeddings in the forward pass: of that
 * only the rows looked up are read, and these are in `bytes`. */
static double param_traffic(const struct fr_graph *g, const struct fr_op *o)
{
    bool is_lookup = o->kind == FR_OP_EMBEDDING && o->phase == FR_PHASE_FORWARD && o->bytes > 0;

    return is_lookup ? 0 : (double)o->param_bytes + borrowed_bytes(g, o);
}

/* What an op that scales with the batch reads and what does not: an op's `bytes` leave it out. */
static double fixed_input_bytes(const struct fr_graph *g, const struct fr_op *o)
{
    uint32_t id = (uint32_t)(o - g->ops);
    double bytes = 0;

    for (uint32_t i = g->in_first[id]; o->scales && i < g->in_first[id + 1]; i++) {
        uint32_t t = g->edges[g->in_edges[i]].tensor;

        if (t != FR_NONE && !g->tensors[t].scales)
            bytes += (double)g->tensors[t].bytes;
    }
    return bytes;
}

/* ---- shapes ---- */

/* What shapes are read from: the forward op's first output and input; sizes at the graph's batch. */
struct source {
    const struct fr_graph *g;
    const struct fr_op *op, *forward;
    const struct fr_tensor *output; /* of the forward op */
    double ratio;                   /* samples of the part over the graph's */
    double parts, in_parts;         /* that the channels written, read are cut into */
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

static double elements(const struct fr_tensor *t)
{
    double n = 1;

    for (unsigned d = 0; d < t->n_dims; d++)
        n *= t->dims[d];
    return n;
}

static double last_dim(const struct fr_tensor *t)
{
    return t->dims[t->n_dims - 1];
}

static bool shape_of_matmul(const struct source *s, struct fr_kernel_shape *out)
{
    double columns = last_dim(s->output), rows = elements(s->output) / columns;
    double depth = s->forward->flops / (2 * rows * columns);

    if (!(depth >= 1))
        return false;
    rows = s->op->flops / (2 * columns * depth); /* a weight gradient's: of all steps */
    rows *= s->ratio;
    columns /= s->parts;
    depth /= s->in_parts;
    out->op_class = FR_CURVE_MATMUL;
    out->matmul.batch = 1;
    out->matmul.rows = s->op->phase == FR_PHASE_BACKWARD_WEIGHT ? columns : rows;
    out->matmul.columns = s->op->phase == FR_PHASE_FORWARD ? columns : depth;
    out->matmul.depth = s->op->phase == FR_PHASE_FORWARD         ? depth
                        : s->op->phase == FR_PHASE_BACKWARD_DATA ? columns
                                                                 : rows;
    return true;
}

static bool shape_of_batch_matmul(const struct source *s, struct fr_kernel_shape *out)
{
    const struct fr_tensor *t =
        s->op->n_tensors > 0 ? &s->g->tensors[s->op->first_tensor] : s->output;
    double batch = elements(t), depth;

    if (t->n_dims < 2)
        return false;
    depth = s->op->flops / (2 * batch);
    if (!(depth >= 1))
        return false;
    out->op_class = FR_CURVE_MATMUL;
    out->matmul.rows = t->dims[t->n_dims - 2];
    out->matmul.columns = last_dim(t);
    out->matmul.depth = depth;
    batch = batch / (out->matmul.rows * out->matmul.columns) * s->ratio;
    out->matmul.batch = fmax(batch / (s->parts * s->in_parts), 1);
    return true;
}

static bool divides(double divisor, double number)
{
    return fmod(number, divisor) < 0.5;
}

/* Filter size in out->conv from its area. */
static void set_filter(struct fr_kernel_shape *out, double area)
{
    double side = round(sqrt(area));

    out->conv.kernel_height = side * side < area || side * side > area ? 1 : side;
    out->conv.kernel_width = area / out->conv.kernel_height;
}

static double padding(double in, double out, double stride, double filter)
{
    return fmax(ceil(((out - 1) * stride + filter - in) / 2), 0);
}

static bool shape_of_conv(const struct source *s, struct fr_kernel_shape *out)
{
    const struct fr_tensor *y = s->output, *x = first_input(s->g, s->forward);
    double depth, groups = 1, channels;

    if (!x || x->n_dims != 4 || y->n_dims != 4)
        return false;
    channels = x->dims[1];
    depth = round(s->forward->flops / (2 * elements(y)));
    if (!(depth >= 1))
        return false;
    while (groups < channels && !(divides(groups, channels) && divides(channels / groups, depth)))
        groups++;
    out->op_class = s->op->phase == FR_PHASE_FORWARD         ? FR_CURVE_CONV_FORWARD
                    : s->op->phase == FR_PHASE_BACKWARD_DATA ? FR_CURVE_CONV_BACKWARD_DATA
                                                             : FR_CURVE_CONV_BACKWARD_FILTER;
    out->conv.images = fmax(y->dims[0] * s->ratio, 1);
    out->conv.in_channels = channels;
    out->conv.height = x->dims[2];
    out->conv.width = x->dims[3];
    out->conv.out_channels = y->dims[1] / s->parts;
    out->conv.groups = groups;
    set_filter(out, fmax(round(depth * groups / channels), 1));
    out->conv.stride = fmax(round((double)x->dims[2] / y->dims[2]), 1);
    out->conv.in_channels /= s->in_parts;
    out->conv.pad = padding(x->dims[2], y->dims[2], out->conv.stride, out->conv.kernel_height);
    return true;
}

static bool shape_of_rows(const struct source *s, enum fr_curve_class op_class,
                          struct fr_kernel_shape *out)
{
    out->op_class = op_class;
    out->rows.columns = last_dim(s->output);
    out->rows.rows =
        fmax(elements(s->output) / out->rows.columns * s->ratio / (s->parts * s->in_parts), 1);
    return true;
}

static bool shape_of_batchnorm(const struct source *s, struct fr_kernel_shape *out)
{
    const struct fr_tensor *y = s->output;

    if (y->n_dims < 2)
        return false;
    out->op_class =
        s->op->phase == FR_PHASE_FORWARD ? FR_CURVE_BATCHNORM : FR_CURVE_BATCHNORM_BACKWARD;
    out->batchnorm.channels = y->dims[1] / s->parts;
    out->batchnorm.values = fmax(elements(y) / y->dims[1] * s->ratio, 1);
    return true;
}

/* Fused attention writes the context [batch][seq][hidden] and a sum for each row of each head. */
static bool shape_of_attention(const struct source *s, struct fr_kernel_shape *out)
{
    const struct fr_tensor *y = s->output, *sums = y + 1, *x = first_input(s->g, s->forward);
    double seq_k;

    if (y->n_dims != 3 || s->forward->n_tensors < 2 || sums->n_dims != 3 || !x)
        return false;
    out->op_class = FR_CURVE_ATTENTION;
    out->attention.batch = fmax(y->dims[0] * s->ratio, 1);
    out->attention.heads = sums->dims[1] / s->parts;
    out->attention.kv_heads = out->attention.heads;
    out->attention.seq = y->dims[1];
    out->attention.head_dim = (double)y->dims[2] / sums->dims[1];
    seq_k = s->forward->flops / (4 * elements(y));
    out->attention.is_causal = seq_k < 0.75 * out->attention.seq;
    return true;
}

static bool find_shape(const struct source *s, struct fr_kernel_shape *out)
{
    switch (s->op->kind) {
    case FR_OP_MATMUL:
        return shape_of_matmul(s, out);
    case FR_OP_BATCH_MATMUL:
        return shape_of_batch_matmul(s, out);
    case FR_OP_CONV2D:
        return shape_of_conv(s, out);
    case FR_OP_SOFTMAX:
    case FR_OP_LOG_SOFTMAX:
        return shape_of_rows(s, FR_CURVE_SOFTMAX, out);
    case FR_OP_LAYERNORM:
    case FR_OP_RMSNORM:
        return shape_of_rows(s, FR_CURVE_LAYERNORM, out);
    case FR_OP_ATTENTION:
        return shape_of_attention(s, out);
    case FR_OP_BATCHNORM:
        return shape_of_batchnorm(s, out);
    default:
        return false;
    }
}

void fr__kernel_of(const struct fr_graph *g, uint32_t op, const struct fr_part *part,
                   struct fr__kernel *out)
{
    const struct fr_op *o = &g->ops[op];
    double parts = part->channel_parts > 1 ? part->channel_parts : 1;
    double in_parts = part->input_parts > 1 ? part->input_parts : 1;
    struct source s = {.g = g,
                       .op = o,
                       .forward = o->forward == FR_NONE ? o : &g->ops[o->forward],
                       .ratio = o->scales && g->batch > 0 ? part->batch / g->batch : 1,
                       .parts = parts,
                       .in_parts = in_parts};

    *out = (struct fr__kernel){
        .flops = o->flops * s.ratio / (parts * in_parts),
        .bytes = (o->bytes * s.ratio + fixed_input_bytes(g, o) + param_traffic(g, o)) /
                 (parts * in_parts)};
    if (s.forward->n_tensors == 0)
        return;
    s.output = &g->tensors[s.forward->first_tensor];
    if (s.output->n_dims > 0)
        out->element_bytes = (double)s.output->bytes / elements(s.output);
    out->has_shape = s.output->n_dims > 0 && o->flops > 0 && find_shape(&s, &out->shape);
}
