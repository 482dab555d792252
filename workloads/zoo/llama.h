/* workloads/zoo/llama.h - the decoder that Llama and Mixtral share. */
#ifndef FR_WORKLOADS_ZOO_LLAMA_H
#define FR_WORKLOADS_ZOO_LLAMA_H

#include "workloads/zoo/nn_attention.h"

struct fr__llama_shape {
    uint32_t layers, hidden, ffn, heads, kv_heads, vocab;
    uint32_t head_width; /* 0: hidden / heads */
    bool is_tied;        /* the output layer's weights are the embedding's */
    bool has_qkv_bias;   /* of queries, keys and values (Qwen2) */
    bool has_qk_norm;    /* queries and keys are normalised, each head by itself (Qwen3) */
};

/* heads divides hidden unless the width of a head is given, kv_heads divides heads. FR_EUSAGE. */
enum fr_status fr__llama_check(const char *model, const struct fr__llama_shape *s,
                               struct fr_error *err);

/* The whole forward graph. feed_forward gives what is added to x behind each block's attention,
 * from the normalised x; user is handed through. */
void fr__llama_build(struct fr__net *net, const struct fr__llama_shape *s,
                     enum fr__attention_form form,
                     struct fr__value (*feed_forward)(struct fr__net *net, uint32_t layer,
                                                      const struct fr__llama_shape *s,
                                                      struct fr__value x, const void *user),
                     const void *user);
#endif
