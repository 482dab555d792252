/* tests/study/test_anchor.c - measured steps correct the other questions of a model. */
#include "config.h"

#include "study/interval/measured.h"
#include "study/study.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static enum fr_status ask(struct fr_record **r, size_t n_gpus, const char *measured,
                          struct fr_error *err)
{
    struct fr_question q;

    fr_question_init(&q);
    q.workload = "resnet50";
    q.topology = "dgx1-v100";
    q.strategy = "dp";
    q.n_gpus = n_gpus;
    q.batch_per_gpu = 16;
    q.measured = measured;
    q.no_timing = true;
    q.is_brief = true;
    return fr_answer(&q, NULL, r, err);
}

static struct fr_record *answer(size_t n_gpus, const char *measured)
{
    struct fr_record *r = NULL;
    struct fr_error err;

    ck_assert_msg(ask(&r, n_gpus, measured, &err) == FR_OK, "%s", err.text);
    return r;
}

static double width(const struct fr_record *r)
{
    return (r->interval.high_s - r->interval.low_s) / r->iteration_s;
}

/* The time of a step as text, a factor times what is predicted on one GPU. */
static const char *step_of(double factor, char text[40])
{
    struct fr_record *r = answer(1, NULL);

    snprintf(text, 40, "%.9gs", factor * r->iteration_s);
    fr_record_free(r);
    return text;
}

/* NOISE of 3 % against a prior of tens of percent: the corrected time is the measured one to
 * 1 %. */
TEST(the_measured_question_itself_takes_about_what_was_measured)
{
    char text[40];
    struct fr_record *r = answer(1, step_of(1.2, text));

    ck_assert_uint_eq(r->correction.n_steps, 1);
    ck_assert_uint_eq(r->correction.batch, 16);
    ck_assert_double_eq_tol(r->correction.measured_s, 1.2 * r->correction.predicted_s, 1e-7);
    ck_assert_double_eq_tol(r->iteration_s / r->correction.measured_s, 1, 0.01);
    /* that is 8.7 ms of a step of 43: twice the prior's deviation of either alone, so both move */
    ck_assert_msg(r->correction.compute_factor > 1.02 && r->correction.compute_factor < 1.15, "%g",
                  r->correction.compute_factor);
    ck_assert_msg(r->correction.step_s > 0.002 && r->correction.step_s < 0.009, "%g",
                  r->correction.step_s);
    ck_assert_double_eq_tol(r->compute_s + r->exposed_comm_s + r->bubble_s, r->iteration_s, 1e-9);
    fr_record_free(r);
}

/* LeNet with 2 images waits for its host, 10 us an op, twice as long as its kernels take. Half the
 * time needs a host twice as fast, and then the kernels take as long: slopes found on one side of
 * that corner lead away on the other. Compute at 0.3 is eight of its prior's deviations away, so
 * that some of the measured step is left unexplained. */
TEST(a_step_that_waits_for_its_host_is_met_from_either_side)
{
    static const double factors[] = {0.3, 0.4, 0.5, 0.6, 1.5};

    for (size_t i = 0; i < sizeof(factors) / sizeof(factors[0]); i++) {
        struct fr_question q;
        struct fr_record *before, *after;
        struct fr_error err;
        char text[40];

        fr_question_init(&q);
        q.workload = "lenet";
        q.topology = "dgx1-v100";
        q.strategy = "single";
        q.n_gpus = 1;
        q.batch_per_gpu = 2;
        q.is_brief = true;
        ck_assert_msg(fr_answer(&q, NULL, &before, &err) == FR_OK, "%s", err.text);
        snprintf(text, sizeof(text), "%.9gs", factors[i] * before->iteration_s);
        q.measured = text;
        ck_assert_msg(fr_answer(&q, NULL, &after, &err) == FR_OK, "%s", err.text);
        ck_assert_double_eq_tol(after->iteration_s / (factors[i] * before->iteration_s), 1, 0.05);
        fr_record_free(after);
        fr_record_free(before);
    }
}

TEST(other_numbers_of_gpus_are_corrected_alike_and_their_range_is_narrower)
{
    char text[40];
    struct fr_record *plain = answer(4, NULL), *r = answer(4, step_of(1.2, text));

    ck_assert_double_eq_tol(r->iteration_s / plain->iteration_s, 1.2, 0.06);
    ck_assert(r->interval.low_s <= r->iteration_s * 1.05);
    ck_assert_msg(width(r) < 0.7 * width(plain), "%g of %g", width(r), width(plain));
    fr_record_free(plain);
    fr_record_free(r);
}

/* The exchange, of which it says nothing, is believed to be somewhat slower than predicted. */
TEST(a_step_that_is_as_predicted_changes_little)
{
    char text[40];
    struct fr_record *plain = answer(4, NULL), *r = answer(4, step_of(1, text));

    ck_assert_double_eq_tol(r->iteration_s / plain->iteration_s, 1.02, 0.03);
    ck_assert(width(r) < width(plain));
    fr_record_free(plain);
    fr_record_free(r);
}

/* Four GPUs lose a tenth among themselves. Measured on four, that is known. */
TEST(a_step_on_as_many_gpus_says_more_than_one_on_others)
{
    char one[40], two[60], four[60];
    struct fr_record *plain = answer(4, NULL), *pair = answer(2, NULL), *a, *b, *c;

    step_of(1.1, one);
    snprintf(two, sizeof(two), "%.9gs@2", 1.1 * pair->iteration_s);
    snprintf(four, sizeof(four), "%.9gs@4", 1.1 * plain->iteration_s);
    a = answer(4, four);
    b = answer(4, two);
    c = answer(4, one);
    ck_assert_double_eq_tol(a->iteration_s, 1.1 * plain->iteration_s, 0.01 * plain->iteration_s);
    ck_assert_double_eq_tol(b->iteration_s, 1.1 * plain->iteration_s, 0.03 * plain->iteration_s);
    ck_assert_uint_eq(a->correction.n_gpus, 4);
    ck_assert_uint_eq(a->correction.batch, 64);
    ck_assert_uint_eq(b->correction.n_gpus, 2);
    ck_assert_str_eq(a->interval.name, "one-machine fp32 convolutions anchored by as many");
    ck_assert_str_eq(b->interval.name, "one-machine fp32 convolutions anchored by several");
    ck_assert_msg(width(a) < width(b) && width(a) < width(c), "%g, %g, %g", width(a), width(b),
                  width(c));
    ck_assert(width(b) < width(plain) && width(c) < width(plain));
    /* two measurements of 3 % noise: 2 * 1.645 * 0.03 * sqrt(2) */
    ck_assert_double_eq_tol(width(a), 0.14, 0.01);
    fr_record_free(plain);
    fr_record_free(pair);
    fr_record_free(a);
    fr_record_free(b);
    fr_record_free(c);
}

/* Model parallel steps are slow by their bubbles: a data parallel step does not make them fast. */
TEST(a_step_by_another_strategy_is_run_by_that)
{
    struct fr_record *plain, *own, *other;
    struct fr_error err;
    struct fr_question q;

    fr_question_init(&q);
    q.workload = "resnet50";
    q.topology = "dgx1-v100";
    q.strategy = "mp";
    q.n_gpus = 4;
    q.batch_per_gpu = 16;
    q.is_brief = q.no_timing = true;
    ck_assert(fr_answer(&q, NULL, &plain, &err) == FR_OK);
    q.measured = "60ms@4:dp";
    ck_assert(fr_answer(&q, NULL, &other, &err) == FR_OK);
    q.measured = "60ms@4";
    ck_assert(fr_answer(&q, NULL, &own, &err) == FR_OK);
    ck_assert_str_eq(other->interval.name, "one-machine fp32 convolutions anchored by several");
    ck_assert_str_eq(own->interval.name, "one-machine fp32 convolutions anchored by as many");
    ck_assert_double_eq_tol(other->iteration_s / plain->iteration_s, 1.2, 0.15);
    ck_assert_double_eq_tol(own->iteration_s, 0.06, 0.006);
    fr_record_free(plain);
    fr_record_free(own);
    fr_record_free(other);
}

/* A step on four that takes longer than predicted makes one take longer, and by less than one that
 * was measured itself; its strategy must be named, since one GPU has none. */
TEST(a_step_on_several_gpus_says_something_of_one)
{
    struct fr_record *r = NULL, *plain = NULL, *own = NULL;
    struct fr_error err;

    ck_assert(ask(&r, 1, "70ms@4", &err) == FR_EUSAGE);
    ck_assert_ptr_nonnull(strstr(err.text, "if its strategy is named"));
    ck_assert(ask(&plain, 1, NULL, &err) == FR_OK);
    ck_assert(ask(&r, 1, "70ms@4:dp", &err) == FR_OK);
    ck_assert(ask(&own, 1, "70ms", &err) == FR_OK);
    ck_assert_str_eq(r->interval.name, "one-machine fp32 convolutions anchored by several");
    ck_assert_double_gt(r->iteration_s, 1.02 * plain->iteration_s);
    ck_assert_double_lt(r->iteration_s, own->iteration_s);
    fr_record_free(own);
    fr_record_free(plain);
    fr_record_free(r);
}

static void write_file(char path[], const char *text)
{
    int fd = mkstemps(path, 4);
    FILE *f = fd >= 0 ? fdopen(fd, "w") : NULL;

    ck_assert_ptr_nonnull(f);
    fputs(text, f);
    fclose(f);
}

TEST(each_further_step_narrows_what_is_left)
{
    char one[] = "/tmp/forerun-one-XXXXXX.csv", three[] = "/tmp/forerun-three-XXXXXX.csv";
    struct fr_record *a, *b;

    write_file(one, "model,gpu,batch,time\nresnet50,v100,16,60ms\n");
    write_file(three, "model,gpu,batch,time,precision,memory\n"
                      "resnet50,v100,16,60ms,fp32,3GiB\n"
                      "resnet50,v100-sxm2-16gb,32,112ms,,\n"
                      "resnet50,v100,64,215ms,fp32,\n"
                      "resnet50,a100,64,1ms,fp32,\n"
                      "resnet50,v100,64,1ms,amp,\n"
                      "vgg19,v100,64,1ms,fp32,\n");
    a = answer(4, one);
    b = answer(4, three);
    ck_assert_uint_eq(a->correction.n_steps, 1);
    ck_assert_uint_eq(b->correction.n_steps, 3);
    ck_assert_double_eq(b->correction.measured_bytes, 3.0 * (1 << 30));
    ck_assert(b->correction.error < a->correction.error);
    ck_assert(width(b) <= width(a));
    fr_record_free(a);
    fr_record_free(b);
    unlink(one);
    unlink(three);
}

/* One table serves questions of one to eight GPUs: each takes the rows that say most of it. */
TEST(a_table_gives_each_question_its_nearest_steps)
{
    char path[] = "/tmp/forerun-near-XXXXXX.csv";
    static const struct {
        size_t n_gpus, n_steps;
        unsigned measured;
        const char *name;
    } cases[] = {{1, 2, 1, "one-gpu fp32 convolutions anchored by as many"},
                 {2, 1, 4, "one-machine fp32 convolutions anchored by several"},
                 {4, 1, 4, "one-machine fp32 convolutions anchored by as many"},
                 {8, 1, 4, "one-machine fp32 convolutions anchored by several"}};

    write_file(path, "model,gpu,batch,time,gpus,strategy\n"
                     "resnet50,v100,16,60ms,,\n"
                     "resnet50,v100,32,112ms,1,\n"
                     "resnet50,v100,64,63ms,4,dp\n");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fr_record *r = answer(cases[i].n_gpus, path);

        ck_assert_uint_eq(r->correction.n_steps, cases[i].n_steps);
        ck_assert_uint_eq(r->correction.n_gpus, cases[i].measured);
        ck_assert_str_eq(r->interval.name, cases[i].name);
        fr_record_free(r);
    }
    unlink(path);
}

/* The step of a batch on one GPU in amp, where host time of 20 us an op is twice what a V100's is
 * taken to be. */
static double slow_host_step(uint32_t batch)
{
    struct fr_question q;
    struct fr_record *r = NULL;
    struct fr_error err;
    double time_s;

    fr_question_init(&q);
    q.workload = "resnet50";
    q.topology = "dgx1-v100";
    q.strategy = "single";
    q.n_gpus = 1;
    q.global_batch = batch;
    q.is_brief = q.no_timing = true;
    ck_assert(fr_question_set(&q, "precision", "amp", &err) == FR_OK);
    ck_assert(fr_question_set(&q, "host-op", "20us", &err) == FR_OK);
    ck_assert_msg(fr_answer(&q, NULL, &r, &err) == FR_OK, "%s", err.text);
    time_s = r->iteration_s;
    fr_record_free(r);
    return time_s;
}

/* Small batches wait for the host, large ones do not, and of two large ones the difference is
 * compute: together they say which it is. */
TEST(small_and_large_batches_tell_host_time_from_compute)
{
    char path[] = "/tmp/forerun-host-XXXXXX.csv", text[300];
    struct fr_question q;
    struct fr_record *r = NULL;
    struct fr_error err;

    snprintf(
        text, sizeof(text),
        "model,gpu,batch,time,precision\nresnet50,v100,1,%.9gs,amp\nresnet50,v100,64,%.9gs,amp\n"
        "resnet50,v100,512,%.9gs,amp\n",
        slow_host_step(1), slow_host_step(64), slow_host_step(512));
    write_file(path, text);
    fr_question_init(&q);
    q.workload = "resnet50";
    q.topology = "dgx1-v100";
    q.strategy = "single";
    q.n_gpus = 1;
    q.global_batch = 8;
    q.measured = path;
    q.is_brief = q.no_timing = true;
    ck_assert(fr_question_set(&q, "precision", "amp", &err) == FR_OK);
    ck_assert_msg(fr_answer(&q, NULL, &r, &err) == FR_OK, "%s", err.text);
    ck_assert_uint_eq(r->correction.n_steps, 3);
    ck_assert_double_eq_tol(r->correction.compute_factor, 1, 0.03);
    /* some of it may be what software does once a step, whatever the batch */
    ck_assert_double_eq_tol(r->correction.host_factor, 2, 0.3);
    ck_assert_double_eq_tol(r->iteration_s / slow_host_step(8), 1, 0.02);
    fr_record_free(r);
    unlink(path);
}

static struct fr_record *ask_of(const char *topology, size_t n_gpus, uint32_t batch,
                                const char *measured)
{
    struct fr_record *r = NULL;
    struct fr_question q;
    struct fr_error err;

    fr_question_init(&q);
    q.workload = "resnet50";
    q.topology = topology;
    q.strategy = "dp";
    q.n_gpus = n_gpus;
    q.global_batch = batch;
    q.measured = measured;
    q.is_brief = q.no_timing = true;
    ck_assert_msg(fr_answer(&q, NULL, &r, &err) == FR_OK, "%s", err.text);
    return r;
}

/* What it takes where compute is as predicted, the exchange costs twice its time more, and software
 * 40 ms a step. */
static double strange_step(const char *topology, size_t n_gpus, uint32_t batch)
{
    struct fr_record *r = ask_of(topology, n_gpus, batch, NULL);
    double time_s = r->iteration_s + 2 * r->comm_s + 0.040;

    fr_record_free(r);
    return time_s;
}

/* Batches tell compute from what is once a step, numbers of machines tell the exchange. */
TEST(steps_of_several_batches_and_places_tell_their_parts)
{
    static const char line[] = "4x dgx1-v100 via eth:10Gbps";
    char path[] = "/tmp/forerun-parts-XXXXXX.csv", text[400];
    struct fr_record *r;

    snprintf(text, sizeof(text),
             "model,gpu,batch,time,gpus,strategy\nresnet50,v100,8,%.9gs,2,dp\n"
             "resnet50,v100,256,%.9gs,2,dp\nresnet50,v100,128,%.9gs,16,dp\n",
             strange_step(line, 2, 8), strange_step(line, 2, 256), strange_step(line, 16, 128));
    write_file(path, text);
    r = ask_of(line, 32, 1024, path);
    ck_assert_uint_eq(r->correction.n_steps, 3);
    ck_assert_double_eq_tol(r->correction.compute_factor, 1, 0.03);
    ck_assert_double_eq_tol(r->correction.exchange_factor, 3, 0.3);
    ck_assert_double_eq_tol(r->correction.step_s, 0.040, 0.006);
    ck_assert_double_eq_tol(r->iteration_s / strange_step(line, 32, 1024), 1, 0.05);
    fr_record_free(r);
    unlink(path);
}

/* One GPU exchanges nothing: however slow it was, the exchange stays as it is believed. */
TEST(a_step_of_one_gpu_does_not_move_the_exchange)
{
    char usual[40], slow[40];
    struct fr_record *a = answer(4, step_of(1, usual)), *b = answer(4, step_of(1.5, slow));

    ck_assert_double_eq_tol(a->correction.exchange_factor, b->correction.exchange_factor, 1e-9);
    ck_assert_double_gt(b->correction.compute_factor, a->correction.compute_factor);
    fr_record_free(a);
    fr_record_free(b);
}

/* Over 10 Gbit/s the exchange is most of a step: that twice as long a step is slow by computing is
 * far less likely. So what one machine takes hardly changes. */
TEST(a_slow_exchange_leaves_compute_nearly_alone)
{
    static const char line[] = "4x dgx1-v100 via eth:10Gbps";
    struct fr_record *plain = ask_of(line, 32, 512, NULL), *r, *usual;
    char text[40];

    snprintf(text, sizeof(text), "%.9gs@32", plain->iteration_s);
    usual = ask_of(line, 32, 512, text);
    snprintf(text, sizeof(text), "%.9gs@32", 2 * plain->iteration_s);
    r = ask_of(line, 32, 512, text);
    ck_assert_double_eq_tol(r->iteration_s / (2 * plain->iteration_s), 1, 0.02);
    ck_assert_msg(r->correction.compute_factor < 1.07 * usual->correction.compute_factor,
                  "%g and %g", r->correction.compute_factor, usual->correction.compute_factor);
    ck_assert_double_gt(r->correction.exchange_factor, 1.7);
    ck_assert_double_gt(r->added_exchange_s, 0.7 * plain->iteration_s);
    fr_record_free(plain);
    fr_record_free(usual);
    fr_record_free(r);
}

TEST(steps_of_other_models_correct_nothing)
{
    char path[] = "/tmp/forerun-other-XXXXXX.csv";
    struct fr_record *plain = answer(4, NULL), *r;

    write_file(path, "model,gpu,batch,time\nvgg19,v100,16,60ms\nresnet50,v1,16,60ms\n");
    r = answer(4, path);
    ck_assert(r->correction.is_asked);
    ck_assert_uint_eq(r->correction.n_steps, 0);
    ck_assert_double_eq(r->iteration_s, plain->iteration_s);
    ck_assert_double_eq(r->interval.high_s, plain->interval.high_s);
    fr_record_free(plain);
    fr_record_free(r);
    unlink(path);
}

TEST(what_is_no_time_of_a_step_is_refused_with_its_place)
{
    static const struct {
        const char *text, *why;
        unsigned line, col;
    } cases[] = {
        {"model,gpu,batch\nresnet50,v100,16\n", "time", 1, 1},
        {"model,gpu,batch,time\nresnet50,v100,0,60ms\n", "'batch'", 2, 15},
        {"model,gpu,batch,time\nresnet50,v100,16,60\n", "'time'", 2, 18},
        {"model,gpu,batch,time\nresnet50,v100,16,0s\n", "expected a step's time", 2, 18},
        {"model,gpu,batch,time,precision\nresnet50,v100,16,60ms,half\n", "'precision'", 2, 23},
        {"model,gpu,batch,time,memory\nresnet50,v100,16,60ms,lots\n", "'memory'", 2, 23},
        {"model,gpu,batch,time,gpus\nresnet50,v100,16,60ms,0\n", "'gpus'", 2, 23},
        {"model,gpu,batch,time,gpus,strategy\nresnet50,v100,64,60ms,4,\n", "'strategy'", 2, 25},
        {"model,gpu,batch,time,gpus\nresnet50,v100,64,60ms,4\n", "'strategy'", 2, 1},
        {"model,gpu,batch,time,price\nresnet50,v100,16,60ms,1\n", "price", 1, 22},
    };
    const struct fr__measured_of of = {"resnet50", "resnet50", "v100-sxm2-16gb", FR_FP32, 16};
    struct fr__measured *m = calloc(1, sizeof(*m));

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fr_error err;

        m->n = 7; /* nothing half read */
        ck_assert(fr__measured_read_text(m, cases[i].text, strlen(cases[i].text), "m.csv", &of,
                                         &err) != FR_OK);
        ck_assert_uint_eq(m->n, 7);
        ck_assert_msg(strstr(err.text, cases[i].why) != NULL, "%zu: %s", i, err.text);
        ck_assert_msg(err.line == cases[i].line, "%zu: line %u", i, err.line);
        if (i > 0)
            ck_assert_msg(err.col == cases[i].col, "%zu: column %u", i, err.col);
    }
    free(m);
}

TEST(a_setting_that_is_no_time_and_no_table_is_refused_at_once)
{
    struct fr_question q;
    struct fr_error err;

    fr_question_init(&q);
    ck_assert(fr_question_set(&q, "measured", "fast", &err) != FR_OK);
    ck_assert(fr_question_set(&q, "measured", "412", &err) != FR_OK);
    ck_assert(fr_question_set(&q, "measured", "-1ms", &err) != FR_OK);
    ck_assert(fr_question_set(&q, "measured", "412ms@", &err) != FR_OK);
    ck_assert(fr_question_set(&q, "measured", "412ms@0", &err) != FR_OK);
    ck_assert(fr_question_set(&q, "measured", "412ms@8@8", &err) != FR_OK);
    ck_assert(fr_question_set(&q, "measured", "@8", &err) != FR_OK);
    ck_assert(fr_question_set(&q, "measured", "412@8", &err) != FR_OK);
    ck_assert(fr_question_set(&q, "measured", "412ms@8:", &err) != FR_OK);
    ck_assert(fr_measured_is_implicit("412ms@8"));
    ck_assert(!fr_measured_is_implicit("412ms@8:dp"));
    ck_assert(!fr_measured_is_implicit("412ms@1"));
    ck_assert(!fr_measured_is_implicit("412ms") && !fr_measured_is_implicit(NULL));
    ck_assert(!fr_measured_is_implicit("steps@8.csv"));
    ck_assert_ptr_null(q.measured);
    ck_assert(fr_question_set(&q, "measured", "412ms", &err) == FR_OK);
    ck_assert(fr_question_set(&q, "measured", "none", &err) == FR_OK);
    ck_assert_ptr_null(q.measured);
}

TEST(gpus_of_two_types_have_no_common_step)
{
    struct fr_question q;
    struct fr_record *r = NULL;
    struct fr_error err;

    fr_question_init(&q);
    q.workload = "lenet";
    q.topology = "1x dgx1-v100 + 1x dgx1-p100 via ib:100Gbps";
    q.strategy = "dp";
    q.global_batch = 64;
    q.measured = "10ms";
    ck_assert(fr_answer(&q, NULL, &r, &err) == FR_EUSAGE);
    ck_assert_ptr_nonnull(strstr(err.text, "one GPU type"));
}

int main(void)
{
    TCase *tc = tcase_create("anchor");

    tcase_set_timeout(tc, 60);
    add_tests(tc);
    return run_case(tc, "anchor");
}
