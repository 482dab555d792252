/* calibrate/cost/per_image.c - the products of per_image.h. */
#include "config.h"

#include "calibrate/cost/per_image.h"

#include <math.h>

enum { NUMBER_BYTES = 4, ALIGNED = 4 /* numbers in 16 bytes */ };

static double pixels(const struct fr_kernel_shape *conv)
{
    return conv->conv.out_height * conv->conv.out_width;
}

bool fr__is_per_image(const struct fr_kernel_shape *conv)
{
    return conv->conv.kernel_height * conv->conv.kernel_width <= 1 && conv->conv.stride <= 1 &&
           conv->conv.pad <= 0 && conv->conv.groups <= 1 && pixels(conv) >= ALIGNED &&
           !(fmod(pixels(conv), ALIGNED) > 0) && !(fmod(conv->conv.in_channels, ALIGNED) > 0) &&
           !(fmod(conv->conv.out_channels, ALIGNED) > 0);
}

double fr__per_image_product(const struct fr_kernel_shape *conv, struct fr_kernel_shape *product)
{
    double images = conv->conv.images, in = conv->conv.in_channels, out = conv->conv.out_channels;

    *product = (struct fr_kernel_shape){.op_class = FR_CURVE_MATMUL, .matmul = {.batch = images}};
    switch (conv->op_class) {
    case FR_CURVE_CONV_BACKWARD_DATA:
        product->matmul.rows = in;
        product->matmul.columns = pixels(conv);
        product->matmul.depth = out;
        return 0;
    case FR_CURVE_CONV_BACKWARD_FILTER:
        product->matmul.rows = out;
        product->matmul.columns = in;
        product->matmul.depth = pixels(conv);
        return images > 1 ? NUMBER_BYTES * images * in * out : 0;
    default:
        product->matmul.rows = out;
        product->matmul.columns = pixels(conv);
        product->matmul.depth = in;
        return 0;
    }
}
