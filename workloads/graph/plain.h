/* workloads/graph/plain.h - a graph of ops and edges that need no check, because a program made
 * them from a graph that was checked when it was read. */
#ifndef FR_WORKLOADS_GRAPH_PLAIN_H
#define FR_WORKLOADS_GRAPH_PLAIN_H

#include "base/arena.h"
#include "workloads/workloads.h"

struct fr__plain_graph {
    const struct fr_graph
        *like; /* name, source, batch, layers and formats are taken from it; it must stay */
    size_t n_ops, n_edges;
    const struct fr_op *ops; /* in an order in which they can run; no tensors; layers of `like` */
    const struct fr_edge *edges;         /* sorted by (src, dst); tensor FR_NONE */
    const uint32_t *out_first;           /* [n_ops + 1] */
    const uint32_t *in_first, *in_edges; /* [n_ops + 1], [n_edges] */
};
/* Makes the graph without a check or a copy: names and arrays of *plain live in the arena, or as
 * long as the graph. The graph takes the arena over, on success only. FR_ENOMEM. */
enum fr_status fr__graph_of_plain(struct fr_graph **out, const struct fr__plain_graph *plain,
                                  struct fr__arena *arena, struct fr_error *err);
#endif
