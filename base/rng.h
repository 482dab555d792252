/* base/rng.h - one stream of random numbers for each entity, the same on every machine.
 *
 * The generator is xoshiro256++ (Blackman and Vigna, ACM TOMS 47(4), 2021). splitmix64 fills its
 * state from a hash of (seed, entity). It uses only integer operations, + - * / and sqrt, so the
 * same bits come out everywhere. A normal variate is the sum of twelve uniform ones minus six (mean
 * 0, variance 1, tails cut at 6), which needs no logarithm.
 */
#ifndef FR_BASE_RNG_H
#define FR_BASE_RNG_H

#include <stdint.h>

struct fr__rng {
    uint64_t s[4];
};

/* One step of splitmix64: the generator that fills the state, for hashing and tests. */
uint64_t fr__splitmix64(uint64_t *state);

void fr__rng_init(struct fr__rng *r, uint64_t seed, uint64_t entity);
uint64_t fr__rng_next(struct fr__rng *r);
double fr__rng_uniform(struct fr__rng *r);             /* [0, 1) */
uint64_t fr__rng_below(struct fr__rng *r, uint64_t n); /* [0, n), unbiased; n > 0 */
double fr__rng_normal(struct fr__rng *r);
#endif
