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

static unsigned bucket_of(const struct fr__radix *q, uint32_t id)
{
    return fr__bit_length(q->nodes[id].key ^ q->base);
}

static void put(struct fr__radix *q, uint32_t id)
{
    unsigned b = bucket_of(q, id);
    bool is_filled = q->filled >> b & 1;

    q->nodes[id].prev = FR_NONE;
    q->nodes[id].next = is_filled ? q->head[b] : FR_NONE;
    q->n[b] = is_filled ? q->n[b] + 1 : 1;
    if (is_filled)
        q->nodes[q->head[b]].prev = id;
    q->head[b] = id;
    q->filled |= UINT64_C(1) << b;
}

static void take_out(struct fr__radix *q, unsigned b, uint32_t id)
{
    const struct fr__radix_node *x = &q->nodes[id];

    if (x->prev == FR_NONE)
        q->head[b] = x->next;
    else
        q->nodes[x->prev].next = x->next;
    if (x->next != FR_NONE)
        q->nodes[x->next].prev = x->prev;
    if (--q->n[b] == 0)
        q->filled &= ~(UINT64_C(1) << b);
}

/* Spreads a bucket over lower ones; no key in the queue is below base. */
static void spread(struct fr__radix *q, unsigned b, uint64_t base)
{
    uint32_t next;

    q->base = base;
    q->filled &= ~(UINT64_C(1) << b);
    for (uint32_t i = q->head[b]; i != FR_NONE; i = next) {
        next = q->nodes[i].next;
        put(q, i);
    }
}

static uint64_t key_bits(const struct fr__radix *q, double key)
{
    uint64_t bits = key > 0 ? bits_of(key) : 0;

    return bits < q->base ? q->base : bits;
}

void fr__radix_reset(struct fr__radix *q, double least)
{
    q->base = bits_of(least);
    q->filled = 0;
}

void fr__radix_push(struct fr__radix *q, uint32_t id, double key)
{
    q->nodes[id].key = key_bits(q, key);
    put(q, id);
}

void fr__radix_lower(struct fr__radix *q, uint32_t id, double key)
{
    uint64_t bits = key_bits(q, key);

    if (bits >= q->nodes[id].key)
        return;
    take_out(q, bucket_of(q, id), id);
    q->nodes[id].key = bits;
    put(q, id);
}

uint32_t fr__radix_pop(struct fr__radix *q, double *key)
{
    unsigned b = fr__lowest_bit(q->filled);
    uint32_t least = q->head[b];

    for (uint32_t i = b ? q->nodes[least].next : FR_NONE; i != FR_NONE; i = q->nodes[i].next)
        least = q->nodes[i].key < q->nodes[least].key ? i : least;
    take_out(q, b, least);
    if (b && q->n[b] >= FEW)
        spread(q, b, q->nodes[least].key);
    memcpy(key, &q->nodes[least].key, sizeof(*key));
    return least;
}
