/* calibrate/plausible.h - whether costs could be those of a machine. */
#ifndef FR_CALIBRATE_PLAUSIBLE_H
#define FR_CALIBRATE_PLAUSIBLE_H

#include "calibrate/calibrate.h"

struct fr__data;

/* Refuses a user's device file with figures that no fit gives and no machine has, and systems whose
 * collectives are faster than the links of the topology's machines can carry them: those of another
 * fabric. topo: whose types and systems the model was made for. path: of the device file, NULL:
 * none. The sentence says which figure, the limit and the way round, --allow-implausible.
 * FR_ERANGE. */
enum fr_status fr__costs_plausible(const struct fr_cost_model *m, const struct fr_topo *topo,
                                   const char *path, struct fr_error *err);
/* Refuses measured kernels that are far beyond the data sheet of the device type that they are said
 * to be of: a column in another unit. paths: of the data's files. FR_ERANGE with the row. */
enum fr_status fr__rows_plausible(const struct fr__data *d, const struct fr_device_type *type,
                                  const char *const paths[], struct fr_error *err);
#endif
