/* tests/strategies/test_recompute_runs.c - what recomputation does to a simulated step: time added,
 * memory saved. */
#include "config.h"

#include "calibrate/calibrate.h"
#include "strategies/strategies.h"
#include "workloads/passes/recompute.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

struct outcome {
    double time_s;
    double peak_bytes; /* of tensors that are neither parameters nor states */
    double again_s;    /* of the copies, one by one */
};

static double sum_again(const struct fr_graph *g, const struct fr_cost_model *costs, uint32_t type)
{
    double sum_s = 0;

    for (uint32_t o = 0; o < g->n_ops; o++) {
        const struct fr_part part = {.batch = g->batch};
        struct fr_cost c;

        fr_cost_op(costs, type, g, o, &part, &c);
        if (g->ops[o].is_recomputed)
            sum_s += c.mean_s;
    }
    return sum_s;
}

/* A step on one GPU whose launches cost nothing beside. */
static struct outcome run(const struct fr_graph *g)
{
    static const uint32_t device = 0;
    const struct fr_cost_options rooflines = {.datasheet_only = true};
    struct fr_option_values values;
    const struct fr_strategy *s;
    struct fr_cost_model *costs = NULL;
    struct fr_run_options o;
    struct fr_topo *t = NULL;
    struct fr_run *r = NULL;
    struct fr_error err;
    struct fr_plan *p;
    struct outcome out;
    struct fr_problem in = {.graph = g,
                            .devices = &device,
                            .n_devices = 1,
                            .global_batch = g->batch,
                            .optimizer = FR_SGD,
                            .options = &values};

    ck_assert_msg(fr_topo_load(&t, "hgx-h200", &err) == FR_OK, "%s", err.text);
    ck_assert_int_eq(fr_strategy_parse("single", &s, &values, &err), FR_OK);
    ck_assert_int_eq(fr_cost_model_new(&costs, t->types, t->n_types, &rooflines, &err), FR_OK);
    in.topo = t;
    in.costs = costs;
    p = fr_plan_new(t, g);
    ck_assert_msg(s->plan(&in, NULL, p, &err) == FR_OK, "%s", err.text);
    ck_assert_msg(fr_plan_finish(p, &err) == FR_OK, "%s", err.text);
    fr_run_options_init(&o);
    ck_assert_msg(fr_simulate(p, &o, &r, &err) == FR_OK, "%s", err.text);
    out.time_s = r->makespan_s;
    out.peak_bytes = (double)r->devices[0].peak_by_kind[FR_BUFFER_ACTIVATION];
    out.again_s = sum_again(g, costs, t->devices[0].type);
    fr_run_free(r);
    fr_plan_free(p);
    fr_cost_model_free(costs);
    fr_topo_free(t);
    return out;
}

/* So large that a layer's input is more than the gradients of its parameters: the peak is then
 * where the backward pass begins. */
enum { BATCH = 32 };

static struct fr_graph *load(const char *spec)
{
    const struct fr_workload_options opt = {.batch = BATCH, .dtype = FR_FP16};
    struct fr_graph *g = NULL;
    struct fr_error err;

    ck_assert_msg(fr_workload_load(&g, spec, &opt, &err) == FR_OK, "%s: %s", spec, err.text);
    return g;
}

static struct outcome run_recomputed(const struct fr_graph *g, enum fr__recompute how, uint32_t n)
{
    uint32_t groups[64];
    struct fr__units units;
    struct fr__recomputed r;
    struct fr_error err;
    struct outcome out;
    const struct fr__recompute_problem in = {
        .graph = g, .units = &units, .how = how, .group_of = groups};

    ck_assert_int_eq(fr__units_find(&units, g, &err), FR_OK);
    ck_assert_uint_le(units.n_units, 64);
    fr__recompute_groups(how, n, units.n_units, NULL, groups);
    ck_assert_msg(fr__recompute(&r, &in, &err) == FR_OK, "%s", err.text);
    out = run(r.graph);
    fr__recomputed_free(&r);
    fr__units_free(&units);
    return out;
}

/* One layer of width h and its neighbours: what is kept of it, and what is beside it at the peak,
 * are multiples of s b h, so differences of models with other numbers of layers tell them. */
#define MODEL(layers) "gpt:hidden=1024,heads=16,seq=1024,vocab=1000,layers=" layers

TEST(recomputation_adds_the_time_of_what_runs_again)
{
    struct fr_graph *g = load(MODEL("4"));
    struct outcome plain = run(g);
    static const enum fr__recompute modes[] = {FR__RECOMPUTE_SELECTIVE, FR__RECOMPUTE_FULL,
                                               FR__RECOMPUTE_SOME};

    for (size_t i = 0; i < 3; i++) {
        struct outcome o = run_recomputed(g, modes[i], 2);

        ck_assert_double_gt(o.again_s, 0);
        ck_assert_double_eq_tol(o.time_s, plain.time_s + o.again_s, 1e-9 * plain.time_s);
        ck_assert_double_lt(o.peak_bytes, plain.peak_bytes);
    }
    fr_graph_free(g);
}

/* The peak grows by what a layer keeps: 34 + 5 a s/h bytes a token and unit of width, 34 where the
 * attention core runs again, 2 where all does. The fp32 statistics of two norms, 16 bytes a token,
 * come on top where they are kept. */
TEST(the_peak_grows_by_what_a_layer_keeps)
{
    struct fr_graph *four = load(MODEL("4")), *six = load(MODEL("6"));
    double tokens = BATCH * 1024.0, h = 1024, a = 16, s = 1024, unit = tokens * h;

    ck_assert_double_eq(run(six).peak_bytes - run(four).peak_bytes,
                        2 * (unit * (34 + 5 * a * s / h) + 16 * tokens));
    ck_assert_double_eq(run_recomputed(six, FR__RECOMPUTE_SELECTIVE, 0).peak_bytes -
                            run_recomputed(four, FR__RECOMPUTE_SELECTIVE, 0).peak_bytes,
                        2 * (unit * 34 + 16 * tokens));
    ck_assert_double_eq(run_recomputed(six, FR__RECOMPUTE_FULL, 1).peak_bytes -
                            run_recomputed(four, FR__RECOMPUTE_FULL, 1).peak_bytes,
                        2 * (unit * 2));
    fr_graph_free(four);
    fr_graph_free(six);
}

/* No copy runs early: when the backward pass begins, the last group is there whole, each layer with
 * its input, and of the others the input of a group. Six groups of one layer: W + 5 inputs; two
 * groups of three: 3 W + 1 input. An input is 2 bytes a token and unit of width. */
TEST(one_group_at_a_time_is_there_whole)
{
    struct fr_graph *g = load(MODEL("6"));
    double tokens = BATCH * 1024.0, h = 1024, unit = tokens * h;
    double whole = unit * (34 + 5 * 16 * 1024 / h) + 16 * tokens;
    double one = run_recomputed(g, FR__RECOMPUTE_FULL, 1).peak_bytes;
    double three = run_recomputed(g, FR__RECOMPUTE_FULL, 3).peak_bytes;

    ck_assert_double_eq_tol(three - one, 2 * whole - 4 * 2 * unit, 0.05 * whole);
    fr_graph_free(g);
}

int main(void)
{
    TCase *tc = tcase_create("recompute_runs");

    tcase_set_timeout(tc, 60);
    add_tests(tc);
    return run_case(tc, "recompute_runs");
}
