/* base/decimal.h - a decimal number as written: its digits and a power of ten.
 *
 * Between number.c and units.c. Scaling the power of ten instead of multiplying the value keeps
 * "1.5us" the double nearest to 1.5e-6, and byte counts exact.
 */
#ifndef FR_BASE_DECIMAL_H
#define FR_BASE_DECIMAL_H

#include <stdbool.h>
#include <stddef.h>

/* 767 significant digits decide how a decimal rounds to a double, however many more there are
 * (digits of a midpoint between subnormals); one more says whether anything follows. */
enum { FR__DECIMAL_DIGITS = 768 };

struct fr__decimal {
    bool is_negative;
    size_t n_digits; /* without leading zeros; 0 when the number is zero */
    long exp10;      /* value = digits * 10^exp10 */
    char digits[FR__DECIMAL_DIGITS + 1];
};

/* Reads [+-] digits [. digits] [e|E [+-] digits], at least one digit before the exponent, from the
 * start of text; returns how many bytes that is, 0 when text does not start with a number. */
size_t fr__decimal_scan(const char *text, struct fr__decimal *d);

/* The double nearest to d * 10^shift10: 0 when it is too small, infinite when too large. */
double fr__decimal_value(const struct fr__decimal *d, long shift10);
#endif
