/* The tournament tree against a plain array. */
#include "sim/network/tournament.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

static uint32_t below(uint64_t *state, uint32_t n) /* xorshift, as in test_sim_maxmin.c */
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (uint32_t)((*state >> 16) % n);
}

TEST(a_tree_of_nothing_holds_infinity)
{
    struct fr__tournament t;
    uint32_t none;

    ck_assert(fr__tournament_init(&t, 0));
    ck_assert(isinf(fr__tournament_least(&t)));
    ck_assert_uint_eq(fr__tournament_list(&t, 1e300, &none), 0);
    fr__tournament_fini(&t);
}

TEST(numbers_are_listed_in_the_order_of_their_indices)
{
    static const uint32_t AT[] = {0, 7, 8, 63, 64, 511, 512, 599};
    struct fr__tournament t;
    uint32_t list[8];

    ck_assert(fr__tournament_init(&t, 600));
    for (uint32_t k = 0; k < 8; k++)
        fr__tournament_set(&t, AT[k], 10 - k);
    ck_assert_double_eq(fr__tournament_least(&t), 3);
    ck_assert_uint_eq(fr__tournament_list(&t, 10, list), 8);
    ck_assert_mem_eq(list, AT, sizeof(list));
    ck_assert_uint_eq(fr__tournament_list(&t, 4, list), 2);
    ck_assert_uint_eq(list[0], 512);
    ck_assert_uint_eq(list[1], 599);
    ck_assert_uint_eq(fr__tournament_list(&t, 2, list), 0);
    fr__tournament_fini(&t);
}

/* Sizes around the powers of eight; few different numbers, so that many are alike. */
TEST(random_changes_leave_the_least_of_all)
{
    static const uint32_t SIZES[] = {1, 2, 7, 8, 9, 63, 64, 65, 200, 511, 512, 513};
    uint64_t state = 88172645463325252u;

    for (size_t s = 0; s < sizeof(SIZES) / sizeof(SIZES[0]); s++) {
        uint32_t n = SIZES[s];
        uint32_t list[513];
        double x[513];
        struct fr__tournament t;

        ck_assert(fr__tournament_init(&t, n));
        for (uint32_t i = 0; i < n; i++)
            x[i] = INFINITY;
        for (uint32_t step = 0; step < 2000; step++) {
            uint32_t i = below(&state, n), n_list, n_found = 0;
            double least = INFINITY, most = below(&state, 40);

            x[i] = below(&state, 4) == 0 ? (double)INFINITY : below(&state, 40);
            fr__tournament_set(&t, i, x[i]);
            for (uint32_t k = 0; k < n; k++)
                least = fmin(least, x[k]);
            n_list = fr__tournament_list(&t, most, list);
            if (fr__tournament_least(&t) != least) /* Check's own asserts are slow */
                ck_abort_msg("least of %u: %g, not %g", n, fr__tournament_least(&t), least);
            for (uint32_t k = 0; k < n; k++)
                if (x[k] <= most && (n_found == n_list || list[n_found++] != k))
                    ck_abort_msg("of %u, number %u is <= %g and not listed", n, k, most);
            if (n_found != n_list)
                ck_abort_msg("of %u, %u are <= %g and %u listed", n, n_found, most, n_list);
        }
        fr__tournament_fini(&t);
    }
}

int main(void)
{
    TCase *tc = tcase_create("tournament");

    add_tests(tc);
    return run_case(tc, "sim_tournament");
}
