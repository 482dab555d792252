/* workloads/graph/elements.c - elements of tensors, for the zoo, the passes, native folders and
 * stages. */
#include "config.h"

#include "workloads/graph/elements.h"

#include "base/names.h"

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

/* ---- packed parameters ---- */

static const char *const packings[] = {
    [FR_PACK_NONE] = "none", [FR_PACK_NF4] = "nf4", [FR_PACK_NF4_DOUBLE] = "nf4-double"};
static const struct fr__name_list packing_names = FR__NAMES(packings);

const char *fr_packing_name(enum fr_packing packing)
{
    return fr__name_of(&packing_names, packing);
}

enum fr_packing fr_packing_parse(const char *name)
{
    return (enum fr_packing)fr__name_parse(&packing_names, name);
}

uint64_t fr__packed_bytes(enum fr_packing packing, uint64_t n)
{
    enum { BLOCK = 64, BLOCK_OF_CONSTANTS = 256, FP32_BYTES = 4 };
    uint64_t constants = (n + BLOCK - 1) / BLOCK, bytes = (n + 1) / 2;

    if (packing == FR_PACK_NF4)
        return bytes + constants * FP32_BYTES;
    return bytes + constants +
           (constants + BLOCK_OF_CONSTANTS - 1) / BLOCK_OF_CONSTANTS * FP32_BYTES;
}

uint64_t fr_op_stored_bytes(const struct fr_graph *g, const struct fr_op *op)
{
    return op->packing == FR_PACK_NONE
               ? op->param_bytes
               : fr__packed_bytes(op->packing, op->param_bytes / g->param_elem_bytes);
}

/* ---- storages ---- */

uint32_t fr__tensor_storage(const struct fr_graph *g, uint32_t tensor)
{
    return g->tensors[tensor].alias == FR_NONE ? tensor : g->tensors[tensor].alias;
}
