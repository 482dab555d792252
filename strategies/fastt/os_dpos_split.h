/* strategies/fastt/os_dpos_split.h - one operation of a dag replaced by parts of it.
 *
 * Along the batch: activations are sliced, parameters and what all samples share go whole to every part,
 * outputs are joined, gradients of parameters and of what is shared, which every part makes whole, are
 * added. Along the channels: parameters are sliced, all outputs are joined, and activations go whole to
 * every part; but sliced where channels are worked on apart (strategies/fastt/dag_dims.h), and a weight
 * gradient's part needs only its channels of the gradient of the output. A tensor that is sliced passes
 * one split node, one that is joined or added one node for all of its readers. What only orders holds
 * for every part.
 * Bytes: slices add up to the tensor; earlier ones are larger by a byte where it does not divide. A
 * split or join reads and writes its tensor once; a sum reads n of them and writes one. What the
 * operation held for long its joins hold; slices and outputs of parts are soon gone, but for those of
 * parameters and the gradients that are added.
 *
 * Source: SplitOperation of FastT (Middleware 2020), Algorithm 2 and section 4.3.
 */
#ifndef FR_STRATEGIES_FASTT_OS_DPOS_SPLIT_H
#define FR_STRATEGIES_FASTT_OS_DPOS_SPLIT_H

#include "strategies/fastt/dag.h"

/* As fr__dag_part_cost and fr__dag_bytes_cost say; bytes: read plus written. */
struct fr__split_costs {
    void (*part)(const struct fr__dag *dag, uint32_t op, enum fr__dag_dim dim, unsigned n,
                 double out_s[]);
    void (*bytes)(const struct fr__dag *dag, double bytes, double out_s[]);
};

/* *out is the dag with op, whose split_mask allows dim, in n >= 2 parts; arrays in the arena. The new
 * operations stand where op stood: split nodes, parts, joins; what came later moves up by
 * out->n_ops - dag->n_ops. Parts belong to no group and are not split again. FR_ENOMEM.
 * Cost: O(ops + edges). */
enum fr_status fr__dag_split(struct fr__dag *out, const struct fr__dag *dag, uint32_t op,
                             enum fr__dag_dim dim, unsigned n, const struct fr__split_costs *costs,
                             struct fr__arena *arena, struct fr_error *err);
#endif
