/* tests/fuzz/fuzz_stg.c - any bytes for the importer stg: refused, or a sound graph. */
#include "config.h"

#include "workloads/import/import.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    struct fr_graph *g;
    struct fr_error err = {0};

    if (!text)
        return 0;
    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    if (fr__stg_load_text(&g, text, size, "fuzz", &err) == FR_OK) {
        fr_graph_check(g, NULL, NULL);
        fr_graph_free(g);
    } else if (!err.text[0]) {
        abort();
    }
    free(text);
    return 0;
}
