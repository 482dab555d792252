/* topo/presets/dgx2.c - NVIDIA DGX-2: sixteen V100 on two boards of six NVSwitches.
 *
 * Each GPU has one NVLink 2.0 to each of its board's six NVSwitches, and each NVSwitch eight to its
 * counterpart on the other board. Traffic is spread over all six, so that one NVSwitch vertex a
 * board with the sums of the links is exact at the level of flows: 6 links a GPU, 48 between the
 * boards, which is full bisection.
 *
 * On each socket stand two PCIe switches, each with two lower ones of two GPUs and one NIC: GPU 0
 * and the NICs of a DGX-2 read PIX, PXB, NODE, NODE, SYS ... in `nvidia-smi topo -m`
 * (github.com/NVIDIA/nccl-tests issue 78).
 */
#include "config.h"

#include "topo/presets/parts.h"

static const struct fr__wire trunk = {
    125e9 / 6, 0.1e-6,
    "48 NVLink 2.0 between the boards, 2.4 TB/s both ways (NVIDIA NVSwitch technical overview, "
    "2018), with the share of the raw rate that the GPUs' own links reach; latency: our "
    "assumption"};

static void build(struct fr_topo_builder *b, uint32_t machine)
{
    uint32_t gpu[16], nvswitch[2], socket[2];

    nvswitch[0] = fr__topo_builder_add(b, FR_VERTEX_NVSWITCH, machine, "nvswitch0-", 5, NULL);
    nvswitch[1] = fr__topo_builder_add(b, FR_VERTEX_NVSWITCH, machine, "nvswitch6-", 11, NULL);
    fr__wire_join(b, FR_LINK_NVLINK, nvswitch[0], nvswitch[1], &trunk, 48);
    for (unsigned i = 0; i < 16; i++) {
        gpu[i] = fr__topo_builder_add(b, FR_VERTEX_GPU, machine, "gpu", i, "v100-sxm3-32gb");
        fr__wire_join(b, FR_LINK_NVLINK, gpu[i], nvswitch[i / 8], &fr__wire_nvlink2_nvswitch, 6);
    }

    fr__host_build(b, machine, &fr__host_skylake, socket);
    for (unsigned p = 0; p < 4; p++) {
        uint32_t upper = fr__topo_builder_add(b, FR_VERTEX_PCIE, machine, "plx", p, NULL);

        fr__wire_join(b, FR_LINK_PCIE, upper, socket[p / 2], &fr__wire_pcie3, 1);
        for (unsigned i = 2 * p; i < 2 * p + 2; i++) {
            uint32_t lower = fr__topo_builder_add(b, FR_VERTEX_PCIE, machine, "plx", 4 + i, NULL);
            uint32_t nic = fr__topo_builder_add(b, FR_VERTEX_NIC, machine, "nic", i, NULL);

            fr__wire_join(b, FR_LINK_PCIE, lower, upper, &fr__wire_pcie3, 1);
            fr__wire_join(b, FR_LINK_PCIE, lower, gpu[2 * i], &fr__wire_pcie3, 1);
            fr__wire_join(b, FR_LINK_PCIE, lower, gpu[2 * i + 1], &fr__wire_pcie3, 1);
            fr__wire_join(b, FR_LINK_PCIE, lower, nic, &fr__wire_pcie3, 1);
        }
    }
}

const struct fr__preset fr__preset_dgx2 = {
    .name = "dgx2",
    .summary = "DGX-2: 16x V100 32 GB on two boards of six NVSwitches, 8x InfiniBand EDR",
    .network = "ib:100Gbps",
    .build = build,
};
