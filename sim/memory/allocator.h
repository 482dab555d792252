/* sim/memory/allocator.h - PyTorch's caching allocator for device memory, on numbers alone.
 *
 * Its rules:
 * - A request is rounded up to a multiple of 512 bytes.
 * - A request of up to 1 MiB is small. Small blocks live in segments of 2 MiB of their own. A
 *   request below 10 MiB gets a segment of 20 MiB, a larger one a segment of its size rounded up to
 *   2 MiB.
 * - A request takes the smallest free block of its pool that is large enough; of equal blocks the
 *   one with the lowest address. If there is none, a new segment is made.
 * - A block is split if the rest has at least 512 bytes (small) or more than 1 MiB (large).
 *   Otherwise the request keeps the whole block, and all of it counts as allocated, as in
 *   torch.cuda.memory_allocated.
 * - A freed block joins its free neighbours. Its segment stays reserved.
 * - If the device refuses a segment, all segments without a live block are given back, and the
 *   segment is asked for again.
 *
 * max_split_size_mb, garbage_collection_threshold and expandable segments have their defaults: off.
 *
 * Or TensorFlow 1's allocator (best fit with coalescing, FR__ALLOCATOR_BFC):
 * - A request is rounded up to a multiple of 256 bytes.
 * - All of the pool is one region from the start, as without allow_growth.
 * - A request takes the smallest free block that is large enough, as above. The block is split if
 *   it has at least twice the bytes, or 128 MiB more than asked for; else the request keeps it.
 * - A freed block joins its free neighbours. `reserved` is the highest address that was ever in
 *   use. A request that finds no block is over; it gets one beyond the pool.
 *
 * Source:  TensorFlow 1.11, tensorflow/core/common_runtime/bfc_allocator.cc, FindChunkPtr and
 *          kMinAllocationSize; and PyTorch 1.13, c10/cuda/CUDACachingAllocator.cpp, the comment at
 * its top and the
 *          constants kMinBlockSize to kRoundLarge; the notes on CUDA semantics, "Memory
 *          management".
 *
 * Ignores: several streams (see memory.c), and where the driver puts segments. Here each segment
 *          lies above all earlier ones, so that of equal blocks the one in the oldest segment is
 *          taken.
 *
 * Cost:    O(log n) expected for each operation, n being the free blocks of about the size asked
 *          for. Memory: 56 bytes for each block, free or live (slots are used again), and 3.5 KiB
 *          for the allocator.
 */
#ifndef FR_SIM_MEMORY_ALLOCATOR_H
#define FR_SIM_MEMORY_ALLOCATOR_H

#include <stdbool.h>
#include <stdint.h>

struct fr__allocator;

struct fr__allocator_stats {
    uint64_t allocated_bytes, peak_allocated_bytes; /* of blocks in use */
    uint64_t reserved_bytes, peak_reserved_bytes;   /* of segments */
    bool is_over; /* more was reserved than the limit, even after all was given back */
};

enum fr__allocator_rules { FR__ALLOCATOR_CACHING, FR__ALLOCATOR_BFC };

/* The device has limit_bytes. Beyond the limit the allocator goes on all the same, giving back what
 * it can each time, so that the peak says how much memory would be needed. NULL: out of memory. */
struct fr__allocator *fr__allocator_new(uint64_t limit_bytes, enum fr__allocator_rules rules);
/* Makes it as new for another device; the memory and the rules stay. */
void fr__allocator_reset(struct fr__allocator *a, uint64_t limit_bytes);
void fr__allocator_free(struct fr__allocator *a);

/* Takes a block for 1 to 2^60 bytes. Returns its handle; FR_NONE: the host is out of memory. */
uint32_t fr__allocator_take(struct fr__allocator *a, uint64_t bytes);
/* Frees a block taken before. */
void fr__allocator_give(struct fr__allocator *a, uint32_t block);

const struct fr__allocator_stats *fr__allocator_stats(const struct fr__allocator *a);

/* The address of a block, for tests. Segments are far apart. */
uint64_t fr__allocator_address(const struct fr__allocator *a, uint32_t block);
uint64_t fr__allocator_bytes(const struct fr__allocator *a, uint32_t block);
#endif
