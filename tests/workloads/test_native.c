/* tests/workloads/test_native.c - native folders: reading, writing, and finding a workload. */
#include "config.h"

#include "workloads/graph/shape.h"
#include "workloads/workloads.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];
static const char *const files[] = {"workload.yaml", "ops.csv", "edges.csv", "times.csv"};

static void path_in_folder(const char *file, char *path, size_t n)
{
    snprintf(path, n, "%s/%s", folder, file);
}

static void make_folder(void)
{
    snprintf(folder, sizeof(folder), "native-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void remove_folder(void)
{
    char path[128];

    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        path_in_folder(files[i], path, sizeof(path));
        unlink(path);
    }
    ck_assert_int_eq(rmdir(folder), 0);
}

static void write_file(const char *file, const char *text)
{
    char path[128];
    FILE *f;

    path_in_folder(file, path, sizeof(path));
    f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    fputs(text, f);
    ck_assert_int_eq(fclose(f), 0);
}

static struct fr_graph *load(const char *spec)
{
    struct fr_graph *g = NULL;
    struct fr_error err;
    char line[800];

    ck_assert_msg(fr_workload_load(&g, spec, NULL, &err) == FR_OK, "%s",
                  fr_error_string(&err, line, sizeof(line)));
    return g;
}

static void source_path(const char *file, char *path, size_t n)
{
    const char *srcdir = getenv("srcdir");

    snprintf(path, n, "%s/%s", srcdir ? srcdir : ".", file);
}

/* ---- what is written reads back ---- */

static void compare_ops(const struct fr_graph *a, const struct fr_graph *b)
{
    for (size_t i = 0; i < a->n_ops; i++) {
        const struct fr_op *x = &a->ops[i], *y = &b->ops[i];

        ck_assert_str_eq(x->name, y->name);
        ck_assert_double_eq(x->flops, y->flops);
        ck_assert_double_eq(x->bytes, y->bytes);
        ck_assert_uint_eq(x->param_bytes, y->param_bytes);
        ck_assert_uint_eq(x->workspace_bytes, y->workspace_bytes);
        ck_assert_int_eq(x->kind, y->kind);
        ck_assert_int_eq(x->phase, y->phase);
        ck_assert_uint_eq(x->layer, y->layer);
        ck_assert_uint_eq(x->forward, y->forward);
        ck_assert_uint_eq(x->first_tensor, y->first_tensor);
        ck_assert_uint_eq(x->n_tensors, y->n_tensors);
        ck_assert_uint_eq(x->n_params, y->n_params);
        ck_assert_int_eq(x->scales, y->scales);
        ck_assert_int_eq(x->is_in_place, y->is_in_place);
        ck_assert_int_eq(x->shape.of, y->shape.of);
        for (const struct fr__size *s = fr__shape_sizes(x->shape.of); s->name; s++)
            ck_assert_uint_eq(fr__size_get(&x->shape, s), fr__size_get(&y->shape, s));
    }
}

static void compare_tensors(const struct fr_graph *a, const struct fr_graph *b)
{
    for (size_t i = 0; i < a->n_tensors; i++) {
        const struct fr_tensor *x = &a->tensors[i], *y = &b->tensors[i];

        ck_assert_uint_eq(x->bytes, y->bytes);
        ck_assert_uint_eq(x->op, y->op);
        ck_assert_uint_eq(x->alias, y->alias);
        ck_assert_uint_eq(x->n_dims, y->n_dims);
        ck_assert_mem_eq(x->dims, y->dims, sizeof(x->dims));
        ck_assert_uint_eq(x->split_mask, y->split_mask);
        ck_assert_int_eq(x->scales, y->scales);
    }
}

static void compare(const struct fr_graph *a, const struct fr_graph *b)
{
    ck_assert_str_eq(a->name, b->name);
    ck_assert_str_eq(a->source, b->source);
    ck_assert_uint_eq(a->batch, b->batch);
    ck_assert_uint_eq(a->seq_len, b->seq_len);
    ck_assert_int_eq(a->dtype, b->dtype);
    ck_assert_uint_eq(a->param_elem_bytes, b->param_elem_bytes);
    ck_assert_uint_eq(a->n_ops, b->n_ops);
    ck_assert_uint_eq(a->n_tensors, b->n_tensors);
    ck_assert_uint_eq(a->n_edges, b->n_edges);
    ck_assert_uint_eq(a->n_samples, b->n_samples);
    ck_assert_uint_eq(a->n_layers, b->n_layers);
    compare_ops(a, b);
    compare_tensors(a, b);
    for (size_t i = 0; i < a->n_layers; i++)
        ck_assert_str_eq(a->layer_names[i], b->layer_names[i]);
    for (size_t i = 0; i < a->n_edges; i++) {
        ck_assert_uint_eq(a->edges[i].src, b->edges[i].src);
        ck_assert_uint_eq(a->edges[i].dst, b->edges[i].dst);
        ck_assert_uint_eq(a->edges[i].tensor, b->edges[i].tensor);
        ck_assert_uint_eq(a->edges[i].bytes, b->edges[i].bytes);
    }
    for (size_t i = 0; i < a->n_samples; i++) {
        ck_assert_uint_eq(a->samples[i].op, b->samples[i].op);
        ck_assert_str_eq(a->samples[i].device, b->samples[i].device);
        ck_assert_uint_eq(a->samples[i].batch, b->samples[i].batch);
        ck_assert_double_eq(a->samples[i].time_s, b->samples[i].time_s);
    }
}

static void check_export_of(const struct fr_graph *g)
{
    struct fr_graph *back;
    struct fr_error err;
    char line[800];

    make_folder();
    ck_assert_msg(fr_graph_export(g, folder, &err) == FR_OK, "%s",
                  fr_error_string(&err, line, sizeof(line)));
    back = load(folder);
    compare(g, back);
    fr_graph_free(back);
    remove_folder();
}

/* Every field away from its default, names that need quotes, outputs of every sort. */
static struct fr_graph *odd_graph(void)
{
    struct fr_graph_builder *b = fr_graph_builder_new();
    struct fr_graph info = {.name = "odd: \"name\", with # signs",
                            .source = "a 'source'\n\tof two lines \\ \x1b \xc3\xa9 \xc2\x9b",
                            .batch = 3,
                            .seq_len = 7,
                            .dtype = FR_BF16,
                            .param_elem_bytes = 4};
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
    struct fr_op op = {.name = "a,b \"c\"",
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
    struct fr_graph *g = NULL;
    struct fr_error err;

    fr_graph_builder_op(b, &op, "layer, one", out, 3);
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
    op = (struct fr_op){.name = "user, of both",
                        .kind = FR_OP_BATCH_MATMUL,
                        .phase = FR_PHASE_FORWARD,
                        .shape = {.of = FR_SHAPE_PRODUCT, .product = {3, 5, 7, 9}}};
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

START_TEST(export_and_load_keep_every_field)
{
    struct fr_graph *g = odd_graph();

    check_export_of(g);
    fr_graph_free(g);
}
END_TEST

START_TEST(a_zoo_model_survives_export)
{
    static const char *const models[] = {"lenet",      "resnet18",  "gnmt-2",
                                         "gpt2-small", "llama3-8b", "mixtral-8x7b"};
    struct fr_graph *g = load(models[_i]);

    check_export_of(g);
    fr_graph_free(g);
}
END_TEST

START_TEST(a_profile_survives_export)
{
    struct fr_graph *g;
    char path[1024];

    source_path("../shared/data/pipedream-profiles/gnmt/graph.txt", path, sizeof(path));
    if (access(path, R_OK) != 0) {
        printf("SKIPPED: %s is not there\n", path);
        return;
    }
    g = load(path);
    check_export_of(g);
    fr_graph_free(g);
}
END_TEST

START_TEST(export_into_an_impossible_place_fails)
{
    struct fr_graph *g = odd_graph();
    struct fr_error err;

    ck_assert_int_eq(fr_graph_export(g, "no/such/place", &err), FR_EIO);
    ck_assert_str_eq(err.file, "no/such/place");
    fr_graph_free(g);
}
END_TEST

/* ---- defaults ---- */

static const char yaml[] = "name: n\nbatch: 4\n";

/* x writes 4 x 8 floats = 128 bytes; y reads them and writes 16 bytes: 144 bytes of traffic. */
START_TEST(few_columns_are_enough)
{
    struct fr_graph *g;

    make_folder();
    write_file("workload.yaml", yaml);
    write_file("ops.csv", "id,kind,phase,dims,param_bytes\nfc.x,input,,4x8,\nfc.y,matmul,forward,"
                          "4x1,32\nfc.u,update,update,,32\n");
    write_file("edges.csv", "src,dst\nfc.x,fc.y\nfc.y,fc.u\n");
    g = load(folder);
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
    remove_folder();
}
END_TEST

/* The product of 784 x 256 + 256 x 10 = 203264 weights; FLOPs 2 * 32 * 200704 = 12845056, 2 * 32 *
 * 2560 = 163840, ReLU one an element and the loss 1280. Kept for the backward pass: pixels 32 * 784
 * * 4, the first product's storage (the ReLU's too) 32 * 256 * 4; the loss keeps its input, 32 * 10
 * * 4. */
START_TEST(the_manuals_example_loads)
{
    struct fr_graph_totals t;
    struct fr_graph *g;
    char path[1024], line[1024], file[64];
    FILE *doc, *out = NULL;

    source_path("doc/workloads.md", path, sizeof(path));
    doc = fopen(path, "r");
    ck_assert_ptr_nonnull(doc);
    make_folder();
    file[0] = '\0';
    while (fgets(line, sizeof(line), doc)) {
        if (sscanf(line, "`mlp/%60[a-z.]`", file) == 1)
            continue;
        if (strncmp(line, "```", 3) == 0 && file[0]) {
            path_in_folder(file, path, sizeof(path));
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
    g = load(folder);
    fr_graph_totals(g, &t);
    ck_assert_str_eq(g->name, "mlp");
    ck_assert_uint_eq(t.params, 203264);
    ck_assert_double_eq(t.flops[FR_PHASE_FORWARD], 12845056.0 + 163840 + 8192 + 1280);
    ck_assert_uint_eq(t.ops[FR_PHASE_BACKWARD_WEIGHT], 2);
    ck_assert_uint_eq(t.ops[FR_PHASE_UPDATE], 2);
    ck_assert_uint_eq(t.saved_bytes, 32 * (784 + 256 + 10) * 4);
    ck_assert_uint_eq(g->n_samples, 2);
    fr_graph_free(g);
    remove_folder();
}
END_TEST

/* Sums of the figures of node4 to node19 of PipeDream's gnmt profile: forward 0.073 + 5.247 + 0.077
 * + 3.190 + 0.064 + 2.491 + 0.059 + 2.492 = 13.693 ms, backward 6.949 + 0.016 + 0.196 + 5.348 +
 * 0.128 + 4.203 + 0.121 + 4.201 = 21.162 ms, parameters 132382720 + 67174400 + 50364416 +
 * 2 * 33587200 = 317095936 bytes. */
START_TEST(the_gnmt_example_has_the_profiles_sums)
{
    struct fr_graph_totals t;
    struct fr_graph *g;
    char path[1024];

    source_path("examples/gnmt-head", path, sizeof(path));
    g = load(path);
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
END_TEST

/* 4 images, the filter's area and groups from the shape: 2 x 4 x 16 x 6 x 6 x (8 / 2) x 3 x 3
 * FLOPs. What is left out is stride 1, no padding, no dilation; of attention as many key-value
 * heads as heads and keys as queries; of a product the operand that the phase says. */
START_TEST(a_shape_may_be_short_and_says_the_flops)
{
    struct fr_graph *g;

    make_folder();
    write_file("workload.yaml", yaml);
    write_file("ops.csv",
               "id,kind,phase,shape\n"
               "c,conv2d,forward,images=4;in_channels=8;out_channels=16;groups=2;in_height=8;"
               "in_width=8;out_height=6;out_width=6;filter_height=3;filter_width=3\n"
               "a,attention,forward,batch=4;heads=8;head_width=64;query_len=128\n"
               "w,matmul,backward-weight,rows=4;columns=5;depth=6\n"
               "d,batch_matmul,backward-data,rows=4;columns=5;depth=6;gradient_of=right\n");
    write_file("edges.csv", "src,dst\n");
    g = load(folder);
    ck_assert_double_eq(g->ops[0].flops, 2.0 * 4 * 16 * 6 * 6 * 4 * 3 * 3);
    ck_assert_uint_eq(g->ops[0].shape.conv.stride_width, 1);
    ck_assert_uint_eq(g->ops[0].shape.conv.pad_width, 0);
    ck_assert_uint_eq(g->ops[0].shape.conv.dilation_height, 1);
    ck_assert_double_eq(g->ops[1].flops, 4.0 * 4 * 8 * 128 * 128 * 64);
    ck_assert_uint_eq(g->ops[1].shape.attention.kv_heads, 8);
    ck_assert_uint_eq(g->ops[1].shape.attention.key_len, 128);
    ck_assert(!g->ops[1].shape.attention.is_causal);
    ck_assert_int_eq(g->ops[2].shape.product.gradient_of, FR_OPERAND_RIGHT);
    ck_assert_uint_eq(g->ops[2].shape.product.batch, 1);
    ck_assert_int_eq(g->ops[3].shape.product.gradient_of, FR_OPERAND_RIGHT);
    fr_graph_free(g);
    remove_folder();
}
END_TEST

/* b and c read what no row lists: 1000 and 1500 bytes of one output of a, beside the listed ones of
 * x. */
START_TEST(an_edge_with_bytes_is_a_dependency_though_no_output_is_listed)
{
    struct fr_graph *g;

    make_folder();
    write_file("workload.yaml", yaml);
    write_file("ops.csv", "id,kind,phase,param_bytes,out_bytes,alias\n"
                          "a,other,forward,64,,\nx,other,forward,,8;8,-;x:0\nb,other,forward,,,\n"
                          "c,other,backward-data,,,\n");
    write_file("edges.csv", "src,dst,bytes,tensor\na,b,1000,\na,c,1500,\nx,c,,1\nb,c,20,\n");
    g = load(folder);
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
    remove_folder();
    check_export_of(g);
    fr_graph_free(g);
}
END_TEST

START_TEST(tied_weights_are_asked_for_by_their_own_column)
{
    struct fr_graph *g;

    make_folder();
    write_file("workload.yaml", yaml);
    write_file("ops.csv", "id,kind,param_bytes,out_bytes,tied_to\n"
                          "in,embedding,4000,16,\nout,matmul,,16,in\nl,loss,,4,\n");
    write_file("edges.csv", "src,dst\nin,out\nout,l\n");
    g = load(folder);
    ck_assert_uint_eq(g->out_first[1] - g->out_first[0] > 2, true);
    ck_assert_uint_eq(g->edges[0].dst, 1);
    ck_assert_uint_eq(g->edges[0].tensor, 0);
    ck_assert_uint_eq(g->edges[1].dst, 1);
    ck_assert_uint_eq(g->edges[1].tensor, FR_NONE);
    ck_assert_uint_eq(g->edges[1].bytes, 4000);
    fr_graph_free(g);
    remove_folder();
}
END_TEST

/* ---- errors ---- */

static const char good_ops[] = "id,kind,phase,dims\na,matmul,forward,4x8\nb,relu,forward,4x8\n"
                               "u,update,update,\n";
static const char good_edges[] = "src,dst\na,b\n";

static const struct {
    const char *file, *text, *error; /* %s: the folder */
} wrong[] = {
    {"workload.yaml", "name: n\n", "%s/workload.yaml"},
    {"workload.yaml", "name: n\nbatch: 0\n", "%s/workload.yaml:2:8: "},
    {"workload.yaml", "name: n\nbatch: 1\nprecision: fp31\n",
     "%s/workload.yaml:3:12: 'precision' is \"fp31\", no known precision, did you mean 'fp32'?"},
    {"workload.yaml", "name: n\nbatch: 1\nbathc: 1\n", "%s/workload.yaml:3:1: "},
    {"ops.csv", "id,kind,flops\na,relu,12x\n", "%s/ops.csv:2:8: 'flops' is \"12x\", not a number"},
    {"ops.csv", "id,kind,flops\na,relu,nan\n", "%s/ops.csv:2:8: "},
    {"ops.csv", "id,kind,flops\na,relu,1e22\n", "%s/ops.csv:2:8: "},
    {"ops.csv", "id,kind\na,rely\n",
     "%s/ops.csv:2:3: 'kind' is \"rely\", no known kind of op, did you mean 'relu'?"},
    {"ops.csv", "id,kind,phase\na,relu,forwards\n",
     "%s/ops.csv:2:8: 'phase' is \"forwards\", no known phase, did you mean 'forward'?"},
    {"ops.csv", "id,kind\na,relu\nb,relu\na,relu\n",
     "%s/ops.csv:4:1: id 'a' is given twice, first on line 2"},
    {"ops.csv", "id,kind,name\na,relu,x\nb,relu,x\n",
     "%s/ops.csv:3:1: op 'x' is named twice, first at %s/ops.csv:2:1"},
    {"ops.csv", "id,kind\n", "%s/edges.csv:2:1: no op has the id 'a'"},
    {"ops.csv", "id,kind,dims\na,relu,4x8x\n", "%s/ops.csv:2:12: "},
    {"ops.csv", "id,kind,dims\na,relu,1x1x1x1x1x1x1\n",
     "%s/ops.csv:2:20: 'dims' has over 6 dimensions"},
    {"ops.csv", "id,kind,dims\na,relu,4294967295x4294967295\n",
     "%s/ops.csv:2:8: 'dims' make an output of over 2^53 bytes"},
    {"ops.csv", "id,kind,out_bytes\na,relu,9007199254740993\n", "%s/ops.csv:2:8: "},
    {"ops.csv", "id,kind,dims,out_bytes\na,relu,4x8,1;2\n",
     "%s/ops.csv:2:8: 'dims' has 1 items, but 'out_bytes' has 2"},
    {"ops.csv", "id,kind,out_bytes,split\na,relu,8;8,0;07\n",
     "%s/ops.csv:2:14: 'split' is \"07\", not digits of dimensions from 0 to 5, or '-'"},
    {"ops.csv", "id,kind,out_bytes,alias\na,relu,8,b:0\n", "%s/ops.csv:2:10: no op has the id 'b'"},
    {"ops.csv", "id,kind,out_bytes,alias\na,relu,8,a:1\n",
     "%s/ops.csv:2:10: 'alias' is \"a:1\", but that op has 1 outputs"},
    {"ops.csv", "id,kind,out_bytes,alias\na,relu,8,a:0\nb,relu,8,-\nu,update,,\n",
     "%s/ops.csv:2:1: an output of op 'a' shares storage with itself in a ring"},
    {"ops.csv",
     "id,kind,phase,forward\na,relu,forward,\nb,relu,backward-data,u\n"
     "u,update,update,c\n",
     "%s/ops.csv:4:17: no op has the id 'c'"},
    {"ops.csv",
     "id,kind,phase,forward\na,relu,forward,\nb,relu,backward-data,u\nu,update,update,\n",
     "%s/ops.csv:3:1: op 'b' derives from 'u', which is no forward op but update"},
    {"edges.csv", "src,dst\na,c\n", "%s/edges.csv:2:3: no op has the id 'c'"},
    {"edges.csv", "src,dst\na,b\nb,u\na,b\n",
     "%s/edges.csv:4:1: the edge from 'a' to 'b' is given twice, first on line 2"},
    {"edges.csv", "src,dst\na,b\nb,a\n", "%s/ops.csv:2:1: the ops form a cycle: a -> b -> a"},
    {"edges.csv", "src,dst,tensor\na,b,1\n",
     "%s/edges.csv:2:5: 'tensor' is 1, but op 'a' has 1 outputs"},
    {"edges.csv", "src,dst,bytes\na,b,-3\n", "%s/edges.csv:2:5: "},
    {"edges.csv", "src,dst,bytes,tensor\na,b,30,-\n",
     "%s/edges.csv:2:5: 'bytes' is 30, but 'tensor' is '-', which only orders (an op that uses "
     "another's parameters says so in 'tied_to' of ops.csv)"},
    {"ops.csv", "id,kind,tied_to\na,relu,\nb,relu,a\n",
     "%s/ops.csv:3:8: 'tied_to' names op 'a', which owns no parameters"},
    {"ops.csv", "id,kind,param_bytes,tied_to\na,bias,4,\nb,relu,,a;c\n",
     "%s/ops.csv:3:11: no op has the id 'c'"},
    {"ops.csv", "id,kind,phase,param_bytes,tied_to\na,bias,,4,\nb,relu,update,,a\n",
     "%s/ops.csv:3:16: 'tied_to' ties 'b' to 'a', but only a forward op can use the parameters of "
     "another forward op"},
    {"ops.csv", "id,kind,shape\na,matmul,rows=4;columns=5\n",
     "%s/ops.csv:2:10: 'shape' of a matmul lacks 'depth'"},
    {"ops.csv", "id,kind,shape\na,matmul,rows=4;colums=5;depth=1\n",
     "%s/ops.csv:2:17: 'shape' has no size 'colums' for this kind, did you mean 'columns'?"},
    {"ops.csv", "id,kind,shape\na,matmul,rows=4;columns=5;rows=1\n",
     "%s/ops.csv:2:27: 'shape' has 'rows' twice"},
    {"ops.csv", "id,kind,shape\na,matmul,rows=4;columns=0;depth=1\n", "%s/ops.csv:2:25: "},
    {"ops.csv", "id,kind,shape\na,matmul,rows=4;columns;depth=1\n",
     "%s/ops.csv:2:17: 'shape' has \"columns\", not the name of a size, '=' and its value"},
    {"ops.csv",
     "id,kind,shape\na,matmul,rows=4;columns=99999999999999999999999999999999999999;"
     "depth=1\n",
     "%s/ops.csv:2:25: "},
    {"ops.csv", "id,kind,phase,shape\na,matmul,update,rows=4;columns=5;depth=1;gradient_of=top\n",
     "%s/ops.csv:2:54: 'gradient_of' of 'shape' is \"top\", not none, left or right"},
    {"ops.csv", "id,kind,shape\na,concat,rows=4\n",
     "%s/ops.csv:2:10: 'shape' is given, but ops of kind 'concat' have none"},
    {"ops.csv", "id,kind,shape\na,attention,batch=1;heads=8;kv_heads=3;head_width=64;query_len=8\n",
     "%s/ops.csv:2:13: 'shape': 3 kv_heads do not divide 8 heads"},
    {"ops.csv", "id,kind,flops,shape\na,matmul,100,rows=4;columns=5;depth=6\n",
     "%s/ops.csv:2:14: 'shape' makes 240 flops, but 'flops' is 100"},
    {"ops.csv", "id,kind,shape\na,matmul,rows=9007199254740992;columns=9007199254740992;depth=1\n",
     "%s/ops.csv:2:10: 'shape': the sizes make over 1e+21 flops or elements"},
    {"times.csv", "op,device,batch,time_s\na,v100,8,-1\n", "%s/times.csv:2:10: "},
    {"times.csv", "op,device,batch,time_s\na,,8,1\n",
     "%s/times.csv:2:3: 'device' is empty, not a device type or '*'"},
    {"times.csv", "op,device,batch,time_s\na,v100,0,1\n", "%s/times.csv:2:8: "},
};

/* An expectation that ends in ": " is the beginning of the message: base owns the rest. */
START_TEST(what_is_malformed_is_refused_with_its_place)
{
    const char *want = wrong[_i].error;
    struct fr_graph *g = NULL;
    struct fr_error err = {0};
    char expected[800], line[800];
    size_t len;

    make_folder();
    write_file("workload.yaml", yaml);
    write_file("ops.csv", good_ops);
    write_file("edges.csv", good_edges);
    write_file(wrong[_i].file, wrong[_i].text);
    ck_assert_int_ne(fr_workload_load(&g, folder, NULL, &err), FR_OK);
    ck_assert_ptr_null(g);
    for (len = 0; *want && len + 1 < sizeof(expected); want++) {
        if (want[0] == '%')
            len += (size_t)snprintf(expected + len, sizeof(expected) - len, "%s", folder);
        else
            expected[len++] = *want;
        want += want[0] == '%';
    }
    expected[len] = '\0';
    fr_error_string(&err, line, sizeof(line));
    if (len > 1 && (expected[len - 1] == ' ' || strstr(expected, ".yaml") == expected + len - 5))
        line[len] = '\0';
    ck_assert_str_eq(line, expected);
    remove_folder();
}
END_TEST

START_TEST(a_folder_without_its_files_is_no_workload)
{
    struct fr_graph *g = NULL;
    struct fr_error err;

    make_folder();
    ck_assert_int_eq(fr_workload_load(&g, folder, NULL, &err), FR_ENOENT);
    ck_assert_str_eq(err.text, "no 'workload.yaml' in the folder, so it is no workload");
    remove_folder();
}
END_TEST

/* ---- what a name stands for ---- */

START_TEST(an_unknown_name_gets_the_nearest_model)
{
    struct fr_graph *g = NULL;
    struct fr_error err;

    ck_assert_int_eq(fr_workload_load(&g, "vgg91", NULL, &err), FR_ENOENT);
    ck_assert_ptr_eq(strstr(err.text, "no model, folder or file named 'vgg91', did you mean 'vgg1"),
                     err.text);
    ck_assert_int_eq(fr_workload_load(&g, "some/where/else", NULL, &err), FR_ENOENT);
    ck_assert_str_eq(err.text, "no model, folder or file named 'some/where/else'");
}
END_TEST

START_TEST(a_file_of_no_known_format_is_refused)
{
    struct fr_graph *g = NULL;
    struct fr_error err;
    char path[128];

    make_folder();
    write_file("ops.csv", "nothing of interest\n");
    path_in_folder("ops.csv", path, sizeof(path));
    ck_assert_int_eq(fr_workload_load(&g, path, NULL, &err), FR_EPARSE);
    ck_assert_str_eq(err.text, "no workload format that is known here (PipeDream profile "
                               "(graph.txt)); a native workload is a folder");
    remove_folder();
    ck_assert_int_eq(fr_workload_load(&g, "/dev/null", NULL, &err), FR_EPARSE);
}
END_TEST

START_TEST(what_is_recorded_has_one_precision_and_length)
{
    struct fr_workload_options opt = {.batch = 512, .dtype = FR_N_DTYPES};
    struct fr_graph *g = NULL;
    struct fr_error err;
    char path[1024];

    source_path("examples/gnmt-head", path, sizeof(path));
    ck_assert_int_eq(fr_workload_load(&g, path, &opt, &err), FR_OK);
    ck_assert_uint_eq(g->batch, 32);
    fr_graph_free(g);
    g = NULL;
    opt.dtype = FR_FP16;
    ck_assert_int_eq(fr_workload_load(&g, path, &opt, &err), FR_EUSAGE);
    opt.dtype = FR_FP32;
    opt.seq_len = 50;
    ck_assert_int_eq(fr_workload_load(&g, path, &opt, &err), FR_EUSAGE);
    ck_assert_str_eq(err.text, "workload 'gnmt-head' is recorded at sequence length 48, so not to "
                               "be had at 50");
    ck_assert_ptr_null(g);
}
END_TEST

int main(void)
{
    TCase *tc = tcase_create("native");

    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, export_and_load_keep_every_field);
    tcase_add_loop_test(tc, a_zoo_model_survives_export, 0, 6);
    tcase_add_test(tc, a_profile_survives_export);
    tcase_add_test(tc, export_into_an_impossible_place_fails);
    tcase_add_test(tc, few_columns_are_enough);
    tcase_add_test(tc, a_shape_may_be_short_and_says_the_flops);
    tcase_add_test(tc, an_edge_with_bytes_is_a_dependency_though_no_output_is_listed);
    tcase_add_test(tc, tied_weights_are_asked_for_by_their_own_column);
    tcase_add_test(tc, the_manuals_example_loads);
    tcase_add_test(tc, the_gnmt_example_has_the_profiles_sums);
    tcase_add_loop_test(tc, what_is_malformed_is_refused_with_its_place, 0,
                        sizeof(wrong) / sizeof(wrong[0]));
    tcase_add_test(tc, a_folder_without_its_files_is_no_workload);
    tcase_add_test(tc, an_unknown_name_gets_the_nearest_model);
    tcase_add_test(tc, a_file_of_no_known_format_is_refused);
    tcase_add_test(tc, what_is_recorded_has_one_precision_and_length);
    return run_case(tc, "workloads/native");
}
