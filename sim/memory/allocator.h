/* sim/memory/allocator.h - PyTorch's caching allocator for device memory, played on numbers.
 *
 * Source: PyTorch 1.13, c10/cuda/CUDACachingAllocator.cpp, its comment at the top and the constants
 * kMinBlockSize ... kRoundLarge; described in the notes on CUDA semantics, "Memory management".
 *   - a request is rounded up to 512 bytes;
 *   - up to 1 MiB it is small, and small blocks live in segments of 2 MiB of their own; below 10
 *     MiB it gets a segment of 20 MiB, from there one of its size rounded up to 2 MiB;
 *   - it takes the smallest free block of its pool that is large enough, of several the one with
 *     the lowest address, and only then a new segment;
 *   - a block is split when the rest is at least 512 bytes (small) or above 1 MiB (large); else the
 *     request keeps all of it, and all of it counts as allocated, as torch.cuda.memory_allocated
 *     does;
 *   - a freed block joins its free neighbours; segments stay reserved;
 *   - when a segment is refused, all segments without a live block are given back and it is asked
 *     for again.
 * max_split_size_mb, garbage_collection_threshold and expandable segments are at their defaults:
 * off.
 *
 * Ignores: several streams (see memory.c); where the driver puts segments: here each lies above all
 * before it, so that of equal blocks the oldest segment's comes first.
 *
 * Cost: O(log n) expected an operation, n the free blocks of about the size asked for; one slot of
 * 56 bytes a block, free or live, used again, and 3.5 KiB an allocator.
 */
#ifndef FR_SIM_MEMORY_ALLOCATOR_H
#define FR_SIM_MEMORY_ALLOCATOR_H

#include <stdbool.h>
#include <stdint.h>

struct fr__allocator;

struct fr__allocator_stats {
    uint64_t allocated_bytes, peak_allocated_bytes; /* of blocks in use */
    uint64_t reserved_bytes, peak_reserved_bytes;   /* of segments */
    bool is_over; /* reserved has been above the limit, with nothing left to give back */
};

/* The device lends it up to limit_bytes. Beyond that it goes on all the same, giving back what it
 * can each time, so that the peak says what would be needed. NULL: out of memory. */
struct fr__allocator *fr__allocator_new(uint64_t limit_bytes);
void fr__allocator_free(struct fr__allocator *a);

/* Takes a block for that many bytes, 1 to 2^60. Returns its handle, FR_NONE: the host is out of
 * memory. */
uint32_t fr__allocator_take(struct fr__allocator *a, uint64_t bytes);
/* Frees a block taken before. */
void fr__allocator_give(struct fr__allocator *a, uint32_t block);

const struct fr__allocator_stats *fr__allocator_stats(const struct fr__allocator *a);

/* Where a block lies, for tests: addresses of different segments are far apart. */
uint64_t fr__allocator_address(const struct fr__allocator *a, uint32_t block);
uint64_t fr__allocator_bytes(const struct fr__allocator *a, uint32_t block);
#endif
