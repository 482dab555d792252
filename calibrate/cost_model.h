/* calibrate/cost_model.h - for each device type and class of kernels the curve that holds for it.
 *
 * The first that there is of: the device's own curve in the number format; its own in a format that
 * runs on the same units; then the same of its relatives (relatives.h), nearest first, with the
 * device's peaks and number of multiprocessors in place of theirs. For kernels that stream
 * another board of the chip in the format comes before the device's own in another format,
 * unless the user's device file has that. All parameters but the launch are fractions of these,
 * which is what makes the transfer possible.
 *
 * A kernel's time leaves out the launch that was measured with it, which may hold a framework's
 * call (25 to 50 us in NeuSight's rows); what it keeps of it is at most the gap of the device
 * file's `launch`, else 2.6 us, the start and end of a kernel on the device. The host's launch
 * is the device type's, unless a device file says what a framework takes, and runs beside
 * (sim/sim.h).
 */
#ifndef FR_CALIBRATE_COST_MODEL_H
#define FR_CALIBRATE_COST_MODEL_H

#include "calibrate/curves/curve.h"
#include "calibrate/system.h"

struct fr__known {
    const struct fr__curve *curve; /* NULL: none */
    enum fr_trust trust;
    const char *from;  /* the device that was measured */
    double error_frac; /* standard deviation of the logarithm of its error */
    double latency_s;  /* what at most a kernel keeps of its launch, on that device */
    bool is_users;     /* measured in that format, in the user's own device file */
};

/* type < the model's number of types; dtype: the units' (never FR_AMP). */
struct fr__known fr__cost_model_curve(const struct fr_cost_model *m, uint32_t type,
                                      enum fr_curve_class op_class, enum fr_dtype dtype);
/* Matrix products whose operands come for nothing: the arithmetic of what is one but reads less. */
struct fr__known fr__cost_model_product(const struct fr_cost_model *m, uint32_t type,
                                        enum fr_dtype dtype);
const struct fr_device_type *fr__cost_model_type(const struct fr_cost_model *m, uint32_t type);
/* Types of which the model has curves: the n_types that it was made for, then those that its
 * graph's samples were measured on. */
uint32_t fr__cost_model_n_types(const struct fr_cost_model *m);

/* NULL: there is none of that index. */
const struct fr_system *fr__cost_model_system(const struct fr_cost_model *m, uint32_t system);

/* Standard deviation of the logarithm of an error whose absolute value has this median, were it
 * normal. */
double fr__error_of_median(double median);

/* Seconds of a kernel on the device, the host's part left out. k->curve is not NULL. */
double fr__kernel_s(const struct fr__known *k, const struct fr_kernel_shape *shape);
/* Host time to launch an op on that type. */
double fr__cost_model_launch_s(const struct fr_cost_model *m, uint32_t type);
#endif
