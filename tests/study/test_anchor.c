/* tests/study/test_anchor.c - measured steps of one GPU correct the other questions of a model. */
#include "config.h"

#include "study/interval/measured.h"
#include "study/study.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <math.h>
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
START_TEST(the_measured_question_itself_takes_about_what_was_measured)
{
    char text[40];
    struct fr_record *r = answer(1, step_of(1.2, text));

    ck_assert_uint_eq(r->correction.n_steps, 1);
    ck_assert_uint_eq(r->correction.batch, 16);
    ck_assert_double_eq_tol(r->correction.measured_s, 1.2 * r->correction.predicted_s, 1e-7);
    ck_assert_double_eq_tol(r->iteration_s / r->correction.measured_s, 1, 0.01);
    ck_assert(r->correction.compute_factor > 1.1 && r->correction.compute_factor < 1.21);
    fr_record_free(r);
}
END_TEST

START_TEST(other_numbers_of_gpus_are_corrected_alike_and_their_range_is_narrower)
{
    char text[40];
    struct fr_record *plain = answer(4, NULL), *r = answer(4, step_of(1.2, text));

    ck_assert_double_eq_tol(r->iteration_s / plain->iteration_s, 1.2, 0.03);
    ck_assert(r->interval.low_s <= r->iteration_s * 1.05);
    ck_assert_msg(width(r) < 0.7 * width(plain), "%g of %g", width(r), width(plain));
    fr_record_free(plain);
    fr_record_free(r);
}
END_TEST

START_TEST(a_step_that_is_as_predicted_changes_little)
{
    char text[40];
    struct fr_record *plain = answer(4, NULL), *r = answer(4, step_of(1, text));

    ck_assert_double_eq_tol(r->iteration_s / plain->iteration_s, 1, 0.01);
    ck_assert(width(r) < width(plain));
    fr_record_free(plain);
    fr_record_free(r);
}
END_TEST

static void write_file(char path[], const char *text)
{
    int fd = mkstemps(path, 4);
    FILE *f = fd >= 0 ? fdopen(fd, "w") : NULL;

    ck_assert_ptr_nonnull(f);
    fputs(text, f);
    fclose(f);
}

START_TEST(each_further_step_narrows_what_is_left)
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
END_TEST

START_TEST(steps_of_other_models_correct_nothing)
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
END_TEST

START_TEST(what_is_no_time_of_a_step_is_refused_with_its_place)
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
END_TEST

START_TEST(a_setting_that_is_no_time_and_no_table_is_refused_at_once)
{
    struct fr_question q;
    struct fr_error err;

    fr_question_init(&q);
    ck_assert(fr_question_set(&q, "measured", "fast", &err) != FR_OK);
    ck_assert(fr_question_set(&q, "measured", "412", &err) != FR_OK);
    ck_assert(fr_question_set(&q, "measured", "-1ms", &err) != FR_OK);
    ck_assert_ptr_null(q.measured);
    ck_assert(fr_question_set(&q, "measured", "412ms", &err) == FR_OK);
    ck_assert(fr_question_set(&q, "measured", "none", &err) == FR_OK);
    ck_assert_ptr_null(q.measured);
}
END_TEST

START_TEST(gpus_of_two_types_have_no_common_step)
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
END_TEST

int main(void)
{
    TCase *tc = tcase_create("anchor");

    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, the_measured_question_itself_takes_about_what_was_measured);
    tcase_add_test(tc, other_numbers_of_gpus_are_corrected_alike_and_their_range_is_narrower);
    tcase_add_test(tc, a_step_that_is_as_predicted_changes_little);
    tcase_add_test(tc, each_further_step_narrows_what_is_left);
    tcase_add_test(tc, steps_of_other_models_correct_nothing);
    tcase_add_test(tc, what_is_no_time_of_a_step_is_refused_with_its_place);
    tcase_add_test(tc, a_setting_that_is_no_time_and_no_table_is_refused_at_once);
    tcase_add_test(tc, gpus_of_two_types_have_no_common_step);
    return run_case(tc, "anchor");
}
