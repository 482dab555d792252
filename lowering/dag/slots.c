/* lowering/dag/slots.c - the free intervals of each device, in blocks that are split when
 * they are full. */
#include "config.h"

#include "lowering/dag/slots.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct block {
    size_t n;
    double longest_s;
    double begin_s[FR__SLOTS_BLOCK], end_s[FR__SLOTS_BLOCK];
};

/* blocks[0..n) are the device's, in the order of time. */
struct row {
    uint32_t *blocks;
    size_t n, cap;
};

/* Interval i of the device's block k was divided, after block `halved` was; NOT_HALVED: no block
 * was. */
struct add {
    uint32_t device, k, halved;
    uint32_t i;
};

static const uint32_t NOT_HALVED = UINT32_MAX;

struct fr__slots {
    size_t n_devices, n_blocks, max_blocks, n_adds;
    struct row *rows;
    struct block *blocks;
    struct add *adds; /* in the order in which they were made */
};

void fr__slots_free(struct fr__slots *s)
{
    if (!s)
        return;
    for (size_t d = 0; s->rows && d < s->n_devices; d++)
        free(s->rows[d].blocks);
    free(s->rows);
    free(s->blocks);
    free(s->adds);
    free(s);
}

struct fr__slots *fr__slots_new(size_t n_devices, size_t n_adds)
{
    struct fr__slots *s = calloc(1, sizeof(*s));
    bool is_whole = s;

    if (!s)
        return NULL;
    s->n_devices = n_devices;
    /* A split leaves two halves, and only a full block is split. */
    s->max_blocks = n_devices + n_adds / (FR__SLOTS_BLOCK / 2);
    s->rows = calloc(n_devices, sizeof(*s->rows));
    s->blocks = malloc(s->max_blocks * sizeof(*s->blocks));
    s->adds = malloc((n_adds + 1) * sizeof(*s->adds));
    is_whole = s->rows && s->blocks && s->adds;
    for (size_t d = 0; is_whole && d < n_devices; d++) {
        s->rows[d].cap = 1 + n_adds / (FR__SLOTS_BLOCK / 2);
        s->rows[d].blocks = malloc(s->rows[d].cap * sizeof(*s->rows[d].blocks));
        is_whole = s->rows[d].blocks;
    }
    if (!is_whole) {
        fr__slots_free(s);
        return NULL;
    }
    fr__slots_reset(s);
    return s;
}

void fr__slots_reset(struct fr__slots *s)
{
    s->n_blocks = s->n_adds = 0;
    for (size_t d = 0; d < s->n_devices; d++) {
        struct block *b = &s->blocks[s->n_blocks];

        b->n = 1;
        b->begin_s[0] = 0;
        b->end_s[0] = INFINITY;
        b->longest_s = INFINITY;
        s->rows[d].n = 1;
        s->rows[d].blocks[0] = (uint32_t)s->n_blocks++;
    }
}

/* The last block that begins at or before t_s; the first block does. */
static size_t block_at(const struct fr__slots *s, const struct row *r, double t_s)
{
    size_t low = 0, high = r->n;

    if (s->blocks[r->blocks[high - 1]].begin_s[0] <= t_s)
        return high - 1;
    while (high - low > 1) {
        size_t mid = low + (high - low) / 2;

        if (s->blocks[r->blocks[mid]].begin_s[0] <= t_s)
            low = mid;
        else
            high = mid;
    }
    return low;
}

static size_t interval_at(const struct block *b, double t_s)
{
    size_t low = 0, high = b->n;

    while (high - low > 1) {
        size_t mid = low + (high - low) / 2;

        if (b->begin_s[mid] <= t_s)
            low = mid;
        else
            high = mid;
    }
    return low;
}

double fr__slots_find(const struct fr__slots *s, size_t device, double ready_s, double length_s)
{
    const struct row *r = &s->rows[device];
    const struct block *b = &s->blocks[r->blocks[r->n - 1]];
    double from_s;
    size_t k, i;

    if (b->begin_s[b->n - 1] <= ready_s) /* most operations: nothing is taken behind them */
        return ready_s;
    k = block_at(s, r, ready_s);
    b = &s->blocks[r->blocks[k]];
    i = interval_at(b, ready_s);
    from_s = b->begin_s[i] > ready_s ? b->begin_s[i] : ready_s;
    if (from_s + length_s <= b->end_s[i])
        return from_s;
    for (i++;; b = &s->blocks[r->blocks[++k]], i = 0) {
        if (b->longest_s < length_s)
            continue;
        for (; i < b->n; i++)
            if (b->begin_s[i] + length_s <= b->end_s[i])
                return b->begin_s[i];
    }
}

double fr__slots_end(const struct fr__slots *s, size_t device)
{
    const struct row *r = &s->rows[device];
    const struct block *b = &s->blocks[r->blocks[r->n - 1]];

    return b->begin_s[b->n - 1];
}

static void measure(struct block *b)
{
    b->longest_s = 0;
    for (size_t i = 0; i < b->n; i++)
        if (b->end_s[i] - b->begin_s[i] > b->longest_s)
            b->longest_s = b->end_s[i] - b->begin_s[i];
}

/* Moves the later half of a full block to a new one behind it. */
static void halve(struct fr__slots *s, struct row *r, size_t k)
{
    enum { HALF = FR__SLOTS_BLOCK / 2 };
    struct block *from = &s->blocks[r->blocks[k]], *to = &s->blocks[s->n_blocks];

    assert(s->n_blocks < s->max_blocks && r->n < r->cap);
    memcpy(to->begin_s, from->begin_s + HALF, HALF * sizeof(*to->begin_s));
    memcpy(to->end_s, from->end_s + HALF, HALF * sizeof(*to->end_s));
    to->n = from->n = HALF;
    measure(from);
    measure(to);
    memmove(r->blocks + k + 2, r->blocks + k + 1, (r->n - k - 1) * sizeof(*r->blocks));
    r->blocks[k + 1] = (uint32_t)s->n_blocks++;
    r->n++;
}

/* Undoes halve: the later half is the block made last. */
static void join(struct fr__slots *s, struct row *r, size_t k)
{
    struct block *to = &s->blocks[r->blocks[k]], *from = &s->blocks[r->blocks[k + 1]];

    assert(r->blocks[k + 1] == s->n_blocks - 1 && to->n + from->n == FR__SLOTS_BLOCK);
    memcpy(to->begin_s + to->n, from->begin_s, from->n * sizeof(*to->begin_s));
    memcpy(to->end_s + to->n, from->end_s, from->n * sizeof(*to->end_s));
    to->n += from->n;
    to->longest_s = fmax(to->longest_s, from->longest_s);
    memmove(r->blocks + k + 1, r->blocks + k + 2, (r->n - k - 2) * sizeof(*r->blocks));
    s->n_blocks--;
    r->n--;
}

void fr__slots_add(struct fr__slots *s, size_t device, double begin_s, double end_s)
{
    struct row *r = &s->rows[device];
    size_t k = block_at(s, r, begin_s), i;
    struct block *b = &s->blocks[r->blocks[k]];
    struct add *a = &s->adds[s->n_adds++];
    double was_s;

    a->halved = b->n == FR__SLOTS_BLOCK ? (uint32_t)k : NOT_HALVED;
    if (a->halved != NOT_HALVED) {
        halve(s, r, k);
        k = block_at(s, r, begin_s);
        b = &s->blocks[r->blocks[k]];
    }
    i = interval_at(b, begin_s);
    assert(b->begin_s[i] <= begin_s && end_s <= b->end_s[i]);
    a->device = (uint32_t)device;
    a->k = (uint32_t)k;
    a->i = (uint32_t)i;
    was_s = b->end_s[i] - b->begin_s[i];
    memmove(b->begin_s + i + 1, b->begin_s + i, (b->n - i) * sizeof(*b->begin_s));
    memmove(b->end_s + i + 1, b->end_s + i, (b->n - i) * sizeof(*b->end_s));
    b->end_s[i] = begin_s;
    b->begin_s[i + 1] = end_s;
    b->n++;
    if (was_s >= b->longest_s && was_s < INFINITY)
        measure(b);
}

size_t fr__slots_n_adds(const struct fr__slots *s)
{
    return s->n_adds;
}

static void undo(struct fr__slots *s, const struct add *a)
{
    struct row *r = &s->rows[a->device];
    struct block *b = &s->blocks[r->blocks[a->k]];
    size_t i = a->i, n_behind = b->n - i - 2;

    b->end_s[i] = b->end_s[i + 1];
    memmove(b->begin_s + i + 1, b->begin_s + i + 2, n_behind * sizeof(*b->begin_s));
    memmove(b->end_s + i + 1, b->end_s + i + 2, n_behind * sizeof(*b->end_s));
    b->n--;
    if (b->end_s[i] - b->begin_s[i] > b->longest_s)
        b->longest_s = b->end_s[i] - b->begin_s[i];
}

void fr__slots_undo(struct fr__slots *s, size_t n)
{
    assert(n <= s->n_adds);
    while (s->n_adds > n) {
        const struct add *a = &s->adds[--s->n_adds];

        undo(s, a);
        if (a->halved != NOT_HALVED)
            join(s, &s->rows[a->device], a->halved);
    }
}
