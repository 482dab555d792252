/* Cost curves of kernels that move memory: elementwise ops, embeddings, softmax, layer
 * normalisation. */
#include "config.h"

#include "calibrate/cost/model.h"
#include "calibrate/fit/read/data.h"
#include "tests/support/base_check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* 10 multiprocessors, 1 TB/s */
static const struct fr__machine machine = {10, 1e13, 1e12};

static double time_s(enum fr_curve_class op_class, const double parameters[],
                     const struct fr_kernel_shape *shape)
{
    const struct fr__curve_class *c = fr__curve_class_of(op_class);
    union fr__model model;

    c->prepare(&model, &machine, FR_FP32, parameters);
    return c->time_s(&model, shape);
}

/* A call of 30 us, 6 more when wrapped; 10 us to the first byte; half of the bandwidth, and
 * three times that from 2 MB of cache. */
static const double elementwise[FR__STREAM_N_PARAMETERS] = {
    [FR__STREAM_CALL_S] = 30e-6,    [FR__STREAM_START_S] = 10e-6, [FR__STREAM_FRAC] = .5,
    [FR__STREAM_CACHE_BYTES] = 2e6, [FR__STREAM_CACHE_GAIN] = 3,  [FR__STREAM_WRAPPER_S] = 6e-6,
};

static double elementwise_s(double bytes, bool is_wrapped)
{
    const struct fr_kernel_shape s = {.op_class = FR_CURVE_ELEMENTWISE,
                                      .memory = {.bytes = bytes, .is_wrapped = is_wrapped}};

    return time_s(FR_CURVE_ELEMENTWISE, elementwise, &s);
}

/* 2 MB of 100 MB at 1.5 TB/s, the rest at 0.5 TB/s */
TEST(what_does_not_fit_in_the_cache_comes_from_memory)
{
    ck_assert_double_eq_tol(elementwise_s(100e6, false), 10e-6 + 2e6 / 1.5e12 + 98e6 / .5e12,
                            1e-15);
}

TEST(a_small_kernel_takes_the_time_of_its_call)
{
    ck_assert_double_eq_tol(elementwise_s(4, false), 30e-6, 1e-15);
    ck_assert_double_eq_tol(elementwise_s(4, true), 36e-6, 1e-15);
    ck_assert_double_eq_tol(elementwise_s(0, false), 30e-6, 1e-15);
    /* the wrapper is on the host: beside a long kernel it does not show */
    ck_assert_double_eq(elementwise_s(1e9, true), elementwise_s(1e9, false));
}

TEST(more_bytes_never_take_less_time)
{
    double before = 0;

    for (double bytes = 1; bytes < 1e12; bytes *= 1.07) {
        double now = elementwise_s(bytes, false);

        ck_assert_double_ge(now, before);
        before = now;
    }
}

TEST(an_embedding_has_no_wrapper)
{
    const struct fr_kernel_shape s = {.op_class = FR_CURVE_EMBEDDING, .memory = {.bytes = 100e6}};

    ck_assert_double_eq(time_s(FR_CURVE_EMBEDDING, elementwise, &s), elementwise_s(100e6, false));
    ck_assert_ptr_null(fr_curve_parameter_name(FR_CURVE_EMBEDDING, FR__STREAM_WRAPPER_S));
}

/* All of the bandwidth, a cache of nothing; a second read beyond 4096 columns; 4 blocks a
 * multiprocessor. `wide` is softmax's. */
static void row_parameters(double p[FR__ROWS_N_PARAMETERS], double block_s)
{
    p[FR__STREAM_CALL_S] = 1e-9;
    p[FR__STREAM_START_S] = 1e-6;
    p[FR__STREAM_FRAC] = 1;
    p[FR__STREAM_CACHE_BYTES] = 1;
    p[FR__STREAM_CACHE_GAIN] = 1;
    p[FR__ROWS_REREAD] = .5;
    p[FR__ROWS_REREAD_COLUMNS] = 4096;
    p[FR__ROWS_BLOCKS_PER_SM] = 4;
    p[FR__ROWS_BLOCK_S] = block_s;
    p[FR__ROWS_COLUMN_S] = 1e-15;
    p[FR__ROWS_WIDE] = 2;
}

static double rows_s(enum fr_curve_class op_class, double block_s, double rows, double columns)
{
    const struct fr_kernel_shape s = {.op_class = op_class, .rows = {rows, columns}};
    double p[FR__ROWS_N_PARAMETERS];

    row_parameters(p, block_s);
    return time_s(op_class, p, &s);
}

/* 8 bytes an element; at 4096 columns half of the second read comes from memory: 1 + 0.5 / 2 */
TEST(a_row_is_read_again_when_it_is_too_long_for_the_registers)
{
    ck_assert_double_eq_tol(rows_s(FR_CURVE_LAYERNORM, 1e-15, 1e6, 4096),
                            1e-6 + 8 * 1e6 * 4096 / 1e12 * 1.25, 1e-9);
    ck_assert_double_eq_tol(rows_s(FR_CURVE_LAYERNORM, 1e-15, 1e6, 64), 1e-6 + 8 * 64e6 / 1e12,
                            1e-9);
}

/* 40 blocks at a time: 40 rows take one wave, 41 two, 400 ten; a byte's time is nothing beside */
TEST(short_rows_take_waves_of_blocks)
{
    ck_assert_double_eq_tol(rows_s(FR_CURVE_LAYERNORM, 1e-3, 40, 1), 1e-6 + 1e-3, 1e-9);
    ck_assert_double_eq_tol(rows_s(FR_CURVE_LAYERNORM, 1e-3, 41, 1), 1e-6 + 2e-3, 1e-9);
    ck_assert_double_eq_tol(rows_s(FR_CURVE_LAYERNORM, 1e-3, 400, 1), 1e-6 + 1e-2, 1e-9);
}

/* a second kernel beyond 1024 columns, at twice the time for the same bytes */
TEST(a_wide_softmax_is_another_kernel)
{
    double narrow_s = rows_s(FR_CURVE_SOFTMAX, 1e-15, 1e6, 1024) - 1e-6;
    double wide_s = rows_s(FR_CURVE_SOFTMAX, 1e-15, 1e6, 1025) - 1e-6;

    ck_assert_double_eq_tol(wide_s / narrow_s, 2.0 * 1025 / 1024, 1e-4);
    ck_assert_double_eq_tol(rows_s(FR_CURVE_LAYERNORM, 1e-15, 1e6, 1024) - 1e-6, narrow_s, 1e-9);
}

TEST(more_rows_or_columns_never_take_less_time)
{
    for (unsigned c = FR_CURVE_SOFTMAX; c <= FR_CURVE_LAYERNORM; c++) {
        double before = 0;

        for (double n = 1; n < 1e7; n *= 1.09) {
            double now = rows_s((enum fr_curve_class)c, 1e-6, n, 1000);

            ck_assert_double_ge(now, before);
            before = now;
        }
        before = 0;
        for (double n = 1; n < 1e6; n *= 1.09) {
            double now = rows_s((enum fr_curve_class)c, 1e-6, 1000, n);

            ck_assert_double_ge(now, before);
            before = now;
        }
    }
}

TEST(sizes_of_nothing_take_a_time_too)
{
    const double t = rows_s(FR_CURVE_SOFTMAX, 1e-6, 0, 0);

    ck_assert(isfinite(t) && t > 0);
}

/* What a device file may hold: any parameter at either end of its range, and the rates with it. */
LOOP_TEST(parameters_at_their_bounds_give_a_finite_time, 0, 8)
{
    static const double ends[] = {1e-12, 1e12}, rates[] = {1, 1e21};
    static const enum fr_curve_class known[] = {FR_CURVE_ELEMENTWISE, FR_CURVE_EMBEDDING,
                                                FR_CURVE_SOFTMAX, FR_CURVE_LAYERNORM};
    const struct fr__machine extreme = {rates[_i & 1], rates[_i >> 1 & 1], rates[_i >> 2 & 1]};

    for (unsigned k = 0; k < sizeof(known) / sizeof(known[0]); k++) {
        const struct fr__curve_class *c = fr__curve_class_of(known[k]);
        struct fr_kernel_shape s = {.op_class = known[k]};
        unsigned n = 0;

        while (c->parameters[n].name)
            n++;
        for (unsigned mask = 0; mask < 1u << n; mask++)
            for (double size = 0; size < 1e9; size = 1000 * size + 1) {
                double p[FR_CURVE_PARAMETERS], t_s;
                union fr__model model;

                for (unsigned i = 0; i < n; i++)
                    p[i] = ends[mask >> i & 1];
                if (known[k] == FR_CURVE_SOFTMAX || known[k] == FR_CURVE_LAYERNORM)
                    s.rows.rows = s.rows.columns = size;
                else
                    s.memory.bytes = size * size;
                c->prepare(&model, &extreme, FR_FP16, p);
                t_s = c->time_s(&model, &s);
                ck_assert(isfinite(t_s) && t_s > 0);
                ck_assert_double_le(c->work_s(&model, &s), t_s);
            }
    }
}

/* ---- data ---- */

static char path[64];

static void write_file(const char *text)
{
    FILE *f;

    snprintf(path, sizeof(path), "memory.%ld.csv", (long)getpid());
    f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    fputs(text, f);
    fclose(f);
}

static const char *const gpus[] = {"G"};

TEST(kernels_are_read_by_their_names)
{
    struct fr__data d = {0};
    struct fr_error err;

    write_file("gpu,kernel,shape,dtype,bytes,time_us\n"
               "G,add,rows=3;cols=5,float32,180,4\n"
               "G,relu,rows=3;cols=5,float32,120,4\n"
               "G,ln,rows=3;cols=5,float32,,4\n"
               "G,softmax,rows=3;cols=5,float32,,4\n"
               "G,input_layernorm,tokens=7;hidden=11;tp=2,float16,,4\n"
               "G,emb,tokens=7;hidden=11;tp=1,float16,,4\n"
               "G,emb,tokens=7;hidden=11;tp=2,float16,,4\n" /* a part of a table */
               "G,gelu,elements=1024,float16,4096,48\n"     /* timed another way */
               "G,pow,rows=3;cols=5,float32,120,4\n"        /* arithmetic */
               "G,mlp_act,tokens=7;hidden=11;ffn=4,float16,168,4\n");
    ck_assert_msg(fr__data_read(&d, path, 0, gpus, 1, &err) == FR_OK, "%s", err.text);
    ck_assert_uint_eq(d.n_rows, 6);
    ck_assert_double_eq(d.rows[0].shape.memory.bytes, 180);
    ck_assert(!d.rows[0].shape.memory.is_wrapped);
    ck_assert(d.rows[1].shape.memory.is_wrapped);
    ck_assert_int_eq(d.rows[2].shape.op_class, FR_CURVE_LAYERNORM);
    ck_assert_double_eq(d.rows[3].shape.rows.columns, 5);
    ck_assert_double_eq(d.rows[4].shape.rows.rows, 7);
    ck_assert_double_eq(d.rows[5].shape.memory.bytes, 2 * 7 * 11 * 2);
    fr__data_fini(&d);
    unlink(path);
}

static const struct {
    const char *row, *message;
} bad[] = {
    {"G,add,rows=3;cols=5,float32,,4", ":2:29: 'bytes' is empty, expected a whole number"},
    {"G,add,rows=3;cols=5,float32,-8,4", ":2:29: 'bytes' is \"-8\", not a whole number"},
    {"G,add,rows=3;cols=5,float32,9e99,4", ":2:29: 'bytes' is \"9e99\", not a whole number"},
    {"G,add,rows=3,float32,8,4", ":2:7: 'shape' has no cols=N"},
    {"G,emb,tokens=3,float32,8,4", ":2:7: 'shape' has no hidden=N"},
    {"G,softmax,rows=x;cols=2,float32,8,4",
     ":2:11: a number in 'shape' is \"x\", not a whole number"},
    {"G,ln,rows=3;cols=2,float32,8,-4",
     ":2:30: 'time_us' is \"-4\", expected a number from 0.001 to 1000000000000"},
};

LOOP_TEST(a_bad_row_is_refused_with_the_place, 0, sizeof(bad) / sizeof(bad[0]))
{
    char text[200], expected[200];
    struct fr__data d = {0};
    struct fr_error err;

    snprintf(text, sizeof(text), "gpu,kernel,shape,dtype,bytes,time_us\n%s\n", bad[_i].row);
    write_file(text);
    ck_assert_int_ne(fr__data_read(&d, path, 0, gpus, 1, &err), FR_OK);
    snprintf(expected, sizeof(expected), "%s%s", path, bad[_i].message);
    assert_message(&err, expected);
    fr__data_fini(&d);
    unlink(path);
}

/* ---- fits ---- */

static const struct fr_device_type device = {.name = "test-gpu",
                                             .is_gpu = true,
                                             .mem_Bps = 1e12,
                                             .flops_per_s = {[FR_FP32] = 10e12},
                                             .n_sms = 10};

static struct fr_calibration *fit(void)
{
    const char *const paths[] = {path};
    const struct fr_fit_request request = {&device, gpus, paths, 1, 1, false};
    struct fr_calibration *c;
    struct fr_error err;

    ck_assert_msg(fr_calibration_fit(&c, &request, NULL, &err) == FR_OK, "%s", err.text);
    return c;
}

/* 400 additions and activations by a model that we know. */
TEST(a_fit_finds_the_elementwise_model_that_made_the_data)
{
    static char text[40000];
    size_t used = (size_t)sprintf(text, "gpu,kernel,shape,dtype,bytes,time_us\n");
    struct fr_calibration *c;
    const double *p;

    for (unsigned i = 0; i < 400; i++) {
        double bytes = floor(1e4 * pow(1.035, i));

        used += (size_t)sprintf(text + used, "G,%s,rows=1;cols=1,fp32,%.0f,%.4f\n",
                                i % 2 ? "relu" : "add", bytes, 1e6 * elementwise_s(bytes, i % 2));
    }
    write_file(text);
    c = fit();
    p = fr_calibration_curve(c, 0)->parameters;
    ck_assert_uint_gt(fr_calibration_curve(c, 0)->held_out.n, 50);
    ck_assert_double_lt(fr_calibration_curve(c, 0)->held_out.p90, 0.01);
    ck_assert_double_eq_tol(p[FR__STREAM_CALL_S], 30e-6, 3e-7);
    ck_assert_double_eq_tol(p[FR__STREAM_FRAC], .5, .005);
    ck_assert_double_eq_tol(p[FR__STREAM_WRAPPER_S], 6e-6, 3e-7);
    fr_calibration_free(c);
    unlink(path);
}

/* The device's part of a long kernel is all but its start; of a short one, what it waits for the
 * next, and nothing of the host's 30 us (cost_model.h). */
TEST(a_kernel_leaves_out_the_call)
{
    struct fr__curve c = {.info = {.op_class = FR_CURVE_ELEMENTWISE, .dtype = FR_FP32},
                          .machine = machine};
    const struct fr_kernel_shape big = {.op_class = FR_CURVE_ELEMENTWISE,
                                        .memory = {.bytes = 100e6}};
    const struct fr_kernel_shape tiny = {.op_class = FR_CURVE_ELEMENTWISE, .memory = {.bytes = 1}};

    const struct fr__known k = {.curve = &c, .latency_s = 2.6e-6};

    memcpy(c.info.parameters, elementwise, sizeof(elementwise));
    fr__curve_prepare(&c);
    ck_assert_double_eq_tol(fr__kernel_s(&k, &big), 2e6 / 1.5e12 + 98e6 / .5e12, 3e-6);
    ck_assert_double_gt(fr__kernel_s(&k, &tiny), 0);
    ck_assert_double_lt(fr__kernel_s(&k, &tiny), 5e-6);
}

/* 400 matrices normalised by a model that we know. */
TEST(a_fit_finds_the_row_model_that_made_the_data)
{
    static const double truth[FR__ROWS_N_PARAMETERS] = {
        [FR__STREAM_CALL_S] = 2e-5,       [FR__STREAM_START_S] = 1e-5,  [FR__STREAM_FRAC] = .7,
        [FR__STREAM_CACHE_BYTES] = 5e6,   [FR__STREAM_CACHE_GAIN] = 2,  [FR__ROWS_REREAD] = .8,
        [FR__ROWS_REREAD_COLUMNS] = 3000, [FR__ROWS_BLOCKS_PER_SM] = 4, [FR__ROWS_BLOCK_S] = 1e-8,
        [FR__ROWS_COLUMN_S] = 1e-13};
    static char text[40000];
    size_t used = (size_t)sprintf(text, "gpu,kernel,shape,dtype,time_us\n");
    struct fr_calibration *c;
    const struct fr_curve_info *info;
    struct fr_kernel_shape s = {.op_class = FR_CURVE_LAYERNORM};

    for (unsigned i = 0; i < 400; i++) {
        unsigned rows = (unsigned)(300 * pow(1.4, i % 20)), columns = 128 + 613 * (i / 20);

        s.rows.rows = rows;
        s.rows.columns = columns;
        used += (size_t)sprintf(text + used, "G,ln,rows=%u;cols=%u,fp32,%.4f\n", rows, columns,
                                1e6 * time_s(FR_CURVE_LAYERNORM, truth, &s));
    }
    write_file(text);
    c = fit();
    info = fr_calibration_curve(c, 0);
    ck_assert_int_eq(info->op_class, FR_CURVE_LAYERNORM);
    ck_assert_uint_gt(info->held_out.n, 50);
    ck_assert_double_lt(info->held_out.median, 0.02);
    ck_assert_double_lt(info->held_out.p90, 0.08);
    ck_assert_double_eq_tol(info->parameters[FR__STREAM_CALL_S], 2e-5, 1e-6);
    ck_assert_double_eq_tol(info->parameters[FR__STREAM_FRAC], .7, .02);
    ck_assert_double_eq_tol(info->parameters[FR__ROWS_REREAD], .8, .15);
    fr_calibration_free(c);
    unlink(path);
}

int main(void)
{
    TCase *tc = tcase_create("memory");

    fr_init();
    tcase_set_timeout(tc, 30);
    add_tests(tc);
    return run_case(tc, "calibrate_memory");
}
