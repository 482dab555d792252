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
 *
 * With fewer heads of keys and values than of queries (kv_heads; J. Ainslie et al., GQA, EMNLP
 * 2023) the three are projected apart, as a group of queries shares a head of keys and values.
 */
#include "config.h"

#include "base/error.h"
#include "workloads/zoo/nn_attention.h"
#include "workloads/zoo/zoo.h"

enum gpt_key { ATTENTION, LAYERS, HIDDEN, HEADS, SEQ, VOCAB, FFN, KV_HEADS };

static const struct fr__model_key keys[] = {
    [ATTENTION] = {FR__ATTENTION_KEY(FR__ATTENTION_UNFUSED)},
    [LAYERS] = {"layers", 12, 1, 4096, NULL},
    [HIDDEN] = {"hidden", 768, 1, 1 << 17, NULL},
    [HEADS] = {"heads", 12, 1, 1 << 12, NULL},
    [SEQ] = {"seq", 1024, 1, 1 << 20, NULL},
    [VOCAB] = {"vocab", 50257, 2, 1 << 24, NULL},
    [FFN] = {"ffn", 0, 0, 1 << 19, NULL},
    [KV_HEADS] = {"kv_heads", 0, 0, 1 << 12, NULL}, /* 0: as many as heads */
    {0},
};

static struct fr__value attend_grouped(struct fr__net *net, const struct fr__dot_attention *a,
                                       struct fr__value x)
{
    uint32_t hidden = x.t.dims[2], width = hidden / a->heads;
    struct fr__value q = fr__nn_dense(net, "q", x, hidden);
    struct fr__value k = fr__nn_dense(net, "k", x, a->kv_heads * width);
    struct fr__value v = fr__nn_dense(net, "v", x, a->kv_heads * width);

    return fr__nn_attend(net, a, q, k, v);
}

static struct fr__value attention(struct fr__net *net, uint32_t layer,
                                  const struct fr__dot_attention *a, struct fr__value x)
{
    uint32_t hidden = x.t.dims[2];
    struct fr__value y;

    fr__nn_layer(net, "layer%u.attn", layer);
    y = fr__nn_layernorm(net, "ln", x);
    if (a->kv_heads == a->heads)
        y = fr__nn_attend_packed(net, a, fr__nn_dense(net, "qkv", y, 3 * hidden));
    else
        y = attend_grouped(net, a, y);
    y = fr__nn_dense(net, "proj", y, hidden);
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
                                        .kv_heads = s[KV_HEADS] ? s[KV_HEADS] : s[HEADS],
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

static enum fr_status check(const struct fr__model *m, const uint32_t s[], struct fr_error *err)
{
    if (s[KV_HEADS] == 0 || s[HEADS] % s[KV_HEADS] == 0)
        return FR_OK;
    return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                    "model '%s': %u heads are not a multiple of %u heads of keys and values",
                    m->name, s[HEADS], s[KV_HEADS]);
}

const struct fr__family fr__family_gpt = {
    .group = "Transformers",
    .batch = 8,
    .keys = keys,
    .length = "seq",
    .positions = "seq",
    .has_whole_heads = true,
    .check = check,
    .build = build,
};
