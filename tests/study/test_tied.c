/* tests/study/test_tied.c - weights that stages of PipeDream's planner share, in what it promises
 * and in what it chooses. */
#include "config.h"

#include "study/study.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char SLOW[] = "4x box:1xrtx3090 via eth:8Gbps";

static struct fr_record *answer(const char *workload, const char *topology, const char *strategy)
{
    struct fr_question q;
    struct fr_record *r = NULL;
    struct fr_error err;

    fr_question_init(&q);
    q.workload = workload;
    q.topology = topology;
    q.strategy = strategy;
    q.global_batch = 32;
    ck_assert_msg(fr_answer(&q, NULL, &r, &err) == FR_OK, "%s", err.text);
    ck_assert_ptr_nonnull(r->decisions);
    ck_assert_ptr_nonnull(r->decisions->promise);
    return r;
}

/* Words are embedded by the first stage and read by the last, and no two stages without replicas
 * hold both: 51 MB each way a micro-batch, which at 1 GB/s is 51 ms, far more than a stage
 * takes. */
TEST(weights_on_the_way_between_stages_are_in_the_promise)
{
    struct fr_record *r = answer("gpt:layers=4,hidden=256,heads=4,seq=128", SLOW,
                                 "pipedream:straight=1,micro=4,mode=paper");
    double ratio = r->iteration_s / r->decisions->promise->planned_s;

    ck_assert_ptr_nonnull(strstr(r->decisions->promise->by, "tied weights between stages"));
    ck_assert_double_gt(r->decisions->promise->planned_s, 8 * 50e-3);
    ck_assert_msg(ratio > 0.9 && ratio < 1.25, "%g", ratio);
    fr_record_free(r);
}

/* BERT's pooler comes after all that uses the words, so further stages can hold it: 31 MB need not
 * travel, and the rest on one GPU takes a tenth of their time. */
TEST(a_stage_with_all_that_uses_the_words_leaves_the_others_the_rest)
{
    struct fr_record *r =
        answer("bert:layers=4,hidden=256,heads=4", SLOW, "pipedream:straight=1,micro=4,mode=paper");

    ck_assert_ptr_nonnull(strstr(r->decisions->promise->by, "slowest stage"));
    ck_assert_double_lt(r->iteration_s, 8 * 31e-3 / 4);
    fr_record_free(r);
}

/* Sums of gradients over the widest links are cheap: all that uses the words in one stage, on all
 * GPUs, takes less than words on the way. Stages with unlike numbers of replicas, which cannot
 * share weights, were refused here. */
TEST(a_stage_that_holds_all_that_is_tied_is_taken_where_it_promises_less)
{
    struct fr_record *r = answer("gpt2-small", "hgx-h100", "pipedream"), *straight;

    straight = answer("gpt2-small", "hgx-h100", "pipedream:straight=1");
    ck_assert_double_lt(r->decisions->promise->planned_s, straight->decisions->promise->planned_s);
    ck_assert_double_lt(r->iteration_s, straight->iteration_s);
    fr_record_free(straight);
    fr_record_free(r);
}

/* GPUs 3 and 4 of a DGX-1 have no NVLink, nor have 0 and 7; along a ring all neighbours have one.
 * In order of rank this took 5 times as long as its slowest stage. */
TEST(stages_stand_along_a_ring_of_nvlinks)
{
    struct fr_record *r = answer("bert-base", "dgx1-v100", "pipedream");

    ck_assert_double_lt(r->iteration_s, 2 * r->decisions->promise->planned_s);
    fr_record_free(r);
}

/* Two ranks, stages 0 and 3 on the first, in fp32: the table of 8192 words and 64 positions in 256
 * numbers, the last norm, and two layers of 12 h^2 + 13 h. The table was there twice with zero=1:
 * 23162880 bytes. */
LOOP_TEST(one_rank_with_both_ends_keeps_one_table, 0, 4)
{
    static const double LAYER = 12 * 256 * 256 + 13 * 256, TABLE = (8192 + 64) * 256;
    static const char *const HOW[] = {"zero=0", "zero=1", "zero=1,schedule=v-half",
                                      "zero=1,schedule=v-min"};
    struct fr_question q;
    struct fr_record *r = NULL;
    struct fr_error err;
    char strategy[120];

    snprintf(strategy, sizeof(strategy), "hybrid:pp=2,dp=2,cut=layers,%s%s", HOW[_i],
             strstr(HOW[_i], "schedule") ? "" : ",schedule=zb-v");
    fr_question_init(&q);
    q.workload = "gpt:layers=4,hidden=256,heads=4,seq=64,vocab=8192";
    q.topology = "dgx1-v100";
    q.n_gpus = 4;
    q.strategy = strategy;
    q.global_batch = 8;
    q.dtype = FR_FP32;
    ck_assert_msg(fr_answer(&q, NULL, &r, &err) == FR_OK, "%s", err.text);
    ck_assert_double_eq((double)r->devices[0].memory_bytes[FR_BUFFER_PARAMETER],
                        4 * (TABLE + 2 * 256 + 2 * LAYER));
    fr_record_free(r);
}

int main(void)
{
    TCase *c = tcase_create("tied");

    tcase_set_timeout(c, 60);
    add_tests(c);
    return run_case(c, "study/tied");
}
