/* study/question/loading.c - checks the names in a question, and makes the cost model that it asks
 * for. */
#include "config.h"

#include "study/question/loading.h"

#include "base/error.h"
#include "base/units.h"
#include "calibrate/cost/plausible.h"
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

/* The device types that times may be of: the topology's, then the known ones. How many. */
static size_t list_types(const struct fr_topo *topo, const char *names[], size_t most)
{
    size_t n = 0;

    for (size_t i = 0; i < topo->n_types && n < most; i++)
        names[n++] = topo->types[i].name;
    for (size_t i = 0; n < most && fr_device_type_builtin(i); i++)
        names[n++] = fr_device_type_builtin(i)->name;
    return n;
}

static bool is_known_type(const struct fr_topo *topo, const char *device)
{
    if (strcmp(device, "*") == 0 || fr_device_type_find(device))
        return true;
    for (size_t t = 0; t < topo->n_types; t++)
        if (strcmp(topo->types[t].name, device) == 0)
            return true;
    return false;
}

/* Whether ops could be priced without their times; of a task graph, which has nothing else, the
 * planner says which task has no time. */
static bool has_work(const struct fr_graph *g)
{
    for (size_t i = 0; i < g->n_ops; i++)
        if (g->ops[i].flops > 0)
            return true;
    return false;
}

/* Whether a device is a CPU that the topology does not have, as calibrate/measure/torch_profile.py
 * names them. Its times say nothing of a GPU, whose curves price the ops instead. */
static bool is_other_cpu(const struct fr_topo *topo, const char *device)
{
    return strncmp(device, "cpu-", 4) == 0 && !is_known_type(topo, device);
}

const char *fr__dropped_cpu(const struct fr_topo *topo, const struct fr_graph *g)
{
    for (size_t i = 0; g && i < g->n_samples; i++)
        if (is_other_cpu(topo, g->samples[i].device))
            return g->samples[i].device;
    return NULL;
}

/* Times of a device type that is almost another one, or of unknown ones alone: they would be
 * ignored without a word. */
static enum fr_status check_samples(const struct fr_topo *topo, const struct fr_graph *g,
                                    struct fr_error *err)
{
    enum { MOST = 64, SHORTEST = 4 };
    const char *names[MOST], *last = "*", *unknown = NULL;
    size_t n = list_types(topo, names, MOST), n_used = 0;
    bool is_misspelt = false;
    char hint[128];

    for (size_t i = 0; g && i < g->n_samples; i++) {
        const char *device = g->samples[i].device;

        if (i > 0 && strcmp(device, last) == 0)
            continue;
        last = device;
        if (is_other_cpu(topo, device))
            continue;
        if (is_known_type(topo, device)) {
            n_used++;
            continue;
        }
        unknown = unknown ? unknown : device;
        if (strlen(device) >= SHORTEST && fr__nearest(device, names, n)) {
            unknown = device;
            is_misspelt = true;
            n_used = 0;
            break;
        }
    }
    if (!unknown || n_used > 0 || (!is_misspelt && !has_work(g)))
        return FR_OK;
    return fr__fail(err, FR_ENOENT, FR_NOWHERE,
                    "workload '%.60s' has times of '%.60s', no device type that is known%s",
                    g->name, unknown, fr__did_you_mean(unknown, names, n, hint, sizeof(hint)));
}

/* How far apart the times of one op on one device at one batch may be. A first run that loads code
 * or tries algorithms takes up to some hundred times as long as the next ones; a time in another
 * unit is off by a thousand or more. */
static const double MOST_APART = 999;

/* Nobody waits longer for one op: 11 days. */
static const double LONGEST_s = 1e6;

static enum fr_status check_times(const struct fr_graph *g, struct fr_error *err)
{
    double least_s = 0;
    char low[32], high[32];

    for (size_t i = 0; g && i < g->n_samples; i++) {
        const struct fr_sample *k = &g->samples[i], *before = i > 0 ? k - 1 : NULL;
        const char *op = g->ops[k->op].name;

        if (k->time_s > LONGEST_s)
            return fr__fail(err, FR_ERANGE, FR_NOWHERE,
                            "workload '%.60s': a time of %s for op '%.40s' is implausible (at most "
                            "11 days); --allow-implausible goes on",
                            g->name, fr__format_time(k->time_s, high, sizeof(high)), op);
        if (!before || before->op != k->op || before->batch != k->batch ||
            strcmp(before->device, k->device) != 0) {
            least_s = k->time_s;
            continue;
        }
        /* times of one batch come in any order */
        if (least_s > 0 && (k->time_s > MOST_APART * least_s || least_s > MOST_APART * k->time_s))
            return fr__fail(err, FR_ERANGE, FR_NOWHERE,
                            "workload '%.60s': the times of op '%.40s' at batch %u contradict each "
                            "other: %s and %s; --allow-implausible goes on",
                            g->name, op, (unsigned)k->batch,
                            fr__format_time(least_s, low, sizeof(low)),
                            fr__format_time(k->time_s, high, sizeof(high)));
        least_s = k->time_s < least_s ? k->time_s : least_s;
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
    enum fr_status st;

    if (!q->allow_implausible)
        FR_TRY(fr__topo_plausible(topo, err));
    if (!q->allow_implausible)
        FR_TRY(check_times(graph, err));
    FR_TRY(check_profile_device(topo, q->profile_device, err));
    FR_TRY(check_samples(topo, graph, err));
    o.datasheet_only = costs && strcmp(costs, "datasheet") == 0;
    if (costs && !o.datasheet_only && strcmp(costs, "calibrated") != 0)
        o.device_file = costs;
    FR_TRY(fr_cost_model_new(out, topo->types, topo->n_types, &o, err));
    if (q->allow_implausible)
        return FR_OK;
    st = fr__costs_plausible(*out, topo, o.device_file, err);
    if (st != FR_OK) {
        fr_cost_model_free(*out);
        *out = NULL;
    }
    return st;
}
