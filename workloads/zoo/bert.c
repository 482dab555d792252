/* workloads/zoo/bert.c - BERT base and large with the head of pre-training or none.
 *
 * J. Devlin et al., BERT: Pre-training of Deep Bidirectional Transformers, NAACL 2019, section 3:
 * sizes, three embeddings, normalisation after each block, GELU, two losses. Op by op as in Hugging
 * Face Transformers (models/bert/modeling_bert.py) with dropout as trained. What is trained:
 *
 *   head=pretrain  masked words and the next sentence (section 3.1)
 *   head=mlm       masked words alone, without the pooler (as RoBERTa: Liu et al., 2019)
 *   head=pooler    the encoder and its pooler; the loss is the sum of the pooled output
 *
 * Masked words: 15 % of the positions, rounded up, are gathered before the output layers, as in
 * google-research/bert (run_pretraining.py, max_predictions_per_seq: 20 of 128). Under predict=all
 * the output layers run over all positions, as in NVIDIA's PyTorch code until March 2022 and in
 * Hugging Face's. Their output weights are the words' table, with a bias of their own.
 */
#include "config.h"

#include "workloads/zoo/nn_attention.h"
#include "workloads/zoo/zoo.h"

enum { N_POSITIONS = 512, N_SEGMENTS = 2, MASKED_PERCENT = 15 };

enum bert_head { PRETRAIN, MLM, POOLER };
static const char *const heads[] = {
    [PRETRAIN] = "pretrain", [MLM] = "mlm", [POOLER] = "pooler", NULL};

enum bert_predict { MASKED, ALL };
static const char *const predictions[] = {[MASKED] = "masked", [ALL] = "all", NULL};

enum bert_key {
    ATTENTION,
    HEAD,
    PREDICT,
    LAYERS,
    HIDDEN,
    HEADS,
    SEQ,
    VOCAB,
    FFN,
    POSITIONS,
    SEGMENTS
};

static const struct fr__model_key keys[] = {
    [ATTENTION] = {FR__ATTENTION_KEY(FR__ATTENTION_UNFUSED)},
    [HEAD] = {.name = "head", .fallback = PRETRAIN, .choices = heads},
    [PREDICT] = {.name = "predict", .fallback = MASKED, .choices = predictions},
    [LAYERS] = {"layers", 12, 1, 1024, NULL},
    [HIDDEN] = {"hidden", 768, 1, 1 << 17, NULL},
    [HEADS] = {"heads", 12, 1, 1 << 12, NULL},
    [SEQ] = {"seq", 128, 1, FR__ANY_LENGTH, NULL},
    [VOCAB] = {"vocab", 30522, 2, 1 << 24, NULL},
    [FFN] = {"ffn", 0, 0, 1 << 19, NULL},
    [POSITIONS] = {"positions", N_POSITIONS, 1, FR__ANY_LENGTH, NULL},
    [SEGMENTS] = {"segments", N_SEGMENTS, 1, 1 << 16, NULL},
    {0},
};

static struct fr__value add_and_norm(struct fr__net *net, struct fr__value x, struct fr__value y)
{
    y = fr__nn_add(net, "add", x, fr__nn_dropout(net, "out.dropout", y), false);
    return fr__nn_layernorm(net, "ln", y);
}

static struct fr__value attention(struct fr__net *net, const struct fr__dot_attention *a,
                                  struct fr__value x)
{
    uint32_t hidden = x.t.dims[2];
    struct fr__value q = fr__nn_dense(net, "q", x, hidden);
    struct fr__value k = fr__nn_dense(net, "k", x, hidden);
    struct fr__value v = fr__nn_dense(net, "v", x, hidden);

    return add_and_norm(net, x, fr__nn_dense(net, "out", fr__nn_attend(net, a, q, k, v), hidden));
}

static struct fr__value mlp(struct fr__net *net, uint32_t ffn, struct fr__value x)
{
    uint32_t hidden = x.t.dims[2];
    struct fr__value y =
        fr__nn_gelu(net, "gelu", fr__nn_dense(net, "fc1", x, ffn ? ffn : 4 * hidden));

    return add_and_norm(net, x, fr__nn_dense(net, "fc2", y, hidden));
}

/* Words, segments and positions; *table is where the words' rows come from. */
static struct fr__value embed(struct fr__net *net, const uint32_t s[], struct fr__value *table)
{
    struct fr__value words = fr__nn_tokens(net);
    struct fr__value segments = fr__nn_indices(net, "segments", net->seq_len), x;

    fr__nn_layer(net, "embed");
    *table = fr__nn_embedding(net, "words", words, s[VOCAB], s[HIDDEN]);
    x = fr__nn_embedding(net, "segments", segments, s[SEGMENTS], s[HIDDEN]);
    x = fr__nn_add(net, "add_segments", *table, x, false);
    x = fr__nn_add(net, "add_positions", x,
                   fr__nn_learned_positions(net, "positions", s[POSITIONS], s[HIDDEN]), false);
    return fr__nn_dropout(net, "dropout", fr__nn_layernorm(net, "ln", x));
}

static struct fr__value pool(struct fr__net *net, struct fr__value x)
{
    fr__nn_layer(net, "pooler");
    x = fr__nn_dense(net, "fc", fr__nn_first_position(net, "first", x), x.t.dims[2]);
    return fr__nn_tanh(net, "tanh", x);
}

static struct fr__value masked_words_loss(struct fr__net *net, const uint32_t s[],
                                          struct fr__value x, struct fr__value table)
{
    uint32_t n_masked = (net->seq_len * MASKED_PERCENT + 99) / 100;
    uint32_t hidden = x.t.dims[2];

    fr__nn_layer(net, "mlm");
    if (s[PREDICT] == MASKED)
        x = fr__nn_gather(net, "gather", x, fr__nn_indices(net, "index", n_masked));
    x = fr__nn_gelu(net, "gelu", fr__nn_dense(net, "fc", x, hidden));
    x = fr__nn_layernorm(net, "ln", x);
    fr__nn_wide(net, true);
    x = fr__nn_bias(net, "words.bias", fr__nn_tied_linear(net, "words", x, table, s[VOCAB]));
    fr__nn_wide(net, false);
    return fr__nn_loss_of(net, "mlm_loss", x);
}

static struct fr__value next_sentence_loss(struct fr__net *net, struct fr__value x)
{
    x = pool(net, x);
    fr__nn_layer(net, "nsp");
    return fr__nn_loss_of(net, "nsp_loss", fr__nn_dense(net, "fc", x, 2));
}

static void build(struct fr__net *net, const uint32_t s[])
{
    const struct fr__dot_attention a = {.heads = s[HEADS],
                                        .kv_heads = s[HEADS],
                                        .form = (enum fr__attention_form)s[ATTENTION],
                                        .has_dropout = true};
    struct fr__value table, x = embed(net, s, &table), loss;

    for (uint32_t i = 0; i < s[LAYERS]; i++) {
        fr__nn_layer(net, "layer%u.attn", i);
        x = attention(net, &a, x);
        fr__nn_layer(net, "layer%u.mlp", i);
        x = mlp(net, s[FFN], x);
    }
    if (s[HEAD] == POOLER) {
        fr__nn_sum_loss(net, "loss", pool(net, x));
        return;
    }
    loss = masked_words_loss(net, s, x, table);
    if (s[HEAD] == PRETRAIN)
        fr__nn_add_losses(net, "loss", loss, next_sentence_loss(net, x));
}

const struct fr__family fr__family_bert = {
    .group = "Transformers",
    .batch = 32,
    .keys = keys,
    .length = "seq",
    .positions = "positions",
    .has_whole_heads = true,
    .build = build,
};
