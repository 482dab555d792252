/* Which cuts want further runs, and which are new. */
#include "config.h"

#include "lowering/cut_runs.h"
#include "tests/support/base_check.h"

#include <check.h>

/* Planned at 100 ms, one in a hundred is believed. Six further runs of 60 000 tasks are 360 000. */
TEST(runs_are_wanted_where_one_took_another_time_and_is_small)
{
    struct fr_cut_choice c = {.is_chosen = true, .fits = true, .planned_s = 0.1, .n_tasks = 1000};

    ck_assert(!fr__cut_wants_runs(&c, 0.1009));
    ck_assert_uint_eq(fr__cut_wants_runs(&c, 0.102), 6);
    c.n_tasks = 60000;
    ck_assert_uint_eq(fr__cut_wants_runs(&c, 0.098), 6);
    c.n_tasks = 60001;
    ck_assert_uint_eq(fr__cut_wants_runs(&c, 0.098), 5);
    c.n_tasks = 360000;
    ck_assert_uint_eq(fr__cut_wants_runs(&c, 0.098), 1);
    ck_assert(fr__cut_may_want_runs(&c));
    c.n_tasks = 360001;
    ck_assert(!fr__cut_wants_runs(&c, 0.098));
    ck_assert(!fr__cut_may_want_runs(&c));
    c.n_tasks = 1000;
    c.is_chosen = false;
    ck_assert(!fr__cut_may_want_runs(&c));
    ck_assert(!fr__cut_wants_runs(&c, 0.2));
}

TEST(a_cut_is_new_once_and_only_where_it_fits)
{
    struct fr__cuts_seen seen = {.n = 0};
    struct fr_cut_choice c = {.is_chosen = true, .signature = 7};

    ck_assert(!fr__cut_is_new(&seen, &c));
    c.fits = true;
    ck_assert(fr__cut_is_new(&seen, &c));
    ck_assert(!fr__cut_is_new(&seen, &c));
    c.signature = 8;
    ck_assert(fr__cut_is_new(&seen, &c));
    ck_assert_uint_eq(seen.n, 2);
}

int main(void)
{
    TCase *tc = tcase_create("cut runs");

    add_tests(tc);
    return run_case(tc, "cut runs");
}
