/* study/store/digest.c - FNV-1a, byte by byte. */
#include "config.h"

#include "study/store/digest.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

uint64_t fr__digest(uint64_t so_far, const void *data, size_t n)
{
    const unsigned char *byte = data;

    for (size_t i = 0; i < n; i++)
        so_far = (so_far ^ byte[i]) * UINT64_C(0x100000001b3);
    return so_far;
}

uint64_t fr__digest_text(uint64_t so_far, const char *text)
{
    return text ? fr__digest(so_far, text, strlen(text) + 1) : so_far;
}

/* In a fixed order of bytes, so that stores move between machines. */
uint64_t fr__digest_count(uint64_t so_far, uint64_t x)
{
    unsigned char byte[8];

    for (unsigned i = 0; i < sizeof(byte); i++)
        byte[i] = (unsigned char)(x >> (8 * i));
    return fr__digest(so_far, byte, sizeof(byte));
}

uint64_t fr__digest_number(uint64_t so_far, double x)
{
    uint64_t bits;

    memcpy(&bits, &x, sizeof(bits));
    return fr__digest_count(so_far, bits);
}

const char *fr__digest_hex(uint64_t digest, char buf[FR__DIGEST_HEX])
{
    snprintf(buf, FR__DIGEST_HEX, "%016" PRIx64, digest);
    return buf;
}
