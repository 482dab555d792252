/* workloads/zoo/nn_recurrent.h - building blocks of models that are unrolled in time.
 *
 * A sequence is an array of values [batch, width], one a step; a step's ops are ops of their own,
 * as in a graph that TensorFlow unrolls, so that a placement can spread layers and steps. What
 * steps share are parameters: the first step owns them, the others are tied to it, all in one
 * layer, and workloads/passes/training.c makes one weight gradient for all.
 *
 * A long short-term memory (F. Gers, J. Schmidhuber, F. Cummins, Learning to Forget, 2000, without
 * peepholes; the equations and the two biases of torch.nn.LSTM, cuDNN's cell):
 *   i, f, g, o = act(W_ih x_t + b_ih + W_hh h_{t-1} + b_hh)    sigmoid, sigmoid, tanh, sigmoid
 *   c_t = f c_{t-1} + i g            h_t = o tanh(c_t)
 * 4 h (i + h + 2) parameters, 4 h (i + h) multiply-adds a step and sample. In ops: ih, hh, sum,
 * bias, act, gates (four views), forget, input, c, tanh, h; all named PREFIX tSTEP.OP. In place as
 * in PyTorch's CPU kernels (aten/src/ATen/native/RNN.cpp, 1.13): sum, bias and act into ih's
 * storage, c into forget's. Kept for the backward pass are thus, in units of h elements a step and
 * sample: the gates 4, c 1, tanh c 1, h 1 and the step's input.
 */
#ifndef FR_WORKLOADS_ZOO_NN_RECURRENT_H
#define FR_WORKLOADS_ZOO_NN_RECURRENT_H

#include "workloads/zoo/nn.h"

/* Parameters that several ops of a layer use. Zeroed: nobody has used them yet. */
struct fr__shared {
    bool is_owned;
    uint32_t op; /* the first user, who owns them */
};

/* Token numbers (int64) [batch, n_steps], in layer "input". */
struct fr__value fr__nn_sentences(struct fr__net *net, const char *name, uint32_t n_steps);

/* The steps of x [batch, steps, width], which are views of it: out[steps]. */
void fr__nn_unstack(struct fr__net *net, const char *name, struct fr__value x,
                    struct fr__value out[]);
/* The inverse, a copy: [batch, n, width]. n >= 1. */
struct fr__value fr__nn_stack(struct fr__net *net, const char *name, const struct fr__value steps[],
                              size_t n);
/* a and b side by side, a copy: [batch, width of a + width of b]. */
struct fr__value fr__nn_join(struct fr__net *net, const char *name, struct fr__value a,
                             struct fr__value b);

/* One direction of one layer. The caller owns it; nothing to release. */
struct fr__lstm {
    const char *prefix; /* of its ops' names, lives as long: "", "fw." */
    uint32_t hidden;
    struct fr__value h, c; /* of the step before */
    struct fr__shared ih, hh, bias;
};

/* Adds PREFIXstate, the zeros that h and c start from, in the net's present layer, where all steps
 * must be. */
void fr__lstm_init(struct fr__net *net, struct fr__lstm *l, const char *prefix, uint32_t hidden);
/* The next step, which is called t; returns h_t. */
struct fr__value fr__lstm_step(struct fr__net *net, struct fr__lstm *l, uint32_t t,
                               struct fr__value x);

/* A product that all steps of the net's present layer share: x [batch, width] or
 * [batch, steps, width] times a matrix of n_out columns, 1 for [batch, steps]. */
struct fr__value fr__nn_shared_linear(struct fr__net *net, const char *name, struct fr__value x,
                                      uint32_t n_out, struct fr__shared *w);

/* Additive attention (D. Bahdanau, K. Cho, Y. Bengio, ICLR 2015, appendix A.1.2) over the steps of
 * a memory [batch, steps, m]: s_j = v tanh(W_q q + W_k m_j), a = softmax(s), answer sum_j a_j m_j.
 * The keys W_k m_j are one product for all queries; the tanh adds W_q q to all keys as it goes, one
 * kernel. With units u as many as the query is wide, u (u + m + 1) parameters and, a query and
 * sample, u^2 + steps (u + m) multiply-adds, plus steps m u for the keys. */
struct fr__attention {
    struct fr__value memory, keys;
    struct fr__shared query, score;
};

/* Adds "keys", in the net's present layer, where all steps must be. */
void fr__attention_init(struct fr__net *net, struct fr__attention *a, struct fr__value memory,
                        uint32_t units);
/* The answer [batch, m] to step t's query [batch, units]. In ops: query, tanh, scores, softmax,
 * context. */
struct fr__value fr__attention_step(struct fr__net *net, struct fr__attention *a, uint32_t t,
                                    struct fr__value query);

#endif
