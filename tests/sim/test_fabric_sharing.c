/* tests/sim/test_fabric_sharing.c - two jobs on one fabric share its narrow links max-min. */
#include "config.h"

#include "tests/support/base_check.h"
#include "tests/support/sim_fixture.h"
#include "tests/support/topo_case.h"

#include <check.h>

/* Two machines on each of two leaves; 16 NICs of 50 GB/s below a leaf and 32:1 leave 25 GB/s up.
 * Job A sends 12.5 GB from machine 0 to 2, job B 37.5 GB from machine 1 to 3. Both together have
 * 12.5 GB/s each, so A ends after 1 s; B has 25 GB left and the whole link, and ends after 2 s.
 * Latencies are some microseconds. */
TEST(two_jobs_share_a_spine_until_the_shorter_one_ends)
{
    struct fr_topo *t = topo_case_load("4x hgx-h100 via leaf-spine:400Gbps,machines=2,over=32:1");
    struct fr_plan *p = fr_plan_new(t, NULL);
    struct fr_run_options o;
    struct fr_run *r;

    fr_run_options_init(&o);
    o.network = FR_NETWORK_FLOW;
    fixture_message(p, 0, 16, 12500000000, FR_NONE);
    fixture_message(p, 8, 24, 37500000000, FR_NONE);
    fixture_finish(p);
    r = fixture_run(p, &o);
    ck_assert_double_eq_tol(r->makespan_s, 2, 1e-4);
    fr_run_free(r);
    fr_plan_free(p);
    p = fr_plan_new(t, NULL);
    fixture_message(p, 8, 24, 37500000000, FR_NONE); /* alone: 37.5 GB at 25 GB/s */
    fixture_finish(p);
    r = fixture_run(p, &o);
    ck_assert_double_eq_tol(r->makespan_s, 1.5, 1e-4);
    fr_run_free(r);
    fr_plan_free(p);
    fr_topo_free(t);
}

/* On rails the same two jobs meet nowhere, with a spine or without: 50 GB/s each, but no more than
 * the 48 GB/s of their PCIe slots. */
LOOP_TEST(two_jobs_along_rails_do_not_meet, 0, 3)
{
    static const char *const specs[] = {"4x hgx-h100 via rails:8x400Gbps",
                                        "4x hgx-h100 via rails:8x400Gbps,spine=32:1",
                                        "4x hgx-h100 via ib:400Gbps"};
    struct fr_topo *t = topo_case_load(specs[_i]);
    struct fr_plan *p = fr_plan_new(t, NULL);
    struct fr_run_options o;
    struct fr_run *r;

    fr_run_options_init(&o);
    o.network = FR_NETWORK_FLOW;
    fixture_message(p, 0, 16, 48000000000, FR_NONE);
    fixture_message(p, 8, 24, 48000000000, FR_NONE);
    fixture_finish(p);
    r = fixture_run(p, &o);
    ck_assert_double_eq_tol(r->makespan_s, 1, 1e-4);
    fr_run_free(r);
    fr_plan_free(p);
    fr_topo_free(t);
}

int main(void)
{
    TCase *tc = tcase_create("fabric_sharing");

    add_tests(tc);
    return run_case(tc, "sim/fabric_sharing");
}
