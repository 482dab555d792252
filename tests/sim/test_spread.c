/* tests/sim/test_spread.c - random factors: mean 1 and the spread asked for, whatever the shape. */
#include "config.h"

#include "sim/spread.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <math.h>
#include <string.h>

enum { DRAWS = 400000 };

static const struct {
    enum fr_spread_shape shape;
    double cv;
} spreads[] = {{FR_SPREAD_NORMAL, 0.3},    {FR_SPREAD_UNIFORM, 0.5},   {FR_SPREAD_LOGNORMAL, 0.01},
               {FR_SPREAD_LOGNORMAL, 0.5}, {FR_SPREAD_LOGNORMAL, 2},   {FR_SPREAD_LOGNORMAL, 10},
               {FR_SPREAD_GAMMA, 0.1},     {FR_SPREAD_GAMMA, 1},       {FR_SPREAD_GAMMA, 2},
               {FR_SPREAD_GAMMA, 10},      {FR_SPREAD_BY_SIZE, 0.001}, {FR_SPREAD_BY_SIZE, 1}};
enum { N_SPREADS = sizeof(spreads) / sizeof(spreads[0]) };

/* The mean of n draws has the standard error cv / sqrt(n); five of these. The variance of heavy
 * tails cannot be seen in so few draws and is tested by its formula below. */
LOOP_TEST(factors_keep_the_mean_and_have_the_spread_asked_for, 0, N_SPREADS)
{
    double cv = spreads[_i].cv, sum = 0, squares = 0;
    struct fr__spread s;
    struct fr__rng rng;

    fr__rng_init(&rng, 7, (uint64_t)_i);
    fr__spread_init(&s, spreads[_i].shape, cv);
    for (int i = 0; i < DRAWS; i++) {
        double f = fr__spread_draw(&s, &rng);

        ck_assert(f >= 0 && isfinite(f));
        sum += f;
        squares += (f - 1) * (f - 1);
    }
    ck_assert_double_eq_tol(sum / DRAWS, 1, 5 * cv / sqrt(DRAWS) + 2e-4);
    if (cv <= 1)
        ck_assert_double_eq_tol(sqrt(squares / DRAWS), cv, 0.03 * cv);
}

/* E exp(t z) of a sum of twelve uniform numbers less six is (sinh(t/2) / (t/2))^12. */
static double moment(double t)
{
    return pow(sinh(t / 2) / (t / 2), 12);
}

TEST(a_lognormal_has_its_two_moments_by_their_formula)
{
    static const double cvs[] = {0.01, 0.3, 1, 3, 10};

    for (size_t i = 0; i < sizeof(cvs) / sizeof(cvs[0]); i++) {
        struct fr__spread s;
        double first, second;

        fr__spread_init(&s, FR_SPREAD_LOGNORMAL, cvs[i]);
        first = moment(s.scale) * exp(-s.centre);
        second = moment(2 * s.scale) * exp(-2 * s.centre);
        ck_assert_double_eq_tol(first, 1, 1e-9);
        ck_assert_double_eq_tol(sqrt(second / first / first - 1), cvs[i], 1e-6 * cvs[i]);
    }
}

TEST(a_number_alone_is_normal_as_long_as_times_stay_above_0)
{
    struct fr__spread s;

    fr__spread_init(&s, FR_SPREAD_BY_SIZE, 0.3);
    ck_assert_int_eq(s.shape, FR_SPREAD_NORMAL);
    fr__spread_init(&s, FR_SPREAD_BY_SIZE, 0.31);
    ck_assert_int_eq(s.shape, FR_SPREAD_LOGNORMAL);
}

TEST(spreads_that_no_factor_above_0_has_are_refused)
{
    struct fr_error err;

    ck_assert(fr_spread_check(FR_SPREAD_NORMAL, 0.3, "x", &err) == FR_OK);
    ck_assert(fr_spread_check(FR_SPREAD_NORMAL, 0.5, "x", &err) == FR_ERANGE);
    ck_assert_ptr_nonnull(strstr(err.text, "lognormal or gamma"));
    ck_assert(fr_spread_check(FR_SPREAD_UNIFORM, 0.6, "x", &err) == FR_ERANGE);
    ck_assert(fr_spread_check(FR_SPREAD_GAMMA, 10, "x", &err) == FR_OK);
    ck_assert(fr_spread_check(FR_SPREAD_GAMMA, 11, "x", &err) == FR_ERANGE);
    ck_assert(fr_spread_check(FR_SPREAD_GAMMA, -1, "x", &err) == FR_ERANGE);
    ck_assert(fr_spread_check(FR_SPREAD_GAMMA, (double)NAN, "x", &err) == FR_ERANGE);
}

int main(void)
{
    TCase *tc = tcase_create("spread");

    add_tests(tc);
    return run_case(tc, "sim/spread");
}
