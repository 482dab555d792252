/* lowering/dag/dims.h - along which dimensions an op of a graph may be split over devices.
 *
 * Along the batch, if the workload allows it for the outputs of the forward op
 * (fr_tensor.split_mask) and samples do not depend on each other. So not in batch normalisation,
 * whose statistics are over the batch.
 *
 * Along the channels (the columns of a matrix, the heads of attention) in two ways:
 * - each channel is made from all inputs, by a filter of its own: products, convolutions,
 *   embeddings;
 * - each channel is made from the same channel of the inputs: elementwise ops, pooling, and of the
 *   ops on heads the products, the softmax and the fused kernel.
 *
 * Some ops are not split: inputs, losses, updates, concatenations and splits, ops that cost nothing
 * (views), and ops that we do not know: whole layers of profiles, and LSTM layers along the
 * channels.
 *
 * Source:  X. Yi et al., FastT, Middleware 2020, Algorithm 2: the dimensions in which an operation
 *          is independent. Operations without any (batch normalisation, scalars, variables) are not
 *          tried.
 */
#ifndef FR_LOWERING_DAG_DIMS_H
#define FR_LOWERING_DAG_DIMS_H

#include "lowering/dag/dag.h"

/* Bits FR__DAG_BATCH and FR__DAG_CHANNEL, for ops of the body, forward and backward. */
uint8_t fr__dag_dims(const struct fr_graph *g, uint32_t op);

/* Whether each channel is made from the same channel of the inputs, so that inputs are sliced with
 * it. */
bool fr__dag_channels_apart(const struct fr_graph *g, uint32_t op);

/* Number of channels; infinite if the graph does not say. */
double fr__dag_n_channels(const struct fr_graph *g, uint32_t op);
#endif
