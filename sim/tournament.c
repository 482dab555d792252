/* sim/tournament.c - making a tournament tree, and finding what is in it. */
#include "sim/tournament.h"

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
    for (size_t i = 0; i < n_all; i++)
        at[i] = INFINITY;
    for (uint32_t l = 0; l < t->n_levels; l++) {
        t->level[l] = at;
        at += size[l];
    }
    return true;
}

void fr__tournament_fini(struct fr__tournament *t)
{
    free(t->level[0]);
}

/* Up until something is small enough, then down to it. All before i of level l is not. */
uint32_t fr__tournament_find(const struct fr__tournament *t, uint32_t from, double most)
{
    uint32_t l = 0, i = from;

    for (; l + 1 < t->n_levels; l++) {
        while (i % FR__PLAYERS && t->level[l][i] > most)
            i++;
        if (i % FR__PLAYERS)
            break;
        i /= FR__PLAYERS;
    }
    if (l + 1 == t->n_levels && (i > 0 || t->level[l][0] > most))
        return FR_NONE;
    for (; l > 0; l--)
        for (i *= FR__PLAYERS; t->level[l - 1][i] > most; i++)
            ;
    return i;
}
