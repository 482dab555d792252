/* tests/sim/test_account.c - what a run says of itself: bounds, causes, memory, random factors,
 * iterations. */
#include "config.h"

#include "base/rng.h"
#include "tests/support/sim_fixture.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

#define ck_near(a, b) ck_assert_double_eq_tol((a), (b), 1e-9 * (fabs((double)(b)) + 1e-3))

static struct fr_run_options defaults(void)
{
    struct fr_run_options o;

    fr_run_options_init(&o);
    return o;
}

/* ---- the lower bound ---- */

/* 1 s on device 0, 5e8 bytes at 1e9 B/s over two links of 1 ms, 2 s on device 1: nothing can
 * overlap, so the bound is the run. Device 1 alone works 2 s. */
TEST(the_bound_is_the_longest_chain)
{
    struct fr_topo *topo = fixture_star(2, 1e9, 1e-3);
    struct fr_plan *p = fr_plan_new(topo, NULL);
    struct fr_run_options o = defaults();
    uint32_t a = fixture_compute(p, 0, fixture_cost(p, 1), 0);
    uint32_t b = fixture_compute(p, 1, fixture_cost(p, 2), 0);
    struct fr_run *r;

    fr_plan_add_dep(p, fixture_message(p, 0, 1, 5e8, a), b);
    fixture_finish(p);
    r = fixture_run(p, &o);
    ck_near(r->makespan_s, 3.502);
    ck_near(r->lower_bound_s, 3.502);
    fr_run_free(r);
    fr_plan_free(p);
    fr_topo_free(topo);
}

/* Three independent tasks of 1, 2 and 4 s on one stream: 7 s of work, chains of 4 s at most. */
TEST(the_bound_is_the_work_of_the_busiest_stream)
{
    struct fr_topo *topo = fixture_star(2, 1e9, 0);
    struct fr_plan *p = fr_plan_new(topo, NULL);
    struct fr_run_options o = defaults();
    struct fr_run *r;

    for (int s = 1; s <= 4; s *= 2)
        fixture_compute(p, 1, fixture_cost(p, s), 0);
    fixture_finish(p);
    r = fixture_run(p, &o);
    ck_near(r->makespan_s, 7);
    ck_near(r->lower_bound_s, 7);
    ck_near(r->devices[1].work_s, 7);
    ck_near(r->devices[0].work_s, 0);
    fr_run_free(r);
    fr_plan_free(p);
    fr_topo_free(topo);
}

/* ---- causes ---- */

/* b waits 2 s for x on the other device; that its stream ran a until 1 s held it up no longer. c is
 * ready with b and waits for the stream, that is for b. */
TEST(a_cause_is_what_a_task_waited_for_last)
{
    struct fr_topo *topo = fixture_star(2, 1e9, 0);
    struct fr_plan *p = fr_plan_new(topo, NULL);
    struct fr_run_options o = defaults();
    uint32_t cost = fixture_cost(p, 1), a = fixture_compute(p, 0, cost, 0);
    uint32_t x = fixture_compute(p, 1, fixture_cost(p, 2), 0);
    uint32_t b = fixture_compute(p, 0, cost, 0), c = fixture_compute(p, 0, cost, 0);
    struct fr_run *r;

    fr_plan_add_dep(p, a, b);
    fr_plan_add_dep(p, x, b);
    fr_plan_add_dep(p, x, c);
    fixture_finish(p);
    r = fixture_run(p, &o);
    ck_assert_uint_eq(r->cause[a], FR_NONE);
    ck_assert_uint_eq(r->cause[b], x);
    ck_assert_uint_eq(r->cause[c], b);
    ck_assert_uint_eq(r->n_critical, 3);
    ck_assert_uint_eq(r->critical[0], x);
    ck_assert_uint_eq(r->critical[2], c);
    fr_run_free(r);
    fr_plan_free(p);
    fr_topo_free(topo);
}

/* ---- memory ---- */

/* The test device holds 2^40 bytes: that much fits, one byte more does not. Of tensors alone, which
 * is the engine's default, the context is none. */
TEST(memory_overflows_beyond_its_last_byte)
{
    struct fr_topo *topo = fixture_star(1, 1e9, 0);

    for (uint64_t extra = 0; extra < 2; extra++) {
        struct fr_plan *p = fr_plan_new(topo, NULL);
        struct fr_run_options o = defaults();
        uint32_t t = fixture_compute(p, 0, fixture_cost(p, 1), 0), b;
        struct fr_run *r;

        fr_plan_add_buffer(p, &(struct fr_buffer){.bytes = (uint64_t)1 << 39,
                                                  .alloc = FR_NONE,
                                                  .alias = FR_NONE,
                                                  .op = FR_NONE,
                                                  .kind = FR_BUFFER_CONTEXT});
        b = fr_plan_add_buffer(p, &(struct fr_buffer){.bytes = ((uint64_t)1 << 40) + extra,
                                                      .alloc = t,
                                                      .alias = FR_NONE,
                                                      .op = FR_NONE});
        fr_plan_add_free(p, b, t);
        fixture_finish(p);
        r = fixture_run(p, &o);
        ck_assert_uint_eq(r->devices[0].first_over_task, extra ? t : FR_NONE);
        fr_run_free(r);
        fr_plan_free(p);
    }
    fr_topo_free(topo);
}

/* Two tasks in a row with 10 bytes each: the peak is reached at 0 s, not again at 1 s. */
TEST(a_peak_is_when_it_was_first_reached)
{
    struct fr_topo *topo = fixture_star(1, 1e9, 0);
    struct fr_plan *p = fr_plan_new(topo, NULL);
    struct fr_run_options o = defaults();
    uint32_t cost = fixture_cost(p, 1), t[2];
    struct fr_run *r;

    for (int i = 0; i < 2; i++) {
        t[i] = fixture_compute(p, 0, cost, 0);
        fr_plan_add_free(
            p,
            fr_plan_add_buffer(
                p,
                &(struct fr_buffer){.bytes = 10, .alloc = t[i], .alias = FR_NONE, .op = FR_NONE}),
            t[i]);
    }
    fixture_finish(p);
    r = fixture_run(p, &o);
    ck_assert_uint_eq(r->devices[0].peak_bytes, 10);
    ck_assert_double_eq(r->devices[0].peak_at_s, 0);
    ck_assert_uint_eq(r->devices[0].peak_task, t[0]);
    fr_run_free(r);
    fr_plan_free(p);
    fr_topo_free(topo);
}

/* ---- random factors ---- */

/* What sim/random.c promises: 1 + cv z, not below a tenth, z the first normal variate of the stream
 * (seed, number); devices' numbers lie 2^40 on. */
static double factor(uint64_t seed, uint64_t entity, double cv)
{
    struct fr__rng rng;

    fr__rng_init(&rng, seed, entity);
    return fmax(0.1, 1 + cv * fr__rng_normal(&rng));
}

/* A spread of 0.3 is normal: so are all up to there where no shape is named. */
TEST(random_factors_are_those_of_the_tasks_and_devices)
{
    const uint64_t devices = (uint64_t)1 << 40;
    struct fr_topo *topo = fixture_star(8, 1e9, 0);
    struct fr_plan *p = fr_plan_new(topo, NULL);
    struct fr_run_options o = defaults();
    uint32_t cost = fixture_cost(p, 2);
    struct fr_run *r;

    for (uint32_t t = 0; t < 400; t++)
        fixture_compute(p, t % 8, cost, 0);
    fixture_finish(p);
    o.seed = 11;
    o.jitter_cv = 0.3;
    o.device_cv = 0.2;
    r = fixture_run(p, &o);
    for (uint32_t t = 0; t < 400; t++)
        ck_near(r->end_s[t] - r->start_s[t],
                2 * factor(11, t, 0.3) * factor(11, devices + t % 8, 0.2));
    fr_run_free(r);
    fr_plan_free(p);
    fr_topo_free(topo);
}

/* ---- iterations ---- */

/* On device 0 a (1 s), then b (2 s) on another stream, then an all-reduce of 1e9 bytes with device
 * 1 (2 x 0.5 s): 4 s. Device 0 goes on when all three are done, device 1 with it, so n iterations
 * take 4 n s. Were they not joined, the next a would run beside b. a's output lives until b has
 * read it, once at a time; what persists is there once. */
TEST(unrolled_iterations_follow_each_other_on_each_device)
{
    struct fr_topo *topo = fixture_star(2, 1e9, 0);
    struct fr_plan *p = fr_plan_new(topo, NULL), *many = NULL;
    struct fr_run_options o = defaults();
    uint32_t a = fixture_compute(p, 0, fixture_cost(p, 1), 0), members[2], buffer;
    struct fr_error err = {.text = ""};
    uint32_t b = fr_plan_add_task(p, &(struct fr_task){.cost_id = fixture_cost(p, 2),
                                                       .op = FR_NONE,
                                                       .label = FR_NONE,
                                                       .microbatch = FR_NONE,
                                                       .kind = FR_TASK_COMPUTE,
                                                       .stream = 4});

    fixture_collective(p, FR_ALL_REDUCE, 2, 1e9, members);
    fr_plan_add_dep(p, a, b);
    fr_plan_add_dep(p, b, members[0]);
    fr_plan_add_buffer(
        p, &(struct fr_buffer){.bytes = 1000, .alloc = FR_NONE, .alias = FR_NONE, .op = FR_NONE});
    buffer = fr_plan_add_buffer(
        p, &(struct fr_buffer){.bytes = 100, .alloc = a, .alias = FR_NONE, .op = FR_NONE});
    fr_plan_add_free(p, buffer, b);
    fixture_finish(p);
    for (unsigned n = 1; n < 5; n++) {
        struct fr_run *r;

        if (fr_plan_unroll(p, n, &many, &err) != FR_OK)
            ck_abort_msg("%s", err.text);
        r = fixture_run(many, &o);
        ck_near(r->makespan_s, 4 * n);
        ck_near(r->iteration_s, 4);
        ck_assert_uint_eq(r->n_iterations, n);
        ck_assert_uint_eq(r->devices[0].peak_bytes, 1100);
        ck_assert_uint_eq(r->devices[0].end_bytes, 1000);
        fr_run_free(r);
        fr_plan_free(many);
    }
    fr_plan_free(p);
    fr_topo_free(topo);
}

/* Device 0: 1 s of priority 0, then 1 s of priority 5. Device 1: the same the other way about, on
 * its own. Were the priorities of an iteration those of the next, an exact order would begin with
 * both iterations' first tasks and wait for ever. */
TEST(an_iteration_comes_before_the_next_one_in_an_exact_order)
{
    struct fr_topo *topo = fixture_star(2, 1e9, 0);
    struct fr_plan *p = fr_plan_new(topo, NULL), *many = NULL;
    struct fr_run_options o = defaults();
    struct fr_error err = {.text = ""};
    struct fr_run *r;

    for (uint32_t d = 0; d < 2; d++) {
        uint32_t cost = fixture_cost(p, 1);
        uint32_t first = fixture_compute(p, d, cost, -3), last = fixture_compute(p, d, cost, 5);

        fr_plan_add_dep(p, first, last);
    }
    fixture_finish(p);
    o.order = FR_ORDER_STRICT;
    ck_assert_int_eq(fr_plan_unroll(p, 3, &many, &err), FR_OK);
    r = fixture_run(many, &o);
    ck_near(r->makespan_s, 6);
    ck_near(r->iteration_s, 2);
    ck_near(r->lower_bound_s, 2);
    ck_near(r->makespan_bound_s, 6);
    fr_run_free(r);
    fr_plan_free(many);
    fr_plan_free(p);
    fr_topo_free(topo);
}

TEST(priorities_that_leave_no_room_for_more_iterations_are_refused)
{
    struct fr_topo *topo = fixture_star(2, 1e9, 0);
    struct fr_plan *p = fr_plan_new(topo, NULL), *many = NULL;
    struct fr_error err = {.text = ""};

    fixture_compute(p, 0, fixture_cost(p, 1), INT32_MIN);
    fixture_compute(p, 0, fixture_cost(p, 1), 0);
    fixture_finish(p);
    ck_assert_int_eq(fr_plan_unroll(p, 1, &many, &err), FR_OK);
    fr_plan_free(many);
    ck_assert_int_eq(fr_plan_unroll(p, 2, &many, &err), FR_ERANGE);
    ck_assert_str_eq(err.text, "priorities from -2147483648 to 0 are too many for 2 iterations");
    fr_plan_free(p);
    fr_topo_free(topo);
}

/* Device 0 computes 1 s, device 1 after it 3 s: the ends of iterations are at 4, 7 and 10 s. In the
 * last, from 7 to 10 s, device 1 computes all the time; device 0 has been done since 3 s. */
TEST(the_last_iteration_is_accounted_for_between_two_ends)
{
    struct fr_topo *topo = fixture_star(2, 1e9, 0);
    struct fr_plan *p = fr_plan_new(topo, NULL), *many = NULL;
    struct fr_run_options o = defaults();
    struct fr_error err = {.text = ""};
    uint32_t a = fixture_compute(p, 0, fixture_cost(p, 1), 0);
    uint32_t b = fixture_compute(p, 1, fixture_cost(p, 3), 0);
    uint32_t c = fixture_compute(p, 0, fixture_cost(p, 0), 0);
    struct fr_run *r;

    fr_plan_add_dep(p, a, b);
    fr_plan_add_dep(p, a, c);
    fixture_finish(p);
    ck_assert_int_eq(fr_plan_unroll(p, 3, &many, &err), FR_OK);
    r = fixture_run(many, &o);
    ck_near(r->makespan_s, 10);
    ck_near(r->iteration_s, 3);
    ck_near(r->devices[0].compute_s, 3);
    ck_near(r->devices[0].iteration.compute_s, 0);
    ck_near(r->devices[0].iteration.idle_s, 3);
    ck_near(r->devices[1].iteration.compute_s, 3);
    ck_near(r->devices[1].iteration.idle_s, 0);
    ck_near(r->lower_bound_s, 3);
    ck_near(r->makespan_bound_s, 9);
    fr_run_free(r);
    fr_plan_free(many);
    fr_plan_free(p);
    fr_topo_free(topo);
}

int main(void)
{
    TCase *c = tcase_create("account");

    add_tests(c);
    return run_case(c, "sim/account");
}
