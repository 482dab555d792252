/* workloads/zoo/towers.c - CLIP and SigLIP: an encoder of images and one of text, side by side.
 *
 * A. Radford et al., Learning Transferable Visual Models From Natural Language Supervision, ICML
 * 2021, section 2.4 (a class token, a norm in front of the image's layers, a causal encoder of
 * text, projections without biases); X. Zhai et al., Sigmoid Loss for Language Image Pre-Training,
 * ICCV 2023, as in Hugging Face Transformers (models/siglip/modeling_siglip.py: no class token, a
 * head that attends to the patches from one learned query, an encoder of text that sees both
 * sides). Dropout is none, as published.
 *
 * The loss compares each image with its own text. Comparing it with all others of the batch is a
 * product of batch x batch numbers, and over several ranks a gather of them: both are left out.
 */
#include "config.h"

#include "workloads/zoo/nn_encoder.h"
#include "workloads/zoo/zoo.h"

enum towers_key {
    ATTENTION,
    LAYERS, /* of the encoder of text */
    HIDDEN,
    FFN,
    HEADS,
    SEQ,
    VOCAB,
    IMAGE_LAYERS,
    IMAGE_HIDDEN,
    IMAGE_FFN,
    IMAGE_HEADS,
    IMAGE,
    PATCH,
    CHANNELS,
    PROJECTION,
    POOLING /* SigLIP's head */
};

static const struct fr__model_key keys[] = {
    [ATTENTION] = {FR__ATTENTION_KEY(FR__ATTENTION_FLASH)},
    [LAYERS] = {"layers", 12, 1, 1024, NULL},
    [HIDDEN] = {"hidden", 512, 1, 1 << 17, NULL},
    [FFN] = {"ffn", 2048, 1, 1 << 19, NULL},
    [HEADS] = {"heads", 8, 1, 1 << 12, NULL},
    [SEQ] = {"seq", 77, 1, 1 << 16, NULL},
    [VOCAB] = {"vocab", 49408, 2, 1 << 24, NULL},
    [IMAGE_LAYERS] = {"image_layers", 12, 1, 1024, NULL},
    [IMAGE_HIDDEN] = {"image_hidden", 768, 1, 1 << 17, NULL},
    [IMAGE_FFN] = {"image_ffn", 3072, 1, 1 << 19, NULL},
    [IMAGE_HEADS] = {"image_heads", 12, 1, 1 << 12, NULL},
    [IMAGE] = {"image", 224, 1, 1 << 14, NULL},
    [PATCH] = {"patch", 32, 1, 1 << 12, NULL},
    [CHANNELS] = {"channels", 3, 1, 1 << 12, NULL},
    [PROJECTION] = {"projection", 512, 1, 1 << 17, NULL},
    [POOLING] = {"pooling", 0, 0, 1, NULL},
    {0},
};

/* One learned query that attends to all patches, then a feed-forward layer: [batch, hidden]. */
static struct fr__value pool(struct fr__net *net, const struct fr__encoder *e, struct fr__value x)
{
    const struct fr__dot_attention a = {.heads = e->heads, .kv_heads = e->heads, .form = e->form};
    uint32_t hidden = x.t.dims[2];
    struct fr__value query = fr__nn_probe(net, "probe", hidden), k, v, y, z;

    query = fr__nn_dense(net, "q", query, hidden);
    k = fr__nn_dense(net, "k", x, hidden);
    v = fr__nn_dense(net, "v", x, hidden);
    y = fr__nn_dense(net, "out", fr__nn_attend(net, &a, query, k, v), hidden);
    z = fr__nn_dense(net, "fc1", fr__nn_layernorm(net, "ln", y), e->ffn);
    z = fr__nn_dense(net, "fc2", fr__nn_gelu(net, "gelu", z), hidden);
    return fr__nn_first_position(net, "first", fr__nn_add(net, "add", y, z, false));
}

static struct fr__value see(struct fr__net *net, const uint32_t s[])
{
    const struct fr__encoder e = {.heads = s[IMAGE_HEADS],
                                  .ffn = s[IMAGE_FFN],
                                  .form = (enum fr__attention_form)s[ATTENTION]};
    uint32_t n_extra = s[POOLING] ? 0 : 1;
    struct fr__value x;

    net->image_size = s[IMAGE];
    x = fr__nn_images(net, s[CHANNELS]);
    fr__nn_layer(net, "image.embed");
    x = fr__nn_conv(net, "patches", x, s[IMAGE_HIDDEN], fr__square(s[PATCH], s[PATCH], 0));
    if (s[POOLING])
        x = fr__nn_bias(net, "patches.bias", x);
    x = fr__nn_add_places(net, "positions", fr__nn_line_up(net, "sequence", x, n_extra), n_extra);
    if (!s[POOLING])
        x = fr__nn_layernorm(net, "ln", x);
    x = fr__nn_encoder_layers(net, "image", s[IMAGE_LAYERS], &e, x);
    fr__nn_layer(net, "image.final");
    x = fr__nn_layernorm(net, "final", x);
    fr__nn_layer(net, "image.head");
    if (s[POOLING])
        return pool(net, &e, x);
    x = fr__nn_first_position(net, "first", x);
    return fr__nn_linear(net, "fc", x, s[PROJECTION]);
}

static struct fr__value read(struct fr__net *net, const uint32_t s[])
{
    const struct fr__encoder e = {.heads = s[HEADS],
                                  .ffn = s[FFN],
                                  .form = (enum fr__attention_form)s[ATTENTION],
                                  .is_causal = !s[POOLING]};
    struct fr__value x, y;

    fr__nn_layer(net, "input.text");
    x = fr__nn_indices(net, "", net->seq_len);
    fr__nn_layer(net, "text.embed");
    x = fr__nn_embedding(net, "words", x, s[VOCAB], s[HIDDEN]);
    y = fr__nn_learned_positions(net, "positions", s[SEQ], s[HIDDEN]);
    x = fr__nn_encoder_layers(net, "text", s[LAYERS], &e, fr__nn_add(net, "add", x, y, false));
    fr__nn_layer(net, "text.final");
    x = fr__nn_layernorm(net, "ln", x);
    fr__nn_layer(net, "text.head");
    x = fr__nn_first_position(net, "last", x);
    return s[POOLING] ? fr__nn_dense(net, "fc", x, s[PROJECTION])
                      : fr__nn_linear(net, "fc", x, s[PROJECTION]);
}

/* The product of both, times a learned number (SigLIP: and one more added). */
static void build(struct fr__net *net, const uint32_t s[])
{
    struct fr__value image = see(net, s), text = read(net, s), x;

    fr__nn_layer(net, "head");
    x = fr__nn_mul(net, "mul", image, text);
    x = fr__nn_learned_scale(net, "scale", x, s[POOLING] ? 2 : 1);
    fr__nn_sum_loss(net, "loss", x);
}

static enum fr_status check(const struct fr__model *m, const uint32_t s[], struct fr_error *err)
{
    if (s[POOLING] && s[PROJECTION] != s[IMAGE_HIDDEN])
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "model '%s': text is projected to %u, images are %u wide", m->name,
                        s[PROJECTION], s[IMAGE_HIDDEN]);
    return fr__check_heads(m->name, s[IMAGE_HIDDEN], s[IMAGE_HEADS], err);
}

const struct fr__family fr__family_towers = {
    .group = "Transformers",
    .batch = 64,
    .keys = keys,
    .length = "seq",
    .positions = "seq",
    .has_whole_heads = true,
    .check = check,
    .build = build,
};
