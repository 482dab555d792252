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
 */
#include "config.h"

#include "workloads/zoo/nn_attention.h"
#include "workloads/zoo/nn_moe.h"
#include "workloads/zoo/zoo.h"

#include <stdio.h>

enum { MIN_EXPERTS = 1 };

enum llama_key {
    ATTENTION,
    LAYERS,
    HIDDEN,
    FFN,
    HEADS,
    KV_HEADS,
    SEQ,
    VOCAB,
    HEAD_WIDTH, /* 0: hidden / heads */
    TIED,       /* the output layer's weights are the embedding's */
    QKV_BIAS,   /* of queries, keys and values (Qwen2) */
    QK_NORM,    /* queries and keys are normalised, each head by itself (Qwen3) */
    EXPERTS,    /* in a feed-forward layer; 0: it is one SwiGLU */
    CHOSEN,     /* of them, for each token */
    SHARED,     /* width of an expert that every token visits besides; 0: none */
    SKEW
};

static const struct fr__model_key keys[] = {
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
    [EXPERTS] = {"experts", 0, MIN_EXPERTS, FR__MAX_EXPERTS, NULL},
    [CHOSEN] = {"chosen", 2, 1, FR__MAX_EXPERTS, NULL},
    [SHARED] = {"shared", 0, 0, 1 << 19, NULL},
    [SKEW] = {"skew", 0, 0, 100, NULL},
    {0},
};

/* ---- attention ---- */

/* Queries, keys or values of so many heads. */
static struct fr__value project(struct fr__net *net, const char *name, const uint32_t s[],
                                struct fr__value x, uint32_t heads)
{
    uint32_t width = s[HEAD_WIDTH] ? s[HEAD_WIDTH] : s[HIDDEN] / s[HEADS];

    return s[QKV_BIAS] ? fr__nn_dense(net, name, x, heads * width)
                       : fr__nn_linear(net, name, x, heads * width);
}

static struct fr__value attention(struct fr__net *net, const uint32_t s[],
                                  const struct fr__dot_attention *a, struct fr__value x)
{
    struct fr__value y = fr__nn_rmsnorm(net, "norm", x);
    struct fr__value q = project(net, "q", s, y, s[HEADS]);
    struct fr__value k = project(net, "k", s, y, s[KV_HEADS]);
    struct fr__value v = project(net, "v", s, y, s[KV_HEADS]);

    if (s[QK_NORM]) {
        q = fr__nn_rmsnorm_heads(net, "q.norm", q, q.t.dims[2] / s[HEADS]);
        k = fr__nn_rmsnorm_heads(net, "k.norm", k, k.t.dims[2] / s[KV_HEADS]);
    }
    q = fr__nn_rotary(net, "q.rotary", q);
    k = fr__nn_rotary(net, "k.rotary", k);
    y = fr__nn_linear(net, "out", fr__nn_attend(net, a, q, k, v), s[HIDDEN]);
    return fr__nn_add(net, "add", x, y, false);
}

/* ---- the feed-forward layer ---- */

static struct fr__value swiglu(struct fr__net *net, const uint32_t s[], struct fr__value x)
{
    struct fr__value gate = fr__nn_silu(net, "silu", fr__nn_linear(net, "gate", x, s[FFN]));
    struct fr__value y = fr__nn_mul(net, "mul", gate, fr__nn_linear(net, "up", x, s[FFN]));

    return fr__nn_linear(net, "down", y, s[HIDDEN]);
}

/* The expert that all tokens visit, behind a gate of its own (A. Yang et al., Qwen2 Technical
 * Report, 2024, section 2.2.2, as in Hugging Face Transformers). */
static struct fr__value shared_expert(struct fr__net *net, uint32_t width, struct fr__value x)
{
    struct fr__value gate =
        fr__nn_silu(net, "shared.silu", fr__nn_linear(net, "shared.w1", x, width));
    struct fr__value y =
        fr__nn_mul(net, "shared.mul", gate, fr__nn_linear(net, "shared.w3", x, width));

    gate = fr__nn_sigmoid(net, "shared.sigmoid", fr__nn_linear(net, "shared.gate", x, 1));
    return fr__nn_mul(net, "shared.weight", fr__nn_linear(net, "shared.w2", y, x.t.dims[2]), gate);
}

static struct fr__value experts(struct fr__net *net, const uint32_t s[], uint32_t layer,
                                struct fr__value x)
{
    const struct fr__moe moe = {
        .n_experts = s[EXPERTS], .n_chosen = s[CHOSEN], .ffn = s[FFN], .skew_percent = s[SKEW]};
    struct fr__value y;
    char name[32];

    snprintf(name, sizeof(name), "layer%u.mlp", layer);
    y = fr__nn_moe(net, name, &moe, x);
    return s[SHARED] ? fr__nn_add(net, "shared.add", y, shared_expert(net, s[SHARED], x), false)
                     : y;
}

/* ---- what goes together ---- */

/* The busiest expert can get each token once only. */
static enum fr_status check_experts(const struct fr__model *m, const uint32_t s[],
                                    struct fr_error *err)
{
    double harmonic = 0, skew = s[SKEW] / 100.0;

    if (s[CHOSEN] > s[EXPERTS])
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "model '%s': a token cannot visit %u of %u experts", m->name, s[CHOSEN],
                        s[EXPERTS]);
    for (uint32_t e = 1; e <= s[EXPERTS]; e++)
        harmonic += 1.0 / e;
    if (((1 - skew) / s[EXPERTS] + skew / harmonic) * s[CHOSEN] <= 1)
        return FR_OK;
    return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                    "model '%s': with skew=%u the busiest of %u experts would get more than all "
                    "tokens, of which each visits %u",
                    m->name, s[SKEW], s[EXPERTS], s[CHOSEN]);
}

static enum fr_status check(const struct fr__model *m, const uint32_t s[], struct fr_error *err)
{
    if (s[EXPERTS])
        FR_TRY(check_experts(m, s, err));
    if (!s[HEAD_WIDTH])
        FR_TRY(fr__check_heads(m->name, s[HIDDEN], s[HEADS], err));
    if (s[HEADS] % s[KV_HEADS] != 0)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "model '%s': %u heads are not a multiple of %u heads of keys and values",
                        m->name, s[HEADS], s[KV_HEADS]);
    return FR_OK;
}

/* ---- the whole ---- */

static void build(struct fr__net *net, const uint32_t s[])
{
    const struct fr__dot_attention a = {.heads = s[HEADS],
                                        .kv_heads = s[KV_HEADS],
                                        .form = (enum fr__attention_form)s[ATTENTION],
                                        .is_causal = true};
    struct fr__value table, x, y;

    if (s[EXPERTS] && (uint64_t)net->seq_len * s[CHOSEN] < s[EXPERTS]) {
        fr__nn_fault(net, "sequences of %u tokens are too short for %u experts, a token each",
                     net->seq_len, s[EXPERTS]);
        return;
    }
    x = fr__nn_tokens(net);
    fr__nn_layer(net, "embed");
    x = table = fr__nn_embedding(net, "", x, s[VOCAB], s[HIDDEN]);
    for (uint32_t i = 0; i < s[LAYERS]; i++) {
        fr__nn_layer(net, "layer%u.attn", i);
        x = attention(net, s, &a, x);
        fr__nn_layer(net, "layer%u.mlp", i);
        y = fr__nn_rmsnorm(net, "norm", x);
        y = s[EXPERTS] ? experts(net, s, i, y) : swiglu(net, s, y);
        x = fr__nn_add(net, "add", x, y, false);
    }
    fr__nn_layer(net, "final");
    x = fr__nn_rmsnorm(net, "norm", x);
    fr__nn_layer(net, "head");
    fr__nn_wide(net, true);
    fr__nn_cross_entropy(net, s[TIED] ? fr__nn_tied_linear(net, "", x, table, s[VOCAB])
                                      : fr__nn_linear(net, "", x, s[VOCAB]));
}

const struct fr__family fr__family_llama = {
    .group = "Transformers",
    .batch = 8,
    .keys = keys,
    .length = "seq",
    .longest = FR__ANY_LENGTH,
    .check = check,
    .build = build,
};
