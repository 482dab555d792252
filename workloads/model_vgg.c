/* workloads/model_vgg.c - VGG-11, 16 and 19 (configurations A, D and E).
 *
 * K. Simonyan and A. Zisserman, Very Deep Convolutional Networks for Large-Scale Image Recognition,
 * ICLR 2015, table 1; without batch normalisation, as torchvision's vgg11, vgg16 and vgg19
 * (torchvision/models/vgg.py): dropout after the first two fully connected layers.
 */
#include "config.h"

#include "workloads/zoo.h"

enum { N_STAGES = 5 };

/* Convolutions in each of the five stages. */
struct vgg_shape {
    unsigned n_convs[N_STAGES];
};

static const struct vgg_shape vgg11 = {{1, 1, 2, 2, 2}};
static const struct vgg_shape vgg16 = {{2, 2, 3, 3, 3}};
static const struct vgg_shape vgg19 = {{2, 2, 4, 4, 4}};

static void build(struct fr__net *net, const struct fr__model *m, const uint32_t values[])
{
    static const uint32_t channels[N_STAGES] = {64, 128, 256, 512, 512};
    const struct vgg_shape *shape = m->shape;
    struct fr__value x = fr__nn_images(net, 3, 224, 224);

    (void)values;
    for (unsigned s = 0; s < N_STAGES; s++) {
        for (unsigned i = 0; i < shape->n_convs[s]; i++) {
            fr__nn_layer(net, "conv%u_%u", s + 1, i + 1);
            x = fr__nn_conv(net, "", x, channels[s], (struct fr__window){3, 1, 1});
            x = fr__nn_relu(net, "relu", fr__nn_bias(net, "bias", x));
        }
        fr__nn_layer(net, "pool%u", s + 1);
        x = fr__nn_maxpool(net, "", x, (struct fr__window){2, 2, 0});
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

static const char vgg_source[] = "Simonyan and Zisserman, ICLR 2015; torchvision";

const struct fr__model fr__models_vgg[] = {
    {.name = "vgg11",
     .summary = "VGG-11, 132.9 M parameters, 224x224 images, batch 64",
     .source = vgg_source,
     .batch = 64,
     .build = build,
     .shape = &vgg11},
    {.name = "vgg16",
     .summary = "VGG-16, 138.4 M parameters, 224x224 images, batch 64",
     .source = vgg_source,
     .batch = 64,
     .build = build,
     .shape = &vgg16},
    {.name = "vgg19",
     .summary = "VGG-19, 143.7 M parameters, 224x224 images, batch 64",
     .source = vgg_source,
     .batch = 64,
     .build = build,
     .shape = &vgg19},
    {0},
};
