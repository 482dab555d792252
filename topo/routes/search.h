/* topo/routes/search.h - searches routes by the rule of topo.h, from all sources or from one.
 *
 * The distance of a vertex is its number of links to the target. GPUs are reached but not passed
 * through, except relays: where the topology has them, a GPU of another machine than the target's
 * whose next links lead to its host may be entered by NVLink, and links of the network count before
 * those between sockets, and these before all others. So traffic stays on rails, also where a spine
 * joins them.
 *
 * In the order of their distance, vertices choose their next link among those that lead one step
 * nearer. Comparing (latency, width) hop by hop from the target is exact, because both only get
 * worse along a path. Latencies are compared in whole picoseconds, so that two equal routes with
 * their hops in another order stay equal.
 *
 * The search from one source works from both ends (Pohl, Bi-directional search, Machine
 * Intelligence 6, 1971). Both ends grow level by level, always the one whose next level has fewer
 * links. In a cluster it ends before it has to look into the switch that all machines share. Both
 * searches give the same route: if a vertex lies on a shortest path, so do all its next links.
 */
#ifndef FR_TOPO_ROUTES_SEARCH_H
#define FR_TOPO_ROUTES_SEARCH_H

#include "topo/topo.h"

struct fr__route_search;

/* Where routes lead: a device's vertex, and the number of the device, by which equal ways are
 * chosen. */
struct fr__target {
    uint32_t vertex, number;
};

/* t is borrowed. NULL: out of memory. */
struct fr__route_search *fr__route_search_new(const struct fr_topo *t);
void fr__route_search_free(struct fr__route_search *s);

/* next: [n_vertices] the link each vertex takes towards the target, FR_NONE: none. Cost: all
 * vertices and links. */
void fr__route_search_all(struct fr__route_search *s, struct fr__target dst, uint32_t next[]);

/* The route from a device's vertex to that of another into links: [max]. Not where the topology has
 * relays. Returns how many links it has, 0 where there is none. If that is more than max, the first
 * max are written. Cost: the links within half the way of either end, but for those of third
 * machines with one gate (topo/routes/adjacency.h); how many is added to *n_seen. */
size_t fr__route_search_pair(struct fr__route_search *s, uint32_t src, struct fr__target dst,
                             size_t max, uint32_t links[], uint64_t *n_seen);

/* The route from a vertex to the target by what fr__route_search_all has found; the same. */
size_t fr__route_search_follow(const struct fr__route_search *s, uint32_t src,
                               struct fr__target dst, const uint32_t next[], size_t max,
                               uint32_t links[]);

/* The links that leave a vertex, in their order: [*n]. */
const uint32_t *fr__route_search_links_from(const struct fr__route_search *s, uint32_t vertex,
                                            size_t *n);

/* The least common multiple of all numbers of equally good next links that were chosen among so
 * far, 1 at first. 0: it is large, or a switch of the network had a choice that is not the same for
 * other machines (topo/routes/alike.h). */
uint32_t fr__route_search_modulus(const struct fr__route_search *s);
#endif
