/* tests/sim/test_collective.c - collectives, step by step and by formula, against times derived by
 * hand. */
#include "config.h"

#include "base/error.h"
#include "tests/support/sim_fixture.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

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

/* 2 (N-1) alpha + 2 (N-1)/N S/B, Patarasuk and Yuan 2009; alpha is two link latencies here. */
TEST(a_ring_all_reduce_takes_its_closed_form)
{
    const uint32_t ns[] = {1, 2, 3, 7, 8};

    for (size_t i = 0; i < 5; i++)
        for (int closed = 0; closed < 2; closed++)
            for (int network = 0; network < FR_N_NETWORKS; network++) {
                uint32_t n = ns[i], members[8];
                struct fr_topo *topo = fixture_star(n, BW, LAT);
                struct fr_plan *p = fr_plan_new(topo, NULL);
                struct fr_run_options o = options((enum fr_network)network);
                double bytes = 168e6; /* divisible by 2, 3, 7 and 8 */
                double expected = 2.0 * (n - 1) * 2 * LAT + 2.0 * (n - 1) / n * bytes / BW;
                struct fr_run *r;

                fixture_collective(p, FR_ALL_REDUCE, n, bytes, members);
                fixture_finish(p);
                o.closed_form_collectives = closed;
                r = fixture_run(p, &o);
                ck_assert_near(r->makespan_s, expected);
                ck_assert_near(r->end_s[members[n - 1]], expected);
                /* bytes a rank sends: exactly 2 (N-1)/N S, on two links each */
                for (size_t l = 0; l < r->n_links && n > 1; l++)
                    ck_assert_near(r->link_bytes[l], 2.0 * (n - 1) / n * bytes);
                fr_run_free(r);
                fr_plan_free(p);
                fr_topo_free(topo);
            }
}

TEST(gather_and_scatter_take_half_an_all_reduce)
{
    const enum fr_collective_kind kinds[] = {FR_ALL_GATHER, FR_REDUCE_SCATTER};

    for (int k = 0; k < 2; k++)
        for (int closed = 0; closed < 2; closed++) {
            struct fr_topo *topo = fixture_star(7, BW, LAT);
            struct fr_plan *p = fr_plan_new(topo, NULL);
            struct fr_run_options o = options(FR_NETWORK_FLOW);
            uint32_t members[7];
            struct fr_run *r;

            fixture_collective(p, kinds[k], 7, 7e6, members);
            fixture_finish(p);
            o.closed_form_collectives = closed;
            r = fixture_run(p, &o);
            ck_assert_near(r->makespan_s, 6 * (2 * LAT + 1e6 / BW));
            fr_run_free(r);
            fr_plan_free(p);
            fr_topo_free(topo);
        }
}

/* Both ways of running it under both networks must take expected_s and put the bytes on the links:
 * up[i], down[i] of rank i. topo: fixture_star(n). */
static void expect_steps(enum fr_collective_kind kind, uint32_t n, double bytes, uint32_t root,
                         double expected_s, const double up[], const double down[])
{
    for (int way = 0; way < 2 * FR_N_NETWORKS; way++) {
        struct fr_topo *topo = fixture_star(n, BW, LAT);
        struct fr_plan *p = fr_plan_new(topo, NULL);
        struct fr_run_options o = options((enum fr_network)(way / 2));
        uint32_t group = fr_plan_add_group(p, 0, 1, n);
        struct fr_run *r;

        fr_plan_add_collective(
            p, &(struct fr_collective){
                   .kind = kind, .bytes = bytes, .group = group, .label = FR_NONE, .root = root});
        for (uint32_t i = 0; i < n; i++)
            fr_plan_add_task(p, &(struct fr_task){.kind = FR_TASK_COLLECTIVE,
                                                  .device = i,
                                                  .rank = i,
                                                  .collective = 0,
                                                  .op = FR_NONE,
                                                  .cost_id = FR_NONE,
                                                  .microbatch = FR_NONE,
                                                  .stream = FR_STREAM_COMM});
        fixture_finish(p);
        o.closed_form_collectives = way % 2;
        o.want |= FR_WANT_PARTS;
        o.want |= FR_WANT_TOTALS;
        r = fixture_run(p, &o);
        ck_assert_near(r->makespan_s, expected_s);
        ck_assert_near(r->serial_s, expected_s);
        ck_assert_double_le(r->lower_bound_s, r->makespan_s * (1 + 1e-9));
        for (size_t l = 0; l < topo->n_links; l++) {
            const struct fr_link *link = &topo->links[l];
            bool is_up = topo->vertices[link->src].device != FR_NONE;
            uint32_t rank = topo->vertices[is_up ? link->src : link->dst].device;

            ck_assert_near(r->link_bytes[l], (is_up ? up : down)[rank]);
        }
        fr_run_free(r);
        fr_plan_free(p);
        fr_topo_free(topo);
    }
}

/* Shifts never share a link of a star: n - 1 rounds of a chunk of floor(S / n), each two link
 * latencies. */
TEST(an_all_to_all_takes_a_round_for_each_other_rank)
{
    const uint32_t ns[] = {1, 2, 3, 7, 8};

    for (size_t i = 0; i < 5; i++) {
        uint32_t n = ns[i];
        double chunk = 168e6 / n, moved[8];

        for (uint32_t k = 0; k < n; k++)
            moved[k] = (n - 1) * chunk;
        expect_steps(FR_ALL_TO_ALL, n, 168e6 + 0.5, 0, (n - 1) * (2 * LAT + chunk / BW), moved,
                     moved);
    }
}

/* 2.5 MiB are 5 chunks of 512 KiB, which follow each other over n - 1 hops: n - 2 + 5 times one
 * hop. The root sends all and receives nothing, the rank before it in the ring receives alone. */
TEST(a_broadcast_is_a_pipeline_of_chunks)
{
    const uint32_t ns[] = {2, 3, 8}, roots[] = {0, 2, 5};

    for (size_t i = 0; i < 3; i++) {
        uint32_t n = ns[i], root = roots[i] % n;
        double bytes = 5 * 524288, up[8], down[8];

        for (uint32_t k = 0; k < n; k++) {
            up[k] = k == (root + n - 1) % n ? 0 : bytes;
            down[k] = k == root ? 0 : bytes;
        }
        expect_steps(FR_BROADCAST, n, bytes, root, (n - 2 + 5) * (2 * LAT + 524288 / BW), up, down);
    }
}

/* The other way round: from the rank behind the root to the root. 600 000 bytes are two chunks of a
 * half. */
TEST(a_reduce_ends_at_its_root)
{
    double up[4] = {6e5, 6e5, 0, 6e5}, down[4] = {6e5, 6e5, 6e5, 0};

    expect_steps(FR_REDUCE, 4, 6e5, 2, (4 - 2 + 2) * (2 * LAT + 3e5 / BW), up, down);
}

TEST(what_moves_no_bytes_still_takes_its_latencies)
{
    const double none[4] = {0};

    expect_steps(FR_BROADCAST, 4, 0, 0, 3 * 2 * LAT, none, none);
    expect_steps(FR_ALL_TO_ALL, 4, 3, 0, 3 * 2 * LAT, none, none); /* chunks of floor(3 / 4) */
}

/* Three GPUs in a row, 1 GB/s and 0.5 GB/s without latency: of 4 chunks of 512 KiB the first takes
 * both hops, the others follow at the pace of the slower: 0.5 + 1 + 3 x 1 times 2^20 ns. */
TEST(a_pipeline_goes_at_the_pace_of_its_slowest_hop)
{
    for (int closed = 0; closed < 2; closed++) {
        struct fr_topo_builder *b = fr_topo_builder_new();
        const struct fr_device_type *type = fr_device_type_find("v100-sxm2-16gb");
        uint32_t t = fr_topo_builder_type(b, type), gpu[3], members[3];
        const char *const names[] = {"a", "b", "c"};
        struct fr_run_options o = options(FR_NETWORK_FLOW);
        struct fr_topo *topo = NULL;
        struct fr_plan *p;
        struct fr_run *r;
        struct fr_error err;

        for (int i = 0; i < 3; i++)
            gpu[i] = fr_topo_builder_vertex(b, FR_VERTEX_GPU, names[i], 0, t, FR_NOWHERE);
        fr_topo_builder_link(b, FR_LINK_NVLINK, gpu[0], gpu[1], 1e9, 0, true, "", FR_NOWHERE);
        fr_topo_builder_link(b, FR_LINK_NVLINK, gpu[1], gpu[2], 0.5e9, 0, true, "", FR_NOWHERE);
        fr_topo_builder_link(b, FR_LINK_NVLINK, gpu[2], gpu[0], 0.5e9, 0, true, "", FR_NOWHERE);
        ck_assert_int_eq(fr_topo_builder_finish(b, "row", &topo, &err), FR_OK);
        fr_topo_builder_free(b);
        p = fr_plan_new(topo, NULL);
        fixture_collective(p, FR_BROADCAST, 3, 4 * 524288, members);
        fixture_finish(p);
        o.rings = 1;
        o.closed_form_collectives = closed;
        r = fixture_run(p, &o);
        ck_assert_near(r->makespan_s, 4.5 * 1048576e-9);
        ck_assert_near(r->end_s[members[0]], closed ? r->makespan_s : 4 * 524288e-9);
        fr_run_free(r);
        fr_plan_free(p);
        fr_topo_free(topo);
    }
}

/* 1e9 bytes for each other rank. Round 1: 0 to 1 takes 1 s, 1 to 2 takes 2 s, 2 to 0 takes 1 s;
 * round 2: 0 to 2 takes 4 s, 1 to 0 takes 1 s, 2 to 1 takes 0.5 s. By the formula each round
 * lasts as long as its slowest message, 2 + 4 s; step by step the ranks do not wait for each
 * other's rounds: rank 0's take 1 + 4 s. */
TEST(a_round_lasts_as_long_as_its_slowest_message)
{
    static const struct {
        uint32_t src, dst;
        double bw_Bps;
    } wires[] = {{0, 1, 1e9}, {1, 2, 0.5e9}, {2, 0, 1e9}, {0, 2, 0.25e9}, {1, 0, 1e9}, {2, 1, 2e9}};

    for (int closed = 0; closed < 2; closed++) {
        struct fr_topo_builder *b = fr_topo_builder_new();
        uint32_t t = fr_topo_builder_type(b, fr_device_type_find("v100-sxm2-16gb")), gpu[3];
        const char *const names[] = {"a", "b", "c"};
        struct fr_run_options o = options(FR_NETWORK_FLOW);
        struct fr_topo *topo = NULL;
        struct fr_plan *p;
        uint32_t members[3];
        struct fr_run *r;
        struct fr_error err;

        for (int i = 0; i < 3; i++)
            gpu[i] = fr_topo_builder_vertex(b, FR_VERTEX_GPU, names[i], 0, t, FR_NOWHERE);
        for (size_t i = 0; i < sizeof(wires) / sizeof(wires[0]); i++)
            fr_topo_builder_link(b, FR_LINK_NVLINK, gpu[wires[i].src], gpu[wires[i].dst],
                                 wires[i].bw_Bps, 0, false, "", FR_NOWHERE);
        ck_assert_int_eq(fr_topo_builder_finish(b, "triangle", &topo, &err), FR_OK);
        fr_topo_builder_free(b);
        p = fr_plan_new(topo, NULL);
        fixture_collective(p, FR_ALL_TO_ALL, 3, 3e9, members);
        fixture_finish(p);
        o.closed_form_collectives = closed;
        o.want |= FR_WANT_TOTALS;
        r = fixture_run(p, &o);
        ck_assert_near(r->makespan_s, closed ? 6 : 5);
        ck_assert_near(r->serial_s, 6);
        fr_run_free(r);
        fr_plan_free(p);
        fr_topo_free(topo);
    }
}

/* A chunk is floor(S/N): 100 bytes over 8 ranks move 12 bytes a step. */
TEST(a_chunk_is_rounded_down)
{
    struct fr_topo *topo = fixture_star(8, BW, 0);
    struct fr_plan *p = fr_plan_new(topo, NULL);
    struct fr_run_options o = options(FR_NETWORK_FLOW);
    uint32_t members[8];
    struct fr_run *r;

    fixture_collective(p, FR_ALL_REDUCE, 8, 100, members);
    fixture_finish(p);
    r = fixture_run(p, &o);
    ck_assert_double_eq(r->link_bytes[0], 14 * 12);
    fr_run_free(r);
    fr_plan_free(p);
    fr_topo_free(topo);
}

/* A collective begins when its last member has come: rank 1 computes 3 s first. Waiting is idle
 * time, not communication. */
TEST(a_collective_waits_for_its_last_member)
{
    struct fr_topo *topo = fixture_star(2, BW, 0);
    struct fr_plan *p = fr_plan_new(topo, NULL);
    struct fr_run_options o = options(FR_NETWORK_FLOW);
    uint32_t members[2], late = fixture_compute(p, 1, fixture_cost(p, 3), 0);
    struct fr_run *r;

    fixture_collective(p, FR_ALL_REDUCE, 2, 1e9, members);
    fr_plan_add_dep(p, late, members[1]);
    fixture_finish(p);
    r = fixture_run(p, &o);
    ck_assert_near(r->start_s[members[0]], 3);
    ck_assert_near(r->end_s[members[0]], 4);
    ck_assert_near(r->devices[0].comm_s, 1);
    ck_assert_near(r->devices[0].idle_s, 3);
    ck_assert_uint_eq(r->cause[members[0]], late);
    fr_run_free(r);
    fr_plan_free(p);
    fr_topo_free(topo);
}

/* 3 s, whatever the links. The links are counted a ring's bytes, 2 (N-1)/N S, which take 6 s, as
 * far as they can have crossed in the 1 s that is the bytes'. Under both networks, whether rings
 * run in steps or by formula. */
TEST(a_collective_with_a_cost_takes_it)
{
    for (int closed = 0; closed < 2; closed++)
        for (int network = 0; network < FR_N_NETWORKS; network++) {
            struct fr_topo *topo = fixture_star(4, BW, LAT);
            struct fr_plan *p = fr_plan_new(topo, NULL);
            struct fr_run_options o = options((enum fr_network)network);
            uint32_t members[4];
            struct fr_run *r;

            fixture_priced_collective(p, FR_ALL_REDUCE, 4, 4e9, 3, 1, members);
            fixture_finish(p);
            o.closed_form_collectives = closed;
            r = fixture_run(p, &o);
            ck_assert_near(r->makespan_s, 3);
            ck_assert_near(r->lower_bound_s, 3);
            for (uint32_t i = 0; i < 4; i++)
                ck_assert_near(r->end_s[members[i]], 3);
            for (size_t l = 0; l < r->n_links; l++)
                ck_assert_near(r->link_bytes[l], 1e9);
            fr_run_free(r);
            o.rings_only = true; /* 6 rounds of two latencies and 1e9 bytes */
            r = fixture_run(p, &o);
            ck_assert_near(r->makespan_s, 6 * (2 * LAT + 1));
            fr_run_free(r);
            fr_plan_free(p);
            fr_topo_free(topo);
        }
}

/* Three of 3, 2 and 1 s on one stream, the second without a cost: 2 rounds of 1e9 bytes. */
TEST(collectives_with_and_without_a_cost_follow_each_other_on_their_stream)
{
    struct fr_topo *topo = fixture_star(2, BW, 0);
    struct fr_plan *p = fr_plan_new(topo, NULL);
    struct fr_run_options o = options(FR_NETWORK_FLOW);
    uint32_t first[2], second[2], third[2];
    struct fr_run *r;

    fixture_priced_collective(p, FR_ALL_GATHER, 2, 8, 3, 0, first);
    fixture_collective(p, FR_ALL_REDUCE, 2, 2e9, second);
    fixture_priced_collective(p, FR_REDUCE_SCATTER, 2, 8, 1, 1, third);
    fixture_finish(p);
    r = fixture_run(p, &o);
    ck_assert_near(r->start_s[second[1]], 3);
    ck_assert_near(r->start_s[third[0]], 5);
    ck_assert_near(r->makespan_s, 6);
    fr_run_free(r);
    fr_plan_free(p);
    fr_topo_free(topo);
}

/* One rank has nobody to wait for. */
TEST(a_cost_is_nothing_to_a_group_of_one)
{
    struct fr_topo *topo = fixture_star(1, BW, LAT);
    struct fr_plan *p = fr_plan_new(topo, NULL);
    struct fr_run_options o = options(FR_NETWORK_FLOW);
    uint32_t member;
    struct fr_run *r;

    fixture_priced_collective(p, FR_ALL_REDUCE, 1, 8, 3, 1, &member);
    fixture_finish(p);
    r = fixture_run(p, &o);
    ck_assert_double_eq(r->makespan_s, 0);
    fr_run_free(r);
    fr_plan_free(p);
    fr_topo_free(topo);
}

/* Costs given instead of the plan's keep its split: of 6 s 2 are the bytes'. */
TEST(costs_that_replace_the_plans_hold_for_collectives)
{
    struct fr_topo *topo = fixture_star(2, BW, LAT);
    struct fr_plan *p = fr_plan_new(topo, NULL);
    struct fr_run_options o = options(FR_NETWORK_FLOW);
    const double cost_s[] = {6};
    double *slowness;
    uint32_t members[2];
    struct fr_run *r;

    fixture_priced_collective(p, FR_ALL_REDUCE, 2, 8, 3, 1, members);
    fixture_finish(p);
    o.cost_s = cost_s;
    r = fixture_run(p, &o);
    ck_assert_near(r->makespan_s, 6);
    fr_run_free(r);
    slowness = malloc(fr_n_resources(topo) * sizeof(*slowness));
    ck_assert_ptr_nonnull(slowness);
    for (size_t i = 0; i < fr_n_resources(topo); i++)
        slowness[i] = 1;
    slowness[fr_link_resource(FR_LINK_NET, FR_LINK_BANDWIDTH)] = 2;
    o.slowness = slowness;
    r = fixture_run(p, &o);
    ck_assert_near(r->makespan_s, 8);
    fr_run_free(r);
    free(slowness);
    fr_plan_free(p);
    fr_topo_free(topo);
}

/* What one takes and puts on links is found once for all that are alike (collectives/alike.c),
 * which must not show: 24 by formula, one after the other, of 12 sizes and two kinds, more than are
 * kept at a time. Each rank sends (N-1)/N S on its two links, in N-1 steps. */
TEST(formulas_of_many_sizes_take_what_each_takes_alone)
{
    enum { N = 4, N_SIZES = 12 };
    struct fr_topo *topo = fixture_star(N, BW, LAT);
    struct fr_plan *p = fr_plan_new(topo, NULL);
    struct fr_run_options o = options(FR_NETWORK_FLOW);
    uint32_t group = fr_plan_add_group(p, 0, 1, N);
    double expected_s = 0, expected_bytes = 0;
    struct fr_run *r;

    for (uint32_t c = 0; c < 2 * N_SIZES; c++) {
        double bytes = 4e6 * (1 + c % N_SIZES);

        fr_plan_add_collective(
            p, &(struct fr_collective){.kind = c % 3 ? FR_ALL_GATHER : FR_REDUCE_SCATTER,
                                       .bytes = bytes,
                                       .group = group,
                                       .label = FR_NONE,
                                       .is_formula = true});
        for (uint32_t i = 0; i < N; i++)
            fr_plan_add_task(p, &(struct fr_task){.kind = FR_TASK_COLLECTIVE,
                                                  .device = i,
                                                  .rank = i,
                                                  .collective = c,
                                                  .op = FR_NONE,
                                                  .cost_id = FR_NONE,
                                                  .microbatch = FR_NONE,
                                                  .stream = FR_STREAM_COMM});
        expected_s += (N - 1) * (2 * LAT + bytes / N / BW);
        expected_bytes += (N - 1) * bytes / N;
    }
    fixture_finish(p);
    r = fixture_run(p, &o);
    ck_assert_near(r->makespan_s, expected_s);
    for (size_t l = 0; l < r->n_links; l++)
        ck_assert_near(r->link_bytes[l], expected_bytes);
    fr_run_free(r);
    fr_plan_free(p);
    fr_topo_free(topo);
}

int main(void)
{
    TCase *c = tcase_create("collective");

    tcase_set_timeout(c, 60);
    add_tests(c);
    return run_case(c, "sim/collective");
}
