/* tests/sim/test_engine.c - the engine against times derived by hand. */
#include "config.h"

#include "tests/support/sim_fixture.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One link of bandwidth 1e9 B/s and latency 1 ms a direction unless a test says otherwise. */
static const double BW = 1e9, LAT = 1e-3;

#define ck_assert_near(a, b) ck_assert_double_eq_tol((a), (b), 1e-9 * (fabs((double)(b)) + 1e-3))

static struct fr_run_options options(enum fr_network network)
{
    struct fr_run_options o;

    fr_run_options_init(&o);
    o.network = network;
    return o;
}

/* ---- compute ---- */

TEST(a_chain_on_one_device_takes_the_sum)
{
    struct fr_topo *topo = fixture_pair(BW, LAT);
    struct fr_plan *p = fr_plan_new(topo, NULL);
    struct fr_run_options o = options(FR_NETWORK_FLOW);
    uint32_t last = FR_NONE;
    struct fr_run *r;

    for (int i = 1; i <= 4; i++) {
        uint32_t t = fixture_compute(p, 0, fixture_cost(p, i), 0);

        if (last != FR_NONE)
            fr_plan_add_dep(p, last, t);
        last = t;
    }
    fixture_finish(p);
    r = fixture_run(p, &o);
    ck_assert_near(r->makespan_s, 1 + 2 + 3 + 4);
    ck_assert_near(r->iteration_s, 10);
    ck_assert_near(r->lower_bound_s, 10);
    ck_assert_near(r->devices[0].compute_s, 10);
    ck_assert_near(r->devices[1].idle_s, 10);
    ck_assert_uint_eq(r->n_critical, 4);
    ck_assert_uint_eq(r->critical[0], 0);
    ck_assert_uint_eq(r->critical[3], 3);
    fr_run_free(r);
    fr_plan_free(p);
    fr_topo_free(topo);
}

TEST(independent_ops_on_two_devices_take_the_longer)
{
    struct fr_topo *topo = fixture_pair(BW, LAT);
    struct fr_plan *p = fr_plan_new(topo, NULL);
    struct fr_run_options o = options(FR_NETWORK_FLOW);
    struct fr_run *r;

    fixture_compute(p, 0, fixture_cost(p, 2), 0);
    fixture_compute(p, 1, fixture_cost(p, 5), 0);
    fixture_finish(p);
    r = fixture_run(p, &o);
    ck_assert_near(r->makespan_s, 5);
    ck_assert_near(r->devices[0].idle_s, 3);
    fr_run_free(r);
    fr_plan_free(p);
    fr_topo_free(topo);
}

TEST(a_plan_without_tasks_takes_no_time)
{
    struct fr_topo *topo = fixture_pair(BW, LAT);
    struct fr_plan *p = fr_plan_new(topo, NULL);
    struct fr_run_options o = options(FR_NETWORK_FLOW);
    struct fr_run *r;

    fixture_finish(p);
    r = fixture_run(p, &o);
    ck_assert_double_eq(r->makespan_s, 0);
    ck_assert_uint_eq(r->n_critical, 0);
    fr_run_free(r);
    fr_plan_free(p);
    fr_topo_free(topo);
}

/* Two tasks block the stream: `first` (1 s) is ready at 0; at 0.5 s b (priority 5) becomes ready by
 * way of another device, at 0.7 s c (priority 1). fifo runs b before c, priority c before b; strict
 * follows (priority, number) and so waits for c before it begins `first` (priority 9). */
static double start_of_b(enum fr_order order, double *c_s, double *first_s)
{
    struct fr_topo *topo = fixture_pair(BW, LAT);
    struct fr_plan *p = fr_plan_new(topo, NULL);
    struct fr_run_options o = options(FR_NETWORK_FLOW);
    uint32_t first = fixture_compute(p, 0, fixture_cost(p, 1), 9);
    uint32_t b = fixture_compute(p, 0, fixture_cost(p, 1), 5);
    uint32_t c = fixture_compute(p, 0, fixture_cost(p, 1), 1);
    uint32_t x = fixture_compute(p, 1, fixture_cost(p, 0.5), 0);
    uint32_t y = fixture_compute(p, 1, fixture_cost(p, 0.2), 1);
    struct fr_run *r;
    double b_s;

    fr_plan_add_dep(p, x, b);
    fr_plan_add_dep(p, y, c);
    fixture_finish(p);
    o.order = order;
    r = fixture_run(p, &o);
    b_s = r->start_s[b];
    *c_s = r->start_s[c];
    *first_s = r->start_s[first];
    fr_run_free(r);
    fr_plan_free(p);
    fr_topo_free(topo);
    return b_s;
}

TEST(the_ready_queue_follows_the_order_asked_for)
{
    double c_s, first_s;

    ck_assert_near(start_of_b(FR_ORDER_FIFO, &c_s, &first_s), 1);
    ck_assert_near(c_s, 2);
    ck_assert_near(first_s, 0);
    ck_assert_near(start_of_b(FR_ORDER_PRIORITY, &c_s, &first_s), 2);
    ck_assert_near(c_s, 1);
    ck_assert_near(first_s, 0);
    ck_assert_near(start_of_b(FR_ORDER_STRICT, &c_s, &first_s), 1.7);
    ck_assert_near(c_s, 0.7);
    ck_assert_near(first_s, 2.7);
}

TEST(equal_tasks_run_by_priority_then_number)
{
    struct fr_topo *topo = fixture_pair(BW, LAT);
    struct fr_plan *p = fr_plan_new(topo, NULL);
    struct fr_run_options o = options(FR_NETWORK_FLOW);
    uint32_t cost = fixture_cost(p, 1), t[4];
    struct fr_run *r;

    t[0] = fixture_compute(p, 0, cost, 7);
    t[1] = fixture_compute(p, 0, cost, 3);
    t[2] = fixture_compute(p, 0, cost, 7);
    t[3] = fixture_compute(p, 0, cost, -1);
    fixture_finish(p);
    r = fixture_run(p, &o);
    ck_assert_near(r->start_s[t[3]], 0);
    ck_assert_near(r->start_s[t[1]], 1);
    ck_assert_near(r->start_s[t[0]], 2);
    ck_assert_near(r->start_s[t[2]], 3);
    fr_run_free(r);
    fr_plan_free(p);
    fr_topo_free(topo);
}

/* Ten ops of 1 us that each take the host 5 us to launch: op k starts at 5 (k + 1) us. */
TEST(small_ops_are_bound_by_the_host)
{
    struct fr_topo *topo = fixture_pair(BW, LAT);
    struct fr_plan *p = fr_plan_new(topo, NULL);
    struct fr_run_options o = options(FR_NETWORK_FLOW);
    uint32_t cost = fixture_launched_cost(p, 1e-6, 5e-6);
    struct fr_run *r;

    for (int i = 0; i < 10; i++)
        fixture_compute(p, 0, cost, 0);
    fixture_finish(p);
    r = fixture_run(p, &o);
    ck_assert_near(r->start_s[0], 5e-6);
    ck_assert_near(r->makespan_s, 51e-6);
    ck_assert_near(r->devices[0].compute_s, 10e-6);
    ck_assert_near(r->lower_bound_s, 50e-6);
    fr_run_free(r);
    fr_plan_free(p);
    fr_topo_free(topo);
}

/* Long ops hide all launches but the first: the host runs ahead. */
TEST(the_host_runs_ahead_of_long_ops)
{
    struct fr_topo *topo = fixture_pair(BW, LAT);
    struct fr_plan *p = fr_plan_new(topo, NULL);
    struct fr_run_options o = options(FR_NETWORK_FLOW);
    uint32_t cost = fixture_launched_cost(p, 1e-3, 5e-6);
    struct fr_run *r;

    for (int i = 0; i < 10; i++)
        fixture_compute(p, 0, cost, 0);
    fixture_finish(p);
    r = fixture_run(p, &o);
    ck_assert_near(r->makespan_s, 10e-3 + 5e-6);
    fr_run_free(r);
    fr_plan_free(p);
    fr_topo_free(topo);
}

TEST(markers_take_no_time_and_no_stream)
{
    struct fr_topo *topo = fixture_pair(BW, LAT);
    struct fr_plan *p = fr_plan_new(topo, NULL);
    struct fr_run_options o = options(FR_NETWORK_FLOW);
    uint32_t a = fixture_compute(p, 0, fixture_cost(p, 1), 0);
    uint32_t b = fixture_compute(p, 0, fixture_cost(p, 1), 0);
    uint32_t m[2], c;
    struct fr_run *r;

    for (int i = 0; i < 2; i++)
        m[i] = fr_plan_add_task(p, &(struct fr_task){.device = 0,
                                                     .cost_id = FR_NONE,
                                                     .op = FR_NONE,
                                                     .label = FR_NONE,
                                                     .kind = FR_TASK_MARKER});
    c = fixture_compute(p, 1, fixture_cost(p, 1), 0);
    fr_plan_add_dep(p, a, m[0]);
    fr_plan_add_dep(p, m[0], m[1]);
    fr_plan_add_dep(p, m[1], c);
    fixture_finish(p);
    r = fixture_run(p, &o);
    ck_assert_near(r->end_s[m[1]], 1);
    ck_assert_near(r->start_s[c], 1);
    ck_assert_near(r->end_s[b], 2);
    fr_run_free(r);
    fr_plan_free(p);
    fr_topo_free(topo);
}

/* ---- messages ---- */

TEST(a_message_takes_latency_plus_bytes_over_bandwidth)
{
    for (int network = 0; network < FR_N_NETWORKS; network++) {
        struct fr_topo *topo = fixture_star(2, BW, LAT);
        struct fr_plan *p = fr_plan_new(topo, NULL);
        struct fr_run_options o = options((enum fr_network)network);
        struct fr_run *r;

        fixture_message(p, 0, 1, 5e8, FR_NONE);
        fixture_finish(p);
        r = fixture_run(p, &o);
        ck_assert_near(r->makespan_s, 2 * LAT + 0.5); /* two links */
        ck_assert_near(r->devices[0].comm_s, 2 * LAT + 0.5);
        ck_assert_near(r->devices[1].exposed_comm_s, 2 * LAT + 0.5);
        fr_run_free(r);
        fr_plan_free(p);
        fr_topo_free(topo);
    }
}

/* 1e9 and 2e9 bytes over one link of 1e9 B/s: both at half rate until 2 s, then the rest of the
 * longer (1e9) alone until 3 s. Without sharing they take 1 s and 2 s. */
TEST(two_flows_share_a_link_equally)
{
    struct fr_topo *topo = fixture_pair(BW, LAT);
    struct fr_plan *p = fr_plan_new(topo, NULL);
    struct fr_run_options o = options(FR_NETWORK_FLOW);
    uint32_t a = fixture_message(p, 0, 1, 1e9, FR_NONE);
    uint32_t b = fixture_message(p, 0, 1, 2e9, FR_NONE);
    uint32_t back = fixture_message(p, 1, 0, 1e9, FR_NONE);
    struct fr_run *r;

    fixture_finish(p);
    r = fixture_run(p, &o);
    ck_assert_near(r->end_s[a], LAT + 2);
    ck_assert_near(r->end_s[b], LAT + 3);
    ck_assert_near(r->end_s[back], LAT + 1); /* the other direction is another link */
    ck_assert_double_eq(r->link_bytes[0] + r->link_bytes[1], 4e9);
    fr_run_free(r);
    o = options(FR_NETWORK_ANALYTIC);
    r = fixture_run(p, &o);
    ck_assert_near(r->end_s[a], LAT + 1);
    ck_assert_near(r->end_s[b], LAT + 2);
    fr_run_free(r);
    fr_plan_free(p);
    fr_topo_free(topo);
}

/* With one channel the second message waits for the first; the third, to another device, does not
 * overtake at the sender: it waits for its turn, oldest first among those that may go. */
TEST(one_channel_serialises_messages)
{
    struct fr_topo *topo = fixture_star(3, BW, 0);
    struct fr_plan *p = fr_plan_new(topo, NULL);
    struct fr_run_options o = options(FR_NETWORK_FLOW);
    uint32_t a = fixture_message(p, 0, 1, 1e9, FR_NONE);
    uint32_t b = fixture_message(p, 0, 1, 1e9, FR_NONE);
    uint32_t c = fixture_message(p, 0, 2, 1e9, FR_NONE);
    uint32_t d = fixture_message(p, 1, 2, 1e9, FR_NONE);
    struct fr_run *r;

    fixture_finish(p);
    o.channels = 1;
    r = fixture_run(p, &o);
    ck_assert_near(r->end_s[a], 1);
    ck_assert_near(r->end_s[b], 2);
    ck_assert_near(r->end_s[c], 3);
    ck_assert_near(r->end_s[d], 1); /* other ends */
    fr_run_free(r);
    /* two channels: a and b side by side at half rate, then c alone; d shares nothing with them */
    o.channels = 2;
    r = fixture_run(p, &o);
    ck_assert_near(r->end_s[a], 2);
    ck_assert_near(r->end_s[b], 2);
    ck_assert_near(r->end_s[c], 3);
    fr_run_free(r);
    fr_plan_free(p);
    fr_topo_free(topo);
}

TEST(a_message_to_oneself_is_free)
{
    struct fr_topo *topo = fixture_pair(BW, LAT);
    struct fr_plan *p = fr_plan_new(topo, NULL);
    struct fr_run_options o = options(FR_NETWORK_FLOW);
    struct fr_run *r;

    fixture_message(p, 0, 0, 1e9, FR_NONE);
    fixture_finish(p);
    r = fixture_run(p, &o);
    ck_assert_double_eq(r->makespan_s, 0);
    fr_run_free(r);
    fr_plan_free(p);
    fr_topo_free(topo);
}

/* ---- accounts ---- */

/* Device 0 computes 2 s while 3e9 bytes leave it for 3 s: 1 s of communication is exposed. */
TEST(communication_behind_compute_is_hidden)
{
    struct fr_topo *topo = fixture_pair(BW, 0);
    struct fr_plan *p = fr_plan_new(topo, NULL);
    struct fr_run_options o = options(FR_NETWORK_FLOW);
    struct fr_run *r;

    fixture_compute(p, 0, fixture_cost(p, 2), 0);
    fixture_message(p, 0, 1, 3e9, FR_NONE);
    fixture_finish(p);
    r = fixture_run(p, &o);
    ck_assert_near(r->devices[0].compute_s, 2);
    ck_assert_near(r->devices[0].comm_s, 3);
    ck_assert_near(r->devices[0].exposed_comm_s, 1);
    ck_assert_near(r->devices[0].idle_s, 0);
    fr_run_free(r);
    fr_plan_free(p);
    fr_topo_free(topo);
}

/* Compute of 2 s beside a copy of 1 s, slowed by 2 while the copy moves: half a second's work is
 * done in the first second, 1.5 s remain: 2.5 s. The copy, slowed by 4 from its start, takes 4
 * s. */
TEST(work_side_by_side_is_slowed)
{
    struct fr_topo *topo = fixture_pair(BW, 0);
    struct fr_interference slow = {.factor = {{1, 2, 1}, {1, 1, 1}, {1, 1, 1}}, .source = "test"};

    for (int network = 0; network < FR_N_NETWORKS; network++) {
        struct fr_plan *p = fr_plan_new(topo, NULL);
        struct fr_run_options o = options((enum fr_network)network);
        uint32_t c = fixture_compute(p, 0, fixture_cost(p, 2), 0), m;
        struct fr_run *r;

        m = fixture_message(p, 0, 1, 1e9, FR_NONE);
        fixture_finish(p);
        slow.factor[FR_WORK_COPY][FR_WORK_COMPUTE] = 1;
        o.interference = &slow;
        r = fixture_run(p, &o);
        ck_assert_near(r->end_s[m], 1);
        ck_assert_near(r->end_s[c], 2.5);
        ck_assert_near(r->makespan_s,
                       2.5); /* nothing waits for the end at 4 s it had at half speed */
        fr_run_free(r);
        slow.factor[FR_WORK_COPY][FR_WORK_COMPUTE] = 4;
        r = fixture_run(p, &o);
        ck_assert_near(r->end_s[m], 4);
        ck_assert_near(r->end_s[c], 4); /* 2 s of work at half speed */
        fr_run_free(r);
        fr_plan_free(p);
    }
    fr_topo_free(topo);
}

/* ---- memory ---- */

static uint32_t buffer(struct fr_plan *p, uint32_t alloc, uint64_t bytes, uint32_t alias)
{
    return fr_plan_add_buffer(p, &(struct fr_buffer){.bytes = bytes,
                                                     .device = 0,
                                                     .alloc = alloc,
                                                     .alias = alias,
                                                     .op = FR_NONE,
                                                     .kind = FR_BUFFER_ACTIVATION});
}

/* a writes 100 (read by b), b writes 10 in place of nothing, c writes into a's storage (alias) and
 * d reads that: so a's 100 live until d. Persistent 1000. Peak at d: 1000 + 100 + 7. */
TEST(buffers_live_until_their_last_reader)
{
    struct fr_topo *topo = fixture_pair(BW, 0);
    struct fr_plan *p = fr_plan_new(topo, NULL);
    struct fr_run_options o = options(FR_NETWORK_FLOW);
    uint32_t cost = fixture_cost(p, 1), t[4], root, view, own, scratch;
    struct fr_run *r;

    for (int i = 0; i < 4; i++) {
        t[i] = fixture_compute(p, 0, cost, 0);
        if (i > 0)
            fr_plan_add_dep(p, t[i - 1], t[i]);
    }
    buffer(p, FR_NONE, 1000, FR_NONE);
    root = buffer(p, t[0], 100, FR_NONE);
    view = buffer(p, t[2], 50, root);
    own = buffer(p, t[1], 5, FR_NONE);
    scratch = buffer(p, t[3], 7, FR_NONE);
    fr_plan_add_free(p, root, t[1]);
    fr_plan_add_free(p, view, t[3]);
    fr_plan_add_free(p, own, t[1]);
    fr_plan_add_free(p, scratch, t[3]);
    fixture_finish(p);
    r = fixture_run(p, &o);
    ck_assert_uint_eq(r->devices[0].peak_bytes, 1107);
    ck_assert_near(r->devices[0].peak_at_s, 3);
    ck_assert_uint_eq(r->devices[0].peak_task, t[3]);
    ck_assert_uint_eq(r->devices[0].end_bytes, 1000);
    ck_assert_uint_eq(r->devices[0].peak_by_kind[FR_BUFFER_ACTIVATION], 1107);
    fr_run_free(r);
    fr_plan_free(p);
    fr_topo_free(topo);
}

/* A collective's buffer: at dispatch it is there while the rank waits for the others, at start not.
 * A second buffer of 10 lives in the first second only. */
TEST(allocation_is_at_dispatch_or_at_start)
{
    struct fr_topo *topo = fixture_star(2, BW, 0);

    for (int at_start = 0; at_start < 2; at_start++) {
        struct fr_plan *p = fr_plan_new(topo, NULL);
        struct fr_run_options o = options(FR_NETWORK_FLOW);
        uint32_t late = fixture_compute(p, 1, fixture_cost(p, 3), 0), members[2];
        uint32_t early = fixture_compute(p, 0, fixture_cost(p, 1), 0), b, c;
        struct fr_run *r;

        fixture_collective(p, FR_ALL_REDUCE, 2, 1e9, members);
        fr_plan_add_dep(p, late, members[1]);
        b = buffer(p, members[0], 100, FR_NONE);
        fr_plan_add_free(p, b, members[0]);
        c = buffer(p, early, 10, FR_NONE);
        fr_plan_add_free(p, c, early);
        fixture_finish(p);
        o.alloc_at_start = at_start;
        r = fixture_run(p, &o);
        ck_assert_uint_eq(r->devices[0].peak_bytes, at_start ? 100 : 110);
        fr_run_free(r);
        fr_plan_free(p);
    }
    fr_topo_free(topo);
}

/* ---- size ---- */

/* Layers of 128 tasks on 64 hosts of a fat tree, each fed by two tasks of the layer before, all
 * messages at once on shared links: a hundred thousand solves, each resumed from the last.
 * What comes out cannot be derived; that the run passes its own checks can be demanded, and that an
 * eighth of the bytes over links an eighth as wide takes as long, to the bit. */
static double contended(double bw_Bps, double bytes)
{
    enum { HOSTS = 64, WIDTH = 128, N = 40000 };
    struct fr_topo *topo = fixture_fat_tree(8, 8, 4, bw_Bps, 0);
    struct fr_plan *p = fr_plan_new(topo, NULL);
    struct fr_run_options o = options(FR_NETWORK_FLOW);
    uint32_t *host = calloc(N, sizeof(*host)), *task = calloc(N, sizeof(*task)), cost[64];
    uint64_t x = 1;
    struct fr_run *r;
    double t;

    ck_assert_ptr_nonnull(host);
    ck_assert_ptr_nonnull(task);
    for (int i = 0; i < 64; i++)
        cost[i] = fixture_cost(p, 50e-6 + i * 7e-6);
    for (uint32_t i = 0; i < N; i++) {
        x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        host[i] = (uint32_t)(x >> 58);
        task[i] = fixture_compute(p, host[i], cost[x >> 40 & 63], 0);
        for (int k = 0; i >= WIDTH && k < 2; k++) {
            uint32_t src = i / WIDTH * WIDTH - WIDTH + (uint32_t)(x >> (20 + 8 * k)) % WIDTH;

            if (host[src] == host[i])
                fr_plan_add_dep(p, task[src], task[i]);
            else
                fr_plan_add_dep(p,
                                fixture_message(p, host[src], host[i],
                                                bytes * (double)(1 + (x >> 30 & 15)), task[src]),
                                task[i]);
        }
    }
    fixture_finish(p);
    r = fixture_run(p, &o);
    t = r->makespan_s;
    ck_assert_uint_gt(r->stats.solves, 80000);
    fr_run_free(r);
    fr_plan_free(p);
    fr_topo_free(topo);
    free(host);
    free(task);
    return t;
}

TEST(a_long_contended_graph_runs_to_its_end)
{
    double t = contended(12.5e9, 131072);

    /* powers of two keep every bit */
    ck_assert_double_eq(contended(12.5e9 / 8, 131072 / 8), t);
}

int main(void)
{
    TCase *c = tcase_create("engine");

    tcase_set_timeout(c, 60);
    add_tests(c);
    return run_case(c, "sim/engine");
}
