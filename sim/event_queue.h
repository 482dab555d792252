/* sim/event_queue.h - a queue of things of which mostly few wait: these stand in a sorted array,
 * the rest in the engine's heap.
 *
 * Taking the next of a handful off a heap costs some forty instructions and a mispredicted branch a
 * step; off the end of a sorted array, two. Events are ordered as in sim/heap.h.
 */
#ifndef FR_SIM_EVENT_QUEUE_H
#define FR_SIM_EVENT_QUEUE_H

#include "sim/heap.h"

enum { FR__FEW = 16 };

struct fr__event_queue {
    struct fr__event few[FR__FEW]; /* [n_few], the next one last; not all of `rest` come after */
    uint32_t n_few;
    struct fr__heap rest;
};

/* Room for n that wait at once; false: out of memory. To be released with
 * fr__heap_fini(&t->rest). */
static inline bool fr__event_queue_init(struct fr__event_queue *t, size_t n)
{
    *t = (struct fr__event_queue){.n_few = 0};
    return fr__heap_reserve(&t->rest, n);
}

static inline void fr__event_queue_clear(struct fr__event_queue *t)
{
    t->n_few = 0;
    t->rest.n = 0;
}

static inline bool fr__event_queue_is_empty(const struct fr__event_queue *t)
{
    return t->n_few + t->rest.n == 0;
}

/* false: out of memory, which there was room for up to fr__event_queue_init()'s n. */
static inline bool fr__event_queue_push(struct fr__event_queue *t, double level, uint32_t id,
                                        uint32_t what)
{
    struct fr__event e = {fr__time_bits(level), (uint64_t)id << 32 | what};
    uint32_t i = t->n_few;

    if (i == FR__FEW)
        return fr__heap_push(&t->rest, level, id, what);
    /* times mostly differ, and a branch is cheaper then than fr__event_before() */
    for (; i; i--) {
        struct fr__event k = t->few[i - 1];

        if (k.time_bits > e.time_bits || (k.time_bits == e.time_bits && k.key > e.key))
            break;
        t->few[i] = k;
    }
    t->few[i] = e;
    t->n_few++;
    return true;
}

/* Whether the next one stands in the heap; something waits. */
static inline bool fr__event_queue_is_in_rest(const struct fr__event_queue *t)
{
    return t->rest.n &&
           (t->n_few == 0 || fr__event_before(fr__heap_top(&t->rest), t->few[t->n_few - 1]));
}

/* The next one; something waits. */
static inline struct fr__event fr__event_queue_top(const struct fr__event_queue *t)
{
    return fr__event_queue_is_in_rest(t) ? fr__heap_top(&t->rest) : t->few[t->n_few - 1];
}

/* The time of the next one, as bits; all ones: nothing waits. */
static inline uint64_t fr__event_queue_next(const struct fr__event_queue *t)
{
    uint64_t few = t->n_few > 0 ? t->few[t->n_few - 1].time_bits : UINT64_MAX, rest;

    if (t->rest.n == 0)
        return few;
    rest = fr__heap_top(&t->rest).time_bits;
    return rest < few ? rest : few;
}

static inline struct fr__event fr__event_queue_pop(struct fr__event_queue *t)
{
    return fr__event_queue_is_in_rest(t) ? fr__heap_pop(&t->rest) : t->few[--t->n_few];
}

/* Takes out what waits with an id, which it does once. O(n). */
static inline void fr__event_queue_remove(struct fr__event_queue *t, uint32_t id)
{
    size_t at = FR__HEAP_ROOT;

    for (uint32_t i = 0; i < t->n_few; i++)
        if (fr__event_id(t->few[i]) == id) {
            memmove(t->few + i, t->few + i + 1, (--t->n_few - i) * sizeof(t->few[0]));
            return;
        }
    while (fr__event_id(t->rest.at[at]) != id)
        at++;
    /* to the root, as less than all, and off it */
    fr__heap_sift_up(&t->rest, at, (struct fr__event){0, 0});
    fr__heap_pop(&t->rest);
}

#endif
