/* tests/results/test_draw_graph.c - a model's picture, read as a graph: its nodes and edges are the
 * model's, and no input breaks out of it. */
#include "config.h"

#include "results/draw.h"
#include "tests/support/base_check.h"
#include "tests/support/dot_check.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static struct fr_graph *load_graph(const char *spec)
{
    const struct fr_workload_options opt = {.dtype = FR_N_DTYPES};
    struct fr_graph *g;
    struct fr_error err;

    ck_assert_msg(fr_workload_load(&g, spec, &opt, &err) == FR_OK, "%s", err.text);
    return g;
}

static struct dot_graph *read_drawn(const struct fr_graph *g, struct fr_draw_graph_options opt)
{
    struct fr_drawing *d;
    struct fr_error err;
    struct dot_graph *drawn;

    ck_assert_msg(fr_draw_graph(&d, g, &opt, &err) == FR_OK, "%s", err.text);
    drawn = dot_of(d);
    dot_check_places(drawn);
    return drawn;
}

static struct dot_graph *draw_graph(const char *spec, struct fr_draw_graph_options opt)
{
    struct fr_graph *g = load_graph(spec);
    struct dot_graph *drawn = read_drawn(g, opt);

    fr_graph_free(g);
    return drawn;
}

/* Nodes that are not words about the picture. */
static size_t count_boxes(const struct dot_graph *g)
{
    size_t n = 0;

    for (size_t i = 0; i < g->n_nodes; i++)
        n += dot_is_box(&g->nodes[i]);
    return n;
}

/* All boxes hang together: no layer is left without an edge. */
static void check_edges(const struct dot_graph *g)
{
    for (size_t i = 0; i < g->n_nodes; i++) {
        size_t n = 0;

        for (size_t e = 0; e < g->n_edges; e++)
            n += g->edges[e].from == &g->nodes[i] || g->edges[e].to == &g->nodes[i];
        ck_assert_msg(!dot_is_box(&g->nodes[i]) || n > 0, "'%s' stands alone",
                      dot_attribute(g->nodes[i].attributes, "label"));
        for (size_t e = 0; e < g->n_edges; e++)
            ck_assert_ptr_ne(g->edges[e].from, g->edges[e].to);
    }
}

/* A key of the colours that are there, each once, below all boxes; skips are named where a fold
 * hides them (ResNet's blocks, a transformer's layers) and explained where they are drawn. */
TEST(the_key_explains_each_colour_and_skips_are_shown)
{
    static const struct {
        const char *model;
        size_t n_with_skip; /* boxes that say it */
        bool has_arrow;
    } rows[] = {{"resnet50", 8, false},
                {"vgg19", 0, false},
                {"bert-base", 1, true}, /* its two heads */
                {"transformer-big", 2, true}};

    for (size_t r = 0; r < sizeof(rows) / sizeof(*rows); r++) {
        struct dot_graph *g =
            draw_graph(rows[r].model, (struct fr_draw_graph_options){.layer = NULL});
        size_t n_with_skip = 0, n_arrows = 0;

        for (size_t i = 0; i < g->n_nodes; i++) {
            const struct dot_node *n = &g->nodes[i];
            const char *fill = dot_attribute(n->attributes, "fillcolor");
            const char *label = dot_attribute(n->attributes, "label");
            size_t n_keys = 0;

            n_arrows += strstr(label, "skip past others") != NULL;
            if (!dot_is_box(n))
                continue;
            n_with_skip += strstr(label, "skip connection") != NULL;
            for (size_t k = 0; k < g->n_nodes; k++) {
                const char *of = dot_attribute(g->nodes[k].attributes, "fillcolor");

                if (dot_is_box(&g->nodes[k]) || !of || strcmp(of, fill) != 0)
                    continue;
                n_keys++;
                ck_assert_double_lt(g->nodes[k].y, n->y);
            }
            ck_assert_msg(n_keys == 1, "%s: %zu keys for %s", rows[r].model, n_keys, label);
        }
        ck_assert_uint_eq(n_with_skip, rows[r].n_with_skip);
        ck_assert_uint_eq(n_arrows, rows[r].has_arrow);
        dot_free(g);
    }
}

/* ResNet-50 (He et al., CVPR 2016, table 1) has stages of 3, 4, 6 and 3 blocks, of which the first
 * is unlike the others; BERT base has 12 equal blocks, GPT-3 96 (Brown et al., NeurIPS 2020, table
 * 2.1), DenseNet-121 6, 12, 24 and 16 that differ (Huang et al., CVPR 2017, table 1). */
LOOP_TEST(equal_blocks_fold_into_one_that_counts_them, 0, 4)
{
    static const struct {
        const char *model, *labels[4];
    } rows[] = {
        {"resnet50",
         {"layer1.1 ... 2  x2", "layer2.1 ... 3  x3", "layer3.1 ... 5  x5", "layer4.1 ... 2  x2"}},
        {"bert-base", {"layer0 ... 11  x12", NULL, NULL, NULL}},
        {"gpt3-175b", {"layer0 ... 95  x96", NULL, NULL, NULL}},
        {"densenet121",
         {"denseblock1.denselayer1 ... 6, 6 different",
          "denseblock2.denselayer1 ... 12, 12 different",
          "denseblock3.denselayer1 ... 24, 24 different",
          "denseblock4.denselayer1 ... 16, 16 different"}},
    };
    struct dot_graph *g = draw_graph(rows[_i].model, (struct fr_draw_graph_options){0});

    for (size_t i = 0; i < 4 && rows[_i].labels[i]; i++) {
        char line[64];

        snprintf(line, sizeof(line), "%s\n", rows[_i].labels[i]);
        ck_assert_msg(dot_count(g, line) == 1, "%s has not one '%s'", rows[_i].model, line);
    }
    for (size_t i = 0; i < g->n_nodes; i++)
        ck_assert(g->nodes[i].has_box);
    ck_assert_uint_le(count_boxes(g), 42);
    check_edges(g);
    dot_free(g);
}

/* A GPT of that shape has 4 hidden^2 + 4 hidden parameters in attention's matrices and biases, 8
 * hidden^2 + 5 hidden in the MLP's and 4 hidden in two norms: 12 * 64^2 + 13 * 64 = 49984,
 * twice. */
TEST(folded_blocks_sum_up_their_parameters)
{
    struct dot_graph *g = draw_graph("gpt:layers=2,hidden=64,heads=2,seq=16,vocab=100",
                                     (struct fr_draw_graph_options){0});

    ck_assert_uint_eq(dot_count(g, "layer0 ... 1  x2\n8x16x64\n99.97 K params in all\n"), 1);
    dot_free(g);
}

TEST(every_model_of_the_zoo_fits_a_slide)
{
    for (size_t i = 0; fr_zoo_name(i); i++) {
        struct dot_graph *g;

        if (strchr(fr_zoo_name(i), ':') || strstr(fr_zoo_name(i), "-L"))
            continue; /* stands for a family */
        g = draw_graph(fr_zoo_name(i), (struct fr_draw_graph_options){0});
        ck_assert_msg(count_boxes(g) >= 3 && count_boxes(g) <= 42, "%s: %zu nodes", fr_zoo_name(i),
                      count_boxes(g));
        check_edges(g);
        dot_free(g);
    }
}

TEST(a_layer_shows_its_ops_and_what_stands_beside)
{
    const struct fr_draw_graph_options opt = {.layer = "layer1.0", .is_ops = true};
    struct dot_graph *g = draw_graph("resnet50", opt);
    const struct dot_node *maxpool = dot_labelled(g, "maxpool"); /* read by it */

    dot_labelled(g, "layer1.1.conv1"); /* reads it */
    ck_assert_uint_eq(dot_count(g, "layer1.0.conv1\nconv2d\n"), 1);
    ck_assert_uint_eq(dot_count(g, "layer2"), 0);
    for (size_t i = 0; i < g->n_nodes; i++)
        ck_assert_ptr_null(strstr(dot_attribute(g->nodes[i].attributes, "label"), "backward"));
    for (size_t e = 0; e < g->n_edges; e++)
        ck_assert_ptr_ne(g->edges[e].to, maxpool);
    check_edges(g);
    dot_free(g);
}

TEST(phases_choose_the_ops_and_the_flops)
{
    struct fr_draw_graph_options opt = {.layer = "fc6", .is_ops = true};
    struct dot_graph *g;

    opt.has_phase[FR_PHASE_BACKWARD_WEIGHT] = true;
    g = draw_graph("vgg19", opt);
    ck_assert_uint_eq(dot_count(g, "fc6.wgrad\nmatmul, backward-weight\n"), 1);
    for (size_t i = 0; i < g->n_nodes; i++)
        ck_assert_ptr_null(strstr(dot_attribute(g->nodes[i].attributes, "label"), "backward-data"));
    dot_free(g);
}

static enum fr_status refuse(const char *model, struct fr_draw_graph_options opt,
                             struct fr_error *err)
{
    struct fr_graph *g = load_graph(model);
    struct fr_drawing *d;
    enum fr_status st = fr_draw_graph(&d, g, &opt, err);

    ck_assert_ptr_null(d);
    fr_graph_free(g);
    return st;
}

TEST(too_many_ops_and_unknown_layers_are_refused)
{
    struct fr_error err;

    ck_assert_int_eq(refuse("gpt2-xl", (struct fr_draw_graph_options){.is_ops = true}, &err),
                     FR_EUSAGE);
    ck_assert_ptr_nonnull(strstr(err.text, "at most 300 can be read: choose a layer"));
    ck_assert_int_eq(refuse("vgg19", (struct fr_draw_graph_options){.layer = "conv1_11"}, &err),
                     FR_ENOENT);
    ck_assert_str_eq(err.text, "'vgg19' has no layer 'conv1_11', did you mean 'conv1_1'?");
}

/* A name that tries to leave its string, of the graph, a layer and an op. */
TEST(hostile_op_names_are_text)
{
    const char *const evil = "a\"] \\N <b>&lt";
    struct fr_graph_builder *b = fr_graph_builder_new();
    struct fr_tensor out = {.bytes = 4, .alias = FR_NONE, .dims = {1}, .n_dims = 1};
    struct fr_graph info = {.name = evil, .batch = 1, .param_elem_bytes = 4}, *g;
    struct fr_op op = {.name = evil, .kind = FR_OP_MATMUL, .phase = FR_PHASE_FORWARD, .flops = 1};
    struct fr_error err;

    op.forward = FR_NONE;
    ck_assert_uint_eq(fr_graph_builder_op(b, &op, evil, &out, 1), 0);
    ck_assert_msg(fr_graph_builder_finish(b, &info, &g, &err) == FR_OK, "%s", err.text);
    for (unsigned is_ops = 0; is_ops < 2; is_ops++) {
        struct dot_graph *drawn = read_drawn(g, (struct fr_draw_graph_options){.is_ops = is_ops});

        ck_assert_uint_eq(count_boxes(drawn), 1);
        ck_assert_uint_eq(dot_count(drawn, evil), is_ops ? 1 : 2); /* the layer, the title */
        dot_free(drawn);
    }
    fr_graph_free(g);
    fr_graph_builder_free(b);
}

int main(void)
{
    TCase *c = tcase_create("all");

    add_tests(c);
    return run_case(c, "results draw_graph");
}
