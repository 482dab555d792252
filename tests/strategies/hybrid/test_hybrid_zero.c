/* tests/strategies/hybrid/test_hybrid_zero.c - sharded optimizers: what travels and what a rank
 * keeps. Of psi parameters on d ranks, with weights of w bytes and gradients of g in a message, a
 * rank sends (d-1)/d of the bytes of each gather and of each reduce-scatter. FSDP gathers the
 * parameters of each unit twice a micro-batch and those of the root once, and scatters all
 * gradients once: (d-1)/d (2 w psi_units + w psi_root + g psi) A rank keeps 1/d of weights,
 * gradients, master weights and states; beside these it has at most the gathered root and two
 * gathered units, and two units of whole gradients. */
#include "config.h"

#include "calibrate/calibrate.h"
#include "strategies/strategies.h"
#include "tests/support/base_check.h"
#include "workloads/passes/units.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What device 0 does. */
struct outcome {
    double time_s, compute_s;           /* compute_s: without updates */
    double gathered, scattered, summed; /* bytes that it sends */
    double copied;                      /* bytes that it reads and writes for messages */
    double kept[FR_N_BUFFER_KINDS];     /* from the start to the end */
    uint64_t peak[FR_N_BUFFER_KINDS];
    double psi, psi_root, psi_unit; /* parameters: all, of the root, of the largest unit */
};

static struct fr_graph *load(const char *spec, uint32_t batch, enum fr_dtype dtype)
{
    const struct fr_workload_options opt = {.batch = batch, .dtype = dtype};
    struct fr_graph *g = NULL;
    struct fr_error err;

    ck_assert_msg(fr_workload_load(&g, spec, &opt, &err) == FR_OK, "%s: %s", spec, err.text);
    return g;
}

static void count_parameters(struct outcome *out, const struct fr_graph *g)
{
    struct fr__units units;
    struct fr_error err;

    ck_assert_int_eq(fr__units_find(&units, g, &err), FR_OK);
    out->psi_root = (double)units.root_param_bytes / g->param_elem_bytes;
    out->psi = out->psi_root;
    for (size_t u = 0; u < units.n_units; u++) {
        double psi = (double)units.units[u].param_bytes / g->param_elem_bytes;

        out->psi += psi;
        out->psi_unit = psi > out->psi_unit ? psi : out->psi_unit;
    }
    fr__units_free(&units);
}

static void count_messages(struct outcome *out, const struct fr_plan *p)
{
    const struct fr_plan_view *v = fr_plan_view(p);

    for (size_t i = 0; i < v->n_tasks; i++) {
        const struct fr_task *t = &v->tasks[i];
        const struct fr_collective *c;
        double n, sent;

        if (t->kind != FR_TASK_COLLECTIVE || t->device != 0)
            continue;
        c = &v->collectives[t->collective];
        if (t->op != FR_NONE && !strstr(v->graph->ops[t->op].name, "_parameters") &&
            !strstr(v->graph->ops[t->op].name, "_gradients"))
            continue; /* of activations */
        n = fr_plan_group_size(p, c->group);
        sent = c->bytes * (n - 1) / n;
        if (c->kind == FR_ALL_GATHER)
            out->gathered += sent;
        else if (c->kind == FR_REDUCE_SCATTER)
            out->scattered += sent;
        else
            out->summed += 2 * sent;
    }
}

static void count_kept(struct outcome *out, const struct fr_plan *p)
{
    const struct fr_plan_view *v = fr_plan_view(p);

    for (size_t i = 0; i < v->n_buffers; i++)
        if (v->buffers[i].device == 0 && v->buffers[i].alloc == FR_NONE)
            out->kept[v->buffers[i].kind] += (double)v->buffers[i].bytes;
}

static void plan_and_run(struct outcome *out, const struct fr_problem *in,
                         const struct fr_strategy *s)
{
    struct fr_run_options o;
    struct fr_run *r = NULL;
    struct fr_error err;
    struct fr_plan *p = fr_plan_new(in->topo, in->graph);

    ck_assert_msg(s->plan(in, NULL, p, &err) == FR_OK, "%s", err.text);
    ck_assert_msg(fr_plan_finish(p, &err) == FR_OK, "%s", err.text);
    count_messages(out, p);
    count_kept(out, p);
    fr_run_options_init(&o);
    ck_assert_msg(fr_simulate(p, &o, &r, &err) == FR_OK, "%s", err.text);
    out->time_s = r->makespan_s;
    for (size_t i = 0; i < fr_plan_view(p)->n_tasks; i++) {
        const struct fr_task *t = &fr_plan_view(p)->tasks[i];

        if (t->kind != FR_TASK_COMPUTE || t->device != 0 || t->phase == FR_PHASE_UPDATE)
            continue;
        out->compute_s += r->end_s[i] - r->start_s[i];
        if (t->op != FR_NONE && strstr(fr_plan_view(p)->graph->ops[t->op].name, ".copy_"))
            out->copied += fr_plan_view(p)->graph->ops[t->op].bytes;
    }
    memcpy(out->peak, r->devices[0].peak_by_kind, sizeof(out->peak));
    fr_run_free(r);
    fr_plan_free(p);
}

static struct outcome run(const struct fr_graph *g, const char *strategy)
{
    static const uint32_t devices[] = {0, 1, 2, 3, 4, 5, 6, 7};
    const struct fr_cost_options rooflines = {.datasheet_only = true};
    struct fr_option_values values;
    const struct fr_strategy *s;
    struct fr_cost_model *costs = NULL;
    struct fr_topo *t = NULL;
    struct fr_error err;
    struct outcome out = {0};
    struct fr_problem in = {.graph = g,
                            .devices = devices,
                            .n_devices = 8,
                            .global_batch = g->batch,
                            .optimizer = FR_ADAM,
                            .options = &values};

    ck_assert_msg(fr_topo_load(&t, "hgx-h200", &err) == FR_OK, "%s", err.text);
    ck_assert_msg(fr_strategy_parse(strategy, &s, &values, &err) == FR_OK, "%s", err.text);
    ck_assert_int_eq(fr_cost_model_new(&costs, t->types, t->n_types, &rooflines, &err), FR_OK);
    in.topo = t;
    in.costs = costs;
    plan_and_run(&out, &in, s);
    count_parameters(&out, g);
    fr_cost_model_free(costs);
    fr_topo_free(t);
    return out;
}

static struct outcome run_spec(const char *spec, uint32_t batch, enum fr_dtype dtype,
                               const char *strategy)
{
    struct fr_graph *g = load(spec, batch, dtype);
    struct outcome out = run(g, strategy);

    fr_graph_free(g);
    return out;
}

static void check_near(double got, double want, double tolerance, const char *what)
{
    ck_assert_msg(fabs(got - want) <= tolerance * fabs(want), "%s: %.17g, derived %.17g", what, got,
                  want);
}

#define GPT "gpt:layers=6,hidden=64,heads=4,seq=32,vocab=1000"

static const struct {
    enum fr_dtype dtype;
    double w, g, kept; /* bytes of a weight and of a gradient in a message; kept by Adam */
} recipes[] = {{FR_FP32, 4, 4, 16}, {FR_BF16, 2, 4, 18}, {FR_AMP, 4, 4, 16}};

LOOP_TEST(the_messages_are_those_derived_for_each_micro_batch, 0, 3)
{
    static const struct {
        const char *options;
        double micros, gathers;
    } rows[] = {{"zero=3", 1, 2},
                {"zero=3,reshard=0", 1, 1},
                {"zero=3,accumulate=4", 4, 2},
                {"zero=3,prefetch=0", 1, 2},
                {"zero=3,prefetch=3", 1, 2},
                {"zero=3,recompute=full", 1, 2},
                {"zero=3,cp=2", 1, 2}};
    char strategy[100];

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct outcome o;
        double part = 7.0 / 8 * rows[i].micros;

        snprintf(strategy, sizeof(strategy), "hybrid:%s", rows[i].options);
        o = run_spec(GPT, 32, recipes[_i].dtype, strategy);
        check_near(o.gathered,
                   part * recipes[_i].w * (rows[i].gathers * (o.psi - o.psi_root) + o.psi_root),
                   1e-12, strategy);
        check_near(o.scattered, part * recipes[_i].g * o.psi, 1e-12, strategy);
        ck_assert_msg(strstr(strategy, "cp=") || o.summed <= 0, "%s sums too", strategy);
    }
}

LOOP_TEST(a_rank_keeps_one_part_of_everything, 0, 3)
{
    struct outcome o = run_spec(GPT, 32, recipes[_i].dtype, "hybrid:zero=3");
    double kept =
        o.kept[FR_BUFFER_PARAMETER] + o.kept[FR_BUFFER_OPTIMIZER] + o.kept[FR_BUFFER_GRADIENT];
    /* fp32, amp: gradients are tensors of the graph, made by the first reduce-scatter */
    double missing = recipes[_i].dtype != FR_BF16 ? 4 : 0;

    check_near(kept, (recipes[_i].kept - missing) / 8 * o.psi, 1e-6, "kept");
}

LOOP_TEST(at_most_two_units_are_gathered_beside_the_root, 0, 3)
{
    struct outcome o = run_spec(GPT, 8, recipes[_i].dtype, "hybrid:zero=3");
    double most = recipes[_i].w * (o.psi_root + 2 * o.psi_unit);

    ck_assert_double_gt((double)o.peak[FR_BUFFER_COMMUNICATION], 0);
    ck_assert_double_le((double)o.peak[FR_BUFFER_COMMUNICATION], most * (1 + 1e-9));
}

LOOP_TEST(whole_gradients_are_there_of_two_units_at_most, 0, 3)
{
    struct outcome o = run_spec("gpt:layers=6,hidden=64,heads=4,seq=2,vocab=8", 8,
                                recipes[_i].dtype, "hybrid:zero=3");
    double most = recipes[_i].g * (o.psi / 8 + o.psi_root + 2 * o.psi_unit);

    ck_assert_double_gt((double)o.peak[FR_BUFFER_GRADIENT], 0);
    ck_assert_double_le((double)o.peak[FR_BUFFER_GRADIENT], most * (1 + 1e-6));
}

TEST(what_is_kept_whole_after_the_forward_pass_costs_memory_and_saves_messages)
{
    struct outcome again = run_spec(GPT, 32, FR_BF16, "hybrid:zero=3");
    struct outcome kept = run_spec(GPT, 32, FR_BF16, "hybrid:zero=3,reshard=0");

    ck_assert_double_lt(kept.gathered, again.gathered);
    ck_assert_uint_gt(kept.peak[FR_BUFFER_COMMUNICATION], again.peak[FR_BUFFER_COMMUNICATION]);
}

/* torchtitan: reshard_after_forward of all layers but the last. All layers are alike, so one gather
 * of (d-1)/d w psi_unit bytes is spared. */
TEST(the_last_layer_may_stay_gathered)
{
    struct outcome again = run_spec(GPT, 32, FR_BF16, "hybrid:zero=3");
    struct outcome kept = run_spec(GPT, 32, FR_BF16, "hybrid:zero=3,keep-last=1");
    struct outcome none = run_spec(GPT, 32, FR_BF16, "hybrid:zero=3,reshard=0,keep-last=1");
    struct outcome all = run_spec(GPT, 32, FR_BF16, "hybrid:zero=3,reshard=0");

    check_near(again.gathered - kept.gathered, 7.0 / 8 * 2 * again.psi_unit, 1e-9, "spared");
    check_near(none.gathered, all.gathered, 1e-12, "without resharding");
    check_near(kept.compute_s, again.compute_s, 1e-9, "computing");
}

/* Weights in 16 bits, master weights and two moments are 2 + 4 + 8 = 14 bytes of a parameter; where
 * the fp32 shares are cast when they are gathered, as by FSDP2, 4 + 8 = 12. Messages stay. */
TEST(shares_that_are_cast_when_gathered_keep_twelve_bytes)
{
    struct outcome deepspeed = run_spec(GPT, 32, FR_BF16, "hybrid:zero=3");
    struct outcome fsdp = run_spec(GPT, 32, FR_BF16, "hybrid:zero=3,cast-gathered=1");

    check_near(deepspeed.kept[FR_BUFFER_PARAMETER] + deepspeed.kept[FR_BUFFER_OPTIMIZER],
               14.0 / 8 * fsdp.psi, 1e-6, "with shares in 16 bits");
    check_near(fsdp.kept[FR_BUFFER_PARAMETER] + fsdp.kept[FR_BUFFER_OPTIMIZER], 12.0 / 8 * fsdp.psi,
               1e-6, "with fp32 shares");
    check_near(fsdp.gathered, deepspeed.gathered, 1e-12, "gathered");
}

/* Each product of a layer is a module with a message of its own. */
#define WIDE "gpt:layers=3,hidden=4096,heads=32,seq=512,vocab=1000"

LOOP_TEST(modules_send_the_bytes_of_their_layers_and_hold_less, 0, 5)
{
    static const char *const options[] = {"", ",recompute=full", ",accumulate=2",
                                          ",tp=2,sp=1,recompute=full", ",prefetch=2"};
    char by_layer[100], by_module[100];
    struct outcome layer, module;

    snprintf(by_layer, sizeof(by_layer), "hybrid:zero=3%s", options[_i]);
    snprintf(by_module, sizeof(by_module), "hybrid:zero=3,gather=module%s", options[_i]);
    layer = run_spec(WIDE, 16, FR_BF16, by_layer);
    module = run_spec(WIDE, 16, FR_BF16, by_module);
    check_near(module.gathered, layer.gathered, 1e-12, by_module);
    check_near(module.scattered, layer.scattered, 1e-12, by_module);
    ck_assert_uint_lt(module.peak[FR_BUFFER_COMMUNICATION], layer.peak[FR_BUFFER_COMMUNICATION]);
}

TEST(a_module_is_gathered_while_the_one_before_it_runs_and_no_earlier)
{
    struct outcome none = run_spec(WIDE, 16, FR_BF16, "hybrid:zero=3,gather=module,prefetch=0");
    struct outcome one = run_spec(WIDE, 16, FR_BF16, "hybrid:zero=3,gather=module,prefetch=1");
    struct outcome four = run_spec(WIDE, 16, FR_BF16, "hybrid:zero=3,gather=module,prefetch=4");

    ck_assert_double_gt(none.time_s, one.time_s);
    ck_assert_double_ge(one.time_s, four.time_s);
    ck_assert_uint_lt(none.peak[FR_BUFFER_COMMUNICATION], one.peak[FR_BUFFER_COMMUNICATION]);
    ck_assert_uint_lt(one.peak[FR_BUFFER_COMMUNICATION], four.peak[FR_BUFFER_COMMUNICATION]);
}

TEST(without_overlap_nothing_runs_beside_a_scatter)
{
    struct outcome beside = run_spec(WIDE, 16, FR_BF16, "hybrid:zero=3");
    struct outcome after = run_spec(WIDE, 16, FR_BF16, "hybrid:zero=3,overlap=0");

    ck_assert_double_gt(after.time_s, beside.time_s * 1.01);
    check_near(after.scattered, beside.scattered, 1e-12, "overlap=0");
    check_near(after.gathered, beside.gathered, 1e-12, "overlap=0");
}

/* An op reads its own parameters, whole or gathered, and not those of its neighbours. */
TEST(what_is_gathered_makes_no_op_slower)
{
    struct outcome whole = run_spec(WIDE, 16, FR_BF16, "hybrid:zero=2");
    struct outcome layer = run_spec(WIDE, 16, FR_BF16, "hybrid:zero=3");
    struct outcome module = run_spec(WIDE, 16, FR_BF16, "hybrid:zero=3,gather=module");

    check_near(layer.compute_s, whole.compute_s, 1e-12, "by layer");
    check_near(module.compute_s, whole.compute_s, 1e-12, "by module");
}

/* FSDP2 reads and writes what each gather brings, and reads each gradient as wide as the weight and
 * writes it as it travels: for each micro-batch
 *
 *     2 w (2 psi_units + psi_root) + (w + g) psi
 */
LOOP_TEST(copies_of_messages_read_and_write_all_of_them, 0, 3)
{
    static const char *const options[] = {"", ",gather=module,recompute=full", ",accumulate=3"};

    for (size_t i = 0; i < 3; i++) {
        double w = recipes[_i].w, micros = i == 2 ? 3 : 1;
        char plain[100], packed[100];
        struct outcome none, all;

        snprintf(plain, sizeof(plain), "hybrid:zero=3%s", options[i]);
        snprintf(packed, sizeof(packed), "hybrid:zero=3,packs=1%s", options[i]);
        none = run_spec(WIDE, 48, recipes[_i].dtype, plain);
        all = run_spec(WIDE, 48, recipes[_i].dtype, packed);
        check_near(none.copied, 0, 0, plain);
        check_near(all.copied,
                   micros * (2 * w * (2 * all.psi - all.psi_root) + (w + recipes[_i].g) * all.psi),
                   1e-9, packed);
        check_near(all.gathered, none.gathered, 1e-12, packed);
        ck_assert_double_gt(all.compute_s, none.compute_s);
        ck_assert_double_gt(all.time_s, none.time_s);
    }
}

LOOP_TEST(folded_ranks_take_the_time_of_all, 0, 11)
{
    static const char *const options[] = {"",
                                          ",tp=2",
                                          ",tp=2,sp=1,cp=2",
                                          ",pp=2,micro=1",
                                          ",recompute=full,accumulate=3",
                                          ",shard-group=4",
                                          ",gather=module,recompute=full",
                                          ",overlap=0",
                                          ",packs=1,recompute=full,accumulate=3",
                                          ",packs=1,pp=2,micro=1",
                                          ",shard-group=2,tp=2,sp=1,pp=2,micro=1"};
    char folded[100], unfolded[100];
    struct outcome a, b;

    snprintf(folded, sizeof(folded), "hybrid:zero=3,fold=1%s", options[_i]);
    snprintf(unfolded, sizeof(unfolded), "hybrid:zero=3,fold=0%s", options[_i]);
    a = run_spec(GPT, 48, FR_BF16, folded);
    b = run_spec(GPT, 48, FR_BF16, unfolded);
    check_near(a.time_s, b.time_s, 1e-12, folded);
    ck_assert_mem_eq(a.peak, b.peak, sizeof(a.peak));
}

TEST(experts_are_shared_by_the_ranks_that_hold_the_same)
{
    struct outcome all = run_spec("mixtral-8x7b", 8, FR_BF16, "hybrid:zero=3,recompute=full");
    struct outcome two = run_spec("mixtral-8x7b", 8, FR_BF16, "hybrid:zero=3,ep=4,recompute=full");

    /* the parts are as small, but each rank gathers only its experts */
    check_near(two.kept[FR_BUFFER_PARAMETER], all.kept[FR_BUFFER_PARAMETER], 1e-6, "parameters");
    ck_assert_double_lt(two.gathered, all.gathered / 3);
}

TEST(the_second_level_keeps_weights_whole_and_a_part_of_gradients)
{
    struct outcome o = run_spec("gpt:layers=6,hidden=64,heads=4,seq=2,vocab=8", 8, FR_FP32,
                                "hybrid:zero=2,bucket=1KiB");
    double kept = o.kept[FR_BUFFER_PARAMETER] + o.kept[FR_BUFFER_OPTIMIZER];

    check_near(kept, (4 + 8.0 / 8) * o.psi, 1e-6, "weights and states");
    ck_assert_double_le(o.kept[FR_BUFFER_COMMUNICATION], 0);
    check_near(o.scattered, 7.0 / 8 * 4 * o.psi, 1e-12, "scattered");
    check_near(o.gathered, 7.0 / 8 * 4 * o.psi, 1e-12, "gathered");
}

TEST(whole_gradients_of_the_second_level_go_with_their_bucket)
{
    struct outcome one = run_spec(GPT, 8, FR_FP32, "hybrid:zero=1,bucket=16KiB");
    struct outcome two = run_spec(GPT, 8, FR_FP32, "hybrid:zero=2,bucket=16KiB");
    double all = 0, less = 0;

    for (int k = 0; k < FR_N_BUFFER_KINDS; k++) {
        all += (double)one.peak[k];
        less += (double)two.peak[k];
    }
    check_near(two.time_s, one.time_s, 1e-12, "time");
    ck_assert_double_lt(less, all);
}

/* Each micro-batch scatters its gradients, m (d-1)/d g psi, since nobody has room to add them up;
 * parameters are gathered once a step, (d-1)/d w psi. */
LOOP_TEST(the_second_level_scatters_the_gradients_of_each_micro_batch, 0, 3)
{
    static const char *const options[] = {"",      ",overlap=0",        ",bucket=1B",
                                          ",cp=2", ",overlap-gather=1", ",recompute=full"};
    char strategy[100];

    for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++) {
        struct outcome o;

        snprintf(strategy, sizeof(strategy), "hybrid:zero=2,accumulate=4%s", options[i]);
        o = run_spec(GPT, 32, recipes[_i].dtype, strategy);
        check_near(o.scattered, 4 * 7.0 / 8 * recipes[_i].g * o.psi, 1e-12, strategy);
        check_near(o.gathered, 7.0 / 8 * recipes[_i].w * o.psi, 1e-12, strategy);
        ck_assert_double_le(o.summed, 0);
    }
}

/* Gradients: the rank's part, and two buckets, each closed by a gradient with which it is full. The
 * largest is that of an MLP's product, 4 h h + 4 h or h + 4 h h. */
LOOP_TEST(the_second_level_keeps_a_part_of_the_gradients_and_two_buckets, 0, 3)
{
    struct outcome o = run_spec("gpt:layers=6,hidden=64,heads=4,seq=2,vocab=8", 32,
                                recipes[_i].dtype, "hybrid:zero=2,accumulate=4,bucket=16KiB");
    double elem_bytes = recipes[_i].w;
    double bucket = 16384 / elem_bytes + 4 * 64 * 64 + 4 * 64;
    double kept =
        o.kept[FR_BUFFER_PARAMETER] + o.kept[FR_BUFFER_OPTIMIZER] + o.kept[FR_BUFFER_GRADIENT];
    /* fp32, amp: the part of the gradients is made by the first reduce-scatter */
    double missing = recipes[_i].dtype != FR_BF16 ? 4 : 0;

    check_near(kept, (recipes[_i].w + (recipes[_i].kept - recipes[_i].w - missing) / 8) * o.psi,
               1e-6, "kept");
    ck_assert_double_ge((double)o.peak[FR_BUFFER_GRADIENT], recipes[_i].g * o.psi / 8);
    ck_assert_double_le((double)o.peak[FR_BUFFER_GRADIENT],
                        recipes[_i].g * (o.psi / 8 + 2 * bucket));
    ck_assert_double_lt((double)o.peak[FR_BUFFER_GRADIENT], recipes[_i].g * o.psi / 2);
}

/* Scattered once a step, whatever the micro-batches; until then gradients are whole, 4 psi in fp32,
 * beside the rank's part of the sums; of the table that the head shares both gradients. */
TEST(gradients_that_are_scattered_once_a_step_are_whole_until_then)
{
    struct outcome o = run_spec("gpt:layers=6,hidden=64,heads=4,seq=2,vocab=8", 32, FR_BF16,
                                "hybrid:zero=2,accumulate=4,scatter=step,bucket=16KiB");

    check_near(o.scattered, 7.0 / 8 * 4 * o.psi, 1e-12, "scattered");
    check_near(o.gathered, 7.0 / 8 * 2 * o.psi, 1e-12, "gathered");
    check_near(o.kept[FR_BUFFER_GRADIENT], 4 * o.psi / 8, 1e-6, "the rank's part");
    check_near((double)o.peak[FR_BUFFER_GRADIENT], 4 * (o.psi * (1 + 1.0 / 8) + 8 * 64), 1e-6,
               "peak");
}

/* Parts of a pipeline rank end their backward passes one after the other where a part takes all
 * micro-batches in turn: two of three have not begun, or have gone. */
TEST(parts_of_a_pipeline_hold_whole_gradients_in_turn)
{
    static const char spec[] = "gpt:layers=6,hidden=64,heads=4,seq=2,vocab=8";
    struct outcome all =
        run_spec(spec, 8, FR_BF16, "hybrid:pp=2,virtual=3,micro=1,cut=layers,zero=1");
    struct outcome once =
        run_spec(spec, 8, FR_BF16, "hybrid:pp=2,virtual=3,micro=1,cut=layers,zero=2,scatter=step");

    check_near(once.scattered, all.scattered, 1e-12, "scattered");
    ck_assert_double_lt((double)once.peak[FR_BUFFER_GRADIENT],
                        0.75 * (double)all.peak[FR_BUFFER_GRADIENT]);
}

/* Shards over n of the eight ranks, copies over the other 8/n: inside, (n-1)/n of the bytes of each
 * gather and each reduce-scatter; across, 2 (c-1)/c of a part, g psi/n. A rank keeps 1/n. */
LOOP_TEST(groups_that_share_alike_sum_their_parts, 0, 3)
{
    static const struct {
        const char *options;
        double n, micros;
    } rows[] = {{"", 8, 1},
                {",shard-group=8", 8, 1},
                {",shard-group=4", 4, 1},
                {",shard-group=2", 2, 1},
                {",shard-group=4,accumulate=4", 4, 4},
                {",shard-group=4,cp=2", 4, 1},
                {",shard-group=2,fold=0", 2, 1}};
    /* fp32, amp: gradients are tensors of the graph, made by the first reduce-scatter */
    double missing = recipes[_i].dtype != FR_BF16 ? 4 : 0;
    char strategy[100];

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        double n = rows[i].n, inside = (n - 1) / n * rows[i].micros, kept, copies = 8 / n;
        struct outcome o;

        snprintf(strategy, sizeof(strategy), "hybrid:zero=3%s", rows[i].options);
        o = run_spec(GPT, 32, recipes[_i].dtype, strategy);
        kept =
            o.kept[FR_BUFFER_PARAMETER] + o.kept[FR_BUFFER_OPTIMIZER] + o.kept[FR_BUFFER_GRADIENT];
        check_near(o.gathered, inside * recipes[_i].w * (2 * (o.psi - o.psi_root) + o.psi_root),
                   1e-12, strategy);
        check_near(o.scattered, inside * recipes[_i].g * o.psi, 1e-12, strategy);
        check_near(o.summed, rows[i].micros * 2 * (copies - 1) / copies * recipes[_i].g * o.psi / n,
                   1e-12, strategy);
        check_near(kept, (recipes[_i].kept - missing) / n * o.psi, 1e-6, strategy);
    }
}

/* In a V-shaped schedule the first rank has the first stage and the last, and the head's table
 * is the embedding's. Beside a head with a table of its own it keeps V h weights fewer, at the
 * third level their share, and of the optimizer's states the share of V h from the first level
 * on; the second level gathers so many fewer once a step. Four replicas share. */
LOOP_TEST(one_rank_with_both_ends_keeps_one_table, 0, 3)
{
    const double table = 1000 * 64, share = table / 4;

    for (unsigned zero = 1; zero < 4; zero++) {
        double states = recipes[_i].kept - recipes[_i].w - recipes[_i].g;
        char tied[100], untied[110];
        struct outcome a, b;

        snprintf(tied, sizeof(tied), "hybrid:pp=2,dp=4,schedule=zb-v,cut=layers,zero=%u", zero);
        snprintf(untied, sizeof(untied), "%s,tie=0", tied);
        a = run_spec(GPT, 32, recipes[_i].dtype, tied);
        b = run_spec(GPT, 32, recipes[_i].dtype, untied);
        check_near(b.kept[FR_BUFFER_PARAMETER] - a.kept[FR_BUFFER_PARAMETER],
                   recipes[_i].w * (zero == 3 ? share : table), 1e-9, tied);
        check_near(b.kept[FR_BUFFER_OPTIMIZER] - a.kept[FR_BUFFER_OPTIMIZER], states * share, 1e-9,
                   tied);
        if (zero < 3)
            check_near(b.gathered - a.gathered, 3 * recipes[_i].w * share, 1e-9, tied);
    }
}

TEST(a_level_that_does_not_exist_is_refused)
{
    struct fr_graph *g = load(GPT, 8, FR_FP32);
    static const uint32_t devices[] = {0, 1};
    struct fr_option_values values;
    const struct fr_strategy *s;
    struct fr_topo *t = NULL;
    struct fr_error err;
    struct fr_plan *p;
    struct fr_problem in = {
        .graph = g, .devices = devices, .n_devices = 2, .global_batch = 8, .options = &values};

    ck_assert_int_eq(fr_topo_load(&t, "hgx-h200", &err), FR_OK);
    ck_assert_int_eq(fr_strategy_parse("hybrid:zero=4", &s, &values, &err), FR_OK);
    in.topo = t;
    p = fr_plan_new(t, g);
    ck_assert_int_eq(s->plan(&in, NULL, p, &err), FR_EUSAGE);
    ck_assert_ptr_nonnull(strstr(err.text, "zero=4"));
    fr_plan_free(p);
    fr_topo_free(t);
    fr_graph_free(g);
}

int main(void)
{
    TCase *t = tcase_create("hybrid_zero");

    tcase_set_timeout(t, 120);
    add_tests(t);
    return run_case(t, "hybrid_zero");
}
