/* tests/study/test_missed_kind.c - where published steps took longer than we predict, the answer
 * says so. */
#include "config.h"

#include "study/interval/missed_kind.h"
#include "study/layouts/search.h"
#include "study/study.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <string.h>

#define GPT3 "gpt:layers=96,hidden=12288,heads=96,seq=2048,vocab=51200,attention=unfused"

static struct fr_record *answer(const char *workload, const char *topology, const char *strategy,
                                uint32_t batch)
{
    struct fr_question q;
    struct fr_record *r = NULL;
    struct fr_error err;

    fr_question_init(&q);
    q.workload = workload;
    q.topology = topology;
    q.strategy = strategy;
    q.global_batch = batch;
    q.dtype = FR_FP16;
    q.optimizer = FR_ADAM;
    q.no_timing = true;
    ck_assert_msg(fr_answer(&q, NULL, &r, &err) == FR_OK, "%s", err.text);
    return r;
}

static bool is_warned(const struct fr_record *r)
{
    for (size_t i = 0; i < r->n_warnings; i++)
        if (strncmp(r->warnings[i], "published steps of this kind", 28) == 0)
            return true;
    return false;
}

/* SC21 table 2: 768 A100 made 88 TFLOP/s each by ZeRO-3, in the paper's count of 96 B s L h^2
 * (1 + s/6h + V/16Lh): 4.52e18 FLOP, 66.8 s a step. The factors that we say must hold this row, and
 * the range of the answer the step. */
TEST(a_published_row_lies_in_the_range_of_its_kind)
{
    const double h = 12288, l = 96, s = 2048, batch = 1536;
    const double flop = 96 * batch * s * l * h * h * (1 + s / (6 * h) + 51200 / (16 * l * h));
    const double measured_s = flop / (768 * 88e12);
    const struct fr__missed_kind *c = fr__missed_kind_of(768);
    struct fr_record *r =
        answer(GPT3, "96x dgx-a100-80g",
               "hybrid:dp=768,micro=2,zero=3,gather=module,recompute=full,overlap=1", 1536);

    ck_assert_ptr_nonnull(c);
    ck_assert(is_warned(r));
    ck_assert_msg(measured_s / r->iteration_s >= c->least && measured_s / r->iteration_s <= c->most,
                  "measured %.3g s are %.3g times what is predicted, said are %.2g to %.2g",
                  measured_s, measured_s / r->iteration_s, c->least, c->most);
    ck_assert_double_ge(r->interval.high_s, measured_s);
    fr_record_free(r);
}

TEST(only_steps_of_the_kind_are_warned_of)
{
    static const struct {
        const char *topology, *strategy;
        bool is_of_kind;
    } rows[] = {
        {"32x dgx-a100-80g", "hybrid:zero=3", true},
        {"16x dgx-a100-80g", "hybrid:zero=3", false},               /* 128 share */
        {"32x dgx-a100-80g", "hybrid:zero=3,shard-group=8", false}, /* a machine each */
        {"32x dgx-a100-80g", "hybrid:zero=2", false},
        {"32x dgx-a100-80g", "hybrid:zero=3,tp=8,dp=32", false},
        {"32x dgx-a100-80g", "dp", false},
        {"dgx-a100-80g", "hybrid:zero=3", false},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct fr_record *r = answer("gpt:layers=4,hidden=512,heads=8,seq=128,vocab=1024",
                                     rows[i].topology, rows[i].strategy, 256);

        ck_assert_msg(is_warned(r) == rows[i].is_of_kind, "%s on %s", rows[i].strategy,
                      rows[i].topology);
        if (rows[i].is_of_kind)
            ck_assert_double_ge(r->interval.high_s, r->iteration_s * fr__missed_kind_of(256)->most);
        fr_record_free(r);
    }
}

TEST(the_sentence_has_factors_rows_and_a_place_to_read_on)
{
    char text[400];

    fr__missed_kind_say(fr__missed_kind_of(129), text, sizeof(text));
    ck_assert_ptr_nonnull(strstr(text, "times as long as predicted"));
    ck_assert_ptr_nonnull(strstr(text, "5 rows of 1 source:"));
    ck_assert_ptr_nonnull(strstr(text, "see papers/megatron"));
    ck_assert_ptr_null(fr__missed_kind_of(128));
    ck_assert_ptr_null(fr__missed_kind_of(0));
}

int main(void)
{
    TCase *c = tcase_create("missed_kind");

    tcase_set_timeout(c, 60);
    add_tests(c);
    return run_case(c, "study/missed_kind");
}
