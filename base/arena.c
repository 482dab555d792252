/* base/arena.c - chained blocks, each twice the last up to a limit. */
#include "config.h"

#include "base/arena.h"

#include <assert.h>
#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Beyond the limit a block holds one large request, or many small ones: doubling a huge block for
 * a small request would take memory that nobody asked for. */
enum { FIRST_BLOCK = 4096, LARGEST_BLOCK = 1 << 20, LEAST_ZEROS = 1 << 18 };

struct block {
    struct block *prev;
    size_t size, used; /* of data[] */
    alignas(max_align_t) unsigned char data[];
};

struct fr__arena {
    struct block *top;
};

static struct block *block_new(size_t size, struct block *prev)
{
    struct block *b;

    if (size > SIZE_MAX - sizeof(*b))
        return NULL;
    b = malloc(sizeof(*b) + size);
    if (!b)
        return NULL;
    b->prev = prev;
    b->size = size;
    b->used = 0;
    return b;
}

struct fr__arena *fr__arena_new(void)
{
    struct fr__arena *a = malloc(sizeof(*a));

    if (!a)
        return NULL;
    a->top = block_new(FIRST_BLOCK, NULL);
    if (!a->top) {
        free(a);
        return NULL;
    }
    return a;
}

void fr__arena_free(struct fr__arena *a)
{
    if (!a)
        return;
    for (struct block *b = a->top, *prev; b; b = prev) {
        prev = b->prev;
        free(b);
    }
    free(a);
}

void *fr__arena_take(struct fr__arena *a, size_t n, size_t size)
{
    const size_t align = alignof(max_align_t);
    struct block *b = a->top;
    size_t bytes;
    void *p;

    if (size && n > (SIZE_MAX / 4) / size)
        return NULL;
    bytes = (n * size + align - 1) / align * align;
    if (bytes > b->size - b->used) {
        size_t want = b->size < LARGEST_BLOCK / 2 ? b->size * 2 : LARGEST_BLOCK;

        b = block_new(bytes > want ? bytes : want, a->top);
        if (!b)
            return NULL;
        a->top = b;
    }
    p = b->data + b->used;
    b->used += bytes;
    return p;
}

/* A block of its own of zeros that the system gives, which are not touched here: an array of which
 * little is used takes little memory. NULL: out of memory. */
static void *take_zeros(struct fr__arena *a, size_t bytes)
{
    struct block *b = calloc(1, sizeof(*b) + bytes);

    if (!b)
        return NULL;
    *b = (struct block){.prev = a->top, .size = bytes, .used = bytes};
    a->top = b;
    return b->data;
}

void *fr__arena_alloc(struct fr__arena *a, size_t n, size_t size)
{
    void *p;

    if (size && n >= LEAST_ZEROS / size && n <= SIZE_MAX / 4 / size &&
        n * size > a->top->size - a->top->used)
        return take_zeros(a, n * size);
    p = fr__arena_take(a, n, size);
    if (p)
        memset(p, 0, n * size);
    return p;
}

static char *copy_text(struct fr__arena *a, const char *s, size_t len)
{
    char *copy = fr__arena_alloc(a, len + 1, 1);

    if (copy)
        memcpy(copy, s, len);
    return copy;
}

char *fr__arena_strndup(struct fr__arena *a, const char *s, size_t n)
{
    return copy_text(a, s, strnlen(s, n));
}

static uint32_t *nones(uint32_t *ids, size_t n)
{
    if (ids)
        memset(ids, 0xff, n * sizeof(*ids)); /* FR_NONE each */
    return ids;
}

uint32_t *fr__arena_nones(struct fr__arena *a, size_t n)
{
    return nones(fr__arena_take(a, n, sizeof(uint32_t)), n);
}

uint32_t *fr__nones_new(size_t n)
{
    return n < SIZE_MAX / sizeof(uint32_t) ? nones(malloc((n + 1) * sizeof(uint32_t)), n + 1)
                                           : NULL;
}

char *fr__arena_strdup(struct fr__arena *a, const char *s)
{
    return copy_text(a, s, strlen(s));
}

struct fr__mark fr__arena_mark(struct fr__arena *a)
{
    return (struct fr__mark){a->top, a->top->used};
}

void fr__arena_rewind(struct fr__arena *a, struct fr__mark m)
{
    while (a->top != m.block) {
        struct block *b = a->top;

        a->top = b->prev;
        free(b);
        assert(a->top);
    }
    a->top->used = m.used;
}

void fr__arena_reset(struct fr__arena *a)
{
    struct block *top = a->top;
    size_t total = 0;

    for (struct block *b = top; b; b = b->prev)
        total += b->size;
    for (struct block *b = top->prev, *prev; b; b = prev) {
        prev = b->prev;
        free(b);
    }
    top->prev = NULL;
    top->used = 0;
    if (total == top->size)
        return;
    a->top = block_new(total, NULL);
    if (a->top)
        free(top);
    else
        a->top = top;
}

bool fr__grow_more(void *array, size_t *cap, size_t need, size_t size)
{
    void *old, *grown;
    size_t want = *cap ? *cap : 16;

    while (want < need) {
        if (want > SIZE_MAX / 2)
            return false;
        want *= 2;
    }
    if (want > SIZE_MAX / size)
        return false;
    memcpy(&old, array, sizeof(old));
    grown = realloc(old, want * size);
    if (!grown)
        return false;
    memcpy(array, &grown, sizeof(grown));
    *cap = want;
    return true;
}
