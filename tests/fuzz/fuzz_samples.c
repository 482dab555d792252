/* tests/fuzz/fuzz_samples.c - any bytes as a file of measured kernels: refused with a place, or
 * rows whose times are positive and finite. */
#include "config.h"

#include "calibrate/fit/read/data.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const gpus[] = {"g", "NVIDIA A100-SXM4-80GB", "Tesla V100-SXM2-16GB"};
    struct fr__data d = {.n_rows = 0};
    struct fr_error err = {0};
    char path[64];
    FILE *f;

    snprintf(path, sizeof(path), "/tmp/fuzz_samples_%ld.csv", (long)getpid());
    f = fopen(path, "wb");
    if (!f)
        return 0;
    fwrite(data, 1, size, f);
    fclose(f);
    if (fr__data_read(&d, path, 0, gpus, 3, &err) != FR_OK && !err.text[0])
        abort();
    for (size_t i = 0; i < d.n_rows; i++)
        if (!(d.rows[i].time_s > 0) || !isfinite(d.rows[i].time_s))
            abort();
    unlink(path);
    fr__data_fini(&d);
    return 0;
}
