/* base/bits.h - where the bits of a word are. */
#ifndef FR_BASE_BITS_H
#define FR_BASE_BITS_H

#include <stdint.h>

/* Bits up to the highest one: 0 for 0, 64 for 2^63. */
static inline unsigned fr__bit_length(uint64_t x)
{
#ifdef __GNUC__
    return x ? 64u - (unsigned)__builtin_clzll(x) : 0;
#else
    unsigned n = 0;

    for (; x; x >>= 1)
        n++;
    return n;
#endif
}

/* The place of the lowest one; x is not 0. */
static inline unsigned fr__lowest_bit(uint64_t x)
{
#ifdef __GNUC__
    return (unsigned)__builtin_ctzll(x);
#else
    return fr__bit_length(x & (~x + 1)) - 1;
#endif
}

#endif
