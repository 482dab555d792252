/* Measured times on another device type than they were measured on. */
#include "config.h"

#include "calibrate/calibrate.h"
#include "tests/support/base_check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* a streaming op; one of which only the time is known; the whole backward pass of the
 * first; a convolution without sizes */
enum { RELU, LAYER, BACKWARD, CONV, N_OPS };

struct times {
    uint32_t op;
    const char *device;
    double time_s; /* at batch 8; 0: no more */
};

static struct fr_graph *graph_of(const struct times times[])
{
    const struct fr_op ops[N_OPS] = {
        [RELU] = {.name = "relu",
                  .kind = FR_OP_RELU,
                  .flops = 1e6,
                  .bytes = 87e6,
                  .scales = true,
                  .phase = FR_PHASE_FORWARD,
                  .forward = FR_NONE},
        [LAYER] = {.name = "rest",
                   .kind = FR_OP_LAYER,
                   .scales = true,
                   .phase = FR_PHASE_FORWARD,
                   .forward = FR_NONE},
        [BACKWARD] = {.name = "relu.backward",
                      .kind = FR_OP_LAYER,
                      .scales = true,
                      .phase = FR_PHASE_BACKWARD_DATA,
                      .forward = RELU},
        [CONV] = {.name = "conv",
                  .kind = FR_OP_CONV2D,
                  .flops = 2e9,
                  .bytes = 1e6,
                  .scales = true,
                  .phase = FR_PHASE_FORWARD,
                  .forward = FR_NONE},
    };
    const struct fr_graph info = {
        .name = "hand", .source = "test", .batch = 8, .dtype = FR_FP32, .param_elem_bytes = 4};
    struct fr_graph_builder *b = fr_graph_builder_new();
    struct fr_graph *g = NULL;
    struct fr_error err;

    ck_assert_ptr_nonnull(b);
    for (uint32_t i = 0; i < N_OPS; i++)
        ck_assert_uint_eq(fr_graph_builder_op(b, &ops[i], NULL, NULL, 0), i);
    for (size_t i = 0; times[i].time_s > 0; i++)
        fr_graph_builder_sample(b, times[i].op, times[i].device, 8, times[i].time_s);
    ck_assert_msg(fr_graph_builder_finish(b, &info, &g, &err) == FR_OK, "%s", err.text);
    fr_graph_builder_free(b);
    return g;
}

static struct fr_cost cost(const struct times times[], const char *device, uint32_t op,
                           double batch)
{
    const struct fr_device_type *type = fr_device_type_find(device);
    struct fr_graph *g = graph_of(times);
    const struct fr_cost_options o = {.graph = g};
    const struct fr_part part = {.batch = batch};
    struct fr_cost_model *m = NULL;
    struct fr_error err;
    struct fr_cost c;

    ck_assert_ptr_nonnull(type);
    ck_assert_msg(fr_cost_model_new(&m, type, 1, &o, &err) == FR_OK, "%s", err.text);
    fr_cost_op(m, 0, g, op, &part, &c);
    fr_cost_model_free(m);
    fr_graph_free(g);
    return c;
}

static const struct times none[] = {{0, NULL, 0}};

/* On the type itself the sample; on another one times the ratio of the two curves, and as uncertain
 * as these two are together. */
TEST(a_time_moves_to_another_type_by_the_ratio_of_the_curves)
{
    static const struct times on_p100[] = {{RELU, "p100-pcie-16gb", 3e-3}, {0, NULL, 0}};
    struct fr_cost there = cost(none, "p100-pcie-16gb", RELU, 8);
    struct fr_cost here = cost(none, "v100-sxm2-16gb", RELU, 8);
    struct fr_cost half = cost(none, "v100-sxm2-16gb", RELU, 4);
    struct fr_cost c = cost(on_p100, "v100-sxm2-16gb", RELU, 8);

    ck_assert_int_eq(cost(on_p100, "p100-pcie-16gb", RELU, 8).trust, FR_TRUST_PROFILED);
    ck_assert_int_eq(c.trust, FR_TRUST_SCALED);
    ck_assert_double_lt(here.mean_s, 0.9 * there.mean_s); /* the ratio is no 1 */
    ck_assert_double_eq_tol(c.mean_s, 3e-3 * here.mean_s / there.mean_s, 1e-12);
    ck_assert_double_eq_tol(c.error_frac, hypot(here.error_frac, there.error_frac), 1e-12);
    ck_assert_double_eq(c.launch_s, 0);
    c = cost(on_p100, "v100-sxm2-16gb", RELU, 4);
    ck_assert_double_eq_tol(c.mean_s, 3e-3 * half.mean_s / there.mean_s, 1e-12);
}

/* There is no curve for a whole backward pass: it changes as the forward pass does. */
TEST(an_op_without_a_curve_moves_by_its_forward_ops)
{
    static const struct times on_p100[] = {{BACKWARD, "p100-pcie-16gb", 7e-3}, {0, NULL, 0}};
    struct fr_cost there = cost(none, "p100-pcie-16gb", RELU, 8);
    struct fr_cost here = cost(none, "v100-sxm2-16gb", RELU, 8);
    struct fr_cost c = cost(on_p100, "v100-sxm2-16gb", BACKWARD, 8);

    ck_assert_int_eq(c.trust, FR_TRUST_SCALED);
    ck_assert_double_eq_tol(c.mean_s, 7e-3 * here.mean_s / there.mean_s, 1e-12);
    ck_assert_double_eq_tol(c.error_frac, hypot(hypot(here.error_frac, there.error_frac), 0.26),
                            1e-12);
}

/* 2 x 1000^3 FLOPs and no sizes: as a product of 1000 x 1000 x 1000, which the V100 is faster
 * at. */
TEST(an_op_of_products_without_sizes_moves_as_a_product_of_its_flops)
{
    static const struct times on_p100[] = {{CONV, "p100-pcie-16gb", 7e-3}, {0, NULL, 0}};
    const struct fr_kernel_shape product = {.op_class = FR_CURVE_MATMUL,
                                            .matmul = {1, 1e3, 1e3, 1e3}};
    struct fr_cost c = cost(on_p100, "v100-sxm2-16gb", CONV, 8);
    struct fr_calibration *p100 = NULL, *v100 = NULL;
    struct fr_error err;
    double ratio;

    ck_assert_int_eq(fr_calibration_load(&p100, "p100-pcie-16gb", &err), FR_OK);
    ck_assert_int_eq(fr_calibration_load(&v100, "v100-sxm2-16gb", &err), FR_OK);
    ratio =
        fr_calibration_time_s(v100, fr_calibration_find(v100, FR_CURVE_MATMUL, FR_FP32), &product) /
        fr_calibration_time_s(p100, fr_calibration_find(p100, FR_CURVE_MATMUL, FR_FP32), &product);
    ck_assert_int_eq(c.trust, FR_TRUST_SCALED);
    /* the launch of the P100's curve, a framework's, is left out */
    ck_assert_double_eq_tol(c.mean_s, 7e-3 * ratio, 0.2 * c.mean_s);
    ck_assert_double_lt(c.mean_s, 0.9 * 7e-3);
    ck_assert_double_gt(c.error_frac, 0.32);
    ck_assert_double_lt(c.error_frac, 0.4);
    fr_calibration_free(p100);
    fr_calibration_free(v100);
}

TEST(of_several_types_the_nearest_relative_is_moved)
{
    static const struct times times[] = {{RELU, "a100-sxm4-80gb", 1e-3},
                                         {RELU, "p100-pcie-16gb", 3e-3},
                                         {RELU, "v100-pcie-32gb", 2e-3},
                                         {RELU, "*", 9},
                                         {0, NULL, 0}};
    struct fr_cost there = cost(none, "v100-pcie-32gb", RELU, 8);
    struct fr_cost here = cost(none, "v100-sxm2-16gb", RELU, 8);

    ck_assert_double_eq_tol(cost(times, "v100-sxm2-16gb", RELU, 8).mean_s,
                            2e-3 * here.mean_s / there.mean_s, 1e-12);
}

TEST(a_time_of_no_named_type_is_taken_as_it_is_and_says_so)
{
    static const struct times times[] = {{RELU, "*", 3e-3}, {LAYER, "*", 5e-3}, {0, NULL, 0}};
    struct fr_cost c = cost(times, "v100-sxm2-16gb", RELU, 8);

    ck_assert_double_eq(c.mean_s, 3e-3);
    ck_assert_int_eq(c.trust, FR_TRUST_PROFILED_ELSEWHERE);
    ck_assert_double_eq_tol(c.error_frac, 1.1, 1e-12);
    ck_assert(fr_trust_is_measured(c.trust));
    c = cost(times, "v100-sxm2-16gb", LAYER, 4);
    ck_assert_double_eq_tol(c.mean_s, 2.5e-3, 1e-15);
    ck_assert_int_eq(c.trust, FR_TRUST_PROFILED_ELSEWHERE);
}

/* No curve for the op here: a peak rate is no better. No curve for the type there: this one's
 * curve. */
TEST(without_two_curves_a_time_stays_or_this_types_curve_is_taken)
{
    static const struct times times[] = {
        {LAYER, "p100-pcie-16gb", 5e-3}, {RELU, "my-own-gpu", 3e-3}, {0, NULL, 0}};
    struct fr_cost c = cost(times, "v100-sxm2-16gb", LAYER, 8);

    ck_assert_double_eq(c.mean_s, 5e-3);
    ck_assert_int_eq(c.trust, FR_TRUST_PROFILED_ELSEWHERE);
    c = cost(times, "v100-sxm2-16gb", RELU, 8);
    ck_assert_double_eq(c.mean_s, cost(none, "v100-sxm2-16gb", RELU, 8).mean_s);
    ck_assert(!fr_trust_is_measured(c.trust));
}

/* ---- by how much such transfers err ---- */

static const char *const gpus[] = {"a100-pcie-40gb", "h100-sxm5-80gb", "l4", "p100-pcie-16gb", "t4",
                                   "v100-pcie-32gb"};
enum { N_GPUS = sizeof(gpus) / sizeof(gpus[0]), MOST_ROWS = 2000, MOST_PAIRS = 20000 };

struct measured {
    size_t n;
    struct fr_check_row rows[MOST_ROWS];
};

static enum fr_status keep(void *user, const struct fr_check_row *row, struct fr_error *err)
{
    struct measured *m = user;

    (void)err;
    if (row->is_held_out && m->n < MOST_ROWS)
        m->rows[m->n++] = *row;
    return FR_OK;
}

static bool is_same_shape(const struct fr_kernel_shape *a, const struct fr_kernel_shape *b)
{
    return a->matmul.batch == b->matmul.batch && a->matmul.rows == b->matmul.rows &&
           a->matmul.columns == b->matmul.columns && a->matmul.depth == b->matmul.depth;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Logarithms of the ratios of two types' times for the same product, as measured and after a
 * move. */
struct misses {
    size_t n;
    double raw[MOST_PAIRS], moved[MOST_PAIRS];
};

static void compare(struct misses *m, const struct measured *a, const struct measured *b)
{
    for (size_t i = 0; i < a->n; i++)
        for (size_t k = 0; k < b->n && m->n < MOST_PAIRS; k++) {
            const struct fr_check_row *x = &a->rows[i], *y = &b->rows[k];

            if (!is_same_shape(&x->shape, &y->shape))
                continue;
            m->raw[m->n] = fabs(log(y->measured_s / x->measured_s));
            m->moved[m->n++] =
                fabs(log(x->measured_s * y->predicted_s / x->predicted_s / y->measured_s));
            break;
        }
}

static double rms(const double x[], size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += x[i] * x[i];
    return sqrt(sum / (double)n);
}

/* fp32 products of six types, held-out rows: as measured 1.1 apart, moved 0.16 with a median of 6
 * %. */
TEST(a_move_by_curves_errs_far_less_than_none)
{
    struct measured *of = calloc(N_GPUS, sizeof(*of));
    struct misses *m = calloc(1, sizeof(*m));
    const char *srcdir = getenv("srcdir"), *paths[1];
    struct fr_error err;
    char path[1024];

    snprintf(path, sizeof(path), "%s/../shared/data/microbench/gemm.csv", srcdir ? srcdir : ".");
    paths[0] = path;
    if (access(path, R_OK) != 0) {
        printf("SKIPPED: %s is not there\n", path);
        free(of);
        free(m);
        return;
    }
    ck_assert(of && m);
    for (size_t i = 0; i < N_GPUS; i++) {
        struct fr_calibration *c = NULL;

        ck_assert_int_eq(fr_calibration_load(&c, gpus[i], &err), FR_OK);
        ck_assert_msg(fr_calibration_visit(c, fr_calibration_find(c, FR_CURVE_MATMUL, FR_FP32),
                                           paths, 1, NULL, 0, keep, &of[i], &err) == FR_OK,
                      "%s", err.text);
        fr_calibration_free(c);
    }
    for (size_t i = 0; i < N_GPUS; i++)
        for (size_t k = i + 1; k < N_GPUS; k++)
            compare(m, &of[i], &of[k]);
    ck_assert_uint_gt(m->n, 1000);
    ck_assert_double_eq_tol(rms(m->raw, m->n), 1.1, 0.15);
    ck_assert_double_lt(rms(m->moved, m->n), 0.2);
    qsort(m->moved, m->n, sizeof(m->moved[0]), by_value);
    ck_assert_double_lt(m->moved[m->n / 2], 0.07);
    free(of);
    free(m);
}

int main(void)
{
    TCase *tc = tcase_create("profiles");

    tcase_set_timeout(tc, 120);
    add_tests(tc);
    return run_case(tc, "calibrate_profiles");
}
