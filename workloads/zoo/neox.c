/* workloads/zoo/neox.c - GPT-NeoX and Pythia: decoders whose attention and feed-forward layer read
 * the same input and are added together.
 *
 * S. Black et al., GPT-NeoX-20B: An Open-Source Autoregressive Language Model, 2022, section 2.1;
 * S. Biderman et al., Pythia, ICML 2023, table 1. Layer normalisation first, one for attention and
 * one for the feed-forward layer, biases everywhere but in the output layer, which has weights of
 * its own, rotary positions, no dropout. They turn a part of each head's elements only; that is
 * counted as if all were turned.
 */
#include "config.h"

#include "workloads/zoo/nn_attention.h"
#include "workloads/zoo/zoo.h"

enum neox_key { ATTENTION, LAYERS, HIDDEN, FFN, HEADS, SEQ, VOCAB, PARALLEL };

static const struct fr__model_key keys[] = {
    [ATTENTION] = {FR__ATTENTION_KEY(FR__ATTENTION_FLASH)},
    [LAYERS] = {"layers", 44, 1, 1024, NULL},
    [HIDDEN] = {"hidden", 6144, 1, 1 << 17, NULL},
    [FFN] = {"ffn", 24576, 1, 1 << 19, NULL},
    [HEADS] = {"heads", 64, 1, 1 << 12, NULL},
    [SEQ] = {"seq", 2048, 1, FR__ANY_LENGTH, NULL},
    [VOCAB] = {"vocab", 50432, 2, 1 << 24, NULL},
    [PARALLEL] = {"parallel", 1, 0, 1, NULL},
    {0},
};

static struct fr__value attention(struct fr__net *net, const uint32_t s[],
                                  const struct fr__dot_attention *a, struct fr__value x)
{
    struct fr__value y = fr__nn_layernorm(net, "ln", x);
    struct fr__value q = fr__nn_rotary(net, "q.rotary", fr__nn_dense(net, "q", y, s[HIDDEN]));
    struct fr__value k = fr__nn_rotary(net, "k.rotary", fr__nn_dense(net, "k", y, s[HIDDEN]));
    struct fr__value v = fr__nn_dense(net, "v", y, s[HIDDEN]);

    return fr__nn_dense(net, "out", fr__nn_attend(net, a, q, k, v), s[HIDDEN]);
}

static struct fr__value feed_forward(struct fr__net *net, const uint32_t s[], struct fr__value x)
{
    struct fr__value y = fr__nn_dense(net, "fc1", fr__nn_layernorm(net, "ln", x), s[FFN]);

    return fr__nn_dense(net, "fc2", fr__nn_gelu(net, "gelu", y), s[HIDDEN]);
}

static struct fr__value block(struct fr__net *net, uint32_t layer, const uint32_t s[],
                              const struct fr__dot_attention *a, struct fr__value x)
{
    struct fr__value y, z;

    fr__nn_layer(net, "layer%u.attn", layer);
    y = attention(net, s, a, x);
    if (!s[PARALLEL])
        x = y = fr__nn_add(net, "add", x, y, false);
    fr__nn_layer(net, "layer%u.mlp", layer);
    z = feed_forward(net, s, x);
    if (s[PARALLEL])
        z = fr__nn_add(net, "add_attn", y, z, false);
    return fr__nn_add(net, "add", x, z, false);
}

static void build(struct fr__net *net, const uint32_t s[])
{
    const struct fr__dot_attention a = {.heads = s[HEADS],
                                        .kv_heads = s[HEADS],
                                        .form = (enum fr__attention_form)s[ATTENTION],
                                        .is_causal = true};
    struct fr__value x = fr__nn_tokens(net);

    fr__nn_layer(net, "embed");
    x = fr__nn_embedding(net, "", x, s[VOCAB], s[HIDDEN]);
    for (uint32_t i = 0; i < s[LAYERS]; i++)
        x = block(net, i, s, &a, x);
    fr__nn_layer(net, "final");
    x = fr__nn_layernorm(net, "ln", x);
    fr__nn_layer(net, "head");
    fr__nn_wide(net, true);
    fr__nn_cross_entropy(net, fr__nn_linear(net, "", x, s[VOCAB]));
}

const struct fr__family fr__family_neox = {
    .group = "Transformers",
    .batch = 8,
    .keys = keys,
    .length = "seq",
    .longest = FR__ANY_LENGTH,
    .has_whole_heads = true,
    .build = build,
};
