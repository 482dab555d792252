/* workloads/zoo/vit.c - the Vision Transformer.
 *
 * A. Dosovitskiy et al., An Image Is Worth 16x16 Words, ICLR 2021, section 3.1 and table 1: patches
 * of the image through one linear map (a convolution whose stride is its size), a learned class
 * token and learned positions, an encoder with the norm first, a linear classifier of the class
 * token. Op by op as in Hugging Face Transformers (models/vit/modeling_vit.py), without dropout, as
 * published. The class token's parameters are counted with the positions.
 */
#include "config.h"

#include "workloads/zoo/nn_encoder.h"
#include "workloads/zoo/zoo.h"

enum vit_key { ATTENTION, LAYERS, HIDDEN, FFN, HEADS, PATCH, CHANNELS, CLASSES };

static const struct fr__model_key keys[] = {
    [ATTENTION] = {FR__ATTENTION_KEY(FR__ATTENTION_FLASH)},
    [LAYERS] = {"layers", 12, 1, 1024, NULL},
    [HIDDEN] = {"hidden", 768, 1, 1 << 17, NULL},
    [FFN] = {"ffn", 3072, 1, 1 << 19, NULL},
    [HEADS] = {"heads", 12, 1, 1 << 12, NULL},
    [PATCH] = {"patch", 16, 1, 1 << 12, NULL},
    [CHANNELS] = {"channels", 3, 1, 1 << 12, NULL},
    [CLASSES] = {"classes", 1000, 1, 1 << 24, NULL},
    {0},
};

static void build(struct fr__net *net, const uint32_t s[])
{
    const struct fr__encoder e = {
        .heads = s[HEADS], .ffn = s[FFN], .form = (enum fr__attention_form)s[ATTENTION]};
    struct fr__value x = fr__nn_images(net, s[CHANNELS]);

    fr__nn_layer(net, "embed");
    x = fr__nn_conv(net, "patches", x, s[HIDDEN], fr__square(s[PATCH], s[PATCH], 0));
    x = fr__nn_line_up(net, "sequence", fr__nn_bias(net, "patches.bias", x), 1);
    x = fr__nn_add_places(net, "positions", x, 1);
    x = fr__nn_encoder_layers(net, "layer", s[LAYERS], &e, x);
    fr__nn_layer(net, "final");
    x = fr__nn_first_position(net, "first", fr__nn_layernorm(net, "ln", x));
    fr__nn_layer(net, "head");
    fr__nn_wide(net, true);
    fr__nn_cross_entropy(net, fr__nn_dense(net, "fc", x, s[CLASSES]));
}

const struct fr__family fr__family_vit = {
    .group = "Transformers",
    .batch = 64,
    .image_size = 224,
    .keys = keys,
    .has_whole_heads = true,
    .build = build,
};
