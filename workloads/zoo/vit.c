/* workloads/zoo/vit.c - the Vision Transformer.
 *
 * A. Dosovitskiy et al., An Image Is Worth 16x16 Words, ICLR 2021, section 3.1 and table 1: patches
 * of the image through one linear map (a convolution whose stride is its size), a learned class
 * token and learned positions, an encoder with the norm first, a linear classifier of the class
 * token. Op by op as in Hugging Face Transformers (models/vit/modeling_vit.py), without dropout, as
 * published. The class token's parameters are counted with the positions.
 */
#include "config.h"

#include "workloads/zoo/nn_attention.h"
#include "workloads/zoo/nn_image.h"
#include "workloads/zoo/zoo.h"

enum vit_key { ATTENTION, LAYERS, HIDDEN, FFN, HEADS, PATCH, CHANNELS, CLASSES };

enum { BATCH = 1, DIM_1 = 2, DIM_2 = 4 }; /* dimensions that may be split */

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

/* Patches in a row behind the class token: [batch, 1 + patches, hidden], a copy. */
static struct fr__value line_up(struct fr__net *net, struct fr__value x)
{
    const uint32_t dims[] = {x.t.dims[0], 1 + x.t.dims[2] * x.t.dims[3], x.t.dims[1]};
    const struct fr__op_spec spec = {.name = "sequence", .kind = FR_OP_TRANSPOSE};
    struct fr_tensor out = fr__nn_tensor(net, net->elem_bytes, 3, dims, BATCH | DIM_1 | DIM_2);

    return fr__nn_op(net, &spec, &x, 1, &out, 1);
}

/* One row for each place, and the class token's. */
static struct fr__value positions(struct fr__net *net, uint32_t rows, uint32_t hidden)
{
    const uint32_t dims[] = {1, rows, hidden};
    struct fr_tensor out = fr__nn_tensor(net, net->elem_bytes, 3, dims, DIM_1 | DIM_2);
    const struct fr__op_spec spec = {
        .name = "positions",
        .kind = FR_OP_EMBEDDING,
        .bytes = 2 * (double)out.bytes,
        .n_weights = fr__nn_product(net, (uint64_t)rows + 1, hidden),
        .n_params = 2,
        .shape = {.of = FR_SHAPE_EMBEDDING, .embedding = {rows, hidden, (uint64_t)rows + 1}}};

    out.scales = false;
    return fr__nn_op(net, &spec, NULL, 0, &out, 1);
}

static struct fr__value block(struct fr__net *net, uint32_t layer, const uint32_t s[],
                              const struct fr__dot_attention *a, struct fr__value x)
{
    struct fr__value y, q, k, v;

    fr__nn_layer(net, "layer%u.attn", layer);
    y = fr__nn_layernorm(net, "ln", x);
    q = fr__nn_dense(net, "q", y, s[HIDDEN]);
    k = fr__nn_dense(net, "k", y, s[HIDDEN]);
    v = fr__nn_dense(net, "v", y, s[HIDDEN]);
    y = fr__nn_dense(net, "out", fr__nn_attend(net, a, q, k, v), s[HIDDEN]);
    x = fr__nn_add(net, "add", x, y, false);
    fr__nn_layer(net, "layer%u.mlp", layer);
    y = fr__nn_dense(net, "fc1", fr__nn_layernorm(net, "ln", x), s[FFN]);
    y = fr__nn_dense(net, "fc2", fr__nn_gelu(net, "gelu", y), s[HIDDEN]);
    return fr__nn_add(net, "add", x, y, false);
}

static void build(struct fr__net *net, const uint32_t s[])
{
    const struct fr__dot_attention a = {
        .heads = s[HEADS], .kv_heads = s[HEADS], .form = (enum fr__attention_form)s[ATTENTION]};
    struct fr__value x = fr__nn_images(net, s[CHANNELS]);

    fr__nn_layer(net, "embed");
    x = fr__nn_conv(net, "patches", x, s[HIDDEN], fr__square(s[PATCH], s[PATCH], 0));
    x = line_up(net, fr__nn_bias(net, "patches.bias", x));
    x = fr__nn_add(net, "add", x, positions(net, x.t.dims[1], s[HIDDEN]), false);
    for (uint32_t i = 0; i < s[LAYERS]; i++)
        x = block(net, i, s, &a, x);
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
