/* sim/radix.c - a monotone radix heap on the bits of doubles. */
#include "sim/radix.h"

#include "base/bits.h"

#include <string.h>

/* Buckets up to this size are searched. */
static const uint32_t FEW = 8;

static uint64_t bits_of(double x)
{
    uint64_t bits;

    memcpy(&bits, &x, sizeof(bits));
    return bits;
}

static void put(struct fr__radix *q, uint32_t id)
{
    unsigned b = fr__bit_length(q->nodes[id].key ^ q->base);
    bool is_filled = q->filled >> b & 1;

    q->nodes[id].next = is_filled ? q->head[b] : FR_NONE;
    q->n[b] = is_filled ? q->n[b] + 1 : 1;
    q->head[b] = id;
    q->filled |= UINT64_C(1) << b;
}

void fr__radix_reset(struct fr__radix *q, double least)
{
    q->base = bits_of(least);
    q->filled = 0;
}

void fr__radix_push(struct fr__radix *q, uint32_t id, double key)
{
    uint64_t bits = key > 0 ? bits_of(key) : 0;

    q->nodes[id].key = bits < q->base ? q->base : bits;
    put(q, id);
}

uint32_t fr__radix_pop(struct fr__radix *q, double *key)
{
    unsigned b = fr__lowest_bit(q->filled);
    uint32_t least = q->head[b], before_least = FR_NONE, next;

    if (b && q->nodes[least].next != FR_NONE) {
        for (uint32_t last = least, i = q->nodes[least].next; i != FR_NONE;
             last = i, i = q->nodes[i].next)
            if (q->nodes[i].key < q->nodes[least].key) {
                least = i;
                before_least = last;
            }
    }
    if (before_least == FR_NONE)
        q->head[b] = q->nodes[least].next;
    else
        q->nodes[before_least].next = q->nodes[least].next;
    if (--q->n[b] == 0)
        q->filled &= ~(UINT64_C(1) << b);
    else if (b && q->n[b] >= FEW) {
        q->base = q->nodes[least].key;
        q->filled &= ~(UINT64_C(1) << b);
        for (uint32_t i = q->head[b]; i != FR_NONE; i = next) {
            next = q->nodes[i].next;
            put(q, i);
        }
    }
    memcpy(key, &q->nodes[least].key, sizeof(*key));
    return least;
}
