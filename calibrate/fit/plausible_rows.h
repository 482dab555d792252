/* calibrate/fit/plausible_rows.h - whether measured kernels could be those of a device. */
#ifndef FR_CALIBRATE_FIT_PLAUSIBLE_ROWS_H
#define FR_CALIBRATE_FIT_PLAUSIBLE_ROWS_H

#include "calibrate/calibrate.h"

struct fr__data;

/* Refuses measured kernels that are far beyond the data sheet of the device type that they are said
 * to be of: a column in another unit. paths: of the data's files. FR_ERANGE with the row. */
enum fr_status fr__rows_plausible(const struct fr__data *d, const struct fr_device_type *type,
                                  const char *const paths[], struct fr_error *err);
#endif
