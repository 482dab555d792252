/* tests/workloads/test_pipedream.c - reading PipeDream profiles. */
#include "config.h"

#include "workloads/import/import.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct fr_graph *load_text(const char *text)
{
    struct fr_graph *g = NULL;
    struct fr_error err = {0};
    char line[800];

    ck_assert_msg(fr__import_text(&g, &fr__importer_pipedream, text, strlen(text), "graph.txt",
                                  NULL, &err) == FR_OK,
                  "%s", fr_error_string(&err, line, sizeof(line)));
    return g;
}

static uint32_t find(const struct fr_graph *g, const char *name)
{
    for (uint32_t i = 0; i < g->n_ops; i++)
        if (strcmp(g->ops[i].name, name) == 0)
            return i;
    ck_abort_msg("no op '%s'", name);
    return FR_NONE;
}

static bool has_op(const struct fr_graph *g, const char *name)
{
    for (uint32_t i = 0; i < g->n_ops; i++)
        if (strcmp(g->ops[i].name, name) == 0)
            return true;
    return false;
}

/* Bytes of the edge, all tensors together; -1: no edge. */
static double edge_bytes(const struct fr_graph *g, const char *src, const char *dst)
{
    uint32_t s = find(g, src), d = find(g, dst);
    double sum = -1;

    for (uint32_t e = g->out_first[s]; e < g->out_first[s + 1]; e++)
        if (g->edges[e].dst == d)
            sum = (sum < 0 ? 0 : sum) + (double)g->edges[e].bytes;
    return sum;
}

/* One image of 3 x 224 x 224 floats is 602112 bytes; 64 channels of that 12845056. No newline at
 * the end, edges first, nodes out of order. */
static const char conv_text[] =
    "\t1 -- 2\n\t2 -- 3\n"
    "3 -- ReLU(inplace) -- forward_compute_time=1.5, backward_compute_time=0.5, "
    "activation_size=12845056.000, parameter_size=0.000\n"
    "2 -- Conv2d(3, 64, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1)) -- "
    "forward_compute_time=2.000, backward_compute_time=3.000, activation_size=12845056.000, "
    "parameter_size=7168.000 -- stage_id=1\r\n"
    "\n"
    "1 -- Input -- forward_compute_time=635.902, backward_compute_time=0.000, "
    "activation_size=602112.000, parameter_size=0.000";

TEST(a_node_becomes_forward_backward_and_update)
{
    struct fr_graph *g = load_text(conv_text);
    struct fr_graph_totals t;
    uint32_t conv = find(g, "2"), back = find(g, "2.backward"), update = find(g, "2.update");

    ck_assert_uint_eq(g->n_ops, 6);
    ck_assert_uint_eq(g->n_layers, 3);
    ck_assert(!has_op(g, "1.backward"));
    ck_assert(!has_op(g, "3.update"));
    ck_assert_int_eq(g->ops[find(g, "1")].phase, FR_PHASE_INPUT);
    ck_assert_int_eq(g->ops[conv].kind, FR_OP_CONV2D);
    ck_assert_uint_eq(g->ops[conv].n_params, 2);
    ck_assert_int_eq(g->ops[back].phase, FR_PHASE_BACKWARD_DATA);
    ck_assert_uint_eq(g->ops[back].forward, conv);
    ck_assert_uint_eq(g->ops[update].forward, conv);
    ck_assert_uint_eq(g->ops[update].layer, g->ops[conv].layer);
    fr_graph_totals(g, &t);
    ck_assert_uint_eq(t.param_bytes, 7168);
    /* (2 + 1.5) ms forward, (3 + 0.5) ms backward; the input's 635 ms are warm-up */
    ck_assert_double_eq_tol(t.sample_s[FR_PHASE_FORWARD], 0.0035, 1e-15);
    ck_assert_double_eq_tol(t.sample_s[FR_PHASE_BACKWARD_DATA], 0.0035, 1e-15);
    ck_assert_double_eq(t.sample_s[FR_PHASE_INPUT], 0);
    ck_assert_str_eq(g->samples[0].device, "*");
    fr_graph_free(g);
}

TEST(gradients_flow_back_along_the_edges)
{
    struct fr_graph *g = load_text(conv_text);
    uint32_t back = find(g, "2.backward");

    ck_assert_double_eq(edge_bytes(g, "3.backward", "2.backward"), 12845056);
    ck_assert_double_eq(edge_bytes(g, "2.backward", "2.update"), 7168);
    /* what the convolution wrote and, for its weights, what it read */
    ck_assert_double_eq(edge_bytes(g, "2", "2.backward"), 12845056);
    ck_assert_double_eq(edge_bytes(g, "1", "2.backward"), 602112);
    /* no gradient of the images: its one output is that of the weights, which does not scale */
    ck_assert_uint_eq(g->ops[back].n_tensors, 1);
    ck_assert(!g->tensors[g->ops[back].first_tensor].scales);
    fr_graph_free(g);
}

/* The ReLU is in place: the convolution's 12845056 bytes and the images' 602112. */
TEST(activations_in_place_are_kept_once)
{
    struct fr_graph *g = load_text(conv_text);
    struct fr_graph_totals t;
    uint32_t relu = find(g, "3");

    fr_graph_totals(g, &t);
    ck_assert_uint_eq(t.saved_bytes, 13447168);
    ck_assert(g->ops[relu].is_in_place);
    ck_assert_uint_eq(g->tensors[g->ops[relu].first_tensor].alias,
                      g->ops[find(g, "2")].first_tensor);
    fr_graph_free(g);
}

/* 2 * 3 * 3 * 3 multiply-adds for each of 64 * 224 * 224 outputs; the biases are no products. */
TEST(flops_and_batch_follow_from_the_sizes)
{
    struct fr_graph *g = load_text(conv_text);

    ck_assert_uint_eq(g->batch, 1);
    ck_assert_double_eq(g->ops[find(g, "2")].flops, 2.0 * 27 * 64 * 224 * 224);
    ck_assert_double_eq(g->ops[find(g, "2.backward")].flops, 4.0 * 27 * 64 * 224 * 224);
    ck_assert_ptr_null(strstr(g->source, "assumed"));
    fr_graph_free(g);
}

/* Hidden 16, a state of 256 bytes: batch 256 / (16 * 4) = 4; all steps 2560: 10 of them.
 * Parameters 4 * 16 * (8 + 16) weights and 8 * 16 biases: 1664 floats, 6656 bytes. */
static const char lstm_text[] =
    "a -- Input0 -- forward_compute_time=0.0, backward_compute_time=0.0, activation_size=0.0, "
    "parameter_size=0.0\n"
    "b -- LSTM(8, 16) -- forward_compute_time=1.0, backward_compute_time=2.0, "
    "activation_size=[2560.0; 256.0; 256.0], parameter_size=6656.0\n"
    "c -- __getitem__(0) -- forward_compute_time=0.0, backward_compute_time=0.0, "
    "activation_size=2560.0, parameter_size=0.0\n"
    "d -- __getitem__(1) -- forward_compute_time=0.0, backward_compute_time=0.0, "
    "activation_size=256.0, parameter_size=0.0\n"
    "e -- Linear(in_features=16, out_features=4, bias=False) -- forward_compute_time=1.0, "
    "backward_compute_time=1.0, activation_size=640.0, parameter_size=256.0\n"
    "\ta -- b\n\tb -- c\n\tb -- d\n\tc -- e\n";

TEST(items_of_a_list_share_its_storage)
{
    struct fr_graph *g = load_text(lstm_text);
    uint32_t lstm = find(g, "b"), first = find(g, "c"), second = find(g, "d");
    uint32_t grad = g->ops[find(g, "e.backward")].first_tensor;

    ck_assert_uint_eq(g->batch, 4);
    ck_assert_uint_eq(g->seq_len, 10);
    ck_assert_uint_eq(g->ops[lstm].n_tensors, 3);
    ck_assert_uint_eq(g->ops[lstm].n_params, 4);
    ck_assert_double_eq(g->ops[lstm].flops, 2.0 * 1536 * 40);
    ck_assert_double_eq(g->ops[find(g, "e")].flops, 2.0 * 64 * 40);
    ck_assert_uint_eq(g->tensors[g->ops[first].first_tensor].alias, g->ops[lstm].first_tensor);
    ck_assert_uint_eq(g->tensors[g->ops[second].first_tensor].alias, g->ops[lstm].first_tensor + 1);
    ck_assert_double_eq(edge_bytes(g, "b", "c"), 2560);
    ck_assert_double_eq(edge_bytes(g, "b", "d"), 256);
    ck_assert(!has_op(g, "d.backward"));
    /* the gradient that the view passes on is the one it got */
    ck_assert_uint_eq(g->tensors[g->ops[find(g, "c.backward")].first_tensor].alias, grad);
    ck_assert_double_eq(edge_bytes(g, "c.backward", "b.backward"), 2560);
    fr_graph_free(g);
}

TEST(an_unknown_batch_is_assumed_and_said)
{
    struct fr_graph *g = load_text("x -- Foo(1) -- forward_compute_time=1, backward_compute_time=1,"
                                   " activation_size=8, parameter_size=4\n");

    ck_assert_uint_eq(g->batch, 64);
    ck_assert_ptr_nonnull(strstr(g->source, "batch assumed 64"));
    ck_assert_int_eq(g->ops[0].kind, FR_OP_LAYER);
    ck_assert_uint_eq(g->n_ops, 3);
    fr_graph_free(g);
}

#define FIELDS                                                                                     \
    " -- forward_compute_time=1, backward_compute_time=1, activation_size=1, parameter_size=1"

/* "a -- R" FIELDS is 94 bytes. */
static const struct {
    const char *text, *error;
} wrong[] = {
    {"", "graph.txt: no nodes in the profile"},
    {"\n\n", "graph.txt: no nodes in the profile"},
    {"a -- ReLU\n", "graph.txt:1:1: expected \"NAME -- DESCRIPTION -- forward_compute_time=...\", "
                    "or a tab and an edge"},
    {"a -- R" FIELDS "\n\ta -- bb\n", "graph.txt:2:7: no node is named 'bb'"},
    {"node1 -- R" FIELDS "\n\tnode1 -- node2\n",
     "graph.txt:2:11: no node is named 'node2', did you mean 'node1'?"},
    {"a -- R" FIELDS "\n\ta b\n", "graph.txt:2:2: expected an edge \"NAME -- NAME\""},
    {"a -- R" FIELDS "\nb -- R" FIELDS "\na -- S" FIELDS "\n",
     "graph.txt:3:1: node 'a' is given twice, first on line 1"},
    {"a -- R" FIELDS "\nb -- R" FIELDS "\n\ta -- b\n\ta -- b\n",
     "graph.txt:4:2: the edge from 'a' to 'b' is given twice"},
    {"a -- R" FIELDS "\nb -- R" FIELDS "\n\ta -- b\n\tb -- a\n",
     "graph.txt:1:1: the ops form a cycle: a -> b -> a"},
    {"a -- R" FIELDS "\n\ta -- a\n", "graph.txt:1:1: the ops form a cycle: a -> a"},
    {"a;b -- R" FIELDS "\n", "graph.txt:1:2: a node's name holds a space, ';' or a byte that is "
                             "not printable ASCII"},
    {"a -- R -- forward_compute_time=1, backward=1\n",
     "graph.txt:1:33: expected \", backward_compute_time=\""},
    {"a -- R -- forward_compute_time=1, backward_compute_time=1, activation_size=[1; 2, "
     "parameter_size=1\n",
     "graph.txt:1:81: expected \"]\""},
    {"a -- R" FIELDS " -- stage=1\n", "graph.txt:1:95: expected \" -- stage_id=\""},
    {"a -- R" FIELDS " -- stage_id=1 x\n", "graph.txt:1:109: text after the end of the node"},
};

LOOP_TEST(what_is_malformed_is_refused_with_its_place, 0, sizeof(wrong) / sizeof(wrong[0]))
{
    struct fr_graph *g = NULL;
    struct fr_error err = {0};
    char line[800];

    ck_assert_int_ne(fr__import_text(&g, &fr__importer_pipedream, wrong[_i].text,
                                     strlen(wrong[_i].text), "graph.txt", NULL, &err),
                     FR_OK);
    ck_assert_ptr_null(g);
    ck_assert_str_eq(fr_error_string(&err, line, sizeof(line)), wrong[_i].error);
}

static const char *const not_numbers[] = {"-1", "nan", "inf", "1e400", "", "1x", "0x10", "1e17"};

LOOP_TEST(sizes_that_are_no_counts_of_bytes_are_refused, 0,
          sizeof(not_numbers) / sizeof(not_numbers[0]))
{
    struct fr_graph *g = NULL;
    struct fr_error err = {0};
    char text[256];

    snprintf(text, sizeof(text),
             "a -- R -- forward_compute_time=1, backward_compute_time=1, activation_size=%s, "
             "parameter_size=1\n",
             not_numbers[_i]);
    ck_assert_int_ne(
        fr__import_text(&g, &fr__importer_pipedream, text, strlen(text), "graph.txt", NULL, &err),
        FR_OK);
    ck_assert_uint_eq(err.line, 1);
    ck_assert_uint_eq(err.col, 76);
    ck_assert_ptr_nonnull(strstr(err.text, "'activation_size'"));
}

/* A NUL inside must not hide what follows. */
TEST(a_nul_byte_is_refused)
{
    static const char text[] = "a -- R" FIELDS "\n\0b\n";
    struct fr_graph *g = NULL;
    struct fr_error err = {0};

    ck_assert_int_eq(fr__import_text(&g, &fr__importer_pipedream, text, sizeof(text) - 1,
                                     "graph.txt", NULL, &err),
                     FR_EPARSE);
    ck_assert_uint_eq(err.line, 2);
}

/* One node that reads 300 lists of 4000 is fine; the product of lists and readers is bounded. */
TEST(readers_of_long_lists_are_bounded)
{
    enum { LISTS = 90, ITEMS = 4000, READERS = 60 };
    struct fr_graph *g = NULL;
    struct fr_error err = {0};
    char *text = NULL;
    size_t len;
    FILE *f = open_memstream(&text, &len);

    ck_assert_ptr_nonnull(f);
    for (int i = 0; i < LISTS; i++) {
        fprintf(f,
                "l%d -- L -- forward_compute_time=1, backward_compute_time=1, "
                "activation_size=[1",
                i);
        for (int k = 1; k < ITEMS; k++)
            fputs("; 1", f);
        fputs("], parameter_size=0\n", f);
    }
    for (int r = 0; r < READERS; r++)
        fprintf(f, "r%d -- R" FIELDS "\n", r);
    for (int r = 0; r < READERS; r++)
        for (int i = 0; i < LISTS; i++)
            fprintf(f, "\tl%d -- r%d\n", i, r);
    fclose(f);
    /* 90 * 4000 * 60 = 21.6e6 readings, more than 2^24 = 16.8e6 */
    ck_assert_int_eq(
        fr__import_text(&g, &fr__importer_pipedream, text, len, "graph.txt", NULL, &err),
        FR_ERANGE);
    free(text);
}

/* ---- the public profiles (github.com/msr-fiddle/pipedream, commit 7db6a1c) ---- */

/* Sources: the times and parameter bytes are column sums of each file, taken with awk; those of
 * alexnet, vgg16, gnmt and resnet50 equal single_machine_time and total_parameter_size that
 * PipeDream's optimizer prints (expected.jsonl beside the profiles). Parameters are also those of
 * torchvision's models, given here as counts. Input rows are left out of forward_ms.
 * Batch: input bytes / (3 * 224 * 224 * 4 = 602112), for inception_v3 / (3 * 299 * 299 * 4 =
 * 1072812): 154140672 / 602112 = 256, 38535168 / 602112 = 64, 77070336 / 602112 = 128,
 * 9633792 / 602112 = 16, 137319936 / 1072812 = 128; gnmt: 131072 / (1024 * 4) = 32 and
 * 6291456 / 131072 = 48 tokens. macs: forward multiply-adds of one sample as usually quoted. */
static const struct {
    const char *name;
    size_t nodes, edges;
    uint32_t batch, seq_len;
    double forward_ms, backward_ms;
    uint64_t params;
    double macs;
} profiles[] = {
    {"alexnet", 23, 23, 256, 0, 44.801, 40.520, 61100840, 0.714e9},
    {"densenet121", 429, 487, 64, 0, 177.404, 148.751, 7978856, 0},
    {"gnmt", 48, 58, 32, 48, 33.533, 55.883, 193765952, 0},
    {"inception_v3", 326, 362, 128, 0, 289.269, 399.769, 27161264, 0},
    {"nasnetalarge", 1251, 1468, 16, 0, 409.087, 249.210, 92239590, 0},
    {"resnet101", 347, 380, 64, 0, 197.306, 213.786, 44549160, 7.801e9},
    {"resnet18", 71, 79, 256, 0, 107.446, 152.296, 11689512, 0},
    {"resnet50", 177, 193, 128, 0, 182.488, 260.931, 25557032, 4.089e9},
    {"resnet50_partitioned", 177, 193, 128, 0, 178.495, 254.802, 25557032, 4.089e9},
    {"resnext50", 177, 193, 128, 0, 221.803, 368.990, 25028904, 0},
    {"synthetic_test", 6, 6, 64, 0, 0, 0, 0, 0},
    {"synthetic_test2", 5, 6, 64, 0, 0, 0, 0, 0},
    {"vgg16", 41, 41, 128, 0, 233.902, 438.633, 138357544, 15.470e9},
    {"vgg16_partitioned", 41, 41, 128, 0, 37.308, 626.153, 138357544, 15.470e9},
};

enum { N_PROFILES = sizeof(profiles) / sizeof(profiles[0]) };

static void profile_path(const char *name, char *path, size_t n)
{
    const char *srcdir = getenv("srcdir");

    snprintf(path, n, "%s/../shared/data/pipedream-profiles/%s/graph.txt", srcdir ? srcdir : ".",
             name);
}

/* Edges between forward ops are those of the file. */
static size_t count_forward_edges(const struct fr_graph *g)
{
    size_t n = 0;

    for (size_t e = 0; e < g->n_edges; e++)
        n += g->ops[g->edges[e].dst].phase <= FR_PHASE_FORWARD;
    return n;
}

LOOP_TEST(public_profiles_load_with_their_known_sums, 0, N_PROFILES)
{
    struct fr_graph_totals t;
    struct fr_graph *g = NULL;
    struct fr_error err;
    char path[1024];

    profile_path(profiles[_i].name, path, sizeof(path));
    if (access(path, R_OK) != 0) {
        printf("SKIPPED: %s is not there\n", path);
        return;
    }
    ck_assert_msg(fr_workload_load(&g, path, NULL, &err) == FR_OK, "%s", err.text);
    fr_graph_totals(g, &t);
    ck_assert_str_eq(g->name, profiles[_i].name);
    ck_assert_uint_eq(t.ops[FR_PHASE_INPUT] + t.ops[FR_PHASE_FORWARD], profiles[_i].nodes);
    ck_assert_uint_eq(count_forward_edges(g), profiles[_i].edges);
    ck_assert_uint_eq(g->batch, profiles[_i].batch);
    ck_assert_uint_eq(g->seq_len, profiles[_i].seq_len);
    ck_assert_double_eq_tol(t.sample_s[FR_PHASE_FORWARD], profiles[_i].forward_ms / 1e3, 1e-12);
    ck_assert_double_eq_tol(t.sample_s[FR_PHASE_BACKWARD_DATA], profiles[_i].backward_ms / 1e3,
                            1e-12);
    ck_assert_uint_eq(t.params, profiles[_i].params);
    ck_assert_uint_eq(t.param_bytes, profiles[_i].params * 4);
    if (profiles[_i].macs > 0)
        ck_assert_double_eq_tol(t.flops[FR_PHASE_FORWARD] / profiles[_i].batch / 2,
                                profiles[_i].macs, 0.001 * profiles[_i].macs);
    fr_graph_free(g);
}

int main(void)
{
    TCase *tc = tcase_create("pipedream");

    tcase_set_timeout(tc, 60);
    add_tests(tc);
    return run_case(tc, "workloads/pipedream");
}
