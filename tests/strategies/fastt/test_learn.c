/* Learning against a hidden truth: that it finds it, keeps what is not slower, and sees it
 * change. */
#include "config.h"

#include "tests/support/learn_case.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

static const struct fr__learn_options plain = {
    .search = {.max_parts = 1}, .iterations = 1, .max_rounds = 60, .eps = 0.05};

/* 24 operations on 3 devices of different speeds for each. */
static void set_up(struct learn_case *t, uint64_t seed)
{
    static const struct dpos_random r = {.n_ops = 24,
                                         .n_devices = 3,
                                         .edges_an_op = 1.5,
                                         .max_cost = 20,
                                         .max_bytes = 8,
                                         .is_heterogeneous = true};

    dpos_case_random(&t->c, &r, seed);
    for (size_t i = 0; i < 24 * 3; i++)
        t->c.dag.cost_s[i] += 1;
    for (size_t k = 0; k < 9; k++)
        t->c.latency_s[k] = k % 4 ? 0.5 : 0; /* 0, 4 and 8 are the diagonal */
    learn_case_init(t);
}

enum { N_SEEDS = 40 };

/* What is known at the end is the truth, and says of the strategy in use what was measured. A
 * round tries each operation on one more device at best, but some are planned elsewhere again: 3
 * devices are learned in far fewer than 24 rounds. */
LOOP_TEST(what_is_learned_is_the_truth, 0, N_SEEDS)
{
    struct fr__learning *g;
    struct learn_case t;
    double known_s;

    set_up(&t, (uint64_t)_i);
    g = learn_case_run(&t, &plain);
    ck_assert(g->has_converged);
    ck_assert_uint_le(g->n_rounds, 24);
    for (uint32_t op = 0; op < 24; op++)
        for (uint32_t d = 0; d < 3; d++)
            if (fr__learned_knows_op(g->costs, &t.c.dag, op, d))
                ck_assert_double_eq_tol(fr__learned_op_s(g->costs, &t.c.dag, op, d),
                                        t.c.dag.cost_s[op * 3 + d], 1e-9);
    for (uint32_t op = 0; op < 24; op++)
        ck_assert(fr__learned_knows_op(g->costs, g->in_use.dag, op, g->in_use.device[op]));
    ck_assert_int_eq(fr__learn_estimate(&known_s, g->costs, &g->in_use, 3, NULL), FR_OK);
    ck_assert_double_eq_tol(known_s, g->in_use_s, 1e-9);
    fr__learn_free(g);
    dpos_case_fini(&t.c);
}

LOOP_TEST(strategies_that_are_kept_are_never_slower, 0, N_SEEDS)
{
    struct fr__learning *g;
    struct learn_case t;
    double last_s = INFINITY;

    set_up(&t, (uint64_t)_i);
    t.noise = 0.04;
    g = learn_case_run(&t, &plain);
    for (size_t k = 0; k < g->n_rounds; k++) {
        const struct fr__learn_round *r = &g->rounds[k];

        if (r->verdict != FR_LEARN_FIRST && r->verdict != FR_LEARN_KEPT)
            continue;
        ck_assert_double_le(r->measured_s, last_s);
        ck_assert_uint_eq(r->in_use, r->strategy);
        last_s = r->measured_s;
    }
    ck_assert_double_eq(g->in_use_s, last_s);
    fr__learn_free(g);
    dpos_case_fini(&t.c);
}

/* Two operations one after the other, 4 s each on the first device, 3 and 1 s on the second. */
static void set_up_chain(struct learn_case *t)
{
    dpos_case_init(&t->c, 2, 2, 1);
    dpos_case_edge(&t->c, 0, 1, 0);
    dpos_case_index(&t->c);
    for (uint32_t i = 0; i < 2; i++) {
        dpos_case_cost(&t->c, i)[0] = 4;
        dpos_case_cost(&t->c, i)[1] = i == 0 ? 3 : 1;
    }
    learn_case_init(t);
}

/* By hand: both begin on device 0 (no memory is asked for, so the first takes all): 8 s. Device
 * 1 is unknown, so both are tried there: 4 s, kept. Now all is known, the same is planned,
 * nothing is new. */
TEST(a_chain_is_learned_as_by_hand)
{
    struct fr__learning *g;
    struct learn_case t;

    set_up_chain(&t);
    t.c.room_bytes[0] = t.c.room_bytes[1] = 10;
    t.c.dag.ops[0].resident_bytes = t.c.dag.ops[1].resident_bytes = 1;
    t.c.dag.ops[0].group = t.c.dag.ops[1].group = 0;
    t.c.dag.n_groups = 1;
    g = learn_case_run(&t, &plain);
    ck_assert_uint_eq(g->n_rounds, 3);
    ck_assert_int_eq(g->rounds[0].verdict, FR_LEARN_FIRST);
    ck_assert_double_eq(g->rounds[0].measured_s, 8);
    ck_assert_uint_eq(g->rounds[0].change.n_new, 2);
    ck_assert_int_eq(g->rounds[1].verdict, FR_LEARN_KEPT);
    ck_assert_double_eq(g->rounds[1].estimated_s, 0);
    ck_assert_double_eq(g->rounds[1].measured_s, 4);
    ck_assert_int_eq(g->rounds[2].verdict, FR_LEARN_SAME);
    ck_assert_double_eq(g->rounds[2].estimated_s, 4);
    ck_assert(g->has_converged);
    ck_assert_uint_eq(g->n_rolled_back, 0);
    ck_assert_uint_eq(g->n_activated, 1);
    fr__learn_free(g);
    dpos_case_fini(&t.c);
}

/* The better strategy takes ten times as long as its operations (it might wait for something
 * that no model knows): gone back from once, and not tried again though it is planned again.
 * Both ways cost. */
LOOP_TEST(a_strategy_that_is_slow_as_a_whole_is_rolled_back_once, 0, 2)
{
    static const double factors[] = {10, INFINITY}; /* infinite: out of memory */
    struct fr__learn_options o = plain;
    struct fr__learning *g;
    struct learn_case t;

    o.activation_s = 30;
    set_up_chain(&t);
    t.cursed = 1;
    t.cursed_factor = factors[_i];
    t.c.dag.ops[0].group = t.c.dag.ops[1].group = 0;
    t.c.dag.n_groups = 1;
    g = learn_case_run(&t, &o);
    ck_assert_uint_eq(g->n_rolled_back, 1);
    ck_assert_int_eq(g->rounds[1].verdict, FR_LEARN_ROLLED_BACK);
    ck_assert_uint_eq(g->rounds[1].in_use, 0);
    ck_assert_int_eq(g->rounds[2].verdict, FR_LEARN_REJECTED);
    ck_assert(g->has_converged);
    ck_assert_double_eq(g->in_use_s, 8);
    ck_assert_double_eq(g->activation_s, 60);
    ck_assert(fr__learned_knows_op(g->costs, &t.c.dag, 0, 1) == (_i == 0)); /* samples are kept */
    fr__learn_free(g);
    dpos_case_fini(&t.c);
}

/* Device 1 becomes three times as slow: 3 + 1 s become 12, more than 8 s on device 0. */
TEST(a_device_that_slows_down_is_noticed_and_left)
{
    struct fr__learn_options o = plain;
    struct fr__learning *g;
    struct learn_case t;

    o.n_profiles = 4;
    o.period = 100;
    set_up_chain(&t);
    t.c.dag.ops[0].group = t.c.dag.ops[1].group = 0;
    t.c.dag.n_groups = 1;
    t.slow_from = 150; /* between the first profile, after 3 + 100 iterations, and the second */
    t.slow_device = 1;
    t.slow_factor = 3;
    g = learn_case_run(&t, &o);
    ck_assert_uint_eq(g->n_pre_training, 3);
    ck_assert_uint_eq(g->n_rounds, 3 + 5);
    ck_assert_int_eq(g->rounds[3].verdict, FR_LEARN_WATCHED);
    ck_assert(g->rounds[3].is_settled);
    ck_assert(!g->rounds[4].is_settled);
    ck_assert_int_eq(g->rounds[4].verdict, FR_LEARN_CHANGED);
    ck_assert_double_eq(g->rounds[4].change.most, 2);
    ck_assert_double_eq(g->rounds[4].measured_s, 12);
    ck_assert_double_eq(g->rounds[4].planned_s, 8);
    ck_assert_int_eq(g->rounds[5].verdict, FR_LEARN_KEPT);
    ck_assert_double_eq(g->rounds[5].measured_s, 8);
    ck_assert_uint_eq(g->in_use.device[0], 0);
    for (size_t k = 6; k < 8; k++)
        ck_assert_int_eq(g->rounds[k].verdict, FR_LEARN_WATCHED);
    fr__learn_free(g);
    dpos_case_fini(&t.c);
}

/* A device that is not in use may change as it likes. */
LOOP_TEST(nothing_is_tried_while_nothing_changes, 0, N_SEEDS)
{
    struct fr__learn_options o = plain;
    struct fr__learning *g;
    struct learn_case t;

    o.n_profiles = 6;
    o.period = 500;
    o.iterations = 10;
    set_up(&t, (uint64_t)_i);
    t.noise = 0.04; /* within eps */
    g = learn_case_run(&t, &o);
    ck_assert(g->has_converged);
    ck_assert_uint_eq(g->n_rounds, g->n_pre_training + 6);
    for (size_t k = g->n_pre_training; k < g->n_rounds; k++) {
        ck_assert_int_eq(g->rounds[k].verdict, FR_LEARN_WATCHED);
        ck_assert(g->rounds[k].is_settled);
    }
    ck_assert_uint_eq(g->n_iterations, 10 * t.n_measured + 6 * 500);
    fr__learn_free(g);
    dpos_case_fini(&t.c);
}

/* One operation of 12 s on 2 equal devices, 0.5 s more for a part. Whole on each device first
 * (unknown is 0); when both are known a half counts as nothing and is tried; it takes 6.5 s and
 * the copies. */
TEST(a_split_is_learned_by_trying_it)
{
    struct fr__learn_options o = plain;
    struct fr__learning *g;
    struct learn_case t;

    o.search.max_parts = 0;
    dpos_case_init(&t.c, 3, 2, 2);
    dpos_case_edge(&t.c, 0, 1, 2);
    dpos_case_edge(&t.c, 1, 2, 2);
    dpos_case_index(&t.c);
    for (uint32_t i = 0; i < 3; i++)
        for (uint32_t d = 0; d < 2; d++)
            dpos_case_cost(&t.c, i)[d] = i == 1 ? 12 : 1;
    t.c.dag.ops[1].split_mask = 1u << FR__DAG_BATCH;
    learn_case_init(&t);
    t.overhead_s = 0.5;
    t.s_per_copied_byte = 0.125;
    g = learn_case_run(&t, &o);
    ck_assert(g->has_converged);
    ck_assert_uint_eq(g->in_use.dag->n_ops, 3 + 3);
    /* 1, a slicing of 4 bytes 0.5, a move 1, a part 6.5, a move 1, a joining 0.5, 1 */
    ck_assert_double_eq(g->in_use_s, 11.5);
    fr__learn_free(g);
    dpos_case_fini(&t.c);
}

TEST(replicas_begin_on_a_device_each)
{
    uint32_t device[7];
    struct dpos_case c;

    dpos_case_init(&c, 7, 3, 1);
    dpos_case_index(&c);
    c.dag.n_replicas = 3;
    c.dag.n_groups = 2;
    for (uint32_t i = 0; i < 7; i++) {
        c.dag.ops[i].replica = i >= 2 && i < 5 ? i - 2 : FR_NONE;
        c.dag.ops[i].group = i < 2 ? i : i >= 5 ? i - 5 : FR_NONE;
        c.dag.ops[i].resident_bytes = 4;
    }
    c.room_bytes[0] = c.room_bytes[1] = c.room_bytes[2] = 13; /* one group of 8 beside a replica */
    ck_assert_int_eq(fr__learn_first(&c.dag, &c.m, device, NULL), FR_OK);
    ck_assert_uint_eq(device[2], 0);
    ck_assert_uint_eq(device[4], 2);
    ck_assert_uint_eq(device[0], 0);
    ck_assert_uint_eq(device[5], 0);
    ck_assert_uint_eq(device[1], 1);
    ck_assert_uint_eq(device[6], 1);
    c.room_bytes[1] = c.room_bytes[2] = 11;
    ck_assert_int_eq(fr__learn_first(&c.dag, &c.m, device, NULL), FR_ENOROOM);
    dpos_case_fini(&c);
}

/* 6 operations of 10 bytes: devices of 40 and 20 hold two thirds and one. */
TEST(a_model_begins_in_order_each_device_with_its_share)
{
    uint32_t device[6];
    struct dpos_case c;

    dpos_case_init(&c, 6, 2, 1);
    dpos_case_index(&c);
    for (uint32_t i = 0; i < 6; i++)
        c.dag.ops[i].resident_bytes = 10;
    c.room_bytes[0] = 80;
    c.room_bytes[1] = 40;
    ck_assert_int_eq(fr__learn_first(&c.dag, &c.m, device, NULL), FR_OK);
    for (uint32_t i = 0; i < 6; i++)
        ck_assert_uint_eq(device[i], i >= 4);
    c.room_bytes[0] = 29;
    c.room_bytes[1] = 30;
    ck_assert_int_eq(fr__learn_first(&c.dag, &c.m, device, NULL), FR_ENOROOM);
    dpos_case_fini(&c);
}

int main(void)
{
    TCase *t = tcase_create("all");

    add_tests(t);
    return run_case(t, "strategies/learn");
}
