/* sim/memory/allocator.c - segments and blocks of a device's memory, as PyTorch divides it, or as
 * TensorFlow 1 does.
 *
 * The blocks of a segment form a list in the order of their addresses. Free blocks of a pool are
 * kept in bins by size, eight bins to each power of two, with one bit for each bin that is not
 * empty (two-level segregated fit: Masmano et al., ECRTS 2004). The blocks of one bin form a treap,
 * ordered by (size, address) (Seidel and Aragon, Algorithmica 16, 1996). A bin of one block needs
 * none of its work. Priorities of the treap follow from the blocks' numbers, not from a random
 * source, so that the same requests always give the same blocks. Free blocks that are whole
 * segments are also on a list of their own, because only these can be given back to the device.
 */
#include "config.h"

#include "sim/memory/allocator.h"

#include "base/arena.h"
#include "base/base.h"
#include "base/bits.h"

#include <stdlib.h>
#include <string.h>

#define MIB (UINT64_C(1) << 20)
static const uint64_t ROUND_BYTES = 512;                /* kMinBlockSize */
static const uint64_t MOST_SMALL_BYTES = 1 * MIB;       /* kSmallSize */
static const uint64_t SMALL_SEGMENT_BYTES = 2 * MIB;    /* kSmallBuffer */
static const uint64_t MEDIUM_SEGMENT_BYTES = 20 * MIB;  /* kLargeBuffer */
static const uint64_t LEAST_LARGE_BYTES = 10 * MIB;     /* kMinLargeAlloc */
static const uint64_t ROUND_LARGE_BYTES = 2 * MIB;      /* kRoundLarge */
static const uint64_t BFC_ROUND_BYTES = 256;            /* kMinAllocationSize */
static const uint64_t BFC_MOST_WASTE_BYTES = 128 * MIB; /* kMaxInternalFragmentation */

enum pool { SMALL, LARGE, N_POOLS };

/* For functions of the rare cases, which would only make the common ones longer. */
#ifdef __GNUC__
#define NOT_INLINE static __attribute__((noinline))
#else
#define NOT_INLINE static
#endif

/* Sizes are counted in units of 512 bytes. The first 16 bins have one size each, then there are
 * eight bins to each power of two (bin_of). A block has at most 2^60 bytes, so at most 2^51 units,
 * which these bins cover. */
enum { UNIT_BITS = 9, N_BINS = 8 * 52, N_BIN_WORDS = (N_BINS + 63) / 64 };

/* The free blocks of a pool. */
struct bins {
    uint64_t some[N_BIN_WORDS]; /* bit i: bin i is not empty */
    uint32_t root[N_BINS];
};

struct block {
    uint64_t address, bytes;
    uint32_t before, after;             /* neighbours in its segment; FR_NONE: none */
    uint32_t left, right, parent;       /* in the treap of its bin, if free */
    uint32_t whole_before, whole_after; /* in the list of free whole segments */
    uint16_t bin;                       /* if free */
    uint8_t pool;
    bool is_free;
};

struct fr__allocator {
    enum fr__allocator_rules rules;
    bool has_region; /* BFC: the pool is a block, or blocks */
    struct block *blocks;
    size_t n, cap;
    uint32_t unused; /* free slots, linked by `after` */
    struct bins pools[N_POOLS];
    uint32_t first_whole;
    uint64_t next_address, limit_bytes;
    uint64_t used_end; /* BFC: the highest address of the pool that was in use */
    struct fr__allocator_stats stats;
};

struct fr__allocator *fr__allocator_new(uint64_t limit_bytes, enum fr__allocator_rules rules)
{
    struct fr__allocator *a = calloc(1, sizeof(*a));

    if (!a)
        return NULL;
    a->limit_bytes = limit_bytes;
    a->rules = rules;
    a->unused = a->first_whole = FR_NONE;
    for (int p = 0; p < N_POOLS; p++)
        memset(a->pools[p].root, 0xff, sizeof(a->pools[p].root)); /* every byte 0xff: FR_NONE */
    return a;
}

void fr__allocator_reset(struct fr__allocator *a, uint64_t limit_bytes)
{
    for (int p = 0; p < N_POOLS; p++)
        for (uint32_t word = 0; word < N_BIN_WORDS; word++)
            for (uint64_t *some = &a->pools[p].some[word]; *some; *some &= *some - 1)
                a->pools[p].root[64 * word + fr__lowest_bit(*some)] = FR_NONE;
    a->n = 0;
    a->unused = a->first_whole = FR_NONE;
    a->next_address = 0;
    a->has_region = false;
    a->used_end = 0;
    a->limit_bytes = limit_bytes;
    a->stats = (struct fr__allocator_stats){0};
}

void fr__allocator_free(struct fr__allocator *a)
{
    if (a)
        free(a->blocks);
    free(a);
}

const struct fr__allocator_stats *fr__allocator_stats(const struct fr__allocator *a)
{
    return &a->stats;
}

uint64_t fr__allocator_address(const struct fr__allocator *a, uint32_t block)
{
    return a->blocks[block].address;
}

uint64_t fr__allocator_bytes(const struct fr__allocator *a, uint32_t block)
{
    return a->blocks[block].bytes;
}

static uint64_t round_up(uint64_t bytes, uint64_t to)
{
    return (bytes + to - 1) / to * to;
}

/* ---- slots ---- */

/* Not free, and without neighbours. */
static uint32_t new_block(struct fr__allocator *a, uint64_t address, uint64_t bytes, uint32_t pool)
{
    uint32_t id = a->unused;
    struct block *x;

    if (id != FR_NONE)
        a->unused = a->blocks[id].after;
    else if (a->n < FR_NONE && fr__grow(&a->blocks, &a->cap, a->n + 1, sizeof(*a->blocks)))
        id = (uint32_t)a->n++;
    else
        return FR_NONE;
    x = &a->blocks[id];
    x->address = address;
    x->bytes = bytes;
    x->before = x->after = FR_NONE;
    x->pool = (uint8_t)pool;
    x->is_free = false;
    return id;
}

static void drop_block(struct fr__allocator *a, uint32_t id)
{
    a->blocks[id].after = a->unused;
    a->unused = id;
}

/* ---- free blocks ---- */

/* The bin of a size. Sizes in one bin differ by less than an eighth. */
static inline uint32_t bin_of(uint64_t bytes)
{
    uint64_t units = bytes >> UNIT_BITS;
    unsigned shift;

    if (units < 16)
        return (uint32_t)units;
    shift = fr__bit_length(units) - 4;
    return 8 * shift + (uint32_t)(units >> shift);
}

static inline bool goes_before(const struct block *x, const struct block *y)
{
    return x->bytes != y->bytes ? x->bytes < y->bytes : x->address < y->address;
}

/* Spreads numbers in a row evenly: Fibonacci hashing (Knuth, The Art of Computer Programming 3,
 * section 6.4). */
static inline uint32_t priority_of(uint32_t id)
{
    return id * UINT32_C(0x9e3779b9);
}

/* Puts a block among the others of its bin. */
NOT_INLINE void treap_insert(struct block *b, uint32_t *root, uint32_t id)
{
    struct block *x = &b[id];
    uint32_t left_parent = id, right_parent = id, rest, priority = priority_of(id);
    uint32_t *at = root, *left = &x->left, *right = &x->right;

    x->parent = FR_NONE;
    while (*at != FR_NONE && priority_of(*at) >= priority) {
        x->parent = *at;
        at = goes_before(x, &b[*at]) ? &b[*at].left : &b[*at].right;
    }
    for (rest = *at; rest != FR_NONE;) {
        if (goes_before(&b[rest], x)) {
            *left = rest;
            b[rest].parent = left_parent;
            left_parent = rest;
            left = &b[rest].right;
            rest = *left;
        } else {
            *right = rest;
            b[rest].parent = right_parent;
            right_parent = rest;
            right = &b[rest].left;
            rest = *right;
        }
    }
    *left = *right = FR_NONE;
    *at = id;
}

/* Takes a block from among the others of its bin. */
NOT_INLINE void treap_remove(struct block *b, uint32_t *root, uint32_t id)
{
    struct block *x = &b[id];
    uint32_t left = x->left, right = x->right, parent = x->parent, last;
    uint32_t *at = parent == FR_NONE      ? root
                   : b[parent].left == id ? &b[parent].left
                                          : &b[parent].right;

    while (left != FR_NONE && right != FR_NONE) {
        if (priority_of(left) >= priority_of(right)) {
            *at = left;
            b[left].parent = parent;
            parent = left;
            at = &b[left].right;
            left = *at;
        } else {
            *at = right;
            b[right].parent = parent;
            parent = right;
            at = &b[right].left;
            right = *at;
        }
    }
    last = left != FR_NONE ? left : right;
    *at = last;
    if (last != FR_NONE)
        b[last].parent = parent;
}

/* Many bins hold one block. */
static inline void bin_insert(struct fr__allocator *a, uint32_t id)
{
    struct block *x = &a->blocks[id];
    struct bins *bins = &a->pools[x->pool];
    uint32_t bin = bin_of(x->bytes), *root = &bins->root[bin];

    x->bin = (uint16_t)bin;
    if (*root != FR_NONE) {
        treap_insert(a->blocks, root, id);
        return;
    }
    *root = id;
    x->left = x->right = x->parent = FR_NONE;
    bins->some[bin / 64] |= UINT64_C(1) << bin % 64;
}

static inline void bin_remove(struct fr__allocator *a, uint32_t id)
{
    struct block *x = &a->blocks[id];
    struct bins *bins = &a->pools[x->pool];
    uint32_t bin = x->bin, *root = &bins->root[bin];

    if (*root != id || (x->left & x->right) != FR_NONE) {
        treap_remove(a->blocks, root, id);
        return;
    }
    *root = FR_NONE;
    bins->some[bin / 64] &= ~(UINT64_C(1) << bin % 64);
}

/* The smallest block of a treap that has at least that many bytes, or FR_NONE. */
static uint32_t first_fit(const struct fr__allocator *a, uint32_t root, uint64_t bytes)
{
    uint32_t best = FR_NONE;

    for (uint32_t id = root; id != FR_NONE;) {
        if (a->blocks[id].bytes >= bytes) {
            best = id;
            id = a->blocks[id].left;
        } else {
            id = a->blocks[id].right;
        }
    }
    return best;
}

/* The smallest free block of the pool that has at least that many bytes, of equal ones the one with
 * the lowest address; or FR_NONE. */
static uint32_t best_fit(const struct fr__allocator *a, uint32_t pool, uint64_t bytes)
{
    const struct bins *bins = &a->pools[pool];
    uint32_t bin = bin_of(bytes), best = first_fit(a, bins->root[bin], bytes);
    uint32_t word = (bin + 1) / 64;
    uint64_t some = bins->some[word] & UINT64_MAX << (bin + 1) % 64;

    if (best != FR_NONE)
        return best;
    /* whatever a larger bin holds is large enough */
    while (!some && ++word < N_BIN_WORDS)
        some = bins->some[word];
    return some ? first_fit(a, bins->root[64 * word + fr__lowest_bit(some)], bytes) : FR_NONE;
}

static inline bool is_whole(const struct block *x)
{
    return x->before == FR_NONE && x->after == FR_NONE;
}

static void add_free(struct fr__allocator *a, uint32_t id)
{
    struct block *x = &a->blocks[id];

    x->is_free = true;
    if (is_whole(x)) {
        x->whole_before = FR_NONE;
        x->whole_after = a->first_whole;
        if (a->first_whole != FR_NONE)
            a->blocks[a->first_whole].whole_before = id;
        a->first_whole = id;
    }
    bin_insert(a, id);
}

static void remove_free(struct fr__allocator *a, uint32_t id)
{
    struct block *x = &a->blocks[id];

    x->is_free = false;
    if (is_whole(x)) {
        if (x->whole_after != FR_NONE)
            a->blocks[x->whole_after].whole_before = x->whole_before;
        if (x->whole_before != FR_NONE)
            a->blocks[x->whole_before].whole_after = x->whole_after;
        else
            a->first_whole = x->whole_after;
    }
    bin_remove(a, id);
}

/* ---- segments ---- */

static void give_back_segments(struct fr__allocator *a)
{
    while (a->first_whole != FR_NONE) {
        uint32_t id = a->first_whole;

        remove_free(a, id);
        a->stats.reserved_bytes -= a->blocks[id].bytes;
        drop_block(a, id);
    }
}

static uint64_t segment_bytes(uint64_t bytes)
{
    if (bytes <= MOST_SMALL_BYTES)
        return SMALL_SEGMENT_BYTES;
    return bytes < LEAST_LARGE_BYTES ? MEDIUM_SEGMENT_BYTES : round_up(bytes, ROUND_LARGE_BYTES);
}

/* Adds a segment that is one block, not free. */
static uint32_t new_segment(struct fr__allocator *a, uint64_t bytes, uint32_t pool)
{
    struct fr__allocator_stats *s = &a->stats;
    uint32_t id;

    if (s->reserved_bytes + bytes > a->limit_bytes)
        give_back_segments(a);
    id = new_block(a, a->next_address, bytes, pool);
    if (id == FR_NONE)
        return FR_NONE;
    a->next_address += 2 * bytes; /* a gap, so that blocks of two segments are never neighbours */
    s->reserved_bytes += bytes;
    s->is_over |= s->reserved_bytes > a->limit_bytes;
    if (s->reserved_bytes > s->peak_reserved_bytes)
        s->peak_reserved_bytes = s->reserved_bytes;
    return id;
}

/* ---- blocks ---- */

/* Shortens a block that is not free to `bytes`; the rest becomes a free block. */
static bool split(struct fr__allocator *a, uint32_t id, uint64_t bytes)
{
    uint32_t pool = a->blocks[id].pool, rest;
    struct block *x, *y;

    rest = new_block(a, a->blocks[id].address + bytes, a->blocks[id].bytes - bytes, pool);
    if (rest == FR_NONE)
        return false;
    x = &a->blocks[id];
    y = &a->blocks[rest];
    x->bytes = bytes;
    y->before = id;
    y->after = x->after;
    if (y->after != FR_NONE)
        a->blocks[y->after].before = rest;
    x->after = rest;
    add_free(a, rest);
    return true;
}

/* Notes that `bytes` more are in use. */
static void count_taken(struct fr__allocator *a, uint64_t bytes)
{
    struct fr__allocator_stats *s = &a->stats;

    s->allocated_bytes += bytes;
    if (s->allocated_bytes > s->peak_allocated_bytes)
        s->peak_allocated_bytes = s->allocated_bytes;
}

/* ---- TensorFlow 1 ---- */

/* The pool as one free block. */
static bool make_region(struct fr__allocator *a)
{
    uint64_t bytes = a->limit_bytes / BFC_ROUND_BYTES * BFC_ROUND_BYTES;
    uint32_t id;

    a->has_region = true;
    if (bytes == 0)
        return true;
    id = new_block(a, 0, bytes, LARGE);
    if (id == FR_NONE)
        return false;
    a->next_address = 2 * bytes;
    add_free(a, id);
    return true;
}

/* A block beyond the pool, or FR_NONE. */
static uint32_t take_beyond(struct fr__allocator *a, uint64_t bytes)
{
    uint32_t id = new_block(a, a->next_address, bytes, LARGE);

    if (id == FR_NONE)
        return FR_NONE;
    a->next_address += 2 * bytes;
    a->stats.is_over = true;
    a->stats.reserved_bytes += bytes;
    return id;
}

/* In the pool `reserved` is the highest address in use so far; what lies beyond comes on top. */
static void count_reserved(struct fr__allocator *a, uint32_t id)
{
    struct fr__allocator_stats *s = &a->stats;
    uint64_t end = a->blocks[id].address + a->blocks[id].bytes;

    if (end <= a->limit_bytes && end > a->used_end) {
        s->reserved_bytes += end - a->used_end;
        a->used_end = end;
    }
    if (s->reserved_bytes > s->peak_reserved_bytes)
        s->peak_reserved_bytes = s->reserved_bytes;
}

static uint32_t take_bfc(struct fr__allocator *a, uint64_t bytes)
{
    uint64_t rounded = round_up(bytes, BFC_ROUND_BYTES), rest_bytes;
    uint32_t id;

    if (!a->has_region && !make_region(a))
        return FR_NONE;
    id = best_fit(a, LARGE, rounded);
    if (id != FR_NONE)
        remove_free(a, id);
    else
        id = take_beyond(a, rounded);
    if (id == FR_NONE)
        return FR_NONE;
    rest_bytes = a->blocks[id].bytes - rounded;
    if (rest_bytes > 0 && (rest_bytes >= rounded || rest_bytes >= BFC_MOST_WASTE_BYTES))
        if (!split(a, id, rounded))
            return FR_NONE;
    count_reserved(a, id);
    count_taken(a, a->blocks[id].bytes);
    return id;
}

/* ---- PyTorch ---- */

static uint32_t take_caching(struct fr__allocator *a, uint64_t bytes)
{
    uint64_t rounded = round_up(bytes, ROUND_BYTES), rest_bytes;
    uint32_t pool = rounded <= MOST_SMALL_BYTES ? SMALL : LARGE;
    uint32_t id = best_fit(a, pool, rounded);

    if (id != FR_NONE)
        remove_free(a, id);
    else
        id = new_segment(a, segment_bytes(rounded), pool);
    if (id == FR_NONE)
        return FR_NONE;
    rest_bytes = a->blocks[id].bytes - rounded;
    if (pool == SMALL ? rest_bytes >= ROUND_BYTES : rest_bytes > MOST_SMALL_BYTES)
        if (!split(a, id, rounded))
            return FR_NONE;
    count_taken(a, a->blocks[id].bytes);
    return id;
}

uint32_t fr__allocator_take(struct fr__allocator *a, uint64_t bytes)
{
    return a->rules == FR__ALLOCATOR_BFC ? take_bfc(a, bytes) : take_caching(a, bytes);
}

/* Joins block `id` with the block after it, which is free. */
static void join_next(struct fr__allocator *a, uint32_t id)
{
    uint32_t next = a->blocks[id].after;
    struct block *x = &a->blocks[id], *y = &a->blocks[next];

    remove_free(a, next);
    x->bytes += y->bytes;
    x->after = y->after;
    if (x->after != FR_NONE)
        a->blocks[x->after].before = id;
    drop_block(a, next);
}

void fr__allocator_give(struct fr__allocator *a, uint32_t block)
{
    uint32_t id = block, before = a->blocks[id].before, after = a->blocks[id].after;

    a->stats.allocated_bytes -= a->blocks[id].bytes;
    if (after != FR_NONE && a->blocks[after].is_free)
        join_next(a, id);
    if (before != FR_NONE && a->blocks[before].is_free) {
        remove_free(a, before);
        a->blocks[before].bytes += a->blocks[id].bytes;
        a->blocks[before].after = a->blocks[id].after;
        if (a->blocks[id].after != FR_NONE)
            a->blocks[a->blocks[id].after].before = before;
        drop_block(a, id);
        id = before;
    }
    add_free(a, id);
}
