/* workloads/graph/elements.h - how many bytes an element of a tensor takes. */
#ifndef FR_WORKLOADS_GRAPH_ELEMENTS_H
#define FR_WORKLOADS_GRAPH_ELEMENTS_H

#include "workloads/workloads.h"

/* Bytes of one activation or parameter: 4 for fp32 and tf32, 2 for fp16 and bf16. fp8 is a format
 * of matrix operands only: between ops tensors take 2 bytes (NVIDIA Transformer Engine's recipe).
 * amp: 2 for activations, though parameters take 4. */
unsigned fr__elem_bytes(enum fr_dtype dtype);
#endif
