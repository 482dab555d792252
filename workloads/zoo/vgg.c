/* workloads/zoo/vgg.c - VGG-11, 13, 16 and 19 (configurations A, B, D and E).
 *
 * K. Simonyan and A. Zisserman, Very Deep Convolutional Networks for Large-Scale Image Recognition,
 * ICLR 2015, table 1; without batch normalisation, as torchvision's vgg11 to vgg19
 * (torchvision/models/vgg.py): dropout after the first two fully connected layers, which see 7x7
 * averages whatever the size of the images.
 */
#include "config.h"

#include "workloads/zoo/nn_image.h"
#include "workloads/zoo/zoo.h"

enum { LAYERS };
enum { N_STAGES = 5 };

static const struct fr__model_key keys[] = {
    [LAYERS] = {"layers", 11, 11, 19, NULL},
    {0},
};

/* Convolutions in each of the five stages of so many layers; three fully connected ones follow. */
static const unsigned *n_convs(uint32_t n_layers)
{
    static const unsigned known[][N_STAGES] = {
        {1, 1, 2, 2, 2}, {2, 2, 2, 2, 2}, {2, 2, 3, 3, 3}, {2, 2, 4, 4, 4}};
    static const uint32_t layers[] = {11, 13, 16, 19};
    size_t i = 0;

    while (layers[i] != n_layers)
        i++;
    return known[i];
}

static void build(struct fr__net *net, const uint32_t values[])
{
    static const uint32_t channels[N_STAGES] = {64, 128, 256, 512, 512};
    const unsigned *n = n_convs(values[LAYERS]);
    struct fr__value x = fr__nn_images(net, 3);

    for (unsigned s = 0; s < N_STAGES; s++) {
        for (unsigned i = 0; i < n[s]; i++) {
            fr__nn_layer(net, "conv%u_%u", s + 1, i + 1);
            x = fr__nn_conv(net, "", x, channels[s], fr__square(3, 1, 1));
            x = fr__nn_relu(net, "relu", fr__nn_bias(net, "bias", x));
        }
        fr__nn_layer(net, "pool%u", s + 1);
        x = fr__nn_maxpool(net, "", x, fr__square(2, 2, 0));
    }
    fr__nn_layer(net, "avgpool");
    x = fr__nn_avgpool_to(net, "", x, 7);
    for (unsigned i = 6; i <= 7; i++) {
        fr__nn_layer(net, "fc%u", i);
        x = fr__nn_bias(net, "bias", fr__nn_linear(net, "", x, 4096));
        x = fr__nn_dropout(net, "dropout", fr__nn_relu(net, "relu", x));
    }
    fr__nn_layer(net, "fc8");
    x = fr__nn_bias(net, "bias", fr__nn_linear(net, "", x, 1000));
    fr__nn_cross_entropy(net, x);
}

const struct fr__family fr__family_vgg = {
    .group = "Convolutional",
    .batch = 64,
    .image_size = 224,
    .keys = keys,
    .build = build,
};
