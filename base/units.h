/* base/units.h - quantities as people type and read them.
 *
 * Case-sensitive: b is bits, B is bytes; K M G T are powers of 1000, Ki Mi Gi Ti of 1024. A number
 * without a unit is an error here (native files carry the unit in the column's name instead).
 * Numbers are always in the C locale.
 */
#ifndef FR_BASE_UNITS_H
#define FR_BASE_UNITS_H

#include "base/base.h"

/* what: how the message names the value, e.g. "'bandwidth'" or "option '--price'". Each refuses
 * NaN, infinities, hexadecimal, negative values, trailing text (FR_EPARSE) and overflow or what is
 * out of range (FR_ERANGE); *out is then untouched. A value too small for a double reads as 0. One
 * space may stand before the unit. A unit takes K M G T P or Ki Mi Gi Ti Pi before it; times have
 * ns us ms s min h day days. Rates are B/s or Bps, or bits as bps or bit/s. */
enum fr_status fr__parse_bytes(const char *text, const char *what, struct fr_loc loc,
                               uint64_t *out_bytes, struct fr_error *err); /* "16GiB", "512B" */
enum fr_status fr__parse_rate(const char *text, const char *what, struct fr_loc loc,
                              double *out_Bps, struct fr_error *err); /* "25GB/s", "100Gbps" */
enum fr_status fr__parse_time(const char *text, const char *what, struct fr_loc loc, double *out_s,
                              struct fr_error *err); /* "1.5us", "30days" */
enum fr_status fr__parse_flops_rate(const char *text, const char *what, struct fr_loc loc,
                                    double *out_flops_per_s,
                                    struct fr_error *err); /* "125Tflop/s" */
enum fr_status fr__parse_power(const char *text, const char *what, struct fr_loc loc, double *out_W,
                               struct fr_error *err); /* "400W" */
/* Without unit: a plain number, a count (digits only), in [min, max]. */
enum fr_status fr__parse_number(const char *text, const char *what, struct fr_loc loc, double min,
                                double max, double *out, struct fr_error *err);
enum fr_status fr__parse_count(const char *text, const char *what, struct fr_loc loc, uint64_t min,
                               uint64_t max, uint64_t *out, struct fr_error *err);
/* A number that may end in K, M, G or B (as people write billions), or T: "300B", "1.5T". */
enum fr_status fr__parse_amount(const char *text, const char *what, struct fr_loc loc, double min,
                                double max, double *out, struct fr_error *err);
/* One of n words (at most 16), named by number. FR_EUSAGE lists them, with the nearest. */
enum fr_status fr__parse_choice(const char *text, const char *what, unsigned n,
                                const char *(*name_of)(unsigned i), unsigned *out,
                                struct fr_error *err);

/* Human forms, three or four digits ("1.25 GiB", "25 GB/s", "412 ms"); each returns buf. */
const char *fr__format_bytes(double bytes, char *buf, size_t n); /* binary prefixes */
const char *fr__format_rate(double Bps, char *buf, size_t n);    /* decimal prefixes */
const char *fr__format_time(double s, char *buf, size_t n);
const char *fr__format_flops(double flops, char *buf, size_t n);    /* "39.3 GFLOP" */
const char *fr__format_count(double n_things, char *buf, size_t n); /* "143.7 M" */

/* Shortest text that reads back as the same double ("0.1", "1e-09"), C locale; returns buf. */
const char *fr__format_double(double x, char *buf, size_t n);
/* strtod in the C locale, decimal numbers only (no space, hexadecimal, inf or nan before or in it).
 * *end: first byte not read, text itself when there is no number (and 0 is returned); may be NULL.
 * Too large is infinite. */
double fr__strtod(const char *text, const char **end);
#endif
