/* results/data/fits.h - the rows that fitted curves are judged on as a table. */
#ifndef FR_RESULTS_DATA_FITS_H
#define FR_RESULTS_DATA_FITS_H

#include "results/fits.h"

/* A line of column names, and a line for each row that is judged. FR_EIO; else as
 * fr_calibration_check. */
enum fr_status fr__fits_write_csv(const struct fr_fits *f, const char *path, struct fr_error *err);
/* The same of a system's collectives and messages. Errors as fr_system_visit; FR_EIO. */
enum fr_status fr__system_fits_write_csv(const struct fr_system_fits *f, const char *path,
                                         struct fr_error *err);
#endif
