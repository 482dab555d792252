/* tests/workloads/test_images.c - windows over images, and models made of convolutions. */
#include "config.h"

#include "workloads/zoo/nn_image.h"
#include "workloads/zoo/zoo.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- ops ---- */

static void begin(struct fr__net *net, uint32_t batch, uint32_t image_size)
{
    ck_assert_int_eq(fr__nn_init(net, batch, 0, FR_FP32, NULL), FR_OK);
    net->image_size = image_size;
}

/* The training graph of a network that ends in x. */
static struct fr_graph *train(struct fr__net *net, struct fr__value x)
{
    struct fr_graph *forward = NULL, *g = NULL;
    struct fr_error err;

    fr__nn_layer(net, "fc");
    fr__nn_cross_entropy(net, fr__nn_linear(net, "", x, 2));
    ck_assert_msg(fr__nn_finish(net, "test", "", &forward, &err) == FR_OK, "%s", err.text);
    fr__nn_fini(net);
    ck_assert_msg(fr_graph_expand_training(forward, &g, &err) == FR_OK, "%s", err.text);
    fr_graph_free(forward);
    return g;
}

static const struct fr_op *get(const struct fr_graph *g, const char *name)
{
    for (size_t i = 0; i < g->n_ops; i++)
        if (strcmp(g->ops[i].name, name) == 0)
            return &g->ops[i];
    ck_abort_msg("no op '%s'", name);
}

static void has_shape(const struct fr_tensor *t, uint32_t channels, uint32_t height, uint32_t width)
{
    ck_assert_uint_eq(t->n_dims, 4);
    ck_assert_uint_eq(t->dims[1], channels);
    ck_assert_uint_eq(t->dims[2], height);
    ck_assert_uint_eq(t->dims[3], width);
    ck_assert_uint_eq(t->bytes, UINT64_C(4) * t->dims[0] * channels * height * width);
}

/* floor((extent + 2 pad - window) / stride) + 1 in each direction (PyTorch, Conv2d). */
START_TEST(a_window_may_be_wider_than_high)
{
    struct fr__net net;
    struct fr__value x, row, column;
    struct fr_graph *g;

    begin(&net, 2, 9);
    x = fr__nn_images(&net, 3);
    has_shape(&x.t, 3, 9, 9);
    fr__nn_layer(&net, "row");
    row = fr__nn_conv(&net, "", x, 5, (struct fr__window){1, 7, 2, 0, 3});
    has_shape(&row.t, 5, 5, 5);
    fr__nn_layer(&net, "column");
    column = fr__nn_conv(&net, "", row, 4, (struct fr__window){5, 1, 1, 1, 0});
    has_shape(&column.t, 4, 3, 5);
    g = train(&net, column);
    ck_assert_uint_eq(get(g, "row")->param_bytes, 4 * 3 * 7 * 5);
    ck_assert_uint_eq(get(g, "column")->param_bytes, 4 * 5 * 5 * 4);
    ck_assert_double_eq(get(g, "row")->flops, 2.0 * (3 * 7) * (2 * 5 * 5 * 5));
    ck_assert_double_eq(get(g, "column")->flops, 2.0 * (5 * 5) * (2 * 4 * 3 * 5));
    fr_graph_free(g);
}
END_TEST

START_TEST(pooling_keeps_the_channels)
{
    struct fr__net net;
    struct fr__value x, most, mean;
    struct fr_graph *g;

    begin(&net, 2, 7);
    x = fr__nn_images(&net, 3);
    fr__nn_layer(&net, "most");
    most = fr__nn_maxpool(&net, "", x, fr__square(3, 2, 1));
    has_shape(&most.t, 3, 4, 4);
    fr__nn_layer(&net, "mean");
    mean = fr__nn_avgpool(&net, "", most, fr__square(2, 2, 0));
    has_shape(&mean.t, 3, 2, 2);
    fr__nn_layer(&net, "grid");
    mean = fr__nn_avgpool_to(&net, "", mean, 6);
    has_shape(&mean.t, 3, 6, 6);
    g = train(&net, mean);
    ck_assert_double_eq(get(g, "most")->flops, 9.0 * 2 * 3 * 16);
    ck_assert_double_eq(get(g, "mean")->flops, 4.0 * 2 * 3 * 4);
    /* reads once and writes once; maxpool also writes int64 indices */
    ck_assert_double_eq(get(g, "most")->bytes, 4 * 2 * 3 * (49 + 16) + 8 * 2 * 3 * 16);
    fr_graph_free(g);
}
END_TEST

START_TEST(a_concatenation_is_a_copy_whose_gradient_is_none)
{
    struct fr__net net;
    struct fr__value parts[3], all;
    struct fr_graph *g;
    const struct fr_op *op;

    begin(&net, 2, 4);
    parts[0] = fr__nn_images(&net, 3);
    fr__nn_layer(&net, "a");
    parts[1] = fr__nn_conv(&net, "", parts[0], 5, fr__square(1, 1, 0));
    fr__nn_layer(&net, "b");
    parts[2] = fr__nn_conv(&net, "", parts[0], 7, fr__square(3, 1, 1));
    fr__nn_layer(&net, "cat");
    all = fr__nn_concat(&net, "", parts, 3);
    has_shape(&all.t, 15, 4, 4);
    g = train(&net, all);
    op = get(g, "cat");
    ck_assert_uint_eq(g->tensors[op->first_tensor].alias, FR_NONE);
    ck_assert_double_eq(op->bytes, 2.0 * (4 * 2 * 15 * 16));
    /* one op gives the gradients of both convolutions' outputs, parts of one storage (PyTorch 1.13,
     * torch/csrc/autograd/FunctionsManual.cpp, cat_tensors_backward: narrow); the images want
     * none */
    op = get(g, "cat.dgrad");
    for (uint32_t k = 0; k < 2; k++)
        ck_assert_uint_eq(g->tensors[op->first_tensor + k].alias, get(g, "fc.dgrad")->first_tensor);
    ck_assert_double_eq(op->bytes, 0);
    ck_assert_double_eq(op->flops, 0);
    ck_assert_uint_eq(op->n_tensors, 2);
    ck_assert_uint_eq(g->tensors[op->first_tensor].bytes, 4 * 2 * 5 * 16);
    ck_assert_uint_eq(g->tensors[op->first_tensor + 1].bytes, 4 * 2 * 7 * 16);
    for (uint32_t i = g->in_first[op - g->ops]; i < g->in_first[op - g->ops + 1]; i++)
        ck_assert_int_ne(g->ops[g->edges[g->in_edges[i]].src].phase, FR_PHASE_FORWARD);
    fr_graph_free(g);
}
END_TEST

/* ---- the size of the images ---- */

static enum fr_status load(struct fr_graph **g, const char *spec, uint32_t image_size,
                           struct fr_error *err)
{
    const struct fr_workload_options opt = {
        .batch = 1, .dtype = FR_N_DTYPES, .image_size = image_size};

    *g = NULL;
    return fr__zoo_load(g, spec, &opt, err);
}

static void refuse(const char *spec, uint32_t image_size, enum fr_status code, const char *text)
{
    struct fr_graph *g;
    struct fr_error err = {0};

    ck_assert_msg(load(&g, spec, image_size, &err) == code, "%s: %s", spec, err.text);
    ck_assert_str_eq(err.text, text);
    ck_assert_ptr_null(g);
}

/* The smallest size that passes is the smallest that torchvision 0.14.1 takes. */
START_TEST(images_too_small_are_refused_at_the_layer_where_they_run_out)
{
    static const struct {
        const char *model;
        uint32_t smallest;
        const char *layer;
    } cases[] = {
        {"alexnet", 63, "pool5"},
        {"vgg11", 32, "pool5"},
        {"vgg19", 32, "pool5"},
        {"densenet121", 29, "transition3.pool"},
        {"inception-v3:aux=0", 75, "Mixed_7a.branch3x3_2"},
        {"inception-v3", 299, "AuxLogits.conv1"},
        {"resnet18", 1, NULL},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fr_graph *g;
        struct fr_error err = {0};
        char layer[64];

        ck_assert_msg(load(&g, cases[i].model, cases[i].smallest, &err) == FR_OK, "%s", err.text);
        fr_graph_free(g);
        if (!cases[i].layer)
            continue;
        ck_assert_int_eq(load(&g, cases[i].model, cases[i].smallest - 1, &err), FR_ERANGE);
        snprintf(layer, sizeof(layer), "layer '%s'", cases[i].layer);
        ck_assert_msg(strstr(err.text, layer) != NULL, "%s: %s", cases[i].model, err.text);
    }
    refuse(
        "vgg16", 31, FR_ERANGE,
        "images of 31x31 are too small: at layer 'pool5' 1x1 of them are left, where a window of "
        "2x2 does not fit");
}
END_TEST

START_TEST(an_image_size_goes_with_models_of_images_only)
{
    struct fr_graph *g;

    refuse("gpt2-small", 224, FR_EUSAGE, "model 'gpt2-small' has no images");
    refuse("lenet", 32, FR_EUSAGE,
           "model 'lenet' takes images of 28x28 only, for its fully connected layers");
    refuse("vgg16", 65537, FR_ERANGE, "an image size of 65537 is over 65536");
    ck_assert_int_eq(load(&g, "lenet", 28, NULL), FR_OK);
    fr_graph_free(g);
    ck_assert_int_eq(load(&g, "vgg16", 65536, NULL), FR_OK);
    fr_graph_free(g);
}
END_TEST

START_TEST(the_size_of_the_images_leaves_the_parameters_alone)
{
    static const char *const models[] = {"alexnet",      "vgg16",        "resnet50",
                                         "wresnet-50-2", "inception-v3", "densenet121"};

    for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++) {
        struct fr_graph *own, *large;
        struct fr_graph_totals t, u;
        struct fr_error err;

        ck_assert_msg(load(&own, models[i], 0, &err) == FR_OK, "%s", err.text);
        ck_assert_msg(load(&large, models[i], 448, &err) == FR_OK, "%s", err.text);
        fr_graph_totals(own, &t);
        fr_graph_totals(large, &u);
        ck_assert_uint_eq(t.params, u.params);
        ck_assert_uint_eq(t.param_tensors, u.param_tensors);
        ck_assert_double_gt(u.flops[FR_PHASE_FORWARD], t.flops[FR_PHASE_FORWARD]);
        fr_graph_free(own);
        fr_graph_free(large);
    }
}
END_TEST

/* ---- models ---- */

/* The weights of convolutions grow with W^2, of the first, the normalisations and the fully
 * connected layer with W, its 1000 biases not at all. From torchvision's ResNets: 9,408 in the
 * first convolution, 53,120, 105,344 and 151,424 in normalisations, 2,048,000 in the last layer. So
 * 152-10 has 57,982,976 * 100 + 2,208,832 * 10 + 1,000 parameters, 5.82e9. */
START_TEST(a_wide_resnet_grows_with_the_square_of_its_width)
{
    static const struct {
        uint64_t depth, squared, linear;
    } nets[] = {{50, 23445504, 9408 + 53120 + 2048000},
                {101, 42385408, 9408 + 105344 + 2048000},
                {152, 57982976, 9408 + 151424 + 2048000}};
    static const uint64_t widths[] = {1, 3, 10};

    for (size_t i = 0; i < 3; i++)
        for (size_t k = 0; k < 3; k++) {
            uint64_t w = widths[k];
            struct fr_graph *g;
            struct fr_graph_totals t;
            struct fr_error err;
            char name[32];

            snprintf(name, sizeof(name), "wresnet-%u-%u", (unsigned)nets[i].depth, (unsigned)w);
            ck_assert_msg(load(&g, name, 0, &err) == FR_OK, "%s", err.text);
            ck_assert_str_eq(g->name, name);
            fr_graph_totals(g, &t);
            ck_assert_uint_eq(t.params, nets[i].squared * w * w + nets[i].linear * w + 1000);
            fr_graph_free(g);
        }
}
END_TEST

START_TEST(a_name_that_does_not_fit_the_pattern_is_refused)
{
    refuse("wresnet-L-W", 0, FR_EUSAGE,
           "'wresnet-L-W' is a pattern, write numbers for its capital letters");
    refuse("wresnet-34-2", 0, FR_ERANGE,
           "model 'wresnet-34-2': L is \"34\", expected 50, 101 or 152");
    refuse("wresnet-50", 0, FR_EPARSE,
           "model 'wresnet-50' has no W, expected wresnet-L-W, for example wresnet-50-4");
    refuse("wresnet-50-0", 0, FR_ERANGE,
           "W of model 'wresnet-L-W' is \"0\", expected a whole number from 1 to 65536");
    refuse("wresnet-50-2-2", 0, FR_EPARSE,
           "W of model 'wresnet-L-W' is \"2-2\", not a whole number");
    refuse("wresnet-50-2:w=1", 0, FR_EUSAGE, "model 'wresnet-L-W' takes no options, found 'w=1'");
    refuse("wresnet-50-"
           "11111111111111111111111111111111111111111111111111111111111111111",
           0, FR_EPARSE, "the name of a 'wresnet-L-W' is over 63 bytes");
    refuse("wresnet-101-65536", 0, FR_ERANGE,
           "'wresnet-101-65536' at batch 1 has a tensor of over 2^53 bytes");
    /* so a folder may have this name */
    ck_assert(!fr__zoo_find("wresnet"));
    ck_assert(!fr__zoo_find("wresnet-mine"));
    ck_assert(!fr__zoo_find("wresnet-"));
}
END_TEST

/* torchvision's reference training adds 0.4 of a second loss; both compare with one set of
 * targets. */
START_TEST(inception_ends_in_two_losses_unless_told_otherwise)
{
    struct fr_graph *with, *without;
    struct fr_graph_totals t;
    struct fr_error err;
    size_t n_losses = 0;

    ck_assert_int_eq(load(&with, "inception-v3", 0, &err), FR_OK);
    ck_assert_int_eq(load(&without, "inception-v3:aux=0", 0, &err), FR_OK);
    for (size_t i = 0; i < with->n_ops; i++)
        n_losses += with->ops[i].kind == FR_OP_LOSS && with->ops[i].phase == FR_PHASE_FORWARD;
    ck_assert_uint_eq(n_losses, 2);
    get(with, "AuxLogits.loss.dgrad");
    fr_graph_totals(with, &t);
    ck_assert_uint_eq(t.ops[FR_PHASE_INPUT], 2);
    /* the pool, two convolutions with norm and ReLU, the mean, fc, its bias, log-softmax, the
     * loss */
    ck_assert_uint_eq(t.ops[FR_PHASE_FORWARD], 316 + 1 + 2 * 3 + 1 + 2 + 2);
    fr_graph_totals(without, &t);
    /* 94 convolutions with norm and ReLU, 4 maxima and 10 means, 11 blocks' concatenations and 4
     * within the last two, dropout, fc, its bias, log-softmax, the loss */
    ck_assert_uint_eq(t.ops[FR_PHASE_FORWARD], 94 * 3 + 4 + 10 + 11 + 4 + 5);
    fr_graph_free(with);
    fr_graph_free(without);
}
END_TEST

/* Each of a block's L layers reads all features before it, and so does its end: block input and the
 * outputs of L layers are read L + 1, L, ..., 1 times, which takes L + (L - 1) + ... + 0 sums of
 * their gradients; blocks of 6, 12, 24 and 16 layers. */
START_TEST(a_densenet_sums_the_gradients_of_every_reader)
{
    struct fr_graph *g;
    struct fr_error err;
    unsigned n_sums = 0;

    ck_assert_int_eq(load(&g, "densenet121", 0, &err), FR_OK);
    for (size_t i = 0; i < g->n_ops; i++)
        n_sums += g->ops[i].kind == FR_OP_GRAD_ADD;
    ck_assert_uint_eq(n_sums, (6 * 7 + 12 * 13 + 24 * 25 + 16 * 17) / 2);
    fr_graph_free(g);
}
END_TEST

/* LeNet at batch 1, by hand.
 *
 * FLOPs forward: those of the layer's product, 1 for each output for the bias, and 1 for ReLU; a
 * 2x2 maximum 4 for each output; log-softmax 5 for each output, the loss 1 for each sample.
 * Backward: twice the product (once for conv1, because nobody needs the gradient of the images), 1
 * each for bias and ReLU; a maximum 1 for each output; the last two 4 for each output and 1.
 *
 * Bytes that are kept: images and outputs of ReLU 4 for each element, outputs of a maximum 4 and 8
 * for the index; log-probabilities 40, target 8, weight sum 4. */
START_TEST(a_layer_has_the_totals_worked_out_by_hand)
{
    static const struct {
        const char *name;
        uint64_t params, param_tensors, saved_bytes;
        double forward_flops, backward_flops;
        const char *kinds;
        uint32_t dims[4];
    } layers[] = {
        {"input", 0, 0, 3136, 0, 0, "input", {1, 1, 28, 28}},
        {"conv1", 156, 2, 18816, 244608, 244608, "conv2d bias relu", {1, 6, 28, 28}},
        {"pool1", 0, 0, 14112, 4704, 1176, "maxpool", {1, 6, 14, 14}},
        {"conv2", 2416, 2, 6400, 483200, 963200, "conv2d bias relu", {1, 16, 10, 10}},
        {"pool2", 0, 0, 4800, 1600, 400, "maxpool", {1, 16, 5, 5}},
        {"fc3", 48120, 2, 480, 96240, 192240, "matmul bias relu", {1, 120, 0, 0}},
        {"fc4", 10164, 2, 336, 20328, 40488, "matmul bias relu", {1, 84, 0, 0}},
        {"fc5", 850, 2, 0, 1690, 3370, "matmul bias", {1, 10, 0, 0}},
        {"loss", 0, 0, 52, 51, 41, "log_softmax input loss", {1, 0, 0, 0}},
    };
    enum { N_LAYERS = sizeof(layers) / sizeof(layers[0]) };
    struct fr_layer_totals t[N_LAYERS];
    struct fr_graph *g;

    ck_assert_int_eq(load(&g, "lenet", 0, NULL), FR_OK);
    ck_assert_uint_eq(g->n_layers, N_LAYERS);
    ck_assert_int_eq(fr_graph_layer_totals(g, t, NULL), FR_OK);
    for (size_t i = 0; i < N_LAYERS; i++) {
        char kinds[64] = "";

        for (unsigned k = 0; k < t[i].n_kinds; k++)
            snprintf(kinds + strlen(kinds), sizeof(kinds) - strlen(kinds), "%s%s", k ? " " : "",
                     fr_op_kind_name(t[i].kinds[k]));
        ck_assert_str_eq(g->layer_names[i], layers[i].name);
        ck_assert_str_eq(kinds, layers[i].kinds);
        ck_assert_uint_eq(t[i].params, layers[i].params);
        ck_assert_uint_eq(t[i].param_tensors, layers[i].param_tensors);
        ck_assert_uint_eq(t[i].saved_bytes, layers[i].saved_bytes);
        ck_assert_double_eq(t[i].forward_flops, layers[i].forward_flops);
        ck_assert_double_eq(t[i].backward_flops, layers[i].backward_flops);
        for (unsigned d = 0; d < 4; d++)
            ck_assert_uint_eq(g->tensors[t[i].output].dims[d], layers[i].dims[d]);
    }
    fr_graph_free(g);
}
END_TEST

/* FLOPs are whole numbers below 2^53 here, so that sums are exact in any order. */
START_TEST(layers_sum_up_to_the_graph)
{
    static const char *const models[] = {"vgg19", "resnet50", "inception-v3", "densenet121",
                                         "gpt2-small"};

    for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++) {
        struct fr_graph *g;
        struct fr_graph_totals whole;
        struct fr_layer_totals sum = {0}, *t;

        ck_assert_int_eq(load(&g, models[i], 0, NULL), FR_OK);
        t = calloc(g->n_layers, sizeof(*t));
        ck_assert_ptr_nonnull(t);
        ck_assert_int_eq(fr_graph_layer_totals(g, t, NULL), FR_OK);
        fr_graph_totals(g, &whole);
        for (size_t k = 0; k < g->n_layers; k++) {
            sum.params += t[k].params;
            sum.param_bytes += t[k].param_bytes;
            sum.param_tensors += t[k].param_tensors;
            sum.saved_bytes += t[k].saved_bytes;
            sum.forward_flops += t[k].forward_flops;
            sum.backward_flops += t[k].backward_flops;
            sum.n_ops += t[k].n_ops;
        }
        ck_assert_uint_eq(sum.params, whole.params);
        ck_assert_uint_eq(sum.param_bytes, whole.param_bytes);
        ck_assert_uint_eq(sum.param_tensors, whole.param_tensors);
        ck_assert_uint_eq(sum.saved_bytes, whole.saved_bytes);
        ck_assert_double_eq(sum.forward_flops, whole.flops[FR_PHASE_FORWARD]);
        ck_assert_double_eq(sum.backward_flops, whole.flops[FR_PHASE_BACKWARD_DATA] +
                                                    whole.flops[FR_PHASE_BACKWARD_WEIGHT]);
        ck_assert_uint_eq(sum.n_ops, whole.ops[FR_PHASE_FORWARD] + whole.ops[FR_PHASE_INPUT]);
        free(t);
        fr_graph_free(g);
    }
}
END_TEST

/* Wider layers are larger ops, not more of them: the widest of the zoo is made of as many as
 * ResNet-152. */
START_TEST(width_adds_no_ops)
{
    struct fr_graph *narrow, *wide;
    struct fr_error err;

    ck_assert_int_eq(load(&narrow, "resnet152", 0, &err), FR_OK);
    ck_assert_int_eq(load(&wide, "wresnet-152-10", 0, &err), FR_OK);
    ck_assert_uint_eq(wide->n_ops, narrow->n_ops);
    fr_graph_free(narrow);
    fr_graph_free(wide);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *s = suite_create("workloads/images");
    TCase *ops = tcase_create("ops"), *size = tcase_create("size"),
          *models = tcase_create("models");

    tcase_add_test(ops, a_window_may_be_wider_than_high);
    tcase_add_test(ops, pooling_keeps_the_channels);
    tcase_add_test(ops, a_concatenation_is_a_copy_whose_gradient_is_none);
    tcase_add_test(size, images_too_small_are_refused_at_the_layer_where_they_run_out);
    tcase_add_test(size, an_image_size_goes_with_models_of_images_only);
    tcase_add_test(size, the_size_of_the_images_leaves_the_parameters_alone);
    tcase_add_test(models, a_wide_resnet_grows_with_the_square_of_its_width);
    tcase_add_test(models, a_name_that_does_not_fit_the_pattern_is_refused);
    tcase_add_test(models, inception_ends_in_two_losses_unless_told_otherwise);
    tcase_add_test(models, a_densenet_sums_the_gradients_of_every_reader);
    tcase_add_test(models, a_layer_has_the_totals_worked_out_by_hand);
    tcase_add_test(models, layers_sum_up_to_the_graph);
    tcase_add_test(models, width_adds_no_ops);
    suite_add_tcase(s, ops);
    suite_add_tcase(s, size);
    suite_add_tcase(s, models);
    return s;
}

int main(void)
{
    return run_suite(make_suite());
}
