/* base/bytes.h - sums of sizes that stay at the end of their range: more than fits is never little. */
#ifndef FR_BASE_BYTES_H
#define FR_BASE_BYTES_H

#include <stdint.h>

static inline uint64_t fr__add_bytes(uint64_t a, uint64_t b)
{
    return b > UINT64_MAX - a ? UINT64_MAX : a + b;
}

/* What is left of a when b goes; 0 when a was more than fits. */
static inline uint64_t fr__take_bytes(uint64_t a, uint64_t b)
{
    return b > a ? 0 : a - b;
}
#endif
