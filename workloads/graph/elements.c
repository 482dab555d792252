/* workloads/graph/elements.c - bytes of an element, for the zoo, the passes and native folders. */
#include "config.h"

#include "workloads/graph/elements.h"

unsigned fr__elem_bytes(enum fr_dtype dtype)
{
    return dtype == FR_FP32 || dtype == FR_TF32 ? 4 : 2;
}
