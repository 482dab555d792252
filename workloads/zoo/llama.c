/* workloads/zoo/llama.c - Llama 2 and 3, and decoders of their kind of any size.
 *
 * H. Touvron et al., Llama 2: Open Foundation and Fine-Tuned Chat Models, 2023, table 1 and section
 * 2.2; A. Dubey et al., The Llama 3 Herd of Models, 2024, table 3; widths that the papers leave out
 * are those of the published weights. RMS normalisation first, rotary positions, grouped queries,
 * SwiGLU, no biases, no dropout, an output layer of its own.
 *
 * Attention is a flash kernel unless asked otherwise: at 4096 tokens and more nobody trains these
 * models unfused (the scores of one layer of one sample of llama2-7b are 2 GiB in fp32). Rotary
 * positions and the norms are one kernel each.
 */
#include "config.h"

#include "workloads/zoo/llama.h"
#include "workloads/zoo/zoo.h"

enum llama_key {
    ATTENTION,
    LAYERS,
    HIDDEN,
    FFN,
    HEADS,
    KV_HEADS,
    SEQ,
    VOCAB,
    HEAD_WIDTH,
    TIED,
    QKV_BIAS,
    QK_NORM
};

static const struct fr__model_key keys[] = {
    [ATTENTION] = {FR__ATTENTION_KEY(FR__ATTENTION_FLASH)},
    {0},
};

static const struct fr__model_key free_keys[] = {
    [ATTENTION] = {FR__ATTENTION_KEY(FR__ATTENTION_FLASH)},
    [LAYERS] = {"layers", 32, 1, 1024, NULL},
    [HIDDEN] = {"hidden", 4096, 1, 1 << 17, NULL},
    [FFN] = {"ffn", 11008, 1, 1 << 19, NULL},
    [HEADS] = {"heads", 32, 1, 1 << 12, NULL},
    [KV_HEADS] = {"kv_heads", 32, 1, 1 << 12, NULL},
    [SEQ] = {"seq", 4096, 1, FR__ANY_LENGTH, NULL},
    [VOCAB] = {"vocab", 32000, 2, 1 << 24, NULL},
    [HEAD_WIDTH] = {"head_width", 0, 0, 1 << 16, NULL},
    [TIED] = {"tied", 0, 0, 1, NULL},
    [QKV_BIAS] = {"qkv_bias", 0, 0, 1, NULL},
    [QK_NORM] = {"qk_norm", 0, 0, 1, NULL},
    {0},
};

/* ---- the decoder ---- */

enum fr_status fr__llama_check(const char *model, const struct fr__llama_shape *s,
                               struct fr_error *err)
{
    if (!s->head_width)
        FR_TRY(fr__check_heads(model, s->hidden, s->heads, err));
    if (s->heads % s->kv_heads != 0)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "model '%s': %u heads are not a multiple of %u heads of keys and values",
                        model, s->heads, s->kv_heads);
    return FR_OK;
}

/* Queries, keys or values of so many heads. */
static struct fr__value project(struct fr__net *net, const char *name,
                                const struct fr__llama_shape *s, struct fr__value x, uint32_t heads)
{
    uint32_t width = s->head_width ? s->head_width : s->hidden / s->heads;

    return s->has_qkv_bias ? fr__nn_dense(net, name, x, heads * width)
                           : fr__nn_linear(net, name, x, heads * width);
}

static struct fr__value attention(struct fr__net *net, const struct fr__llama_shape *s,
                                  const struct fr__dot_attention *a, struct fr__value x)
{
    struct fr__value y = fr__nn_rmsnorm(net, "norm", x);
    struct fr__value q = project(net, "q", s, y, s->heads);
    struct fr__value k = project(net, "k", s, y, s->kv_heads);
    struct fr__value v = project(net, "v", s, y, s->kv_heads);

    if (s->has_qk_norm) {
        q = fr__nn_rmsnorm_heads(net, "q.norm", q, q.t.dims[2] / s->heads);
        k = fr__nn_rmsnorm_heads(net, "k.norm", k, k.t.dims[2] / s->kv_heads);
    }
    q = fr__nn_rotary(net, "q.rotary", q);
    k = fr__nn_rotary(net, "k.rotary", k);
    y = fr__nn_linear(net, "out", fr__nn_attend(net, a, q, k, v), s->hidden);
    return fr__nn_add(net, "add", x, y, false);
}

void fr__llama_build(struct fr__net *net, const struct fr__llama_shape *s,
                     enum fr__attention_form form,
                     struct fr__value (*feed_forward)(struct fr__net *net, uint32_t layer,
                                                      const struct fr__llama_shape *s,
                                                      struct fr__value x, const void *user),
                     const void *user)
{
    const struct fr__dot_attention a = {
        .heads = s->heads, .kv_heads = s->kv_heads, .form = form, .is_causal = true};
    struct fr__value table, x = fr__nn_tokens(net), y;

    fr__nn_layer(net, "embed");
    x = table = fr__nn_embedding(net, "", x, s->vocab, s->hidden);
    for (uint32_t i = 0; i < s->layers; i++) {
        fr__nn_layer(net, "layer%u.attn", i);
        x = attention(net, s, &a, x);
        fr__nn_layer(net, "layer%u.mlp", i);
        y = feed_forward(net, i, s, fr__nn_rmsnorm(net, "norm", x), user);
        x = fr__nn_add(net, "add", x, y, false);
    }
    fr__nn_layer(net, "final");
    x = fr__nn_rmsnorm(net, "norm", x);
    fr__nn_layer(net, "head");
    fr__nn_wide(net, true);
    fr__nn_cross_entropy(net, s->is_tied ? fr__nn_tied_linear(net, "", x, table, s->vocab)
                                         : fr__nn_linear(net, "", x, s->vocab));
}

/* ---- Llama ---- */

static struct fr__value swiglu(struct fr__net *net, uint32_t layer, const struct fr__llama_shape *s,
                               struct fr__value x, const void *user)
{
    struct fr__value gate = fr__nn_silu(net, "silu", fr__nn_linear(net, "gate", x, s->ffn));
    struct fr__value y = fr__nn_mul(net, "mul", gate, fr__nn_linear(net, "up", x, s->ffn));

    (void)layer;
    (void)user;
    return fr__nn_linear(net, "down", y, s->hidden);
}

static void build(struct fr__net *net, const struct fr__model *m, const uint32_t values[])
{
    fr__llama_build(net, m->shape, (enum fr__attention_form)values[ATTENTION], swiglu, NULL);
}

static struct fr__llama_shape asked_for(const uint32_t values[])
{
    return (struct fr__llama_shape){.layers = values[LAYERS],
                                    .hidden = values[HIDDEN],
                                    .ffn = values[FFN],
                                    .heads = values[HEADS],
                                    .kv_heads = values[KV_HEADS],
                                    .vocab = values[VOCAB],
                                    .head_width = values[HEAD_WIDTH],
                                    .is_tied = values[TIED] != 0,
                                    .has_qkv_bias = values[QKV_BIAS] != 0,
                                    .has_qk_norm = values[QK_NORM] != 0};
}

static enum fr_status check(const struct fr__model *m, const uint32_t values[], uint32_t *seq_len,
                            struct fr_error *err)
{
    const struct fr__llama_shape shape = asked_for(values);

    *seq_len = values[SEQ];
    return fr__llama_check(m->name, &shape, err);
}

static void build_free(struct fr__net *net, const struct fr__model *m, const uint32_t values[])
{
    const struct fr__llama_shape shape = asked_for(values);

    (void)m;
    fr__llama_build(net, &shape, (enum fr__attention_form)values[ATTENTION], swiglu, NULL);
}

#define PUBLISHED(token, text, context, paper, ...)                                                \
    {                                                                                              \
        .name = token, .summary = text " parameters, sequence " #context ", batch 8",              \
        .source = paper, .batch = 8, .dtype = FR_BF16, .seq_len = context,                         \
        .n_positions = FR__ANY_LENGTH, .keys = keys, .build = build,                               \
        .shape = &(const struct fr__llama_shape){__VA_ARGS__, 0, false, false, false},             \
    }
#define LLAMA2(token, size, ...)                                                                   \
    PUBLISHED("llama2-" token, "Llama 2, " size, 4096, "Touvron et al., 2023", __VA_ARGS__, 32000)
#define LLAMA3(token, size, ...)                                                                   \
    PUBLISHED("llama3-" token, "Llama 3, " size, 8192, "Dubey et al., 2024, table 3", __VA_ARGS__, \
              128256)

/* layers, width, width of the feed-forward layers, heads, heads of keys and values */
const struct fr__model fr__models_llama[] = {
    LLAMA2("7b", "6.7 G", 32, 4096, 11008, 32, 32),
    LLAMA2("13b", "13.0 G", 40, 5120, 13824, 40, 40),
    LLAMA2("70b", "69.0 G", 80, 8192, 28672, 64, 8),
    LLAMA3("8b", "8.0 G", 32, 4096, 14336, 32, 8),
    LLAMA3("70b", "70.6 G", 80, 8192, 28672, 64, 8),
    LLAMA3("405b", "405.9 G", 126, 16384, 53248, 128, 8),
    {.name = "llama",
     .summary = "of any size: llama:layers=,hidden=,ffn=,heads=,kv_heads=,seq=,vocab= (batch 8)",
     .source = "the shape of Llama 2 (Touvron et al., 2023)",
     .batch = 8,
     .dtype = FR_BF16,
     .seq_len = 4096,
     .n_positions = FR__ANY_LENGTH,
     .keys = free_keys,
     .check = check,
     .build = build_free},
    {0},
};
