/* tests/results/test_draw_graph.c - a model's picture, read as a graph: its nodes and edges are the
 * model's, and no input breaks out of it. */
#include "config.h"

#include "results/draw.h"
#include "tests/support/base_check.h"
#include "tests/support/drawing_check.h"

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

static struct fr_drawing *read_drawn(const struct fr_graph *g, struct fr_draw_graph_options opt)
{
    struct fr_drawing *d;
    struct fr_error err;

    ck_assert_msg(fr_draw_graph(&d, g, &opt, &err) == FR_OK, "%s", err.text);
    drawing_check_places(d);
    return d;
}

static struct fr_drawing *draw_graph(const char *spec, struct fr_draw_graph_options opt)
{
    struct fr_graph *g = load_graph(spec);
    struct fr_drawing *drawn = read_drawn(g, opt);

    fr_graph_free(g);
    return drawn;
}

/* Nodes that are not words about the picture. */
static size_t count_boxes(const struct fr_drawing *d)
{
    size_t n = 0;

    for (const struct fr__box *b = d->boxes; b; b = b->next)
        n += drawing_is_node(b);
    return n;
}

/* All boxes hang together: no layer is left without an edge. */
static void check_edges(const struct fr_drawing *d)
{
    for (const struct fr__box *b = d->boxes; b; b = b->next) {
        size_t n = 0;

        for (const struct fr__wire *w = d->wires; w; w = w->next)
            n += w->from == b || w->to == b;
        ck_assert_msg(!drawing_is_node(b) || n > 0, "'%s' stands alone", b->text);
    }
    for (const struct fr__wire *w = d->wires; w; w = w->next)
        ck_assert_ptr_ne(w->from, w->to);
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
        struct fr_drawing *d =
            draw_graph(rows[r].model, (struct fr_draw_graph_options){.layer = NULL});
        size_t n_with_skip = 0, n_arrows = 0;

        for (const struct fr__box *n = d->boxes; n; n = n->next) {
            const char *fill = n->fill;
            const char *label = n->text;
            size_t n_keys = 0;

            n_arrows += strstr(label, "skip past others") != NULL;
            if (!drawing_is_node(n))
                continue;
            n_with_skip += strstr(label, "skip connection") != NULL;
            for (const struct fr__box *k = d->boxes; k; k = k->next) {
                const char *of = k->fill;

                if (drawing_is_node(k) || !of || strcmp(of, fill) != 0)
                    continue;
                n_keys++;
                ck_assert_double_lt(k->y, n->y);
            }
            ck_assert_msg(n_keys == 1, "%s: %zu keys for %s", rows[r].model, n_keys, label);
        }
        ck_assert_uint_eq(n_with_skip, rows[r].n_with_skip);
        ck_assert_uint_eq(n_arrows, rows[r].has_arrow);
        fr_drawing_free(d);
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
    struct fr_drawing *d = draw_graph(rows[_i].model, (struct fr_draw_graph_options){0});

    for (size_t i = 0; i < 4 && rows[_i].labels[i]; i++) {
        char line[64];

        snprintf(line, sizeof(line), "%s\n", rows[_i].labels[i]);
        ck_assert_msg(drawing_count(d, line) == 1, "%s has not one '%s'", rows[_i].model, line);
    }
    for (const struct fr__box *n = d->boxes; n; n = n->next)
        ck_assert(n->shape == FR__WORDS || n->w > 0);
    ck_assert_uint_le(count_boxes(d), 42);
    check_edges(d);
    fr_drawing_free(d);
}

/* A GPT of that shape has 4 hidden^2 + 4 hidden parameters in attention's matrices and biases, 8
 * hidden^2 + 5 hidden in the MLP's and 4 hidden in two norms: 12 * 64^2 + 13 * 64 = 49984,
 * twice. */
TEST(folded_blocks_sum_up_their_parameters)
{
    struct fr_drawing *d = draw_graph("gpt:layers=2,hidden=64,heads=2,seq=16,vocab=100",
                                      (struct fr_draw_graph_options){0});

    ck_assert_uint_eq(drawing_count(d, "layer0 ... 1  x2\n8x16x64\n99.97 K params in all\n"), 1);
    fr_drawing_free(d);
}

TEST(every_model_of_the_zoo_fits_a_slide)
{
    for (size_t i = 0; fr_zoo_name(i); i++) {
        struct fr_drawing *d;

        if (strchr(fr_zoo_name(i), ':') || strstr(fr_zoo_name(i), "-L"))
            continue; /* stands for a family */
        d = draw_graph(fr_zoo_name(i), (struct fr_draw_graph_options){0});
        ck_assert_msg(count_boxes(d) >= 3 && count_boxes(d) <= 42, "%s: %zu nodes", fr_zoo_name(i),
                      count_boxes(d));
        check_edges(d);
        fr_drawing_free(d);
    }
}

TEST(a_layer_shows_its_ops_and_what_stands_beside)
{
    const struct fr_draw_graph_options opt = {.layer = "layer1.0", .is_ops = true};
    struct fr_drawing *d = draw_graph("resnet50", opt);
    const struct fr__box *maxpool = drawing_labelled(d, "maxpool"); /* read by it */

    drawing_labelled(d, "layer1.1.conv1"); /* reads it */
    ck_assert_uint_eq(drawing_count(d, "layer1.0.conv1\nconv2d\n"), 1);
    ck_assert_uint_eq(drawing_count(d, "layer2"), 0);
    for (const struct fr__box *n = d->boxes; n; n = n->next)
        ck_assert_ptr_null(strstr(n->text, "backward"));
    for (const struct fr__wire *w = d->wires; w; w = w->next)
        ck_assert_ptr_ne(w->to, maxpool);
    check_edges(d);
    fr_drawing_free(d);
}

TEST(phases_choose_the_ops_and_the_flops)
{
    struct fr_draw_graph_options opt = {.layer = "fc6", .is_ops = true};
    struct fr_drawing *d;

    opt.has_phase[FR_PHASE_BACKWARD_WEIGHT] = true;
    d = draw_graph("vgg19", opt);
    ck_assert_uint_eq(drawing_count(d, "fc6.wgrad\nmatmul, backward-weight\n"), 1);
    for (const struct fr__box *n = d->boxes; n; n = n->next)
        ck_assert_ptr_null(strstr(n->text, "backward-data"));
    fr_drawing_free(d);
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
        struct fr_drawing *drawn = read_drawn(g, (struct fr_draw_graph_options){.is_ops = is_ops});

        ck_assert_uint_eq(count_boxes(drawn), 1);
        ck_assert_uint_eq(drawing_count(drawn, evil), 2); /* the op or the layer, the title */
        fr_drawing_free(drawn);
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
