/* base/round.h - numbers with fewer digits. */
#ifndef FR_BASE_ROUND_H
#define FR_BASE_ROUND_H

/* x with five significant digits, more than measurements hold; 0 for x <= 0. */
double fr__round_digits(double x);
#endif
