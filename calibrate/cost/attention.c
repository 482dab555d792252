/* calibrate/cost/attention.c - prices fused attention, forward and backward, by the curves of a
 * device's newest kernels and the rates of older ones.
 */
#include "config.h"

#include "calibrate/cost/attention_kernels.h"
#include "calibrate/cost/rule.h"
#include "calibrate/cost/relatives.h"
#include "calibrate/cost/borrowed.h"

#include <math.h>

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

/* Median error of what is not measured: a backward pass by its ratio, older generations, and
 * operands of 8 bits, forward and backward (attention_kernels.h). */
static const double OF_BACKWARD = 0.08, OF_FIRST = 0.25, OF_SECOND = 0.05;
static const double OF_8_BITS = 0.1, OF_8_BITS_BACKWARD = 0.25;

static void add_error(struct fr__known *k, double median)
{
    k->error_frac = hypot(k->error_frac, fr__error_of_median(median));
}

/* How many times as long the asked generation takes as that of the curve. */
static double slower_by(struct fr__known *k, const struct fr__kernel *kernel)
{
    double factor =
        fr__attention_slowdown((unsigned)kernel->generation, fr__newest_attention(k->from),
                               kernel->shape.attention.seq, kernel->shape.attention.head_dim);

    if (factor > 1)
        add_error(k, kernel->generation < 2 ? OF_FIRST : OF_SECOND);
    return factor;
}

/* The gain of operands of 8 bits over k, a curve in 16 bits. */
static double gain_of_8_bits(struct fr__known *k, const struct fr__kernel *kernel, bool is_forward)
{
    double gain =
        fr__attention_gain_of_8_bits(fr__newest_attention(k->from), kernel->shape.attention.seq);

    add_error(k, is_forward ? OF_8_BITS : OF_8_BITS_BACKWARD);
    k->trust = FR_TRUST_TRANSFERRED;
    return gain;
}

/* Prices fused attention. With an older generation than the curve's, in both passes, it takes
 * longer; the user's own curves are of the kernels that they use. Kernels with operands of 8 bits
 * were not measured: they are those of 16 bits with a gain, unless the user has a curve. */
void fr__price_attention(struct fr_cost *c, const struct fr__target *t, const struct fr_op *o,
                         const struct fr__kernel *kernel)
{
    const struct fr_device_type *d = fr__cost_model_type(t->model, t->type);
    struct fr__known k = fr__cost_model_attention(t->model, t->type, t->dtype), own;
    bool is_forward = fr_op_runs_forward(o), is_gained = t->dtype == FR_FP8 && !k.curve;
    enum fr_dtype format = is_gained ? fr_device_type_arithmetic(d, FR_BF16) : t->dtype;
    struct fr_kernel_shape shape = kernel->shape;
    double s;

    if (is_gained)
        k = fr__cost_model_attention(t->model, t->type, format);
    own = fr__cost_model_curve(t->model, t->type, FR_CURVE_ATTENTION_BACKWARD, format);
    if (!is_forward && own.curve) {
        shape.op_class = FR_CURVE_ATTENTION_BACKWARD;
        s = fr__kernel_s(&own, &shape);
        fr__set_known(c, is_gained ? s / gain_of_8_bits(&own, kernel, false) : s, &own);
        return;
    }
    if (!k.curve)
        return;
    s = fr__kernel_s(&k, &kernel->shape);
    if (!is_forward) {
        s *= backward_ratio(shape.attention.seq);
        add_error(&k, OF_BACKWARD);
    }
    if (is_gained)
        s /= gain_of_8_bits(&k, kernel, is_forward);
    else if (!k.is_users)
        s *= slower_by(&k, kernel);
    fr__set_known(c, s, &k);
}
