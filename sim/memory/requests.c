/* sim/memory/requests.c - plays allocators' requests, like ones once. */
#include "config.h"

#include "sim/memory/requests.h"

#include "base/bits.h"

#include <stdlib.h>
#include <string.h>

static bool play(const struct fr__requests *r, struct fr__played *out)
{
    struct fr__allocator *a = fr__allocator_new(r->limit_bytes);
    uint32_t *blocks = malloc((r->n_takes + 1) * sizeof(*blocks)), n_takes = 0;
    bool ok = a && blocks;

    out->first_over = FR_NONE;
    for (size_t i = 0; ok && i < r->n; i++) {
        if (!(r->asked[i] & 1)) {
            fr__allocator_give(a, blocks[r->asked[i] >> 1]);
            continue;
        }
        blocks[n_takes] = fr__allocator_take(a, r->asked[i] >> 1);
        ok = blocks[n_takes] != FR_NONE;
        if (out->first_over == FR_NONE && fr__allocator_stats(a)->is_over)
            out->first_over = n_takes;
        n_takes++;
    }
    if (ok)
        out->stats = *fr__allocator_stats(a);
    free(blocks);
    fr__allocator_free(a);
    return ok;
}

static bool is_same(const struct fr__requests *x, const struct fr__requests *y)
{
    return x->n == y->n && x->limit_bytes == y->limit_bytes &&
           (x->n == 0 || memcmp(x->asked, y->asked, x->n * sizeof(*x->asked)) == 0);
}

/* The place in a table of 2^n devices where one that asks for the same is, or could be. */
static uint32_t *place_of(const struct fr__requests of[], uint32_t table[], size_t mask, uint32_t i)
{
    size_t at = (size_t)of[i].hash & mask;

    while (table[at] != FR_NONE &&
           !(of[table[at]].hash == of[i].hash && is_same(&of[table[at]], &of[i])))
        at = (at + 1) & mask;
    return &table[at];
}

bool fr__requests_play(const struct fr__requests of[], size_t n, struct fr__played played[])
{
    size_t size = (size_t)1 << fr__bit_length(2 * n + 1);
    uint32_t *table = malloc(size * sizeof(*table));
    bool ok = table != NULL;

    if (ok)
        memset(table, 0xff, size * sizeof(*table)); /* FR_NONE each */
    for (uint32_t i = 0; ok && i < n; i++) {
        uint32_t *like = place_of(of, table, size - 1, i);

        if (*like != FR_NONE) {
            played[i] = played[*like];
            continue;
        }
        ok = play(&of[i], &played[i]);
        *like = i;
    }
    free(table);
    return ok;
}
