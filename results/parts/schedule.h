/* results/parts/schedule.h - times of a schedule, in its unit or in none. */
#ifndef FR_RESULTS_PARTS_SCHEDULE_H
#define FR_RESULTS_PARTS_SCHEDULE_H

#include "results/results.h"

/* All digits where times have no unit, else four and the unit; returns buf. */
const char *fr__schedule_time(const struct fr_timed_schedule *x, double t, char *buf, size_t n);

#endif
