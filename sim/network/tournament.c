/* sim/network/tournament.c - making a tournament tree, and listing what is in it. */
#include "sim/network/tournament.h"

#include "base/bits.h"

#include <math.h>
#include <stdlib.h>

static size_t round_up(size_t n)
{
    return (n + FR__PLAYERS - 1) / FR__PLAYERS * FR__PLAYERS;
}

bool fr__tournament_init(struct fr__tournament *t, uint32_t n)
{
    size_t size[FR__MOST_LEVELS], n_all = 0;
    double *at;

    size[0] = round_up(n ? n : 1);
    for (t->n_levels = 1; size[t->n_levels - 1] > 1; t->n_levels++) {
        size_t n_winners = size[t->n_levels - 1] / FR__PLAYERS;

        n_all += size[t->n_levels - 1];
        size[t->n_levels] = n_winners > 1 ? round_up(n_winners) : 1;
    }
    n_all = round_up(n_all + 1);
    at = aligned_alloc(FR__PLAYERS * sizeof(*at), n_all * sizeof(*at));
    if (!at)
        return false;
    t->n_all = n_all;
    for (uint32_t l = 0; l < t->n_levels; l++) {
        t->level[l] = at;
        at += size[l];
    }
    fr__tournament_clear(t);
    return true;
}

void fr__tournament_clear(struct fr__tournament *t)
{
    for (size_t i = 0; i < t->n_all - (size_t)(t->level[1] - t->level[0]); i++)
        t->level[1][i] = INFINITY;
}

void fr__tournament_fini(struct fr__tournament *t)
{
    free(t->level[0]);
}

/* Bit k: x[k] is <= most. Written out, as a loop takes twice the instructions. */
static uint32_t small_ones(const double x[], double most)
{
    return (uint32_t)(x[0] <= most) | (uint32_t)(x[1] <= most) << 1 |
           (uint32_t)(x[2] <= most) << 2 | (uint32_t)(x[3] <= most) << 3 |
           (uint32_t)(x[4] <= most) << 4 | (uint32_t)(x[5] <= most) << 5 |
           (uint32_t)(x[6] <= most) << 6 | (uint32_t)(x[7] <= most) << 7;
}

/* Of those below winner i of level l. */
static uint32_t list_below(const struct fr__tournament *t, uint32_t l, uint32_t i, double most,
                           uint32_t out[])
{
    const double *players = t->level[l - 1] + (size_t)i * FR__PLAYERS;
    uint32_t n = 0, is_small = small_ones(players, most);

    for (; is_small; is_small &= is_small - 1) {
        uint32_t player = i * FR__PLAYERS + fr__lowest_bit(is_small);

        if (l == 1)
            out[n++] = player;
        else
            n += list_below(t, l - 1, player, most, out + n);
    }
    return n;
}

uint32_t fr__tournament_list(const struct fr__tournament *t, double most, uint32_t out[])
{
    return fr__tournament_least(t) <= most ? list_below(t, t->n_levels - 1, 0, most, out) : 0;
}
