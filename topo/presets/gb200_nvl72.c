/* topo/presets/gb200_nvl72.c - NVIDIA GB200 NVL72: a rack of eighteen trays in one NVLink domain.
 *
 * A tray is a machine of its own (it runs its own operating system): two Grace CPUs, four GPUs and
 * four NICs. Each Grace has two GPUs on NVLink-C2C and two NICs on PCIe; a GPU reaches a NIC
 * through its Grace, as GB200's GPUs have no PCIe to it (`nvidia-smi topo -m` reads SYS to every
 * NIC). The one CPU device of a tray stands for both Graces.
 *
 * Each GPU has one NVLink 5.0 to each of the 18 switch chips in nine trays, and spreads its traffic
 * over all, so one NVSwitch vertex with the sum is exact at the level of flows. It belongs to the
 * rack: to no machine.
 */
#include "config.h"

#include "topo/presets/parts.h"

#include <stdio.h>

enum { N_TRAYS = 18 };

static const struct fr__wire nvlinks = {
    18 * 40.1e9, 0.35e-6,
    "NVIDIA GB200 NVL72 datasheet, 2024: 1.8 TB/s both ways over 18 links; NCCL src/graph/topo.h, "
    "SM100_NVLINK_BW, counts 40.1 GB/s a link and direction; latency: as on the A100, our "
    "assumption"};

static const struct fr__wire c2c = {
    225e9, 0.5e-6,
    "NVIDIA GB200 NVL72 datasheet, 2024: 900 GB/s both ways over NVLink-C2C, that is 225 GB/s for "
    "each of two GPUs and direction; taken whole, latency: our assumptions"};

static void build_tray(struct fr_topo_builder *b, uint32_t machine, uint32_t nvswitch)
{
    uint32_t gpu[4], socket[2];

    for (unsigned i = 0; i < 4; i++) {
        gpu[i] = fr__topo_builder_add(b, FR_VERTEX_GPU, machine, "gpu", i, "gb200-186gb");
        fr__wire_join(b, FR_LINK_NVLINK, gpu[i], nvswitch, &nvlinks, 1);
    }
    fr_topo_builder_system(b, machine, "gb200-nvswitch", FR_NOWHERE);
    fr__host_build(b, machine, &fr__host_grace, socket);
    for (unsigned i = 0; i < 4; i++) {
        uint32_t nic = fr__topo_builder_add(b, FR_VERTEX_NIC, machine, "nic", i, NULL);

        fr__wire_join(b, FR_LINK_NVLINK, socket[i / 2], gpu[i], &c2c, 1);
        fr__wire_join(b, FR_LINK_PCIE, socket[i / 2], nic, &fr__wire_pcie5, 1);
    }
}

static void build(struct fr_topo_builder *b, uint32_t machine)
{
    char name[FR__MAX_VERTEX_NAME + 1];
    uint32_t nvswitch;

    /* called by its first tray, which no other rack has */
    snprintf(name, sizeof(name), "rack%u.nvswitch0-17", (unsigned)machine);
    nvswitch = fr_topo_builder_vertex(b, FR_VERTEX_NVSWITCH, name, FR_NONE, FR_NONE, FR_NOWHERE);
    for (uint32_t i = 0; i < N_TRAYS; i++)
        build_tray(b, machine + i, nvswitch);
}

const struct fr__preset fr__preset_gb200_nvl72 = {
    .name = "gb200-nvl72",
    .summary = "GB200 NVL72: 72 GPUs in 18 trays on one NVLink fabric, 72x InfiniBand NDR",
    .network = "ib:400Gbps",
    .n_machines = N_TRAYS,
    .build = build,
};
