/* sim/network/models.c - the list of network models: one row each. */
#include "config.h"

#include "sim/network/model.h"

#include <string.h>

static const struct fr__network_model *const models[FR_N_NETWORKS] = {
    [FR_NETWORK_ANALYTIC] = &fr__analytic,
    [FR_NETWORK_FLOW] = &fr__flow,
};

const struct fr__network_model *fr__network_model(enum fr_network n)
{
    return (unsigned)n < FR_N_NETWORKS ? models[n] : NULL;
}

const char *fr_network_name(enum fr_network n)
{
    const struct fr__network_model *m = fr__network_model(n);

    return m ? m->name : "unknown";
}

const char *fr_network_assumption(enum fr_network n)
{
    const struct fr__network_model *m = fr__network_model(n);

    return m ? m->assumption : "unknown";
}

enum fr_network fr_network_parse(const char *name)
{
    unsigned i = 0;

    while (i < FR_N_NETWORKS && strcmp(models[i]->name, name) != 0)
        i++;
    return (enum fr_network)i;
}
