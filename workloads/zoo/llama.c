/* workloads/zoo/llama.c - Llama 2 and 3, Mixtral, and decoders of their kind of any size.
 *
 * H. Touvron et al., Llama 2: Open Foundation and Fine-Tuned Chat Models, 2023, table 1 and section
 * 2.2; A. Dubey et al., The Llama 3 Herd of Models, 2024, table 3; widths that the papers leave out
 * are those of the published weights. RMS normalisation first, rotary positions, grouped queries,
 * SwiGLU, no biases, no dropout, an output layer of its own.
 *
 * A. Q. Jiang et al., Mixtral of Experts, 2024, table 1: a Llama decoder whose feed-forward layer
 * is eight experts, two for each token. The paper's context is 32768; 4096 tokens unless told
 * otherwise. No auxiliary loss that balances the load: how even it is, the key skew says.
 *
 * Attention is a flash kernel unless asked otherwise: at 4096 tokens and more nobody trains these
 * models unfused (the scores of one layer of one sample of llama2-7b are 2 GiB in fp32). Rotary
 * positions and the norms are one kernel each.
 *
 * The other options are those of decoders that came after: decoder.h names what each sets, and
 * doc/workloads.md which family of models has it.
 */
#include "config.h"

#include "workloads/zoo/decoder.h"
#include "workloads/zoo/nn_moe.h"
#include "workloads/zoo/zoo.h"

#include <string.h>

enum { MIN_EXPERTS = 1, MOST_WIDE = 1 << 19 };

static const char *const norms[] = {
    [FR__NORMS_PRE] = "pre", [FR__NORMS_BOTH] = "both", [FR__NORMS_POST] = "post", NULL};

static const struct fr__model_key keys[] = {
    [FR__D_ATTENTION] = {FR__ATTENTION_KEY(FR__ATTENTION_FLASH)},
    [FR__D_LAYERS] = {"layers", 32, 1, 1024, NULL},
    [FR__D_HIDDEN] = {"hidden", 4096, 1, 1 << 17, NULL},
    [FR__D_FFN] = {"ffn", 11008, 1, MOST_WIDE, NULL},
    [FR__D_HEADS] = {"heads", 32, 1, 1 << 12, NULL},
    [FR__D_KV_HEADS] = {"kv_heads", 32, 1, 1 << 12, NULL},
    [FR__D_SEQ] = {"seq", 4096, 1, FR__ANY_LENGTH, NULL},
    [FR__D_VOCAB] = {"vocab", 32000, 2, 1 << 24, NULL},
    [FR__D_HEAD_WIDTH] = {"head_width", 0, 0, 1 << 16, NULL},
    [FR__D_TIED] = {"tied", 0, 0, 1, NULL},
    [FR__D_QKV_BIAS] = {"qkv_bias", 0, 0, 1, NULL},
    [FR__D_QK_NORM] = {"qk_norm", 0, 0, FR__QK_NORM_PLAIN, NULL},
    [FR__D_EXPERTS] = {"experts", 0, MIN_EXPERTS, FR__MAX_EXPERTS, NULL},
    [FR__D_CHOSEN] = {"chosen", 2, 1, FR__MAX_EXPERTS, NULL},
    [FR__D_SHARED] = {"shared", 0, 0, MOST_WIDE, NULL},
    [FR__D_SKEW] = {"skew", 0, 0, 100, NULL},
    [FR__D_O_BIAS] = {"o_bias", 0, 0, 1, NULL},
    [FR__D_MLP_BIAS] = {"mlp_bias", 0, 0, 1, NULL},
    [FR__D_EXPERT_BIAS] = {"expert_bias", 0, 0, 1, NULL},
    [FR__D_ROUTER_BIAS] = {"router_bias", 0, 0, 1, NULL},
    [FR__D_FUSED] = {"fused", 0, 0, 1, NULL},
    [FR__D_NORMS] = {"norms", FR__NORMS_PRE, 0, 0, norms},
    [FR__D_PLAIN_NORM] = {"plain_norm", 0, 0, 2, NULL},
    [FR__D_ACT] = {"act", FR__ACT_SILU, 0, 0, fr__activations},
    [FR__D_PLAIN_MLP] = {"plain_mlp", 0, 0, 1, NULL},
    [FR__D_NO_MLP] = {"no_mlp", 0, 0, 1, NULL},
    [FR__D_MIXERS] = {"mixers", 0, 0, 0, NULL},
    [FR__D_FULL_EVERY] = {"full_every", 0, 0, 1024, NULL},
    [FR__D_FULL_AT] = {"full_at", FR__D_LAST, 0, FR__D_LAST, NULL},
    [FR__D_WINDOW] = {"window", 0, 0, FR__ANY_LENGTH, NULL},
    [FR__D_ROTARY] = {"rotary", 100, 0, 100, NULL},
    [FR__D_SINKS] = {"sinks", 0, 0, 1, NULL},
    [FR__D_CAPPED] = {"capped", 0, 0, 1, NULL},
    [FR__D_HEAD_CAP] = {"head_cap", 0, 0, 1, NULL},
    [FR__D_OUT_GATE] = {"out_gate", 0, 0, 1, NULL},
    [FR__D_EMBED_SCALE] = {"embed_scale", 0, 0, 1, NULL},
    [FR__D_RESIDUAL_SCALE] = {"residual_scale", 0, 0, 1, NULL},
    [FR__D_HEAD_SCALE] = {"head_scale", 0, 0, 1, NULL},
    [FR__D_EXPERT_FFN] = {"expert_ffn", 0, 0, MOST_WIDE, NULL},
    [FR__D_SHARED_EXPERTS] = {"shared_experts", 0, 0, 64, NULL},
    [FR__D_DENSE_FIRST] = {"dense_first", 0, 0, 1024, NULL},
    [FR__D_EXPERTS_EVERY] = {"experts_every", 1, 1, 1024, NULL},
    [FR__D_EXPERTS_AT] = {"experts_at", FR__D_LAST, 0, FR__D_LAST, NULL},
    [FR__D_ROUTER] = {"router", FR__ROUTER_TOPK, 0, 0, fr__routers},
    [FR__D_GROUPS] = {"groups", 0, 0, FR__MAX_EXPERTS, NULL},
    [FR__D_Q_RANK] = {"q_rank", 0, 0, 1 << 16, NULL},
    [FR__D_KV_RANK] = {"kv_rank", 0, 0, 1 << 16, NULL},
    [FR__D_ROPE_WIDTH] = {"rope_width", 64, 1, 1 << 12, NULL},
    [FR__D_NOPE_WIDTH] = {"nope_width", 128, 1, 1 << 12, NULL},
    [FR__D_VALUE_WIDTH] = {"value_width", 128, 1, 1 << 12, NULL},
    [FR__D_SEES_BOTH] = {"sees_both", 0, 0, 1, NULL},
    [FR__D_EMBED_NORM] = {"embed_norm", 0, 0, 1, NULL},
    [FR__D_WORDS_HEAD] = {"words_head", 0, 0, 1, NULL},
    [FR__D_MTP] = {"mtp", 0, 0, 8, NULL},
    [FR__D_SSM_HEADS] = {"ssm_heads", 64, 1, 1 << 12, NULL},
    [FR__D_SSM_WIDTH] = {"ssm_width", 64, 1, 1 << 12, NULL},
    [FR__D_SSM_STATE] = {"ssm_state", 128, 1, 1 << 12, NULL},
    [FR__D_SSM_GROUPS] = {"ssm_groups", 1, 1, 1 << 12, NULL},
    [FR__D_SSM_CONV] = {"ssm_conv", 4, 1, 64, NULL},
    [FR__D_SSM_CONV_BIAS] = {"ssm_conv_bias", 1, 0, 1, NULL},
    [FR__D_SSM_CHUNK] = {"ssm_chunk", 256, 1, 1 << 16, NULL},
    [FR__D_SSM_NORM] = {"ssm_norm", 1, 0, 1, NULL},
    [FR__D_SSM_EXPAND] = {"ssm_expand", 2, 1, 16, NULL},
    [FR__D_DT_RANK] = {"dt_rank", 256, 1, 1 << 16, NULL},
    [FR__D_IMAGE_LAYERS] = {"image_layers", 0, 0, 1024, NULL},
    [FR__D_IMAGE_HIDDEN] = {"image_hidden", 1408, 1, 1 << 17, NULL},
    [FR__D_IMAGE_FFN] = {"image_ffn", 5632, 1, MOST_WIDE, NULL},
    [FR__D_IMAGE_HEADS] = {"image_heads", 16, 1, 1 << 12, NULL},
    [FR__D_IMAGE] = {"image", 336, 1, 1 << 14, NULL},
    [FR__D_PATCH] = {"patch", 14, 1, 1 << 12, NULL},
    [FR__D_SHUFFLE] = {"shuffle", 2, 1, 16, NULL},
    [FR__D_IMAGE_WIDTH] = {"image_width", 4096, 1, 1 << 17, NULL},
    [FR__D_N_KEYS] = {0},
};

/* ---- what goes together ---- */

/* The busiest expert can get each token once only. */
static enum fr_status check_experts(const struct fr__model *m, const uint32_t s[],
                                    struct fr_error *err)
{
    double harmonic = 0, skew = s[FR__D_SKEW] / 100.0;

    if (s[FR__D_CHOSEN] > s[FR__D_EXPERTS])
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "model '%s': a token cannot visit %u of %u experts", m->name,
                        s[FR__D_CHOSEN], s[FR__D_EXPERTS]);
    for (uint32_t e = 1; e <= s[FR__D_EXPERTS]; e++)
        harmonic += 1.0 / e;
    if (((1 - skew) / s[FR__D_EXPERTS] + skew / harmonic) * s[FR__D_CHOSEN] <= 1)
        return FR_OK;
    return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                    "model '%s': with skew=%u the busiest of %u experts would get more than all "
                    "tokens, of which each visits %u",
                    m->name, s[FR__D_SKEW], s[FR__D_EXPERTS], s[FR__D_CHOSEN]);
}

/* Groups of state spaces are shared by whole heads, and a gated norm has as many groups. */
static enum fr_status check_mixers(const struct fr__model *m, const uint32_t s[],
                                   struct fr_error *err)
{
    bool has_groups = false;

    for (uint32_t i = 0; i < s[FR__D_MIXERS]; i++)
        has_groups |= strchr("mdp", fr__model_letter(s, s[FR__D_MIXERS], i)) != NULL;
    if (has_groups && s[FR__D_SSM_HEADS] % s[FR__D_SSM_GROUPS] != 0)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "model '%s': %u heads of a state space are not a multiple of %u groups",
                        m->name, s[FR__D_SSM_HEADS], s[FR__D_SSM_GROUPS]);
    if (s[FR__D_GROUPS] > 1 && s[FR__D_EXPERTS] % s[FR__D_GROUPS] != 0)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "model '%s': %u experts are not a multiple of %u groups", m->name,
                        s[FR__D_EXPERTS], s[FR__D_GROUPS]);
    return FR_OK;
}

static enum fr_status check_images(const struct fr__model *m, const uint32_t s[],
                                   struct fr_error *err)
{
    uint32_t grain = s[FR__D_PATCH] * s[FR__D_SHUFFLE];

    if (s[FR__D_IMAGE] % grain != 0)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "model '%s': the side of images, %u, is not a multiple of %u pixels",
                        m->name, s[FR__D_IMAGE], grain);
    return fr__check_heads(m->name, s[FR__D_IMAGE_HIDDEN], s[FR__D_IMAGE_HEADS], err);
}

static enum fr_status check(const struct fr__model *m, const uint32_t s[], struct fr_error *err)
{
    if (s[FR__D_IMAGE_LAYERS])
        FR_TRY(check_images(m, s, err));
    if (s[FR__D_EXPERTS])
        FR_TRY(check_experts(m, s, err));
    if (!s[FR__D_HEAD_WIDTH])
        FR_TRY(fr__check_heads(m->name, s[FR__D_HIDDEN], s[FR__D_HEADS], err));
    FR_TRY(check_mixers(m, s, err));
    if (s[FR__D_HEADS] % s[FR__D_KV_HEADS] != 0)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "model '%s': %u heads are not a multiple of %u heads of keys and values",
                        m->name, s[FR__D_HEADS], s[FR__D_KV_HEADS]);
    return FR_OK;
}

const struct fr__family fr__family_llama = {
    .group = "Transformers",
    .batch = 8,
    .keys = keys,
    .length = "seq",
    .longest = FR__ANY_LENGTH,
    .letters_key = "mixers",
    .letters = "fwncmsdp-e",
    .check = check,
    .build = fr__decoder_build,
};
