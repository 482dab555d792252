/* Residuals by trees: values by hand, fits to what is known, device files. */
#include "config.h"

#include "calibrate/curves/curve.h"
#include "calibrate/files/device_file.h"
#include "tests/support/base_check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- values ---- */

TEST(without_trees_everything_reads_0)
{
    const struct fr__trees none = {0};
    const double x[] = {3};

    ck_assert_double_eq(fr__trees_at(&none, x), 0);
}

TEST(a_leaf_is_numbered_by_its_answers_the_first_being_the_highest_bit)
{
    /* x = (5, 2): 5 >= 4 yes, 2 >= 4 no, 5 >= 5 yes, 2 >= 3 no, 5 >= 6 no: 10100b = 20 */
    struct fr__tree tree = {.splits = {{0, 4}, {1, 4}, {0, 5}, {1, 3}, {0, 6}}};
    const struct fr__trees t = {.n = 1, .trees = &tree, .low = -10000, .high = 10000};
    const double x[] = {5, 2};

    tree.thousandths[20] = 123;
    ck_assert_double_eq(fr__trees_at(&t, x), 0.123);
}

TEST(the_sum_of_trees_is_kept_within_the_range)
{
    struct fr__tree trees[2] = {{.splits = {{0, 0}}}, {.splits = {{0, 0}}}};
    const struct fr__trees t = {.n = 2, .trees = trees, .low = -50, .high = 150};
    const double x[] = {1};

    for (unsigned l = 0; l < FR__TREES_LEAVES; l++)
        trees[0].thousandths[l] = trees[1].thousandths[l] = 100;
    ck_assert_double_eq(fr__trees_at(&t, x), 0.150);
    for (unsigned l = 0; l < FR__TREES_LEAVES; l++)
        trees[0].thousandths[l] = trees[1].thousandths[l] = -100;
    ck_assert_double_eq(fr__trees_at(&t, x), -0.050);
}

/* ---- fits ---- */

enum { N = 400, N_FEATURES = 3 };

struct sample {
    double x[N][N_FEATURES], y[N];
    uint64_t group[N];
};

/* Features of different lengths of cycle, so that all combinations occur; the third says
 * nothing. */
static void make_sample(struct sample *s, double (*y)(const double x[]))
{
    uint64_t state = 1;

    for (size_t k = 0; k < N; k++) {
        s->x[k][0] = (double)(k % 20);
        s->x[k][1] = (double)(k / 20);
        s->x[k][2] = (double)(k % 7);
        s->y[k] = y(s->x[k]);
        state = state * 6364136223846793005u + 1;
        s->group[k] = state >> 20;
    }
}

static double fit(struct sample *s, struct fr__trees *t, size_t n)
{
    const struct fr__trees_points p = {
        .n = n, .n_features = N_FEATURES, .x = s->x[0], .y = s->y, .group = s->group};
    struct fr_error err;
    double miss;

    ck_assert_int_eq(fr__trees_fit(t, &p, &miss, &err), FR_OK);
    return miss;
}

/* A kernel that is taken from 12 on, and costs a fifth more where the other size is 5 or more. */
static double jump(const double x[])
{
    return x[0] >= 12 && x[1] >= 5 ? 0.2 : 0;
}

TEST(trees_find_where_a_choice_changes)
{
    static struct sample s;
    static const double before[] = {11, 9, 3}, after[] = {12, 9, 3}, elsewhere[] = {12, 4, 3};
    static const double beyond[] = {1e9, 1e9, 3};
    struct fr__trees t;

    make_sample(&s, jump);
    /* each tree takes 0.3 of what is left, at most 64 of them: 0.7^64 is nothing */
    ck_assert_double_lt(fit(&s, &t, N), 0.01);
    ck_assert_double_eq_tol(fr__trees_at(&t, before), 0, 0.01);
    ck_assert_double_eq_tol(fr__trees_at(&t, after), 0.2, 0.01);
    ck_assert_double_eq_tol(fr__trees_at(&t, elsewhere), 0, 0.01);
    ck_assert_double_eq(fr__trees_at(&t, beyond), fr__trees_at(&t, after));
    fr__trees_fini(&t);
}

/* Without a pattern: 0.1 up or down by a hash of the place. */
static double noise(const double x[])
{
    uint64_t h = ((uint64_t)x[0] * 31 + (uint64_t)x[1]) * UINT64_C(0x9e3779b97f4a7c15);

    return h >> 40 & 1 ? 0.1 : -0.1;
}

TEST(noise_is_not_learnt)
{
    static struct sample s;
    struct fr__trees t;
    double miss;

    make_sample(&s, noise);
    miss = fit(&s, &t, N);
    /* predicting 0 misses by 0.1; none of the counts tried may be chosen for doing worse */
    ck_assert_double_le(miss, 0.1 + 1e-12);
    ck_assert_uint_le(t.n, 8);
    fr__trees_fini(&t);
}

TEST(few_points_get_no_trees)
{
    static struct sample s;
    struct fr__trees t;

    make_sample(&s, jump);
    ck_assert_double_ge(fit(&s, &t, 39), 0);
    ck_assert_uint_eq(t.n, 0);
}

static double nothing(const double x[])
{
    (void)x;
    return 0;
}

TEST(nothing_left_gives_no_trees)
{
    static struct sample s;
    struct fr__trees t;

    make_sample(&s, nothing);
    ck_assert_double_eq(fit(&s, &t, N), 0);
    ck_assert_uint_eq(t.n, 0);
}

/* ---- classes ---- */

LOOP_TEST(features_are_as_many_as_their_names_and_finite, 0, 2)
{
    static const struct fr__machine machine = {80, 1e13, 1e12};
    static const enum fr_curve_class with_trees[] = {FR_CURVE_MATMUL, FR_CURVE_SOFTMAX};
    const struct fr__curve_class *c = fr__curve_class_of(with_trees[_i]);
    struct fr_kernel_shape shape = {.op_class = with_trees[_i]};
    double x[FR__TREES_FEATURES];
    size_t n = 0;

    while (c->feature_names[n])
        n++;
    ck_assert_uint_gt(n, 0);
    for (unsigned i = 0; i < FR__TREES_FEATURES; i++)
        x[i] = NAN;
    if (_i == 0)
        shape.matmul.rows = shape.matmul.columns = shape.matmul.depth = 2e9;
    else
        shape.rows.rows = shape.rows.columns = 2e9;
    c->features(&machine, FR_FP32, &shape, x);
    for (unsigned i = 0; i < FR__TREES_FEATURES; i++)
        ck_assert_int_eq(isfinite(x[i]) != 0, i < n);
}

static double feature(const struct fr__curve_class *c, const double x[], const char *name)
{
    for (size_t i = 0; c->feature_names[i]; i++)
        if (strcmp(c->feature_names[i], name) == 0)
            return x[i];
    ck_abort_msg("no feature %s", name);
    return 0;
}

TEST(features_of_a_product_are_those_of_its_tiles)
{
    /* 3 products of 200 x 100 x 50 on 4 multiprocessors: 200 rows use 200/256 of two tiles of 128,
     * 100 columns 100/128 of one. 2 x 1 x 3 = 6 tiles of 128 x 128 are 1.5 waves, so two waves that
     * are 0.75 full. Bytes in fp16: 3 (200 50 + 100 50 + 200 100) 2 = 210 000; work: 3 million. */
    static const struct fr__machine machine = {4, 1e13, 1e12};
    const struct fr_kernel_shape shape = {.op_class = FR_CURVE_MATMUL, .matmul = {3, 200, 100, 50}};
    const struct fr__curve_class *c = &fr__curve_matmul;
    double x[FR__TREES_FEATURES];

    c->features(&machine, FR_FP16, &shape, x);
    ck_assert_double_eq(feature(c, x, "rows/128"), 200.0 / 256);
    ck_assert_double_eq(feature(c, x, "columns/128"), 100.0 / 128);
    ck_assert_double_eq(feature(c, x, "waves-128x128"), 1.5);
    ck_assert_double_eq(feature(c, x, "full-128x128"), 0.75);
    ck_assert_double_eq(feature(c, x, "bytes"), 210000);
    ck_assert_double_eq(feature(c, x, "work"), 3e6);
    ck_assert_double_eq(feature(c, x, "left"), 30000);
    ck_assert_double_eq(feature(c, x, "right"), 15000);
}

TEST(twice_the_rows_of_a_shipped_curve_take_no_less)
{
    /* A step of the trees may go down, as real kernels' times do, but not by more than a third,
     * which is what the noisiest rows do: an order of magnitude would show a leaf gone wild. */
    for (size_t i = 0; fr_calibration_shipped(i); i++) {
        struct fr_calibration *c;
        struct fr_error err;
        const struct fr_curve_info *info;

        ck_assert_int_eq(fr_calibration_load(&c, fr_calibration_shipped(i), &err), FR_OK);
        for (size_t k = 0; (info = fr_calibration_curve(c, k)) != NULL; k++) {
            if (info->op_class != FR_CURVE_MATMUL)
                continue;
            for (unsigned s = 0; s < 600; s++) {
                struct fr_kernel_shape shape = {
                    .op_class = FR_CURVE_MATMUL,
                    .matmul = {1, 1u << s % 20, 64u << s / 20 % 10, 64u << s / 200 * 4}};
                double once_s = fr_calibration_time_s(c, k, &shape), twice_s;

                shape.matmul.rows *= 2;
                twice_s = fr_calibration_time_s(c, k, &shape);
                ck_assert_msg(twice_s > 0.5 * once_s, "%s %s: %g rows take %g us, %g take %g us",
                              fr_calibration_device(c), fr_dtype_name(info->dtype),
                              shape.matmul.rows / 2, 1e6 * once_s, shape.matmul.rows,
                              1e6 * twice_s);
            }
        }
        fr_calibration_free(c);
    }
}

/* ---- device files ---- */

#define HEAD(class, parameters)                                                                    \
    "device: d\ncurves:\n  - class: " class "\n    dtype: fp32\n    gpus: G\n    source: s\n"      \
                                            "    data_hash: '0123456789abcdef'\n    rows_fitted: " \
                                            "1\n"                                                  \
                                            "    held_out: {rows: 1, median: 0, p90: 0, worst: "   \
                                            "0, bias: 0}\n"                                        \
                                            "    n_sms: 4\n    peak_flops_per_s: 1e12\n    "       \
                                            "mem_Bps: 1e12\n    parameters:\n" parameters
#define PRODUCT                                                                                    \
    HEAD("matmul", "      launch_s: [1e-6, 0]\n      efficiency: [1, 0]\n"                         \
                   "      half_intensity: [1, 0]\n      memory_frac: [1, 0]\n"                     \
                   "      block_s: [1e-9, 0]\n      sharpness: [2, 0]\n")
#define ADDITION                                                                                   \
    HEAD("elementwise", "      call_s: [1e-6, 0]\n      start_s: [1e-6, 0]\n"                      \
                        "      memory_frac: [1, 0]\n      cache_bytes: [1e6, 0]\n"                 \
                        "      cache_gain: [2, 0]\n      wrapper_s: [1e-6, 0]\n")
#define SPLITS "      splits: [rows, 100, rows, 200, rows, 300, rows, 400, rows, 500]\n"
#define EIGHT "0,0,0,0,0,0,0,0"
#define LEAVES "      thousandths: [" EIGHT "," EIGHT "," EIGHT ",0,0,0,0,0,0,0,693]\n"

TEST(trees_of_a_file_multiply_the_time)
{
    static const char text[] =
        PRODUCT "    repeats: {rows: 4, median: 0.01, p90: 0.2, worst: 1, "
                "bias: 0}\n    trees:\n      range: [0, 700]\n" SPLITS LEAVES;
    /* beyond 500 rows every answer is yes: the last leaf, a factor of e^0.693 */
    struct fr_kernel_shape shape = {.op_class = FR_CURVE_MATMUL, .matmul = {1, 600, 64, 64}};
    struct fr_calibration *c;
    struct fr_error err;

    ck_assert_int_eq(fr__device_file_read(&c, text, strlen(text), "f", &err), FR_OK);
    ck_assert_double_eq_tol(fr_calibration_time_s(c, 0, &shape) /
                                fr_calibration_form_s(c, 0, &shape),
                            exp(0.693), 1e-12);
    shape.matmul.rows = 450;
    ck_assert_double_eq(fr_calibration_time_s(c, 0, &shape), fr_calibration_form_s(c, 0, &shape));
    ck_assert_uint_eq(fr_calibration_curve(c, 0)->n_residuals, FR__TREES_LEAVES);
    ck_assert_uint_eq(fr_calibration_curve(c, 0)->repeats.n, 4);
    fr_calibration_free(c);
}

static const struct {
    const char *text, *message;
} bad[] = {
    {PRODUCT "    trees: 3\n", "f:20:12: trees is a single value, expected a map (\"key: value\")"},
    {PRODUCT "    trees:\n      range: [0]\n" SPLITS LEAVES,
     "f:21:14: 'range' has 1 items, expected [low, high]"},
    {PRODUCT "    trees:\n      range: [0, 20000]\n" SPLITS LEAVES,
     "f:21:18: the range's high end is \"20000\", expected a number from -10000 to 10000"},
    {PRODUCT "    trees:\n      range: [0, 1]\n      splits: [rows, 100]\n" LEAVES,
     "f:22:15: 'splits' has 2 items, expected [feature, from, ...], 10 items a tree, at most 64 "
     "trees"},
    {PRODUCT "    trees:\n      range: [0, 1]\n"
             "      splits: [rows, 1, rows, 1, row, 1, rows, 1, rows, 1]\n" LEAVES,
     "f:22:34: \"row\" is no feature of this class, did you mean 'rows'?"},
    {PRODUCT "    trees:\n      range: [0, 1]\n"
             "      splits: [rows, 1, rows, 1, rows, -1, rows, 1, rows, 1]\n" LEAVES,
     "f:22:40: a split is \"-1\", expected a number from 0 to 1e+21"},
    {PRODUCT "    trees:\n      range: [0, 1]\n" SPLITS "      thousandths: [1, 2]\n",
     "f:23:20: 'thousandths' has 2 items, the splits make 32"},
    {ADDITION "    trees:\n      range: [0, 1]\n" SPLITS LEAVES,
     "f:20:5: curves of class elementwise have no trees"},
    {PRODUCT "    residual:\n      axes: [[0, 1, 1], [0, 1, 1], [0, 1, 1], [0, 1, 1]]\n"
             "      thousandths: [5]\n    trees:\n      range: [0, 1]\n" SPLITS LEAVES,
     "f:23:5: a curve has 'residual' or 'trees', not both"},
};

START_TEST(bad_trees_are_refused_with_the_place)
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
    TCase *tc = tcase_create("trees");

    add_tests(tc);
    tcase_add_loop_test(tc, bad_trees_are_refused_with_the_place, 0,
                        (int)(sizeof(bad) / sizeof(bad[0])));
    return run_case(tc, "calibrate_trees");
}
