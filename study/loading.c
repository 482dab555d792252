/* study/loading.c - checks the names in a question, and makes the cost model that it asks for. */
#include "config.h"

#include "study/loading.h"

#include "base/error.h"
#include "topo/plausible.h"

#include <string.h>

enum fr_status fr__question_check(const struct fr_question *q, struct fr_error *err)
{
    if (!q->workload)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "no workload given (-w, --workload)");
    if (!q->topology)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "no topology given (-t, --topology)");
    return FR_OK;
}

/* A type of the topology or of the built-in list. */
static enum fr_status check_profile_device(const struct fr_topo *topo, const char *name,
                                           struct fr_error *err)
{
    enum { MOST = 64 };
    const char *names[MOST];
    char hint[128];
    size_t n = 0;

    if (!name || fr_device_type_find(name))
        return FR_OK;
    for (size_t i = 0; i < topo->n_types; i++)
        if (strcmp(topo->types[i].name, name) == 0)
            return FR_OK;
    while (n < MOST && fr_device_type_builtin(n)) {
        names[n] = fr_device_type_builtin(n)->name;
        n++;
    }
    return fr__fail(err, FR_ENOENT, FR_NOWHERE,
                    "option '--profile-device' is \"%.60s\", no device type that is known%s", name,
                    fr__did_you_mean(name, names, n, hint, sizeof(hint)));
}

/* Times of a device type that is almost another one: they would be ignored without a word. */
static enum fr_status check_samples(const struct fr_topo *topo, const struct fr_graph *g,
                                    struct fr_error *err)
{
    enum { MOST = 64, SHORTEST = 4 };
    const char *names[MOST], *last = "*";
    char hint[128];
    size_t n = 0;

    for (size_t i = 0; i < topo->n_types && n < MOST; i++)
        names[n++] = topo->types[i].name;
    for (size_t i = 0; n < MOST && fr_device_type_builtin(i); i++)
        names[n++] = fr_device_type_builtin(i)->name;
    for (size_t i = 0; g && i < g->n_samples; i++) {
        const char *device = g->samples[i].device;
        bool is_known = strcmp(device, "*") == 0 || fr_device_type_find(device) != NULL;

        if (strcmp(device, last) == 0)
            continue;
        last = device;
        for (size_t t = 0; t < topo->n_types && !is_known; t++)
            is_known = strcmp(topo->types[t].name, device) == 0;
        if (!is_known && strlen(device) >= SHORTEST && fr__nearest(device, names, n))
            return fr__fail(err, FR_ENOENT, FR_NOWHERE,
                            "workload '%.60s' has times of '%.60s', no device type that is "
                            "known%s",
                            g->name, device,
                            fr__did_you_mean(device, names, n, hint, sizeof(hint)));
    }
    return FR_OK;
}

enum fr_status fr__costs_load(struct fr_cost_model **out, const struct fr_topo *topo,
                              const struct fr_graph *graph, const struct fr_question *q,
                              struct fr_error *err)
{
    const char *costs = q->costs;
    struct fr_cost_options o = {.systems = topo->systems,
                                .n_systems = topo->n_systems,
                                .messages = topo->messages,
                                .n_messages = topo->n_messages,
                                .graph = graph};

    if (!q->allow_implausible)
        FR_TRY(fr__topo_plausible(topo, err));
    FR_TRY(check_profile_device(topo, q->profile_device, err));
    FR_TRY(check_samples(topo, graph, err));
    o.datasheet_only = costs && strcmp(costs, "datasheet") == 0;
    if (costs && !o.datasheet_only && strcmp(costs, "calibrated") != 0)
        o.device_file = costs;
    return fr_cost_model_new(out, topo->types, topo->n_types, &o, err);
}
