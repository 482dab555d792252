/* tests/strategies/test_pipeline_runs.c - every synchronous schedule in the engine takes the time
 * of its replay, and holds as many micro-batches, where stages are equal and links are free. */
#include "config.h"

#include "lowering/partition/timed.h"
#include "tests/support/base_check.h"
#include "tests/support/strategies_case.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

#define GIB (UINT64_C(1) << 30)
#define FREE_BPS 1e18 /* transfers of some 100 bytes take 1e-16 s */

enum { MAX_LAYERS = 16 };

struct line {
    struct fr_schedule *schedule;
    struct fr_topo *topo;
    struct fr_graph *graph;
    struct fr_plan *plan;
    struct fr_run *run;
};

/* A layer a stage: forward 1 s, each gradient 1 s. false: the kind does not take these sizes. */
static bool simulate(struct line *x, const char *name, uint32_t p, uint32_t m)
{
    const struct fr_schedule_spec spec = {
        .name = name, .n_ranks = p, .n_micros = m, .backward = FR_BACKWARD_DEFAULT};
    uint64_t params[MAX_LAYERS];
    double forward_s[MAX_LAYERS], backward_s[MAX_LAYERS];
    struct case_problem c = {.n_devices = p, .global_batch = 2 * m, .optimizer = FR_SGD};
    struct fr_run_options o;
    struct fr_error err = {.code = FR_OK};
    char text[80];

    if (fr_schedule_get(&x->schedule, &spec, &err) != FR_OK)
        return false;
    ck_assert_uint_le(x->schedule->n_stages, MAX_LAYERS);
    for (int i = 0; i < MAX_LAYERS; i++) {
        params[i] = 40;
        forward_s[i] = 1;
        backward_s[i] = 2;
    }
    x->topo = case_topo(p, FREE_BPS, GIB);
    x->graph = case_chain(&(struct chain_case){.n = x->schedule->n_stages,
                                               .batch = 2,
                                               .params = params,
                                               .forward_s = forward_s,
                                               .backward_s = backward_s,
                                               .act_bytes = 100});
    c.topo = x->topo;
    c.graph = x->graph;
    snprintf(text, sizeof(text), "pp:micro=2,schedule=%s", name);
    x->plan = case_plan(&c, text);
    fr_run_options_init(&o);
    ck_assert_msg(fr_simulate(x->plan, &o, &x->run, &err) == FR_OK, "%s", err.text);
    return true;
}

static void release(struct line *x)
{
    fr_run_free(x->run);
    fr_plan_free(x->plan);
    fr_graph_free(x->graph);
    fr_topo_free(x->topo);
    fr_schedule_free(x->schedule);
}

static bool has_pairs(const struct fr_schedule *s)
{
    for (size_t i = 0; i < s->n_actions; i++)
        if (s->actions[i].with != FR_ACTION_NONE)
            return true;
    return false;
}

/* Most forward outputs that live at once on the device, over the run. */
static uint32_t most_live(const struct line *x, uint32_t device)
{
    const struct fr_plan_view *v = fr_plan_view(x->plan);
    double *freed_s = calloc(v->n_buffers + 1, sizeof(*freed_s));
    uint32_t most = 0;

    ck_assert_ptr_nonnull(freed_s);
    for (size_t t = 0; t < v->n_tasks; t++)
        for (uint32_t i = v->free_first[t]; i < v->free_first[t + 1]; i++)
            if (x->run->end_s[t] > freed_s[v->free[i]])
                freed_s[v->free[i]] = x->run->end_s[t];
    for (size_t b = 0; b < v->n_buffers; b++) {
        uint32_t live = 0;
        double now_s;

        if (v->buffers[b].alloc == FR_NONE)
            continue;
        now_s = x->run->start_s[v->buffers[b].alloc];
        for (size_t k = 0; k < v->n_buffers; k++) {
            const struct fr_buffer *y = &v->buffers[k];

            live += y->device == device && y->kind == FR_BUFFER_ACTIVATION && y->op != FR_NONE &&
                    v->graph->ops[y->op].phase == FR_PHASE_FORWARD &&
                    x->run->start_s[y->alloc] <= now_s && freed_s[k] > now_s + 1e-9;
        }
        most = live > most ? live : most;
    }
    free(freed_s);
    return most;
}

/* All stages alike, free links; of a pair the forward first, handed on when it is done. */
static double timed(const struct fr_schedule *s)
{
    struct fr__timed_stage stages[MAX_LAYERS];
    struct fr__timed *t;
    struct fr_error err;
    double makespan_s;

    for (int i = 0; i < MAX_LAYERS; i++)
        stages[i] = (struct fr__timed_stage){.forward_s = 1, .input_s = 1, .weight_s = 1};
    ck_assert_int_eq(fr__timed_new(&t, s, &err), FR_OK);
    makespan_s = fr__timed_run(t, stages, NULL);
    fr__timed_free(t);
    return makespan_s;
}

/* The engine takes what lowering/partition/timed.h says. Without pairs that is the replay of
 * schedules; a pair counts as one action there, while here the pass whose inputs come first goes
 * first and is handed on when it is done. Links that are nearly free still take 1e-16 s a
 * transfer. */
static void check(const struct line *x, uint32_t m)
{
    const struct fr_schedule *s = x->schedule;
    struct fr_replay r;
    struct fr_error err;

    ck_assert_int_eq(fr_schedule_replay(&r, s, NULL, &err), FR_OK);
    ck_assert_msg(fabs(x->run->makespan_s - timed(s)) < 1e-9,
                  "%s of %u ranks, %u micro-batches: %g s, not %g", s->name, s->n_ranks, m,
                  x->run->makespan_s, timed(s));
    if (has_pairs(s)) {
        ck_assert_double_le(timed(s), r.makespan);
    } else {
        ck_assert_double_eq(timed(s), r.makespan);
        for (uint32_t d = 0; d < s->n_ranks; d++)
            ck_assert_msg(most_live(x, d) == r.live_weight[d],
                          "%s of %u ranks, %u micro-batches: rank %u holds %u, not %u", s->name,
                          s->n_ranks, m, d, most_live(x, d), r.live_weight[d]);
    }
    fr_replay_fini(&r);
}

START_TEST(the_engine_takes_the_time_of_the_replay)
{
    const struct fr_schedule_kind *k = fr_schedule_kind_at((size_t)_i);
    unsigned n = 0;

    for (uint32_t p = 1; p <= 5 && k->weights == FR_WEIGHTS_FLUSH; p++)
        for (uint32_t m = 2 * p; m <= 3 * p; m += p) {
            struct line x;

            if (!simulate(&x, k->name, p, m))
                continue;
            check(&x, m);
            release(&x);
            n++;
        }
    ck_assert(n >= 4 || k->weights != FR_WEIGHTS_FLUSH);
}
END_TEST

/* Weight gradients of zb-h1 fill gaps in any order over stages, so a cast of weights that a cut
 * parted from its layer would wait for the other stage's. */
TEST(no_cut_parts_a_cast_of_weights_from_its_layer)
{
    struct fr_workload_options o = {.dtype = FR_AMP, .batch = 12};
    struct fr_graph *g;
    struct fr_error err;

    ck_assert_msg(fr_workload_load(&g, "lenet", &o, &err) == FR_OK, "%s", err.text);
    for (uint32_t n = 2; n <= 6; n++) {
        struct fr_topo *t = case_topo(n, 1e10, UINT64_C(8) << 30);
        struct fr_plan *plan =
            case_plan(&(struct case_problem){t, g, n, 12, FR_SGD, NULL}, "pp:schedule=zb-h1");
        const struct fr_plan_view *v = fr_plan_view(plan);
        uint32_t device_of[256] = {0};

        ck_assert_uint_lt(g->n_ops, 256);
        for (size_t k = 0; k < v->n_tasks; k++)
            if (v->tasks[k].kind == FR_TASK_COMPUTE && v->tasks[k].op != FR_NONE)
                device_of[v->tasks[k].op] = v->tasks[k].device;
        for (size_t e = 0; e < g->n_edges; e++)
            if (strstr(g->ops[g->edges[e].src].name, "weight_cast") &&
                g->ops[g->edges[e].src].phase == FR_PHASE_FORWARD && g->edges[e].bytes > 0)
                ck_assert_uint_eq(device_of[g->edges[e].src], device_of[g->edges[e].dst]);
        fr_plan_free(plan);
        fr_topo_free(t);
    }
    fr_graph_free(g);
}

#define CUTS "micro=1,cuts=conv2_1;conv3_1;conv4_1;fc6.bias;fc6.relu;fc7.relu;fc8"

/* Micro-batches are repeated from one that was made with care. A layer without parameters of its
 * own to differentiate lets the gradient through to the stage before, so that a block of weight
 * gradients may bring a tensor that another block of its device reads, or find it there: only
 * micro-batches in which the same block comes first can be repeated. fr_plan_finish, in case_plan,
 * finds a buffer that is freed in the wrong place. */
LOOP_TEST(micro_batches_whose_weight_gradients_come_at_other_times_are_not_copies, 0, 4)
{
    static const char *const specs[] = {"pp:schedule=zb-v," CUTS, "pp:schedule=zb-v-auto," CUTS,
                                        "pp:schedule=dualpipe-v," CUTS, "pp:schedule=v-half," CUTS};
    struct fr_workload_options o = {.dtype = FR_FP32, .batch = 24};
    struct fr_error err;
    struct fr_graph *g;
    struct fr_topo *t = case_topo(4, 24e9, UINT64_C(24) << 30);
    struct fr_plan *plan;
    const struct fr_plan_view *v;
    size_t n_of[24] = {0};

    ck_assert_msg(fr_workload_load(&g, "vgg11", &o, &err) == FR_OK, "%s", err.text);
    plan = case_plan(&(struct case_problem){t, g, 4, 24, FR_SGD, NULL}, specs[_i]);
    v = fr_plan_view(plan);
    for (size_t k = 0; k < v->n_tasks; k++)
        if (v->tasks[k].kind == FR_TASK_COMPUTE && v->tasks[k].microbatch < 24)
            n_of[v->tasks[k].microbatch]++;
    for (uint32_t m = 1; m < 24; m++)
        ck_assert_uint_eq(n_of[m], n_of[0]);
    fr_plan_free(plan);
    fr_topo_free(t);
    fr_graph_free(g);
}

/* DualPipeV cuts some backward passes of a stage and leaves others whole. A copy of a whole one
 * once looked for its tensors in the halves that its pattern had not. */
TEST(a_micro_batch_reads_its_own_tensors)
{
    struct fr_workload_options o = {.dtype = FR_FP32, .batch = 8};
    struct fr_error err;
    struct fr_graph *g;
    struct fr_topo *t = case_topo(2, 24e9, UINT64_C(24) << 30);
    struct fr_plan *plan;
    const struct fr_plan_view *v;
    size_t n_read = 0;

    ck_assert_msg(fr_workload_load(&g, "densenet121", &o, &err) == FR_OK, "%s", err.text);
    plan = case_plan(&(struct case_problem){t, g, 2, 8, FR_SGD, NULL}, "pp:schedule=dualpipe-v");
    v = fr_plan_view(plan);
    for (uint32_t a = 0; a < v->n_tasks; a++)
        for (uint32_t i = v->succ_first[a]; i < v->succ_first[a + 1]; i++) {
            const struct fr_task *from = &v->tasks[a], *to = &v->tasks[v->succ[i]];

            if (from->kind != FR_TASK_COMPUTE || to->kind != FR_TASK_COMPUTE ||
                from->microbatch == FR_NONE || to->microbatch == FR_NONE)
                continue;
            ck_assert_uint_eq(from->microbatch, to->microbatch);
            n_read++;
        }
    ck_assert_uint_gt(n_read, 8 * g->n_ops);
    fr_plan_free(plan);
    fr_topo_free(t);
    fr_graph_free(g);
}

/* What a T5's encoder made goes to all stages of the decoder. Two stages of a rank ended blocks of
 * their own, and it left for a later stage with the later block's end, but in the order of the
 * earlier one: in strict order that was a deadlock. */
TEST(what_several_stages_read_leaves_with_its_own_block)
{
    struct fr_workload_options o = {.dtype = FR_FP32, .batch = 32};
    struct fr_run_options how;
    struct fr_topo *t = case_topo(4, 24e9, UINT64_C(24) << 30);
    struct fr_plan *plan;
    struct fr_graph *g;
    struct fr_run *run;
    struct fr_error err;

    ck_assert_msg(fr_workload_load(&g, "t5:layers=3,hidden=256,heads=4,ffn=1024,seq=64,vocab=512",
                                   &o, &err) == FR_OK,
                  "%s", err.text);
    plan = case_plan(&(struct case_problem){t, g, 4, 32, FR_SGD, NULL}, "pp:schedule=zb-v");
    fr_run_options_init(&how);
    how.order = FR_ORDER_STRICT;
    ck_assert_msg(fr_simulate(plan, &how, &run, &err) == FR_OK, "%s", err.text);
    ck_assert_double_gt(run->iteration_s, 0);
    fr_run_free(run);
    fr_plan_free(plan);
    fr_topo_free(t);
    fr_graph_free(g);
}

int main(void)
{
    TCase *t = tcase_create("pipeline_runs");
    int n_kinds = 0;

    while (fr_schedule_kind_at((size_t)n_kinds))
        n_kinds++;
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, the_engine_takes_the_time_of_the_replay, 0, n_kinds);
    add_tests(t);
    return run_case(t, "pipeline_runs");
}
