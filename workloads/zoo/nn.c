/* workloads/zoo/nn.c - shapes, FLOPs and bytes of the ops that models are made of. */
#include "config.h"

#include "workloads/zoo/nn.h"

#include "workloads/graph/shape.h"
#include "workloads/zoo/nn_tf1.h"

#include <stdio.h>

/* Arithmetic per element, counted in the formula; a transcendental function counts as one. These
 * ops are bound by memory: the figures only have to be of the right size. */
static const double bias_flops = 1, add_flops = 1, scale_flops = 1, mask_flops = 1, relu_flops = 1;
static const double tanh_flops = 1;
static const double dropout_flops = 2; /* compare the random number, scale */
/* 0.5 x (1 + tanh(c (x + d x^3))): two products for x^3, then 7 more (Hendrycks and Gimpel,
 * Gaussian Error Linear Units, 2016, section 2) */
static const double gelu_flops = 9;
/* sum; subtract, square, sum; subtract, scale; weight, bias */
static const double norm_flops = 8;
/* maximum, subtract, exp, sum, divide (log: subtract) */
static const double softmax_flops = 5;

enum { INT64_BYTES = 8, MASK_BYTES = 1, FLOAT_BYTES = 4 };
enum { SPLIT_0 = 1, SPLIT_1 = 2, SPLIT_2 = 4 };

/* n floats that do not grow with the batch. */
static struct fr_tensor fixed(uint32_t n)
{
    return (struct fr_tensor){.bytes = (uint64_t)FLOAT_BYTES * n,
                              .alias = FR_NONE,
                              .n_dims = 1,
                              .dims = {n},
                              .scales = false};
}

/* The elementwise split: the batch, and channels of an image, heads of scores or the last
 * dimension of a sequence. */
static uint8_t elementwise_split(const struct fr_tensor *t)
{
    return t->n_dims == 3 ? SPLIT_0 | SPLIT_2 : SPLIT_0 | SPLIT_1;
}

/* An op of few inputs and outputs, as most are. */
struct op_spec {
    const char *name;
    enum fr_op_kind kind;
    double flops;
    double bytes; /* 0: all inputs and outputs once */
    uint64_t n_weights;
    uint32_t n_params;
    size_t n_in, n_out;
    const struct fr__value *in[2];
    struct fr_tensor out[3];
    bool is_input, is_in_place;
    struct fr_shape shape;
};

/* Adds the op and the edges from what it reads; returns its first output. */
static struct fr__value add_op(struct fr__net *net, struct op_spec *spec)
{
    const struct fr__op_spec op = {.name = spec->name,
                                   .kind = spec->kind,
                                   .flops = spec->flops,
                                   .bytes = spec->bytes,
                                   .n_weights = spec->n_weights,
                                   .n_params = spec->n_params,
                                   .is_input = spec->is_input,
                                   .is_in_place = spec->is_in_place,
                                   .shape = spec->shape};
    struct fr__value in[2];

    for (size_t i = 0; i < spec->n_in; i++)
        in[i] = *spec->in[i];
    return fr__nn_op(net, &op, in, spec->n_in, spec->out, spec->n_out);
}

/* An op that reads x and writes a tensor of its shape. */
static struct fr__value map(struct fr__net *net, const char *name, enum fr_op_kind kind,
                            const struct fr__value *x, double flops_per_element, bool in_place)
{
    struct op_spec spec = {
        .name = name,
        .kind = kind,
        .flops = flops_per_element * (double)fr__nn_elements(net, &x->t),
        .n_in = 1,
        .in = {x},
        .n_out = 1,
        .out = {fr__nn_like(net, &x->t, net->elem_bytes, elementwise_split(&x->t))},
        .is_in_place = in_place};

    return add_op(net, &spec);
}

/* ---- inputs ---- */

static struct fr__value add_input(struct fr__net *net, const char *name, struct fr_tensor t)
{
    struct op_spec spec = {
        .name = name, .kind = FR_OP_INPUT, .n_out = 1, .out = {t}, .is_input = true};

    return add_op(net, &spec);
}

struct fr__value fr__nn_tokens(struct fr__net *net)
{
    const uint32_t dims[] = {net->batch, net->seq_len};

    fr__nn_layer(net, "input");
    return add_input(net, "", fr__nn_tensor(net, INT64_BYTES, 2, dims, SPLIT_0 | SPLIT_1));
}

struct fr__value fr__nn_positions(struct fr__net *net, const char *name)
{
    const uint32_t dims[] = {1, net->seq_len};
    struct fr_tensor t = fr__nn_tensor(net, INT64_BYTES, 2, dims, SPLIT_1);

    t.scales = false;
    return add_input(net, name, t);
}

/* ---- matrix products ---- */

struct fr_shape fr__shape_of_linear(uint64_t rows, uint64_t columns, uint64_t depth)
{
    return (struct fr_shape){
        .of = FR_SHAPE_PRODUCT,
        .product = {
            .batch = 1, .rows = rows, .columns = columns, .depth = depth, .is_transposed = true}};
}

void fr__nn_wide(struct fr__net *net, bool is_wide)
{
    net->is_wide = is_wide && net->dtype == FR_FP8;
}

/* The op of a linear layer on rows of n_in elements. */
static struct op_spec linear_spec(struct fr__net *net, const char *name, const struct fr__value *x,
                                  uint64_t n_in, uint32_t n_out)
{
    const uint32_t dims[] = {x->t.dims[0], x->t.n_dims == 3 ? x->t.dims[1] : n_out, n_out};
    uint8_t n_dims = x->t.n_dims == 3 ? 3 : 2;
    struct fr_tensor y = fr__nn_tensor(net, net->elem_bytes, n_dims, dims, 0);
    struct fr_shape shape;

    y.split_mask = elementwise_split(&y);
    shape = fr__shape_of_linear(fr__nn_elements(net, &y) / n_out, n_out, n_in);
    shape.product.is_wide = net->is_wide;
    return (struct op_spec){.name = name,
                            .kind = FR_OP_MATMUL,
                            .flops = 2 * (double)n_in * (double)fr__nn_elements(net, &y),
                            .n_in = 1,
                            .in = {x},
                            .n_out = 1,
                            .out = {y},
                            .shape = shape};
}

struct fr__value fr__nn_linear(struct fr__net *net, const char *name, struct fr__value x,
                               uint32_t n_out)
{
    uint64_t n_in = x.t.n_dims == 3 ? x.t.dims[2] : fr__nn_elements(net, &x.t) / x.t.dims[0];
    struct op_spec spec = linear_spec(net, name, &x, n_in, n_out);

    spec.n_weights = fr__nn_product(net, n_in, n_out);
    spec.n_params = 1;
    return add_op(net, &spec);
}

struct fr__value fr__nn_tied_linear(struct fr__net *net, const char *name, struct fr__value x,
                                    struct fr__value embedded, uint32_t n_rows)
{
    uint32_t width = x.t.dims[2];
    struct op_spec spec = linear_spec(net, name, &x, width, n_rows);
    struct fr__value y = add_op(net, &spec);

    fr_graph_builder_tie(net->b, embedded.op, y.op);
    return y;
}

struct fr__value fr__nn_batch_matmul(struct fr__net *net, const char *name, struct fr__value a,
                                     struct fr__value b, uint32_t n)
{
    const uint32_t dims[] = {a.t.dims[0], a.t.dims[1], a.t.dims[2], n};
    bool is_transposed = b.t.dims[2] == n && b.t.dims[3] == a.t.dims[3];
    struct fr_tensor y = fr__nn_tensor(net, net->elem_bytes, 4, dims, SPLIT_0 | SPLIT_1);
    struct op_spec spec = {.name = name,
                           .kind = FR_OP_BATCH_MATMUL,
                           .flops = 2 * (double)a.t.dims[3] * (double)fr__nn_elements(net, &y),
                           .n_in = 2,
                           .in = {&a, &b},
                           .n_out = 1,
                           .out = {y},
                           .shape = {.of = FR_SHAPE_PRODUCT,
                                     .product = {.batch = (uint64_t)a.t.dims[0] * a.t.dims[1],
                                                 .rows = a.t.dims[2],
                                                 .columns = n,
                                                 .depth = a.t.dims[3],
                                                 .is_transposed = is_transposed}}};

    return add_op(net, &spec);
}

/* ---- elementwise ops and normalisation ---- */

struct fr__value fr__nn_bias(struct fr__net *net, const char *name, struct fr__value x)
{
    struct op_spec spec = {.name = name,
                           .kind = FR_OP_BIAS,
                           .flops = bias_flops * (double)fr__nn_elements(net, &x.t),
                           .n_weights = x.t.dims[x.t.n_dims == 3 ? 2 : 1],
                           .n_params = 1,
                           .n_in = 1,
                           .in = {&x},
                           .n_out = 1,
                           .out = {x.t},
                           .is_in_place = true};

    return add_op(net, &spec);
}

struct fr__value fr__nn_relu(struct fr__net *net, const char *name, struct fr__value x)
{
    return map(net, name, FR_OP_RELU, &x, relu_flops, true);
}

struct fr__value fr__nn_gelu(struct fr__net *net, const char *name, struct fr__value x)
{
    if (net->is_tf1)
        return fr__nn_tf1_gelu(net, name, x);
    return map(net, name, FR_OP_GELU, &x, gelu_flops, false);
}

struct fr__value fr__nn_tanh(struct fr__net *net, const char *name, struct fr__value x)
{
    return map(net, name, FR_OP_TANH, &x, tanh_flops, false);
}

struct fr__value fr__nn_scale(struct fr__net *net, const char *name, struct fr__value x)
{
    return map(net, name, FR_OP_SCALE, &x, scale_flops, false);
}

struct fr__value fr__nn_mask(struct fr__net *net, const char *name, struct fr__value x)
{
    return map(net, name, FR_OP_MASK, &x, mask_flops, false);
}

/* The last dimension must stay whole; of scores the heads, of a sequence the rows can be split. */
static uint8_t rowwise_split(const struct fr_tensor *t)
{
    return t->n_dims > 2 ? SPLIT_0 | SPLIT_1 : SPLIT_0;
}

static struct fr__value softmax(struct fr__net *net, const char *name, enum fr_op_kind kind,
                                const struct fr__value *x)
{
    struct op_spec spec = {.name = name,
                           .kind = kind,
                           .flops = softmax_flops * (double)fr__nn_elements(net, &x->t),
                           .n_in = 1,
                           .in = {x},
                           .n_out = 1,
                           .out = {fr__nn_like(net, &x->t, net->elem_bytes, rowwise_split(&x->t))}};

    return add_op(net, &spec);
}

struct fr__value fr__nn_softmax(struct fr__net *net, const char *name, struct fr__value x)
{
    return softmax(net, name, FR_OP_SOFTMAX, &x);
}

/* Statistics are kept in fp32 whatever the precision (PyTorch's native and cuDNN kernels). The
 * statistics run over the batch, so FastT leaves the op whole (Yi et al., Middleware 2020); data
 * parallelism splits it all the same and gets other statistics. */
struct fr__value fr__nn_batchnorm(struct fr__net *net, const char *name, struct fr__value x)
{
    uint32_t channels = x.t.dims[1];
    struct op_spec spec = {
        .name = name,
        .kind = FR_OP_BATCHNORM,
        .flops = norm_flops * (double)fr__nn_elements(net, &x.t),
        .n_weights = 2 * (uint64_t)channels,
        .n_params = 2,
        .n_in = 1,
        .in = {&x},
        .n_out = 2,
        .out = {fr__nn_like(net, &x.t, net->elem_bytes, SPLIT_0), fixed(2 * channels)}};

    return add_op(net, &spec);
}

struct fr__value fr__nn_layernorm(struct fr__net *net, const char *name, struct fr__value x)
{
    struct op_spec spec = {
        .name = name,
        .kind = FR_OP_LAYERNORM,
        .flops = norm_flops * (double)fr__nn_elements(net, &x.t),
        .n_weights = 2 * (uint64_t)x.t.dims[2],
        .n_params = 2,
        .n_in = 1,
        .in = {&x},
        .n_out = 2,
        .out = {fr__nn_like(net, &x.t, net->elem_bytes, rowwise_split(&x.t)),
                fr__nn_tensor(net, 2 * FLOAT_BYTES, 2, x.t.dims, SPLIT_0 | SPLIT_1)}};

    if (net->is_tf1)
        return fr__nn_tf1_layernorm(net, name, x, add_op(net, &spec));
    return add_op(net, &spec);
}

struct fr__value fr__nn_dropout(struct fr__net *net, const char *name, struct fr__value x)
{
    uint8_t split = elementwise_split(&x.t);
    struct op_spec spec = {
        .name = name,
        .kind = FR_OP_DROPOUT,
        .flops = dropout_flops * (double)fr__nn_elements(net, &x.t),
        .n_in = 1,
        .in = {&x},
        .n_out = 2,
        .out = {
            fr__nn_like(net, &x.t, net->elem_bytes, split),
            fr__nn_like(net, &x.t, net->has_float_masks ? FR__TF1_MASK_BYTES : MASK_BYTES, split)}};

    return add_op(net, &spec);
}

struct fr__value fr__nn_add(struct fr__net *net, const char *name, struct fr__value x,
                            struct fr__value y, bool in_place)
{
    struct op_spec spec = {
        .name = name,
        .kind = FR_OP_ADD,
        .flops = add_flops * (double)fr__nn_elements(net, &x.t),
        .n_in = 2,
        .in = {&x, &y},
        .n_out = 1,
        .out = {fr__nn_like(net, &x.t, net->elem_bytes, elementwise_split(&x.t))},
        .is_in_place = in_place};

    return add_op(net, &spec);
}

/* ---- sequences ---- */

struct fr__value fr__nn_embedding(struct fr__net *net, const char *name, struct fr__value indices,
                                  uint32_t n_rows, uint32_t width)
{
    const uint32_t dims[] = {indices.t.dims[0], indices.t.dims[1], width};
    struct fr_tensor y = fr__nn_tensor(net, net->elem_bytes, 3, dims, SPLIT_0 | SPLIT_1 | SPLIT_2);
    struct op_spec spec = {
        .name = name,
        .kind = FR_OP_EMBEDDING,
        /* the rows looked up are read, not the whole table */
        .bytes = (double)indices.t.bytes + 2 * (double)y.bytes,
        .n_weights = fr__nn_product(net, n_rows, width),
        .n_params = 1,
        .n_in = 1,
        .in = {&indices},
        .n_out = 1,
        .out = {y},
        .shape = {.of = FR_SHAPE_EMBEDDING,
                  .embedding = {fr__nn_elements(net, &indices.t), width, n_rows}}};

    if (!indices.t.scales) {
        spec.out[0].scales = false;
        spec.out[0].split_mask &= (uint8_t)~SPLIT_0;
    }
    return add_op(net, &spec);
}

/* ---- the end ---- */

/* One class number a row of logits. */
static struct fr__value add_targets(struct fr__net *net, const struct fr_tensor *logits)
{
    return add_input(net, "target",
                     fr__nn_tensor(net, INT64_BYTES, (uint8_t)(logits->n_dims - 1), logits->dims,
                                   rowwise_split(logits)));
}

static struct fr__value add_loss(struct fr__net *net, struct fr__value log_probs,
                                 struct fr__value target)
{
    uint64_t n_rows = fr__nn_elements(net, &target.t);
    struct op_spec spec = {
        .name = "",
        .kind = FR_OP_LOSS,
        .flops = (double)n_rows,
        /* the target of each row and the one log-probability it picks */
        .bytes = (double)n_rows * (INT64_BYTES + net->elem_bytes),
        .n_in = 2,
        .in = {&log_probs, &target},
        .n_out = 2,
        .out = {fixed(1), fixed(1)}, /* the loss; the sum of the weights, kept for the backward */
        .shape = {.of = FR_SHAPE_ROWS, .rows = {n_rows, log_probs.t.dims[log_probs.t.n_dims - 1]}},
    };

    return add_op(net, &spec);
}

struct fr__value fr__nn_loss_of(struct fr__net *net, const char *layer, struct fr__value logits)
{
    struct fr__value log_probs;

    fr__nn_layer(net, "%s", layer);
    log_probs = softmax(net, "log_softmax", FR_OP_LOG_SOFTMAX, &logits);
    return add_loss(net, log_probs, add_targets(net, &logits.t));
}

void fr__nn_losses_of(struct fr__net *net, const char *const layers[],
                      const struct fr__value logits[], size_t n)
{
    struct fr__value log_probs, target = {0};

    for (size_t i = 0; i < n; i++) {
        fr__nn_layer(net, "%s", layers[i]);
        log_probs = softmax(net, "log_softmax", FR_OP_LOG_SOFTMAX, &logits[i]);
        if (i == 0)
            target = add_targets(net, &logits[i].t);
        add_loss(net, log_probs, target);
    }
}

struct fr__value fr__nn_cross_entropy(struct fr__net *net, struct fr__value logits)
{
    return fr__nn_loss_of(net, "loss", logits);
}
