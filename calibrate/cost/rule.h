/* calibrate/cost/rule.h - what the rules of single kinds of ops share: the target that an op is
 * priced for, the roofline of the data sheet, and a time that a curve gave.
 *
 * cost.c prices an op; convolutions and attention have files of their own, since each is longer
 * than all the others together.
 */
#ifndef FR_CALIBRATE_COST_RULE_H
#define FR_CALIBRATE_COST_RULE_H

#include "calibrate/calibrate.h"
#include "calibrate/cost/model.h"
#include "calibrate/cost/kernel.h"

struct fr__target {
    const struct fr_cost_model *model;
    uint32_t type;
    enum fr_dtype dtype; /* format of the op's products on this device; never FR_AMP */
};

/* Products run on matrix units: their peak is the dtype's; that of other ops is the vector
 * units'. */
double fr__op_peak_flops_per_s(const struct fr_device_type *d, enum fr_op_kind kind,
                               enum fr_dtype dtype);
/* amount / rate; a rate of 0 is not known and sets no limit. */
double fr__time_at(double amount, double rate);
/* Sets the cost by the roofline of the data sheet, from all FLOPs and bytes of the op. dtype: of
 * its products. */
void fr__set_roofline(struct fr_cost *c, const struct fr_device_type *d, enum fr_dtype dtype,
                      double flops, double bytes);
/* Sets the time that a curve gave. The roofline, which c has, still says which of the two peaks
 * bounds the op. */
void fr__set_known(struct fr_cost *c, double mean_s, const struct fr__known *k);
/* The curve of a kernel that only moves memory. It is the one measured in fp32, because all our
 * fp32 data come from a training framework's kernels (cost_model.h); or the one in the format of
 * the op's numbers, if the user has measured that. element_bytes 0: the format is not known. */
struct fr__known fr__streaming_curve(const struct fr__target *t, enum fr_curve_class op_class,
                                     double element_bytes);
/* Where nothing says otherwise, images of numbers of 4 bytes lie channel by channel in frameworks;
 * those of 16 bits lie pixel by pixel where matrix units are to take them. */
bool fr__is_channel_by_channel(const struct fr__kernel *kernel);

/* Price an op of that kind by its curves. c: has the roofline, which stays where there are none. */
void fr__price_convolution(struct fr_cost *c, const struct fr__target *t,
                           const struct fr__kernel *kernel);
void fr__price_attention(struct fr_cost *c, const struct fr__target *t, const struct fr_op *o,
                         const struct fr__kernel *kernel);

#endif
