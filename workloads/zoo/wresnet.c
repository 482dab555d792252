/* workloads/zoo/wresnet.c - WResNet-L-W: a ResNet of L layers with all channels times W.
 *
 * M. Wang, C.-c. Huang and J. Li, Supporting Very Large Models using Automatic Dataflow Graph
 * Partitioning (Tofu), EuroSys 2019, section 7.1: the widening scalar multiplies the channels of
 * each convolution, so that the parameters grow with its square. The classes stay 1000. Not the
 * wide ResNets of Zagoruyko and Komodakis (torchvision's wide_resnet50_2), which widen only the
 * inner convolutions of a bottleneck.
 */
#include "config.h"

#include "workloads/zoo/resnet.h"
#include "workloads/zoo/zoo.h"

#include "base/units.h"

#include <stdlib.h>
#include <string.h>

enum { DEPTH, WIDENING };
enum { MAX_WIDENING = 1 << 16 };

static const struct fr__resnet *shape_of(uint32_t depth)
{
    switch (depth) {
    case 50:
        return &fr__resnet50;
    case 101:
        return &fr__resnet101;
    case 152:
        return &fr__resnet152;
    default:
        return NULL;
    }
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
    values[DEPTH] = (uint32_t)strtoul(depth, NULL, 10);
    values[WIDENING] = (uint32_t)widening;
    return FR_OK;
}

static void build(struct fr__net *net, const struct fr__model *m, const uint32_t values[])
{
    struct fr__resnet shape = *shape_of(values[DEPTH]);

    (void)m;
    shape.widening = values[WIDENING];
    fr__resnet_build(net, &shape);
}

const struct fr__model fr__models_wresnet[] = {
    {.name = "wresnet-L-W",
     .summary = "ResNet-L (50, 101, 152), channels times W: wresnet-50-4 has 384 M (batch 64)",
     .source = "Wang et al., EuroSys 2019 (Tofu)",
     .batch = 64,
     .image_size = 224,
     .read_name = read_name,
     .build = build},
    {0},
};
