/* Orders that are passes: what TIC and TAC choose, how an order is kept, and what it does to the
 * time.
 *
 * In most tests device 0 sends and device 1 computes, over a link of 1 byte a second: a message of
 * n bytes takes n seconds.
 */
#include "config.h"

#include "base/rng.h"
#include "plan/orders/order.h"
#include "tests/support/sim_fixture.h"
#include "tests/support/base_check.h"
#include "tests/support/tictac_plain.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ck_assert_near(a, b) ck_assert_double_eq_tol(a, b, 1e-9)

static struct fr_topo *topo;
static struct fr_plan *plan;
static uint32_t second; /* a cost of one second */

static void set_up(void)
{
    topo = fixture_pair(1, 0);
    plan = fr_plan_new(topo, NULL);
    second = fixture_cost(plan, 1);
}

static void tear_down(void)
{
    fr_plan_free(plan);
    fr_topo_free(topo);
}

static struct fr_plan *ordered(const struct fr_plan *p, enum fr_order order, uint64_t seed)
{
    struct fr_plan *out = NULL;
    struct fr_error err = {.text = ""};
    struct fr_run_options o;
    size_t n;

    fr_run_options_init(&o);
    o.order = order;
    o.seed = seed;
    ck_assert_msg(fr_run_order(p, &o, &out, &n, &err) == FR_OK, "%s", err.text);
    return out;
}

static struct fr_run *run(struct fr_plan *p, enum fr_order order, uint64_t seed, unsigned channels)
{
    struct fr_plan *other = fr_order_is_pass(order) ? ordered(p, order, seed) : NULL;
    struct fr_run_options o;
    struct fr_run *r;

    fr_run_options_init(&o);
    o.order = order;
    o.channels = channels;
    o.want |= FR_WANT_TOTALS;
    r = fixture_run(other ? other : p, &o);
    fr_plan_free(other);
    return r;
}

static double makespan(enum fr_order order, unsigned channels)
{
    struct fr_run *r = run(plan, order, 0, channels);
    double s = r->makespan_s;

    fr_run_free(r);
    return s;
}

/* A task of device 1 that takes s seconds, after the receives (their tasks, ended by FR_NONE). */
static uint32_t op(double s, const uint32_t recvs[])
{
    uint32_t t = fixture_compute(plan, 1, fixture_cost(plan, s), 0);

    for (; *recvs != FR_NONE; recvs++)
        fr_plan_add_dep(plan, *recvs, t);
    return t;
}
#define AFTER(...) ((const uint32_t[]){__VA_ARGS__, FR_NONE})

static uint32_t message(double bytes)
{
    return fixture_message(plan, 0, 1, bytes, FR_NONE);
}

/* What an order gives the transfers 0 .. n - 1, all of them device 1's. */
static void numbers(enum fr_order order, uint32_t number[])
{
    struct fr__arena *arena = fr__arena_new();
    const struct fr_plan_view *v;
    struct fr__receives r;
    struct fr__partition k;
    double *time_s;
    uint32_t *own;

    fixture_finish(plan);
    v = fr_plan_view(plan);
    time_s = fr__arena_alloc(arena, v->n_transfers, sizeof(*time_s));
    own = fr__arena_alloc(arena, v->n_transfers, sizeof(*own));
    for (size_t x = 0; x < v->n_transfers; x++)
        time_s[x] = v->transfers[x].bytes;
    ck_assert_int_eq(fr__receives_find(&r, plan, arena, NULL), FR_OK);
    ck_assert_int_eq(fr__partition_make(&k, &r, 1, time_s, arena, NULL), FR_OK);
    ck_assert_uint_eq(k.n, v->n_transfers);
    ck_assert_int_eq(
        (order == FR_ORDER_TIC ? fr__number_tic : fr__number_tac)(&k, own, arena, NULL), FR_OK);
    for (uint32_t i = 0; i < k.n; i++)
        number[k.transfers[i]] = own[i];
    fr__arena_free(arena);
}

static void expect_numbers(enum fr_order order, const uint32_t want[], uint32_t n)
{
    uint32_t got[8];

    numbers(order, got);
    for (uint32_t i = 0; i < n; i++)
        ck_assert_msg(got[i] == want[i], "%s: transfer %u is number %u, not %u",
                      fr_order_name(order), i, got[i], want[i]);
}

/* ---- the numbers ---- */

/* The example of the TicTac paper: op1 needs recv1, op2 needs op1 and recv2, all take a second. The
 * plan has recv2 first. */
static void two_receives(void)
{
    uint32_t recv2 = message(1), recv1 = message(1), op1 = op(1, AFTER(recv1));

    op(1, AFTER(op1, recv2));
}

TEST(tic_cannot_tell_two_receives_of_one_op_apart_but_tac_can)
{
    two_receives();
    /* op2 is the only op that needs more than one: Mp is 2 for both */
    expect_numbers(FR_ORDER_TIC, (const uint32_t[]){0, 0}, 2);
    /* min(P2, M1) = min(0, 1) < min(P1, M2) = min(1, 1) */
    expect_numbers(FR_ORDER_TAC, (const uint32_t[]){1, 0}, 2);
}

/* recv1 0-1, recv2 1-2, op1 1-2, op2 2-3; the other way recv1 1-2, op1 2-3, op2 3-4. Serial time U
 * = 4, busiest resource L = 2 (either): E = (4 - 3) / 2 and (4 - 4) / 2, S = 2 / 2. */
TEST(the_better_of_two_orders_takes_3_seconds_and_the_other_4)
{
    struct fr_run *r;

    two_receives();
    fixture_finish(plan);
    ck_assert_near(makespan(FR_ORDER_PRIORITY, 1), 4);
    ck_assert_near(makespan(FR_ORDER_TIC, 1), 4); /* the plan's order among equals */
    r = run(plan, FR_ORDER_TAC, 0, 1);
    ck_assert_near(r->makespan_s, 3);
    ck_assert_near(r->serial_s, 4);
    ck_assert_near(r->busiest_s, 2);
    ck_assert_near(fr_run_efficiency(r), 0.5);
    ck_assert_near(fr_run_speedup_potential(r), 1);
    fr_run_free(r);
    r = run(plan, FR_ORDER_PRIORITY, 0, 1);
    ck_assert_near(fr_run_efficiency(r), 0);
    fr_run_free(r);
}

/* M = 4, 1 and P = 2, 3. recv0 first: M0 + max(P0, M1) + P1 = 4 + 2 + 3 = 9; recv1 first: M1 +
 * max(P1, M0) + P0 = 1 + 4 + 2 = 7; the op that needs both adds 1. So min(P1, M0) = 3 is not less
 * than min(P0, M1) = 1, and recv1 goes first. */
TEST(tac_weighs_times_of_receives_against_what_they_let_run)
{
    uint32_t r0 = message(4), r1 = message(1), a = op(2, AFTER(r0)), b = op(3, AFTER(r1));

    op(1, AFTER(a, b));
    expect_numbers(FR_ORDER_TAC, (const uint32_t[]){1, 0}, 2);
    ck_assert_near(makespan(FR_ORDER_PRIORITY, 1), 10);
    ck_assert_near(makespan(FR_ORDER_TAC, 1), 8);
}

/* M = 2, 3 and P = 3.5, 4: min(P1, M0) = 2 is less than min(P0, M1) = 3, so recv0 goes first, which
 * takes 2 + 3.5 + 4. With messages alone at half the speed recv1 would: 4 is not less than 3.5. */
TEST(tac_slows_ops_as_it_slows_messages)
{
    uint32_t r0 = message(2), r1 = message(3);
    double slowness[256];
    struct fr_error err = {.text = ""};
    struct fr_run_options o;
    struct fr_plan *slow;
    struct fr_run *r;
    size_t n;

    op(3.5, AFTER(r0));
    op(4, AFTER(r1));
    fixture_finish(plan);
    ck_assert_near(makespan(FR_ORDER_TAC, 1), 9.5);
    ck_assert_uint_le(fr_n_resources(topo), 256);
    for (size_t i = 0; i < 256; i++)
        slowness[i] = 2;
    fr_run_options_init(&o);
    o.order = FR_ORDER_TAC;
    o.channels = 1;
    o.slowness = slowness;
    ck_assert_msg(fr_run_order(plan, &o, &slow, &n, &err) == FR_OK, "%s", err.text);
    r = fixture_run(slow, &o);
    ck_assert_near(r->makespan_s, 19);
    fr_run_free(r);
    fr_plan_free(slow);
}

/* No op needs one receive alone: P = 0, so Mp decides. X needs {0, 2}: 5 + 1 = 6; Y needs {1, 2}: 2
 * + 1 = 3; Z needs all and 3. So Mp = 6, 3, 3 and 6 + 2 + 1 ... = 11 for recv 3: first recv 1, as
 * equal ones go by number. Now Y needs recv 2 alone, P = 4, which puts it before recv 0 (min(0, 1)
 * < min(4, 5)) and recv 3. Then recv 0 has P = 1 by X, recv 3 has none: recv 0, recv 3. tic: Mp = 2
 * for recv 0, 1 and 2, 4 for recv 3. */
TEST(equal_receives_go_by_what_is_needed_together_with_them)
{
    uint32_t r[4];

    for (int i = 0; i < 4; i++)
        r[i] = message((const double[]){5, 2, 1, 3}[i]);
    op(1, AFTER(r[0], r[2]));
    op(4, AFTER(r[1], r[2]));
    op(1, AFTER(r[0], r[1], r[2], r[3]));
    expect_numbers(FR_ORDER_TAC, (const uint32_t[]){2, 0, 1, 3}, 4);
    expect_numbers(FR_ORDER_TIC, (const uint32_t[]){0, 0, 0, 3}, 4);
}

/* ---- against the plain way ---- */

/* Whole seconds, so that sums are exact in both ways, and few of them, so that many are equal. */
static void draw(struct fr__rng *rng, struct fixture_tictac *k)
{
    uint32_t recvs[FIXTURE_RECEIVES], ops[FIXTURE_OPS];
    uint64_t reach = 1 + fr__rng_below(rng, 20);

    memset(k, 0, sizeof(*k));
    k->n = 1 + (uint32_t)fr__rng_below(rng, FIXTURE_RECEIVES);
    k->n_ops = (uint32_t)fr__rng_below(rng, FIXTURE_OPS);
    for (uint32_t r = 0; r < k->n; r++) {
        k->recv_s[r] = (double)fr__rng_below(rng, 6);
        k->is_left[r] = true;
        recvs[r] = message(k->recv_s[r]);
    }
    for (uint32_t o = 0; o < k->n_ops; o++) {
        k->op_s[o] = (double)fr__rng_below(rng, 6);
        ops[o] = fixture_compute(plan, 1, fixture_cost(plan, k->op_s[o]), 0);
        for (uint64_t i = fr__rng_below(rng, 3); i > 0; i--) {
            uint32_t r = (uint32_t)fr__rng_below(rng, k->n);

            fr_plan_add_dep(plan, recvs[r], ops[o]);
            k->needs[o][r] = true;
        }
        for (uint64_t i = fr__rng_below(rng, 3); i > 0 && o > 0; i--) {
            uint32_t before = o - 1 - (uint32_t)fr__rng_below(rng, o < reach ? o : reach);

            fr_plan_add_dep(plan, ops[before], ops[o]);
            for (uint32_t r = 0; r < k->n; r++)
                k->needs[o][r] |= k->needs[before][r];
        }
    }
}

TEST(tic_and_tac_equal_the_plain_way_on_random_partitions)
{
    struct fixture_tictac *k = malloc(sizeof(*k));
    struct fr__rng rng;

    fr__rng_init(&rng, 5, 0);
    for (int i = 0; i < 60; i++) {
        uint32_t want[2][FIXTURE_RECEIVES], got[2][FIXTURE_RECEIVES];

        fr_plan_free(plan);
        plan = fr_plan_new(topo, NULL);
        draw(&rng, k);
        fixture_tic(k, want[0]);
        fixture_tac(k, want[1]);
        numbers(FR_ORDER_TIC, got[0]);
        numbers(FR_ORDER_TAC, got[1]);
        for (int which = 0; which < 2; which++)
            for (uint32_t r = 0; r < k->n; r++)
                ck_assert_msg(got[which][r] == want[which][r],
                              "plan %d, %s: receive %u of %u is number %u, not %u", i,
                              which ? "tac" : "tic", r, k->n, got[which][r], want[which][r]);
    }
    free(k);
}

/* ---- how it is kept ---- */

/* recv1 goes first, but is there only at 2 s; recv2 is held back until then, not until recv1 has
 * come: they share the link from 2 to 4 s. In the order `priority` recv2 goes at once. */
TEST(a_transfer_waits_until_those_before_it_are_handed_over)
{
    uint32_t late = fixture_compute(plan, 0, fixture_cost(plan, 2), 0);
    uint32_t recv2 = message(1), recv1 = fixture_message(plan, 0, 1, 1, late);
    uint32_t op1 = op(1, AFTER(recv1));
    struct fr_run *r;

    op(1, AFTER(op1, recv2));
    fixture_finish(plan);
    r = run(plan, FR_ORDER_TAC, 0, 0);
    ck_assert_near(r->start_s[recv1], 2);
    ck_assert_near(r->start_s[recv2], 2);
    ck_assert_near(r->end_s[recv1], 4);
    ck_assert_near(r->end_s[recv2], 4);
    fr_run_free(r);
    r = run(plan, FR_ORDER_PRIORITY, 0, 0);
    ck_assert_near(r->start_s[recv2], 0);
    fr_run_free(r);
}

/* An op needs r0 and r1, which tic gives the same number, and a later one r2 too. r1 is there at 3
 * s: r0 does not wait for it, r2 does, though it could go at once. */
TEST(transfers_of_one_number_do_not_wait_for_each_other)
{
    uint32_t late = fixture_compute(plan, 0, fixture_cost(plan, 3), 0);
    uint32_t r2 = message(1), r0 = message(1), r1 = fixture_message(plan, 0, 1, 1, late);
    uint32_t both = op(1, AFTER(r0, r1));
    struct fr_run *r;

    op(1, AFTER(both, r2));
    fixture_finish(plan);
    r = run(plan, FR_ORDER_TIC, 0, 0);
    ck_assert_near(r->start_s[r0], 0);
    ck_assert_near(r->start_s[r1], 3);
    ck_assert_near(r->start_s[r2], 3);
    fr_run_free(r);
}

/* Where the plan sends one after the other, it still does with any number of channels: the example
 * takes 3 s without a limit, where two transfers side by side would end at 2 s, and it 4 s. */
TEST(one_after_the_other_stays_so_in_the_new_order)
{
    uint32_t recv2 = message(1), recv1 = message(1), op1 = op(1, AFTER(recv1));
    uint32_t send2 = recv2 - 1, send1 = recv1 - 1;
    struct fr_run *r;

    op(1, AFTER(op1, recv2));
    fr_plan_add_dep(plan, send2, send1);
    fr_plan_add_dep(plan, send2, recv1);
    fixture_finish(plan);
    ck_assert_near(makespan(FR_ORDER_PRIORITY, 0), 4);
    r = run(plan, FR_ORDER_TAC, 0, 0);
    ck_assert_near(r->end_s[recv1], 1);
    ck_assert_near(r->start_s[recv2], 1);
    ck_assert_near(r->makespan_s, 3);
    fr_run_free(r);
}

TEST(gradients_of_parameters_keep_the_plans_order)
{
    struct fr_plan *out = NULL;
    const struct fr_run_options o = {.order = FR_ORDER_TAC};
    size_t n_ordered = 9;

    two_receives();
    fixture_finish(plan);
    for (size_t t = 0; t < plan->n_tasks.n; t++)
        plan->tasks[t].phase = FR_PHASE_BACKWARD_WEIGHT;
    ck_assert_int_eq(fr_run_order(plan, &o, &out, &n_ordered, NULL), FR_OK);
    ck_assert_uint_eq(n_ordered, 0);
    ck_assert_uint_eq(fr_plan_view(out)->n_tasks, fr_plan_view(plan)->n_tasks);
    fr_plan_free(out);
}

TEST(tac_without_times_is_refused)
{
    struct fr_plan *out = NULL;
    struct fr_error err = {.text = ""};
    size_t n;

    two_receives();
    fixture_finish(plan);
    ck_assert_int_eq(fr_plan_order(plan, FR_ORDER_TAC, 0, NULL, NULL, &out, &n, &err), FR_EUSAGE);
    ck_assert_ptr_null(out);
}

/* b's message goes back what a's brought, so it can never go before it, however urgent: to hold a
 * back for it would be a dead lock. tac would put it first (its op alone takes long). */
TEST(what_depends_on_a_transfer_is_never_put_before_it)
{
    uint32_t a = message(1), there = op(1, AFTER(a));
    uint32_t back = fixture_message(plan, 1, 0, 1, there);
    uint32_t again = fixture_compute(plan, 0, second, 0);
    uint32_t b;

    fr_plan_add_dep(plan, back, again);
    b = fixture_message(plan, 0, 1, 1, again);
    op(9, AFTER(b));
    fixture_finish(plan);
    ck_assert_near(makespan(FR_ORDER_TAC, 1), 14);
    ck_assert_near(makespan(FR_ORDER_TIC, 1), 14);
}

/* Two iterations of the example: each has its own counters. The second begins when each device's
 * first is over: receives wait for their own device too, so it is the first one 3 s later. */
TEST(every_iteration_counts_anew)
{
    struct fr_plan *once, *twice = NULL;
    struct fr_run_options o;
    struct fr_run *r;

    two_receives();
    fixture_finish(plan);
    once = ordered(plan, FR_ORDER_TAC, 0);
    ck_assert_int_eq(fr_plan_unroll(once, 2, &twice, NULL), FR_OK);
    fr_run_options_init(&o);
    o.order = FR_ORDER_TAC;
    o.channels = 1;
    r = fixture_run(twice, &o);
    ck_assert_near(r->iteration_s, 3);
    ck_assert_near(r->makespan_s, 6);
    fr_run_free(r);
    fr_plan_free(twice);
    fr_plan_free(once);
}

/* ---- what orders do to the time ---- */

/* n ops in a row, each with a receive of its own, which the plan has last first; all take a second.
 * In the best order op i runs from i + 1 to i + 2: n + 1 seconds. tic knows that recv 2 .. are
 * needed in turn, but not which of the first two is: in the plan's order, recv 1 first, one second
 * more. */
enum { ROW = 8, SEEDS = 40 };

TEST(random_orders_spread_and_enforced_ones_do_not)
{
    uint32_t recvs[ROW], last = FR_NONE;
    double sum_s = 0, squares = 0, mean_s;

    for (int i = ROW; i-- > 0;)
        recvs[i] = message(1);
    for (int i = 0; i < ROW; i++)
        last = op(1, AFTER(recvs[i], last)); /* FR_NONE ends the list */
    fixture_finish(plan);
    ck_assert_near(makespan(FR_ORDER_PRIORITY, 1), 2 * ROW);
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct fr_run *r = run(plan, FR_ORDER_RANDOM, seed, 1);
        struct fr_run *tac = run(plan, FR_ORDER_TAC, seed, 1);
        struct fr_run *tic = run(plan, FR_ORDER_TIC, seed, 1);

        ck_assert_near(tac->makespan_s, ROW + 1);
        ck_assert_near(tic->makespan_s, ROW + 2);
        ck_assert_double_ge(r->makespan_s, ROW + 1 - 1e-9);
        sum_s += r->makespan_s;
        squares += r->makespan_s * r->makespan_s;
        fr_run_free(r);
        fr_run_free(tac);
        fr_run_free(tic);
    }
    mean_s = sum_s / SEEDS;
    ck_assert_double_gt(squares / SEEDS - mean_s * mean_s, 1); /* a second or more either way */
    ck_assert_double_gt(mean_s, ROW + 2);
}

/* "Late input": on device 1, a goes before b by priority and waits 3 s for a message; b could run.
 * With priorities b runs 0-2, a 3-4; under `control` and `strict` b waits for a: 3-4, then 4-6. */
TEST(control_waits_where_priorities_let_others_run)
{
    uint32_t a = op(1, AFTER(message(3)));

    fixture_compute(plan, 1, fixture_cost(plan, 2), 1);
    plan->tasks[a].priority = 0;
    fixture_finish(plan);
    ck_assert_near(makespan(FR_ORDER_PRIORITY, 0), 4);
    ck_assert_near(makespan(FR_ORDER_CONTROL, 0), 6);
    ck_assert_near(makespan(FR_ORDER_STRICT, 0), 6);
}

/* "Two streams": what strict keeps on each stream by itself, control keeps on the device. The
 * second stream's task, 1 by priority, need not wait under strict. */
TEST(control_chains_a_device_where_strict_keeps_each_stream)
{
    uint32_t other;

    fixture_compute(plan, 0, second, 0);
    other = fixture_compute(plan, 0, second, 1);
    plan->tasks[other].stream = 4;
    fixture_finish(plan);
    ck_assert_near(makespan(FR_ORDER_STRICT, 0), 1);
    ck_assert_near(makespan(FR_ORDER_CONTROL, 0), 2);
}

/* "Long filler" (an anomaly of list scheduling; R. Graham, SIAM J. Appl. Math. 17(2), 1969): on
 * device 0 long (10 s) is ready at once, short (1 s, goes before it) at 1 s; device 1 works 10 s
 * after short. Not to idle costs 9 s: priority runs long 0-10, short 10-11, the rest 11-21; strict
 * short 1-2, the rest 2-12, long 2-12. */
TEST(a_device_that_never_idles_may_end_later)
{
    uint32_t ready = fixture_compute(plan, 1, second, 0);
    uint32_t brief = fixture_compute(plan, 0, second, 0);
    uint32_t rest = fixture_compute(plan, 1, fixture_cost(plan, 10), 1);

    fixture_compute(plan, 0, fixture_cost(plan, 10), 1);
    fr_plan_add_dep(plan, ready, brief);
    fr_plan_add_dep(plan, brief, rest);
    fixture_finish(plan);
    ck_assert_near(makespan(FR_ORDER_PRIORITY, 0), 21);
    ck_assert_near(makespan(FR_ORDER_STRICT, 0), 12);
    ck_assert_near(makespan(FR_ORDER_CONTROL, 0), 12);
}

TEST(control_against_a_dependency_is_a_circle)
{
    uint32_t a = fixture_compute(plan, 0, second, 1), b = fixture_compute(plan, 0, second, 0);
    struct fr_plan *out = NULL;
    struct fr_error err = {.text = ""};
    size_t n;

    fr_plan_add_dep(plan, a, b);
    fixture_finish(plan);
    ck_assert_int_eq(fr_plan_order(plan, FR_ORDER_CONTROL, 0, NULL, NULL, &out, &n, &err),
                     FR_ERANGE);
    ck_assert_msg(strstr(err.text, "a cycle of tasks") != NULL, "%s", err.text);
}

TEST(an_empty_plan_and_one_task_can_be_ordered)
{
    for (int n = 0; n < 2; n++) {
        if (n == 1) {
            fr_plan_free(plan);
            plan = fr_plan_new(topo, NULL);
            fixture_compute(plan, 0, fixture_cost(plan, 1), 0);
        }
        fixture_finish(plan);
        for (int order = FR_ORDER_CONTROL; order < FR_N_ORDERS; order++)
            ck_assert_near(makespan((enum fr_order)order, 1), n);
    }
}

int main(void)
{
    TCase *c = tcase_create("order");

    tcase_add_checked_fixture(c, set_up, tear_down);
    tcase_set_timeout(c, 60);
    add_tests(c);
    return run_case(c, "sim/order");
}
