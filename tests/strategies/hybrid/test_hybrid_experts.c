/* tests/strategies/hybrid/test_hybrid_experts.c - experts that get more tokens than others.
 *
 * Mixtral of 96 tokens a sample, two experts a token, eight experts on four ranks: 24 rows of each
 * sample for an expert. With skew F the first rank's two experts get 24 F rows each and the others
 * (4 - F)/3 of 24; F = 2 and 2.5 give whole rows. Nothing but what experts do and the exchange of
 * tokens depends on F, and all of that grows with F, so
 *
 *     T(F) = T(1) + (F - 1) X,
 *
 * where over links without end X is what the experts' ops take at F = 1.
 */
#include "config.h"

#include "tests/support/base_check.h"
#include "tests/support/strategies_case.h"

#include <check.h>
#include <stdint.h>
#include <string.h>

#define MOE "mixtral:hidden=128,heads=8,kv_heads=8,ffn=256,experts=8,seq=96,vocab=1000,layers=2"

enum { N_GPUS = 4, HIDDEN = 128, FFN = 256, ROWS = 24, LAYERS = 2 };

struct outcome {
    double time_s, experts_s, flops;
};

/* Whether the op works on the rows of an expert: it is one of its own, or adds up the gradients of
 * what it reads. */
static bool is_of_expert(const struct fr_op *op)
{
    return op->phase != FR_PHASE_UPDATE &&
           (strstr(op->name, ".expert") ||
            (op->kind == FR_OP_GRAD_ADD && strstr(op->name, ".dispatch")));
}

/* Adds up what device 0 does for experts, updates left out. */
static void count_experts(struct outcome *out, const struct fr_plan *p)
{
    const struct fr_plan_view *v = fr_plan_view(p);

    for (size_t t = 0; t < v->n_tasks; t++) {
        const struct fr_task *k = &v->tasks[t];
        const struct fr_op *op = k->op == FR_NONE ? NULL : &v->graph->ops[k->op];

        if (k->kind != FR_TASK_COMPUTE || k->device != 0 || !op || !is_of_expert(op))
            continue;
        out->experts_s += v->costs[k->cost_id].mean_s;
        out->flops += op->kind == FR_OP_MATMUL ? op->flops : 0;
    }
}

static struct outcome run(const char *dispatch, double bw_Bps)
{
    struct fr_topo *topo = case_topo(N_GPUS, bw_Bps, UINT64_C(1) << 36);
    struct case_problem c = {topo, NULL, N_GPUS, N_GPUS, FR_SGD, NULL};
    const struct fr_workload_options o = {.batch = 1, .dtype = FR_FP32};
    struct outcome out = {0};
    struct fr_run_options options;
    struct fr_graph *g = NULL;
    struct fr_run *r = NULL;
    struct fr_plan *p;
    struct fr_error err;
    char spec[64];

    ck_assert_msg(fr_workload_load(&g, MOE, &o, &err) == FR_OK, "%s", err.text);
    c.graph = g;
    snprintf(spec, sizeof(spec), "hybrid:ep=4,overlap=0,dispatch=%s", dispatch);
    p = case_plan(&c, spec);
    count_experts(&out, p);
    fr_run_options_init(&options);
    ck_assert_msg(fr_simulate(p, &options, &r, &err) == FR_OK, "%s", err.text);
    out.time_s = r->makespan_s;
    fr_run_free(r);
    fr_plan_free(p);
    fr_graph_free(g);
    fr_topo_free(topo);
    return out;
}

/* Three products, each forward and two backward, on the rows of four ranks' samples. */
TEST(the_slowest_rank_follows_the_skew_of_its_experts)
{
    double even_flops = LAYERS * 3.0 * 3 * 2 * (2 * ROWS * N_GPUS) * HIDDEN * FFN;
    struct outcome even = run("balanced", 1e18), twice = run("skew:2", 1e18),
                   more = run("skew:2.5", 1e18);

    ck_assert_double_eq_tol(even.flops, even_flops, 1);
    ck_assert_double_eq_tol(more.flops, 2.5 * even_flops, 1);
    ck_assert_double_eq_tol(twice.time_s - even.time_s, even.experts_s, 1e-5 * even.experts_s);
    ck_assert_double_eq_tol(more.time_s - even.time_s, 1.5 * even.experts_s, 1e-5 * even.experts_s);
}

TEST(the_exchange_of_tokens_follows_the_skew_too)
{
    struct outcome even = run("balanced", 1e10), twice = run("skew:2", 1e10),
                   more = run("skew:2.5", 1e10);
    double x = twice.time_s - even.time_s;

    ck_assert_double_gt(x, even.experts_s);
    ck_assert_double_eq_tol(more.time_s - even.time_s, 1.5 * x, 1e-6 * x);
}

TEST(a_skew_of_one_is_balanced_and_so_is_zipf_of_zero)
{
    struct outcome even = run("balanced", 1e10), one = run("skew:1", 1e10),
                   flat = run("zipf:0", 1e10);

    ck_assert_double_eq_tol(one.time_s, even.time_s, 1e-12 * even.time_s);
    ck_assert_double_eq_tol(flat.time_s, even.time_s, 1e-12 * even.time_s);
}

/* H_8 = 761/280. The first rank has experts 1 and 2: (1 + 1/2) / H_8 of all rows, a quarter on
 * average, so 4 x 1.5 / H_8 = 2.208 times the mean. Rows are whole: at most half a row a sample
 * away. */
TEST(under_zipfs_law_the_first_rank_gets_its_share_of_the_harmonic_sum)
{
    struct outcome even = run("balanced", 1e10), zipf = run("zipf:1", 1e10);
    double skew = 4 * 1.5 / (761.0 / 280);

    ck_assert_double_eq_tol(zipf.flops, skew * even.flops, 0.02 * even.flops);
}

TEST(the_models_own_routing_is_taken_where_asked_for)
{
    struct outcome even = run("balanced", 1e10), own = run("model", 1e10);

    ck_assert_double_eq_tol(own.time_s, even.time_s, 1e-9 * even.time_s); /* skew=0 */
}

int main(void)
{
    TCase *c = tcase_create("hybrid_experts");

    add_tests(c);
    return run_case(c, "strategies/hybrid_experts");
}
