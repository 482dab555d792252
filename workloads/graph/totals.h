/* workloads/graph/totals.h - the FLOPs of a graph's matrix products, for rates of FLOP/s. */
#ifndef FR_WORKLOADS_GRAPH_TOTALS_H
#define FR_WORKLOADS_GRAPH_TOTALS_H

#include "workloads/workloads.h"

struct fr__product_flops {
    double model, hardware; /* as in struct fr_graph_totals */
    double recomputed;      /* of these the hardware's, by ops that run again */
};
/* At the graph's batch. Looks at ops alone. */
struct fr__product_flops fr__product_flops(const struct fr_graph *g);
/* Whether the ops are tasks that only take time: nothing is computed, kept or trained. O(ops). */
bool fr__graph_is_tasks(const struct fr_graph *g);
/* What GPUs must hold between them at the end of the forward pass of a batch, wherever ops run, if
 * nothing is computed again: parameters, and where one op is the loss, after which all of the
 * backward pass comes, what that reads. FR_ENOMEM. */
enum fr_status fr__graph_kept_bytes(const struct fr_graph *g, double batch, double *bytes,
                                    struct fr_error *err);

#endif
