/* results/parts/number.h - numbers as people read them, for text, reports and pictures. */
#ifndef FR_RESULTS_PARTS_NUMBER_H
#define FR_RESULTS_PARTS_NUMBER_H

#include <stddef.h>

/* x with that many decimals (at most 6) and a point as in the C locale; returns buf. */
const char *fr__fixed(double x, unsigned decimals, char *buf, size_t n);

/* The unit for an axis whose longest time is max_s: returns the factor from seconds, and its
 * name. */
double fr__time_unit(double max_s, const char **unit);
/* The same with minutes, hours and days. */
double fr__long_time_unit(double max_s, const char **unit);
/* x with at most four decimals, none that are zero at the end: "80", "2.5". Returns buf. */
const char *fr__plain(double x, char *buf, size_t n);

#endif
