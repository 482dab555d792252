/* calibrate/cost/convolution.c - prices convolutions: by their own curves, as matrix products where
 * only these were measured, and with the transposes that a layout of images needs.
 */
#include "config.h"

#include "base/dtype.h"
#include "calibrate/cost/rule.h"
#include "calibrate/cost/transposes.h"
#include "calibrate/cost/per_image.h"
#include "calibrate/cost/relatives.h"
#include "calibrate/cost/borrowed.h"

#include <math.h>

/* How much of the work with the zeros between the pixels of a strided convolution's output its
 * gradient of the input does, as a power of their share: 0 none, 1 all. The middle of what was
 * fitted to kernels on matrix units, 0.38 on a V100 and 0.66 on a T4 (`stride_waste` of the device
 * files, baidu-research/DeepBench). */
static const double STRIDE_WASTE = 0.5;

static double strided_rows(const struct fr_kernel_shape *conv)
{
    double spread = conv->conv.height * conv->conv.width /
                    fmax(conv->conv.out_height * conv->conv.out_width, 1);

    if (conv->op_class != FR_CURVE_CONV_BACKWARD_DATA || conv->conv.stride <= 1)
        return 1;
    return pow(fmax(spread, 1), STRIDE_WASTE);
}

/* The product that a convolution is. channels: those of the input, padded or not. */
static struct fr_kernel_shape as_product(const struct fr__kernel *kernel, double channels)
{
    const struct fr_kernel_shape *conv = &kernel->shape;
    double groups = conv->conv.groups, columns = conv->conv.out_channels / groups;
    double taps = conv->conv.kernel_height * conv->conv.kernel_width / groups;
    double rows = kernel->flops / (2 * groups * columns * conv->conv.in_channels * taps);
    double filter = channels * taps;
    struct fr_kernel_shape p = {.op_class = FR_CURVE_MATMUL, .matmul = {.batch = groups}};

    p.matmul.rows =
        conv->op_class == FR_CURVE_CONV_BACKWARD_FILTER ? columns : rows * strided_rows(conv);
    p.matmul.columns = conv->op_class == FR_CURVE_CONV_FORWARD ? columns : filter;
    p.matmul.depth = conv->op_class == FR_CURVE_CONV_FORWARD         ? filter
                     : conv->op_class == FR_CURVE_CONV_BACKWARD_DATA ? columns
                                                                     : rows;
    return p;
}

/* Prices a convolution in a format that was measured for matrix products only, as the implicit
 * matrix product that it is (S. Chetlur et al., cuDNN, 2014, section 3); it does not write the
 * unfolded image to memory. With the curves of their own matrix products, DeepBench's fp16
 * convolutions on V100 and T4 are off by a median of 34 and 36 %, forward. */
static void use_implicit_product(struct fr_cost *c, const struct fr__target *t,
                                 const struct fr__kernel *kernel, double channels)
{
    struct fr__known k = fr__cost_model_product(t->model, t->type, t->dtype);
    struct fr_kernel_shape p = as_product(kernel, channels);
    double s;

    if (!k.curve)
        return;
    s = fr__kernel_s(&k, &p);
    k.trust = FR_TRUST_TRANSFERRED;
    k.error_frac = fr__error_of_median(0.35);
    fr__set_known(c, s > c->bytes_s ? s : c->bytes_s, &k);
}

/* Adds the transposes around a convolution, or takes them away where what was measured has them and
 * the graph's images lie pixel by pixel (layout.h). Without them it takes no less than its matrix
 * product, whose operands are read as they lie. k: what priced it. */
static void turn_images(struct fr_cost *c, const struct fr__target *t,
                        const struct fr__kernel *kernel, const struct fr__known *k)
{
    struct fr__known move = fr__streaming_curve(t, FR_CURVE_ELEMENTWISE, kernel->element_bytes);
    struct fr_kernel_shape shape = {.op_class = FR_CURVE_ELEMENTWISE,
                                    .memory = {.bytes = fr__layout_bytes(kernel, t->dtype) +
                                                        fr__layout_slow_bytes(kernel, t->dtype)}};
    int change = fr__layout_change(kernel->layout, t->dtype, k);
    double *bound_s = c->flops_s > c->bytes_s ? &c->flops_s : &c->bytes_s;
    struct fr_cost product = *c;
    double s;

    if (change == 0 || !(shape.memory.bytes > 0) || !move.curve)
        return;
    s = fr__kernel_s(&move, &shape);
    if (change < 0) {
        fr__set_roofline(&product, fr__cost_model_type(t->model, t->type), t->dtype, kernel->flops,
                         kernel->bytes);
        use_implicit_product(&product, t, kernel, kernel->shape.conv.in_channels);
        s = fmax(-s, fmin(product.mean_s - c->mean_s, 0));
    }
    *bound_s += s;
    c->mean_s += s;
}

/* Prices a convolution of 16 bits whose channels cuDNN 8 pads to eights, so that matrix units take
 * them (NVIDIA, "Convolutional layers user's guide", channels in and out; before 7.6.3 it did not).
 * Devices from Ampere on run no older cuDNN, while the curves that they borrow are of cuDNN 7.0.
 * Taken where it is faster than those. */
static void use_padded(struct fr_cost *c, const struct fr__target *t,
                       const struct fr__kernel *kernel)
{
    struct fr_cost padded = *c;
    double channels = ceil(kernel->shape.conv.in_channels / 8) * 8;

    fr__set_roofline(&padded, fr__cost_model_type(t->model, t->type), t->dtype,
                     kernel->flops * channels / kernel->shape.conv.in_channels, kernel->bytes);
    use_implicit_product(&padded, t, kernel, channels);
    if (padded.trust == FR_TRUST_TRANSFERRED && padded.mean_s < c->mean_s)
        *c = padded;
}

/* A convolution as one product of all images, with its operands and result turned round. */
static double turned_round_s(const struct fr_cost *roofline, const struct fr__target *t,
                             const struct fr__kernel *kernel)
{
    struct fr__known move = fr__streaming_curve(t, FR_CURVE_ELEMENTWISE, kernel->element_bytes);
    struct fr_kernel_shape shape = {.op_class = FR_CURVE_ELEMENTWISE,
                                    .memory = {.bytes = 2 * kernel->bytes}};
    struct fr_cost c = *roofline;

    use_implicit_product(&c, t, kernel, kernel->shape.conv.in_channels);
    return c.mean_s + (move.curve ? fr__kernel_s(&move, &shape) : 0);
}

/* Prices a 1 x 1 convolution in tf32 as one product an image (per_image.h). What is summed up over
 * the images afterwards is read by a kernel that streams, unless it is faster to turn the images
 * round. false: it is no such convolution, or products were not measured. */
static bool use_per_image(struct fr_cost *c, const struct fr__target *t,
                          const struct fr__kernel *kernel)
{
    struct fr__known k = fr__cost_model_product(t->model, t->type, t->dtype);
    struct fr__known stream = fr__streaming_curve(t, FR_CURVE_REDUCTION, kernel->element_bytes);
    struct fr_kernel_shape product, sum = {.op_class = FR_CURVE_REDUCTION};
    double s;

    if (t->dtype != FR_TF32 || !k.curve || !fr__is_channel_by_channel(kernel) ||
        !fr__is_per_image(&kernel->shape))
        return false;
    if (!stream.curve) {
        stream = fr__streaming_curve(t, FR_CURVE_ELEMENTWISE, kernel->element_bytes);
        sum.op_class = FR_CURVE_ELEMENTWISE;
    }
    sum.memory.bytes = fr__per_image_product(&kernel->shape, &product);
    s = fmax(fr__kernel_s(&k, &product),
             c->bytes_s * (kernel->bytes + sum.memory.bytes) / fmax(kernel->bytes, 1));
    if (sum.memory.bytes > 0 && stream.curve)
        s = fmin(s + fr__kernel_s(&stream, &sum), turned_round_s(c, t, kernel));
    k.trust = FR_TRUST_TRANSFERRED;
    k.error_frac = fr__error_of_median(0.35);
    fr__set_known(c, s, &k);
    return true;
}

/* Prices a convolution by its curve, or as a product. Channels that matrix units cannot take by the
 * eight run on the vector units in tf32 (layout.h), and else where that is faster than measured:
 * the fp16 rows are of cuDNN 7.0, whose gradients of a first layer's filter are slower in fp16 than
 * in fp32. */
void fr__price_convolution(struct fr_cost *c, const struct fr__target *t,
                           const struct fr__kernel *kernel)
{
    enum fr_curve_class op_class = kernel->shape.op_class;
    const char *device = fr__cost_model_type(t->model, t->type)->name;
    struct fr__known k = fr__cost_model_curve(t->model, t->type, op_class, t->dtype);
    struct fr__known vector = fr__cost_model_curve(t->model, t->type, op_class, FR_FP32);
    struct fr__target vectors = {t->model, t->type, FR_FP32};
    bool is_on_vectors =
        fr__layout_is_narrow(kernel) && vector.curve && (k.curve || t->dtype == FR_TF32);

    if (!(k.curve && k.is_users) && use_per_image(c, t, kernel))
        return;
    if (is_on_vectors && t->dtype != FR_TF32)
        is_on_vectors = fr__kernel_s(&vector, &kernel->shape) < fr__kernel_s(&k, &kernel->shape);
    if (is_on_vectors)
        fr__set_known(c, fr__kernel_s(&vector, &kernel->shape), &vector);
    else if (k.curve)
        fr__set_known(c, fr__kernel_s(&k, &kernel->shape), &k);
    else
        use_implicit_product(c, fr__layout_is_narrow(kernel) && t->dtype == FR_TF32 ? &vectors : t,
                             kernel, kernel->shape.conv.in_channels);
    if (fr__layout_is_narrow(kernel) && k.curve && !k.is_users && fr__dtype_bytes(t->dtype) == 2 &&
        fr__pads_channels(device))
        use_padded(c, t, kernel);
    turn_images(c, t, kernel, &k);
}
