/* workloads/zoo/alexnet.c - AlexNet with one tower: 61,100,840 parameters.
 *
 * A. Krizhevsky, One weird trick for parallelizing convolutional neural networks, arXiv:1404.5997,
 * 2014, as torchvision builds it (torchvision/models/alexnet.py): dropout before the first two
 * fully connected layers, which see 6x6 averages whatever the size of the images.
 */
#include "config.h"

#include "workloads/zoo/nn_image.h"
#include "workloads/zoo/zoo.h"

static struct fr__value conv(struct fr__net *net, unsigned number, struct fr__value x,
                             uint32_t channels, struct fr__window w)
{
    fr__nn_layer(net, "conv%u", number);
    x = fr__nn_conv(net, "", x, channels, w);
    return fr__nn_relu(net, "relu", fr__nn_bias(net, "bias", x));
}

static struct fr__value pool(struct fr__net *net, unsigned number, struct fr__value x)
{
    fr__nn_layer(net, "pool%u", number);
    return fr__nn_maxpool(net, "", x, fr__square(3, 2, 0));
}

static void build(struct fr__net *net, const uint32_t values[])
{
    const struct fr__window three = fr__square(3, 1, 1);
    struct fr__value x = fr__nn_images(net, 3);

    (void)values;
    x = pool(net, 1, conv(net, 1, x, 64, fr__square(11, 4, 2)));
    x = pool(net, 2, conv(net, 2, x, 192, fr__square(5, 1, 2)));
    x = conv(net, 3, x, 384, three);
    x = conv(net, 4, x, 256, three);
    x = pool(net, 5, conv(net, 5, x, 256, three));
    fr__nn_layer(net, "avgpool");
    x = fr__nn_avgpool_to(net, "", x, 6);
    for (unsigned i = 6; i <= 7; i++) {
        fr__nn_layer(net, "fc%u", i);
        x = fr__nn_linear(net, "", fr__nn_dropout(net, "dropout", x), 4096);
        x = fr__nn_relu(net, "relu", fr__nn_bias(net, "bias", x));
    }
    fr__nn_layer(net, "fc8");
    x = fr__nn_bias(net, "bias", fr__nn_linear(net, "", x, 1000));
    fr__nn_cross_entropy(net, x);
}

const struct fr__family fr__family_alexnet = {
    .group = "Convolutional",
    .batch = 64,
    .image_size = 224,
    .build = build,
};
