/* tests/fuzz/fuzz_nccl_log.c - any bytes as a log of nccl-tests: refused with a sentence, or
 * rows with times above 0 and sources of printable ASCII. */
#include "config.h"

#include "calibrate/fit/read/nccl_log.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fr__collective_data d = {0};
    struct fr_error err = {.text = ""};

    fr__is_nccl_log((const char *)data, size);
    if (fr__nccl_log_read(&d, (const char *)data, size, "all_reduce", 0, &err) != FR_OK &&
        !err.text[0])
        abort();
    for (size_t i = 0; i < d.n_rows; i++)
        if (!(d.rows[i].time_s > 0) || d.rows[i].call.n_gpus < 2 || d.rows[i].call.bytes < 1)
            abort();
    for (size_t i = 0; i < d.n_sources; i++)
        for (const char *c = d.sources[i]; *c; c++)
            if (*c < ' ' || *c > '~')
                abort();
    fr__collective_data_fini(&d);
    return 0;
}
