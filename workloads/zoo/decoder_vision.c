/* workloads/zoo/decoder_vision.c - the tower that turns an image into tokens of a decoder.
 *
 * Llama 4 (Meta, 2025), op by op as in Hugging Face Transformers (models/llama4/modeling_llama4.py,
 * Llama4VisionModel): patches through one linear map, a class token and learned positions, an
 * encoder between two norms; without the class token, neighbours of `shuffle` x `shuffle` patches
 * become one token, which two products and a projection bring to the decoder's width. One image a
 * sample; its tokens stand in front of the text, which has so many fewer.
 */
#include "config.h"

#include "workloads/zoo/decoder.h"

#include "workloads/zoo/nn_encoder.h"

uint32_t fr__decoder_image_tokens(const uint32_t s[])
{
    uint32_t side = s[FR__D_IMAGE] / s[FR__D_PATCH] / s[FR__D_SHUFFLE];

    return s[FR__D_IMAGE_LAYERS] ? side * side : 0;
}

/* Neighbours side by side, a copy. */
static struct fr__value shuffle(struct fr__net *net, const uint32_t s[], struct fr__value x)
{
    uint32_t square = s[FR__D_SHUFFLE] * s[FR__D_SHUFFLE];
    const uint32_t dims[] = {x.t.dims[0], x.t.dims[1] / square, x.t.dims[2] * square};
    const struct fr__op_spec spec = {.name = "shuffle", .kind = FR_OP_TRANSPOSE};
    struct fr_tensor out = fr__nn_tensor(net, net->elem_bytes, 3, dims, 1);

    return fr__nn_op(net, &spec, &x, 1, &out, 1);
}

struct fr__value fr__decoder_see(struct fr__net *net, const uint32_t s[])
{
    const struct fr__encoder e = {.heads = s[FR__D_IMAGE_HEADS],
                                  .ffn = s[FR__D_IMAGE_FFN],
                                  .form = (enum fr__attention_form)s[FR__D_ATTENTION],
                                  .has_rotary = true};
    struct fr__value x;

    net->image_size = s[FR__D_IMAGE];
    x = fr__nn_images(net, 3);
    fr__nn_layer(net, "image.embed");
    x = fr__nn_conv(net, "patches", x, s[FR__D_IMAGE_HIDDEN],
                    fr__square(s[FR__D_PATCH], s[FR__D_PATCH], 0));
    x = fr__nn_add_places(net, "positions", fr__nn_line_up(net, "sequence", x, 1), 1);
    x = fr__nn_layernorm(net, "ln", x);
    x = fr__nn_encoder_layers(net, "image", s[FR__D_IMAGE_LAYERS], &e, x);
    fr__nn_layer(net, "image.final");
    x = fr__nn_layernorm(net, "ln", x);
    fr__nn_cut_rows(net, "patches", x, x.t.dims[1] - 1, 1, &x);
    x = shuffle(net, s, x);
    x = fr__nn_gelu(net, "gelu1", fr__nn_linear(net, "fc1", x, s[FR__D_IMAGE_WIDTH]));
    x = fr__nn_gelu(net, "gelu2", fr__nn_linear(net, "fc2", x, s[FR__D_IMAGE_WIDTH]));
    return fr__nn_linear(net, "proj", x, s[FR__D_HIDDEN]);
}
