/* calibrate/cost/model.h - which curve is used for each device type and class of kernels.
 *
 * The first of these that exists:
 * - the device's own curve in the number format;
 * - its own curve in a format that runs on the same units;
 * - the same two of its relatives (relatives.h), nearest first, with the device's own peaks and
 *   number of multiprocessors in place of theirs. All parameters but the launch are fractions of
 *   these, which makes this possible.
 *
 * For kernels that only move memory, another board of the chip in the right format comes before the
 * device's own curve in another format, unless the user's device file has the latter.
 *
 * A kernel's time leaves out the launch that was measured with it where that may include a
 * framework's call (25 to 50 us in NeuSight's rows). What is kept of it is at most the gap in the
 * device file's `launch`, or else 2.6 us, the start and end of a kernel on the device. Products
 * and convolutions of sources that time kernels alone keep all of it. The host's
 * launch is the device type's, unless a device file says how long a framework takes; it overlaps
 * with the device's work (sim/sim.h).
 */
#ifndef FR_CALIBRATE_COST_MODEL_H
#define FR_CALIBRATE_COST_MODEL_H

#include "calibrate/curves/curve.h"
#include "calibrate/messages/system.h"

struct fr__known {
    const struct fr__curve *curve; /* NULL: none */
    enum fr_trust trust;
    const char *from;  /* the device that was measured */
    double error_frac; /* standard deviation of the logarithm of its error */
    double latency_s;  /* the most that a kernel's time keeps of its launch; infinite: all */
    bool is_users;     /* measured in that format and in the user's own device file */
};

/* type < the model's number of types; dtype: that of the units (never FR_AMP). */
struct fr__known fr__cost_model_curve(const struct fr_cost_model *m, uint32_t type,
                                      enum fr_curve_class op_class, enum fr_dtype dtype);
/* Matrix products that read nothing: the arithmetic of a kernel that is a product but reads
 * less. */
struct fr__known fr__cost_model_product(const struct fr_cost_model *m, uint32_t type,
                                        enum fr_dtype dtype);
/* Attention in training: the forward pass without the cache of keys and values that the measured
 * inference servers write. The user's own curve is taken as measured. */
struct fr__known fr__cost_model_attention(const struct fr_cost_model *m, uint32_t type,
                                          enum fr_dtype dtype);
const struct fr_device_type *fr__cost_model_type(const struct fr_cost_model *m, uint32_t type);
/* Number of types of which the model has curves: the n_types that it was made for, then those on
 * which its graph's samples were measured. */
uint32_t fr__cost_model_n_types(const struct fr_cost_model *m);

/* The user's own device file; NULL: none. */
const struct fr_calibration *fr__cost_model_own_file(const struct fr_cost_model *m);

/* NULL: there is none of that index. */
const struct fr_system *fr__cost_model_system(const struct fr_cost_model *m, uint32_t system);

/* Seconds of a kernel on the device, without the host's part. k->curve is not NULL. */
double fr__kernel_s(const struct fr__known *k, const struct fr_kernel_shape *shape);
/* Host time to launch an op on that type. */
double fr__cost_model_launch_s(const struct fr_cost_model *m, uint32_t type);
#endif
