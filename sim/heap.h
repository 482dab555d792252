/* sim/heap.h - the event queue: a 4-ary heap of 16-byte entries.
 *
 * Four children fill one cache line (the array is aligned so), which halves the depth of a binary
 * heap and its misses (LaMarca and Ladner, ACM JEA 1, 1996). Times are >= 0, so the bits of a
 * double order like an unsigned integer; equal times are ordered by (id, what), which makes the
 * order of events independent of the order in which they were pushed.
 */
#ifndef FR_SIM_HEAP_H
#define FR_SIM_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct fr__event {
    uint64_t time_bits;
    uint64_t key; /* id in the upper half, what in the lower */
};

struct fr__heap {
    struct fr__event *at; /* entries at[FR__HEAP_ROOT ..], aligned to 64 bytes */
    size_t n, cap;
};

enum { FR__HEAP_ROOT = 3 }; /* the children of i are 4 i - 8 .. 4 i - 5: a line starts with them */

/* Room for `cap` entries; false: out of memory. Entries are kept. */
bool fr__heap_reserve(struct fr__heap *h, size_t cap);
void fr__heap_fini(struct fr__heap *h);

static inline uint64_t fr__time_bits(double t_s)
{
    uint64_t bits;

    memcpy(&bits, &t_s, sizeof(bits));
    return bits;
}

static inline double fr__time_of_bits(uint64_t bits)
{
    double t_s;

    memcpy(&t_s, &bits, sizeof(t_s));
    return t_s;
}

static inline double fr__event_time(struct fr__event e)
{
    return fr__time_of_bits(e.time_bits);
}

static inline uint32_t fr__event_id(struct fr__event e)
{
    return (uint32_t)(e.key >> 32);
}

static inline uint32_t fr__event_what(struct fr__event e)
{
    return (uint32_t)e.key;
}

static inline bool fr__event_before(struct fr__event a, struct fr__event b)
{
    return (a.time_bits < b.time_bits) | ((a.time_bits == b.time_bits) & (a.key < b.key));
}

static inline struct fr__event fr__heap_top(const struct fr__heap *h)
{
    return h->at[FR__HEAP_ROOT];
}

static inline void fr__heap_sift_up(struct fr__heap *h, size_t i, struct fr__event e)
{
    while (i > FR__HEAP_ROOT) {
        size_t parent = (i + 8) / 4;

        if (!fr__event_before(e, h->at[parent]))
            break;
        h->at[i] = h->at[parent];
        i = parent;
    }
    h->at[i] = e;
}

/* false: out of memory. */
static inline bool fr__heap_push(struct fr__heap *h, double t_s, uint32_t id, uint32_t what)
{
    struct fr__event e = {fr__time_bits(t_s), (uint64_t)id << 32 | what};

    if (h->n == h->cap && !fr__heap_reserve(h, h->cap * 2 + 64))
        return false;
    fr__heap_sift_up(h, FR__HEAP_ROOT + h->n++, e);
    return true;
}

/* Puts e where the hole at the root leads. */
static inline void fr__heap_sift_down(struct fr__heap *h, struct fr__event e)
{
    struct fr__event *at = h->at;
    size_t i = FR__HEAP_ROOT, end = FR__HEAP_ROOT + h->n;

    for (;;) {
        size_t child = 4 * i - 8, best = child;

        if (child + 4 <= end) {
            size_t left = child + (size_t)fr__event_before(at[child + 1], at[child]);
            size_t right = child + 2 + (size_t)fr__event_before(at[child + 3], at[child + 2]);

            best = fr__event_before(at[right], at[left]) ? right : left;
        } else {
            if (child >= end)
                break;
            for (size_t c = child + 1; c < end; c++)
                best = fr__event_before(at[c], at[best]) ? c : best;
        }
        if (!fr__event_before(at[best], e))
            break;
        at[i] = at[best];
        i = best;
    }
    at[i] = e;
}

/* Takes the first event away; the heap must not be empty. */
static inline struct fr__event fr__heap_pop(struct fr__heap *h)
{
    struct fr__event top = fr__heap_top(h);

    if (--h->n > 0)
        fr__heap_sift_down(h, h->at[FR__HEAP_ROOT + h->n]);
    return top;
}

#endif
