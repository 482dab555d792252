/* calibrate/cost/rule.c - the roofline of the data sheet, and the curve of what streams. */
#include "config.h"

#include "calibrate/cost/rule.h"

double fr__op_peak_flops_per_s(const struct fr_device_type *d, enum fr_op_kind kind,
                               enum fr_dtype dtype)
{
    return fr_op_kind_is_product(kind) ? fr_device_type_peak_flops_per_s(d, dtype)
                                       : d->vector_flops_per_s;
}

double fr__time_at(double amount, double rate)
{
    return rate > 0 ? amount / rate : 0;
}

void fr__set_roofline(struct fr_cost *c, const struct fr_device_type *d, enum fr_dtype dtype,
                      double flops, double bytes)
{
    struct fr_efficiency e = fr_efficiency_of(c->kind);

    c->flops_s = fr__time_at(flops, fr__op_peak_flops_per_s(d, c->kind, dtype) * e.flops_frac);
    c->bytes_s = fr__time_at(bytes, d->mem_Bps * e.bytes_frac);
    c->mean_s = c->flops_s > c->bytes_s ? c->flops_s : c->bytes_s;
}

void fr__set_known(struct fr_cost *c, double mean_s, const struct fr__known *k)
{
    double *bound_s = c->flops_s > c->bytes_s ? &c->flops_s : &c->bytes_s;
    double *other_s = c->flops_s > c->bytes_s ? &c->bytes_s : &c->flops_s;

    *other_s *= *bound_s > 0 ? mean_s / *bound_s : 0;
    *bound_s = mean_s;
    c->mean_s = mean_s;
    c->trust = k->trust;
    c->error_frac = k->error_frac;
}

/* The number format that has this size. */
static enum fr_dtype format_of(const struct fr__target *t, double element_bytes)
{
    if (element_bytes > 0 && element_bytes < 1.5)
        return FR_FP8;
    if (element_bytes > 0 && element_bytes < 3)
        return t->dtype == FR_BF16 ? FR_BF16 : FR_FP16;
    return FR_FP32;
}

struct fr__known fr__streaming_curve(const struct fr__target *t, enum fr_curve_class op_class,
                                     double element_bytes)
{
    struct fr__known k =
        fr__cost_model_curve(t->model, t->type, op_class, format_of(t, element_bytes));

    return k.is_users ? k : fr__cost_model_curve(t->model, t->type, op_class, FR_FP32);
}

bool fr__is_channel_by_channel(const struct fr__kernel *kernel)
{
    return kernel->layout == FR_LAYOUT_DEFAULT ? kernel->element_bytes > 3
                                               : kernel->layout == FR_LAYOUT_NCHW;
}
