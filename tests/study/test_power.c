/* tests/study/test_power.c - answers under a power limit. */
#include "config.h"

#include "study/study.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <math.h>
#include <string.h>

static struct fr_question question(const char *workload, const char *topology, const char *strategy,
                                   double limit_W)
{
    struct fr_question q;

    fr_question_init(&q);
    q.workload = workload;
    q.topology = topology;
    q.strategy = strategy;
    q.optimizer = FR_ADAM;
    q.n_gpus = 2;
    q.global_batch = 16;
    q.dtype = FR_BF16;
    q.power_limit_W = limit_W;
    return q;
}

static struct fr_record *answer(const char *workload, const char *topology, const char *strategy,
                                double limit_W)
{
    struct fr_question q = question(workload, topology, strategy, limit_W);
    struct fr_record *r = NULL;
    struct fr_error err;

    ck_assert_msg(fr_answer(&q, NULL, &r, &err) == FR_OK, "%s", err.text);
    return r;
}

START_TEST(less_power_is_slower_and_kept_to)
{
    static const char *const strategies[] = {"dp", "hybrid:tp=2", "pp"};

    for (size_t s = 0; s < 3; s++) {
        double last_s = 0;

        for (double limit_W = 700; limit_W > 250; limit_W -= 100) {
            struct fr_record *r = answer("gpt2-medium", "hgx-h100", strategies[s], limit_W);

            ck_assert_double_ge(r->iteration_s, last_s);
            ck_assert_double_le(r->gpu_W, 0.99 * limit_W + 1e-6);
            ck_assert_double_gt(r->gpu_W, 120);
            ck_assert_double_eq_tol(r->step_J, 2 * r->gpu_W * r->iteration_s, 1e-9 * r->step_J);
            ck_assert(r->clock > 0 && r->clock <= 1);
            last_s = r->iteration_s;
            fr_record_free(r);
        }
    }
}
END_TEST

/* Its curves are those of boards at their limit, and a limit above it is none. */
START_TEST(the_boards_own_limit_changes_nothing_where_curves_last)
{
    struct fr_record *without = answer("gpt2-small", "dgx-a100-80g", "dp", 0);
    struct fr_record *at = answer("gpt2-small", "dgx-a100-80g", "dp", 400);
    struct fr_record *above = answer("gpt2-small", "dgx-a100-80g", "dp", 1000);

    ck_assert_double_eq(at->iteration_s, without->iteration_s);
    ck_assert_double_eq(above->iteration_s, without->iteration_s);
    ck_assert_double_eq(above->gpu_W, at->gpu_W);
    ck_assert_double_eq(without->power_limit_W, 400);
    ck_assert(!without->is_power_limited && !without->asks_power_limit);
    fr_record_free(without);
    fr_record_free(at);
    fr_record_free(above);
}
END_TEST

/* Curves of an H100 are bursts: without a limit, what lasts runs at the clock that the board keeps;
 * "none" is the burst. */
START_TEST(the_boards_own_limit_binds_where_curves_are_bursts)
{
    struct fr_record *none = answer("llama2-7b", "hgx-h100", "dp", INFINITY);
    struct fr_record *board = answer("llama2-7b", "hgx-h100", "dp", 0);
    struct fr_record *asked = answer("llama2-7b", "hgx-h100", "dp", 700);

    ck_assert_double_eq(board->iteration_s, asked->iteration_s);
    ck_assert_double_gt(board->iteration_s, none->iteration_s);
    ck_assert(board->is_power_limited && !board->asks_power_limit && asked->asks_power_limit);
    ck_assert_double_eq(none->power_limit_W, 0);
    fr_record_free(none);
    fr_record_free(board);
    fr_record_free(asked);
}
END_TEST

/* On an H100 compute slows and memory does not: ResNet-50's step less than GPT's. */
START_TEST(memory_bound_work_keeps_its_rate)
{
    struct fr_record *images = answer("resnet50", "hgx-h100", "dp", 0);
    struct fr_record *less = answer("resnet50", "hgx-h100", "dp", 400);
    struct fr_record *text = answer("gpt2-medium", "hgx-h100", "dp", 0);
    struct fr_record *less_text = answer("gpt2-medium", "hgx-h100", "dp", 400);
    double images_ratio = less->iteration_s / images->iteration_s;
    double text_ratio = less_text->iteration_s / text->iteration_s;

    ck_assert_double_ge(images_ratio, 1);
    ck_assert_double_lt(images_ratio, text_ratio);
    ck_assert_double_gt(text_ratio, 1);
    ck_assert_double_le(images_ratio, 1 / less->clock);
    ck_assert_double_le(text_ratio, 1 / less_text->clock);
    fr_record_free(images);
    fr_record_free(less);
    fr_record_free(text);
    fr_record_free(less_text);
}
END_TEST

START_TEST(what_cannot_be_known_is_refused)
{
    struct fr_question unknown = question("lenet", "p2.16xlarge", "dp", 100);
    struct fr_question idle = question("lenet", "hgx-h100", "dp", 100);
    struct fr_record *r = NULL;
    struct fr_error err;
    char text[512];

    ck_assert_int_eq(fr_answer(&unknown, NULL, &r, &err), FR_EUSAGE);
    ck_assert_ptr_nonnull(
        strstr(fr_error_string(&err, text, sizeof(text)), "what a 'k80-die' draws is not known"));
    ck_assert_int_eq(fr_answer(&idle, NULL, &r, &err), FR_ERANGE);
    ck_assert_ptr_nonnull(
        strstr(fr_error_string(&err, text, sizeof(text)), "draws 120 W without work"));
}
END_TEST

int main(void)
{
    TCase *tc = tcase_create("power");

    tcase_add_test(tc, less_power_is_slower_and_kept_to);
    tcase_add_test(tc, the_boards_own_limit_changes_nothing_where_curves_last);
    tcase_add_test(tc, the_boards_own_limit_binds_where_curves_are_bursts);
    tcase_add_test(tc, memory_bound_work_keeps_its_rate);
    tcase_add_test(tc, what_cannot_be_known_is_refused);
    return run_case(tc, "power");
}
