/* Sensitivities of whole plans: what one run says against runs with a resource 1 % slower and
 * faster. */
#include "config.h"

#include "results/results.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

/* tolerance: where ties give way within 1 %, the slope is a mean of two */
static const struct plan {
    const char *workload, *topology, *strategy;
    size_t n_gpus;
    uint32_t batch, iterations;
    enum fr_collectives collectives;
    enum fr_network network;
    double tolerance;
} plans[] = {
    {"vgg19", "dgx1-v100", "single", 1, 32, 0, FR_COLLECTIVES_AUTO, FR_NETWORK_FLOW, 1e-6},
    {"lenet", "dgx1-v100", "dp", 8, 64, 0, FR_COLLECTIVES_AUTO, FR_NETWORK_FLOW, 1e-6},
    {"alexnet", "dgx1-v100", "dp:overlap=0", 8, 8, 0, FR_COLLECTIVES_AUTO, FR_NETWORK_FLOW, 1e-6},
    {"alexnet", "dgx1-v100", "dp", 8, 8, 3, FR_COLLECTIVES_AUTO, FR_NETWORK_FLOW, 1e-3},
    {"vgg19", "2x dgx1-v100 via ib:100Gbps", "dp", 16, 16, 0, FR_COLLECTIVES_EXPANDED,
     FR_NETWORK_FLOW, 1e-6},
    /* trees share links in an order that a change of 1 % turns over */
    {"vgg19", "2x dgx1-v100 via ib:100Gbps", "dp", 16, 16, 0, FR_COLLECTIVES_AUTO, FR_NETWORK_FLOW,
     0.15},
    {"vgg19", "2x dgx1-v100 via ib:10Gbps", "dp", 16, 16, 0, FR_COLLECTIVES_CLOSED, FR_NETWORK_FLOW,
     1e-6},
    {"vgg19", "hgx-h100", "dp", 8, 16, 0, FR_COLLECTIVES_AUTO, FR_NETWORK_FLOW, 1e-6},
    {"vgg19", "dgx1-v100", "dp:sync=ps-cpu", 4, 64, 0, FR_COLLECTIVES_AUTO, FR_NETWORK_FLOW, 1e-6},
    {"vgg19", "2x dgx1-v100 via ib:10Gbps", "dp:sync=ps-cpu", 16, 64, 0, FR_COLLECTIVES_AUTO,
     FR_NETWORK_FLOW, 1e-3},
    {"vgg19", "dgx1-v100", "dp:sync=ps-gpu0", 8, 256, 0, FR_COLLECTIVES_AUTO, FR_NETWORK_FLOW,
     2e-2},
    {"vgg19", "dgx1-v100", "dp:sync=ps-sharded", 4, 64, 0, FR_COLLECTIVES_AUTO, FR_NETWORK_ANALYTIC,
     1e-3},
    {"vgg19", "dgx1-v100", "mp", 4, 64, 0, FR_COLLECTIVES_AUTO, FR_NETWORK_FLOW, 1e-6},
    {"alexnet", "dgx1-v100", "pp", 4, 64, 0, FR_COLLECTIVES_AUTO, FR_NETWORK_FLOW, 1e-3},
    {"alexnet", "2x dgx1-v100 via ib:100Gbps", "pp:stages=4", 16, 64, 0, FR_COLLECTIVES_AUTO,
     FR_NETWORK_FLOW, 1e-3},
};
enum { N_PLANS = sizeof(plans) / sizeof(plans[0]) };

static struct fr_record *answer(const struct plan *p, enum fr_sensitivity sensitivity)
{
    struct fr_question q;
    struct fr_record *r = NULL;
    struct fr_error err = {.text = ""};

    fr_question_init(&q);
    q.workload = p->workload;
    q.topology = p->topology;
    q.strategy = p->strategy;
    q.n_gpus = p->n_gpus;
    q.global_batch = p->batch;
    q.iterations = p->iterations;
    q.collectives = p->collectives;
    q.run.network = p->network;
    q.sensitivity = sensitivity;
    ck_assert_msg(fr_answer(&q, NULL, &r, &err) == FR_OK, "%s", err.text);
    return r;
}

LOOP_TEST(one_run_says_what_runs_one_percent_apart_say, 0, N_PLANS)
{
    const struct plan *p = &plans[_i];
    struct fr_record *r = answer(p, FR_SENSITIVITY_RERUN);

    ck_assert_uint_gt(r->n_sensitivities, 0);
    for (size_t i = 0; i < r->n_sensitivities; i++) {
        const struct fr_record_sensitivity *s = &r->sensitivities[i];

        ck_assert_msg(fabs(s->elasticity - s->rerun_elasticity) <= p->tolerance,
                      "%s %s on %s: %s: %.9g from the run, %.9g from two others", p->workload,
                      p->strategy, p->topology, s->resource, s->elasticity, s->rerun_elasticity);
    }
    fr_record_free(r);
}

/* Euler: the time is homogeneous of degree 1 in the slownesses. */
LOOP_TEST(elasticities_of_slowness_sum_to_one, 0, N_PLANS)
{
    struct fr_record *r = answer(&plans[_i], FR_SENSITIVITY_RUN);
    double sum = 0;

    for (size_t i = 0; i < r->n_sensitivities; i++)
        sum += r->sensitivities[i].elasticity * (r->sensitivities[i].is_time ? 1 : -1);
    ck_assert_double_eq_tol(sum, 1, 1e-9);
    ck_assert(!r->has_reruns);
    fr_record_free(r);
}

/* 1.25 times as fast, a part p of the time shrinks by p (1 - 1/1.25) where nothing else steps
 * in. */
TEST(a_single_gpu_gains_what_the_estimate_says)
{
    struct fr_record *r = answer(&plans[0], FR_SENSITIVITY_RERUN);
    const struct fr_record_sensitivity *s = &r->sensitivities[0];

    ck_assert_str_eq(s->resource, "v100-sxm2-16gb FLOP rate");
    ck_assert_double_eq_tol(s->faster_frac, -0.2 * s->part_s / r->iteration_s, 1e-12);
    ck_assert_double_lt(s->rerun_faster_frac, 0);
    ck_assert_double_ge(s->rerun_faster_frac, s->faster_frac - 1e-12); /* rooflines turn */
    fr_record_free(r);
}

/* A device 0.1 % slower costs 0.1 % of what it computes on the critical path. */
TEST(a_slower_device_costs_its_part_of_the_critical_path)
{
    const struct plan p = {"alexnet",           "dgx1-v100",     "pp", 4, 64, 0,
                           FR_COLLECTIVES_AUTO, FR_NETWORK_FLOW, 0};
    struct fr_record *r = answer(&p, FR_SENSITIVITY_NONE);
    double slowdown[32], sum_s = 0;
    struct fr_run_options o;

    fr_run_options_init(&o);
    o.device_slowdown = slowdown;
    ck_assert_uint_le(r->run->n_devices, 32);
    for (size_t i = 0; i < r->n_devices; i++) {
        struct fr_error err = {.text = ""};
        struct fr_run *slow = NULL;

        for (size_t k = 0; k < 32; k++)
            slowdown[k] = 1;
        slowdown[r->devices[i].device] = 1.001;
        ck_assert_msg(fr_simulate(r->plan, &o, &slow, &err) == FR_OK, "%s", err.text);
        ck_assert_double_eq_tol((slow->iteration_s - r->iteration_s) / 0.001,
                                r->devices[i].critical_s, 1e-3 * r->iteration_s);
        sum_s += r->devices[i].critical_s;
        fr_run_free(slow);
    }
    ck_assert_double_gt(sum_s, 0.9 * r->iteration_s);
    ck_assert_double_le(sum_s, r->iteration_s);
    fr_record_free(r);
}

TEST(nothing_is_worked_out_unless_asked_for)
{
    struct fr_record *r = answer(&plans[0], FR_SENSITIVITY_NONE);

    ck_assert_uint_eq(r->n_sensitivities, 0);
    ck_assert_ptr_null(r->run->parts_s);
    fr_record_free(r);
}

/* NCCL's rings over four machines: messages start while the rates of others are asked for. */
TEST(messages_that_start_together_have_sensitivities)
{
    struct fr_record *r = NULL;
    struct fr_question q;
    struct fr_error err;

    fr_question_init(&q);
    q.workload = "gpt:layers=4,seq=512";
    q.topology = "4x hgx-h100";
    q.strategy = "dp";
    q.batch_per_gpu = 8;
    q.dtype = FR_BF16;
    q.sensitivity = FR_SENSITIVITY_RUN;
    ck_assert_msg(fr_answer(&q, NULL, &r, &err) == FR_OK, "%s", err.text);
    ck_assert_ptr_nonnull(r->run->parts_s);
    fr_record_free(r);
}

int main(void)
{
    TCase *tc = tcase_create("sensitivity");

    add_tests(tc);
    return run_case(tc, "results/sensitivity");
}
