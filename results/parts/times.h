/* results/parts/times.h - the times of an answer: with units, or plain where the answer is of tasks
 * on machines without hardware. */
#ifndef FR_RESULTS_PARTS_TIMES_H
#define FR_RESULTS_PARTS_TIMES_H

#include "results/results.h"

/* A time of the record: "80.3 ms", or, of tasks on machines without hardware, the plain number
 * "80". Returns buf. */
const char *fr__record_time(const struct fr_record *r, double s, char *buf, size_t n);
/* The unit for an axis whose longest time is max_s: returns the factor from seconds, and its name,
 * "" for plain times. */
double fr__record_time_unit(const struct fr_record *r, double max_s, const char **unit);
/* "iteration", or "makespan" of tasks; "GPU", or "machine". */
const char *fr__record_time_title(const struct fr_record *r);
const char *fr__record_device_title(const struct fr_record *r);
/* Whether all of them are of tasks on machines without hardware. */
bool fr__results_are_plain(const struct fr_results *rs);

#endif
