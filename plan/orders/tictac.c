/* plan/orders/tictac.c - numbers for a device's receives. */
#include "config.h"

#include "plan/orders/order.h"

#include "base/error.h"
#include "base/rng.h"

#include <stdlib.h>
#include <string.h>

/* ---- sets ---- */

static bool holds(const uint64_t set[], uint32_t r)
{
    return set[r / 64] >> r % 64 & 1;
}

/* The least bit of a word that is not 0. */
static uint32_t least_bit(uint64_t word)
{
    uint32_t bit = 0;

    for (uint32_t half = 32; half > 0; half /= 2)
        if ((word & ((UINT64_C(1) << half) - 1)) == 0) {
            word >>= half;
            bit += half;
        }
    return bit;
}

static uint32_t first_of_both(const uint64_t a[], const uint64_t b[], uint32_t n_words)
{
    for (uint32_t w = 0; w < n_words; w++)
        if (a[w] & b[w])
            return w * 64 + least_bit(a[w] & b[w]);
    return FR_NONE;
}

/* ---- what both know of the receives left ---- */

struct least {
    const struct fr__partition *k;
    uint64_t *left;   /* set of receives without a number */
    uint64_t *open;   /* scratch set */
    uint32_t *count;  /* [n_classes] receives left that it needs */
    int64_t *sum;     /* [n_classes] their ticks */
    uint32_t *sorted; /* classes with two or more left, by sum */
    uint32_t *moved;  /* scratch likewise */
    uint32_t n_sorted;
    int64_t *alone, *with; /* [n] P, Mp of the paper; INT64_MAX: no such op */
};

static const uint64_t *set_of(const struct fr__partition *k, uint32_t c)
{
    return k->sets + (size_t)c * k->n_words;
}

static bool least_init(struct least *l, const struct fr__partition *k, struct fr__arena *arena)
{
    *l = (struct least){.k = k};
    l->left = fr__arena_alloc(arena, k->n_words, sizeof(*l->left));
    l->open = fr__arena_take(arena, k->n_words, sizeof(*l->open));
    l->count = fr__arena_alloc(arena, k->n_classes, sizeof(*l->count));
    l->sum = fr__arena_alloc(arena, k->n_classes, sizeof(*l->sum));
    l->sorted = fr__arena_take(arena, k->n_classes, sizeof(*l->sorted));
    l->moved = fr__arena_take(arena, k->n_classes, sizeof(*l->moved));
    l->alone = fr__arena_alloc(arena, k->n, sizeof(*l->alone));
    l->with = fr__arena_take(arena, k->n, sizeof(*l->with));
    return l->left && l->open && l->count && l->sum && l->sorted && l->moved && l->alone && l->with;
}

static void sort_classes(struct least *l)
{
    for (uint32_t half = l->n_sorted / 2, end = l->n_sorted; end > 1;) {
        uint32_t moved, i, child;

        if (half > 0) {
            moved = l->sorted[--half];
        } else {
            moved = l->sorted[--end];
            l->sorted[end] = l->sorted[0];
        }
        for (i = half; (child = 2 * i + 1) < end; i = child) {
            if (child + 1 < end && l->sum[l->sorted[child]] < l->sum[l->sorted[child + 1]])
                child++;
            if (l->sum[moved] >= l->sum[l->sorted[child]])
                break;
            l->sorted[i] = l->sorted[child];
        }
        l->sorted[i] = moved;
    }
}

/* Everything is left. ticks: [n], NULL: 1 each, and no work. */
static void begin(struct least *l, const int64_t ticks[])
{
    const struct fr__partition *k = l->k;

    for (uint32_t r = 0; r < k->n; r++)
        l->left[r / 64] |= UINT64_C(1) << r % 64;
    for (uint32_t c = 0; c < k->n_classes; c++) {
        const uint64_t *set = set_of(k, c);

        for (uint32_t w = 0; w < k->n_words; w++)
            for (uint64_t rest = set[w]; rest; rest &= rest - 1) {
                l->count[c]++;
                l->sum[c] += ticks ? ticks[w * 64 + least_bit(rest)] : 1;
            }
        if (l->count[c] > 1)
            l->sorted[l->n_sorted++] = c;
        else if (ticks)
            l->alone[first_of_both(set, set, k->n_words)] += k->work[c];
    }
    sort_classes(l);
}

/* Mp: the classes by ascending sum give theirs to those of their receives that have none yet. */
static void find_with(struct least *l)
{
    const struct fr__partition *k = l->k;

    memcpy(l->open, l->left, k->n_words * sizeof(*l->open));
    for (uint32_t r = 0; r < k->n; r++)
        l->with[r] = INT64_MAX;
    for (uint32_t i = 0; i < l->n_sorted; i++) {
        const uint64_t *set = set_of(k, l->sorted[i]);

        for (uint32_t w = 0; w < k->n_words; w++) {
            uint64_t both = set[w] & l->open[w];

            l->open[w] ^= both;
            for (; both; both &= both - 1)
                l->with[w * 64 + least_bit(both)] = l->sum[l->sorted[i]];
        }
    }
}

/* ---- tic ---- */

struct ranked {
    uint32_t wave, r;
    int64_t with;
};

static int by_wave_and_with(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;

    if (x->wave != y->wave)
        return x->wave < y->wave ? -1 : 1;
    if (x->with != y->with)
        return x->with < y->with ? -1 : 1;
    return (x->r > y->r) - (x->r < y->r);
}

enum fr_status fr__number_tic(const struct fr__partition *k, uint32_t number[],
                              struct fr__arena *arena, struct fr_error *err)
{
    struct ranked *ranked = fr__arena_take(arena, k->n, sizeof(*ranked));
    struct least l;
    uint32_t first = 0;

    if (!ranked || !least_init(&l, k, arena))
        return fr__fail_nomem(err);
    begin(&l, NULL);
    find_with(&l);
    for (uint32_t r = 0; r < k->n; r++)
        ranked[r] = (struct ranked){k->wave[r], r, l.with[r]};
    qsort(ranked, k->n, sizeof(*ranked), by_wave_and_with);
    for (uint32_t i = 0; i < k->n; i++) {
        if (ranked[i].wave != ranked[first].wave || ranked[i].with != ranked[first].with)
            first = i;
        number[ranked[i].r] = first;
    }
    return FR_OK;
}

/* ---- tac ---- */

static bool goes_before(const struct least *l, uint32_t a, uint32_t b)
{
    const int64_t *ticks = l->k->ticks, *alone = l->alone;
    int64_t a_first = alone[b] < ticks[a] ? alone[b] : ticks[a];
    int64_t b_first = alone[a] < ticks[b] ? alone[a] : ticks[b];

    return a_first != b_first ? a_first < b_first : l->with[a] < l->with[b];
}

/* Of those left of the lowest wave. */
static uint32_t least_of(const struct least *l)
{
    const struct fr__partition *k = l->k;
    uint32_t best = first_of_both(l->left, l->left, k->n_words);

    for (uint32_t r = best + 1; r < k->n && k->wave[r] == k->wave[best]; r++)
        if (holds(l->left, r) && goes_before(l, r, best))
            best = r;
    return best;
}

/* Classes that need r have a sum less by its ticks, and keep their order among themselves, as the
 * others do: the two are merged. */
static void take(struct least *l, uint32_t r)
{
    const struct fr__partition *k = l->k;
    uint32_t n_moved = 0, n_kept = 0, i = 0, j = 0;

    l->left[r / 64] &= ~(UINT64_C(1) << r % 64);
    for (uint32_t s = 0; s < l->n_sorted; s++) {
        uint32_t c = l->sorted[s];

        if (!holds(set_of(k, c), r)) {
            l->sorted[n_kept++] = c;
            continue;
        }
        l->sum[c] -= k->ticks[r];
        if (--l->count[c] > 1)
            l->moved[n_moved++] = c;
        else
            l->alone[first_of_both(set_of(k, c), l->left, k->n_words)] += k->work[c];
    }
    /* from behind, into the room that the moved ones left */
    l->n_sorted = n_kept + n_moved;
    i = n_kept;
    j = n_moved;
    for (uint32_t at = l->n_sorted; j > 0; at--) {
        bool is_kept = i > 0 && l->sum[l->sorted[i - 1]] > l->sum[l->moved[j - 1]];

        l->sorted[at - 1] = is_kept ? l->sorted[--i] : l->moved[--j];
    }
}

enum fr_status fr__number_tac(const struct fr__partition *k, uint32_t number[],
                              struct fr__arena *arena, struct fr_error *err)
{
    struct least l;

    if (!least_init(&l, k, arena))
        return fr__fail_nomem(err);
    begin(&l, k->ticks);
    for (uint32_t i = 0; i < k->n; i++) {
        uint32_t r;

        find_with(&l);
        r = least_of(&l);
        number[r] = i;
        take(&l, r);
    }
    return FR_OK;
}

/* ---- random ---- */

enum fr_status fr__number_random(const struct fr__partition *k, uint64_t seed, uint32_t device,
                                 uint32_t number[], struct fr__arena *arena, struct fr_error *err)
{
    uint32_t *shuffled = fr__arena_take(arena, k->n, sizeof(*shuffled));
    struct fr__rng rng;

    if (!shuffled)
        return fr__fail_nomem(err);
    fr__rng_init(&rng, seed, device);
    for (uint32_t i = 0; i < k->n; i++)
        shuffled[i] = i;
    for (uint32_t first = 0, end; first < k->n; first = end) {
        for (end = first; end < k->n && k->wave[end] == k->wave[first];)
            end++;
        for (uint32_t i = end - 1; i > first; i--) {
            uint32_t other = first + (uint32_t)fr__rng_below(&rng, i - first + 1), r = shuffled[i];

            shuffled[i] = shuffled[other];
            shuffled[other] = r;
        }
    }
    for (uint32_t i = 0; i < k->n; i++)
        number[shuffled[i]] = i;
    return FR_OK;
}
