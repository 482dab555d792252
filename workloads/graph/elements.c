/* workloads/graph/elements.c - elements of tensors, for the zoo, the passes, native folders and
 * stages. */
#include "config.h"

#include "workloads/graph/elements.h"

unsigned fr__elem_bytes(enum fr_dtype dtype)
{
    return dtype == FR_FP32 || dtype == FR_TF32 ? 4 : 2;
}

double fr__tensor_elements(const struct fr_tensor *t)
{
    double n = 1;

    for (unsigned d = 0; d < t->n_dims; d++)
        n *= t->dims[d];
    return n;
}

uint32_t fr__tensor_storage(const struct fr_graph *g, uint32_t tensor)
{
    return g->tensors[tensor].alias == FR_NONE ? tensor : g->tensors[tensor].alias;
}
