/* collectives/grid.h - the torus or mesh of links in which a group's ranks stand.
 *
 * It is found from the routes and not from what a file calls the network, so that it is the same
 * for a fabric by its name, for links that a file lists, and for a block of a larger torus.
 */
#ifndef FR_COLLECTIVES_GRID_H
#define FR_COLLECTIVES_GRID_H

#include "collectives/algorithms/schedule.h"

/* How many links a message between two places crosses; 0: not known. */
typedef uint32_t fr__hops_fn(void *user, uint32_t from, uint32_t to);

/* The sides of the grid of n places, numbered with the first side innermost: each place has the
 * shortest route that any two have to its neighbours along every side, closed or not, and to nobody
 * else. Returns the number of sides, at least 2; 0: there is no such grid, or it is one ring.
 * Cost: O(n * most) calls. */
uint32_t fr__grid_find(uint32_t n, fr__hops_fn *hops, void *user, uint32_t most, uint32_t dims[]);
/* Sets the sides of a schedule whose algorithm, ranks and ranks a node are set: the ranks of a node
 * are one, the links between nodes, or within the only one, make the others. Without a grid the
 * nodes are one side. hops: between ranks. */
void fr__grid_sides(struct fr__schedule *s, fr__hops_fn *hops, void *user);
/* Whether all nodes do the same, each moved on by as many places: not so where their ways around a
 * side lead back. */
bool fr__grid_is_cyclic(const struct fr__schedule *s);

#endif
