/* calibrate/cost/plausible.h - whether costs could be those of a machine. */
#ifndef FR_CALIBRATE_COST_PLAUSIBLE_H
#define FR_CALIBRATE_COST_PLAUSIBLE_H

#include "calibrate/calibrate.h"

/* Refuses a user's device file with figures that no fit gives and no machine has, and systems whose
 * collectives are faster than the links of the topology's machines can carry them: those of another
 * fabric. topo: whose types and systems the model was made for. path: of the device file, NULL:
 * none. The sentence says which figure, the limit and the way round, --allow-implausible.
 * FR_ERANGE. */
enum fr_status fr__costs_plausible(const struct fr_cost_model *m, const struct fr_topo *topo,
                                   const char *path, struct fr_error *err);
#endif
