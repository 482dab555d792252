/* base/rng.c - xoshiro256++ and splitmix64 (Blackman and Vigna, ACM TOMS 47(4), 2021). */
#include "config.h"

#include "base/rng.h"

#include <assert.h>

/* 2^64 divided by the golden ratio, made odd (Steele, Lea and Flood, OOPSLA 2014, section 2). */
static const uint64_t GOLDEN_GAMMA = UINT64_C(0x9e3779b97f4a7c15);

/* Variant 13 of D. Stafford's mixers of 64 bits, a bijection, as in splitmix64. */
static uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

uint64_t fr__splitmix64(uint64_t *state)
{
    *state += GOLDEN_GAMMA;
    return mix(*state);
}

/* Mixing between seed and entity keeps (1, 2) and (2, 1) apart; for one seed, different entities
 * always get different hashes. Four outputs of a bijection in a row are never all zero. */
void fr__rng_init(struct fr__rng *r, uint64_t seed, uint64_t entity)
{
    uint64_t state = mix(mix(seed + GOLDEN_GAMMA) ^ entity);

    for (int i = 0; i < 4; i++)
        r->s[i] = fr__splitmix64(&state);
}

static uint64_t rotate_left(uint64_t x, int k)
{
    return (x << k) | (x >> (64 - k));
}

uint64_t fr__rng_next(struct fr__rng *r)
{
    uint64_t *s = r->s;
    uint64_t result = rotate_left(s[0] + s[3], 23) + s[0];
    uint64_t t = s[1] << 17;

    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate_left(s[3], 45);
    return result;
}

double fr__rng_uniform(struct fr__rng *r)
{
    return (double)(fr__rng_next(r) >> 11) * 0x1p-53;
}

uint64_t fr__rng_below(struct fr__rng *r, uint64_t n)
{
    uint64_t excess, x;

    assert(n > 0);
    /* 2^64 mod n values too many: below that, drawn again */
    excess = (UINT64_MAX - n + 1) % n;
    do
        x = fr__rng_next(r);
    while (x < excess);
    return x % n;
}

double fr__rng_normal(struct fr__rng *r)
{
    double sum = -6;

    for (int i = 0; i < 12; i++)
        sum += fr__rng_uniform(r);
    return sum;
}
