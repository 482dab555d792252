/* lowering/check_problem.c - refuses problems that no strategy can plan. */
#include "config.h"

#include "lowering/check_problem.h"

#include "base/error.h"

#include <string.h>

/* A task has the times that its file gives it, and no others. */
static bool has_time(const struct fr_graph *g, uint32_t op, const char *device)
{
    for (size_t i = fr_graph_first_sample(g, op); i < g->n_samples && g->samples[i].op == op; i++)
        if (strcmp(g->samples[i].device, "*") == 0 || strcmp(g->samples[i].device, device) == 0)
            return true;
    return false;
}

/* What the tasks take on the machines of the problem must be given. */
static enum fr_status check_tasks(const struct fr_problem *in, struct fr_error *err)
{
    const struct fr_topo *t = in->topo;

    for (size_t d = 0; d < in->n_devices; d++) {
        const char *type = t->types[t->devices[in->devices[d]].type].name;

        for (size_t k = 0; k < d; k++)
            if (t->devices[in->devices[k]].type == t->devices[in->devices[d]].type)
                type = NULL; /* looked at before */
        for (uint32_t i = 0; type && i < in->graph->n_ops; i++)
            if (!has_time(in->graph, i, type))
                return fr__fail(err, FR_EUSAGE, in->graph->ops[i].loc,
                                "task '%.60s' has no time on '%.60s': a column 'time' or "
                                "'time:%.60s' expected",
                                in->graph->ops[i].name, type, type);
    }
    return FR_OK;
}

enum fr_status fr__check_problem(const struct fr_problem *in, struct fr_error *err)
{
    if (in->n_devices == 0)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "no device to place the model on");
    if (in->global_batch == 0)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "the global batch is 0, expected at least 1");
    return in->graph->is_tasks ? check_tasks(in, err) : FR_OK;
}
