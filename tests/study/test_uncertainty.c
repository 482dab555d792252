/* The interval of the iteration time: from the errors of op costs, and from nothing else. */
#include "config.h"

#include "results/results.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

static struct fr_record *ask(const char *workload, const char *costs, enum fr_uncertainty what)
{
    struct fr_question q;
    struct fr_record *r = NULL;
    struct fr_error err;

    fr_question_init(&q);
    q.workload = workload;
    q.topology = "dgx1-v100";
    q.strategy = "single";
    q.n_gpus = 1;
    q.global_batch = 64;
    q.costs = costs;
    q.uncertainty = what;
    ck_assert_msg(fr_answer(&q, NULL, &r, &err) == FR_OK, "%s", err.text);
    return r;
}

TEST(nothing_is_said_unless_asked)
{
    struct fr_record *r = ask("vgg16", NULL, FR_UNCERTAINTY_NONE);

    ck_assert(!r->has_interval);
    ck_assert_uint_eq(r->n_error_shares, 0);
    fr_record_free(r);
}

/* On one GPU that launches never hold back the time is the sum of all costs. With the data sheet
 * all have the error 0.4, so that moving a group by one standard deviation changes the sum by
 * sinh(0.4) of the group's, and all groups by that of the iteration. */
TEST(effects_add_up_to_the_error_of_the_sum)
{
    struct fr_record *r = ask("vgg16", "datasheet", FR_UNCERTAINTY_WHY);
    double sum_s = 0, shares = 0;

    for (size_t i = 0; i < r->n_error_shares; i++) {
        ck_assert_double_eq(r->error_shares[i].error_frac, 0.4);
        ck_assert_int_eq(r->error_shares[i].trust, FR_TRUST_DATASHEET);
        if (i > 0)
            ck_assert_double_le(r->error_shares[i].share, r->error_shares[i - 1].share);
        sum_s += r->error_shares[i].effect_s;
        shares += r->error_shares[i].share;
    }
    ck_assert_double_eq_tol(sum_s, sinh(0.4) * r->iteration_s, 0.005 * r->iteration_s);
    ck_assert_double_eq_tol(shares, 1, 1e-12);
    ck_assert_int_eq(r->error_shares[0].kind, FR_OP_CONV2D);
    fr_record_free(r);
}

/* Where convolutions are nearly all, half the variance is common: the 5th and 95th percentile of
 * exp(0.4 sqrt(1/2) z) are 0.63 and 1.59; 40 draws find them roughly. */
TEST(the_interval_is_as_wide_as_the_common_error_makes_it)
{
    struct fr_record *r = ask("vgg16", "datasheet", FR_UNCERTAINTY_INTERVAL);
    struct fr_record *again = ask("vgg16", "datasheet", FR_UNCERTAINTY_INTERVAL);

    ck_assert(r->has_interval);
    ck_assert_double_gt(r->iteration_low_s / r->iteration_s, 0.5);
    ck_assert_double_lt(r->iteration_low_s / r->iteration_s, 0.8);
    ck_assert_double_gt(r->iteration_high_s / r->iteration_s, 1.25);
    ck_assert_double_lt(r->iteration_high_s / r->iteration_s, 2.1);
    ck_assert(r->iteration_low_s == again->iteration_low_s);
    ck_assert(r->iteration_high_s == again->iteration_high_s);
    fr_record_free(r);
    fr_record_free(again);
}

TEST(curves_leave_less_doubt_than_the_datasheet)
{
    struct fr_record *sheet = ask("vgg16", "datasheet", FR_UNCERTAINTY_INTERVAL);
    struct fr_record *curves = ask("vgg16", NULL, FR_UNCERTAINTY_INTERVAL);

    ck_assert_double_lt(curves->iteration_high_s / curves->iteration_low_s,
                        sheet->iteration_high_s / sheet->iteration_low_s);
    fr_record_free(sheet);
    fr_record_free(curves);
}

int main(void)
{
    TCase *t = tcase_create("all");

    tcase_set_timeout(t, 60);
    add_tests(t);
    return run_case(t, "results/uncertainty");
}
