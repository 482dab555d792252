/* tests/workloads/test_tune.c - frozen parts, adapters, 4-bit weights and prompts: what is trained,
 * what the backward pass computes and keeps, and how a mesh splits it. */
#include "config.h"

#include "workloads/passes/tune.h"

#include "tests/support/base_check.h"
#include "workloads/passes/shard.h"
#include "workloads/workloads.h"

#include <check.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* One layer, 16 positions, rank 4: products of 64 x 64 and of 64 x 128. */
#define TINY "llama:layers=1,hidden=64,ffn=128,heads=4,kv_heads=4,seq=16,vocab=100"
#define TWO "llama:layers=2,hidden=64,ffn=128,heads=4,kv_heads=4,seq=16,vocab=100"

static enum fr_status load(struct fr_graph **g, const char *spec, const char *tune,
                           enum fr_dtype dtype, struct fr_error *err)
{
    const struct fr_workload_options opt = {.batch = 1, .dtype = dtype, .tune = tune};

    return fr_workload_load(g, spec, &opt, err);
}

static struct fr_graph *tuned(const char *spec, const char *tune)
{
    struct fr_graph *g = NULL;
    struct fr_error err;

    ck_assert_msg(load(&g, spec, tune, FR_BF16, &err) == FR_OK, "%s", err.text);
    return g;
}

static uint32_t find(const struct fr_graph *g, const char *name)
{
    for (uint32_t o = 0; o < g->n_ops; o++)
        if (strcmp(g->ops[o].name, name) == 0)
            return o;
    return FR_NONE;
}

static bool reads(const struct fr_graph *g, const char *reader, const char *writer)
{
    uint32_t dst = find(g, reader), src = find(g, writer);

    ck_assert(dst != FR_NONE && src != FR_NONE);
    for (uint32_t i = g->in_first[dst]; i < g->in_first[dst + 1]; i++)
        if (g->edges[g->in_edges[i]].src == src && g->edges[g->in_edges[i]].tensor != FR_NONE)
            return true;
    return false;
}

static uint64_t trained(const char *spec, const char *tune)
{
    struct fr_graph *g = tuned(spec, tune);
    struct fr_graph_totals t;

    fr_graph_totals(g, &t);
    fr_graph_free(g);
    return t.trained_params;
}

/* Llama 2 7B: 32 layers, 2 adapters of 8 (4096 + 4096). GPT-3: 96 layers, 2 of 4 (12288 + 12288),
 * and of rank 1 the 4.7 million of the paper (E. Hu et al., LoRA, table 4). QLoRA on Llama 7B: 32
 * layers of rank 64 times 4 (4096 + 4096) + 3 (4096 + 11008). */
TEST(published_models_train_as_many_parameters_as_published)
{
    ck_assert_uint_eq(trained("llama2-7b", "lora:rank=8,targets=q+v"), 4194304);
    ck_assert_uint_eq(trained("llama2-7b", "lora"), 4194304);
    ck_assert_uint_eq(trained("gpt3-175b", "lora:rank=4,targets=q+v"), 18874368);
    ck_assert_uint_eq(trained("gpt3-175b", "lora:rank=1,targets=q+v"), 4718592);
    ck_assert_uint_eq(trained("llama2-7b", "qlora"), 159907840);
    ck_assert_uint_eq(trained("llama2-7b", "prompt:tokens=20"), 20 * 4096);
}

/* 64 * 128 weights of 4 bits, a byte for each 64, 4 bytes for each 256 of those. */
TEST(weights_in_4_bits_take_the_bytes_of_the_paper)
{
    struct fr_graph *g = tuned(TINY, "qlora:rank=4"), *plain = tuned(TINY, "qlora:rank=4,double=0");
    uint32_t o = find(g, "layer0.mlp.up.dequant");

    ck_assert_uint_ne(o, FR_NONE);
    ck_assert_uint_eq(fr_op_stored_bytes(g, &g->ops[o]), 4096 + 128 + 4);
    ck_assert_uint_eq(g->ops[o].param_bytes, 2 * 8192);
    ck_assert_uint_eq(g->tensors[g->ops[o].first_tensor].bytes, 2 * 8192);
    o = find(plain, "layer0.mlp.up.dequant");
    ck_assert_uint_eq(fr_op_stored_bytes(plain, &plain->ops[o]), 4096 + 128 * 4);
    fr_graph_free(g);
    fr_graph_free(plain);
}

/* Llama 2 7B: 32 (4 4096^2 + 3 4096 11008) weights of 4 + 8/64 + 32/(64 256) bits; the embedding
 * and the output layer of 32000 x 4096 and 65 norms of 4096 in 16 bits; adapters in 16 bits. */
TEST(a_whole_model_in_4_bits_has_the_bytes_of_the_closed_form)
{
    const double linear = 32.0 * (4.0 * 4096 * 4096 + 3.0 * 4096 * 11008);
    const double rest = 2.0 * 32000 * 4096 + 65.0 * 4096 + 159907840;
    struct fr_graph *g = tuned("llama2-7b", "qlora");
    struct fr_graph_totals t;

    fr_graph_totals(g, &t);
    ck_assert_double_eq((double)t.param_bytes,
                        linear * (4 + 8.0 / 64 + 32.0 / (64 * 256)) / 8 + 2 * rest);
    ck_assert_uint_eq(t.params, 6738415616 + 159907840);
    fr_graph_free(g);
}

TEST(decoded_weights_are_made_again_for_the_backward_pass_and_not_kept)
{
    struct fr_graph *g = tuned(TWO, "qlora:rank=4");
    uint32_t weights = find(g, "layer1.mlp.up.dequant");

    ck_assert(reads(g, "layer1.mlp.up", "layer1.mlp.up.dequant"));
    ck_assert(reads(g, "layer1.mlp.up.dgrad", "layer1.mlp.up.dequant.backward"));
    for (uint32_t i = g->out_first[weights]; i < g->out_first[weights + 1]; i++)
        ck_assert_uint_eq(g->ops[g->edges[i].dst].phase, FR_PHASE_FORWARD);
    ck_assert_uint_eq(find(g, "head.dequant"), FR_NONE);
    fr_graph_free(g);
}

TEST(what_is_frozen_has_no_gradient_and_no_update_but_hands_gradients_back)
{
    struct fr_graph *g = tuned(TWO, "lora:rank=4,targets=q+v");

    ck_assert_uint_eq(find(g, "layer1.mlp.up.wgrad"), FR_NONE);
    ck_assert_uint_eq(find(g, "layer1.mlp.up.update"), FR_NONE);
    ck_assert_uint_eq(find(g, "layer1.mlp.norm.wgrad"), FR_NONE);
    ck_assert_uint_eq(find(g, "embed.update"), FR_NONE);
    ck_assert_uint_ne(find(g, "layer1.mlp.up.dgrad"), FR_NONE);
    ck_assert_uint_ne(find(g, "layer1.attn.q.lora_a.wgrad"), FR_NONE);
    ck_assert_uint_ne(find(g, "layer1.attn.q.lora_b.update"), FR_NONE);
    /* the first layer's adapters are the first that is trained: nothing before them has a gradient,
     * nor have keys, which no adapter changes */
    ck_assert_uint_eq(find(g, "layer0.attn.norm.dgrad"), FR_NONE);
    ck_assert_uint_eq(find(g, "layer0.attn.k.dgrad"), FR_NONE);
    ck_assert_uint_eq(find(g, "layer0.attn.q.dgrad"), FR_NONE);
    ck_assert_uint_ne(find(g, "layer1.attn.k.dgrad"), FR_NONE);
    ck_assert_uint_eq(fr_graph_check(g, NULL, NULL), 0);
    fr_graph_free(g);
}

/* 2 * 16 rows, of products only. Data: head 64 x 100; of the layer mlp 3 x 64 x 128 and out 64 x
 * 64; the adapters of q and v give the gradient of their inner 4 columns alone, 64 x 4 each,
 * since what they read has none. Weights: A and B of both, 4 x 64 each. */
TEST(the_backward_pass_multiplies_what_is_left)
{
    const double data = 32.0 * (6400 + 3 * 8192 + 4096 + 2 * 256), weights = 32.0 * 4 * 256;
    struct fr_graph *g = tuned(TINY, "lora:rank=4,targets=q+v");
    double flops[FR_N_PHASES] = {0};

    for (uint32_t o = 0; o < g->n_ops; o++)
        if (g->ops[o].kind == FR_OP_MATMUL)
            flops[g->ops[o].phase] += g->ops[o].flops;
    ck_assert_double_eq(flops[FR_PHASE_BACKWARD_DATA], data);
    ck_assert_double_eq(flops[FR_PHASE_BACKWARD_WEIGHT], weights);
    fr_graph_free(g);
}

TEST(a_frozen_product_keeps_no_input_and_an_adapter_keeps_both)
{
    struct fr_graph *whole = tuned(TINY, NULL), *part = tuned(TINY, "lora:rank=4,targets=down");

    ck_assert(reads(whole, "layer0.mlp.down.wgrad", "layer0.mlp.mul"));
    ck_assert(reads(part, "layer0.mlp.down.lora_a.wgrad", "layer0.mlp.mul"));
    ck_assert(reads(part, "layer0.mlp.down.lora_b.wgrad", "layer0.mlp.down.lora_a"));
    ck_assert_uint_eq(find(part, "layer0.mlp.gate.wgrad"), FR_NONE);
    fr_graph_free(whole);
    fr_graph_free(part);
}

TEST(the_sum_stands_behind_the_bias)
{
    struct fr_graph *g = tuned("gpt:layers=1,hidden=64,heads=2,seq=16,vocab=100",
                               "lora:rank=4,targets=fc1,dropout=0.05");

    ck_assert(reads(g, "layer0.mlp.fc1.lora_add", "layer0.mlp.fc1.bias"));
    ck_assert(reads(g, "layer0.mlp.gelu", "layer0.mlp.fc1.lora_add"));
    ck_assert(reads(g, "layer0.mlp.fc1.bias", "layer0.mlp.fc1"));
    ck_assert(reads(g, "layer0.mlp.fc1.lora_a", "layer0.mlp.fc1.lora_dropout"));
    fr_graph_free(g);
}

TEST(learned_tokens_come_before_the_words)
{
    struct fr_graph *g = tuned(TINY, "prompt:tokens=4");
    uint32_t joined = find(g, "embed.prompt.join"), words = find(g, "embed");

    if (joined == FR_NONE)
        joined = find(g, "prompt.join");
    ck_assert_uint_ne(joined, FR_NONE);
    ck_assert_uint_eq(g->tensors[g->ops[joined].first_tensor].dims[1], 20);
    ck_assert_uint_eq(g->tensors[g->ops[words].first_tensor].dims[1], 16);
    ck_assert_uint_eq(g->seq_len, 16);
    ck_assert_uint_ne(find(g, "prompt.embed.update"), FR_NONE);
    ck_assert_uint_eq(find(g, "embed.update"), FR_NONE);
    fr_graph_free(g);
}

TEST(the_first_layers_or_named_parts_are_frozen)
{
    struct fr_graph *g = tuned(TWO, "freeze:layers=1,parts=embed");

    ck_assert_uint_eq(find(g, "layer0.mlp.up.wgrad"), FR_NONE);
    ck_assert_uint_eq(find(g, "layer0.mlp.up.dgrad"), FR_NONE);
    ck_assert_uint_ne(find(g, "layer1.mlp.up.wgrad"), FR_NONE);
    fr_graph_free(g);
    ck_assert_uint_eq(trained(TWO, "freeze:train=head"), 6400);
    ck_assert_uint_eq(trained(TWO, "freeze:train=head+layer1.mlp"), 6400 + 3 * 8192 + 64);
}

/* Megatron-LM's columns and rows, and what NVIDIA NeMo makes of adapters beside them. */
TEST(adapters_are_split_as_their_products)
{
    static const struct {
        const char *op;
        enum fr__split split;
    } ops[] = {
        {"layer0.attn.q", FR__SPLIT_COLUMNS},         {"layer0.attn.q.lora_a", FR__SPLIT_COLUMNS},
        {"layer0.attn.q.lora_b", FR__SPLIT_COLUMNS},  {"layer0.attn.out", FR__SPLIT_DEPTH},
        {"layer0.attn.out.lora_a", FR__SPLIT_DEPTH},  {"layer0.mlp.up", FR__SPLIT_COLUMNS},
        {"layer0.mlp.up.lora_b", FR__SPLIT_COLUMNS},  {"layer0.mlp.down.lora_a", FR__SPLIT_DEPTH},
        {"layer0.attn.out.lora_b", FR__SPLIT_DERIVED}};
    struct fr_graph *g = tuned(TINY, "lora:rank=4,targets=all");
    uint8_t *split = calloc(g->n_ops, sizeof(*split));
    struct fr_error err;

    ck_assert_int_eq(fr__shard_megatron(g, true, split, &err), FR_OK);
    for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
        ck_assert_msg(split[find(g, ops[i].op)] == ops[i].split, "%s is split by %s", ops[i].op,
                      fr__split_name((enum fr__split)split[find(g, ops[i].op)]));
    free(split);
    fr_graph_free(g);
}

TEST(frozen_weights_are_known_to_be_split)
{
    struct fr_graph *g = tuned(TINY, "qlora:rank=4,targets=q");
    uint8_t *split = calloc(g->n_ops, sizeof(*split));
    const struct fr__shard_axis tp = {.name = "tp", .size = 2, .split = split};
    const struct fr__shard_problem problem = {
        .graph = g, .n_axes = 1, .axes = &tp, .experts = {.ep = 1, .etp = 1}};
    struct fr__sharded s;
    struct fr_error err;
    uint32_t o;

    ck_assert_int_eq(fr__shard_megatron(g, true, split, &err), FR_OK);
    ck_assert_msg(fr__shard(&s, &problem, &err) == FR_OK, "%s", err.text);
    o = find(s.graph, "layer0.mlp.up.dequant");
    ck_assert_uint_eq(s.divided[o], 1);
    ck_assert_uint_eq(s.partial[o], 0);
    ck_assert_uint_eq(fr_op_stored_bytes(s.graph, &s.graph->ops[o]), 2048 + 64 + 4);
    o = find(s.graph, "layer0.mlp.up.dequant.backward");
    ck_assert_uint_eq(s.graph->tensors[s.graph->ops[o].first_tensor].bytes, 8192);
    fr__sharded_free(&s);
    free(split);
    fr_graph_free(g);
}

TEST(an_exported_graph_reads_back_as_it_is_tuned)
{
    static const char *const methods[] = {"lora:rank=4", "qlora:rank=4", "qlora:double=0,rank=4"};

    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
        struct fr_graph *g = tuned(TINY, methods[i]), *back = NULL;
        char folder[] = "tune-XXXXXX", file[64];
        struct fr_graph_totals a, b;
        struct fr_error err;

        ck_assert_ptr_nonnull(mkdtemp(folder));
        ck_assert_msg(fr_graph_export(g, folder, &err) == FR_OK, "%s", err.text);
        ck_assert_msg(load(&back, folder, NULL, FR_N_DTYPES, &err) == FR_OK, "%s", err.text);
        fr_graph_totals(g, &a);
        fr_graph_totals(back, &b);
        ck_assert_int_eq(memcmp(&a, &b, sizeof(a)), 0);
        for (uint32_t o = 0; o < g->n_ops; o++) {
            ck_assert_int_eq(g->ops[o].is_adapter, back->ops[o].is_adapter);
            ck_assert_int_eq(g->ops[o].is_recomputed, back->ops[o].is_recomputed);
        }
        fr_graph_free(g);
        fr_graph_free(back);
        for (size_t k = 0; k < 4; k++) {
            static const char *const files[] = {"workload.yaml", "ops.csv", "edges.csv",
                                                "times.csv"};

            snprintf(file, sizeof(file), "%s/%s", folder, files[k]);
            unlink(file);
        }
        rmdir(folder);
    }
}

static const struct {
    const char *tune, *says;
} wrong[] = {
    {"lor", "'lor' is no way to tune a model: freeze, lora, qlora or prompt, did you mean 'lora'?"},
    {"", "'' is no way to tune a model: freeze, lora, qlora or prompt"},
    {"lora:rank=0", "'rank' of 'lora' is \"0\", expected a whole number from 1 to 65536"},
    {"lora:rank=65,targets=q",
     "a rank of 65 is over the 64 of layer 'layer0.attn.q', whose weights are 64 x 64"},
    {"lora:targets=qq", "'" TINY "' has no linear layer 'qq' for an adapter; it has q, k, v, out, "
                        "gate, up, down, head, or all"},
    {"lora:targets=q++v",
     "'targets' of 'lora' is \"q++v\": a name is missing (several are joined by '+')"},
    {"lora:rank", "'lora': 'rank' is not of the form key=value"},
    {"lora:rank=4,rank=4", "'lora': option 'rank' is given twice"},
    {"lora:tokens=4", "'lora' has no option 'tokens'"},
    {"lora:train=nothing", "no part of '" TINY "' with parameters is called 'nothing'"},
    {"freeze", "'freeze' needs parts=NAME+..., layers=N or train=NAME+..."},
    {"freeze:layers=2", "'" TINY "' repeats 0 layers, so 2 cannot be frozen"},
    {"freeze:parts=*", "all parameters of '" TINY "' are frozen, so there is nothing to train"},
    {"prompt:tokens=0", "'tokens' of 'prompt' is \"0\", expected a whole number from 1 to 1048576"},
};

LOOP_TEST(rejects_what_is_no_tuning, 0, sizeof(wrong) / sizeof(wrong[0]))
{
    struct fr_graph *g = NULL;
    struct fr_error err;

    ck_assert_int_ne(load(&g, TINY, wrong[_i].tune, FR_BF16, &err), FR_OK);
    ck_assert_str_eq(err.text, wrong[_i].says);
}

TEST(rejects_weights_of_32_bits_that_are_stored_in_4)
{
    struct fr_graph *g = NULL;
    struct fr_error err;

    ck_assert_int_eq(load(&g, TINY, "qlora:rank=4", FR_FP32, &err), FR_EUSAGE);
    ck_assert_str_eq(err.text, "qlora makes 16 bits of its 4-bit weights: take precision bf16 or "
                               "fp16, not one of 32-bit parameters");
}

int main(void)
{
    TCase *tc = tcase_create("tune");

    tcase_set_timeout(tc, 60);
    add_tests(tc);
    return run_case(tc, "tune");
}
