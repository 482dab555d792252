/* tests/fuzz/fuzz_device_file.c - any bytes as a device file: refused, or curves whose times are
 * numbers. */
#include "config.h"

#include "calibrate/files/device_file.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* the classes read them as their own sizes: the members of the union start alike */
    static const struct fr_kernel_shape shapes[] = {
        {.conv = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, false}},
        {.conv = {0}},
        {.conv = {8, 1e9, 3, 1e9, 7, 3, 3, 1, 1, 1, 0, 0, false}},
        {.conv = {8, 64, 56, 56, 1e9, 5, 5, 1, 2, 1, 0, 0, false}},
        {.conv = {8, 64, 56, 56, 64, 3, 3, 2, 1e9, 1e9, 0, 0, true}},
    };
    struct fr_calibration *c;
    struct fr_error err;

    if (fr__device_file_read(&c, (const char *)data, size, "fuzz", &err) == FR_OK) {
        for (size_t i = 0; fr_calibration_curve(c, i); i++)
            for (size_t k = 0; k < sizeof(shapes) / sizeof(shapes[0]); k++) {
                struct fr_kernel_shape s = shapes[k];

                s.op_class = fr_calibration_curve(c, i)->op_class;
                if (!(fr_calibration_time_s(c, i, &s) >= 0))
                    abort();
            }
        fr_calibration_free(c);
    } else if (!err.text[0]) {
        abort();
    }
    return 0;
}
