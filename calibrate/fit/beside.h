/* calibrate/fit/beside.h - how much longer work takes on a device while other work runs there.
 *
 *     factor = max(1, sum of the times beside / sum of the times alone)
 *
 * over the rows of that pair of classes: what it does to the sum of a step's kernels, where the median would
 * say that of the typical one (half are not slowed at all and some take three times as long). Of kernels
 * beside a collective this is mostly multiprocessors that the collective's own kernel holds, and memory's
 * bandwidth.
 *
 * Source:  our definition; errors by bootstrap over rows (fitting.h).
 * Ignores: what kernel it is and how long the other work is.
 */
#ifndef FR_CALIBRATE_FIT_BESIDE_H
#define FR_CALIBRATE_FIT_BESIDE_H

#include "base/yaml.h"
#include "calibrate/curves/curve.h"
#include "calibrate/fit/read/data.h"

#include <stdio.h>

enum { FR__BESIDE_MIN_ROWS = 4 }; /* to fit a pair */

/* The pairs that the rows of the first GPU with any say something about, of the source with most
 * rows. *out is NULL when there are none; the caller frees it. FR_ENOMEM. */
enum fr_status fr__slowdowns_fit(struct fr__slowdowns **out, const struct fr__data *d,
                                 const char *const gpus[], size_t n_gpus, struct fr_error *err);

/* `interference` of a device file; *out is NULL without one. Errors as fr_calibration_load. */
enum fr_status fr__slowdowns_read(struct fr__slowdowns **out, const struct fr__yaml *root,
                                  struct fr_error *err);
void fr__slowdowns_write(FILE *f, const struct fr__slowdowns *s);
#endif
