/* tests/calibrate/test_curve.c - what each class of curve says of a shape, and residual grids. */
#include "config.h"

#include "calibrate/curves/curve.h"
#include "tests/support/base_check.h"

/* launch 1 us, all of the peak whatever the tile, all of the bandwidth, no cost of a tile, the
 * sharpest maximum there is */
static const double plain[FR__MATMUL_N_PARAMETERS] = {1e-6, 1, 1e-9, 1, 1e-15, 20};

TEST(three_multiprocessors_need_three_waves_of_small_tiles)
{
    /* 128 x 128: two tiles of 128 x 64 take one wave but leave a multiprocessor idle; eight of
     * 64 x 32 take ceil(8/3) = 3 waves of 2*64*32*16 FLOPs at a third of 3 Tflop/s. */
    static const struct fr__machine machine = {3, 3e12, 1e15};
    struct fr__matmul m;

    fr__matmul_init(&m, &machine, plain, 4, 4);
    ck_assert_double_eq_tol(fr__matmul_s(&m, 1, 128, 128, 16), 1e-6 + 3 * 65536 / 1e12, 1e-13);
}

TEST(a_product_with_a_vector_takes_the_time_of_its_bytes)
{
    /* 4 bytes of 1000 + 1000 x 1000 + 1000 numbers at 1 GB/s; arithmetic is a millionth of that */
    static const struct fr__machine machine = {10, 1e18, 1e9};
    struct fr__matmul m;

    fr__matmul_init(&m, &machine, plain, 4, 4);
    ck_assert_double_eq_tol(fr__matmul_s(&m, 1, 1, 1000, 1000), 1e-6 + 4 * 1002000 / 1e9, 1e-9);
}

TEST(a_long_depth_is_split_over_idle_multiprocessors)
{
    /* One tile of 32 x 32 and 16 multiprocessors: 16 parts of the depth in one wave, a sixteenth of
     * the 2*32*32*4096 FLOPs each at a sixteenth of the peak. */
    static const struct fr__machine machine = {16, 16e12, 1e15};
    struct fr__matmul m;

    fr__matmul_init(&m, &machine, plain, 4, 4);
    ck_assert_double_eq_tol(fr__matmul_s(&m, 1, 32, 32, 4096), 1e-6 + 2048 * 256 / 1e12, 1e-11);
}

TEST(a_batch_of_products_costs_as_many_tiles_as_a_taller_one)
{
    static const struct fr__machine machine = {7, 7e12, 1e15};
    struct fr__matmul m;

    fr__matmul_init(&m, &machine, plain, 2, 2);
    ck_assert_double_eq_tol(fr__matmul_s(&m, 9, 256, 256, 64),
                            fr__matmul_s(&m, 1, 9 * 256, 256, 64), 1e-10);
}

/* ---- convolutions ---- */

/* As `plain`, with Winograd's algorithms at all of the peak and of the bandwidth, a stage of which
 * takes STAGE_S. */
#define CONV(STAGE_S)                                                                              \
    {                                                                                              \
        1e-6, 1, 1e-9, 1, 1e-15, 20, 1, 1, 1, STAGE_S, 0.5, 0.25                                   \
    }

static double conv_s(const struct fr__machine *machine, enum fr_dtype dtype, double stage_s,
                     const struct fr_kernel_shape *shape)
{
    const double parameters[FR__CONV_N_PARAMETERS] = CONV(stage_s);
    const struct fr__curve_class *c = fr__curve_class_of(shape->op_class);
    union fr__model model;

    c->prepare(&model, machine, dtype, parameters);
    return c->time_s(&model, shape);
}

TEST(a_convolution_of_single_pixels_is_a_matrix_product)
{
    /* 3 images of 7 x 5, 64 to 48 channels. Forward: a row for each pixel. The gradients swap the
     * parts of pixels, input and output channels. */
    static const struct fr__machine machine = {7, 7e12, 1e12};
    static const struct {
        enum fr_curve_class op_class;
        double rows, columns, depth;
    } cases[] = {{FR_CURVE_CONV_FORWARD, 105, 48, 64},
                 {FR_CURVE_CONV_BACKWARD_DATA, 105, 64, 48},
                 {FR_CURVE_CONV_BACKWARD_FILTER, 48, 64, 105}};
    struct fr__matmul m;

    fr__matmul_init(&m, &machine, plain, 2, 2);
    for (unsigned i = 0; i < 3; i++) {
        const struct fr_kernel_shape s = {.op_class = cases[i].op_class,
                                          .conv = {3, 64, 7, 5, 48, 1, 1, 1, 0, 1, 0, 0, false}};

        ck_assert_double_eq_tol(
            conv_s(&machine, FR_FP16, 1, &s),
            fr__matmul_s(&m, 1, cases[i].rows, cases[i].columns, cases[i].depth), 1e-12);
    }
}

TEST(a_block_of_winograds_fused_kernel_needs_16_products_for_four_pixels)
{
    /* One block: 8 x 16 pixels, 32 filters; 32 tiles of 2 x 2 pixels times 16 products times 64
     * channels, 2 FLOPs each. Stages of a second keep the other Winograd away. */
    static const struct fr__machine machine = {1, 1e12, 1e18};
    const struct fr_kernel_shape s = {.op_class = FR_CURVE_CONV_FORWARD,
                                      .conv = {1, 64, 8, 16, 32, 3, 3, 1, 1, 1, 0, 0, false}};

    ck_assert_double_eq_tol(conv_s(&machine, FR_FP32, 1, &s), 1e-6 + 2.0 * 16 * 32 * 32 * 64 / 1e12,
                            1e-12);
    /* no Winograd on matrix units: nine products for each pixel */
    ck_assert_double_eq_tol(conv_s(&machine, FR_FP16, 1, &s), 1e-6 + 2.0 * 9 * 128 * 32 * 64 / 1e12,
                            1e-10);
}

TEST(a_filter_of_five_has_36_products_between_transformations)
{
    /* 8 images of 4 x 4 have four tiles each with 2 x 2 pixels: 36 products of 32 x 32 x 32, one
     * for each multiprocessor. The implicit product would take two waves of depth 50: 800 / 16. */
    static const struct fr__machine machine = {36, 36e12, 1e21};
    const struct fr_kernel_shape s = {.op_class = FR_CURVE_CONV_FORWARD,
                                      .conv = {8, 32, 4, 4, 32, 5, 5, 1, 2, 1, 0, 0, false}};

    ck_assert_double_eq_tol(conv_s(&machine, FR_FP32, 5e-9, &s),
                            1e-6 + 5e-9 + 2.0 * 32 * 32 * 32 / 1e12, 1e-12);
}

TEST(matrix_units_take_channels_by_eights_and_others_at_the_narrow_share)
{
    static const struct fr__machine machine = {4, 4e12, 1e21};
    struct fr_kernel_shape s = {.op_class = FR_CURVE_CONV_FORWARD,
                                .conv = {8, 3, 32, 32, 60, 7, 7, 2, 3, 1, 0, 0, false}};
    double three_s = conv_s(&machine, FR_FP16, 1, &s) - 1e-6;

    s.conv.in_channels = 8;
    s.conv.out_channels = 64;
    ck_assert_double_eq_tol(conv_s(&machine, FR_FP16, 1, &s) - 1e-6, three_s / 4, 1e-12);
    ck_assert_double_gt(conv_s(&machine, FR_FP32, 1, &s), 1.5e-6);
}

TEST(filters_of_one_by_seven_and_seven_by_one_are_the_same_product_without_winograd)
{
    /* 4 multiprocessors at 1 TFLOP/s; 16 images of 16 x 16 pixels, 64 to 64 channels: 64 tiles of
     * 64 x 64 in 16 waves, 448 deep. Stages that cost nothing would make Winograd the best. */
    static const struct fr__machine machine = {4, 4e12, 1e21};

    for (unsigned c = FR_CURVE_CONV_FORWARD; c <= FR_CURVE_CONV_BACKWARD_DATA; c++) {
        const struct fr_kernel_shape wide = {
            .op_class = (enum fr_curve_class)c,
            .conv = {16, 64, 16, 16, 64, 1, 7, 1, 0, 1, 16, 16, false}};
        struct fr_kernel_shape high = wide;

        high.conv.kernel_height = 7;
        high.conv.kernel_width = 1;
        ck_assert_double_eq_tol(conv_s(&machine, FR_FP32, 1e-12, &wide),
                                1e-6 + 16 * 2.0 * 64 * 64 * 448 / 1e12, 1e-11);
        ck_assert_double_eq(conv_s(&machine, FR_FP32, 1e-12, &high),
                            conv_s(&machine, FR_FP32, 1e-12, &wide));
    }
}

TEST(the_gradient_of_a_strided_input_never_computes_less_than_the_forward_pass)
{
    /* With stride 2 the input has four pixels for each of the output: a waste of 1/2 doubles the
     * rows, and no waste leaves those of the forward pass. */
    static const struct fr__machine machine = {4, 4e12, 1e21};
    struct fr_kernel_shape s = {.op_class = FR_CURVE_CONV_BACKWARD_DATA,
                                .conv = {64, 64, 32, 32, 64, 3, 3, 2, 1, 1, 0, 0, false}};
    double parameters[FR__CONV_N_PARAMETERS] = CONV(1);
    double forward_s = 2.0 * 64 * 256 * 64 * 64 * 9 / 4e12;
    const struct fr__curve_class *c = fr__curve_class_of(s.op_class);
    union fr__model model;

    ck_assert_double_eq_tol(conv_s(&machine, FR_FP32, 1, &s), 1e-6 + 2 * forward_s, 1e-10);
    parameters[FR__CONV_STRIDE_WASTE] = 0;
    c->prepare(&model, &machine, FR_FP32, parameters);
    ck_assert_double_eq_tol(c->time_s(&model, &s), 1e-6 + forward_s, 1e-9);
    ck_assert_double_eq_tol(c->least_s(&model, &s), forward_s, 1e-12);
}

/* A filter of 7 x 7 on an image of 7 x 7 without padding is a fully connected layer: one output
 * pixel. Its gradient multiplies no more than the forward pass, not 49 times as much. */
TEST(the_gradient_of_a_filter_as_large_as_its_image_is_a_product_of_the_forward_passs_size)
{
    static const struct fr__machine machine = {1, 1e12, 1e15};
    struct fr_kernel_shape s = {.op_class = FR_CURVE_CONV_BACKWARD_DATA,
                                .conv = {64, 64, 7, 7, 64, 7, 7, 1, 0, 1, 1, 1, false}};
    double forward_s = 2.0 * 64 * 64 * 64 * 49 / 1e12;

    ck_assert_double_eq_tol(conv_s(&machine, FR_FP32, 1, &s), 1e-6 + forward_s, 0.1 * forward_s);
}

TEST(only_winograds_shapes_may_pass_the_peak_and_by_what_it_saves)
{
    static const struct fr__machine machine = {4, 4e12, 1e21};
    static const struct {
        double height, width, stride;
        enum fr_dtype dtype;
        double saved;
    } cases[] = {{3, 3, 1, FR_FP32, 4}, {5, 5, 1, FR_FP32, 100 / 36.0}, {3, 3, 2, FR_FP32, 1},
                 {1, 7, 1, FR_FP32, 1}, {1, 1, 1, FR_FP32, 1},          {3, 3, 1, FR_FP16, 1}};
    const double parameters[FR__CONV_N_PARAMETERS] = CONV(1);

    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct fr_kernel_shape s = {.op_class = FR_CURVE_CONV_FORWARD,
                                          .conv = {8, 16, 32, 32, 24, cases[i].height,
                                                   cases[i].width, cases[i].stride, 0, 1, 20, 20,
                                                   false}};
        double flops = 2.0 * 8 * 400 * 16 * 24 * cases[i].height * cases[i].width;
        union fr__model model;

        fr__curve_conv_forward.prepare(&model, &machine, cases[i].dtype, parameters);
        ck_assert_double_eq_tol(fr__curve_conv_forward.least_s(&model, &s),
                                flops / 4e12 / cases[i].saved, 1e-15);
    }
}

TEST(a_residual_of_three_by_three_says_nothing_about_other_filters)
{
    float values[] = {0.5f, 0.5f};
    struct fr__curve c = {.info = {.op_class = FR_CURVE_CONV_FORWARD, .dtype = FR_FP32},
                          .residual = {.axes = {{4, 1, 1}, {4, 1, 1}, {4, 1, 1}, {3.169, .001, 2}},
                                       .n_values = 2,
                                       .values = values}};
    struct fr_kernel_shape s = {.op_class = FR_CURVE_CONV_FORWARD,
                                .conv = {8, 16, 32, 32, 16, 3, 3, 1, 1, 1, 0, 0, false}};

    ck_assert_double_eq(fr__curve_residual(&c, &s), 0.5);
    s.conv.kernel_height = 1;
    ck_assert_double_eq(fr__curve_residual(&c, &s), 0);
    s.conv.kernel_width = 9; /* as many numbers as 3 x 3, and counts as that */
    ck_assert_double_eq(fr__curve_residual(&c, &s), 0.5);
    c.residual.axes[3].first = 0, c.residual.axes[3].step = 4; /* 1 x 1 to 4 x 4 were measured */
    s.conv.kernel_width = 7;
    ck_assert_double_eq(fr__curve_residual(&c, &s), 0.5);
}

TEST(sizes_of_nothing_take_a_time_too)
{
    static const struct fr__machine machine = {4, 4e12, 1e12};
    static const struct fr_kernel_shape nothing = {.op_class = FR_CURVE_CONV_FORWARD};

    for (unsigned c = FR_CURVE_CONV_FORWARD; c <= FR_CURVE_CONV_BACKWARD_FILTER; c++) {
        struct fr_kernel_shape s = nothing;

        s.op_class = (enum fr_curve_class)c;
        ck_assert_double_ge(conv_s(&machine, FR_FP32, 1, &s), 1e-6);
        ck_assert_double_le(conv_s(&machine, FR_FP32, 1, &s), 2e-6);
    }
}

/* ---- attention ---- */

/* launch 1 us, all of the peak and the bandwidth, nothing for a score, a block or a copy */
static double attention_s(const struct fr__machine *machine, const struct fr_kernel_shape *shape)
{
    static const double parameters[FR__ATTENTION_N_PARAMETERS] = {1e-6, 1, 1e-9, 1, 1, 1e-15, 20};
    union fr__model model;

    fr__curve_attention.prepare(&model, machine, FR_BF16, parameters);
    return fr__curve_attention.time_s(&model, shape);
}

TEST(causal_attention_computes_the_parts_up_to_the_diagonal)
{
    /* Four blocks of 64 rows see 1, 1, 2 and 2 parts of 128, all of them 2: 4 FLOPs for each pair
     * of rows and head dimension. A multiprocessor for each block: the longest counts. */
    static const struct fr__machine one = {1, 1e12, 1e21}, four = {4, 4e12, 1e21};
    struct fr_kernel_shape s = {.op_class = FR_CURVE_ATTENTION,
                                .attention = {1, 1, 1, 256, 64, true}};
    double part_s = 4.0 * 64 * 128 * 64 / 1e12;

    ck_assert_double_eq_tol(attention_s(&one, &s), 1e-6 + 6 * part_s, 1e-12);
    ck_assert_double_eq_tol(attention_s(&four, &s), 1e-6 + 2 * part_s, 1e-12);
    s.attention.is_causal = false;
    ck_assert_double_eq_tol(attention_s(&one, &s), 1e-6 + 8 * part_s, 1e-12);
}

TEST(attention_of_one_token_takes_the_heads_that_share_keys_together)
{
    /* eight heads on two of keys: two blocks of a row of keys, not eight */
    static const struct fr__machine machine = {1, 1e12, 1e21};
    const struct fr_kernel_shape s = {.op_class = FR_CURVE_ATTENTION,
                                      .attention = {1, 8, 2, 1, 64, true}};

    ck_assert_double_eq_tol(attention_s(&machine, &s), 1e-6 + 2 * 4.0 * 64 * 64 / 1e12, 1e-12);
}

TEST(a_grid_of_residuals_finds_a_slope_and_ends_flat)
{
    enum { N = 200 };
    static double x[N][FR__RESIDUAL_AXES], y[N];
    static uint64_t group[N];
    struct fr__residual r;
    struct fr_error err;
    uint64_t state = 1;
    double miss;
    const double inside[] = {4, 4, 0, 0}, border[] = {8, 4, 0, 0}, outside[] = {80, 4, 0, 0};

    for (size_t k = 0; k < N; k++) {
        x[k][0] = (double)(k % 17) / 2;
        x[k][1] = (double)(k / 17);
        y[k] = 0.05 * x[k][0] - 0.03 * x[k][1];
        state = state * 6364136223846793005u + 1;
        group[k] = state >> 20;
    }
    ck_assert_int_eq(
        fr__residual_fit(&r, N, (const double(*)[FR__RESIDUAL_AXES])x, y, group, &miss, &err),
        FR_OK);
    ck_assert_double_eq_tol(fr__residual_at(&r, inside), 0.05 * 4 - 0.03 * 4, 0.02);
    ck_assert_double_eq(fr__residual_at(&r, border), fr__residual_at(&r, outside));
    fr__residual_fini(&r);
}

TEST(few_points_get_no_grid)
{
    static const double x[3][FR__RESIDUAL_AXES], y[3] = {1, 1, 1};
    static const uint64_t group[3];
    struct fr__residual r;
    double miss;

    ck_assert_int_eq(fr__residual_fit(&r, 3, x, y, group, &miss, NULL), FR_OK);
    ck_assert_double_eq(fr__residual_at(&r, x[0]), 0);
}

TEST(a_shape_is_written_with_the_names_of_its_sizes)
{
    const struct fr_kernel_shape s = {.op_class = FR_CURVE_MATMUL, .matmul = {1, 64, 32, 8}};
    char text[64], little[8];

    ck_assert_str_eq(fr_kernel_shape_format(&s, text, sizeof(text)),
                     "1 x 64 x 32 x 8 (batch, rows, columns, depth)");
    ck_assert_str_eq(fr_kernel_shape_format(&s, little, sizeof(little)), "1 x 64 ");
}

int main(void)
{
    TCase *tc = tcase_create("curve");

    fr_init();
    add_tests(tc);
    return run_case(tc, "calibrate_curve");
}
