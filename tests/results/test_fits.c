/* tests/results/test_fits.c - pictures of fit against data: what is compared, and that no text from
 * data breaks out of gnuplot's script. */
#include "config.h"

#include "results/pictures/fit_axis.h"
#include "results/pictures/fit.h"
#include "results/fits.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static struct fr_calibration *curves;
static struct fr__arena *arena;

static void setup(void)
{
    struct fr_error err;

    ck_assert_int_eq(fr_calibration_load(&curves, "a100-sxm4-80gb", &err), FR_OK);
    arena = fr__arena_new();
    ck_assert_ptr_nonnull(arena);
}

static void teardown(void)
{
    fr_calibration_free(curves);
    fr__arena_free(arena);
}

/* ---- work ---- */

TEST(a_product_multiplies_and_adds_once_for_each_number)
{
    struct fr_kernel_shape s = {.op_class = FR_CURVE_MATMUL, .matmul = {3, 5, 7, 11}};

    ck_assert_double_eq_tol(fr__fit_work(&s, FR_FP16), 2. * 3 * 5 * 7 * 11, 1e-3);
}

TEST(a_convolution_counts_its_output_pixels)
{
    /* ResNet's first: 224 pixels, filter 7, stride 2, pad 3 make (224 + 6 - 7) / 2 + 1 = 112 */
    struct fr_kernel_shape s = {.op_class = FR_CURVE_CONV_FORWARD,
                                .conv = {.images = 2,
                                         .in_channels = 3,
                                         .height = 224,
                                         .width = 224,
                                         .out_channels = 64,
                                         .kernel_height = 7,
                                         .kernel_width = 7,
                                         .stride = 2,
                                         .pad = 3,
                                         .groups = 1}};

    ck_assert_double_eq_tol(fr__fit_work(&s, FR_FP32), 2. * 2 * 112 * 112 * 64 * 3 * 49, 1e-3);
}

TEST(a_causal_mask_halves_attention)
{
    /* two products of [seq][head_dim] and its transpose, 2 FLOPs each: 4 b h s^2 d */
    struct fr_kernel_shape s = {.op_class = FR_CURVE_ATTENTION,
                                .attention = {2, 8, 8, 128, 64, .is_causal = false}};
    double whole = fr__fit_work(&s, FR_BF16);

    ck_assert_double_eq_tol(whole, 4. * 2 * 8 * 128 * 128 * 64, 1e-3);
    s.attention.is_causal = true;
    ck_assert_double_eq_tol(fr__fit_work(&s, FR_BF16), whole / 2, 1e-3);
}

TEST(rows_are_read_and_written_once)
{
    struct fr_kernel_shape s = {.op_class = FR_CURVE_SOFTMAX, .rows = {10, 1000}};

    ck_assert_double_eq_tol(fr__fit_work(&s, FR_FP32), 2 * 10 * 1000 * 4, 1e-3);
    ck_assert_double_eq_tol(fr__fit_work(&s, FR_FP16), 2 * 10 * 1000 * 2, 1e-3);
}

LOOP_TEST(every_class_has_an_axis_that_its_sizes_know, 0, FR_N_CURVE_CLASSES)
{
    struct fr_kernel_shape s = {.op_class = (enum fr_curve_class)_i};
    struct fr_kernel_shape other = s;
    const char *name = NULL;
    double *x = fr__fit_axis(&other, 0, &name);

    ck_assert_ptr_nonnull(x);
    ck_assert_ptr_nonnull(name);
    *x = 7;
    ck_assert_int_eq(fr__fit_compare(&s, &other), -1);
    ck_assert_int_eq(fr__fit_compare(&other, &s), 1);
    ck_assert_int_eq(fr__fit_compare(&other, &other), 0);
}

/* ---- slices ---- */

/* Products of m x 4096 x 1024 for m = 1, 2, 4, ... that take m us, n of them, and one of another
 * size at the end. */
static void make_products(struct fr_check_row rows[], size_t n)
{
    memset(rows, 0, (n + 1) * sizeof(*rows));
    for (size_t i = 0; i <= n; i++) {
        double m = (double)(1u << i);

        rows[i].shape = (struct fr_kernel_shape){.op_class = FR_CURVE_MATMUL,
                                                 .matmul = {1, m, i < n ? 4096 : 64, 1024}};
        rows[i].measured_s = 1e-6 * m;
        rows[i].predicted_s = 2e-6 * m;
        rows[i].is_held_out = i % 2 == 0;
    }
}

static void make_picture(const struct fr_check_row rows[], size_t n, bool is_all,
                         struct fr__fit_picture *out)
{
    size_t curve = fr_calibration_find(curves, rows[0].shape.op_class, FR_FP16);
    struct fr_error err;

    ck_assert(curve != SIZE_MAX);
    ck_assert_int_eq(fr__fit_of_kernels(arena, curves, curve, rows, n, is_all, out, &err), FR_OK);
}

TEST(rows_that_differ_in_one_size_make_a_slice)
{
    struct fr_check_row rows[7];
    struct fr__fit_picture p;
    size_t curve = fr_calibration_find(curves, FR_CURVE_MATMUL, FR_FP16);
    struct fr_kernel_shape last;

    make_products(rows, 6);
    make_picture(rows, 7, false, &p);
    last = rows[5].shape;
    ck_assert_uint_eq(p.n_slices, 1);
    ck_assert_str_eq(p.x_name, "rows");
    ck_assert_str_eq(p.y_name, "Tflop/s");
    ck_assert_str_eq(p.slices[0].label, "batch 1, columns 4096, depth 1024");
    ck_assert_uint_eq(p.slices[0].n_measured, 6);
    for (size_t i = 0; i < 6; i++) {
        /* 2 m 4096 1024 FLOPs in m us: 8.388608 Tflop/s for all m */
        ck_assert_double_eq_tol(p.slices[0].measured[i].x, (double)(1u << i), 1e-3);
        ck_assert_double_eq_tol(p.slices[0].measured[i].y, 8.388608, 1e-9);
        ck_assert_int_eq(p.slices[0].measured[i].is_judged, i % 2 == 0);
    }
    /* whole numbers from 1 to 32, each once */
    ck_assert_uint_eq(p.slices[0].n_curve, 32);
    ck_assert_double_eq_tol(p.slices[0].curve[31].x, 32, 1e-3);
    ck_assert_double_eq_tol(
        p.slices[0].curve[31].y,
        2. * 32 * 4096 * 1024 / fr_calibration_time_s(curves, curve, &last) / 1e12, 1e-9);
    ck_assert_double_eq_tol(
        p.slices[0].form[31].y,
        2. * 32 * 4096 * 1024 / fr_calibration_form_s(curves, curve, &last) / 1e12, 1e-9);
}

TEST(four_sizes_are_no_slice)
{
    struct fr_check_row rows[5];
    struct fr__fit_picture p;

    make_products(rows, 4);
    make_picture(rows, 5, true, &p);
    ck_assert_uint_eq(p.n_slices, 0);
    ck_assert_uint_eq(p.n_points, 5);
    ck_assert(p.points[1].is_judged); /* --all */
}

TEST(one_size_measured_again_and_again_is_no_slice)
{
    struct fr_check_row rows[7];
    struct fr__fit_picture p;

    make_products(rows, 6);
    for (size_t i = 1; i < 6; i++)
        rows[i].shape = rows[0].shape;
    make_picture(rows, 6, false, &p);
    ck_assert_uint_eq(p.n_slices, 0);
}

TEST(wrapped_calls_are_a_slice_of_their_own)
{
    struct fr_check_row rows[12];
    struct fr__fit_picture p;

    memset(rows, 0, sizeof(rows));
    for (size_t i = 0; i < 12; i++) {
        rows[i].shape = (struct fr_kernel_shape){
            .op_class = FR_CURVE_ELEMENTWISE,
            .memory = {1e6 * (double)(1 + i / 2), .is_wrapped = i % 2 == 1}};
        rows[i].measured_s = rows[i].predicted_s = 1e-3;
    }
    make_picture(rows, 12, false, &p);
    ck_assert_uint_eq(p.n_slices, 2);
    ck_assert_str_eq(p.slices[0].label, "plain");
    ck_assert_str_eq(p.slices[1].label, "wrapped by a function");
    ck_assert_uint_eq(p.slices[1].n_measured, 6);
    ck_assert_double_eq_tol(p.slices[0].measured[5].y, 6, 1e-9); /* 6 MB in 1 ms */
}

/* ---- systems ---- */

TEST(collectives_are_compared_by_bus_bandwidth)
{
    struct fr_system_row rows[11];
    struct fr__fit_picture p;
    struct fr_system *s;
    struct fr_error err;

    ck_assert_int_eq(fr_system_load(&s, "h100-nvswitch", &err), FR_OK);
    memset(rows, 0, sizeof(rows));
    for (size_t k = 0; k < 11; k++) {
        rows[k].call = (struct fr_system_call){.op = FR_SYSTEM_ALL_REDUCE,
                                               .n_gpus = k < 5 ? 4 : 8,
                                               .n_nodes = 1,
                                               .bytes = 1e6 * (double)(11 - k)};
        rows[k].measured_s = rows[k].predicted_s = 1e-3;
    }
    ck_assert_int_eq(fr__fit_of_system(arena, s, FR_SYSTEM_ALL_REDUCE, rows, 11, true, &p, &err),
                     FR_OK);
    ck_assert_uint_eq(p.n_slices, 2);
    ck_assert_uint_eq(p.slices[0].n_measured, 6); /* 8 GPUs, which have more sizes, come first */
    ck_assert_uint_eq(p.slices[1].n_measured, 5);
    /* 1 MB in 1 ms among 8: 2 * 7 / 8 GB/s; 7 MB among 4, smallest of its five: 7 * 2 * 3 / 4 */
    ck_assert_double_eq_tol(p.slices[0].measured[0].y, 1.75, 1e-9);
    ck_assert_double_eq_tol(p.slices[1].measured[0].y, 10.5, 1e-9);
    ck_assert_ptr_null(p.slices[0].form);
    /* the curve ends at the largest size, as the system has it */
    ck_assert_double_eq_tol(p.slices[0].curve[p.slices[0].n_curve - 1].y,
                            1.75 * 6e6 / fr_system_time_s(s, &rows[5].call) / 1e9, 1e-9);
    fr_system_free(s);
}

/* ---- the script ---- */

static char *script_of(const struct fr__fit_picture *p)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    struct fr__chart *c = fr__chart_new();

    ck_assert_ptr_nonnull(f);
    ck_assert_ptr_nonnull(c);
    fr__fit_chart(c, p);
    fr__chart_script(c, false, f);
    fr__chart_free(c);
    ck_assert_int_eq(fclose(f), 0);
    return text;
}

/* How many of the script's strings are that; '' in one is a quote. What is outside of strings must
 * be gnuplot's own: no quote left open, no backquote, which would run a command. */
static size_t count_strings(const char *script, const char *want)
{
    char string[512];
    size_t count = 0;

    for (const char *at = script; *at; at++) {
        size_t n = 0;

        ck_assert_msg(*at != '`' && *at != '"', "outside of a string: %.60s", at);
        if (*at != '\'')
            continue;
        for (at++; at[0] != '\'' || at[1] == '\''; at++) {
            ck_assert_msg((unsigned char)*at >= 0x20 && n + 1 < sizeof(string), "an open string");
            at += at[0] == '\'';
            string[n++] = *at;
        }
        string[n] = '\0';
        count += strcmp(string, want) == 0;
    }
    return count;
}

TEST(text_from_data_stays_inside_its_string)
{
    static const struct fr_misses misses = {2, .1, .2, .3, -.1};
    struct fr_check_row rows[7];
    struct fr__fit_picture p;
    char *script;

    make_products(rows, 6);
    make_picture(rows, 7, false, &p);
    fr__fit_say_misses(&p, &misses, "a'; system('rm -r x')\n`id` on $judged");
    script = script_of(&p);
    ck_assert_uint_eq(count_strings(script,
                                    "2 rows to judge by: median 10.0 %, 90th percentile 20.0 %, "
                                    "worst 30.0 %, bias -10.0 %; "
                                    "a'; system('rm -r x')\\x0a`id` on $judged"),
                      1);
    free(script);
}

TEST(without_slices_the_script_draws_misses_over_work)
{
    struct fr_check_row rows[5];
    struct fr__fit_picture p;
    char *script;

    make_products(rows, 4);
    make_picture(rows, 5, false, &p);
    script = script_of(&p);
    ck_assert_uint_eq(count_strings(script, "predicted / measured"), 1);
    ck_assert_uint_eq(count_strings(script, "formula alone"), 0);
    free(script);
}

/* ---- names of files ---- */

TEST(a_name_with_an_ending_we_cannot_draw_is_refused)
{
    struct fr_error err;

    ck_assert_int_eq(fr_fits_check_path("fits", &err), FR_OK);
    ck_assert_int_eq(fr_fits_check_path("a.b/fits", &err), FR_OK);
    ck_assert_int_eq(fr_fits_check_path(".", &err), FR_OK);
    ck_assert_int_eq(fr_fits_check_path("fits.svg", &err), FR_OK);
    ck_assert_int_eq(fr_fits_check_path("fits.gif", &err), FR_EUSAGE);
}

int main(void)
{
    TCase *t = tcase_create("fits");

    tcase_add_checked_fixture(t, setup, teardown);
    add_tests(t);
    return run_case(t, "results/fits");
}
