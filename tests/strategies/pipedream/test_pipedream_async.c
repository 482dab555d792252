/* tests/strategies/pipedream/test_pipedream_async.c - PipeDream's stages on a topology without a
 * flush: the pace of the slowest stage, stashed versions, sums of rounds. */
#include "config.h"

#include "sim/sim.h"
#include "tests/support/base_check.h"
#include "tests/support/strategies_case.h"
#include "topo/topo.h"
#include "workloads/workloads.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GIB (UINT64_C(1) << 30)
#define FREE_BPS 1e12

struct case_run {
    struct fr_topo *topo;
    struct fr_graph *graph;
    struct fr_plan *plan;
    struct fr_run *run;
};

static struct case_run simulate(const struct chain_case *chain, uint32_t n, uint32_t batch,
                                double bw_Bps, const char *spec)
{
    struct case_run x = {.topo = case_topo(n, bw_Bps, GIB), .graph = case_chain(chain)};
    const struct case_problem c = {x.topo, x.graph, n, batch, FR_SGD, NULL};
    struct fr_run_options o;
    struct fr_error err;

    x.plan = case_plan(&c, spec);
    fr_run_options_init(&o);
    ck_assert_msg(fr_simulate(x.plan, &o, &x.run, &err) == FR_OK, "%s", err.text);
    return x;
}

static void release(struct case_run *x)
{
    fr_run_free(x->run);
    fr_plan_free(x->plan);
    fr_graph_free(x->graph);
    fr_topo_free(x->topo);
}

/* Old versions of the weights that the device holds at most: buffers of parameters that a task
 * allocates. */
static unsigned most_stashed(const struct case_run *x, uint32_t device)
{
    const struct fr_plan_view *v = fr_plan_view(x->plan);
    double *freed_s = calloc(v->n_buffers + 1, sizeof(*freed_s));
    unsigned most = 0;

    ck_assert_ptr_nonnull(freed_s);
    for (size_t t = 0; t < v->n_tasks; t++)
        for (uint32_t i = v->free_first[t]; i < v->free_first[t + 1]; i++)
            freed_s[v->free[i]] = fmax(freed_s[v->free[i]], x->run->end_s[t]);
    for (size_t b = 0; b < v->n_buffers; b++) {
        unsigned live = 0;

        if (v->buffers[b].alloc == FR_NONE)
            continue;
        for (size_t k = 0; k < v->n_buffers; k++) {
            const struct fr_buffer *y = &v->buffers[k];

            live += y->device == device && y->kind == FR_BUFFER_PARAMETER && y->alloc != FR_NONE &&
                    x->run->start_s[y->alloc] <= x->run->start_s[v->buffers[b].alloc] &&
                    freed_s[k] > x->run->start_s[v->buffers[b].alloc] + 1e-9;
        }
        most = live > most ? live : most;
    }
    free(freed_s);
    return most;
}

static const uint64_t params3[] = {400, 400, 400};
static const double half[] = {0.5, 1.5, 1}, equal[] = {1, 1, 1};
static const struct chain_case unequal3 = {3, 1, params3, half, half, 4};
static const struct chain_case equal3 = {3, 1, params3, equal, equal, 4};

/* Stages of 1, 3 and 2 s, 8 micro-batches an iteration: 8 x 3 s. With a flush the middle one also
 * waits a second for the first: 25 s at least. */
TEST(the_slowest_stage_sets_the_interval)
{
    struct case_run x = simulate(&unequal3, 3, 8, FREE_BPS, "pipedream:straight=1,micro=1");
    struct case_run y = simulate(&unequal3, 3, 8, FREE_BPS, "pipedream:straight=1,micro=1,flush=1");

    ck_assert_double_eq_tol(x.run->iteration_s, 24, 1e-6);
    ck_assert(x.run->is_settled);
    ck_assert_double_ge(y.run->iteration_s, 25 - 1e-6);
    release(&x);
    release(&y);
}

/* Stage s of p keeps p - s versions, the newest among them. */
TEST(a_stage_keeps_as_many_versions_as_stages_are_left)
{
    struct case_run x = simulate(&equal3, 3, 8, FREE_BPS, "pipedream:straight=1,micro=1");

    ck_assert_double_eq_tol(x.run->iteration_s, 16, 1e-6);
    for (uint32_t s = 0; s < 3; s++)
        ck_assert_uint_eq(most_stashed(&x, s) + 1, 3 - s);
    release(&x);
}

/* The same stages as a schedule of `pp`: the same interval, the same memory. */
TEST(straight_stages_are_the_schedule_pipedream)
{
    struct case_run x = simulate(&equal3, 3, 8, FREE_BPS, "pipedream:straight=1,micro=1");
    struct case_run y = simulate(&equal3, 3, 8, FREE_BPS, "pp:schedule=pipedream,micro=1");

    ck_assert_double_eq_tol(x.run->iteration_s, y.run->iteration_s, 1e-9);
    for (uint32_t s = 0; s < 3; s++)
        ck_assert_uint_eq(most_stashed(&x, s), most_stashed(&y, s));
    release(&x);
    release(&y);
}

/* Layer 0 takes 3 s on three of four devices, layer 1 a second on one: a micro-batch a second. Each
 * round of three sums its gradients once, beside the next forward. */
TEST(replicas_sum_their_gradients_once_a_round)
{
    static const uint64_t params[] = {4, 4000000};
    static const double thrice[] = {1.5, 0.5};
    static const struct chain_case chain = {2, 1, params, thrice, thrice, 400};
    struct case_run x = simulate(&chain, 4, 12, 1e6, "pipedream:micro=1");
    const struct fr_plan_view *v = fr_plan_view(x.plan);
    size_t n_members = 0, n_micros = 0;

    ck_assert_double_eq_tol(x.run->iteration_s, 12, 0.02);
    for (size_t i = 0; i < v->n_tasks; i++) {
        const struct fr_task *k = &v->tasks[i];

        n_members += k->kind == FR_TASK_COLLECTIVE;
        if (k->kind == FR_TASK_COMPUTE && k->microbatch != FR_NONE && k->device < 3)
            ck_assert_uint_eq(k->device, k->microbatch % 3);
        if (k->microbatch != FR_NONE && k->microbatch >= n_micros)
            n_micros = (size_t)k->microbatch + 1;
    }
    ck_assert_uint_eq(n_micros % 12, 0);
    ck_assert_uint_eq(v->n_collectives, n_micros / 3);
    ck_assert_uint_eq(n_members, n_micros);
    release(&x);
}

/* 12 samples make no whole micro-batches of 8. */
TEST(what_has_no_steady_state_is_refused)
{
    struct fr_topo *t = case_topo(3, FREE_BPS, GIB);
    struct fr_graph *g = case_chain(&equal3);
    const struct case_problem c = {t, g, 3, 12, FR_SGD, NULL};
    struct fr_error err;

    ck_assert_int_eq(case_fails(&c, "pipedream:straight=1,micro=8", &err), FR_EUSAGE);
    ck_assert_msg(strstr(err.text, "does not divide"), "%s", err.text);
    fr_graph_free(g);
    fr_topo_free(t);
}

/* Cuts through the branches of attention leave some readers of a tensor before them and others
 * behind, and tied weights are summed in whichever stage has them: each op still runs where what it
 * reads has been made (fr_plan_finish, in case_plan, would find it otherwise). */
TEST(attention_may_be_cut_through_and_weights_tied)
{
    static const struct {
        const char *model, *spec;
        uint32_t n, batch;
        size_t n_least; /* devices in use */
    } rows[] = {
        {"bert:layers=4,hidden=256,heads=4", "pipedream:straight=1", 4, 8, 4},
        {"bert:layers=7,hidden=512,heads=8", "pipedream:straight=1", 3, 24, 3},
        {"t5:layers=2", "pipedream", 2, 16, 2},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct fr_workload_options o = {.dtype = FR_N_DTYPES, .batch = rows[i].batch};
        struct fr_topo *t;
        struct fr_graph *g;
        struct fr_error err;
        struct fr_plan *plan;
        const struct fr_plan_view *v;
        bool is_used[8] = {false};
        size_t n_used = 0;

        ck_assert_msg(fr_topo_load(&t, "dgx1-v100-32g", &err) == FR_OK, "%s", err.text);
        ck_assert_msg(fr_workload_load(&g, rows[i].model, &o, &err) == FR_OK, "%s", err.text);
        plan = case_plan(&(struct case_problem){t, g, rows[i].n, rows[i].batch, FR_SGD, NULL},
                         rows[i].spec);
        v = fr_plan_view(plan);
        for (size_t k = 0; k < v->n_tasks; k++)
            is_used[v->tasks[k].device] = true;
        for (size_t d = 0; d < rows[i].n; d++)
            n_used += is_used[d];
        ck_assert_uint_ge(n_used, rows[i].n_least);
        fr_plan_free(plan);
        fr_graph_free(g);
        fr_topo_free(t);
    }
}

int main(void)
{
    TCase *c = tcase_create("pipedream_async");

    add_tests(c);
    return run_case(c, "strategies/pipedream_async");
}
