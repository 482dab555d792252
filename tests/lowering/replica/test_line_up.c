/* Stages on devices that are joined: a hybrid cube mesh, a switch, replicas. */
#include "config.h"

#include "tests/support/strategies_case.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <stdlib.h>

enum { N = 8 };

static const uint64_t params[N] = {40, 40, 40, 40, 40, 40, 40, 40};
static const double ones[N] = {1, 1, 1, 1, 1, 1, 1, 1};

static struct fr_topo *load(const char *spec)
{
    struct fr_topo *t = NULL;
    struct fr_error err;

    ck_assert_msg(fr_topo_load(&t, spec, &err) == FR_OK, "%s", err.text);
    return t;
}

static bool has_nvlink(const struct fr_topo *t, uint32_t src, uint32_t dst)
{
    for (size_t l = 0; l < t->n_links; l++)
        if (t->links[l].kind == FR_LINK_NVLINK && t->links[l].src == t->devices[src].vertex &&
            t->links[l].dst == t->devices[dst].vertex)
            return true;
    return false;
}

static struct fr_plan *plan_on(const struct fr_topo *t, uint32_t n_devices, const char *spec,
                               struct fr_graph **g)
{
    const struct chain_case chain = {N, 8, params, ones, ones, 100};
    struct case_problem c;

    *g = case_chain(&chain);
    c = (struct case_problem){t, *g, n_devices, 32, FR_SGD, NULL};
    return case_plan(&c, spec);
}

static uint32_t src_of(const struct fr_plan_view *v, size_t i)
{
    return v->tasks[v->transfers[i].send].device;
}

static uint32_t dst_of(const struct fr_plan_view *v, size_t i)
{
    return v->tasks[v->transfers[i].recv].device;
}

/* A DGX-1V's GPUs 3 and 4 have no NVLink to each other, nor have 1 and 4 (NVIDIA DGX-1 white paper,
 * WP-08437-002, figure 4), so eight stages in rank order cross the sockets. A hybrid cube mesh has
 * Hamiltonian cycles over NVLink alone, which is how NCCL makes its rings. */
TEST(stages_that_follow_each_other_have_an_nvlink_on_a_cube_mesh)
{
    static const char *const specs[] = {"pp:stages=8,micro=4", "mp"};
    struct fr_topo *t = load("dgx1-v100");

    for (size_t k = 0; k < 2; k++) {
        struct fr_graph *g;
        struct fr_plan *p = plan_on(t, N, specs[k], &g);
        const struct fr_plan_view *v = fr_plan_view(p);

        ck_assert_uint_ge(v->n_transfers, 2 * (N - 1));
        for (size_t i = 0; i < v->n_transfers; i++)
            ck_assert(has_nvlink(t, src_of(v, i), dst_of(v, i)));
        fr_plan_free(p);
        fr_graph_free(g);
    }
    fr_topo_free(t);
}

/* Only the one hop from machine to machine leaves a machine, as in rank order. */
TEST(a_pipeline_over_two_machines_crosses_the_network_once_each_way)
{
    static const uint32_t devices[N] = {0, 1, 2, 3, 8, 9, 10, 11};
    const struct chain_case chain = {N, 8, params, ones, ones, 100};
    struct fr_topo *t = load("2x dgx1-v100 via ib:100Gbps");
    struct fr_graph *g = case_chain(&chain);
    struct fr_plan *p = fr_plan_new(t, g);
    struct fr_option_values values;
    const struct fr_strategy *s;
    const struct fr_plan_view *v;
    struct fr_problem in = {.topo = t, .graph = g, .devices = devices, .n_devices = N};
    struct fr_error err;
    const struct fr_cost_options rooflines = {.datasheet_only = true};
    struct fr_cost_model *costs = NULL;
    unsigned n_across = 0;

    in.global_batch = 4;
    in.options = &values;
    ck_assert_int_eq(fr_cost_model_new(&costs, t->types, t->n_types, &rooflines, &err), FR_OK);
    in.costs = costs;
    ck_assert_int_eq(fr_strategy_parse("pp:stages=8,micro=4", &s, &values, &err), FR_OK);
    ck_assert_msg(s->plan(&in, NULL, p, &err) == FR_OK, "%s", err.text);
    ck_assert_msg(fr_plan_finish(p, &err) == FR_OK, "%s", err.text);
    v = fr_plan_view(p);
    for (size_t i = 0; i < v->n_transfers; i++)
        n_across += t->devices[src_of(v, i)].machine != t->devices[dst_of(v, i)].machine;
    ck_assert_uint_eq(n_across, 2); /* one micro-batch: an activation and its gradient */
    fr_plan_free(p);
    fr_cost_model_free(costs);
    fr_graph_free(g);
    fr_topo_free(t);
}

/* Where every pair is joined alike nothing is gained, and stage s stands on rank s. */
TEST(stages_stay_in_rank_order_behind_a_switch)
{
    struct fr_topo *t = load("dgx-a100-80g");
    struct fr_graph *g;
    struct fr_plan *p = plan_on(t, N, "pp:stages=8,micro=4", &g);
    const struct fr_plan_view *v = fr_plan_view(p);

    for (size_t i = 0; i < v->n_transfers; i++)
        ck_assert_int_eq(abs((int)src_of(v, i) - (int)dst_of(v, i)), 1);
    fr_plan_free(p);
    fr_graph_free(g);
    fr_topo_free(t);
}

/* Stage s of replica r of 2 stands on device 2 s + r. */
TEST(replicas_of_a_stage_stay_side_by_side)
{
    struct fr_topo *t = load("dgx1-v100");
    struct fr_graph *g;
    struct fr_plan *p = plan_on(t, N, "pp:stages=4,micro=4", &g);
    const struct fr_plan_view *v = fr_plan_view(p);

    for (size_t i = 0; i < v->n_transfers; i++)
        ck_assert_int_eq(abs((int)src_of(v, i) - (int)dst_of(v, i)), 2);
    fr_plan_free(p);
    fr_graph_free(g);
    fr_topo_free(t);
}

int main(void)
{
    TCase *c = tcase_create("all");

    add_tests(c);
    return run_case(c, "strategies line_up");
}
