/* strategies/lower/buckets.h - parameter gradients grouped for all-reduce.
 *
 * Source: S. Li et al., PyTorch Distributed, VLDB 2020, section 3.2: gradients in the order in which
 * the backward pass makes them, a bucket closed as soon as it holds at least the wanted size (so it
 * may exceed it by less than its last gradient; the last bucket may be smaller).
 */
#ifndef FR_STRATEGIES_BUCKETS_H
#define FR_STRATEGIES_BUCKETS_H

#include "strategies/lower/params.h"

struct fr__buckets {
    size_t n;
    const uint32_t *first;  /* [n + 1] into owners */
    const uint32_t *owners; /* indices of trained owners, in the order their gradients are ready */
    const uint64_t *bytes;  /* [n] */
};

/* All memory comes from the arena. Cost: O(n log n). */
enum fr_status fr__buckets_make(struct fr__buckets *out, const struct fr__params *p,
                                uint64_t bucket_bytes, struct fr__arena *arena,
                                struct fr_error *err);

/* Indices of the owners that are trained, in the order their gradients are ready; *out: [*n]. */
enum fr_status fr__ready_order(const struct fr__params *p, struct fr__arena *arena,
                               const uint32_t **out, size_t *n, struct fr_error *err);

#endif
