/* topo/presets/hgx.c - eight A100, H100, H200 or B200 behind NVSwitch: DGX A100, HGX and DGX since.
 *
 * A GPU's NVLinks are spread over all NVSwitches of the board:
 *   A100   12 NVLink 3.0, two to each of six
 *   H100   18 NVLink 4.0, four or five to each of four (H200 too)
 *   B200   18 NVLink 5.0, nine to each of two
 * Every pair is then bounded by the GPU's own links and by nothing else, so one NVSwitch vertex
 * with the sum of the links is exact at the level of flows.
 *
 * PCIe: four switches of two GPUs and two NICs, or eight of one and one; a route to GPU d uses NIC
 * d mod 2 of a switch that has two, by the tie rule.
 */
#include "config.h"

#include "topo/presets/parts.h"

struct hgx {
    const char *gpu;
    const char *collectives; /* system of calibrate/systems, as fitted to this board */
    const char *messages[2]; /* between its GPUs: of a system, a link; NULL: not measured */
    unsigned last_nvswitch;  /* the vertex is called "nvswitch0-<last>" */
    struct fr__wire nvlinks; /* all of one GPU */
    const struct fr__wire *pcie;
    unsigned n_pcie_switches; /* 4 or 8 */
    struct fr__host host;
};

static const char NVLINK3_SOURCE[] =
    "NVIDIA A100 datasheet, 2021: 600 GB/s both ways; 270 to 276 GB/s one way measured "
    "(p2pBandwidthLatencyTest on HGX A100); latency: half of the 0.7 us that TACCL, NSDI 2023, "
    "table 1 gives a transfer through NVSwitch";
static const char NVLINK4_SOURCE[] =
    "NVIDIA H100 datasheet, 2023: 900 GB/s both ways; 371 to 377 GB/s one way measured "
    "(p2pBandwidthLatencyTest on HGX H100, github.com/NVIDIA/nccl issue 1264); latency: as on the "
    "A100, our assumption";
static const char NVLINK4_H200_SOURCE[] =
    "NVIDIA H200 datasheet, 2024: 900 GB/s both ways; 396 GB/s one way measured (nvbandwidth on "
    "eight H200, github.com/stas00/ml-engineering, network); latency: as on the A100, our "
    "assumption";
static const char NVLINK5_SOURCE[] =
    "NVIDIA HGX B200 datasheet, 2024: 1.8 TB/s both ways over 18 links; NCCL src/graph/topo.h, "
    "SM100_NVLINK_BW, counts 40.1 GB/s a link and direction; latency: as on the A100, our "
    "assumption";

#define ROME                                                                                       \
    {                                                                                              \
        .cpu = "2x-epyc-7742",                                                                     \
        .memory = {204.8e9, 0.1e-6,                                                                \
                   "eight DDR4-3200 channels a socket (AMD EPYC 7742 data sheet); latency: our "   \
                   "assumption"},                                                                  \
        .to_socket = {16e9, 0.1e-6,                                                                \
                      "NCCL src/graph/topo.h, AMD_BW: GPU traffic between EPYC sockets; latency: " \
                      "our assumption"},                                                           \
    }
#define SAPPHIRE_RAPIDS                                                                            \
    {                                                                                              \
        .cpu = "2x-xeon-8480c",                                                                    \
        .memory = {307.2e9, 0.1e-6,                                                                \
                   "eight DDR5-4800 channels a socket (Intel ARK, Xeon Platinum 8480+); latency: " \
                   "our assumption"},                                                              \
        .to_socket = {22e9, 0.1e-6,                                                                \
                      "NCCL src/graph/topo.h, SRP_QPI_BW: GPU traffic between Sapphire Rapids "    \
                      "sockets; latency: our assumption"},                                         \
    }

static const struct hgx dgx_a100_40g = {
    .gpu = "a100-sxm4-40gb",
    .collectives = "a100-nvswitch",
    .last_nvswitch = 5,
    .nvlinks = {300e9 * 0.91, 0.35e-6, NVLINK3_SOURCE},
    .messages = {"a100-dgx", "NVLink3+NVSwitch"},
    .pcie = &fr__wire_pcie4,
    .n_pcie_switches = 4,
    .host = ROME,
};

static const struct hgx dgx_a100_80g = {
    .gpu = "a100-sxm4-80gb",
    .collectives = "a100-nvswitch",
    .last_nvswitch = 5,
    .nvlinks = {300e9 * 0.91, 0.35e-6, NVLINK3_SOURCE},
    .messages = {"a100-dgx", "NVLink3+NVSwitch"},
    .pcie = &fr__wire_pcie4,
    .n_pcie_switches = 4,
    .host = ROME,
};

/* Host and NICs of the DGX H100: `nvidia-smi topo -m` reads PIX between GPU i and NIC i alone. */
static const struct hgx hgx_h100 = {
    .gpu = "h100-sxm5-80gb",
    .collectives = "h100-nvswitch",
    .last_nvswitch = 3,
    .nvlinks = {375e9, 0.35e-6, NVLINK4_SOURCE},
    .pcie = &fr__wire_pcie5,
    .n_pcie_switches = 8,
    .host = SAPPHIRE_RAPIDS,
};

static const struct hgx hgx_h200 = {
    .gpu = "h200-sxm-141gb",
    .collectives = "h100-nvswitch", /* the same board and links: our assumption */
    .last_nvswitch = 3,
    .nvlinks = {396e9, 0.35e-6, NVLINK4_H200_SOURCE},
    .pcie = &fr__wire_pcie5,
    .n_pcie_switches = 8,
    .host = SAPPHIRE_RAPIDS,
};

/* Host of the DGX B200; two GPUs and two NICs a PCIe switch: `nvidia-smi topo -m` of an HGX B200
 * reads PIX between GPUs 0, 1 and NICs 0, 1. */
static const struct hgx hgx_b200 = {
    .gpu = "b200-sxm-180gb",
    .collectives = "b200-nvswitch",
    .last_nvswitch = 1,
    .nvlinks = {18 * 40.1e9, 0.35e-6, NVLINK5_SOURCE},
    .pcie = &fr__wire_pcie5,
    .n_pcie_switches = 4,
    .host =
        {
            .cpu = "2x-xeon-8570",
            .memory = {358.4e9, 0.1e-6,
                       "eight DDR5-5600 channels a socket (Intel ARK, Xeon Platinum 8570); "
                       "latency: our assumption"},
            .to_socket = {40e9, 0.1e-6,
                          "NCCL src/graph/topo.h, ERP_QPI_BW: GPU traffic between Emerald Rapids "
                          "sockets; latency: our assumption"},
        },
};

static void build(struct fr_topo_builder *b, uint32_t machine, const struct hgx *m)
{
    unsigned n_each = 8 / m->n_pcie_switches;
    uint32_t gpu[8], socket[2], nvswitch;

    fr_topo_builder_system(b, machine, m->collectives, FR_NOWHERE);
    nvswitch =
        fr__topo_builder_add(b, FR_VERTEX_NVSWITCH, machine, "nvswitch0-", m->last_nvswitch, NULL);
    for (unsigned i = 0; i < 8; i++) {
        gpu[i] = fr__topo_builder_add(b, FR_VERTEX_GPU, machine, "gpu", i, m->gpu);
        fr__wire_join_measured(b, gpu[i], nvswitch, &m->nvlinks, 1, m->messages[0], m->messages[1]);
    }

    fr__host_build(b, machine, &m->host, socket);
    for (unsigned p = 0; p < m->n_pcie_switches; p++) {
        uint32_t plx = fr__topo_builder_add(b, FR_VERTEX_PCIE, machine, "plx", p, NULL);

        fr__wire_join(b, FR_LINK_PCIE, plx, socket[2 * p / m->n_pcie_switches], m->pcie, 1);
        for (unsigned i = n_each * p; i < n_each * (p + 1); i++) {
            uint32_t nic = fr__topo_builder_add(b, FR_VERTEX_NIC, machine, "nic", i, NULL);

            fr__wire_join(b, FR_LINK_PCIE, plx, gpu[i], m->pcie, 1);
            fr__wire_join(b, FR_LINK_PCIE, plx, nic, m->pcie, 1);
        }
    }
}

#define PRESET(id, text, what, speed, system)                                                      \
    static void build_##id(struct fr_topo_builder *b, uint32_t machine)                            \
    {                                                                                              \
        build(b, machine, &id);                                                                    \
    }                                                                                              \
    const struct fr__preset fr__preset_##id = {.name = text,                                       \
                                               .summary = what,                                    \
                                               .network = speed,                                   \
                                               .network_system = system,                           \
                                               .build = build_##id}

PRESET(dgx_a100_40g, "dgx-a100-40g", "DGX A100 320GB: 8x A100 40 GB on NVSwitch, 8x InfiniBand HDR",
       "ib:200Gbps", NULL);
PRESET(dgx_a100_80g, "dgx-a100-80g", "DGX A100 640GB: 8x A100 80 GB on NVSwitch, 8x InfiniBand HDR",
       "ib:200Gbps", NULL);
PRESET(hgx_h100, "hgx-h100", "HGX or DGX H100: 8x H100 80 GB on NVSwitch, 8x InfiniBand NDR",
       "ib:400Gbps", NULL);
PRESET(hgx_h200, "hgx-h200", "HGX or DGX H200: 8x H200 141 GB on NVSwitch, 8x InfiniBand NDR",
       "ib:400Gbps", NULL);
PRESET(hgx_b200, "hgx-b200", "HGX or DGX B200: 8x B200 180 GB on NVSwitch, 8x InfiniBand NDR",
       "ib:400Gbps", "b200-infiniband");
