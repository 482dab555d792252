/* tests/support/base_check.h - running a suite; asserting on a whole error: status, place and
 * sentence. */
#ifndef FR_TESTS_SUPPORT_BASE_CHECK_H
#define FR_TESTS_SUPPORT_BASE_CHECK_H

#include "base/base.h"

#include <check.h>
#include <stdlib.h>

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
