/* topo/routes/adjacency.h - the links at each vertex, for searches of routes. */
#ifndef FR_TOPO_ROUTES_ADJACENCY_H
#define FR_TOPO_ROUTES_ADJACENCY_H

#include "topo/topo.h"

/* The links at v are list[first[v]] to list[first[v + 1] - 1], ascending; ends has the vertex at
 * the other end of each, as searches that read the links themselves for it wait for memory. */
struct fr__adjacency {
    uint32_t *first, *list, *ends;
};

/* All links, by their source (is_out) or by their target. false: out of memory. The caller calls
 * fr__adjacency_fini, also then. Cost: O(vertices + links). */
bool fr__adjacency_init(struct fr__adjacency *a, const struct fr_topo *t, bool is_out);
/* The same without links to and from machines that have a gate. */
bool fr__adjacency_trunks(struct fr__adjacency *a, const struct fr_topo *t, bool is_out,
                          const uint32_t gate[]);
void fr__adjacency_fini(struct fr__adjacency *a);

/* gate: [n_machines] the only vertex that the links out of a machine lead to and come from, or
 * FR_NONE. No route leads through a machine that has one, since it would leave where it came in. */
void fr__find_gates(const struct fr_topo *t, uint32_t gate[]);

/* The links from one device's vertex to another's if each has one link, to the same switch: there
 * is no other route. This is so in many clusters, and a search would take most of a short message's
 * time. false: it is not so, and nothing is written. */
bool fr__are_on_one_switch(const struct fr_topo *t, const struct fr__adjacency *out,
                           const struct fr__adjacency *in, uint32_t src, uint32_t dst,
                           uint32_t links[2]);

#endif
