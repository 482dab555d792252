/* calibrate/fit/read/row_hash.c - hashes of shapes and of rows; see row_hash.h for their use. */
#include "config.h"

#include "calibrate/fit/read/row_hash.h"

#include <math.h>

uint64_t fr__hash_text(uint64_t h, const char *text)
{
    for (; *text; text++)
        h = fr__fnv_word(h, (unsigned char)*text);
    return h;
}

uint64_t fr__hash_row(uint64_t h, uint64_t shape_hash, double time_s)
{
    return fr__fnv_word(fr__fnv_word(h, shape_hash), (uint64_t)llround(time_s * 1e12));
}
