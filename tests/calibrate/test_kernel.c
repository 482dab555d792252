/* The kernels that ops are, of models whose layers are known, from shapes and from guesses. */
#include "config.h"

#include "calibrate/cost/kernel.h"
#include "calibrate/cost/per_image.h"
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
TEST(convolutions_of_resnet50_have_their_published_sizes)
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

/* 11x11/4 with padding 2 from 224 to 55 (Krizhevsky 2014). */
TEST(the_first_convolution_of_alexnet_has_a_stride_of_four)
{
    struct fr_graph *g = load("alexnet", 0);

    ck_conv(g, "conv1", FR_CURVE_CONV_FORWARD, (double[]){16, 3, 224, 224, 64, 11, 11, 4, 2, 1});
    fr_graph_free(g);
}

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
TEST(the_three_products_of_a_linear_layer_turn_its_sizes_around)
{
    struct fr_graph *g = load("vgg16", 0);

    ck_matmul(g, "fc6", 8, (double[]){1, 8, 4096, 25088});
    ck_matmul(g, "fc6.dgrad", 8, (double[]){1, 8, 25088, 4096});
    ck_matmul(g, "fc6.wgrad", 8, (double[]){1, 4096, 25088, 8});
    fr_graph_free(g);
}

/* BERT-large, 4 sequences of 384: 16 heads of 64. The weight gradient of a recurrent layer is one
 * product over all steps: RNNLM has 40 of 2 samples. */
TEST(attention_is_a_product_a_head_and_recurrences_sum_over_steps)
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

TEST(a_share_of_the_channels_narrows_the_product_and_shares_its_arithmetic)
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

/* Every convolution and product of the image models gives back its own FLOPs from the shape. */
TEST(shapes_give_back_the_arithmetic_they_were_read_from)
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

/* ---- grouped-query attention ---- */

/* Llama 2 70B in bf16, batch 8, 4096 tokens, 64 heads of 128, 8 key-value heads (Touvron et al.,
 * 2023, table 1). Queries and output are 8 x 4096 x 64 x 128 numbers of 2 bytes each, together
 * 1,073,741,824 bytes; keys and values an eighth of that, 134,217,728; a sum of 4 bytes a row and
 * head 8,388,608. Half of two products: 2 x 8 x 64 x 4096^2 x 128 FLOPs. */
TEST(grouped_query_attention_reads_the_keys_and_values_of_its_groups)
{
    const struct fr_workload_options opt = {.dtype = FR_BF16};
    const struct fr_part sixteenth = {.batch = 8, .channel_parts = 16};
    struct fr_graph *g = NULL;
    struct fr_error err;
    struct fr__kernel k;
    double kv_bytes;

    ck_assert_int_eq(fr_workload_load(&g, "llama2-70b", &opt, &err), FR_OK);
    k = kernel_of(g, "layer0.attn.flash", 8, 1);
    ck_assert(k.has_shape && k.shape.attention.is_causal);
    ck_assert_double_eq(k.bytes, 1073741824.0 + 134217728 + 8388608);
    ck_assert_double_eq(k.flops, 2.0 * 8 * 64 * 4096 * 4096 * 128);
    kv_bytes = 2 * k.shape.attention.batch * k.shape.attention.seq * k.shape.attention.kv_heads *
               k.shape.attention.head_dim * k.element_bytes;
    ck_assert_double_eq(kv_bytes, 134217728);
    ck_assert_double_eq(k.shape.attention.heads, 64);
    k = kernel_of(g, "layer0.attn.flash.dgrad", 8, 1);
    ck_assert_double_eq(k.shape.attention.kv_heads, 8);
    fr__kernel_of(g, find_op(g, "layer0.attn.flash"), &sixteenth, &k); /* 4 heads of one group */
    ck_assert_double_eq(k.shape.attention.heads, 4);
    ck_assert_double_eq(k.shape.attention.kv_heads, 1);
    fr_graph_free(g);
}

/* A query of 4096 sees 1024 - 1024^2 / (2 x 4096) = 896 keys of a window of 1024: as many scores as
 * 4096 / 896 sequences of 896 have, and as many queries. Of pieces of 1024 it sees 512. Latent
 * attention has keys of 192 and values of 128: as many FLOPs as a width of 160, and in the
 * gradient, which has three products of the one and two of the other, of 166.4. */
TEST(windows_and_latent_attention_have_the_kernel_of_their_scores)
{
#define SMALL "decoder:layers=1,hidden=64,ffn=64,heads=4,kv_heads=4,head_width=64,vocab=100,"
    struct fr_graph *g = load(SMALL "mixers=w,window=1024", 4096);
    struct fr__kernel k = kernel_of(g, "layer0.attn.flash", 2, 1);

    ck_assert(k.has_shape && !k.shape.attention.is_causal);
    ck_assert_double_eq(k.shape.attention.seq, 896);
    ck_assert_double_eq_tol(k.shape.attention.batch * 896, 2 * 4096, 1e-9);
    ck_assert_double_eq(k.flops, 4.0 * 2 * 4096 * 896 * 256);
    fr_graph_free(g);
    g = load(SMALL "mixers=c,window=1024", 4096);
    k = kernel_of(g, "layer0.attn.flash", 2, 1);
    ck_assert_double_eq(k.shape.attention.seq, 512);
    fr_graph_free(g);
    g = load(SMALL "kv_rank=16,rope_width=64,nope_width=128,value_width=128", 4096);
    k = kernel_of(g, "layer0.attn.flash", 2, 1);
    ck_assert_double_eq(k.shape.attention.head_dim, 160);
    k = kernel_of(g, "layer0.attn.flash.dgrad", 2, 1);
    ck_assert_double_eq(k.shape.attention.head_dim, 166.4);
    fr_graph_free(g);
#undef SMALL
}

/* Seconds of an op of a model on a preset's first GPU. */
static double op_s(const char *preset, const char *model, const char *op, double batch,
                   enum fr_dtype dtype)
{
    const struct fr_workload_options opt = {.dtype = dtype};
    const struct fr_part part = {.batch = batch};
    const struct fr_cost_options options = {.datasheet_only = false};
    struct fr_cost_model *m = NULL;
    struct fr_graph *g = NULL;
    struct fr_topo *t = NULL;
    struct fr_error err;
    struct fr_cost c;

    ck_assert_int_eq(fr_topo_load(&t, preset, &err), FR_OK);
    ck_assert_int_eq(fr_cost_model_new(&m, t->types, t->n_types, &options, &err), FR_OK);
    ck_assert_int_eq(fr_workload_load(&g, model, &opt, &err), FR_OK);
    fr_cost_op(m, t->devices[0].type, g, find_op(g, op), &part, &c);
    fr_graph_free(g);
    fr_cost_model_free(m);
    fr_topo_free(t);
    return c.mean_s;
}

static double attention_s(const char *preset, const char *model, const char *op, double batch)
{
    return op_s(preset, model, op, batch, FR_BF16);
}

/* What kv_heads means for the time: Llama 3 8B's 32 heads with 8 key-value heads against 32. Short
 * sequences are bound by what they read. */
TEST(fewer_key_value_heads_take_less_time)
{
    static const char op[] = "layer0.attn.flash";

    ck_assert_double_lt(attention_s("hgx-h100", "llama:layers=1,seq=512,kv_heads=8", op, 64),
                        0.97 *
                            attention_s("hgx-h100", "llama:layers=1,seq=512,kv_heads=32", op, 64));
}

/* FlashAttention-3's own figures 5 and 6 (J. Shah et al., 2024): an H100 at 16384 tokens, heads of
 * 128, causal, 616 Tflop/s forward; without a mask the backward pass takes 2.5 * 648 / 561 times as
 * long at 16384 tokens and 2.5 * 625 / 501 times at 2048. */
TEST(attention_in_training_runs_at_published_rates)
{
    static const struct {
        const char *model;
        double seq, batch, forward, ratio;
    } cases[] = {{"llama:layers=1,hidden=2048,heads=16,kv_heads=16,seq=16384", 16384, 1, 616,
                  2.5 * 648 / 561},
                 {"llama:layers=1,hidden=2048,heads=16,kv_heads=16,seq=2048", 2048, 8, 521,
                  2.5 * 625 / 501}};

    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        double seq = cases[i].seq, flops = 4 * cases[i].batch * 2048 * seq * seq / 2;
        double s = attention_s("hgx-h100", cases[i].model, "layer0.attn.flash", cases[i].batch);
        double back_s =
            attention_s("hgx-h100", cases[i].model, "layer0.attn.flash.dgrad", cases[i].batch);

        ck_assert_double_eq_tol(flops / s / 1e12 / cases[i].forward, 1, 0.15);
        ck_assert_double_eq_tol(back_s / s / cases[i].ratio, 1, 0.06);
    }
}

/* Figures 5 and 6 of the same paper: FlashAttention-2 on an H100 at 8192 tokens with heads of 128
 * has 333 of 602 Tflop/s, causal, and 318 of 559 backward. An A100's curve is of the second
 * generation; the first takes about twice as long (T. Dao, FlashAttention-2, abstract). */
TEST(older_generations_of_attention_take_longer_by_published_ratios)
{
    static const char *const ops[] = {"layer0.attn.flash", "layer0.attn.flash.dgrad"};
    static const double ratios[] = {602.0 / 333, 559.0 / 318};
#define LLAMA "llama:layers=1,hidden=2048,heads=16,kv_heads=16,seq=8192,attention="

    for (unsigned i = 0; i < 2; i++) {
        double second_s = attention_s("dgx-a100-80g", LLAMA "flash-2", ops[i], 2);
        double third_s = attention_s("hgx-h100", LLAMA "flash-3", ops[i], 2);

        ck_assert_double_eq(attention_s("dgx-a100-80g", LLAMA "flash", ops[i], 2), second_s);
        ck_assert_double_eq(attention_s("dgx-a100-80g", LLAMA "flash-3", ops[i], 2), second_s);
        ck_assert_double_eq_tol(attention_s("dgx-a100-80g", LLAMA "flash-1", ops[i], 2),
                                2 * second_s, 1e-12);
        ck_assert_double_eq(attention_s("hgx-h100", LLAMA "flash", ops[i], 2), third_s);
        ck_assert_double_eq_tol(
            attention_s("hgx-h100", LLAMA "flash-2", ops[i], 2) / third_s / ratios[i], 1, 0.06);
        ck_assert_double_gt(attention_s("hgx-b200", LLAMA "flash-2", ops[i], 2),
                            2 * attention_s("hgx-b200", LLAMA "flash", ops[i], 2));
    }
#undef LLAMA
}

/* sarchlab/triosim's trace of ResNet-50 on an H100 with 128 images: batch norm of 64 channels of
 * 112 x 112 takes 962 us forward and 2151 us backward, that of 256 channels of 56 x 56 488 and 842
 * us, though both have as many bytes. In 16 bits images lie pixel by pixel. */
TEST(batch_norm_of_few_channels_leaves_multiprocessors_idle)
{
    double few_s = op_s("hgx-h100", "resnet50", "conv1.bn", 128, FR_FP32);
    double many_s = op_s("hgx-h100", "resnet50", "layer1.0.conv3.bn", 128, FR_FP32);
    double few_back_s = op_s("hgx-h100", "resnet50", "conv1.bn.dgrad", 128, FR_FP32) +
                        op_s("hgx-h100", "resnet50", "conv1.bn.wgrad", 128, FR_FP32);

    ck_assert_double_eq_tol(few_s / 962e-6, 1, 0.2);
    ck_assert_double_eq_tol(many_s / 488e-6, 1, 0.2);
    ck_assert_double_eq_tol(few_back_s / 2151e-6, 1, 0.25);
    ck_assert_double_eq_tol(op_s("hgx-h100", "resnet50", "conv1.bn", 128, FR_AMP),
                            op_s("hgx-h100", "resnet50", "layer1.0.conv3.bn", 128, FR_AMP), 1e-7);
}

/* A first layer has 3 channels. cuDNN 8, which an A100 needs, pads them to 8; a V100's kernels of
 * 2017 do not. */
TEST(a_first_layer_in_16_bits_is_padded_where_the_library_does)
{
    double peak_flops_per_s = 312e12, flops = 2.0 * 64 * 112 * 112 * 64 * 8 * 49;
    double s = op_s("dgx-a100-80g", "resnet50", "conv1", 64, FR_AMP);

    ck_assert_double_lt(s, 0.8 * op_s("dgx-a100-80g", "resnet50", "conv1", 64, FR_TF32));
    ck_assert_double_gt(s, flops / peak_flops_per_s);
}

/* sarchlab/triosim's trace of ResNet-50 on an H100 with 128 images in tf32, sums of kernels: the
 * gradients of a 1 x 1 layer with images of 14 x 14, 277 us; of a first layer's filter, 1100 us.
 * The images are products of their own (per_image.h): as many pixels in fewer images fill tiles
 * better, and 128 sums of the filter's gradient make that one slower than the input's. */
TEST(gradients_of_1_x_1_layers_in_tf32_are_a_product_an_image)
{
    double data_s = op_s("hgx-h100", "resnet50", "layer3.1.conv3.dgrad", 128, FR_TF32);
    double filter_s = op_s("hgx-h100", "resnet50", "layer3.1.conv3.wgrad", 128, FR_TF32);
    double first_s = op_s("hgx-h100", "resnet50", "conv1.wgrad", 128, FR_TF32);

    ck_assert_double_gt(filter_s, 1.5 * data_s);
    ck_assert_double_eq_tol((data_s + filter_s) / 277e-6, 1, 0.25);
    ck_assert_double_eq_tol(first_s / 1100e-6, 1, 0.25);
}

/* 256 channels of 14 x 14 to 1024, 32 images: 32 products of [1024][256] by [256][196]; the
 * filter's gradient is 32 sums of 1024 x 256 numbers of 4 bytes, 33554432. */
TEST(a_1_x_1_filter_is_a_batch_of_matrix_products)
{
    struct fr_kernel_shape k = {.op_class = FR_CURVE_CONV_FORWARD,
                                .conv = {.images = 32,
                                         .in_channels = 256,
                                         .out_channels = 1024,
                                         .height = 14,
                                         .width = 14,
                                         .out_height = 14,
                                         .out_width = 14,
                                         .kernel_height = 1,
                                         .kernel_width = 1,
                                         .stride = 1,
                                         .groups = 1}};
    struct fr_kernel_shape p;

    ck_assert(fr__is_per_image(&k));
    ck_assert_double_eq(fr__per_image_product(&k, &p), 0);
    ck_assert_double_eq(p.matmul.batch, 32);
    ck_assert_double_eq(p.matmul.rows, 1024);
    ck_assert_double_eq(p.matmul.columns, 196);
    ck_assert_double_eq(p.matmul.depth, 256);
    k.op_class = FR_CURVE_CONV_BACKWARD_DATA;
    ck_assert_double_eq(fr__per_image_product(&k, &p), 0);
    ck_assert_double_eq(p.matmul.rows, 256);
    ck_assert_double_eq(p.matmul.depth, 1024);
    k.op_class = FR_CURVE_CONV_BACKWARD_FILTER;
    ck_assert_double_eq(fr__per_image_product(&k, &p), 33554432);
    ck_assert_double_eq(p.matmul.columns, 256);
    ck_assert_double_eq(p.matmul.depth, 196);
    k.conv.images = 1;
    ck_assert_double_eq(fr__per_image_product(&k, &p), 0);
    k.conv.out_height = k.conv.out_width = 7; /* rows of 49 numbers are no multiples of 16 bytes */
    ck_assert(!fr__is_per_image(&k));
    k.conv.out_height = 8;
    ck_assert(fr__is_per_image(&k));
    k.conv.groups = 2;
    ck_assert(!fr__is_per_image(&k));
    k.conv.groups = 1;
    k.conv.stride = 2;
    ck_assert(!fr__is_per_image(&k));
}

/* A strided layer's gradient of the input multiplies some of the zeros between its pixels; that of
 * the filter has none to multiply. */
TEST(gradients_of_strided_layers_waste_work_as_products_too)
{
    double data_s = op_s("hgx-h100", "resnet50", "layer2.0.conv2.dgrad", 128, FR_AMP);
    double filter_s = op_s("hgx-h100", "resnet50", "layer2.0.conv2.wgrad", 128, FR_AMP);

    ck_assert_double_gt(data_s, 1.15 * filter_s);
    ck_assert_double_lt(data_s, 4 * filter_s);
}

/* baidu-research/DeepBench on a P100: 16 images of one channel of 161 x 700, 64 filters of 5 x 5,
 * stride 2, take 801 us for the gradient of the image. As a product with one column in tiles of 32
 * it would take nine times as long. */
TEST(the_gradient_of_an_image_of_one_channel_is_folded)
{
    const struct fr_kernel_shape k = {.op_class = FR_CURVE_CONV_BACKWARD_DATA,
                                      .conv = {.images = 16,
                                               .in_channels = 1,
                                               .height = 161,
                                               .width = 700,
                                               .out_channels = 64,
                                               .kernel_height = 5,
                                               .kernel_width = 5,
                                               .stride = 2,
                                               .pad = 1,
                                               .groups = 1}};
    struct fr_calibration *p100 = NULL;
    struct fr_error err;
    double s;

    ck_assert_int_eq(fr_calibration_load(&p100, "p100-pcie-16gb", &err), FR_OK);
    s = fr_calibration_time_s(p100, fr_calibration_find(p100, FR_CURVE_CONV_BACKWARD_DATA, FR_FP32),
                              &k);
    ck_assert_double_gt(s, 801e-6 / 2);
    ck_assert_double_lt(s, 801e-6 * 2);
    fr_calibration_free(p100);
}

/* ---- without shapes ---- */

/* A graph that never had shapes, as older folders are: the same but for them. */
static struct fr_graph *without_shapes(const struct fr_graph *g)
{
    struct fr_graph *copy = malloc(sizeof(*copy));
    struct fr_op *ops = malloc(g->n_ops * sizeof(*ops));

    ck_assert(copy && ops);
    memcpy(ops, g->ops, g->n_ops * sizeof(*ops));
    for (size_t i = 0; i < g->n_ops; i++)
        ops[i].shape = (struct fr_shape){.of = FR_SHAPE_UNKNOWN};
    *copy = *g;
    copy->ops = ops;
    return copy;
}

static void ck_same_kernel(const struct fr__kernel *a, const struct fr__kernel *b, const char *op)
{
    char x[200], y[200];

    ck_assert_msg(a->has_shape == b->has_shape, "%s", op);
    if (!a->has_shape)
        return;
    fr_kernel_shape_format(&a->shape, x, sizeof(x));
    fr_kernel_shape_format(&b->shape, y, sizeof(y));
    ck_assert_msg(a->shape.op_class == b->shape.op_class && strcmp(x, y) == 0, "%s: %s, not %s", op,
                  y, x);
}

/* Square filters, no key-value groups, no products of one row: FLOPs and dims tell all. */
static const char *const tellable[] = {
    "resnet50",         "vgg16",      "alexnet",   "densenet121",        "rnnlm", "bert-base",
    "transformer-base", "gpt2-small", "llama2-7b", "gpt:attention=flash"};

LOOP_TEST(a_graph_without_shapes_gets_the_same_kernels_where_flops_and_dims_tell, 0,
          sizeof(tellable) / sizeof(tellable[0]))
{
    struct fr_graph *g = load(tellable[_i], 0), *bare = without_shapes(g);
    size_t n = 0;

    for (uint32_t o = 0; o < g->n_ops; o++) {
        const struct fr_part part = {.batch = g->batch / 2.0, .channel_parts = 2};
        struct fr__kernel a, b;

        fr__kernel_of(g, o, &part, &a);
        fr__kernel_of(bare, o, &part, &b);
        ck_same_kernel(&a, &b, g->ops[o].name);
        n += a.has_shape;
    }
    ck_assert_uint_gt(n, 10);
    free((void *)bare->ops);
    free(bare);
    fr_graph_free(g);
}

/* Where they do not tell: 7x1 filters look like 1x7 ones, one product of 64 rows like 64 of one. */
TEST(a_shape_says_what_flops_and_dims_cannot)
{
    struct fr_graph *g = load("inception-v3", 0);
    struct fr__kernel k = kernel_of(g, "Mixed_6b.branch7x7_3", 64, 1);

    ck_assert_double_eq(k.shape.conv.kernel_height, 7);
    ck_assert_double_eq(k.shape.conv.kernel_width, 1);
    ck_assert_double_eq(k.shape.conv.out_height, 17);
    ck_assert_double_eq(k.shape.conv.out_width, 17);
    fr_graph_free(g);
    g = load("gnmt-2", 0);
    ck_matmul(g, "decoder.attention.t0.context", 32, (double[]){32, 1, 2048, 40});
    ck_matmul(g, "decoder.attention.t0.context.dgrad0", 32, (double[]){32, 40, 2048, 1});
    ck_matmul(g, "decoder.attention.t0.context.dgrad1", 32, (double[]){32, 1, 40, 2048});
    ck_matmul(g, "decoder.attention.t0.scores", 32, (double[]){1, 1280, 1, 1024});
    fr_graph_free(g);
}

int main(void)
{
    TCase *t = tcase_create("all");

    tcase_set_timeout(t, 60);
    add_tests(t);
    return run_case(t, "calibrate/kernel");
}
