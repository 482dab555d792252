/* tests/fuzz/fuzz_tasks.c - any bytes as a task graph in CSV: refused, or a graph that is sound. */
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
    if (fr__tasks_load_text(&g, text, size, "fuzz.csv", &err) == FR_OK) {
        for (size_t e = 0; e < g->n_edges; e++)
            if (g->edges[e].src >= g->edges[e].dst)
                abort();
        fr_graph_check(g, NULL, NULL);
        fr_graph_free(g);
    } else if (!err.text[0]) {
        abort();
    }
    free(text);
    return 0;
}
