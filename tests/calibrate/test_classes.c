/* The classes that calibrate/measure/cuda/memory_bound and calibrate/measure/torch_attention.py
 * write beside those that others have measured: read, fitted, written, judged, and used for the
 * cost of ops. */
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

static const struct fr_device_type device = {.name = "test-gpu",
                                             .is_gpu = true,
                                             .mem_bytes = UINT64_C(1) << 34,
                                             .mem_Bps = 1e12,
                                             .flops_per_s = {[FR_FP32] = 10e12, [FR_FP16] = 100e12},
                                             .vector_flops_per_s = 10e12,
                                             .n_sms = 20,
                                             .launch_s = 5e-6};
static const struct fr__machine machine = {20, 10e12, 1e12};
static const char *const gpus[] = {"G"};
static char path[64], yaml[64];

static FILE *open_rows(void)
{
    FILE *f;

    snprintf(path, sizeof(path), "classes.%ld.csv", (long)getpid());
    snprintf(yaml, sizeof(yaml), "classes.%ld.yaml", (long)getpid());
    f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    fputs("gpu,kernel,shape,dtype,bytes,time_us\n", f);
    return f;
}

/* ---- reading ---- */

/* What each program writes, and what it is. */
static const struct {
    const char *kernel, *shape;
    enum fr_curve_class op_class;
} written[] = {
    {"copy", "rows=1;cols=100", FR_CURVE_ELEMENTWISE},
    {"dropout_backward", "rows=1;cols=100", FR_CURVE_ELEMENTWISE},
    {"dropout", "rows=1;cols=100", FR_CURVE_DROPOUT},
    {"reduction", "rows=1;cols=100", FR_CURVE_REDUCTION},
    {"column_sum", "rows=4;cols=100", FR_CURVE_REDUCTION},
    {"transpose", "rows=4;cols=100", FR_CURVE_TRANSPOSE},
    {"softmax_backward", "rows=4;cols=100", FR_CURVE_SOFTMAX_BACKWARD},
    {"ln_backward", "rows=4;cols=100", FR_CURVE_LAYERNORM_BACKWARD},
    {"batchnorm", "n=2;c=3;pixels=5", FR_CURVE_BATCHNORM},
    {"batchnorm_backward", "n=2;c=3;pixels=5", FR_CURVE_BATCHNORM_BACKWARD},
    {"maxpool", "n=2;c=3;h=8;w=8;k=3;stride=2", FR_CURVE_POOLING},
    {"avgpool", "n=2;c=3;h=8;w=8;k=3;stride=2", FR_CURVE_POOLING},
    {"maxpool_backward", "n=2;c=3;h=8;w=8;k=3;stride=2", FR_CURVE_POOLING_BACKWARD},
    {"avgpool_backward", "n=2;c=3;h=8;w=8;k=3;stride=2", FR_CURVE_POOLING_BACKWARD},
    {"emb", "tokens=4;hidden=100;words=30522", FR_CURVE_EMBEDDING},
    {"emb_backward", "tokens=4;hidden=100;words=30522", FR_CURVE_EMBEDDING_BACKWARD},
    {"sgd", "rows=1;cols=100", FR_CURVE_OPTIMIZER},
    {"momentum", "rows=1;cols=100", FR_CURVE_OPTIMIZER},
    {"adam", "rows=1;cols=100", FR_CURVE_OPTIMIZER},
    {"full_attention", "batch=1;isl=9;step=0;heads=2;kv_heads=2;head_dim=8", FR_CURVE_ATTENTION},
    {"full_attention_backward", "batch=1;isl=9;step=0;heads=2;kv_heads=2;head_dim=8",
     FR_CURVE_ATTENTION_BACKWARD},
    {"context_attention_backward", "batch=1;isl=9;step=0;heads=2;kv_heads=2;head_dim=8",
     FR_CURVE_ATTENTION_BACKWARD},
};
enum { N_WRITTEN = sizeof(written) / sizeof(written[0]) };

TEST(each_kernel_that_we_measure_has_a_class)
{
    struct fr__data d = {0};
    struct fr_error err;
    FILE *f = open_rows();

    for (size_t i = 0; i < N_WRITTEN; i++)
        fprintf(f, "G,%s,%s,float16,1200,4\n", written[i].kernel, written[i].shape);
    fclose(f);
    ck_assert_msg(fr__data_read(&d, path, 0, gpus, 1, &err) == FR_OK, "%s", err.text);
    ck_assert_uint_eq(d.n_rows, N_WRITTEN);
    for (size_t i = 0; i < N_WRITTEN; i++) {
        const struct fr_kernel_shape *s = &d.rows[i].shape;

        ck_assert_msg(s->op_class == written[i].op_class, "%s is %s", written[i].kernel,
                      fr_curve_class_name(s->op_class));
        if (s->op_class == FR_CURVE_BATCHNORM) {
            ck_assert_double_eq(s->batchnorm.channels, 3);
            ck_assert_double_eq(s->batchnorm.values, 10);
        }
        if (s->op_class == FR_CURVE_OPTIMIZER)
            ck_assert_double_eq(s->memory.bytes, 1200);
        if (s->op_class == FR_CURVE_ATTENTION)
            ck_assert(!s->attention.is_causal);
    }
    ck_assert(d.rows[N_WRITTEN - 1].shape.attention.is_causal);
    fr__data_fini(&d);
    unlink(path);
}

static const struct {
    const char *row, *message;
} bad[] = {
    {"G,adam,rows=1;cols=2,fp32,,4", ":2:27: 'bytes' is empty, expected a whole number"},
    {"G,adam,rows=1;cols=2,fp32,0,4",
     ":2:27: 'bytes' is \"0\", expected a whole number from 1 to 281474976710656"},
    {"G,maxpool,nonsense,fp32,1e5,4", ":2:25: 'bytes' is \"1e5\", not a whole number"},
    {"G,batchnorm,n=2;c=3,fp32,8,4", ":2:13: 'shape' has no pixels=N"},
    {"G,batchnorm,c=3;pixels=4,fp32,8,4", ":2:13: 'shape' has no n=N"},
    {"G,batchnorm,n=2;c=0;pixels=4,fp32,8,4",
     ":2:13: a number in 'shape' is \"0\", expected a whole number from 1 to 281474976710656"},
    {"G,batchnorm_backward,n=281474976710656;c=2;pixels=4,fp32,8,4",
     ":2:22: 'shape' makes more than 2^48 values, which no GPU holds"},
    {"G,full_attention_backward,batch=1;isl=9;heads=2;kv_heads=2,fp32,8,4",
     ":2:27: 'shape' has no head_dim=N"},
    {"G,ln_backward,rows=3,fp32,8,4", ":2:15: 'shape' has no cols=N"},
};

LOOP_TEST(a_bad_row_is_refused_with_the_place, 0, sizeof(bad) / sizeof(bad[0]))
{
    struct fr__data d = {0};
    struct fr_error err;
    char expected[200];
    FILE *f = open_rows();

    fprintf(f, "%s\n", bad[_i].row);
    fclose(f);
    ck_assert_int_ne(fr__data_read(&d, path, 0, gpus, 1, &err), FR_OK);
    snprintf(expected, sizeof(expected), "%s%s", path, bad[_i].message);
    assert_message(&err, expected);
    fr__data_fini(&d);
    unlink(path);
}

/* ---- fits of rows that a model which we know has made, with 2 % of noise ---- */

#define STREAM                                                                                     \
    [FR__STREAM_CALL_S] = 2e-6, [FR__STREAM_START_S] = 3e-6, [FR__STREAM_FRAC] = .6,               \
    [FR__STREAM_CACHE_BYTES] = 5e6, [FR__STREAM_CACHE_GAIN] = 2

static const double stream_truth[FR_CURVE_PARAMETERS] = {STREAM};
static const double rows_truth[FR_CURVE_PARAMETERS] = {STREAM,
                                                       [FR__ROWS_REREAD] = .6,
                                                       [FR__ROWS_REREAD_COLUMNS] = 8000,
                                                       [FR__ROWS_BLOCKS_PER_SM] = 2,
                                                       [FR__ROWS_BLOCK_S] = 1e-6,
                                                       [FR__ROWS_COLUMN_S] = 1e-10};
static const double attention_truth[FR_CURVE_PARAMETERS] = {
    [FR__ATTENTION_LAUNCH_S] = 8e-6,    [FR__ATTENTION_EFFICIENCY] = .5,
    [FR__ATTENTION_HALF_HEAD_DIM] = 30, [FR__ATTENTION_MEMORY_FRAC] = .6,
    [FR__ATTENTION_KV_PASSES] = 2,      [FR__ATTENTION_BLOCK_S] = 1e-6,
    [FR__ATTENTION_SHARPNESS] = 3};

static double model_s(const double parameters[], const struct fr_kernel_shape *shape)
{
    const struct fr__curve_class *c = fr__curve_class_of(shape->op_class);
    union fr__model model;

    c->prepare(&model, &machine, FR_FP32, parameters);
    return c->time_s(&model, shape);
}

static double noise(struct fr__rng *rng)
{
    return exp(.02 * fr__rng_normal(rng));
}

static void write_stream(FILE *f, const char *kernel, enum fr_curve_class c, struct fr__rng *rng)
{
    for (unsigned i = 0; i < 200; i++) {
        struct fr_kernel_shape s = {.op_class = c,
                                    .memory = {.bytes = floor(4096 * pow(1.065, i))}};

        fprintf(f, "G,%s,rows=1;cols=1,fp32,%.0f,%.5f\n", kernel, s.memory.bytes,
                1e6 * model_s(stream_truth, &s) * noise(rng));
    }
}

static void write_matrices(FILE *f, const char *kernel, enum fr_curve_class c, struct fr__rng *rng)
{
    bool is_batchnorm = c == FR_CURVE_BATCHNORM || c == FR_CURVE_BATCHNORM_BACKWARD;

    for (unsigned i = 0; i < 240; i++) {
        struct fr_kernel_shape s = {.op_class = c};
        unsigned a = (unsigned)(16 * pow(1.7, i % 15)), b = (unsigned)(100 * pow(1.7, i / 15));
        double time_s;

        if (is_batchnorm) {
            s.batchnorm.channels = a;
            s.batchnorm.values = 4 * b;
        } else {
            s.rows.rows = a;
            s.rows.columns = b;
        }
        time_s = 1e6 * model_s(rows_truth, &s) * noise(rng);
        fprintf(f,
                is_batchnorm ? "G,%s,n=4;c=%u;pixels=%u,fp32,,%.5f\n"
                             : "G,%s,rows=%u;cols=%u,fp32,,%.5f\n",
                kernel, a, b, time_s);
    }
}

static void write_attention(FILE *f, const char *kernel, enum fr_curve_class c, struct fr__rng *rng)
{
    for (unsigned i = 0; i < 240; i++) {
        struct fr_kernel_shape s = {.op_class = c,
                                    .attention = {.batch = 1 << i % 5,
                                                  .heads = 4 << i / 5 % 3,
                                                  .kv_heads = 4 << i / 5 % 3,
                                                  .seq = 64 << i / 15 % 8,
                                                  .head_dim = 32 << i / 120,
                                                  .is_causal = strncmp(kernel, "context", 7) == 0}};

        fprintf(
            f,
            "G,%s,batch=%.0f;isl=%.0f;step=0;heads=%.0f;kv_heads=%.0f;head_dim=%.0f,fp32,,%.5f\n",
            kernel, s.attention.batch, s.attention.seq, s.attention.heads, s.attention.kv_heads,
            s.attention.head_dim, 1e6 * model_s(attention_truth, &s) * noise(rng));
    }
}

static const struct {
    const char *kernel;
    enum fr_curve_class op_class;
    void (*write)(FILE *f, const char *kernel, enum fr_curve_class c, struct fr__rng *rng);
    const double *truth;
} fitted[] = {
    {"dropout", FR_CURVE_DROPOUT, write_stream, stream_truth},
    {"reduction", FR_CURVE_REDUCTION, write_stream, stream_truth},
    {"transpose", FR_CURVE_TRANSPOSE, write_stream, stream_truth},
    {"maxpool", FR_CURVE_POOLING, write_stream, stream_truth},
    {"avgpool_backward", FR_CURVE_POOLING_BACKWARD, write_stream, stream_truth},
    {"emb_backward", FR_CURVE_EMBEDDING_BACKWARD, write_stream, stream_truth},
    {"adam", FR_CURVE_OPTIMIZER, write_stream, stream_truth},
    {"softmax_backward", FR_CURVE_SOFTMAX_BACKWARD, write_matrices, rows_truth},
    {"ln_backward", FR_CURVE_LAYERNORM_BACKWARD, write_matrices, rows_truth},
    {"batchnorm", FR_CURVE_BATCHNORM, write_matrices, rows_truth},
    {"batchnorm_backward", FR_CURVE_BATCHNORM_BACKWARD, write_matrices, rows_truth},
    {"context_attention_backward", FR_CURVE_ATTENTION_BACKWARD, write_attention, attention_truth},
};
enum { N_FITTED = sizeof(fitted) / sizeof(fitted[0]) };

static struct fr_calibration *fit_class(int i)
{
    const char *const paths[] = {path};
    const struct fr_fit_request request = {&device, gpus, paths, 1, 1, false};
    struct fr_calibration *c;
    struct fr_error err;
    struct fr__rng rng;
    FILE *f = open_rows();

    fr__rng_init(&rng, 1, (uint64_t)i);
    fitted[i].write(f, fitted[i].kernel, fitted[i].op_class, &rng);
    fclose(f);
    ck_assert_msg(fr_calibration_fit(&c, &request, NULL, &err) == FR_OK, "%s", err.text);
    return c;
}

/* What large kernels take, which is what rows say most of: the fraction of the peak or of the
 * bandwidth; of rows too long for registers that with what is read again. */
static double rate_of(int i, const double p[])
{
    if (fitted[i].truth == attention_truth)
        return p[FR__ATTENTION_EFFICIENCY];
    return fitted[i].truth == stream_truth ? p[FR__STREAM_FRAC]
                                           : p[FR__STREAM_FRAC] / (1 + p[FR__ROWS_REREAD]);
}

/* Of 2 % of noise half lies within 1.35 % and nine tenths within 3.3 %; a fit may add as much
 * again, and three times that where waves of blocks make steps, which the grid of residuals
 * rounds. What large kernels take is known best. */
LOOP_TEST(a_fit_finds_the_model_that_made_the_rows, 0, N_FITTED)
{
    struct fr_calibration *c = fit_class(_i);
    const struct fr_curve_info *info = fr_calibration_curve(c, 0);
    double bound = fitted[_i].truth == rows_truth ? 3 : 2;

    ck_assert_int_eq(info->op_class, fitted[_i].op_class);
    ck_assert_uint_gt(info->held_out.n, 20);
    ck_assert_msg(info->held_out.median < bound * 0.0135 && info->held_out.p90 < bound * 0.033,
                  "%s: %.4f, %.4f", fitted[_i].kernel, info->held_out.median, info->held_out.p90);
    ck_assert_double_eq_tol(rate_of(_i, info->parameters) / rate_of(_i, fitted[_i].truth), 1,
                            bound * 0.05);
    ck_assert_double_lt(fabs(info->held_out.bias), 0.0135);
    fr_calibration_free(c);
    unlink(path);
}

/* data -> fit -> YAML -> check: the errors are those that the fit has written down. */
LOOP_TEST(a_file_of_the_class_is_written_read_and_judged, 0, N_FITTED)
{
    struct fr_calibration *c = fit_class(_i), *read;
    const char *const paths[] = {path};
    struct fr_check check;
    struct fr_error err;
    struct fr_kernel_shape s = {.op_class = fitted[_i].op_class};

    ck_assert_msg(fr_calibration_write(c, yaml, &err) == FR_OK, "%s", err.text);
    ck_assert_msg(fr_calibration_load(&read, yaml, &err) == FR_OK, "%s", err.text);
    ck_assert_int_eq(fr_calibration_check(read, paths, 1, NULL, 0, false, &check, &err), FR_OK);
    ck_assert_uint_eq(check.misses.n, fr_calibration_curve(c, 0)->held_out.n);
    ck_assert_double_eq_tol(check.misses.median, fr_calibration_curve(c, 0)->held_out.median, 1e-4);
    for (double x = 1; x < 1e9; x *= 31) {
        double *sizes = &s.memory.bytes; /* the first of any union's numbers */

        *sizes = x;
        ck_assert_double_eq_tol(
            fr_calibration_time_s(read, 0, &s) / fr_calibration_time_s(c, 0, &s), 1, 1e-3);
    }
    fr_calibration_free(read);
    fr_calibration_free(c);
    unlink(path);
    unlink(yaml);
}

/* ---- costs ---- */

/* A device file whose curve of the class says `frac` of the bandwidth from the first byte on,
 * and nothing of calls and caches. */
static void put_curve(FILE *f, const char *name, double frac)
{
    enum fr_curve_class c = fr__curve_class_parse(name);

    fprintf(
        f,
        "  - {class: %s, dtype: fp32, gpus: 'G', source: 'made up', data_hash: "
        "'0000000000000000', rows_fitted: 50, held_out: {rows: 10, median: 0.05, p90: 0.1, "
        "worst: 0.2, bias: 0}, n_sms: 20, peak_flops_per_s: 10e12, mem_Bps: 1e12, parameters: {",
        name);
    for (size_t i = 0; fr_curve_parameter_name(c, i); i++) {
        const char *p = fr_curve_parameter_name(c, i);
        double value = strcmp(p, "memory_frac") == 0      ? frac
                       : strcmp(p, "cache_gain") == 0     ? 1
                       : strcmp(p, "blocks_per_sm") == 0  ? 128
                       : strcmp(p, "reread_columns") == 0 ? 65536
                       : strcmp(p, "reread_values") == 0  ? 1e7
                                                          : 1e-12;
        fprintf(f, "%s%s: [%.12f, 0]", i ? ", " : "", p, value);
    }
    fputs("}}\n", f);
}

static struct fr_cost_model *model_of_file(const char *const names[], size_t n)
{
    const struct fr_cost_options o = {.device_file = yaml};
    struct fr_cost_model *m = NULL;
    struct fr_error err;
    FILE *f;

    fclose(open_rows());
    f = fopen(yaml, "w");
    ck_assert_ptr_nonnull(f);
    fputs("device: test-gpu\ncurves:\n", f);
    put_curve(f, "elementwise", 1);
    put_curve(f, "softmax", 1);
    put_curve(f, "layernorm", 1);
    for (size_t i = 0; i < n; i++)
        put_curve(f, names[i], .5);
    fclose(f);
    ck_assert_msg(fr_cost_model_new(&m, &device, 1, &o, &err) == FR_OK, "%s:%u:%u: %s", err.file,
                  err.line, err.col, err.text);
    unlink(path);
    unlink(yaml);
    return m;
}

/* Ops by kind and phase, and the class whose curve they take. */
static const struct {
    const char *workload;
    enum fr_op_kind kind;
    enum fr_phase phase;
    const char *op_class;
} priced[] = {
    {"resnet50", FR_OP_BATCHNORM, FR_PHASE_FORWARD, "batchnorm"},
    {"resnet50", FR_OP_BATCHNORM, FR_PHASE_BACKWARD_DATA, "batchnorm-backward"},
    {"resnet50", FR_OP_BATCHNORM, FR_PHASE_BACKWARD_WEIGHT, "batchnorm-backward"},
    {"resnet50", FR_OP_MAXPOOL, FR_PHASE_FORWARD, "pooling"},
    {"resnet50", FR_OP_MAXPOOL, FR_PHASE_BACKWARD_DATA, "pooling-backward"},
    {"resnet50", FR_OP_BIAS, FR_PHASE_BACKWARD_WEIGHT, "reduction"},
    {"resnet50", FR_OP_UPDATE, FR_PHASE_UPDATE, "optimizer"},
    {"bert-base", FR_OP_DROPOUT, FR_PHASE_FORWARD, "dropout"},
    {"bert-base", FR_OP_SOFTMAX, FR_PHASE_BACKWARD_DATA, "softmax-backward"},
    {"bert-base", FR_OP_LAYERNORM, FR_PHASE_BACKWARD_DATA, "layernorm-backward"},
    {"bert-base", FR_OP_LAYERNORM, FR_PHASE_BACKWARD_WEIGHT, "layernorm-backward"},
    {"bert-base", FR_OP_EMBEDDING, FR_PHASE_BACKWARD_WEIGHT, "embedding-backward"},
    {"bert-base", FR_OP_TRANSPOSE, FR_PHASE_FORWARD, "transpose"},
};
enum { N_PRICED = sizeof(priced) / sizeof(priced[0]) };

static uint32_t find_op(const struct fr_graph *g, enum fr_op_kind kind, enum fr_phase phase)
{
    uint32_t largest = FR_NONE;

    for (uint32_t i = 0; i < g->n_ops; i++)
        if (g->ops[i].kind == kind && g->ops[i].phase == phase &&
            (largest == FR_NONE || g->ops[i].bytes > g->ops[largest].bytes))
            largest = i;
    return largest;
}

/* At half of the bandwidth an op of a few MB or more takes twice what it takes by the class that
 * it falls back to. A norm's forward pass by elementwise ops counts three passes for its two, so
 * 2/1.5 times; what the curve knows of a gradient (3 passes of a norm, for the 5 of both its
 * ops) makes 2 * 3/5. Pooling without a curve takes the time to visit its windows. */
LOOP_TEST(an_op_takes_the_curve_of_its_class_where_there_is_one, 0, N_PRICED)
{
    const struct fr_workload_options opt = {.batch = 32, .dtype = FR_FP32};
    const struct fr_part part = {.batch = 32};
    struct fr_cost_model *without = model_of_file(NULL, 0);
    struct fr_cost_model *with = model_of_file(&priced[_i].op_class, 1);
    struct fr_graph *g = NULL;
    struct fr_error err;
    struct fr_cost a, b;
    double ratio = 2;
    uint32_t op;

    ck_assert_int_eq(fr_workload_load(&g, priced[_i].workload, &opt, &err), FR_OK);
    op = find_op(g, priced[_i].kind, priced[_i].phase);
    ck_assert_msg(op != FR_NONE, "%s has no such op", priced[_i].workload);
    fr_cost_op(without, 0, g, op, &part, &a);
    fr_cost_op(with, 0, g, op, &part, &b);
    if (strcmp(priced[_i].op_class, "batchnorm") == 0)
        ratio = 2 / 1.5;
    if (priced[_i].kind != FR_OP_SOFTMAX && strstr(priced[_i].op_class, "norm-backward"))
        ratio = 2 * 3 / 5.;
    if (priced[_i].kind == FR_OP_BATCHNORM) /* a block a channel reaches less of the memory */
        ratio /= 0.91 / (priced[_i].phase == FR_PHASE_FORWARD ? 0.80 : 0.79);
    ck_assert_int_eq(a.trust, FR_TRUST_CALIBRATED);
    ck_assert_int_eq(b.trust, FR_TRUST_CALIBRATED);
    if (priced[_i].kind == FR_OP_MAXPOOL) { /* 9 elements of each of 32 x 64 x 56 x 56 windows */
        double rate = priced[_i].phase == FR_PHASE_FORWARD ? 3.3e9 : 1.4e9;

        ck_assert_double_eq_tol(a.mean_s, 32 * 64 * 56 * 56 * 9 / (20 * rate), 1e-8);
        a.mean_s = b.mean_s / ratio;
    }
    ck_assert_msg(fabs(b.mean_s / a.mean_s / ratio - 1) < 0.02, "%s: %g s after %g s",
                  priced[_i].op_class, b.mean_s, a.mean_s);
    fr_graph_free(g);
    fr_cost_model_free(with);
    fr_cost_model_free(without);
}

/* 1 GB at half of 1 TB/s */
TEST(bytes_of_an_update_take_the_optimizers_curve)
{
    static const char *const names[] = {"optimizer"};
    struct fr_cost_model *m = model_of_file(names, 1);
    struct fr_cost update, sum;

    fr_cost_bytes(m, 0, 1e9, FR_OP_UPDATE, &update);
    fr_cost_bytes(m, 0, 1e9, FR_OP_GRAD_ADD, &sum);
    ck_assert_double_eq_tol(update.mean_s, 2e-3, 1e-5);
    ck_assert_double_eq_tol(sum.mean_s, 1e-3, 1e-5);
    fr_cost_model_free(m);
}

int main(void)
{
    TCase *tc = tcase_create("classes");

    fr_init();
    tcase_set_timeout(tc, 60);
    add_tests(tc);
    return run_case(tc, "calibrate_classes");
}
