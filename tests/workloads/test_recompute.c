/* tests/workloads/test_recompute.c - forward ops that run again for the backward pass. */
#include "config.h"

#include "calibrate/calibrate.h"
#include "workloads/passes/recompute.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct fr_graph *load(const char *spec, uint32_t batch, enum fr_dtype dtype)
{
    const struct fr_workload_options opt = {.batch = batch, .dtype = dtype};
    struct fr_graph *g = NULL;
    struct fr_error err;

    ck_assert_msg(fr_workload_load(&g, spec, &opt, &err) == FR_OK, "%s: %s", spec, err.text);
    return g;
}

/* n: units a group, units that run again, or bits of modules. */
static enum fr_status try_recompute(struct fr__recomputed *out, const struct fr_graph *g,
                                    enum fr__recompute how, uint32_t n, bool runs_all,
                                    struct fr_error *err)
{
    unsigned modules = how == FR__RECOMPUTE_MODULES ? n : 0;
    struct fr__units units;
    uint32_t groups[256];
    struct fr__recompute_problem in = {.graph = g,
                                       .units = &units,
                                       .how = how,
                                       .group_of = groups,
                                       .modules = modules,
                                       .runs_all = runs_all};
    enum fr_status st;

    ck_assert_int_eq(fr__units_find(&units, g, err), FR_OK);
    ck_assert_uint_le(units.n_units, 256);
    fr__recompute_groups(how, n, units.n_units, NULL, groups);
    st = fr__recompute(out, &in, err);
    fr__units_free(&units);
    return st;
}

static struct fr__recomputed recompute(const struct fr_graph *g, enum fr__recompute how, uint32_t n,
                                       bool runs_all)
{
    struct fr__recomputed r = {0};
    struct fr_error err;

    ck_assert_msg(try_recompute(&r, g, how, n, runs_all, &err) == FR_OK, "%s", err.text);
    return r;
}

static uint32_t find(const struct fr_graph *g, const char *name)
{
    for (uint32_t o = 0; o < g->n_ops; o++)
        if (strcmp(g->ops[o].name, name) == 0)
            return o;
    return FR_NONE;
}

/* Who writes what the op reads or waits for. */
static const char *reads_of(const struct fr_graph *g, const char *name)
{
    static char text[1024];
    uint32_t o = find(g, name);

    ck_assert_msg(o != FR_NONE, "there is no op '%s'", name);
    text[0] = '\0';
    for (uint32_t i = g->in_first[o]; i < g->in_first[o + 1]; i++) {
        const struct fr_edge *e = &g->edges[g->in_edges[i]];

        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s%s", text[0] ? " " : "",
                 e->tensor == FR_NONE ? "after:" : "", g->ops[e->src].name);
    }
    return text;
}

/* Names of the ops that run again, in order. */
static const char *again(const struct fr_graph *g)
{
    static char text[4096];

    text[0] = '\0';
    for (uint32_t o = 0; o < g->n_ops; o++)
        if (g->ops[o].is_recomputed)
            snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", text[0] ? " " : "",
                     g->ops[o].name);
    return text;
}

static struct fr_graph_totals totals(const struct fr_graph *g)
{
    struct fr_graph_totals t;

    fr_graph_totals(g, &t);
    return t;
}

/* ---- memory: Korthikanti's formulas ---- */

/* V. Korthikanti et al., 2022, table 3, and the layers' bytes a token and unit of width of table 2
 * without tensor parallelism: 34 + 5 a s/h, 34 without the attention core, 2 for the input. */
static const struct {
    uint32_t hidden, heads;
    uint32_t batch;
} published[] = {{6144, 64, 4}, {12288, 96, 1}, {20480, 128, 1}, {25600, 160, 1}};

/* Bytes that one layer more keeps. */
static double kept_a_layer(uint32_t model, enum fr__recompute how)
{
    double kept[2];

    for (unsigned i = 0; i < 2; i++) {
        struct fr_graph *g;
        struct fr__recomputed r;
        char spec[128];

        snprintf(spec, sizeof(spec), "gpt:layers=%u,hidden=%u,heads=%u,seq=2048,vocab=51200", 3 + i,
                 published[model].hidden, published[model].heads);
        g = load(spec, published[model].batch, FR_FP16);
        r = recompute(g, how, 1, false);
        kept[i] = (double)totals(r.graph).saved_bytes;
        fr__recomputed_free(&r);
        fr_graph_free(g);
    }
    return kept[1] - kept[0];
}

START_TEST(a_gpt_layer_keeps_what_korthikantis_formulas_say)
{
    double s = 2048, h = published[_i].hidden, a = published[_i].heads;
    double unit = s * published[_i].batch * h;

    ck_assert_double_eq_tol(kept_a_layer((uint32_t)_i, FR__RECOMPUTE_NONE) / unit,
                            34 + 5 * a * s / h, 0.01 * (34 + 5 * a * s / h));
    ck_assert_double_eq_tol(kept_a_layer((uint32_t)_i, FR__RECOMPUTE_SELECTIVE) / unit, 34, 0.34);
    ck_assert_double_eq(kept_a_layer((uint32_t)_i, FR__RECOMPUTE_FULL) / unit, 2);
}
END_TEST

/* ---- which ops run again ---- */

#define LLAMA "llama:layers=3,hidden=64,ffn=96,heads=4,kv_heads=2,seq=16,vocab=100"
#define GPT "gpt:layers=3,hidden=64,heads=4,seq=16,vocab=100"

START_TEST(full_recomputation_runs_what_the_backward_pass_reads)
{
    struct fr_graph *g = load(LLAMA, 2, FR_BF16);
    struct fr__recomputed r = recompute(g, FR__RECOMPUTE_SOME, 1, false);

    /* all but the last product and sum, which nobody reads */
    ck_assert_str_eq(again(r.graph),
                     "layer0.attn.norm.again layer0.attn.q.again layer0.attn.k.again "
                     "layer0.attn.v.again layer0.attn.q.rotary.again layer0.attn.k.rotary.again "
                     "layer0.attn.flash.again layer0.attn.out.again layer0.attn.add.again "
                     "layer0.mlp.norm.again layer0.mlp.gate.again layer0.mlp.silu.again "
                     "layer0.mlp.up.again layer0.mlp.mul.again");
    ck_assert_str_eq(reads_of(r.graph, "layer0.mlp.mul.again"),
                     "layer0.mlp.silu.again layer0.mlp.up.again");
    ck_assert_str_eq(reads_of(r.graph, "layer0.mlp.down.wgrad"),
                     "layer0.mlp.add.grad_add layer0.mlp.mul.again");
    /* the next layer's gradient is of this layer's output, which is kept */
    ck_assert_str_eq(reads_of(r.graph, "layer1.attn.norm.dgrad"),
                     reads_of(g, "layer1.attn.norm.dgrad"));
    fr__recomputed_free(&r);
    fr_graph_free(g);
}
END_TEST

START_TEST(a_checkpoint_that_calls_the_forward_function_runs_all_of_it)
{
    struct fr_graph *g = load(LLAMA, 2, FR_BF16);
    struct fr__recomputed r = recompute(g, FR__RECOMPUTE_FULL, 1, true);
    struct fr_graph_totals before = totals(g), after = totals(r.graph);
    double layers_flops = 0;
    size_t n_ops = 0;

    for (size_t o = 0; o < g->n_ops; o++)
        if (strncmp(g->ops[o].name, "layer", 5) == 0 && g->ops[o].phase == FR_PHASE_FORWARD) {
            layers_flops += g->ops[o].flops;
            n_ops++;
        }
    ck_assert_uint_ne(find(r.graph, "layer2.mlp.down.again"), FR_NONE);
    ck_assert_double_eq(after.recomputed_flops, layers_flops);
    ck_assert_uint_eq(after.recomputed_ops, n_ops);
    ck_assert_double_eq(after.model_flops, before.model_flops);
    ck_assert_double_gt(after.hardware_flops, before.hardware_flops);
    ck_assert_double_le(after.hardware_flops, before.hardware_flops + layers_flops);
    /* the ops that were there count as before */
    ck_assert_mem_eq(after.flops, before.flops, sizeof(after.flops));
    ck_assert_mem_eq(after.ops, before.ops, sizeof(after.ops));
    ck_assert_uint_eq(after.params, before.params);
    ck_assert_uint_eq(after.param_tensors, before.param_tensors);
    fr__recomputed_free(&r);
    fr_graph_free(g);
}
END_TEST

/* The last op of the layer is the residual's sum; the backward pass of the layer begins with that
 * of the down product, whose gradients of data and of weights both wait. */
START_TEST(the_backward_pass_begins_when_all_of_the_layer_has_run_again)
{
    struct fr_graph *g = load(LLAMA, 2, FR_BF16);
    struct fr__recomputed r = recompute(g, FR__RECOMPUTE_FULL, 1, true);
    const struct fr_graph *n = r.graph;
    uint32_t end = find(n, "layer2.mlp.add.again");
    size_t n_waiting = 0;

    ck_assert_uint_ne(end, FR_NONE);
    for (uint32_t i = n->out_first[end]; i < n->out_first[end + 1]; i++) {
        const struct fr_op *dst = &n->ops[n->edges[i].dst];

        ck_assert_uint_eq(n->edges[i].tensor, FR_NONE);
        ck_assert_uint_eq(dst->forward, find(n, "layer2.mlp.down"));
        n_waiting++;
    }
    ck_assert_uint_eq(n_waiting, 2);
    fr__recomputed_free(&r);
    fr_graph_free(g);
}
END_TEST

START_TEST(copies_wait_for_the_gradient_of_their_units_end)
{
    struct fr_graph *g = load(LLAMA, 2, FR_BF16);
    struct fr__recomputed r = recompute(g, FR__RECOMPUTE_FULL, 1, false);

    /* what the layer writes is read twice, so its gradient is a sum; the last layer's is not */
    ck_assert_str_eq(reads_of(r.graph, "layer1.attn.norm.again"),
                     "layer0.mlp.add after:layer1.mlp.add.grad_add");
    ck_assert_str_eq(reads_of(r.graph, "layer2.attn.norm.again"),
                     "layer1.mlp.add after:final.norm.dgrad");
    fr__recomputed_free(&r);
    r = recompute(g, FR__RECOMPUTE_FULL, 3, false);
    ck_assert_str_eq(reads_of(r.graph, "layer0.attn.norm.again"), "embed after:final.norm.dgrad");
    ck_assert_str_eq(reads_of(r.graph, "layer1.attn.norm.again"), "layer0.mlp.add.again");
    fr__recomputed_free(&r);
    fr_graph_free(g);
}
END_TEST

START_TEST(selective_recomputation_is_the_attention_core)
{
    struct fr_graph *g = load(GPT, 2, FR_FP16);
    struct fr__recomputed r = recompute(g, FR__RECOMPUTE_SELECTIVE, 0, false);

    /* the context itself is kept by nobody */
    ck_assert_ptr_nonnull(strstr(again(r.graph),
                                 "layer1.attn.scores.again layer1.attn.scale.again "
                                 "layer1.attn.mask.again layer1.attn.softmax.again "
                                 "layer1.attn.dropout.again layer0.attn.scores.again"));
    ck_assert_uint_eq(totals(r.graph).recomputed_ops, 3 * 5);
    ck_assert_str_eq(reads_of(r.graph, "layer1.attn.scores.again"),
                     "layer1.attn.split layer1.attn.split after:layer1.attn.merge.dgrad");
    fr__recomputed_free(&r);
    r = recompute(g, FR__RECOMPUTE_SELECTIVE, 0, true);
    /* 4 s^2 b h FLOPs of products a layer (Korthikanti et al., 2022, section 5) */
    ck_assert_double_ge(totals(r.graph).recomputed_flops, 3. * 4 * 16 * 16 * 2 * 64);
    ck_assert_uint_eq(totals(r.graph).recomputed_ops, 3 * 6);
    fr__recomputed_free(&r);
    fr_graph_free(g);
}
END_TEST

START_TEST(casts_inside_an_attention_core_run_again_too)
{
    struct fr_graph *g = load(GPT, 2, FR_AMP);
    struct fr__recomputed r = recompute(g, FR__RECOMPUTE_SELECTIVE, 0, false);
    uint32_t first = find(r.graph, "layer2.attn.scores.again");

    ck_assert_uint_ne(first, FR_NONE);
    ck_assert_uint_ne(find(r.graph, "layer2.attn.softmax.cast.again"), FR_NONE);
    ck_assert_uint_ne(find(r.graph, "layer2.attn.context.cast.again"), FR_NONE);
    ck_assert_uint_eq(find(r.graph, "layer2.attn.qkv.again"), FR_NONE);
    fr__recomputed_free(&r);
    fr_graph_free(g);
}
END_TEST

START_TEST(fused_attention_has_no_core_to_recompute)
{
    struct fr_graph *g = load(LLAMA, 2, FR_BF16);
    struct fr__recomputed r = recompute(g, FR__RECOMPUTE_SELECTIVE, 0, true);

    ck_assert_uint_eq(r.graph->n_ops, g->n_ops);
    ck_assert_uint_eq(r.graph->n_edges, g->n_edges);
    ck_assert_uint_eq(totals(r.graph).saved_bytes, totals(g).saved_bytes);
    fr__recomputed_free(&r);
    fr_graph_free(g);
}
END_TEST

/* Of a feed-forward layer what the backward pass reads runs again: gate, up, SiLU, their product;
 * of the last product only where all runs again. Its input stays. */
START_TEST(feed_forward_layers_run_again_by_themselves)
{
    static const char spec[] = "llama:layers=2,hidden=64,heads=4,kv_heads=2,ffn=128,seq=16,vocab=8";
    static const char *const again[] = {"gate", "silu", "up", "mul"};
    enum { TOKENS = 16, F = 128 };
    struct fr_graph *g = load(spec, 1, FR_BF16);
    struct fr__recomputed some = recompute(g, FR__RECOMPUTE_MODULES, 1u << FR__MODULE_MLP, false);
    struct fr__recomputed all = recompute(g, FR__RECOMPUTE_MODULES, 1u << FR__MODULE_MLP, true);
    struct fr_graph_totals before, after;
    char name[64];

    for (unsigned l = 0; l < 2; l++)
        for (size_t k = 0; k < sizeof(again) / sizeof(again[0]); k++) {
            snprintf(name, sizeof(name), "layer%u.mlp.%s.again", l, again[k]);
            ck_assert_msg(find(some.graph, name) != FR_NONE, "%s", name);
        }
    ck_assert_uint_eq(some.graph->n_ops, g->n_ops + 8);
    ck_assert_uint_eq(all.graph->n_ops, g->n_ops + 10);
    ck_assert_uint_ne(find(all.graph, "layer1.mlp.down.again"), FR_NONE);
    fr_graph_totals(g, &before);
    fr_graph_totals(some.graph, &after);
    ck_assert_uint_eq(before.saved_bytes - after.saved_bytes, 2 * 4 * TOKENS * F * 2);
    fr__recomputed_free(&all);
    fr__recomputed_free(&some);
    fr_graph_free(g);
}
END_TEST

/* ---- modules ---- */

#define LATENT                                                                                     \
    "decoder:layers=4,hidden=64,heads=4,kv_heads=4,q_rank=32,kv_rank=16,rope_width=8,"             \
    "nope_width=8,value_width=16,experts=2,chosen=1,dense_first=2,shared=32,ffn=128,seq=32,"       \
    "vocab=100"

/* What the ops of a layer keep for the backward pass, "op" or "op:output", in order; without what
 * attention's own softmax and norms sum up, which is small. */
static const char *kept_of(const struct fr_graph *g, const char *layer)
{
    static char text[2048];

    text[0] = '\0';
    for (uint32_t t = 0; t < g->n_tensors; t++) {
        uint32_t o = g->tensors[t].op;
        bool is_kept = false;

        if (g->ops[o].phase > FR_PHASE_FORWARD || g->tensors[t].bytes < 1024 ||
            strncmp(g->ops[o].name, layer, strlen(layer)) != 0)
            continue;
        for (uint32_t i = g->out_first[o]; i < g->out_first[o + 1]; i++)
            is_kept |= g->edges[i].tensor == t && g->ops[g->edges[i].dst].phase > FR_PHASE_FORWARD;
        if (is_kept)
            snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", text[0] ? " " : "",
                     g->ops[o].name + strlen(layer));
    }
    return text;
}

/* Layer 3 has experts, layer 1 has none. Derived by hand from what each module is: the outputs of
 * norms, of what expands latents and of experts' activations are not kept either. */
static const struct {
    const char *modules, *dense, *experts;
} modules[] = {
    {"core_attn",
     "attn.norm attn.q_a attn.q_a.norm attn.q.rotary attn.kv_a.split attn.kv_a.norm "
     "attn.kv_b.split "
     "attn.k.join attn.flash attn.add mlp.norm mlp.gate mlp.silu mlp.up mlp.mul mlp.add",
     NULL},
    {"layernorm",
     "attn.q_a attn.q_a.norm attn.q.rotary attn.kv_a.split attn.kv_a.norm attn.kv_b.split "
     "attn.k.join attn.flash attn.add mlp.gate mlp.silu mlp.up mlp.mul mlp.add",
     NULL},
    {"mla_up_proj",
     "attn.norm attn.q_a attn.q_a.norm attn.kv_a.split attn.kv_a.norm attn.flash attn.add mlp.norm "
     "mlp.gate mlp.silu mlp.up mlp.mul mlp.add",
     NULL},
    {"mlp",
     "attn.norm attn.q_a attn.q_a.norm attn.q.rotary attn.kv_a.split attn.kv_a.norm "
     "attn.kv_b.split "
     "attn.k.join attn.flash attn.add mlp.norm mlp.add",
     NULL},
    {"mlp+moe+mla_up_proj+layernorm",
     "attn.q_a attn.q_a.norm attn.kv_a.split attn.kv_a.norm attn.flash attn.add mlp.add",
     "attn.q_a attn.q_a.norm attn.kv_a.split attn.kv_a.norm attn.flash attn.add mlp.add"},
    {"layernorm+mla_up_proj+moe_act", NULL,
     "attn.q_a attn.q_a.norm attn.kv_a.split attn.kv_a.norm attn.flash attn.add mlp.dispatch "
     "mlp.dispatch mlp.expert0.w1 mlp.expert0.w3 mlp.expert0.w2 mlp.expert1.w1 mlp.expert1.w3 "
     "mlp.expert1.w2 mlp.shared.w1 mlp.shared.silu mlp.shared.w3 mlp.shared.mul mlp.shared.w2 "
     "mlp.add"},
    {"shared_experts+moe_act+layernorm+mla_up_proj", NULL,
     "attn.q_a attn.q_a.norm attn.kv_a.split attn.kv_a.norm attn.flash attn.add mlp.dispatch "
     "mlp.dispatch mlp.expert0.w1 mlp.expert0.w3 mlp.expert0.w2 mlp.expert1.w1 mlp.expert1.w3 "
     "mlp.expert1.w2 mlp.shared.w2 mlp.add"},
};

START_TEST(modules_drop_what_megatron_drops)
{
    struct fr_graph *g = load(LATENT, 1, FR_BF16);
    struct fr__recomputed r =
        recompute(g, FR__RECOMPUTE_MODULES, fr__modules_read(modules[_i].modules), true);

    if (modules[_i].dense)
        ck_assert_str_eq(kept_of(r.graph, "layer1."), modules[_i].dense);
    if (modules[_i].experts)
        ck_assert_str_eq(kept_of(r.graph, "layer3."), modules[_i].experts);
    ck_assert_uint_eq(fr_graph_check(r.graph, NULL, NULL), 0);
    fr__recomputed_free(&r);
    fr_graph_free(g);
}
END_TEST

/* The norm runs again when the gradient of what reads it is there, and once for all its readers. */
START_TEST(discarded_outputs_come_back_before_their_readers_backward)
{
    struct fr_graph *g = load(LATENT, 1, FR_BF16);
    struct fr__recomputed r =
        recompute(g, FR__RECOMPUTE_MODULES, fr__modules_read("layernorm+mlp"), true);

    ck_assert_str_eq(reads_of(r.graph, "layer1.mlp.norm.again"),
                     "layer1.attn.add after:layer1.mlp.add.grad_add");
    ck_assert_ptr_nonnull(
        strstr(reads_of(r.graph, "layer1.mlp.up.again"), "layer1.mlp.norm.again"));
    ck_assert_ptr_nonnull(
        strstr(reads_of(r.graph, "layer1.mlp.up.wgrad"), "layer1.mlp.norm.again"));
    fr__recomputed_free(&r);
    fr_graph_free(g);
}
END_TEST

START_TEST(a_model_without_the_module_is_refused)
{
    struct fr_graph *g =
        load("llama:layers=2,hidden=64,ffn=128,heads=4,kv_heads=4,seq=16,vocab=9", 1, FR_BF16);
    struct fr__recomputed r;
    struct fr_error err;

    ck_assert_int_eq(
        try_recompute(&r, g, FR__RECOMPUTE_MODULES, fr__modules_read("mlp+moe"), true, &err),
        FR_EUSAGE);
    ck_assert_ptr_nonnull(strstr(err.text, "has no moe in its layers to recompute"));
    ck_assert_uint_eq(fr__modules_read("mlp+mow"), 0);
    ck_assert_uint_eq(fr__modules_read(""), 0);
    ck_assert_uint_eq(fr__modules_read("mlp+"), 0);
    fr_graph_free(g);
}
END_TEST

START_TEST(a_router_is_no_attention_core)
{
    struct fr_graph *g =
        load("mixtral:layers=2,hidden=64,ffn=64,heads=4,kv_heads=2,seq=32,vocab=100", 2, FR_BF16);
    struct fr__recomputed r = recompute(g, FR__RECOMPUTE_SELECTIVE, 0, true);

    ck_assert_uint_eq(totals(r.graph).recomputed_ops, 0);
    fr__recomputed_free(&r);
    fr_graph_free(g);
}
END_TEST

/* ---- the groups ---- */

START_TEST(units_are_grouped_stage_by_stage)
{
    static const uint32_t stage[] = {0, 0, 0, 1, 1};
    static const struct {
        enum fr__recompute how;
        uint32_t n, want[5];
    } cases[] = {
        {FR__RECOMPUTE_NONE, 0, {FR_NONE, FR_NONE, FR_NONE, FR_NONE, FR_NONE}},
        {FR__RECOMPUTE_SELECTIVE, 0, {0, 1, 2, 3, 4}},
        {FR__RECOMPUTE_FULL, 0, {0, 1, 2, 3, 4}},
        {FR__RECOMPUTE_FULL, 2, {0, 0, 1, 2, 2}},
        {FR__RECOMPUTE_FULL, 9, {0, 0, 0, 1, 1}},
        {FR__RECOMPUTE_SOME, 1, {0, FR_NONE, FR_NONE, 1, FR_NONE}},
        {FR__RECOMPUTE_SOME, 0, {FR_NONE, FR_NONE, FR_NONE, FR_NONE, FR_NONE}},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        uint32_t got[5];

        fr__recompute_groups(cases[i].how, cases[i].n, 5, stage, got);
        ck_assert_mem_eq(got, cases[i].want, sizeof(got));
    }
}
END_TEST

/* One input a group: of six layers 6, 3, 2 and 1 are kept; of the first two recomputed 4 whole. */
START_TEST(a_group_keeps_one_input)
{
    struct fr_graph *g = load("gpt:layers=6,hidden=64,heads=4,seq=16,vocab=100", 2, FR_FP16);
    struct fr__recomputed one = recompute(g, FR__RECOMPUTE_FULL, 1, false);
    double input = 2 * 2 * 16 * 64, kept = (double)totals(one.graph).saved_bytes;

    for (uint32_t n = 2; n <= 6; n += n == 3 ? 3 : 1) {
        struct fr__recomputed r = recompute(g, FR__RECOMPUTE_FULL, n, false);

        ck_assert_double_eq(kept - (double)totals(r.graph).saved_bytes, (6 - 6. / n) * input);
        fr__recomputed_free(&r);
    }
    fr__recomputed_free(&one);
    fr_graph_free(g);
}
END_TEST

/* ---- the graph ---- */

static const char *const models[] = {GPT,
                                     LLAMA,
                                     "mixtral:layers=2,hidden=64,ffn=64,heads=4,kv_heads=2,seq=32",
                                     "bert:layers=2,hidden=64,heads=4",
                                     "transformer-base",
                                     "gnmt-8",
                                     "resnet18",
                                     "densenet121",
                                     "vgg16",
                                     "inception-v3"};

static void check_copies(const struct fr_graph *g, const struct fr__recomputed *r)
{
    const struct fr_graph *x = r->graph;
    uint32_t last = 0;

    for (uint32_t o = 0; o < x->n_ops; o++) {
        const struct fr_op *op = &x->ops[o], *from = &g->ops[r->from[o]];

        ck_assert_double_eq(op->flops, from->flops);
        ck_assert_str_eq(x->layer_names[op->layer], g->layer_names[from->layer]);
        if (op->is_recomputed) {
            ck_assert_int_eq(op->phase, FR_PHASE_BACKWARD_DATA);
            ck_assert_uint_eq(op->n_params, 0);
            ck_assert_str_eq(x->ops[op->forward].name, from->name);
            ck_assert_uint_gt(x->in_first[o + 1], x->in_first[o]);
        } else {
            ck_assert_str_eq(op->name, from->name);
            ck_assert(o == 0 || r->from[o] == 0 || r->from[o] > last);
            last = r->from[o];
        }
    }
}

/* No backward op of a unit reads what a forward op of the same unit makes, and no copy could run
 * before the loss. */
static void check_readers(const struct fr_graph *x, const struct fr__units *units)
{
    uint32_t loss = 0;

    for (uint32_t o = 0; o < x->n_ops; o++)
        if (x->ops[o].kind == FR_OP_LOSS && x->ops[o].phase == FR_PHASE_FORWARD)
            loss = o;
    for (size_t i = 0; i < x->n_edges; i++) {
        const struct fr_edge *e = &x->edges[i];
        const struct fr_op *src = &x->ops[e->src], *dst = &x->ops[e->dst];
        uint32_t unit = units->unit_of_layer[src->layer];

        ck_assert(!dst->is_recomputed || e->dst > loss);
        if (e->tensor != FR_NONE && unit != FR_NONE && src->phase == FR_PHASE_FORWARD &&
            dst->phase > FR_PHASE_FORWARD && !dst->is_recomputed)
            ck_assert_msg(unit != units->unit_of_layer[dst->layer], "%s reads %s", dst->name,
                          src->name);
    }
}

START_TEST(any_model_can_be_recomputed_unit_by_unit)
{
    struct fr_graph *g = load(models[_i], 0, FR_N_DTYPES);
    struct fr__recomputed r = recompute(g, FR__RECOMPUTE_FULL, 1, false);
    struct fr__units units;
    struct fr_error err;

    ck_assert_int_eq(fr__units_find(&units, r.graph, &err), FR_OK);
    check_copies(g, &r);
    check_readers(r.graph, &units);
    ck_assert_uint_lt(totals(r.graph).saved_bytes, totals(g).saved_bytes);
    ck_assert_double_gt(totals(r.graph).recomputed_flops, 0);
    fr__units_free(&units);
    fr__recomputed_free(&r);
    fr_graph_free(g);
}
END_TEST

static void refuse_line(void *user, const char *line)
{
    (void)user;
    ck_abort_msg("%s", line);
}

START_TEST(a_recomputed_graph_has_nothing_odd)
{
    struct fr_graph *g = load(GPT, 2, FR_FP16);
    struct fr__recomputed r = recompute(g, FR__RECOMPUTE_FULL, 1, false);

    fr_graph_check(r.graph, refuse_line, NULL);
    fr__recomputed_free(&r);
    fr_graph_free(g);
}
END_TEST

START_TEST(no_recomputation_leaves_the_graph_as_it_is)
{
    struct fr_graph *g = load(GPT, 2, FR_FP16);
    struct fr__recomputed r = recompute(g, FR__RECOMPUTE_NONE, 0, false);

    ck_assert_uint_eq(r.graph->n_ops, g->n_ops);
    ck_assert_uint_eq(r.graph->n_edges, g->n_edges);
    for (uint32_t i = 0; i < g->n_edges; i++)
        ck_assert(r.graph->edges[i].src == g->edges[i].src &&
                  r.graph->edges[i].dst == g->edges[i].dst &&
                  r.graph->edges[i].tensor == g->edges[i].tensor &&
                  r.graph->edges[i].bytes == g->edges[i].bytes);
    for (uint32_t o = 0; o < g->n_ops; o++)
        ck_assert_uint_eq(r.from[o], o);
    fr__recomputed_free(&r);
    fr_graph_free(g);
}
END_TEST

START_TEST(a_model_that_repeats_nothing_is_refused)
{
    struct fr_graph *g = load("gpt:layers=1,hidden=64,heads=4,seq=16,vocab=100", 2, FR_FP16);
    struct fr__recomputed r;
    struct fr_error err;

    ck_assert_int_eq(try_recompute(&r, g, FR__RECOMPUTE_FULL, 1, false, &err), FR_EUSAGE);
    ck_assert_ptr_nonnull(strstr(err.text, "repeats no block of layers"));
    fr_graph_free(g);
}
END_TEST

/* ---- what they cost ---- */

static void compare_costs(const struct fr_graph *g, const struct fr__recomputed *r, const char *on)
{
    const struct fr_cost_options options = {.datasheet_only = false};
    struct fr_cost_model *m = NULL;
    struct fr_topo *topo = NULL;
    struct fr_error err;

    ck_assert_msg(fr_topo_load(&topo, on, &err) == FR_OK, "%s", err.text);
    ck_assert_msg(fr_cost_model_new(&m, topo->types, topo->n_types, &options, &err) == FR_OK, "%s",
                  err.text);
    for (uint32_t o = 0; o < r->graph->n_ops; o++) {
        const struct fr_part part = {.batch = r->graph->batch};
        struct fr_cost copy, own;

        if (!r->graph->ops[o].is_recomputed)
            continue;
        fr_cost_op(m, topo->devices[0].type, r->graph, o, &part, &copy);
        fr_cost_op(m, topo->devices[0].type, g, r->from[o], &part, &own);
        ck_assert_msg(!(copy.mean_s < own.mean_s) && !(copy.mean_s > own.mean_s), "%s: %g not %g",
                      r->graph->ops[o].name, copy.mean_s, own.mean_s);
        ck_assert_double_eq(copy.launch_s, own.launch_s);
    }
    fr_cost_model_free(m);
    fr_topo_free(topo);
}

START_TEST(a_copy_costs_what_its_forward_op_costs)
{
    struct fr_graph *g = load(models[_i], 0, _i % 2 ? FR_FP32 : FR_AMP);
    struct fr__recomputed r = recompute(g, FR__RECOMPUTE_FULL, 1, true);

    compare_costs(g, &r, "dgx1-v100");
    compare_costs(g, &r, "hgx-h100");
    fr__recomputed_free(&r);
    fr_graph_free(g);
}
END_TEST

static TCase *make_case(void)
{
    TCase *tc = tcase_create("recompute");
    int n_models = sizeof(models) / sizeof(*models);

    tcase_set_timeout(tc, 120);
    tcase_add_loop_test(tc, a_gpt_layer_keeps_what_korthikantis_formulas_say, 0, 4);
    tcase_add_test(tc, full_recomputation_runs_what_the_backward_pass_reads);
    tcase_add_test(tc, a_checkpoint_that_calls_the_forward_function_runs_all_of_it);
    tcase_add_test(tc, the_backward_pass_begins_when_all_of_the_layer_has_run_again);
    tcase_add_test(tc, copies_wait_for_the_gradient_of_their_units_end);
    tcase_add_test(tc, selective_recomputation_is_the_attention_core);
    tcase_add_test(tc, casts_inside_an_attention_core_run_again_too);
    tcase_add_test(tc, fused_attention_has_no_core_to_recompute);
    tcase_add_test(tc, feed_forward_layers_run_again_by_themselves);
    tcase_add_loop_test(tc, modules_drop_what_megatron_drops, 0,
                        sizeof(modules) / sizeof(modules[0]));
    tcase_add_test(tc, discarded_outputs_come_back_before_their_readers_backward);
    tcase_add_test(tc, a_model_without_the_module_is_refused);
    tcase_add_test(tc, a_router_is_no_attention_core);
    tcase_add_test(tc, units_are_grouped_stage_by_stage);
    tcase_add_test(tc, a_group_keeps_one_input);
    tcase_add_loop_test(tc, any_model_can_be_recomputed_unit_by_unit, 0, n_models);
    tcase_add_test(tc, a_recomputed_graph_has_nothing_odd);
    tcase_add_test(tc, no_recomputation_leaves_the_graph_as_it_is);
    tcase_add_test(tc, a_model_that_repeats_nothing_is_refused);
    tcase_add_loop_test(tc, a_copy_costs_what_its_forward_op_costs, 0, n_models);
    return tc;
}

int main(void)
{
    return run_case(make_case(), "recompute");
}
