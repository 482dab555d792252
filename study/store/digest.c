/* study/store/digest.c - digests of texts and numbers. */
#include "config.h"

#include "study/store/digest.h"

#include <string.h>

uint64_t fr__digest_text(uint64_t so_far, const char *text)
{
    return text ? fr__fnv(so_far, text, strlen(text) + 1) : so_far;
}

uint64_t fr__digest_number(uint64_t so_far, double x)
{
    uint64_t bits;

    memcpy(&bits, &x, sizeof(bits));
    return fr__fnv_word(so_far, bits);
}
