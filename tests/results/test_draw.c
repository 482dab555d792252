/* tests/results/test_draw.c - DOT text: what is in it, and that no input breaks out of it. */
#include "config.h"

#include "results/drawings/dot.h"
#include "results/draw.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

/* What writer puts out; the caller frees. */
static char *written(void (*write)(FILE *f, const void *user), const void *user)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);

    ck_assert_ptr_nonnull(f);
    write(f, user);
    ck_assert_int_eq(fclose(f), 0);
    return text;
}

static size_t count(const char *text, const char *what)
{
    size_t n = 0;

    for (const char *at = text; (at = strstr(at, what)) != NULL; at += strlen(what))
        n++;
    return n;
}

/* ---- text ---- */

static void write_text(FILE *f, const void *user)
{
    fr__dot_text(f, user, 12);
}

/* Inside a quoted string of DOT a quote ends it, a backslash begins an escape (\N is the node's name),
 * and & begins an entity. */
START_TEST(text_from_inputs_stays_inside_its_string)
{
    static const struct {
        const char *in, *out;
    } rows[] = {
        {"conv1", "conv1"},
        {"", ""},
        {"a\"]; x [b", "a\\\"]; x [b"},
        {"\\N\\\"", "\\\\N\\\\\\\""},
        {"<b>&lt;", "<b>&amp;lt;"},
        {"a\nb\tc\x7f", "a?b?c?"},
        {"\xff\xc3(\xc3\xa9", "?\?(\xc3\xa9"},
        {"twelve chars", "twelve chars"},
        {"thirteen char", "thirteen cha..."},
        {"\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
         "\xc3\xa9",
         "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
         "\xc3\xa9"},
    };
    char *got = written(write_text, rows[_i].in);

    ck_assert_str_eq(got, rows[_i].out);
    free(got);
}
END_TEST

static void write_inches(FILE *f, const void *user)
{
    fr__dot_inches(f, *(const long *)user);
}

START_TEST(points_are_inches_with_three_decimals)
{
    static const struct {
        long points;
        const char *out;
    } rows[] = {{72, "1.000"}, {0, "0.000"}, {36, "0.500"}, {58, "0.805"}, {7200, "100.000"}};
    char *got = written(write_inches, &rows[_i].points);

    ck_assert_str_eq(got, rows[_i].out);
    free(got);
}
END_TEST

/* ---- clusters ---- */

static void write_topo(FILE *f, const void *user)
{
    struct fr_error err;

    ck_assert_int_eq(fr_draw_topo(f, user, &err), FR_OK);
}

static char *draw(const char *spec)
{
    struct fr_topo *t;
    struct fr_error err;
    char *text;

    ck_assert_msg(fr_topo_load(&t, spec, &err) == FR_OK, "%s", err.text);
    text = written(write_topo, t);
    fr_topo_free(t);
    return text;
}

/* Every vertex once, every cable once: 8 GPUs, 1 CPU, 2 sockets, 4 switches, 4 NICs; 16 NVLink edges,
 * 2 memories, 1 QPI, 4 uplinks, 8 + 4 below the switches (matrix and DGX-1 guide). The legend's 5
 * samples are edges, too. */
START_TEST(a_dgx1_shows_each_part_and_each_cable_once)
{
    char *text = draw("dgx1-v100");

    ck_assert_uint_eq(count(text, "label=\"gpu"), 8);
    ck_assert_uint_eq(count(text, "label=\"nic"), 4);
    ck_assert_uint_eq(count(text, "label=\"plx"), 4);
    ck_assert_uint_eq(count(text, "label=\"socket"), 2);
    ck_assert_uint_eq(count(text, "label=\"cpu0: 2x-xeon-e5-2698v4"), 1);
    ck_assert_uint_eq(count(text, "  v") - 19, 16 + 2 + 1 + 4 + 8 + 4); /* 19 nodes */
    ck_assert_uint_eq(count(text, " -- key"), 5);
    ck_assert_ptr_nonnull(strstr(text, "2 NVLinks side by side, 48 GB/s"));
    free(text);
}
END_TEST

START_TEST(equal_machines_fold_into_one_box_that_counts_them)
{
    static const struct {
        const char *spec, *has, *has_not;
    } rows[] = {
        {"1x dgx1-v100 via ib:1Gbps", "label=\"gpu7", "folded"},
        {"3x dgx1-v100", "label=\"n2\\n8x v100-sxm2-16gb\\n4 NICs\"", "folded"},
        {"4x dgx1-v100", "label=\"n2\\n", "folded"},
        {"1000x dgx1-v100", "label=\"n2 ... n998\\n997 more, folded\"", "label=\"n3"},
        {"1x dgx1-v100 + 5x dgx2", "label=\"n2 ... n4\\n3 more, folded\"", "label=\"n3"},
        {"gb200-nvl72", "label=\"n2 ... n16\\n15 more, folded\"", "label=\"gpu4"},
        {"1x dgx1-v100 + 1x dgx2 + 1x dgx1-p100 + 1x hgx-h100 + 1x dgx2 + 1x hgx-b200 + 1x dgx2 + "
         "1x dgx1-p100 + 1x dgx2 + 1x hgx-h200",
         "label=\"n8 ... n9\\n2 more, folded\"", "label=\"n9"},
    };
    char *text = draw(rows[_i].spec);

    ck_assert_msg(strstr(text, rows[_i].has), "%s lacks %s", rows[_i].spec, rows[_i].has);
    ck_assert_msg(!strstr(text, rows[_i].has_not), "%s has %s", rows[_i].spec, rows[_i].has_not);
    free(text);
}
END_TEST

START_TEST(every_preset_is_drawn)
{
    for (size_t i = 0; fr_topo_preset_name(i); i++) {
        char *text = draw(fr_topo_preset_name(i));

        ck_assert_ptr_nonnull(strstr(text, fr_topo_preset_summary(i)));
        ck_assert_uint_ge(count(text, "label=\"gpu"), 4);
        free(text);
    }
}
END_TEST

/* A machine of more than 160 parts is a box; one without PCIe or CPU stands for itself. */
START_TEST(odd_machines_are_drawn_too)
{
    static const struct fr_device_type type = {
        .name = "toy \"gpu\" <b>", .is_gpu = true, .mem_bytes = 1, .source = "test"};
    const struct fr_loc nowhere = {NULL, 0, 0};

    for (unsigned n = 1; n <= 200; n += n < 3 ? 1 : 197) {
        struct fr_topo_builder *b = fr_topo_builder_new();
        uint32_t t = fr_topo_builder_type(b, &type);
        struct fr_topo *topo;
        struct fr_error err;
        char *text;

        for (unsigned i = 0; i < n; i++) {
            char name[16];

            snprintf(name, sizeof(name), "g%u", i);
            fr_topo_builder_vertex(b, FR_VERTEX_GPU, name, 0, t, nowhere);
        }
        ck_assert_int_eq(fr_topo_builder_finish(b, "a \"name\"\\", &topo, &err), FR_OK);
        fr_topo_builder_free(b);
        text = written(write_topo, topo);
        ck_assert_ptr_nonnull(strstr(text, "label=\"a \\\"name\\\"\\\\\\l\""));
        ck_assert_uint_eq(count(text, "label=\"g"), n > 160 ? 0 : n);
        ck_assert_int_eq(strstr(text, "200x toy \\\"gpu\\\" <b>") != NULL, n > 160);
        free(text);
        fr_topo_free(topo);
    }
}
END_TEST

/* ---- graphs ---- */

static struct fr_graph *load_graph(const char *spec)
{
    const struct fr_workload_options opt = {.dtype = FR_N_DTYPES};
    struct fr_graph *g;
    struct fr_error err;

    ck_assert_msg(fr_workload_load(&g, spec, &opt, &err) == FR_OK, "%s", err.text);
    return g;
}

struct wish {
    const struct fr_graph *g;
    struct fr_draw_graph_options opt;
    bool *is_placed;
};

static void write_graph(FILE *f, const void *user)
{
    const struct wish *w = user;
    struct fr_error err;

    ck_assert_msg(fr_draw_graph(f, w->g, &w->opt, w->is_placed, &err) == FR_OK, "%s", err.text);
}

static char *draw_graph(const char *spec, struct fr_draw_graph_options opt, bool *is_placed)
{
    struct wish w = {.g = load_graph(spec), .opt = opt, .is_placed = is_placed};
    char *text = written(write_graph, &w);

    fr_graph_free((struct fr_graph *)w.g);
    return text;
}

/* ResNet-50 (He et al., CVPR 2016, table 1) has stages of 3, 4, 6 and 3 blocks, of which the first is
 * unlike the others; BERT base has 12 equal blocks, GPT-3 96 (Brown et al., NeurIPS 2020, table 2.1),
 * DenseNet-121 6, 12, 24 and 16 that differ (Huang et al., CVPR 2017, table 1). */
START_TEST(equal_blocks_fold_into_one_that_counts_them)
{
    static const struct {
        const char *model, *labels[4];
    } rows[] = {
        {"resnet50",
         {"layer1.1 ... 2  x2", "layer2.1 ... 3  x3", "layer3.1 ... 5  x5", "layer4.1 ... 2  x2"}},
        {"bert-base", {"layer0 ... 11  x12", NULL, NULL, NULL}},
        {"gpt3-175b", {"layer0 ... 95  x96", NULL, NULL, NULL}},
        {"densenet121",
         {"denselayer1 ... 6, 6 different", "denselayer1 ... 12, 12 different",
          "denselayer1 ... 24, 24 different", "denselayer1 ... 16, 16 different"}},
    };
    bool is_placed = false;
    char *text = draw_graph(rows[_i].model, (struct fr_draw_graph_options){0}, &is_placed);

    for (size_t i = 0; i < 4 && rows[_i].labels[i]; i++)
        ck_assert_msg(strstr(text, rows[_i].labels[i]), "%s lacks %s", rows[_i].model,
                      rows[_i].labels[i]);
    ck_assert(is_placed);
    ck_assert_uint_le(count(text, "  f") - count(text, " -> "), 42);
    free(text);
}
END_TEST

/* A GPT of that shape has 4 hidden^2 + 4 hidden parameters in attention's matrices and biases, 8
 * hidden^2 + 5 hidden in the MLP's and 4 hidden in two norms: 12 * 64^2 + 13 * 64 = 49984, twice. */
START_TEST(folded_blocks_sum_up_their_parameters)
{
    bool is_placed;
    char *text = draw_graph("gpt:layers=2,hidden=64,heads=2,seq=16,vocab=100",
                            (struct fr_draw_graph_options){0}, &is_placed);

    ck_assert_ptr_nonnull(strstr(text, "layer0 ... 1  x2"));
    ck_assert_ptr_nonnull(strstr(text, "99.97 K params in all"));
    free(text);
}
END_TEST

START_TEST(every_model_of_the_zoo_fits_a_slide)
{
    for (size_t i = 0; fr_zoo_name(i); i++) {
        bool is_placed = false;
        char *text;

        if (strchr(fr_zoo_name(i), ':') || strstr(fr_zoo_name(i), "-L"))
            continue; /* stands for a family */
        text = draw_graph(fr_zoo_name(i), (struct fr_draw_graph_options){0}, &is_placed);
        ck_assert_msg(count(text, "fillcolor") <= 42, "%s: %zu nodes", fr_zoo_name(i),
                      count(text, "fillcolor"));
        ck_assert_uint_ge(count(text, "fillcolor"), 3);
        free(text);
    }
}
END_TEST

START_TEST(a_layer_shows_its_ops_and_what_stands_beside)
{
    const struct fr_draw_graph_options opt = {.layer = "layer1.0", .is_ops = true};
    bool is_placed;
    char *text = draw_graph("resnet50", opt, &is_placed);

    ck_assert_ptr_nonnull(strstr(text, "label=\"layer1.0.conv1\\nconv2d\\n"));
    ck_assert_ptr_nonnull(strstr(text, "label=\"maxpool\""));        /* read by it */
    ck_assert_ptr_nonnull(strstr(text, "label=\"layer1.1.conv1\"")); /* reads it */
    ck_assert_ptr_null(strstr(text, "layer2"));
    ck_assert_ptr_null(strstr(text, "backward"));
    free(text);
}
END_TEST

START_TEST(phases_choose_the_ops_and_the_flops)
{
    struct fr_draw_graph_options opt = {.layer = "fc6", .is_ops = true};
    bool is_placed;
    char *text;

    opt.has_phase[FR_PHASE_BACKWARD_WEIGHT] = true;
    text = draw_graph("vgg19", opt, &is_placed);
    ck_assert_ptr_nonnull(strstr(text, "backward-weight"));
    ck_assert_ptr_null(strstr(text, "backward-data"));
    free(text);
}
END_TEST

static enum fr_status refuse(const char *model, struct fr_draw_graph_options opt,
                             struct fr_error *err)
{
    struct fr_graph *g = load_graph(model);
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    bool is_placed;
    enum fr_status st;

    ck_assert_ptr_nonnull(f);
    st = fr_draw_graph(f, g, &opt, &is_placed, err);
    fclose(f);
    free(text);
    fr_graph_free(g);
    return st;
}

START_TEST(too_many_ops_and_unknown_layers_are_refused)
{
    struct fr_error err;

    ck_assert_int_eq(refuse("gpt2-xl", (struct fr_draw_graph_options){.is_ops = true}, &err),
                     FR_EUSAGE);
    ck_assert_ptr_nonnull(strstr(err.text, "at most 300 can be read: choose a layer"));
    ck_assert_int_eq(refuse("vgg19", (struct fr_draw_graph_options){.layer = "conv1_11"}, &err),
                     FR_ENOENT);
    ck_assert_str_eq(err.text, "'vgg19' has no layer 'conv1_11', did you mean 'conv1_1'?");
}
END_TEST

/* A name that tries to leave its string, of the graph, a layer and an op. */
START_TEST(hostile_op_names_are_text)
{
    const char *const evil = "a\"] \\N <b>&lt";
    struct fr_graph_builder *b = fr_graph_builder_new();
    struct fr_tensor out = {.bytes = 4, .alias = FR_NONE, .dims = {1}, .n_dims = 1};
    struct fr_graph info = {.name = evil, .batch = 1, .param_elem_bytes = 4}, *g;
    struct fr_op op = {.name = evil, .kind = FR_OP_MATMUL, .phase = FR_PHASE_FORWARD, .flops = 1};
    bool is_placed;
    struct fr_error err;

    op.forward = FR_NONE;
    ck_assert_uint_eq(fr_graph_builder_op(b, &op, evil, &out, 1), 0);
    ck_assert_msg(fr_graph_builder_finish(b, &info, &g, &err) == FR_OK, "%s", err.text);
    for (unsigned is_ops = 0; is_ops < 2; is_ops++) {
        struct wish w = {.g = g, .opt = {.is_ops = is_ops}, .is_placed = &is_placed};
        char *text = written(write_graph, &w);

        ck_assert_ptr_nonnull(strstr(text, "label=\"a\\\"] \\\\N <b>&amp;lt"));
        ck_assert_ptr_null(strstr(text, "\"a\"]"));
        free(text);
    }
    fr_graph_free(g);
    fr_graph_builder_free(b);
}
END_TEST

int main(void)
{
    TCase *c = tcase_create("all");

    tcase_add_loop_test(c, text_from_inputs_stays_inside_its_string, 0, 10);
    tcase_add_loop_test(c, points_are_inches_with_three_decimals, 0, 5);
    tcase_add_test(c, a_dgx1_shows_each_part_and_each_cable_once);
    tcase_add_loop_test(c, equal_machines_fold_into_one_box_that_counts_them, 0, 7);
    tcase_add_test(c, every_preset_is_drawn);
    tcase_add_test(c, odd_machines_are_drawn_too);
    tcase_add_loop_test(c, equal_blocks_fold_into_one_that_counts_them, 0, 4);
    tcase_add_test(c, folded_blocks_sum_up_their_parameters);
    tcase_add_test(c, every_model_of_the_zoo_fits_a_slide);
    tcase_add_test(c, a_layer_shows_its_ops_and_what_stands_beside);
    tcase_add_test(c, phases_choose_the_ops_and_the_flops);
    tcase_add_test(c, too_many_ops_and_unknown_layers_are_refused);
    tcase_add_test(c, hostile_op_names_are_text);
    return run_case(c, "results draw");
}
