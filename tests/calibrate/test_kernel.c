/* The kernels that ops are: shapes read back from graphs, for models whose layers are known. */
#include "config.h"

#include "calibrate/kernel.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static struct fr_graph *load(const char *model, uint32_t seq_len)
{
    const struct fr_workload_options opt = {.seq_len = seq_len, .dtype = FR_N_DTYPES};
    struct fr_graph *g = NULL;
    struct fr_error err;

    ck_assert_msg(fr_workload_load(&g, model, &opt, &err) == FR_OK, "%s", err.text);
    return g;
}

static uint32_t find_op(const struct fr_graph *g, const char *op)
{
    uint32_t i = 0;

    while (i < g->n_ops && strcmp(g->ops[i].name, op) != 0)
        i++;
    ck_assert_msg(i < g->n_ops, "no op is called %s", op);
    return i;
}

static struct fr__kernel kernel_of(const struct fr_graph *g, const char *op, double batch,
                                   unsigned channel_parts)
{
    const struct fr_part part = {.batch = batch, .channel_parts = channel_parts};
    struct fr__kernel k = {.has_shape = false};

    fr__kernel_of(g, find_op(g, op), &part, &k);
    return k;
}

static void ck_conv(const struct fr_graph *g, const char *op, enum fr_curve_class op_class,
                    const double want[10])
{
    struct fr__kernel k = kernel_of(g, op, 16, 1);
    const double got[10] = {k.shape.conv.images,       k.shape.conv.in_channels,
                            k.shape.conv.height,       k.shape.conv.width,
                            k.shape.conv.out_channels, k.shape.conv.kernel_height,
                            k.shape.conv.kernel_width, k.shape.conv.stride,
                            k.shape.conv.pad,          k.shape.conv.groups};

    ck_assert(k.has_shape);
    ck_assert_int_eq(k.shape.op_class, op_class);
    for (int i = 0; i < 10; i++)
        ck_assert_msg(got[i] == want[i], "%s: size %d is %g, not %g", op, i, got[i], want[i]);
}

/* He et al. 2016, table 1: 7x7/2 with 64 filters on 224x224; in layer2 3x3/2 from 56x56 to 28x28
 * (torchvision's v1.5 strides there) and the 1x1/2 that projects 256 to 512 channels. */
START_TEST(convolutions_of_resnet50_have_their_published_sizes)
{
    struct fr_graph *g = load("resnet50", 0);

    ck_conv(g, "conv1", FR_CURVE_CONV_FORWARD, (double[]){16, 3, 224, 224, 64, 7, 7, 2, 3, 1});
    ck_conv(g, "layer2.0.conv2", FR_CURVE_CONV_FORWARD,
            (double[]){16, 128, 56, 56, 128, 3, 3, 2, 1, 1});
    ck_conv(g, "layer2.0.conv2.dgrad", FR_CURVE_CONV_BACKWARD_DATA,
            (double[]){16, 128, 56, 56, 128, 3, 3, 2, 1, 1});
    ck_conv(g, "layer2.0.downsample.wgrad", FR_CURVE_CONV_BACKWARD_FILTER,
            (double[]){16, 256, 56, 56, 512, 1, 1, 2, 0, 1});
    fr_graph_free(g);
}
END_TEST

/* 11x11/4 with padding 2 from 224 to 55 (Krizhevsky 2014). */
START_TEST(the_first_convolution_of_alexnet_has_a_stride_of_four)
{
    struct fr_graph *g = load("alexnet", 0);

    ck_conv(g, "conv1", FR_CURVE_CONV_FORWARD, (double[]){16, 3, 224, 224, 64, 11, 11, 4, 2, 1});
    fr_graph_free(g);
}
END_TEST

static void ck_matmul(const struct fr_graph *g, const char *op, double batch, const double want[4])
{
    struct fr__kernel k = kernel_of(g, op, batch, 1);
    const double got[4] = {k.shape.matmul.batch, k.shape.matmul.rows, k.shape.matmul.columns,
                           k.shape.matmul.depth};

    ck_assert(k.has_shape);
    ck_assert_int_eq(k.shape.op_class, FR_CURVE_MATMUL);
    for (int i = 0; i < 4; i++)
        ck_assert_msg(got[i] == want[i], "%s: size %d is %g, not %g", op, i, got[i], want[i]);
}

/* fc6 of VGG: 25088 in, 4096 out; 8 samples. */
START_TEST(the_three_products_of_a_linear_layer_turn_its_sizes_around)
{
    struct fr_graph *g = load("vgg16", 0);

    ck_matmul(g, "fc6", 8, (double[]){1, 8, 4096, 25088});
    ck_matmul(g, "fc6.dgrad", 8, (double[]){1, 8, 25088, 4096});
    ck_matmul(g, "fc6.wgrad", 8, (double[]){1, 4096, 25088, 8});
    fr_graph_free(g);
}
END_TEST

/* BERT-large, 4 sequences of 384: 16 heads of 64. The weight gradient of a recurrent layer is one
 * product over all steps: RNNLM has 40 of 2 samples. */
START_TEST(attention_is_a_product_a_head_and_recurrences_sum_over_steps)
{
    struct fr_graph *g = load("bert-large", 384);

    ck_matmul(g, "layer0.attn.scores", 4, (double[]){64, 384, 384, 64});
    ck_matmul(g, "layer0.attn.context", 4, (double[]){64, 384, 64, 384});
    ck_matmul(g, "layer0.attn.q", 4, (double[]){1, 4 * 384, 1024, 1024});
    fr_graph_free(g);
    g = load("rnnlm", 0);
    ck_matmul(g, "layer0.t0.ih", 2, (double[]){1, 2, 8192, 2048});
    ck_matmul(g, "layer0.t0.ih.wgrad", 2, (double[]){1, 8192, 2048, 80});
    fr_graph_free(g);
}
END_TEST

START_TEST(a_share_of_the_channels_narrows_the_product_and_shares_its_arithmetic)
{
    struct fr_graph *g = load("vgg16", 0);
    struct fr__kernel whole = kernel_of(g, "fc6", 8, 1), part = kernel_of(g, "fc6", 8, 4);
    struct fr__kernel conv = kernel_of(g, "conv1_2", 8, 2);
    const struct fr_part inputs = {.batch = 8, .input_parts = 4};

    ck_assert(part.shape.matmul.columns == 1024 && part.shape.matmul.depth == 25088);
    ck_assert_double_eq(part.flops, whole.flops / 4);
    ck_assert(conv.shape.conv.out_channels == 32 && conv.shape.conv.in_channels == 64);
    part = kernel_of(g, "fc6.dgrad", 8, 4); /* each adds up a fourth of the columns */
    ck_assert(part.shape.matmul.columns == 25088 && part.shape.matmul.depth == 1024);
    fr__kernel_of(g, find_op(g, "fc6.dgrad"), &inputs, &part); /* each makes a fourth of them */
    ck_assert(part.shape.matmul.columns == 6272 && part.shape.matmul.depth == 4096);
    fr__kernel_of(g, find_op(g, "conv1_2.dgrad"), &inputs, &part);
    ck_assert(part.shape.conv.in_channels == 16 && part.shape.conv.out_channels == 64);
    fr_graph_free(g);
}
END_TEST

/* Every convolution and product of the image models gives back its own FLOPs from the shape. */
START_TEST(shapes_give_back_the_arithmetic_they_were_read_from)
{
    static const char *const models[] = {"resnet50", "inception-v3", "densenet121", "vgg19",
                                         "alexnet",  "lenet",        "gnmt-2",      "gpt2-small"};
    size_t n = 0;

    for (size_t m = 0; m < sizeof(models) / sizeof(models[0]); m++) {
        struct fr_graph *g = load(models[m], 0);

        for (uint32_t o = 0; o < g->n_ops; o++) {
            const struct fr_part part = {.batch = g->batch};
            struct fr__kernel k;

            fr__kernel_of(g, o, &part, &k);
            if (!k.has_shape || k.shape.op_class != FR_CURVE_MATMUL)
                continue;
            ck_assert_msg(k.shape.matmul.batch * k.shape.matmul.rows * k.shape.matmul.columns *
                                      k.shape.matmul.depth * 2 / k.flops -
                                  1 <
                              1e-9,
                          "%s %s", models[m], g->ops[o].name);
            n++;
        }
        for (uint32_t o = 0; o < g->n_ops; o++)
            if (g->ops[o].kind == FR_OP_CONV2D || g->ops[o].kind == FR_OP_MATMUL) {
                const struct fr_part part = {.batch = g->batch};
                struct fr__kernel k;

                fr__kernel_of(g, o, &part, &k);
                ck_assert_msg(k.has_shape, "%s %s", models[m], g->ops[o].name);
            }
        fr_graph_free(g);
    }
    ck_assert_uint_gt(n, 500);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("all");

    tcase_set_timeout(t, 60);
    tcase_add_test(t, convolutions_of_resnet50_have_their_published_sizes);
    tcase_add_test(t, the_first_convolution_of_alexnet_has_a_stride_of_four);
    tcase_add_test(t, the_three_products_of_a_linear_layer_turn_its_sizes_around);
    tcase_add_test(t, attention_is_a_product_a_head_and_recurrences_sum_over_steps);
    tcase_add_test(t, a_share_of_the_channels_narrows_the_product_and_shares_its_arithmetic);
    tcase_add_test(t, shapes_give_back_the_arithmetic_they_were_read_from);
    return run_case(t, "calibrate/kernel");
}
