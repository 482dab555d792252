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
enum mixtral_key { ATTENTION, SKEW, LAYERS, HIDDEN, FFN, HEADS, KV_HEADS, SEQ, VOCAB, EXPERTS };

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
    [SEQ] = {"seq", 4096, FR__MAX_EXPERTS / N_CHOSEN, FR__ANY_LENGTH, NULL},
    [VOCAB] = {"vocab", 32000, 2, 1 << 24, NULL},
    [EXPERTS] = {"experts", 8, MIN_EXPERTS, FR__MAX_EXPERTS, NULL},
    {0},
};

struct mixtral_shape {
    struct fr__llama_shape decoder;
    uint32_t n_experts;
};

/* user: the fr__moe */
static struct fr__value experts(struct fr__net *net, uint32_t layer,
                                const struct fr__llama_shape *s, struct fr__value x,
                                const void *user)
{
    char name[32];

    (void)s;
    snprintf(name, sizeof(name), "layer%u.mlp", layer);
    return fr__nn_moe(net, name, user, x);
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
                                              .vocab = values[VOCAB]},
                                  .n_experts = values[EXPERTS]};
}

static enum fr_status check(const struct fr__model *m, const uint32_t values[], uint32_t *seq_len,
                            struct fr_error *err)
{
    const struct mixtral_shape shape = asked_for(m, values);

    if (!m->shape)
        *seq_len = values[SEQ];
    return fr__llama_check(m->name, &shape.decoder, err);
}

static void build(struct fr__net *net, const struct fr__model *m, const uint32_t values[])
{
    const struct mixtral_shape shape = asked_for(m, values);
    const struct fr__moe moe = {.n_experts = shape.n_experts,
                                .n_chosen = N_CHOSEN,
                                .ffn = shape.decoder.ffn,
                                .skew_percent = values[SKEW]};

    fr__llama_build(net, &shape.decoder, (enum fr__attention_form)values[ATTENTION], experts, &moe);
}

static const struct mixtral_shape mixtral_8x7b = {{32, 4096, 14336, 32, 8, 32000}, 8};

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
     .min_seq_len = FR__MAX_EXPERTS / N_CHOSEN,
     .keys = free_keys,
     .check = check,
     .build = build},
    {0},
};
