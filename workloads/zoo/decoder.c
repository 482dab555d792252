/* workloads/zoo/decoder.c - the layers of a decoder, its head, and what predicts further tokens. */
#include "config.h"

#include "workloads/zoo/decoder.h"

#include "workloads/zoo/nn_encoder.h"
#include "workloads/zoo/nn_moe.h"
#include "workloads/zoo/zoo.h"

#include <stdio.h>

/* ---- which layer is what ---- */

static char mixer_of(const uint32_t s[], uint32_t layer)
{
    uint32_t n = s[FR__D_MIXERS], every = s[FR__D_FULL_EVERY];
    uint32_t at = s[FR__D_FULL_AT] == FR__D_LAST ? every - 1 : s[FR__D_FULL_AT];

    if (n <= 1 && every > 0 && layer % every == at % every)
        return 'f';
    return n ? fr__model_letter(s, n, layer) : 'f';
}

static bool has_experts(const uint32_t s[], uint32_t layer)
{
    uint32_t every = s[FR__D_EXPERTS_EVERY];
    uint32_t at = s[FR__D_EXPERTS_AT] == FR__D_LAST ? every - 1 : s[FR__D_EXPERTS_AT];

    return s[FR__D_EXPERTS] && layer >= s[FR__D_DENSE_FIRST] && layer % every == at % every;
}

/* ---- the feed-forward layer ---- */

static struct fr__mlp mlp_of(const uint32_t s[], uint32_t width, bool has_bias)
{
    return (struct fr__mlp){.width = width,
                            .act = (enum fr__activation)s[FR__D_ACT],
                            .is_plain = s[FR__D_PLAIN_MLP],
                            .has_bias = has_bias,
                            .gate = "gate",
                            .up = "up",
                            .down = "down",
                            .inside_prefix = ""};
}

static struct fr__value dense_mlp(struct fr__net *net, const uint32_t s[], struct fr__value x)
{
    struct fr__mlp m = mlp_of(s, s[FR__D_FFN], s[FR__D_MLP_BIAS]);

    m.is_fused = s[FR__D_FUSED];
    return fr__nn_mlp(net, &m, x);
}

static struct fr__mlp expert_of(const uint32_t s[], uint32_t width, bool is_shared)
{
    struct fr__mlp m = mlp_of(s, width, s[FR__D_EXPERT_BIAS]);

    m.gate = is_shared ? "shared.w1" : "w1";
    m.up = is_shared ? "shared.w3" : "w3";
    m.down = is_shared ? "shared.w2" : "w2";
    m.inside_prefix = is_shared ? "shared." : "";
    return m;
}

static uint32_t expert_width(const uint32_t s[])
{
    return s[FR__D_EXPERT_FFN] ? s[FR__D_EXPERT_FFN] : s[FR__D_FFN];
}

/* The expert that all tokens visit behind a gate of its own (A. Yang et al., Qwen2 Technical
 * Report, 2024, section 2.2.2, as in Hugging Face Transformers). */
static struct fr__value gated_expert(struct fr__net *net, const uint32_t s[], struct fr__value x)
{
    const struct fr__mlp m = expert_of(s, s[FR__D_SHARED], true);
    struct fr__value y = fr__nn_mlp_inside(net, &m, x), gate;

    gate = fr__nn_sigmoid(net, "shared.sigmoid", fr__nn_linear(net, "shared.gate", x, 1));
    return fr__nn_mul(net, "shared.weight", fr__nn_linear(net, m.down, y, x.t.dims[2]), gate);
}

/* Without a gate; several are one of their width together (D. Dai et al., DeepSeekMoE, 2024,
 * section 3.2). */
static struct fr__value shared_experts(struct fr__net *net, const uint32_t s[], struct fr__value x)
{
    const struct fr__mlp m = expert_of(s, s[FR__D_SHARED_EXPERTS] * expert_width(s), true);

    return fr__nn_mlp(net, &m, x);
}

static struct fr__value experts(struct fr__net *net, const uint32_t s[], const char *layer,
                                struct fr__value x)
{
    const struct fr__moe moe = {.n_experts = s[FR__D_EXPERTS],
                                .n_chosen = s[FR__D_CHOSEN],
                                .skew_percent = s[FR__D_SKEW],
                                .router = (enum fr__router)s[FR__D_ROUTER],
                                .has_router_bias = s[FR__D_ROUTER_BIAS],
                                .n_groups = s[FR__D_GROUPS],
                                .expert = expert_of(s, expert_width(s), false)};
    struct fr__value y = fr__nn_moe(net, layer, &moe, x);

    if (s[FR__D_SHARED])
        y = fr__nn_add(net, "shared.add", y, gated_expert(net, s, x), false);
    if (s[FR__D_SHARED_EXPERTS])
        y = fr__nn_add(net, "shared.add", y, shared_experts(net, s, x), false);
    return y;
}

/* ---- layers ---- */

/* x and what a sublayer makes of it. */
static struct fr__value add_residual(struct fr__net *net, const uint32_t s[], struct fr__value x,
                                     struct fr__value y)
{
    if (s[FR__D_NORMS] != FR__NORMS_PRE)
        y = fr__decoder_norm(net, "post.norm", s, y);
    if (s[FR__D_RESIDUAL_SCALE])
        y = fr__nn_scale(net, "scale", y);
    return fr__nn_add(net, "add", x, y, false);
}

static struct fr__value norm_first(struct fr__net *net, const uint32_t s[], struct fr__value x)
{
    return s[FR__D_NORMS] == FR__NORMS_POST ? x : fr__decoder_norm(net, "norm", s, x);
}

static struct fr__value mix(struct fr__net *net, const uint32_t s[], char letter,
                            struct fr__value y)
{
    struct fr__value z;

    switch (letter) {
    case 'm':
        return fr__decoder_mamba2(net, s, y);
    case 's':
        return fr__decoder_mamba(net, s, y);
    case 'd':
        return fr__decoder_delta(net, s, y);
    case 'p':
        z = fr__decoder_mamba2(net, s, y);
        return fr__nn_add(net, "both", z, fr__decoder_attend(net, s, 'f', y), false);
    default:
        return fr__decoder_attend(net, s, letter, y);
    }
}

/* is_normed: what it reads is normalised already. */
static struct fr__value mixer(struct fr__net *net, const uint32_t s[], const char *name,
                              char letter, bool is_normed, struct fr__value x)
{
    fr__nn_layer(net, "%s.%s", name,
                 letter == 'm' || letter == 's' ? "mamba"
                 : letter == 'd'                ? "delta"
                                                : "attn");
    return add_residual(net, s, x, mix(net, s, letter, is_normed ? x : norm_first(net, s, x)));
}

static struct fr__value feed_forward(struct fr__net *net, const uint32_t s[], const char *name,
                                     bool is_sparse, struct fr__value x)
{
    char layer[48];
    struct fr__value y;

    snprintf(layer, sizeof(layer), "%s.mlp", name);
    fr__nn_layer(net, "%s", layer);
    y = norm_first(net, s, x);
    y = is_sparse ? experts(net, s, layer, y) : dense_mlp(net, s, y);
    return add_residual(net, s, x, y);
}

/* Where a pattern has layers of a feed-forward layer alone, those with a mixer have none. */
static bool has_mlp(const uint32_t s[], char letter)
{
    bool is_apart = false;

    for (uint32_t i = 0; i < s[FR__D_MIXERS]; i++) {
        char other = fr__model_letter(s, s[FR__D_MIXERS], i);

        is_apart = is_apart || other == '-' || other == 'e';
    }
    return letter == '-' || letter == 'e' || (!is_apart && !s[FR__D_NO_MLP]);
}

static struct fr__value layer(struct fr__net *net, const uint32_t s[], const char *name,
                              uint32_t number, struct fr__value x)
{
    char letter = mixer_of(s, number);

    if (letter != '-' && letter != 'e')
        x = mixer(net, s, name, letter, s[FR__D_EMBED_NORM] && number == 0, x);
    if (has_mlp(s, letter))
        x = feed_forward(net, s, name, letter == 'e' || (letter != '-' && has_experts(s, number)),
                         x);
    return x;
}

/* ---- the head ---- */

/* The product with the vocabulary. owner: the op whose weights it uses; NULL: it has its own. */
static struct fr__value logits(struct fr__net *net, const uint32_t s[],
                               const struct fr__value *owner, struct fr__value x)
{
    struct fr__value y;

    fr__nn_wide(net, true);
    y = owner ? fr__nn_tied_linear(net, "", x, *owner, s[FR__D_VOCAB])
              : fr__nn_linear(net, "", x, s[FR__D_VOCAB]);
    fr__nn_wide(net, false);
    return y;
}

/* What stands in front of the head of an encoder that predicts masked words (B. Warner et al.,
 * ModernBERT, 2024, as in Hugging Face Transformers). All positions are predicted. */
static struct fr__value prepare(struct fr__net *net, const uint32_t s[], struct fr__value x)
{
    if (!s[FR__D_WORDS_HEAD])
        return x;
    x = fr__nn_gelu(net, "gelu", fr__nn_linear(net, "fc", x, s[FR__D_HIDDEN]));
    return fr__decoder_norm(net, "norm", s, x);
}

static struct fr__value settle(struct fr__net *net, const uint32_t s[], struct fr__value y)
{
    if (s[FR__D_WORDS_HEAD])
        y = fr__nn_bias(net, "bias", y);
    if (s[FR__D_HEAD_SCALE])
        y = fr__nn_scale(net, "scale", y);
    return s[FR__D_HEAD_CAP] ? fr__nn_cap(net, "cap", y) : y;
}

/* A module that predicts one token more: the layer before it and the embedding of the next token,
 * each normalised, side by side through a product, a layer of the model, and the model's own head
 * (DeepSeek-AI, DeepSeek-V3, 2024, section 2.2). It stands behind the head, so that a pipeline has
 * it in its last stage, as the paper and Megatron-LM do (multi_token_prediction.py). */
static struct fr__value predict_more(struct fr__net *net, const uint32_t s[], uint32_t depth,
                                     const struct fr__value owners[2], struct fr__value x)
{
    struct fr__value y;
    char name[32], loss[48];

    fr__nn_layer(net, "mtp%u.embed", depth);
    y = fr__nn_indices(net, "tokens", net->seq_len);
    y = fr__nn_tied_embedding(net, "", y, owners[0], s[FR__D_VOCAB]);
    y = fr__decoder_norm(net, "enorm", s, y);
    x = fr__decoder_norm(net, "hnorm", s, x);
    x = fr__nn_linear(net, "proj", fr__nn_join_columns(net, "join", y, x), s[FR__D_HIDDEN]);
    snprintf(name, sizeof(name), "mtp%u", depth);
    x = layer(net, s, name, s[FR__D_LAYERS] - 1, x);
    fr__nn_layer(net, "mtp%u.final", depth);
    y = fr__decoder_norm(net, "norm", s, x);
    fr__nn_layer(net, "mtp%u.head", depth);
    y = settle(net, s, logits(net, s, &owners[1], y));
    snprintf(loss, sizeof(loss), "mtp%u.loss", depth);
    fr__nn_loss_of(net, loss, y);
    return x;
}

/* ---- the whole ---- */

static struct fr__value embed(struct fr__net *net, const uint32_t s[], struct fr__value *table)
{
    uint32_t n_seen = fr__decoder_image_tokens(s);
    struct fr__value image, x;

    if (n_seen)
        image = fr__decoder_see(net, s);
    fr__nn_layer(net, n_seen ? "input.text" : "input");
    x = fr__nn_indices(net, "", net->seq_len - n_seen);
    fr__nn_layer(net, "embed");
    x = *table = fr__nn_embedding(net, "", x, s[FR__D_VOCAB], s[FR__D_HIDDEN]);
    if (n_seen)
        x = fr__nn_join_rows(net, "join", image, x);
    if (s[FR__D_EMBED_NORM])
        x = fr__decoder_norm(net, "norm", s, x);
    return s[FR__D_EMBED_SCALE] ? fr__nn_scale(net, "scale", x) : x;
}

void fr__decoder_build(struct fr__net *net, const uint32_t s[])
{
    struct fr__value owners[2], x, last, y;
    char name[32];

    if (s[FR__D_EXPERTS] && (uint64_t)net->seq_len * s[FR__D_CHOSEN] < s[FR__D_EXPERTS]) {
        fr__nn_fault(net, "sequences of %u tokens are too short for %u experts, a token each",
                     net->seq_len, s[FR__D_EXPERTS]);
        return;
    }
    if (fr__decoder_image_tokens(s) >= net->seq_len) {
        fr__nn_fault(net, "an image has %u tokens, so a sequence of %u has no text",
                     fr__decoder_image_tokens(s), net->seq_len);
        return;
    }
    x = embed(net, s, &owners[0]);
    for (uint32_t i = 0; i < s[FR__D_LAYERS]; i++) {
        snprintf(name, sizeof(name), "layer%u", i);
        x = layer(net, s, name, i, x);
    }
    last = x;
    fr__nn_layer(net, "final");
    x = fr__decoder_norm(net, "norm", s, x);
    fr__nn_layer(net, "head");
    x = prepare(net, s, x);
    y = logits(net, s, s[FR__D_TIED] ? &owners[0] : NULL, x);
    owners[1] = s[FR__D_TIED] ? owners[0] : y;
    fr__nn_cross_entropy(net, settle(net, s, y));
    for (uint32_t i = 0; i < s[FR__D_MTP]; i++)
        last = predict_more(net, s, i, owners, last);
}
