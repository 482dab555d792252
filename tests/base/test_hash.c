/* tests/base/test_hash.c - the hash table, its hashes, and numbered strings. */
#include "config.h"

#include "base/hash.h"
#include "tests/support/base_check.h"

#include <stdio.h>
#include <string.h>

TEST(an_empty_table_has_nothing)
{
    struct fr__hash_table t = {0};
    size_t at;

    ck_assert_uint_eq(fr__hash_first(&t, 0, &at), FR_NONE);
    ck_assert_uint_eq(fr__hash_first(&t, UINT64_MAX, &at), FR_NONE);
    fr__hash_fini(&t);
    fr__hash_fini(&t);
}

/* Sizes around each growth: at 32, 64, 128, ... ids the slots are doubled. */
TEST(every_id_is_found_after_each_growth)
{
    struct fr__hash_table t = {0};

    for (uint32_t n = 0; n < 5000; n++) {
        size_t at;

        ck_assert_uint_eq(fr__hash_first(&t, fr__hash_id(n), &at), FR_NONE);
        ck_assert(fr__hash_add(&t, fr__hash_id(n), n));
        ck_assert_uint_eq(t.n, n + 1);
        ck_assert_uint_ge(t.n_slots, 2 * t.n);
        for (uint32_t i = 0; (n & (n + 1)) == 0 && i <= n; i++) {
            ck_assert_uint_eq(fr__hash_first(&t, fr__hash_id(i), &at), i);
            ck_assert_uint_eq(fr__hash_next(&t, fr__hash_id(i), &at), FR_NONE);
        }
    }
    fr__hash_fini(&t);
}

/* All hashes equal, in the last slot of any size, so that the walk goes round the end, and is
 * longer than the first table. Each id comes once, between others of the neighbouring slot. */
TEST(ids_of_one_hash_are_all_walked_and_no_others)
{
    enum { N = 100 };
    struct fr__hash_table t = {0};
    bool is_seen[N] = {false};
    unsigned n = 0;
    size_t at;

    for (uint32_t i = 0; i < N; i++) {
        ck_assert(fr__hash_add(&t, UINT32_MAX, i));
        ck_assert(fr__hash_add(&t, 0, N + i));
    }
    for (uint32_t id = fr__hash_first(&t, UINT32_MAX, &at); id != FR_NONE;
         id = fr__hash_next(&t, UINT32_MAX, &at)) {
        ck_assert_uint_lt(id, N);
        ck_assert(!is_seen[id]);
        is_seen[id] = true;
        n++;
    }
    ck_assert_uint_eq(n, N);
    ck_assert_uint_eq(fr__hash_first(&t, 1, &at), FR_NONE);
    fr__hash_fini(&t);
}

/* The first outputs of splitmix64 from seed 0, whose state after k steps is k times the golden
 * gamma (Vigna's splitmix64.c gives e220a8397b1dcdaf, 6e789e6aa1b965f4). */
TEST(the_hash_of_an_id_is_splitmix)
{
    const uint64_t gamma = UINT64_C(0x9e3779b97f4a7c15);

    ck_assert(fr__hash_id(0) == 0);
    ck_assert(fr__hash_id(gamma) == UINT64_C(0xe220a8397b1dcdaf));
    ck_assert(fr__hash_id(2 * gamma) == UINT64_C(0x6e789e6aa1b965f4));
}

/* FNV-1a of "" is its offset basis, of "a" af63dc4c8601ec8c, of "foobar" 85944171f73967e8 (RFC
 * 9923). */
TEST(the_hash_of_bytes_is_fnv_mixed)
{
    ck_assert(fr__hash_string("") == fr__hash_id(UINT64_C(0xcbf29ce484222325)));
    ck_assert(fr__hash_string("a") == fr__hash_id(UINT64_C(0xaf63dc4c8601ec8c)));
    ck_assert(fr__hash_string("foobar") == fr__hash_id(UINT64_C(0x85944171f73967e8)));
    ck_assert(fr__hash_bytes("foobar", 6) == fr__hash_string("foobar"));
    ck_assert(fr__hash_bytes("foo\0bar", 7) != fr__hash_string("foo"));
    ck_assert(fr__hash_bytes("\xff", 1) != fr__hash_bytes("\x7f", 1));
}

/* Names of a graph end in numbers: all low bits of their hashes must tell them apart. A good
 * hash fills n (1 - exp(-1)) of n slots with n keys: 2589 of 4096, one sigma 25. */
TEST(names_that_end_in_numbers_spread)
{
    enum { N = 4096 };
    static bool is_used[N];
    unsigned n_used = 0;
    char name[32];

    for (unsigned i = 0; i < N; i++) {
        snprintf(name, sizeof(name), "layer.%u.relu", i);
        is_used[fr__hash_string(name) % N] = true;
    }
    for (unsigned i = 0; i < N; i++)
        n_used += is_used[i];
    ck_assert_uint_gt(n_used, 2450);
}

TEST(strings_are_numbered_in_the_order_they_come)
{
    static char names[1000][8];
    struct fr__strings s = {0};
    bool is_new;

    ck_assert_uint_eq(fr__strings_find(&s, "x0"), FR_NONE);
    for (uint32_t i = 0; i < 1000; i++) {
        snprintf(names[i], sizeof(names[i]), "x%u", (unsigned)i);
        ck_assert_uint_eq(fr__strings_find(&s, names[i]), FR_NONE);
        ck_assert_uint_eq(fr__strings_add(&s, names[i], &is_new), i);
        ck_assert(is_new);
    }
    for (uint32_t i = 0; i < 1000; i++) {
        char copy[8];

        strcpy(copy, names[i]);
        ck_assert_uint_eq(fr__strings_add(&s, copy, &is_new), i);
        ck_assert(!is_new);
        ck_assert_uint_eq(fr__strings_find(&s, copy), i);
        ck_assert_ptr_eq(s.keys[i], names[i]); /* the first one's, not the copy */
    }
    ck_assert_uint_eq(s.n, 1000);
    ck_assert_uint_eq(fr__strings_add(&s, "", &is_new), 1000);
    fr__strings_fini(&s);
    ck_assert_uint_eq(fr__strings_find(&s, "x0"), FR_NONE);
}

int main(void)
{
    TCase *tc = tcase_create("hash");

    add_tests(tc);
    return run_case(tc, "hash");
}
