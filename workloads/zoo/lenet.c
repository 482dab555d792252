/* workloads/zoo/lenet.c - LeNet-5 as it is taught today: 61,706 parameters.
 *
 * Y. LeCun, L. Bottou, Y. Bengio and P. Haffner, Gradient-Based Learning Applied to Document
 * Recognition, Proceedings of the IEEE 86(11), 1998: the layer sizes of figure 2. The custom is
 * followed in maximum pooling without parameters, ReLU, a full second convolution and a softmax.
 */
#include "config.h"

#include "workloads/zoo/nn_image.h"
#include "workloads/zoo/zoo.h"

static void build(struct fr__net *net, const uint32_t values[])
{
    const struct fr__window pool = fr__square(2, 2, 0);
    struct fr__value x = fr__nn_images(net, 1);

    (void)values;
    fr__nn_layer(net, "conv1");
    x = fr__nn_conv(net, "", x, 6, fr__square(5, 1, 2));
    x = fr__nn_relu(net, "relu", fr__nn_bias(net, "bias", x));
    fr__nn_layer(net, "pool1");
    x = fr__nn_maxpool(net, "", x, pool);
    fr__nn_layer(net, "conv2");
    x = fr__nn_conv(net, "", x, 16, fr__square(5, 1, 0));
    x = fr__nn_relu(net, "relu", fr__nn_bias(net, "bias", x));
    fr__nn_layer(net, "pool2");
    x = fr__nn_maxpool(net, "", x, pool);
    fr__nn_layer(net, "fc3");
    x = fr__nn_bias(net, "bias", fr__nn_linear(net, "", x, 120));
    x = fr__nn_relu(net, "relu", x);
    fr__nn_layer(net, "fc4");
    x = fr__nn_bias(net, "bias", fr__nn_linear(net, "", x, 84));
    x = fr__nn_relu(net, "relu", x);
    fr__nn_layer(net, "fc5");
    x = fr__nn_bias(net, "bias", fr__nn_linear(net, "", x, 10));
    fr__nn_cross_entropy(net, x);
}

const struct fr__family fr__family_lenet = {
    .group = "Convolutional",
    .batch = 64,
    .image_size = 28,
    .is_image_fixed = true,
    .build = build,
};
