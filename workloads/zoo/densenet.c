/* workloads/zoo/densenet.c - DenseNet-121, 161, 169 and 201.
 *
 * G. Huang, Z. Liu, L. van der Maaten and K. Q. Weinberger, Densely Connected Convolutional
 * Networks, CVPR 2017, table 1 and section 4.2 (DenseNet-161: growth 48), as torchvision builds it
 * without memory_efficient (torchvision/models/densenet.py): each layer copies all features before
 * it into one storage, which its normalisation keeps, so that activations grow with the square of
 * the depth.
 */
#include "config.h"

#include "workloads/zoo/nn_image.h"
#include "workloads/zoo/zoo.h"

enum { LAYERS };
enum { N_BLOCKS = 4, MAX_LAYERS = 48, BOTTLENECK = 4 };

static const struct fr__model_key keys[] = {
    [LAYERS] = {"layers", 121, 121, 201, NULL},
    {0},
};

struct densenet {
    uint32_t layers;
    unsigned n_layers[N_BLOCKS]; /* of each block */
    uint32_t growth, stem;       /* channels */
};

static const struct densenet known[] = {
    {121, {6, 12, 24, 16}, 32, 64},
    {161, {6, 12, 36, 24}, 48, 96},
    {169, {6, 12, 32, 32}, 32, 64},
    {201, {6, 12, 48, 32}, 32, 64},
};

/* Normalise, rectify, convolve: the ops of one layer. */
static struct fr__value norm_relu_conv(struct fr__net *net, struct fr__value x, uint32_t channels,
                                       struct fr__window w)
{
    x = fr__nn_relu(net, "relu", fr__nn_batchnorm(net, "norm", x));
    return fr__nn_conv(net, "", x, channels, w);
}

/* The new features; before[0 .. n): all that the block has so far. */
static struct fr__value dense_layer(struct fr__net *net, unsigned block, unsigned n,
                                    const struct fr__value before[], uint32_t growth)
{
    struct fr__value x;

    fr__nn_layer(net, "denseblock%u.denselayer%u.conv1", block, n);
    x = fr__nn_concat(net, "concat", before, n);
    x = norm_relu_conv(net, x, BOTTLENECK * growth, fr__square(1, 1, 0));
    fr__nn_layer(net, "denseblock%u.denselayer%u.conv2", block, n);
    return norm_relu_conv(net, x, growth, fr__square(3, 1, 1));
}

static struct fr__value dense_block(struct fr__net *net, unsigned block, unsigned n_layers,
                                    struct fr__value x, uint32_t growth)
{
    struct fr__value features[MAX_LAYERS + 1] = {x};

    for (unsigned n = 1; n <= n_layers; n++)
        features[n] = dense_layer(net, block, n, features, growth);
    fr__nn_layer(net, "denseblock%u", block);
    return fr__nn_concat(net, "concat", features, n_layers + 1);
}

static struct fr__value transition(struct fr__net *net, unsigned number, struct fr__value x)
{
    fr__nn_layer(net, "transition%u.conv", number);
    x = norm_relu_conv(net, x, x.t.dims[1] / 2, fr__square(1, 1, 0));
    fr__nn_layer(net, "transition%u.pool", number);
    return fr__nn_avgpool(net, "", x, fr__square(2, 2, 0));
}

static void build(struct fr__net *net, const uint32_t values[])
{
    const struct densenet *shape = known;
    struct fr__value x = fr__nn_images(net, 3);

    while (shape->layers != values[LAYERS])
        shape++;
    fr__nn_layer(net, "conv0");
    x = fr__nn_batchnorm(net, "norm", fr__nn_conv(net, "", x, shape->stem, fr__square(7, 2, 3)));
    x = fr__nn_relu(net, "relu", x);
    fr__nn_layer(net, "pool0");
    x = fr__nn_maxpool(net, "", x, fr__square(3, 2, 1));
    for (unsigned i = 0; i < N_BLOCKS; i++) {
        x = dense_block(net, i + 1, shape->n_layers[i], x, shape->growth);
        if (i + 1 < N_BLOCKS)
            x = transition(net, i + 1, x);
    }
    fr__nn_layer(net, "norm5");
    x = fr__nn_relu(net, "relu", fr__nn_batchnorm(net, "", x));
    fr__nn_layer(net, "avgpool");
    x = fr__nn_avgpool_to(net, "", x, 1);
    fr__nn_layer(net, "classifier");
    x = fr__nn_bias(net, "bias", fr__nn_linear(net, "", x, 1000));
    fr__nn_cross_entropy(net, x);
}

const struct fr__family fr__family_densenet = {
    .group = "Convolutional",
    .batch = 64,
    .image_size = 224,
    .keys = keys,
    .build = build,
};
