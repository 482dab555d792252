/* tests/study/test_normal.c - the equations by which measured steps move what is uncertain. */
#include "config.h"

#include "study/interval/normal.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <math.h>

static const double noise = 0.03 * 0.03;

static struct fr__prior prior_of(const double mean[FR__N_MOVED], const double variance[FR__N_MOVED])
{
    struct fr__prior p;

    fr__prior_set(&p, mean, variance);
    return p;
}

/* With a prior that says nothing, as many steps as unknowns give the solution of the system. */
TEST(as_many_steps_as_unknowns_are_met)
{
    static const double slope[FR__N_MOVED][FR__N_MOVED] = {{0.9, 0.1, 0, 0.2, 0},
                                                           {0.5, 0.4, 0, 0.5, 0.3},
                                                           {0.7, 0.1, 0.4, 0.1, 0.2},
                                                           {0.2, 0.9, 0.1, 0.6, 0.1},
                                                           {0.3, 0.2, 0.6, 0.1, 0.8}};
    static const double truth[FR__N_MOVED] = {0.1, -0.2, 1.5, 3, 7}, zero[FR__N_MOVED] = {0};
    static const double wide[FR__N_MOVED] = {1e6, 1e6, 1e6, 1e6, 1e6};
    double d[FR__N_MOVED], covariance[FR__N_MOVED][FR__N_MOVED];
    const struct fr__prior prior = prior_of(zero, wide);
    struct fr__normal n = {.misfit = 0};

    for (unsigned i = 0; i < FR__N_MOVED; i++) {
        double miss = 0;

        for (unsigned k = 0; k < FR__N_MOVED; k++)
            miss += slope[i][k] * truth[k];
        fr__normal_add(&n, slope[i], miss, noise, 0);
    }
    fr__normal_solve(&n, zero, &prior, d, covariance);
    for (unsigned k = 0; k < FR__N_MOVED; k++)
        ck_assert_double_eq_tol(d[k], truth[k], 1e-6);
    for (unsigned i = 0; i < FR__N_MOVED; i++)
        ck_assert_double_eq_tol(
            fr__normal_spread(slope[i], (const double(*)[FR__N_MOVED])covariance), noise, 1e-8);
}

/* One step moves each part by V s miss / (v + s' V s), V the prior's variances. */
TEST(one_step_moves_each_part_by_how_uncertain_it_is)
{
    static const double slope[FR__N_MOVED] = {0.6, 0, 0.3, 0.1, 0.2}, zero[FR__N_MOVED] = {0};
    static const double variance[FR__N_MOVED] = {0.01, 0.25, 1, 4, 9};
    double d[FR__N_MOVED], covariance[FR__N_MOVED][FR__N_MOVED], all = noise, miss = 0.4;
    const struct fr__prior prior = prior_of(zero, variance);
    struct fr__normal n = {.misfit = 0};

    for (unsigned k = 0; k < FR__N_MOVED; k++)
        all += slope[k] * slope[k] * variance[k];
    fr__normal_add(&n, slope, miss, noise, 0);
    fr__normal_solve(&n, zero, &prior, d, covariance);
    for (unsigned k = 0; k < FR__N_MOVED; k++) {
        ck_assert_double_eq_tol(d[k], variance[k] * slope[k] * miss / all, 1e-12);
        for (unsigned l = 0; l < FR__N_MOVED; l++)
            ck_assert_double_eq_tol(covariance[k][l],
                                    (k == l ? variance[k] : 0) -
                                        variance[k] * slope[k] * slope[l] * variance[l] / all,
                                    1e-12);
    }
}

/* Nothing was measured of the rest: it goes to its prior. */
TEST(what_was_not_measured_is_believed)
{
    static const double x[FR__N_MOVED] = {1, 1, 1, 1, 1}, mean[FR__N_MOVED] = {0, 0.5, 2, 1, 3};
    static const double variance[FR__N_MOVED] = {1, 2, 3, 4, 5};
    double d[FR__N_MOVED], covariance[FR__N_MOVED][FR__N_MOVED];
    const struct fr__normal n = {.misfit = 0};
    const struct fr__prior prior = prior_of(mean, variance);

    fr__normal_solve(&n, x, &prior, d, covariance);
    for (unsigned k = 0; k < FR__N_MOVED; k++) {
        ck_assert_double_eq_tol(d[k], mean[k] - x[k], 1e-12);
        ck_assert_double_eq_tol(covariance[k][k], variance[k], 1e-12);
    }
}

/* Two steps in one fit, or the second after what the first left: the same. */
TEST(what_a_step_left_is_the_prior_of_the_next)
{
    static const double slope[2][FR__N_MOVED] = {{0.6, 0.1, 0.3, 0.1, 0.2},
                                                 {0.2, 0.5, 0.1, 0.4, 0.3}};
    static const double variance[FR__N_MOVED] = {0.01, 0.25, 1, 4, 9}, zero[FR__N_MOVED] = {0};
    static const double misses[2] = {0.4, -0.2};
    const struct fr__prior prior = prior_of(zero, variance);
    double both[FR__N_MOVED], first[FR__N_MOVED], second[FR__N_MOVED], miss = misses[1];
    double of_both[FR__N_MOVED][FR__N_MOVED], left[FR__N_MOVED][FR__N_MOVED];
    double of_second[FR__N_MOVED][FR__N_MOVED];
    struct fr__normal joint = {.misfit = 0}, one = {.misfit = 0}, two = {.misfit = 0};
    struct fr__prior after;

    for (unsigned i = 0; i < 2; i++)
        fr__normal_add(&joint, slope[i], misses[i], noise, 0);
    fr__normal_solve(&joint, zero, &prior, both, of_both);
    fr__normal_add(&one, slope[0], misses[0], noise, 0);
    fr__normal_solve(&one, zero, &prior, first, left);
    for (unsigned k = 0; k < FR__N_MOVED; k++) {
        after.mean[k] = first[k];
        miss -= slope[1][k] * first[k];
    }
    ck_assert(fr__normal_invert((const double(*)[FR__N_MOVED])left, after.precision));
    fr__normal_add(&two, slope[1], miss, noise, 0);
    fr__normal_solve(&two, first, &after, second, of_second);
    for (unsigned k = 0; k < FR__N_MOVED; k++) {
        ck_assert_double_eq_tol(first[k] + second[k], both[k], 1e-9);
        for (unsigned l = 0; l < FR__N_MOVED; l++)
            ck_assert_double_eq_tol(of_second[k][l], of_both[k][l], 1e-9);
    }
}

TEST(a_matrix_that_is_no_covariance_has_no_inverse)
{
    static const double flat[FR__N_MOVED][FR__N_MOVED] = {
        {1, 2, 0, 0, 0}, {2, 1, 0, 0, 0}, {0, 0, 1, 0, 0}, {0, 0, 0, 1, 0}, {0, 0, 0, 0, 1}};
    double inverse[FR__N_MOVED][FR__N_MOVED];

    ck_assert(!fr__normal_invert(flat, inverse));
}

/* A Student's t with 3 degrees: at 0 it is one step, at ten deviations 1 / (1 + 100 / 3). */
TEST(a_step_far_from_the_rest_counts_little)
{
    static const double slope[FR__N_MOVED] = {1, 0, 0, 0, 0};
    struct fr__normal n = {.misfit = 0};

    ck_assert_double_eq(fr__normal_weight(0.3, noise, 0), 1);
    ck_assert_double_eq(fr__normal_weight(0, noise, 3), 1);
    ck_assert_double_eq_tol(fr__normal_weight(0.3, noise, 3), 3.0 / 103, 1e-12);
    ck_assert_double_eq_tol(fr__normal_add(&n, slope, 0.3, noise, 3), 3.0 / 103, 1e-12);
    ck_assert_double_eq_tol(n.b[0], 3.0 / 103 * 0.3 / noise, 1e-9);
    ck_assert_double_eq_tol(n.misfit, 3 * log(103.0 / 3), 1e-9);
}

int main(void)
{
    TCase *tc = tcase_create("normal");

    add_tests(tc);
    return run_case(tc, "normal");
}
