/* calibrate/fit/read/row_hash.h - hashes of measured rows. They decide which rows are held out, and
 * tell which data a fit saw.
 *
 * The hash is FNV-1a (G. Fowler, L. C. Noll, K.-P. Vo, 1991). A shape's hash ends with a round of
 * splitmix64, because the low bits of FNV-1a depend little on the high bits of the sizes.
 */
#ifndef FR_CALIBRATE_FIT_READ_ROW_HASH_H
#define FR_CALIBRATE_FIT_READ_ROW_HASH_H

#include <stdint.h>

#define FR__HASH_START UINT64_C(14695981039346656037)

uint64_t fr__hash_word(uint64_t h, uint64_t word);    /* the lowest byte first */
uint64_t fr__hash_text(uint64_t h, const char *text); /* adds each character as a word */
uint64_t fr__hash_end(uint64_t h); /* to be called after the last size of a shape */

/* Adds a row (its shape's hash, and its time in ps) to the hash of a fit's data. */
uint64_t fr__hash_row(uint64_t h, uint64_t shape_hash, double time_s);
#endif
