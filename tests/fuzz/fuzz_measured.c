/* tests/fuzz/fuzz_measured.c - libFuzzer: any bytes are measured steps or an error with a place.
 *
 * See fuzz_csv.c for how it is built and run.
 */
#include "config.h"

#include "study/interval/measured.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct fr__measured_of of = {"resnet50", "resnet50", "v100-sxm2-16gb", FR_FP32, 16};
    struct fr__measured *m = calloc(1, sizeof(*m));
    struct fr_error err;

    if (!m)
        return 0;
    if (fr__measured_read_text(m, (const char *)data, size, "measured.csv", &of, &err) != FR_OK) {
        if (m->n != 0 || m->n_rows != 0 || !err.text[0])
            abort();
    }
    for (size_t i = 0; i < m->n; i++)
        if (!(m->steps[i].time_s > 0) || m->steps[i].batch == 0 || m->steps[i].n_gpus == 0 ||
            m->steps[i].memory_bytes < 0)
            abort();
    free(m);
    return 0;
}
