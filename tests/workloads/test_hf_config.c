/* tests/workloads/test_hf_config.c - models by their config.json: parameters as published, what is
 * not said, what is refused. The sizes are those of the models' papers and cards. */
#include "config.h"

#include "tests/support/base_check.h"
#include "workloads/import/import.h"

#include <check.h>
#include <string.h>

static enum fr_status load(const char *text, const struct fr_workload_options *opt,
                           struct fr_graph **g, struct fr_error *err)
{
    *g = NULL;
    return fr__import_text(g, &fr__importer_hf_config, text, strlen(text), "in/tiny/config.json",
                           opt, err);
}

static struct fr_graph *load_ok(const char *text, const struct fr_workload_options *opt)
{
    struct fr_graph *g;
    struct fr_error err = {0};
    char line[800];

    ck_assert_msg(load(text, opt, &g, &err) == FR_OK, "%s",
                  fr_error_string(&err, line, sizeof(line)));
    return g;
}

static const struct {
    const char *text;
    uint64_t params;
} published[] = {
    /* Llama 2 7B */
    {"{\"model_type\": \"llama\", \"hidden_size\": 4096, \"intermediate_size\": 11008,"
     "\"num_hidden_layers\": 32, \"num_attention_heads\": 32, \"num_key_value_heads\": 32,"
     "\"vocab_size\": 32000, \"max_position_embeddings\": 4096}",
     6738415616},
    /* Llama 3 8B */
    {"{\"model_type\": \"llama\", \"hidden_size\": 4096, \"intermediate_size\": 14336,"
     "\"num_hidden_layers\": 32, \"num_attention_heads\": 32, \"num_key_value_heads\": 8,"
     "\"vocab_size\": 128256, \"max_position_embeddings\": 8192}",
     8030261248},
    /* Mistral 7B, all by default */
    {"{\"model_type\": \"mistral\"}", 7241732096},
    /* Mixtral 8x7B, all by default */
    {"{\"model_type\": \"mixtral\"}", 46702792704},
    /* Qwen2 7B */
    {"{\"model_type\": \"qwen2\", \"hidden_size\": 3584, \"intermediate_size\": 18944,"
     "\"num_hidden_layers\": 28, \"num_attention_heads\": 28, \"num_key_value_heads\": 4,"
     "\"vocab_size\": 152064, \"tie_word_embeddings\": false}",
     7615616512},
    /* Qwen2.5 0.5B: tied */
    {"{\"model_type\": \"qwen2\", \"hidden_size\": 896, \"intermediate_size\": 4864,"
     "\"num_hidden_layers\": 24, \"num_attention_heads\": 14, \"num_key_value_heads\": 2,"
     "\"vocab_size\": 151936, \"tie_word_embeddings\": true}",
     494032768},
    /* Qwen3 8B */
    {"{\"model_type\": \"qwen3\", \"hidden_size\": 4096, \"intermediate_size\": 12288,"
     "\"num_hidden_layers\": 36, \"num_attention_heads\": 32, \"num_key_value_heads\": 8,"
     "\"head_dim\": 128, \"vocab_size\": 151936}",
     8190735360},
    /* Qwen3 30B A3B: 128 experts, heads wider than the model */
    {"{\"model_type\": \"qwen3_moe\", \"hidden_size\": 2048, \"moe_intermediate_size\": 768,"
     "\"num_hidden_layers\": 48, \"num_attention_heads\": 32, \"num_key_value_heads\": 4,"
     "\"head_dim\": 128, \"num_experts\": 128, \"num_experts_per_tok\": 8,"
     "\"decoder_sparse_step\": 1, \"mlp_only_layers\": [], \"vocab_size\": 151936}",
     30532122624},
    /* Qwen1.5 MoE A2.7B: 60 experts and a shared one, all by default */
    {"{\"model_type\": \"qwen2_moe\"}", 14315784192},
    /* GPT-2 small, all by default */
    {"{\"model_type\": \"gpt2\", \"n_inner\": null}", 124439808},
    /* GPT-NeoX 20B, all by default */
    {"{\"model_type\": \"gpt_neox\"}", 20554567680},
    /* Pythia 1B */
    {"{\"model_type\": \"gpt_neox\", \"hidden_size\": 2048, \"intermediate_size\": 8192,"
     "\"num_hidden_layers\": 16, \"num_attention_heads\": 8, \"vocab_size\": 50304}",
     1011781632},
    /* BERT base, with both heads of pre-training, all by default */
    {"{\"model_type\": \"bert\"}", 110106428},
    /* T5 small, all by default */
    {"{\"model_type\": \"t5\", \"feed_forward_proj\": \"relu\"}", 60506624},
    /* FLAN-T5 base */
    {"{\"model_type\": \"t5\", \"d_model\": 768, \"d_ff\": 2048, \"num_layers\": 12,"
     "\"num_heads\": 12, \"feed_forward_proj\": \"gated-gelu\", \"tie_word_embeddings\": false}",
     247577856},
    /* ViT base without its classes: two */
    {"{\"model_type\": \"vit\", \"id2label\": {\"0\": \"cat\", \"1\": \"dog\"}}",
     86567656 - 998 * 769},
};

START_TEST(models_have_the_published_parameters)
{
    struct fr_workload_options opt = {.batch = 1, .dtype = FR_N_DTYPES, .seq_len = 64};
    struct fr_graph_totals t;
    struct fr_graph *g;

    if (strstr(published[_i].text, "\"vit\""))
        opt.seq_len = 0;
    g = load_ok(published[_i].text, &opt);
    fr_graph_totals(g, &t);
    ck_assert_uint_eq(t.params, published[_i].params);
    fr_graph_free(g);
}
END_TEST

TEST(what_is_not_said_is_listed)
{
    struct fr_graph *g = load_ok("{\"model_type\": \"qwen2\", \"hidden_size\": 64,"
                                 "\"intermediate_size\": 96, \"num_hidden_layers\": 1,"
                                 "\"num_attention_heads\": 32, \"vocab_size\": 100,"
                                 "\"torch_dtype\": \"float16\"}",
                                 NULL);

    ck_assert_str_eq(g->name, "tiny");
    ck_assert_str_eq(g->source,
                     "a Hugging Face config.json of a qwen2; not said there: num_key_value_heads = "
                     "32, tie_word_embeddings = false, sequences of 4096 (of the positions; "
                     "--seq-len takes others)");
    fr_graph_free(g);
}

TEST(precision_and_sequence_are_the_files_unless_the_user_says_otherwise)
{
    static const char text[] = "{\"model_type\": \"gpt2\", \"n_layer\": 1, \"n_embd\": 64,"
                               "\"n_head\": 4, \"n_positions\": 128, \"vocab_size\": 100,"
                               "\"torch_dtype\": \"bfloat16\", \"_name_or_path\": \"org/small\"}";
    const struct fr_workload_options opt = {.dtype = FR_FP32, .seq_len = 32, .batch = 3};
    struct fr_graph *g = load_ok(text, NULL);

    ck_assert_str_eq(g->name, "small");
    ck_assert_int_eq(g->dtype, FR_BF16);
    ck_assert_uint_eq(g->seq_len, 128);
    fr_graph_free(g);
    g = load_ok(text, &opt);
    ck_assert_int_eq(g->dtype, FR_FP32);
    ck_assert_uint_eq(g->seq_len, 32);
    ck_assert_uint_eq(g->batch, 3);
    fr_graph_free(g);
}

static const struct {
    const char *text, *message;
} refused[] = {
    {"{\"model_type\": \"lama\"}",
     "in/tiny/config.json:1:16: 'model_type' is \"lama\", known are bert, gpt2, gpt_neox, "
     "llama, mistral, mixtral, qwen2, qwen2_moe, qwen3, qwen3_moe, olmo, olmo2, olmo3, olmoe, "
     "phi3, gemma2, gemma3_text, gemma3, granite, gpt_oss, glm4_moe, minimax_m2, qwen3_next, "
     "deepseek_v2, deepseek_v3, kimi_k2, llama4_text, llama4, mamba2, nemotron_h, falcon_h1, "
     "jamba, modernbert, t5, vit, clip, siglip, whisper, sd3, flux, did you mean 'llama'?"},
    {"{\"architectures\": [\"X\"]}", "in/tiny/config.json:1:1: key 'model_type' is missing"},
    {"{\"model_type\": \"mistral\",\n \"attention_bias\": true}",
     "in/tiny/config.json:2:20: 'attention_bias' is true; of 'mistral' models only false|null "
     "is simulated here"},
    {"{\"model_type\": \"llama\",\n \"num_towers\": 2}",
     "in/tiny/config.json:2:2: key 'num_towers' of 'llama' models is not known here, so what "
     "it "
     "changes cannot be told"},
    {"{\"model_type\": \"gemma2\", \"num_hidden_layers\": 2, \"layer_types\": "
     "[\"full_attention\", \"odd_attention\"]}",
     "in/tiny/config.json:1:84: 'layer_types' is \"odd_attention\", known are "
     "sliding_attention|full_attention"},
    {"{\"model_type\": \"gemma2\", \"num_hidden_layers\": 2, \"layer_types\": "
     "[\"full_attention\"]}",
     "in/tiny/config.json:1:65: 'layer_types' has 1 layers, the model 2"},
    {"{\"model_type\": \"gemma2\", \"layer_types\": []}",
     "in/tiny/config.json:1:41: 'layer_types' is empty"},
    {"{\"model_type\": \"nemotron_h\", \"num_hidden_layers\": 3,"
     "\"hybrid_override_pattern\": \"M-E\"}",
     "in/tiny/config.json:1:80: 'hybrid_override_pattern' is \"M-E\", known are M|*|-"},
    {"{\"model_type\": \"phi3\", \"partial_rotary_factor\": 2}",
     "in/tiny/config.json:1:49: 'partial_rotary_factor' is \"2\", expected a number from 0 "
     "to 1"},
    {"{\"model_type\": \"gemma3\", \"text_config\": {}, \"vision_config\": {\"a\": 1}}",
     "in/tiny/config.json:1:45: the vision tower is not simulated: the language model alone is "
     "what 'text_config' says, as a file of its own"},
    {"{\"model_type\": \"gemma3\"}", "in/tiny/config.json:1:1: key 'text_config' is missing"},
    {"{\"model_type\": \"llama4\", \"vision_config\": {\"num_channels\": 4}}",
     "in/tiny/config.json:1:60: 'vision_config.num_channels' is 4; of 'llama4' models only 3 "
     "is "
     "simulated here"},
    {"{\"model_type\": \"llama4\", \"vision_config\": {\"num_towers\": 4}}",
     "in/tiny/config.json:1:44: key 'num_towers' of 'llama4' models is not known here, so what "
     "it changes cannot be told"},
    {"{\"model_type\": \"llama4\", \"vision_config\": {\"num_hidden_layers\": 1, "
     "\"image_size\": 100}}",
     "model 'decoder': the side of images, 100, is not a multiple of 28 pixels"},
    {"{\"model_type\": \"deepseek_v3\", \"n_group\": 3}",
     "model 'decoder': 256 experts are not a multiple of 3 groups"},
    {"{\"model_type\": \"t5\", \"feed_forward_proj\": \"gated-silu\"}",
     "in/tiny/config.json:1:43: 'feed_forward_proj' is \"gated-silu\", known are "
     "relu|gated-gelu"},
    {"{\"model_type\": \"llama\", \"hidden_size\": \"big\"}",
     "in/tiny/config.json:1:40: 'hidden_size' is \"big\", not a whole number"},
    {"{\"model_type\": \"llama\", \"max_position_embeddings\": 0}",
     "in/tiny/config.json:1:52: 'max_position_embeddings' is 0"},
    {"{\"model_type\": \"llama\", \"torch_dtype\": \"int8\"}",
     "in/tiny/config.json:1:40: 'torch_dtype' is \"int8\", known are bfloat16, float16, "
     "float32"},
    {"{\"model_type\": \"llama\", \"num_attention_heads\": 33}",
     "model 'llama': hidden 4096 is not a multiple of 33 heads"},
    {"[1, 2]", "in/tiny/config.json:1:1: a model's configuration is a list, expected a map "
               "(\"key: value\")"},
};

TEST(what_is_not_simulated_is_refused_with_its_place)
{
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        struct fr_graph *g;
        struct fr_error err = {0};
        char line[800];

        ck_assert_int_ne(load(refused[i].text, NULL, &g, &err), FR_OK);
        ck_assert_str_eq(fr_error_string(&err, line, sizeof(line)), refused[i].message);
    }
}

int main(void)
{
    TCase *tc = tcase_create("hf_config");

    tcase_add_loop_test(tc, models_have_the_published_parameters, 0,
                        (int)(sizeof(published) / sizeof(published[0])));
    add_tests(tc);
    return run_case(tc, "workloads/hf_config");
}
