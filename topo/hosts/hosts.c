/* topo/hosts/hosts.c - finds the host that a topology file tells of, and builds one. */
#include "config.h"

#include "topo/hosts/hosts.h"

#include <string.h>

/* Stands for hosts that are told nothing of. */
static const char usual[] = "skylake";

const struct fr__host *fr__host_find(char vendor, int64_t family, int64_t model, bool *is_exact)
{
    const struct fr__host *found = NULL;

    *is_exact = false;
    for (size_t i = 0; i < fr__n_hosts; i++) {
        const struct fr__host *h = &fr__hosts[i];

        if (vendor ? h->vendor != vendor : strcmp(h->name, usual) != 0)
            continue;
        if (!found || (h->first_model <= model && h->first_model >= found->first_model))
            found = h;
    }
    if (!found)
        return fr__host_find('\0', family, model, is_exact);
    *is_exact = vendor && found->own_model && model == found->own_model &&
                (found->family == 0 || family == found->family);
    return found;
}

void fr__host_build(struct fr_topo_builder *b, uint32_t machine, const struct fr__host *host,
                    uint32_t sockets[2])
{
    uint32_t cpu = fr__topo_builder_add(b, FR_VERTEX_CPU, machine, "cpu", 0, host->cpu);

    for (unsigned s = 0; s < 2; s++) {
        sockets[s] = fr__topo_builder_add(b, FR_VERTEX_PCIE, machine, "socket", s, NULL);
        fr__wire_join(b, FR_LINK_CPU, cpu, sockets[s], &host->memory, 1);
    }
    fr__wire_join(b, FR_LINK_CPU, sockets[0], sockets[1], &host->to_socket, 1);
}
