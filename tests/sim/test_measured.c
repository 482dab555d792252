/* tests/sim/test_measured.c - the factors of measured systems on NCCL's constants. */
#include "config.h"

#include "sim/collectives/nccl/measured.h"
#include "sim/sim.h"
#include "tests/support/base_check.h"

#include <math.h>

/* Seconds of an all-reduce by NCCL's choice on the first n GPUs. */
static double seconds(const struct fr_topo *t, uint32_t n, double bytes, const char *protocol,
                      bool as_measured, double *most_bytes)
{
    const struct fr_collective_options options = {
        .algorithm = "nccl", .protocol = protocol, .as_measured = as_measured};
    struct fr_plan *p = fr_plan_new(t, NULL);
    struct fr_collective_way *way = NULL;
    struct fr_run_options o;
    struct fr_run *r = NULL;
    struct fr_error err = {.text = ""};
    struct fr_collective c = {.bytes = bytes, .label = FR_NONE, .kind = FR_ALL_REDUCE};
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

/* Start, hops and bytes all grow by the factor, and nothing else is in a ring's time: its hops take
 * longer than the links' latency. The bytes that links carry stay as they are. */
START_TEST(a_protocol_takes_its_factor_longer_and_carries_no_byte_more)
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
        double factor =
            fr__nccl_measured_factor(cases[i].min_sm, false, FR__NCCL_ALGO_RING, cases[i].p);

        ck_assert_int_eq(fr_topo_load(&t, cases[i].topology, &err), FR_OK);
        for (double bytes = 1 << 10; bytes < 1 << 24; bytes *= 64) {
            double plain_bytes, slow_bytes;
            double plain = seconds(t, 4, bytes, cases[i].protocol, false, &plain_bytes);
            double slow = seconds(t, 4, bytes, cases[i].protocol, true, &slow_bytes);

            ck_assert_double_eq_tol(slow / plain, factor, 0.03 * factor);
            ck_assert_double_eq_tol(slow_bytes, plain_bytes, 1e-6 * plain_bytes);
        }
        fr_topo_free(t);
    }
}
END_TEST

START_TEST(what_nobody_measured_keeps_the_constants)
{
    ck_assert_double_eq(fr__nccl_measured_factor(0, false, FR__NCCL_ALGO_RING, FR__NCCL_LL), 1);
    ck_assert_double_eq(fr__nccl_measured_factor(90, true, FR__NCCL_ALGO_PAT, FR__NCCL_SIMPLE), 1);
    ck_assert_double_eq(
        fr__nccl_measured_factor(90, true, FR__NCCL_ALGO_RING, FR__NCCL_N_PROTOCOLS), 1);
}
END_TEST

START_TEST(factors_are_between_0_9_and_2)
{
    for (unsigned sm = 60; sm <= 100; sm += 10)
        for (unsigned over = 0; over < 2; over++)
            for (unsigned a = 0; a < FR__NCCL_N_ALGORITHMS; a++)
                for (unsigned p = 0; p < FR__NCCL_N_PROTOCOLS; p++) {
                    double f = fr__nccl_measured_factor(sm, over, (enum fr__nccl_algorithm)a,
                                                        (enum fr__nccl_protocol)p);

                    ck_assert(f >= 0.9 && f <= 2);
                }
}
END_TEST

int main(void)
{
    TCase *tc = tcase_create("measured");

    tcase_add_test(tc, a_protocol_takes_its_factor_longer_and_carries_no_byte_more);
    tcase_add_test(tc, what_nobody_measured_keeps_the_constants);
    tcase_add_test(tc, factors_are_between_0_9_and_2);
    return run_case(tc, "sim/measured");
}
