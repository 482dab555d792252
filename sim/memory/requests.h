/* sim/memory/requests.h - what a device asks of its allocator in a run, played afterwards.
 *
 * Nothing in a run waits for an address, so requests are only noted while it goes on. Afterwards
 * they are played device by device, while little else is in the cache, and devices that asked for
 * the same things in the same order (the replicas of data parallelism) are played once.
 */
#ifndef FR_SIM_MEMORY_REQUESTS_H
#define FR_SIM_MEMORY_REQUESTS_H

#include "sim/memory/allocator.h"

#include "base/base.h"

#include <stddef.h>

struct fr__requests {
    uint64_t limit_bytes;           /* of the device's memory */
    enum fr__allocator_rules rules; /* the same for all devices of a run */
    uint64_t *asked;                /* see below; the owner's, with room for all */
    size_t n;
    uint64_t hash; /* of what was asked */
    uint32_t n_takes;
};

/* What a run of them came to. */
struct fr__played {
    struct fr__allocator_stats stats;
    uint32_t first_over; /* the take that was the first not to fit, or FR_NONE */
    bool is_cut;         /* the blocks are beyond all addresses: it was not played to the end */
};

static inline void fr__requests_ask(struct fr__requests *r, uint64_t what)
{
    r->asked[r->n++] = what;
    r->hash = (r->hash ^ what) * UINT64_C(0x9e3779b97f4a7c15); /* Fibonacci hashing */
    r->hash ^= r->hash >> 32;
}

/* Larger blocks are asked for as this: no device holds one either. */
static const uint64_t FR__REQUESTS_MOST_BYTES = UINT64_C(1) << 60;

/* Asks for a block of 1 byte or more; returns the take's number, counted from 0. */
static inline uint32_t fr__requests_take(struct fr__requests *r, uint64_t bytes)
{
    if (bytes > FR__REQUESTS_MOST_BYTES)
        bytes = FR__REQUESTS_MOST_BYTES;
    fr__requests_ask(r, bytes << 1 | 1);
    return r->n_takes++;
}

/* Gives back what that take was given. */
static inline void fr__requests_give(struct fr__requests *r, uint32_t take)
{
    fr__requests_ask(r, (uint64_t)take << 1);
}

/* Plays n devices' requests. played: [n]. false: out of memory. Cost: that of the different
 * ones. */
bool fr__requests_play(const struct fr__requests of[], size_t n, struct fr__played played[]);

#endif
