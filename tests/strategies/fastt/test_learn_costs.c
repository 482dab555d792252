/* Learned means and lines. */
#include "config.h"

#include "strategies/fastt/learn/costs.h"
#include "tests/support/dpos_case.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct fr__learned_terms keeps = {.eps = 0.05};
static const struct fr__learned_terms forgets = {.eps = 0.05, .forgets = true, .strategy = 3};

static struct fr__learned_change update(struct fr__learned *l, const struct fr__learned_terms *t)
{
    struct fr__learned_change c;

    ck_assert_int_eq(fr__learned_update(l, t, &c, NULL), FR_OK);
    return c;
}

static void add_move(struct fr__learned *l, double bytes, double s)
{
    ck_assert_int_eq(fr__learned_add_move(l, 0, 1, bytes, s, NULL), FR_OK);
}

static void check_line(const struct fr__learned *l, double latency_s, double s_per_byte)
{
    double a, b;

    ck_assert(fr__learned_line(l, 0, 1, &a, &b));
    ck_assert_double_eq_tol(a, latency_s, 1e-9 * latency_s + 1e-25);
    ck_assert_double_eq_tol(b, s_per_byte, 1e-9 * s_per_byte + 1e-25);
}

/* 5 us and 12 GB/s, at sizes from 1 KB to 1 GB. */
TEST(a_link_is_recovered_from_samples_without_noise)
{
    static const double sizes[] = {1e3, 3e4, 1e6, 7e7, 1e9};
    struct fr__learned *l = fr__learned_new(2);

    for (size_t i = 0; i < 5; i++)
        add_move(l, sizes[i], 5e-6 + sizes[i] / 12e9);
    update(l, &keeps);
    check_line(l, 5e-6, 1 / 12e9);
    fr__learned_free(l);
}

/* (1, 3), (1, 5), (2, 9): means are bytes 4/3 and 17/3 s, sums of squares 2/3 and products 10/3,
 * so the slope is 5 and the intercept 17/3 - 20/3 = -1: below 0. Through the origin: (3 + 5 +
 * 18) / (1 + 1 + 4). */
TEST(a_negative_latency_becomes_a_line_through_the_origin)
{
    struct fr__learned *l = fr__learned_new(2);

    add_move(l, 1, 3);
    add_move(l, 1, 5);
    add_move(l, 2, 9);
    update(l, &keeps);
    check_line(l, 0, 26.0 / 6);
    fr__learned_free(l);
}

/* (1, 4), (1, 6), (2, 6): the mean of the first two counts twice. Slope (2/3) / (2/3) = 1,
 * intercept 4. */
TEST(all_samples_count_alike_over_rounds)
{
    struct fr__learned *l = fr__learned_new(2);

    add_move(l, 1, 4);
    update(l, &keeps);
    check_line(l, 0, 4); /* one size: through the origin */
    add_move(l, 2, 6);
    update(l, &keeps);
    add_move(l, 1, 6);
    update(l, &keeps);
    check_line(l, 4, 1);
    fr__learned_free(l);
}

TEST(more_bytes_never_take_less_time)
{
    struct fr__learned *l = fr__learned_new(2);

    add_move(l, 1, 6);
    add_move(l, 2, 4);
    update(l, &keeps);
    check_line(l, 5, 0);
    fr__learned_free(l);
}

TEST(what_was_not_measured_counts_as_nothing)
{
    struct fr__learned *l = fr__learned_new(2);
    struct dpos_case c;
    double a, b;

    dpos_case_init(&c, 1, 2, 1);
    dpos_case_index(&c);
    ck_assert(!fr__learned_line(l, 1, 0, &a, &b));
    ck_assert(a <= 0 && b <= 0);
    ck_assert(!fr__learned_knows_op(l, &c.dag, 0, 1));
    ck_assert(fr__learned_op_s(l, &c.dag, 0, 1) <= 0);
    ck_assert_int_eq(fr__learned_add_op(l, &c.dag, 0, 0, 2, NULL), FR_OK);
    ck_assert(!fr__learned_knows_op(l, &c.dag, 0, 0)); /* the round has not ended */
    update(l, &keeps);
    ck_assert_double_eq(fr__learned_op_s(l, &c.dag, 0, 0), 2);
    ck_assert(fr__learned_op_s(l, &c.dag, 0, 1) <= 0);
    dpos_case_fini(&c);
    fr__learned_free(l);
}

/* 2, 4 in one round, 9 in the next: means 3 and 5, a change of 2/3. */
TEST(a_mean_is_of_all_samples)
{
    struct fr__learned *l = fr__learned_new(1);
    struct fr__learned_change change;
    struct dpos_case c;

    dpos_case_init(&c, 1, 1, 1);
    dpos_case_index(&c);
    fr__learned_add_op(l, &c.dag, 0, 0, 2, NULL);
    fr__learned_add_op(l, &c.dag, 0, 0, 4, NULL);
    change = update(l, &keeps);
    ck_assert_uint_eq(change.n_new, 1);
    ck_assert_uint_eq(change.n_changed, 0);
    fr__learned_add_op(l, &c.dag, 0, 0, 9, NULL);
    change = update(l, &keeps);
    ck_assert_double_eq(fr__learned_op_s(l, &c.dag, 0, 0), 5);
    ck_assert_uint_eq(change.n_new, 0);
    ck_assert_uint_eq(change.n_changed, 1);
    ck_assert_double_eq(change.most, 2.0 / 3);
    ck_assert_double_eq(change.before_s, 3);
    dpos_case_fini(&c);
    fr__learned_free(l);
}

/* 100 samples of 1 s, then one of 2: the mean of all is near 1, but what has changed is 2. One
 * of 2.05, within 5 %, is one more sample: 4.05 / 2. */
TEST(what_has_changed_is_forgotten_when_asked)
{
    struct fr__learned *l = fr__learned_new(1);
    struct fr__learned_change change;
    struct dpos_case c;

    dpos_case_init(&c, 1, 1, 1);
    dpos_case_index(&c);
    for (size_t i = 0; i < 100; i++)
        fr__learned_add_op(l, &c.dag, 0, 0, 1, NULL);
    update(l, &keeps);
    fr__learned_add_op(l, &c.dag, 0, 0, 2, NULL);
    change = update(l, &forgets);
    ck_assert_uint_eq(change.n_changed, 1);
    ck_assert_double_eq(fr__learned_op_s(l, &c.dag, 0, 0), 2);
    fr__learned_add_op(l, &c.dag, 0, 0, 2.05, NULL);
    change = update(l, &forgets);
    ck_assert_uint_eq(change.n_changed, 0);
    ck_assert_double_eq(fr__learned_op_s(l, &c.dag, 0, 0), 2.025);
    dpos_case_fini(&c);
    fr__learned_free(l);
}

/* Another strategy may make a transfer wait; the same one may not. */
TEST(a_pair_has_changed_only_within_one_strategy)
{
    struct fr__learned_terms other = forgets;
    struct fr__learned *l = fr__learned_new(2);

    other.strategy = 4;
    add_move(l, 1, 1);
    update(l, &forgets);
    add_move(l, 1, 2);
    ck_assert_uint_eq(update(l, &other).n_changed, 0);
    check_line(l, 0, 1.5);
    add_move(l, 1, 4);
    ck_assert_uint_eq(update(l, &other).n_changed, 1);
    check_line(l, 0, 4);
    fr__learned_free(l);
}

/* Replicas of an operation, and its parts, are measured once for all; a part is not the whole,
 * nor one of another dimension. */
TEST(the_same_work_is_known_by_one_name)
{
    struct fr__learned *l = fr__learned_new(2);
    struct dpos_case c;

    dpos_case_init(&c, 5, 2, 1);
    dpos_case_index(&c);
    for (uint32_t i = 0; i < 5; i++) {
        c.dag.ops[i].op = 0;
        c.dag.ops[i].replica = i % 2;
        c.dag.ops[i].n_parts = i < 2 ? 1 : 2;
        c.dag.ops[i].part = i == 3;
        c.dag.ops[i].dim = i < 2 ? FR__DAG_WHOLE : i == 4 ? FR__DAG_CHANNEL : FR__DAG_BATCH;
    }
    fr__learned_add_op(l, &c.dag, 0, 0, 6, NULL);
    fr__learned_add_op(l, &c.dag, 2, 0, 4, NULL);
    update(l, &keeps);
    ck_assert_uint_eq(fr__learned_n_works(l), 2);
    ck_assert_double_eq(fr__learned_op_s(l, &c.dag, 1, 0), 6);
    ck_assert_double_eq(fr__learned_op_s(l, &c.dag, 3, 0), 4);
    ck_assert(!fr__learned_knows_op(l, &c.dag, 4, 0));
    ck_assert(!fr__learned_knows_op(l, &c.dag, 1, 1));
    dpos_case_fini(&c);
    fr__learned_free(l);
}

/* More works than the table begins with, each its own. */
TEST(a_thousand_works_are_kept_apart)
{
    struct fr__learned *l = fr__learned_new(1);
    struct dpos_case c;

    dpos_case_init(&c, 1000, 1, 1);
    dpos_case_index(&c);
    for (uint32_t i = 0; i < 1000; i++)
        fr__learned_add_op(l, &c.dag, i, 0, i + 1.0, NULL);
    update(l, &keeps);
    for (uint32_t i = 0; i < 1000; i++)
        ck_assert_double_eq(fr__learned_op_s(l, &c.dag, i, 0), i + 1.0);
    dpos_case_fini(&c);
    fr__learned_free(l);
}

int main(void)
{
    TCase *t = tcase_create("all");

    add_tests(t);
    return run_case(t, "strategies/learn_costs");
}
