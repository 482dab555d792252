/* tests/workloads/test_training.c - what backward and update ops a forward graph gets. */
#include "config.h"

#include "workloads/zoo/nn_attention.h"
#include "workloads/zoo/nn_image.h"
#include "workloads/graph/totals.h"
#include "workloads/workloads.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- making and asking ---- */

static void begin(struct fr__net *net, uint32_t batch)
{
    struct fr_error err;

    ck_assert_int_eq(fr__nn_init(net, batch, 4, FR_FP32, &err), FR_OK);
    net->image_size = 2;
}

/* The training graph of what was written into the net. */
static struct fr_graph *train(struct fr__net *net)
{
    struct fr_graph *forward = NULL, *g = NULL;
    struct fr_error err;

    ck_assert_msg(fr__nn_finish(net, "test", "", &forward, &err) == FR_OK, "%s", err.text);
    fr__nn_fini(net);
    ck_assert_msg(fr_graph_expand_training(forward, &g, &err) == FR_OK, "%s", err.text);
    fr_graph_free(forward);
    return g;
}

static uint32_t find(const struct fr_graph *g, const char *name)
{
    for (uint32_t o = 0; o < g->n_ops; o++)
        if (strcmp(g->ops[o].name, name) == 0)
            return o;
    return FR_NONE;
}

static const struct fr_op *get(const struct fr_graph *g, const char *name)
{
    uint32_t o = find(g, name);

    ck_assert_msg(o != FR_NONE, "there is no op '%s'", name);
    return &g->ops[o];
}

/* "fc1 loss.dgrad": who writes what the op reads, each tensor once, in the order of the ops. */
static const char *reads_of(const struct fr_graph *g, const char *name)
{
    static char text[1024];
    uint32_t o = (uint32_t)(get(g, name) - g->ops);

    text[0] = '\0';
    for (uint32_t i = g->in_first[o]; i < g->in_first[o + 1]; i++) {
        const char *src = g->ops[g->edges[g->in_edges[i]].src].name;

        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", text[0] ? " " : "", src);
    }
    return text;
}

static uint64_t output_bytes(const struct fr_graph *g, const char *name, uint32_t k)
{
    const struct fr_op *op = get(g, name);

    ck_assert_uint_lt(k, op->n_tensors);
    return g->tensors[op->first_tensor + k].bytes;
}

static uint64_t saved_bytes(const struct fr_graph *g)
{
    struct fr_graph_totals t;

    fr_graph_totals(g, &t);
    return t.saved_bytes;
}

static struct fr__value linear(struct fr__net *net, const char *layer, struct fr__value x,
                               uint32_t n)
{
    fr__nn_layer(net, "%s", layer);
    return fr__nn_linear(net, "", x, n);
}

/* ---- a whole step by hand ---- */

static double kept_bytes(const struct fr_graph *g, double batch)
{
    struct fr_error err;
    double bytes = 0;

    ck_assert_int_eq(fr__graph_kept_bytes(g, batch, &bytes, &err), FR_OK);
    return bytes;
}

struct expected {
    const char *name;
    enum fr_op_kind kind;
    enum fr_phase phase;
    const char *forward; /* NULL: itself */
    const char *reads;
    double flops, bytes;
    uint64_t param_bytes;
};

/* Two linear layers without biases, 8 inputs, 6 hidden, 3 classes, batch 2, fp32. With n elements
 * of an activation: x 16, h 12, y 6. FLOPs of a product 2 m n k, of its backward the same twice;
 * the first layer has no data gradient. Bytes 4 an element read or written, parameters apart. */
static const struct expected mlp[] = {
    {"input", FR_OP_INPUT, FR_PHASE_INPUT, NULL, "", 0, 0, 0},
    {"fc1", FR_OP_MATMUL, FR_PHASE_FORWARD, NULL, "input", 192, 4 * (16 + 12), 192},
    {"fc1.relu", FR_OP_RELU, FR_PHASE_FORWARD, NULL, "fc1", 12, 4 * (12 + 12), 0},
    {"fc2", FR_OP_MATMUL, FR_PHASE_FORWARD, NULL, "fc1.relu", 72, 4 * (12 + 6), 72},
    {"loss.log_softmax", FR_OP_LOG_SOFTMAX, FR_PHASE_FORWARD, NULL, "fc2", 5 * 6, 4 * (6 + 6), 0},
    {"loss.target", FR_OP_INPUT, FR_PHASE_INPUT, NULL, "", 0, 0, 0},
    /* two int64 targets and the two log-probabilities they pick */
    {"loss", FR_OP_LOSS, FR_PHASE_FORWARD, NULL, "loss.log_softmax loss.target", 2, 2 * (8 + 4), 0},
    /* writes 6 gradients; log-probabilities and targets are only held */
    {"loss.dgrad", FR_OP_LOSS, FR_PHASE_BACKWARD_DATA, "loss", "loss.log_softmax loss.target loss",
     2, 4 * 6, 0},
    {"loss.log_softmax.dgrad", FR_OP_LOG_SOFTMAX, FR_PHASE_BACKWARD_DATA, "loss.log_softmax",
     "loss.log_softmax loss.dgrad", 4 * 6, 4 * (6 + 6 + 6), 0},
    {"fc2.dgrad", FR_OP_MATMUL, FR_PHASE_BACKWARD_DATA, "fc2", "loss.log_softmax.dgrad", 72,
     4 * (6 + 12), 72},
    {"fc2.wgrad", FR_OP_MATMUL, FR_PHASE_BACKWARD_WEIGHT, "fc2", "fc1.relu loss.log_softmax.dgrad",
     72, 4 * (12 + 6), 72},
    {"fc1.relu.dgrad", FR_OP_RELU, FR_PHASE_BACKWARD_DATA, "fc1.relu", "fc1.relu fc2.dgrad", 12,
     4 * (12 + 12 + 12), 0},
    {"fc1.wgrad", FR_OP_MATMUL, FR_PHASE_BACKWARD_WEIGHT, "fc1", "input fc1.relu.dgrad", 192,
     4 * (16 + 12), 192},
    {"fc1.update", FR_OP_UPDATE, FR_PHASE_UPDATE, "fc1", "fc1.wgrad", 2 * 48, 192, 192},
    {"fc2.update", FR_OP_UPDATE, FR_PHASE_UPDATE, "fc2", "fc2.wgrad", 2 * 18, 72, 72},
};

START_TEST(a_two_layer_perceptron_expands_as_by_hand)
{
    size_t n = sizeof(mlp) / sizeof(mlp[0]);
    struct fr__net net;
    struct fr__value x;
    struct fr_graph *g;

    begin(&net, 2);
    x = linear(&net, "fc1", fr__nn_images(&net, 2), 6);
    x = linear(&net, "fc2", fr__nn_relu(&net, "relu", x), 3);
    fr__nn_cross_entropy(&net, x);
    g = train(&net);
    ck_assert_uint_eq(g->n_ops, n);
    for (size_t i = 0; i < n; i++) {
        const struct fr_op *op = &g->ops[i];

        ck_assert_str_eq(op->name, mlp[i].name);
        ck_assert_int_eq(op->kind, mlp[i].kind);
        ck_assert_int_eq(op->phase, mlp[i].phase);
        ck_assert_str_eq(g->ops[op->forward].name, mlp[i].forward ? mlp[i].forward : mlp[i].name);
        ck_assert_str_eq(reads_of(g, op->name), mlp[i].reads);
        ck_assert_double_eq(op->flops, mlp[i].flops);
        ck_assert_double_eq(op->bytes, mlp[i].bytes);
        ck_assert_uint_eq(op->param_bytes, mlp[i].param_bytes);
        ck_assert_int_eq(op->scales, op->phase != FR_PHASE_UPDATE);
    }
    /* input 16, ReLU output 12 and log-probabilities 6 of 4 bytes; two int64; 4 bytes of the
     * loss */
    ck_assert_uint_eq(saved_bytes(g), 4 * (16 + 12 + 6) + 2 * 8 + 4);
    /* so much, and parameters of 48 and 18 elements, is held at the end of the forward pass; three
     * times the batch is three times that, but for the loss */
    ck_assert_double_eq(kept_bytes(g, 2), 4 * (16 + 12 + 6) + 2 * 8 + 4 + 4 * (48 + 18));
    ck_assert_double_eq(kept_bytes(g, 6), 3 * (4 * (16 + 12 + 6) + 2 * 8) + 4 + 4 * (48 + 18));
    fr_graph_free(g);
}
END_TEST

/* Two losses: the backward pass of one may have ended before the forward pass of the other. */
START_TEST(of_two_losses_only_parameters_are_surely_held)
{
    struct fr__net net;
    struct fr__value x, y;
    struct fr_graph *g;

    begin(&net, 2);
    x = fr__nn_relu(&net, "relu", linear(&net, "fc1", fr__nn_images(&net, 2), 6));
    y = linear(&net, "fc3", x, 3);
    x = fr__nn_loss_of(&net, "one", linear(&net, "fc2", x, 3));
    (void)fr__nn_add_losses(&net, "loss", x, fr__nn_loss_of(&net, "other", y));
    g = train(&net);
    ck_assert_double_eq(kept_bytes(g, 2), 4 * (48 + 18 + 18));
    fr_graph_free(g);
}
END_TEST

START_TEST(gradients_have_the_size_of_what_they_belong_to)
{
    struct fr__net net;
    struct fr__value x;
    struct fr_graph *g;

    begin(&net, 2);
    x = linear(&net, "fc1", fr__nn_images(&net, 2), 6);
    fr__nn_cross_entropy(&net, linear(&net, "fc2", x, 3));
    g = train(&net);
    ck_assert_uint_eq(output_bytes(g, "fc2.dgrad", 0), 2 * 6 * 4);
    ck_assert_uint_eq(output_bytes(g, "fc1.wgrad", 0), 8 * 6 * 4);
    ck_assert(g->tensors[get(g, "fc2.dgrad")->first_tensor].scales);
    ck_assert(!g->tensors[get(g, "fc1.wgrad")->first_tensor].scales);
    fr_graph_free(g);
}
END_TEST

/* ---- sums ---- */

START_TEST(a_value_read_twice_sums_its_gradients)
{
    struct fr__net net;
    struct fr__value x, y;
    struct fr_graph *g;

    begin(&net, 2);
    x = linear(&net, "fc1", fr__nn_images(&net, 2), 6);
    y = linear(&net, "fc2", x, 6);
    fr__nn_layer(&net, "sum");
    fr__nn_cross_entropy(&net, fr__nn_add(&net, "", y, x, true));
    g = train(&net);
    /* an addition passes its gradient on: no op of its own */
    ck_assert_uint_eq(find(g, "sum.dgrad"), FR_NONE);
    ck_assert_str_eq(reads_of(g, "fc1.grad_add"), "loss.log_softmax.dgrad fc2.dgrad");
    ck_assert_str_eq(reads_of(g, "fc2.wgrad"), "fc1 loss.log_softmax.dgrad");
    ck_assert_str_eq(reads_of(g, "fc1.wgrad"), "input fc1.grad_add");
    ck_assert_int_eq(get(g, "fc1.grad_add")->phase, FR_PHASE_BACKWARD_DATA);
    /* 12 additions; two gradients read, one written */
    ck_assert_double_eq(get(g, "fc1.grad_add")->flops, 12);
    ck_assert_double_eq(get(g, "fc1.grad_add")->bytes, 3 * 12 * 4);
    fr_graph_free(g);
}
END_TEST

START_TEST(a_value_read_three_times_sums_pairwise)
{
    struct fr__net net;
    struct fr__value x, y;
    struct fr_graph *g;

    begin(&net, 2);
    x = linear(&net, "fc1", fr__nn_images(&net, 2), 6);
    fr__nn_layer(&net, "sum");
    y = fr__nn_add(&net, "one", linear(&net, "fc2", x, 6), x, false);
    y = fr__nn_add(&net, "two", y, linear(&net, "fc3", x, 6), false);
    fr__nn_cross_entropy(&net, y);
    g = train(&net);
    /* in the order in which they are made: fc3's first, then the sum's own, then fc2's */
    ck_assert_str_eq(reads_of(g, "fc1.grad_add"), "loss.log_softmax.dgrad fc3.dgrad");
    ck_assert_str_eq(reads_of(g, "fc1.grad_add2"), "fc1.grad_add fc2.dgrad");
    ck_assert_str_eq(reads_of(g, "fc1.wgrad"), "input fc1.grad_add2");
    fr_graph_free(g);
}
END_TEST

START_TEST(tied_weights_sum_the_gradients_of_both_uses)
{
    struct fr__net net;
    struct fr__value tokens, table;
    struct fr_graph *g;
    struct fr_graph_totals t;

    begin(&net, 2);
    tokens = fr__nn_tokens(&net);
    fr__nn_layer(&net, "embed");
    table = fr__nn_embedding(&net, "", tokens, 10, 6);
    fr__nn_layer(&net, "head");
    fr__nn_cross_entropy(&net, fr__nn_tied_linear(&net, "", table, table, 10));
    g = train(&net);
    fr_graph_totals(g, &t);
    ck_assert_uint_eq(t.params, 10 * 6);
    ck_assert_uint_eq(t.param_tensors, 1);
    ck_assert_str_eq(reads_of(g, "embed.wgrad_add"), "head.wgrad embed.wgrad");
    ck_assert_str_eq(reads_of(g, "embed.update"), "embed.wgrad_add");
    ck_assert_uint_eq(find(g, "head.update"), FR_NONE);
    ck_assert_uint_eq(find(g, "embed.dgrad"), FR_NONE);
    ck_assert_int_eq(get(g, "embed.wgrad_add")->phase, FR_PHASE_BACKWARD_WEIGHT);
    ck_assert(!get(g, "embed.wgrad_add")->scales);
    ck_assert_double_eq(get(g, "embed.wgrad_add")->bytes, 3 * 10 * 6 * 4);
    /* the data gradient of the head reads the table, and nothing that was saved */
    ck_assert_str_eq(reads_of(g, "head.dgrad"), "loss.log_softmax.dgrad");
    ck_assert_uint_eq(get(g, "head.dgrad")->param_bytes, 10 * 6 * 4);
    fr_graph_free(g);
}
END_TEST

/* ---- what is kept ---- */

START_TEST(an_activation_in_place_is_kept_once)
{
    struct fr__net net;
    struct fr__value x;
    struct fr_graph *g;

    begin(&net, 2);
    x = linear(&net, "fc1", fr__nn_images(&net, 2), 6);
    x = fr__nn_relu(&net, "relu", fr__nn_bias(&net, "bias", x));
    fr__nn_cross_entropy(&net, linear(&net, "fc2", x, 3));
    g = train(&net);
    /* fc1's storage holds the ReLU's output, read by fc1.relu.dgrad and fc2.wgrad */
    ck_assert_uint_eq(saved_bytes(g), 4 * (16 + 12 + 6) + 2 * 8 + 4);
    ck_assert_uint_eq(find(g, "fc1.bias.dgrad"), FR_NONE);
    ck_assert_str_eq(reads_of(g, "fc1.bias.wgrad"), "fc1.relu.dgrad");
    fr_graph_free(g);
}
END_TEST

START_TEST(a_product_of_two_activations_keeps_both)
{
    struct fr__net net;
    struct fr__value x, qkv[3], y;
    struct fr_graph *g;

    begin(&net, 2);
    x = fr__nn_tokens(&net);
    fr__nn_layer(&net, "embed");
    x = fr__nn_embedding(&net, "", x, 10, 18);
    fr__nn_layer(&net, "attn");
    fr__nn_split_heads(&net, "split", x, 2, qkv);
    y = fr__nn_batch_matmul(&net, "scores", qkv[0], qkv[1], 4);
    y = fr__nn_batch_matmul(&net, "context", y, qkv[2], 3);
    fr__nn_cross_entropy(&net, fr__nn_merge_heads(&net, "merge", y));
    g = train(&net);
    /* in-edge 0 of the context product is v, from the earlier op, 1 the scores */
    ck_assert_str_eq(reads_of(g, "attn.context.dgrad0"), "attn.scores attn.merge.dgrad");
    ck_assert_str_eq(reads_of(g, "attn.context.dgrad1"), "attn.split attn.merge.dgrad");
    ck_assert_str_eq(reads_of(g, "attn.scores.dgrad0"), "attn.split attn.context.dgrad1");
    ck_assert_str_eq(reads_of(g, "attn.scores.dgrad1"), "attn.split attn.context.dgrad1");
    ck_assert_str_eq(reads_of(g, "attn.split.dgrad"),
                     "attn.context.dgrad0 attn.scores.dgrad0 attn.scores.dgrad1");
    ck_assert_double_eq(get(g, "attn.scores.dgrad0")->flops, get(g, "attn.scores")->flops);
    fr_graph_free(g);
}
END_TEST

/* PyTorch 1.13 keeps it for a mean over the whole image too, whose derivative asks for the number
 * of its elements: seen among the saved tensors of torchvision's Inception-v3
 * (tests/oracles/torchvision.csv). */
START_TEST(an_average_keeps_its_input)
{
    for (uint32_t side = 1; side <= 2; side++) {
        struct fr__net net;
        struct fr__value x;
        struct fr_graph *g;

        begin(&net, 2);
        net.image_size = 4;
        x = fr__nn_images(&net, 2);
        fr__nn_layer(&net, "conv");
        x = fr__nn_conv(&net, "", x, 3, fr__square(1, 1, 0));
        fr__nn_layer(&net, "pool");
        x = fr__nn_avgpool_to(&net, "", x, side);
        fr__nn_cross_entropy(&net, linear(&net, "fc", x, 3));
        g = train(&net);
        ck_assert_str_eq(reads_of(g, "pool.dgrad"), "conv fc.dgrad");
        /* the input is held for its shape only: no traffic */
        ck_assert_double_eq(get(g, "pool.dgrad")->bytes, 4 * 2 * 3 * (16 + side * side));
        fr_graph_free(g);
    }
}
END_TEST

/* ---- graphs made by hand: kinds that no model here uses, and what is refused ---- */

/* Adds an op that reads up to two tensors (FR_NONE: none) of 64 bytes and writes n_out of them. */
static uint32_t add(struct fr_graph_builder *b, const char *name, enum fr_op_kind kind,
                    uint64_t param_bytes, const uint32_t in_ops[2], const uint32_t in_tensors[2],
                    size_t n_out)
{
    struct fr_op op = {.name = name,
                       .kind = kind,
                       .phase = kind == FR_OP_INPUT ? FR_PHASE_INPUT : FR_PHASE_FORWARD,
                       .flops = 100,
                       .bytes = 128,
                       .param_bytes = param_bytes,
                       .n_params = param_bytes != 0,
                       .scales = true};
    struct fr_tensor t = {.bytes = 64, .alias = FR_NONE, .scales = true};
    const struct fr_tensor out[] = {t, t, t};
    uint32_t id = fr_graph_builder_op(b, &op, NULL, out, n_out);

    for (size_t i = 0; i < 2 && in_ops; i++)
        if (in_ops[i] != FR_NONE)
            fr_graph_builder_edge(b, in_ops[i], id, in_tensors[i], 64);
    return id;
}

static const struct fr_graph info = {
    .name = "g", .source = "", .batch = 2, .dtype = FR_FP32, .param_elem_bytes = 4};

static enum fr_status expand(struct fr_graph_builder *b, struct fr_graph **out,
                             struct fr_error *err)
{
    struct fr_graph *forward = NULL;
    enum fr_status st;

    ck_assert_msg(fr_graph_builder_finish(b, &info, &forward, err) == FR_OK, "%s", err->text);
    fr_graph_builder_free(b);
    st = fr_graph_expand_training(forward, out, err);
    fr_graph_free(forward);
    return st;
}

/* input (tensor 0), two linear layers (1, 2) that both read it, an op of the kind that reads both
 * and writes two tensors (3, 4), the loss of its first. */
static enum fr_status expand_kind(enum fr_op_kind kind, struct fr_graph **out, struct fr_error *err)
{
    struct fr_graph_builder *b = fr_graph_builder_new();

    add(b, "input", FR_OP_INPUT, 0, NULL, NULL, 1);
    add(b, "a", FR_OP_MATMUL, 40, (const uint32_t[]){0, FR_NONE}, (const uint32_t[]){0, 0}, 1);
    add(b, "b", FR_OP_MATMUL, 40, (const uint32_t[]){0, FR_NONE}, (const uint32_t[]){0, 0}, 1);
    add(b, "op", kind, 0, (const uint32_t[]){1, 2}, (const uint32_t[]){1, 2}, 2);
    add(b, "loss", FR_OP_LOSS, 0, (const uint32_t[]){3, FR_NONE}, (const uint32_t[]){3, 0}, 1);
    return expand(b, out, err);
}

START_TEST(every_kind_of_forward_op_has_a_rule)
{
    for (unsigned k = 0; k < FR_N_OP_KINDS; k++) {
        bool is_refused = k == FR_OP_GRAD_ADD || k == FR_OP_UPDATE || k == FR_OP_SLICE ||
                          fr_op_kind_is_message((enum fr_op_kind)k);
        bool stops = k == FR_OP_EMBEDDING; /* its inputs are indices */
        struct fr_graph *g = NULL;
        struct fr_error err;
        enum fr_status st;

        if (k == FR_OP_INPUT)
            continue; /* reads nothing */
        st = expand_kind((enum fr_op_kind)k, &g, &err);
        ck_assert_int_eq(st, is_refused ? FR_EUSAGE : FR_OK);
        if (st != FR_OK)
            continue;
        ck_assert_msg((find(g, "a.update") != FR_NONE) == !stops, "%s",
                      fr_op_kind_name((enum fr_op_kind)k));
        ck_assert_msg((find(g, "b.update") != FR_NONE) == !stops, "%s",
                      fr_op_kind_name((enum fr_op_kind)k));
        fr_graph_free(g);
    }
}
END_TEST

START_TEST(fused_attention_gives_all_gradients_in_one_op)
{
    struct fr_graph *g = NULL;
    struct fr_error err;

    ck_assert_int_eq(expand_kind(FR_OP_ATTENTION, &g, &err), FR_OK);
    ck_assert_uint_eq(get(g, "op.dgrad")->n_tensors, 2);
    /* both inputs, the output and the statistics, and the gradient */
    ck_assert_str_eq(reads_of(g, "op.dgrad"), "a b op op loss.dgrad");
    ck_assert_double_eq(get(g, "op.dgrad")->flops, 250);
    ck_assert_str_eq(reads_of(g, "a.wgrad"), "input op.dgrad");
    ck_assert_str_eq(reads_of(g, "b.wgrad"), "input op.dgrad");
    fr_graph_free(g);
}
END_TEST

START_TEST(a_square_keeps_its_one_operand)
{
    struct fr_graph_builder *b = fr_graph_builder_new();
    struct fr_graph *g = NULL;
    struct fr_error err;

    add(b, "a", FR_OP_MATMUL, 40, NULL, NULL, 1);
    add(b, "sq", FR_OP_MUL, 0, (const uint32_t[]){0, 0}, (const uint32_t[]){0, 0}, 1);
    add(b, "loss", FR_OP_LOSS, 0, (const uint32_t[]){1, FR_NONE}, (const uint32_t[]){1, 0}, 1);
    ck_assert_int_eq(expand(b, &g, &err), FR_OK);
    ck_assert_str_eq(reads_of(g, "sq.dgrad"), "a loss.dgrad");
    fr_graph_free(g);
}
END_TEST

START_TEST(what_has_no_part_in_the_loss_gets_no_backward)
{
    struct fr_graph_builder *b = fr_graph_builder_new();
    struct fr_graph *g = NULL;
    struct fr_error err;

    add(b, "input", FR_OP_INPUT, 0, NULL, NULL, 1);
    add(b, "a", FR_OP_MATMUL, 40, (const uint32_t[]){0, FR_NONE}, (const uint32_t[]){0, 0}, 1);
    add(b, "aside", FR_OP_MATMUL, 40, (const uint32_t[]){1, FR_NONE}, (const uint32_t[]){1, 0}, 1);
    add(b, "loss", FR_OP_LOSS, 0, (const uint32_t[]){1, FR_NONE}, (const uint32_t[]){1, 0}, 1);
    ck_assert_int_eq(expand(b, &g, &err), FR_OK);
    ck_assert_uint_eq(find(g, "aside.dgrad"), FR_NONE);
    ck_assert_uint_eq(find(g, "aside.wgrad"), FR_NONE);
    ck_assert_uint_eq(find(g, "aside.update"), FR_NONE);
    ck_assert_str_eq(reads_of(g, "a.wgrad"), "input loss.dgrad");
    fr_graph_free(g);
}
END_TEST

START_TEST(samples_stay_with_the_forward_ops)
{
    struct fr_graph_builder *b = fr_graph_builder_new();
    struct fr_graph *g = NULL;
    struct fr_error err;

    add(b, "a", FR_OP_MATMUL, 40, NULL, NULL, 1);
    add(b, "loss", FR_OP_LOSS, 0, (const uint32_t[]){0, FR_NONE}, (const uint32_t[]){0, 0}, 1);
    fr_graph_builder_sample(b, 0, "v100", 2, 0.25);
    ck_assert_int_eq(expand(b, &g, &err), FR_OK);
    ck_assert_uint_eq(g->n_samples, 1);
    ck_assert_str_eq(g->ops[g->samples[0].op].name, "a");
    ck_assert_double_eq(g->samples[0].time_s, 0.25);
    fr_graph_free(g);
}
END_TEST

START_TEST(refuses_a_graph_without_a_loss)
{
    struct fr_graph_builder *b = fr_graph_builder_new();
    struct fr_graph *g = NULL;
    struct fr_error err;

    add(b, "a", FR_OP_MATMUL, 40, NULL, NULL, 1);
    ck_assert_int_eq(expand(b, &g, &err), FR_EUSAGE);
    ck_assert_str_eq(err.text, "graph 'g' has no op of kind 'loss', so there is nothing to train");
    ck_assert_ptr_null(g);
}
END_TEST

START_TEST(refuses_a_graph_that_is_trained_already)
{
    struct fr_graph *g = NULL, *again = NULL;
    struct fr_error err;

    ck_assert_int_eq(expand_kind(FR_OP_ADD, &g, &err), FR_OK);
    ck_assert_int_eq(fr_graph_expand_training(g, &again, &err), FR_EUSAGE);
    ck_assert_str_eq(err.text,
                     "op 'loss.dgrad' (loss, backward-data) has no place in a forward graph");
    ck_assert_ptr_null(again);
    fr_graph_free(g);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *s = suite_create("workloads/training");
    TCase *steps = tcase_create("steps"), *kinds = tcase_create("kinds");

    tcase_add_test(steps, a_two_layer_perceptron_expands_as_by_hand);
    tcase_add_test(steps, of_two_losses_only_parameters_are_surely_held);
    tcase_add_test(steps, gradients_have_the_size_of_what_they_belong_to);
    tcase_add_test(steps, a_value_read_twice_sums_its_gradients);
    tcase_add_test(steps, a_value_read_three_times_sums_pairwise);
    tcase_add_test(steps, tied_weights_sum_the_gradients_of_both_uses);
    tcase_add_test(steps, an_activation_in_place_is_kept_once);
    tcase_add_test(steps, a_product_of_two_activations_keeps_both);
    tcase_add_test(steps, an_average_keeps_its_input);
    tcase_add_test(kinds, every_kind_of_forward_op_has_a_rule);
    tcase_add_test(kinds, fused_attention_gives_all_gradients_in_one_op);
    tcase_add_test(kinds, a_square_keeps_its_one_operand);
    tcase_add_test(kinds, what_has_no_part_in_the_loss_gets_no_backward);
    tcase_add_test(kinds, samples_stay_with_the_forward_ops);
    tcase_add_test(kinds, refuses_a_graph_without_a_loss);
    tcase_add_test(kinds, refuses_a_graph_that_is_trained_already);
    suite_add_tcase(s, steps);
    suite_add_tcase(s, kinds);
    return s;
}

int main(void)
{
    return run_suite(make_suite());
}
