/* tests/study/test_planned_cut.c - what a cut of stages is planned to take, against runs: a table
 * that both ends of a model share is counted. */
#include "config.h"

#include "lowering/decisions.h"
#include "study/explain/kept.h"
#include "study/study.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Embedding and output weights: 32 768 words of 512 numbers of 4 bytes, 67.1 MB. */
#define WORKLOAD "gpt:layers=4,hidden=512,heads=8,seq=256,vocab=32768"
/* Its logits, 134 MB a sample, are more than the table: to cut between them and the loss does not
 * pay, which would keep the table on one stage. */
#define LONG_WORKLOAD "gpt:layers=4,hidden=512,heads=8,seq=1024,vocab=32768"
static const double TABLE_BYTES = 32768.0 * 512 * 4;
static const double LINK_BPS = 125e6; /* 1 Gbit/s */

static struct fr_question question(const char *strategy)
{
    struct fr_question q;

    fr_question_init(&q);
    q.workload = WORKLOAD;
    q.topology = "2x box:1xa40 via eth:1Gbps";
    q.strategy = strategy;
    q.global_batch = 8;
    q.no_timing = true;
    return q;
}

/* The head's gradient crosses the link after the last message of the second stage, and the new
 * table comes back: 2 x 67.1 MB / 125 MB/s = 1.07 s, beside which nothing is left to compute. A
 * plan that leaves them out promises half a second less each. */
LOOP_TEST(a_shared_table_is_planned_as_it_is_made, 0, 4)
{
    static const char *const strategies[] = {"pp", "pp:schedule=gpipe", "pp:micro=2",
                                             "pp:schedule=zb-h1"};
    struct fr_question q = question(strategies[_i]);
    struct fr_record *r = NULL;
    struct fr_error err;
    double planned_s;

    ck_assert_msg(fr_answer(&q, NULL, &r, &err) == FR_OK, "%s", err.text);
    planned_s = r->decisions->promise->planned_s;
    ck_assert_double_gt(planned_s, 2 * TABLE_BYTES / LINK_BPS);
    ck_assert_msg(fabs(r->iteration_s / planned_s - 1) < 0.01, "%s: planned %g s, made %g s",
                  strategies[_i], planned_s, r->iteration_s);
    fr_record_free(r);
}

/* Without a flush: by PipeDream's rule each of eight micro-batches of an iteration sends the
 * table's gradient, 0.537 s, on the link that its own gradient takes; by 2BW's the table goes once
 * there and once back, after the last. */
LOOP_TEST(a_shared_table_is_counted_in_the_interval_of_a_pipeline_without_flush, 0, 2)
{
    static const char *const strategies[] = {"pp:schedule=pipedream,micro=1",
                                             "pp:schedule=pipedream-2bw,micro=1"};
    struct fr_question q = question(strategies[_i]);
    struct fr_record *r = NULL;
    struct fr_error err;
    double planned_s;

    q.workload = LONG_WORKLOAD;
    ck_assert_msg(fr_answer(&q, NULL, &r, &err) == FR_OK, "%s", err.text);
    planned_s = r->decisions->promise->planned_s;
    ck_assert_double_gt(planned_s, (_i == 0 ? 8 : 2) * TABLE_BYTES / LINK_BPS);
    ck_assert_msg(fabs(r->iteration_s / planned_s - 1) < 0.02, "%s: planned %g s, made %g s",
                  strategies[_i], planned_s, r->iteration_s);
    fr_record_free(r);
}

/* What the log says of the cut: "... planned 1.23 s with ...", in seconds. */
static void keep_planned(void *user, const char *line)
{
    const char *at = strstr(line, ", planned ");
    char unit[8];
    double x;

    if (at && sscanf(at, ", planned %lf %7s", &x, unit) == 2)
        *(double *)user = strcmp(unit, "ms") == 0 ? x / 1000 : x;
}

static double planned_s(const char *strategy)
{
    struct fr_question q = question(strategy);
    struct fr_context ctx = {.log = keep_planned};
    struct fr_record *r = NULL;
    struct fr_error err;
    double s = 0;

    ctx.log_user = &s;
    ck_assert_msg(fr_answer(&q, &ctx, &r, &err) == FR_OK, "%s", err.text);
    fr_record_free(r);
    return s;
}

/* Both stages keep a table and sum the two gradients: a ring of two over one link sends every byte
 * once each way, 67.1 MB / 125 MB/s = 0.537 s. Apart, nothing is summed. Times of the log have
 * three digits. */
TEST(a_table_that_two_stages_keep_is_planned_with_its_sum)
{
    double tied_s = planned_s("hybrid:pp=2,recompute=full"),
           apart_s = planned_s("hybrid:pp=2,recompute=full,tie=0");

    ck_assert_double_gt(apart_s, 0);
    ck_assert_double_eq_tol(tied_s - apart_s, TABLE_BYTES / LINK_BPS, 0.01);
}

/* Four stages in a V on eight V100s of one machine share NVLinks. By the replay, in which each
 * message has its links alone, the cut that was planned first takes 3.6 ms; the run makes it 7 ms.
 */
static struct fr_question shared(const char *strategy)
{
    struct fr_question q = question(strategy);

    q.workload = "bert:layers=4,hidden=512,heads=8,seq=64,vocab=512";
    q.topology = "2x p3.16xlarge";
    q.costs = "datasheet";
    q.dtype = FR_TF32;
    q.global_batch = 16;
    return q;
}

static struct fr_record *ask(const struct fr_question *q)
{
    struct fr_record *r = NULL;
    struct fr_error err;

    ck_assert_msg(fr_answer(q, NULL, &r, &err) == FR_OK, "%s: %s", q->strategy, err.text);
    return r;
}

static double ask_s(const struct fr_question *q)
{
    struct fr_record *r = ask(q);
    double s = r->iteration_s;

    fr_record_free(r);
    return s;
}

/* What is taken runs as it was planned, in 4.1 ms. */
TEST(a_run_decides_where_a_cut_was_planned_wrongly)
{
    struct fr_question q = shared("pp:stages=4,schedule=zb-v,micro=1");
    struct fr_record *r = ask(&q);

    ck_assert_uint_gt(r->cut_kind, 0);
    ck_assert_double_lt(r->iteration_s, 5e-3);
    ck_assert_double_lt(fabs(r->iteration_s / r->decisions->promise->planned_s - 1), 0.05);
    fr_record_free(r);
}

/* Random times do not choose: the runs that decide have none. */
TEST(random_times_do_not_decide_a_cut)
{
    struct fr_question q = shared("pp:stages=4,schedule=zb-v,micro=1");
    struct fr_record *r = ask(&q), *random;

    q.run.jitter_cv = 0.1;
    random = ask(&q);
    ck_assert_uint_eq(random->cut_kind, r->cut_kind);
    ck_assert_double_ne(random->iteration_s, r->iteration_s);
    fr_record_free(random);
    fr_record_free(r);
}

/* The names with which stages begin, given by hand, are the answer's cut. */
TEST(an_explanation_shows_the_cut_of_the_answer)
{
    struct fr_question q = shared("pp:stages=4,schedule=zb-v,micro=1");
    double answered_s = ask_s(&q);
    char strategy[1024] = "pp:stages=4,schedule=zb-v,micro=1,cuts=";
    const struct fr_decided_pipeline *line;
    struct fr_explanation *e = NULL;
    struct fr_error err;

    ck_assert_msg(fr_explain(&e, &q, NULL, &err) == FR_OK, "%s", err.text);
    line = e->decisions->pipeline;
    for (uint32_t s = 1; s < line->schedule->n_stages; s++) {
        strncat(strategy, line->first_op[s], sizeof(strategy) - strlen(strategy) - 1);
        strncat(strategy, s + 1 < line->schedule->n_stages ? ";" : "",
                sizeof(strategy) - strlen(strategy) - 1);
    }
    fr_explanation_free(e);
    q.strategy = strategy;
    ck_assert_double_eq_tol(ask_s(&q), answered_s, 1e-9 * answered_s);
}

int main(void)
{
    TCase *tc = tcase_create("planned cut");

    tcase_set_timeout(tc, 60);
    add_tests(tc);
    return run_case(tc, "planned cut");
}
