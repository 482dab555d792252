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

struct neox_shape {
    uint32_t layers, hidden, ffn, heads, vocab;
    bool is_parallel; /* x + attention(x) + feed-forward(x); else one after the other */
};

static const struct fr__model_key keys[] = {
    [ATTENTION] = {FR__ATTENTION_KEY(FR__ATTENTION_FLASH)},
    {0},
};

static const struct fr__model_key free_keys[] = {
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

static struct fr__value attention(struct fr__net *net, const struct neox_shape *s,
                                  const struct fr__dot_attention *a, struct fr__value x)
{
    struct fr__value y = fr__nn_layernorm(net, "ln", x);
    struct fr__value q = fr__nn_rotary(net, "q.rotary", fr__nn_dense(net, "q", y, s->hidden));
    struct fr__value k = fr__nn_rotary(net, "k.rotary", fr__nn_dense(net, "k", y, s->hidden));
    struct fr__value v = fr__nn_dense(net, "v", y, s->hidden);

    return fr__nn_dense(net, "out", fr__nn_attend(net, a, q, k, v), s->hidden);
}

static struct fr__value feed_forward(struct fr__net *net, const struct neox_shape *s,
                                     struct fr__value x)
{
    struct fr__value y = fr__nn_dense(net, "fc1", fr__nn_layernorm(net, "ln", x), s->ffn);

    return fr__nn_dense(net, "fc2", fr__nn_gelu(net, "gelu", y), s->hidden);
}

static struct fr__value block(struct fr__net *net, uint32_t layer, const struct neox_shape *s,
                              const struct fr__dot_attention *a, struct fr__value x)
{
    struct fr__value y, z;

    fr__nn_layer(net, "layer%u.attn", layer);
    y = attention(net, s, a, x);
    if (!s->is_parallel)
        x = y = fr__nn_add(net, "add", x, y, false);
    fr__nn_layer(net, "layer%u.mlp", layer);
    z = feed_forward(net, s, x);
    if (s->is_parallel)
        z = fr__nn_add(net, "add_attn", y, z, false);
    return fr__nn_add(net, "add", x, z, false);
}

static void build_decoder(struct fr__net *net, const struct neox_shape *s,
                          enum fr__attention_form form)
{
    const struct fr__dot_attention a = {
        .heads = s->heads, .kv_heads = s->heads, .form = form, .is_causal = true};
    struct fr__value x = fr__nn_tokens(net);

    fr__nn_layer(net, "embed");
    x = fr__nn_embedding(net, "", x, s->vocab, s->hidden);
    for (uint32_t i = 0; i < s->layers; i++)
        x = block(net, i, s, &a, x);
    fr__nn_layer(net, "final");
    x = fr__nn_layernorm(net, "ln", x);
    fr__nn_layer(net, "head");
    fr__nn_wide(net, true);
    fr__nn_cross_entropy(net, fr__nn_linear(net, "", x, s->vocab));
}

static void build(struct fr__net *net, const struct fr__model *m, const uint32_t values[])
{
    build_decoder(net, m->shape, (enum fr__attention_form)values[ATTENTION]);
}

static enum fr_status check(const struct fr__model *m, const uint32_t values[], uint32_t *seq_len,
                            struct fr_error *err)
{
    *seq_len = values[SEQ];
    return fr__check_heads(m->name, values[HIDDEN], values[HEADS], err);
}

static void build_free(struct fr__net *net, const struct fr__model *m, const uint32_t values[])
{
    const struct neox_shape shape = {.layers = values[LAYERS],
                                     .hidden = values[HIDDEN],
                                     .ffn = values[FFN],
                                     .heads = values[HEADS],
                                     .vocab = values[VOCAB],
                                     .is_parallel = values[PARALLEL] != 0};

    (void)m;
    build_decoder(net, &shape, (enum fr__attention_form)values[ATTENTION]);
}

static const struct neox_shape neox_20b = {44, 6144, 24576, 64, 50432, true};

const struct fr__model fr__models_neox[] = {
    {.name = "gpt-neox-20b",
     .summary = "GPT-NeoX, 20.6 G parameters, sequence 2048, batch 8",
     .source = "Black et al., 2022",
     .batch = 8,
     .dtype = FR_BF16,
     .seq_len = 2048,
     .n_positions = FR__ANY_LENGTH,
     .keys = keys,
     .build = build,
     .shape = &neox_20b},
    {.name = "gpt-neox",
     .summary = "of any size: gpt-neox:layers=,hidden=,ffn=,heads=,seq=,vocab=,parallel= (batch 8)",
     .source = "the shape of GPT-NeoX (Black et al., 2022)",
     .batch = 8,
     .dtype = FR_BF16,
     .seq_len = 2048,
     .n_positions = FR__ANY_LENGTH,
     .keys = free_keys,
     .check = check,
     .build = build_free},
    {0},
};
