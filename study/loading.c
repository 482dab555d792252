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
    o.datasheet_only = costs && strcmp(costs, "datasheet") == 0;
    if (costs && !o.datasheet_only && strcmp(costs, "calibrated") != 0)
        o.device_file = costs;
    return fr_cost_model_new(out, topo->types, topo->n_types, &o, err);
}
