/* workloads/zoo/t5.c - T5: an encoder and a decoder with relative positions.
 *
 * C. Raffel et al., Exploring the Limits of Transfer Learning with a Unified Text-to-Text
 * Transformer, JMLR 21, 2020, section 2.1 and table 14 (sizes). Op by op as in Hugging Face
 * Transformers (models/t5/modeling_t5.py): a root-mean-square norm in front of each block, no
 * biases, scores that are not scaled but get a learned number a head for each bucket of distances,
 * one table of them for the encoder and one for the decoder. Version 1.1 and FLAN-T5 have a gated
 * GELU and an output layer of their own. Source and target are of the same length.
 */
#include "config.h"

#include "workloads/zoo/nn_attention.h"
#include "workloads/zoo/zoo.h"

enum t5_key {
    LAYERS,
    DECODER_LAYERS,
    HIDDEN,
    FFN,
    HEADS,
    HEAD_WIDTH,
    SEQ,
    VOCAB,
    BUCKETS,
    GATED,
    TIED
};

static const struct fr__model_key keys[] = {
    [LAYERS] = {"layers", 6, 1, 1024, NULL},
    [DECODER_LAYERS] = {"decoder_layers", 0, 0, 1024, NULL},
    [HIDDEN] = {"hidden", 512, 1, 1 << 17, NULL},
    [FFN] = {"ffn", 2048, 1, 1 << 19, NULL},
    [HEADS] = {"heads", 8, 1, 1 << 12, NULL},
    [HEAD_WIDTH] = {"head_width", 64, 1, 1 << 16, NULL},
    [SEQ] = {"seq", 512, 1, FR__ANY_LENGTH, NULL},
    [VOCAB] = {"vocab", 32128, 2, 1 << 24, NULL},
    [BUCKETS] = {"buckets", 32, 1, 1 << 16, NULL},
    [GATED] = {"gated", 0, 0, 1, NULL},
    [TIED] = {"tied", 1, 0, 1, NULL},
    {0},
};

/* Queries from x, keys and values from memory, which is normalised already. */
static struct fr__value attention(struct fr__net *net, const uint32_t s[],
                                  const struct fr__value *bias, bool is_causal, struct fr__value x,
                                  const struct fr__value *memory)
{
    const struct fr__dot_attention a = {.heads = s[HEADS],
                                        .kv_heads = s[HEADS],
                                        .form = FR__ATTENTION_UNFUSED,
                                        .is_causal = is_causal,
                                        .has_dropout = true,
                                        .is_unscaled = true,
                                        .bias = bias};
    uint32_t width = s[HEADS] * s[HEAD_WIDTH];
    struct fr__value y = fr__nn_rmsnorm(net, "norm", x);
    struct fr__value from = memory ? *memory : y;
    struct fr__value q = fr__nn_linear(net, "q", y, width);
    struct fr__value k = fr__nn_linear(net, "k", from, width);
    struct fr__value v = fr__nn_linear(net, "v", from, width);

    y = fr__nn_linear(net, "out", fr__nn_attend(net, &a, q, k, v), s[HIDDEN]);
    return fr__nn_add(net, "add", x, fr__nn_dropout(net, "out.dropout", y), false);
}

static struct fr__value feed_forward(struct fr__net *net, const uint32_t s[], struct fr__value x)
{
    struct fr__value y = fr__nn_rmsnorm(net, "norm", x), z;

    if (s[GATED]) {
        z = fr__nn_gelu(net, "gelu", fr__nn_linear(net, "wi0", y, s[FFN]));
        z = fr__nn_mul(net, "mul", z, fr__nn_linear(net, "wi1", y, s[FFN]));
    } else {
        z = fr__nn_relu(net, "relu", fr__nn_linear(net, "wi", y, s[FFN]));
    }
    z = fr__nn_linear(net, "wo", fr__nn_dropout(net, "dropout", z), s[HIDDEN]);
    return fr__nn_add(net, "add", x, fr__nn_dropout(net, "out.dropout", z), false);
}

static struct fr__value finish(struct fr__net *net, const char *layer, struct fr__value x)
{
    fr__nn_layer(net, "%s.final", layer);
    return fr__nn_dropout(net, "dropout", fr__nn_rmsnorm(net, "norm", x));
}

static struct fr__value encode(struct fr__net *net, const uint32_t s[], struct fr__value x)
{
    struct fr__value bias;

    fr__nn_layer(net, "encoder.positions");
    bias = fr__nn_relative_positions(net, "", s[BUCKETS], s[HEADS]);
    for (uint32_t i = 0; i < s[LAYERS]; i++) {
        fr__nn_layer(net, "encoder%u.attn", i);
        x = attention(net, s, &bias, false, x, NULL);
        fr__nn_layer(net, "encoder%u.ffn", i);
        x = feed_forward(net, s, x);
    }
    return finish(net, "encoder", x);
}

static struct fr__value decode(struct fr__net *net, const uint32_t s[], struct fr__value x,
                               const struct fr__value *memory)
{
    uint32_t n_layers = s[DECODER_LAYERS] ? s[DECODER_LAYERS] : s[LAYERS];
    struct fr__value bias;

    fr__nn_layer(net, "decoder.positions");
    bias = fr__nn_relative_positions(net, "", s[BUCKETS], s[HEADS]);
    for (uint32_t i = 0; i < n_layers; i++) {
        fr__nn_layer(net, "decoder%u.attn", i);
        x = attention(net, s, &bias, true, x, NULL);
        fr__nn_layer(net, "decoder%u.cross", i);
        x = attention(net, s, NULL, false, x, memory);
        fr__nn_layer(net, "decoder%u.ffn", i);
        x = feed_forward(net, s, x);
    }
    return finish(net, "decoder", x);
}

static void build(struct fr__net *net, const uint32_t s[])
{
    struct fr__value source, target, table, memory, x;

    fr__nn_layer(net, "input");
    source = fr__nn_indices(net, "source", net->seq_len);
    target = fr__nn_indices(net, "target", net->seq_len);
    fr__nn_layer(net, "encoder.embed");
    table = fr__nn_embedding(net, "words", source, s[VOCAB], s[HIDDEN]);
    memory = encode(net, s, fr__nn_dropout(net, "dropout", table));
    fr__nn_layer(net, "decoder.embed");
    x = fr__nn_tied_embedding(net, "words", target, table, s[VOCAB]);
    x = decode(net, s, fr__nn_dropout(net, "dropout", x), &memory);
    fr__nn_layer(net, "head");
    fr__nn_wide(net, true);
    if (s[TIED])
        x = fr__nn_tied_linear(net, "", fr__nn_scale(net, "scale", x), table, s[VOCAB]);
    else
        x = fr__nn_linear(net, "", x, s[VOCAB]);
    fr__nn_cross_entropy(net, x);
}

const struct fr__family fr__family_t5 = {
    .group = "Transformers",
    .batch = 8,
    .keys = keys,
    .length = "seq",
    .longest = FR__ANY_LENGTH,
    .build = build,
};
