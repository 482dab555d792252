/* tests/workloads/test_native_export.c - an exported graph reads back with every field. */
#include "config.h"

#include "tests/support/base_check.h"
#include "tests/support/native_case.h"

#include <check.h>
#include <stdio.h>
#include <unistd.h>

/* A convolution with every size of its shape away from its default. */
static const struct fr_op odd_conv = {.name = "a,b \"c\"",
                                      .flops = 2.0 * 2 * 18 * 9 * 14 * 12 * 5 * 4 / 6 + 0.1,
                                      .bytes = 1e15 / 3,
                                      .param_bytes = 99,
                                      .workspace_bytes = 77,
                                      .kind = FR_OP_CONV2D,
                                      .phase = FR_PHASE_FORWARD,
                                      .n_params = 5,
                                      .shape = {.of = FR_SHAPE_CONV,
                                                .conv = {.images = 2,
                                                         .in_channels = 12,
                                                         .out_channels = 18,
                                                         .groups = 6,
                                                         .in_height = 40,
                                                         .in_width = 50,
                                                         .out_height = 9,
                                                         .out_width = 14,
                                                         .filter_height = 5,
                                                         .filter_width = 4,
                                                         .stride_height = 4,
                                                         .stride_width = 3,
                                                         .pad_height = 1,
                                                         .pad_width = 2,
                                                         .dilation_height = 2,
                                                         .dilation_width = 5}}};

/* A forward op with outputs of every sort, one with views of it, a backward op and an update. */
static void add_odd_ops(struct fr_graph_builder *b)
{
    struct fr_tensor out[3] = {
        {.bytes = 123, .alias = FR_NONE, .dims = {1, 2, 3, 4, 5, 6}, .n_dims = 6, .split_mask = 63},
        {.bytes = 0, .alias = FR_NONE, .scales = true},
        {.bytes = UINT64_C(1) << 53,
         .alias = FR_NONE,
         .dims = {UINT32_MAX},
         .n_dims = 1,
         .split_mask = 2}};
    struct fr_tensor view[2] = {{.bytes = 100, .alias = 2, .scales = true, .split_mask = 1},
                                {.bytes = 5, .alias = FR_NONE}};
    struct fr_op op;

    fr_graph_builder_op(b, &odd_conv, "layer, one", out, 3);
    op = (struct fr_op){.name = " x.view:1 ",
                        .kind = FR_OP_SPLIT,
                        .phase = FR_PHASE_FORWARD,
                        .scales = true,
                        .is_in_place = true,
                        .flops = 1e21};
    fr_graph_builder_op(b, &op, NULL, view, 2);
    op = (struct fr_op){.name = "back",
                        .kind = FR_OP_CONV2D,
                        .phase = FR_PHASE_BACKWARD_WEIGHT,
                        .forward = 0,
                        .scales = true};
    fr_graph_builder_op(b, &op, "layer, one", NULL, 0);
    op = (struct fr_op){.name = "update",
                        .kind = FR_OP_UPDATE,
                        .phase = FR_PHASE_UPDATE,
                        .forward = FR_NONE,
                        .scales = true,
                        .param_bytes = 12};
    fr_graph_builder_op(b, &op, NULL, NULL, 0);
}

/* Op 4 uses the parameters of ops 0 and 5. */
static void add_odd_ties(struct fr_graph_builder *b)
{
    struct fr_op op = {.name = "user, of both",
                       .kind = FR_OP_BATCH_MATMUL,
                       .phase = FR_PHASE_FORWARD,
                       .shape = {.of = FR_SHAPE_PRODUCT,
                                 .product = {.batch = 3, .rows = 5, .columns = 7, .depth = 9}}};

    fr_graph_builder_op(b, &op, NULL, NULL, 0);
    op = (struct fr_op){.name = "owner",
                        .kind = FR_OP_OTHER,
                        .phase = FR_PHASE_FORWARD,
                        .param_bytes = 1000,
                        .n_params = 1};
    fr_graph_builder_op(b, &op, NULL, NULL, 0);
    fr_graph_builder_tie(b, 0, 4);
    fr_graph_builder_tie(b, 5, 4);
    fr_graph_builder_edge(b, 0, 4, FR_NONE, 0); /* beside the tie */
}

/* A graph in which every field is away from its default, with names that need quotes. */
static struct fr_graph *odd_graph(void)
{
    struct fr_graph_builder *b = fr_graph_builder_new();
    struct fr_graph info = {.name = "odd: \"name\", with # signs",
                            .source = "a 'source'\n\tof two lines \\ \xc3\xa9",
                            .batch = 3,
                            .seq_len = 7,
                            .dtype = FR_BF16,
                            .param_elem_bytes = 4};
    struct fr_graph *g = NULL;
    struct fr_error err;

    add_odd_ops(b);
    add_odd_ties(b);
    fr_graph_builder_edge(b, 0, 1, 2, 17);
    fr_graph_builder_edge(b, 0, 1, 0, 0);
    fr_graph_builder_edge(b, 0, 2, FR_NONE, 0);
    fr_graph_builder_edge(b, 1, 2, 4, 5);
    fr_graph_builder_edge(b, 2, 3, FR_NONE, 0);
    fr_graph_builder_sample(b, 2, "v100", 3, 0.1);
    fr_graph_builder_sample(b, 2, "v100", 3, 1.0 / 3);
    fr_graph_builder_sample(b, 0, "a \"device\", odd", 64, 1e-9);
    ck_assert_msg(fr_graph_builder_finish(b, &info, &g, &err) == FR_OK, "%s", err.text);
    fr_graph_builder_free(b);
    return g;
}

TEST(export_and_load_keep_every_field)
{
    struct fr_graph *g = odd_graph();

    native_case_check_export(g);
    fr_graph_free(g);
}

LOOP_TEST(a_zoo_model_survives_export, 0, 6)
{
    static const char *const models[] = {"lenet",      "resnet18",  "gnmt-2",
                                         "gpt2-small", "llama3-8b", "mixtral-8x7b"};
    struct fr_graph *g = native_case_load(models[_i]);

    native_case_check_export(g);
    fr_graph_free(g);
}

TEST(a_profile_survives_export)
{
    struct fr_graph *g;
    char path[1024];

    native_case_source("../shared/data/pipedream-profiles/gnmt/graph.txt", path, sizeof(path));
    if (access(path, R_OK) != 0) {
        printf("SKIPPED: %s is not there\n", path);
        return;
    }
    g = native_case_load(path);
    native_case_check_export(g);
    fr_graph_free(g);
}

TEST(export_into_an_impossible_place_fails)
{
    struct fr_graph *g = odd_graph();
    struct fr_error err;

    ck_assert_int_eq(fr_graph_export(g, "no/such/place", &err), FR_EIO);
    ck_assert_str_eq(err.file, "no/such/place");
    fr_graph_free(g);
}

int main(void)
{
    TCase *tc = tcase_create("native_export");

    tcase_set_timeout(tc, 60);
    add_tests(tc);
    return run_case(tc, "workloads/native_export");
}
