/* tests/workloads/test_decoders.c - decoders by small config.json files of our own: parameters,
 * those that a token meets and FLOPs, counted by hand, a family each. */
#include "config.h"

#include "tests/support/base_check.h"
#include "workloads/import/import.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

enum { SEQ = 64, VOCAB = 100, HIDDEN = 16, LAYERS = 2 };

/* The sizes that all files share; heads of queries 4, of keys and values 2. */
#define SIZES                                                                                      \
    "\"hidden_size\": 16, \"num_hidden_layers\": 2, \"num_attention_heads\": 4,"                   \
    "\"num_key_value_heads\": 2, \"vocab_size\": 100"

static enum fr_status load(const char *text, uint32_t seq_len, struct fr_graph **g,
                           struct fr_error *err)
{
    const struct fr_workload_options opt = {.batch = 1, .dtype = FR_N_DTYPES, .seq_len = seq_len};

    *g = NULL;
    return fr__import_text(g, &fr__importer_hf_config, text, strlen(text), "in/tiny/config.json",
                           &opt, err);
}

static struct fr_graph *load_ok(const char *text, uint32_t seq_len)
{
    struct fr_error err = {0};
    struct fr_graph *g;
    char line[800];

    ck_assert_msg(load(text, seq_len, &g, &err) == FR_OK, "%s",
                  fr_error_string(&err, line, sizeof(line)));
    return g;
}

/* Of each case, by hand. layer: parameters of both layers; a product of so many inputs and outputs
 * is in `products` too, per token met. Attention: widths of keys and values times heads, and the
 * keys that a query sees in both layers together. */
static const struct {
    const char *text;
    uint64_t layers;   /* parameters of both layers; the embedding has 1600, and so has the head */
    uint64_t inactive; /* of them, those that a token does not meet */
    uint64_t vectors;  /* of them, those that are no matrices: norms, biases, sinks */
    double pairs;      /* keys that a query sees, over both layers */
    uint64_t width;    /* (width of keys + width of values) x heads */
    bool is_tied, has_no_norm;
    double scan; /* FLOPs of scans, of a token */
} cases[] = {
    /* q 16 x 16, k and v 16 x 8, o 16 x 16, MLP 3 x 16 x 32: 2304; two norms of 16 */
    {"{\"model_type\": \"mistral\", \"intermediate_size\": 32, \"sliding_window\": 16," SIZES "}",
     2 * (2304 + 32), 0, 2 * 32, 2 * (16 - 16.0 * 16 / 128), 4 * 8, false, false, 0},
    /* heads of 6: q and o 16 x 24, k and v 16 x 12 */
    {"{\"model_type\": \"llama\", \"intermediate_size\": 32, \"head_dim\": 6,"
     "\"attention_bias\": true, \"mlp_bias\": true, \"tie_word_embeddings\": true," SIZES "}",
     2 * (2 * 384 + 2 * 192 + 1536 + 32 + (24 + 12 + 12 + 16) + (32 + 32 + 16)), 0,
     2 * (32 + 64 + 80), 2 * 32, 4 * 12, true, false, 0},
    /* norms behind both sublayers alone, norms over all of q (16) and k (8) */
    {"{\"model_type\": \"olmo2\", \"intermediate_size\": 32," SIZES "}", 2 * (2304 + 32 + 24), 0,
     2 * (32 + 24), 2 * 32, 4 * 8, false, false, 0},
    /* the first three layers of four see 16 keys */
    {"{\"model_type\": \"olmo3\", \"intermediate_size\": 32, \"sliding_window\": 16," SIZES "}",
     2 * (2304 + 32 + 24), 0, 2 * (32 + 24), 2 * (16 - 2.0), 4 * 8, false, false, 0},
    /* norms have no weights */
    {"{\"model_type\": \"olmo\", \"intermediate_size\": 32," SIZES "}", 2 * 2304, 0, 0, 2 * 32,
     4 * 8, false, true, 0},
    /* attention 768, 4 experts of 3 x 16 x 8 of which 2, router 16 x 4, norms of q and k */
    {"{\"model_type\": \"olmoe\", \"intermediate_size\": 8, \"num_experts\": 4,"
     "\"num_experts_per_tok\": 2," SIZES "}",
     2 * (768 + 4 * 384 + 64 + 32 + 24), 2 * 2 * 384, 2 * (32 + 24), 2 * 32, 4 * 8, false, false,
     0},
    {"{\"model_type\": \"phi3\", \"intermediate_size\": 32, \"partial_rotary_factor\": 0.5," SIZES
     "}",
     2 * (2304 + 32), 0, 2 * 32, 2 * 32, 4 * 8, false, false, 0},
    /* four norms a layer; heads of 8; every second layer sees 16 keys */
    {"{\"model_type\": \"gemma2\", \"intermediate_size\": 32, \"head_dim\": 8,"
     "\"sliding_window\": 16," SIZES "}",
     2 * (2 * 512 + 2 * 256 + 1536 + 64), 0, 2 * 64, 32 + 16 - 2, 4 * 16, true, false, 0},
    /* and norms of 8 for q and k; the sixth layer would see all */
    {"{\"model_type\": \"gemma3_text\", \"intermediate_size\": 32, \"head_dim\": 8,"
     "\"sliding_window\": 16," SIZES "}",
     2 * (2 * 512 + 2 * 256 + 1536 + 64 + 16), 0, 2 * (64 + 16), 2 * (16 - 2), 4 * 16, true, false,
     0},
    {"{\"model_type\": \"granite\", \"intermediate_size\": 32, \"mlp_bias\": true," SIZES "}",
     2 * (2304 + 32 + 80), 0, 2 * (32 + 80), 2 * 32, 4 * 8, false, false, 0},
    /* heads of 4: attention 768 and 16 + 8 + 8 + 16 biases, 4 sinks; 4 experts of 384 and 8 + 8 +
     * 16 biases of which 1, router 64 + 4; the first layer sees 16 keys */
    {"{\"model_type\": \"gpt_oss\", \"intermediate_size\": 8, \"head_dim\": 4,"
     "\"num_local_experts\": 4, \"num_experts_per_tok\": 1, \"sliding_window\": 16," SIZES "}",
     2 * (768 + 48 + 4 + 4 * (384 + 32) + 68 + 32), 2 * 3 * (384 + 32), 2 * (48 + 4 + 32 + 4 + 32),
     32 + 16 - 2, 4 * 8, false, false, 0},
    /* first layer dense, 3 x 16 x 32; then 4 experts of 384 of which 2, a shared one, router 64;
     * biases of q, k and v */
    {"{\"model_type\": \"glm4_moe\", \"intermediate_size\": 32, \"attention_bias\": true,"
     "\"moe_intermediate_size\": 8, \"n_routed_experts\": 4, \"num_experts_per_tok\": 2," SIZES "}",
     2 * (768 + 32 + 32) + 1536 + 5 * 384 + 64, 2 * 384, 2 * (32 + 32), 2 * 32, 4 * 8, false, false,
     0},
    /* heads of 4, norms over all of q and k */
    {"{\"model_type\": \"minimax_m2\", \"intermediate_size\": 8, \"head_dim\": 4,"
     "\"num_local_experts\": 4, \"num_experts_per_tok\": 2," SIZES "}",
     2 * (768 + 4 * 384 + 64 + 32 + 24), 2 * 2 * 384, 2 * (32 + 24), 2 * 32, 4 * 8, false, false,
     0},
    /* latent attention: q_a 16 x 6, its norm, q_b 6 x 4 (3 + 2), kv_a 16 x (5 + 2), its norm, kv_b
     * 5 x 4 (3 + 4), o 16 x 16; the first layer dense, then as above, two shared experts */
    {"{\"model_type\": \"deepseek_v3\", \"intermediate_size\": 32, \"q_lora_rank\": 6,"
     "\"kv_lora_rank\": 5, \"qk_nope_head_dim\": 3, \"qk_rope_head_dim\": 2, \"v_head_dim\": 4,"
     "\"moe_intermediate_size\": 8, \"n_routed_experts\": 4, \"num_experts_per_tok\": 2,"
     "\"n_shared_experts\": 2, \"n_group\": 2, \"first_k_dense_replace\": 1," SIZES "}",
     2 * (96 + 6 + 120 + 112 + 5 + 140 + 256 + 32) + 1536 + 6 * 384 + 64, 2 * 384, 2 * (6 + 5 + 32),
     2 * 32, 4 * 9, false, false, 0},
    /* the same without a rank of queries: q 16 x 20; all layers have experts */
    {"{\"model_type\": \"deepseek_v2\", \"intermediate_size\": 32, \"q_lora_rank\": null,"
     "\"kv_lora_rank\": 5, \"qk_nope_head_dim\": 3, \"qk_rope_head_dim\": 2, \"v_head_dim\": 4,"
     "\"moe_intermediate_size\": 8, \"n_routed_experts\": 4, \"num_experts_per_tok\": 2,"
     "\"n_shared_experts\": null," SIZES "}",
     2 * (320 + 112 + 5 + 140 + 256 + 32 + 4 * 384 + 64), 2 * 2 * 384, 2 * (5 + 32), 2 * 32, 4 * 9,
     false, false, 0},
    /* one expert of four and a shared one, pieces of 16: a query sees 8 keys of its own piece */
    {"{\"model_type\": \"llama4_text\", \"intermediate_size\": 8, \"head_dim\": 4,"
     "\"attention_chunk_size\": 16, \"num_local_experts\": 4," SIZES "}",
     2 * (768 + 5 * 384 + 64 + 32), 2 * 3 * 384, 2 * 32, 2 * 8, 4 * 8, false, false, 0},
    /* an encoder: qkv 16 x 48, o, Wi 16 x 64, Wo 32 x 16; norms of one weight a column but in front
     * of the first layer's attention, behind the embedding instead; the first layer sees all 64,
     * the second 16 on both sides; in front of the head a product 16 x 16 and a norm, behind it 100
     * biases */
    {"{\"model_type\": \"modernbert\", \"intermediate_size\": 32, \"local_attention\": 16," SIZES
     "}",
     2 * (1024 + 1536 + 32) + 256 + 16 + 100, 0, 2 * 32 + 16 + 100, 64 + 16 - 1, 4 * 8, true, false,
     0},
    /* Mamba-2, 2 heads of 16, state 4, 1 group: in 16 x (32 + 32 + 8 + 2), convolution of 40
     * channels over 4 and a bias, 3 numbers a head, a gated norm of 32, out 32 x 16, a norm of 16.
     * Scan: 2 x 8 x 4 + 2 x (2 x 8 x 16 + 4 x 4 x 16) */
    {"{\"model_type\": \"mamba2\", \"num_heads\": 2, \"head_dim\": 16, \"state_size\": 4,"
     "\"n_groups\": 1, \"chunk_size\": 8, \"hidden_size\": 16, \"num_hidden_layers\": 2,"
     "\"vocab_size\": 100}",
     2 * (1184 + 200 + 6 + 32 + 512 + 16), 0, 2 * (200 + 6 + 32 + 16), 0, 0, false, false,
     2 * (64 + 2 * (256 + 256))},
    /* a Mamba-2 layer and one of a plain MLP, 2 x 16 x 32 */
    {"{\"model_type\": \"nemotron_h\", \"hybrid_override_pattern\": \"M-\", \"head_dim\": 4,"
     "\"intermediate_size\": 32, \"mamba_num_heads\": 2, \"mamba_head_dim\": 16,"
     "\"ssm_state_size\": 4, \"n_groups\": 1, \"chunk_size\": 8," SIZES "}",
     1184 + 200 + 6 + 32 + 512 + 1024 + 32, 0, 200 + 6 + 32 + 32, 0, 0, false, false,
     64 + 2 * (256 + 256)},
    /* layers of attention and Mamba-2 in parallel, without a gated norm */
    {"{\"model_type\": \"falcon_h1\", \"intermediate_size\": 32, \"mamba_n_heads\": 2,"
     "\"mamba_d_head\": 16, \"mamba_d_state\": 4, \"mamba_chunk_size\": 8," SIZES "}",
     2 * (2304 + 32 + 1184 + 200 + 6 + 512), 0, 2 * (32 + 200 + 6), 2 * 32, 4 * 8, false, false,
     2 * (64 + 2 * (256 + 256))},
    /* layer 0 Mamba with an MLP, layer 1 attention with 4 experts, 2 a token. Mamba of 32: in 16 x
     * 64, convolution 32 x 4 + 32, x 32 x (3 + 4 + 4), norms 3 + 4 + 4, dt 3 x 32 + 32, decays and
     * skips 32 x 5, out 32 x 16. Scan 9 x 32 x 4 */
    {"{\"model_type\": \"jamba\", \"intermediate_size\": 32, \"num_experts\": 4,"
     "\"num_experts_per_tok\": 2, \"attn_layer_period\": 2, \"attn_layer_offset\": 1,"
     "\"mamba_d_state\": 4, \"mamba_dt_rank\": 3," SIZES "}",
     1024 + 160 + 352 + 11 + 128 + 160 + 512 + 1536 + 32 + 768 + 4 * 1536 + 64 + 32, 2 * 1536,
     160 + 11 + 32 + 160 + 64, 32, 4 * 8, false, false, 9 * 32 * 4},
    /* layer 0 the delta rule with 2 heads of keys (4) and 4 of values (3): qkvz 16 x 40, ba 16 x 8,
     * convolution 28 x 4, 2 numbers a head, a norm of 3, out 12 x 16. Layer 1 attention with a
     * gate: q 16 x 32, norms of q and k. 4 experts of 384, 2 a token, a shared one of 8 with its
     * gate, 16. Scan: 4 heads x (2 x 64 x (3 x 4 + 2 x 3) + 2 x 64 x 64 / 3 + 6 x 4 x 3) */
    {"{\"model_type\": \"qwen3_next\", \"intermediate_size\": 32, \"head_dim\": 4,"
     "\"full_attention_interval\": 2, \"moe_intermediate_size\": 8, \"num_experts\": 4,"
     "\"num_experts_per_tok\": 2, \"shared_expert_intermediate_size\": 8,"
     "\"linear_num_key_heads\": 2, \"linear_key_head_dim\": 4, \"linear_num_value_heads\": 4,"
     "\"linear_value_head_dim\": 3," SIZES "}",
     640 + 128 + 112 + 8 + 3 + 192 + 768 + 256 + 8 + 2 * (32 + 64 + 5 * 384 + 16), 2 * 2 * 384,
     112 + 8 + 3 + 8 + 2 * 32, 32, 4 * 8, false, false, 4 * (128 * 18.0 + 2.0 * 64 * 64 / 3 + 72)},
};

/* Products: 2 FLOPs a parameter that a token meets, of matrices, the head's too; attention: 2 for
 * each key that a query sees and each number of its key and value; scans. Three times that with the
 * backward pass, of scans 3.5 (J. Kaplan et al., 2020, section 2.1: 6 N and attention). */
LOOP_TEST(small_decoders_have_the_parameters_and_flops_counted_by_hand, 0,
          sizeof(cases) / sizeof(cases[0]))
{
    struct fr_graph *g = load_ok(cases[_i].text, SEQ);
    uint64_t embedding = VOCAB * HIDDEN, ends = embedding + (cases[_i].has_no_norm ? 0 : HIDDEN);
    uint64_t params = cases[_i].layers + ends + (cases[_i].is_tied ? 0 : embedding);
    double met = (double)(cases[_i].layers - cases[_i].inactive - cases[_i].vectors + embedding);
    double want =
        SEQ * (6 * met + 6 * cases[_i].pairs * (double)cases[_i].width + 3.5 * cases[_i].scan);
    struct fr_graph_totals t;

    fr_graph_totals(g, &t);
    ck_assert_uint_eq(t.params, params);
    ck_assert_uint_eq(t.active_params, params - cases[_i].inactive);
    ck_assert_double_eq_tol(t.model_flops, want, 1e-3 * want);
    ck_assert_uint_eq(fr_graph_check(g, NULL, NULL), 0);
    fr_graph_free(g);
}

static uint64_t saved_bytes(const char *spec)
{
    const struct fr_workload_options opt = {.batch = 1, .dtype = FR_BF16, .seq_len = SEQ};
    struct fr_graph_totals t;
    struct fr_graph *g;
    struct fr_error err;

    ck_assert_msg(fr_workload_load(&g, spec, &opt, &err) == FR_OK, "%s", err.text);
    fr_graph_totals(g, &t);
    fr_graph_free(g);
    return t.saved_bytes;
}

/* Latent attention of a token, in elements of 2 bytes: the layer's input 16 (of the norm), its norm
 * 16 (of q_a and kv_a), q_a 6 (of its norm), that norm 6 (of q_b), kv_a 7 (of its norm), that norm
 * 5 (of kv_b), queries 20, keys 20, values in what kv_b writes 28, the context 16; in fp32 three
 * norms' roots and four sums of softmax. The MLP: its input and norm 2 x 16, gate, SiLU, up and
 * product 4 x 32, one root. */
TEST(latent_attention_keeps_its_latents_and_what_they_are_expanded_to)
{
#define LATENT                                                                                     \
    "decoder:hidden=16,ffn=32,heads=4,kv_heads=4,vocab=100,q_rank=6,kv_rank=5,rope_width=2,"       \
    "nope_width=3,value_width=4,layers="
    uint64_t layer = saved_bytes(LATENT "2") - saved_bytes(LATENT "1");
#undef LATENT

    ck_assert_uint_eq(layer, SEQ * (2 * (16 + 16 + 6 + 6 + 7 + 5 + 20 + 20 + 28 + 16) + 4 * 7 +
                                    2 * (32 + 128) + 4));
}

/* Mamba-2 of a token, in elements of 2 bytes: the layer's input 16, its norm 16, what the product
 * in front writes 74 (gate, convolution's input, step), the convolution 40, the scan 32, the gate's
 * SiLU 32, their product 32 (of its norm), that norm 32; in fp32 two norms' roots, and for each
 * chunk of 8 tokens a state of 32 x 4. */
TEST(a_state_space_keeps_a_state_for_each_chunk)
{
#define MAMBA                                                                                      \
    "decoder:hidden=16,no_mlp=1,mixers=m,heads=1,kv_heads=1,vocab=100,ssm_heads=2,ssm_width=16,"   \
    "ssm_state=4,ssm_groups=1,ssm_chunk=8,layers="
    uint64_t layer = saved_bytes(MAMBA "2") - saved_bytes(MAMBA "1");
#undef MAMBA

    ck_assert_uint_eq(layer,
                      SEQ * (2 * (16 + 16 + 74 + 40 + 4 * 32) + 4 * 2) + SEQ / 8 * 32 * 4 * 4);
}

/* The module's embedding is the model's table and its head the model's own; it has two norms, a
 * product 2 x 16 to 16, a layer and a norm, and is written down behind the loss. */
TEST(a_module_that_predicts_one_token_more_is_the_last_layer)
{
#define SMALL "decoder:hidden=16,ffn=32,heads=4,kv_heads=4,vocab=100,layers=1,mtp="
    const struct fr_workload_options opt = {.batch = 1, .dtype = FR_BF16, .seq_len = SEQ};
    struct fr_graph_totals without, with;
    struct fr_graph *g, *h;
    struct fr_error err;

    ck_assert(fr_workload_load(&g, SMALL "0", &opt, &err) == FR_OK);
    ck_assert(fr_workload_load(&h, SMALL "1", &opt, &err) == FR_OK);
#undef SMALL
    fr_graph_totals(g, &without);
    fr_graph_totals(h, &with);
    ck_assert_uint_eq(with.params - without.params,
                      16 + 16 + 2 * 16 * 16 + (4 * 256 + 3 * 512 + 32) + 16);
    ck_assert_str_eq(h->layer_names[h->n_layers - 1], "mtp0.loss");
    ck_assert_str_eq(g->layer_names[g->n_layers - 1], "loss");
    fr_graph_free(g);
    fr_graph_free(h);
}

TEST(options_may_stand_behind_the_path_of_a_configuration_alone)
{
    struct fr_graph *g;
    struct fr_error err = {0};

    ck_assert_int_ne(fr_workload_load(&g, "/no/such/config.json:mtp=1", NULL, &err), FR_OK);
    ck_assert_ptr_nonnull(strstr(err.text, "no model, folder or file named"));
}

int main(void)
{
    TCase *tc = tcase_create("decoders");

    add_tests(tc);
    return run_case(tc, "workloads/decoders");
}
