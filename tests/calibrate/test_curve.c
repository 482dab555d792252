/* Cost curves: the matrix model by hand, residual grids, data, fits, device files. */
#include "config.h"

#include "calibrate/curves/curve.h"
#include "calibrate/fit/read/data.h"
#include "calibrate/device_file.h"
#include "tests/support/base_check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* launch 1 us, all of the peak whatever the tile, all of the bandwidth, no cost of a tile, the
 * sharpest maximum there is */
static const double plain[FR__MATMUL_N_PARAMETERS] = {1e-6, 1, 1e-9, 1, 1e-15, 20};

START_TEST(three_multiprocessors_need_three_waves_of_small_tiles)
{
    /* 128 x 128: two tiles of 128 x 64 take one wave but leave a multiprocessor idle; eight of
     * 64 x 32 take ceil(8/3) = 3 waves of 2*64*32*16 FLOPs at a third of 3 Tflop/s. */
    static const struct fr__machine machine = {3, 3e12, 1e15};
    struct fr__matmul m;

    fr__matmul_init(&m, &machine, plain, 4, 4);
    ck_assert_double_eq_tol(fr__matmul_s(&m, 1, 128, 128, 16), 1e-6 + 3 * 65536 / 1e12, 1e-13);
}
END_TEST

START_TEST(a_product_with_a_vector_takes_the_time_of_its_bytes)
{
    /* 4 bytes of 1000 + 1000 x 1000 + 1000 numbers at 1 GB/s; arithmetic is a millionth of that */
    static const struct fr__machine machine = {10, 1e18, 1e9};
    struct fr__matmul m;

    fr__matmul_init(&m, &machine, plain, 4, 4);
    ck_assert_double_eq_tol(fr__matmul_s(&m, 1, 1, 1000, 1000), 1e-6 + 4 * 1002000 / 1e9, 1e-9);
}
END_TEST

START_TEST(a_long_depth_is_split_over_idle_multiprocessors)
{
    /* One tile of 32 x 32 and 16 multiprocessors: 16 parts of the depth in one wave, a sixteenth of
     * the 2*32*32*4096 FLOPs each at a sixteenth of the peak. */
    static const struct fr__machine machine = {16, 16e12, 1e15};
    struct fr__matmul m;

    fr__matmul_init(&m, &machine, plain, 4, 4);
    ck_assert_double_eq_tol(fr__matmul_s(&m, 1, 32, 32, 4096), 1e-6 + 2048 * 256 / 1e12, 1e-11);
}
END_TEST

START_TEST(a_batch_of_products_costs_as_many_tiles_as_a_taller_one)
{
    static const struct fr__machine machine = {7, 7e12, 1e15};
    struct fr__matmul m;

    fr__matmul_init(&m, &machine, plain, 2, 2);
    ck_assert_double_eq_tol(fr__matmul_s(&m, 9, 256, 256, 64),
                            fr__matmul_s(&m, 1, 9 * 256, 256, 64), 1e-10);
}
END_TEST

/* ---- convolutions ---- */

/* As `plain`, with Winograd's algorithms at all of the peak and of the bandwidth, a stage of which takes
 * STAGE_S. */
#define CONV(STAGE_S)                                                                              \
    {                                                                                              \
        1e-6, 1, 1e-9, 1, 1e-15, 20, 1, 1, 1, STAGE_S, 1                                           \
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

START_TEST(a_convolution_of_single_pixels_is_a_matrix_product)
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
                                          .conv = {3, 64, 7, 5, 48, 1, 1, 1, 0, 1}};

        ck_assert_double_eq_tol(
            conv_s(&machine, FR_FP16, 1, &s),
            fr__matmul_s(&m, 1, cases[i].rows, cases[i].columns, cases[i].depth), 1e-12);
    }
}
END_TEST

START_TEST(a_block_of_winograds_fused_kernel_needs_16_products_for_four_pixels)
{
    /* One block: 8 x 16 pixels, 32 filters; 32 tiles of 2 x 2 pixels times 16 products times 64
     * channels, 2 FLOPs each. Stages of a second keep the other Winograd away. */
    static const struct fr__machine machine = {1, 1e12, 1e18};
    const struct fr_kernel_shape s = {.op_class = FR_CURVE_CONV_FORWARD,
                                      .conv = {1, 64, 8, 16, 32, 3, 3, 1, 1, 1}};

    ck_assert_double_eq_tol(conv_s(&machine, FR_FP32, 1, &s), 1e-6 + 2.0 * 16 * 32 * 32 * 64 / 1e12,
                            1e-12);
    /* no Winograd on matrix units: nine products for each pixel */
    ck_assert_double_eq_tol(conv_s(&machine, FR_FP16, 1, &s), 1e-6 + 2.0 * 9 * 128 * 32 * 64 / 1e12,
                            1e-10);
}
END_TEST

START_TEST(a_filter_of_five_has_36_products_between_transformations)
{
    /* 8 images of 4 x 4 have four tiles each with 2 x 2 pixels: 36 products of 32 x 32 x 32, one for
     * each multiprocessor. The implicit product would take two waves of depth 50: 800 / 16. */
    static const struct fr__machine machine = {36, 36e12, 1e21};
    const struct fr_kernel_shape s = {.op_class = FR_CURVE_CONV_FORWARD,
                                      .conv = {8, 32, 4, 4, 32, 5, 5, 1, 2, 1}};

    ck_assert_double_eq_tol(conv_s(&machine, FR_FP32, 5e-9, &s),
                            1e-6 + 5e-9 + 2.0 * 32 * 32 * 32 / 1e12, 1e-12);
}
END_TEST

START_TEST(matrix_units_take_channels_by_eights)
{
    static const struct fr__machine machine = {4, 4e12, 1e21};
    struct fr_kernel_shape s = {.op_class = FR_CURVE_CONV_FORWARD,
                                .conv = {8, 3, 32, 32, 60, 7, 7, 2, 3, 1}};
    double three_s = conv_s(&machine, FR_FP16, 1, &s);

    s.conv.in_channels = 8;
    s.conv.out_channels = 64;
    ck_assert_double_eq_tol(conv_s(&machine, FR_FP16, 1, &s), three_s, 1e-12);
    ck_assert_double_gt(conv_s(&machine, FR_FP32, 1, &s), 1.5e-6);
}
END_TEST

START_TEST(sizes_of_nothing_take_a_time_too)
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
END_TEST

/* ---- attention ---- */

/* launch 1 us, all of the peak and the bandwidth, nothing for a score, a block or a copy */
static double attention_s(const struct fr__machine *machine, const struct fr_kernel_shape *shape)
{
    static const double parameters[FR__ATTENTION_N_PARAMETERS] = {1e-6, 1, 1e-9, 1, 1, 1e-15, 20};
    union fr__model model;

    fr__curve_attention.prepare(&model, machine, FR_BF16, parameters);
    return fr__curve_attention.time_s(&model, shape);
}

START_TEST(causal_attention_computes_the_parts_up_to_the_diagonal)
{
    /* Four blocks of 64 rows see 1, 1, 2 and 2 parts of 128, all of them 2: 4 FLOPs for each pair of
     * rows and head dimension. A multiprocessor for each block: the longest counts. */
    static const struct fr__machine one = {1, 1e12, 1e21}, four = {4, 4e12, 1e21};
    struct fr_kernel_shape s = {.op_class = FR_CURVE_ATTENTION,
                                .attention = {1, 1, 1, 256, 64, true}};
    double part_s = 4.0 * 64 * 128 * 64 / 1e12;

    ck_assert_double_eq_tol(attention_s(&one, &s), 1e-6 + 6 * part_s, 1e-12);
    ck_assert_double_eq_tol(attention_s(&four, &s), 1e-6 + 2 * part_s, 1e-12);
    s.attention.is_causal = false;
    ck_assert_double_eq_tol(attention_s(&one, &s), 1e-6 + 8 * part_s, 1e-12);
}
END_TEST

START_TEST(attention_of_one_token_takes_the_heads_that_share_keys_together)
{
    /* eight heads on two of keys: two blocks of a row of keys, not eight */
    static const struct fr__machine machine = {1, 1e12, 1e21};
    const struct fr_kernel_shape s = {.op_class = FR_CURVE_ATTENTION,
                                      .attention = {1, 8, 2, 1, 64, true}};

    ck_assert_double_eq_tol(attention_s(&machine, &s), 1e-6 + 2 * 4.0 * 64 * 64 / 1e12, 1e-12);
}
END_TEST

START_TEST(a_grid_of_residuals_finds_a_slope_and_ends_flat)
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
END_TEST

START_TEST(few_points_get_no_grid)
{
    static const double x[3][FR__RESIDUAL_AXES], y[3] = {1, 1, 1};
    static const uint64_t group[3];
    struct fr__residual r;
    double miss;

    ck_assert_int_eq(fr__residual_fit(&r, 3, x, y, group, &miss, NULL), FR_OK);
    ck_assert_double_eq(fr__residual_at(&r, x[0]), 0);
}
END_TEST

/* ---- data, fits, files ---- */

static char path[64];

static void write_file(const char *text)
{
    FILE *f;

    snprintf(path, sizeof(path), "calibrate.%ld.csv", (long)getpid());
    f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    fputs(text, f);
    fclose(f);
}

static const char *const gpus[] = {"G"};

START_TEST(rows_of_other_gpus_and_formats_are_passed_over)
{
    struct fr__data d = {0};
    struct fr_error err;

    write_file("gpu,dtype,m,n,k,time_us,notes\n"
               "G,float32,1,2,3,4,kernel=x; batch=5;grid=1\n"
               "other,float32,1,2,3,4,\n"
               "G,int4_wo,1,2,3,4,\n"
               "G,float32,5,2,3,4,\n");
    ck_assert_int_eq(fr__data_read(&d, path, 0, gpus, 1, &err), FR_OK);
    ck_assert_uint_eq(d.n_rows, 2);
    ck_assert_double_eq(d.rows[0].shape.matmul.batch, 5);
    ck_assert_double_eq_tol(d.rows[0].time_s, 4e-6, 1e-18);
    ck_assert_double_eq(d.rows[1].shape.matmul.rows, 5);
    ck_assert_uint_eq(d.rows[1].line, 5);
    fr__data_fini(&d);
    unlink(path);
}
END_TEST

START_TEST(a_bad_size_is_named_with_its_place)
{
    struct fr__data d = {0};
    struct fr_error err;

    write_file("gpu,dtype,m,n,k,time_us\nG,float32,1,x,3,4\n");
    ck_assert_int_eq(fr__data_read(&d, path, 0, gpus, 1, &err), FR_EPARSE);
    ck_assert_uint_eq(err.line, 2);
    ck_assert_uint_eq(err.col, 13);
    fr__data_fini(&d);
    unlink(path);
}
END_TEST

static const struct {
    const char *text, *message;
} bad_rows[] = {
    {"gpu,dtype,n,c,h,w,k,r,s,stride,pad,fwd_us\nG,fp32,1,1,5,5,1,9,3,1,1,3\n",
     ":2:18: 'r' is 9, higher than the padded input of 7"},
    {"gpu,dtype,n,c,h,w,k,r,s,stride,pad,fwd_us\nG,fp32,1,1,5,5,1,3,9,1,0,3\n",
     ":2:20: 's' is 9, wider than the padded input of 5"},
    {"gpu,dtype,n,c,h,w,k,r,s,stride,fwd_us\n", ":1:1: column 'pad' is missing"},
    {"gpu,kernel,shape,dtype,time_us\nG,context_attention,batch=1;isl=9,bf16,3\n",
     ":2:21: 'shape' has no heads=N"},
    {"gpu,kernel,shape,dtype,time_us\nG,context_attention,batch=-1;isl=9,bf16,3\n",
     ":2:21: a number in 'shape' is \"-1\", not a whole number"},
};

START_TEST(the_header_tells_which_rows_a_file_has_and_bad_ones_are_named)
{
    char expected[160];
    struct fr__data d = {0};
    struct fr_error err;

    write_file(bad_rows[_i].text);
    ck_assert_int_ne(fr__data_read(&d, path, 0, gpus, 1, &err), FR_OK);
    snprintf(expected, sizeof(expected), "%s%s", path, bad_rows[_i].message);
    assert_message(&err, expected);
    fr__data_fini(&d);
    unlink(path);
}
END_TEST

START_TEST(a_fifth_of_the_shapes_is_held_out)
{
    struct fr__data d = {0};
    struct fr_error err;
    static char text[200000];
    size_t used = (size_t)sprintf(text, "gpu,dtype,m,n,k,time_us\n"), n = 0;

    for (unsigned i = 0; i < 4000; i++)
        used += (size_t)sprintf(text + used, "G,float32,%u,%u,64,9\n", 1 + i % 63, 1 + i / 63);
    write_file(text);
    ck_assert_int_eq(fr__data_read(&d, path, 0, gpus, 1, &err), FR_OK);
    for (size_t k = 0; k < d.n_rows; k++)
        n += fr__is_held_out(d.rows[k].hash);
    /* 800 expected, standard deviation sqrt(4000 * .2 * .8) = 25 */
    ck_assert_uint_ge(n, 700);
    ck_assert_uint_le(n, 900);
    fr__data_fini(&d);
    unlink(path);
}
END_TEST

static const struct fr_device_type device = {.name = "test-gpu",
                                             .is_gpu = true,
                                             .mem_Bps = 1e12,
                                             .flops_per_s = {[FR_FP32] = 10e12},
                                             .n_sms = 20};

/* 600 products timed by a model that we know, to be found again. */
static void write_rows(void)
{
    static const double truth[] = {8e-6, .8, 20, .7, 1e-7, 3};
    static const struct fr__machine machine = {20, 10e12, 1e12};
    static char text[100000];
    struct fr__matmul m;
    size_t used = (size_t)sprintf(text, "gpu,dtype,m,n,k,time_us\n");

    fr__matmul_init(&m, &machine, truth, 4, 4);
    for (unsigned i = 0; i < 600; i++) {
        unsigned rows = 1u << i % 12, columns = 96u << i / 12 % 6, depth = 64u + 97u * (i / 72);

        used += (size_t)sprintf(text + used, "G,float32,%u,%u,%u,%.4f\n", rows, columns, depth,
                                1e6 * fr__matmul_s(&m, 1, rows, columns, depth));
    }
    write_file(text);
}

static struct fr_calibration *fit(void)
{
    const char *const paths[] = {path};
    const struct fr_fit_request request = {&device, gpus, paths, 1, 1};
    struct fr_calibration *c;
    struct fr_error err;

    ck_assert_int_eq(fr_calibration_fit(&c, &request, NULL, &err), FR_OK);
    return c;
}

START_TEST(a_fit_finds_the_model_that_made_the_data)
{
    struct fr_calibration *c;
    const struct fr_curve_info *info;

    write_rows();
    c = fit();
    info = fr_calibration_curve(c, 0);
    ck_assert_double_eq_tol(info->parameters[FR__MATMUL_LAUNCH_S], 8e-6, 4e-7);
    ck_assert_uint_gt(info->held_out.n, 50);
    ck_assert_double_lt(info->held_out.median, 0.01);
    ck_assert_ptr_null(fr_calibration_curve(c, 1));
    fr_calibration_free(c);
    unlink(path);
}
END_TEST

/* 500 convolutions and their gradients by models that we know. */
static void write_convolutions(void)
{
    static const double truth[FR__CONV_N_PARAMETERS] = {8e-6, .8, 3,  .7,   1e-6, 3,
                                                        .7,   .8, .4, 2e-5, .6};
    static const struct fr__machine machine = {20, 10e12, 1e12};
    static char text[100000];
    union fr__model model;
    size_t used = (size_t)sprintf(
        text, "gpu,dtype,n,c,h,w,k,r,s,stride,pad,fwd_us,bwd_data_us,bwd_filter_us\n");

    fr__curve_conv_forward.prepare(&model, &machine, FR_FP32, truth);
    for (unsigned i = 0; i < 500; i++) {
        unsigned filter = 1 + 2 * (i % 3), stride = 1 + i / 3 % 2, size = 7u << i / 6 % 4;
        unsigned n = 1u << i % 5, c = 16 + 29 * (i % 13), k = 24 + 37 * (i % 11);
        struct fr_kernel_shape s = {
            .op_class = FR_CURVE_CONV_FORWARD,
            .conv = {n, c, size, size, k, filter, filter, stride, filter / 2, 1}};

        used += (size_t)sprintf(text + used, "G,fp32,%u,%u,%u,%u,%u,%u,%u,%u,%u", n, c, size, size,
                                k, filter, filter, stride, filter / 2);
        for (unsigned op = 0; op < 3; op++) {
            s.op_class = (enum fr_curve_class)(FR_CURVE_CONV_FORWARD + op);
            used += (size_t)sprintf(text + used, ",%.4f",
                                    1e6 * fr__curve_conv_forward.time_s(&model, &s));
        }
        used += (size_t)sprintf(text + used, "\n");
    }
    write_file(text);
}

START_TEST(a_fit_finds_the_convolutions_that_made_the_data)
{
    struct fr_calibration *c;

    write_convolutions();
    c = fit();
    for (size_t i = 0; i < 3; i++) {
        const struct fr_curve_info *info = fr_calibration_curve(c, i);

        ck_assert_uint_eq(info->op_class, FR_CURVE_CONV_FORWARD + i);
        ck_assert_uint_gt(info->held_out.n, 50);
        ck_assert_double_lt(info->held_out.median, 0.03);
        ck_assert_double_eq_tol(info->parameters[FR__MATMUL_LAUNCH_S], 8e-6, 3e-6);
    }
    /* only a stride tells the waste: the forward pass leaves it at its start */
    ck_assert_double_eq(fr_calibration_curve(c, 0)->parameters[FR__CONV_STRIDE_WASTE], .5);
    ck_assert_double_eq(fr_calibration_curve(c, 0)->errors[FR__CONV_STRIDE_WASTE], 0);
    ck_assert_double_eq_tol(fr_calibration_curve(c, 1)->parameters[FR__CONV_STRIDE_WASTE], .6, .1);
    ck_assert_ptr_null(fr_calibration_curve(c, 3));
    fr_calibration_free(c);
    unlink(path);
}
END_TEST

START_TEST(a_fit_finds_the_attention_that_made_the_data)
{
    static const double truth[FR__ATTENTION_N_PARAMETERS] = {9e-6, .6, 30, .7, 2, 1e-6, 3};
    static const struct fr__machine machine = {20, 10e12, 1e12};
    static char text[100000];
    size_t used = (size_t)sprintf(text, "gpu,kernel,shape,dtype,time_us\n");
    struct fr_calibration *c;
    union fr__model model;

    fr__curve_attention.prepare(&model, &machine, FR_FP32, truth);
    for (unsigned i = 0; i < 600; i++) {
        unsigned batch = 1u << i % 6, heads = 4u << i % 4, seq = 1u << i / 4 % 13;
        unsigned shared = 1u << i % 3, dim = 64u << i % 2;
        const struct fr_kernel_shape s = {
            .op_class = FR_CURVE_ATTENTION,
            .attention = {batch, heads, heads / shared, seq, dim, true}};

        used += (size_t)sprintf(text + used,
                                "G,context_attention,batch=%u;isl=%u;step=0;heads=%u;kv_heads=%u;"
                                "head_dim=%u,fp32,%.4f\n",
                                batch, seq, heads, heads / shared, dim,
                                1e6 * fr__curve_attention.time_s(&model, &s));
    }
    used += (size_t)sprintf(
        text + used, "G,context_attention,batch=1;isl=5;step=7;heads=1;kv_heads=1;head_dim=64,"
                     "fp32,1e9\n");
    write_file(text);
    c = fit();
    ck_assert_uint_eq(fr_calibration_curve(c, 0)->op_class, FR_CURVE_ATTENTION);
    ck_assert_uint_eq(fr_calibration_curve(c, 0)->n_fitted + fr_calibration_curve(c, 0)->held_out.n,
                      600);
    ck_assert_double_lt(fr_calibration_curve(c, 0)->held_out.median, 0.01);
    ck_assert_double_eq_tol(fr_calibration_curve(c, 0)->parameters[FR__ATTENTION_LAUNCH_S], 9e-6,
                            5e-7);
    fr_calibration_free(c);
    unlink(path);
}
END_TEST

START_TEST(the_first_gpu_with_enough_rows_is_taken)
{
    static char text[20000];
    const char *const names[] = {"few", "many"}, *const paths[] = {path};
    const struct fr_fit_request request = {&device, names, paths, 2, 1};
    size_t used = (size_t)sprintf(text, "gpu,dtype,m,n,k,time_us\n");
    struct fr_calibration *c;
    struct fr_error err;

    for (unsigned i = 1; i <= 30; i++)
        used += (size_t)sprintf(text + used, "few,fp32,%u,8,8,5\n", i);
    for (unsigned i = 1; i <= 90; i++)
        used += (size_t)sprintf(text + used, "many,fp32,%u,8,8,9\n", i);
    write_file(text);
    ck_assert_int_eq(fr_calibration_fit(&c, &request, NULL, &err), FR_OK);
    ck_assert_str_eq(fr_calibration_curve(c, 0)->gpus, "many");
    ck_assert_uint_le(fr_calibration_curve(c, 0)->n_fitted, 90);
    fr_calibration_free(c);
    unlink(path);
}
END_TEST

START_TEST(one_softwares_rows_are_fitted_and_judged)
{
    static char text[40000];
    const char *const paths[] = {path};
    size_t used = (size_t)sprintf(text, "source,gpu,dtype,m,n,k,time_us\n");
    struct fr_calibration *c;
    struct fr_check own, all;
    struct fr_error err;

    for (unsigned i = 1; i <= 200; i++) {
        used += (size_t)sprintf(text + used, "a/b table%u slow/1.0,G,fp32,%u,64,64,90\n", i % 3, i);
        if (i > 20)
            used += (size_t)sprintf(text + used, "a/b table1 fast/2.0,G,fp32,%u,64,64,9\n", i);
    }
    write_file(text);
    c = fit();
    ck_assert_str_eq(fr_calibration_curve(c, 0)->source, "a/b slow/1.0");
    ck_assert_double_lt(fr_calibration_curve(c, 0)->held_out.median, 0.01);
    ck_assert_int_eq(fr_calibration_check(c, paths, 1, NULL, 0, true, &own, &err), FR_OK);
    ck_assert_uint_eq(own.misses.n, 200);
    ck_assert_int_eq(fr_calibration_check(c, paths, 1, gpus, 1, true, &all, &err), FR_OK);
    ck_assert_uint_eq(all.misses.n, 380);
    ck_assert_ptr_null(fr_calibration_curve(c, 1));
    fr_calibration_free(c);
    unlink(path);
}
END_TEST

START_TEST(a_device_file_reads_back_to_the_same_times)
{
    const struct fr_kernel_shape shape = {.op_class = FR_CURVE_MATMUL,
                                          .matmul = {3, 100, 200, 300}};
    char yaml[64];
    struct fr_calibration *c, *back;
    struct fr_error err;

    write_rows();
    c = fit();
    snprintf(yaml, sizeof(yaml), "calibrate.%ld.yaml", (long)getpid());
    ck_assert_int_eq(fr_calibration_write(c, yaml, &err), FR_OK);
    ck_assert_int_eq(fr_calibration_load(&back, yaml, &err), FR_OK);
    ck_assert_str_eq(fr_calibration_device(back), "test-gpu");
    ck_assert_double_eq(fr_calibration_time_s(c, 0, &shape),
                        fr_calibration_time_s(back, 0, &shape));
    ck_assert_uint_eq(fr_calibration_curve(c, 0)->data_hash,
                      fr_calibration_curve(back, 0)->data_hash);
    fr_calibration_free(back);
    fr_calibration_free(c);
    unlink(yaml);
    unlink(path);
}
END_TEST

/* ---- what is shipped ---- */

START_TEST(shipped_files_name_their_device_and_keep_their_promise)
{
    static const char *const names[] = {"gemm", "conv", "other_kernels"};
    const char *srcdir = getenv("srcdir");
    char files[3][512];
    const char *data[] = {files[0], files[1], files[2]};
    bool has_data = true;

    for (unsigned i = 0; i < 3; i++) {
        snprintf(files[i], sizeof(files[i]), "%s/../shared/data/microbench/%s.csv",
                 srcdir ? srcdir : ".", names[i]);
        has_data = has_data && access(files[i], R_OK) == 0;
    }
    if (!has_data)
        puts("SKIP the measurements are not here: stated errors are not compared");
    for (size_t i = 0; fr_calibration_shipped(i); i++) {
        struct fr_check checks[FR_N_CURVE_CLASSES * FR_N_DTYPES];
        struct fr_calibration *c;
        struct fr_error err;
        const struct fr_curve_info *info;

        ck_assert_int_eq(fr_calibration_load(&c, fr_calibration_shipped(i), &err), FR_OK);
        ck_assert_str_eq(fr_calibration_device(c), fr_calibration_shipped(i));
        ck_assert_ptr_nonnull(fr_device_type_find(fr_calibration_device(c)));
        if (has_data && i % 5 == 0) { /* reading the data takes a second */
            ck_assert_int_eq(fr_calibration_check(c, data, 3, NULL, 0, false, checks, &err), FR_OK);
            for (size_t k = 0; (info = fr_calibration_curve(c, k)) != NULL; k++) {
                ck_assert_uint_eq(checks[k].misses.n, info->held_out.n);
                ck_assert_double_eq_tol(checks[k].misses.median, info->held_out.median, 2e-5);
                ck_assert_double_eq_tol(checks[k].misses.p90, info->held_out.p90, 2e-5);
            }
        }
        fr_calibration_free(c);
    }
}
END_TEST

/* ---- bad files ---- */

static const struct {
    const char *text, *message;
} bad[] = {
    {"device: x\ncurves: []\n", "f:2:9: 'curves' is empty"},
    {"device: x\n", "f:1:1: 'curves' is missing"},
    {"device: x\ncurves:\n  - class: matmull\n",
     "f:3:12: 'class' is \"matmull\", not a class of curves, did you mean 'matmul'?"},
    {"device: x\ncurves:\n  - class: matmul\n    dtype: fp3\n",
     "f:4:12: 'dtype' is \"fp3\", expected fp32, tf32, fp16, bf16 or fp8"},
};

START_TEST(curves_are_found_by_class_and_format)
{
    struct fr_calibration *c;
    struct fr_error err;

    ck_assert_int_eq(fr_calibration_load(&c, "a100-sxm4-80gb", &err), FR_OK);
    for (size_t i = 0; fr_calibration_curve(c, i); i++)
        ck_assert_uint_eq(fr_calibration_find(c, fr_calibration_curve(c, i)->op_class,
                                              fr_calibration_curve(c, i)->dtype),
                          i);
    ck_assert_uint_eq(fr_calibration_find(c, FR_CURVE_MATMUL, FR_FP8), SIZE_MAX);
    fr_calibration_free(c);
}
END_TEST

START_TEST(a_shape_is_written_with_the_names_of_its_sizes)
{
    const struct fr_kernel_shape s = {.op_class = FR_CURVE_MATMUL, .matmul = {1, 64, 32, 8}};
    char text[64], little[8];

    ck_assert_str_eq(fr_kernel_shape_format(&s, text, sizeof(text)),
                     "1 x 64 x 32 x 8 (batch, rows, columns, depth)");
    ck_assert_str_eq(fr_kernel_shape_format(&s, little, sizeof(little)), "1 x 64 ");
}
END_TEST

START_TEST(a_bad_device_file_is_refused_with_the_place)
{
    struct fr_calibration *c;
    struct fr_error err;

    ck_assert_int_ne(fr__device_file_read(&c, bad[_i].text, strlen(bad[_i].text), "f", &err),
                     FR_OK);
    assert_message(&err, bad[_i].message);
}
END_TEST

int main(void)
{
    TCase *tc = tcase_create("curve");

    fr_init();
    tcase_set_timeout(tc, 30);
    tcase_add_test(tc, three_multiprocessors_need_three_waves_of_small_tiles);
    tcase_add_test(tc, a_product_with_a_vector_takes_the_time_of_its_bytes);
    tcase_add_test(tc, a_long_depth_is_split_over_idle_multiprocessors);
    tcase_add_test(tc, a_batch_of_products_costs_as_many_tiles_as_a_taller_one);
    tcase_add_test(tc, a_convolution_of_single_pixels_is_a_matrix_product);
    tcase_add_test(tc, a_block_of_winograds_fused_kernel_needs_16_products_for_four_pixels);
    tcase_add_test(tc, a_filter_of_five_has_36_products_between_transformations);
    tcase_add_test(tc, matrix_units_take_channels_by_eights);
    tcase_add_test(tc, sizes_of_nothing_take_a_time_too);
    tcase_add_test(tc, causal_attention_computes_the_parts_up_to_the_diagonal);
    tcase_add_test(tc, attention_of_one_token_takes_the_heads_that_share_keys_together);
    tcase_add_test(tc, a_grid_of_residuals_finds_a_slope_and_ends_flat);
    tcase_add_test(tc, few_points_get_no_grid);
    tcase_add_test(tc, rows_of_other_gpus_and_formats_are_passed_over);
    tcase_add_test(tc, a_bad_size_is_named_with_its_place);
    tcase_add_loop_test(tc, the_header_tells_which_rows_a_file_has_and_bad_ones_are_named, 0,
                        sizeof(bad_rows) / sizeof(bad_rows[0]));
    tcase_add_test(tc, a_fifth_of_the_shapes_is_held_out);
    tcase_add_test(tc, a_fit_finds_the_model_that_made_the_data);
    tcase_add_test(tc, a_fit_finds_the_convolutions_that_made_the_data);
    tcase_add_test(tc, a_fit_finds_the_attention_that_made_the_data);
    tcase_add_test(tc, the_first_gpu_with_enough_rows_is_taken);
    tcase_add_test(tc, one_softwares_rows_are_fitted_and_judged);
    tcase_add_test(tc, a_device_file_reads_back_to_the_same_times);
    tcase_add_test(tc, shipped_files_name_their_device_and_keep_their_promise);
    tcase_add_test(tc, curves_are_found_by_class_and_format);
    tcase_add_test(tc, a_shape_is_written_with_the_names_of_its_sizes);
    tcase_add_loop_test(tc, a_bad_device_file_is_refused_with_the_place, 0,
                        sizeof(bad) / sizeof(bad[0]));
    return run_case(tc, "calibrate_curve");
}
