/* tests/workloads/test_shapes.c - shapes of ops as the zoo and differentiation set them, and shapes
 * that are refused. */
#include "config.h"

#include "tests/support/base_check.h"
#include "workloads/graph/infer_shape.h"
#include "workloads/graph/shape.h"
#include "workloads/zoo/zoo.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

static struct fr_graph *load(const char *model, enum fr_dtype dtype)
{
    const struct fr_workload_options opt = {.dtype = dtype};
    struct fr_graph *g = NULL;
    struct fr_error err;

    ck_assert_msg(fr_workload_load(&g, model, &opt, &err) == FR_OK, "%s", err.text);
    return g;
}

static const struct fr_op *find(const struct fr_graph *g, const char *name)
{
    for (size_t i = 0; i < g->n_ops; i++)
        if (strcmp(g->ops[i].name, name) == 0)
            return &g->ops[i];
    ck_abort_msg("no op is called %s", name);
    return NULL;
}

static void ck_shape(const struct fr_graph *g, const char *op, const char *want)
{
    char text[FR_SHAPE_TEXT];

    ck_assert_msg(strcmp(fr_shape_format(&find(g, op)->shape, text, sizeof(text)), want) == 0,
                  "%s is %s, not %s", op, text, want);
}

static void say(void *user, const char *line)
{
    ck_abort_msg("%s: %s", (const char *)user, line);
}

/* ---- the zoo ---- */

static const char *const models[] = {"lenet",
                                     "alexnet",
                                     "vgg16",
                                     "resnet50",
                                     "inception-v3",
                                     "densenet121",
                                     "wresnet-50-2",
                                     "rnnlm:layers=2",
                                     "gnmt-2",
                                     "gpt2-small",
                                     "bert-base",
                                     "transformer-base",
                                     "llama2-7b",
                                     "llama3-8b",
                                     "mixtral-8x7b",
                                     "transformer:attention=flash",
                                     "bert:head=mlm",
                                     "bert:head=pooler",
                                     "gpt:attention=flash",
                                     "llama3-8b:attention=unfused"};
enum { N_MODELS = sizeof(models) / sizeof(models[0]) };

/* fr_graph_check compares each shape with the op's FLOPs and with the dims of what it writes. */
static void check_all_shapes(const char *model, enum fr_dtype dtype)
{
    struct fr_graph *g = load(model, dtype);
    char name[64];

    snprintf(name, sizeof(name), "%s", model);
    fr_graph_check(g, say, name);
    for (size_t i = 0; i < g->n_ops; i++) {
        const struct fr_op *op = &g->ops[i];

        ck_assert_msg(op->shape.of == fr_shape_class_of(op->kind), "%s: '%s' has a shape of %s",
                      model, op->name, fr_shape_class_name(op->shape.of));
    }
    fr_graph_free(g);
}

LOOP_TEST(every_op_of_the_zoo_has_the_shape_of_its_kind, 0, N_MODELS)
{
    check_all_shapes(models[_i], FR_FP32);
    check_all_shapes(models[_i], FR_AMP);
}

/* Szegedy et al., CVPR 2016, figure 10: 7x1 filters on 17x17 pixels, which FLOPs and dims alone
 * cannot tell from 1x7. He et al., CVPR 2016: 3x3/2 from 56 to 28 pixels. */
TEST(convolutions_keep_filters_strides_and_paddings_of_both_sides)
{
    struct fr_graph *g = load("inception-v3", FR_FP32);

    ck_shape(g, "Mixed_6b.branch7x7_3",
             "images=64;in_channels=128;out_channels=192;in_height=17;in_width=17;out_height=17;"
             "out_width=17;filter_height=7;filter_width=1;pad_height=3");
    fr_graph_free(g);
    g = load("resnet50", FR_FP32);
    ck_shape(g, "layer2.0.conv2.wgrad",
             "images=64;in_channels=128;out_channels=128;in_height=56;in_width=56;out_height=28;"
             "out_width=28;filter_height=3;filter_width=3;stride_height=2;stride_width=2;"
             "pad_height=1;pad_width=1");
    ck_shape(g, "maxpool.dgrad",
             "images=64;channels=64;in_height=112;in_width=112;out_height=56;out_width=56;"
             "window_height=3;window_width=3;stride_height=2;stride_width=2;pad_height=1;"
             "pad_width=1");
    ck_shape(g, "conv1.bn.wgrad", "batch=64;channels=64;positions=12544");
    ck_shape(g, "fc.update", "channels=2048000");
    fr_graph_free(g);
}

/* Touvron et al., Llama 2, 2023, table 1 and appendix A.2.1: 64 heads of 128, 8 of keys and values.
 * */
TEST(fused_attention_keeps_its_key_value_heads)
{
    static const char want[] = "batch=8;heads=64;kv_heads=8;head_width=128;query_len=4096;causal=1";
    struct fr_graph *g = load("llama2-70b", FR_BF16);

    ck_shape(g, "layer0.attn.flash", want);
    ck_shape(g, "layer0.attn.flash.dgrad", want);
    ck_shape(g, "embed", "rows=32768;width=8192;vocabulary=32000");
    ck_shape(g, "loss.log_softmax", "rows=32768;columns=32000");
    ck_shape(g, "loss", "rows=32768;columns=32000");
    fr_graph_free(g);
}

/* RNNLM: 40 steps of 64 rows; the first step's op makes the weight gradient of all, 2560 rows. */
TEST(a_weight_gradient_of_all_steps_has_the_rows_of_all_steps)
{
    struct fr_graph *g = load("rnnlm", FR_FP32);

    ck_shape(g, "layer0.t0.ih", "rows=64;columns=8192;depth=2048;gradient_of=none;transposed=1");
    ck_shape(g, "layer0.t3.ih.dgrad",
             "rows=64;columns=8192;depth=2048;gradient_of=left;transposed=1");
    ck_shape(g, "layer0.t0.ih.wgrad",
             "rows=2560;columns=8192;depth=2048;gradient_of=right;transposed=1");
    ck_shape(g, "layer0.t0.bias.wgrad", "batch=2560;channels=8192");
    fr_graph_free(g);
    g = load("rnnlm", FR_AMP);
    ck_shape(g, "layer0.t0.ih.wgrad",
             "rows=2560;columns=8192;depth=2048;gradient_of=right;transposed=1");
    fr_graph_free(g);
}

/* The in-edges of a product come in the order of the ops that wrote them: values before weights of
 * attention, so that the first gradient is that of the right operand. */
TEST(gradients_of_both_operands_say_whose_they_are)
{
    struct fr_graph *g = load("gpt2-small", FR_FP32);

    ck_shape(g, "layer0.attn.scores",
             "batch=96;rows=1024;columns=1024;depth=64;gradient_of=none;transposed=1");
    ck_shape(g, "layer0.attn.context.dgrad0",
             "batch=96;rows=1024;columns=64;depth=1024;gradient_of=right");
    ck_shape(g, "layer0.attn.context.dgrad1",
             "batch=96;rows=1024;columns=64;depth=1024;gradient_of=left");
    fr_graph_free(g);
    g = load("gnmt-2", FR_FP32); /* a sentence is a product of one row */
    ck_shape(g, "decoder.attention.t0.context",
             "batch=64;rows=1;columns=2048;depth=40;gradient_of=none");
    ck_shape(g, "decoder.attention.t0.scores",
             "rows=2560;columns=1;depth=1024;gradient_of=none;transposed=1");
    fr_graph_free(g);
}

/* ---- what is refused ---- */

static const struct {
    struct fr_op op;
    const char *why; /* NULL: it is sound */
} cases[] = {
    {{.kind = FR_OP_RELU, .shape = {.of = FR_SHAPE_ELEMENTS, .elements = {4, 8, 1}}}, NULL},
    {{.kind = FR_OP_RELU, .shape = {.of = FR_SHAPE_ROWS, .rows = {4, 8}}},
     "a shape of class rows is not that of kind 'relu'"},
    {{.kind = FR_OP_CONCAT, .shape = {.of = FR_SHAPE_ROWS, .rows = {4, 8}}},
     "a shape of class rows is not that of kind 'concat'"},
    {{.kind = FR_OP_SOFTMAX, .shape = {.of = (enum fr_shape_class)77}},
     "a shape of class unknown is not that of kind 'softmax'"},
    {{.kind = FR_OP_SOFTMAX, .shape = {.of = FR_SHAPE_ROWS, .rows = {4, 0}}},
     "'columns' is 0, not 1 to 9007199254740992"},
    {{.kind = FR_OP_SOFTMAX, .shape = {.of = FR_SHAPE_ROWS, .rows = {UINT64_MAX, 1}}},
     "'rows' is 18446744073709551615, not 1 to 9007199254740992"},
    {{.kind = FR_OP_SOFTMAX,
      .shape = {.of = FR_SHAPE_ROWS, .rows = {UINT64_C(1) << 53, UINT64_C(1) << 53}}},
     "the sizes make over 1e+21 flops or elements"},
    {{.kind = FR_OP_ATTENTION,
      .phase = FR_PHASE_FORWARD,
      .shape = {.of = FR_SHAPE_ATTENTION,
                .attention = {.batch = 1,
                              .heads = 12,
                              .kv_heads = 5,
                              .head_width = 64,
                              .query_len = 128,
                              .key_len = 128}}},
     "5 kv_heads do not divide 12 heads"},
    {{.kind = FR_OP_MATMUL,
      .phase = FR_PHASE_FORWARD,
      .shape = {.of = FR_SHAPE_PRODUCT, .product = {1, 2, 3, 4, FR_OPERAND_LEFT, true, 0, false}}},
     "a forward op is no gradient, but 'gradient_of' is left"},
    {{.kind = FR_OP_MATMUL,
      .phase = FR_PHASE_BACKWARD_DATA,
      .shape = {.of = FR_SHAPE_PRODUCT, .product = {1, 2, 3, 4, FR_OPERAND_LEFT, true, 0, false}}},
     NULL},
    {{.kind = FR_OP_CONV2D,
      .shape = {.of = FR_SHAPE_CONV, .conv = {1, 6, 8, 4, 5, 5, 5, 5, 3, 3, 1, 1, 1, 1, 1, 1}}},
     "4 groups do not divide 6 and 8 channels"},
    {{.kind = FR_OP_CONV2D,
      .shape = {.of = FR_SHAPE_CONV, .conv = {1, 6, 8, 1, 5, 5, 9, 5, 3, 3, 1, 1, 1, 1, 1, 1}}},
     "9 windows of 3 in steps of 1 do not fit a height of 5 padded by 1"},
};

LOOP_TEST(unsound_shapes_are_refused_with_a_reason, 0, sizeof(cases) / sizeof(cases[0]))
{
    char why[160] = "";
    bool is_sound = fr__shape_is_sound(&cases[_i].op, why, sizeof(why));

    ck_assert_msg(is_sound == !cases[_i].why, "%s", why);
    if (cases[_i].why)
        ck_assert_str_eq(why, cases[_i].why);
}

TEST(the_builder_refuses_an_unsound_shape_and_an_edge_with_bytes_but_no_tensor)
{
    static const struct fr_graph info = {.name = "n", .batch = 1, .param_elem_bytes = 4};
    struct fr_op op = {.name = "a", .kind = FR_OP_SOFTMAX, .phase = FR_PHASE_FORWARD};
    struct fr_graph_builder *b = fr_graph_builder_new();
    struct fr_graph *g = NULL;
    struct fr_error err;

    op.shape.of = FR_SHAPE_ROWS;
    fr_graph_builder_op(b, &op, NULL, NULL, 0);
    ck_assert_int_eq(fr_graph_builder_finish(b, &info, &g, &err), FR_ERANGE);
    ck_assert_str_eq(err.text, "the shape of op 'a': 'rows' is 0, not 1 to 9007199254740992");
    fr_graph_builder_free(b);
    b = fr_graph_builder_new();
    fr_graph_builder_edge(b, 0, 1, FR_NONE, 100);
    ck_assert_int_eq(fr_graph_builder_finish(b, &info, &g, &err), FR_EPARSE);
    ck_assert_str_eq(err.text, "the edge from op 0 to op 1 moves 100 bytes, but carries no tensor");
    fr_graph_builder_free(b);
}

/* Tied weights are no dependency, and do not replace one. */
TEST(a_tie_stays_beside_a_dependency_of_the_same_ops)
{
    static const struct fr_graph info = {.name = "n", .batch = 1, .param_elem_bytes = 4};
    struct fr_op op = {
        .name = "a", .kind = FR_OP_MATMUL, .phase = FR_PHASE_FORWARD, .param_bytes = 64};
    struct fr_graph_builder *b = fr_graph_builder_new();
    struct fr_graph *g = NULL;
    struct fr_error err;

    fr_graph_builder_op(b, &op, NULL, NULL, 0);
    op.name = "b";
    op.param_bytes = 0;
    fr_graph_builder_op(b, &op, NULL, NULL, 0);
    fr_graph_builder_tie(b, 0, 1);
    fr_graph_builder_edge(b, 0, 1, FR_NONE, 0);
    fr_graph_builder_tie(b, 0, 1);
    ck_assert_msg(fr_graph_builder_finish(b, &info, &g, &err) == FR_OK, "%s", err.text);
    ck_assert_uint_eq(g->n_edges, 2);
    ck_assert_uint_eq(g->edges[0].bytes, 0);
    ck_assert_uint_eq(g->edges[1].bytes, 64);
    fr_graph_free(g);
    fr_graph_builder_free(b);
}

/* One head, 8 queries and keys, widths 3 and 5. Pairs of a query and a key that it sees: causal
 * 8^2 / 2 = 32; window 4 before it 8 * 4 - 4^2 / 2 = 24, on both sides 8 * 4 - 4^2 / 4 = 28; in
 * pieces of 3, 3 and 2 positions 9 + 9 + 4 = 22, causal half of that. Forward 2 (3 + 5) FLOPs a
 * pair, backward 2 (3 * 3 + 2 * 5). */
TEST(attention_counts_the_keys_that_a_query_sees_and_both_widths)
{
    static const struct {
        uint64_t window;
        bool is_causal, is_chunked;
        double pairs;
    } seen[] = {
        {0, true, false, 32}, {0, false, false, 64}, {4, true, false, 24}, {4, false, false, 28},
        {3, false, true, 22}, {3, true, true, 11},   {8, true, false, 32}, {9, true, true, 32},
    };

    for (size_t i = 0; i < sizeof(seen) / sizeof(seen[0]); i++) {
        struct fr_op op = {.kind = FR_OP_ATTENTION, .phase = FR_PHASE_FORWARD};

        op.shape = (struct fr_shape){.of = FR_SHAPE_ATTENTION,
                                     .attention = {.batch = 1,
                                                   .heads = 1,
                                                   .kv_heads = 1,
                                                   .head_width = 3,
                                                   .value_width = 5,
                                                   .query_len = 8,
                                                   .key_len = 8,
                                                   .is_causal = seen[i].is_causal,
                                                   .window = seen[i].window,
                                                   .is_chunked = seen[i].is_chunked}};
        ck_assert_double_eq_tol(fr_op_shape_flops(&op), 16 * seen[i].pairs, 1e-9);
        op.phase = FR_PHASE_BACKWARD_DATA;
        ck_assert_double_eq_tol(fr_op_shape_flops(&op), 38 * seen[i].pairs, 1e-9);
        ck_assert_double_eq(fr__shape_output_elements(&op), 40);
    }
}

TEST(a_shape_that_does_not_fit_is_reported_by_the_check)
{
    struct fr_graph *g = load("lenet", FR_FP32), copy = *g;
    struct fr_op ops[200];

    ck_assert_uint_lt(g->n_ops, 200);
    memcpy(ops, g->ops, g->n_ops * sizeof(*ops));
    copy.ops = ops;
    ck_assert_uint_eq(fr_graph_check(&copy, NULL, NULL), 0);
    ops[find(g, "fc3") - g->ops].shape.product.depth = 500;   /* the FLOPs do not fit */
    ops[find(g, "fc3.relu") - g->ops].shape.elements.batch++; /* the dims do not */
    ck_assert_uint_eq(fr_graph_check(&copy, NULL, NULL), 2);
    fr_graph_free(g);
}

int main(void)
{
    TCase *t = tcase_create("all");

    tcase_set_timeout(t, 60);
    add_tests(t);
    return run_case(t, "workloads/shapes");
}
