/* calibrate/fit/launches.h - the time to start a kernel, measured on empty kernels or on ones that
 * are nearly empty.
 *
 * Each figure is the median of its rows. Its error is half of the range from the tenth to the
 * ninetieth percentile, and 0 if there is one row.
 */
#ifndef FR_CALIBRATE_FIT_LAUNCHES_H
#define FR_CALIBRATE_FIT_LAUNCHES_H

#include "base/yaml.h"
#include "calibrate/curves/curve.h"
#include "calibrate/fit/read/data.h"

#include <stdio.h>

/* Fits the rows of the first GPU that has any, and of the source that has most. *out is NULL if
 * there are none; the caller frees it. FR_ENOMEM. */
enum fr_status fr__launches_fit(struct fr__launches **out, const struct fr__data *d,
                                const char *const gpus[], size_t n_gpus, struct fr_error *err);

/* Reads `launch` of a device file; *out is NULL without it. Errors as fr_calibration_load. */
enum fr_status fr__launches_read(struct fr__launches **out, const struct fr__yaml *root,
                                 struct fr_error *err);
void fr__launches_write(FILE *f, const struct fr__launches *l);
#endif
