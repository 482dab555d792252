/* workloads/zoo/resnet.c - ResNet-18 to ResNet-200.
 *
 * K. He, X. Zhang, S. Ren and J. Sun, Deep Residual Learning for Image Recognition, CVPR 2016,
 * table 1; with the stride on the 3x3 convolution of a bottleneck ("v1.5"), as torchvision
 * (torchvision/models/resnet.py). The 200 layers, [3, 24, 36, 3], are those of He et al., Identity
 * Mappings in Deep Residual Networks, ECCV 2016, with the blocks of the first paper.
 */
#include "config.h"

#include "workloads/zoo/resnet.h"

#include "workloads/zoo/nn_image.h"
#include "workloads/zoo/zoo.h"

enum { N_STAGES = 4 };

static const struct fr__resnet resnet18 = {{2, 2, 2, 2}, false, 1};
static const struct fr__resnet resnet34 = {{3, 4, 6, 3}, false, 1};
const struct fr__resnet fr__resnet50 = {{3, 4, 6, 3}, true, 1};
const struct fr__resnet fr__resnet101 = {{3, 4, 23, 3}, true, 1};
const struct fr__resnet fr__resnet152 = {{3, 8, 36, 3}, true, 1};
static const struct fr__resnet resnet200 = {{3, 24, 36, 3}, true, 1};

/* Where we are: "layer3.0". */
struct block {
    unsigned stage, number;
};

static struct fr__value conv_bn(struct fr__net *net, struct block at, const char *name,
                                struct fr__value x, uint32_t channels, struct fr__window w)
{
    fr__nn_layer(net, "layer%u.%u.%s", at.stage, at.number, name);
    return fr__nn_batchnorm(net, "bn", fr__nn_conv(net, "", x, channels, w));
}

static struct fr__value add_and_relu(struct fr__net *net, struct block at, struct fr__value y,
                                     struct fr__value shortcut)
{
    fr__nn_layer(net, "layer%u.%u.add", at.stage, at.number);
    return fr__nn_relu(net, "relu", fr__nn_add(net, "", y, shortcut, true));
}

static struct fr__value build_block(struct fr__net *net, struct block at, bool is_bottleneck,
                                    struct fr__value x, uint32_t width, uint32_t stride)
{
    uint32_t channels = is_bottleneck ? 4 * width : width;
    struct fr__value y, shortcut = x;

    if (is_bottleneck) {
        y = conv_bn(net, at, "conv1", x, width, fr__square(1, 1, 0));
        y = fr__nn_relu(net, "relu", y);
        y = conv_bn(net, at, "conv2", y, width, fr__square(3, stride, 1));
        y = fr__nn_relu(net, "relu", y);
        y = conv_bn(net, at, "conv3", y, channels, fr__square(1, 1, 0));
    } else {
        y = conv_bn(net, at, "conv1", x, width, fr__square(3, stride, 1));
        y = fr__nn_relu(net, "relu", y);
        y = conv_bn(net, at, "conv2", y, width, fr__square(3, 1, 1));
    }
    if (stride != 1 || x.t.dims[1] != channels)
        shortcut = conv_bn(net, at, "downsample", x, channels, fr__square(1, stride, 0));
    return add_and_relu(net, at, y, shortcut);
}

void fr__resnet_build(struct fr__net *net, const struct fr__resnet *shape)
{
    uint32_t width = 64 * shape->widening;
    struct fr__value x = fr__nn_images(net, 3);

    fr__nn_layer(net, "conv1");
    x = fr__nn_batchnorm(net, "bn", fr__nn_conv(net, "", x, width, fr__square(7, 2, 3)));
    x = fr__nn_relu(net, "relu", x);
    fr__nn_layer(net, "maxpool");
    x = fr__nn_maxpool(net, "", x, fr__square(3, 2, 1));
    for (unsigned s = 0; s < N_STAGES; s++)
        for (unsigned i = 0; i < shape->n_blocks[s]; i++)
            x = build_block(net, (struct block){s + 1, i}, shape->has_bottlenecks, x, width << s,
                            s > 0 && i == 0 ? 2 : 1);
    fr__nn_layer(net, "avgpool");
    x = fr__nn_avgpool_to(net, "", x, 1);
    fr__nn_layer(net, "fc");
    x = fr__nn_bias(net, "bias", fr__nn_linear(net, "", x, 1000));
    fr__nn_cross_entropy(net, x);
}

static void build(struct fr__net *net, const struct fr__model *m, const uint32_t values[])
{
    (void)values;
    fr__resnet_build(net, m->shape);
}

static const char resnet_source[] = "He et al., CVPR 2016; torchvision (v1.5)";

#define RESNET(depth, parameters, blocks)                                                          \
    {                                                                                              \
        .name = "resnet" #depth,                                                                   \
        .summary = "ResNet-" #depth ", " parameters " parameters, 224x224 images, batch 64",       \
        .source = resnet_source, .batch = 64, .image_size = 224, .build = build, .shape = &blocks  \
    }

const struct fr__model fr__models_resnet[] = {
    RESNET(18, "11.7 M", resnet18),
    RESNET(34, "21.8 M", resnet34),
    RESNET(50, "25.6 M", fr__resnet50),
    RESNET(101, "44.5 M", fr__resnet101),
    RESNET(152, "60.2 M", fr__resnet152),
    RESNET(200, "64.7 M", resnet200),
    {0},
};
