/* Learning on models of the zoo, the simulator being the truth. */
#include "config.h"

#include "strategies/fastt/learn/sim.h"

#include "tests/support/base_check.h"
#include "tests/support/model_case.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct setup {
    struct model_case model;
    struct fr_option_values values;
    struct fr__fastt_options planner;
    struct fr__learn_options how;
    struct fr_run_options run;
    struct fr__drift drift;
    struct fr__learn_sim *sim;
    const struct fr__learning *g;
    struct fr_error err;
};

static void set_up(struct setup *s, const char *model, const char *spec, size_t n_devices,
                   uint32_t batch)
{
    const struct fr_strategy *strategy;

    memset(s, 0, sizeof(*s));
    model_case_open(&s->model, model, n_devices, batch);
    ck_assert_int_eq(fr_strategy_parse(spec, &strategy, &s->values, &s->err), FR_OK);
    s->model.in.options = &s->values;
    s->planner = fr__fastt_options(&s->values, strncmp(spec, "os-dpos", 7) == 0);
    fr_run_options_init(&s->run);
    s->run.memory = FR_MEMORY_DEVICE;
    s->run.order = FR_ORDER_STRICT;
    s->run.network = FR_NETWORK_ANALYTIC;
    s->how = (struct fr__learn_options){.iterations = 2, .max_rounds = 100, .eps = 0.05};
    s->drift = (struct fr__drift){.from = UINT64_MAX, .factor = 1};
}

static enum fr_status learn(struct setup *s)
{
    enum fr_status st = fr__learn_sim(&s->sim, &s->model.in, &s->planner, &s->how, &s->run,
                                      &s->drift, NULL, &s->err);

    s->g = st == FR_OK ? fr__learn_sim_result(s->sim) : NULL;
    return st;
}

static void tear_down(struct setup *s)
{
    fr__learn_sim_free(s->sim);
    model_case_close(&s->model);
}

static const char *const models[] = {"lenet", "alexnet", "rnnlm"};
enum { N_MODELS = sizeof(models) / sizeof(models[0]) };

/* In strict order, with links that nobody shares and without noise, a strategy whose operations and
 * transfers are all known takes what they say: means and lines are those of the simulator. */
LOOP_TEST(what_is_known_at_the_end_says_what_the_simulator_does, 0, 2 * N_MODELS)
{
    struct setup s;
    double known_s;

    set_up(&s, models[_i / 2], _i % 2 ? "os-dpos" : "dpos", 2, 32);
    ck_assert_msg(learn(&s) == FR_OK, "%s", s.err.text);
    ck_assert(s.g->has_converged);
    ck_assert_int_eq(fr__learn_estimate(&known_s, s.g->costs, &s.g->in_use, 2, &s.err), FR_OK);
    ck_assert_double_eq_tol(known_s, s.g->in_use_s, 1e-9 * known_s);
    ck_assert_double_le(s.g->in_use_s, s.g->rounds[0].measured_s);
    tear_down(&s);
}

/* Every mean that is known is what the cost model says of that work, which the learner never
 * saw. */
TEST(means_are_the_hidden_costs)
{
    struct setup s;
    size_t n = 0;

    set_up(&s, "lenet", "os-dpos", 2, 32);
    ck_assert_int_eq(learn(&s), FR_OK);
    for (uint32_t op = 0; op < s.g->in_use.dag->n_ops; op++) {
        const struct fr__dag *dag = s.g->in_use.dag;
        struct fr_cost c;

        if (dag->ops[op].role == FR__DAG_VARIABLE)
            continue;
        fr__dag_cost(dag, op,
                     s.model.topo->devices[s.model.in.devices[s.g->in_use.device[op]]].type, &c);
        ck_assert_double_eq_tol(fr__learned_op_s(s.g->costs, dag, op, s.g->in_use.device[op]),
                                c.mean_s, 1e-9 * c.mean_s + 1e-20);
        n++;
    }
    ck_assert_uint_gt(n, 20);
    tear_down(&s);
}

/* A GPU at half its speed is noticed in the profile after it, and the step is shorter again
 * afterwards. */
TEST(a_slow_gpu_is_noticed_and_the_plan_changes)
{
    const struct fr__learn_round *r;
    struct setup s;
    size_t k;

    set_up(&s, "vgg16", "dpos", 2, 32);
    s.run.jitter_cv = 0.01;
    s.how.n_profiles = 6;
    s.how.period = 500;
    s.drift = (struct fr__drift){.from = 2000, .device = 1, .factor = 2};
    ck_assert_msg(learn(&s) == FR_OK, "%s", s.err.text);
    for (k = s.g->n_pre_training; k < s.g->n_rounds && s.g->rounds[k].is_settled; k++)
        ck_assert_int_eq(s.g->rounds[k].verdict, FR_LEARN_WATCHED);
    ck_assert_uint_lt(k + 1, s.g->n_rounds);
    r = &s.g->rounds[k];
    ck_assert_uint_ge(r->first_iteration, 2000);
    ck_assert_uint_lt(r->first_iteration, 2600);
    ck_assert_uint_eq(r->change.device, 1);
    ck_assert_int_eq(r[1].verdict, FR_LEARN_KEPT);
    ck_assert_double_lt(s.g->in_use_s, r->measured_s);
    tear_down(&s);
}

TEST(without_drift_nothing_is_tried_after_pre_training)
{
    struct setup s;

    set_up(&s, "vgg16", "os-dpos:powers=1", 2, 32);
    s.run.jitter_cv = 0.01;
    s.run.network = FR_NETWORK_FLOW;
    s.run.order = FR_ORDER_PRIORITY;
    s.how.n_profiles = 5;
    s.how.period = 500;
    ck_assert_msg(learn(&s) == FR_OK, "%s", s.err.text);
    ck_assert(s.g->has_converged);
    ck_assert_uint_eq(s.g->n_rounds, s.g->n_pre_training + 5);
    tear_down(&s);
}

/* Draws depend on the seed and the iteration alone. */
TEST(the_same_seed_learns_the_same)
{
    struct setup a, b;

    set_up(&a, "lenet", "os-dpos", 2, 32);
    set_up(&b, "lenet", "os-dpos", 2, 32);
    a.run.jitter_cv = b.run.jitter_cv = 0.03;
    a.run.device_cv = b.run.device_cv = 0.1;
    ck_assert_int_eq(learn(&a), FR_OK);
    ck_assert_int_eq(learn(&b), FR_OK);
    ck_assert_uint_eq(a.g->n_rounds, b.g->n_rounds);
    for (size_t k = 0; k < a.g->n_rounds; k++) {
        ck_assert_double_eq(a.g->rounds[k].measured_s, b.g->rounds[k].measured_s);
        ck_assert_uint_eq(a.g->rounds[k].in_use, b.g->rounds[k].in_use);
    }
    tear_down(&a);
    tear_down(&b);
}

TEST(one_strategy_learns_by_default)
{
    const struct fr_strategy *s;
    size_t n = 0;

    for (size_t i = 0; (s = fr_strategy_at(i)); i++) {
        n += s->learns_by_default;
        ck_assert(s->learn || !s->learns_by_default);
    }
    ck_assert_uint_eq(n, 1);
    ck_assert(fr_strategy_learner()->learns_by_default);
}

/* GPT-2 XL: 25 GB of parameters, gradients and states for 16 GB. Over eight it begins model
 * parallel. */
TEST(a_model_too_large_for_a_gpu_begins_model_parallel)
{
    struct setup s;

    set_up(&s, "gpt2-xl", "dpos", 8, 1);
    s.how.max_rounds = 1;
    s.run.memory = FR_MEMORY_LIVENESS;
    ck_assert_msg(learn(&s) == FR_OK, "%s", s.err.text);
    ck_assert(!fr__learn_sim_is_data_parallel(s.sim));
    ck_assert_uint_eq(s.g->rounds[0].n_devices, 8);
    tear_down(&s);
}

int main(void)
{
    TCase *t = tcase_create("all");

    tcase_set_timeout(t, 120);
    add_tests(t);
    return run_case(t, "strategies/learn_sim");
}
