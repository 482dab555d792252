/* topo/devices/device_types.c - finds a built-in device type.
 *
 * The types themselves are data, topo/devices/NAME.yaml, one file each with the source of each
 * number. The build makes a C table of them, so that starting the program parses nothing.
 * doc/topology.md says what the figures mean and how to add a type.
 */
#include "config.h"

#include "topo/internal.h"

#include <string.h>

const struct fr_device_type *fr_device_type_builtin(size_t i)
{
    return i < fr__n_device_types ? &fr__device_types[i] : NULL;
}

const struct fr_device_type *fr_device_type_find(const char *name)
{
    for (size_t i = 0; i < fr__n_device_types; i++)
        if (strcmp(fr__device_types[i].name, name) == 0)
            return &fr__device_types[i];
    return NULL;
}

enum fr_dtype fr_device_type_arithmetic(const struct fr_device_type *type, enum fr_dtype dtype)
{
    if (dtype == FR_AMP)
        dtype = FR_FP16;
    if ((unsigned)dtype >= FR_N_DTYPES || type->flops_per_s[dtype] > 0)
        return (unsigned)dtype < FR_N_DTYPES ? dtype : FR_FP32;
    if (dtype == FR_FP4)
        return fr_device_type_arithmetic(type, FR_FP8);
    if (dtype == FR_FP8 && type->flops_per_s[FR_BF16] > 0)
        return FR_BF16;
    if (dtype == FR_FP8 && type->flops_per_s[FR_FP16] > 0)
        return FR_FP16;
    return FR_FP32;
}

double fr_device_type_peak_flops_per_s(const struct fr_device_type *type, enum fr_dtype dtype)
{
    double rate = type->flops_per_s[fr_device_type_arithmetic(type, dtype)];

    return rate > 0 ? rate : type->vector_flops_per_s;
}
