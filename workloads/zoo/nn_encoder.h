/* workloads/zoo/nn_encoder.h - the layer of encoders with a layer norm in front and biases: what
 * ViT, CLIP, SigLIP and Whisper have in common.
 *
 *     x + out(attention(ln(x)))      A. Dosovitskiy et al., An Image Is Worth 16x16 Words, ICLR
 *     x + fc2(gelu(fc1(ln(x))))      2021, equations 2 and 3
 */
#ifndef FR_WORKLOADS_ZOO_NN_ENCODER_H
#define FR_WORKLOADS_ZOO_NN_ENCODER_H

#include "workloads/zoo/nn_attention.h"
#include "workloads/zoo/nn_image.h"

struct fr__encoder {
    uint32_t heads, ffn;
    enum fr__attention_form form;
    bool is_causal;
    bool has_no_key_bias; /* Whisper */
    bool has_rotary;      /* queries and keys are turned by their places (Llama 4) */
};

/* The first line, in the net's layer; memory: keys and values come from there, which is normalised
 * already; NULL: from x. */
struct fr__value fr__nn_encoder_attention(struct fr__net *net, const struct fr__encoder *e,
                                          struct fr__value x, const struct fr__value *memory);
/* The second line. */
struct fr__value fr__nn_encoder_mlp(struct fr__net *net, const struct fr__encoder *e,
                                    struct fr__value x);
/* So many layers, PREFIX0.attn, PREFIX0.mlp, ... */
struct fr__value fr__nn_encoder_layers(struct fr__net *net, const char *prefix, uint32_t n_layers,
                                       const struct fr__encoder *e, struct fr__value x);

/* An image [batch, hidden, height, width] as a sequence behind n_extra tokens, a copy. */
struct fr__value fr__nn_line_up(struct fr__net *net, const char *name, struct fr__value x,
                                uint32_t n_extra);
/* Positions of b behind those of a, in a storage of their own. */
struct fr__value fr__nn_join_rows(struct fr__net *net, const char *name, struct fr__value a,
                                  struct fr__value b);
/* The first `rows` positions of x, and with n 2 those behind them, as views. out: [n]. */
void fr__nn_cut_rows(struct fr__net *net, const char *name, struct fr__value x, uint32_t rows,
                     size_t n, struct fr__value out[]);
/* One learned row of so many numbers, for each sample: [batch, 1, width]. */
struct fr__value fr__nn_probe(struct fr__net *net, const char *name, uint32_t width);
/* x times a learned number, and with n_numbers 2 one more added. */
struct fr__value fr__nn_learned_scale(struct fr__net *net, const char *name, struct fr__value x,
                                      uint32_t n_numbers);
/* x plus one learned row for each position of it, and n_extra rows that are tokens in front. */
struct fr__value fr__nn_add_places(struct fr__net *net, const char *name, struct fr__value x,
                                   uint32_t n_extra);
#endif
