/* calibrate/cost/convolution.c - prices convolutions: by their own curves, as matrix products where
 * only these were measured, and with the transposes that a layout of images needs.
 */
#include "config.h"

#include "base/dtype.h"
#include "calibrate/cost/rule.h"
#include "calibrate/cost/per_image.h"
#include "calibrate/cost/relatives.h"
#include "calibrate/cost/borrowed.h"
#include "calibrate/cost/model.h"
#include "calibrate/cost/kernel.h"

#include <math.h>
#include <string.h>

/* ---- transposes ---- */

/* What a library transposes around a convolution whose images lie channel by channel (NCHW).
 *
 * Matrix units take images pixel by pixel (NHWC). Where they lie channel by channel, cuDNN
 * transposes both operands and the result: each is read and written once more. A 1 x 1 filter with
 * stride 1 is a matrix product of images as they lie where each channel begins at a multiple of 16
 * bytes (56 x 56 pixels, not 7 x 7), and what matrix units cannot take (channels that are no
 * multiples of 8, fp32) is not transposed either.
 *
 * The kernel works in blocks of 32 pixels by 32 channels. A filter has few pixels, so its blocks
 * are nearly empty: they cost as much as 3.5 KB, whether they hold 1 pixel or 9.
 *
 * Layout of a graph   tf32                        16 bits
 *     default         transposes                  as measured
 *     nchw            transposes                  transposes
 *     nhwc            none                        none
 *
 * What was measured may hold them already: baidu-research/DeepBench's rows of 16 bits do (NCHW),
 * those of our own program (calibrate/measure/cuda/conv.cu) do not in 16 bits (NHWC), and do in
 * tf32 (NCHW). So transposes are added, taken away, or neither.
 *
 * Source:  NVIDIA, cuDNN legacy API ("The cuDNN library may use padding, folding, and NCHW-to-NHWC
 *          transformations to call the Tensor Core operations"), and "Convolutional layers user's
 *          guide", tensor layouts in memory; DeepBench, code/nvidia/conv_bench.cu
 *          (CUDNN_TENSOR_NCHW but for int8, CUDNN_TENSOR_OP_MATH); PyTorch's trace of ResNet-50 on
 *          an A100 in tf32 (HolisticTraceAnalysis), where transposes are a quarter of the time of
 *          convolutions, 1 x 1 filters with stride 1 have none but on images of 7 x 7, and filters
 *          take 2.0 to 2.7 ns a block (grids of nchwToNhwc: 65536 blocks in 131 us, 32768 in 66,
 *          8192 in 22), full blocks of images 5.4. So that trace is no proof of this rule.
 * Ignores: kernels that transpose while they write; transposes between layers that two convolutions
 *          could share; pooling, whose kernels of both layouts we take as equally fast.
 */

enum { OPERANDS_AND_RESULT = 3, ROW_BYTES = 16, BLOCK_CHANNELS = 32 };

/* What a block of 32 channels of a filter costs to transpose, in bytes of a full block: 2.0 to 2.7
 * ns, where one of 32 pixels and 8 KB takes 5.4. */
static const double FILTER_BLOCK_BYTES = 3.5e3;

/* Whether matrix units cannot take a convolution's channels by the eight, as those of a first
 * layer. */
static bool has_narrow_channels(const struct fr__kernel *kernel)
{
    return fmod(kernel->shape.conv.in_channels, 8) > 0;
}

/* Whether it is a product of images as they lie: a 1 x 1 filter, and channels that begin where
 * matrix units can load. */
static bool is_product(const struct fr_kernel_shape *s, double element_bytes)
{
    return s->conv.kernel_height * s->conv.kernel_width <= 1 && s->conv.stride <= 1 &&
           !(fmod(s->conv.out_height * s->conv.out_width * element_bytes, ROW_BYTES) > 0);
}

/* Bytes that the transposes of a convolution move under NCHW; 0: there are none. dtype: of the
 * products, never FR_AMP. */
static double layout_bytes(const struct fr__kernel *kernel, enum fr_dtype dtype)
{
    return dtype == FR_FP32 || is_product(&kernel->shape, fr__dtype_bytes(dtype)) ||
                   has_narrow_channels(kernel)
               ? 0
               : 2 * kernel->bytes;
}

/* Bytes that they could move in the time that nearly empty blocks of filters take beyond these. */
static double layout_slow_bytes(const struct fr__kernel *kernel, enum fr_dtype dtype)
{
    const struct fr_kernel_shape *s = &kernel->shape;
    double channels = s->conv.in_channels / fmax(s->conv.groups, 1);
    double blocks = s->conv.out_channels * ceil(channels / BLOCK_CHANNELS);
    double moved = 2 * s->conv.out_channels * channels * s->conv.kernel_height *
                   s->conv.kernel_width * fr__dtype_bytes(dtype);

    return layout_bytes(kernel, dtype) > 0 ? fmax(blocks * FILTER_BLOCK_BYTES - moved, 0) : 0;
}

/* Whether the times that a curve was fitted to hold transposes. */
static bool rows_are_turned(enum fr_dtype dtype, const struct fr__known *k)
{
    if (!k->curve)
        return false;
    return dtype == FR_TF32 ? k->is_users : strstr(k->curve->source, "DeepBench") != NULL;
}

/* What to do with the time that k gave (its curve NULL: a matrix product's): 1 add transposes, -1
 * take them away, 0 neither. */
static int layout_change(enum fr_image_layout layout, enum fr_dtype dtype,
                         const struct fr__known *k)
{
    int has = rows_are_turned(dtype, k);
    int wanted = layout == FR_LAYOUT_DEFAULT ? dtype == FR_TF32 || has : layout == FR_LAYOUT_NCHW;

    return wanted - has;
}

void fr_layout_effect_of(const struct fr_graph *g, struct fr_layout_effect *out)
{
    const struct fr_part all = {.batch = g->batch};
    enum fr_dtype dtype = g->dtype == FR_AMP ? FR_FP16 : g->dtype;

    *out = (struct fr_layout_effect){.bytes = 0};
    for (uint32_t o = 0; o < g->n_ops; o++) {
        struct fr__kernel kernel;
        double bytes;

        if (g->ops[o].kind != FR_OP_CONV2D)
            continue;
        fr__kernel_of(g, o, &all, &kernel);
        if (!kernel.has_shape)
            continue;
        bytes = layout_bytes(&kernel, dtype);
        out->n_convolutions++;
        out->n_transposes += bytes > 0 ? OPERANDS_AND_RESULT : 0;
        out->bytes += bytes;
    }
}

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
    struct fr_kernel_shape shape = {
        .op_class = FR_CURVE_ELEMENTWISE,
        .memory = {.bytes = layout_bytes(kernel, t->dtype) + layout_slow_bytes(kernel, t->dtype)}};
    int change = layout_change(kernel->layout, t->dtype, k);
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
        has_narrow_channels(kernel) && vector.curve && (k.curve || t->dtype == FR_TF32);

    if (!(k.curve && k.is_users) && use_per_image(c, t, kernel))
        return;
    if (is_on_vectors && t->dtype != FR_TF32)
        is_on_vectors = fr__kernel_s(&vector, &kernel->shape) < fr__kernel_s(&k, &kernel->shape);
    if (is_on_vectors)
        fr__set_known(c, fr__kernel_s(&vector, &kernel->shape), &vector);
    else if (k.curve)
        fr__set_known(c, fr__kernel_s(&k, &kernel->shape), &k);
    else
        use_implicit_product(c, has_narrow_channels(kernel) && t->dtype == FR_TF32 ? &vectors : t,
                             kernel, kernel->shape.conv.in_channels);
    if (has_narrow_channels(kernel) && k.curve && !k.is_users && fr__dtype_bytes(t->dtype) == 2 &&
        fr__pads_channels(device))
        use_padded(c, t, kernel);
    turn_images(c, t, kernel, &k);
}
