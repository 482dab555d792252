/* calibrate/fit/read/row_hash.c - hashes of shapes and of rows; see row_hash.h for their use. */
#include "config.h"

#include "calibrate/fit/read/row_hash.h"

#include <math.h>

uint64_t fr__hash_word(uint64_t h, uint64_t word)
{
    for (unsigned byte = 0; byte < 8; byte++)
        h = (h ^ (word >> (8 * byte) & 0xff)) * UINT64_C(1099511628211);
    return h;
}

uint64_t fr__hash_text(uint64_t h, const char *text)
{
    for (; *text; text++)
        h = fr__hash_word(h, (unsigned char)*text);
    return h;
}

uint64_t fr__hash_end(uint64_t h)
{
    h = (h ^ h >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    h = (h ^ h >> 27) * UINT64_C(0x94d049bb133111eb);
    return h ^ h >> 31;
}

uint64_t fr__hash_row(uint64_t h, uint64_t shape_hash, double time_s)
{
    return fr__hash_word(fr__hash_word(h, shape_hash), (uint64_t)llround(time_s * 1e12));
}
