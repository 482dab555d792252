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

struct gpt_shape {
    uint32_t layers, hidden, heads, vocab;
    uint32_t ffn; /* 0: 4 hidden */
};

enum gpt_key { ATTENTION, LAYERS, HIDDEN, HEADS, SEQ, VOCAB, FFN };

static const struct fr__model_key keys[] = {
    [ATTENTION] = {FR__ATTENTION_KEY(FR__ATTENTION_UNFUSED)},
    {0},
};

static const struct fr__model_key free_keys[] = {
    [ATTENTION] = {FR__ATTENTION_KEY(FR__ATTENTION_UNFUSED)},
    [LAYERS] = {"layers", 12, 1, 4096, NULL},
    [HIDDEN] = {"hidden", 768, 1, 1 << 17, NULL},
    [HEADS] = {"heads", 12, 1, 1 << 12, NULL},
    [SEQ] = {"seq", 1024, 1, 1 << 20, NULL},
    [VOCAB] = {"vocab", 50257, 2, 1 << 24, NULL},
    [FFN] = {"ffn", 0, 0, 1 << 19, NULL},
    {0},
};

static enum fr_status check(const struct fr__model *m, const uint32_t values[], uint32_t *seq_len,
                            struct fr_error *err)
{
    *seq_len = values[SEQ];
    return fr__check_heads(m->name, values[HIDDEN], values[HEADS], err);
}

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

/* positions: rows of the position table, of which a step uses the first net->seq_len. */
static void build_decoder(struct fr__net *net, const struct gpt_shape *s,
                          enum fr__attention_form form, uint32_t positions)
{
    const struct fr__dot_attention a = {s->heads, s->heads, form, .is_causal = true,
                                        .has_dropout = true};
    struct fr__value tokens = fr__nn_tokens(net), table, x;

    fr__nn_layer(net, "embed");
    table = fr__nn_embedding(net, "tokens", tokens, s->vocab, s->hidden);
    x = fr__nn_embedding(net, "positions", fr__nn_positions(net, "index"), positions, s->hidden);
    x = fr__nn_dropout(net, "dropout", fr__nn_add(net, "add", table, x, false));
    for (uint32_t i = 0; i < s->layers; i++)
        x = mlp(net, i, s->ffn, attention(net, i, &a, x));
    fr__nn_layer(net, "final");
    x = fr__nn_layernorm(net, "ln", x);
    fr__nn_layer(net, "head");
    fr__nn_wide(net, true);
    fr__nn_cross_entropy(net, fr__nn_tied_linear(net, "", x, table, s->vocab));
}

static void build(struct fr__net *net, const struct fr__model *m, const uint32_t values[])
{
    build_decoder(net, m->shape, (enum fr__attention_form)values[ATTENTION], m->seq_len);
}

static void build_free(struct fr__net *net, const struct fr__model *m, const uint32_t values[])
{
    const struct gpt_shape shape = {values[LAYERS], values[HIDDEN], values[HEADS], values[VOCAB],
                                    values[FFN]};

    (void)m;
    build_decoder(net, &shape, (enum fr__attention_form)values[ATTENTION], values[SEQ]);
}

#define PUBLISHED(token, size, context, format, paper, ...)                                        \
    {                                                                                              \
        .name = token, .summary = size " parameters, sequence " #context ", batch 8",              \
        .source = paper, .batch = 8, .dtype = format, .seq_len = context, .keys = keys,            \
        .build = build, .shape = &(const struct gpt_shape){__VA_ARGS__, 50257, 0},                 \
    }
#define GPT2(token, size, ...)                                                                     \
    PUBLISHED("gpt2-" token, "GPT-2, " size, 1024, FR_FP32, "Radford et al., 2019", __VA_ARGS__)
#define GPT3(token, size, ...)                                                                     \
    PUBLISHED("gpt3-" token, "GPT-3, " size, 2048, FR_BF16,                                        \
              "Brown et al., NeurIPS 2020, table 2.1", __VA_ARGS__)

/* layers, width, heads */
const struct fr__model fr__models_gpt[] = {
    GPT2("small", "124 M", 12, 768, 12),
    GPT2("medium", "355 M", 24, 1024, 16),
    GPT2("large", "774 M", 36, 1280, 20),
    GPT2("xl", "1558 M", 48, 1600, 25),
    GPT3("125m", "125 M", 12, 768, 12),
    GPT3("350m", "356 M", 24, 1024, 16),
    GPT3("760m", "760 M", 24, 1536, 16),
    GPT3("1.3b", "1.3 G", 24, 2048, 16),
    GPT3("2.7b", "2.7 G", 32, 2560, 32),
    GPT3("6.7b", "6.7 G", 32, 4096, 32),
    GPT3("13b", "12.9 G", 40, 5120, 40),
    GPT3("175b", "174.6 G", 96, 12288, 96),
    {.name = "gpt",
     .summary = "a decoder of any size: gpt:layers=,hidden=,heads=,seq=,vocab= (batch 8)",
     .source = "the shape of GPT-2 (Radford et al., 2019)",
     .batch = 8,
     .seq_len = 1024,
     .keys = free_keys,
     .check = check,
     .build = build_free},
    {0},
};
