/* tests/fuzz/task_graph_target.h - any bytes for an importer of task graphs: refused with a
 * sentence, or a sound graph whose ops are in a topological order. */
#ifndef TESTS_FUZZ_TASK_GRAPH_TARGET_H
#define TESTS_FUZZ_TASK_GRAPH_TARGET_H

#include "workloads/import/import.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline int try_task_graph(const struct fr__importer *importer, const uint8_t *data,
                                 size_t size)
{
    char *text = malloc(size + 1);
    struct fr_graph *g;
    struct fr_error err = {0};

    if (!text)
        return 0;
    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    if (fr__import_text(&g, importer, text, size, "fuzz", NULL, &err) == FR_OK) {
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

#endif
