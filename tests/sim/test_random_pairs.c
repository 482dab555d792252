/* tests/sim/test_random_pairs.c - what must hold between two runs of random plans.
 *
 * A change whose effect is known is made to a plan, or one answer is computed in two ways.
 */
#include "config.h"

#include "tests/support/random_plan.h"
#include "tests/support/base_check.h"
#include "tests/support/sim_fixture.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

/* ---- how answers must change ---- */

/* Runs the plan of `seed` as drawn and changed; the second one's times must be the first one's
 * times `factor`, to the bit, or, with factor 0, but for rounding. */
static void compare(uint64_t seed, const struct random_shape *as_is,
                    const struct random_shape *changed, const struct fr_run_options *o,
                    double factor, struct random_count *n)
{
    struct random_plan *j = random_plan_draw(seed, as_is), *k = random_plan_draw(seed, changed);
    struct fr_run *a = random_plan_run(j, o, n), *b = random_plan_run(k, o, n);

    n->plans++;
    if (factor > 0)
        random_times_are_equal(k, b, a, factor);
    else
        random_times_are_near(k, b, a);
    fr_run_free(a);
    fr_run_free(b);
    random_plan_free(j);
    random_plan_free(k);
}

/* Powers of two leave all digits as they are. */
TEST(twice_the_bandwidth_for_twice_the_bytes_changes_nothing)
{
    struct random_shape as_is = random_plain, changed;
    struct random_count n = {0, 0};

    as_is.has_no_chains = true;
    changed = as_is;
    changed.bw_scale = changed.bytes_scale = 2;
    for (uint64_t seed = 2000; seed < 2150; seed++) {
        struct fr_run_options o = random_options_in_turn(seed);

        compare(seed, &as_is, &changed, &o, 1, &n);
    }
    random_say("twice_the_bandwidth_for_twice_the_bytes_changes_nothing", &n);
}

TEST(all_times_and_bytes_doubled_double_every_time)
{
    struct random_shape as_is = random_plain, changed;
    struct random_count n = {0, 0};

    as_is.has_launches = true;
    as_is.has_no_chains = true;
    changed = as_is;
    changed.time_scale = 2;
    for (uint64_t seed = 3000; seed < 3150; seed++) {
        struct fr_run_options o = random_options_in_turn(seed);

        compare(seed, &as_is, &changed, &o, 2, &n);
    }
    random_say("all_times_and_bytes_doubled_double_every_time", &n);
}

/* Rounding may differ, and in `fifo` and `priority` decide which of two tasks runs first, so the
 * order is strict. Rings go in rank order: the search for rings may prefer low numbers. */
TEST(other_numbers_for_the_devices_change_nothing_on_a_star)
{
    struct random_shape as_is = random_plain, changed;
    struct fr_run_options o = random_options();
    struct random_count n = {0, 0};

    as_is.is_star = true;
    changed = as_is;
    changed.is_reversed = true;
    o.order = FR_ORDER_STRICT;
    o.rings = 1;
    for (uint64_t seed = 4000; seed < 4150; seed++)
        compare(seed, &as_is, &changed, &o, 0, &n);
    random_say("other_numbers_for_the_devices_change_nothing_on_a_star", &n);
}

/* ---- two ways to one answer ---- */

/* On a star or a pair, with one message at a time in and out of each device, no link carries
 * two. */
TEST(flow_equals_analytic_where_no_link_is_shared)
{
    struct random_shape shape = random_plain;
    struct random_count n = {0, 0};

    shape.has_single_file = true;
    for (uint64_t seed = 5000; seed < 5150; seed++, n.plans++) {
        struct random_plan *j = random_plan_draw(seed, &shape);
        struct fr_run_options o = random_options();
        struct fr_run *flow, *analytic;

        o.order = FR_ORDER_STRICT; /* see above */
        flow = random_plan_run(j, &o, &n);
        o.network = FR_NETWORK_ANALYTIC;
        analytic = random_plan_run(j, &o, &n);
        random_times_are_near(j, flow, analytic);
        fr_run_free(flow);
        fr_run_free(analytic);
        random_plan_free(j);
    }
    random_say("flow_equals_analytic_where_no_link_is_shared", &n);
}

/* One collective after the other over the first devices of a cluster, of any size. A ring in rank
 * order enters and leaves each host and each leaf of the tree once: it shares no link. Nor does an
 * all-to-all on a star, but on a tree it may. */
static void draw_collectives_in_turn(struct random_plan *j)
{
    uint32_t last = FR_NONE;

    for (uint32_t c = 0; c < 4; c++) {
        uint32_t members[MOST_DEVICES], n = 1 + random_below(j, j->n_devices), marker;
        enum fr_collective_kind kind = random_collective_kind(j);

        if (kind == FR_ALL_TO_ALL && j->topo->n_links > 2 * j->n_devices)
            kind = FR_ALL_GATHER;
        fixture_collective(j->plan, kind, n, random_below(j, 10000000), members);
        marker = fr_plan_add_task(j->plan, &(struct fr_task){.cost_id = FR_NONE,
                                                             .op = FR_NONE,
                                                             .label = FR_NONE,
                                                             .microbatch = FR_NONE,
                                                             .kind = FR_TASK_MARKER,
                                                             .stream = FR_STREAM_FREE});
        for (uint32_t i = 0; i < n; i++) {
            if (last != FR_NONE)
                fr_plan_add_dep(j->plan, last, members[i]);
            fr_plan_add_dep(j->plan, members[i], marker);
        }
        last = marker;
    }
    fixture_finish(j->plan);
}

TEST(closed_forms_equal_the_steps_where_no_link_is_shared)
{
    struct random_count n = {0, 0};

    for (uint64_t seed = 6000; seed < 6150; seed++, n.plans++) {
        struct random_plan *j = calloc(1, sizeof(*j));
        struct fr_run_options o = random_options();
        struct fr_run *steps, *closed;

        ck_assert_ptr_nonnull(j);
        j->shape = random_plain;
        j->seed = seed;
        fr__rng_init(&j->rng, seed, 0);
        random_cluster(j);
        j->plan = fr_plan_new(j->topo, NULL);
        draw_collectives_in_turn(j);
        o.network = (enum fr_network)(seed % FR_N_NETWORKS);
        o.rings = 1;
        steps = random_plan_run(j, &o, &n);
        o.closed_form_collectives = true;
        closed = random_plan_run(j, &o, &n);
        holds(j, random_is_near(steps->makespan_s, closed->makespan_s, closed->makespan_s));
        for (size_t l = 0; l < steps->n_links; l++)
            holds(j, random_is_near(steps->link_bytes[l], closed->link_bytes[l],
                                    closed->link_bytes[l]));
        fr_run_free(steps);
        fr_run_free(closed);
        random_plan_free(j);
    }
    random_say("closed_forms_equal_the_steps_where_no_link_is_shared", &n);
}

/* ---- objects used again, runs that stop ---- */

/* An object that is used again, after runs of all kinds and after some that were stopped or that
 * failed, gives what a new one does, to the bit; and from the second run on it searches for
 * nothing. */
TEST(an_object_used_again_gives_the_same_runs)
{
    static const unsigned stop_at[] = {0, 3, 1};
    struct random_count n = {0, 0};

    for (uint64_t seed = 9000; seed < 9100; seed++, n.plans++) {
        struct random_plan *j = random_plan_draw(seed, &random_plain);
        struct fr_simulation *s = NULL;
        double slowness[64], makespan_s = 0;

        holds(j, fr_simulation_new(&s, j->topo, NULL) == FR_OK);
        holds(j, fr_n_resources(j->topo) <= 64);
        for (size_t i = 0; i < 64; i++)
            slowness[i] = 1 + 0.1 * (double)i;
        for (unsigned k = 0; k < 24; k++) {
            struct fr_run_options o = random_options();
            struct fr_run *a, *b = NULL;
            const char *difference;

            o.network = (enum fr_network)(k % FR_N_NETWORKS);
            o.order = (enum fr_order)(k % FR_ORDER_STRICT);
            o.channels = k / 2 % 3;
            o.rings = k / 6 % 2;
            o.memory = (enum fr_memory_model)(k / 3 % FR_N_MEMORY_MODELS);
            o.slowness = k % 4 == 3 ? slowness : NULL;
            o.jitter_cv = k % 5 == 4 ? 0.1 : 0;
            o.closed_form_collectives = k % 7 == 6;
            if (k % 3 == 1)
                o.want |= FR_WANT_PARTS | FR_WANT_HOLDERS | FR_WANT_TOTALS;
            o.stop_s = makespan_s * stop_at[k % 3] / 4;
            a = random_plan_run(j, &o, &n);
            holds(j, fr_simulation_run(s, j->plan, &o, &b, NULL) == FR_OK);
            difference = fixture_difference(j->plan, a, b);
            if (difference)
                ck_abort_msg("seed %llu, run %u: other %s", (unsigned long long)seed, k,
                             difference);
            holds(j, b->stats.router_builds == (k == 0));
            holds(j, k < 12 || b->stats.route_searches + b->stats.ring_searches == 0);
            if (k == 0)
                makespan_s = a->makespan_s;
            fr_run_free(a);
            fr_run_free(b);
        }
        fr_simulation_free(s);
        random_plan_free(j);
    }
    random_say("an_object_used_again_gives_the_same_runs", &n);
}

/* A run that is stopped has gone as far as the whole one, and bounds it from below. */
TEST(a_stopped_run_is_the_beginning_of_the_whole_one)
{
    struct random_count n = {0, 0};

    for (uint64_t seed = 9200; seed < 9300; seed++, n.plans++) {
        struct random_plan *j = random_plan_draw(seed, &random_plain);
        struct fr_run_options o = random_options();
        struct fr_run *whole = random_plan_run(j, &o, &n);

        for (unsigned k = 1; k <= 4; k++) {
            struct fr_run *r;

            o.stop_s = whole->makespan_s * k / 4;
            r = random_plan_run(j, &o, &n);
            holds(j, r->is_stopped == (o.stop_s > 0 && o.stop_s < whole->makespan_s));
            holds(j, r->makespan_s <= whole->makespan_s &&
                         (!r->is_stopped || r->makespan_s > o.stop_s));
            holds(j, r->iteration_s <= whole->iteration_s);
            holds(j, r->lower_bound_s == whole->lower_bound_s);
            for (size_t t = 0; t < r->n_tasks; t++) {
                bool is_started = whole->start_s[t] <= o.stop_s || !r->is_stopped;
                bool is_ended = whole->end_s[t] <= o.stop_s || !r->is_stopped;

                holds(j, r->start_s[t] == (is_started ? whole->start_s[t] : (double)INFINITY));
                holds(j, r->end_s[t] == (is_ended ? whole->end_s[t] : (double)INFINITY));
            }
            fr_run_free(r);
        }
        fr_run_free(whole);
        random_plan_free(j);
    }
    random_say("a_stopped_run_is_the_beginning_of_the_whole_one", &n);
}

int main(void)
{
    TCase *c = tcase_create("random_pairs");

    tcase_set_timeout(c, 120);
    add_tests(c);
    return run_case(c, "sim/random_pairs");
}
