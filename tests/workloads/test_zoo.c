/* tests/workloads/test_zoo.c - the models against published and measured facts. */
#include "config.h"

#include "workloads/zoo/nn.h"
#include "workloads/zoo/zoo.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct fr_graph *load(const char *spec, uint32_t batch)
{
    const struct fr_workload_options opt = {.batch = batch, .dtype = FR_FP32};
    struct fr_graph *g = NULL;
    struct fr_error err;

    ck_assert_msg(fr__zoo_load(&g, spec, &opt, &err) == FR_OK, "%s: %s", spec, err.text);
    return g;
}

/* FLOPs of convolutions and matrix products; elementwise arithmetic is not what is published. */
static double product_flops(const struct fr_graph *g, enum fr_phase phase)
{
    double sum = 0;

    for (size_t i = 0; i < g->n_ops; i++) {
        const struct fr_op *op = &g->ops[i];

        if (op->phase == phase && (op->kind == FR_OP_CONV2D || op->kind == FR_OP_MATMUL ||
                                   op->kind == FR_OP_BATCH_MATMUL))
            sum += op->flops;
    }
    return sum;
}

struct fact {
    const char *name;
    uint64_t params, param_tensors; /* tensors 0: not checked */
    double macs;                    /* forward multiply-adds a sample */
    double macs_digit;              /* the last digit given; 0: exact */
};

/* Where the expected numbers come from.
 *
 * Models of images: counted by torchvision 0.14.1 (tests/oracles/torchvision.csv says how). Also,
 * resnet18 is the sum of PipeDream's profile, 46,758,048 / 4. lenet by hand: (25 + 1) 6 + (150 + 1)
 * 16 + 401 * 120 + 121 * 84 + 85 * 10 parameters and 25 * 6 * 28^2 + 150 * 16 * 10^2 + 400 * 120 +
 * 120 * 84 + 84 * 10 multiply-adds.
 *
 * GPT: 12 tensors for each layer, 2 for embeddings and 2 for the last norm. Parameters as published
 * with the weights (Radford et al., 2019); for GPT-3, V h + 2048 h + 96 (12 h^2 + 13 h) + 2 h.
 * Multiply-adds per token: 12 h^2 for each layer in weights, 2 s h in attention, and V h.
 *
 * rnnlm: 2 V h + V + 2 (8 h^2 + 8 h) parameters with V = 10,000 and h = 2,048; 40 (2 * 8 h^2 + V h)
 * multiply-adds.
 *
 * gnmt-8 and gnmt-16: PipeDream's profiles sum to 775,063,808 and 1,110,870,272 bytes. The other
 * GNMTs and the arithmetic are in tests/workloads/test_recurrent.c.
 *
 * BERT: bert-base with its pooler and transformer-base are counted by PyTorch 1.13.1. Parameters:
 * 12 h^2 + 13 h for each layer, (30522 + 512 + 2) h + 2 h of embeddings, h^2 + h of the pooler;
 * masked words add h^2 + 3 h + 30522 for 20 of 128 positions, next sentence 2 h + 2. The totals are
 * those of the published weights as Hugging Face Transformers loads them (BertForPreTraining
 * 110,106,428 and 336,226,108, BertForMaskedLM 109,514,298 and 335,174,458).
 *
 * Transformer: 37,000 d parameters of embeddings, 4 (d^2 + d) + 8 d^2 + 5 d + 4 d of an encoder
 * layer, 4 (d^2 + d) + 2 d more of a decoder layer. Multiply-adds per token: 12 d^2 + 16 d^2 for
 * each pair of layers in weights, 3 * 2 s d in attention.
 *
 * Llama: 2 V h + h parameters, and 2 h^2 + 2 h k + 3 h f + 2 h for each layer, k being the width of
 * keys and values and f that of the feed-forward layer. Mixtral has 8 of these feed-forward layers
 * and 8 h of the router. As in the published weights (meta-llama and mistralai on Hugging Face:
 * 6,738,415,616, 13,015,864,320, 68,976,648,192, 8,030,261,248, 70,553,706,496, 405,853,388,800,
 * 46,702,792,704). */
/* T5 (Raffel et al., 2020), h wide, heads a wide together, feed-forward f wide, 512 tokens: 4 h a +
 * 2 h f + 2 n a a token and encoder layer, 8 h a + 2 h f + 4 n a a decoder layer, V h. ViT: 197
 * tokens, 4 h^2 + 2 h f + 2 n h a layer, 196 patches of 768 numbers, 1000 classes. Parameters as
 * published with the weights (60,506,624, 222,903,552, 737,668,096; google/vit-base-patch16-224 and
 * large 86,567,656 and 304,326,632; EleutherAI/gpt-neox-20b 20,554,567,680). */
#define T5_MACS(layers, h, a, f)                                                                   \
    (512 * ((layers) * (12 * (h) * (a) + 4 * (h) * (f) + 6 * 512 * (a)) + 32128 * (h)))
#define VIT_MACS(layers, h, f)                                                                     \
    (197 * (layers) * (4 * (h) * (h) + 2 * (h) * (f) + 2 * 197 * (h)) + 196 * 768 * (h) +          \
     1000 * (h))
#define GPT3(size, layers, h)                                                                      \
    {                                                                                              \
        "gpt3-" size,                                                                              \
            (uint64_t)((50257 + 2048) * h + (layers) * (12 * (h) * (h) + 13 * (h)) + 2 * (h)),     \
            12 * (layers) + 4,                                                                     \
            2048.0 * ((layers) * (12 * (h) * (h) + 2 * 2048 * (h)) + 50257 * h), 0                 \
    }
#define BERT_MACS(layers, h) (128.0 * (layers) * (12 * (h) * (h) + 2 * 128 * (h)))
#define BERT_WORDS_MACS(h) (20 * ((h) * (h) + 30522 * (h)))
#define LLAMA_MACS(s, layers, h, kv, ffn, vocab)                                                   \
    ((s) * ((layers) * (2 * (h) * (h) + 2 * (h) * (kv) + (ffn) * (h) + 2.0 * (s) * (h)) +          \
            (vocab) * (h)))
static const struct fact facts[] = {
    {"lenet", 61706, 10, 416520, 0},
    {"alexnet", 61100840, 16, 714188480, 0},
    {"vgg11", 132863336, 22, 7609090048, 0},
    {"vgg13", 133047848, 26, 11308466176, 0},
    {"vgg16", 138357544, 32, 15470264320, 0},
    {"vgg19", 143667240, 38, 19632062464, 0},
    {"resnet18", 11689512, 62, 1814073344, 0},
    {"resnet34", 21797672, 110, 3663761408, 0},
    {"resnet50", 25557032, 161, 4089184256, 0},
    {"resnet101", 44549160, 314, 7801405440, 0},
    {"resnet152", 60192808, 467, 11513626624, 0},
    {"resnet200", 64673832, 611, 15007481856, 0},
    {"wresnet-50-2", 98004072, 161, 16116613120, 0},
    {"inception-v3", 27161264, 292, 5718899296, 0},
    {"inception-v3:aux=0", 23834568, 284, 5713216096, 0},
    {"densenet121", 7978856, 364, 2834161664, 0},
    {"densenet161", 28681000, 484, 7727907072, 0},
    {"densenet169", 14149480, 508, 3359843328, 0},
    {"densenet201", 20013928, 604, 4291365888, 0},
    {"rnnlm", 108111632, 11, 40 * (2 * 8 * 2048.0 * 2048 + 10000 * 2048.0), 0},
    {"gnmt-2", 130802240, 20, 0, HUGE_VAL},
    {"gnmt-4", 151790144, 27, 0, HUGE_VAL},
    {"gnmt-8", 775063808 / 4, 43, 0, HUGE_VAL},
    {"gnmt-16", 1110870272 / 4, 75, 0, HUGE_VAL},
    {"gpt2-small", 124439808, 148,
     1024.0 * (12 * (12 * 768.0 * 768 + 2 * 1024.0 * 768) + 50257 * 768.0), 0},
    {"gpt2-medium", 354823168, 292,
     1024.0 * (24 * (12 * 1024.0 * 1024 + 2 * 1024.0 * 1024) + 50257 * 1024.0), 0},
    {"gpt2-large", 774030080, 436,
     1024.0 * (36 * (12 * 1280.0 * 1280 + 2 * 1024.0 * 1280) + 50257 * 1280.0), 0},
    {"gpt2-xl", 1557611200, 580,
     1024.0 * (48 * (12 * 1600.0 * 1600 + 2 * 1024.0 * 1600) + 50257 * 1600.0), 0},
    {"gpt3-175b", 174604259328, 1156,
     2048.0 * (96 * (12 * 12288.0 * 12288 + 2 * 2048.0 * 12288) + 50257 * 12288.0), 0},
    GPT3("125m", 12, 768.0),
    GPT3("350m", 24, 1024.0),
    GPT3("760m", 24, 1536.0),
    GPT3("1.3b", 24, 2048.0),
    GPT3("2.7b", 32, 2560.0),
    GPT3("6.7b", 32, 4096.0),
    GPT3("13b", 40, 5120.0),
    {"bert-base:head=pooler", 109482240, 199, 11174215680, 0},
    {"bert-large:head=pooler", 335141888, 391, BERT_MACS(24, 1024.0) + 1024.0 * 1024, 0},
    {"bert-base:head=mlm", 109514298, 202, BERT_MACS(12, 768.0) + BERT_WORDS_MACS(768.0), 0},
    {"bert-large:head=mlm", 335174458, 394, BERT_MACS(24, 1024.0) + BERT_WORDS_MACS(1024.0), 0},
    {"bert-base", 110106428, 206,
     BERT_MACS(12, 768.0) + BERT_WORDS_MACS(768.0) + 768.0 * 768 + 2 * 768, 0},
    {"bert-base:predict=all", 110106428, 206,
     BERT_MACS(12, 768.0) + 128 / 20. * BERT_WORDS_MACS(768.0) + 768.0 * 768 + 2 * 768, 0},
    {"bert-large", 336226108, 398,
     BERT_MACS(24, 1024.0) + BERT_WORDS_MACS(1024.0) + 1024.0 * 1024 + 2 * 1024, 0},
    {"transformer-base", 63082496, 253, 4106485760, 0},
    {"transformer-big", 214245376, 253,
     64.0 * (6 * (28 * 1024.0 * 1024 + 6 * 64 * 1024.0) + 37000 * 1024.0), 0},
    {"llama2-7b:attention=unfused", 6738415616, 291,
     LLAMA_MACS(4096, 32, 4096.0, 4096, 3 * 11008.0, 32000), 0},
    {"llama2-13b:attention=unfused", 13015864320, 363,
     LLAMA_MACS(4096, 40, 5120.0, 5120, 3 * 13824.0, 32000), 0},
    {"llama2-70b:attention=unfused", 68976648192, 723,
     LLAMA_MACS(4096, 80, 8192.0, 1024, 3 * 28672.0, 32000), 0},
    {"llama3-8b:attention=unfused", 8030261248, 291,
     LLAMA_MACS(8192, 32, 4096.0, 1024, 3 * 14336.0, 128256), 0},
    {"llama3-70b:attention=unfused", 70553706496, 723,
     LLAMA_MACS(8192, 80, 8192.0, 1024, 3 * 28672.0, 128256), 0},
    {"llama3-405b:attention=unfused", 405853388800, 1137,
     LLAMA_MACS(8192, 126, 16384.0, 1024, 3 * 53248.0, 128256), 0},
    {"mixtral-8x7b:attention=unfused", 46702792704, 995,
     LLAMA_MACS(4096, 32, 4096.0, 1024, 8 + 2 * 3 * 14336.0, 32000), 0},
    {"gpt-neox-20b:attention=unfused", 20554567680, 708,
     2048 * (44 * (4 * 6144.0 * 6144 + 2 * 6144.0 * 24576 + 2 * 2048.0 * 6144) + 50432.0 * 6144),
     0},
    {"t5-small", 60506624, 131, T5_MACS(6, 512.0, 512.0, 2048.0), 0},
    {"t5-base", 222903552, 257, T5_MACS(12, 768.0, 768.0, 3072.0), 0},
    {"t5-large", 737668096, 509, T5_MACS(24, 1024.0, 1024.0, 4096.0), 0},
    {"vit-base:attention=unfused", 86567656, 200, VIT_MACS(12, 768.0, 3072.0), 0},
    {"vit-large:attention=unfused", 304326632, 392, VIT_MACS(24, 1024.0, 4096.0), 0},
};

enum { N_FACTS = sizeof(facts) / sizeof(facts[0]) };

START_TEST(models_have_the_published_parameters_and_arithmetic)
{
    const struct fact *f = &facts[_i];
    struct fr_graph *g = load(f->name, 1);
    struct fr_graph_totals t;
    double macs = product_flops(g, FR_PHASE_FORWARD) / 2;

    fr_graph_totals(g, &t);
    ck_assert_uint_eq(t.params, f->params);
    ck_assert_uint_eq(t.param_bytes, 4 * f->params);
    if (f->param_tensors)
        ck_assert_uint_eq(t.param_tensors, f->param_tensors);
    ck_assert_msg(fabs(macs - f->macs) <= f->macs_digit / 2, "%s: %.0f", f->name, macs);
    fr_graph_free(g);
}
END_TEST

START_TEST(every_model_has_its_facts_checked)
{
    const char *name;
    size_t i;

    for (i = 0; (name = fr_zoo_name(i)) != NULL; i++) {
        /* models of any size have tests of their own */
        static const char *const any_size[] = {
            "gnmt", "transformer", "bert", "gpt",     "llama", "mixtral", "wresnet-L-W",
            "t5",   "gpt-neox",    "vit",  "decoder", "clip",  "whisper", "mmdit"};
        bool is_checked = false;
        size_t n = strlen(name);

        for (size_t k = 0; k < sizeof(any_size) / sizeof(any_size[0]); k++)
            is_checked = is_checked || strcmp(name, any_size[k]) == 0;

        for (size_t k = 0; k < N_FACTS; k++)
            is_checked = is_checked || (strncmp(facts[k].name, name, n) == 0 &&
                                        (facts[k].name[n] == '\0' || facts[k].name[n] == ':'));
        ck_assert_msg(is_checked, "%s", name);
        ck_assert_ptr_nonnull(fr_zoo_summary(i));
        ck_assert(fr__zoo_find(name));
    }
    ck_assert_ptr_null(fr_zoo_summary(i));
    ck_assert(!fr__zoo_find("vgg"));
    ck_assert(!fr__zoo_find("./vgg16"));
    ck_assert(!fr__zoo_find(""));
}
END_TEST

/* Measured with PyTorch 1.13.1, with every allocator event logged and dropout masks of one byte, as
 * on a GPU. saved bytes are fixed + a_sample * batch; ratio is backward over forward
 * multiply-adds. */
static const struct {
    const char *name;
    uint64_t fixed, a_sample;
    double backward_over_forward;
} measured[] = {
    {"alexnet", 4, 3705256, 1.902},
    {"vgg16", 4, 73334696, 1.994},
    {"resnet50", 212484, 85913512, 1.971},
};

START_TEST(saved_bytes_are_those_measured)
{
    for (uint32_t batch = 1; batch <= 4; batch += 3) {
        struct fr_graph *g = load(measured[_i].name, batch);
        struct fr_graph_totals t;

        fr_graph_totals(g, &t);
        ck_assert_uint_eq(t.saved_bytes, measured[_i].fixed + batch * measured[_i].a_sample);
        fr_graph_free(g);
    }
}
END_TEST

/* Saved bytes of a layer of n = b s tokens, width h, a heads (fused dropout, fp32): 66 n h + 16 n +
 * 9 b a s^2. Korthikanti et al., Reducing Activation Recomputation, 2022, count the same in fp16.
 * In addition: embedding dropout's mask n h, last norm's input 4 n h and statistics 8 n, the head's
 * input 4 n h, log-probabilities 4 n V, targets and tokens 16 n; once: positions 8 s, the loss
 * 4. */
START_TEST(a_decoder_saves_what_the_formula_says)
{
    const uint64_t h = 768, s = 1024, a = 12, layers = 12, vocab = 50257;

    for (uint64_t b = 1; b <= 2; b++) {
        uint64_t n = b * s;
        uint64_t layer = 66 * n * h + 16 * n + 9 * b * a * s * s;
        uint64_t rest = n * h + 8 * n * h + 8 * n + 4 * n * vocab + 16 * n + 8 * s + 4;
        struct fr_graph *g = load("gpt2-small", (uint32_t)b);
        struct fr_graph_totals t;

        fr_graph_totals(g, &t);
        ck_assert_uint_eq(t.saved_bytes, layers * layer + rest);
        fr_graph_free(g);
    }
}
END_TEST

START_TEST(backward_arithmetic_is_in_the_measured_ratio)
{
    struct fr_graph *g = load(measured[_i].name, 1);
    double forward = product_flops(g, FR_PHASE_FORWARD);
    double backward =
        product_flops(g, FR_PHASE_BACKWARD_DATA) + product_flops(g, FR_PHASE_BACKWARD_WEIGHT);

    ck_assert_double_eq_tol(backward / forward, measured[_i].backward_over_forward, 0.0005);
    fr_graph_free(g);
}
END_TEST

/* Backward has twice the products of forward, less the gradients of given inputs: images, and the
 * states that an LSTM starts from. */
START_TEST(backward_is_twice_forward_but_for_what_is_given)
{
    struct fr_graph *g = load(facts[_i].name, 2);
    double forward = product_flops(g, FR_PHASE_FORWARD), given = 0;

    for (size_t i = 0; i < g->n_edges; i++) {
        const struct fr_op *op = &g->ops[g->edges[i].dst];
        bool is_product = op->kind == FR_OP_CONV2D || op->kind == FR_OP_MATMUL;

        if (g->ops[g->edges[i].src].phase == FR_PHASE_INPUT && op->phase == FR_PHASE_FORWARD &&
            is_product)
            given += op->flops;
    }
    ck_assert_double_eq(product_flops(g, FR_PHASE_BACKWARD_WEIGHT) +
                            product_flops(g, FR_PHASE_BACKWARD_DATA),
                        2 * forward - given);
    fr_graph_free(g);
}
END_TEST

/* ---- what every model must keep ---- */

static bool is_view(const struct fr_graph *g, const struct fr_op *op)
{
    return (op->kind == FR_OP_SPLIT || op->kind == FR_OP_CONCAT) &&
           g->tensors[op->first_tensor].alias != FR_NONE;
}

static void check_op(const struct fr_graph *g, const struct fr_op *op)
{
    const char *layer = g->layer_names[op->layer];

    ck_assert_int_eq(strncmp(op->name, layer, strlen(layer)), 0);
    ck_assert(isfinite(op->flops) && isfinite(op->bytes));
    ck_assert(op->kind == FR_OP_INPUT || op->bytes > 0 || is_view(g, op));
    for (uint32_t t = op->first_tensor; t < op->first_tensor + op->n_tensors; t++) {
        ck_assert_uint_gt(g->tensors[t].bytes, 0);
        /* only dimensions that exist may be split; a tensor without dimensions has no batch to
         * split */
        ck_assert_uint_eq(g->tensors[t].split_mask >> g->tensors[t].n_dims, 0);
        ck_assert_int_eq(g->tensors[t].split_mask & 1, g->tensors[t].scales);
    }
}

START_TEST(every_model_is_sound)
{
    struct fr_graph *g = load(facts[_i].name, 2);
    uint32_t *n_updates = calloc(g->n_ops, sizeof(*n_updates));

    ck_assert_ptr_nonnull(n_updates);
    for (size_t i = 0; i < g->n_ops; i++) {
        check_op(g, &g->ops[i]);
        if (g->ops[i].phase == FR_PHASE_UPDATE)
            n_updates[g->ops[i].forward]++;
    }
    for (size_t i = 0; i < g->n_ops; i++) {
        const struct fr_op *op = &g->ops[i];

        ck_assert_uint_eq(n_updates[i], op->phase == FR_PHASE_FORWARD && op->n_params > 0);
        ck_assert_int_eq(op->phase == FR_PHASE_FORWARD && op->param_bytes > 0,
                         op->phase == FR_PHASE_FORWARD && op->n_params > 0);
    }
    for (size_t i = 0; i < g->n_edges; i++)
        ck_assert_uint_lt(g->edges[i].src, g->edges[i].dst);
    free(n_updates);
    fr_graph_free(g);
}
END_TEST

START_TEST(what_scales_is_proportional_to_the_batch)
{
    struct fr_graph *one = load(facts[_i].name, 1), *three = load(facts[_i].name, 3);

    ck_assert_uint_eq(one->n_ops, three->n_ops);
    ck_assert_uint_eq(one->n_edges, three->n_edges);
    for (size_t i = 0; i < one->n_ops; i++) {
        double x = one->ops[i].scales ? 3 : 1;

        ck_assert_double_eq(three->ops[i].flops, x * one->ops[i].flops);
        ck_assert_double_eq(three->ops[i].bytes, x * one->ops[i].bytes);
        ck_assert_uint_eq(three->ops[i].param_bytes, one->ops[i].param_bytes);
    }
    for (size_t i = 0; i < one->n_tensors; i++)
        ck_assert_uint_eq(three->tensors[i].bytes,
                          (one->tensors[i].scales ? 3 : 1) * one->tensors[i].bytes);
    fr_graph_free(one);
    fr_graph_free(three);
}
END_TEST

START_TEST(ops_are_fine_grained)
{
    struct fr_graph *g = load("resnet50", 1);

    ck_assert_uint_ge(g->n_ops, 450);
    fr_graph_free(g);
    /* VGG's deepest chain: 16 convolutions with bias and ReLU, and so on (by hand): 16 * 3 + 5
     * pools + 1 average + 3 * 2 linear and bias + 2 ReLU + 2 dropouts + log-softmax + loss
     * forward */
    g = load("vgg19", 1);
    struct fr_graph_totals t;
    fr_graph_totals(g, &t);
    ck_assert_uint_eq(t.ops[FR_PHASE_FORWARD], 48 + 5 + 1 + 6 + 2 + 2 + 2);
    ck_assert_uint_eq(t.ops[FR_PHASE_INPUT], 2);
    /* one for each parameter tensor */
    ck_assert_uint_eq(t.ops[FR_PHASE_BACKWARD_WEIGHT], 38);
    ck_assert_uint_eq(t.ops[FR_PHASE_UPDATE], 38);
    /* all forward ops but the 19 biases (their gradient passes) and the first convolution */
    ck_assert_uint_eq(t.ops[FR_PHASE_BACKWARD_DATA], 66 - 19 - 1);
    fr_graph_free(g);
}
END_TEST

static bool has_op(const struct fr_graph *g, const char *name)
{
    for (size_t i = 0; i < g->n_ops; i++)
        if (strcmp(g->ops[i].name, name) == 0)
            return true;
    return false;
}

START_TEST(ops_have_the_names_that_the_manual_gives)
{
    struct fr_graph *g = load("vgg19", 1);

    ck_assert(has_op(g, "conv1_1") && has_op(g, "conv5_4.relu") && has_op(g, "fc6.wgrad"));
    fr_graph_free(g);
    g = load("gpt2-small", 1);
    ck_assert(has_op(g, "layer3.attn.qkv") && has_op(g, "layer11.mlp.fc2.dgrad"));
    fr_graph_free(g);
    g = load("resnet50", 1);
    /* each block's input feeds its first convolution and the shortcut: 16 sums, no more */
    ck_assert(has_op(g, "maxpool.grad_add") && has_op(g, "layer4.1.add.relu.grad_add"));
    size_t n_sums = 0;
    for (size_t i = 0; i < g->n_ops; i++)
        n_sums += g->ops[i].kind == FR_OP_GRAD_ADD;
    ck_assert_uint_eq(n_sums, 16);
    fr_graph_free(g);
}
END_TEST

START_TEST(a_shorter_sequence_keeps_the_parameters)
{
    const struct fr_workload_options opt = {.batch = 1, .seq_len = 128, .dtype = FR_FP16};
    struct fr_graph *g = NULL;
    struct fr_graph_totals t;

    ck_assert_int_eq(fr__zoo_load(&g, "gpt2-small", &opt, NULL), FR_OK);
    fr_graph_totals(g, &t);
    ck_assert_uint_eq(t.params, 124439808);
    ck_assert_uint_eq(g->seq_len, 128);
    ck_assert_double_eq(product_flops(g, FR_PHASE_FORWARD),
                        2 * 128.0 * (12 * (12 * 768.0 * 768 + 2 * 128.0 * 768) + 50257 * 768.0));
    fr_graph_free(g);
}
END_TEST

START_TEST(a_decoder_of_any_size_has_the_size_asked_for)
{
    /* V h + s h + L (12 h^2 + 13 h) + 2 h = 6,400 + 1,024 + 2 (49,152 + 832) + 128 */
    struct fr_graph *g = load("gpt:vocab=100,layers=2,hidden=64,heads=2,seq=16", 3);
    struct fr_graph_totals t;

    fr_graph_totals(g, &t);
    ck_assert_uint_eq(t.params, 107520);
    ck_assert_uint_eq(t.param_tensors, 2 * 12 + 4);
    ck_assert_uint_eq(g->seq_len, 16);
    ck_assert_uint_eq(g->batch, 3);
    ck_assert_double_eq(product_flops(g, FR_PHASE_FORWARD),
                        2 * 3 * 16.0 * (2 * (12 * 64 * 64 + 2 * 16 * 64) + 100 * 64));
    ck_assert_str_eq(g->name, "gpt:vocab=100,layers=2,hidden=64,heads=2,seq=16");
    fr_graph_free(g);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *s = suite_create("workloads/zoo");
    TCase *published = tcase_create("facts"), *sound = tcase_create("sound");
    enum { N_MEASURED = sizeof(measured) / sizeof(measured[0]) };

    tcase_add_loop_test(published, models_have_the_published_parameters_and_arithmetic, 0, N_FACTS);
    tcase_add_test(published, every_model_has_its_facts_checked);
    tcase_add_loop_test(published, saved_bytes_are_those_measured, 0, N_MEASURED);
    tcase_add_test(published, a_decoder_saves_what_the_formula_says);
    tcase_add_loop_test(published, backward_arithmetic_is_in_the_measured_ratio, 0, N_MEASURED);
    tcase_add_loop_test(published, backward_is_twice_forward_but_for_what_is_given, 0, N_FACTS);
    tcase_add_loop_test(sound, every_model_is_sound, 0, N_FACTS);
    tcase_add_loop_test(sound, what_scales_is_proportional_to_the_batch, 0, N_FACTS);
    tcase_add_test(sound, ops_are_fine_grained);
    tcase_add_test(sound, ops_have_the_names_that_the_manual_gives);
    tcase_add_test(published, a_decoder_of_any_size_has_the_size_asked_for);
    tcase_add_test(published, a_shorter_sequence_keeps_the_parameters);
    suite_add_tcase(s, published);
    suite_add_tcase(s, sound);
    return s;
}

int main(void)
{
    return run_suite(make_suite());
}
