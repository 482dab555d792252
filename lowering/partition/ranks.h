/* lowering/partition/ranks.h - the cut whose busiest rank has least to do, where ranks hold
 * several stages.
 *
 * What a rank does for a micro-batch is the sum over its stages, so a program over stages alone
 * (best.h) does not find it: a small stage may stand beside a large one. */
#ifndef FR_LOWERING_PARTITION_RANKS_H
#define FR_LOWERING_PARTITION_RANKS_H

#include "lowering/partition/chain.h"

struct fr__ranks_cut {
    double most_s; /* passes of the busiest rank a micro-batch; INFINITY: no cut was found to fit */
    double bound_s; /* no cut that fits has less */
    bool is_exact;  /* most_s is the least, to 1e-9 of it */
};

/* Is shown cuts that fit, the least one among them: of each choice of borders the best, or each
 * that was better than all before it. What is nearly the least may end earlier by its schedule. */
struct fr__ranks_visitor {
    void (*see)(void *user, const uint32_t first[], double most_s);
    void *user;
};
static inline void fr__ranks_show(const struct fr__ranks_visitor *v, const uint32_t first[],
                                  double most_s)
{
    if (v)
        v->see(v->user, first, most_s);
}

/* Fills first[n_stages + 1] with that cut, among those that fit: the stages of a rank share its
 * memory. Where none fits, with one whose fullest rank is over by as little as was found.
 *
 * Two ways. A chain is mostly the same item over and over: a transformer's layers. Let the longest
 * run of equal items have few others before and after it. Each choice of borders among the others
 * fixes which stages take how much of them, and of the run only its items a rank count. They are
 * dealt one by one to the rank that has least with one more: with a load that rises by each item
 * this is the least largest load (B. Fox, Management Science 13(3), 1966, for the rule). All
 * choices of borders together are all cuts, so the best of them is the least.
 *
 * With more other items: a search over the borders from left to right, which gives up a beginning
 * once the ranks' room below the best so far is less than the work that is left. It starts from a
 * descent (balance.h) and ends after some 10^6 stages looked at, then with a bound.
 *
 * Transfers are not counted. visitor: NULL: nobody looks. FR_ENOMEM. */
enum fr_status fr__cut_ranks(const struct fr__chain *c, const struct fr__ranks_visitor *visitor,
                             uint32_t first[], struct fr__ranks_cut *out, struct fr_error *err);

#endif
