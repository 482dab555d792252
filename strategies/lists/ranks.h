/* strategies/lists/ranks.h - how far operations are from the end and from the beginning. */
#ifndef FR_STRATEGIES_LISTS_RANKS_H
#define FR_STRATEGIES_LISTS_RANKS_H

#include "strategies/lists/timetable.h"

/* Upward ranks: rank_s[i] = w_i + max over the readers j of c_ij + rank_s[j], w the mean cost over
 * the devices, c the mean time of the edge over all pairs of different devices; c is 0 where
 * counts_moves is false (then it is the static level). Also says through which edge each comes (in
 * t->record). rank_s: [n_ops]. Source: H. Topcuoglu, S. Hariri, M.-Y. Wu, IEEE TPDS 13(3), 2002,
 * equations 4, 5 and 8. Cost: O(ops devices + edges). */
void fr__rank_up(struct fr__timetable *t, bool counts_moves, double rank_s[]);

/* Downward ranks: rank_s[i] = max over what i reads, j, of rank_s[j] + w_j + c_ji, without
 * variables. The same source, equation 10. */
void fr__rank_down(const struct fr__timetable *t, double rank_s[]);

/* An operation and what it is sorted by. */
struct fr__ranked {
    double key;
    uint32_t op;
};
/* By rising keys, of equal ones the lower operation. */
void fr__sort_ranked(struct fr__ranked *r, size_t n);

#endif
