/* sim/network/tournament.h - the least of many numbers that change one at a time.
 *
 * A tournament tree (D. E. Knuth, The Art of Computer Programming 3, 2nd ed. 1998, section 5.4.1)
 * whose matches have eight players, a cache line of doubles: each number of a level is the least of
 * eight of the level below, and a change climbs only as far as it changes a winner.
 *
 * Most links of a large cluster carry nothing. So eight numbers of the lowest level whose least is
 * INFINITY are not looked at, and memory of theirs that was never written is never read.
 */
#ifndef FR_SIM_NETWORK_TOURNAMENT_H
#define FR_SIM_NETWORK_TOURNAMENT_H

#include "base/base.h"

#include <math.h>

enum { FR__PLAYERS = 8, FR__MOST_LEVELS = 12 }; /* 8^11 > 2^32 */

struct fr__tournament {
    double *level[FR__MOST_LEVELS]; /* 0: the numbers; each but the last a multiple of eight long */
    uint32_t n_levels;              /* the last holds one number */
    size_t n_all;                   /* numbers on all levels, which stand in one array */
};

/* Makes room for n numbers, all INFINITY. false: out of memory, and nothing to be released. */
bool fr__tournament_init(struct fr__tournament *t, uint32_t n);
void fr__tournament_fini(struct fr__tournament *t);
/* Sets all numbers to INFINITY again. */
void fr__tournament_clear(struct fr__tournament *t);

/* The indices of the numbers that are <= most (finite), rising; how many. O(log n) each.
 *   out    [n] */
uint32_t fr__tournament_list(const struct fr__tournament *t, double most, uint32_t out[]);

/* Number i. */
static inline double fr__tournament_get(const struct fr__tournament *t, uint32_t i)
{
    return t->level[1][i / FR__PLAYERS] < INFINITY ? t->level[0][i] : INFINITY;
}

static inline double fr__tournament_least(const struct fr__tournament *t)
{
    return t->level[t->n_levels - 1][0];
}

/* Of two numbers at a time, so that the comparisons do not wait for each other. */
static inline double fr__least_of_eight(const double x[])
{
    double a = x[0] < x[1] ? x[0] : x[1], b = x[2] < x[3] ? x[2] : x[3];
    double c = x[4] < x[5] ? x[4] : x[5], d = x[6] < x[7] ? x[6] : x[7];

    a = a < b ? a : b;
    c = c < d ? c : d;
    return a < c ? a : c;
}

/* Sets number i; no NaN. O(log n) at worst, O(1) when it neither was nor is the least of its
 * eight. */
static inline void fr__tournament_set(struct fr__tournament *t, uint32_t i, double x)
{
    double *eight = t->level[0] + i / FR__PLAYERS * FR__PLAYERS, was;

    if (!(t->level[1][i / FR__PLAYERS] < INFINITY))
        for (uint32_t k = 0; k < FR__PLAYERS; k++)
            eight[k] = INFINITY;
    was = t->level[0][i];
    t->level[0][i] = x;
    for (uint32_t l = 1; l < t->n_levels; l++) {
        const double *players = t->level[l - 1] + i / FR__PLAYERS * FR__PLAYERS;
        double *winner = &t->level[l][i /= FR__PLAYERS], least = x;

        if (x >= *winner) {
            if (was > *winner)
                return;
            least = fr__least_of_eight(players);
        }
        if (least == *winner)
            return;
        was = *winner;
        x = *winner = least;
    }
}

#endif
