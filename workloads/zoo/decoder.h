/* workloads/zoo/decoder.h - one decoder block with options, for all decoders of the llama family.
 *
 *     llama.c                the options, what goes together, the family
 *     decoder.c              layers, residuals, feed-forward layers and experts, head, prediction
 *                            of further tokens
 *     decoder_attention.c    grouped queries and latent attention
 *     decoder_mixers.c       what stands in attention's place: state spaces, the gated delta rule
 *     decoder_vision.c        a tower that turns an image into tokens
 *
 * Each layer has a mixer, named by a letter, and a feed-forward layer:
 *
 *     f  attention to all positions        w  to a window of positions
 *     n  to all, without rotary positions  c  to the own piece of a sequence
 *     m  Mamba-2                           s  Mamba
 *     d  gated delta rule                  p  attention and Mamba-2 beside each other
 *     -  none: the feed-forward layer is the layer; e: the experts are
 */
#ifndef FR_WORKLOADS_ZOO_DECODER_H
#define FR_WORKLOADS_ZOO_DECODER_H

#include "workloads/zoo/nn_attention.h"

enum fr__decoder_key {
    FR__D_ATTENTION,
    FR__D_LAYERS,
    FR__D_HIDDEN,
    FR__D_FFN,
    FR__D_HEADS,
    FR__D_KV_HEADS,
    FR__D_SEQ,
    FR__D_VOCAB,
    FR__D_HEAD_WIDTH, /* 0: hidden / heads */
    FR__D_TIED,       /* the output layer's weights are the embedding's */
    FR__D_QKV_BIAS,   /* of queries, keys and values (Qwen2) */
    FR__D_QK_NORM,    /* of queries and keys: enum fr__qk_norm */
    FR__D_EXPERTS,    /* in a feed-forward layer; 0: it is one MLP */
    FR__D_CHOSEN,     /* of them, for each token */
    FR__D_SHARED,     /* width of an expert that every token visits behind a gate; 0: none */
    FR__D_SKEW,
    FR__D_O_BIAS,
    FR__D_MLP_BIAS,
    FR__D_EXPERT_BIAS,
    FR__D_ROUTER_BIAS,
    FR__D_FUSED,      /* q, k and v are one product, gate and up are one (Phi-3) */
    FR__D_NORMS,      /* where: enum fr__norms */
    FR__D_PLAIN_NORM, /* 1: layer norms without weights (OLMo) in place of RMS norms; 2: with one
                         weight a column (ModernBERT) */
    FR__D_ACT,        /* of feed-forward layers: enum fr__activation */
    FR__D_PLAIN_MLP,  /* they have no gate */
    FR__D_NO_MLP,     /* layers are mixers alone (Mamba-2) */
    FR__D_MIXERS,     /* letters, again and again over the layers */
    FR__D_FULL_EVERY, /* with one letter: each such layer is f instead; 0: none */
    FR__D_FULL_AT,    /* the first of these; FR__D_LAST: the last of each so many */
    FR__D_WINDOW,     /* of w and c; 0: they see all */
    FR__D_ROTARY,     /* how many of a hundred elements of a head turn */
    FR__D_SINKS,
    FR__D_CAPPED,   /* scores of attention go through a soft cap */
    FR__D_HEAD_CAP, /* so do the logits */
    FR__D_OUT_GATE, /* queries bring a gate for the context (Qwen3-Next) */
    FR__D_EMBED_SCALE,
    FR__D_RESIDUAL_SCALE, /* what is added to the residual is scaled (Granite) */
    FR__D_HEAD_SCALE,
    FR__D_EXPERT_FFN,     /* width of an expert; 0: ffn */
    FR__D_SHARED_EXPERTS, /* experts that every token visits, as one as wide as all; 0: none */
    FR__D_DENSE_FIRST,    /* so many layers have no experts */
    FR__D_EXPERTS_EVERY,  /* each such layer has experts */
    FR__D_EXPERTS_AT,     /* the first of these; FR__D_LAST: the last of each so many */
    FR__D_ROUTER,         /* enum fr__router */
    FR__D_GROUPS,         /* of experts */
    FR__D_Q_RANK,         /* latent attention: of queries; 0: they are one product */
    FR__D_KV_RANK,        /* of keys and values; 0: attention is not latent */
    FR__D_ROPE_WIDTH,     /* of a head: elements that turn, shared by all heads' keys */
    FR__D_NOPE_WIDTH,     /* and those that do not */
    FR__D_VALUE_WIDTH,
    FR__D_SEES_BOTH,  /* an encoder: positions see both sides */
    FR__D_EMBED_NORM, /* of the embedding, in place of the first layer's norm */
    FR__D_WORDS_HEAD, /* a product, GELU and a norm in front of the head, which has a bias */
    FR__D_MTP,        /* modules that predict further tokens */
    FR__D_SSM_HEADS,  /* of Mamba-2; of values of the delta rule */
    FR__D_SSM_WIDTH,  /* of a head */
    FR__D_SSM_STATE,  /* of a state; of a head of keys */
    FR__D_SSM_GROUPS,
    FR__D_SSM_CONV, /* positions that the convolution sees */
    FR__D_SSM_CONV_BIAS,
    FR__D_SSM_CHUNK,
    FR__D_SSM_NORM,     /* a gated norm behind Mamba-2 */
    FR__D_SSM_EXPAND,   /* of Mamba: its width over the model's */
    FR__D_DT_RANK,      /* of Mamba: rank of the steps */
    FR__D_IMAGE_LAYERS, /* of a tower in front (decoder_vision.c); 0: none */
    FR__D_IMAGE_HIDDEN,
    FR__D_IMAGE_FFN,
    FR__D_IMAGE_HEADS,
    FR__D_IMAGE, /* side of an image */
    FR__D_PATCH,
    FR__D_SHUFFLE,     /* so many patches squared become one token */
    FR__D_IMAGE_WIDTH, /* of the products behind it */
    FR__D_N_KEYS
};

enum { FR__D_LAST = 4095 };
enum fr__qk_norm { FR__QK_NORM_NONE, FR__QK_NORM_HEADS, FR__QK_NORM_ALL, FR__QK_NORM_PLAIN };
/* In front of each sublayer (pre), behind it too (both; Gemma 2), behind it alone (post; OLMo 2) */
enum fr__norms { FR__NORMS_PRE, FR__NORMS_BOTH, FR__NORMS_POST };

/* Writes the whole model down. s: [FR__D_N_KEYS], then the letters (zoo.h). */
void fr__decoder_build(struct fr__net *net, const uint32_t s[]);

/* ---- of the decoder's files ---- */

struct fr__value fr__decoder_norm(struct fr__net *net, const char *name, const uint32_t s[],
                                  struct fr__value x);
/* What attention of that letter makes of y, which is normalised, without the residual. */
struct fr__value fr__decoder_attend(struct fr__net *net, const uint32_t s[], char letter,
                                    struct fr__value y);
/* Width of a head's queries. */
uint32_t fr__decoder_head_width(const uint32_t s[]);

/* The image's tokens, [batch, tokens, hidden], and how many there are: 0 without a tower. */
struct fr__value fr__decoder_see(struct fr__net *net, const uint32_t s[]);
uint32_t fr__decoder_image_tokens(const uint32_t s[]);

/* Mixers without attention, of y. T. Dao, A. Gu, Transformers are SSMs, ICML 2024, section 7
 * (Mamba-2); A. Gu, T. Dao, Mamba, 2023, section 3.4, with norms of steps and of both projections
 * of the state as in O. Lieber et al., Jamba, 2024, section 3; S. Yang, J. Kautz, A. Hatamizadeh,
 * Gated Delta Networks, ICLR 2025, section 3, as in Qwen3-Next. */
struct fr__value fr__decoder_mamba2(struct fr__net *net, const uint32_t s[], struct fr__value y);
struct fr__value fr__decoder_mamba(struct fr__net *net, const uint32_t s[], struct fr__value y);
struct fr__value fr__decoder_delta(struct fr__net *net, const uint32_t s[], struct fr__value y);
#endif
