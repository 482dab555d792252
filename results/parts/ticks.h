/* results/parts/ticks.h - where the marks of an axis stand. */
#ifndef FR_RESULTS_PARTS_TICKS_H
#define FR_RESULTS_PARTS_TICKS_H

enum { FR__MAX_TICKS = 300 };

/* Marks of a logarithmic axis at 1, 2 and 5 times powers of ten, or at powers of ten alone where
 * these are more than most; where an axis is too short for three of them, at equal steps of 1, 2 or
 * 5 times a power of ten. 0 < low < high; ticks: [FR__MAX_TICKS]. Returns how many. */
unsigned fr__log_ticks(double low, double high, unsigned most, double ticks[]);
#endif
