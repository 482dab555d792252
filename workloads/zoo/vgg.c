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

enum { N_STAGES = 5 };

/* Convolutions in each of the five stages. */
struct vgg_shape {
    unsigned n_convs[N_STAGES];
};

static const struct vgg_shape vgg11 = {{1, 1, 2, 2, 2}};
static const struct vgg_shape vgg13 = {{2, 2, 2, 2, 2}};
static const struct vgg_shape vgg16 = {{2, 2, 3, 3, 3}};
static const struct vgg_shape vgg19 = {{2, 2, 4, 4, 4}};

static void build(struct fr__net *net, const struct fr__model *m, const uint32_t values[])
{
    static const uint32_t channels[N_STAGES] = {64, 128, 256, 512, 512};
    const struct vgg_shape *shape = m->shape;
    struct fr__value x = fr__nn_images(net, 3);

    (void)values;
    for (unsigned s = 0; s < N_STAGES; s++) {
        for (unsigned i = 0; i < shape->n_convs[s]; i++) {
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

static const char vgg_source[] = "Simonyan and Zisserman, ICLR 2015; torchvision";

#define VGG(depth, parameters)                                                                     \
    {                                                                                              \
        .name = "vgg" #depth,                                                                      \
        .summary = "VGG-" #depth ", " parameters " parameters, 224x224 images, batch 64",          \
        .source = vgg_source, .batch = 64, .image_size = 224, .build = build, .shape = &vgg##depth \
    }

const struct fr__model fr__models_vgg[] = {
    VGG(11, "132.9 M"), VGG(13, "133.0 M"), VGG(16, "138.4 M"), VGG(19, "143.7 M"), {0},
};
