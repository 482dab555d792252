/* topo/hosts/hosts.h - the hosts of the machines and importers that we know.
 *
 * They are rows of topo/hosts/hosts.yaml, each with its source; the build makes a constant table.
 */
#ifndef FR_TOPO_HOSTS_HOSTS_H
#define FR_TOPO_HOSTS_HOSTS_H

#include "topo/cables/cables.h"

/* A host, of two sockets where nothing else is said. The one CPU device stands for the cores and
 * memory of all and is wired to all; traffic between the sockets goes over their own link, never
 * through the CPU, since that way is a link shorter. */
struct fr__host {
    const char *name;
    const char *cpu;           /* device type of the sockets together */
    struct fr__wire memory;    /* one socket's memory */
    struct fr__wire to_socket; /* QPI, UPI, xGMI */
    /* What importers know it by; vendor '\0': they do not. */
    char vendor;         /* 'i' Intel, 'a' AMD, 'r' Arm */
    int64_t family;      /* 0: any */
    int64_t first_model; /* of its generation */
    int64_t own_model;   /* of this very processor; 0: any is another */
};

extern const struct fr__host fr__hosts[];
extern const size_t fr__n_hosts;

/* Adds "cpu0", "socket0" and "socket1"; sockets: [2], the new vertices. */
void fr__host_build(struct fr_topo_builder *b, uint32_t machine, const struct fr__host *host,
                    uint32_t sockets[2]);

/* The host that fits: vendor 'i' Intel, 'a' AMD, 'r' Arm, 0 unsaid. *is_exact: it is that model. */
const struct fr__host *fr__host_find(char vendor, int64_t family, int64_t model, bool *is_exact);

#endif
