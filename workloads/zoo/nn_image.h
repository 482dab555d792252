/* workloads/zoo/nn_image.h - the ops of convolutional networks: windows that move over images.
 *
 * Images are [batch, channels, height, width]. FLOPs and bytes are counted as workloads/zoo/nn.h
 * says. A window that does not fit its image is a fault of the net, which names the layer.
 * Ignores: dilation, groups, rounding up of a pooling's output (torchvision's models have none).
 */
#ifndef FR_WORKLOADS_ZOO_NN_IMAGE_H
#define FR_WORKLOADS_ZOO_NN_IMAGE_H

#include "workloads/zoo/nn.h"

/* A window moving over an image by stride in both directions. pad: rows above and below, columns
 * left and right. */
struct fr__window {
    uint32_t height, width, stride, pad_height, pad_width;
};
struct fr__window fr__square(uint32_t size, uint32_t stride, uint32_t pad);

/* What the data loader brings: net->image_size pixels square. */
struct fr__value fr__nn_images(struct fr__net *net, uint32_t channels);

/* No bias inside: that is an op of its own, as are activation and normalisation. */
struct fr__value fr__nn_conv(struct fr__net *net, const char *name, struct fr__value x,
                             uint32_t channels, struct fr__window w);
struct fr__value fr__nn_maxpool(struct fr__net *net, const char *name, struct fr__value x,
                                struct fr__window w);
struct fr__value fr__nn_avgpool(struct fr__net *net, const char *name, struct fr__value x,
                                struct fr__window w);
/* The mean over a grid of out_side x out_side cells (PyTorch's adaptive pooling), which overlap
 * where the image is smaller. */
struct fr__value fr__nn_avgpool_to(struct fr__net *net, const char *name, struct fr__value x,
                                   uint32_t out_side);

/* The channels of x[0 .. n) after one another in a storage of their own, n >= 1; with n == 1 a
 * copy, as PyTorch's torch.cat makes one. The images are of one size. */
struct fr__value fr__nn_concat(struct fr__net *net, const char *name, const struct fr__value x[],
                               size_t n);
#endif
