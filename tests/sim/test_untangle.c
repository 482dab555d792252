/* tests/sim/test_untangle.c - two collectives that ranks take up in different orders: one goes past
 * the other, or, where the plan's order is kept, both wait for ever and the error says so. */
#include "config.h"

#include "tests/support/sim_fixture.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double BW = 1e9;

static struct fr_run_options options(enum fr_network network)
{
    struct fr_run_options o;

    fr_run_options_init(&o);
    o.network = network;
    return o;
}

/* Members of two collectives of two ranks, x and y, on that stream of each device; by priority,
 * device 0 has x first and device 1 y. But y waits for 1 s of computing on device 0, and x for
 * after_s on device 1. */
static void two_collectives(struct fr_plan *p, uint8_t stream, double after_s, uint32_t x[2],
                            uint32_t y[2])
{
    enum { N = 2 };
    uint32_t c[2];

    for (uint32_t k = 0; k < 2; k++) {
        uint32_t *members = k == 0 ? x : y;

        c[k] = fr_plan_add_collective(
            p, &(struct fr_collective){.bytes = 8e8,
                                       .group = fr_plan_add_group(p, 0, 1, N),
                                       .label = FR_NONE,
                                       .kind = k == 0 ? FR_ALL_REDUCE : FR_ALL_GATHER});
        for (uint32_t i = 0; i < N; i++)
            members[i] = fr_plan_add_task(p, &(struct fr_task){.device = i,
                                                               .cost_id = FR_NONE,
                                                               .op = FR_NONE,
                                                               .collective = c[k],
                                                               .rank = i,
                                                               .microbatch = FR_NONE,
                                                               .priority = i % 2 == k ? 0 : 1,
                                                               .kind = FR_TASK_COLLECTIVE,
                                                               .stream = stream});
    }
    fr_plan_add_dep(p, fixture_compute(p, 0, fixture_cost(p, 1), 0), y[0]);
    fr_plan_add_dep(p, fixture_compute(p, 1, fixture_cost(p, after_s), 0), x[1]);
}

/* Each device issues the two collectives in the opposite order on one stream. */
TEST(a_dead_lock_names_the_circle)
{
    struct fr_topo *topo = fixture_star(2, BW, 0);
    struct fr_plan *p = fr_plan_new(topo, NULL);
    struct fr_run_options o = options(FR_NETWORK_FLOW);
    struct fr_run *r = NULL;
    struct fr_error err;
    uint32_t x[2], y[2];

    two_collectives(p, FR_STREAM_COMM, 1, x, y);
    fixture_finish(p);
    o.order = FR_ORDER_STRICT;
    ck_assert_int_eq(fr_simulate(p, &o, &r, &err), FR_EDEADLOCK);
    ck_assert_ptr_null(r);
    ck_assert_ptr_nonnull(strstr(err.text, "deadlock at 1 s with 2 of 6 tasks done"));
    ck_assert_ptr_nonnull(strstr(err.text, "all-reduce"));
    ck_assert_ptr_nonnull(strstr(err.text, "all-gather"));
    ck_assert_ptr_nonnull(strstr(err.text, "waits for the stream held by"));
    fr_plan_free(p);
    fr_topo_free(topo);
}

/* The same where ready tasks go by priority: device 0 holds its stream for x, device 1 for y. When
 * the other member of each is ready, one goes past the other, and both run one after the other.
 * A run with jitter notices at once, a usual one at a standstill.
 */
LOOP_TEST(ranks_that_take_up_collectives_in_different_orders_run_both, 0, 2)
{
    double jitter = _i * 1e-12;
    struct fr_topo *topo = fixture_star(2, BW, 0);
    struct fr_plan *p = fr_plan_new(topo, NULL);
    struct fr_run_options o = options(FR_NETWORK_FLOW);
    struct fr_run *r;
    uint32_t x[2], y[2];

    two_collectives(p, FR_STREAM_COMM, 2, x, y);
    fixture_compute(p, 0, fixture_cost(p, 9), 0); /* what goes on meanwhile */
    fixture_finish(p);
    o.jitter_cv = jitter;
    r = fixture_run(p, &o);
    /* x: all-reduce of 0.8 GB over 1 GB/s, y: all-gather, half of it; both are held until 2 s */
    if (_i == 1) {
        ck_assert_double_eq_tol(r->start_s[x[0]], 2, 1e-6);
        ck_assert_double_eq_tol(r->end_s[x[1]], 2.8, 1e-6);
        ck_assert_double_eq_tol(r->end_s[y[1]], 3.2, 1e-6);
    }
    ck_assert(r->end_s[x[0]] <= r->start_s[y[0]] || r->end_s[y[0]] <= r->start_s[x[0]]);
    fr_run_free(r);
    fr_plan_free(p);
    fr_topo_free(topo);
}

/* Collectives take up the stream that computes. Device 0 holds it for x, and its y needs what
 * computes behind; device 1 holds it for y, and its x needs what computes behind. The first of the
 * two goes past: 1 s, then y, 0.4 s; what device 1 computes, 2 s; then x, 0.8 s. */
TEST(what_computes_behind_a_held_collective_goes_past_it)
{
    struct fr_topo *topo = fixture_star(2, BW, 0);
    struct fr_plan *p = fr_plan_new(topo, NULL);
    struct fr_run_options o = options(FR_NETWORK_FLOW);
    struct fr_run *r = NULL;
    struct fr_error err;
    uint32_t x[2], y[2];

    two_collectives(p, FR_STREAM_COMPUTE, 2, x, y);
    fixture_finish(p);
    r = fixture_run(p, &o);
    ck_assert_double_eq_tol(r->start_s[y[0]], 1, 1e-6);
    ck_assert_double_eq_tol(r->end_s[y[1]], 1.4, 1e-6);
    ck_assert_double_eq_tol(r->start_s[x[0]], 3.4, 1e-6);
    ck_assert_double_eq_tol(r->end_s[x[1]], 4.2, 1e-6);
    fr_run_free(r);
    o.order = FR_ORDER_STRICT;
    ck_assert_int_eq(fr_simulate(p, &o, &r, &err), FR_EDEADLOCK);
    fr_plan_free(p);
    fr_topo_free(topo);
}

int main(void)
{
    TCase *c = tcase_create("untangle");

    add_tests(c);
    return run_case(c, "sim/untangle");
}
