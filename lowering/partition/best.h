/* lowering/partition/best.h - the best cut of a chain by a rule: a dynamic program. */
#ifndef FR_LOWERING_PARTITION_BEST_H
#define FR_LOWERING_PARTITION_BEST_H

#include "lowering/partition/chain.h"

struct fr__best_cut {
    double cost_s;  /* as fr__cut_cost_s; INFINITY: no cut fits */
    double bound_s; /* no cut that fits costs less; cost_s where the search came to its end */
    bool is_exact;  /* cost_s is the least, to 1e-9 of it */
};

/* Fills first[n_stages + 1] with the cheapest cut in which every stage fits: a stage of a rank that
 * has several takes its share of the memory, capacity / stages. Times and memory may differ by
 * stage; transfers may rise or fall with the place of the cut.
 *
 * Two parts. The least largest load comes from best[s][j] = min_i max(best[s - 1][i], load(s, i,
 * j)). Then, with S: the cut of least (S, load) among those below a limit of the load, from the
 * limit downwards, until no cut below is left that could be cheaper. `phases` has two limits, one
 * inside the other.
 *
 * Cost: O(n_stages n w) a limit, w the items of the longest stage below it; after some 10^7 parts
 * looked at, the best cut so far with a bound. FR_ENOMEM. */
enum fr_status fr__cut_best(const struct fr__chain *c, const struct fr__cut_aim *a,
                            uint32_t first[], struct fr__best_cut *out, struct fr_error *err);

#endif
