/* tests/support/base_check.h - tests that list themselves, running a suite, and asserting on a
 * whole error: status, place and sentence.
 *
 *     TEST(two_flows_share_a_link_equally)
 *     {
 *         ...
 *     }
 *
 *     int main(void)
 *     {
 *         TCase *tc = tcase_create("flows");
 *
 *         add_tests(tc);
 *         return run_case(tc, "flows");
 *     }
 */
#ifndef FR_TESTS_SUPPORT_BASE_CHECK_H
#define FR_TESTS_SUPPORT_BASE_CHECK_H

#include "base/base.h"

#include <check.h>
#include <stdlib.h>

/* Check writes the place of every assertion that holds to a file, to say after which one a signal
 * came: two system calls each, more than half of the time of tests that assert in a loop. */
#define _mark_point(file, line) ((void)0)

enum { MOST_TESTS = 200 }; /* of one file */

/* The tests of this file, in the order of their lines; only what runs before main writes here. */
static struct {
    const TTest *const *test;
    int line, first, end;
} listed_tests[MOST_TESTS];
static size_t n_listed_tests;

static inline void list_test(const TTest *const *test, int line, int first, int end)
{
    size_t i = n_listed_tests++;

    if (i >= MOST_TESTS)
        abort();
    for (; i > 0 && listed_tests[i - 1].line > line; i--)
        listed_tests[i] = listed_tests[i - 1];
    listed_tests[i].test = test;
    listed_tests[i].line = line;
    listed_tests[i].first = first;
    listed_tests[i].end = end;
}

/* A test that is run for _i from `first` to `end` - 1, both constants. */
#define LOOP_TEST(name, first, end)                                                                \
    static const TTest *name;                                                                      \
    __attribute__((constructor)) static void list_##name(void)                                     \
    {                                                                                              \
        list_test(&name, __LINE__, (int)(first), (int)(end));                                      \
    }                                                                                              \
    START_TEST(name)
#define TEST(name) LOOP_TEST(name, 0, 1)

/* Adds every TEST and LOOP_TEST of the file. */
static inline void add_tests(TCase *tc)
{
    for (size_t i = 0; i < n_listed_tests; i++)
        tcase_add_loop_test(tc, *listed_tests[i].test, listed_tests[i].first, listed_tests[i].end);
}

/* The message as the command prints it, "file:line:col: text". */
static inline void assert_message(const struct fr_error *err, const char *expected)
{
    char buf[1024];

    ck_assert_str_eq(fr_error_string(err, buf, sizeof(buf)), expected);
}

/* What main returns. Frees the suite. */
static inline int run_suite(Suite *s)
{
    SRunner *sr = srunner_create(s);
    int n_failed;

    srunner_run_all(sr, CK_ENV);
    n_failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

static inline int run_case(TCase *tc, const char *name)
{
    Suite *s = suite_create(name);

    suite_add_tcase(s, tc);
    return run_suite(s);
}
#endif
