/* tests/strategies/hybrid/test_hybrid_overlap.c - gradients of a pipeline's stages leave during
 * their last backward pass, and updated parameters come back beside the next forward pass.
 *
 * Two stages of two layers, two replicas, two micro-batches; a layer takes 1 s forward and 1 s for
 * each gradient; a message between stages takes c = 0.5 s. 1F1B, in seconds:
 *
 *     stage 0  F0 0-2   F1 2-4                B0 8+2c-12+2c   B1 14+2c-18+2c = 15-19
 *     stage 1  F0 2+c-4+c  B0 4+c-8+c  F1 8+c-10+c  B1 10+c-14+c = 10.5-14.5
 *
 * In B1 the upper layer's gradients are complete after half of it, the lower layer's at its end. A
 * layer has 1.5e9 bytes, on links of 1e9 bytes a second between two replicas: an all-reduce takes 2
 * 1/2 1.5 = 1.5 s, a reduce-scatter or a gather 0.75 s.
 */
#include "config.h"

#include "lowering/schedules/schedule.h"
#include "tests/support/base_check.h"
#include "tests/support/strategies_case.h"

#include <check.h>
#include <math.h>
#include <string.h>

#define GIB (UINT64_C(1) << 30)
#define LAYER_BYTES UINT64_C(1500000000)

enum { MAX_LAYERS = 16 };

struct outcome {
    struct fr_topo *topo;
    struct fr_graph *graph;
    struct fr_plan *plan;
    struct fr_run *run;
};

/* Layers of 1 + 2 s; a replica has `samples`. */
static struct outcome simulate(unsigned n_layers, uint64_t layer_bytes, uint64_t growth,
                               uint64_t act_bytes, uint32_t n_gpus, uint32_t samples,
                               const char *spec)
{
    uint64_t params[MAX_LAYERS];
    double forward_s[MAX_LAYERS], backward_s[MAX_LAYERS];
    const struct chain_case chain = {n_layers, 2, params, forward_s, backward_s, act_bytes};
    struct case_problem c = {NULL, NULL, n_gpus, samples, FR_SGD, NULL};
    struct fr_run_options o;
    struct outcome out;
    struct fr_error err;

    for (unsigned i = 0; i < MAX_LAYERS; i++) {
        params[i] = layer_bytes + i * growth;
        forward_s[i] = 1;
        backward_s[i] = 2;
    }
    c.topo = out.topo = case_topo(n_gpus, 1e9, 200 * GIB);
    c.graph = out.graph = case_chain(&chain);
    out.plan = case_plan(&c, spec);
    fr_run_options_init(&o);
    ck_assert_msg(fr_simulate(out.plan, &o, &out.run, &err) == FR_OK, "%s: %s", spec, err.text);
    return out;
}

static void release(struct outcome *x)
{
    fr_run_free(x->run);
    fr_plan_free(x->plan);
    fr_graph_free(x->graph);
    fr_topo_free(x->topo);
}

/* Start of the n-th collective of a kind on a device, in the order in which they start; infinity:
 * there are fewer. */
static double start_of(const struct outcome *x, uint32_t device, enum fr_collective_kind kind,
                       unsigned n)
{
    const struct fr_plan_view *v = fr_plan_view(x->plan);
    double after_s = -1, next_s = 0;

    for (unsigned k = 0; k <= n; k++, after_s = next_s) {
        next_s = INFINITY;
        for (size_t t = 0; t < v->n_tasks; t++)
            if (v->tasks[t].kind == FR_TASK_COLLECTIVE && v->tasks[t].device == device &&
                v->collectives[v->tasks[t].collective].kind == kind &&
                x->run->start_s[t] > after_s && x->run->start_s[t] < next_s)
                next_s = x->run->start_s[t];
    }
    return next_s;
}

/* ---- the case above ---- */

static const struct {
    const char *options;
    double end_s;
} rows[] = {
    /* 17-18.5 and 19-20.5 beside the lower layer's gradients */
    {"bucket=1B", 20.5},
    {"bucket=1B,schedule=gpipe", 20.5}, /* micro-batch 0 is the last */
    {"", 20.5},                         /* Megatron-LM's bucket is smaller than a layer */
    {"bucket=100GB", 22},               /* one bucket, complete at 19 */
    {"overlap=0", 22},
    {"bucket=1B,overlap=0", 22},
    /* scattered 17-17.75 and 19-19.75, then both gathered */
    {"bucket=1B,zero=1", 21.25},
    {"bucket=1B,zero=1,overlap=0", 22},
    /* all is 0.75 s later, for the lower layer's parameters; 19.75-20.5 the last scatter */
    {"bucket=1B,zero=1,overlap-gather=1", 20.5},
};

LOOP_TEST(a_small_pipeline_takes_the_time_worked_out_by_hand, 0, sizeof(rows) / sizeof(rows[0]))
{
    char spec[120];

    for (int fold = 0; fold < 2; fold++) {
        struct outcome x;

        snprintf(spec, sizeof(spec), "hybrid:pp=2,micro=2,fold=%d%s%s", fold,
                 *rows[_i].options ? "," : "", rows[_i].options);
        x = simulate(4, LAYER_BYTES, 0, 500000000, 4, 8, spec);
        ck_assert_msg(fabs(x.run->makespan_s - rows[_i].end_s) < 1e-9, "%s: %.17g s, derived %g",
                      spec, x.run->makespan_s, rows[_i].end_s);
        release(&x);
    }
}

TEST(each_stage_begins_its_sums_by_itself)
{
    struct outcome x = simulate(4, LAYER_BYTES, 0, 500000000, 4, 8, "hybrid:pp=2,micro=2,fold=0");

    ck_assert_double_eq_tol(start_of(&x, 0, FR_ALL_REDUCE, 0), 17, 1e-9);
    ck_assert_double_eq_tol(start_of(&x, 0, FR_ALL_REDUCE, 1), 19, 1e-9);
    ck_assert_double_eq_tol(start_of(&x, 2, FR_ALL_REDUCE, 0), 12.5, 1e-9);
    ck_assert_double_eq_tol(start_of(&x, 2, FR_ALL_REDUCE, 1), 14.5, 1e-9);
    ck_assert(isinf(start_of(&x, 0, FR_ALL_REDUCE, 2)));
    release(&x);
}

/* ---- gathers beside the forward pass ---- */

/* One stage, two replicas, three layers. Gathers of 3 s: one after the other, 0-3, 3-6, 6-9; the
 * last forward pass is 9-10. Gathers of 0.5 s: the third waits until the second layer asks for its
 * parameters, when the first is done: 0-0.5, 0.5-1, 1.5-2. */
TEST(a_gather_begins_when_the_set_before_is_asked_for)
{
    static const struct {
        uint64_t bytes;
        double starts_s[3];
    } cases[] = {{UINT64_C(6000000000), {0, 3, 6}}, {UINT64_C(1000000000), {0, 0.5, 1.5}}};

    for (size_t i = 0; i < 2; i++) {
        struct outcome x =
            simulate(3, cases[i].bytes, 0, 100, 2, 4, "hybrid:zero=1,bucket=1B,overlap-gather=1");

        for (unsigned k = 0; k < 3; k++)
            ck_assert_double_eq_tol(start_of(&x, 0, FR_ALL_GATHER, k), cases[i].starts_s[k], 1e-9);
        release(&x);
    }
}

/* Two stages a device, four times over: each of one layer, whose gather takes 0.75 s. Those of the
 * first two are gathered at once. The first micro-batch is in stage 0 at 0.75-1.75, in 1 at
 * 2.25-3.25, in 2 (the second of device 0) at 3.75-4.75, in 4 at 6.75-7.75. */
TEST(virtual_stages_are_gathered_one_ahead)
{
    static const double starts_s[] = {0, 0.75, 4.75, 7.75};
    struct outcome x = simulate(8, LAYER_BYTES, 0, 500000000, 4, 8,
                                "hybrid:pp=2,virtual=4,micro=2,zero=1,bucket=1B,overlap-gather=1");

    for (unsigned k = 0; k < 4; k++)
        ck_assert_double_eq_tol(start_of(&x, 0, FR_ALL_GATHER, k), starts_s[k], 1e-9);
    ck_assert(isinf(start_of(&x, 0, FR_ALL_GATHER, 4)));
    release(&x);
}

/* Twelve layers of 30 MB, 4 bytes a parameter, on two replicas. PyTorch's DDP closes a bucket with
 * 25 MiB, that is with each layer; Megatron-LM with 40 million parameters, that is with six;
 * DeepSpeed's ZeRO-2, which scatters both micro-batches, with 500 million, that is never. */
TEST(buckets_are_those_of_the_framework_that_trains_so)
{
    static const struct {
        const char *options;
        enum fr_collective_kind kind;
        unsigned n_buckets;
    } cases[] = {{"", FR_ALL_REDUCE, 12},
                 {"zero=1,", FR_REDUCE_SCATTER, 2},
                 {"zero=1,bucket=25MiB,", FR_REDUCE_SCATTER, 12},
                 {"zero=2,", FR_REDUCE_SCATTER, 2},
                 {"zero=2,bucket=150MB,", FR_REDUCE_SCATTER, 6}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char spec[80];
        struct outcome x;

        snprintf(spec, sizeof(spec), "hybrid:%smicro=2", cases[i].options);
        x = simulate(12, 30000000, 0, 100, 2, 8, spec);
        ck_assert_msg(isfinite(start_of(&x, 0, cases[i].kind, cases[i].n_buckets - 1)), "%s", spec);
        ck_assert_msg(isinf(start_of(&x, 0, cases[i].kind, cases[i].n_buckets)), "%s", spec);
        release(&x);
    }
}

/* ---- every schedule ---- */

/* The latest end of the weight gradients whose bytes are those of the collective. */
static double complete_s(const struct outcome *x, uint32_t device, double bytes)
{
    const struct fr_plan_view *v = fr_plan_view(x->plan);
    double end_s = 0;

    for (size_t t = 0; t < v->n_tasks; t++) {
        const struct fr_op *op;

        if (v->tasks[t].kind != FR_TASK_COMPUTE || v->tasks[t].device != device)
            continue;
        op = &v->graph->ops[v->tasks[t].op];
        if (op->phase == FR_PHASE_BACKWARD_WEIGHT &&
            fabs((double)v->graph->tensors[op->first_tensor].bytes - bytes) < 0.5)
            end_s = x->run->end_s[t] > end_s ? x->run->end_s[t] : end_s;
    }
    return end_s;
}

/* Layers have different bytes, which tell whose gradients a bucket has. */
static void check_sums(const struct outcome *x, const char *spec)
{
    const struct fr_plan_view *v = fr_plan_view(x->plan);
    unsigned n = 0;

    for (size_t t = 0; t < v->n_tasks; t++) {
        double ready_s;

        if (v->tasks[t].kind != FR_TASK_COLLECTIVE)
            continue;
        ready_s = complete_s(x, v->tasks[t].device, v->collectives[v->tasks[t].collective].bytes);
        ck_assert_msg(ready_s > 0 && x->run->start_s[t] > ready_s - 1e-9,
                      "%s: a sum starts at %g s, its gradients are complete at %g s", spec,
                      x->run->start_s[t], ready_s);
        n++;
    }
    ck_assert_msg(n > 0, "%s sums nothing", spec);
}

/* Schedules of one copy; the others are refused. */
START_TEST(no_gradient_leaves_before_all_micro_batches_have_added_to_it)
{
    const struct fr_schedule_kind *k = fr_schedule_kind_at((size_t)_i);
    double end_s[2];

    if (k->weights != FR_WEIGHTS_FLUSH || k->placement == FR_STAGES_TWO)
        return;
    for (int overlap = 0; overlap < 2; overlap++) {
        char spec[120];
        struct outcome x;

        snprintf(spec, sizeof(spec), "hybrid:pp=4,micro=2,bucket=1B,schedule=%s,overlap=%d",
                 k->name, overlap);
        x = simulate(16, 200000000, 8000000, 100, 8, 32, spec);
        if (overlap)
            check_sums(&x, spec);
        end_s[overlap] = x.run->makespan_s;
        release(&x);
    }
    ck_assert_msg(end_s[1] < end_s[0], "%s: %g s with overlap, %g s without", k->name, end_s[1],
                  end_s[0]);
}
END_TEST

int main(void)
{
    TCase *c = tcase_create("hybrid_overlap");
    int n_kinds = 0;

    while (fr_schedule_kind_at((size_t)n_kinds))
        n_kinds++;
    add_tests(c);
    tcase_add_loop_test(c, no_gradient_leaves_before_all_micro_batches_have_added_to_it, 0,
                        n_kinds);
    return run_case(c, "strategies/hybrid_overlap");
}
