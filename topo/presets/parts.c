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

#define NVLINK3_SOURCE                                                                             \
    "NVIDIA A100 datasheet, 2021: 600 GB/s both ways; 270 to 276 GB/s one way measured "           \
    "(p2pBandwidthLatencyTest on HGX A100); latency: half of the 0.7 us that TACCL, NSDI 2023, "   \
    "table 1 gives a transfer through NVSwitch"

#define NVLINK4_SOURCE                                                                             \
    "NVIDIA H100 datasheet, 2023: 900 GB/s both ways; 371 to 377 GB/s one way measured "           \
    "(p2pBandwidthLatencyTest on HGX H100, github.com/NVIDIA/nccl issue 1264); latency: as on "    \
    "the "                                                                                         \
    "A100, our assumption"

#define NVLINK4_H200_SOURCE                                                                        \
    "NVIDIA H200 datasheet, 2024: 900 GB/s both ways; 396 GB/s one way measured (nvbandwidth on "  \
    "eight H200, github.com/stas00/ml-engineering, network); latency: as on the A100, our "        \
    "assumption"

#define NVLINK5_SOURCE                                                                             \
    "NVIDIA HGX B200 datasheet, 2024: 1.8 TB/s both ways over 18 links; NCCL src/graph/topo.h, "   \
    "SM100_NVLINK_BW, counts 40.1 GB/s a link and direction; latency: as on the A100, our "        \
    "assumption"

const struct fr__wire fr__wire_nvlink1 = {
    20e9 * 0.92, 0.7e-6,
    "NVIDIA Tesla P100 white paper WP-08019-001, 2016: 20 GB/s a link and direction; 18.4 GB/s "
    "measured on one (Tartan, IISWC 2018, DGX-1); latency: as NVLink 2.0 by TACCL, NSDI 2023, "
    "table "
    "1, our assumption"};

const struct fr__wire fr__wire_nvlink2_nvswitch = {
    125e9 / 6, 0.35e-6,
    "six NVLink 2.0 a GPU, 150 GB/s raw (NVIDIA DGX-2 data sheet, 2018); 8 us for 1 MB, 125 GB/s, "
    "measured through the NVSwitches, and half of the 0.7 us of a transfer: TACCL, NSDI 2023, "
    "table "
    "1"};

const struct fr__wire fr__wire_nvswitch_a100 = {300e9 * 0.91, 0.35e-6, NVLINK3_SOURCE};

const struct fr__wire fr__wire_nvswitch_h100 = {375e9, 0.35e-6, NVLINK4_SOURCE};

const struct fr__wire fr__wire_nvswitch_h200 = {396e9, 0.35e-6, NVLINK4_H200_SOURCE};

const struct fr__wire fr__wire_nvswitch_b200 = {18 * 40.1e9, 0.35e-6, NVLINK5_SOURCE};

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
