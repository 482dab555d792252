/* topo/preset_dgx1_v100.c - NVIDIA DGX-1 with eight V100: the hybrid cube mesh.
 *
 * Two sockets, each with two PCIe switches; a switch carries two GPUs and one NIC. The one CPU
 * device stands for both sockets' cores and memory and is wired to both; traffic between the
 * sockets goes over QPI, never through it, since that way is a link shorter.
 */
#include "config.h"

#include "topo/internal.h"

/* NVLinks between GPUs, from `nvidia-smi topo -m` of the machine (NV1, NV2; 0 is PCIe only). */
static const unsigned char nvlinks[8][8] = {
    {0, 1, 1, 2, 2, 0, 0, 0}, {1, 0, 2, 1, 0, 2, 0, 0}, {1, 2, 0, 2, 0, 0, 1, 0},
    {2, 1, 2, 0, 0, 0, 0, 1}, {2, 0, 0, 0, 0, 1, 1, 2}, {0, 2, 0, 0, 1, 0, 2, 1},
    {0, 0, 1, 0, 1, 2, 0, 2}, {0, 0, 0, 1, 2, 1, 2, 0},
};

/* One NVLink 2.0: 25 GB/s a direction, of which a large copy gets 0.96. */
static const double NVLINK_Bps = 25e9 * 0.96, NVLINK_s = 0.7e-6;
static const char NVLINK_SOURCE[] =
    "NVIDIA DGX-1 with V100 system architecture, 2017: 25 GB/s a link and direction; 47.9 GB/s "
    "measured on a double link (Dell EMC HPC manual, table 3); latency: TACCL, NSDI 2023, table 1";

static const double PCIE_Bps = 12e9, PCIE_s = 0.5e-6;
static const char PCIE_SOURCE[] =
    "PCIe 3.0 x16, 15.75 GB/s raw; NCCL src/graph/topo.h counts 12; latency: half of the 1 us that "
    "NCCL src/graph/tuning.cc gives a PCIe hop, which is two links";

static const double QPI_Bps = 6e9, QPI_s = 0.1e-6;
static const char QPI_SOURCE[] =
    "NCCL src/graph/topo.h, QPI_BW: GPU traffic between Broadwell sockets (rings of 5 GPUs on a "
    "DGX-1 measured at 5.6 GB/s by Tartan, IISWC 2018); latency: our assumption";

static const double MEMORY_Bps = 76.8e9, MEMORY_s = 0.1e-6;
static const char MEMORY_SOURCE[] =
    "four DDR4-2400 channels a socket (Intel ARK, E5-2698 v4); latency: our assumption";

static void build(struct fr_topo_builder *b, uint32_t machine)
{
    uint32_t gpu[8], socket[2];
    uint32_t cpu;

    for (unsigned i = 0; i < 8; i++)
        gpu[i] = fr__topo_builder_add(b, FR_VERTEX_GPU, machine, "gpu", i, "v100-sxm2-16gb");
    for (unsigned i = 0; i < 8; i++)
        for (unsigned j = i + 1; j < 8; j++)
            if (nvlinks[i][j])
                fr__topo_builder_cable(b, FR_LINK_NVLINK, gpu[i], gpu[j],
                                       nvlinks[i][j] * NVLINK_Bps, NVLINK_s, NVLINK_SOURCE);

    cpu = fr__topo_builder_add(b, FR_VERTEX_CPU, machine, "cpu", 0, "2x-xeon-e5-2698v4");
    for (unsigned s = 0; s < 2; s++) {
        socket[s] = fr__topo_builder_add(b, FR_VERTEX_PCIE, machine, "socket", s, NULL);
        fr__topo_builder_cable(b, FR_LINK_CPU, cpu, socket[s], MEMORY_Bps, MEMORY_s, MEMORY_SOURCE);
    }
    fr__topo_builder_cable(b, FR_LINK_CPU, socket[0], socket[1], QPI_Bps, QPI_s, QPI_SOURCE);

    for (unsigned p = 0; p < 4; p++) {
        uint32_t plx = fr__topo_builder_add(b, FR_VERTEX_PCIE, machine, "plx", p, NULL);
        uint32_t nic = fr__topo_builder_add(b, FR_VERTEX_NIC, machine, "nic", p, NULL);
        const uint32_t ends[4] = {socket[p / 2], gpu[2 * p], gpu[2 * p + 1], nic};

        for (unsigned e = 0; e < 4; e++)
            fr__topo_builder_cable(b, FR_LINK_PCIE, plx, ends[e], PCIE_Bps, PCIE_s, PCIE_SOURCE);
    }
}

const struct fr__preset fr__preset_dgx1_v100 = {
    .name = "dgx1-v100",
    .summary = "DGX-1: 8x V100 16 GB, NVLink hybrid cube mesh, 4x InfiniBand EDR",
    .network = "ib:100Gbps",
    .build = build,
};
