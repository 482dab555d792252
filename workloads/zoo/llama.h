/* workloads/zoo/llama.h - the decoder that Llama and Mixtral share. */
#ifndef FR_WORKLOADS_ZOO_LLAMA_H
#define FR_WORKLOADS_ZOO_LLAMA_H

#include "workloads/zoo/nn_attention.h"

struct fr__llama_shape {
    uint32_t layers, hidden, ffn, heads, kv_heads, vocab;
};

/* heads divides hidden, kv_heads divides heads. FR_EUSAGE. */
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
