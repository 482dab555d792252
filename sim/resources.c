/* sim/resources.c - the numbers and names of the resources that a run's time is made of.
 *
 * Links come first: each kind has a bandwidth and a latency. Then each device type has what its ops
 * are bound by. The file knows nothing of a run, so that routes, devices and sensitivities all use
 * it.
 */
#include "config.h"

#include "sim/sim.h"

#include <stdio.h>

static const char *const link_names[FR_N_LINK_KINDS] = {
    [FR_LINK_NVLINK] = "NVLink",
    [FR_LINK_PCIE] = "PCIe",
    [FR_LINK_CPU] = "CPU link",
    [FR_LINK_NET] = "network",
};

static const char *const link_resource_names[FR_N_LINK_RESOURCES] = {
    [FR_LINK_BANDWIDTH] = "bandwidth",
    [FR_LINK_LATENCY] = "latency",
};

static const char *const device_resource_names[FR_N_DEVICE_RESOURCES] = {
    [FR_DEVICE_ARITHMETIC] = "FLOP rate",
    [FR_DEVICE_MEMORY] = "memory bandwidth",
    [FR_DEVICE_LAUNCH] = "launch time",
    [FR_DEVICE_MEASURED] = "speed on measured ops",
};

enum { N_OF_LINKS = FR_N_LINK_KINDS * FR_N_LINK_RESOURCES };

size_t fr_n_resources(const struct fr_topo *t)
{
    return N_OF_LINKS + t->n_types * FR_N_DEVICE_RESOURCES;
}

size_t fr_link_resource(enum fr_link_kind kind, enum fr_link_resource what)
{
    return (size_t)kind * FR_N_LINK_RESOURCES + (size_t)what;
}

size_t fr_device_resource(uint32_t type, enum fr_device_resource what)
{
    return N_OF_LINKS + (size_t)type * FR_N_DEVICE_RESOURCES + (size_t)what;
}

struct fr_resource fr_resource_at(const struct fr_topo *t, size_t i)
{
    struct fr_resource r = {.is_link = i < N_OF_LINKS};
    size_t k = i - N_OF_LINKS;

    (void)t;
    if (r.is_link) {
        r.link = (enum fr_link_kind)(i / FR_N_LINK_RESOURCES);
        r.link_what = (enum fr_link_resource)(i % FR_N_LINK_RESOURCES);
    } else {
        r.type = (uint32_t)(k / FR_N_DEVICE_RESOURCES);
        r.device_what = (enum fr_device_resource)(k % FR_N_DEVICE_RESOURCES);
    }
    return r;
}

const char *fr_resource_name(const struct fr_topo *t, size_t i, char *buf, size_t n)
{
    struct fr_resource r = fr_resource_at(t, i);

    if (r.is_link)
        snprintf(buf, n, "%s %s", link_names[r.link], link_resource_names[r.link_what]);
    else
        snprintf(buf, n, "%s %s", t->types[r.type].name, device_resource_names[r.device_what]);
    return buf;
}

bool fr_resource_is_time(const struct fr_topo *t, size_t i)
{
    struct fr_resource r = fr_resource_at(t, i);

    return r.is_link ? r.link_what == FR_LINK_LATENCY : r.device_what == FR_DEVICE_LAUNCH;
}
