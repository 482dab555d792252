/* strategies/fastt/os_dpos_split.h - replaces one operation of a dag by parts of it.
 *
 * Along the batch: activations are sliced. Every part reads parameters, and what all samples share,
 * as a whole. Outputs are joined. Gradients of parameters, and of what all samples share, are
 * added, because every part makes them whole.
 *
 * Along the channels: parameters are sliced and all outputs are joined. Every part reads
 * activations as a whole, except that they are sliced if each channel is made from the same channel
 * of the input (lowering/dag/dims.h), and that a part of a weight gradient needs only its
 * own channels of the gradient of the output.
 *
 * A tensor that is sliced passes one split node. A tensor that is joined or added passes one node
 * for all of its readers. An edge that only orders becomes an edge of every part.
 *
 * Bytes: slices add up to the tensor; if it does not divide, earlier slices are larger by a byte. A
 * split or a join reads and writes its tensor once; a sum reads n tensors and writes one. What the
 * operation held for long, its joins hold. Slices and outputs of parts are freed soon, except those
 * of parameters and the gradients that are added.
 *
 * Source:  SplitOperation of FastT (Middleware 2020), Algorithm 2 and section 4.3.
 */
#ifndef FR_STRATEGIES_FASTT_OS_DPOS_SPLIT_H
#define FR_STRATEGIES_FASTT_OS_DPOS_SPLIT_H

#include "lowering/dag/dag.h"

/* Functions like fr__dag_part_cost and fr__dag_bytes_cost; bytes: read plus written. */
struct fr__split_costs {
    void (*part)(const struct fr__dag *dag, uint32_t op, enum fr__dag_dim dim, unsigned n,
                 double out_s[]);
    void (*bytes)(const struct fr__dag *dag, double bytes, double out_s[]);
};

/* Sets *out to the dag with op, whose split_mask allows dim, in n >= 2 parts; arrays are in the
 * arena. The new operations (split nodes, parts, joins) are where op was; later ones move up by
 * out->n_ops - dag->n_ops. Parts belong to no group and are not split again. FR_ENOMEM. Cost: O(ops
 * + edges). */
enum fr_status fr__dag_split(struct fr__dag *out, const struct fr__dag *dag, uint32_t op,
                             enum fr__dag_dim dim, unsigned n, const struct fr__split_costs *costs,
                             struct fr__arena *arena, struct fr_error *err);
#endif
