/* workloads/zoo/resnet.c - ResNet-18 to ResNet-200, and WResNet-L-W: a ResNet of L layers with all
 * channels times W.
 *
 * K. He, X. Zhang, S. Ren and J. Sun, Deep Residual Learning for Image Recognition, CVPR 2016,
 * table 1; with the stride on the 3x3 convolution of a bottleneck ("v1.5"), as torchvision
 * (torchvision/models/resnet.py). The 200 layers, [3, 24, 36, 3], are those of He et al., Identity
 * Mappings in Deep Residual Networks, ECCV 2016, with the blocks of the first paper.
 *
 * WResNet: M. Wang, C.-c. Huang and J. Li, Supporting Very Large Models using Automatic Dataflow
 * Graph Partitioning (Tofu), EuroSys 2019, section 7.1: the widening scalar multiplies the channels
 * of each convolution, so that the parameters grow with its square. The classes stay 1000. Not the
 * wide ResNets of Zagoruyko and Komodakis (torchvision's wide_resnet50_2), which widen only the
 * inner convolutions of a bottleneck.
 */
#include "config.h"

#include "workloads/zoo/nn_image.h"
#include "workloads/zoo/zoo.h"

#include "base/units.h"

#include <stdlib.h>
#include <string.h>

enum { LAYERS, WIDENING };
enum { N_STAGES = 4, MAX_WIDENING = 1 << 16 };

static const struct fr__model_key keys[] = {
    [LAYERS] = {"layers", 50, 18, 200, NULL},
    [WIDENING] = {"widening", 1, 1, MAX_WIDENING, NULL},
    {0},
};

struct resnet {
    uint32_t layers;
    unsigned n_blocks[N_STAGES];
    bool has_bottlenecks; /* three convolutions a block, 1x1, 3x3, 1x1; else two of 3x3 */
};

static const struct resnet known[] = {
    {18, {2, 2, 2, 2}, false},  {34, {3, 4, 6, 3}, false},  {50, {3, 4, 6, 3}, true},
    {101, {3, 4, 23, 3}, true}, {152, {3, 8, 36, 3}, true}, {200, {3, 24, 36, 3}, true},
};

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

static void build(struct fr__net *net, const uint32_t values[])
{
    const struct resnet *shape = known;
    uint32_t width = 64 * values[WIDENING];
    struct fr__value x = fr__nn_images(net, 3);

    while (shape->layers != values[LAYERS])
        shape++;
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

/* "L-W" */
static enum fr_status read_name(const struct fr__model *m, const char *rest, uint32_t values[],
                                struct fr_error *err)
{
    const char *dash = strchr(rest, '-');
    char depth[16] = "";
    uint64_t widening;

    if (!dash)
        return fr__fail(err, FR_EPARSE, FR_NOWHERE,
                        "model 'wresnet-%s' has no W, expected %s, for example wresnet-50-4", rest,
                        m->name);
    if ((size_t)(dash - rest) < sizeof(depth))
        memcpy(depth, rest, (size_t)(dash - rest));
    if (strcmp(depth, "50") != 0 && strcmp(depth, "101") != 0 && strcmp(depth, "152") != 0)
        return fr__fail(err, FR_ERANGE, FR_NOWHERE,
                        "model 'wresnet-%s': L is \"%.*s\", expected 50, 101 or 152", rest,
                        (int)(dash - rest), rest);
    FR_TRY(fr__parse_count(dash + 1, "W of model 'wresnet-L-W'", FR_NOWHERE, 1, MAX_WIDENING,
                           &widening, err));
    values[LAYERS] = (uint32_t)strtoul(depth, NULL, 10);
    values[WIDENING] = (uint32_t)widening;
    return FR_OK;
}

const struct fr__family fr__family_resnet = {
    .group = "Convolutional",
    .batch = 64,
    .image_size = 224,
    .keys = keys,
    .build = build,
};

const struct fr__family fr__family_wresnet = {
    .group = "Convolutional",
    .batch = 64,
    .image_size = 224,
    .keys = keys,
    .read_name = read_name,
    .build = build,
};
