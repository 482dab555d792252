/* Parts of a run's time by resource: worked out by hand, and against runs with that resource
 * slower. */
#include "config.h"

#include "sim/network/maxmin.h"
#include "tests/support/sim_fixture.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const size_t MEASURED = (size_t)FR_N_LINK_KINDS * FR_N_LINK_RESOURCES + FR_DEVICE_MEASURED;
static const size_t LAUNCH = (size_t)FR_N_LINK_KINDS * FR_N_LINK_RESOURCES + FR_DEVICE_LAUNCH;

static void ck_near(double got, double want)
{
    ck_assert_double_eq_tol(got, want, 1e-9 * (1 + fabs(want)));
}

static struct fr_run *run_with_parts(struct fr_plan *p, struct fr_run_options *o)
{
    fr_run_options_init(o);
    o->want |= FR_WANT_PARTS;
    return fixture_run(p, o);
}

/* Slope of the time over each slowness, from two runs 1 % apart, is the part. */
static void ck_slopes(struct fr_plan *p, const struct fr_run_options *o, double tolerance)
{
    const struct fr_topo *t = fr_plan_view(p)->topo;
    size_t n = fr_n_resources(t);
    double *slowness = calloc(n, sizeof(*slowness));
    struct fr_run *base = fixture_run(p, o);

    ck_assert_ptr_nonnull(slowness);
    for (size_t i = 0; i < n; i++) {
        struct fr_run_options other = *o;
        struct fr_run *slow, *fast;
        char name[80];
        double slope_s;

        other.slowness = slowness;
        for (size_t k = 0; k < n; k++)
            slowness[k] = 1;
        slowness[i] = 1.005;
        slow = fixture_run(p, &other);
        slowness[i] = 0.995;
        fast = fixture_run(p, &other);
        slope_s = (slow->iteration_s - fast->iteration_s) / 0.01;
        ck_assert_msg(fabs(slope_s - base->parts_s[i]) <= tolerance * base->iteration_s,
                      "%s: part %.9g s, slope %.9g s of %.9g s",
                      fr_resource_name(t, i, name, sizeof(name)), base->parts_s[i], slope_s,
                      base->iteration_s);
        fr_run_free(slow);
        fr_run_free(fast);
    }
    fr_run_free(base);
    free(slowness);
}

TEST(an_op_counts_for_what_bounds_it)
{
    struct fr_topo *t = fixture_pair(1e9, 0);
    struct fr_plan *p = fr_plan_new(t, NULL);
    /* a roofline with memory on top, one with arithmetic, a measured time; one after the other */
    uint32_t a = fixture_compute(
        p, 0, fr_plan_add_cost(p, &(struct fr_cost){.mean_s = 3, .flops_s = 2, .bytes_s = 3}), 0);
    uint32_t b = fixture_compute(
        p, 0, fr_plan_add_cost(p, &(struct fr_cost){.mean_s = 5, .flops_s = 5, .bytes_s = 1}), 1);
    struct fr_run_options o;
    struct fr_run *r;

    fr_plan_add_dep(p, a, b);
    fixture_compute(p, 0, fixture_cost(p, 7), 2);
    fixture_finish(p);
    r = run_with_parts(p, &o);
    ck_near(r->parts_s[fr_device_resource(0, FR_DEVICE_MEMORY)], 3);
    ck_near(r->parts_s[fr_device_resource(0, FR_DEVICE_ARITHMETIC)], 5);
    ck_near(r->parts_s[MEASURED], 7);
    ck_slopes(p, &o, 1e-9);
    fr_run_free(r);
    fr_plan_free(p);
    fr_topo_free(t);
}

TEST(a_roofline_has_two_finite_sides)
{
    struct fr_topo *t = fixture_pair(1e9, 0);
    struct fr_plan *p = fr_plan_new(t, NULL);
    struct fr_error err = {.text = ""};

    fixture_compute(p, 0, fr_plan_add_cost(p, &(struct fr_cost){.mean_s = 3, .bytes_s = -1}), 0);
    ck_assert_int_ne(fr_plan_finish(p, &err), FR_OK);
    ck_assert_str_eq(err.text,
                     "the plan has 1 fault, the first: cost 0: a roofline of 0 s and -1 s: "
                     "not both finite and >= 0");
    fr_plan_free(p);
    fr_topo_free(t);
}

/* With memory four times as fast, a roofline of 2 s and 3 s turns: max(2, 3/4). */
TEST(a_faster_resource_leaves_the_other_side_of_the_roofline)
{
    struct fr_topo *t = fixture_pair(1e9, 0);
    struct fr_plan *p = fr_plan_new(t, NULL);
    double *slowness = calloc(fr_n_resources(t), sizeof(*slowness));
    struct fr_run_options o;
    struct fr_run *r;

    ck_assert_ptr_nonnull(slowness);
    fixture_compute(
        p, 0, fr_plan_add_cost(p, &(struct fr_cost){.mean_s = 3, .flops_s = 2, .bytes_s = 3}), 0);
    fixture_finish(p);
    for (size_t i = 0; i < fr_n_resources(t); i++)
        slowness[i] = 1;
    slowness[fr_device_resource(0, FR_DEVICE_MEMORY)] = 0.25;
    fr_run_options_init(&o);
    o.slowness = slowness;
    o.want |= FR_WANT_PARTS;
    r = fixture_run(p, &o);
    ck_near(r->iteration_s, 2);
    ck_near(r->parts_s[fr_device_resource(0, FR_DEVICE_ARITHMETIC)], 2);
    fr_run_free(r);
    free(slowness);
    fr_plan_free(p);
    fr_topo_free(t);
}

/* Five launches of 10 s, the ops take 1 s: the last starts at 50 s, whatever ran before. */
TEST(a_host_bound_device_is_made_of_launches)
{
    struct fr_topo *t = fixture_pair(1e9, 0);
    struct fr_plan *p = fr_plan_new(t, NULL);
    uint32_t cost = fixture_launched_cost(p, 1, 10);
    struct fr_run_options o;
    struct fr_run *r;

    for (int i = 0; i < 5; i++)
        fixture_compute(p, 0, cost, i);
    fixture_finish(p);
    r = run_with_parts(p, &o);
    ck_near(r->iteration_s, 51);
    ck_near(r->parts_s[LAUNCH], 50);
    ck_near(r->parts_s[MEASURED], 1);
    ck_slopes(p, &o, 1e-9);
    fr_run_free(r);
    fr_plan_free(p);
    fr_topo_free(t);
}

/* h0 to h1 over the hub: 2 links of 3 s latency and 1e9 B/s each; 5e9 bytes. */
TEST(a_message_is_latencies_and_bytes)
{
    struct fr_topo *t = fixture_star(2, 1e9, 3);

    for (int network = 0; network < FR_N_NETWORKS; network++) {
        struct fr_plan *p = fr_plan_new(t, NULL);
        struct fr_run_options o;
        struct fr_run *r;

        fixture_message(p, 0, 1, 5e9, fixture_compute(p, 0, fixture_cost(p, 2), 0));
        fixture_finish(p);
        fr_run_options_init(&o);
        o.want |= FR_WANT_PARTS;
        o.network = (enum fr_network)network;
        r = fixture_run(p, &o);
        ck_near(r->parts_s[fr_link_resource(FR_LINK_NET, FR_LINK_LATENCY)], 6);
        ck_near(r->parts_s[fr_link_resource(FR_LINK_NET, FR_LINK_BANDWIDTH)], 5);
        ck_near(r->parts_s[MEASURED], 2);
        ck_slopes(p, &o, 1e-9);
        fr_run_free(r);
        fr_plan_free(p);
    }
    fr_topo_free(t);
}

/* Messages A (h0 to h2, from 0) and B (h1 to h2, from c = 1 s on), 4e9 bytes each, share the last
 * link of C = 1e9 B/s. A ends when C c + C/2 (t - c) = 4e9: t_A = 8 - c = 7 s. B ends when the link
 * has moved everything: 8 s, however long c is. So c counts nothing for B, and less than nothing
 * for A: the later B comes, the sooner A ends. */
TEST(a_shared_link_delays_by_what_it_moves_not_by_when_it_was_asked)
{
    for (int last = 0; last < 2; last++) {
        struct fr_topo *t = fixture_star(3, 1e9, 0);
        struct fr_plan *p = fr_plan_new(t, NULL);
        uint32_t delay = fixture_compute(p, 1, fixture_cost(p, 1), 0);
        uint32_t recv_b = fixture_message(p, 1, 2, 4e9, delay);
        uint32_t recv_a = fixture_message(p, 0, 2, 4e9, FR_NONE);
        uint32_t end = fixture_compute(p, 2, fixture_cost(p, 100), 0);
        struct fr_run_options o;
        struct fr_run *r;

        fr_plan_add_dep(p, last ? recv_b : recv_a, end);
        fixture_finish(p);
        r = run_with_parts(p, &o);
        ck_near(r->iteration_s, last ? 108 : 107);
        ck_near(r->parts_s[fr_link_resource(FR_LINK_NET, FR_LINK_BANDWIDTH)], 8);
        ck_near(r->parts_s[MEASURED], last ? 100 : 99);
        ck_slopes(p, &o, 1e-9);
        fr_run_free(r);
        fr_plan_free(p);
        fr_topo_free(t);
    }
}

/* One channel: B waits until A has gone, so both count. */
TEST(a_message_that_waits_for_a_channel_starts_with_the_end_of_another)
{
    struct fr_topo *t = fixture_star(3, 1e9, 0.5);
    struct fr_plan *p = fr_plan_new(t, NULL);
    struct fr_run_options o;
    struct fr_run *r;

    fixture_message(p, 0, 1, 4e9, FR_NONE);
    fixture_message(p, 0, 2, 2e9, FR_NONE);
    fixture_finish(p);
    fr_run_options_init(&o);
    o.want |= FR_WANT_PARTS;
    o.channels = 1;
    r = fixture_run(p, &o);
    ck_near(r->parts_s[fr_link_resource(FR_LINK_NET, FR_LINK_BANDWIDTH)], 6);
    ck_near(r->parts_s[fr_link_resource(FR_LINK_NET, FR_LINK_LATENCY)], 2);
    ck_slopes(p, &o, 1e-9);
    fr_run_free(r);
    fr_plan_free(p);
    fr_topo_free(t);
}

/* All-reduce of 8e9 bytes among 4 after 1 s of compute: 6 rounds of 2 links' latency (0.25 s each)
 * and 2e9 bytes. */
TEST(a_ring_is_rounds_of_latency_and_chunk_in_steps_and_closed)
{
    struct fr_topo *t = fixture_star(4, 1e9, 0.25);

    for (int is_closed = 0; is_closed < 2; is_closed++) {
        struct fr_plan *p = fr_plan_new(t, NULL);
        struct fr_run_options o;
        struct fr_run *r;
        uint32_t members[4];

        fixture_collective(p, FR_ALL_REDUCE, 4, 8e9, members);
        fr_plan_add_dep(p, fixture_compute(p, 2, fixture_cost(p, 1), 0), members[2]);
        fixture_finish(p);
        fr_run_options_init(&o);
        o.want |= FR_WANT_PARTS;
        o.closed_form_collectives = is_closed == 1;
        r = fixture_run(p, &o);
        ck_near(r->parts_s[fr_link_resource(FR_LINK_NET, FR_LINK_LATENCY)], 6 * 0.5);
        ck_near(r->parts_s[fr_link_resource(FR_LINK_NET, FR_LINK_BANDWIDTH)], 12);
        ck_near(r->parts_s[MEASURED], 1);
        ck_slopes(p, &o, 1e-9);
        fr_run_free(r);
        fr_plan_free(p);
    }
    fr_topo_free(t);
}

/* 3 s after 1 s of compute, of which 2 grow with the bytes. */
TEST(a_collective_with_a_cost_is_the_bandwidth_of_its_bytes_and_latency_else)
{
    struct fr_topo *t = fixture_star(4, 1e9, 0.25);
    struct fr_plan *p = fr_plan_new(t, NULL);
    struct fr_run_options o;
    struct fr_run *r;
    uint32_t members[4];

    fixture_priced_collective(p, FR_ALL_REDUCE, 4, 8e9, 3, 2, members);
    fr_plan_add_dep(p, fixture_compute(p, 2, fixture_cost(p, 1), 0), members[2]);
    fixture_finish(p);
    r = run_with_parts(p, &o);
    ck_near(r->makespan_s, 4);
    ck_near(r->parts_s[fr_link_resource(FR_LINK_NET, FR_LINK_LATENCY)], 1);
    ck_near(r->parts_s[fr_link_resource(FR_LINK_NET, FR_LINK_BANDWIDTH)], 2);
    ck_near(r->parts_s[MEASURED], 1);
    ck_slopes(p, &o, 1e-9);
    fr_run_free(r);
    fr_plan_free(p);
    fr_topo_free(t);
}

/* The interval of the last iteration, not the time since the start. */
TEST(several_iterations_give_the_parts_of_one)
{
    struct fr_topo *t = fixture_pair(1e9, 0);
    struct fr_plan *p = fr_plan_new(t, NULL), *many = NULL;
    struct fr_run_options o;
    struct fr_error err;
    struct fr_run *r;

    fixture_message(p, 0, 1, 3e9, fixture_compute(p, 0, fixture_cost(p, 2), 0));
    fixture_finish(p);
    ck_assert_int_eq(fr_plan_unroll(p, 3, &many, &err), FR_OK);
    r = run_with_parts(many, &o);
    ck_near(r->iteration_s, 5);
    ck_near(r->parts_s[MEASURED], 2);
    ck_near(r->parts_s[fr_link_resource(FR_LINK_NVLINK, FR_LINK_BANDWIDTH)], 3);
    fr_run_free(r);
    fr_plan_free(many);
    fr_plan_free(p);
    fr_topo_free(t);
}

/* xorshift64 (Marsaglia, 2003): any stream of numbers does */
static uint32_t draw(uint64_t *x, uint32_t n)
{
    *x ^= *x << 13;
    *x ^= *x >> 7;
    *x ^= *x << 17;
    return (uint32_t)(*x >> 33) % n;
}

/* Two groups of four hosts: links to the group's switch of one kind, each with another bandwidth,
 * and between the switches of another; messages are held back now here, now there. */
static struct fr_topo *two_kinds(uint64_t *x)
{
    const struct fr_device_type gpu = {.name = "gpu",
                                       .is_gpu = true,
                                       .mem_bytes = 1,
                                       .mem_Bps = 1,
                                       .vector_flops_per_s = 1,
                                       .n_sms = 1,
                                       .source = "test"};
    const struct fr_loc loc = {NULL, 0, 0};
    struct fr_topo_builder *b = fr_topo_builder_new();
    uint32_t type = fr_topo_builder_type(b, &gpu), hosts[8], switches[2];
    struct fr_topo *t = NULL;
    struct fr_error err;

    for (uint32_t i = 0; i < 8; i++) {
        char name[8];

        snprintf(name, sizeof(name), "h%u", i);
        hosts[i] = fr_topo_builder_vertex(b, FR_VERTEX_GPU, name, 0, type, loc);
    }
    switches[0] = fr_topo_builder_vertex(b, FR_VERTEX_PCIE, "s0", 0, FR_NONE, loc);
    switches[1] = fr_topo_builder_vertex(b, FR_VERTEX_PCIE, "s1", 0, FR_NONE, loc);
    for (uint32_t i = 0; i < 8; i++)
        fr_topo_builder_link(b, FR_LINK_PCIE, hosts[i], switches[i / 4],
                             1e9 * (1 + draw(x, 1 << 30) / 0x1p30), 1e-5, true, "test", loc);
    fr_topo_builder_link(b, FR_LINK_CPU, switches[0], switches[1],
                         1e9 * (1 + draw(x, 1 << 30) / 0x1p30), 2e-5, true, "test", loc);
    ck_assert_int_eq(fr_topo_builder_finish(b, "two kinds", &t, &err), FR_OK);
    fr_topo_builder_free(b);
    return t;
}

/* Layers of ops and messages of random sizes, so that ties are rare; each device waits for the last
 * message sent to it. */
static struct fr_plan *random_plan(const struct fr_topo *t, uint64_t *x)
{
    struct fr_plan *p = fr_plan_new(t, NULL);
    uint32_t before[8];

    for (uint32_t d = 0; d < 8; d++)
        before[d] = FR_NONE;
    for (uint32_t layer = 0; layer < 6; layer++)
        for (uint32_t d = 0; d < 8; d++) {
            uint32_t cost =
                fixture_launched_cost(p, 1e-3 * (1 + 10 * (draw(x, 1 << 30) / 0x1p30)), 1e-5);
            uint32_t task = fixture_compute(p, d, cost, (int32_t)layer);
            uint32_t to = (d + 1 + draw(x, 7)) % 8;

            if (before[d] != FR_NONE)
                fr_plan_add_dep(p, before[d], task);
            before[to] =
                fixture_message(p, d, to, 1e6 * (1 + 10 * (draw(x, 1 << 30) / 0x1p30)), task);
        }
    fixture_finish(p);
    return p;
}

/* The sum is Euler's, the slopes are the runs' own: over a step so small that the order of ends
 * stays as it is. */
static void ck_random_plan(const struct fr_topo *t, uint64_t *x)
{
    struct fr_plan *p = random_plan(t, x);
    double slowness[64], sum_s = 0;
    struct fr_run_options o;
    struct fr_run *r = run_with_parts(p, &o);

    for (size_t i = 0; i < fr_n_resources(t); i++) {
        struct fr_run_options other = o;
        struct fr_run *slow;

        sum_s += r->parts_s[i];
        if (r->n_rough > 0)
            continue;
        for (size_t k = 0; k < 64; k++)
            slowness[k] = k == i ? 1 + 1e-7 : 1;
        other.slowness = slowness;
        slow = fixture_run(p, &other);
        ck_assert_double_eq_tol((slow->iteration_s - r->iteration_s) / 1e-7, r->parts_s[i],
                                1e-5 * r->iteration_s);
        fr_run_free(slow);
    }
    ck_near(sum_s, r->iteration_s);
    fr_run_free(r);
    fr_plan_free(p);
}

LOOP_TEST(random_plans_on_a_fat_tree_have_parts_that_are_slopes, 0, 20)
{
    uint64_t x = (uint64_t)(_i + 1) * UINT64_C(0x9e3779b97f4a7c15);
    struct fr_topo *t = fixture_fat_tree(2, 4, 2, 1e9, 1e-3);

    ck_random_plan(t, &x);
    fr_topo_free(t);
}

/* A flow may get what others, held back on links of another kind, leave over. */
LOOP_TEST(random_plans_on_links_of_two_kinds_have_parts_that_are_slopes, 0, 40)
{
    uint64_t x = (uint64_t)(_i + 1) * UINT64_C(0x9e3779b97f4a7c15);
    struct fr_topo *t = two_kinds(&x);

    ck_random_plan(t, &x);
    fr_topo_free(t);
}

/* Two resources of 10 and 6: a flow over the first alone, then one over both, which halves the
 * first one's rate; when that has gone, the second is bounded by the narrower resource. */
/* Of a thousand plans some are steep: there the sum still holds, and no part is out of bounds. */
TEST(steep_slopes_are_given_up_and_counted)
{
    unsigned n_rough = 0;

    for (uint64_t seed = 1; seed <= 1000; seed++) {
        uint64_t x = seed * UINT64_C(0x9e3779b97f4a7c15);
        struct fr_topo *t = two_kinds(&x);
        struct fr_plan *p = random_plan(t, &x);
        struct fr_run_options o;
        struct fr_run *r = run_with_parts(p, &o);
        double sum_s = 0, steepness_s = 0;

        for (size_t i = 0; i < fr_n_resources(t); i++) {
            sum_s += r->parts_s[i];
            steepness_s += fabs(r->parts_s[i]);
        }
        ck_near(sum_s, r->iteration_s);
        ck_assert_double_le(steepness_s, 4 * r->iteration_s);
        n_rough += r->n_rough > 0;
        fr_run_free(r);
        fr_plan_free(p);
        fr_topo_free(t);
    }
    ck_assert_uint_gt(n_rough, 0);
    ck_assert_uint_lt(n_rough, 100);
}

TEST(the_solver_lists_the_flows_whose_rates_change)
{
    static const double capacity_Bps[] = {10, 6};
    static const uint32_t both[] = {0, 1};
    struct fr__maxmin *m = fr__maxmin_new(2, fr__listed_capacities(capacity_Bps));
    const uint32_t *users;
    uint32_t a, b, n;

    ck_assert_ptr_nonnull(m);
    fr__maxmin_watch(m);
    a = fr__maxmin_add(m, 0, both, 1, 100, 7);
    fr__maxmin_solve(m, 0);
    users = fr__maxmin_take_changes(m, &n);
    ck_assert_uint_eq(n, 1);
    ck_assert_uint_eq(users[0], 7);
    b = fr__maxmin_add(m, 1, both, 2, 100, 8);
    fr__maxmin_solve(m, 1);
    users = fr__maxmin_take_changes(m, &n);
    ck_assert_uint_eq(n, 2);
    ck_assert_uint_eq(users[0] + users[1], 7 + 8);
    ck_assert_uint_eq(fr__maxmin_bottleneck(m, b), 0);
    ck_assert_uint_eq(fr__maxmin_n_crossing(m, 0), 2);
    ck_assert_uint_eq(fr__maxmin_n_crossing(m, 1), 1);
    ck_assert_uint_eq(fr__maxmin_crossing(m, 1, 0), b);
    fr__maxmin_remove(m, a);
    fr__maxmin_solve(m, 2);
    users = fr__maxmin_take_changes(m, &n);
    ck_assert_uint_eq(n, 1);
    ck_assert_uint_eq(users[0], 8);
    ck_assert_uint_eq(fr__maxmin_bottleneck(m, b), 1);
    fr__maxmin_take_changes(m, &n);
    ck_assert_uint_eq(n, 0);
    fr__maxmin_free(m);
}

TEST(resources_have_numbers_and_names)
{
    struct fr_topo *t = fixture_pair(1e9, 0);
    char name[80];
    size_t i = fr_link_resource(FR_LINK_PCIE, FR_LINK_LATENCY);

    ck_assert_uint_eq(fr_n_resources(t), MEASURED - FR_DEVICE_MEASURED + FR_N_DEVICE_RESOURCES);
    ck_assert_str_eq(fr_resource_name(t, i, name, sizeof(name)), "PCIe latency");
    ck_assert(fr_resource_is_time(t, i));
    ck_assert_str_eq(fr_resource_name(t, LAUNCH, name, sizeof(name)), "test-gpu launch time");
    ck_assert(fr_resource_is_time(t, LAUNCH));
    ck_assert(!fr_resource_is_time(t, MEASURED));
    ck_assert_int_eq(fr_resource_at(t, i).link, FR_LINK_PCIE);
    ck_assert_int_eq(fr_resource_at(t, MEASURED).device_what, FR_DEVICE_MEASURED);
    fr_topo_free(t);
}

int main(void)
{
    TCase *c = tcase_create("sensitivity");

    add_tests(c);
    return run_case(c, "sim/sensitivity");
}
