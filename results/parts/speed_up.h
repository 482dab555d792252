/* results/parts/speed_up.h - what speed-ups and changes of a resource are counted against. */
#ifndef FR_RESULTS_PARTS_SPEED_UP_H
#define FR_RESULTS_PARTS_SPEED_UP_H

#include "results/results.h"

/* The baseline among the strategies where there is one, else the first record. */
const struct fr_record *fr__speed_up_base(const struct fr_results *rs);

/* Relative change of a resource that becomes FR_FASTER times as fast: +0.25, or -0.2 where the
 * resource is a latency or a launch time. */
double fr__faster_change(const struct fr_record_sensitivity *s);
#endif
