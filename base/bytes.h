/* base/bytes.h - sums of sizes that stay at the end of their range: more than fits is never
 * little. */
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
/* A size that was computed as a double, rounded to the nearest; 0 when it is below 0 or no
 * number. */
static inline uint64_t fr__to_bytes(double bytes)
{
    if (!(bytes > 0))
        return 0;
    return bytes >= 0x1p64 - 0x1p11 ? UINT64_MAX : (uint64_t)(bytes + 0.5);
}
#endif
