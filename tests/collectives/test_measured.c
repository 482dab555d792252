/* tests/collectives/test_measured.c - the factors of measured systems on NCCL's constants. */
#include "config.h"

#include "collectives/nccl/measured.h"
#include "sim/sim.h"
#include "tests/support/base_check.h"

#include <math.h>

/* Seconds of a collective by NCCL's choice on the first n GPUs. */
static double seconds_of(enum fr_collective_kind kind, const struct fr_topo *t, uint32_t n,
                         double bytes, const char *protocol, bool as_measured, double *most_bytes)
{
    const struct fr_collective_options options = {
        .algorithm = "nccl", .protocol = protocol, .as_measured = as_measured};
    struct fr_plan *p = fr_plan_new(t, NULL);
    struct fr_collective_way *way = NULL;
    struct fr_run_options o;
    struct fr_run *r = NULL;
    struct fr_error err = {.text = ""};
    struct fr_collective c = {.bytes = bytes, .label = FR_NONE, .kind = kind};
    uint32_t devices[64];
    double s;

    for (uint32_t i = 0; i < n; i++)
        devices[i] = i;
    c.group = fr_plan_add_group_of(p, devices, n);
    fr_plan_add_collective(p, &c);
    for (uint32_t i = 0; i < n; i++)
        fr_plan_add_task(p, &(struct fr_task){.device = i,
                                              .cost_id = FR_NONE,
                                              .op = FR_NONE,
                                              .rank = i,
                                              .microbatch = FR_NONE,
                                              .kind = FR_TASK_COLLECTIVE,
                                              .stream = FR_STREAM_COMM});
    ck_assert_msg(fr_plan_finish(p, &err) == FR_OK, "%s", err.text);
    ck_assert_int_eq(fr_collective_way_new(&way, &options, &err), FR_OK);
    fr_run_options_init(&o);
    o.way = way;
    o.want = FR_WANT_LINKS | FR_WANT_CHECK;
    ck_assert_msg(fr_simulate(p, &o, &r, &err) == FR_OK, "%s", err.text);
    s = r->makespan_s;
    *most_bytes = 0;
    for (size_t l = 0; l < r->n_links; l++)
        *most_bytes = fmax(*most_bytes, r->link_bytes[l]);
    fr_run_free(r);
    fr_collective_way_free(way);
    fr_plan_free(p);
    return s;
}

static double seconds(const struct fr_topo *t, uint32_t n, double bytes, const char *protocol,
                      bool as_measured, double *most_bytes)
{
    return seconds_of(FR_ALL_REDUCE, t, n, bytes, protocol, as_measured, most_bytes);
}

/* Start and hops grow by one factor, what the bytes take by the other, and nothing else is in a
 * ring's time but, by Simple, each GPU's own part: its hops take longer than the links' latency.
 * The bytes that links carry stay as they are. */
TEST(a_protocol_takes_its_factors_longer_and_carries_no_byte_more)
{
    static const struct {
        const char *topology, *protocol;
        unsigned min_sm;
        enum fr__nccl_protocol p;
    } cases[] = {{"dgx-a100-80g", "LL", 80, FR__NCCL_LL},
                 {"dgx-a100-80g", "Simple", 80, FR__NCCL_SIMPLE},
                 {"hgx-h100", "LL", 90, FR__NCCL_LL}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fr_topo *t = NULL;
        struct fr_error err;
        struct fr__nccl_measured factors =
            fr__nccl_measured_of(cases[i].min_sm, false, FR__NCCL_ALGO_RING, cases[i].p);
        double latency, none;

        ck_assert_int_eq(fr_topo_load(&t, cases[i].topology, &err), FR_OK);
        latency = seconds(t, 4, 1, cases[i].protocol, false, &none);
        for (double bytes = 1 << 10; bytes < 1 << 28; bytes *= 64) {
            double own = cases[i].p == FR__NCCL_SIMPLE
                             ? bytes / 4 / fr__nccl_own_Bps(t->types[0].mem_Bps)
                             : 0;
            double plain_bytes, slow_bytes, expected;
            double plain = seconds(t, 4, bytes, cases[i].protocol, false, &plain_bytes);
            double slow = seconds(t, 4, bytes, cases[i].protocol, true, &slow_bytes);

            expected = factors.latency * latency + factors.bytes * (plain - latency) + own;
            ck_assert_double_eq_tol(slow / expected, 1, 0.03);
            ck_assert_double_eq_tol(slow_bytes, plain_bytes, 1e-6 * plain_bytes);
        }
        fr_topo_free(t);
    }
}

/* The rounds of an all-to-all over machines each wait for a message over the network, so its bus
 * bandwidth is that of a network card whatever the number of machines; also where machines have
 * unequal parts of the group. */
TEST(an_all_to_all_over_machines_moves_at_the_rate_of_a_card)
{
    static const struct {
        const char *topology;
        uint32_t n;
    } cases[] = {{"2x hgx-h100 via ib:400Gbps", 16},
                 {"3x hgx-h100 via ib:400Gbps", 24},
                 {"3x hgx-h100 via ib:400Gbps", 20},
                 {"4x hgx-b200 via ib:400Gbps", 32}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fr_topo *t = NULL;
        struct fr_error err;
        double n = cases[i].n, none, s, bus_Bps;

        ck_assert_int_eq(fr_topo_load(&t, cases[i].topology, &err), FR_OK);
        s = seconds_of(FR_ALL_TO_ALL, t, cases[i].n, 1 << 30, NULL, false, &none);
        bus_Bps = (n - 1) / n * (1 << 30) / s;
        ck_assert_msg(bus_Bps > 44e9 && bus_Bps < 50e9, "%s: %g B/s", cases[i].topology, bus_Bps);
        fr_topo_free(t);
    }
}

/* LL over machines is bound by the processors: NCCL's llMaxBw, 39 GB/s of the bus on two of them,
 * where their links carry ten times that. */
TEST(ll_is_bound_by_the_processor_and_not_by_the_links)
{
    struct fr_topo *t = NULL;
    struct fr_error err;
    double none, little, much, bus_Bps;

    ck_assert_int_eq(fr_topo_load(&t, "2x hgx-h100 via ib:400Gbps", &err), FR_OK);
    little = seconds_of(FR_ALL_GATHER, t, 16, 1 << 20, "LL", false, &none);
    much = seconds_of(FR_ALL_GATHER, t, 16, 1 << 28, "LL", false, &none);
    bus_Bps = 15.0 / 16 * ((1 << 28) - (1 << 20)) / (much - little);
    ck_assert_msg(bus_Bps > 30e9 && bus_Bps < 50e9, "%g B/s", bus_Bps);
    fr_topo_free(t);
}

TEST(what_nobody_measured_keeps_the_constants)
{
    static const struct {
        unsigned min_sm;
        enum fr__nccl_algorithm a;
        enum fr__nccl_protocol p;
    } cases[] = {{0, FR__NCCL_ALGO_RING, FR__NCCL_LL},
                 {90, FR__NCCL_ALGO_PAT, FR__NCCL_SIMPLE},
                 {90, FR__NCCL_ALGO_RING, FR__NCCL_N_PROTOCOLS}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        for (unsigned over = 0; over < 2; over++) {
            struct fr__nccl_measured m =
                fr__nccl_measured_of(cases[i].min_sm, over, cases[i].a, cases[i].p);

            ck_assert(m.latency == 1 && m.bytes == 1);
        }
}

TEST(factors_are_between_0_8_and_3)
{
    for (unsigned sm = 60; sm <= 100; sm += 10)
        for (unsigned over = 0; over < 2; over++)
            for (unsigned a = 0; a <= FR__NCCL_N_ALGORITHMS; a++)
                for (unsigned p = 0; p < FR__NCCL_N_PROTOCOLS; p++) {
                    struct fr__nccl_measured m = fr__nccl_measured_of(
                        sm, over, (enum fr__nccl_algorithm)a, (enum fr__nccl_protocol)p);

                    ck_assert(m.latency >= 0.8 && m.latency <= 3);
                    ck_assert(m.bytes >= 0.8 && m.bytes <= 3);
                }
}

int main(void)
{
    TCase *tc = tcase_create("measured");

    add_tests(tc);
    return run_case(tc, "sim/measured");
}
