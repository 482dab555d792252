/* calibrate/fit/read/row_hash.h - numbers that tell measured rows apart: which are held out,
 * which data a fit saw.
 *
 * FNV-1a (G. Fowler, L. C. Noll, K.-P. Vo, 1991); for shapes then a round of splitmix64, since
 * its low bits alone know little of the high ones of the sizes.
 */
#ifndef FR_CALIBRATE_FIT_READ_ROW_HASH_H
#define FR_CALIBRATE_FIT_READ_ROW_HASH_H

#include <stdint.h>

#define FR__HASH_START UINT64_C(14695981039346656037)

uint64_t fr__hash_word(uint64_t h, uint64_t word);    /* its eight bytes, the lowest first */
uint64_t fr__hash_text(uint64_t h, const char *text); /* each character as a word */
uint64_t fr__hash_end(uint64_t h);                    /* after the last of a shape */

/* Adds a row, its shape's hash and its time in ps, to the hash of a fit's data. */
uint64_t fr__hash_row(uint64_t h, uint64_t shape_hash, double time_s);
#endif
