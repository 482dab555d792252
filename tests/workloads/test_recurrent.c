/* tests/workloads/test_recurrent.c - models unrolled in time, against PyTorch, PipeDream's profiles
 * and closed forms. */
#include "config.h"

#include "workloads/zoo/nn_recurrent.h"
#include "workloads/zoo/zoo.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct fr_graph *load(const char *spec, uint32_t batch, uint32_t seq_len)
{
    const struct fr_workload_options opt = {
        .batch = batch, .seq_len = seq_len, .dtype = FR_N_DTYPES};
    struct fr_graph *g = NULL;
    struct fr_error err;

    ck_assert_msg(fr__zoo_load(&g, spec, &opt, &err) == FR_OK, "%s: %s", spec, err.text);
    return g;
}

static uint32_t find(const struct fr_graph *g, const char *name)
{
    for (uint32_t o = 0; o < g->n_ops; o++)
        if (strcmp(g->ops[o].name, name) == 0)
            return o;
    ck_abort_msg("there is no op '%s'", name);
    return FR_NONE;
}

/* Who writes what the op reads, each tensor once, in the order of the ops. */
static const char *reads_of(const struct fr_graph *g, const char *name)
{
    static char text[1024];
    uint32_t o = find(g, name);

    text[0] = '\0';
    for (uint32_t i = g->in_first[o]; i < g->in_first[o + 1]; i++) {
        const char *src = g->ops[g->edges[g->in_edges[i]].src].name;

        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", text[0] ? " " : "", src);
    }
    return text;
}

static bool is_product(const struct fr_op *op)
{
    return op->kind == FR_OP_MATMUL || op->kind == FR_OP_BATCH_MATMUL;
}

/* Multiply-adds of forward matrix products in layers whose names begin so, a sample. */
static double macs(const struct fr_graph *g, const char *prefix)
{
    double flops = 0;

    for (size_t i = 0; i < g->n_ops; i++)
        if (g->ops[i].phase == FR_PHASE_FORWARD && is_product(&g->ops[i]) &&
            strncmp(g->ops[i].name, prefix, strlen(prefix)) == 0)
            flops += g->ops[i].flops;
    return flops / 2 / g->batch;
}

static uint64_t param_bytes(const struct fr_graph *g, const char *layer)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < g->n_ops; i++)
        if (g->ops[i].phase == FR_PHASE_FORWARD &&
            strcmp(g->layer_names[g->ops[i].layer], layer) == 0)
            bytes += g->ops[i].param_bytes;
    return bytes;
}

/* Bytes of the first outputs of all forward ops LAYER.tSTEP.OP. */
static uint64_t step_bytes(const struct fr_graph *g, const char *layer, const char *op)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < g->n_ops; i++) {
        const char *dot = strrchr(g->ops[i].name, '.');

        if (g->ops[i].phase == FR_PHASE_FORWARD && dot && strcmp(dot + 1, op) == 0 &&
            strcmp(g->layer_names[g->ops[i].layer], layer) == 0)
            bytes += g->tensors[g->ops[i].first_tensor].bytes;
    }
    return bytes;
}

/* ---- against PyTorch ---- */

/* The same models written with PyTorch 1.13 on a CPU, every step's cell by hand
 * (torch.nn.functional.linear of input and state with a bias each, in-place sigmoid and tanh of
 * the chunks, torch.stack and cat), torch.native_dropout for its one-byte mask, forward under
 * torch.autograd.graph.saved_tensors_hooks: bytes of the unique storages that are saved, parameters
 * left out, and elements and number of parameters. */
static const struct {
    const char *spec;
    uint32_t steps, batch;
    uint64_t saved_bytes, params, param_tensors;
} measured[] = {
    {"rnnlm:layers=2,hidden=8,vocab=11", 5, 1, 3144, 1339, 11},
    {"rnnlm:layers=2,hidden=8,vocab=11", 5, 3, 9424, 1339, 11},
    {"rnnlm:layers=3,hidden=16,vocab=11", 7, 1, 12072, 6891, 15},
    {"rnnlm:layers=3,hidden=16,vocab=11", 7, 3, 36208, 6891, 15},
    {"gnmt:encoder=4,decoder=4,hidden=8,vocab=11,target=3", 5, 1, 11044, 6619, 43},
    {"gnmt:encoder=4,decoder=4,hidden=8,vocab=11,target=3", 5, 3, 33124, 6619, 43},
    {"gnmt:encoder=2,decoder=2,hidden=8,vocab=11,target=6", 5, 1, 9100, 3803, 27},
    {"gnmt:encoder=2,decoder=2,hidden=8,vocab=11,target=6", 5, 3, 27292, 3803, 27},
    {"gnmt:encoder=1,decoder=1,hidden=8,vocab=11,target=3", 5, 1, 4764, 2395, 20},
    {"gnmt:encoder=1,decoder=1,hidden=8,vocab=11,target=3", 5, 3, 14284, 2395, 20},
};

enum { N_MEASURED = sizeof(measured) / sizeof(measured[0]) };

START_TEST(parameters_and_saved_bytes_are_those_of_pytorch)
{
    struct fr_graph *g = load(measured[_i].spec, measured[_i].batch, measured[_i].steps);
    struct fr_graph_totals t;

    fr_graph_totals(g, &t);
    ck_assert_uint_eq(t.saved_bytes, measured[_i].saved_bytes);
    ck_assert_uint_eq(t.params, measured[_i].params);
    ck_assert_uint_eq(t.param_tensors, measured[_i].param_tensors);
    fr_graph_free(g);
}
END_TEST

/* A layer more saves 32 T H bytes a sample (4 gates, c, tanh c, h, input, of 4 bytes each; measured
 * with PyTorch's nn.LSTM on a CPU) and the one-byte masks of its dropout. */
START_TEST(an_lstm_layer_saves_32_bytes_a_step_and_unit)
{
    const uint64_t steps = 40, hidden = 64, batch = 3;
    struct fr_graph *two = load("rnnlm:layers=2,hidden=64,vocab=100", (uint32_t)batch, 0);
    struct fr_graph *three = load("rnnlm:layers=3,hidden=64,vocab=100", (uint32_t)batch, 0);
    struct fr_graph_totals a, b;

    fr_graph_totals(two, &a);
    fr_graph_totals(three, &b);
    ck_assert_uint_eq(b.saved_bytes - a.saved_bytes, (32 + 1) * batch * steps * hidden);
    ck_assert_uint_eq(b.params - a.params, 4 * hidden * (hidden + hidden + 2));
    fr_graph_free(two);
    fr_graph_free(three);
}
END_TEST

/* ---- against PipeDream ---- */

/* profiler/translation/profiles/gnmt/graph.txt at commit 7db6a1c: parameter_size of each node; the
 * RecurrentAttention node is decoder.layer0 and decoder.attention together. */
static const struct {
    const char *layer;
    uint64_t bytes;
} profiled[] = {
    {"encoder.embed", 132382720}, {"encoder.layer0", 67174400}, {"encoder.layer1", 50364416},
    {"encoder.layer2", 33587200}, {"encoder.layer3", 33587200}, {"decoder.embed", 132382720},
    {"decoder.layer1", 50364416}, {"decoder.layer2", 50364416}, {"decoder.layer3", 50364416},
    {"classifier", 132512000},
};

START_TEST(layers_have_the_parameters_of_the_profile)
{
    struct fr_graph *g = load("gnmt-8", 1, 0);

    for (size_t i = 0; i < sizeof(profiled) / sizeof(profiled[0]); i++)
        ck_assert_uint_eq(param_bytes(g, profiled[i].layer), profiled[i].bytes);
    ck_assert_uint_eq(param_bytes(g, "decoder.layer0") + param_bytes(g, "decoder.attention"),
                      41979904);
    fr_graph_free(g);
}
END_TEST

/* The same nodes' activation_size, at 32 sentences of 48 and 47 words. */
START_TEST(layers_have_the_outputs_of_the_profile)
{
    struct fr_graph *g = load("gnmt:source=48,target=47", 32, 0);

    ck_assert_uint_eq(g->tensors[g->ops[find(g, "encoder.embed.words")].first_tensor].bytes,
                      6291456);
    ck_assert_uint_eq(step_bytes(g, "encoder.layer0", "join"), 12582912);
    ck_assert_uint_eq(step_bytes(g, "encoder.layer1", "dropout"), 12582912);
    ck_assert_uint_eq(step_bytes(g, "encoder.layer3", "add"), 6291456);
    ck_assert_uint_eq(step_bytes(g, "decoder.layer0", "h"), 6160384);
    ck_assert_uint_eq(step_bytes(g, "decoder.attention", "softmax"), 288768);
    ck_assert_uint_eq(step_bytes(g, "decoder.attention", "context"), 6160384);
    ck_assert_uint_eq(step_bytes(g, "decoder.layer3", "add"), 6160384);
    ck_assert_uint_eq(g->tensors[g->ops[find(g, "classifier")].first_tensor].bytes, 194437120);
    fr_graph_free(g);
}
END_TEST

START_TEST(residuals_begin_at_the_third_layer)
{
    struct fr_graph *g = load("gnmt-8", 1, 3);

    ck_assert_uint_eq(step_bytes(g, "encoder.layer1", "add"), 0);
    ck_assert_str_eq(reads_of(g, "encoder.layer2.t1.add"),
                     "encoder.layer1.t1.h encoder.layer2.t1.h");
    ck_assert_str_eq(reads_of(g, "encoder.layer3.t1.add"),
                     "encoder.layer2.t1.add encoder.layer3.t1.h");
    ck_assert_str_eq(reads_of(g, "decoder.layer1.t1.join"),
                     "decoder.attention.t1.context decoder.layer1.t1.dropout");
    ck_assert_str_eq(reads_of(g, "decoder.layer2.t2.add"),
                     "decoder.layer1.t2.h decoder.layer2.t2.h");
    /* one direction begins where the other ends */
    ck_assert_str_eq(reads_of(g, "encoder.layer0.fw.t0.forget"),
                     "encoder.layer0.fw.state encoder.layer0.fw.t0.gates");
    ck_assert_str_eq(reads_of(g, "encoder.layer0.bw.t2.forget"),
                     "encoder.layer0.bw.state encoder.layer0.bw.t2.gates");
    ck_assert_str_eq(reads_of(g, "encoder.layer0.t0.join"),
                     "encoder.layer0.fw.t0.h encoder.layer0.bw.t0.h");
    fr_graph_free(g);
}
END_TEST

/* ---- closed forms ---- */

/* 4 h (i + h) a step: i is h, but 2 h after both directions and where the decoder reads the
 * attention's answer. Attention: keys S h^2; a query h^2, scores S h, answer S h. */
START_TEST(arithmetic_follows_the_closed_form)
{
    const double h = 1024, vocab = 32320, s = 50, t = 30;
    struct fr_graph *g = load("gnmt:source=50,target=30", 2, 0);

    ck_assert_double_eq(macs(g, "encoder.layer0."), 2 * s * 8 * h * h);
    ck_assert_double_eq(macs(g, "encoder.layer1."), s * 12 * h * h);
    ck_assert_double_eq(macs(g, "encoder.layer2."), s * 8 * h * h);
    ck_assert_double_eq(macs(g, "decoder.layer0."), t * 8 * h * h);
    ck_assert_double_eq(macs(g, "decoder.layer3."), t * 12 * h * h);
    ck_assert_double_eq(macs(g, "decoder.attention."), s * h * h + t * (h * h + 2 * s * h));
    ck_assert_double_eq(macs(g, "classifier"), t * h * vocab);
    fr_graph_free(g);
}
END_TEST

/* Embeddings 2 V h; both directions 16 (h^2 + h), decoder 8 (h^2 + h); attention over a memory of 2
 * h: h (h + 2 h + 1); combination 3 h^2; classifier V h + V. */
START_TEST(the_smallest_combines_answer_and_output)
{
    const uint64_t h = 1024, vocab = 32320;
    struct fr_graph *g = load("gnmt-2", 1, 4);
    struct fr_graph_totals totals;

    fr_graph_totals(g, &totals);
    ck_assert_uint_eq(totals.params, 2 * vocab * h + 24 * (h * h + h) + h * (3 * h + 1) +
                                         3 * h * h + vocab * (h + 1));
    ck_assert_str_eq(reads_of(g, "decoder.combine.t3.join"),
                     "decoder.layer0.t3.h decoder.attention.t3.context");
    ck_assert_double_eq(macs(g, "decoder.combine."), 4 * 3.0 * 1024 * 1024);
    fr_graph_free(g);
}
END_TEST

/* ---- time ---- */

START_TEST(gradients_of_h_and_c_come_back_through_time)
{
    struct fr_graph *g = load("rnnlm:hidden=8,vocab=11", 1, 3);

    /* c_1 is read by tanh and by the next step's forget; h_1 by dropout and the next step's
     * product */
    ck_assert_str_eq(reads_of(g, "layer0.t1.c.grad_add"),
                     "layer0.t2.forget.dgrad0 layer0.t1.tanh.dgrad");
    ck_assert_str_eq(reads_of(g, "layer0.t1.h.grad_add"),
                     "layer0.t2.hh.dgrad layer0.t1.dropout.dgrad");
    /* the state that the first step starts from wants none */
    ck_assert_str_eq(reads_of(g, "layer0.t0.act.dgrad"), "layer0.t0.act layer0.t0.gates.dgrad");
    for (size_t i = 0; i < g->n_ops; i++)
        ck_assert_str_ne(g->ops[i].name, "layer0.t0.hh.dgrad");
    fr_graph_free(g);
}
END_TEST

START_TEST(steps_share_one_weight_gradient)
{
    struct fr_graph *g = load("rnnlm:hidden=8,vocab=11", 2, 3);
    const struct fr_op *dw = &g->ops[find(g, "layer1.t0.hh.wgrad")];
    struct fr_graph_totals t;

    fr_graph_totals(g, &t);
    /* embedding, ih, hh and bias of two layers, classifier and its bias; nothing to add up */
    ck_assert_uint_eq(t.ops[FR_PHASE_BACKWARD_WEIGHT], 1 + 2 * 3 + 2);
    ck_assert_uint_eq(t.ops[FR_PHASE_UPDATE], 9);
    /* each step's input and the gradient of its gates: a product over all steps */
    ck_assert_str_eq(reads_of(g, "layer1.t0.hh.wgrad"),
                     "layer1.state layer1.t0.h layer1.t1.h layer1.t2.act.dgrad "
                     "layer1.t1.act.dgrad layer1.t0.act.dgrad");
    ck_assert_double_eq(dw->flops, 3 * 2 * 2.0 * 8 * 32);
    ck_assert_double_eq(dw->bytes, 3 * 2 * (8 + 32) * 4);
    ck_assert_uint_eq(dw->param_bytes, 8 * 32 * 4);
    ck_assert_uint_eq(g->tensors[dw->first_tensor].bytes, 8 * 32 * 4);
    ck_assert_str_eq(reads_of(g, "layer1.t0.bias.wgrad"),
                     "layer1.t2.act.dgrad layer1.t1.act.dgrad layer1.t0.act.dgrad");
    fr_graph_free(g);
}
END_TEST

/* The first step's output goes nowhere, the second's does: the gradient is there all the same. */
START_TEST(a_first_step_without_a_gradient_takes_up_the_later_ones)
{
    struct fr_graph *forward = NULL, *g = NULL;
    struct fr__shared w = {0};
    struct fr__value x[2], y;
    struct fr__net net;

    ck_assert_int_eq(fr__nn_init(&net, 2, 2, FR_FP32, NULL), FR_OK);
    y = fr__nn_tokens(&net);
    fr__nn_layer(&net, "embed");
    fr__nn_unstack(&net, "steps", fr__nn_embedding(&net, "words", y, 10, 6), x);
    fr__nn_layer(&net, "fc");
    fr__nn_shared_linear(&net, "t0", x[0], 3, &w);
    y = fr__nn_shared_linear(&net, "t1", x[1], 3, &w);
    fr__nn_cross_entropy(&net, y);
    ck_assert_int_eq(fr__nn_finish(&net, "test", "", &forward, NULL), FR_OK);
    fr__nn_fini(&net);
    ck_assert_int_eq(fr_graph_expand_training(forward, &g, NULL), FR_OK);
    ck_assert_str_eq(reads_of(g, "fc.t0.wgrad"), "embed.steps loss.log_softmax.dgrad");
    ck_assert_double_eq(g->ops[find(g, "fc.t0.wgrad")].flops, 2 * 2 * 6 * 3);
    ck_assert_str_eq(reads_of(g, "fc.t0.update"), "fc.t0.wgrad");
    fr_graph_free(forward);
    fr_graph_free(g);
}
END_TEST

/* So that a pipeline's parts are layers. */
START_TEST(all_steps_of_a_layer_follow_each_other)
{
    struct fr_graph *g = load("gnmt-8", 1, 0);
    uint32_t layer = 0;

    for (size_t i = 0; i < g->n_ops; i++) {
        if (g->ops[i].phase != FR_PHASE_FORWARD)
            continue;
        ck_assert_uint_ge(g->ops[i].layer, layer);
        layer = g->ops[i].layer;
    }
    ck_assert_uint_eq(step_bytes(g, "encoder.layer3", "ih"), 40 * 4 * 4 * 1024);
    ck_assert_uint_eq(step_bytes(g, "encoder.layer3", "h"), 40 * 4 * 1024);
    fr_graph_free(g);
}
END_TEST

/* Two samples, 8 units, 8 inputs: a vector of them is 64 bytes, the four gates 256. In place or
 * not, an op reads its inputs and writes its output once; parameters are counted apart. Arithmetic:
 * two biases; 1 / (1 + exp(-x)) is three operations, tanh one; a transcendental function is one. */
START_TEST(a_step_reads_and_writes_what_its_equations_say)
{
    static const struct {
        const char *op;
        double bytes, flops;
        uint64_t param_bytes;
    } want[] = {
        {"ih", 64 + 256, 2 * 2 * 8 * 32, 4 * 8 * 32},
        {"hh", 64 + 256, 2 * 2 * 8 * 32, 4 * 8 * 32},
        {"sum", 3 * 256, 64, 0},
        {"bias", 2 * 256, 2 * 64, 2 * 4 * 32},
        {"act", 2 * 256, 16 * (3 * 3 + 1), 0},
        {"gates", 0, 0, 0},
        {"forget", 3 * 64, 16, 0},
        {"input", 3 * 64, 16, 0},
        {"c", 3 * 64, 16, 0},
        {"tanh", 2 * 64, 16, 0},
        {"h", 3 * 64, 16, 0},
    };
    struct fr_graph *g = load("rnnlm:hidden=8,vocab=11", 2, 3);

    for (uint32_t t = 0; t < 3; t++)
        for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
            const struct fr_op *op;
            char name[32];

            snprintf(name, sizeof(name), "layer1.t%u.%s", t, want[i].op);
            op = &g->ops[find(g, name)];
            ck_assert_double_eq(op->bytes, want[i].bytes);
            ck_assert_double_eq(op->flops, want[i].flops);
            ck_assert_uint_eq(op->param_bytes, t == 0 ? want[i].param_bytes : 0);
            ck_assert(op->scales);
        }
    fr_graph_free(g);
}
END_TEST

/* The storage of an op's first output. */
static uint32_t storage_of(const struct fr_graph *g, const char *name)
{
    uint32_t t = g->ops[find(g, name)].first_tensor;

    return g->tensors[t].alias == FR_NONE ? t : g->tensors[t].alias;
}

/* Which output of the step's gates the op reads, as a sum of powers of two. */
static unsigned gates_of(const struct fr_graph *g, const char *name)
{
    uint32_t o = find(g, name), gates = find(g, "layer0.t1.gates");
    unsigned mask = 0;

    for (uint32_t i = g->in_first[o]; i < g->in_first[o + 1]; i++) {
        const struct fr_edge *e = &g->edges[g->in_edges[i]];

        if (e->src == gates)
            mask |= 1u << (e->tensor - g->ops[gates].first_tensor);
    }
    return mask;
}

START_TEST(gates_share_one_storage_and_c_takes_that_of_its_first_part)
{
    struct fr_graph *g = load("rnnlm:hidden=8,vocab=11", 2, 3);
    uint32_t gates = storage_of(g, "layer0.t1.ih");

    ck_assert_uint_eq(storage_of(g, "layer0.t1.sum"), gates);
    ck_assert_uint_eq(storage_of(g, "layer0.t1.bias"), gates);
    ck_assert_uint_eq(storage_of(g, "layer0.t1.act"), gates);
    ck_assert_uint_eq(storage_of(g, "layer0.t1.gates"), gates);
    ck_assert_uint_eq(storage_of(g, "layer0.t1.c"), storage_of(g, "layer0.t1.forget"));
    ck_assert_uint_ne(storage_of(g, "layer0.t1.tanh"), storage_of(g, "layer0.t1.c"));
    /* i, f, g, o */
    ck_assert_uint_eq(gates_of(g, "layer0.t1.forget"), 1u << 1);
    ck_assert_uint_eq(gates_of(g, "layer0.t1.input"), 1u << 0 | 1u << 2);
    ck_assert_uint_eq(gates_of(g, "layer0.t1.h"), 1u << 3);
    fr_graph_free(g);
}
END_TEST

/* gnmt-16: 8 layers of the encoder, one of them twice, and 8 of the decoder. */
START_TEST(a_step_is_ops_of_its_own)
{
    struct fr_graph *g = load("gnmt-16", 1, 0);
    size_t n_cells = 0;

    for (size_t i = 0; i < g->n_ops; i++) {
        const char *dot = strrchr(g->ops[i].name, '.');

        n_cells += g->ops[i].phase == FR_PHASE_FORWARD && dot && strcmp(dot, ".hh") == 0;
    }
    ck_assert_uint_eq(n_cells, 17 * 40);
    ck_assert_uint_gt(g->n_ops, 15000);
    fr_graph_free(g);
}
END_TEST

/* ---- options ---- */

START_TEST(sequences_are_as_long_as_asked_for)
{
    struct fr_graph *g = load("gnmt:encoder=2,decoder=2,source=7", 1, 0);

    ck_assert_uint_eq(g->seq_len, 7);
    find(g, "encoder.layer1.t6.h");
    find(g, "decoder.layer1.t6.h");
    fr_graph_free(g);
    g = load("gnmt:encoder=2,decoder=2,source=7,target=9", 1, 3);
    ck_assert_uint_eq(g->seq_len, 3);
    find(g, "encoder.layer1.t2.h");
    find(g, "decoder.layer1.t8.h");
    fr_graph_free(g);
    g = load("rnnlm", 1, 100);
    find(g, "layer1.t99.h");
    fr_graph_free(g);
    g = load("rnnlm", 0, 0);
    ck_assert_uint_eq(g->batch, 64);
    ck_assert_uint_eq(g->seq_len, 40);
    fr_graph_free(g);
    g = load("rnnlm", 1, 1); /* one step: nothing recurs */
    ck_assert_str_eq(reads_of(g, "layer1.t0.hh.wgrad"), "layer1.state layer1.t0.act.dgrad");
    fr_graph_free(g);
}
END_TEST

static void refuse(const char *spec, uint32_t seq_len, enum fr_status code, const char *text)
{
    const struct fr_workload_options opt = {.batch = 0, .seq_len = seq_len, .dtype = FR_N_DTYPES};
    struct fr_graph *g = NULL;
    struct fr_error err = {0};

    ck_assert_msg(fr__zoo_load(&g, spec, &opt, &err) == code, "%s: %s", spec, err.text);
    ck_assert_msg(strstr(err.text, text) != NULL, "%s", err.text);
    ck_assert_ptr_null(g);
}

START_TEST(refuses_what_cannot_be_unrolled)
{
    refuse("rnnlm", 2001, FR_ERANGE, "model 'rnnlm' is unrolled into 2000 steps at most, not 2001");
    refuse("gnmt-8", 4000000000U, FR_ERANGE, "2000 steps at most");
    refuse("gnmt:source=0", 0, FR_ERANGE, "option 'source' of model 'gnmt'");
    refuse("gnmt:target=2001", 0, FR_ERANGE, "option 'target' of model 'gnmt'");
    refuse("gnmt:layers=4", 0, FR_EUSAGE, "model 'gnmt' has no option 'layers'");
    refuse("gnmt-8:hidden=4", 0, FR_EUSAGE, "takes no options");
    refuse("rnnlm:layers=65", 0, FR_ERANGE, "option 'layers' of model 'rnnlm'");
    refuse("gnmt-6", 0, FR_ENOENT, "did you mean 'gnmt-2'?");
}
END_TEST

static Suite *make_suite(void)
{
    Suite *s = suite_create("workloads/recurrent");
    TCase *facts = tcase_create("facts"), *unrolled = tcase_create("time");
    TCase *options = tcase_create("options");

    tcase_add_loop_test(facts, parameters_and_saved_bytes_are_those_of_pytorch, 0, N_MEASURED);
    tcase_add_test(facts, an_lstm_layer_saves_32_bytes_a_step_and_unit);
    tcase_add_test(facts, layers_have_the_parameters_of_the_profile);
    tcase_add_test(facts, layers_have_the_outputs_of_the_profile);
    tcase_add_test(facts, residuals_begin_at_the_third_layer);
    tcase_add_test(facts, arithmetic_follows_the_closed_form);
    tcase_add_test(facts, the_smallest_combines_answer_and_output);
    tcase_add_test(unrolled, gradients_of_h_and_c_come_back_through_time);
    tcase_add_test(unrolled, steps_share_one_weight_gradient);
    tcase_add_test(unrolled, a_first_step_without_a_gradient_takes_up_the_later_ones);
    tcase_add_test(unrolled, all_steps_of_a_layer_follow_each_other);
    tcase_add_test(unrolled, a_step_reads_and_writes_what_its_equations_say);
    tcase_add_test(unrolled, gates_share_one_storage_and_c_takes_that_of_its_first_part);
    tcase_add_test(unrolled, a_step_is_ops_of_its_own);
    tcase_add_test(options, sequences_are_as_long_as_asked_for);
    tcase_add_test(options, refuses_what_cannot_be_unrolled);
    suite_add_tcase(s, facts);
    suite_add_tcase(s, unrolled);
    suite_add_tcase(s, options);
    return s;
}

int main(void)
{
    return run_suite(make_suite());
}
