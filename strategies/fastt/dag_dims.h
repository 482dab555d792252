/* strategies/fastt/dag_dims.h - along which dimensions an op of a graph may be split over devices.
 *
 * The batch: where the workload says so of what the forward op writes (fr_tensor.split_mask), and each
 * sample is worked on by itself: not in a batch normalisation, whose statistics run over the batch.
 * The channels (the columns of a matrix, the heads of attention): where they are made one by one,
 *   from all that goes in, by filters of their own: products, convolutions, embeddings;
 *   or apart, each from the same channel of what goes in: elementwise ops, pooling, and of what works
 *   on heads the products, the softmax and the fused kernel.
 * Left whole: inputs, losses, updates, concatenations and splits, what costs nothing (views), and what is
 * not known: whole layers of profiles, LSTM layers along the channels.
 *
 * Source: X. Yi et al., FastT, Middleware 2020, Algorithm 2: dimensions of which an operation is independent;
 *         what has none (batch normalisation, scalars, variables) is not tried.
 */
#ifndef FR_STRATEGIES_FASTT_DAG_DIMS_H
#define FR_STRATEGIES_FASTT_DAG_DIMS_H

#include "strategies/fastt/dag.h"

/* Bits FR__DAG_BATCH and FR__DAG_CHANNEL, for ops of the body, forward and backward. */
uint8_t fr__dag_dims(const struct fr_graph *g, uint32_t op);

/* Its channels are worked on apart: what goes in is sliced along with them. */
bool fr__dag_channels_apart(const struct fr_graph *g, uint32_t op);

/* How many channels there are to share; infinite where the graph does not say. */
double fr__dag_n_channels(const struct fr_graph *g, uint32_t op);
#endif
