/* sim/names.c - words for the enumerations of sim.h. */
#include "config.h"

#include "sim/sim.h"

#include <string.h>

static const char *const networks[FR_N_NETWORKS] = {
    [FR_NETWORK_ANALYTIC] = "analytic",
    [FR_NETWORK_FLOW] = "flow",
};

static const char *const memory_models[FR_N_MEMORY_MODELS] = {
    [FR_MEMORY_LIVENESS] = "liveness",
    [FR_MEMORY_DEVICE] = "device",
};

static const char *name_of(const char *const names[], unsigned n, unsigned i)
{
    return i < n ? names[i] : "?";
}

static unsigned index_of(const char *const names[], unsigned n, const char *name)
{
    unsigned i = 0;

    while (i < n && strcmp(names[i], name) != 0)
        i++;
    return i;
}

const char *fr_memory_model_name(enum fr_memory_model m)
{
    return name_of(memory_models, FR_N_MEMORY_MODELS, m);
}

const char *fr_network_name(enum fr_network n)
{
    return name_of(networks, FR_N_NETWORKS, n);
}

enum fr_network fr_network_parse(const char *name)
{
    return (enum fr_network)index_of(networks, FR_N_NETWORKS, name);
}
