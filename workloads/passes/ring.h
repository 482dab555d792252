/* workloads/passes/ring.h - cuts messages into steps around a ring, beside the ops that they serve.
 *
 * A gather over n ranks becomes n - 1 steps in each of which every rank passes a part on to the
 * next one. The op that reads it is cut in n parts too: the first works on the rank's own part at
 * once, each further one on the part that the step before has brought. A reduce-scatter is the same
 * the other way round: each part that an op has made is added to what goes around. Where a part
 * takes m and a step g, the op and its message together take
 *
 *     T = m + (n - 1) max(m, g),
 *
 * and an op that has both over the same links, such as attention's backward pass, n m + g where
 * m >= 2 g.
 *
 *     products    tensor parallelism with split sequences: the rows that a product reads, forward
 *                 and for the gradient of its input, and the rows that it writes, forward. The
 *                 gradient of weights waits for all parts (Transformer Engine's user buffers:
 *                 Megatron-LM's tp_comm_overlap with its defaults, ring exchange)
 *     attention   ring attention (H. Liu et al., Ring Attention with Blockwise Transformers, 2023):
 *                 keys and values go around, in the backward pass their gradients too. Of a causal
 *                 mask all parts are alike: rank i holds the chunks i and 2n-1-i of 2n, and each
 *                 step has half of 2 x 2 chunks
 *
 * Several tensors that the same op reads or writes travel in one step. The bytes are those of the
 * whole messages, (n - 1)/n of each.
 * Ignores: that a step takes some of the multiprocessors; the rescaling of partial sums of
 * attention.
 */
#ifndef FR_WORKLOADS_PASSES_RING_H
#define FR_WORKLOADS_PASSES_RING_H

#include "workloads/passes/shard.h"

/* Which messages over an axis are cut. */
struct fr__ring_axis {
    uint32_t ranks;          /* of each group; 1: none are cut */
    enum fr_op_kind reader;  /* beside ops of this kind */
    bool cuts_gradient_sums; /* also those of gradients */
};

struct fr__ring_problem {
    const struct fr__sharded *sharded;
    const struct fr__ring_axis *axes; /* [n_axes], as in the fr__shard_problem */
    size_t n_axes;
};

/* Makes the graph with its steps, to be freed by fr__sharded_free(); *in stays. n_cut: [n_axes]
 * ops that were cut, by axis. FR_ENOMEM. O(ops + edges) times the ranks. */
enum fr_status fr__ring_cut(struct fr__sharded *out, const struct fr__ring_problem *in,
                            size_t n_cut[], struct fr_error *err);

#endif
