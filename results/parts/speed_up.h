/* results/parts/speed_up.h - what speed-ups are counted against. */
#ifndef FR_RESULTS_PARTS_SPEED_UP_H
#define FR_RESULTS_PARTS_SPEED_UP_H

#include "results/results.h"

/* The baseline among the strategies where there is one, else the first record. */
const struct fr_record *fr__speed_up_base(const struct fr_results *rs);
#endif
