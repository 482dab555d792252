/* workloads/zoo/mixtral.c - Mixtral 8x7B, and mixtures of experts of its kind of any size.
 *
 * A. Q. Jiang et al., Mixtral of Experts, 2024, table 1: a Llama decoder whose feed-forward layer
 * is eight experts, two for each token. The paper's context is 32768; 4096 tokens unless told
 * otherwise. No auxiliary loss that balances the load: how even it is, the key skew says.
 */
#include "config.h"

#include "workloads/zoo/llama.h"
#include "workloads/zoo/nn_moe.h"
#include "workloads/zoo/zoo.h"

#include <stdio.h>

enum {
    N_CHOSEN = 2,
    MIN_EXPERTS = 4 /* of fewer, the most skewed would get a token twice: 6/11 of all copies of 3 */
};

/* The free-size model has all, the published one the first two. */
enum mixtral_key {
    ATTENTION,
    SKEW,
    LAYERS,
    HIDDEN,
    FFN,
    HEADS,
    KV_HEADS,
    SEQ,
    VOCAB,
    EXPERTS,
    CHOSEN,
    SHARED,
    HEAD_WIDTH,
    TIED,
    QKV_BIAS,
    QK_NORM
};

static const struct fr__model_key keys[] = {
    [ATTENTION] = {FR__ATTENTION_KEY(FR__ATTENTION_FLASH)},
    [SKEW] = {"skew", 0, 0, 100, NULL},
    {0},
};

static const struct fr__model_key free_keys[] = {
    [ATTENTION] = {FR__ATTENTION_KEY(FR__ATTENTION_FLASH)},
    [SKEW] = {"skew", 0, 0, 100, NULL},
    [LAYERS] = {"layers", 32, 1, 1024, NULL},
    [HIDDEN] = {"hidden", 4096, 1, 1 << 17, NULL},
    [FFN] = {"ffn", 14336, 1, 1 << 19, NULL},
    [HEADS] = {"heads", 32, 1, 1 << 12, NULL},
    [KV_HEADS] = {"kv_heads", 8, 1, 1 << 12, NULL},
    [SEQ] = {"seq", 4096, 1, FR__ANY_LENGTH, NULL},
    [VOCAB] = {"vocab", 32000, 2, 1 << 24, NULL},
    [EXPERTS] = {"experts", 8, MIN_EXPERTS, FR__MAX_EXPERTS, NULL},
    [CHOSEN] = {"chosen", N_CHOSEN, 1, FR__MAX_EXPERTS, NULL},
    [SHARED] = {"shared", 0, 0, 1 << 19, NULL},
    [HEAD_WIDTH] = {"head_width", 0, 0, 1 << 16, NULL},
    [TIED] = {"tied", 0, 0, 1, NULL},
    [QKV_BIAS] = {"qkv_bias", 0, 0, 1, NULL},
    [QK_NORM] = {"qk_norm", 0, 0, 1, NULL},
    {0},
};

struct mixtral_shape {
    struct fr__llama_shape decoder;
    uint32_t n_experts, n_chosen;
    uint32_t shared; /* width of an expert that every token visits besides; 0: none */
};

/* What a feed-forward layer is made of. */
struct layer {
    struct fr__moe moe;
    uint32_t shared;
};

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

/* user: the struct layer */
static struct fr__value experts(struct fr__net *net, uint32_t layer,
                                const struct fr__llama_shape *s, struct fr__value x,
                                const void *user)
{
    const struct layer *l = user;
    struct fr__value y;
    char name[32];

    (void)s;
    snprintf(name, sizeof(name), "layer%u.mlp", layer);
    y = fr__nn_moe(net, name, &l->moe, x);
    return l->shared ? fr__nn_add(net, "shared.add", y, shared_expert(net, l->shared, x), false)
                     : y;
}

static struct mixtral_shape asked_for(const struct fr__model *m, const uint32_t values[])
{
    if (m->shape)
        return *(const struct mixtral_shape *)m->shape;
    return (struct mixtral_shape){.decoder = {.layers = values[LAYERS],
                                              .hidden = values[HIDDEN],
                                              .ffn = values[FFN],
                                              .heads = values[HEADS],
                                              .kv_heads = values[KV_HEADS],
                                              .vocab = values[VOCAB],
                                              .head_width = values[HEAD_WIDTH],
                                              .is_tied = values[TIED] != 0,
                                              .has_qkv_bias = values[QKV_BIAS] != 0,
                                              .has_qk_norm = values[QK_NORM] != 0},
                                  .n_experts = values[EXPERTS],
                                  .n_chosen = values[CHOSEN],
                                  .shared = values[SHARED]};
}

/* The busiest expert can get each token once only. */
static enum fr_status check_skew(const struct fr__model *m, const struct mixtral_shape *s,
                                 unsigned skew_percent, struct fr_error *err)
{
    double harmonic = 0, skew = skew_percent / 100.0;

    for (uint32_t e = 1; e <= s->n_experts; e++)
        harmonic += 1.0 / e;
    if (((1 - skew) / s->n_experts + skew / harmonic) * s->n_chosen <= 1)
        return FR_OK;
    return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                    "model '%s': with skew=%u the busiest of %u experts would get more than all "
                    "tokens, of which each visits %u",
                    m->name, skew_percent, s->n_experts, s->n_chosen);
}

static enum fr_status check(const struct fr__model *m, const uint32_t values[], uint32_t *seq_len,
                            struct fr_error *err)
{
    const struct mixtral_shape shape = asked_for(m, values);

    if (!m->shape)
        *seq_len = values[SEQ];
    if (shape.n_chosen > shape.n_experts)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "model '%s': a token cannot visit %u of %u experts", m->name,
                        shape.n_chosen, shape.n_experts);
    FR_TRY(check_skew(m, &shape, values[SKEW], err));
    return fr__llama_check(m->name, &shape.decoder, err);
}

static void build(struct fr__net *net, const struct fr__model *m, const uint32_t values[])
{
    const struct mixtral_shape shape = asked_for(m, values);
    const struct layer layer = {.moe = {.n_experts = shape.n_experts,
                                        .n_chosen = shape.n_chosen,
                                        .ffn = shape.decoder.ffn,
                                        .skew_percent = values[SKEW]},
                                .shared = shape.shared};

    if ((uint64_t)net->seq_len * shape.n_chosen < shape.n_experts)
        fr__nn_fault(net, "sequences of %u tokens are too short for %u experts, a token each",
                     net->seq_len, shape.n_experts);
    else
        fr__llama_build(net, &shape.decoder, (enum fr__attention_form)values[ATTENTION], experts,
                        &layer);
}

static const struct mixtral_shape mixtral_8x7b = {
    {.layers = 32, .hidden = 4096, .ffn = 14336, .heads = 32, .kv_heads = 8, .vocab = 32000},
    .n_experts = 8,
    .n_chosen = N_CHOSEN};

const struct fr__model fr__models_mixtral[] = {
    {.name = "mixtral-8x7b",
     .summary = "Mixtral, 46.7 G parameters, 12.9 G a token, sequence 4096, batch 8; skew=0..100",
     .source = "Jiang et al., 2024, table 1",
     .batch = 8,
     .dtype = FR_BF16,
     .seq_len = 4096,
     .n_positions = FR__ANY_LENGTH,
     .min_seq_len = 8 / N_CHOSEN, /* a token for each expert */
     .keys = keys,
     .check = check,
     .build = build,
     .shape = &mixtral_8x7b},
    {.name = "mixtral",
     .summary = "of any size: as llama, and mixtral:experts=,skew= (batch 8)",
     .source = "the shape of Mixtral 8x7B (Jiang et al., 2024)",
     .batch = 8,
     .dtype = FR_BF16,
     .seq_len = 4096,
     .n_positions = FR__ANY_LENGTH,
     .min_seq_len = 1,
     .keys = free_keys,
     .check = check,
     .build = build},
    {0},
};
