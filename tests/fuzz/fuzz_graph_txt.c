/* tests/fuzz/fuzz_graph_txt.c - any bytes as a PipeDream profile: refused, or a graph that is
 * sound, and stages that hold every layer once. */
#include "config.h"

#include "strategies/pipedream/pipedream.h"
#include "workloads/import/import.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void plan(const struct fr_profile *p)
{
    const struct fr__pd_options o = {
        .n_levels = 2, .levels = {{2, 1e9}, {2, 1e8}}, .compression = 1, .max_states = 64};
    struct fr_stage_plan *s;
    struct fr_error err;

    if (fr__pd_plan(p, &o, NULL, &s, &err) != FR_OK)
        return;
    for (uint32_t i = 0; i < s->n_stages; i++)
        for (size_t k = 0; k < s->stages[i].n_layers; k++)
            if (s->stage_of[s->stages[i].layers[k]] != i)
                abort();
    fr_stage_plan_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    struct fr_graph_totals totals;
    struct fr_profile *p;
    struct fr_graph *g;
    struct fr_error err;

    if (!text)
        return 0;
    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    if (fr__import_text(&g, &fr__importer_pipedream, text, size, "fuzz", NULL, &err) == FR_OK) {
        for (size_t e = 0; e < g->n_edges; e++)
            if (g->edges[e].src >= g->edges[e].dst)
                abort();
        fr_graph_totals(g, &totals);
        fr_graph_check(g, NULL, NULL);
        fr_graph_free(g);
    } else if (!err.text[0]) {
        abort();
    }
    if (fr_profile_load_text(&p, text, size, "fuzz", &err) == FR_OK) {
        plan(p);
        fr_profile_free(p);
    }
    free(text);
    return 0;
}
