/* topo/presets/parts.c - cables and hosts that several machines share. */
#include "config.h"

#include "topo/presets/parts.h"

const struct fr__wire fr__wire_pcie3 = {
    12e9, 0.5e-6,
    "PCIe 3.0 x16, 15.75 GB/s raw; NCCL src/graph/topo.h counts 12; latency: half of the 1 us that "
    "NCCL src/graph/tuning.cc gives a PCIe hop, which is two links"};

const struct fr__wire fr__wire_pcie4 = {
    24e9, 0.5e-6,
    "PCIe 4.0 x16, 31.5 GB/s raw; NCCL src/graph/topo.h counts 24; latency: half of the 1 us that "
    "NCCL src/graph/tuning.cc gives a PCIe hop, which is two links"};

const struct fr__wire fr__wire_pcie5 = {
    48e9, 0.5e-6,
    "PCIe 5.0 x16, 63 GB/s raw; NCCL src/graph/topo.h counts 12 a PCIe 3.0 x16, so 48; latency: "
    "half of the 1 us that NCCL src/graph/tuning.cc gives a PCIe hop, which is two links"};

const struct fr__wire fr__wire_nvlink2 = {
    25e9 * 0.96, 0.7e-6,
    "NVIDIA DGX-1 with V100 system architecture, 2017: 25 GB/s a link and direction; 47.9 GB/s "
    "measured on a double link (Dell EMC HPC manual, table 3); latency: TACCL, NSDI 2023, table 1"};

void fr__wire_join(struct fr_topo_builder *b, enum fr_link_kind kind, uint32_t one, uint32_t other,
                   const struct fr__wire *wire, unsigned n)
{
    fr__topo_builder_cable(b, kind, one, other, n * wire->bw_Bps, wire->latency_s, wire->source);
}

void fr__wire_join_measured(struct fr_topo_builder *b, uint32_t one, uint32_t other,
                            const struct fr__wire *nvlink, unsigned n, const char *system,
                            const char *message)
{
    uint32_t link = fr_topo_builder_link(b, FR_LINK_NVLINK, one, other, n * nvlink->bw_Bps,
                                         nvlink->latency_s, true, nvlink->source, FR_NOWHERE);

    if (link == FR_NONE || !system)
        return;
    fr_topo_builder_message(b, link, system, message, FR_NOWHERE);
    fr_topo_builder_message(b, link + 1, system, message, FR_NOWHERE);
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
