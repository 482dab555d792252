/* tests/workloads/test_transformers.c - what Transformers save and compute, compared with PyTorch,
 * with formulas and with counts by hand. Parameters and multiply-adds are in
 * tests/workloads/test_zoo.c. */
#include "config.h"

#include "workloads/zoo/nn_moe.h"
#include "workloads/zoo/zoo.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static struct fr_graph *load(const char *spec, uint32_t batch, uint32_t seq_len)
{
    const struct fr_workload_options opt = {.batch = batch, .seq_len = seq_len, .dtype = FR_FP32};
    struct fr_graph *g = NULL;
    struct fr_error err;

    ck_assert_msg(fr__zoo_load(&g, spec, &opt, &err) == FR_OK, "%s: %s", spec, err.text);
    return g;
}

static struct fr_graph_totals totals(const char *spec, uint32_t batch, uint32_t seq_len)
{
    struct fr_graph *g = load(spec, batch, seq_len);
    struct fr_graph_totals t;

    fr_graph_totals(g, &t);
    fr_graph_free(g);
    return t;
}

static uint64_t saved(const char *spec, uint32_t batch, uint32_t seq_len)
{
    return totals(spec, batch, seq_len).saved_bytes;
}

static const struct fr_op *find(const struct fr_graph *g, const char *name)
{
    for (size_t i = 0; i < g->n_ops; i++)
        if (strcmp(g->ops[i].name, name) == 0)
            return &g->ops[i];
    return NULL;
}

static const struct fr_op *get(const struct fr_graph *g, const char *name)
{
    const struct fr_op *op = find(g, name);

    ck_assert_msg(op != NULL, "there is no op '%s'", name);
    return op;
}

/* ---- what is kept ---- */

/* Parameters, tensors and saved bytes as counted by PyTorch 1.13.0 on a CPU in fp32: the output of
 * tests/oracles/transformers_torch.py, which says how. */
#define TINY_LLAMA "hidden=64,ffn=160,heads=4,vocab=100,seq=32,layers=2"
static const struct {
    const char *spec;
    uint32_t batch, seq_len;
    uint64_t params, param_tensors, saved_bytes;
} measured[] = {
    {"bert-base", 1, 128, 110106428, 206, 102693912},
    {"bert-base", 2, 128, 110106428, 206, 205387816},
    {"bert-base:head=mlm", 1, 128, 109514298, 202, 102297604},
    {"bert-base:head=mlm", 2, 128, 109514298, 202, 204595204},
    {"bert-base:head=pooler", 1, 128, 109482240, 199, 100005888},
    {"bert-base:head=pooler", 2, 128, 109482240, 199, 200011776},
    {"bert-base:attention=flash", 1, 128, 110106428, 206, 81533976},
    {"bert-large", 1, 64, 336226108, 398, 119969816},
    {"transformer-base", 1, 64, 63082496, 253, 47565316},
    {"transformer-big", 2, 16, 214245376, 253, 38839556},
    {"gpt:layers=2,hidden=64,heads=2,vocab=100,seq=16", 2, 16, 107520, 28, 321924},
    {"gpt:layers=2,hidden=64,heads=2,vocab=100,seq=16,attention=flash", 2, 16, 107520, 28, 304004},
    {"llama:kv_heads=2," TINY_LLAMA, 1, 32, 99136, 21, 309892},
    {"llama:kv_heads=2," TINY_LLAMA, 2, 32, 99136, 21, 619780},
    {"llama:kv_heads=2,attention=unfused," TINY_LLAMA, 1, 32, 99136, 21, 358020},
    {"llama:kv_heads=2,attention=unfused," TINY_LLAMA, 2, 32, 99136, 21, 716036},
    {"llama:kv_heads=4,attention=unfused," TINY_LLAMA, 2, 32, 107328, 21, 716036},
    {"mixtral:kv_heads=2,experts=4," TINY_LLAMA, 1, 32, 283968, 41, 542340},
    {"mixtral:kv_heads=2,experts=4," TINY_LLAMA, 2, 32, 283968, 41, 1084676},
    {"mixtral:kv_heads=2,experts=4,skew=100,attention=unfused," TINY_LLAMA, 2, 32, 283968, 41,
     1180932},
};

START_TEST(saved_bytes_are_those_that_pytorch_keeps)
{
    struct fr_graph_totals t = totals(measured[_i].spec, measured[_i].batch, measured[_i].seq_len);

    ck_assert_uint_eq(t.params, measured[_i].params);
    ck_assert_uint_eq(t.param_tensors, measured[_i].param_tensors);
    ck_assert_uint_eq(t.saved_bytes, measured[_i].saved_bytes);
}
END_TEST

/* Saved bytes of a layer of n = b s tokens, width h, a heads: 66 n h + 16 n + 9 b a s^2, as for
 * GPT; in fp16 that is 34 s b h + 5 a s^2 b (Korthikanti et al., 2022). Embedding: the norm's input
 * 4 n h and statistics 8 n, the dropout's mask n h. After the layers: last hidden state 4 n h,
 * pooled output 4 b h, words and segments 16 n. */
START_TEST(an_encoder_saves_what_the_formula_says)
{
    const uint64_t h = 1024, a = 16, layers = 24;

    for (uint64_t b = 1; b <= 16; b *= 4)
        for (uint64_t s = 64; s <= 512; s *= 8) {
            uint64_t n = b * s, layer = 66 * n * h + 16 * n + 9 * b * a * s * s;

            ck_assert_uint_eq(saved("bert-large:head=pooler", (uint32_t)b, (uint32_t)s),
                              layers * layer + 9 * n * h + 24 * n + 4 * b * h);
        }
}
END_TEST

/* Saved bytes for n tokens of width d on each side, h heads. An encoder layer has 70 n d + 16 n + 9
 * b h s^2: input, queries, keys, values, context, the inputs of two norms and the output of the
 * first 8 x 4; the ReLU's output and the dropout's 2 x 16; masks 1 + 4 + 1; the statistics of two
 * norms. A decoder layer has 25 n d + 8 n + 9 b h s^2 more. In addition: masks of two embeddings 2
 * n d, the encoder's and decoder's outputs 8 n d, words and targets 24 n, log-probabilities 4 n V,
 * the loss 4. */
START_TEST(an_encoder_with_a_decoder_saves_what_the_formula_says)
{
    const uint64_t d = 1024, h = 16, vocab = 37000, s = 32;

    for (uint64_t b = 1; b <= 2; b++) {
        uint64_t n = b * s, scores = 9 * b * h * s * s, encoder = 70 * n * d + 16 * n + scores;
        uint64_t decoder = encoder + 25 * n * d + 8 * n + scores;

        ck_assert_uint_eq(saved("transformer-big", (uint32_t)b, (uint32_t)s),
                          6 * (encoder + decoder) + 10 * n * d + 24 * n + 4 * n * vocab + 4);
    }
}
END_TEST

/* Saved bytes for n tokens of width h, keys and values of width k, feed-forward width f, a heads:
 * inputs and outputs of two norms, queries and context 6 x 4 n h; keys and values 2 x 4 n k; the
 * four tensors of SwiGLU 16 n f; statistics of norms 8 n; the kernel's 4 n a. In addition: the last
 * norm's input, output and statistics, tokens and targets, log-probabilities, the loss. */
START_TEST(a_flash_decoder_saves_what_the_formula_says)
{
    const uint64_t h = 8192, k = 1024, f = 28672, a = 64, layers = 80, vocab = 32000, s = 4096;

    for (uint64_t b = 1; b <= 2; b++) {
        uint64_t n = b * s;
        uint64_t layer = 24 * n * h + 8 * n * k + 16 * n * f + 8 * n + 4 * n * a;

        ck_assert_uint_eq(saved("llama2-70b", (uint32_t)b, 0),
                          layers * layer + 8 * n * h + 4 * n + 16 * n + 4 * n * vocab + 4);
    }
}
END_TEST

/* GPT's layer unfused keeps 9 b a s^2 of scores, flash the output it already had and 4 b a s. */
START_TEST(a_flash_kernel_keeps_no_scores)
{
    const uint64_t s = 1024, a = 12, layers = 12;

    ck_assert_uint_eq(saved("gpt2-small", 3, 0) - saved("gpt2-small:attention=flash", 3, 0),
                      3 * layers * (9 * a * s * s - 4 * a * s));
}
END_TEST

/* ---- ops ---- */

/* Counted by hand. One layer forward: q, k, v with product, bias and copy each 9; scores, scale,
 * mask, softmax, dropout, context, copy 7; output product, bias, dropout, sum, norm 5; product,
 * bias, GELU, product, bias, dropout, sum, norm 8. In addition: three lookups, two sums, norm,
 * dropout 7; gather, product, bias, GELU, norm, product, bias 7; view, product, bias, tanh,
 * product, bias 6; two losses, each with log-softmax, 4; their sum 1. */
START_TEST(an_encoder_has_the_ops_counted_by_hand)
{
    struct fr_graph_totals t = totals("bert-large", 1, 0);
    size_t n = 0;

    for (unsigned phase = 0; phase < FR_N_PHASES; phase++)
        n += t.ops[phase];
    ck_assert_uint_eq(t.ops[FR_PHASE_FORWARD], 24 * (9 + 7 + 5 + 8) + 7 + 7 + 6 + 4 + 1);
    ck_assert_uint_eq(t.ops[FR_PHASE_INPUT], 3 + 2);
    /* products, biases and norms of a layer 6 + 6 + 2; lookups and norm 4; 4 for masked words,
     * whose product is the words' table; pooler 2, next sentence 2 */
    ck_assert_uint_eq(t.ops[FR_PHASE_UPDATE], 24 * 14 + 4 + 4 + 2 + 2);
    ck_assert_uint_ge(n, 1500);
}
END_TEST

START_TEST(an_encoder_with_a_decoder_has_over_900_ops)
{
    struct fr_graph *g = load("transformer-big", 1, 0);

    ck_assert_uint_ge(g->n_ops, 900);
    /* the encoder's last norm feeds keys and values of six layers: their gradients are summed */
    ck_assert_ptr_nonnull(get(g, "encoder5.ffn.ln.grad_add11"));
    ck_assert_ptr_null(find(g, "encoder5.ffn.ln.grad_add12"));
    /* the words' table is used three times and stepped once */
    ck_assert_ptr_nonnull(get(g, "encoder.embed.words.wgrad_add2"));
    ck_assert_ptr_nonnull(get(g, "encoder.embed.words.update"));
    ck_assert_ptr_null(find(g, "decoder.embed.words.update"));
    fr_graph_free(g);
}
END_TEST

/* Dao, 2023: 4 s^2 h forward, half of it where the mask is causal, 2.5 times as much backward. */
START_TEST(a_flash_kernel_skips_what_the_mask_hides)
{
    struct fr_graph *g = load("gpt2-small:attention=flash", 2, 0);

    ck_assert_double_eq(get(g, "layer0.attn.flash")->flops, 2 * 2 * 1024.0 * 1024 * 768);
    ck_assert_double_eq(get(g, "layer0.attn.flash.dgrad")->flops, 5 * 2 * 1024.0 * 1024 * 768);
    ck_assert_ptr_null(find(g, "layer0.attn.scores"));
    fr_graph_free(g);
    g = load("bert-base:attention=flash", 2, 0);
    ck_assert_double_eq(get(g, "layer0.attn.flash")->flops, 4 * 2 * 128.0 * 128 * 768);
    fr_graph_free(g);
}
END_TEST

START_TEST(keys_and_values_are_copied_to_their_group_only_where_heads_are_fewer)
{
    struct fr_graph *grouped = load("llama3-8b:attention=unfused", 1, 128);
    struct fr_graph *plain = load("llama2-7b:attention=unfused", 1, 128);
    struct fr_graph *flash = load("llama3-8b", 1, 128);

    /* 8 heads of 128 read, 32 written */
    ck_assert_double_eq(get(grouped, "layer3.attn.k.repeat")->bytes, 4 * 128.0 * 128 * (8 + 32));
    ck_assert_ptr_null(find(plain, "layer3.attn.k.repeat"));
    ck_assert_ptr_null(find(flash, "layer3.attn.k.repeat"));
    ck_assert_double_eq(get(flash, "layer3.attn.k")->flops, 2 * 128.0 * 4096 * 1024);
    ck_assert_double_eq(get(flash, "layer3.attn.q")->flops, 2 * 128.0 * 4096 * 4096);
    fr_graph_free(grouped);
    fr_graph_free(plain);
    fr_graph_free(flash);
}
END_TEST

START_TEST(the_pooler_reads_a_view_and_writes_a_whole_gradient)
{
    struct fr_graph *g = load("bert-base", 2, 0);
    const struct fr_op *first = get(g, "pooler.first"), *back = get(g, "pooler.first.dgrad");

    ck_assert_double_eq(first->bytes, 0);
    ck_assert_uint_eq(g->tensors[first->first_tensor].alias,
                      get(g, "layer11.mlp.ln")->first_tensor);
    ck_assert_uint_eq(g->tensors[back->first_tensor].bytes, 4 * 2 * 128 * 768);
    fr_graph_free(g);
}
END_TEST

START_TEST(masked_words_are_fifteen_percent_rounded_up)
{
    static const struct {
        uint32_t seq_len, n_masked;
    } cases[] = {{1, 1}, {64, 10}, {128, 20}, {200, 30}, {512, 77}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fr_graph *g = load("bert-base:head=mlm", 2, cases[i].seq_len);

        ck_assert_uint_eq(g->tensors[get(g, "mlm.gather")->first_tensor].dims[1],
                          cases[i].n_masked);
        ck_assert_ptr_null(find(g, "pooler.fc"));
        fr_graph_free(g);
    }
}
END_TEST

/* ---- experts ---- */

START_TEST(tokens_are_shared_as_by_hand)
{
    uint32_t tokens[FR__MAX_EXPERTS];

    fr__moe_tokens(8192, 8, 0, tokens);
    for (size_t e = 0; e < 8; e++)
        ck_assert_uint_eq(tokens[e], 1024);
    /* 10 / 4: two each, and the rest to the first, as remainders are alike */
    fr__moe_tokens(10, 4, 0, tokens);
    ck_assert(tokens[0] == 3 && tokens[1] == 3 && tokens[2] == 2 && tokens[3] == 2);
    /* H_4 = 25/12: shares 12/25, 6/25, 4/25, 3/25 of 64 are 30.72, 15.36, 10.24, 7.68 */
    fr__moe_tokens(64, 4, 100, tokens);
    ck_assert(tokens[0] == 31 && tokens[1] == 15 && tokens[2] == 10 && tokens[3] == 8);
    /* half way to the balanced 16: 23.36, 15.68, 13.12, 11.84 */
    fr__moe_tokens(64, 4, 50, tokens);
    ck_assert(tokens[0] == 23 && tokens[1] == 16 && tokens[2] == 13 && tokens[3] == 12);
    /* 4.80 2.40 1.60 1.20 of 10 would be 5 2 2 1; of 4, 1.92 .96 .64 .48: one each */
    fr__moe_tokens(10, 4, 100, tokens);
    ck_assert(tokens[0] == 5 && tokens[1] == 2 && tokens[2] == 2 && tokens[3] == 1);
    fr__moe_tokens(4, 4, 100, tokens);
    ck_assert(tokens[0] == 1 && tokens[1] == 1 && tokens[2] == 1 && tokens[3] == 1);
}
END_TEST

/* Whether the shares sum up to all, none is 0 and none larger than one before it. */
static bool is_fair(uint32_t n_tokens, uint32_t n_experts, unsigned skew)
{
    uint32_t tokens[FR__MAX_EXPERTS], sum = 0;

    fr__moe_tokens(n_tokens, n_experts, skew, tokens);
    for (uint32_t e = 0; e < n_experts; e++) {
        if (tokens[e] == 0 || (e > 0 && tokens[e] > tokens[e - 1]))
            return false;
        sum += tokens[e];
    }
    return sum == n_tokens;
}

START_TEST(no_token_is_lost_and_no_expert_is_idle)
{
    for (uint32_t n = 4; n <= FR__MAX_EXPERTS; n += n < 64 ? 3 : 97)
        for (unsigned skew = 0; skew <= 100; skew += 10)
            for (uint32_t all = n; all < 10 * n; all += n < 64 ? 7 : 101)
                ck_assert_msg(is_fair(all, n, skew), "%u tokens, %u experts, skew %u", all, n,
                              skew);
}
END_TEST

START_TEST(skew_moves_work_between_experts_but_adds_none)
{
    struct fr_graph *even = load("mixtral-8x7b", 1, 0), *odd = load("mixtral-8x7b:skew=100", 1, 0);
    double sums[2] = {0, 0};

    ck_assert_uint_eq(even->n_ops, odd->n_ops);
    for (size_t i = 0; i < even->n_ops; i++) {
        sums[0] += even->ops[i].flops;
        sums[1] += odd->ops[i].flops;
    }
    ck_assert_double_eq_tol(sums[0], sums[1], 1e-9 * sums[0]);
    ck_assert_double_eq(get(even, "layer0.mlp.expert7.w1")->flops, 2.0 * 1024 * 4096 * 14336);
    /* H_8 = 761/280: 280/761 and 35/761 of 8192 are 3014.11 and 376.76 */
    ck_assert_double_eq(get(odd, "layer0.mlp.expert0.w1")->flops, 2.0 * 3014 * 4096 * 14336);
    ck_assert_double_eq(get(odd, "layer0.mlp.expert7.w1")->flops, 2.0 * 377 * 4096 * 14336);
    fr_graph_free(even);
    fr_graph_free(odd);
}
END_TEST

/* ---- options ---- */

static void refuse(const char *spec, uint32_t seq_len, enum fr_status code, const char *text)
{
    const struct fr_workload_options opt = {.batch = 1, .seq_len = seq_len, .dtype = FR_N_DTYPES};
    struct fr_graph *g = NULL;
    struct fr_error err = {0};

    ck_assert_msg(fr__zoo_load(&g, spec, &opt, &err) == code, "%s: %s", spec, err.text);
    ck_assert_str_eq(err.text, text);
    ck_assert_ptr_null(g);
}

START_TEST(refuses_words_that_an_option_does_not_know)
{
    refuse("bert-base:head=poler", 0, FR_EUSAGE,
           "option 'head' of model 'bert-base' is \"poler\", expected pretrain|mlm|pooler, did you "
           "mean 'pooler'?");
    refuse("bert-base:head=classifier", 0, FR_EUSAGE,
           "option 'head' of model 'bert-base' is \"classifier\", expected pretrain|mlm|pooler");
    refuse("llama3-8b:attention=", 0, FR_EUSAGE,
           "option 'attention' of model 'llama3-8b' is \"\", expected "
           "unfused|flash|flash-1|flash-2|flash-3|flash-fp8");
    refuse("llama3-8b:head=mlm", 0, FR_EUSAGE, "model 'llama3-8b' has no option 'head'");
    refuse("transformer-big:layers=2", 0, FR_EUSAGE,
           "model 'transformer-big' has no option 'layers'");
    refuse(
        "mixtral-8x7b:skew=101", 0, FR_ERANGE,
        "option 'skew' of model 'mixtral-8x7b' is \"101\", expected a whole number from 0 to 100");
}
END_TEST

START_TEST(refuses_shapes_and_lengths_that_do_not_go_together)
{
    refuse("llama:heads=3", 0, FR_EUSAGE,
           "model 'llama': hidden 4096 is not a multiple of 3 heads");
    refuse("bert:hidden=100", 0, FR_EUSAGE,
           "model 'bert': hidden 100 is not a multiple of 12 heads");
    refuse("transformer:heads=7", 0, FR_EUSAGE,
           "model 'transformer': hidden 512 is not a multiple of 7 heads");
    refuse("llama:heads=32,kv_heads=5", 0, FR_EUSAGE,
           "model 'llama': 32 heads are not a multiple of 5 heads of keys and values");
    refuse("mixtral:heads=8,kv_heads=16", 0, FR_EUSAGE,
           "model 'mixtral': 8 heads are not a multiple of 16 heads of keys and values");
    refuse("bert-large", 513, FR_ERANGE,
           "model 'bert-large' has 512 learned positions, a sequence of 513 does not fit");
    refuse("mixtral-8x7b", 3, FR_ERANGE,
           "model 'mixtral-8x7b' takes sequences of 4 tokens or more, not 3");
    refuse("llama2-7b", (1 << 20) + 1, FR_ERANGE, "a sequence of 1048577 is over 1048576");
}
END_TEST

/* One of each family, the smallest that the option allows. */
START_TEST(sequence_length_and_precision_reach_every_model)
{
    static const char *const models[] = {"transformer-base",
                                         "bert-base",
                                         "gpt3-125m",
                                         "llama3-8b",
                                         "mixtral-8x7b",
                                         "bert-base:head=mlm",
                                         "gpt2-small:attention=flash",
                                         "bert-base:head=pooler"};

    for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++) {
        struct fr_graph_totals full = totals(models[i], 2, 8);

        for (uint32_t seq_len = 4; seq_len <= 256; seq_len *= 8) {
            const struct fr_workload_options opt = {
                .batch = 2, .seq_len = seq_len, .dtype = FR_BF16};
            struct fr_graph *g = NULL;
            struct fr_graph_totals half;

            ck_assert_int_eq(fr__zoo_load(&g, models[i], &opt, NULL), FR_OK);
            fr_graph_totals(g, &half);
            ck_assert_uint_eq(g->seq_len, seq_len);
            ck_assert_uint_eq(half.params, full.params);
            ck_assert_uint_eq(2 * half.param_bytes, full.param_bytes);
            fr_graph_free(g);
        }
    }
}
END_TEST

/* FLOPs a token that NVIDIA's benchmarks state for these models: all scores, or the half that a
 * causal mask leaves (research on large models: NeMo pages up to 25.07 and after 25.09). */
START_TEST(model_flops_are_those_that_benchmarks_state)
{
    static const struct {
        const char *model;
        double flops_per_token;
    } rows[] = {{"gpt3-175b", 107.65e10}, {"llama3-8b:attention=unfused", 5.79e10},
                {"llama3-8b", 5.147e10},  {"llama3-70b:attention=unfused", 48.14e10},
                {"llama3-70b", 44.92e10}, {"llama3-405b:attention=unfused", 262.5e10},
                {"llama3-405b", 252.4e10}};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct fr_graph *g = load(rows[i].model, 1, 0);
        struct fr_graph_totals t;

        fr_graph_totals(g, &t);
        ck_assert_double_eq_tol(t.model_flops / g->seq_len, rows[i].flops_per_token,
                                4e-4 * rows[i].flops_per_token);
        fr_graph_free(g);
    }
}
END_TEST

/* A fused kernel's backward pass has 5 products where the forward pass has 2; training needs 4. */
START_TEST(the_hardware_computes_the_scores_of_fused_attention_once_more)
{
    struct fr_graph_totals flash = totals("llama:layers=3,seq=2048", 2, 0);
    struct fr_graph_totals plain = totals("llama:layers=3,seq=2048,attention=unfused", 2, 0);
    double scores = 3 * 2 * 2048. * 2048 * 4096; /* of all layers, 2 FLOPs for half of them */

    ck_assert_double_eq(flash.hardware_flops - flash.model_flops, scores);
    ck_assert_double_eq(plain.hardware_flops, plain.model_flops);
}
END_TEST

/* Nobody trains these in fp32; the other models keep it. */
START_TEST(large_models_are_in_bf16_unless_asked_otherwise)
{
    static const struct {
        const char *model;
        enum fr_dtype own;
    } models[] = {
        {"gpt3-125m", FR_BF16},
        {"llama2-7b", FR_BF16},
        {"llama3-8b", FR_BF16},
        {"llama:layers=2", FR_BF16},
        {"mixtral:layers=2", FR_BF16},
        {"gpt2-small", FR_FP32},
        {"gpt:layers=2", FR_FP32},
        {"bert-base", FR_FP32},
        {"transformer-base", FR_FP32},
        {"resnet50", FR_FP32},
        {"rnnlm", FR_FP32},
    };

    for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++)
        for (unsigned asked = 0; asked <= FR_N_DTYPES; asked++) {
            const struct fr_workload_options opt = {.batch = 1, .dtype = (enum fr_dtype)asked};
            struct fr_graph *g = NULL;

            ck_assert_int_eq(fr__zoo_load(&g, models[i].model, &opt, NULL), FR_OK);
            ck_assert_int_eq(g->dtype, asked < FR_N_DTYPES ? asked : models[i].own);
            fr_graph_free(g);
        }
}
END_TEST

START_TEST(models_of_any_size_are_the_published_ones_at_their_sizes)
{
    static const struct {
        const char *free, *published;
    } pairs[] = {
        {"bert", "bert-base"},
        {"bert:layers=24,hidden=1024,heads=16,head=mlm", "bert-large:head=mlm"},
        {"transformer", "transformer-base"},
        {"transformer:hidden=1024,ffn=4096,heads=16", "transformer-big"},
        {"gpt:layers=24,hidden=2048,heads=16,seq=2048", "gpt3-1.3b"},
        {"llama", "llama2-7b"},
        {"llama:ffn=14336,kv_heads=8,vocab=128256,seq=8192", "llama3-8b"},
        {"mixtral:skew=30", "mixtral-8x7b:skew=30"},
    };

    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        struct fr_graph *a = load(pairs[i].free, 2, 0), *b = load(pairs[i].published, 2, 0);
        bool is_alike = a->n_ops == b->n_ops && a->n_edges == b->n_edges;

        for (size_t o = 0; o < a->n_ops && is_alike; o++)
            is_alike = strcmp(a->ops[o].name, b->ops[o].name) == 0 &&
                       a->ops[o].param_bytes == b->ops[o].param_bytes &&
                       memcmp(&a->ops[o].flops, &b->ops[o].flops, sizeof(double)) == 0;
        ck_assert_msg(is_alike, "%s", pairs[i].free);
        fr_graph_free(a);
        fr_graph_free(b);
    }
}
END_TEST

START_TEST(models_of_one_group_follow_each_other)
{
    size_t n_groups = 0, i;

    for (i = 0; fr_zoo_name(i); i++) {
        const char *group = fr_zoo_group(i);

        n_groups += i == 0 || strcmp(group, fr_zoo_group(i - 1)) != 0;
        if (strncmp(fr_zoo_name(i), "llama", 5) == 0)
            ck_assert_str_eq(group, "Transformers");
    }
    ck_assert_uint_eq(n_groups, 3);
    ck_assert_ptr_null(fr_zoo_group(i));
}
END_TEST

static Suite *make_suite(void)
{
    Suite *s = suite_create("workloads/transformers");
    TCase *kept = tcase_create("kept"), *ops = tcase_create("ops"), *moe = tcase_create("experts");
    TCase *options = tcase_create("options");

    tcase_add_loop_test(kept, saved_bytes_are_those_that_pytorch_keeps, 0,
                        (int)(sizeof(measured) / sizeof(measured[0])));
    tcase_add_test(kept, an_encoder_saves_what_the_formula_says);
    tcase_add_test(kept, an_encoder_with_a_decoder_saves_what_the_formula_says);
    tcase_add_test(kept, a_flash_decoder_saves_what_the_formula_says);
    tcase_add_test(kept, a_flash_kernel_keeps_no_scores);
    tcase_add_test(ops, an_encoder_has_the_ops_counted_by_hand);
    tcase_add_test(ops, an_encoder_with_a_decoder_has_over_900_ops);
    tcase_add_test(ops, a_flash_kernel_skips_what_the_mask_hides);
    tcase_add_test(ops, keys_and_values_are_copied_to_their_group_only_where_heads_are_fewer);
    tcase_add_test(ops, the_pooler_reads_a_view_and_writes_a_whole_gradient);
    tcase_add_test(ops, masked_words_are_fifteen_percent_rounded_up);
    tcase_add_test(moe, tokens_are_shared_as_by_hand);
    tcase_add_test(moe, no_token_is_lost_and_no_expert_is_idle);
    tcase_add_test(moe, skew_moves_work_between_experts_but_adds_none);
    tcase_add_test(options, refuses_words_that_an_option_does_not_know);
    tcase_add_test(options, refuses_shapes_and_lengths_that_do_not_go_together);
    tcase_add_test(options, sequence_length_and_precision_reach_every_model);
    tcase_add_test(options, large_models_are_in_bf16_unless_asked_otherwise);
    tcase_add_test(options, model_flops_are_those_that_benchmarks_state);
    tcase_add_test(options, the_hardware_computes_the_scores_of_fused_attention_once_more);
    tcase_add_test(options, models_of_any_size_are_the_published_ones_at_their_sizes);
    tcase_add_test(options, models_of_one_group_follow_each_other);
    suite_add_tcase(s, kept);
    suite_add_tcase(s, ops);
    suite_add_tcase(s, moe);
    suite_add_tcase(s, options);
    return s;
}

int main(void)
{
    return run_suite(make_suite());
}
