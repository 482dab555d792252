/* lowering/partition/tries.h - cuts priced by a replay of their schedule, and the search among
 * them. Apart from choose.h, which says what begins the search and what its end is held against. */
#ifndef FR_LOWERING_PARTITION_TRIES_H
#define FR_LOWERING_PARTITION_TRIES_H

#include "lowering/partition/choose.h"
#include "lowering/partition/timed.h"

/* A cut is better only if it takes less than this part of the best: sums of floating-point numbers
 * differ by less. A choice of ours. */
#define FR__TRIES_BETTER (1 - 1e-6)

/* Of one problem. */
struct fr__tries {
    const struct fr__choice_problem *in;
    struct fr__cut_aim aim;
    struct fr__timed *timed; /* NULL: not needed */
    struct fr__timed_stage *stages;
    double *tail_s;                          /* [n_ranks] */
    struct fr__timed_tie *ties;              /* [n_ties] of the problem */
    double *excess_bytes;                    /* [n_ranks] */
    uint32_t *first, *trial, *given, *other; /* [n_stages + 1]; other: where a search also begins */
    uint32_t *after, *before; /* [n + 1] the next place, and the one before, where little crosses */
    double best_s;
    size_t n_tried, n_before; /* n_before: when the search began */
};

/* first: [n_stages + 1] the caller's, into which better cuts are written. fini may follow a
 * failure. FR_ENOMEM. */
enum fr_status fr__tries_init(struct fr__tries *x, const struct fr__choice_problem *in,
                              const struct fr__cut_aim *aim, uint32_t first[],
                              struct fr_error *err);
void fr__tries_fini(struct fr__tries *x);

/* Fills stages, tail_s and ties with what a cut makes of them. */
void fr__tries_describe(struct fr__tries *x, const uint32_t first[]);
/* What a cut takes: an iteration of the schedule, or its interval. Counts it as tried. */
double fr__tries_price(struct fr__tries *x, const uint32_t first[]);
/* Keeps x->trial as x->first if it fits and takes less than x->best_s. Returns whether it was so.
 */
bool fr__tries_try(struct fr__tries *x);

/* Makes the trial of even parts of the passes, but a border stands where what crosses it and what
 * it is off take least together. n_stages > 1. false: there is no room for the rest. */
bool fr__tries_evenly(struct fr__tries *x);

/* Whether another replay is within what a search may cost: some 10^6 actions since n_before. */
bool fr__tries_has_work(const struct fr__tries *x);
/* Whether all cuts can be tried for that. */
bool fr__tries_can_be_all(const struct fr__tries *x);
/* Tries all cuts, or looks for better ones than x->first, which takes best_s, as long as there is
 * work. Borders move by an item, one or several neighbours at once; where that no longer helps, to
 * the next places where less crosses than beside them. The search begins at x->first and at even
 * parts whose borders stand where little crosses, first at the better of the two. */
void fr__tries_search(struct fr__tries *x);

#endif
