/* tests/sim/test_schedule_choice.c - collectives by a chosen algorithm, step by step over the
 * network, against their formulas. */
#include "config.h"

#include "base/error.h"
#include "collectives/algorithms/schedule.h"
#include "tests/support/base_check.h"
#include "tests/support/sim_fixture.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of each link; a route of a star has two, of a mesh one. */
static const double BW = 1e9, LAT = 1e-3;

#define ck_near(a, b) ck_assert_double_eq_tol((a), (b), 1e-9 * (fabs((double)(b)) + 1e-3))

struct asked {
    const char *algorithm, *protocol, *version;
    enum fr_collective_kind kind;
    enum fr_network network;
    double bytes;
    bool is_closed;
    unsigned rings; /* 1: one in the order of ranks */
};

/* Seconds of one collective among the first n GPUs; FR_OK unless expected otherwise. */
static enum fr_status try_it(const struct fr_topo *topo, uint32_t n, const struct asked *a,
                             double *out_s, struct fr_error *err)
{
    const struct fr_collective_options options = {
        .algorithm = a->algorithm, .protocol = a->protocol, .nccl_version = a->version};
    struct fr_plan *p = fr_plan_new(topo, NULL);
    struct fr_collective_way *way = NULL;
    struct fr_run_options o;
    uint32_t *members = calloc(n, sizeof(*members));
    struct fr_run *r = NULL;
    enum fr_status st;

    fixture_collective(p, a->kind, n, a->bytes, members);
    fixture_finish(p);
    fr_run_options_init(&o);
    o.network = a->network;
    o.closed_form_collectives = a->is_closed;
    o.rings = a->rings;
    st = fr_collective_way_new(&way, &options, err);
    o.way = way;
    if (st == FR_OK)
        st = fr_simulate(p, &o, &r, err);
    if (st == FR_OK)
        *out_s = r->makespan_s;
    fr_run_free(r);
    fr_collective_way_free(way);
    fr_plan_free(p);
    free(members);
    return st;
}

static double seconds(const struct fr_topo *topo, uint32_t n, const struct asked *a)
{
    struct fr_error err = {.text = ""};
    double s = NAN;

    ck_assert_msg(try_it(topo, n, a, &s, &err) == FR_OK, "%s: %s", a->algorithm, err.text);
    return s;
}

/* A link from each GPU to each other one, all in one machine or each in its own. */
static struct fr_topo *mesh(uint32_t n, bool is_one)
{
    struct fr_topo_builder *b = fr_topo_builder_new();
    uint32_t type = fr_topo_builder_type(b, fr_device_type_find("v100-sxm2-16gb"));
    struct fr_error err = {.text = ""};
    struct fr_topo *t = NULL;

    for (uint32_t i = 0; i < n; i++) {
        char name[32];

        snprintf(name, sizeof(name), "n%u.gpu%u", is_one ? 0 : i, is_one ? i : 0);
        fr_topo_builder_vertex(b, FR_VERTEX_GPU, name, is_one ? 0 : i, type, FR_NOWHERE);
        for (uint32_t j = 0; j < i; j++)
            fr_topo_builder_link(b, is_one ? FR_LINK_NVLINK : FR_LINK_NET, j, i, BW, LAT, true,
                                 "test", FR_NOWHERE);
    }
    ck_assert_msg(fr_topo_builder_finish(b, "mesh", &t, &err) == FR_OK, "%s", err.text);
    fr_topo_builder_free(b);
    return t;
}

static double hop(void *user, uint32_t from, uint32_t to, double bytes)
{
    const double *links = user;

    (void)from, (void)to;
    return *links * LAT + bytes / BW;
}

static double formula(const struct asked *a, uint32_t n, double links, uint32_t chunks)
{
    struct fr__schedule s = {.algorithm = fr__algorithm_find(a->algorithm),
                             .kind = a->kind,
                             .n = n,
                             .bytes = a->bytes,
                             .n_chunks = chunks};

    if (s.algorithm == &fr__tree_algorithm)
        s.n_lanes = a->kind == FR_ALL_REDUCE ? 2 : 1;
    s.per_node = 1;
    if (fr__schedule_make(&s, NULL) != FR_OK)
        return NAN;
    return fr__schedule_alone(&s, hop, &links);
}

/* Rounds in which each rank sends one message and gets one: nothing shares a link of a star. */
TEST(steps_take_their_formula_where_no_link_is_shared)
{
    static const char *const NAMES[] = {"halving-doubling",   "rabenseifner", "bruck",   "pairwise",
                                        "neighbour-exchange", "pat",          "binomial"};

    for (uint32_t n = 2; n <= 17; n++) {
        struct fr_topo *star = fixture_star(n, BW, LAT);

        for (size_t i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]); i++)
            for (unsigned kind = 0; kind < FR_N_COLLECTIVE_KINDS; kind++)
                for (int network = 0; network < FR_N_NETWORKS; network++)
                    for (int closed = 0; closed < 2; closed++) {
                        struct asked a = {.algorithm = NAMES[i],
                                          .kind = (enum fr_collective_kind)kind,
                                          .network = (enum fr_network)network,
                                          .bytes = 5e6,
                                          .is_closed = closed};
                        double expected;

                        if (!(fr__algorithm_find(NAMES[i])->kinds >> kind & 1))
                            continue;
                        expected = formula(&a, n, 2, 1);
                        if (!isnan(expected))
                            ck_near(seconds(star, n, &a), expected);
                    }
        fr_topo_free(star);
    }
}

/* Of 17 MiB a lane has 17 chunks of 512 KiB. One tree and its broadcast share no link of a mesh. */
TEST(pipelines_take_their_formula_where_no_link_is_shared)
{
    const enum fr_collective_kind kinds[] = {FR_ALL_REDUCE, FR_BROADCAST, FR_REDUCE};

    for (uint32_t n = 2; n <= 17; n++) {
        struct fr_topo *topo = mesh(n, false);

        for (int k = 1; k < 3; k++)
            for (int closed = 0; closed < 2; closed++) {
                struct asked a = {.algorithm = "tree",
                                  .kind = kinds[k],
                                  .network = FR_NETWORK_FLOW,
                                  .bytes = 17 << 20,
                                  .is_closed = closed};

                ck_near(seconds(topo, n, &a), formula(&a, n, 1, 34));
            }
        fr_topo_free(topo);
    }
}

/* Each rank sends and gets n - 1 messages at once through its one port: a + (n-1)/n S b. */
TEST(direct_messages_share_the_port)
{
    for (uint32_t n = 2; n <= 17; n++) {
        struct fr_topo *star = fixture_star(n, BW, LAT);
        struct asked a = {
            .algorithm = "direct", .kind = FR_ALL_TO_ALL, .network = FR_NETWORK_FLOW, .bytes = 5e6};
        double one = 2 * LAT + (n - 1.0) / n * a.bytes / BW;

        ck_near(seconds(star, n, &a), one);
        a.kind = FR_ALL_REDUCE;
        ck_near(seconds(star, n, &a), 2 * one);
        fr_topo_free(star);
    }
}

/* The trees' time grows as the logarithm of the ranks, the ring's as their number. */
TEST(small_sums_by_trees_take_the_logarithm)
{
    for (uint32_t n = 4; n <= 64; n *= 4) {
        struct fr_topo *star = mesh(n, false);
        struct asked a = {
            .algorithm = "tree", .kind = FR_ALL_REDUCE, .network = FR_NETWORK_FLOW, .bytes = 8};

        ck_assert_double_eq_tol(seconds(star, n, &a), 2 * log2(n) * LAT, 1e-6);
        a.algorithm = "ring";
        ck_assert_double_eq_tol(seconds(star, n, &a), 2 * (n - 1) * LAT, 1e-6);
        fr_topo_free(star);
    }
}

/* Of a 16 MiB all-reduce each of 8 GPUs sends S (1 + 1/8) through the NVSwitch; a ring 1.75 S. */
TEST(an_nvswitch_sums_faster_than_a_ring)
{
    struct fr_error err = {.text = ""};
    struct asked a = {.kind = FR_ALL_REDUCE, .network = FR_NETWORK_FLOW, .bytes = 256 << 20};
    struct fr_topo *t = NULL, *cluster = NULL;
    double ring_s, nvls_s;

    ck_assert_msg(fr_topo_load(&t, "hgx-h100", &err) == FR_OK, "%s", err.text);
    a.algorithm = "ring";
    ring_s = seconds(t, 8, &a);
    a.algorithm = "nvls";
    nvls_s = seconds(t, 8, &a);
    ck_assert_double_gt(ring_s / nvls_s, 1.4);
    ck_assert_double_lt(ring_s / nvls_s, 1.75 / 1.125 * 1.01);
    fr_topo_free(t);
    ck_assert_msg(fr_topo_load(&cluster, "4x hgx-h100", &err) == FR_OK, "%s", err.text);
    ck_assert_double_lt(seconds(cluster, 32, &a), 2 * 256e6 * 2 / 50e9);
    a.algorithm = "sharp";
    ck_assert_double_gt(seconds(cluster, 32, &a), (256 << 20) / 50e9);
    fr_topo_free(cluster);
}

TEST(every_algorithm_runs_on_a_cluster_and_counts_its_bytes)
{
    struct fr_error err = {.text = ""};
    struct fr_topo *t = NULL;

    ck_assert_msg(fr_topo_load(&t, "4x hgx-h100", &err) == FR_OK, "%s", err.text);
    for (size_t i = 0; fr__algorithm_at(i); i++)
        for (unsigned kind = 0; kind < FR_N_COLLECTIVE_KINDS; kind++)
            for (int network = 0; network < FR_N_NETWORKS; network++) {
                struct asked a = {.algorithm = fr__algorithm_at(i)->name,
                                  .protocol = i % 2 ? "LL128" : NULL,
                                  .kind = (enum fr_collective_kind)kind,
                                  .network = (enum fr_network)network,
                                  .bytes = 3e6};
                double expanded_s, closed_s;

                if (!(fr__algorithm_at(i)->kinds >> kind & 1))
                    continue;
                expanded_s = seconds(t, 32, &a); /* the run checks itself */
                a.is_closed = true;
                closed_s = seconds(t, 32, &a);
                ck_assert_double_gt(closed_s, 0);
                ck_assert_msg(closed_s < 2 * expanded_s && expanded_s < 3.5 * closed_s,
                              "%s %u: %g %g", a.algorithm, kind, expanded_s, closed_s);
            }
    fr_topo_free(t);
}

/* LL: 6.6 us to start, twice the bytes, hops of at least .6 us over NVLink (NCCL's tuning.cc). */
TEST(a_protocol_has_its_latency_and_its_bytes)
{
    struct fr_topo *t = mesh(2, true);
    struct asked a = {.algorithm = "ring",
                      .protocol = "LL",
                      .kind = FR_ALL_GATHER,
                      .network = FR_NETWORK_FLOW,
                      .bytes = 2e6};

    ck_near(seconds(t, 2, &a), 6.6e-6 + LAT + 2 * 1e6 / BW);
    a.protocol = "LL128";
    ck_near(seconds(t, 2, &a), 14e-6 + LAT + 16. / 15 * 1e6 / BW);
    fr_topo_free(t);
}

/* GPU 4 of a DGX-1 has NVLinks to GPU 0 alone among the first five. Its ring goes through 0, both
 * ways at two links each, 24 GB/s a link: 8 / 5 of the bytes in each direction's half. */
TEST(rings_go_through_a_gpu_as_nccls_do)
{
    static const char *const PROTOCOLS[] = {NULL, "Simple"};
    struct fr_topo *dgx;
    struct fr_error err;

    ck_assert_int_eq(fr_topo_load(&dgx, "dgx1-v100", &err), FR_OK);
    for (int i = 0; i < 4; i++) {
        struct asked a = {.algorithm = "ring",
                          .protocol = PROTOCOLS[i % 2],
                          .kind = FR_ALL_REDUCE,
                          .network = FR_NETWORK_FLOW,
                          .bytes = 1e9,
                          .is_closed = i / 2};
        double s = seconds(dgx, 5, &a);

        ck_assert_double_ge(s, 8.0 / 5 * a.bytes / 48e9);
        ck_assert_double_le(s, 8.0 / 5 * a.bytes / 48e9 * 1.1);
    }
    fr_topo_free(dgx);
}

/* Seconds of an all-reduce by a tree and Simple. */
static double tree_seconds(const char *spec, const char *version, double bytes)
{
    struct asked a = {.algorithm = "tree",
                      .protocol = "Simple",
                      .version = version,
                      .kind = FR_ALL_REDUCE,
                      .network = FR_NETWORK_FLOW,
                      .bytes = bytes};
    struct fr_topo *t;
    struct fr_error err;
    double s;

    ck_assert_msg(fr_topo_load(&t, spec, &err) == FR_OK, "%s", err.text);
    s = seconds(t, (uint32_t)t->n_gpus, &a);
    fr_topo_free(t);
    return s;
}

/* Before 2.10 one block sums up and copies down in turn: 7.7 GB/s of data a card on two machines of
 * V100s, whatever the card could carry, and a pipeline's depth in 64 less. */
TEST(old_trees_go_up_and_down_in_turn)
{
    static const char CARD[] = "2x p3.16xlarge via ib:100Gbps", SLOW[] = "2x p3.16xlarge";
    static const char A100[] = "2x dgx-a100";
    double bytes = 440e6, s = tree_seconds(CARD, "2.9.9", bytes);

    ck_assert_double_ge(s, bytes / 7.7e9);
    ck_assert_double_le(s, bytes / 7.7e9 * 1.08);
    ck_assert_double_le(tree_seconds(CARD, "2.10.3", bytes), bytes / 10.5e9);
    ck_assert_double_le(tree_seconds(CARD, "2.9.9", 63e6), 63e6 / 9.5e9);
    ck_near(tree_seconds(SLOW, "2.7.8", bytes), tree_seconds(SLOW, "2.10.3", bytes));
    ck_near(tree_seconds(A100, "2.7.8", bytes), tree_seconds(A100, "2.10.3", bytes));
}

/* One NVSwitch joins the trays of a rack: an all-reduce is summed in it, S (1 + 1/16) each way, and
 * no tree goes from tray to tray. */
TEST(a_rack_is_one_machine_to_nvls)
{
    struct asked a = {
        .algorithm = "nvls", .kind = FR_ALL_REDUCE, .network = FR_NETWORK_FLOW, .bytes = 1e9};
    struct fr_topo *rack;
    double least_Bps = INFINITY, s;
    struct fr_error err;

    ck_assert_int_eq(fr_topo_load(&rack, "gb200-nvl72", &err), FR_OK);
    for (size_t l = 0; l < rack->n_links; l++)
        if (rack->vertices[rack->links[l].dst].kind == FR_VERTEX_NVSWITCH)
            least_Bps = fmin(least_Bps, rack->links[l].bw_Bps);
    s = seconds(rack, 16, &a);
    ck_assert_double_ge(s, a.bytes * (1 + 1.0 / 16) / least_Bps);
    ck_assert_double_le(s, a.bytes * (1 + 1.0 / 16) / least_Bps * 1.1);
    fr_topo_free(rack);
}

/* Two machines of four GPUs, a link for each pair, those between the machines 20 times as late. */
static struct fr_topo *near_and_far(void)
{
    struct fr_topo_builder *b = fr_topo_builder_new();
    uint32_t type = fr_topo_builder_type(b, fr_device_type_find("v100-sxm2-16gb"));
    struct fr_error err = {.text = ""};
    struct fr_topo *t = NULL;

    for (uint32_t i = 0; i < 8; i++) {
        char name[32];

        snprintf(name, sizeof(name), "n%u.gpu%u", i / 4, i % 4);
        fr_topo_builder_vertex(b, FR_VERTEX_GPU, name, i / 4, type, FR_NOWHERE);
    }
    for (uint32_t i = 0; i < 8; i++)
        for (uint32_t j = 0; j < i; j++)
            fr_topo_builder_link(b, i / 4 == j / 4 ? FR_LINK_NVLINK : FR_LINK_NET, j, i, BW,
                                 i / 4 == j / 4 ? LAT : 20 * LAT, true, "test", FR_NOWHERE);
    ck_assert_msg(fr_topo_builder_finish(b, "near and far", &t, &err) == FR_OK, "%s", err.text);
    fr_topo_builder_free(b);
    return t;
}

/* An all-reduce has 14 rounds of messages that take a near, 20 a far, and g of bytes. Alone each
 * round waits for a far one: 14 (20 a + g). By Simple two messages may be under way, so a far hop
 * sends every other of its 14 one (20 a + g) later, and one near hop is before the first or behind
 * the last: 7 (20 a + g) + (a + g). By LL there may be eight, and no hop waits: a block's 14 hops
 * have at most 4 far ones. */
TEST(a_slow_hop_of_a_ring_is_waited_for_as_often_as_buffers_are_full)
{
    struct fr_topo *topo = near_and_far();
    double g = .1 * LAT, base_us[] = {8.4, 6.6}, bytes = 8 * g * BW;

    for (int network = 0; network < FR_N_NETWORKS; network++)
        for (int closed = 0; closed < 2; closed++) {
            struct asked a = {.algorithm = "ring",
                              .kind = FR_ALL_REDUCE,
                              .network = (enum fr_network)network,
                              .bytes = bytes,
                              .is_closed = closed,
                              .rings = 1};

            ck_near(seconds(topo, 8, &a), 14 * (20 * LAT + g));
            a.protocol = "Simple";
            ck_near(seconds(topo, 8, &a), 1e-6 * base_us[0] + 7 * (20 * LAT + g) + LAT + g);
            a.protocol = "LL"; /* half of its bytes are data */
            a.bytes = bytes / 2;
            ck_near(seconds(topo, 8, &a), 1e-6 * base_us[1] + 4 * (20 * LAT + g) + 10 * (LAT + g));
        }
    fr_topo_free(topo);
}

TEST(what_cannot_be_is_refused)
{
    static const struct {
        const char *algorithm, *protocol, *message;
        enum fr_collective_kind kind;
    } cases[] = {
        {"halfing-doubling", NULL,
         "no algorithm of collectives 'halfing-doubling', did you mean 'halving-doubling'?",
         FR_ALL_REDUCE},
        {"ring", "LL12", "no protocol 'LL12'; known are LL, LL128 and Simple", FR_ALL_REDUCE},
        {"neighbour-exchange", NULL,
         "neighbour-exchange on 3 ranks: neighbour exchange needs an even number of ranks",
         FR_ALL_GATHER},
        {"nvls", NULL, "nvls: no NVSwitch between n0.gpu0 and n0.gpu1 that could sum",
         FR_ALL_REDUCE},
    };
    struct fr_topo *t = mesh(3, true);

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct asked a = {.algorithm = cases[i].algorithm,
                          .protocol = cases[i].protocol,
                          .kind = cases[i].kind,
                          .bytes = 8};
        struct fr_error err = {.text = ""};
        double s;

        ck_assert(try_it(t, 3, &a, &s, &err) != FR_OK);
        ck_assert_str_eq(err.text, cases[i].message);
    }
    fr_topo_free(t);
}

int main(void)
{
    TCase *c = tcase_create("way");

    tcase_set_timeout(c, 60);
    add_tests(c);
    return run_case(c, "sim/schedule_choice");
}
