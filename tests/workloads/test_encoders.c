/* tests/workloads/test_encoders.c - models of images, sound and text by small configurations of our
 * own: parameters counted by hand, a family each. */
#include "config.h"

#include "tests/support/base_check.h"
#include "workloads/import/import.h"

#include <check.h>
#include <string.h>

/* A layer of width 8 with an MLP of 16 and biases: q, k, v and out 4 (64 + 8), two norms 32, MLP
 * 128 + 16 + 128 + 8. */
enum { LAYER = 4 * 72 + 32 + 280 };

static const struct {
    const char *text;
    uint64_t params;
} cases[] = {
    /* Encoder: convolutions 3 x 4 x 8 + 8 and 3 x 8 x 8 + 8, 10 positions, a layer without the bias
     * of keys, a norm. Decoder: words 20 x 8, 6 positions, a layer, attention to the encoder with a
     * norm, both without that bias, a norm; the head is the words' table */
    {"{\"model_type\": \"whisper\", \"d_model\": 8, \"encoder_layers\": 1, \"decoder_layers\": 1,"
     "\"encoder_attention_heads\": 2, \"decoder_attention_heads\": 2, \"encoder_ffn_dim\": 16,"
     "\"decoder_ffn_dim\": 16, \"num_mel_bins\": 4, \"max_source_positions\": 10,"
     "\"max_target_positions\": 6, \"vocab_size\": 20}",
     104 + 200 + 80 + LAYER - 8 + 16 + 160 + 48 + LAYER - 8 + 4 * 72 - 8 + 16 + 16},
    /* Text: words 20 x 8, 6 positions, a layer, a norm, a projection 8 x 5. Image: patches 4 x 4 x
     * 3 x 8, a token and 1 + 4 positions, a norm, a layer, a norm, a projection 8 x 5; a scale */
    {"{\"model_type\": \"clip\", \"projection_dim\": 5, \"text_config\": {\"hidden_size\": 8,"
     "\"intermediate_size\": 16, \"num_hidden_layers\": 1, \"num_attention_heads\": 2,"
     "\"vocab_size\": 20, \"max_position_embeddings\": 6}, \"vision_config\": {\"hidden_size\": 8,"
     "\"intermediate_size\": 16, \"num_hidden_layers\": 1, \"num_attention_heads\": 2,"
     "\"image_size\": 8, \"patch_size\": 4}}",
     160 + 48 + LAYER + 16 + 40 + 384 + 48 + 16 + LAYER + 16 + 40 + 1},
    /* Text as above with a bias in its projection 8 x 8. Image: patches with a bias, 4 positions, a
     * layer, a norm; one query of 8, q, k, v, out, a norm and an MLP; a scale and an offset */
    {"{\"model_type\": \"siglip\", \"text_config\": {\"hidden_size\": 8, \"projection_size\": 8,"
     "\"intermediate_size\": 16, \"num_hidden_layers\": 1, \"num_attention_heads\": 2,"
     "\"vocab_size\": 20, \"max_position_embeddings\": 6}, \"vision_config\": {\"hidden_size\": 8,"
     "\"intermediate_size\": 16, \"num_hidden_layers\": 1, \"num_attention_heads\": 2,"
     "\"image_size\": 8, \"patch_size\": 4}}",
     160 + 48 + LAYER + 16 + 72 + 392 + 32 + LAYER + 16 + 8 + 4 * 72 + 16 + 280 + 2},
    /* Text: words 20 x 8 and as many of the head, a layer: q, k, v, out 4 x 64, 2 experts of 3 x 8
     * x 4, a shared one, router 8 x 2, norms 16; a norm. Image of 8: patches 2 x 2 x 3 x 8, a token
     * and 1 + 16 positions, two norms, a layer; four patches become one of 32, products 32 x 6 and
     * 6 x 6, a projection 6 x 8 */
    {"{\"model_type\": \"llama4\", \"text_config\": {\"hidden_size\": 8, \"head_dim\": 4,"
     "\"intermediate_size\": 4, \"num_hidden_layers\": 1, \"num_attention_heads\": 2,"
     "\"num_key_value_heads\": 2, \"num_local_experts\": 2, \"vocab_size\": 20,"
     "\"max_position_embeddings\": 12}, \"vision_config\": {\"hidden_size\": 8,"
     "\"intermediate_size\": 16, \"num_hidden_layers\": 1, \"num_attention_heads\": 2,"
     "\"image_size\": 8, \"patch_size\": 2, \"projector_output_dim\": 6}}",
     2 * 160 + 256 + 3 * 96 + 16 + 16 + 8 + 96 + 144 + 32 + LAYER + 192 + 36 + 48},
    /* Width 8. Patches 2 x 2 x 3 x 8 + 8; step 256 x 8 + 8 + 72; pooled 5 x 8 + 8 + 72; text 7 x 8
     * + 8. First layer: for both streams modulation 8 x 48 + 48, q, k, v, out, MLP 8 x 32 + 32 + 32
     * x 8 + 8. Last layer: the text has a modulation 8 x 16 + 16 and q, k, v alone. Head:
     * modulation 8 x 16 + 16, 8 x 8 + 8 */
    {"{\"_class_name\": \"SD3Transformer2DModel\", \"num_layers\": 2, \"num_attention_heads\": 2,"
     "\"attention_head_dim\": 4, \"in_channels\": 3, \"out_channels\": 2, \"sample_size\": 8,"
     "\"joint_attention_dim\": 7, \"pooled_projection_dim\": 5}",
     104 + 2128 + 120 + 64 + 3 * (432 + 4 * 72 + 552) + 144 + 3 * 72 + 144 + 72},
    /* Image 3 x 8 + 8, step, guidance 2128 each, pooled, text. A layer as above in both streams
     * with norms of q and k, 4 x 4; a layer of one sequence: modulation 8 x 24 + 24, q, k, v, their
     * norms, MLP 8 x 32 + 32, out 40 x 8 + 8. Head: modulation, 8 x 3 + 3 */
    {"{\"model_type\": \"flux\", \"num_layers\": 1, \"num_single_layers\": 1,"
     "\"num_attention_heads\": 2, \"attention_head_dim\": 4, \"in_channels\": 3,"
     "\"joint_attention_dim\": 7, \"pooled_projection_dim\": 5, \"guidance_embeds\": true}",
     32 + 2 * 2128 + 120 + 64 + 2 * (432 + 4 * 72 + 552 + 8) + 216 + 3 * 72 + 8 + 288 + 328 + 144 +
         27},
};

LOOP_TEST(small_models_have_the_parameters_counted_by_hand, 0, sizeof(cases) / sizeof(cases[0]))
{
    const struct fr_workload_options opt = {.batch = 2, .dtype = FR_N_DTYPES};
    struct fr_graph_totals t;
    struct fr_graph *g = NULL;
    struct fr_error err = {0};

    ck_assert_msg(fr__import_text(&g, &fr__importer_hf_config, cases[_i].text,
                                  strlen(cases[_i].text), "in/tiny/config.json", &opt,
                                  &err) == FR_OK,
                  "%s", err.text);
    fr_graph_totals(g, &t);
    ck_assert_uint_eq(t.params, cases[_i].params);
    ck_assert_uint_eq(t.active_params,
                      cases[_i].params - (strstr(cases[_i].text, "llama4") ? 96u : 0u));
    ck_assert_uint_eq(fr_graph_check(g, NULL, NULL), 0);
    fr_graph_free(g);
}

/* Of 16 patches and 8 tokens with 4 heads of 16, attention sees all 24 positions: 4 x 24^2 x 64. */
TEST(images_and_text_attend_to_each_other)
{
    const struct fr_workload_options opt = {.batch = 1, .dtype = FR_N_DTYPES};
    struct fr_graph *g = NULL;
    struct fr_error err;
    size_t n = 0;

    ck_assert(fr_workload_load(&g,
                               "mmdit:layers=2,heads=4,head_width=16,image=8,text=8,text_width=32,"
                               "pooled=16",
                               &opt, &err) == FR_OK);
    for (size_t o = 0; o < g->n_ops; o++)
        if (g->ops[o].kind == FR_OP_ATTENTION && g->ops[o].phase == FR_PHASE_FORWARD) {
            ck_assert_double_eq(g->ops[o].flops, 4.0 * 24 * 24 * 64);
            n++;
        }
    ck_assert_uint_eq(n, 2);
    fr_graph_free(g);
}

int main(void)
{
    TCase *tc = tcase_create("encoders");

    add_tests(tc);
    return run_case(tc, "workloads/encoders");
}
