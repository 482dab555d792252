/* workloads/zoo/gnmt.c - neural machine translation by stacked LSTM layers with attention, unrolled
 * in time.
 *
 * Y. Wu et al., Google's Neural Machine Translation System, 2016, in the variant that PipeDream
 * measured (D. Narayanan et al., SOSP 2019; github.com/msr-fiddle/pipedream, profiler/translation,
 * after NVIDIA's for MLPerf). The first encoder layer runs in both directions, and its outputs,
 * joined, are the input of the second. There are residual connections from the third layer on. The
 * output of the first decoder layer is the query of the attention, whose answer is joined to the
 * input of all later decoder layers. There is dropout before every layer but the first of encoder
 * and decoder. gnmt-N has N/2 layers in each.
 *
 * gnmt-2 has no second layer to narrow the encoder's output or to read the answer. There the memory
 * is as wide as both directions (D. Bahdanau et al., ICLR 2015), and a product with tanh takes
 * answer and output to the classifier (M. Luong, H. Pham, C. Manning, EMNLP 2015, eq. 5).
 *
 * Parameters and shapes are those of PipeDream's profiles to the byte. Its published code also
 * normalises the attention's energy, with 1025 parameters that the profiles do not count; that, the
 * masks of padded words and label smoothing are left out.
 */
#include "config.h"

#include "workloads/zoo/nn_recurrent.h"
#include "workloads/zoo/zoo.h"

#include <stdio.h>
#include <stdlib.h>

enum { FIRST_RESIDUAL = 2, MAX_LAYERS = 64 };

enum gnmt_key { ENCODER, DECODER, HIDDEN, VOCAB, SOURCE, TARGET };

/* Sizes, batch and 32,320 words are PipeDream's; 40 steps as FlexFlow's (Jia et al., MLSys
 * 2019). */
static const struct fr__model_key keys[] = {
    [ENCODER] = {"encoder", 4, 1, MAX_LAYERS, NULL},
    [DECODER] = {"decoder", 4, 1, MAX_LAYERS, NULL},
    [HIDDEN] = {"hidden", 1024, 1, 1 << 15, NULL},
    [VOCAB] = {"vocab", 32320, 2, 1 << 24, NULL},
    [SOURCE] = {"source", 40, 1, FR__MAX_STEPS, NULL},
    [TARGET] = {"target", 0, 0, FR__MAX_STEPS, NULL}, /* 0: as long as the source */
    {0},
};

struct gnmt {
    struct fr__net *net;
    uint32_t hidden, vocab, n_source, n_target;
    struct fr__value *x; /* [n_source or n_target] what the next layer reads */
    struct fr__value *y; /* [n_source or n_target] the other direction, then the answers */
    char name[32];
};

static const char *step_name(struct gnmt *g, uint32_t t, const char *op)
{
    snprintf(g->name, sizeof(g->name), "t%u.%s", t, op);
    return g->name;
}

static void embed(struct gnmt *g, struct fr__value tokens)
{
    struct fr__value v = fr__nn_embedding(g->net, "words", tokens, g->vocab, g->hidden);

    fr__nn_unstack(g->net, "steps", v, g->x);
}

/* ---- encoder ---- */

static void build_both_ways(struct gnmt *g)
{
    struct fr__lstm l;

    fr__nn_layer(g->net, "encoder.layer0");
    fr__lstm_init(g->net, &l, "fw.", g->hidden);
    for (uint32_t t = 0; t < g->n_source; t++)
        g->y[t] = fr__lstm_step(g->net, &l, t, g->x[t]);
    fr__lstm_init(g->net, &l, "bw.", g->hidden);
    for (uint32_t t = g->n_source; t-- > 0;)
        g->x[t] = fr__lstm_step(g->net, &l, t, g->x[t]);
    for (uint32_t t = 0; t < g->n_source; t++)
        g->x[t] = fr__nn_join(g->net, step_name(g, t, "join"), g->y[t], g->x[t]);
}

/* A layer but the first, of encoder or decoder; the decoder's reads the answers too. */
static void build_layer(struct gnmt *g, const char *side, uint32_t layer, uint32_t n_steps,
                        const struct fr__value answers[])
{
    struct fr__lstm l;

    fr__nn_layer(g->net, "%s.layer%u", side, layer);
    fr__lstm_init(g->net, &l, "", g->hidden);
    for (uint32_t t = 0; t < n_steps; t++) {
        struct fr__value x = fr__nn_dropout(g->net, step_name(g, t, "dropout"), g->x[t]);

        if (answers)
            x = fr__nn_join(g->net, step_name(g, t, "join"), x, answers[t]);
        x = fr__lstm_step(g->net, &l, t, x);
        if (layer >= FIRST_RESIDUAL)
            x = fr__nn_add(g->net, step_name(g, t, "add"), x, g->x[t], false);
        g->x[t] = x;
    }
}

static struct fr__value build_encoder(struct gnmt *g, uint32_t n_layers, struct fr__value tokens)
{
    fr__nn_layer(g->net, "encoder.embed");
    embed(g, tokens);
    build_both_ways(g);
    for (uint32_t i = 1; i < n_layers; i++)
        build_layer(g, "encoder", i, g->n_source, NULL);
    fr__nn_layer(g->net, "encoder.memory");
    return fr__nn_stack(g->net, "", g->x, g->n_source);
}

/* ---- decoder ---- */

/* The first layer, and what its outputs find in the memory: into y. */
static void build_attention(struct gnmt *g, struct fr__value memory)
{
    struct fr__attention a;
    struct fr__lstm l;

    fr__nn_layer(g->net, "decoder.layer0");
    fr__lstm_init(g->net, &l, "", g->hidden);
    for (uint32_t t = 0; t < g->n_target; t++)
        g->x[t] = fr__lstm_step(g->net, &l, t, g->x[t]);
    fr__nn_layer(g->net, "decoder.attention");
    fr__attention_init(g->net, &a, memory, g->hidden);
    for (uint32_t t = 0; t < g->n_target; t++)
        g->y[t] = fr__attention_step(g->net, &a, t, g->x[t]);
}

/* With no later layer to read the answers. */
static void build_combination(struct gnmt *g)
{
    struct fr__shared w = {0};

    fr__nn_layer(g->net, "decoder.combine");
    for (uint32_t t = 0; t < g->n_target; t++) {
        struct fr__value v = fr__nn_join(g->net, step_name(g, t, "join"), g->x[t], g->y[t]);

        v = fr__nn_shared_linear(g->net, step_name(g, t, "project"), v, g->hidden, &w);
        g->x[t] = fr__nn_tanh(g->net, step_name(g, t, "tanh"), v);
    }
}

static void build_decoder(struct gnmt *g, uint32_t n_layers, struct fr__value tokens,
                          struct fr__value memory)
{
    fr__nn_layer(g->net, "decoder.embed");
    embed(g, tokens);
    build_attention(g, memory);
    for (uint32_t i = 1; i < n_layers; i++)
        build_layer(g, "decoder", i, g->n_target, g->y);
    if (n_layers == 1)
        build_combination(g);
}

/* ---- the whole ---- */

static void build_model(struct gnmt *g, uint32_t n_encoder, uint32_t n_decoder)
{
    struct fr__value source = fr__nn_sentences(g->net, "source", g->n_source);
    struct fr__value target = fr__nn_sentences(g->net, "target", g->n_target), y;

    build_decoder(g, n_decoder, target, build_encoder(g, n_encoder, source));
    fr__nn_layer(g->net, "classifier");
    fr__nn_wide(g->net, true);
    y = fr__nn_stack(g->net, "steps", g->x, g->n_target);
    y = fr__nn_linear(g->net, "", y, g->vocab);
    fr__nn_cross_entropy(g->net, fr__nn_bias(g->net, "bias", y));
}

static void build(struct fr__net *net, const uint32_t values[])
{
    struct gnmt g = {.net = net, .hidden = values[HIDDEN], .vocab = values[VOCAB]};
    uint32_t longest;

    g.n_source = net->seq_len;
    g.n_target = values[TARGET] ? values[TARGET] : net->seq_len;
    longest = g.n_source > g.n_target ? g.n_source : g.n_target;
    g.x = calloc(longest, sizeof(*g.x));
    g.y = calloc(longest, sizeof(*g.y));
    if (g.x && g.y)
        build_model(&g, values[ENCODER], values[DECODER]);
    else
        net->is_out_of_memory = true;
    free(g.x);
    free(g.y);
}

const struct fr__family fr__family_gnmt = {
    .group = "Recurrent",
    .batch = 64,
    .keys = keys,
    .length = "source",
    .longest = FR__MAX_STEPS,
    .build = build,
};
