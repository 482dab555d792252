/* calibrate/cost/devices.c - the devices whose measured kernels price a device type. */
#include "config.h"

#include "calibrate/calibrate.h"

#include <string.h>

size_t fr_cost_devices_of(const struct fr_cost_model *m, uint32_t type,
                          const char *from[FR_N_CURVE_CLASSES * FR_N_DTYPES])
{
    struct fr_cost_source source;
    size_t n = 0;

    for (unsigned i = 0; i < FR_N_CURVE_CLASSES * FR_N_DTYPES; i++) {
        size_t k = 0;

        if (!fr_cost_source_of(m, type, (enum fr_curve_class)(i / FR_N_DTYPES),
                               (enum fr_dtype)(i % FR_N_DTYPES), &source))
            continue;
        while (k < n && strcmp(from[k], source.from) != 0)
            k++;
        if (k == n)
            from[n++] = source.from;
    }
    return n;
}
