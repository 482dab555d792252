/* sim/network/ring_period.h - rings that look the same from every machine.
 *
 * Rings over equal machines repeat themselves: moved on by the positions of one machine, each hop
 * becomes another one over links that are as fast and that as many other hops use. So a few
 * positions stand for all, and what happens to them happens to all at the same time. The smallest
 * such move is the period.
 *
 * Rings have period p if p divides the number of ranks and these two hold. All positions that are p
 * apart, in the same ring, are one class of hops.
 *   - The hops of a class cross links of the same classes in the same order. A class of links: same
 *     kind, bandwidth and latency, crossed by hops of the same classes.
 *   - No two hops of one class cross the same link.
 * This is an equitable partition of hops and links (C. Godsil, G. Royle, Algebraic Graph Theory,
 * 2001, section 9.3), so the max-min fair rates are the same within a class whenever the messages
 * under way are (a max-min allocation is unique, and permuting equal flows permutes it).
 */
#ifndef FR_SIM_NETWORK_RING_PERIOD_H
#define FR_SIM_NETWORK_RING_PERIOD_H

#include "sim/network/rings.h"

/* *period: the smallest, or set->n where there is none, and for few ranks, where it is not looked
 * for. *period_routes: [n_rings][period] routes of the first positions over one link of each class,
 * which must be freed; NULL: the period is n. FR_ENOMEM. Cost: O(links of all routes) for each
 * divisor of n. */
enum fr_status fr__ring_period(struct fr__routes *routes, const struct fr__ring_set *set,
                               uint32_t *period, uint32_t **period_routes, struct fr_error *err);

#endif
