/* workloads/model_gpt.c - GPT-2, GPT-3 and decoders of their kind of any size.
 *
 * A. Radford et al., Language Models are Unsupervised Multitask Learners, 2019 (GPT-2: sizes, layer
 * normalisation first, learned positions, output weights tied to the embedding); T. Brown et al.,
 * Language Models are Few-Shot Learners, NeurIPS 2020, table 2.1 (GPT-3; its alternating sparse
 * attention is left out). Op by op as in Hugging Face Transformers (models/gpt2/modeling_gpt2.py)
 * with attention scores written to memory, dropout as trained; the loss takes every token, where the
 * Transformers' shifts out the last one of a sequence.
 */
#include "config.h"

#include "workloads/zoo.h"

struct gpt_shape {
    uint32_t layers, hidden, heads, vocab;
};

enum gpt_key { LAYERS, HIDDEN, HEADS, SEQ, VOCAB };

static const struct fr__model_key gpt_keys[] = {
    [LAYERS] = {"layers", 12, 1, 1024},     [HIDDEN] = {"hidden", 768, 1, 1 << 17},
    [HEADS] = {"heads", 12, 1, 1 << 12},    [SEQ] = {"seq", 1024, 1, 1 << 20},
    [VOCAB] = {"vocab", 50257, 2, 1 << 24}, {0},
};

static enum fr_status check(const struct fr__model *m, const uint32_t values[], uint32_t *seq_len,
                            struct fr_error *err)
{
    if (values[HIDDEN] % values[HEADS] != 0)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "model '%s': hidden %u cannot be shared by %u heads alike", m->name,
                        values[HIDDEN], values[HEADS]);
    *seq_len = values[SEQ];
    return FR_OK;
}

static struct fr__value linear(struct fr__net *net, const char *name, const char *bias,
                               struct fr__value x, uint32_t n_out)
{
    return fr__nn_bias(net, bias, fr__nn_linear(net, name, x, n_out));
}

static struct fr__value attention(struct fr__net *net, uint32_t layer, uint32_t heads,
                                  struct fr__value x)
{
    uint32_t hidden = x.t.dims[2], seq = x.t.dims[1];
    struct fr__value qkv[3], y;

    fr__nn_layer(net, "layer%u.attn", layer);
    y = fr__nn_layernorm(net, "ln", x);
    y = linear(net, "qkv", "qkv.bias", y, 3 * hidden);
    fr__nn_split_heads(net, "split", y, heads, qkv);
    y = fr__nn_batch_matmul(net, "scores", qkv[0], qkv[1], seq);
    y = fr__nn_mask(net, "mask", fr__nn_scale(net, "scale", y));
    y = fr__nn_dropout(net, "dropout", fr__nn_softmax(net, "softmax", y));
    y = fr__nn_batch_matmul(net, "context", y, qkv[2], hidden / heads);
    y = linear(net, "proj", "proj.bias", fr__nn_merge_heads(net, "merge", y), hidden);
    return fr__nn_add(net, "add", x, fr__nn_dropout(net, "proj.dropout", y), false);
}

static struct fr__value mlp(struct fr__net *net, uint32_t layer, struct fr__value x)
{
    uint32_t hidden = x.t.dims[2];
    struct fr__value y;

    fr__nn_layer(net, "layer%u.mlp", layer);
    y = fr__nn_layernorm(net, "ln", x);
    y = fr__nn_gelu(net, "gelu", linear(net, "fc1", "fc1.bias", y, 4 * hidden));
    y = linear(net, "fc2", "fc2.bias", y, hidden);
    return fr__nn_add(net, "add", x, fr__nn_dropout(net, "dropout", y), false);
}

/* positions: rows of the position table, of which a step uses the first net->seq_len. */
static void build_decoder(struct fr__net *net, const struct gpt_shape *s, uint32_t positions)
{
    struct fr__value tokens = fr__nn_tokens(net), table, x;

    fr__nn_layer(net, "embed");
    table = fr__nn_embedding(net, "tokens", tokens, s->vocab, s->hidden);
    x = fr__nn_embedding(net, "positions", fr__nn_positions(net, "index"), positions, s->hidden);
    x = fr__nn_dropout(net, "dropout", fr__nn_add(net, "add", table, x, false));
    for (uint32_t i = 0; i < s->layers; i++)
        x = mlp(net, i, attention(net, i, s->heads, x));
    fr__nn_layer(net, "final");
    x = fr__nn_layernorm(net, "ln", x);
    fr__nn_layer(net, "head");
    fr__nn_cross_entropy(net, fr__nn_tied_linear(net, "", x, table, s->vocab));
}

static void build(struct fr__net *net, const struct fr__model *m, const uint32_t values[])
{
    (void)values;
    build_decoder(net, m->shape, m->seq_len);
}

static void build_free(struct fr__net *net, const struct fr__model *m, const uint32_t values[])
{
    const struct gpt_shape shape = {values[LAYERS], values[HIDDEN], values[HEADS], values[VOCAB]};

    (void)m;
    build_decoder(net, &shape, values[SEQ]);
}

static const struct gpt_shape gpt2_small = {12, 768, 12, 50257};
static const struct gpt_shape gpt2_medium = {24, 1024, 16, 50257};
static const struct gpt_shape gpt2_large = {36, 1280, 20, 50257};
static const struct gpt_shape gpt2_xl = {48, 1600, 25, 50257};
static const struct gpt_shape gpt3_175b = {96, 12288, 96, 50257};

static const char gpt2_source[] = "Radford et al., 2019";

const struct fr__model fr__models_gpt[] = {
    {.name = "gpt2-small",
     .summary = "GPT-2, 124 M parameters, sequence 1024, batch 8",
     .source = gpt2_source,
     .batch = 8,
     .seq_len = 1024,
     .build = build,
     .shape = &gpt2_small},
    {.name = "gpt2-medium",
     .summary = "GPT-2 medium, 355 M parameters, sequence 1024, batch 8",
     .source = gpt2_source,
     .batch = 8,
     .seq_len = 1024,
     .build = build,
     .shape = &gpt2_medium},
    {.name = "gpt2-large",
     .summary = "GPT-2 large, 774 M parameters, sequence 1024, batch 8",
     .source = gpt2_source,
     .batch = 8,
     .seq_len = 1024,
     .build = build,
     .shape = &gpt2_large},
    {.name = "gpt2-xl",
     .summary = "GPT-2 XL, 1558 M parameters, sequence 1024, batch 8",
     .source = gpt2_source,
     .batch = 8,
     .seq_len = 1024,
     .build = build,
     .shape = &gpt2_xl},
    {.name = "gpt3-175b",
     .summary = "GPT-3, 174.6 G parameters, sequence 2048, batch 8",
     .source = "Brown et al., NeurIPS 2020",
     .batch = 8,
     .seq_len = 2048,
     .build = build,
     .shape = &gpt3_175b},
    {.name = "gpt",
     .summary = "a decoder of any size: gpt:layers=,hidden=,heads=,seq=,vocab= (batch 8)",
     .source = "the shape of GPT-2 (Radford et al., 2019)",
     .batch = 8,
     .seq_len = 1024,
     .keys = gpt_keys,
     .check = check,
     .build = build_free},
    {0},
};
