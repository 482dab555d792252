/* sim/memory/requests.c - plays allocators' requests, like ones once. */
#include "config.h"

#include "sim/memory/requests.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

static bool play(const struct fr__requests *r, struct fr__played *out)
{
    struct fr__allocator *a = fr__allocator_new(r->limit_bytes);
    uint32_t *blocks = malloc((r->n_takes + 1) * sizeof(*blocks)), n_takes = 0;
    const struct fr__allocator_stats *stats = a ? fr__allocator_stats(a) : NULL;
    bool ok = a && blocks;

    out->first_over = FR_NONE;
    for (size_t i = 0; ok && i < r->n; i++) {
        if (!(r->asked[i] & 1)) {
            fr__allocator_give(a, blocks[r->asked[i] >> 1]);
            continue;
        }
        blocks[n_takes] = fr__allocator_take(a, r->asked[i] >> 1);
        ok = blocks[n_takes] != FR_NONE;
        if (stats->is_over && out->first_over == FR_NONE)
            out->first_over = n_takes;
        n_takes++;
    }
    if (ok)
        out->stats = *stats;
    free(blocks);
    fr__allocator_free(a);
    return ok;
}

static bool is_same(const struct fr__requests *x, const struct fr__requests *y)
{
    return x->n == y->n && x->limit_bytes == y->limit_bytes &&
           (x->n == 0 || memcmp(x->asked, y->asked, x->n * sizeof(*x->asked)) == 0);
}

/* A device before i that asks for the same, or FR_NONE. */
static uint32_t find_like(const struct fr__requests of[], const struct fr__hash_table *t,
                          uint32_t i)
{
    size_t at;
    uint32_t k = fr__hash_first(t, of[i].hash, &at);

    while (k != FR_NONE && !(of[k].hash == of[i].hash && is_same(&of[k], &of[i])))
        k = fr__hash_next(t, of[i].hash, &at);
    return k;
}

bool fr__requests_play(const struct fr__requests of[], size_t n, struct fr__played played[])
{
    struct fr__hash_table table = {0};
    bool ok = true;

    for (uint32_t i = 0; ok && i < n; i++) {
        uint32_t like = find_like(of, &table, i);

        if (like != FR_NONE)
            played[i] = played[like];
        else
            ok = play(&of[i], &played[i]) && fr__hash_add(&table, of[i].hash, i);
    }
    fr__hash_fini(&table);
    return ok;
}
