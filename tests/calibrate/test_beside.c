/* What device files say beside curves: launches, and how work slows other work. */
#include "config.h"

#include "base/rng.h"
#include "calibrate/cost/model.h"
#include "calibrate/fit/read/data.h"
#include "tests/support/base_check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct fr_device_type device = {.name = "v100-sxm2-16gb",
                                             .is_gpu = true,
                                             .mem_bytes = UINT64_C(1) << 34,
                                             .mem_Bps = 1e12,
                                             .flops_per_s = {[FR_FP32] = 10e12},
                                             .vector_flops_per_s = 10e12,
                                             .n_sms = 20,
                                             .launch_s = 5e-6};
static const char *const gpus[] = {"none", "G"};
static char path[64], yaml[64];

static FILE *open_file(const char *header)
{
    FILE *f;

    snprintf(path, sizeof(path), "beside.%ld.csv", (long)getpid());
    snprintf(yaml, sizeof(yaml), "beside.%ld.yaml", (long)getpid());
    f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    fputs(header, f);
    return f;
}

#define BESIDE                                                                                     \
    "source,gpu,kernel,shape,dtype,beside,beside_shape,alone_us,together_us,slowdown,notes\n"
#define KERNELS "source,gpu,kernel,shape,dtype,bytes,time_us\n"

static struct fr_calibration *fit(void)
{
    const char *const paths[] = {path};
    const struct fr_fit_request request = {&device, gpus, paths, 2, 1, false};
    struct fr_calibration *c;
    struct fr_error err;

    ck_assert_msg(fr_calibration_fit(&c, &request, NULL, &err) == FR_OK, "%s", err.text);
    return c;
}

/* ---- work side by side ---- */

/* 60 kernels, half of which take `most` times as long beside the other work and half as long as
 * alone; 2 % of noise. */
static void write_pairs(FILE *f, const char *of, const char *beside, double most)
{
    struct fr__rng rng;

    fr__rng_init(&rng, 1, 7);
    for (unsigned i = 0; i < 60; i++) {
        double alone_us = 100, together_us = i % 2 ? 100 : 100 * most;

        fprintf(f, "p t s,G,%s,m=%u,float32,%s,bytes=9,%g,%.4f,,\n", of, i, beside, alone_us,
                together_us * exp(.02 * fr__rng_normal(&rng)));
    }
}

/* Equal times alone, half of them 1.6 times as long: 1.3 in all. Copies in the device are
 * kernels. */
TEST(a_factor_is_what_the_sum_of_times_grows_by)
{
    FILE *f = open_file(BESIDE);
    const struct fr_slowdowns *s;
    struct fr_calibration *c;

    write_pairs(f, "matmul", "all_reduce", 1.6);
    write_pairs(f, "copy-d2d", "copy-h2d", 1.2);
    write_pairs(f, "copy-d2h", "add", 1);
    fclose(f);
    c = fit();
    s = fr_calibration_slowdowns(c);
    ck_assert_ptr_nonnull(s);
    ck_assert_str_eq(s->gpus, "G");
    ck_assert_str_eq(s->source, "p s");
    ck_assert_double_eq_tol(s->of[FR_BESIDE_COMPUTE][FR_BESIDE_COLLECTIVE].factor, 1.3, 0.05);
    ck_assert_double_eq_tol(s->of[FR_BESIDE_COMPUTE][FR_BESIDE_COPY].factor, 1.1, 0.03);
    ck_assert_double_eq_tol(s->of[FR_BESIDE_COPY][FR_BESIDE_COMPUTE].factor, 1, 0.01);
    ck_assert_uint_eq(s->of[FR_BESIDE_COLLECTIVE][FR_BESIDE_COMPUTE].n_fitted, 0);
    ck_assert_double_eq(s->of[FR_BESIDE_COLLECTIVE][FR_BESIDE_COMPUTE].factor, 1);
    /* off by 30 % too long or 1.3 / 1.6 too short, in halves */
    ck_assert_double_eq_tol(s->of[FR_BESIDE_COMPUTE][FR_BESIDE_COLLECTIVE].held_out.p90, .3, 0.1);
    /* of 48 rows that are 1 or 1.6: 0.3 / sqrt(48) */
    ck_assert_double_eq_tol(s->of[FR_BESIDE_COMPUTE][FR_BESIDE_COLLECTIVE].error, .043, 0.02);
    ck_assert_uint_eq(s->of[FR_BESIDE_COMPUTE][FR_BESIDE_COLLECTIVE].n_fitted +
                          s->of[FR_BESIDE_COMPUTE][FR_BESIDE_COLLECTIVE].held_out.n,
                      60);
    fr_calibration_free(c);
    unlink(path);
}

TEST(a_file_without_curves_is_written_read_and_judged)
{
    const char *const paths[] = {path};
    struct fr_check checks[FR_N_BESIDE * FR_N_BESIDE];
    const struct fr_slowdown *before, *after;
    struct fr_calibration *c, *read;
    FILE *f = open_file(BESIDE);
    struct fr_error err;

    write_pairs(f, "matmul", "all_reduce", 1.6);
    fclose(f);
    c = fit();
    ck_assert_int_eq(fr_calibration_write(c, yaml, &err), FR_OK);
    ck_assert_msg(fr_calibration_load(&read, yaml, &err) == FR_OK, "%s", err.text);
    before = &fr_calibration_slowdowns(c)->of[FR_BESIDE_COMPUTE][FR_BESIDE_COLLECTIVE];
    after = &fr_calibration_slowdowns(read)->of[FR_BESIDE_COMPUTE][FR_BESIDE_COLLECTIVE];
    ck_assert_double_eq(after->factor, before->factor);
    ck_assert_uint_eq(after->n_fitted, before->n_fitted);
    ck_assert_uint_eq(fr_calibration_slowdowns(read)->data_hash,
                      fr_calibration_slowdowns(c)->data_hash);
    ck_assert_ptr_null(fr_calibration_launches(read));
    ck_assert_int_eq(fr_calibration_check_slowdowns(read, paths, 1, NULL, 0, false, checks, &err),
                     FR_OK);
    ck_assert_uint_eq(checks[FR_BESIDE_COLLECTIVE].misses.n, before->held_out.n);
    ck_assert_double_eq_tol(checks[FR_BESIDE_COLLECTIVE].misses.median, before->held_out.median,
                            1e-5);
    ck_assert_uint_eq(checks[FR_BESIDE_COLLECTIVE].n_left_out, before->n_fitted);
    fr_calibration_free(read);
    fr_calibration_free(c);
    unlink(path);
    unlink(yaml);
}

static const struct {
    const char *header, *row, *message;
} bad[] = {
    {BESIDE, "s,G,,m=1,float32,add,x,1,2,,",
     ":2:5: 'kernel' is empty, expected the name of a kernel"},
    {BESIDE, "s,G,add,m=1,float32,,x,1,2,,",
     ":2:21: 'beside' is empty, expected the name of a kernel"},
    {BESIDE, "s,G,add,m=1,float32,add,x,0,2,,",
     ":2:27: 'alone_us' is \"0\", expected a number from 0.001 to 1000000000000"},
    {BESIDE, "s,G,add,m=1,float32,add,x,1,,,", ":2:29: 'together_us' is empty, expected a number"},
    {BESIDE, "s,G,add,m=1,float32,add,x,1,1e999,,",
     ":2:29: 'together_us' is \"1e999\", too large for a number"},
    {KERNELS, "s,G,launch_host,nodes=200,float32,0,99999",
     ":2:37: 'time_us' is \"99999\", expected a number from 0.001 to 10000"},
    {KERNELS, "s,G,launch_graph,nodes=x,float32,0,1",
     ":2:18: a number in 'shape' is \"x\", not a whole number"},
    {KERNELS, "s,G,launch_chain,nodes=1,float32,-1,1",
     ":2:34: 'bytes' is \"-1\", not a whole number"},
};

LOOP_TEST(a_bad_row_is_refused_with_the_place, 0, sizeof(bad) / sizeof(bad[0]))
{
    struct fr__data d = {0};
    struct fr_error err;
    char expected[200];
    FILE *f = open_file(bad[_i].header);

    fprintf(f, "%s\n", bad[_i].row);
    fclose(f);
    ck_assert_int_ne(fr__data_read(&d, path, 0, gpus, 2, &err), FR_OK);
    snprintf(expected, sizeof(expected), "%s%s", path, bad[_i].message);
    assert_message(&err, expected);
    fr__data_fini(&d);
    unlink(path);
}

#define LOOK "  gpus: 'G'\n  source: 's'\n  data_hash: '0000000000000000'\n"
#define PAIRS "device: x\ninterference:\n" LOOK "  pairs:\n"
#define PAIR "{of: compute, beside: copy, factor: [1.1, 0], rows_fitted: 5, held_out: " NONE "}\n"
#define NONE "{rows: 0, median: 0, p90: 0, worst: 0, bias: 0}"

static const struct {
    const char *text, *message;
} bad_files[] = {
    {"device: x\n", ":1:1: 'curves' is missing"},
    {PAIRS "    - {of: compte}\n",
     ":7:12: 'of' is \"compte\", expected compute, copy or collective"},
    {PAIRS "    - " PAIR "    - " PAIR, ":8:7: compute beside copy comes twice"},
    {PAIRS "    - {of: copy, beside: copy, factor: [0.5, 0], rows_fitted: 5, held_out: " NONE "}\n",
     "0.5"},
    {PAIRS "    - {of: copy, beside: copy, factor: [2, 0], rows_fitted: 0, held_out: " NONE "}\n",
     "'rows_fitted' is 0"},
    {PAIRS "    - {of: copy, beside: copy, faktor: [2, 0]}\n", "faktor"},
    {"device: x\nlaunch:\n" LOOK "  gap_s: [1, 0]\n",
     ":6:11: gap_s is \"1\", expected a number from 1e-09 to 0.01"},
    {"device: x\nlaunch:\n" LOOK "  gap: [1e-6, 0]\n", "gap"},
    {"device: x\nlaunch: 3\n", "launch"},
    {"device: x\ninterference: []\n", "interference"},
};

LOOP_TEST(a_bad_device_file_is_refused_with_the_place, 0, sizeof(bad_files) / sizeof(bad_files[0]))
{
    struct fr_calibration *c = NULL;
    char expected[200];
    struct fr_error err;
    FILE *f;

    fclose(open_file(""));
    f = fopen(yaml, "w");
    ck_assert_ptr_nonnull(f);
    fputs(bad_files[_i].text, f);
    fclose(f);
    ck_assert_int_ne(fr_calibration_load(&c, yaml, &err), FR_OK);
    ck_assert_ptr_null(c);
    fr_error_string(&err, expected, sizeof(expected));
    ck_assert_msg(strstr(expected, bad_files[_i].message) != NULL, "%s", expected);
    unlink(path);
    unlink(yaml);
}

/* ---- launches ---- */

static void write_launches(void)
{
    FILE *f = open_file(KERNELS);

    fputs("s,G,launch_chain,nodes=1,float32,0,1.5\n"
          "s,G,launch_graph,nodes=1,float32,0,9\n" /* one by itself: a launch of the graph */
          "s,G,launch_graph,nodes=100,float32,0,0.9\n"
          "s,G,launch_graph,nodes=1000,float32,0,0.7\n"
          "s,G,launch_host,nodes=200,float32,0,2.5\n"
          "s,G,launch_framework,nodes=200,float32,0,8\n"
          "s,G,launch_sync,nodes=1,float32,0,12\n"
          "s,G,small_scale_kernel,elements=9,float64,300000,77\n" /* moves too much */
          "s,H,launch_chain,nodes=1,float32,0,99\n",
          f);
    fclose(f);
}

TEST(launches_are_the_medians_of_their_rows)
{
    const struct fr_launches *l;
    struct fr_calibration *c, *read;
    struct fr_error err;

    write_launches();
    c = fit();
    ck_assert_int_eq(fr_calibration_write(c, yaml, &err), FR_OK);
    ck_assert_msg(fr_calibration_load(&read, yaml, &err) == FR_OK, "%s", err.text);
    l = fr_calibration_launches(read);
    ck_assert_ptr_nonnull(l);
    ck_assert_double_eq_tol(l->time_s[FR_LAUNCH_GAP], 1.5e-6, 1e-12);
    ck_assert_double_eq_tol(l->time_s[FR_LAUNCH_GRAPH_GAP], 0.8e-6, 1e-12);
    ck_assert_double_eq_tol(l->time_s[FR_LAUNCH_HOST], 2.5e-6, 1e-12);
    ck_assert_double_eq_tol(l->time_s[FR_LAUNCH_FRAMEWORK], 8e-6, 1e-12);
    fr_calibration_free(read);
    fr_calibration_free(c);
    unlink(path);
    unlink(yaml);
}

/* The shipped curves hold more launch than the 1.5 us that stay; 1 GB/s makes bytes free of
 * doubt. */
TEST(the_cost_of_an_op_takes_the_launches_of_its_devices_file)
{
    const struct fr_kernel_shape tiny = {.op_class = FR_CURVE_ELEMENTWISE, .memory = {.bytes = 1}};
    const struct fr_cost_options with = {.device_file = yaml}, without = {0};
    struct fr_cost_model *a, *b;
    struct fr_calibration *c;
    struct fr_cost cost;
    struct fr_error err;
    struct fr__known k;

    write_launches();
    c = fit();
    ck_assert_int_eq(fr_calibration_write(c, yaml, &err), FR_OK);
    fr_calibration_free(c);
    ck_assert_msg(fr_cost_model_new(&a, &device, 1, &with, &err) == FR_OK, "%s", err.text);
    ck_assert_int_eq(fr_cost_model_new(&b, &device, 1, &without, &err), FR_OK);
    k = fr__cost_model_curve(a, 0, FR_CURVE_ELEMENTWISE, FR_FP32);
    ck_assert_double_eq_tol(k.latency_s, 1.5e-6, 1e-12);
    ck_assert_double_eq_tol(fr__cost_model_curve(b, 0, FR_CURVE_ELEMENTWISE, FR_FP32).latency_s,
                            2.6e-6, 1e-12);
    ck_assert_double_lt(fr__kernel_s(&k, &tiny), 2e-6);
    fr_cost_bytes(a, 0, 1e6, FR_OP_GRAD_ADD, &cost);
    ck_assert_double_eq_tol(cost.launch_s, 8e-6, 1e-12); /* a framework's */
    fr_cost_bytes(b, 0, 1e6, FR_OP_GRAD_ADD, &cost);
    ck_assert_double_eq_tol(cost.launch_s, 5e-6, 1e-12); /* the device type's */
    fr_cost_model_free(b);
    fr_cost_model_free(a);
    unlink(path);
    unlink(yaml);
}

int main(void)
{
    TCase *tc = tcase_create("beside");

    fr_init();
    tcase_set_timeout(tc, 30);
    add_tests(tc);
    return run_case(tc, "calibrate_beside");
}
