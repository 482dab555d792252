/* workloads/zoo/gpt.c - GPT-2, GPT-3 and decoders of their kind of any size.
 *
 * A. Radford et al., Language Models are Unsupervised Multitask Learners, 2019 (GPT-2: sizes, layer
 * normalisation first, learned positions, output weights tied to the embedding); T. Brown et al.,
 * Language Models are Few-Shot Learners, NeurIPS 2020, table 2.1 (GPT-3; its alternating sparse
 * attention is left out). Op by op as in Hugging Face Transformers (models/gpt2/modeling_gpt2.py)
 * with attention scores written to memory unless asked otherwise, dropout as trained; the loss
 * takes every token, where the Transformers' shifts out the last one of a sequence.
 *
 * Table 2.1 contradicts itself twice: heads times head width is 24 * 128 for the 1.3B model of
 * width 2048, and 40 * 128 = 5120 for the 13B model of width 5140. Here the width of a head stands:
 * 16 heads of 128, and a width of 5120, which is what OPT took over (S. Zhang et al., 2022, table
 * 1).
 */
#include "config.h"

#include "workloads/zoo/nn_attention.h"
#include "workloads/zoo/zoo.h"

enum gpt_key { ATTENTION, LAYERS, HIDDEN, HEADS, SEQ, VOCAB, FFN };

static const struct fr__model_key keys[] = {
    [ATTENTION] = {FR__ATTENTION_KEY(FR__ATTENTION_UNFUSED)},
    [LAYERS] = {"layers", 12, 1, 4096, NULL},
    [HIDDEN] = {"hidden", 768, 1, 1 << 17, NULL},
    [HEADS] = {"heads", 12, 1, 1 << 12, NULL},
    [SEQ] = {"seq", 1024, 1, 1 << 20, NULL},
    [VOCAB] = {"vocab", 50257, 2, 1 << 24, NULL},
    [FFN] = {"ffn", 0, 0, 1 << 19, NULL},
    {0},
};

static struct fr__value attention(struct fr__net *net, uint32_t layer,
                                  const struct fr__dot_attention *a, struct fr__value x)
{
    uint32_t hidden = x.t.dims[2];
    struct fr__value y;

    fr__nn_layer(net, "layer%u.attn", layer);
    y = fr__nn_dense(net, "qkv", fr__nn_layernorm(net, "ln", x), 3 * hidden);
    y = fr__nn_dense(net, "proj", fr__nn_attend_packed(net, a, y), hidden);
    return fr__nn_add(net, "add", x, fr__nn_dropout(net, "proj.dropout", y), false);
}

static struct fr__value mlp(struct fr__net *net, uint32_t layer, uint32_t ffn, struct fr__value x)
{
    uint32_t hidden = x.t.dims[2];
    struct fr__value y;

    fr__nn_layer(net, "layer%u.mlp", layer);
    y = fr__nn_layernorm(net, "ln", x);
    y = fr__nn_gelu(net, "gelu", fr__nn_dense(net, "fc1", y, ffn ? ffn : 4 * hidden));
    y = fr__nn_dense(net, "fc2", y, hidden);
    return fr__nn_add(net, "add", x, fr__nn_dropout(net, "dropout", y), false);
}

/* The table of positions has as many rows as the longest sequence; a step uses the first
 * net->seq_len. */
static void build(struct fr__net *net, const uint32_t s[])
{
    const struct fr__dot_attention a = {.heads = s[HEADS],
                                        .kv_heads = s[HEADS],
                                        .form = (enum fr__attention_form)s[ATTENTION],
                                        .is_causal = true,
                                        .has_dropout = true};
    struct fr__value tokens = fr__nn_tokens(net), table, x;

    fr__nn_layer(net, "embed");
    table = fr__nn_embedding(net, "tokens", tokens, s[VOCAB], s[HIDDEN]);
    x = fr__nn_embedding(net, "positions", fr__nn_positions(net, "index"), s[SEQ], s[HIDDEN]);
    x = fr__nn_dropout(net, "dropout", fr__nn_add(net, "add", table, x, false));
    for (uint32_t i = 0; i < s[LAYERS]; i++)
        x = mlp(net, i, s[FFN], attention(net, i, &a, x));
    fr__nn_layer(net, "final");
    x = fr__nn_layernorm(net, "ln", x);
    fr__nn_layer(net, "head");
    fr__nn_wide(net, true);
    fr__nn_cross_entropy(net, fr__nn_tied_linear(net, "", x, table, s[VOCAB]));
}

const struct fr__family fr__family_gpt = {
    .group = "Transformers",
    .batch = 8,
    .keys = keys,
    .length = "seq",
    .positions = "seq",
    .has_whole_heads = true,
    .build = build,
};
