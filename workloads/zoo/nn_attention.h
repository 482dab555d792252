/* workloads/zoo/nn_attention.h - the ops that Transformers add to workloads/zoo/nn.h.
 *
 * Sequences are [batch, seq, hidden]; the hidden dimension of queries, keys and values is
 * [heads, width of a head].
 *
 * Attention comes in two forms. Unfused, it is what A. Vaswani et al., Attention Is All You Need,
 * NeurIPS 2017, section 3.2, writes down, one kernel a step: a copy that puts the heads first,
 * scores, scale, mask, softmax, dropout, context, a copy back. It keeps three tensors of
 * [batch, heads, seq, seq]. As a flash kernel it is one op that keeps queries, keys, values, its
 * output and the fp32 logarithm of the softmax's sum, one a row and head, and recomputes the scores
 * (T. Dao et al., FlashAttention, NeurIPS 2022, sections 3.1 and B.2); dropout happens inside, from
 * a random number generator's saved state.
 */
#ifndef FR_WORKLOADS_ZOO_NN_ATTENTION_H
#define FR_WORKLOADS_ZOO_NN_ATTENTION_H

#include "workloads/zoo/nn.h"

/* FLASH: the newest generation of FlashAttention for the device; FLASH_1 to FLASH_3: that one;
 * FP8: the newest fused kernel with operands of 8 bits, as Transformer Engine's fp8_dpa. */
enum fr__attention_form {
    FR__ATTENTION_UNFUSED,
    FR__ATTENTION_FLASH,
    FR__ATTENTION_FLASH_1,
    FR__ATTENTION_FLASH_2,
    FR__ATTENTION_FLASH_3,
    FR__ATTENTION_FP8
};

/* The key "attention=unfused|flash|flash-1|flash-2|flash-3|flash-fp8" of a model's name; form:
 * unless the user says otherwise. A form and a number format that no kernel has together are a
 * fault of the net: a generation of FlashAttention in fp32 or tf32, flash-fp8 in all but fp8. */
#define FR__ATTENTION_KEY(form)                                                                    \
    .name = "attention", .fallback = (form), .choices = fr__attention_forms
extern const char *const fr__attention_forms[];

/* Whether the heads share the width alike. FR_EUSAGE. */
enum fr_status fr__check_heads(const char *model, uint32_t hidden, uint32_t heads,
                               struct fr_error *err);

struct fr__dot_attention {
    uint32_t heads, kv_heads; /* kv_heads divides heads; alike: no groups */
    enum fr__attention_form form;
    bool is_causal;   /* a position sees those up to its own; a flash kernel skips the others */
    bool has_dropout; /* of the weights */
    bool is_unscaled; /* scores are not divided by the root of a head's width; unfused only */
    const struct fr__value
        *bias;            /* added to the scores, [1, heads, seq, seq]; unfused only; NULL */
    uint32_t value_width; /* of a head; 0: as wide as its keys */
    uint32_t window;      /* neighbours that a position sees; 0: all. Unfused it is but a mask */
    bool is_chunked;      /* of its own piece of `window` positions alone */
    bool has_sinks;       /* a number a head that takes part in the softmax and is then dropped (G.
                             Xiao et al., Efficient Streaming Language Models with Attention Sinks,
                             ICLR 2024, as in OpenAI's gpt-oss) */
    bool is_capped;       /* scores go through c tanh(x / c); a flash kernel does so inside */
};

/* What the queries q make of keys k and values v, [batch, seq, heads value_width], before the
 * output projection. Keys
 * and values of fewer heads are shared by a group of query heads each (J. Ainslie et al., GQA,
 * EMNLP 2023): unfused they are copied out to all heads, a flash kernel reads them as they are. */
struct fr__value fr__nn_attend(struct fr__net *net, const struct fr__dot_attention *a,
                               struct fr__value q, struct fr__value k, struct fr__value v);
/* The same of queries, keys and values side by side, [batch, seq, 3 hidden], kv_heads = heads. */
struct fr__value fr__nn_attend_packed(struct fr__net *net, const struct fr__dot_attention *a,
                                      struct fr__value qkv);

/* [batch, seq, 3 hidden] to q, k, v, each contiguous [batch, heads, seq, hidden / heads]. */
void fr__nn_split_heads(struct fr__net *net, const char *name, struct fr__value x, uint32_t heads,
                        struct fr__value qkv[3]);
/* [batch, heads, seq, width] to [batch, seq, heads width]. */
struct fr__value fr__nn_merge_heads(struct fr__net *net, const char *name, struct fr__value x);

/* A linear layer, then "NAME.bias". */
struct fr__value fr__nn_dense(struct fr__net *net, const char *name, struct fr__value x,
                              uint32_t n_out);
/* x [batch, seq, hidden] over the root of the mean of a row's squares, times a weight. One kernel,
 * which keeps its input and one fp32 a row (B. Zhang, R. Sennrich, Root Mean Square Layer
 * Normalization, NeurIPS 2019; the fused kernel of NVIDIA Apex). */
struct fr__value fr__nn_rmsnorm(struct fr__net *net, const char *name, struct fr__value x);
/* The same for each head of x by itself, one weight of `width` elements for all of them (queries
 * and keys of Qwen3 and others: A. Henry et al., Query-Key Normalization, 2020). */
struct fr__value fr__nn_rmsnorm_heads(struct fr__net *net, const char *name, struct fr__value x,
                                      uint32_t width);
/* The same with weights of its own for every group of columns (Mamba-2's gated norm). */
struct fr__value fr__nn_rmsnorm_groups(struct fr__net *net, const char *name, struct fr__value x,
                                       uint32_t width);
/* Turns each pair of a head's elements by an angle that grows with the position (J. Su et al.,
 * RoFormer, 2021, section 3.2). Sines and cosines are constants: nothing is kept. */
struct fr__value fr__nn_rotary(struct fr__net *net, const char *name, struct fr__value x);
/* The same of so many elements of each hundred; the kernel copies the others (Transformer Engine,
 * fused_rope.cu). 0: nothing is done. */
struct fr__value fr__nn_rotary_part(struct fr__net *net, const char *name, struct fr__value x,
                                    uint32_t percent);
/* Each row less its mean over its deviation, without an offset; has_gain: times a weight a column
 * (ModernBERT: B. Warner et al., 2024, section 2.1), else without weights (OLMo: D. Groeneveld et
 * al., 2024, section 2.1). */
struct fr__value fr__nn_plain_norm(struct fr__net *net, const char *name, struct fr__value x,
                                   bool has_gain);
/* Each head of x over the root of the mean of its squares, without weights (Llama 4). */
struct fr__value fr__nn_plain_norm_heads(struct fr__net *net, const char *name, struct fr__value x,
                                         uint32_t width);
/* c tanh(x / c): three kernels (Gemma Team, Gemma 2, 2024, section 2). */
struct fr__value fr__nn_cap(struct fr__net *net, const char *name, struct fr__value x);
/* x times itself, element by element. */
struct fr__value fr__nn_square(struct fr__net *net, const char *name, struct fr__value x);
/* The columns of x [batch, seq, width] as n views of so many columns each, whose sum is the width.
 * Where the columns are heads, each view has a part of every head. out: [n]. */
void fr__nn_split_columns(struct fr__net *net, const char *name, struct fr__value x,
                          const uint32_t widths[], size_t n, struct fr__value out[]);
/* Columns of a, then those of b, copied into one tensor. */
struct fr__value fr__nn_join_columns(struct fr__net *net, const char *name, struct fr__value a,
                                     struct fr__value b);
/* Each of `heads` heads of a, and behind it b [batch, seq, width], which all heads share. */
struct fr__value fr__nn_join_heads(struct fr__net *net, const char *name, struct fr__value a,
                                   struct fr__value b, uint32_t heads);
struct fr__value fr__nn_silu(struct fr__net *net, const char *name, struct fr__value x);
struct fr__value fr__nn_sigmoid(struct fr__net *net, const char *name, struct fr__value x);
/* x times y, element by element; y may have 1 as its last extent. */
struct fr__value fr__nn_mul(struct fr__net *net, const char *name, struct fr__value x,
                            struct fr__value y);

/* The first seq rows of a table of n_rows learned positions, [1, seq, width]; which rows is no
 * tensor of a step but a constant. */
struct fr__value fr__nn_learned_positions(struct fr__net *net, const char *name, uint32_t n_rows,
                                          uint32_t width);
/* A number a head for each bucket of distances, looked up for every pair of positions:
 * [1, heads, seq, seq] (C. Raffel et al., T5, JMLR 21, 2020, section 2.1). */
struct fr__value fr__nn_relative_positions(struct fr__net *net, const char *name,
                                           uint32_t n_buckets, uint32_t heads);
/* x plus a constant, the same for all samples. */
struct fr__value fr__nn_add_constant(struct fr__net *net, const char *name, struct fr__value x);
/* The first position of each sample, [batch, hidden]: a view. */
struct fr__value fr__nn_first_position(struct fr__net *net, const char *name, struct fr__value x);
/* The positions of each sample that indices [batch, n] name: [batch, n, hidden]. */
struct fr__value fr__nn_gather(struct fr__net *net, const char *name, struct fr__value x,
                               struct fr__value indices);

/* The sum of all elements as a loss; the sum of two losses. Each in a layer of that name. */
struct fr__value fr__nn_sum_loss(struct fr__net *net, const char *layer, struct fr__value x);
struct fr__value fr__nn_add_losses(struct fr__net *net, const char *layer, struct fr__value a,
                                   struct fr__value b);
#endif
