/* sim/network/maxmin.h - max-min fair sharing of capacities among flows; knows no topology.
 *
 * Model:   fluid. A flow moves its bytes over all resources of its path at once, at one rate. Rates
 *          are max-min fair with equal weights: no flow can get more without taking from one that
 *          has no more than it. They change only when a flow starts or ends.
 * Source:  D. Bertsekas, R. Gallager, Data Networks, 2nd ed. 1992, section 6.5.2: progressive
 *          filling; an allocation is max-min fair exactly when every flow crosses a saturated
 *          resource on which no flow is faster (its bottleneck).
 * Ignores: packets, slow start, unequal round-trip times, back-pressure of queues.
 *
 * One instant of the caller is: fr__maxmin_pop_finished until it is empty, fr__maxmin_remove and
 * fr__maxmin_add in any order, one fr__maxmin_solve. `now` never goes back.
 */
#ifndef FR_SIM_NETWORK_MAXMIN_H
#define FR_SIM_NETWORK_MAXMIN_H

#include "base/base.h"

struct fr__maxmin;

/* What resources carry: Bps(of, r) of resource r, > 0 and finite. It is asked when a flow first
 * crosses the resource after fr__maxmin_new or fr__maxmin_reset. */
struct fr__capacities {
    double (*Bps)(const void *of, uint32_t resource);
    const void *of; /* borrowed */
};
/* The capacities in an array, [n_resources]. */
struct fr__capacities fr__listed_capacities(const double Bps[]);

/* Makes a solver over resources 0 .. n-1; the caller frees it. NULL: out of memory. Resources that
 * no flow crosses take address space, but no memory. */
struct fr__maxmin *fr__maxmin_new(uint32_t n_resources, struct fr__capacities c);
void fr__maxmin_free(struct fr__maxmin *m);

/* Sets a solver back to where fr__maxmin_new left it, and asks for capacities again, but keeps its
 * memory.
 *   is_watched  as after fr__maxmin_watch
 * false: out of memory. Cost: O(resources that flows have crossed). */
bool fr__maxmin_reset(struct fr__maxmin *m, bool is_watched);

/* Adds a flow that starts at `now`.
 *   path    [n_path], n_path >= 1, no resource twice; read during the call only
 *   bytes   >= 0, finite; 0 ends at once
 *   user    handed back by fr__maxmin_pop_finished
 * Returns the flow's slot, which is used again after the flow has ended; FR_NONE: out of memory,
 * nothing changed. Cost: O(n_path). */
uint32_t fr__maxmin_add(struct fr__maxmin *m, double now, const uint32_t path[], uint32_t n_path,
                        double bytes, uint32_t user);

/* The same for a flow that stands for several: at rate 1 it takes weights[h] of resource path[h].
 *   weights  [n_path], > 0 and finite; of a resource that several flows cross multiples of 2^-36,
 *            so that their sums are exact; NULL: 1 each
 * Rates are max-min fair as if each flow had weight 1: all grow alike until a resource is full. */
uint32_t fr__maxmin_add_weighted(struct fr__maxmin *m, double now, const uint32_t path[],
                                 const double weights[], uint32_t n_path, double bytes,
                                 uint32_t user);

/* What a flow takes of resources at a rate of 1. */
struct fr__maxmin_path {
    const uint32_t *resources; /* [n] n >= 1, none twice */
    const double *weights;     /* [n] as above; NULL: 1 each, and narrowest and own are not known */
    uint32_t n;
    uint32_t narrowest; /* index of the first one of those that are full at the least rate; FR_NONE:
                           not known */
    bool has_own;       /* one more resource, which no other flow crosses */
    uint32_t own;
    double own_weight;
};
/* The same for a flow whose narrowest resource is known. The two arrays are borrowed until the flow
 * has ended. Cost: O(1) as long as it is the only one, O(n) from the second flow on. */
uint32_t fr__maxmin_add_path(struct fr__maxmin *m, double now, const struct fr__maxmin_path *p,
                             double bytes, uint32_t user);

double fr__maxmin_weight_on(const struct fr__maxmin *m, uint32_t resource, uint32_t i);

/* Takes out a flow that has not ended. Cost: O(n_path). */
void fr__maxmin_remove(struct fr__maxmin *m, uint32_t slot);

/* Brings all rates up to date with the adds and removes since the last call and returns when the
 * next flow ends, INFINITY when there is none; never less than `now`. Cost: O(entries) over the
 * resources on which a rate changes, each counted from the least rate that does; a flow that shares
 * no resource costs O(n_path) in all. */
double fr__maxmin_solve(struct fr__maxmin *m, double now);

/* Takes out one flow whose end is at or before `now`, in order of insertion, and sets *user; false
 * when none is left. Ends within rounding of `now` count as reached (sim/network/maxmin.c says how
 * far), so that flows which are alike end in one instant. Solves first when flows were added or
 * removed since the last solve and no flow found finished is waiting to be taken. */
bool fr__maxmin_pop_finished(struct fr__maxmin *m, double now, uint32_t *user);

/* Asks for a list of the flows whose rates change; before the first add. */
void fr__maxmin_watch(struct fr__maxmin *m);
/* The `user` of each flow that got a rate since the last call, some of them twice; the list is
 * valid until the next add, remove, solve or pop. To be asked for after every solve and every
 * pop. */
const uint32_t *fr__maxmin_take_changes(struct fr__maxmin *m, uint32_t *n);

/* The slot of the live flow with that `user`, of which there is one at most; FR_NONE: there is
 * none. Cost: O(slots). */
uint32_t fr__maxmin_find(const struct fr__maxmin *m, uint32_t user);

/* Of a live flow, as of the last solve. */
double fr__maxmin_rate(const struct fr__maxmin *m, uint32_t slot);
uint32_t fr__maxmin_bottleneck(const struct fr__maxmin *m, uint32_t slot); /* resource */
/* The flows that cross a resource: how many, and the i-th one's slot. */
uint32_t fr__maxmin_n_crossing(const struct fr__maxmin *m, uint32_t resource);
uint32_t fr__maxmin_crossing(const struct fr__maxmin *m, uint32_t resource, uint32_t i);
double fr__maxmin_remaining(const struct fr__maxmin *m, uint32_t slot, double now);

struct fr__maxmin_stats {
    uint64_t solves;  /* that had anything to do */
    uint64_t flows;   /* ever added */
    uint64_t visited; /* rates worked out, over all solves */
    uint32_t live, live_max;
};
struct fr__maxmin_stats fr__maxmin_stats(const struct fr__maxmin *m);

#endif
