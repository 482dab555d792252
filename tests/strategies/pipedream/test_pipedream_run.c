/* tests/strategies/pipedream/test_pipedream_run.c - PipeDream's stages on a topology, as the engine
 * runs them. */
#include "config.h"

#include "strategies/pipedream/cluster.h"

#include "sim/sim.h"
#include "tests/support/base_check.h"
#include "tests/support/strategies_case.h"
#include "workloads/zoo/zoo.h"

#include <check.h>
#include <math.h>
#include <string.h>

#define GIB (UINT64_C(1) << 30)

/* Layer 0 takes 3 times as long as layer 1, which has nearly all parameters: three of four devices
 * for layer 0. Of all four for both, or of a straight pipeline, sums of gradients or time are
 * more. */
static const uint64_t params2[] = {4, 4000000};
static const double thrice[] = {1.5, 0.5};
static const struct chain_case chain2 = {2, 1, params2, thrice, thrice, 400};

static double makespan_s(const struct fr_plan *p, struct fr_run **run)
{
    struct fr_run_options o;
    struct fr_error err;
    double s;

    fr_run_options_init(&o);
    ck_assert_msg(fr_simulate(p, &o, run, &err) == FR_OK, "%s", err.text);
    s = (*run)->makespan_s;
    return s;
}

static uint64_t bytes_of(const struct fr_plan *p, enum fr_buffer_kind kind, uint32_t device)
{
    const struct fr_plan_view *v = fr_plan_view(p);
    uint64_t sum = 0;

    for (size_t i = 0; i < v->n_buffers; i++)
        if (v->buffers[i].kind == kind && v->buffers[i].device == device)
            sum += v->buffers[i].bytes;
    return sum;
}

/* Micro-batch b is on device b mod 3, then on device 3. */
TEST(replicas_of_a_stage_take_turns)
{
    struct fr_topo *t = case_topo(4, 1e6, GIB);
    struct fr_graph *g = case_chain(&chain2);
    struct case_problem c = {t, g, 4, 12, FR_SGD, NULL};
    struct fr_plan *p = case_plan(&c, "pipedream:flush=1,micro=1");
    const struct fr_plan_view *v = fr_plan_view(p);

    for (uint32_t d = 0; d < 3; d++) {
        ck_assert_uint_eq(bytes_of(p, FR_BUFFER_PARAMETER, d), 4);
        ck_assert_uint_eq(bytes_of(p, FR_BUFFER_GRADIENT, d), 4);
    }
    ck_assert_uint_eq(bytes_of(p, FR_BUFFER_PARAMETER, 3), 4000000);
    ck_assert_uint_eq(bytes_of(p, FR_BUFFER_GRADIENT, 3), 4000000);
    for (size_t i = 0; i < v->n_tasks; i++) {
        const struct fr_task *k = &v->tasks[i];

        if (k->kind == FR_TASK_COMPUTE && k->microbatch != FR_NONE && k->device < 3)
            ck_assert_uint_eq(k->device, k->microbatch % 3);
    }
    ck_assert_uint_eq(v->n_collectives, 1); /* layer 0's gradients, over its three */
    ck_assert_uint_eq(fr_plan_group_size(p, v->collectives[0].group), 3);
    fr_plan_free(p);
    fr_graph_free(g);
    fr_topo_free(t);
}

/* A stage that never waits gives a micro-batch a second. Filling and emptying the pipeline
 * adds less than the 4 s that one micro-batch takes, twice. */
TEST(many_micro_batches_come_at_the_pace_of_the_slowest_stage)
{
    struct fr_topo *t = case_topo(4, 1e9, GIB);
    struct fr_graph *g = case_chain(&chain2);
    struct case_problem c = {t, g, 4, 240, FR_SGD, NULL};
    struct fr_plan *p = case_plan(&c, "pipedream:flush=1,micro=1");
    struct fr_run *r;
    double s = makespan_s(p, &r);

    ck_assert(s >= 240);
    ck_assert_msg(s <= 240 + 8, "%.17g s", s);
    fr_run_free(r);
    fr_plan_free(p);
    fr_graph_free(g);
    fr_topo_free(t);
}

/* A stage of r replicas holds ceil(devices from it on / r) micro-batches a replica: two in
 * stage 0, one in stage 1. */
TEST(a_replica_begins_with_as_many_forwards_as_keep_it_busy)
{
    struct fr_topo *t = case_topo(4, 1e9, GIB);
    struct fr_graph *g = case_chain(&chain2);
    struct case_problem c = {t, g, 4, 12, FR_SGD, NULL};
    struct fr_plan *p = case_plan(&c, "pipedream:flush=1,micro=1");
    const struct fr_plan_view *v = fr_plan_view(p);
    unsigned n_forward[4] = {0};
    bool has_turned[4] = {false};

    for (size_t i = 0; i < v->n_tasks; i++) {
        const struct fr_task *k = &v->tasks[i];

        if (k->kind != FR_TASK_COMPUTE || k->cost_id == FR_NONE)
            continue;
        if (k->phase == FR_PHASE_FORWARD && !has_turned[k->device])
            n_forward[k->device]++;
        has_turned[k->device] |= k->phase == FR_PHASE_BACKWARD_DATA;
    }
    for (int d = 0; d < 3; d++)
        ck_assert_uint_eq(n_forward[d], 2);
    ck_assert_uint_eq(n_forward[3], 1);
    fr_plan_free(p);
    fr_graph_free(g);
    fr_topo_free(t);
}

/* Two servers of two: each stage of an outer part that is on both servers stays on its server. */
TEST(an_outer_replica_is_a_server_of_its_own)
{
    static const struct fr_stage_part outer[] = {{0, 2, 2, 0}},
                                      inner[] = {{0, 1, 1, 0}, {1, 2, 1, 0}};
    static const struct fr_stage_split splits[] = {
        {.level = 1, .begin = 0, .end = 2, .n_parts = 1, .parts = outer},
        {.level = 0, .begin = 0, .end = 2, .n_parts = 2, .parts = inner}};
    static const struct fr_stage stages[] = {{.replicas = 2}, {.replicas = 2}};
    const struct fr_stage_plan plan = {.n_levels = 2,
                                       .machines = {2, 2},
                                       .n_stages = 2,
                                       .stages = stages,
                                       .n_splits = 2,
                                       .splits = splits};
    const uint32_t devices[] = {10, 11, 20, 21};
    struct fr__arena *a = fr__arena_new();
    struct fr__pd_seats s;
    struct fr_error err;

    ck_assert_int_eq(fr__pd_seat(&s, &plan, devices, a, &err), FR_OK);
    ck_assert_uint_eq(s.most, 2);
    ck_assert_uint_eq(s.devices[0], 10);
    ck_assert_uint_eq(s.devices[1], 20);
    ck_assert_uint_eq(s.devices[2], 11);
    ck_assert_uint_eq(s.devices[3], 21);
    fr__arena_free(a);
}

static void expect_refused(const struct case_problem *c, const char *spec, const char *words)
{
    struct fr_error err;

    ck_assert_int_ne(case_fails(c, spec, &err), FR_OK);
    ck_assert_msg(strstr(err.text, words), "%s", err.text);
}

TEST(what_cannot_be_run_is_said)
{
    struct fr_topo *t = case_topo(4, 1e6, GIB);
    struct fr_graph *g = case_chain(&chain2);
    struct case_problem c = {t, g, 4, 12, FR_SGD, NULL}, few = {t, g, 4, 2, FR_SGD, NULL};

    expect_refused(&c, "pipedream:flush=1,micro=13", "micro=13 is more than the 12 samples");
    expect_refused(&c, "pipedream:machines=3", "does not make 4 GPUs");
    expect_refused(&c, "pipedream:straight=1", "a place to cut at");
    expect_refused(&few, "pipedream:flush=1,micro=1",
                   "2 micro-batches leave some of the 3 replicas");
    fr_graph_free(g);
    fr_topo_free(t);
}

/* gpt's output layer uses the embedding: where the two stages have different numbers of replicas
 * that is refused, else it runs. */
TEST(tied_weights_run_or_are_refused)
{
    static const struct fr_workload_options opt = {.batch = 8, .dtype = FR_N_DTYPES};
    struct fr_topo *t = case_topo(4, 1e9, 8 * GIB);
    struct fr_graph *g = NULL;
    struct fr_error err;
    struct case_problem c;
    struct fr_plan *p;
    struct fr_run *r;

    ck_assert_int_eq(
        fr__zoo_load(&g, "gpt:layers=4,hidden=64,heads=4,seq=32,vocab=1000", &opt, &err), FR_OK);
    c = (struct case_problem){t, g, 4, 16, FR_ADAM, NULL};
    p = case_plan(&c, "pipedream:flush=1,straight=1,micro=1");
    ck_assert_double_gt(makespan_s(p, &r), 0);
    fr_run_free(r);
    fr_plan_free(p);
    fr_graph_free(g);
    fr_topo_free(t);
}

/* A layer of GPT-NeoX has two branches, attention and MLP, that read one tensor. XLA sums their
 * gradients inside the kernels of the norms, so that the backward pass of one branch reads that of
 * the other, which no stage may begin between. */
TEST(no_stage_parts_branches_whose_gradients_one_kernel_sums)
{
    static const struct fr_workload_options opt = {
        .batch = 8, .dtype = FR_FP32, .fusions = 1U << FR_FUSE_XLA};
    struct fr_graph *g = NULL;
    struct fr_error err;

    ck_assert_msg(fr_workload_load(&g,
                                   "gpt-neox:layers=2,hidden=256,heads=4,ffn=1024,seq=64,vocab=512",
                                   &opt, &err) == FR_OK,
                  "%s", err.text);
    for (uint32_t n = 2; n <= 8; n++) {
        struct fr_topo *t = case_topo(n, 1e9, 8 * GIB);
        struct case_problem c = {t, g, n, 32 * n, FR_SGD, NULL};
        struct fr_plan *p = case_plan(&c, "pipedream:straight=1,micro=8");
        struct fr_run *r;

        ck_assert_double_gt(makespan_s(p, &r), 0);
        fr_run_free(r);
        fr_plan_free(p);
        fr_topo_free(t);
    }
    fr_graph_free(g);
}

int main(void)
{
    TCase *c = tcase_create("pipedream_run");

    add_tests(c);
    return run_case(c, "strategies/pipedream_run");
}
