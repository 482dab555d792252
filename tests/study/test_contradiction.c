/* tests/study/test_contradiction.c - measured steps on more GPUs than a question has, and steps
 * that contradict what is known. */
#include "config.h"

#include "study/study.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static enum fr_status ask(struct fr_record **r, const char *topology, const char *measured,
                          struct fr_error *err)
{
    struct fr_question q;

    fr_question_init(&q);
    q.workload = "gpt:layers=4,seq=512";
    q.topology = topology;
    q.strategy = "dp";
    q.batch_per_gpu = 8;
    q.dtype = FR_BF16;
    q.measured = measured;
    q.is_brief = true;
    return fr_answer(&q, NULL, r, err);
}

static struct fr_record *answer(const char *topology, const char *measured)
{
    struct fr_record *r = NULL;
    struct fr_error err;

    ck_assert_msg(ask(&r, topology, measured, &err) == FR_OK, "%s", err.text);
    return r;
}

static double plain_s(const char *topology)
{
    struct fr_record *r = answer(topology, NULL);
    double s = r->iteration_s;

    fr_record_free(r);
    return s;
}

/* ---- more GPUs than the cluster has ---- */

/* The anchor's own cluster has the same machines, so its prediction is that of the larger line, and
 * the factor is what it takes longer. How much of it carries over to fewer GPUs depends on the
 * fitted terms; it is some of it. */
LOOP_TEST(a_step_on_more_gpus_stands_on_more_of_the_same_machines, 0, 5)
{
    static const struct {
        const char *small, *large;
        unsigned n_gpus;
    } cases[] = {{"2x hgx-h100 via ib:400Gbps", "4x hgx-h100 via ib:400Gbps", 32},
                 {"2 x hgx-h100 via ib:400Gbps", "4x hgx-h100 via ib:400Gbps", 32},
                 {"2xhgx-h100 via rails:400Gbps", "4x hgx-h100 via rails:400Gbps", 32},
                 {"hgx-h100", "2x hgx-h100", 16},
                 {"4x box:1xa40 via eth:25Gbps", "9x box:1xa40 via eth:25Gbps", 9}};
    double large_s = plain_s(cases[_i].large), factor;
    char text[64];
    struct fr_record *r;

    snprintf(text, sizeof(text), "%.9gs@%u:dp", 1.1 * large_s, cases[_i].n_gpus);
    r = answer(cases[_i].small, text);
    ck_assert_uint_eq(r->correction.n_steps, 1);
    ck_assert_uint_eq(r->correction.n_gpus, cases[_i].n_gpus);
    ck_assert_double_eq_tol(r->correction.predicted_s / large_s, 1, 1e-9);
    factor = r->iteration_s / plain_s(cases[_i].small);
    ck_assert_double_gt(factor, 1.03);
    ck_assert_double_lt(factor, 1.13);
    fr_record_free(r);
}

/* A step on part of a machine more: the cluster is rounded up, and the step runs on its first
 * GPUs. */
TEST(a_step_on_part_of_a_further_machine_takes_the_first_gpus)
{
    struct fr_record *r = answer("hgx-h100", "30ms@12:dp");

    ck_assert_uint_eq(r->correction.n_gpus, 12);
    ck_assert_uint_eq(r->correction.batch, 96);
    ck_assert_double_gt(r->correction.predicted_s, 0);
    fr_record_free(r);
}

TEST(a_cluster_that_cannot_grow_says_why)
{
    struct fr_record *r = NULL;
    struct fr_error err;

    ck_assert_int_eq(ask(&r, "1x hgx-h100 + 1x hgx-h100 via ib:400Gbps", "30ms@32:dp", &err),
                     FR_EUSAGE);
    ck_assert_str_eq(err.text, "the measured step is of 32 GPUs, '1x hgx-h100 + 1x hgx-h100 via "
                               "ib:400Gbps' has 16, and it cannot be grown to hold them: it has "
                               "several kinds of machines");
    ck_assert_int_eq(ask(&r, "hgx-h100", "30ms@1000000:dp", &err), FR_EUSAGE);
    ck_assert_ptr_nonnull(strstr(err.text, "and it cannot be grown to hold them: "));
}

/* ---- steps that contradict ---- */

struct table {
    char path[32];
    FILE *f;
};

static void open_table(struct table *t)
{
    int fd;

    snprintf(t->path, sizeof(t->path), "stepsXXXXXX.csv");
    fd = mkstemps(t->path, 4);
    ck_assert_int_ge(fd, 0);
    t->f = fdopen(fd, "w");
    ck_assert_ptr_nonnull(t->f);
    fputs("model,gpu,batch,time,precision,gpus,strategy\n", t->f);
}

/* A step on so many GPUs that takes a factor times what is predicted. */
static void add_step(struct table *t, unsigned n_gpus, double predicted_s, double factor)
{
    fprintf(t->f, "\"gpt:layers=4,seq=512\",h100,%u,%.9gs,bf16,%u,dp\n", 8 * n_gpus,
            factor * predicted_s, n_gpus);
}

static struct fr_record *answer_table(struct table *t, const char *topology)
{
    struct fr_record *r;

    ck_assert_int_eq(fclose(t->f), 0);
    r = answer(topology, t->path);
    unlink(t->path);
    return r;
}

static bool warns(const struct fr_record *r, const char *words)
{
    for (size_t i = 0; i < r->n_warnings; i++)
        if (strstr(r->warnings[i], "contradicts") && strstr(r->warnings[i], words))
            return true;
    return false;
}

/* Three steps are 5 % slower than predicted; the fourth takes a third longer than they say. */
TEST(a_step_that_others_contradict_is_said_with_the_figures)
{
    static const char *const lines[] = {"1x hgx-h100 via ib:400Gbps", "2x hgx-h100 via ib:400Gbps",
                                        "4x hgx-h100 via ib:400Gbps", "8x hgx-h100 via ib:400Gbps"};
    double usual_s[4];
    struct fr_record *r;
    struct table t;

    for (unsigned i = 0; i < 4; i++)
        usual_s[i] = plain_s(lines[i]);
    open_table(&t);
    for (unsigned i = 0; i < 4; i++)
        if (i != 1)
            add_step(&t, 8u << i, usual_s[i], i == 3 ? 1.05 * 4 / 3 : 1.05);
    r = answer_table(&t, lines[1]);
    ck_assert(r->correction.contradiction.is_known);
    ck_assert_uint_eq(r->correction.contradiction.n_gpus, 64);
    ck_assert_uint_eq(r->correction.contradiction.batch, 512);
    ck_assert_uint_eq(r->correction.contradiction.n_others, 2);
    ck_assert_double_eq_tol(r->correction.contradiction.expected_s / (1.05 * usual_s[3]), 1, 0.03);
    ck_assert(warns(r, "64 GPUs, 512 samples") && warns(r, "2 other measured steps"));
    /* the range holds both: with the step, and as it would be if the others are right */
    ck_assert_double_lt(r->interval.low_s, 1.05 * usual_s[1]);
    ck_assert_double_gt(r->interval.high_s, r->iteration_s);
    fr_record_free(r);
}

/* One step on as many GPUs is all that the fit takes; the one on other GPUs says it is wrong. */
TEST(steps_that_the_fit_leaves_aside_contradict_it_too)
{
    double small_s = plain_s("1x hgx-h100 via ib:400Gbps"),
           s = plain_s("2x hgx-h100 via ib:400Gbps");
    struct fr_record *r;
    struct table t;

    open_table(&t);
    add_step(&t, 8, small_s, 1);
    add_step(&t, 16, s, 1.33);
    r = answer_table(&t, "2x hgx-h100 via ib:400Gbps");
    ck_assert_uint_eq(r->correction.n_steps, 1);
    ck_assert(r->correction.contradiction.is_known);
    ck_assert_uint_eq(r->correction.contradiction.n_others, 1);
    ck_assert_double_eq_tol(r->correction.contradiction.expected_s / s, 1, 0.02);
    ck_assert(warns(r, "1 other measured step"));
    fr_record_free(r);
}

TEST(steps_that_agree_are_not_doubted)
{
    double small_s = plain_s("1x hgx-h100 via ib:400Gbps"),
           s = plain_s("2x hgx-h100 via ib:400Gbps");
    struct fr_record *r;
    struct table t;

    open_table(&t);
    add_step(&t, 8, small_s, 1.10);
    add_step(&t, 16, s, 1.13);
    r = answer_table(&t, "2x hgx-h100 via ib:400Gbps");
    ck_assert(!r->correction.contradiction.is_known);
    ck_assert_uint_eq(r->n_warnings, 0);
    fr_record_free(r);
}

/* Alone, a step is held against published ones of its class, whose range a plain answer shows. */
TEST(a_step_outside_of_its_class_is_said)
{
    struct fr_record *plain = answer("2x hgx-h100 via ib:400Gbps", NULL), *r;
    char text[40];

    snprintf(text, sizeof(text), "%.9gs@16:dp", 3 * plain->iteration_s);
    r = answer("2x hgx-h100 via ib:400Gbps", text);
    ck_assert(r->correction.contradiction.is_known);
    ck_assert_uint_eq(r->correction.contradiction.n_others, 0);
    ck_assert_double_le(r->correction.contradiction.high_s, plain->interval.high_s * (1 + 1e-9));
    ck_assert_double_ge(r->correction.contradiction.low_s, plain->interval.low_s * (1 - 1e-9));
    ck_assert(warns(r, "published steps of its class"));
    fr_record_free(r);
    snprintf(text, sizeof(text), "%.9gs@16:dp", 0.99 * plain->interval.high_s);
    r = answer("2x hgx-h100 via ib:400Gbps", text);
    ck_assert_double_le(r->correction.contradiction.measured_s, plain->interval.high_s);
    fr_record_free(r);
    fr_record_free(plain);
}

int main(void)
{
    TCase *tc = tcase_create("contradiction");

    tcase_set_timeout(tc, 60);
    add_tests(tc);
    return run_case(tc, "contradiction");
}
