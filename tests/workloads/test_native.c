/* tests/workloads/test_native.c - what a native folder must say, and what it may leave out. */
#include "config.h"

#include "tests/support/base_check.h"
#include "tests/support/native_case.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

static const char yaml[] = "name: n\nbatch: 4\n";

/* x writes 4 x 8 floats = 128 bytes; y reads them and writes 16 bytes: 144 bytes of traffic. */
TEST(few_columns_are_enough)
{
    struct native_case c;
    struct fr_graph *g;

    native_case_make(&c);
    native_case_write(&c, "workload.yaml", yaml);
    native_case_write(&c, "ops.csv",
                      "id,kind,phase,dims,param_bytes\nfc.x,input,,4x8,\nfc.y,matmul,forward,"
                      "4x1,32\nfc.u,update,update,,32\n");
    native_case_write(&c, "edges.csv", "src,dst\nfc.x,fc.y\nfc.y,fc.u\n");
    g = native_case_load(c.folder);
    ck_assert_int_eq(g->dtype, FR_FP32);
    ck_assert_uint_eq(g->param_elem_bytes, 4);
    ck_assert_int_eq(g->ops[0].phase, FR_PHASE_INPUT);
    ck_assert_uint_eq(g->tensors[0].bytes, 128);
    ck_assert(g->tensors[0].scales && g->tensors[0].split_mask == 1);
    ck_assert_double_eq(g->ops[1].bytes, 144);
    ck_assert_uint_eq(g->ops[1].n_params, 1);
    ck_assert(g->ops[1].scales && !g->ops[2].scales);
    ck_assert_uint_eq(g->edges[0].bytes, 128);
    ck_assert_uint_eq(g->edges[0].tensor, 0);
    ck_assert_uint_eq(g->n_layers, 1);
    ck_assert_str_eq(g->layer_names[0], "fc");
    fr_graph_free(g);
    native_case_remove(&c);
}

/* The product of 784 x 256 + 256 x 10 = 203264 weights; FLOPs 2 * 32 * 200704 = 12845056, 2 * 32 *
 * 2560 = 163840, ReLU one an element and the loss 1280. Kept for the backward pass: pixels 32 * 784
 * * 4, the first product's storage (the ReLU's too) 32 * 256 * 4; the loss keeps its input, 32 * 10
 * * 4. */
TEST(the_manuals_example_loads)
{
    struct native_case c;
    struct fr_graph_totals t;
    struct fr_graph *g;
    char path[1024], line[1024], file[64];
    FILE *doc, *out = NULL;

    native_case_source("doc/workloads.md", path, sizeof(path));
    doc = fopen(path, "r");
    ck_assert_ptr_nonnull(doc);
    native_case_make(&c);
    file[0] = '\0';
    while (fgets(line, sizeof(line), doc)) {
        if (sscanf(line, "`mlp/%60[a-z.]`", file) == 1)
            continue;
        if (strncmp(line, "```", 3) == 0 && file[0]) {
            native_case_path(&c, file, path, sizeof(path));
            if (out)
                file[0] = '\0';
            if (out)
                fclose(out);
            out = file[0] ? fopen(path, "w") : NULL;
        } else if (out) {
            fputs(line, out);
        }
    }
    fclose(doc);
    g = native_case_load(c.folder);
    fr_graph_totals(g, &t);
    ck_assert_str_eq(g->name, "mlp");
    ck_assert_uint_eq(t.params, 203264);
    ck_assert_double_eq(t.flops[FR_PHASE_FORWARD], 12845056.0 + 163840 + 8192 + 1280);
    ck_assert_uint_eq(t.ops[FR_PHASE_BACKWARD_WEIGHT], 2);
    ck_assert_uint_eq(t.ops[FR_PHASE_UPDATE], 2);
    ck_assert_uint_eq(t.saved_bytes, 32 * (784 + 256 + 10) * 4);
    ck_assert_uint_eq(g->n_samples, 2);
    fr_graph_free(g);
    native_case_remove(&c);
}

/* Sums of the figures of node4 to node19 of PipeDream's gnmt profile: forward 0.073 + 5.247 + 0.077
 * + 3.190 + 0.064 + 2.491 + 0.059 + 2.492 = 13.693 ms, backward 6.949 + 0.016 + 0.196 + 5.348 +
 * 0.128 + 4.203 + 0.121 + 4.201 = 21.162 ms, parameters 132382720 + 67174400 + 50364416 +
 * 2 * 33587200 = 317095936 bytes. */
TEST(the_gnmt_example_has_the_profiles_sums)
{
    struct fr_graph_totals t;
    struct fr_graph *g;
    char path[1024];

    native_case_source("examples/gnmt-head", path, sizeof(path));
    g = native_case_load(path);
    fr_graph_totals(g, &t);
    ck_assert_uint_eq(g->batch, 32);
    ck_assert_uint_eq(g->seq_len, 48);
    ck_assert_double_eq_tol(t.sample_s[FR_PHASE_FORWARD], 0.013693, 1e-12);
    ck_assert_double_eq_tol(t.sample_s[FR_PHASE_BACKWARD_DATA], 0.021162, 1e-12);
    ck_assert_uint_eq(t.param_bytes, 317095936);
    ck_assert_uint_eq(t.ops[FR_PHASE_FORWARD], 10);
    ck_assert_uint_eq(t.ops[FR_PHASE_BACKWARD_DATA], 10);
    ck_assert_uint_eq(t.ops[FR_PHASE_UPDATE], 5);
    fr_graph_free(g);
}

/* 4 images, the filter's area and groups from the shape: 2 x 4 x 16 x 6 x 6 x (8 / 2) x 3 x 3
 * FLOPs. What is left out is stride 1, no padding, no dilation; of attention as many key-value
 * heads as heads and keys as queries; of a product the operand that the phase says. */
TEST(a_shape_may_be_short_and_says_the_flops)
{
    struct native_case c;
    struct fr_graph *g;

    native_case_make(&c);
    native_case_write(&c, "workload.yaml", yaml);
    native_case_write(
        &c, "ops.csv",
        "id,kind,phase,shape\n"
        "c,conv2d,forward,images=4;in_channels=8;out_channels=16;groups=2;in_height=8;"
        "in_width=8;out_height=6;out_width=6;filter_height=3;filter_width=3\n"
        "a,attention,forward,batch=4;heads=8;head_width=64;query_len=128;generation=2\n"
        "w,matmul,backward-weight,rows=4;columns=5;depth=6\n"
        "d,batch_matmul,backward-data,rows=4;columns=5;depth=6;gradient_of=right\n");
    native_case_write(&c, "edges.csv", "src,dst\n");
    g = native_case_load(c.folder);
    ck_assert_double_eq(g->ops[0].flops, 2.0 * 4 * 16 * 6 * 6 * 4 * 3 * 3);
    ck_assert_uint_eq(g->ops[0].shape.conv.stride_width, 1);
    ck_assert_uint_eq(g->ops[0].shape.conv.pad_width, 0);
    ck_assert_uint_eq(g->ops[0].shape.conv.dilation_height, 1);
    ck_assert_double_eq(g->ops[1].flops, 4.0 * 4 * 8 * 128 * 128 * 64);
    ck_assert_uint_eq(g->ops[1].shape.attention.kv_heads, 8);
    ck_assert_uint_eq(g->ops[1].shape.attention.key_len, 128);
    ck_assert(!g->ops[1].shape.attention.is_causal);
    ck_assert_uint_eq(g->ops[1].shape.attention.generation, 2);
    ck_assert_int_eq(g->ops[2].shape.product.gradient_of, FR_OPERAND_RIGHT);
    ck_assert_uint_eq(g->ops[2].shape.product.batch, 1);
    ck_assert_int_eq(g->ops[3].shape.product.gradient_of, FR_OPERAND_RIGHT);
    fr_graph_free(g);
    native_case_remove(&c);
}

/* b and c read what no row lists: 1000 and 1500 bytes of one output of a, beside the listed ones of
 * x. */
TEST(an_edge_with_bytes_is_a_dependency_though_no_output_is_listed)
{
    struct native_case c;
    struct fr_graph *g;

    native_case_make(&c);
    native_case_write(&c, "workload.yaml", yaml);
    native_case_write(&c, "ops.csv",
                      "id,kind,phase,param_bytes,out_bytes,alias\n"
                      "a,other,forward,64,,\nx,other,forward,,8;8,-;x:0\nb,other,forward,,,\n"
                      "c,other,backward-data,,,\n");
    native_case_write(&c, "edges.csv",
                      "src,dst,bytes,tensor\na,b,1000,\na,c,1500,\nx,c,,1\nb,c,20,\n");
    g = native_case_load(c.folder);
    ck_assert_uint_eq(g->n_tensors, 4);
    ck_assert_uint_eq(g->n_edges, 4);
    ck_assert_uint_eq(g->tensors[0].bytes, 1500);
    ck_assert_uint_eq(g->ops[0].n_tensors, 1);
    ck_assert_uint_eq(g->tensors[2].alias, 1);
    for (size_t i = 0; i < g->n_edges; i++)
        ck_assert_uint_eq(g->tensors[g->edges[i].tensor].op, g->edges[i].src);
    ck_assert_uint_eq(g->edges[0].bytes, 1000);
    ck_assert_double_eq(g->ops[0].bytes, 1500);
    ck_assert_double_eq(g->ops[2].bytes, 1020);
    ck_assert_double_eq(g->ops[3].bytes, 1528);
    native_case_remove(&c);
    native_case_check_export(g);
    fr_graph_free(g);
}

TEST(tied_weights_are_asked_for_by_their_own_column)
{
    struct native_case c;
    struct fr_graph *g;

    native_case_make(&c);
    native_case_write(&c, "workload.yaml", yaml);
    native_case_write(&c, "ops.csv",
                      "id,kind,param_bytes,out_bytes,tied_to\n"
                      "in,embedding,4000,16,\nout,matmul,,16,in\nl,loss,,4,\n");
    native_case_write(&c, "edges.csv", "src,dst\nin,out\nout,l\n");
    g = native_case_load(c.folder);
    ck_assert_uint_eq(g->out_first[1] - g->out_first[0] > 2, true);
    ck_assert_uint_eq(g->edges[0].dst, 1);
    ck_assert_uint_eq(g->edges[0].tensor, 0);
    ck_assert_uint_eq(g->edges[1].dst, 1);
    ck_assert_uint_eq(g->edges[1].tensor, FR_NONE);
    ck_assert_uint_eq(g->edges[1].bytes, 4000);
    fr_graph_free(g);
    native_case_remove(&c);
}

int main(void)
{
    TCase *tc = tcase_create("native");

    tcase_set_timeout(tc, 60);
    add_tests(tc);
    return run_case(tc, "workloads/native");
}
