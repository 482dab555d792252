/* Plans looked at without running them: soundness, memory, transfers, collectives, decisions. */
#include "config.h"

#include "tests/support/strategies_case.h"

#include "workloads/zoo/zoo.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define GIB (UINT64_C(1) << 30)

static const uint64_t params4[] = {400, 0, 300, 500};
static const double ones[] = {1, 1, 1, 1}, twos[] = {2, 2, 2, 2};
static const struct chain_case chain4 = {4, 8, params4, ones, twos, 800};

static const char *const specs[] = {
    "single",
    "dp",
    "dp:overlap=0",
    "dp:bucket=300B",
    "dp:bucket=0B",
    "dp:sync=ps-cpu",
    "dp:sync=ps-gpu0",
    "dp:sync=ps-sharded",
    "dp:sync=ps-cpu,overlap=0",
    "dp:sync=ps-cpu,pull=start",
    "dp:sync=ps-gpu0,pull=start",
    "dp:sync=ps-sharded,pull=start",
    "mp",
    "pp",
    "pp:schedule=gpipe,micro=1",
    "pp:stages=1",
    "pp:stages=2",
    "pp:stages=2,micro=3,schedule=gpipe",
    "pipedream:straight=1,fewer=1",
    "pipedream:straight=1,fewer=1,micro=2,mode=paper,flush=1",
    "pipedream:straight=1,fewer=1,machines=2x2,micro=1",
    "pipedream:straight=1,fewer=1,machines=2x2,micro=3,flush=1",
};
enum { N_SPECS = sizeof(specs) / sizeof(specs[0]) };

static void say(void *user, const char *line)
{
    ck_abort_msg("%s: %s", (const char *)user, line);
}

static void check_plan(const struct case_problem *c, const char *spec)
{
    struct fr_plan *p = case_plan(c, spec);
    char what[100];

    snprintf(what, sizeof(what), "%s on %s", spec, c->graph->name);
    ck_assert_uint_eq(fr_plan_check(p, say, what), 0);
    fr_plan_free(p);
}

TEST(every_strategy_makes_sound_plans_of_a_chain)
{
    struct fr_topo *t = case_topo(4, 1e9, GIB);
    struct fr_graph *g = case_chain(&chain4);

    for (int i = 0; i < N_SPECS; i++)
        for (int o = 0; o < FR_N_OPTIMIZERS; o++) {
            struct case_problem c = {t, g, 4, 13, (enum fr_optimizer)o, NULL};

            check_plan(&c, specs[i]);
        }
    fr_graph_free(g);
    fr_topo_free(t);
}

/* Branches, views, in-place ops, tied weights, batch norm, steps: what the zoo has. */
TEST(every_strategy_makes_sound_plans_of_models)
{
    static const char *const models[] = {"lenet",
                                         "alexnet",
                                         "resnet18",
                                         "gpt:layers=4,hidden=64,heads=4,seq=32,vocab=1000",
                                         "rnnlm:layers=3,hidden=16,vocab=100",
                                         "gnmt:encoder=2,decoder=3,hidden=16,vocab=100,source=5"};
    struct fr_topo *t = case_topo(4, 1e9, GIB);

    for (size_t m = 0; m < sizeof(models) / sizeof(models[0]); m++) {
        const struct fr_workload_options opt = {.batch = 8, .dtype = FR_N_DTYPES};
        struct fr_graph *g = NULL;
        struct fr_error err;
        struct case_problem c;

        ck_assert_msg(fr__zoo_load(&g, models[m], &opt, &err) == FR_OK, "%s", err.text);
        c = (struct case_problem){t, g, 4, 13, FR_ADAM, NULL};
        for (int i = 0; i < N_SPECS; i++)
            check_plan(&c, specs[i]);
        fr_graph_free(g);
    }
    fr_topo_free(t);
}

/* Sweeps do not check plans of trusted strategies: the tests above do. */
TEST(every_trusted_strategy_is_among_those_tested)
{
    for (size_t i = 0; fr_strategy_at(i); i++) {
        const struct fr_strategy *s = fr_strategy_at(i);
        bool is_tested = false;

        for (int k = 0; k < N_SPECS; k++)
            is_tested |= strcmp(specs[k], s->name) == 0;
        ck_assert_msg(is_tested || !s->is_trusted, "%s", s->name);
    }
}

/* ---- memory ---- */

static uint64_t bytes_of(const struct fr_plan *p, enum fr_buffer_kind kind, uint32_t device)
{
    const struct fr_plan_view *v = fr_plan_view(p);
    uint64_t sum = 0;

    for (size_t i = 0; i < v->n_buffers; i++)
        if (v->buffers[i].kind == kind && v->buffers[i].device == device &&
            v->buffers[i].alias == FR_NONE)
            sum += v->buffers[i].bytes;
    return sum;
}

/* 1200 bytes of parameters, all of them vectors of under 4096 numbers; Adam keeps two states,
 * momentum one, SGD none; gradients as large as the parameters. Activations: four outputs and four
 * data gradients of 800 bytes at batch 8. */
TEST(a_single_device_holds_parameters_gradients_states_and_activations)
{
    static const uint64_t states[FR_N_OPTIMIZERS] = {
        [FR_SGD] = 0,       [FR_MOMENTUM] = 1,  [FR_LION] = 1,
        [FR_ADAFACTOR] = 1, [FR_ADAM] = 2,      [FR_ADAFACTOR_MOMENTUM] = 2,
        [FR_MUON] = 2,      [FR_ADAM_8BIT] = 2, [FR_SOAP] = 2};
    struct fr_topo *t = case_topo(1, 1e9, GIB);
    struct fr_graph *g = case_chain(&chain4);

    for (int o = 0; o < FR_N_OPTIMIZERS; o++) {
        struct case_problem c = {t, g, 1, 4, (enum fr_optimizer)o, NULL};
        struct fr_plan *p = o == FR_SHAMPOO ? NULL : case_plan(&c, "single");

        if (!p)
            continue; /* Shampoo has matrices of vectors */
        ck_assert_uint_eq(bytes_of(p, FR_BUFFER_PARAMETER, 0), 1200);
        ck_assert_uint_eq(bytes_of(p, FR_BUFFER_GRADIENT, 0), 1200);
        ck_assert_uint_eq(bytes_of(p, FR_BUFFER_OPTIMIZER, 0), 1200 * states[o]);
        ck_assert_uint_eq(bytes_of(p, FR_BUFFER_ACTIVATION, 0), 8 * 800 / 2); /* half the batch */
        ck_assert_uint_eq(bytes_of(p, FR_BUFFER_COMMUNICATION, 0), 0);
        fr_plan_free(p);
    }
    fr_graph_free(g);
    fr_topo_free(t);
}

/* Half-precision parameters: an fp32 master copy and fp32 states (Micikevicius et al., ICLR 2018),
 * and the fp32 copy of the gradients that Megatron-LM makes for the step (20 bytes of a parameter
 * with Adam: 2 + 2 + 16). */
TEST(half_precision_parameters_keep_an_fp32_master_copy)
{
    static const struct fr_workload_options opt = {.batch = 2, .dtype = FR_FP16};
    struct fr_topo *t = case_topo(1, 1e9, GIB);
    struct fr_graph *g = NULL;
    struct fr_graph_totals totals;
    struct fr_error err;

    ck_assert_msg(fr__zoo_load(&g, "lenet", &opt, &err) == FR_OK, "%s", err.text);
    fr_graph_totals(g, &totals);
    ck_assert_uint_eq(g->param_elem_bytes, 2);
    for (int o = FR_SGD; o <= FR_ADAM; o += FR_ADAM - FR_SGD) {
        struct case_problem c = {t, g, 1, 2, (enum fr_optimizer)o, NULL};
        struct fr_plan *p = case_plan(&c, "single");

        ck_assert_uint_eq(bytes_of(p, FR_BUFFER_PARAMETER, 0), totals.params * 2);
        ck_assert_uint_eq(bytes_of(p, FR_BUFFER_OPTIMIZER, 0),
                          totals.params * (o == FR_ADAM ? 16 : 8));
        fr_plan_free(p);
    }
    fr_graph_free(g);
    fr_topo_free(t);
}

/* However many micro-batches, a stage has one gradient for its parameters. */
TEST(micro_batches_share_one_gradient)
{
    struct fr_topo *t = case_topo(2, 1e9, GIB);
    struct fr_graph *g = case_chain(&chain4);
    struct case_problem c = {t, g, 2, 8, FR_SGD, NULL};
    struct fr_plan *p = case_plan(&c, "pp:micro=1");

    for (uint32_t d = 0; d < 2; d++)
        ck_assert_uint_eq(bytes_of(p, FR_BUFFER_GRADIENT, d), bytes_of(p, FR_BUFFER_PARAMETER, d));
    ck_assert_uint_eq(bytes_of(p, FR_BUFFER_PARAMETER, 0) + bytes_of(p, FR_BUFFER_PARAMETER, 1),
                      1200);
    fr_plan_free(p);
    fr_graph_free(g);
    fr_topo_free(t);
}

/* ---- what moves ---- */

/* Bytes that transfers carry from src to dst; FR_NONE: any. */
static double moved(const struct fr_plan *p, uint32_t src, uint32_t dst)
{
    const struct fr_plan_view *v = fr_plan_view(p);
    double sum = 0;

    for (size_t i = 0; i < v->n_transfers; i++) {
        const struct fr_transfer *x = &v->transfers[i];

        if ((src == FR_NONE || v->tasks[x->send].device == src) &&
            (dst == FR_NONE || v->tasks[x->recv].device == dst))
            sum += x->bytes;
    }
    return sum;
}

/* n workers, a model of M bytes: each worker sends M and receives M, the server nM each way. A
 * server that works too saves its own share: (n - 1) M. */
TEST(parameter_servers_move_the_model_once_each_way_per_worker)
{
    struct fr_topo *t = case_topo(4, 1e9, GIB);
    struct fr_graph *g = case_chain(&chain4);
    struct case_problem c = {t, g, 4, 8, FR_SGD, NULL};
    struct fr_plan *p;
    const uint32_t cpu = 4;

    for (int at_start = 0; at_start < 2; at_start++) {
        p = case_plan(&c, at_start ? "dp:sync=ps-cpu,pull=start" : "dp:sync=ps-cpu");
        for (uint32_t w = 0; w < 4; w++) {
            ck_assert_double_eq(moved(p, w, cpu), 1200);
            ck_assert_double_eq(moved(p, cpu, w), 1200);
        }
        ck_assert_double_eq(moved(p, FR_NONE, FR_NONE), 2 * 4 * 1200);
        fr_plan_free(p);
    }
    p = case_plan(&c, "dp:sync=ps-gpu0");
    ck_assert_double_eq(moved(p, FR_NONE, 0), 3 * 1200);
    ck_assert_double_eq(moved(p, 0, FR_NONE), 3 * 1200);
    ck_assert_double_eq(moved(p, 1, FR_NONE), 1200);
    fr_plan_free(p);
    fr_graph_free(g);
    fr_topo_free(t);
}

/* Largest first to the least loaded: 500 to GPU 0, 400 to GPU 1, and 300 to GPU 1 again, since
 * 400 is less than 500. Each pushes what the other holds, and pulls it back. */
TEST(shards_go_to_the_least_loaded_device)
{
    struct fr_topo *t = case_topo(2, 1e9, GIB);
    struct fr_graph *g = case_chain(&chain4);
    struct case_problem c = {t, g, 2, 8, FR_ADAM, NULL};
    struct fr_plan *p = case_plan(&c, "dp:sync=ps-sharded");

    ck_assert_double_eq(moved(p, 0, 1), 700 + 500); /* pushes to server 1, pulls from server 0 */
    ck_assert_double_eq(moved(p, 1, 0), 500 + 700);
    ck_assert_uint_eq(bytes_of(p, FR_BUFFER_OPTIMIZER, 0), 2 * 500);
    ck_assert_uint_eq(bytes_of(p, FR_BUFFER_OPTIMIZER, 1), 2 * 700);
    fr_plan_free(p);
    fr_graph_free(g);
    fr_topo_free(t);
}

/* Gradients are ready in the order 500, 300, 400 (last layer first). At least 600 a bucket: 800 and
 * what is left, 400. Every rank takes part in each, and keeps their storage. */
TEST(ring_all_reduces_carry_every_gradient_in_backward_order)
{
    struct fr_topo *t = case_topo(4, 1e9, GIB);
    struct fr_graph *g = case_chain(&chain4);
    struct case_problem c = {t, g, 4, 8, FR_SGD, NULL};
    struct fr_plan *p = case_plan(&c, "dp:bucket=600B");
    const struct fr_plan_view *v = fr_plan_view(p);

    ck_assert_uint_eq(v->n_collectives, 2);
    ck_assert_double_eq(v->collectives[0].bytes, 800);
    ck_assert_double_eq(v->collectives[1].bytes, 400);
    ck_assert_str_eq(fr_plan_string(p, v->collectives[1].label), "bucket 1");
    ck_assert_uint_eq(fr_plan_group_size(p, v->collectives[0].group), 4);
    ck_assert_uint_eq(v->n_transfers, 0);
    for (uint32_t d = 0; d < 4; d++)
        ck_assert_uint_eq(bytes_of(p, FR_BUFFER_COMMUNICATION, d), 1200);
    fr_plan_free(p);
    fr_graph_free(g);
    fr_topo_free(t);
}

/* 13 samples on 4 devices: 4 3 3 3. An output of 800 bytes at batch 8 is 100 a sample. */
TEST(uneven_batches_give_the_first_devices_one_sample_more)
{
    struct fr_topo *t = case_topo(4, 1e9, GIB);
    struct fr_graph *g = case_chain(&chain4);
    struct case_problem c = {t, g, 4, 13, FR_SGD, NULL};
    struct fr_plan *p = case_plan(&c, "dp");

    for (uint32_t d = 0; d < 4; d++)
        ck_assert_uint_eq(bytes_of(p, FR_BUFFER_ACTIVATION, d), 8u * 100u * (d == 0 ? 4 : 3));
    fr_plan_free(p);
    fr_graph_free(g);
    fr_topo_free(t);
}

/* Each layer on its own device, 3 samples a micro-batch of 8 samples: 3, 3, 2. Every micro-batch's
 * output crosses each of the three cuts once, and its gradient once back: 2 * 800 a cut. */
TEST(a_pipeline_moves_each_activation_and_gradient_once_a_cut)
{
    struct fr_topo *t = case_topo(4, 1e9, GIB);
    struct fr_graph *g = case_chain(&chain4);
    struct case_problem c = {t, g, 4, 8, FR_SGD, NULL};
    struct fr_plan *p = case_plan(&c, "pp:micro=3");

    ck_assert_uint_eq(fr_plan_view(p)->n_transfers, 3 * 3 * 2);
    for (uint32_t d = 0; d + 1 < 4; d++) {
        ck_assert_double_eq(moved(p, d, d + 1), 800);
        ck_assert_double_eq(moved(p, d + 1, d), 800);
    }
    fr_plan_free(p);
    p = case_plan(&c, "mp");
    ck_assert_uint_eq(fr_plan_view(p)->n_transfers, 3 * 2);
    ck_assert_double_eq(moved(p, FR_NONE, FR_NONE), 3 * 2 * 800);
    fr_plan_free(p);
    fr_graph_free(g);
    fr_topo_free(t);
}

/* Two pipelines of two stages: the replicas of a stage sit side by side and reduce its
 * gradients. */
TEST(replicated_stages_reduce_their_gradients)
{
    struct fr_topo *t = case_topo(4, 1e9, GIB);
    struct fr_graph *g = case_chain(&chain4);
    struct case_problem c = {t, g, 4, 8, FR_SGD, NULL};
    struct fr_plan *p = case_plan(&c, "pp:stages=2,micro=1");
    const struct fr_plan_view *v = fr_plan_view(p);

    ck_assert_uint_eq(v->n_collectives, 2);
    for (uint32_t s = 0; s < 2; s++) {
        ck_assert_uint_eq(fr_plan_group_device(p, v->collectives[s].group, 0), 2 * s);
        ck_assert_uint_eq(fr_plan_group_device(p, v->collectives[s].group, 1), 2 * s + 1);
        ck_assert_double_eq(v->collectives[s].bytes,
                            (double)bytes_of(p, FR_BUFFER_PARAMETER, 2 * s));
    }
    fr_plan_free(p);
    fr_graph_free(g);
    fr_topo_free(t);
}

/* gpt's output layer uses the embedding of stage 0: the last stage keeps a copy, its gradient comes
 * back once an iteration, not once a micro-batch, and the new table goes out once. */
TEST(tied_weights_cross_the_pipeline_once_an_iteration)
{
    static const struct fr_workload_options opt = {.batch = 8, .dtype = FR_N_DTYPES};
    const double table_bytes = 1000.0 * 64 * 4;
    struct fr_topo *t = case_topo(2, 1e9, GIB);
    struct fr_graph *g = NULL;
    struct fr_error err;
    unsigned n_back = 0, n_out = 0;

    ck_assert_msg(
        fr__zoo_load(&g, "gpt:layers=4,hidden=64,heads=4,seq=32,vocab=1000", &opt, &err) == FR_OK,
        "%s", err.text);
    for (int k = 0; k < 2; k++) {
        struct case_problem c = {t, g, 2, 8, FR_SGD, NULL};
        struct fr_plan *p = case_plan(&c, k ? "mp" : "pp:micro=1");
        const struct fr_plan_view *v = fr_plan_view(p);

        n_back = n_out = 0;
        for (size_t i = 0; i < v->n_transfers; i++) {
            const struct fr_transfer *x = &v->transfers[i];
            bool is_back = v->tasks[x->send].device == 1;

            if (x->bytes >= table_bytes && x->bytes <= table_bytes)
                ++*(is_back ? &n_back : &n_out);
        }
        ck_assert_uint_eq(n_back, 1);
        ck_assert_uint_eq(n_out, 1);
        fr_plan_free(p);
    }
    fr_graph_free(g);
    fr_topo_free(t);
}

/* Parameters of a layer that is unrolled in time stand on one device: stages are layers, not
 * steps. */
TEST(a_layer_unrolled_in_time_is_not_cut)
{
    static const struct fr_workload_options opt = {.batch = 8, .seq_len = 6, .dtype = FR_N_DTYPES};
    static const char *const cuts[] = {"mp", "pp:micro=2"};
    struct fr_topo *t = case_topo(6, 1e9, GIB);
    struct fr_graph *g = NULL;
    struct fr_error err;

    ck_assert_msg(fr__zoo_load(&g, "rnnlm:layers=4,hidden=64,vocab=100", &opt, &err) == FR_OK, "%s",
                  err.text);
    for (size_t k = 0; k < sizeof(cuts) / sizeof(cuts[0]); k++) {
        struct case_problem c = {t, g, 6, 8, FR_SGD, NULL};
        struct fr_plan *p = case_plan(&c, cuts[k]);
        const struct fr_plan_view *v = fr_plan_view(p);
        uint32_t device_of[32];

        for (size_t l = 0; l < 32; l++)
            device_of[l] = FR_NONE;
        ck_assert_uint_le(g->n_layers, 32);
        for (size_t i = 0; i < v->n_tasks; i++) {
            const struct fr_op *op = v->tasks[i].op == FR_NONE ? NULL : &g->ops[v->tasks[i].op];

            if (!op || v->tasks[i].kind != FR_TASK_COMPUTE ||
                strncmp(op->name, "layer", strlen("layer")) != 0)
                continue;
            if (device_of[op->layer] == FR_NONE)
                device_of[op->layer] = v->tasks[i].device;
            ck_assert_uint_eq(v->tasks[i].device, device_of[op->layer]);
        }
        fr_plan_free(p);
    }
    fr_graph_free(g);
    fr_topo_free(t);
}

/* ---- decisions and refusals ---- */

struct lines {
    char text[4000];
};

static void keep_line(void *user, const char *line)
{
    struct lines *l = user;
    size_t used = strlen(l->text);

    snprintf(l->text + used, sizeof(l->text) - used, "%s\n", line);
}

/* Layers take 1 + 2 s each at batch 8; on two devices the best cut is in the middle, 6 s each. */
TEST(the_decision_log_says_what_was_decided)
{
    struct fr_topo *t = case_topo(2, 1e9, GIB);
    struct fr_graph *g = case_chain(&chain4);
    struct lines l = {.text = ""};
    const struct fr_context ctx = {.log = keep_line, .log_user = &l};
    struct case_problem c = {t, g, 2, 8, FR_SGD, &ctx};

    fr_plan_free(case_plan(&c, "mp"));
    ck_assert_msg(
        strstr(l.text, "part 0 on n0.gpu0: 2 forward ops, l0.forward to l1.forward, 6 s "), "%s",
        l.text);
    ck_assert_msg(
        strstr(l.text, "part 1 on n0.gpu1: 2 forward ops, l2.forward to l3.forward, 6 s "), "%s",
        l.text);
    l.text[0] = '\0';
    fr_plan_free(case_plan(&c, "dp:bucket=600B"));
    ck_assert_msg(strstr(l.text, "bucket 0: 2 gradients, 800 B, from l3.forward to l2.forward\n"),
                  "%s", l.text);
    l.text[0] = '\0';
    fr_plan_free(case_plan(&c, "pp:micro=1"));
    ck_assert_msg(strstr(l.text, "1 pipeline of 2 stages, 8 micro-batches of 1 samples"), "%s",
                  l.text);
    fr_graph_free(g);
    fr_topo_free(t);
}

static void expect_refused(const struct case_problem *c, const char *spec, const char *part)
{
    struct fr_error err = {.code = FR_OK};

    ck_assert_int_eq(case_fails(c, spec, &err), FR_EUSAGE);
    ck_assert_msg(strstr(err.text, part) != NULL, "'%s' does not say '%s'", err.text, part);
}

TEST(problems_that_make_no_sense_are_refused)
{
    struct fr_topo *t = case_topo(4, 1e9, GIB);
    struct fr_graph *g = case_chain(&chain4);
    struct case_problem few = {t, g, 4, 3, FR_SGD, NULL};
    struct case_problem fine = {t, g, 4, 8, FR_SGD, NULL};
    struct case_problem none = {t, g, 0, 8, FR_SGD, NULL};
    struct case_problem empty = {t, g, 4, 0, FR_SGD, NULL};

    expect_refused(&few, "dp", "leaves some without a sample");
    expect_refused(&fine, "pp:stages=3", "4 devices do not make whole pipelines of 3 stages");
    expect_refused(&fine, "pp:stages=8", "do not make whole pipelines");
    expect_refused(&fine, "pp:micro=9", "micro=9 is more than the 8 samples");
    expect_refused(&fine, "dp:sync=ps-cpu,bucket=1MiB", "belongs to sync=ring");
    expect_refused(&fine, "dp:pull=start", "belongs to parameter servers");
    expect_refused(&none, "single", "no device");
    expect_refused(&none, "pp", "no device");
    expect_refused(&empty, "mp", "global batch is 0");
    fr_topo_free(t);
    t = case_topo(5, 1e9, GIB);
    fine = (struct case_problem){t, g, 5, 8, FR_SGD, NULL};
    expect_refused(&fine, "mp", "4 forward ops, too few for 5 parts");
    fr_graph_free(g);
    fr_topo_free(t);
    /* words, dropout, steps; the layer; steps, product, bias, log-softmax, loss */
    t = case_topo(10, 1e9, GIB);
    ck_assert_int_eq(fr__zoo_load(&g, "rnnlm:layers=1,hidden=4,vocab=9", NULL, NULL), FR_OK);
    fine = (struct case_problem){t, g, 10, 64, FR_SGD, NULL};
    expect_refused(&fine, "mp", "9 forward ops or unrolled layers, too few for 10 parts");
    fr_graph_free(g);
    fr_topo_free(t);
}

int main(void)
{
    TCase *c = tcase_create("plans");

    tcase_set_timeout(c, 60);
    add_tests(c);
    return run_case(c, "strategies/plans");
}
