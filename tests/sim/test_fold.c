/* tests/sim/test_fold.c - rings that are simulated once for all machines that do the same give the
 * results of rings that are simulated as they are. */
#include "config.h"

#include "base/rng.h"
#include "tests/support/base_check.h"
#include "tests/support/sim_fixture.h"
#include "tests/support/topo_case.h"

#include <check.h>
#include <math.h>

enum { MOST_RANKS = 256, N_CASES = 40 };

/* More channels than there are messages bind nothing, but rings do not fold beside them. */
enum { NO_LIMIT = 1u << 20 };

static const char *const topologies[] = {
    "8x hgx-h100",
    "8x hgx-h100 via rails:8x400Gbps,spine=2:1",
    "9x hgx-h100 via rails:8x400Gbps",
    "16x dgx1-v100 via leaf-spine:100Gbps,machines=2,over=4:1",
    "8x hgx-h100 via leaf-spine:400Gbps,machines=2,spines=4,over=2:1",
    "24x gh200-quad via torus:dims=4x3x2",
    "24x gh200-quad via dragonfly:machines=2,routers=3",
    "16x gh200-quad via ring:link=100Gbps",
    "6x hgx-h100 + 6x dgx1-v100 via rails:bond=2,kind=roce",
    "8x hgx-h100 via rails less n3.nic0=0.5",
};
enum { N_TOPOLOGIES = sizeof(topologies) / sizeof(topologies[0]) };

static struct fr_run *run(struct fr_plan *p, const struct fr_run_options *o, bool is_folded)
{
    struct fr_run_options with = *o;

    if (!is_folded)
        with.channels = NO_LIMIT;
    return fixture_run(p, &with);
}

static bool is_near(double a, double b)
{
    return fabs(a - b) <= 1e-12 * fabs(b);
}

static void check_same(struct fr_plan *p, const struct fr_run *a, const struct fr_run *b)
{
    char name[FR_LINK_NAME];

    for (size_t t = 0; t < a->n_tasks; t++)
        ck_assert_msg(is_near(a->start_s[t], b->start_s[t]) && is_near(a->end_s[t], b->end_s[t]),
                      "task %zu runs from %.17g to %.17g s instead of %.17g to %.17g", t,
                      a->start_s[t], a->end_s[t], b->start_s[t], b->end_s[t]);
    for (uint32_t l = 0; l < a->n_links; l++)
        ck_assert_msg(is_near(a->link_bytes[l], b->link_bytes[l]), "%s carries %.17g instead of %g",
                      fr_topo_link_name(fr_plan_view(p)->topo, l, name), a->link_bytes[l],
                      b->link_bytes[l]);
    ck_assert_uint_eq(a->stats.flows, b->stats.flows);
    ck_assert_uint_eq(a->stats.steps, b->stats.steps);
}

/* Runs both ways; returns events simulated without folding for each one with it. */
static double compare(struct fr_plan *p, const struct fr_run_options *o)
{
    struct fr_run *folded, *plain;
    double times;

    fixture_finish(p);
    folded = run(p, o, true);
    plain = run(p, o, false);
    check_same(p, folded, plain);
    times = (double)plain->stats.events / (double)folded->stats.events;
    fr_run_free(folded);
    fr_run_free(plain);
    return times;
}

static struct fr_run_options options(enum fr_network network, unsigned rings)
{
    struct fr_run_options o;

    fr_run_options_init(&o);
    o.network = network;
    o.rings = rings;
    return o;
}

LOOP_TEST(rings_over_equal_machines_are_simulated_as_one_machine, 0, FR_N_NETWORKS)
{
    struct fr_topo *t = topo_case_load("16x hgx-h100");
    struct fr_plan *p = fr_plan_new(t, NULL);
    const struct fr_run_options o = options((enum fr_network)_i, 2);
    uint32_t members[MOST_RANKS];

    fixture_collective(p, FR_ALL_REDUCE, 128, 1e6, members);
    ck_assert_double_ge(compare(p, &o), 15);
    fr_plan_free(p);
    fr_topo_free(t);
}

TEST(a_ring_over_one_switch_is_simulated_as_one_rank)
{
    struct fr_topo *t = fixture_star(128, 1e10, 1e-6);
    struct fr_plan *p = fr_plan_new(t, NULL);
    const struct fr_run_options o = options(FR_NETWORK_FLOW, 1);
    uint32_t members[MOST_RANKS];

    fixture_collective(p, FR_ALL_GATHER, 128, 1e6, members);
    ck_assert_double_ge(compare(p, &o), 100);
    fr_plan_free(p);
    fr_topo_free(t);
}

/* After one message has used a ring's links the machines are no longer in step. */
TEST(a_message_beside_a_ring_unfolds_it)
{
    struct fr_topo *t = topo_case_load("16x hgx-h100");
    struct fr_plan *p = fr_plan_new(t, NULL);
    const struct fr_run_options o = options(FR_NETWORK_FLOW, 1);
    uint32_t members[MOST_RANKS];
    double times;

    fixture_collective(p, FR_ALL_GATHER, 128, 1e8, members);
    fixture_message(p, 3, 12, 1e6, fixture_compute(p, 3, fixture_cost(p, 1e-3), 0));
    times = compare(p, &o);
    ck_assert_double_ge(times, 1.05);
    ck_assert_double_le(times, 4);
    fr_plan_free(p);
    fr_topo_free(t);
}

/* A ring over these devices in this order. */
static void add_ring(struct fr_plan *p, const uint32_t devices[], uint32_t n, double bytes)
{
    struct fr_collective c = {.bytes = bytes, .label = FR_NONE, .kind = FR_ALL_GATHER};
    uint32_t id;

    c.group = fr_plan_add_group_of(p, devices, n);
    id = fr_plan_add_collective(p, &c);
    for (uint32_t rank = 0; rank < n; rank++)
        fr_plan_add_task(p, &(struct fr_task){.device = devices[rank],
                                              .cost_id = FR_NONE,
                                              .op = FR_NONE,
                                              .collective = id,
                                              .rank = rank,
                                              .microbatch = FR_NONE,
                                              .kind = FR_TASK_COLLECTIVE,
                                              .stream = FR_STREAM_COMM});
}

/* Each hop leads to the next leaf, two of each leaf cross its one link up at the same time. */
TEST(hops_that_share_a_link_do_not_stand_for_each_other)
{
    struct fr_topo *t = fixture_fat_tree(32, 2, 1, 1e10, 1e-6);
    struct fr_plan *p = fr_plan_new(t, NULL);
    const struct fr_run_options o = options(FR_NETWORK_FLOW, 1);
    uint32_t devices[64];

    for (uint32_t i = 0; i < 64; i++)
        devices[i] = i % 32 * 2 + i / 32;
    add_ring(p, devices, 64, 1e6);
    compare(p, &o);
    fr_plan_free(p);
    fr_topo_free(t);
}

/* Two ranks that are half the ring apart share no link, but some share one with another rank and
 * others do not. */
TEST(hops_beside_which_others_go_do_not_stand_for_hops_alone)
{
    struct fr_topo *t = fixture_fat_tree(96, 2, 1, 1e10, 1e-6);
    struct fr_plan *p = fr_plan_new(t, NULL);
    const struct fr_run_options o = options(FR_NETWORK_FLOW, 1);
    uint32_t devices[128];

    for (uint32_t i = 0; i < 64; i++) {
        devices[i] = 2 * i;
        devices[64 + i] = i < 32 ? (5 * i + 7) % 64 * 2 + 1 : 2 * (32 + i);
    }
    add_ring(p, devices, 128, 1e6);
    compare(p, &o);
    fr_plan_free(p);
    fr_topo_free(t);
}

/* All hops cross four equal links, which they share at random. */
LOOP_TEST(rings_in_any_order_take_the_same_time_folded, 0, 6)
{
    struct fr_topo *t = fixture_fat_tree(64, 1, 3, 1e10, 1e-6);
    const struct fr_run_options o = options(FR_NETWORK_FLOW, 1);
    struct fr_topo *narrow = fixture_fat_tree(16, 4, 2, 1e10, 1e-6);
    struct fr__rng rng;
    uint32_t devices[64];

    fr__rng_init(&rng, 16, (uint64_t)_i);
    for (int k = 0; k < 2; k++) {
        struct fr_plan *p = fr_plan_new(k ? narrow : t, NULL);

        for (uint32_t i = 0; i < 64; i++)
            devices[i] = i;
        for (uint32_t i = 63; i > 0; i--) {
            uint32_t other = (uint32_t)fr__rng_below(&rng, i + 1), device = devices[i];

            devices[i] = devices[other];
            devices[other] = device;
        }
        add_ring(p, devices, 64, 1e6);
        compare(p, &o);
        fr_plan_free(p);
    }
    fr_topo_free(t);
    fr_topo_free(narrow);
}

/* Leaves follow each other, each with a rank of any number. */
LOOP_TEST(rings_from_leaf_to_leaf_take_the_same_time_folded, 0, 6)
{
    struct fr_topo *t = fixture_fat_tree(8, 16, 4, 1e10, 1e-6);
    const struct fr_run_options o = options(FR_NETWORK_FLOW, 1);
    struct fr_plan *p = fr_plan_new(t, NULL);
    struct fr__rng rng;
    uint32_t devices[128];

    fr__rng_init(&rng, 17, (uint64_t)_i);
    for (uint32_t leaf = 0; leaf < 8; leaf++) {
        uint32_t numbers[16];

        for (uint32_t i = 0; i < 16; i++)
            numbers[i] = i;
        for (uint32_t i = 16; i-- > 0;) {
            uint32_t other = (uint32_t)fr__rng_below(&rng, i + 1), number = numbers[i];

            numbers[i] = numbers[other];
            numbers[other] = number;
            devices[i * 8 + leaf] = leaf * 16 + numbers[i];
        }
    }
    add_ring(p, devices, 128, 1e6);
    compare(p, &o);
    fr_plan_free(p);
    fr_topo_free(t);
}

/* Collectives one after the other, and messages at any time between any two. */
LOOP_TEST(any_rings_beside_any_messages_take_the_same_time_folded, 0, N_CASES)
{
    static const enum fr_collective_kind kinds[] = {FR_ALL_REDUCE, FR_ALL_GATHER, FR_REDUCE_SCATTER,
                                                    FR_ALL_TO_ALL, FR_BROADCAST};
    struct fr__rng rng;
    struct fr_topo *t;
    struct fr_plan *p;
    struct fr_run_options o;
    uint32_t members[MOST_RANKS], n, n_collectives, n_messages;

    fr__rng_init(&rng, 15, (uint64_t)_i);
    t = topo_case_load(topologies[_i % N_TOPOLOGIES]);
    p = fr_plan_new(t, NULL);
    o = options(fr__rng_below(&rng, 5) == 0 ? FR_NETWORK_ANALYTIC : FR_NETWORK_FLOW,
                (unsigned)fr__rng_below(&rng, 4));
    n = (uint32_t)(t->n_gpus - (fr__rng_below(&rng, 4) == 0 ? fr__rng_below(&rng, 8) : 0));
    n_collectives = 1 + (uint32_t)fr__rng_below(&rng, 2);
    n_messages = (uint32_t)fr__rng_below(&rng, 3);
    for (uint32_t i = 0; i < n_collectives; i++)
        fixture_collective(p, kinds[fr__rng_below(&rng, i == 0 ? 3 : 5)], n,
                           1e5 + 1e8 * fr__rng_uniform(&rng) * fr__rng_uniform(&rng), members);
    for (uint32_t i = 0; i < n_messages; i++) {
        uint32_t from = (uint32_t)fr__rng_below(&rng, t->n_gpus);
        uint32_t to = (uint32_t)fr__rng_below(&rng, t->n_gpus);

        fixture_message(p, from, to == from ? (to + 1) % n : to, 1e7 * fr__rng_uniform(&rng),
                        fixture_compute(p, from, fixture_cost(p, 5e-3 * fr__rng_uniform(&rng)), 0));
    }
    compare(p, &o);
    fr_plan_free(p);
    fr_topo_free(t);
}

int main(void)
{
    TCase *tc = tcase_create("fold");

    tcase_set_timeout(tc, 60);
    add_tests(tc);
    return run_case(tc, "sim/fold");
}
