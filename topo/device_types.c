/* topo/device_types.c - finds a built-in device type.
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
