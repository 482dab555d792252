/* calibrate/fit/read/row_hash.h - hashes of measured rows. They decide which rows are held out, and
 * tell which data a fit saw.
 *
 * The hash is fr__fnv_word() from FR__FNV_START on (base/hash.h). A shape's ends with
 * fr__hash_id(), because the low bits of FNV-1a depend little on the high bits of the sizes.
 */
#ifndef FR_CALIBRATE_FIT_READ_ROW_HASH_H
#define FR_CALIBRATE_FIT_READ_ROW_HASH_H

#include "base/hash.h"

uint64_t fr__hash_text(uint64_t h, const char *text); /* adds each character as a word */

/* Adds a row (its shape's hash, and its time in ps) to the hash of a fit's data. */
uint64_t fr__hash_row(uint64_t h, uint64_t shape_hash, double time_s);
#endif
