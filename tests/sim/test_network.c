/* tests/sim/test_network.c - messages and rings where ends, links and hosts are not alike. */
#include "config.h"

#include "tests/support/sim_fixture.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define ck_near(a, b) ck_assert_double_eq_tol((a), (b), 1e-9 * (fabs((double)(b)) + 1e-3))

static const struct fr_loc nowhere = {NULL, 0, 0};

static struct fr_run_options options(enum fr_network network)
{
    struct fr_run_options o;

    fr_run_options_init(&o);
    o.network = network;
    return o;
}

/* A directed link of a cluster by hand. */
struct wire {
    uint32_t src, dst; /* GPUs 0 .. n-1, then the switch n */
    double bw_Bps, latency_s;
};

/* n GPUs, a switch when has_switch, and these links. */
static struct fr_topo *cluster(uint32_t n, bool has_switch, const struct wire wires[],
                               size_t n_wires)
{
    const struct fr_device_type type = {
        .name = "gpu", .is_gpu = true, .mem_bytes = 1000, .mem_Bps = 1, .source = "made up"};
    struct fr_topo_builder *b = fr_topo_builder_new();
    uint32_t t = fr_topo_builder_type(b, &type);
    struct fr_topo *topo = NULL;
    struct fr_error err = {.text = ""};

    for (uint32_t i = 0; i < n; i++) {
        char name[16];

        snprintf(name, sizeof(name), "g%u", i);
        ck_assert_uint_eq(fr_topo_builder_vertex(b, FR_VERTEX_GPU, name, 0, t, nowhere), i);
    }
    if (has_switch)
        fr_topo_builder_vertex(b, FR_VERTEX_SWITCH, "hub", FR_NONE, FR_NONE, nowhere);
    for (size_t i = 0; i < n_wires; i++)
        fr_topo_builder_link(b, FR_LINK_NVLINK, wires[i].src, wires[i].dst, wires[i].bw_Bps,
                             wires[i].latency_s, false, "made up", nowhere);
    if (fr_topo_builder_finish(b, "by hand", &topo, &err) != FR_OK)
        ck_abort_msg("%s", err.text);
    fr_topo_builder_free(b);
    return topo;
}

/* ---- messages ---- */

/* From 0 to 1 a link of 4e9 B/s is followed by one of 1e9, back the narrow one comes first: 1e9
 * bytes take 1 s both ways, and no schedule is faster. */
TEST(the_narrowest_link_of_a_route_counts_wherever_it_is)
{
    const struct wire wires[] = {{0, 2, 4e9, 0}, {2, 1, 1e9, 0}, {1, 2, 1e9, 0}, {2, 0, 4e9, 0}};
    struct fr_topo *topo = cluster(2, true, wires, 4);

    for (int network = 0; network < FR_N_NETWORKS; network++)
        for (uint32_t src = 0; src < 2; src++) {
            struct fr_plan *p = fr_plan_new(topo, NULL);
            struct fr_run_options o = options((enum fr_network)network);
            struct fr_run *r;

            fixture_message(p, src, 1 - src, 1e9, FR_NONE);
            fixture_finish(p);
            r = fixture_run(p, &o);
            ck_near(r->makespan_s, 1);
            ck_near(r->lower_bound_s, 1);
            fr_run_free(r);
            fr_plan_free(p);
        }
    fr_topo_free(topo);
}

/* Two senders, one receiver with one channel: the second message waits, 1 s each. Side by side on
 * the receiver's link both would end at 2 s. */
TEST(a_receiver_takes_no_more_messages_than_it_has_channels)
{
    struct fr_topo *topo = fixture_star(3, 1e9, 0);
    struct fr_plan *p = fr_plan_new(topo, NULL);
    struct fr_run_options o = options(FR_NETWORK_FLOW);
    uint32_t a = fixture_message(p, 1, 0, 1e9, FR_NONE);
    uint32_t b = fixture_message(p, 2, 0, 1e9, FR_NONE);
    struct fr_run *r;

    fixture_finish(p);
    o.channels = 1;
    r = fixture_run(p, &o);
    ck_near(r->end_s[a], 1);
    ck_near(r->start_s[b], 1);
    ck_near(r->end_s[b], 2);
    fr_run_free(r);
    fr_plan_free(p);
    fr_topo_free(topo);
}

/* Each host launches one op, at 3 s and 5 s of its time, before it comes to the message and to the
 * member of a collective: these start when the later host has got there, at 5 s, whichever end
 * that is. */
TEST(partners_start_when_the_later_host_has_launched_them)
{
    struct fr_topo *topo = fixture_star(2, 1e9, 0);

    for (uint32_t slow = 0; slow < 2; slow++) {
        struct fr_plan *p = fr_plan_new(topo, NULL);
        struct fr_run_options o = options(FR_NETWORK_FLOW);
        uint32_t recv, members[2];
        struct fr_run *r;

        fixture_compute(p, slow, fixture_launched_cost(p, 0.5, 5), 0);
        fixture_compute(p, 1 - slow, fixture_launched_cost(p, 0.5, 3), 0);
        recv = fixture_message(p, 0, 1, 1e9, FR_NONE);
        fixture_collective(p, FR_ALL_REDUCE, 2, 0, members);
        fixture_finish(p);
        r = fixture_run(p, &o);
        ck_near(r->start_s[recv], 5);
        ck_near(r->start_s[recv - 1], 5);
        ck_near(r->end_s[recv], 6);
        ck_near(r->start_s[members[0]], 5);
        ck_near(r->start_s[members[1]], 5);
        fr_run_free(r);
        fr_plan_free(p);
    }
    fr_topo_free(topo);
}

/* Each of n devices sends 1e6 bytes to each of the next k: k at once on each link of 1e9 B/s, k ms
 * after two latencies of 1 ms. Then the same again: some routes are kept, others walked anew. */
static void check_pairs(uint32_t n, uint32_t k)
{
    struct fr_topo *topo = fixture_star(n, 1e9, 1e-3);
    struct fr_plan *p = fr_plan_new(topo, NULL);
    struct fr_run_options o = options(FR_NETWORK_FLOW);
    uint32_t barrier = fr_plan_add_task(p, &(struct fr_task){.cost_id = FR_NONE,
                                                             .op = FR_NONE,
                                                             .label = FR_NONE,
                                                             .kind = FR_TASK_MARKER,
                                                             .stream = FR_STREAM_FREE});
    struct fr_run *r;

    for (int wave = 0; wave < 2; wave++)
        for (uint32_t src = 0; src < n; src++)
            for (uint32_t i = 1; i <= k; i++) {
                uint32_t recv =
                    fixture_message(p, src, (src + i) % n, 1e6, wave == 1 ? barrier : FR_NONE);

                if (wave == 0)
                    fr_plan_add_dep(p, recv, barrier);
            }
    fixture_finish(p);
    r = fixture_run(p, &o);
    ck_near(r->end_s[barrier], 1e-3 * (2 + k));
    ck_near(r->makespan_s, 2e-3 * (2 + k));
    for (size_t l = 0; l < r->n_links; l++)
        ck_assert_double_eq(r->link_bytes[l], 2e6 * k);
    fr_run_free(r);
    fr_plan_free(p);
    fr_topo_free(topo);
}

/* 9900 pairs, more than the engine keeps the routes of; of few devices, which have a table of
 * pairs, and of many. */
TEST(messages_between_very_many_pairs_find_their_way)
{
    check_pairs(100, 99);
    check_pairs(300, 33);
}

/* ---- rings ---- */

/* Three GPUs, each linked with each: two rings, 0-1-2 without latency and 0-2-1 with 1 s a link,
 * each with half the bytes (all links are equally wide). 12e8 bytes: chunks of 12e8 / 2 / 3 = 2e8,
 * 4 rounds; the first ring takes 4 x 0.2 s, the second, with which members end, 4 x 1.2 s. */
TEST(a_member_ends_with_its_last_ring)
{
    const struct wire wires[] = {{0, 1, 1e9, 0}, {1, 2, 1e9, 0}, {2, 0, 1e9, 0},
                                 {1, 0, 1e9, 1}, {2, 1, 1e9, 1}, {0, 2, 1e9, 1}};
    struct fr_topo *topo = cluster(3, false, wires, 6);

    for (int closed = 0; closed < 2; closed++) {
        struct fr_plan *p = fr_plan_new(topo, NULL);
        struct fr_run_options o = options(FR_NETWORK_FLOW);
        uint32_t members[3];
        struct fr_run *r;

        fixture_collective(p, FR_ALL_REDUCE, 3, 12e8, members);
        fixture_finish(p);
        o.closed_form_collectives = closed;
        r = fixture_run(p, &o);
        for (int i = 0; i < 3; i++)
            ck_near(r->end_s[members[i]], 4 * 1.2);
        for (int l = 0; l < 6; l++)
            ck_near(r->link_bytes[l], 4 * 2e8);
        fr_run_free(r);
        fr_plan_free(p);
    }
    fr_topo_free(topo);
}

/* An all-gather of three chunks of 1e9 bytes on a ring whose hop 0-1 takes 1 s and the others 0.1
 * s. Rank 0 sends from 0 to 2 s without a pause. Rank 1 has the first chunk at 1 s and hands it on
 * until 1.1 s, which is the last that rank 2 receives; it has sent all by then and goes on, with 5
 * s of compute. No schedule can be shorter than 2 rounds at the fastest hop and those: 5.2 s. */
TEST(a_rank_ends_when_it_has_sent_and_received_all)
{
    const struct wire wires[] = {{0, 1, 1e9, 0},  {1, 2, 1e10, 0}, {2, 0, 1e10, 0},
                                 {1, 0, 1e10, 0}, {2, 1, 1e10, 0}, {0, 2, 1e10, 0}};
    struct fr_topo *topo = cluster(3, false, wires, 6);

    for (int network = 0; network < FR_N_NETWORKS; network++) {
        struct fr_plan *p = fr_plan_new(topo, NULL);
        struct fr_run_options o = options((enum fr_network)network);
        uint32_t members[3], after;
        struct fr_run *r;

        fixture_collective(p, FR_ALL_GATHER, 3, 3e9, members);
        after = fixture_compute(p, 2, fixture_cost(p, 5), 0);
        fr_plan_add_dep(p, members[2], after);
        fixture_finish(p);
        o.rings = 1;
        r = fixture_run(p, &o);
        ck_near(r->end_s[members[0]], 2);
        ck_near(r->end_s[members[1]], 2);
        ck_near(r->end_s[members[2]], 1.1);
        ck_near(r->makespan_s, 6.1);
        ck_near(r->lower_bound_s, 5.2);
        fr_run_free(r);
        fr_plan_free(p);
    }
    fr_topo_free(topo);
}

/* ---- side by side ---- */

/* All-reduce of 1e9 bytes on two ranks, 2 x 0.5 s, three times slower beside compute: 3 s in closed
 * form as soon as one of the two devices computes, whichever. */
TEST(the_busiest_member_slows_a_closed_form)
{
    const struct fr_interference slow = {.factor = {{1, 1, 1}, {1, 1, 1}, {3, 1, 1}},
                                         .source = "test"};
    struct fr_topo *topo = fixture_star(2, 1e9, 0);

    for (uint32_t busy = 0; busy < 2; busy++) {
        struct fr_plan *p = fr_plan_new(topo, NULL);
        struct fr_run_options o = options(FR_NETWORK_FLOW);
        uint32_t members[2];
        struct fr_run *r;

        fixture_compute(p, busy, fixture_cost(p, 10), 0);
        fixture_collective(p, FR_ALL_REDUCE, 2, 1e9, members);
        fixture_finish(p);
        o.closed_form_collectives = true;
        o.interference = &slow;
        r = fixture_run(p, &o);
        ck_near(r->end_s[members[0]], 3);
        ck_near(r->end_s[members[1]], 3);
        fr_run_free(r);
        fr_plan_free(p);
    }
    fr_topo_free(topo);
}

/* One kind of work does not slow itself when it is alone: factors of a class beside itself are for
 * two of the class. Compute 1 s, then a message of 1 s, then an all-reduce of 1 s: 3 s. Two tasks
 * side by side on two streams do: 2 s each. */
TEST(work_is_not_slowed_by_itself)
{
    const struct fr_interference slow = {.factor = {{2, 1, 1}, {1, 2, 1}, {1, 1, 2}},
                                         .source = "test"};
    struct fr_topo *topo = fixture_star(2, 1e9, 0);

    for (int closed = 0; closed < 2; closed++) {
        struct fr_plan *p = fr_plan_new(topo, NULL);
        struct fr_run_options o = options(FR_NETWORK_FLOW);
        uint32_t cost = fixture_cost(p, 1), members[2], first, recv, both[2];
        struct fr_run *r;

        first = fixture_compute(p, 0, cost, 0);
        recv = fixture_message(p, 0, 1, 1e9, first);
        fixture_collective(p, FR_ALL_REDUCE, 2, 1e9, members);
        fr_plan_add_dep(p, recv, members[0]);
        for (uint8_t i = 0; i < 2; i++) {
            both[i] = fr_plan_add_task(p, &(struct fr_task){.cost_id = cost,
                                                            .op = FR_NONE,
                                                            .label = FR_NONE,
                                                            .microbatch = FR_NONE,
                                                            .kind = FR_TASK_COMPUTE,
                                                            .stream = (uint8_t)(4 + i)});
            fr_plan_add_dep(p, members[0], both[i]);
        }
        fixture_finish(p);
        o.closed_form_collectives = closed;
        o.interference = &slow;
        r = fixture_run(p, &o);
        ck_near(r->end_s[first], 1);
        ck_near(r->end_s[recv], 2);
        ck_near(r->end_s[members[0]], 3);
        ck_near(r->end_s[both[0]], 5);
        ck_near(r->end_s[both[1]], 5);
        fr_run_free(r);
        fr_plan_free(p);
    }
    fr_topo_free(topo);
}

/* ---- messages as measured ---- */

/* GPUs a, b, c: a and b on a link of 1 GB/s and 1 ms whose messages were fitted, b and c on one
 * like it that was not. */
static struct fr_topo *measured_row(void)
{
    const struct fr_device_type type = {
        .name = "gpu", .is_gpu = true, .mem_bytes = 1000, .mem_Bps = 1, .source = "made up"};
    struct fr_topo_builder *b = fr_topo_builder_new();
    uint32_t t = fr_topo_builder_type(b, &type), gpu[3], link;
    const char *const names[] = {"a", "b", "c"};
    struct fr_topo *topo = NULL;
    struct fr_error err = {.text = ""};

    for (int i = 0; i < 3; i++)
        gpu[i] = fr_topo_builder_vertex(b, FR_VERTEX_GPU, names[i], 0, t, nowhere);
    link = fr_topo_builder_link(b, FR_LINK_NVLINK, gpu[0], gpu[1], 1e9, 1e-3, true, "", nowhere);
    fr_topo_builder_message(b, link, "own", "short", nowhere);
    fr_topo_builder_message(b, link + 1, "own", "short", nowhere);
    fr_topo_builder_link(b, FR_LINK_NVLINK, gpu[1], gpu[2], 1e9, 1e-3, true, "", nowhere);
    ck_assert_msg(fr_topo_builder_finish(b, "row", &topo, &err) == FR_OK, "%s", err.text);
    fr_topo_builder_free(b);
    return topo;
}

static const struct measured {
    struct fr_message_fit fit;
    double alone_s[FR_N_NETWORKS]; /* of 1 GB; analytic: a straight line, no knee */
} measured[] = {
#define ALONE(analytic, flow)                                                                      \
    {                                                                                              \
        [FR_NETWORK_ANALYTIC] = (analytic), [FR_NETWORK_FLOW] = (flow)                             \
    }
    {{5e-3, 0.5e9, 0, 1}, ALONE(2.005, 2.005)}, /* half the link's bandwidth */
    {{5e-3, 1e9, 1e9, 1},
     ALONE(1.005, 2.005)}, /* as much again below the knee: 1 + (1 GB / 1 GB)^1 */
    {{5e-3, 1e9, 4e9, 0.5}, ALONE(1.005, 3.005)}, /* 1 + 4^0.5 */
    {{5e-3, 9e9, 0, 1}, ALONE(1.005, 1.005)},     /* no faster than the link */
    {{1e-6, 1e9, 0, 1}, ALONE(1.001, 1.001)},     /* nor sooner */
#undef ALONE
};

LOOP_TEST(a_message_takes_what_was_measured_but_no_less_than_its_link, 0,
          sizeof(measured) / sizeof(measured[0]))
{
    const struct measured *m = &measured[_i];

    for (int network = 0; network < FR_N_NETWORKS; network++) {
        struct fr_topo *topo = measured_row();
        struct fr_plan *p = fr_plan_new(topo, NULL);
        struct fr_run_options o = options((enum fr_network)network);
        uint32_t fitted = fixture_message(p, 0, 1, 1e9, FR_NONE);
        uint32_t plain = fixture_message(p, 1, 2, 1e9, FR_NONE);
        struct fr_run *r;

        fixture_finish(p);
        o.messages = &m->fit;
        o.want |= FR_WANT_PARTS | FR_WANT_TOTALS;
        r = fixture_run(p, &o);
        ck_near(r->end_s[fitted], m->alone_s[network]);
        ck_near(r->end_s[plain], 1.001);
        ck_near(r->serial_s, m->alone_s[network] + 1.001);
        ck_near(r->link_bytes[0], 1e9);
        ck_assert_uint_eq(r->stats.fitted_messages, 1);
        fr_run_free(r);
        o.messages = NULL;
        r = fixture_run(p, &o);
        ck_near(r->end_s[fitted], 1.001);
        ck_assert_uint_eq(r->stats.fitted_messages, 0);
        fr_run_free(r);
        fr_plan_free(p);
        fr_topo_free(topo);
    }
}

/* Two of 1 GB at once, 5 ms and half the bandwidth: what each lacks of the link's bandwidth, 1 s,
 * passes first; then they share the link, 2 s for both. Analytic messages do not interact. */
TEST(measured_messages_share_their_link)
{
    const struct fr_message_fit fit = {5e-3, 0.5e9, 0, 1};

    for (int network = 0; network < FR_N_NETWORKS; network++) {
        struct fr_topo *topo = measured_row();
        struct fr_plan *p = fr_plan_new(topo, NULL);
        struct fr_run_options o = options((enum fr_network)network);
        uint32_t one = fixture_message(p, 0, 1, 1e9, FR_NONE);
        uint32_t other = fixture_message(p, 0, 1, 1e9, FR_NONE);
        double expected_s = network == FR_NETWORK_FLOW ? 3.005 : 2.005;
        struct fr_run *r;

        fixture_finish(p);
        o.messages = &fit;
        r = fixture_run(p, &o);
        ck_near(r->end_s[one], expected_s);
        ck_near(r->end_s[other], expected_s);
        fr_run_free(r);
        fr_plan_free(p);
        fr_topo_free(topo);
    }
}

/* Two messages of 0.5 GB, one after the other; the first by number is for an op of 1 s, the other
 * for one of 2 s. As the link says they take half a second each, both ops hide the other's message,
 * and the plan's order stays: 1 at 0.5, 3 at the end. As measured they take 3 s: tac puts the long
 * op first, so that it ends while the second message goes: 3 + 3 + 1 = 7, and not 8. */
TEST(tac_knows_what_messages_were_measured_to_take)
{
    const struct fr_message_fit fit = {0, 1e9 / 6, 0, 1};

    for (int network = 0; network < FR_N_NETWORKS; network++) {
        struct fr_topo *topo = measured_row();
        struct fr_plan *p = fr_plan_new(topo, NULL), *ordered = NULL;
        struct fr_run_options o = options((enum fr_network)network);
        struct fr_run *r;
        size_t n_ordered;

        for (int i = 0; i < 2; i++)
            fr_plan_add_dep(p, fixture_message(p, 0, 1, 0.5e9, FR_NONE),
                            fixture_compute(p, 1, fixture_cost(p, i + 1), 0));
        fixture_finish(p);
        o.messages = &fit;
        o.channels = 1;
        o.order = FR_ORDER_TAC;
        ck_assert_int_eq(fr_run_order(p, &o, &ordered, &n_ordered, NULL), FR_OK);
        ck_assert_uint_eq(n_ordered, 2);
        r = fixture_run(ordered, &o);
        ck_near(r->makespan_s, 7 + 2 * 1e-3);
        fr_run_free(r);
        fr_plan_free(ordered);
        fr_plan_free(p);
        fr_topo_free(topo);
    }
}

/* 5 ms are the latency's; all of the 2 s are the bandwidth's, also before the link is shared. */
TEST(parts_of_a_measured_message_are_its_latency_and_its_bytes)
{
    const struct fr_message_fit fit = {5e-3, 0.5e9, 0, 1};

    for (int network = 0; network < FR_N_NETWORKS; network++) {
        struct fr_topo *topo = measured_row();
        struct fr_plan *p = fr_plan_new(topo, NULL);
        struct fr_run_options o = options((enum fr_network)network);
        double slowness[16] = {0};
        struct fr_run *r;

        fixture_message(p, 0, 1, 1e9, FR_NONE);
        fixture_finish(p);
        o.messages = &fit;
        o.want |= FR_WANT_PARTS;
        r = fixture_run(p, &o);
        ck_near(r->parts_s[fr_link_resource(FR_LINK_NVLINK, FR_LINK_LATENCY)], 5e-3);
        ck_near(r->parts_s[fr_link_resource(FR_LINK_NVLINK, FR_LINK_BANDWIDTH)], 2);
        fr_run_free(r);
        ck_assert_uint_le(fr_n_resources(topo), 16);
        for (size_t i = 0; i < 16; i++)
            slowness[i] = 1;
        slowness[fr_link_resource(FR_LINK_NVLINK, FR_LINK_LATENCY)] = 3;
        slowness[fr_link_resource(FR_LINK_NVLINK, FR_LINK_BANDWIDTH)] = 2;
        o.slowness = slowness;
        r = fixture_run(p, &o);
        ck_near(r->makespan_s, 3 * 5e-3 + 2 * 2);
        fr_run_free(r);
        fr_plan_free(p);
        fr_topo_free(topo);
    }
}

/* The link that a route's fitted message is slow for is its narrowest, whichever way it goes:
 * NVLink at half the network's bandwidth, in front of it or behind it. All of the 5 ms and the 2
 * s are NVLink's. */
TEST(parts_of_a_measured_message_are_of_its_narrowest_link)
{
    const struct fr_device_type type = {
        .name = "gpu", .is_gpu = true, .mem_bytes = 1000, .mem_Bps = 1, .source = "made up"};
    const struct fr_message_fit fit = {5e-3, 0.5e9, 0, 1};
    struct fr_topo_builder *b = fr_topo_builder_new();
    uint32_t t = fr_topo_builder_type(b, &type), one, other, hub, link;
    struct fr_topo *topo = NULL;
    struct fr_error err = {.text = ""};

    one = fr_topo_builder_vertex(b, FR_VERTEX_GPU, "one", 0, t, nowhere);
    other = fr_topo_builder_vertex(b, FR_VERTEX_GPU, "other", 0, t, nowhere);
    hub = fr_topo_builder_vertex(b, FR_VERTEX_SWITCH, "hub", FR_NONE, FR_NONE, nowhere);
    fr_topo_builder_link(b, FR_LINK_NVLINK, one, hub, 0.5e9, 1e-3, true, "", nowhere);
    link = fr_topo_builder_link(b, FR_LINK_NET, hub, other, 1e9, 1e-3, true, "", nowhere);
    fr_topo_builder_message(b, link, "own", "short", nowhere);
    fr_topo_builder_message(b, link + 1, "own", "short", nowhere);
    ck_assert_msg(fr_topo_builder_finish(b, "row", &topo, &err) == FR_OK, "%s", err.text);
    fr_topo_builder_free(b);
    for (uint32_t src = 0; src < 2; src++) {
        struct fr_plan *p = fr_plan_new(topo, NULL);
        struct fr_run_options o = options(FR_NETWORK_FLOW);
        struct fr_run *r;

        fixture_message(p, src, 1 - src, 1e9, FR_NONE);
        fixture_finish(p);
        o.messages = &fit;
        o.want |= FR_WANT_PARTS;
        r = fixture_run(p, &o);
        ck_near(r->makespan_s, 2.005);
        ck_near(r->parts_s[fr_link_resource(FR_LINK_NVLINK, FR_LINK_LATENCY)], 5e-3);
        ck_near(r->parts_s[fr_link_resource(FR_LINK_NVLINK, FR_LINK_BANDWIDTH)], 2);
        ck_near(r->parts_s[fr_link_resource(FR_LINK_NET, FR_LINK_LATENCY)], 0);
        fr_run_free(r);
        fr_plan_free(p);
    }
    fr_topo_free(topo);
}

/* One host launches until 5 s, the other until 3 s; then 1e9 bytes go from the first GPU to the
 * second. The 5 s are launches of the later host's type of GPU, whichever end it is. */
TEST(a_message_waits_for_launches_on_the_later_host)
{
    struct fr_device_type types[] = {
        {.name = "a", .is_gpu = true, .mem_bytes = 1000, .mem_Bps = 1, .source = "made up"},
        {.name = "b", .is_gpu = true, .mem_bytes = 1000, .mem_Bps = 1, .source = "made up"}};
    struct fr_topo_builder *b = fr_topo_builder_new();
    struct fr_topo *topo = NULL;
    struct fr_error err = {.text = ""};
    uint32_t gpu[2];

    for (int i = 0; i < 2; i++)
        gpu[i] = fr_topo_builder_vertex(b, FR_VERTEX_GPU, types[i].name, 0,
                                        fr_topo_builder_type(b, &types[i]), nowhere);
    fr_topo_builder_link(b, FR_LINK_NVLINK, gpu[0], gpu[1], 1e9, 0, true, "", nowhere);
    ck_assert_msg(fr_topo_builder_finish(b, "pair", &topo, &err) == FR_OK, "%s", err.text);
    fr_topo_builder_free(b);
    for (uint32_t slow = 0; slow < 2; slow++) {
        struct fr_plan *p = fr_plan_new(topo, NULL);
        struct fr_run_options o = options(FR_NETWORK_FLOW);
        struct fr_run *r;

        fixture_compute(p, slow, fixture_launched_cost(p, 0.5, 5), 0);
        fixture_compute(p, 1 - slow, fixture_launched_cost(p, 0.5, 3), 0);
        fixture_message(p, 0, 1, 1e9, FR_NONE);
        fixture_finish(p);
        o.want |= FR_WANT_PARTS;
        r = fixture_run(p, &o);
        ck_near(r->makespan_s, 6);
        ck_near(r->parts_s[fr_device_resource(slow, FR_DEVICE_LAUNCH)], 5);
        ck_near(r->parts_s[fr_device_resource(1 - slow, FR_DEVICE_LAUNCH)], 0);
        ck_near(r->parts_s[fr_link_resource(FR_LINK_NVLINK, FR_LINK_BANDWIDTH)], 1);
        fr_run_free(r);
        fr_plan_free(p);
    }
    fr_topo_free(topo);
}

int main(void)
{
    TCase *c = tcase_create("network");

    add_tests(c);
    return run_case(c, "sim/network");
}
