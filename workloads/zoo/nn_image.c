/* workloads/zoo/nn_image.c - shapes, FLOPs and bytes of the ops of convolutional networks. */
#include "config.h"

#include "workloads/zoo/nn_image.h"

#include <assert.h>

enum { INT64_BYTES = 8 };
enum { SPLIT_0 = 1, SPLIT_1 = 2 };

struct fr__window fr__square(uint32_t size, uint32_t stride, uint32_t pad)
{
    return (struct fr__window){size, size, stride, pad, pad};
}

static struct fr_tensor image(struct fr__net *net, uint32_t channels, uint32_t height,
                              uint32_t width, uint8_t split_mask)
{
    const uint32_t dims[] = {net->batch, channels, height, width};

    return fr__nn_tensor(net, net->elem_bytes, 4, dims, split_mask);
}

struct fr__value fr__nn_images(struct fr__net *net, uint32_t channels)
{
    const struct fr__op_spec spec = {.name = "", .kind = FR_OP_INPUT, .is_input = true};
    struct fr_tensor t = image(net, channels, net->image_size, net->image_size, SPLIT_0);

    fr__nn_layer(net, "input");
    return fr__nn_op(net, &spec, NULL, 0, &t, 1);
}

/* ---- windows ---- */

static uint32_t steps(uint32_t extent, uint32_t window, uint32_t stride, uint32_t pad)
{
    return (extent + 2 * pad - window) / stride + 1;
}

/* What a window leaves of x; the places it goes through where it does not fit are 1 x 1. */
static struct fr_tensor windowed(struct fr__net *net, const struct fr_tensor *x, uint32_t channels,
                                 const struct fr__window *w)
{
    uint32_t height = x->dims[2], width = x->dims[3];

    if (height + 2 * w->pad_height < w->height || width + 2 * w->pad_width < w->width) {
        fr__nn_fault(net,
                     "images of %ux%u are too small: at layer '%s' %ux%u of them are left, where a "
                     "window of %ux%u does not fit",
                     net->image_size, net->image_size, net->layer, height, width, w->height,
                     w->width);
        return image(net, channels, 1, 1, SPLIT_0 | SPLIT_1);
    }
    return image(net, channels, steps(height, w->height, w->stride, w->pad_height),
                 steps(width, w->width, w->stride, w->pad_width), SPLIT_0 | SPLIT_1);
}

static struct fr_shape shape_of_conv(const struct fr_tensor *x, const struct fr_tensor *y,
                                     const struct fr__window *w)
{
    return (struct fr_shape){.of = FR_SHAPE_CONV,
                             .conv = {.images = y->dims[0],
                                      .in_channels = x->dims[1],
                                      .out_channels = y->dims[1],
                                      .groups = 1,
                                      .in_height = x->dims[2],
                                      .in_width = x->dims[3],
                                      .out_height = y->dims[2],
                                      .out_width = y->dims[3],
                                      .filter_height = w->height,
                                      .filter_width = w->width,
                                      .stride_height = w->stride,
                                      .stride_width = w->stride,
                                      .pad_height = w->pad_height,
                                      .pad_width = w->pad_width,
                                      .dilation_height = 1,
                                      .dilation_width = 1}};
}

static struct fr_shape shape_of_pool(const struct fr_tensor *x, const struct fr_tensor *y,
                                     const struct fr__window *w)
{
    return (struct fr_shape){.of = FR_SHAPE_POOL,
                             .pool = {.images = y->dims[0],
                                      .channels = y->dims[1],
                                      .in_height = x->dims[2],
                                      .in_width = x->dims[3],
                                      .out_height = y->dims[2],
                                      .out_width = y->dims[3],
                                      .window_height = w->height,
                                      .window_width = w->width,
                                      .stride_height = w->stride,
                                      .stride_width = w->stride,
                                      .pad_height = w->pad_height,
                                      .pad_width = w->pad_width}};
}

struct fr__value fr__nn_conv(struct fr__net *net, const char *name, struct fr__value x,
                             uint32_t channels, struct fr__window w)
{
    struct fr_tensor y = windowed(net, &x.t, channels, &w);
    uint64_t window = (uint64_t)x.t.dims[1] * w.height * w.width;
    const struct fr__op_spec spec = {.name = name,
                                     .kind = FR_OP_CONV2D,
                                     .flops = 2 * (double)window * (double)fr__nn_elements(net, &y),
                                     .n_weights = fr__nn_product(net, window, channels),
                                     .n_params = 1,
                                     .shape = shape_of_conv(&x.t, &y, &w)};

    return fr__nn_op(net, &spec, &x, 1, &y, 1);
}

/* One comparison or sum for each element under the window. */
static double pooling_flops(struct fr__net *net, const struct fr_tensor *y,
                            const struct fr__window *w)
{
    return (double)w->height * w->width * (double)fr__nn_elements(net, y);
}

struct fr__value fr__nn_maxpool(struct fr__net *net, const char *name, struct fr__value x,
                                struct fr__window w)
{
    struct fr_tensor y = windowed(net, &x.t, x.t.dims[1], &w);
    struct fr_tensor out[] = {y, fr__nn_like(net, &y, INT64_BYTES, SPLIT_0 | SPLIT_1)};
    const struct fr__op_spec spec = {.name = name,
                                     .kind = FR_OP_MAXPOOL,
                                     .flops = pooling_flops(net, &y, &w),
                                     .shape = shape_of_pool(&x.t, &y, &w)};

    return fr__nn_op(net, &spec, &x, 1, out, 2);
}

struct fr__value fr__nn_avgpool(struct fr__net *net, const char *name, struct fr__value x,
                                struct fr__window w)
{
    struct fr_tensor y = windowed(net, &x.t, x.t.dims[1], &w);
    const struct fr__op_spec spec = {.name = name,
                                     .kind = FR_OP_AVGPOOL,
                                     .flops = pooling_flops(net, &y, &w),
                                     .shape = shape_of_pool(&x.t, &y, &w)};

    return fr__nn_op(net, &spec, &x, 1, &y, 1);
}

struct fr__value fr__nn_avgpool_to(struct fr__net *net, const char *name, struct fr__value x,
                                   uint32_t out_side)
{
    struct fr_tensor y = image(net, x.t.dims[1], out_side, out_side, SPLIT_0 | SPLIT_1);
    /* the mean cell, rounded up: cells differ by a pixel where out_side does not divide the side */
    uint32_t stride = x.t.dims[2] > out_side ? x.t.dims[2] / out_side : 1;
    const struct fr__window cell = {.height = (x.t.dims[2] + out_side - 1) / out_side,
                                    .width = (x.t.dims[3] + out_side - 1) / out_side,
                                    .stride = stride};
    const struct fr__op_spec spec = {.name = name,
                                     .kind = FR_OP_AVGPOOL,
                                     .flops = (double)fr__nn_elements(net, &x.t),
                                     .shape = shape_of_pool(&x.t, &y, &cell)};

    return fr__nn_op(net, &spec, &x, 1, &y, 1);
}

/* ---- branches ---- */

struct fr__value fr__nn_concat(struct fr__net *net, const char *name, const struct fr__value x[],
                               size_t n)
{
    const struct fr__op_spec spec = {.name = name, .kind = FR_OP_CONCAT};
    struct fr_tensor y;
    uint64_t channels = 0;

    for (size_t i = 0; i < n; i++) {
        assert(net->fault.code != FR_OK ||
               (x[i].t.dims[2] == x[0].t.dims[2] && x[i].t.dims[3] == x[0].t.dims[3]));
        channels += x[i].t.dims[1];
    }
    y = image(net, (uint32_t)channels, x[0].t.dims[2], x[0].t.dims[3], SPLIT_0);
    return fr__nn_op(net, &spec, x, n, &y, 1);
}
