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

#include "workloads/zoo/nn_mlp.h"

enum { FR__MAX_EXPERTS = 512 };

/* How a token's experts are chosen and weighted. */
enum fr__router {
    FR__ROUTER_TOPK,    /* softmax over the scores of the chosen (Mixtral) */
    FR__ROUTER_SOFTMAX, /* softmax over all, then the best (DeepSeek-AI, DeepSeek-V2, 2024, section
                           2.2) */
    FR__ROUTER_SIGMOID, /* sigmoid, the best, and their weights over their sum (DeepSeek-AI,
                           DeepSeek-V3, 2024, section 2.1.2) */
    FR__ROUTER_FIRST /* the best, then its sigmoid, which weights what the expert reads (Llama 4) */
};
extern const char *const fr__routers[]; /* "topk", "softmax", "sigmoid", "first"; NULL */

struct fr__moe {
    uint32_t n_experts, n_chosen; /* n_experts <= FR__MAX_EXPERTS, 1 <= n_chosen <= n_experts */
    unsigned skew_percent;        /* 0: every expert is chosen alike; see fr__moe_tokens */
    enum fr__router router;
    bool has_router_bias;
    uint32_t n_groups;     /* experts are chosen from the best of so many groups; 0, 1: from all
                              (DeepSeek-V2, section 2.2.2; DeepSeek-V3, section 2.1.2) */
    struct fr__mlp expert; /* names w1, w3, w2 */
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
 * LAYER.expertN. */
struct fr__value fr__nn_moe(struct fr__net *net, const char *layer, const struct fr__moe *m,
                            struct fr__value x);
#endif
