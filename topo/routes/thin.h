/* topo/routes/thin.h - a topology with a few of the machines that are alike, to search routes in.
 *
 * Of machines that are alike (topo/routes/alike.h) three are enough for a search: the one where the
 * route begins, the one where it ends, and one that it might lead through. If a route led through
 * two others, both could be that one. All switches of the network stay. Vertices, links and
 * machines keep their order, so that choices among them stay the same.
 */
#ifndef FR_TOPO_ROUTES_THIN_H
#define FR_TOPO_ROUTES_THIN_H

#include "topo/topo.h"

struct fr__thin {
    struct fr_topo topo; /* vertices, links and flags alone; machines have their old numbers */
    struct fr_vertex *vertices;
    struct fr_link *links;
    uint32_t *vertex_of; /* [topo.n_vertices] what they were, ascending */
    uint32_t *link_of;   /* [topo.n_links] likewise */
};

/* is_kept: [n_machines of t]. The caller calls fr__thin_fini, also after a failure. FR_ENOMEM.
 * Cost: O(vertices + links) of t. */
enum fr_status fr__thin_init(struct fr__thin *thin, const struct fr_topo *t, const bool is_kept[],
                             struct fr_error *err);
void fr__thin_fini(struct fr__thin *thin);

/* The number here of a vertex, which is kept. Cost: O(log vertices). */
uint32_t fr__thin_vertex(const struct fr__thin *thin, uint32_t vertex);

#endif
