/* tests/fuzz/fuzz_placement.c - any bytes as a placement: refused, or rows that can be found. */
#include "config.h"

#include "strategies/placement/file.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    struct fr__placement *p = NULL;
    struct fr_error err = {0};

    if (!text)
        return 0;
    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    if (fr__placement_load_text(&p, text, size, "fuzz.csv", &err) == FR_OK) {
        const struct fr__placement_row *row;

        for (size_t i = 0; i < 64 && (row = fr__placement_row(p, i)) != NULL; i++)
            if (!row->is_pattern && fr__placement_find(p, row->op) != row)
                abort();
        fr__placement_find(p, "conv1_1.dgrad");
    } else if (!err.text[0]) {
        abort();
    }
    fr__placement_free(p);
    free(text);
    return 0;
}
