/* tests/base/test_rng.c - random streams against published vectors and known moments. */
#include "config.h"

#include "base/rng.h"
#include "tests/support/base_check.h"

#include <string.h>

/* The reference implementation's first outputs from the state {1, 2, 3, 4}, as printed in the tests
 * of Rust's rand_xoshiro (made with prng.di.unimi.it's xoshiro256plusplus.c). The first two by
 * hand: rotl(1 + 4, 23) + 1 = 41943041; the state is then {7, 0, 262146, 6 * 2^45}, and rotl(7 +
 * 6 * 2^45, 23) + 7 = 7 * 2^23 + 6 * 2^(68 - 64) + 7 = 58720359. */
TEST(xoshiro_gives_the_published_sequence)
{
    static const uint64_t expected[] = {
        UINT64_C(41943041),
        UINT64_C(58720359),
        UINT64_C(3588806011781223),
        UINT64_C(3591011842654386),
        UINT64_C(9228616714210784205),
        UINT64_C(9973669472204895162),
        UINT64_C(14011001112246962877),
        UINT64_C(12406186145184390807),
        UINT64_C(15849039046786891736),
        UINT64_C(10450023813501588000),
    };
    struct fr__rng r = {{1, 2, 3, 4}};

    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
        ck_assert_uint_eq(fr__rng_next(&r), expected[i]);
}

/* From Rosetta Code, "Pseudo-random numbers/Splitmix64", seed 1234567; and the first from seed
 * 0. */
TEST(splitmix_gives_the_published_sequence)
{
    static const uint64_t expected[] = {
        UINT64_C(6457827717110365317),  UINT64_C(3203168211198807973),
        UINT64_C(9817491932198370423),  UINT64_C(4593380528125082431),
        UINT64_C(16408922859458223821),
    };
    uint64_t state = 1234567;

    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
        ck_assert_uint_eq(fr__splitmix64(&state), expected[i]);
    state = 0;
    ck_assert_uint_eq(fr__splitmix64(&state), UINT64_C(0xe220a8397b1dcdaf));
}

TEST(a_stream_depends_on_seed_and_entity_alone)
{
    enum { N = 32 };
    struct fr__rng streams[N * N], again;

    for (uint64_t seed = 0; seed < N; seed++)
        for (uint64_t entity = 0; entity < N; entity++)
            fr__rng_init(&streams[seed * N + entity], seed, entity);
    for (size_t i = 0; i < N * N; i++)
        for (size_t j = 0; j < i; j++)
            ck_assert_int_ne(memcmp(&streams[i], &streams[j], sizeof(streams[0])), 0);
    fr__rng_init(&again, 3, 5);
    ck_assert_int_eq(memcmp(&again, &streams[3 * N + 5], sizeof(again)), 0);
}

/* Mean 1/2 and variance 1/12; of 10^5 draws the mean deviates by 0.00091 (one sigma): 5 sigma. */
TEST(uniforms_have_the_right_mean_and_stay_inside)
{
    enum { N = 100000 };
    struct fr__rng r;
    double sum = 0, sum2 = 0;

    fr__rng_init(&r, 1, 0);
    for (int i = 0; i < N; i++) {
        double x = fr__rng_uniform(&r);

        ck_assert(x >= 0 && x < 1);
        sum += x;
        sum2 += (x - 0.5) * (x - 0.5);
    }
    ck_assert_double_eq_tol(sum / N, 0.5, 0.005);
    ck_assert_double_eq_tol(sum2 / N, 1.0 / 12, 0.002);
}

/* All bits set give the largest uniform, still below 1; none set give 0. */
TEST(the_largest_uniform_is_below_one)
{
    struct fr__rng r = {{UINT64_MAX, 0, 0, 0}}; /* rotl(-1, 23) - 1 = -2: 53 bits set */
    struct fr__rng zero = {{0, 1, 0, 0}};

    ck_assert(fr__rng_uniform(&r) < 1);
    ck_assert(fr__rng_uniform(&zero) <= 0);
}

/* Mean 0, variance 1 (one sigma 0.0045 at 10^5), and never beyond 6. */
TEST(normals_have_mean_zero_and_variance_one)
{
    enum { N = 50000 };
    struct fr__rng r;
    double sum = 0, sum2 = 0;

    fr__rng_init(&r, 2, 7);
    for (int i = 0; i < N; i++) {
        double x = fr__rng_normal(&r);

        ck_assert(x >= -6 && x < 6);
        sum += x;
        sum2 += x * x;
    }
    ck_assert_double_eq_tol(sum / N, 0, 0.025);
    ck_assert_double_eq_tol(sum2 / N, 1, 0.035);
}

/* 7 values, 70000 draws: 10000 each, one sigma 93; 5 sigma. */
TEST(draws_below_n_are_even)
{
    unsigned counts[7] = {0};
    struct fr__rng r;

    fr__rng_init(&r, 3, 1);
    for (int i = 0; i < 70000; i++)
        counts[fr__rng_below(&r, 7)]++;
    for (int i = 0; i < 7; i++) {
        ck_assert_uint_gt(counts[i], 9500);
        ck_assert_uint_lt(counts[i], 10500);
    }
}

/* With n = 2^63 + 1 a plain remainder would give the values below 2^63 - 1 twice as often as
 * drawing again does; here nearly every second number is drawn again. */
TEST(draws_below_the_extremes_of_n_stay_inside)
{
    const uint64_t large = (UINT64_C(1) << 63) + 1;
    struct fr__rng r;
    unsigned n_upper = 0;

    fr__rng_init(&r, 4, 1);
    for (int i = 0; i < 1000; i++) {
        uint64_t x = fr__rng_below(&r, large);

        ck_assert_uint_eq(fr__rng_below(&r, 1), 0);
        ck_assert_uint_lt(x, large);
        n_upper += x > large / 2;
    }
    ck_assert_uint_gt(n_upper, 400); /* 500, one sigma 16 */
    ck_assert_uint_lt(n_upper, 600);
}

int main(void)
{
    TCase *tc = tcase_create("rng");

    add_tests(tc);
    return run_case(tc, "rng");
}
