/* topo/preset_dgx_a100_80g.c - NVIDIA DGX A100 640GB: eight A100 80 GB behind NVSwitch.
 *
 * Each GPU has twelve NVLink 3.0, two to each of six NVSwitches, and spreads its traffic over all
 * six. Every pair is then bounded by the GPU's own 12 links and by nothing else, so one NVSwitch
 * vertex with the sum of the links is exact at the level of flows. Four PCIe switches carry two
 * GPUs and two NICs each; a route to GPU d uses NIC d mod 2 of a switch, by the tie rule.
 */
#include "config.h"

#include "topo/internal.h"

static const double NVLINK_Bps = 300e9 * 0.91, NVLINK_s = 0.35e-6;
static const char NVLINK_SOURCE[] =
    "NVIDIA A100 datasheet, 2021: 600 GB/s both ways; 270 to 276 GB/s one way measured "
    "(p2pBandwidthLatencyTest on HGX A100); latency: half of the 0.7 us that TACCL, NSDI 2023, "
    "table 1 gives a transfer through NVSwitch";

static const double PCIE_Bps = 24e9, PCIE_s = 0.5e-6;
static const char PCIE_SOURCE[] =
    "PCIe 4.0 x16, 31.5 GB/s raw; NCCL src/graph/topo.h counts 24; latency: half of the 1 us that "
    "NCCL src/graph/tuning.cc gives a PCIe hop, which is two links";

static const double XGMI_Bps = 16e9, XGMI_s = 0.1e-6;
static const char XGMI_SOURCE[] =
    "NCCL src/graph/topo.h, AMD_BW: GPU traffic between EPYC sockets; latency: our assumption";

static const double MEMORY_Bps = 204.8e9, MEMORY_s = 0.1e-6;
static const char MEMORY_SOURCE[] =
    "eight DDR4-3200 channels a socket (AMD EPYC 7742 data sheet); latency: our assumption";

static void build(struct fr_topo_builder *b, uint32_t machine)
{
    uint32_t gpu[8], socket[2];
    uint32_t nvswitch, cpu;

    nvswitch = fr__topo_builder_add(b, FR_VERTEX_NVSWITCH, machine, "nvswitch", 0, NULL);
    for (unsigned i = 0; i < 8; i++) {
        gpu[i] = fr__topo_builder_add(b, FR_VERTEX_GPU, machine, "gpu", i, "a100-sxm4-80gb");
        fr__topo_builder_cable(b, FR_LINK_NVLINK, gpu[i], nvswitch, NVLINK_Bps, NVLINK_s,
                               NVLINK_SOURCE);
    }

    cpu = fr__topo_builder_add(b, FR_VERTEX_CPU, machine, "cpu", 0, "2x-epyc-7742");
    for (unsigned s = 0; s < 2; s++) {
        socket[s] = fr__topo_builder_add(b, FR_VERTEX_PCIE, machine, "socket", s, NULL);
        fr__topo_builder_cable(b, FR_LINK_CPU, cpu, socket[s], MEMORY_Bps, MEMORY_s, MEMORY_SOURCE);
    }
    fr__topo_builder_cable(b, FR_LINK_CPU, socket[0], socket[1], XGMI_Bps, XGMI_s, XGMI_SOURCE);

    for (unsigned p = 0; p < 4; p++) {
        uint32_t plx = fr__topo_builder_add(b, FR_VERTEX_PCIE, machine, "plx", p, NULL);

        fr__topo_builder_cable(b, FR_LINK_PCIE, plx, socket[p / 2], PCIE_Bps, PCIE_s, PCIE_SOURCE);
        for (unsigned i = 2 * p; i < 2 * p + 2; i++) {
            uint32_t nic = fr__topo_builder_add(b, FR_VERTEX_NIC, machine, "nic", i, NULL);

            fr__topo_builder_cable(b, FR_LINK_PCIE, plx, gpu[i], PCIE_Bps, PCIE_s, PCIE_SOURCE);
            fr__topo_builder_cable(b, FR_LINK_PCIE, plx, nic, PCIE_Bps, PCIE_s, PCIE_SOURCE);
        }
    }
}

const struct fr__preset fr__preset_dgx_a100_80g = {
    .name = "dgx-a100-80g",
    .summary = "DGX A100 640GB: 8x A100 80 GB on NVSwitch, 8x InfiniBand HDR",
    .network = "ib:200Gbps",
    .build = build,
};
