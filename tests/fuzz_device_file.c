/* tests/fuzz_device_file.c - any bytes as a device file: refused, or curves whose times are numbers. */
#include "config.h"

#include "calibrate/device_file.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* every member of the union starts with four numbers or fewer, which the others share */
    static const struct fr_shape shapes[] = {
        {.matmul = {1, 1, 1, 1}}, {.matmul = {0, 0, 0, 0}}, {.matmul = {8, 1e9, 3, 1e9}}};
    struct fr_calibration *c;
    struct fr_error err;

    if (fr__device_file_read(&c, (const char *)data, size, "fuzz", &err) == FR_OK) {
        for (size_t i = 0; fr_calibration_curve(c, i); i++)
            for (size_t k = 0; k < sizeof(shapes) / sizeof(shapes[0]); k++)
                if (!(fr_calibration_time_s(c, i, &shapes[k]) >= 0))
                    abort();
        fr_calibration_free(c);
    } else if (!err.text[0]) {
        abort();
    }
    return 0;
}
