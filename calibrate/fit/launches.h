/* calibrate/fit/launches.h - what it takes to start a kernel, as measured on empty ones or next
 * to it.
 *
 * Each figure is the median of its rows; its error is half of the range from the tenth to the
 * ninetieth percentile, 0 of one row.
 */
#ifndef FR_CALIBRATE_FIT_LAUNCHES_H
#define FR_CALIBRATE_FIT_LAUNCHES_H

#include "base/yaml.h"
#include "calibrate/curves/curve.h"
#include "calibrate/fit/read/data.h"

#include <stdio.h>

/* Of the first GPU with rows and the source with most. *out is NULL when there are none; the
 * caller frees it. FR_ENOMEM. */
enum fr_status fr__launches_fit(struct fr__launches **out, const struct fr__data *d,
                                const char *const gpus[], size_t n_gpus, struct fr_error *err);

/* `launch` of a device file; *out is NULL without one. Errors as fr_calibration_load. */
enum fr_status fr__launches_read(struct fr__launches **out, const struct fr__yaml *root,
                                 struct fr_error *err);
void fr__launches_write(FILE *f, const struct fr__launches *l);
#endif
