/* topo/presets/parts.h - cables and hosts that several of the machines we know share.
 *
 * Each number of a cable names its source; what has none says "our assumption".
 */
#ifndef FR_TOPO_PRESETS_PARTS_H
#define FR_TOPO_PRESETS_PARTS_H

#include "topo/internal.h"
#include "topo/presets/presets.h"

/* One cable, full duplex. */
struct fr__wire {
    double bw_Bps;    /* what a large message gets, each direction */
    double latency_s; /* first bit in to first bit out */
    const char *source;
};

extern const struct fr__wire fr__wire_pcie3, fr__wire_pcie4, fr__wire_pcie5; /* 16 lanes each */
extern const struct fr__wire fr__wire_nvlink1, fr__wire_nvlink2; /* one link between two GPUs */
/* All NVLinks of one GPU to the NVSwitches of its board: 6 of a V100, 12 of an A100, 18 since. */
extern const struct fr__wire fr__wire_nvswitch_a100, fr__wire_nvswitch_h100, fr__wire_nvswitch_h200,
    fr__wire_nvswitch_b200;
extern const struct fr__wire fr__wire_nvlink2_nvswitch; /* one of the V100's six */

/* n cables of the kind between two vertices, as one link with their sum. */
void fr__wire_join(struct fr_topo_builder *b, enum fr_link_kind kind, uint32_t one, uint32_t other,
                   const struct fr__wire *wire, unsigned n);

/* The same; messages between two GPUs whose way it is behave like that link of that system (NULL:
 * of none). */
void fr__wire_join_measured(struct fr_topo_builder *b, uint32_t one, uint32_t other,
                            const struct fr__wire *nvlink, unsigned n, const char *system,
                            const char *message);

/* A host of two sockets. The one CPU device stands for the cores and memory of both and is wired to
 * both; traffic between the sockets goes over their own link, never through the CPU, since that way
 * is a link shorter. */
struct fr__host {
    const char *cpu;           /* device type of the two sockets together */
    struct fr__wire memory;    /* one socket's memory */
    struct fr__wire to_socket; /* QPI, UPI, xGMI */
};

/* Two sockets each: Broadwell of a DGX-1, Skylake of a DGX-2, Rome of a DGX A100, Sapphire Rapids
 * of a DGX H100, Emerald Rapids of a DGX B200, Grace of a GB200 tray. */
extern const struct fr__host fr__host_broadwell, fr__host_skylake, fr__host_rome,
    fr__host_sapphire_rapids, fr__host_emerald_rapids, fr__host_grace;

/* Adds "cpu0", "socket0" and "socket1"; sockets: [2], the new vertices. */
void fr__host_build(struct fr_topo_builder *b, uint32_t machine, const struct fr__host *host,
                    uint32_t sockets[2]);

#endif
