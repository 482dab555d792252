/* calibrate/cost.c - the time of one op by rule: by the device's curve for the kernel that it is
 * (kernel.h, cost_model.h), or by a roofline if there is no curve. Recorded samples are tried
 * before (cost_op.c).
 *
 * Model:   t_s = max(flops / (peak * flops_frac), bytes / (mem_Bps * bytes_frac)) for the roofline.
 * Source:  S. Williams, A. Waterman, D. Patterson, Communications of the ACM 52(4), 2009
 *          (roofline); calibrate/efficiency.c for the fractions.
 * Ignores: tiles and waves, caches, and the occupancy of small kernels (of the roofline).
 */
#include "config.h"

#include "base/dtype.h"
#include "calibrate/attention_kernels.h"
#include "calibrate/calibrate.h"
#include "calibrate/channelwise.h"
#include "calibrate/cost_model.h"
#include "calibrate/cost_samples.h"
#include "calibrate/kernel.h"
#include "calibrate/layout.h"
#include "calibrate/per_image.h"
#include "calibrate/relatives.h"
#include "calibrate/transfer.h"

#include <math.h>

/* Products run on matrix units: their peak is the dtype's. */
static double peak_flops_per_s(const struct fr_device_type *d, enum fr_op_kind kind,
                               enum fr_dtype dtype)
{
    return fr_op_kind_is_product(kind) ? fr_device_type_peak_flops_per_s(d, dtype)
                                       : d->vector_flops_per_s;
}

/* amount / rate; a rate of 0 is not known and sets no limit. */
static double time_at(double amount, double rate)
{
    return rate > 0 ? amount / rate : 0;
}

/* Sets the cost by the roofline of the data sheet, from all FLOPs and bytes of the op. */
static void set_roofline(struct fr_cost *c, const struct fr_device_type *d, enum fr_dtype dtype,
                         double flops, double bytes)
{
    struct fr_efficiency e = fr_efficiency_of(c->kind);

    c->flops_s = time_at(flops, peak_flops_per_s(d, c->kind, dtype) * e.flops_frac);
    c->bytes_s = time_at(bytes, d->mem_Bps * e.bytes_frac);
    c->mean_s = c->flops_s > c->bytes_s ? c->flops_s : c->bytes_s;
}

/* Sets the time that a curve gave. The roofline still says which of the two peaks bounds the op. */
static void set_known(struct fr_cost *c, double mean_s, const struct fr__known *k)
{
    double *bound_s = c->flops_s > c->bytes_s ? &c->flops_s : &c->bytes_s;
    double *other_s = c->flops_s > c->bytes_s ? &c->bytes_s : &c->flops_s;

    *other_s *= *bound_s > 0 ? mean_s / *bound_s : 0;
    *bound_s = mean_s;
    c->mean_s = mean_s;
    c->trust = k->trust;
    c->error_frac = k->error_frac;
}

/* ---- curves ---- */

/* Standard deviation of the logarithm of a time by the data sheet. Measured efficiency over the
 * assumed one lies between 0.65 and 0.90 for bf16 products (10th to 90th percentile;
 * calibrate/efficiency.c), which is a standard deviation of 0.13, and between 0.2 and 1.2 for fp32
 * convolutions, which is 0.70. We take the middle for all ops. */
#define DATASHEET_ERROR 0.4

struct target {
    const struct fr_cost_model *model;
    uint32_t type;
    enum fr_dtype dtype; /* format of the matrix products; never FR_AMP */
};

/* How often an op moves the bytes that it reads once. In training, batch norm reads an image twice,
 * for the statistics and to normalise it (NVIDIA cuDNN, spatial batch normalisation); its gradient
 * has an op for each pass. */
static double passes_of(const struct fr_op *o)
{
    return o->kind == FR_OP_BATCHNORM && fr_op_runs_forward(o) ? 1.5 : 1;
}

/* The number format that has this size. */
static enum fr_dtype format_of(const struct target *t, double element_bytes)
{
    if (element_bytes > 0 && element_bytes < 1.5)
        return FR_FP8;
    if (element_bytes > 0 && element_bytes < 3)
        return t->dtype == FR_BF16 ? FR_BF16 : FR_FP16;
    return FR_FP32;
}

/* The curve of a kernel that only moves memory. It is the one measured in fp32, because all our
 * fp32 data come from a training framework's kernels (cost_model.h); or the one in the format of
 * the op's numbers, if the user has measured that. */
static struct fr__known streaming_curve(const struct target *t, enum fr_curve_class op_class,
                                        double element_bytes)
{
    struct fr__known k =
        fr__cost_model_curve(t->model, t->type, op_class, format_of(t, element_bytes));

    return k.is_users ? k : fr__cost_model_curve(t->model, t->type, op_class, FR_FP32);
}

/* Prices a kernel that only moves memory. fallback: the class whose curve is used if op_class has
 * none. */
static void use_streaming(struct fr_cost *c, const struct target *t, enum fr_curve_class op_class,
                          enum fr_curve_class fallback, const struct fr__kernel *kernel)
{
    struct fr__known k = streaming_curve(t, op_class, kernel->element_bytes);
    struct fr_kernel_shape shape = {.op_class = op_class, .memory = {.bytes = kernel->bytes}};

    if (!k.curve) {
        k = streaming_curve(t, fallback, kernel->element_bytes);
        shape.op_class = fallback;
    }
    if (k.curve)
        set_known(c, fr__kernel_s(&k, &shape), &k);
}

/* How often the `bytes` of an op count each number; for a gradient, of all its ops together. The
 * gradient of a norm's input reads two numbers and writes one, that of its parameters reads two
 * again. */
static double counted_passes(enum fr_curve_class c)
{
    switch (c) {
    case FR_CURVE_SOFTMAX_BACKWARD:
        return 3;
    case FR_CURVE_LAYERNORM_BACKWARD:
    case FR_CURVE_BATCHNORM_BACKWARD:
        return 5;
    default:
        return 2;
    }
}

/* Prices `numbers` numbers by a curve of op_class. A curve in another format, and several ops that
 * are one kernel, are scaled by bytes. */
static bool use_passes(struct fr_cost *c, const struct target *t,
                       const struct fr_kernel_shape *shape, double numbers,
                       const struct fr__kernel *kernel)
{
    struct fr__known k = streaming_curve(t, shape->op_class, kernel->element_bytes);
    double measured_bytes;

    if (!k.curve)
        return false;
    measured_bytes =
        counted_passes(shape->op_class) * numbers * fr__dtype_bytes(k.curve->info.dtype);
    set_known(c, fr__kernel_s(&k, shape) * kernel->bytes / measured_bytes, &k);
    return true;
}

/* Prices softmax and norms. A gradient without a curve takes the forward pass's time for its own
 * bytes. */
static void use_rows(struct fr_cost *c, const struct target *t, const struct fr_op *o,
                     const struct fr__kernel *kernel)
{
    struct fr_kernel_shape shape = kernel->shape;
    double numbers = shape.rows.rows * shape.rows.columns;

    if (!fr_op_runs_forward(o))
        shape.op_class = shape.op_class == FR_CURVE_SOFTMAX ? FR_CURVE_SOFTMAX_BACKWARD
                                                            : FR_CURVE_LAYERNORM_BACKWARD;
    if (use_passes(c, t, &shape, numbers, kernel))
        return;
    shape.op_class = kernel->shape.op_class;
    use_passes(c, t, &shape, numbers, kernel);
}

/* Multiplies the time that a curve gave. */
static void slow_down(struct fr_cost *c, double factor)
{
    c->mean_s *= factor;
    c->flops_s *= factor;
    c->bytes_s *= factor;
}

/* Where nothing says otherwise, images of numbers of 4 bytes lie channel by channel in frameworks;
 * those of 16 bits lie pixel by pixel where matrix units are to take them. */
static bool is_channel_by_channel(const struct fr__kernel *kernel)
{
    return kernel->layout == FR_LAYOUT_DEFAULT ? kernel->element_bytes > 3
                                               : kernel->layout == FR_LAYOUT_NCHW;
}

/* Prices batch norm. Without a curve it takes the time of elementwise ops for its bytes, or longer
 * where each channel is one block of threads. */
static void use_batchnorm(struct fr_cost *c, const struct target *t, const struct fr_op *o,
                          const struct fr__kernel *kernel)
{
    const struct fr_kernel_shape *shape = &kernel->shape;
    struct fr__kernel all = *kernel;
    double n_sms = fr__cost_model_type(t->model, t->type)->n_sms;

    if (use_passes(c, t, shape, shape->batchnorm.channels * shape->batchnorm.values, kernel))
        return;
    all.bytes *= passes_of(o);
    use_streaming(c, t, FR_CURVE_ELEMENTWISE, FR_CURVE_ELEMENTWISE, &all);
    if (c->trust == FR_TRUST_DATASHEET || !is_channel_by_channel(kernel))
        return;
    slow_down(c, fr__channelwise_slowdown(shape->batchnorm.channels, n_sms, fr_op_runs_forward(o)));
    c->error_frac = hypot(c->error_frac, fr__error_of_median(0.12));
}

/* Time of attention's backward pass over that of its forward pass, for sequences of that length: 5
 * products instead of 2, at a rate that falls behind the forward pass's by 11 %, and by more where
 * sequences are short, since what is done once a token (sums of gradients, the exchange of dQ)
 * shows. Fitted to published rates of FlashAttention-2 and -3 on an H100 with heads of 64 and 128,
 * 512 to 16384 tokens (J. Shah et al., "FlashAttention-3", 2024, figures 5 and 6), whose ratios it
 * meets within 8 % in the median; generations differ in the forward pass, hardly in the ratio. */
static double backward_ratio(double seq)
{
    return 2.5 * 1.11 * (1 + 150 / fmax(seq, 150));
}

/* Prices fused attention. With an older generation than the curve's, in both passes, it takes
 * longer; the user's own curves are of the kernels that they use. */
static void use_attention(struct fr_cost *c, const struct target *t, const struct fr_op *o,
                          const struct fr__kernel *kernel)
{
    struct fr__known k = fr__cost_model_attention(t->model, t->type, t->dtype);
    struct fr__known own =
        fr__cost_model_curve(t->model, t->type, FR_CURVE_ATTENTION_BACKWARD, t->dtype);
    struct fr_kernel_shape shape = kernel->shape;
    double s, slower;

    if (!fr_op_runs_forward(o) && own.curve) {
        shape.op_class = FR_CURVE_ATTENTION_BACKWARD;
        set_known(c, fr__kernel_s(&own, &shape), &own);
        return;
    }
    if (!k.curve)
        return;
    s = fr__kernel_s(&k, &kernel->shape);
    if (!fr_op_runs_forward(o)) {
        s *= backward_ratio(shape.attention.seq);
        k.error_frac = hypot(k.error_frac, fr__error_of_median(0.08));
    }
    slower = k.is_users ? 1
                        : fr__attention_slowdown((unsigned)kernel->generation,
                                                 fr__newest_attention(k.from), shape.attention.seq,
                                                 shape.attention.head_dim);
    if (slower > 1)
        k.error_frac =
            hypot(k.error_frac, fr__error_of_median(kernel->generation < 2 ? 0.25 : 0.05));
    set_known(c, s * slower, &k);
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
static void use_implicit_product(struct fr_cost *c, const struct target *t,
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
    set_known(c, s > c->bytes_s ? s : c->bytes_s, &k);
}

/* Adds the transposes around a convolution, or takes them away where what was measured has them and
 * the graph's images lie pixel by pixel (layout.h). Without them it takes no less than its matrix
 * product, whose operands are read as they lie. k: what priced it. */
static void turn_images(struct fr_cost *c, const struct target *t, const struct fr__kernel *kernel,
                        const struct fr__known *k)
{
    struct fr__known move = streaming_curve(t, FR_CURVE_ELEMENTWISE, kernel->element_bytes);
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
        set_roofline(&product, fr__cost_model_type(t->model, t->type), t->dtype, kernel->flops,
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
static void use_padded(struct fr_cost *c, const struct target *t, const struct fr__kernel *kernel)
{
    struct fr_cost padded = *c;
    double channels = ceil(kernel->shape.conv.in_channels / 8) * 8;

    set_roofline(&padded, fr__cost_model_type(t->model, t->type), t->dtype,
                 kernel->flops * channels / kernel->shape.conv.in_channels, kernel->bytes);
    use_implicit_product(&padded, t, kernel, channels);
    if (padded.trust == FR_TRUST_TRANSFERRED && padded.mean_s < c->mean_s)
        *c = padded;
}

/* A convolution as one product of all images, with its operands and result turned round. */
static double turned_round_s(const struct fr_cost *roofline, const struct target *t,
                             const struct fr__kernel *kernel)
{
    struct fr__known move = streaming_curve(t, FR_CURVE_ELEMENTWISE, kernel->element_bytes);
    struct fr_kernel_shape shape = {.op_class = FR_CURVE_ELEMENTWISE,
                                    .memory = {.bytes = 2 * kernel->bytes}};
    struct fr_cost c = *roofline;

    use_implicit_product(&c, t, kernel, kernel->shape.conv.in_channels);
    return c.mean_s + (move.curve ? fr__kernel_s(&move, &shape) : 0);
}

/* Prices a 1 x 1 convolution in tf32 as one product an image (per_image.h). What is summed up over
 * the images afterwards is read by a kernel that streams, unless it is faster to turn the images
 * round. false: it is no such convolution, or products were not measured. */
static bool use_per_image(struct fr_cost *c, const struct target *t,
                          const struct fr__kernel *kernel)
{
    struct fr__known k = fr__cost_model_product(t->model, t->type, t->dtype);
    struct fr__known stream = streaming_curve(t, FR_CURVE_REDUCTION, kernel->element_bytes);
    struct fr_kernel_shape product, sum = {.op_class = FR_CURVE_REDUCTION};
    double s;

    if (t->dtype != FR_TF32 || !k.curve || !is_channel_by_channel(kernel) ||
        !fr__is_per_image(&kernel->shape))
        return false;
    if (!stream.curve) {
        stream = streaming_curve(t, FR_CURVE_ELEMENTWISE, kernel->element_bytes);
        sum.op_class = FR_CURVE_ELEMENTWISE;
    }
    sum.memory.bytes = fr__per_image_product(&kernel->shape, &product);
    s = fmax(fr__kernel_s(&k, &product),
             c->bytes_s * (kernel->bytes + sum.memory.bytes) / fmax(kernel->bytes, 1));
    if (sum.memory.bytes > 0 && stream.curve)
        s = fmin(s + fr__kernel_s(&stream, &sum), turned_round_s(c, t, kernel));
    k.trust = FR_TRUST_TRANSFERRED;
    k.error_frac = fr__error_of_median(0.35);
    set_known(c, s, &k);
    return true;
}

/* Prices a convolution by its curve, or as a product. Channels that matrix units cannot take by the
 * eight run on the vector units in tf32 (layout.h), and else where that is faster than measured:
 * the fp16 rows are of cuDNN 7.0, whose gradients of a first layer's filter are slower in fp16 than
 * in fp32. */
static void use_convolution(struct fr_cost *c, const struct target *t,
                            const struct fr__kernel *kernel)
{
    enum fr_curve_class op_class = kernel->shape.op_class;
    const char *device = fr__cost_model_type(t->model, t->type)->name;
    struct fr__known k = fr__cost_model_curve(t->model, t->type, op_class, t->dtype);
    struct fr__known vector = fr__cost_model_curve(t->model, t->type, op_class, FR_FP32);
    struct target vectors = {t->model, t->type, FR_FP32};
    bool is_on_vectors =
        fr__layout_is_narrow(kernel) && vector.curve && (k.curve || t->dtype == FR_TF32);

    if (!(k.curve && k.is_users) && use_per_image(c, t, kernel))
        return;
    if (is_on_vectors && t->dtype != FR_TF32)
        is_on_vectors = fr__kernel_s(&vector, &kernel->shape) < fr__kernel_s(&k, &kernel->shape);
    if (is_on_vectors)
        set_known(c, fr__kernel_s(&vector, &kernel->shape), &vector);
    else if (k.curve)
        set_known(c, fr__kernel_s(&k, &kernel->shape), &k);
    else
        use_implicit_product(c, fr__layout_is_narrow(kernel) && t->dtype == FR_TF32 ? &vectors : t,
                             kernel, kernel->shape.conv.in_channels);
    if (fr__layout_is_narrow(kernel) && k.curve && !k.is_users && fr__dtype_bytes(t->dtype) == 2 &&
        fr__pads_channels(device))
        use_padded(c, t, kernel);
    turn_images(c, t, kernel, &k);
}

/* Adds what ops that are fused behind a product move: tensors kept for the backward pass, or read
 * there. A block of threads moves its part when its products are done, so we count none as
 * hidden. */
static void add_epilogue(struct fr_cost *c, const struct target *t, const struct fr__kernel *kernel)
{
    double *bound_s = c->flops_s > c->bytes_s ? &c->flops_s : &c->bytes_s;
    double s = time_at(kernel->epilogue_bytes, fr__cost_model_type(t->model, t->type)->mem_Bps *
                                                   fr_efficiency_of(FR_OP_ADD).bytes_frac);

    *bound_s += s;
    c->mean_s += s;
}

static void use_shape(struct fr_cost *c, const struct target *t, const struct fr_op *o,
                      const struct fr__kernel *kernel)
{
    enum fr_curve_class op_class = kernel->shape.op_class;
    struct fr__known k;

    switch (op_class) {
    case FR_CURVE_SOFTMAX:
    case FR_CURVE_LAYERNORM:
        use_rows(c, t, o, kernel);
        return;
    case FR_CURVE_BATCHNORM:
    case FR_CURVE_BATCHNORM_BACKWARD:
        use_batchnorm(c, t, o, kernel);
        return;
    case FR_CURVE_ATTENTION:
        use_attention(c, t, o, kernel);
        return;
    case FR_CURVE_MATMUL:
        k = fr__cost_model_curve(t->model, t->type, op_class, t->dtype);
        if (k.curve)
            set_known(c, fr__kernel_s(&k, &kernel->shape), &k);
        add_epilogue(c, t, kernel);
        return;
    default:
        use_convolution(c, t, kernel);
    }
}

static bool is_streaming(enum fr_op_kind kind)
{
    switch (kind) {
    case FR_OP_CONV2D:
    case FR_OP_MATMUL:
    case FR_OP_BATCH_MATMUL:
    case FR_OP_ATTENTION:
    case FR_OP_LSTM:
    case FR_OP_LAYER:
    case FR_OP_OTHER:
    case FR_OP_SOFTMAX:
    case FR_OP_LOG_SOFTMAX:
    case FR_OP_LAYERNORM:
    case FR_OP_RMSNORM:
        return false;
    default:
        return true;
    }
}

/* The class of an op of which only the bytes are known. */
static enum fr_curve_class streaming_class(const struct fr_op *o)
{
    bool is_forward = fr_op_runs_forward(o);

    if (o->phase == FR_PHASE_UPDATE)
        return FR_CURVE_OPTIMIZER;
    switch (o->kind) {
    case FR_OP_EMBEDDING: /* the gradient clears and writes the whole table, so it is no lookup */
        return is_forward ? FR_CURVE_EMBEDDING : FR_CURVE_EMBEDDING_BACKWARD;
    case FR_OP_MAXPOOL:
    case FR_OP_AVGPOOL:
        return is_forward ? FR_CURVE_POOLING : FR_CURVE_POOLING_BACKWARD;
    case FR_OP_DROPOUT:
        return is_forward ? FR_CURVE_DROPOUT : FR_CURVE_ELEMENTWISE;
    case FR_OP_BIAS:
        return is_forward ? FR_CURVE_ELEMENTWISE : FR_CURVE_REDUCTION;
    case FR_OP_TRANSPOSE:
        return FR_CURVE_TRANSPOSE;
    default:
        return FR_CURVE_ELEMENTWISE;
    }
}

/* The class that stands in for a class without a curve. A lookup has none, because no other class
 * reads memory so irregularly. */
static enum fr_curve_class fallback_of(enum fr_curve_class c)
{
    return c == FR_CURVE_EMBEDDING ? c : FR_CURVE_ELEMENTWISE;
}

/* Elements of windows that a multiprocessor visits each second, in pooling's forward and backward
 * pass. Profiles of Inception v3 and DenseNet-121 on a V100 in PyTorch (PipeDream) have 2.8 to 3.5
 * and 1.3 to 1.7 G/s, a trace of ResNet-50 on an H100 (TrioSim) 4.4 and 1.25: what bounds the
 * kernels is the arithmetic of indices, not memory. */
static const double WINDOWS_PER_S = 3.3e9, WINDOWS_BACK_PER_S = 1.4e9;

/* Pooling takes at least the time to visit its windows, unless a curve of its own says better. */
static void visit_windows(struct fr_cost *c, const struct target *t, const struct fr_op *o,
                          const struct fr__kernel *kernel)
{
    double rate = fr_op_runs_forward(o) ? WINDOWS_PER_S : WINDOWS_BACK_PER_S;
    double s = time_at(kernel->flops, rate * fr__cost_model_type(t->model, t->type)->n_sms);

    if (!(s > c->mean_s) || c->trust == FR_TRUST_DATASHEET ||
        streaming_curve(t, streaming_class(o), kernel->element_bytes).curve)
        return;
    c->flops_s = c->mean_s = s;
    c->error_frac = hypot(c->error_frac, fr__error_of_median(0.25));
}

void fr__cost_by_rule(struct fr_cost *c, const struct fr_cost_model *m, uint32_t type,
                      const struct fr_graph *g, uint32_t op, const struct fr_part *part)
{
    const struct fr_op *o = &g->ops[op];
    const struct fr_device_type *d = fr__cost_model_type(m, type);
    struct target t = {.model = m, .type = type, .dtype = fr_device_type_arithmetic(d, g->dtype)};
    struct fr__kernel kernel;

    fr__kernel_of(g, op, part, &kernel);
    c->trust = FR_TRUST_DATASHEET;
    c->error_frac = DATASHEET_ERROR;
    set_roofline(c, d, g->dtype, kernel.flops, kernel.bytes);
    if (kernel.has_shape)
        use_shape(c, &t, o, &kernel);
    else if (is_streaming(o->kind) && kernel.bytes > 0) {
        enum fr_curve_class op_class = streaming_class(o);

        kernel.bytes *= passes_of(o);
        use_streaming(c, &t, op_class, fallback_of(op_class), &kernel);
        if (o->kind == FR_OP_MAXPOOL || o->kind == FR_OP_AVGPOOL)
            visit_windows(c, &t, o, &kernel);
    }
}

bool fr__cost_as_product(struct fr_cost *c, const struct fr_cost_model *m, uint32_t type,
                         const struct fr_graph *g, uint32_t op, const struct fr_part *part)
{
    struct fr__known k =
        fr__cost_model_curve(m, type, FR_CURVE_MATMUL,
                             fr_device_type_arithmetic(fr__cost_model_type(m, type), g->dtype));
    struct fr__kernel kernel;
    struct fr_kernel_shape shape;
    double side;

    fr__kernel_of(g, op, part, &kernel);
    if (!k.curve || !fr_op_kind_is_product(g->ops[op].kind) || !(kernel.flops > 0))
        return false;
    side = cbrt(kernel.flops / 2);
    shape = (struct fr_kernel_shape){.op_class = FR_CURVE_MATMUL, .matmul = {1, side, side, side}};
    set_known(c, fr__kernel_s(&k, &shape), &k);
    return true;
}

/* ---- public ---- */

void fr_cost_bytes(const struct fr_cost_model *m, uint32_t type, double bytes, enum fr_op_kind kind,
                   struct fr_cost *out)
{
    struct target t = {.model = m, .type = type, .dtype = FR_FP32};
    const struct fr__kernel kernel = {.bytes = bytes};

    *out = (struct fr_cost){.kind = kind, .trust = FR_TRUST_DATASHEET};
    if (bytes <= 0)
        return;
    out->error_frac = DATASHEET_ERROR;
    set_roofline(out, fr__cost_model_type(m, type), FR_FP32, 0, bytes);
    use_streaming(out, &t, kind == FR_OP_UPDATE ? FR_CURVE_OPTIMIZER : FR_CURVE_ELEMENTWISE,
                  FR_CURVE_ELEMENTWISE, &kernel);
    out->launch_s = fr__cost_model_launch_s(m, type);
}
