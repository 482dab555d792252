/* tests/fuzz/fuzz_validate.c - any bytes as a table of measurements: refused with a sentence, or
 * rows that each have a question or a reason why not. */
#include "config.h"

#include "study/validate/rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct fr_validate_options how = {.costs = "calibrated"};
    struct fr__measurements m = {.arena = fr__arena_new(), .how = &how};
    struct fr_error err = {0};
    char path[64];
    FILE *f;

    snprintf(path, sizeof(path), "/tmp/fuzz_validate_%ld.csv", (long)getpid());
    f = fopen(path, "wb");
    if (f && m.arena) {
        fwrite(data, 1, size, f);
        fclose(f);
        if (fr__measurements_read(&m, path, &err) != FR_OK && !err.text[0])
            abort();
        for (size_t i = 0; i < m.n && err.text[0] == '\0'; i++)
            if (!m.list[i].row.why_not && !m.list[i].question.workload)
                abort();
        unlink(path);
    }
    free(m.list);
    fr__arena_free(m.arena);
    return 0;
}
