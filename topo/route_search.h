/* topo/route_search.h - searching routes, by the rule of topo.h: for all sources, or for one.
 *
 * The distance of a vertex is its number of links to the target; GPUs are reached but not passed
 * through. Nearest first, each vertex chooses its next link among those that lead one step nearer.
 * Comparing (latency, width) hop by hop from the target is exact: both only get worse along a path,
 * and by the same rule whatever came before. Latencies are compared in whole picoseconds, so that
 * two equal routes whose hops come in another order stay equal.
 *
 * The search for one source meets in the middle (Pohl, Bi-directional search, Machine Intelligence
 * 6, 1971): both ends grow level by level, always the one whose next level has fewer links to look
 * at. In a cluster that stops before the switch that all machines share is looked into. Both
 * searches give the same route: a vertex's next links all lie on shortest paths if the vertex does.
 */
#ifndef FR_TOPO_ROUTE_SEARCH_H
#define FR_TOPO_ROUTE_SEARCH_H

#include "topo/topo.h"

struct fr__route_search;

/* t is borrowed. NULL: out of memory. */
struct fr__route_search *fr__route_search_new(const struct fr_topo *t);
void fr__route_search_free(struct fr__route_search *s);

/* next: [n_vertices] the link each vertex takes towards device dst, FR_NONE: none. Cost: all
 * vertices and links. */
void fr__route_search_all(struct fr__route_search *s, uint32_t dst, uint32_t next[]);

/* The route of one pair of different devices into links: [max]; returns how many links it has, 0
 * where there is none; more than max: nothing is written. Cost: the links within half the way of
 * either end; how many were looked at is added to *n_seen. */
size_t fr__route_search_pair(struct fr__route_search *s, uint32_t src, uint32_t dst, size_t max,
                             uint32_t links[], uint64_t *n_seen);
#endif
