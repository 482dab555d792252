/* sim/radix.h - a queue of numbered things by a positive double that never falls below the last one
 * taken out: a monotone radix heap.
 *
 * Bucket b holds the keys that differ from `base` first in bit b - 1, so the least key is in the
 * lowest bucket filled. Positive doubles sort like their bits.
 * Source: R. K. Ahuja, K. Mehlhorn, J. B. Orlin, R. E. Tarjan, Faster algorithms for the shortest
 *         path problem, Journal of the ACM 37(2), 1990, section 2.
 * Here a bucket of a few is searched as it is; only larger ones are spread over lower buckets.
 */
#ifndef FR_SIM_RADIX_H
#define FR_SIM_RADIX_H

#include "base/base.h"

struct fr__radix_node {
    uint64_t key;        /* bits of the double */
    uint32_t next, prev; /* in its bucket; FR_NONE: none */
};

struct fr__radix {
    struct fr__radix_node *nodes; /* [n] by number; the owner's, made and freed by it */
    uint64_t base, filled;        /* filled: bit b set when bucket b holds something */
    uint32_t head[64], n[64];
};

/* Empties the queue; no key from now on may be below least, which is > 0. */
void fr__radix_reset(struct fr__radix *q, double least);

/* Puts id, which is not in the queue, in. A key may be below the last one taken out by rounding
 * only; such a one comes next. Amortised O(log range). */
void fr__radix_push(struct fr__radix *q, uint32_t id, double key);

/* Gives id, which is in the queue, a lesser key; a greater or equal one changes nothing. */
void fr__radix_lower(struct fr__radix *q, uint32_t id, double key);

/* Takes out one of those with the least key; the queue is not empty. */
uint32_t fr__radix_pop(struct fr__radix *q, double *key);

#endif
