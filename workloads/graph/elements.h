/* workloads/graph/elements.h - how many elements a tensor has, how many bytes one takes, and whose
 * storage they are in. */
#ifndef FR_WORKLOADS_GRAPH_ELEMENTS_H
#define FR_WORKLOADS_GRAPH_ELEMENTS_H

#include "workloads/workloads.h"

/* Bytes of one activation or parameter: 4 for fp32 and tf32, 2 for fp16 and bf16. fp8 is a format
 * of matrix operands only: between ops tensors take 2 bytes (NVIDIA Transformer Engine's recipe).
 * amp: 2 for activations, though parameters take 4. */
unsigned fr__elem_bytes(enum fr_dtype dtype);
/* 1 where no dimensions are known. Exact: no tensor of a graph has more than 2^53. */
double fr__tensor_elements(const struct fr_tensor *t);
/* Bytes of n parameters that are packed so. QLoRA's doubly quantised ones take 4 + 8 / 64 +
 * 32 / (64 * 256) bits each; a block that is not full has constants of its own. */
uint64_t fr__packed_bytes(enum fr_packing packing, uint64_t n);
/* The tensor whose storage it is in: itself, unless it is a view or written in place. */
uint32_t fr__tensor_storage(const struct fr_graph *g, uint32_t tensor);
#endif
