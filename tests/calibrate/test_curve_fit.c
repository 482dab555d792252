/* tests/calibrate/test_curve_fit.c - rows of measured kernels, curves fitted to them, device files.
 *
 * Apart from test_curve.c, which works out by hand what a curve says.
 */
#include "config.h"

#include "calibrate/curves/curve.h"
#include "calibrate/fit/read/data.h"
#include "calibrate/files/device_file.h"
#include "tests/support/base_check.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- data ---- */

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

TEST(rows_of_other_gpus_and_formats_are_passed_over)
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

TEST(a_bad_size_is_named_with_its_place)
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

LOOP_TEST(the_header_tells_which_rows_a_file_has_and_bad_ones_are_named, 0,
          sizeof(bad_rows) / sizeof(bad_rows[0]))
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

TEST(a_fifth_of_the_shapes_is_held_out)
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

/* ---- fits ---- */

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
    const struct fr_fit_request request = {&device, gpus, paths, 1, 1, false};
    struct fr_calibration *c;
    struct fr_error err;

    ck_assert_int_eq(fr_calibration_fit(&c, &request, NULL, &err), FR_OK);
    return c;
}

TEST(a_fit_finds_the_model_that_made_the_data)
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

/* 500 convolutions and their gradients by models that we know. */
static void write_convolutions(void)
{
    static const double truth[FR__CONV_N_PARAMETERS] = {8e-6, .8, 3,  .7,   1e-6, 3,
                                                        .7,   .8, .4, 2e-5, .4,   .5};
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
            .conv = {n, c, size, size, k, filter, filter, stride, filter / 2, 1, 0, 0, false}};

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

TEST(a_fit_finds_the_convolutions_that_made_the_data)
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
    ck_assert_double_eq_tol(fr_calibration_curve(c, 1)->parameters[FR__CONV_STRIDE_WASTE], .4, .1);
    ck_assert_ptr_null(fr_calibration_curve(c, 3));
    fr_calibration_free(c);
    unlink(path);
}

TEST(a_fit_finds_the_attention_that_made_the_data)
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

TEST(the_first_gpu_with_enough_rows_is_taken)
{
    static char text[20000];
    const char *const names[] = {"few", "many"}, *const paths[] = {path};
    const struct fr_fit_request request = {&device, names, paths, 2, 1, false};
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

TEST(one_softwares_rows_are_fitted_and_judged)
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

/* ---- device files ---- */

TEST(a_device_file_reads_back_to_the_same_times)
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

TEST(shipped_files_name_their_device_and_keep_their_promise)
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

TEST(curves_are_found_by_class_and_format)
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

TEST(a_device_file_of_before_narrow_channels_loads_and_slows_none)
{
    const char *srcdir = getenv("srcdir");
    struct fr_calibration *c = NULL;
    struct fr_error err;
    char name[512];

    snprintf(name, sizeof(name), "%s/tests/fuzz/corpus/fuzz_device_file/classes.yaml",
             srcdir ? srcdir : ".");
    ck_assert_msg(fr_calibration_load(&c, name, &err) == FR_OK, "%s", err.text);
    ck_assert_double_eq(fr_calibration_curve(c, 0)->parameters[FR__CONV_NARROW], 1);
    fr_calibration_free(c);
}

LOOP_TEST(a_bad_device_file_is_refused_with_the_place, 0, sizeof(bad) / sizeof(bad[0]))
{
    struct fr_calibration *c;
    struct fr_error err;

    ck_assert_int_ne(fr__device_file_read(&c, bad[_i].text, strlen(bad[_i].text), "f", &err),
                     FR_OK);
    assert_message(&err, bad[_i].message);
}

int main(void)
{
    TCase *tc = tcase_create("curve_fit");

    fr_init();
    tcase_set_timeout(tc, 30);
    add_tests(tc);
    return run_case(tc, "calibrate_curve_fit");
}
