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
    const char *collectives;        /* system of calibrate/systems, as fitted to this board */
    const char *messages[2];        /* between its GPUs: of a system, a link; NULL: not measured */
    unsigned last_nvswitch;         /* the vertex is called "nvswitch0-<last>" */
    const struct fr__wire *nvlinks; /* all of one GPU */
    const struct fr__wire *pcie;
    unsigned n_pcie_switches; /* 4 or 8 */
    const struct fr__host *host;
};

static const struct hgx dgx_a100_40g = {
    .gpu = "a100-sxm4-40gb",
    .collectives = "a100-nvswitch",
    .last_nvswitch = 5,
    .nvlinks = &fr__wire_nvswitch_a100,
    .messages = {"a100-dgx", "NVLink3+NVSwitch"},
    .pcie = &fr__wire_pcie4,
    .n_pcie_switches = 4,
    .host = &fr__host_rome,
};

static const struct hgx dgx_a100_80g = {
    .gpu = "a100-sxm4-80gb",
    .collectives = "a100-nvswitch",
    .last_nvswitch = 5,
    .nvlinks = &fr__wire_nvswitch_a100,
    .messages = {"a100-dgx", "NVLink3+NVSwitch"},
    .pcie = &fr__wire_pcie4,
    .n_pcie_switches = 4,
    .host = &fr__host_rome,
};

/* Host and NICs of the DGX H100: `nvidia-smi topo -m` reads PIX between GPU i and NIC i alone. */
static const struct hgx hgx_h100 = {
    .gpu = "h100-sxm5-80gb",
    .collectives = "h100-nvswitch",
    .last_nvswitch = 3,
    .nvlinks = &fr__wire_nvswitch_h100,
    .pcie = &fr__wire_pcie5,
    .n_pcie_switches = 8,
    .host = &fr__host_sapphire_rapids,
};

static const struct hgx hgx_h200 = {
    .gpu = "h200-sxm-141gb",
    .collectives = "h100-nvswitch", /* the same board and links: our assumption */
    .last_nvswitch = 3,
    .nvlinks = &fr__wire_nvswitch_h200,
    .pcie = &fr__wire_pcie5,
    .n_pcie_switches = 8,
    .host = &fr__host_sapphire_rapids,
};

/* Host of the DGX B200; two GPUs and two NICs a PCIe switch: `nvidia-smi topo -m` of an HGX B200
 * reads PIX between GPUs 0, 1 and NICs 0, 1. */
static const struct hgx hgx_b200 = {
    .gpu = "b200-sxm-180gb",
    .collectives = "b200-nvswitch",
    .last_nvswitch = 1,
    .nvlinks = &fr__wire_nvswitch_b200,
    .pcie = &fr__wire_pcie5,
    .n_pcie_switches = 4,
    .host = &fr__host_emerald_rapids,
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
        fr__wire_join_measured(b, gpu[i], nvswitch, m->nvlinks, 1, m->messages[0], m->messages[1]);
    }

    fr__host_build(b, machine, m->host, socket);
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
