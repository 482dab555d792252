/* The monotone radix heap: what comes out, in which order. */
#include "sim/radix.h"

#include <check.h>
#include <float.h>
#include <stdlib.h>

enum { N = 500 };

static uint64_t next_random(uint64_t *state) /* xorshift, as in test_sim_maxmin.c */
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state >> 11;
}

START_TEST(keys_come_out_in_order_with_the_ids_they_went_in_with)
{
    static const double KEYS[] = {3, 1e300, 1e-300, 0.1, 3, DBL_MIN};
    static const uint32_t ORDER[] = {5, 2, 3, 0, 0, 1}; /* 0 and 4 have one key */
    struct fr__radix_node nodes[6];
    struct fr__radix q = {.nodes = nodes};
    double key;

    fr__radix_reset(&q, DBL_MIN);
    for (uint32_t i = 0; i < 6; i++)
        fr__radix_push(&q, i, KEYS[i]);
    for (uint32_t i = 0; i < 6; i++) {
        uint32_t id = fr__radix_pop(&q, &key);

        ck_assert_double_eq(key, KEYS[id]);
        ck_assert_double_eq(key, KEYS[ORDER[i]]);
    }
    ck_assert_uint_eq(q.filled, 0);
}
END_TEST

/* The first and the last of a bucket and one between; a greater key changes nothing. */
START_TEST(a_key_made_lesser_comes_out_earlier)
{
    static const uint32_t ORDER[] = {3, 0, 5, 1, 2, 4};
    struct fr__radix_node nodes[6];
    struct fr__radix q = {.nodes = nodes};
    double key;

    fr__radix_reset(&q, 1);
    for (uint32_t i = 0; i < 6; i++)
        fr__radix_push(&q, i, 16 + i); /* one bucket: 16 .. 21 */
    fr__radix_lower(&q, 5, 2);
    fr__radix_lower(&q, 3, 1.5);
    fr__radix_lower(&q, 0, 1.75);
    fr__radix_lower(&q, 1, 3);
    fr__radix_lower(&q, 4, 1000);
    for (uint32_t i = 0; i < 6; i++)
        ck_assert_uint_eq(fr__radix_pop(&q, &key), ORDER[i]);
    ck_assert_double_eq(key, 20);
    ck_assert_uint_eq(q.filled, 0);
}
END_TEST

/* Everything taken out goes in again with a greater key, as resources do; many keys are equal. */
START_TEST(what_comes_out_never_decreases_and_is_the_least)
{
    static struct fr__radix_node nodes[N];
    struct fr__radix q = {.nodes = nodes};
    double keys[N], key, last = 1;
    uint64_t state = 42;

    fr__radix_reset(&q, 1);
    for (uint32_t i = 0; i < N; i++) {
        keys[i] = 1 + (double)(next_random(&state) % 100);
        fr__radix_push(&q, i, keys[i]);
    }
    for (int round = 0; round < 5000; round++) {
        uint32_t id = fr__radix_pop(&q, &key);

        ck_assert(key >= last && key == keys[id]);
        for (uint32_t i = 0; i < N; i++)
            if (keys[i] < key)
                ck_abort_msg("%u with key %g was left behind at %g", i, keys[i], key);
        last = key;
        keys[id] = key * (1 + (double)(next_random(&state) % 8) / 64);
        fr__radix_push(&q, id, keys[id]);
    }
}
END_TEST

START_TEST(a_key_below_the_last_by_rounding_comes_next)
{
    struct fr__radix_node nodes[3];
    struct fr__radix q = {.nodes = nodes};
    double key;

    fr__radix_reset(&q, 1);
    fr__radix_push(&q, 0, 2);
    fr__radix_push(&q, 1, 3);
    ck_assert_uint_eq(fr__radix_pop(&q, &key), 0);
    fr__radix_push(&q, 2, 2 * (1 - DBL_EPSILON));
    ck_assert_uint_eq(fr__radix_pop(&q, &key), 2);
    ck_assert_uint_eq(fr__radix_pop(&q, &key), 1);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("sim_radix");
    TCase *c = tcase_create("radix");
    SRunner *sr = srunner_create(s);
    int n_failed;

    tcase_add_test(c, keys_come_out_in_order_with_the_ids_they_went_in_with);
    tcase_add_test(c, a_key_made_lesser_comes_out_earlier);
    tcase_add_test(c, what_comes_out_never_decreases_and_is_the_least);
    tcase_add_test(c, a_key_below_the_last_by_rounding_comes_next);
    suite_add_tcase(s, c);
    srunner_run_all(sr, CK_ENV);
    n_failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
