/* tests/test_results_zoo.c - every model of the zoo under every basic strategy: an answer, whether it
 * fits or not, that keeps what any answer must. */
#include "config.h"

#include "results/results.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *const strategies[] = {"single", "dp", "mp", "pp"};
static const uint32_t batches[] = {8, 16, 64};
enum { N_STRATEGIES = 4, N_BATCHES = 3, MAX_MODEL_S = 10 };

static struct fr_question question(const char *model, uint32_t batch, const char *strategy)
{
    struct fr_question q;

    fr_question_init(&q);
    q.workload = model;
    q.topology = "dgx1-v100";
    q.strategy = strategy;
    q.global_batch = batch;
    q.optimizer = FR_ADAM;
    return q;
}

static struct fr_record *answer(const struct fr_setting *s, const struct fr_question *q)
{
    struct fr_record *r = NULL;
    struct fr_error err;

    ck_assert_msg(fr_answer_on(s, q, NULL, &r, &err) == FR_OK, "%s %s %u: %s", q->workload,
                  q->strategy, q->global_batch, err.text);
    return r;
}

/* Model number _i on eight V100s. The time allowed is for a machine busy with other tests. */
START_TEST(every_model_has_an_answer_from_every_strategy)
{
    const char *name = fr_zoo_name((size_t)_i);
    const char *model = strcmp(name, "wresnet-L-W") == 0 ? "wresnet-50-2" : name; /* a pattern */
    uint64_t peak_bytes[N_STRATEGIES] = {0};
    clock_t start = clock();

    for (size_t b = 0; b < N_BATCHES; b++) {
        struct fr_question q = question(model, batches[b], "single");
        struct fr_setting setting;
        struct fr_error err;

        ck_assert_msg(fr_setting_load(&setting, &q, &err) == FR_OK, "%s: %s", model, err.text);
        for (size_t s = 0; s < N_STRATEGIES; s++) {
            struct fr_record *r;

            q.strategy = strategies[s];
            r = answer(&setting, &q);
            ck_assert_msg(isfinite(r->iteration_s) && r->iteration_s > 0, "%s %s", model,
                          q.strategy);
            ck_assert_msg(r->iteration_s >= r->lower_bound_s * (1 - 1e-9), "%s %s", model,
                          q.strategy);
            /* more samples need no less memory, where the batch does not move the cuts */
            ck_assert_msg(s > 1 || r->peak_bytes >= peak_bytes[s], "%s %s", model, q.strategy);
            ck_assert_int_eq(r->oom, r->peak_bytes > r->peak_capacity_bytes);
            peak_bytes[s] = r->peak_bytes;
            fr_record_free(r);
        }
        fr_setting_fini(&setting);
    }
    ck_assert_double_lt((double)(clock() - start) / CLOCKS_PER_SEC, MAX_MODEL_S);
}
END_TEST

/* 405,853,388,800 parameters, gradients and two moments of Adam in fp32, 6.5 TB: no GPU has a
 * hundredth of them. */
START_TEST(the_largest_model_fits_nowhere)
{
    for (size_t s = 0; s < N_STRATEGIES; s++) {
        struct fr_question q = question("llama3-405b", 8, strategies[s]);
        struct fr_setting setting;
        struct fr_record *r;

        ck_assert_int_eq(fr_setting_load(&setting, &q, NULL), FR_OK);
        r = answer(&setting, &q);
        ck_assert(r->oom);
        /* one device holds all, or an eighth of it at best */
        ck_assert_uint_ge(r->peak_bytes, UINT64_C(405853388800) * 16 / (s < 2 ? 1 : 8));
        fr_record_free(r);
        fr_setting_fini(&setting);
    }
}
END_TEST

static Suite *make_suite(void)
{
    Suite *s = suite_create("results/zoo");
    TCase *models = tcase_create("models"), *largest = tcase_create("largest");
    int n = 0;

    while (fr_zoo_name((size_t)n))
        n++;
    tcase_set_timeout(models, 60);
    tcase_add_loop_test(models, every_model_has_an_answer_from_every_strategy, 0, n);
    tcase_add_test(largest, the_largest_model_fits_nowhere);
    suite_add_tcase(s, models);
    suite_add_tcase(s, largest);
    return s;
}

int main(void)
{
    SRunner *sr = srunner_create(make_suite());
    int n_failed;

    srunner_run_all(sr, CK_ENV);
    n_failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
