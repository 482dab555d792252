/* workloads/zoo/nn_moe.h - a layer of experts, of which each token visits a few.
 *
 * N. Shazeer et al., Outrageously Large Neural Networks: The Sparsely-Gated Mixture-of-Experts
 * Layer, ICLR 2017; A. Q. Jiang et al., Mixtral of Experts, 2024, section 2.1: y = sum over the
 * n_chosen experts of softmax(top-k(x Wg)) SwiGLU(x). No token is dropped: each expert works on
 * what it gets (T. Gale et al., MegaBlocks, MLSys 2023). Tokens are copied out to the experts by
 * one op and added up by one.
 */
#ifndef FR_WORKLOADS_ZOO_NN_MOE_H
#define FR_WORKLOADS_ZOO_NN_MOE_H

#include "workloads/zoo/nn.h"

enum { FR__MAX_EXPERTS = 256 };

struct fr__moe {
    uint32_t n_experts, n_chosen,
        ffn;               /* n_experts <= FR__MAX_EXPERTS, 1 <= n_chosen <= n_experts */
    unsigned skew_percent; /* 0: every expert is chosen alike; see fr__moe_tokens */
};

/* Tokens of one sample that each expert gets: [n_experts], all at least 1, their sum n_tokens.
 *   share_e = (1 - s) / n + s / (e H_n),  e = 1 .. n,  H_n = 1 + 1/2 + ... + 1/n,
 *   s = skew_percent / 100
 * so 0 is balanced and 100 is Zipf's law with exponent 1. Shares are rounded down and what is left
 * goes to the largest remainders, the earlier expert first; an expert with nothing then takes one
 * from the last of those with the most. n_tokens >= n_experts. */
void fr__moe_tokens(uint32_t n_tokens, uint32_t n_experts, unsigned skew_percent,
                    uint32_t tokens[]);

/* The layer of x [batch, seq, hidden], in layers LAYER (router, dispatch, combine) and
 * LAYER.expertN. Each expert is three linear layers without biases, the second of the silu of the
 * first and the third's product (SwiGLU: N. Shazeer, GLU Variants Improve Transformer, 2020). */
struct fr__value fr__nn_moe(struct fr__net *net, const char *layer, const struct fr__moe *m,
                            struct fr__value x);
#endif
