/* Collectives of whole simulations: at the time fitted to their machine, or as rings over its
 * links. */
#include "config.h"

#include "calibrate/messages/system.h"
#include "study/comm/comm.h"
#include "results/results.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct fr_record *answer(const struct fr_question *q)
{
    struct fr_record *r = NULL;
    struct fr_error err = {.text = ""};

    ck_assert_msg(fr_answer(q, NULL, &r, &err) == FR_OK, "%s", err.text);
    return r;
}

/* After the backward pass, all gradients in one bucket: nothing hides the all-reduce. */
static struct fr_question exposed(const char *topology, size_t n_gpus)
{
    struct fr_question q;

    fr_question_init(&q);
    q.workload = "alexnet";
    q.topology = topology;
    q.strategy = "dp:overlap=0,bucket=1GiB";
    q.n_gpus = n_gpus;
    q.global_batch = 64;
    return q;
}

static uint32_t first_member(const struct fr_record *r, uint32_t collective)
{
    const struct fr_plan_view *v = fr_plan_view(r->plan);

    return v->members[v->member_first[collective]];
}

static double lasts_s(const struct fr_record *r, uint32_t collective)
{
    uint32_t t = first_member(r, collective);

    return r->run->end_s[t] - r->run->start_s[t];
}

static double fitted_s(const char *system, unsigned n_gpus, unsigned n_nodes, double bytes)
{
    const struct fr_system_call call = {FR_SYSTEM_ALL_REDUCE, n_gpus, bytes, true, n_nodes};
    struct fr_system *s = NULL;
    struct fr_error err;
    double t_s;

    ck_assert_int_eq(fr_system_load(&s, system, &err), FR_OK);
    t_s = fr_system_time_s(s, &call);
    fr_system_free(s);
    return t_s;
}

static const struct machine {
    const char *topology, *system;
    size_t n_gpus;
    unsigned n_nodes;
} machines[] = {
    {"dgx-a100-80g", "a100-nvswitch", 8, 1}, {"dgx-a100-80g", "a100-nvswitch", 2, 1},
    {"dgx-a100-40g", "a100-nvswitch", 4, 1}, {"hgx-h100", "h100-nvswitch", 8, 1},
    {"hgx-h200", "h100-nvswitch", 3, 1},     {"hgx-b200", "b200-nvswitch", 8, 1},
    {"2x hgx-h100", "h100-nvswitch", 8, 1},  {"2x hgx-b200", "b200-infiniband", 16, 2},
};

LOOP_TEST(an_exposed_all_reduce_takes_what_its_machines_system_says, 0,
          sizeof(machines) / sizeof(machines[0]))
{
    const struct machine *m = &machines[_i];

    for (int network = 0; network < FR_N_NETWORKS; network++) {
        struct fr_question q = exposed(m->topology, m->n_gpus);
        const struct fr_plan_view *v;
        struct fr_record *r;
        double expected_s;

        q.run.network = (enum fr_network)network;
        r = answer(&q);
        v = fr_plan_view(r->plan);
        ck_assert_uint_eq(v->n_collectives, 1);
        expected_s = fitted_s(m->system, (unsigned)m->n_gpus, m->n_nodes, v->collectives[0].bytes);
        ck_assert_double_eq_tol(lasts_s(r, 0), expected_s, 1e-9 * expected_s);
        ck_assert_double_eq_tol(r->exposed_comm_s, expected_s, 1e-9 * r->iteration_s);
        ck_assert_str_eq(r->collective_systems, m->system);
        ck_assert_str_eq(fr_record_collectives(r), "fitted");
        fr_record_free(r);
    }
}

/* Two GPUs of a DGX A100: 2 rounds of half the bytes over two links of 0.35 us and 273 GB/s.
 * Data sheet costs know rings only; and who asks for rings gets them. */
TEST(rings_run_over_the_links_where_they_are_asked_for)
{
    for (int i = 0; i < 4; i++) {
        struct fr_question q = exposed("dgx-a100-80g", 2);
        struct fr_record *r;
        double bytes, expected_s;

        q.costs = i == 0 ? "datasheet" : "calibrated";
        q.collectives = i == 1   ? FR_COLLECTIVES_CLOSED
                        : i == 2 ? FR_COLLECTIVES_EXPANDED
                                 : FR_COLLECTIVES_AUTO;
        q.run.rings = i == 3;
        r = answer(&q);
        bytes = fr_plan_view(r->plan)->collectives[0].bytes;
        expected_s = 2 * (2 * 0.35e-6 + floor(bytes / 2) / 273e9);
        ck_assert_double_eq_tol(lasts_s(r, 0), expected_s, 1e-9 * expected_s);
        ck_assert_uint_eq(r->n_fitted_collectives, 0);
        ck_assert_str_eq(r->collective_systems, "");
        ck_assert_str_eq(fr_record_collectives(r), i == 1 ? "closed" : "expanded");
        fr_record_free(r);
    }
}

TEST(a_group_beyond_one_machine_runs_as_rings)
{
    struct fr_question q = exposed("2x dgx-a100-80g", 16);
    struct fr_record *r = answer(&q);

    ck_assert_uint_eq(r->n_collectives, 1);
    ck_assert_uint_eq(r->n_fitted_collectives, 0);
    fr_record_free(r);
    q.n_gpus = 2; /* one of each machine */
    q.is_spread = true;
    r = answer(&q);
    ck_assert_uint_eq(r->n_fitted_collectives, 0);
    fr_record_free(r);
    q = exposed("dgx1-v100", 8); /* no system */
    r = answer(&q);
    ck_assert_uint_eq(r->n_fitted_collectives, 0);
    fr_record_free(r);
}

/* Measured on 400 Gbit/s and with all GPUs of two machines: not on 100, not with one GPU of
 * each, not with three machines. */
TEST(a_fit_over_machines_is_not_taken_for_what_was_not_measured)
{
    static const struct {
        const char *topology, *why;
        size_t n_gpus;
    } cases[] = {
        {"2x hgx-b200 via ib:100Gbps", "b200-infiniband was measured on ib:400Gbps", 16},
        {"2x hgx-b200", "b200-infiniband does not cover these", 2},
        {"3x hgx-b200", "b200-infiniband does not cover these", 24},
        {"2x hgx-h100", NULL, 16},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fr_question q = exposed(cases[i].topology, cases[i].n_gpus);
        struct fr_record *r;

        q.is_spread = true;
        r = answer(&q);
        ck_assert_uint_eq(r->n_fitted_collectives, 0);
        ck_assert_uint_eq(r->n_network_rings, 1);
        if (cases[i].why)
            ck_assert_str_eq(r->network_system_why, cases[i].why);
        else
            ck_assert_ptr_null(r->network_system_why);
        fr_record_free(r);
    }
}

/* Two stages over two makes of machine: the replicas of a stage share one machine or do not. */
TEST(stages_of_a_pipeline_are_judged_one_by_one)
{
    struct fr_question q = exposed("1x dgx-a100-80g + 1x hgx-h100 via ib:200Gbps", 16);
    struct fr_record *r;
    const struct fr_plan_view *v;

    q.strategy = "pp:stages=2";
    q.run.network = FR_NETWORK_ANALYTIC;
    r = answer(&q);
    v = fr_plan_view(r->plan);
    for (uint32_t c = 0; c < v->n_collectives; c++) {
        uint32_t n = fr_plan_group_size(r->plan, v->collectives[c].group), machines_seen = 0;

        for (uint32_t i = 0; i < n; i++)
            machines_seen |=
                1u << v->topo->devices[fr_plan_group_device(r->plan, v->collectives[c].group, i)]
                          .machine;
        ck_assert_int_eq(v->collectives[c].has_cost, machines_seen != 3);
        if (machines_seen != 3) {
            double expected_s = fitted_s(machines_seen == 1 ? "a100-nvswitch" : "h100-nvswitch", n,
                                         1, v->collectives[c].bytes);

            ck_assert_double_eq_tol(lasts_s(r, c), expected_s, 1e-9 * expected_s);
        }
    }
    ck_assert_uint_gt(v->n_collectives, 0);
    fr_record_free(r);
}

TEST(iterations_in_a_row_repeat_the_fitted_time)
{
    struct fr_question q = exposed("dgx-a100-80g", 8);
    struct fr_record *r;
    double expected_s;

    q.iterations = 3;
    r = answer(&q);
    expected_s = fitted_s("a100-nvswitch", 8, 1, fr_plan_view(r->plan)->collectives[0].bytes);
    ck_assert_uint_eq(r->n_fitted_collectives, 3);
    for (uint32_t c = 0; c < 3; c++)
        ck_assert_double_eq_tol(lasts_s(r, c), expected_s, 1e-9 * expected_s);
    fr_record_free(r);
}

TEST(the_uncertainty_counts_collectives)
{
    struct fr_question q = exposed("hgx-h100", 8);
    struct fr_record *r;
    bool is_named = false;

    q.global_batch = 8;
    q.uncertainty = FR_UNCERTAINTY_WHY;
    r = answer(&q);
    for (size_t i = 0; i < r->n_error_shares; i++)
        is_named |= strcmp(fr_record_error_share_name(&r->error_shares[i]), "collective") == 0;
    ck_assert(is_named);
    ck_assert_double_lt(r->iteration_low_s, r->iteration_s);
    ck_assert_double_gt(r->iteration_high_s, r->iteration_s);
    fr_record_free(r);
}

TEST(copies_between_gpus_take_what_was_measured_of_their_links)
{
    struct fr_question q = exposed("dgx1-p100", 2);
    struct fr_record *measured, *as_links;

    q.workload = "vgg16";
    q.strategy = "pp:stages=2";
    measured = answer(&q);
    ck_assert_uint_gt(measured->n_fitted_messages, 0);
    q.costs = "datasheet"; /* knows links alone */
    as_links = answer(&q);
    ck_assert_uint_eq(as_links->n_fitted_messages, 0);
    fr_record_free(measured);
    fr_record_free(as_links);
}

/* ---- one collective alone ---- */

static struct fr_comm_table *times_of(const char *topology, const char *kind, size_t n_gpus)
{
    static const uint64_t sizes[] = {1000000, 100000000};
    const struct fr_comm_question q = {.topology = topology,
                                       .kind = kind,
                                       .sizes = sizes,
                                       .n_sizes = 2,
                                       .n_gpus = n_gpus,
                                       .is_by_models = true};
    struct fr_comm_table *t = NULL;
    struct fr_error err = {.text = ""};

    ck_assert_msg(fr_comm(&t, &q, NULL, &err) == FR_OK, "%s", err.text);
    return t;
}

/* Of a DGX A100 GPUs are two links of 0.35 us and 273 GB/s apart; behind its switch nothing is
 * shared. */
static const struct alone {
    const char *kind;
    double bus_factor, hops; /* of 8 GPUs: messages in a row, */
    double parts;            /* each of so many parts of the bytes */
} alones[] =
    {
        {"all-reduce", 1.75, 14, 8},     {"all-gather", 0.875, 7, 8},
        {"reduce-scatter", 0.875, 7, 8}, {"all-to-all", 0.875, 7, 8},
        {"broadcast", 1, 6 + 191, 191}, /* 100 MB are 190.7 times 512 KiB */
        {"reduce", 1, 6 + 191, 191},
};

LOOP_TEST(a_collective_alone_takes_its_formula_and_what_was_measured, 0,
          sizeof(alones) / sizeof(alones[0]))
{
    const struct alone *a = &alones[_i];
    struct fr_comm_table *t = times_of("dgx-a100-80g", a->kind, 0);
    double chunk = 100e6 / a->parts, expected_s = a->hops * (0.7e-6 + chunk / 273e9);

    ck_assert_uint_eq(t->n_rows, 2);
    ck_assert_uint_eq(t->rows[1].bytes, 100000000);
    ck_assert_uint_eq(t->n_machines, 1);
    ck_assert_double_eq_tol(t->times[1].closed_s, expected_s, 1e-9 * expected_s);
    ck_assert_double_eq_tol(t->times[1].expanded_s, expected_s, 1e-9 * expected_s);
    ck_assert_double_eq_tol(t->bus_factor, a->bus_factor, 1e-12);
    if (strcmp(a->kind, "all-reduce") == 0) {
        double fitted = fitted_s("a100-nvswitch", 8, 1, 100e6);

        ck_assert_double_eq_tol(t->times[1].fitted_s, fitted, 1e-12);
        ck_assert_str_eq(t->system, "a100-nvswitch");
    } else if (a->bus_factor == 1) {
        ck_assert(isnan(t->times[1].fitted_s));
        ck_assert_str_eq(t->system_why, "a100-nvswitch does not cover it");
    } else {
        ck_assert_double_gt(t->times[1].fitted_s, t->times[0].fitted_s);
    }
    fr_comm_free(t);
}

TEST(a_collective_alone_says_why_it_has_no_fitted_time)
{
    static const struct {
        const char *topology, *why;
        size_t n_gpus;
    } cases[] = {
        {"dgx1-v100", "nothing like it was measured", 0},
        {"2x hgx-b200 via ib:100Gbps", "b200-infiniband was measured on ib:400Gbps", 16},
        {"3x hgx-b200", "b200-infiniband does not cover it", 24},
        {"hgx-b200", "b200-nvswitch does not cover it", 1},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fr_comm_table *t = times_of(cases[i].topology, "all-reduce", cases[i].n_gpus);

        ck_assert_ptr_null(t->system);
        ck_assert_str_eq(t->system_why, cases[i].why);
        fr_comm_free(t);
    }
}

/* 8 million messages and more are not sent one by one. */
TEST(too_many_messages_are_left_to_the_formula)
{
    struct fr_comm_table *t = times_of("600x gh200-quad", "all-reduce", 2400);

    ck_assert(isnan(t->times[0].expanded_s));
    ck_assert(t->times[0].closed_s > 0);
    ck_assert(t->times[0].is_extrapolated);
    fr_comm_free(t);
}

int main(void)
{
    TCase *tc = tcase_create("collectives");

    add_tests(tc);
    return run_case(tc, "results/collectives");
}
