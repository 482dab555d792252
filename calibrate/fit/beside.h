/* calibrate/fit/beside.h - how much longer work takes on a device while other work runs there
 * (interference).
 *
 *     factor = max(1, sum of the times beside other work / sum of the times alone)
 *
 * The sums are over the rows of one pair of classes. We take sums because the factor is applied to
 * the sum of a step's kernels. A median would describe the typical kernel: half of the kernels are
 * not slowed at all, and some take three times as long. Kernels beside a collective are slowed
 * mostly by the multiprocessors that the collective's kernel occupies, and by its share of the
 * memory bandwidth.
 *
 * Source:  our definition; standard errors by bootstrap over rows (fitting.h).
 * Ignores: which kernel it is, and how long the other work takes.
 */
#ifndef FR_CALIBRATE_FIT_BESIDE_H
#define FR_CALIBRATE_FIT_BESIDE_H

#include "base/yaml.h"
#include "calibrate/curves/curve.h"
#include "calibrate/fit/read/data.h"

#include <stdio.h>

enum { FR__BESIDE_MIN_ROWS = 4 }; /* fewer rows of a pair are not fitted */

/* Fits all pairs of classes for which there are rows, of the first GPU that has rows and the source
 * that has most of them. *out is NULL if there are none; the caller frees it. FR_ENOMEM. */
enum fr_status fr__slowdowns_fit(struct fr__slowdowns **out, const struct fr__data *d,
                                 const char *const gpus[], size_t n_gpus, struct fr_error *err);

/* Reads `interference` of a device file; *out is NULL without it. Errors as fr_calibration_load. */
enum fr_status fr__slowdowns_read(struct fr__slowdowns **out, const struct fr__yaml *root,
                                  struct fr_error *err);
void fr__slowdowns_write(FILE *f, const struct fr__slowdowns *s);
#endif
