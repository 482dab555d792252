/* tests/study/test_variation.c - the wait for the slowest of GPUs that differ. */
#include "config.h"

#include "study/question/variation.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <math.h>

/* Of 2: 1 / sqrt(pi). Of 3: 1.5 / sqrt(pi). Of 10 and 100: H. L. Harter, Expected values of normal
 * order statistics, Biometrika 48, 1961, tables. */
TEST(the_largest_of_n_normal_numbers_is_that_of_the_tables)
{
    ck_assert_double_eq(fr__largest_normal(0), 0);
    ck_assert_double_eq(fr__largest_normal(1), 0);
    ck_assert_double_eq_tol(fr__largest_normal(2), 1 / sqrt(M_PI), 1e-9);
    ck_assert_double_eq_tol(fr__largest_normal(3), 1.5 / sqrt(M_PI), 1e-9);
    ck_assert_double_eq_tol(fr__largest_normal(10), 1.53875, 1e-5);
    ck_assert_double_eq_tol(fr__largest_normal(100), 2.50759, 1e-5);
}

static struct fr_record *answer(size_t n_gpus, const char *variation, const char *recipe)
{
    struct fr_record *r = NULL;
    struct fr_error err = {.text = ""};
    struct fr_question q;

    fr_question_init(&q);
    q.workload = "vgg16";
    q.topology = "dgx-a100-80g";
    q.strategy = "dp";
    q.n_gpus = n_gpus;
    q.batch_per_gpu = 16;
    q.recipe = recipe;
    q.no_timing = true;
    if (variation)
        ck_assert_msg(fr_question_set(&q, "gpu-variation", variation, &err) == FR_OK, "%s",
                      err.text);
    ck_assert_msg(fr_answer(&q, NULL, &r, &err) == FR_OK, "%s", err.text);
    return r;
}

/* Kernels take (1 + v E) times as long; what the host and the links take stays. */
TEST(compute_of_all_gpus_takes_as_long_as_on_the_slowest)
{
    const double factor = 1 + 0.02 * fr__largest_normal(8);
    struct fr_record *plain = answer(8, NULL, NULL), *r = answer(8, "0.02", NULL);

    ck_assert_double_eq_tol(r->wait_factor, factor, 1e-12);
    ck_assert_double_eq(plain->wait_factor, 1);
    ck_assert_double_gt(r->iteration_s, plain->iteration_s * (1 + 0.5 * (factor - 1)));
    ck_assert_double_lt(r->iteration_s, plain->iteration_s * factor);
    fr_record_free(plain);
    fr_record_free(r);
}

TEST(one_gpu_waits_for_nobody)
{
    struct fr_record *plain = answer(1, NULL, NULL), *r = answer(1, "0.02", NULL);

    ck_assert_double_eq(r->iteration_s, plain->iteration_s);
    ck_assert_double_eq(r->wait_factor, 1);
    fr_record_free(plain);
    fr_record_free(r);
}

TEST(a_recipe_has_it_and_what_is_typed_goes_before_it)
{
    struct fr_record *r = answer(4, NULL, "pytorch-ddp"), *none = answer(4, "0", "pytorch-ddp");

    ck_assert_double_eq_tol(r->wait_factor, 1 + 0.015 * fr__largest_normal(4), 1e-12);
    ck_assert_double_eq(none->wait_factor, 1);
    ck_assert_double_lt(none->iteration_s, r->iteration_s);
    fr_record_free(r);
    fr_record_free(none);
}

/* GPUs and batches vary independently, so their variances add up. */
TEST(unequal_batches_are_waited_for_beside_unequal_gpus)
{
    struct fr_record *r = NULL, *of_recipe = NULL;
    struct fr_error err = {.text = ""};
    struct fr_question q;

    fr_question_init(&q);
    q.workload = "transformer";
    q.topology = "dgx-a100-80g";
    q.strategy = "dp";
    q.n_gpus = 4;
    q.batch_per_gpu = 8;
    q.no_timing = true;
    ck_assert_int_eq(fr_question_set(&q, "gpu-variation", "0.03", &err), FR_OK);
    ck_assert_int_eq(fr_question_set(&q, "length-variation", "0.04", &err), FR_OK);
    ck_assert_int_eq(fr_answer(&q, NULL, &r, &err), FR_OK);
    ck_assert_double_eq_tol(r->wait_factor, 1 + 0.05 * fr__largest_normal(4), 1e-12);
    ck_assert_double_eq_tol(r->length_wait_frac, 1 - 0.03 / 0.05, 1e-12);
    fr_record_free(r);

    fr_question_init(&q);
    q.workload = "transformer";
    q.topology = "dgx-a100-80g";
    q.strategy = "dp";
    q.batch_per_gpu = 8;
    q.no_timing = true;
    q.recipe = "usual";
    ck_assert_int_eq(fr_answer(&q, NULL, &of_recipe, &err), FR_OK);
    ck_assert_str_eq(of_recipe->recipe, "nvidia-transformer");
    ck_assert_double_eq_tol(of_recipe->wait_factor, 1 + hypot(0.015, 0.057) * fr__largest_normal(8),
                            1e-12);
    fr_record_free(of_recipe);
}

TEST(a_spread_that_is_none_is_refused)
{
    static const char *const bad[] = {"-0.1", "0.5", "nan", "2 %", ""};
    struct fr_question q;

    fr_question_init(&q);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        for (int lengths = 0; lengths < 2; lengths++)
            ck_assert_int_ne(
                fr_question_set(&q, lengths ? "length-variation" : "gpu-variation", bad[i], NULL),
                FR_OK);
}

int main(void)
{
    TCase *tc = tcase_create("variation");

    add_tests(tc);
    return run_case(tc, "variation");
}
