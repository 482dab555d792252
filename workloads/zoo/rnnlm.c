/* workloads/zoo/rnnlm.c - a language model of stacked LSTM layers, unrolled in time.
 *
 * W. Zaremba, I. Sutskever, O. Vinyals, Recurrent Neural Network Regularization, 2014: embedding,
 * layers, softmax over the words, dropout on all that is not recurrent; 10,000 words of the Penn
 * Treebank. Two layers of 2048, batch 64 and 40 steps as in A. Mirhoseini et al., Device Placement
 * Optimization with Reinforcement Learning, ICML 2017, and Z. Jia, M. Zaharia, A. Aiken, Beyond
 * Data and Model Parallelism for Deep Neural Networks, MLSys 2019 (FlexFlow). As TensorFlow's
 * tutorial of it, the model looks all words up at once and classifies all steps at once.
 */
#include "config.h"

#include "workloads/zoo/nn_recurrent.h"
#include "workloads/zoo/zoo.h"

#include <stdio.h>
#include <stdlib.h>

enum rnnlm_key { LAYERS, HIDDEN, VOCAB, STEPS };

static const struct fr__model_key keys[] = {
    [LAYERS] = {"layers", 2, 1, 64, NULL},
    [HIDDEN] = {"hidden", 2048, 1, 1 << 15, NULL},
    [VOCAB] = {"vocab", 10000, 2, 1 << 24, NULL},
    [STEPS] = {"steps", 40, 1, FR__MAX_STEPS, NULL},
    {0},
};

static void build_layer(struct fr__net *net, uint32_t layer, uint32_t hidden, struct fr__value x[])
{
    struct fr__lstm l;
    char name[32];

    fr__nn_layer(net, "layer%u", layer);
    fr__lstm_init(net, &l, "", hidden);
    for (uint32_t t = 0; t < net->seq_len; t++) {
        x[t] = fr__lstm_step(net, &l, t, x[t]);
        snprintf(name, sizeof(name), "t%u.dropout", t);
        x[t] = fr__nn_dropout(net, name, x[t]);
    }
}

static void build(struct fr__net *net, const uint32_t values[])
{
    struct fr__value *x = calloc(net->seq_len, sizeof(*x)), y;

    if (!x) {
        net->is_out_of_memory = true;
        return;
    }
    y = fr__nn_tokens(net);
    fr__nn_layer(net, "embed");
    y = fr__nn_embedding(net, "words", y, values[VOCAB], values[HIDDEN]);
    fr__nn_unstack(net, "steps", fr__nn_dropout(net, "dropout", y), x);
    for (uint32_t i = 0; i < values[LAYERS]; i++)
        build_layer(net, i, values[HIDDEN], x);
    fr__nn_layer(net, "classifier");
    fr__nn_wide(net, true);
    y = fr__nn_linear(net, "", fr__nn_stack(net, "steps", x, net->seq_len), values[VOCAB]);
    fr__nn_cross_entropy(net, fr__nn_bias(net, "bias", y));
    free(x);
}

const struct fr__family fr__family_rnnlm = {
    .group = "Recurrent",
    .batch = 64,
    .keys = keys,
    .length = "steps",
    .longest = FR__MAX_STEPS,
    .build = build,
};
