/* workloads/zoo/transformer.c - the encoder and decoder of machine translation.
 *
 * A. Vaswani et al., Attention Is All You Need, NeurIPS 2017, table 3: base and big, normalisation
 * after each block, sinusoidal positions, one table for source, target and output words (section
 * 3.4; "about 37000" byte pairs, section 5.1: 37,000 rows here, no output bias). Biases everywhere
 * else, dropout on attention weights and behind the ReLU as well, as in tensor2tensor and
 * torch.nn.Transformer. Label smoothing changes the loss's arithmetic, not what is kept: it is left
 * out. Source and target are of the same length.
 */
#include "config.h"

#include "workloads/zoo/nn_attention.h"
#include "workloads/zoo/zoo.h"

enum transformer_key { ATTENTION, LAYERS, HIDDEN, FFN, HEADS, SEQ, VOCAB };

static const struct fr__model_key keys[] = {
    [ATTENTION] = {FR__ATTENTION_KEY(FR__ATTENTION_UNFUSED)},
    [LAYERS] = {"layers", 6, 1, 1024, NULL},
    [HIDDEN] = {"hidden", 512, 1, 1 << 17, NULL},
    [FFN] = {"ffn", 2048, 1, 1 << 19, NULL},
    [HEADS] = {"heads", 8, 1, 1 << 12, NULL},
    [SEQ] = {"seq", 64, 1, FR__ANY_LENGTH, NULL},
    [VOCAB] = {"vocab", 37000, 2, 1 << 24, NULL},
    {0},
};

static struct fr__value add_and_norm(struct fr__net *net, struct fr__value x, struct fr__value y)
{
    y = fr__nn_add(net, "add", x, fr__nn_dropout(net, "out.dropout", y), false);
    return fr__nn_layernorm(net, "ln", y);
}

/* Queries from x, keys and values from memory; the layer is set by the caller. */
static struct fr__value attention(struct fr__net *net, const uint32_t s[], bool is_causal,
                                  struct fr__value x, struct fr__value memory)
{
    const struct fr__dot_attention a = {.heads = s[HEADS],
                                        .kv_heads = s[HEADS],
                                        .form = (enum fr__attention_form)s[ATTENTION],
                                        .is_causal = is_causal,
                                        .has_dropout = true};
    struct fr__value q = fr__nn_dense(net, "q", x, s[HIDDEN]);
    struct fr__value k = fr__nn_dense(net, "k", memory, s[HIDDEN]);
    struct fr__value v = fr__nn_dense(net, "v", memory, s[HIDDEN]);
    struct fr__value y = fr__nn_dense(net, "out", fr__nn_attend(net, &a, q, k, v), s[HIDDEN]);

    return add_and_norm(net, x, y);
}

static struct fr__value feed_forward(struct fr__net *net, const uint32_t s[], struct fr__value x)
{
    struct fr__value y = fr__nn_relu(net, "relu", fr__nn_dense(net, "fc1", x, s[FFN]));

    y = fr__nn_dense(net, "fc2", fr__nn_dropout(net, "dropout", y), s[HIDDEN]);
    return add_and_norm(net, x, y);
}

static struct fr__value encode(struct fr__net *net, const uint32_t s[], struct fr__value x)
{
    for (uint32_t i = 0; i < s[LAYERS]; i++) {
        fr__nn_layer(net, "encoder%u.attn", i);
        x = attention(net, s, false, x, x);
        fr__nn_layer(net, "encoder%u.ffn", i);
        x = feed_forward(net, s, x);
    }
    return x;
}

static struct fr__value decode(struct fr__net *net, const uint32_t s[], struct fr__value x,
                               struct fr__value memory)
{
    for (uint32_t i = 0; i < s[LAYERS]; i++) {
        fr__nn_layer(net, "decoder%u.attn", i);
        x = attention(net, s, true, x, x);
        fr__nn_layer(net, "decoder%u.cross", i);
        x = attention(net, s, false, x, memory);
        fr__nn_layer(net, "decoder%u.ffn", i);
        x = feed_forward(net, s, x);
    }
    return x;
}

/* Rows of the table times the root of the width, plus positions. */
static struct fr__value embed(struct fr__net *net, struct fr__value rows)
{
    struct fr__value x = fr__nn_add_constant(net, "positions", fr__nn_scale(net, "scale", rows));

    return fr__nn_dropout(net, "dropout", x);
}

static void build(struct fr__net *net, const uint32_t s[])
{
    struct fr__value source, target, table, memory, x;

    fr__nn_layer(net, "input");
    source = fr__nn_indices(net, "source", net->seq_len);
    target = fr__nn_indices(net, "target", net->seq_len);
    fr__nn_layer(net, "encoder.embed");
    table = fr__nn_embedding(net, "words", source, s[VOCAB], s[HIDDEN]);
    memory = encode(net, s, embed(net, table));
    fr__nn_layer(net, "decoder.embed");
    x = embed(net, fr__nn_tied_embedding(net, "words", target, table, s[VOCAB]));
    x = decode(net, s, x, memory);
    fr__nn_layer(net, "head");
    fr__nn_wide(net, true);
    fr__nn_cross_entropy(net, fr__nn_tied_linear(net, "", x, table, s[VOCAB]));
}

const struct fr__family fr__family_transformer = {
    .group = "Transformers",
    .batch = 64,
    .keys = keys,
    .length = "seq",
    .longest = FR__ANY_LENGTH,
    .has_whole_heads = true,
    .build = build,
};
