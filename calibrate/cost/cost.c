/* calibrate/cost/cost.c - the time of one op by rule: by the device's curve for the kernel that it
 * is (kernel.h, cost_model.h), or by a roofline if there is no curve. Recorded samples are tried
 * before (cost_op.c).
 *
 * Model:   t_s = max(flops / (peak * flops_frac), bytes / (mem_Bps * bytes_frac)) for the roofline.
 * Source:  S. Williams, A. Waterman, D. Patterson, Communications of the ACM 52(4), 2009
 *          (roofline); calibrate/cost/efficiencies.yaml for the fractions.
 * Ignores: tiles and waves, caches, and the occupancy of small kernels (of the roofline).
 */
#include "config.h"

#include "base/dtype.h"
#include "calibrate/calibrate.h"
#include "calibrate/cost/channelwise.h"
#include "calibrate/cost/model.h"
#include "calibrate/cost/rule.h"
#include "calibrate/cost/samples.h"
#include "calibrate/curves/conv.h"
#include "calibrate/cost/kernel.h"
#include "calibrate/cost/relatives.h"
#include "calibrate/cost/borrowed.h"

#include <math.h>
#include <string.h>

/* ---- curves ---- */

/* Standard deviation of the logarithm of a time by the data sheet. Measured efficiency over the
 * assumed one (calibrate/cost/efficiencies.yaml) lies between 0.65 and 0.90 for bf16 products (10th
 * to 90th percentile), which is a standard deviation of 0.13, and between 0.2 and 1.2 for fp32
 * convolutions, which is 0.70. We take the middle for all ops. */
#define DATASHEET_ERROR 0.4

/* How often an op moves the bytes that it reads once. In training, batch norm reads an image twice,
 * for the statistics and to normalise it (NVIDIA cuDNN, spatial batch normalisation); its gradient
 * has an op for each pass. */
static double passes_of(const struct fr_op *o)
{
    return o->kind == FR_OP_BATCHNORM && fr_op_runs_forward(o) ? 1.5 : 1;
}

/* Prices a kernel that only moves memory. fallback: the class whose curve is used if op_class has
 * none. */
static void use_streaming(struct fr_cost *c, const struct fr__target *t,
                          enum fr_curve_class op_class, enum fr_curve_class fallback,
                          const struct fr__kernel *kernel)
{
    struct fr__known k = fr__streaming_curve(t, op_class, kernel->element_bytes);
    struct fr_kernel_shape shape = {.op_class = op_class, .memory = {.bytes = kernel->bytes}};

    if (!k.curve) {
        k = fr__streaming_curve(t, fallback, kernel->element_bytes);
        shape.op_class = fallback;
    }
    if (k.curve)
        fr__set_known(c, fr__kernel_s(&k, &shape), &k);
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
static bool use_passes(struct fr_cost *c, const struct fr__target *t,
                       const struct fr_kernel_shape *shape, double numbers,
                       const struct fr__kernel *kernel)
{
    struct fr__known k = fr__streaming_curve(t, shape->op_class, kernel->element_bytes);
    double measured_bytes;

    if (!k.curve)
        return false;
    measured_bytes =
        counted_passes(shape->op_class) * numbers * fr__dtype_bytes(k.curve->info.dtype);
    fr__set_known(c, fr__kernel_s(&k, shape) * kernel->bytes / measured_bytes, &k);
    return true;
}

/* Prices softmax and norms. A gradient without a curve takes the forward pass's time for its own
 * bytes. */
static void use_rows(struct fr_cost *c, const struct fr__target *t, const struct fr_op *o,
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

/* Prices batch norm. Without a curve it takes the time of elementwise ops for its bytes, or longer
 * where each channel is one block of threads. */
static void use_batchnorm(struct fr_cost *c, const struct fr__target *t, const struct fr_op *o,
                          const struct fr__kernel *kernel)
{
    const struct fr_kernel_shape *shape = &kernel->shape;
    struct fr__kernel all = *kernel;
    double n_sms = fr__cost_model_type(t->model, t->type)->n_sms;

    if (use_passes(c, t, shape, shape->batchnorm.channels * shape->batchnorm.values, kernel))
        return;
    all.bytes *= passes_of(o);
    use_streaming(c, t, FR_CURVE_ELEMENTWISE, FR_CURVE_ELEMENTWISE, &all);
    if (c->trust == FR_TRUST_DATASHEET || !fr__is_channel_by_channel(kernel))
        return;
    slow_down(c, fr__channelwise_slowdown(shape->batchnorm.channels, n_sms, fr_op_runs_forward(o)));
    c->error_frac = hypot(c->error_frac, fr__error_of_median(0.12));
}

/* Adds what ops that are fused behind a product move: tensors kept for the backward pass, or read
 * there. A block of threads moves its part when its products are done, so we count none as
 * hidden. */
static void add_epilogue(struct fr_cost *c, const struct fr__target *t,
                         const struct fr__kernel *kernel)
{
    double *bound_s = c->flops_s > c->bytes_s ? &c->flops_s : &c->bytes_s;
    double s = fr__time_at(kernel->epilogue_bytes, fr__cost_model_type(t->model, t->type)->mem_Bps *
                                                       fr_efficiency_of(FR_OP_ADD).bytes_frac);

    *bound_s += s;
    c->mean_s += s;
}

/* Time of a matrix product. One of 8 bits and many rows is no slower than parts of its rows one
 * after the other. The rows measured in 8 bits hold the conversion of the activation to 8 bits, and
 * so many rows were measured beside few columns, where that is most of the time: the fit takes it
 * for the price of many rows (an H100, 65536 x 4096 over 14336: 663 Tflop/s, of 8192 rows 1109). */
static double product_s(const struct fr__known *k, const struct fr__target *t,
                        const struct fr_kernel_shape *product)
{
    enum { LEAST_ROWS = 8192 };
    struct fr_kernel_shape part = *product;
    double s = fr__kernel_s(k, product);

    if (t->dtype != FR_FP8 || k->is_users)
        return s;
    for (double n = 2; product->matmul.rows / n >= LEAST_ROWS; n *= 2) {
        part.matmul.rows = product->matmul.rows / n;
        s = fmin(s, n * fr__kernel_s(k, &part));
    }
    return s;
}

static void use_shape(struct fr_cost *c, const struct fr__target *t, const struct fr_op *o,
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
        fr__price_attention(c, t, o, kernel);
        return;
    case FR_CURVE_MATMUL:
        k = fr__cost_model_curve(t->model, t->type, op_class, t->dtype);
        if (k.curve)
            fr__set_known(c, product_s(&k, t, &kernel->shape), &k);
        add_epilogue(c, t, kernel);
        return;
    default:
        fr__price_convolution(c, t, kernel);
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
    case FR_OP_SCAN:
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
static void visit_windows(struct fr_cost *c, const struct fr__target *t, const struct fr_op *o,
                          const struct fr__kernel *kernel)
{
    double rate = fr_op_runs_forward(o) ? WINDOWS_PER_S : WINDOWS_BACK_PER_S;
    double s = fr__time_at(kernel->flops, rate * fr__cost_model_type(t->model, t->type)->n_sms);

    if (!(s > c->mean_s) || c->trust == FR_TRUST_DATASHEET ||
        fr__streaming_curve(t, streaming_class(o), kernel->element_bytes).curve)
        return;
    c->flops_s = c->mean_s = s;
    c->error_frac = hypot(c->error_frac, fr__error_of_median(0.25));
}

/* ---- what no device can do ---- */

/* Bytes that a kernel must move between memory and the device at the least: its operands and its
 * result once each, in the format of its products. Of other kernels all that the graph says. */
static double compulsory_bytes(const struct fr__target *t, const struct fr__kernel *kernel)
{
    const struct fr_kernel_shape *s = &kernel->shape;
    double in_bytes = fr__dtype_bytes(t->dtype), out_bytes = fmax(in_bytes, 2);

    if (!kernel->has_shape)
        return kernel->bytes;
    switch (s->op_class) {
    case FR_CURVE_MATMUL:
        return s->matmul.batch *
               ((s->matmul.rows + s->matmul.columns) * s->matmul.depth * in_bytes +
                s->matmul.rows * s->matmul.columns * out_bytes);
    case FR_CURVE_ATTENTION: /* queries, keys, values and the result; a gradient of each, too */
        return 2 * s->attention.batch * s->attention.seq *
               (s->attention.heads + s->attention.kv_heads) * s->attention.head_dim * in_bytes;
    case FR_CURVE_CONV_FORWARD:
    case FR_CURVE_CONV_BACKWARD_DATA:
    case FR_CURVE_CONV_BACKWARD_FILTER:
        return fr__conv_elements(s) * in_bytes;
    default:
        return kernel->bytes;
    }
}

/* Time of a kernel's FLOPs at their highest rate. Those of convolutions are counted as products, of
 * which Winograd's algorithms save some on the vector units. */
static double least_flops_s(const struct fr__target *t, enum fr_op_kind kind,
                            const struct fr__kernel *kernel)
{
    const struct fr_device_type *d = fr__cost_model_type(t->model, t->type);
    double peak = fr__op_peak_flops_per_s(d, kind, t->dtype);

    if (kind == FR_OP_CONV2D && kernel->has_shape)
        peak = fmax(peak,
                    fr_device_type_peak_flops_per_s(d, FR_FP32) * fr__conv_saving(&kernel->shape));
    return fr__time_at(kernel->flops, peak);
}

/* No kernel takes less than its FLOPs take at the peak and its bytes at the bandwidth of memory,
 * but for bytes that the device's cache holds before the kernel and those that it keeps behind it.
 * Curves may say less for shapes far from all that was measured. A user's own curves are taken as
 * measured. */
static void keep_possible(struct fr_cost *c, const struct fr__target *t, double flops_s,
                          double bytes)
{
    const struct fr_device_type *d = fr__cost_model_type(t->model, t->type);
    const struct fr_calibration *own = fr__cost_model_own_file(t->model);
    double moved_bytes, bytes_s, least_s;

    if (c->mean_s >= flops_s && c->mean_s >= fr__time_at(bytes, d->mem_Bps))
        return; /* as most do, whatever the cache holds */
    moved_bytes = fmax(bytes - 2 * fr__cache_bytes(d->name), 0);
    bytes_s = fr__time_at(moved_bytes, d->mem_Bps);
    least_s = fmax(flops_s, bytes_s);
    if (c->mean_s >= least_s || (own && strcmp(fr_calibration_device(own), d->name) == 0))
        return;
    c->flops_s = flops_s;
    c->bytes_s = bytes_s;
    c->mean_s = least_s;
}

/* ---- an op ---- */

/* Prices one kernel of an op. */
static void price_kernel(struct fr_cost *c, const struct fr__target *t, const struct fr_op *o,
                         const struct fr__kernel *kernel)
{
    c->trust = FR_TRUST_DATASHEET;
    c->error_frac = DATASHEET_ERROR;
    fr__set_roofline(c, fr__cost_model_type(t->model, t->type), t->dtype, kernel->flops,
                     kernel->bytes);
    if (kernel->has_shape) {
        use_shape(c, t, o, kernel);
    } else if (is_streaming(o->kind) && kernel->bytes > 0) {
        enum fr_curve_class op_class = streaming_class(o);
        struct fr__kernel k = *kernel;

        k.bytes *= passes_of(o);
        use_streaming(c, t, op_class, fallback_of(op_class), &k);
        if (o->kind == FR_OP_MAXPOOL || o->kind == FR_OP_AVGPOOL)
            visit_windows(c, t, o, &k);
    }
    keep_possible(c, t, least_flops_s(t, o->kind, kernel), compulsory_bytes(t, kernel));
}

/* Adds a kernel that runs behind the first. The worse of the two trusts is that of both. */
static void add_kernel(struct fr_cost *c, const struct fr_cost *more)
{
    double all_s = c->mean_s + more->mean_s;

    if (all_s > 0)
        c->error_frac = (c->error_frac * c->mean_s + more->error_frac * more->mean_s) / all_s;
    c->mean_s = all_s;
    c->flops_s += more->flops_s;
    c->bytes_s += more->bytes_s;
    c->trust = more->trust > c->trust ? more->trust : c->trust;
}

/* The format in which an op's products run. What has no 8 bits in fp8 training runs in 16. */
static enum fr_dtype format_on(const struct fr_device_type *d, enum fr_dtype trained_in,
                               const struct fr__kernel *kernel)
{
    enum fr_dtype format = fr_device_type_arithmetic(d, trained_in);

    return format == FR_FP8 && !kernel->is_8_bit ? fr_device_type_arithmetic(d, FR_BF16) : format;
}

void fr__cost_by_rule(struct fr_cost *c, const struct fr_cost_model *m, uint32_t type,
                      const struct fr_graph *g, uint32_t op, const struct fr_part *part)
{
    const struct fr_op *o = &g->ops[op];
    struct fr__target t = {.model = m, .type = type};
    struct fr__kernel kernel;

    fr__kernel_of(g, op, part, &kernel);
    t.dtype = format_on(fr__cost_model_type(m, type), g->dtype, &kernel);
    price_kernel(c, &t, o, &kernel);
    if (kernel.is_pair) {
        struct fr_cost second = *c;

        kernel.shape = kernel.second;
        price_kernel(&second, &t, o, &kernel);
        add_kernel(c, &second);
    }
    slow_down(c, kernel.repeats);
}

bool fr__cost_as_product(struct fr_cost *c, const struct fr_cost_model *m, uint32_t type,
                         const struct fr_graph *g, uint32_t op, const struct fr_part *part)
{
    struct fr__kernel kernel;
    struct fr_kernel_shape shape;
    struct fr__known k;
    double side;

    fr__kernel_of(g, op, part, &kernel);
    k = fr__cost_model_curve(m, type, FR_CURVE_MATMUL,
                             format_on(fr__cost_model_type(m, type), g->dtype, &kernel));
    if (!k.curve || !fr_op_kind_is_product(g->ops[op].kind) || !(kernel.flops > 0))
        return false;
    side = cbrt(kernel.flops * kernel.repeats * (kernel.is_pair ? 2 : 1) / 2);
    shape = (struct fr_kernel_shape){.op_class = FR_CURVE_MATMUL, .matmul = {1, side, side, side}};
    fr__set_known(c, fr__kernel_s(&k, &shape), &k);
    return true;
}

/* ---- public ---- */

void fr_cost_bytes(const struct fr_cost_model *m, uint32_t type, double bytes, enum fr_op_kind kind,
                   struct fr_cost *out)
{
    struct fr__target t = {.model = m, .type = type, .dtype = FR_FP32};
    const struct fr__kernel kernel = {.bytes = bytes};

    *out = (struct fr_cost){.kind = kind, .trust = FR_TRUST_DATASHEET};
    if (bytes <= 0)
        return;
    out->error_frac = DATASHEET_ERROR;
    fr__set_roofline(out, fr__cost_model_type(m, type), FR_FP32, 0, bytes);
    use_streaming(out, &t, kind == FR_OP_UPDATE ? FR_CURVE_OPTIMIZER : FR_CURVE_ELEMENTWISE,
                  FR_CURVE_ELEMENTWISE, &kernel);
    keep_possible(out, &t, 0, bytes);
    out->launch_s = fr__cost_model_launch_s(m, type);
}

void fr_cost_product(const struct fr_cost_model *m, uint32_t type,
                     const struct fr_cost_product *product, struct fr_cost *out)
{
    static const struct fr_op op = {.kind = FR_OP_MATMUL};
    struct fr__target t = {.model = m, .type = type};
    struct fr__kernel kernel = {
        .has_shape = true,
        .shape = {.op_class = FR_CURVE_MATMUL,
                  .matmul = {1, product->rows, product->columns, product->depth}},
        .repeats = 1,
        .flops = 2 * product->rows * product->columns * product->depth};

    t.dtype = format_on(fr__cost_model_type(m, type), product->dtype, &kernel);
    kernel.bytes = compulsory_bytes(&t, &kernel);
    *out = (struct fr_cost){.kind = FR_OP_MATMUL};
    price_kernel(out, &t, &op, &kernel);
    out->launch_s = fr__cost_model_launch_s(m, type);
}
