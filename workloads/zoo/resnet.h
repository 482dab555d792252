/* workloads/zoo/resnet.h - the residual networks, of which the wide ones are a family apart. */
#ifndef FR_WORKLOADS_ZOO_RESNET_H
#define FR_WORKLOADS_ZOO_RESNET_H

#include "workloads/zoo/nn.h"

struct fr__resnet {
    unsigned n_blocks[4]; /* in each stage */
    bool has_bottlenecks; /* three convolutions a block, 1x1, 3x3, 1x1; else two of 3x3 */
    uint32_t widening;    /* what the channels of all convolutions are multiplied by */
};

extern const struct fr__resnet fr__resnet50, fr__resnet101, fr__resnet152;

/* The whole network, images to loss. */
void fr__resnet_build(struct fr__net *net, const struct fr__resnet *shape);
#endif
