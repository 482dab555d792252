/* tests/results/test_kinds.c - the table of kinds of answers: each ending is told once, has a line
 * of help and can be written; any other is refused by all of them. */
#include "config.h"

#include "results/show.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <string.h>

TEST(each_ending_of_each_kind_is_told_once_and_known)
{
    const char *ending, *summary;
    size_t n_all = 0;

    for (unsigned k = FR_KIND_NONE + 1; k < FR_N_KINDS; k++) {
        const char *known[32];
        size_t n = 0;

        for (; (ending = fr_kind_ending((enum fr_kind)k, n, &summary)) != NULL; n++) {
            struct fr_error err = {.text = ""};
            char path[64];

            ck_assert_uint_lt(n, 32);
            ck_assert_int_eq(ending[0], '.');
            ck_assert_msg(summary && summary[0], "kind %u: %s has no line of help", k, ending);
            for (size_t i = 0; i < n; i++)
                ck_assert_msg(strcmp(known[i], ending) != 0, "kind %u: %s twice", k, ending);
            known[n] = ending;
            snprintf(path, sizeof(path), "test_kinds.tmp%s", ending);
            /* traces and profiles are of one run: a comparison refuses them */
            ck_assert_msg(fr_kind_check_path((enum fr_kind)k, path, &err) ==
                              (k == FR_KIND_COMPARISON && ending[1] == 't' ? FR_EUSAGE : FR_OK),
                          "%s", err.text);
            ck_assert_int_eq(fr_kind_is_page((enum fr_kind)k, path), strcmp(ending, ".html") == 0);
        }
        n_all += n;
    }
    ck_assert_uint_gt(n_all, 60);
}

TEST(an_unknown_ending_is_refused_with_those_that_are_known)
{
    const char *ending, *summary;

    for (unsigned k = FR_KIND_NONE + 1; k < FR_N_KINDS; k++) {
        struct fr_error err = {.text = ""};

        ck_assert_int_eq(fr_kind_check_path((enum fr_kind)k, "x.nope", &err), FR_EUSAGE);
        for (size_t i = 0; (ending = fr_kind_ending((enum fr_kind)k, i, &summary)) != NULL; i++)
            ck_assert_msg(strstr(err.text, ending), "%s is not in: %s", ending, err.text);
    }
}

int main(void)
{
    TCase *tc = tcase_create("kinds");

    add_tests(tc);
    return run_case(tc, "results/kinds");
}
