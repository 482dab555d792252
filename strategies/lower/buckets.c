/* strategies/lower/buckets.c - cuts the gradients, in the order they are ready, into buckets. */
#include "config.h"

#include "strategies/lower/buckets.h"

#include "base/error.h"

#include <stdlib.h>

struct key {
    uint32_t ready, owner;
};

static int by_ready(const void *a, const void *b)
{
    const struct key *x = a, *y = b;

    if (x->ready != y->ready)
        return x->ready < y->ready ? -1 : 1;
    return (x->owner > y->owner) - (x->owner < y->owner);
}

/* keys: [p->n_owners] scratch. */
static size_t sort_ready(const struct fr__params *p, struct key keys[])
{
    size_t n = 0;

    for (uint32_t i = 0; i < p->n_owners; i++)
        if (p->owners[i].ready != FR_NONE)
            keys[n++] = (struct key){p->owners[i].ready, i};
    qsort(keys, n, sizeof(*keys), by_ready);
    return n;
}

enum fr_status fr__ready_order(const struct fr__params *p, struct fr__arena *arena,
                               const uint32_t **out, size_t *n, struct fr_error *err)
{
    struct key *keys = fr__arena_alloc(arena, p->n_owners, sizeof(*keys));
    uint32_t *owners = fr__arena_alloc(arena, p->n_owners, sizeof(*owners));

    if (!keys || !owners)
        return fr__fail_nomem(err);
    *n = sort_ready(p, keys);
    for (size_t i = 0; i < *n; i++)
        owners[i] = keys[i].owner;
    *out = owners;
    return FR_OK;
}

enum fr_status fr__buckets_make(struct fr__buckets *out, const struct fr__params *p,
                                uint64_t bucket_bytes, struct fr__arena *arena,
                                struct fr_error *err)
{
    uint32_t *first = fr__arena_alloc(arena, p->n_owners + 1, sizeof(*first));
    uint64_t *bytes = fr__arena_alloc(arena, p->n_owners + 1, sizeof(*bytes));
    const uint32_t *owners;
    size_t n_owners, n = 0;

    if (!first || !bytes)
        return fr__fail_nomem(err);
    FR_TRY(fr__ready_order(p, arena, &owners, &n_owners, err));
    for (size_t i = 0; i < n_owners; i++) {
        bytes[n] += p->owners[owners[i]].bytes;
        if (bytes[n] >= bucket_bytes || i + 1 == n_owners)
            first[++n] = (uint32_t)(i + 1);
    }
    *out = (struct fr__buckets){.n = n, .first = first, .owners = owners, .bytes = bytes};
    return FR_OK;
}
