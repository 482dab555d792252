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

struct fr__value fr__nn_map(struct fr__net *net, const char *name, enum fr_op_kind kind,
                            struct fr__value x, double flops_per_element)
{
    const struct fr__op_spec spec = {.name = name,
                                     .kind = kind,
                                     .flops =
                                         flops_per_element * (double)fr__nn_elements(net, &x.t),
                                     .is_in_place = kind == FR_OP_RELU};
    struct fr_tensor out = fr__nn_like(net, &x.t, net->elem_bytes, elementwise_split(&x.t));

    return fr__nn_op(net, &spec, &x, 1, &out, 1);
}

/* ---- inputs ---- */

static struct fr__value add_input(struct fr__net *net, const char *name, struct fr_tensor t)
{
    const struct fr__op_spec spec = {.name = name, .kind = FR_OP_INPUT, .is_input = true};

    return fr__nn_op(net, &spec, NULL, 0, &t, 1);
}

struct fr__value fr__nn_indices(struct fr__net *net, const char *name, uint32_t n)
{
    const uint32_t dims[] = {net->batch, n};

    return add_input(net, name, fr__nn_tensor(net, INT64_BYTES, 2, dims, SPLIT_0 | SPLIT_1));
}

struct fr__value fr__nn_tokens(struct fr__net *net)
{
    fr__nn_layer(net, "input");
    return fr__nn_indices(net, "", net->seq_len);
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
    net->is_wide = is_wide && (net->dtype == FR_FP8 || net->dtype == FR_FP4);
}

/* A linear layer on rows of n_in elements, with n_params tensors of weights of its own: 1 or 0. */
static struct fr__value add_linear(struct fr__net *net, const char *name, struct fr__value x,
                                   uint64_t n_in, uint32_t n_out, uint32_t n_params)
{
    const uint32_t dims[] = {x.t.dims[0], x.t.n_dims == 3 ? x.t.dims[1] : n_out, n_out};
    struct fr_tensor y =
        fr__nn_tensor(net, net->elem_bytes, x.t.n_dims == 3 ? 3 : 2, dims, SPLIT_0);
    struct fr__op_spec spec = {.name = name,
                               .kind = FR_OP_MATMUL,
                               .flops = 2 * (double)n_in * (double)fr__nn_elements(net, &y),
                               .n_weights = n_params ? fr__nn_product(net, n_in, n_out) : 0,
                               .n_params = n_params};

    y.split_mask = elementwise_split(&y);
    spec.shape = fr__shape_of_linear(fr__nn_elements(net, &y) / n_out, n_out, n_in);
    spec.shape.product.is_wide = net->is_wide;
    return fr__nn_op(net, &spec, &x, 1, &y, 1);
}

struct fr__value fr__nn_linear(struct fr__net *net, const char *name, struct fr__value x,
                               uint32_t n_out)
{
    uint64_t n_in = x.t.n_dims == 3 ? x.t.dims[2] : fr__nn_elements(net, &x.t) / x.t.dims[0];

    return add_linear(net, name, x, n_in, n_out, 1);
}

struct fr__value fr__nn_tied_linear(struct fr__net *net, const char *name, struct fr__value x,
                                    struct fr__value embedded, uint32_t n_rows)
{
    struct fr__value y = add_linear(net, name, x, x.t.dims[2], n_rows, 0);

    fr_graph_builder_tie(net->b, embedded.op, y.op);
    return y;
}

struct fr__value fr__nn_batch_matmul(struct fr__net *net, const char *name, struct fr__value a,
                                     struct fr__value b, uint32_t n)
{
    const uint32_t dims[] = {a.t.dims[0], a.t.dims[1], a.t.dims[2], n};
    const struct fr__value in[] = {a, b};
    struct fr_tensor y = fr__nn_tensor(net, net->elem_bytes, 4, dims, SPLIT_0 | SPLIT_1);
    const struct fr__op_spec spec = {
        .name = name,
        .kind = FR_OP_BATCH_MATMUL,
        .flops = 2 * (double)a.t.dims[3] * (double)fr__nn_elements(net, &y),
        .shape = {.of = FR_SHAPE_PRODUCT,
                  .product = {.batch = (uint64_t)a.t.dims[0] * a.t.dims[1],
                              .rows = a.t.dims[2],
                              .columns = n,
                              .depth = a.t.dims[3],
                              .is_transposed = b.t.dims[2] == n && b.t.dims[3] == a.t.dims[3]}}};

    return fr__nn_op(net, &spec, in, 2, &y, 1);
}

/* ---- elementwise ops and normalisation ---- */

struct fr__value fr__nn_bias(struct fr__net *net, const char *name, struct fr__value x)
{
    const struct fr__op_spec spec = {.name = name,
                                     .kind = FR_OP_BIAS,
                                     .flops = bias_flops * (double)fr__nn_elements(net, &x.t),
                                     .n_weights = x.t.dims[x.t.n_dims == 3 ? 2 : 1],
                                     .n_params = 1,
                                     .is_in_place = true};

    return fr__nn_op(net, &spec, &x, 1, &x.t, 1);
}

struct fr__value fr__nn_relu(struct fr__net *net, const char *name, struct fr__value x)
{
    return fr__nn_map(net, name, FR_OP_RELU, x, relu_flops);
}

struct fr__value fr__nn_gelu(struct fr__net *net, const char *name, struct fr__value x)
{
    return net->is_tf1 ? fr__nn_tf1_gelu(net, name, x)
                       : fr__nn_map(net, name, FR_OP_GELU, x, gelu_flops);
}

struct fr__value fr__nn_tanh(struct fr__net *net, const char *name, struct fr__value x)
{
    return fr__nn_map(net, name, FR_OP_TANH, x, tanh_flops);
}

struct fr__value fr__nn_scale(struct fr__net *net, const char *name, struct fr__value x)
{
    return fr__nn_map(net, name, FR_OP_SCALE, x, scale_flops);
}

struct fr__value fr__nn_mask(struct fr__net *net, const char *name, struct fr__value x)
{
    return fr__nn_map(net, name, FR_OP_MASK, x, mask_flops);
}

/* The last dimension must stay whole; of scores the heads, of a sequence the rows can be split. */
static uint8_t rowwise_split(const struct fr_tensor *t)
{
    return t->n_dims > 2 ? SPLIT_0 | SPLIT_1 : SPLIT_0;
}

static struct fr__value softmax(struct fr__net *net, const char *name, enum fr_op_kind kind,
                                struct fr__value x)
{
    const struct fr__op_spec spec = {
        .name = name, .kind = kind, .flops = softmax_flops * (double)fr__nn_elements(net, &x.t)};
    struct fr_tensor out = fr__nn_like(net, &x.t, net->elem_bytes, rowwise_split(&x.t));

    return fr__nn_op(net, &spec, &x, 1, &out, 1);
}

struct fr__value fr__nn_softmax(struct fr__net *net, const char *name, struct fr__value x)
{
    return softmax(net, name, FR_OP_SOFTMAX, x);
}

/* A norm of x with a gain and an offset for each of `width` places. */
static struct fr__op_spec norm_spec(struct fr__net *net, const char *name, enum fr_op_kind kind,
                                    const struct fr_tensor *x, uint32_t width)
{
    return (struct fr__op_spec){.name = name,
                                .kind = kind,
                                .flops = norm_flops * (double)fr__nn_elements(net, x),
                                .n_weights = 2 * (uint64_t)width,
                                .n_params = 2};
}

/* Statistics are kept in fp32 whatever the precision (PyTorch's native and cuDNN kernels). The
 * statistics run over the batch, so FastT leaves the op whole (Yi et al., Middleware 2020); data
 * parallelism splits it all the same and gets other statistics. */
struct fr__value fr__nn_batchnorm(struct fr__net *net, const char *name, struct fr__value x)
{
    uint32_t channels = x.t.dims[1];
    const struct fr__op_spec spec = norm_spec(net, name, FR_OP_BATCHNORM, &x.t, channels);
    struct fr_tensor out[] = {fr__nn_like(net, &x.t, net->elem_bytes, SPLIT_0),
                              fixed(2 * channels)};

    return fr__nn_op(net, &spec, &x, 1, out, 2);
}

struct fr__value fr__nn_layernorm(struct fr__net *net, const char *name, struct fr__value x)
{
    const struct fr__op_spec spec = norm_spec(net, name, FR_OP_LAYERNORM, &x.t, x.t.dims[2]);
    struct fr_tensor out[] = {fr__nn_like(net, &x.t, net->elem_bytes, rowwise_split(&x.t)),
                              fr__nn_tensor(net, 2 * FLOAT_BYTES, 2, x.t.dims, SPLIT_0 | SPLIT_1)};
    struct fr__value y = fr__nn_op(net, &spec, &x, 1, out, 2);

    return net->is_tf1 ? fr__nn_tf1_layernorm(net, name, x, y) : y;
}

struct fr__value fr__nn_dropout(struct fr__net *net, const char *name, struct fr__value x)
{
    const struct fr__op_spec spec = {.name = name,
                                     .kind = FR_OP_DROPOUT,
                                     .flops = dropout_flops * (double)fr__nn_elements(net, &x.t)};
    unsigned mask_bytes = net->has_float_masks ? FR__TF1_MASK_BYTES : MASK_BYTES;
    uint8_t split = elementwise_split(&x.t);
    struct fr_tensor out[] = {fr__nn_like(net, &x.t, net->elem_bytes, split),
                              fr__nn_like(net, &x.t, mask_bytes, split)};

    return fr__nn_op(net, &spec, &x, 1, out, 2);
}

struct fr__value fr__nn_add(struct fr__net *net, const char *name, struct fr__value x,
                            struct fr__value y, bool in_place)
{
    const struct fr__op_spec spec = {.name = name,
                                     .kind = FR_OP_ADD,
                                     .flops = add_flops * (double)fr__nn_elements(net, &x.t),
                                     .is_in_place = in_place};
    const struct fr__value in[] = {x, y};
    struct fr_tensor out = fr__nn_like(net, &x.t, net->elem_bytes, elementwise_split(&x.t));

    return fr__nn_op(net, &spec, in, 2, &out, 1);
}

/* ---- sequences ---- */

/* n_params: the tables that the op has of its own: 1 or 0. */
static struct fr__value look_up(struct fr__net *net, const char *name, struct fr__value indices,
                                uint32_t n_rows, uint32_t width, uint32_t n_params)
{
    const uint32_t dims[] = {indices.t.dims[0], indices.t.dims[1], width};
    struct fr_tensor y = fr__nn_tensor(net, net->elem_bytes, 3, dims, SPLIT_0 | SPLIT_1 | SPLIT_2);
    const struct fr__op_spec spec = {
        .name = name,
        .kind = FR_OP_EMBEDDING,
        /* the rows looked up are read, not the whole table */
        .bytes = (double)indices.t.bytes + 2 * (double)y.bytes,
        .n_weights = n_params ? fr__nn_product(net, n_rows, width) : 0,
        .n_params = n_params,
        .shape = {.of = FR_SHAPE_EMBEDDING,
                  .embedding = {fr__nn_elements(net, &indices.t), width, n_rows}}};

    if (!indices.t.scales) {
        y.scales = false;
        y.split_mask &= (uint8_t)~SPLIT_0;
    }
    return fr__nn_op(net, &spec, &indices, 1, &y, 1);
}

struct fr__value fr__nn_embedding(struct fr__net *net, const char *name, struct fr__value indices,
                                  uint32_t n_rows, uint32_t width)
{
    return look_up(net, name, indices, n_rows, width, 1);
}

struct fr__value fr__nn_tied_embedding(struct fr__net *net, const char *name,
                                       struct fr__value indices, struct fr__value embedded,
                                       uint32_t n_rows)
{
    struct fr__value y = look_up(net, name, indices, n_rows, embedded.t.dims[2], 0);

    fr_graph_builder_tie(net->b, embedded.op, y.op);
    return y;
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
    const struct fr__value in[] = {log_probs, target};
    /* the loss; the sum of the weights, kept for the backward */
    struct fr_tensor out[] = {fixed(1), fixed(1)};
    const struct fr__op_spec spec = {
        .name = "",
        .kind = FR_OP_LOSS,
        .flops = (double)n_rows,
        /* the target of each row and the one log-probability it picks */
        .bytes = (double)n_rows * (INT64_BYTES + net->elem_bytes),
        .shape = {.of = FR_SHAPE_ROWS, .rows = {n_rows, log_probs.t.dims[log_probs.t.n_dims - 1]}},
    };

    return fr__nn_op(net, &spec, in, 2, out, 2);
}

struct fr__value fr__nn_loss_of(struct fr__net *net, const char *layer, struct fr__value logits)
{
    struct fr__value log_probs;

    fr__nn_layer(net, "%s", layer);
    log_probs = softmax(net, "log_softmax", FR_OP_LOG_SOFTMAX, logits);
    return add_loss(net, log_probs, add_targets(net, &logits.t));
}

void fr__nn_losses_of(struct fr__net *net, const char *const layers[],
                      const struct fr__value logits[], size_t n)
{
    struct fr__value log_probs, target = {0};

    for (size_t i = 0; i < n; i++) {
        fr__nn_layer(net, "%s", layers[i]);
        log_probs = softmax(net, "log_softmax", FR_OP_LOG_SOFTMAX, logits[i]);
        if (i == 0)
            target = add_targets(net, &logits[i].t);
        add_loss(net, log_probs, target);
    }
}

struct fr__value fr__nn_cross_entropy(struct fr__net *net, struct fr__value logits)
{
    return fr__nn_loss_of(net, "loss", logits);
}
