/* topo/import/defaults.c - facts of the GPUs and hosts that topology files name by numbers.
 *
 * PCI numbers: the PCI ID database (pci-ids.ucw.cz). Compute capabilities: NVIDIA's list of CUDA
 * GPUs. NVLinks a GPU: its data sheet, as in the presets. One row a model; of several that fit the
 * first is taken, so the commonest stands first.
 */
#include "config.h"

#include "topo/import/defaults.h"

#include <string.h>

static const struct fr__wire nvlink3 = {
    300e9 * 0.91 / 12, 0.7e-6,
    "NVLink 3, 25 GB/s raw, with the share of it that copies through NVSwitch reach (HGX A100, "
    "p2pBandwidthLatencyTest); latency: TACCL, NSDI 2023, table 1"};
static const struct fr__wire nvlink3_bridge = {
    12e9, 0.7e-6, "NCCL src/graph/topo.h, SM86_NVLINK_BW; latency: as on the V100, our assumption"};
static const struct fr__wire nvlink4 = {
    20.6e9, 0.7e-6,
    "NVLink 4, 25 GB/s raw; NCCL src/graph/topo.h, SM90_NVLINK_BW, counts 20.6; latency: as on the "
    "A100, our assumption"};
static const struct fr__wire nvlink5 = {
    40.1e9, 0.7e-6,
    "NVLink 5, 50 GB/s raw; NCCL src/graph/topo.h, SM100_NVLINK_BW, counts 40.1; latency: as on "
    "the A100, our assumption"};
/* the six of a V100 in a DGX-2, with the sum of fr__wire_nvlink2_nvswitch */
static const struct fr__wire nvswitch_v100 = {
    125e9, 0.35e-6,
    "six NVLink 2.0 a GPU; 8 us for 1 MB, 125 GB/s, measured through the NVSwitches, and half of "
    "the 0.7 us of a transfer: TACCL, NSDI 2023, table 1"};

static const struct fr__gpu_facts gpus[] = {
    {.type = "p100-sxm2-16gb",
     .pcie = &fr__wire_pcie3,
     .host = &fr__host_broadwell,
     .sm = 60,
     .ids = {0x15f9},
     .join = FR__JOIN_PEERS,
     .n_links = 4,
     .link = &fr__wire_nvlink1,
     .messages = {"dgx1-p100", "NVLink1"},
     .network = "ib:100Gbps"},
    {.type = "p100-pcie-16gb",
     .pcie = &fr__wire_pcie3,
     .host = &fr__host_broadwell,
     .sm = 60,
     .ids = {0x15f8},
     .network = "ib:100Gbps"},
    {.type = "p4",
     .pcie = &fr__wire_pcie3,
     .host = &fr__host_broadwell,
     .sm = 61,
     .ids = {0x1bb3},
     .network = "eth:25Gbps"},
    {.type = "k80-die",
     .pcie = &fr__wire_pcie3,
     .host = &fr__host_broadwell,
     .sm = 37,
     .ids = {0x102d},
     .network = "eth:10Gbps"},
    {.type = "v100-sxm2-16gb",
     .pcie = &fr__wire_pcie3,
     .host = &fr__host_broadwell,
     .sm = 70,
     .ids = {0x1db1},
     .join = FR__JOIN_PEERS,
     .n_links = 6,
     .link = &fr__wire_nvlink2,
     .network = "ib:100Gbps"},
    {.type = "v100-sxm2-32gb",
     .pcie = &fr__wire_pcie3,
     .host = &fr__host_broadwell,
     .sm = 70,
     .ids = {0x1db5},
     .join = FR__JOIN_PEERS,
     .n_links = 6,
     .link = &fr__wire_nvlink2,
     .network = "ib:100Gbps"},
    {.type = "v100-sxm3-32gb",
     .pcie = &fr__wire_pcie3,
     .host = &fr__host_skylake,
     .sm = 70,
     .ids = {0x1db8},
     .join = FR__JOIN_SWITCH,
     .n_links = 6,
     .link = &fr__wire_nvlink2,
     .switched = &nvswitch_v100,
     .network = "ib:100Gbps"},
    {.type = "v100-pcie-32gb",
     .pcie = &fr__wire_pcie3,
     .host = &fr__host_broadwell,
     .sm = 70,
     .ids = {0x1db6},
     .network = "ib:100Gbps"},
    {.type = "v100-pcie-16gb",
     .pcie = &fr__wire_pcie3,
     .host = &fr__host_broadwell,
     .sm = 70,
     .ids = {0x1db4},
     .network = "ib:100Gbps"},
    {.type = "t4",
     .pcie = &fr__wire_pcie3,
     .host = &fr__host_skylake,
     .sm = 75,
     .ids = {0x1eb8},
     .network = "eth:25Gbps"},
    {.type = "rtx2080ti",
     .pcie = &fr__wire_pcie3,
     .host = &fr__host_skylake,
     .sm = 75,
     .ids = {0x1e07},
     .n_links = 2,
     .link = &fr__wire_nvlink2,
     .network = "eth:25Gbps"},
    {.type = "a100-sxm4-80gb",
     .pcie = &fr__wire_pcie4,
     .host = &fr__host_rome,
     .sm = 80,
     .ids = {0x20b2, 0x20bd},
     .join = FR__JOIN_SWITCH,
     .n_links = 12,
     .link = &nvlink3,
     .switched = &fr__wire_nvswitch_a100,
     .n_board = 8,
     .collectives = "a100-nvswitch",
     .messages = {"a100-dgx", "NVLink3+NVSwitch"},
     .network = "ib:200Gbps"},
    {.type = "a100-sxm4-40gb",
     .pcie = &fr__wire_pcie4,
     .host = &fr__host_rome,
     .sm = 80,
     .ids = {0x20b0},
     .join = FR__JOIN_SWITCH,
     .n_links = 12,
     .link = &nvlink3,
     .switched = &fr__wire_nvswitch_a100,
     .n_board = 8,
     .collectives = "a100-nvswitch",
     .messages = {"a100-dgx", "NVLink3+NVSwitch"},
     .network = "ib:200Gbps"},
    {.type = "a100-pcie-80gb",
     .pcie = &fr__wire_pcie4,
     .host = &fr__host_rome,
     .sm = 80,
     .ids = {0x20b5},
     .n_links = 12,
     .link = &nvlink3,
     .network = "ib:200Gbps"},
    {.type = "a100-pcie-40gb",
     .pcie = &fr__wire_pcie4,
     .host = &fr__host_rome,
     .sm = 80,
     .ids = {0x20f1, 0x20bf},
     .n_links = 12,
     .link = &nvlink3,
     .network = "ib:200Gbps"},
    {.type = "a40",
     .pcie = &fr__wire_pcie4,
     .host = &fr__host_rome,
     .sm = 86,
     .ids = {0x2235},
     .n_links = 4,
     .link = &nvlink3_bridge,
     .network = "ib:100Gbps"},
    {.type = "a30",
     .pcie = &fr__wire_pcie4,
     .host = &fr__host_rome,
     .sm = 80,
     .ids = {0x20b7},
     .n_links = 4,
     .link = &nvlink3,
     .network = "ib:100Gbps"},
    {.type = "a10",
     .pcie = &fr__wire_pcie4,
     .host = &fr__host_rome,
     .sm = 86,
     .ids = {0x2236},
     .network = "eth:25Gbps"},
    {.type = "a10g",
     .pcie = &fr__wire_pcie4,
     .host = &fr__host_rome,
     .sm = 86,
     .ids = {0x2237},
     .network = "eth:100Gbps"},
    {.type = "a6000",
     .pcie = &fr__wire_pcie4,
     .host = &fr__host_rome,
     .sm = 86,
     .ids = {0x2230},
     .n_links = 4,
     .link = &nvlink3_bridge,
     .network = "ib:100Gbps"},
    {.type = "rtx3090",
     .pcie = &fr__wire_pcie4,
     .host = &fr__host_rome,
     .sm = 86,
     .ids = {0x2204},
     .n_links = 4,
     .link = &nvlink3_bridge,
     .network = "eth:25Gbps"},
    {.type = "l40s",
     .pcie = &fr__wire_pcie5,
     .host = &fr__host_sapphire_rapids,
     .sm = 89,
     .ids = {0x26b9},
     .network = "ib:200Gbps"},
    {.type = "l4",
     .pcie = &fr__wire_pcie5,
     .host = &fr__host_sapphire_rapids,
     .sm = 89,
     .ids = {0x27b8},
     .network = "eth:25Gbps"},
    {.type = "rtx6000ada",
     .pcie = &fr__wire_pcie4,
     .host = &fr__host_rome,
     .sm = 89,
     .ids = {0x26b1},
     .network = "ib:100Gbps"},
    {.type = "rtx4090",
     .pcie = &fr__wire_pcie4,
     .host = &fr__host_rome,
     .sm = 89,
     .ids = {0x2684},
     .network = "eth:25Gbps"},
    {.type = "h100-sxm5-80gb",
     .pcie = &fr__wire_pcie5,
     .host = &fr__host_sapphire_rapids,
     .sm = 90,
     .ids = {0x2330},
     .join = FR__JOIN_SWITCH,
     .n_links = 18,
     .link = &nvlink4,
     .switched = &fr__wire_nvswitch_h100,
     .n_board = 8,
     .collectives = "h100-nvswitch",
     .network = "ib:400Gbps"},
    {.type = "h200-sxm-141gb",
     .pcie = &fr__wire_pcie5,
     .host = &fr__host_sapphire_rapids,
     .sm = 90,
     .ids = {0x2335},
     .join = FR__JOIN_SWITCH,
     .n_links = 18,
     .link = &nvlink4,
     .switched = &fr__wire_nvswitch_h200,
     .n_board = 8,
     .collectives = "h100-nvswitch",
     .network = "ib:400Gbps"},
    {.type = "h100-pcie-80gb",
     .pcie = &fr__wire_pcie5,
     .host = &fr__host_sapphire_rapids,
     .sm = 90,
     .ids = {0x2331},
     .n_links = 12,
     .link = &nvlink4,
     .network = "ib:400Gbps"},
    {.type = "h100-nvl-94gb",
     .pcie = &fr__wire_pcie5,
     .host = &fr__host_sapphire_rapids,
     .sm = 90,
     .ids = {0x2321},
     .n_links = 12,
     .link = &nvlink4,
     .network = "ib:400Gbps"},
    {.type = "h20-sxm-96gb",
     .pcie = &fr__wire_pcie5,
     .host = &fr__host_sapphire_rapids,
     .sm = 90,
     .ids = {0x2329},
     .join = FR__JOIN_SWITCH,
     .switched = &fr__wire_nvswitch_h100,
     .n_board = 8,
     .collectives = "h100-nvswitch",
     .n_links = 18,
     .link = &nvlink4,
     .network = "ib:400Gbps"},
    {.type = "gh200-96gb",
     .pcie = &fr__wire_pcie5,
     .host = &fr__host_grace,
     .sm = 90,
     .ids = {0x2342},
     .join = FR__JOIN_PEERS,
     .n_links = 18,
     .link = &nvlink4,
     .network = "slingshot:200Gbps"},
    {.type = "b200-sxm-180gb",
     .pcie = &fr__wire_pcie5,
     .host = &fr__host_emerald_rapids,
     .sm = 100,
     .ids = {0x2901},
     .join = FR__JOIN_SWITCH,
     .n_links = 18,
     .link = &nvlink5,
     .switched = &fr__wire_nvswitch_b200,
     .n_board = 8,
     .collectives = "b200-nvswitch",
     .network = "ib:400Gbps",
     .network_collectives = "b200-infiniband"},
    {.type = "gb200-186gb",
     .pcie = &fr__wire_pcie5,
     .host = &fr__host_grace,
     .sm = 100,
     .ids = {0x2941},
     .join = FR__JOIN_SWITCH,
     .n_links = 18,
     .link = &nvlink5,
     .switched = &fr__wire_nvswitch_b200,
     .network = "ib:400Gbps"},
    {.type = "mi50-16gb",
     .pcie = &fr__wire_pcie4,
     .host = &fr__host_rome,
     .gcn = "906",
     .ids = {0x66a1},
     .join = FR__JOIN_PEERS,
     .n_links = 2,
     .link = &fr__wire_xgmi_mi50,
     .network = "ib:100Gbps"},
    {.type = "mi100",
     .pcie = &fr__wire_pcie4,
     .host = &fr__host_rome,
     .gcn = "908",
     .ids = {0x738c},
     .join = FR__JOIN_PEERS,
     .n_links = 3,
     .link = &fr__wire_xgmi_mi50,
     .network = "ib:200Gbps"},
    {.type = "mi250x-die",
     .pcie = &fr__wire_pcie4,
     .host = &fr__host_rome,
     .gcn = "90a",
     .ids = {0x740c, 0x7408},
     .join = FR__JOIN_PEERS,
     .n_links = 8,
     .link = &fr__wire_xgmi_mi200,
     .network = "slingshot:200Gbps"},
    {.type = "mi210",
     .pcie = &fr__wire_pcie4,
     .host = &fr__host_rome,
     .gcn = "90a",
     .ids = {0x740f},
     .n_links = 3,
     .link = &fr__wire_xgmi_mi200,
     .network = "ib:200Gbps"},
    {.type = "mi300a",
     .pcie = &fr__wire_pcie4,
     .host = &fr__host_rome,
     .gcn = "940",
     .ids = {0x74a0},
     .join = FR__JOIN_PEERS,
     .n_links = 6,
     .link = &fr__wire_xgmi_mi300,
     .network = "slingshot:200Gbps"},
    {.type = "mi300x",
     .pcie = &fr__wire_pcie4,
     .host = &fr__host_rome,
     .gcn = "942",
     .ids = {0x74a1},
     .join = FR__JOIN_PEERS,
     .n_links = 7,
     .link = &fr__wire_xgmi_mi300,
     .network = "ib:400Gbps"},
};

enum { N_GPUS = sizeof(gpus) / sizeof(gpus[0]) };

/* RCCL writes 910 for gfx90a in its older files, and "gfx" before the number in newer ones. */
static const char *plain_gcn(const char *gcn)
{
    if (strncmp(gcn, "gfx", 3) == 0)
        gcn += 3;
    return strcmp(gcn, "910") == 0 ? "90a" : gcn;
}

static bool is_chip(const struct fr__gpu_facts *g, const struct fr__gpu_clues *c)
{
    if (c->gcn)
        return g->gcn && strcmp(g->gcn, plain_gcn(c->gcn)) == 0;
    return c->sm > 0 && g->sm == c->sm;
}

static bool has_id(const struct fr__gpu_facts *g, int64_t device)
{
    for (size_t i = 0; i < 4 && g->ids[i]; i++)
        if (g->ids[i] == device)
            return true;
    return false;
}

static bool is_grace(const struct fr__gpu_facts *g)
{
    return strncmp(g->type, "gb", 2) == 0 || strncmp(g->type, "gh", 2) == 0;
}

/* The newest older architecture, first of those joined alike. */
static const struct fr__gpu_facts *find_older(const struct fr__gpu_clues *c)
{
    const struct fr__gpu_facts *best = NULL;

    for (size_t i = 0; i < N_GPUS && !c->gcn; i++) {
        const struct fr__gpu_facts *g = &gpus[i];

        if (!g->sm || g->sm > c->sm)
            continue;
        if (!best || g->sm > best->sm ||
            (g->sm == best->sm && best->join != c->join && g->join == c->join))
            best = g;
    }
    return best;
}

const struct fr__gpu_facts *fr__gpu_facts_find(const struct fr__gpu_clues *c,
                                               enum fr__gpu_match *match)
{
    const struct fr__gpu_facts *chip = NULL;

    *match = FR__MATCH_DEVICE;
    for (size_t i = 0; i < N_GPUS; i++)
        if (c->type ? strcmp(gpus[i].type, c->type) == 0 : has_id(&gpus[i], c->device)) {
            return &gpus[i];
        }
    if (c->type)
        return NULL;
    for (size_t i = 0; i < N_GPUS; i++) {
        const struct fr__gpu_facts *g = &gpus[i];

        if (!is_chip(g, c))
            continue;
        chip = chip ? chip : g;
        if (g->join == c->join && is_grace(g) == c->has_c2c) {
            *match = FR__MATCH_MODEL;
            return g;
        }
    }
    *match = chip ? FR__MATCH_CHIP : FR__MATCH_NEAREST;
    return chip ? chip : find_older(c);
}

const struct fr__gpu_facts *fr__gpu_facts_by_links(enum fr__gpu_join join, unsigned n_links)
{
    for (size_t i = 0; i < N_GPUS; i++)
        if (gpus[i].join == join && gpus[i].n_links == n_links)
            return &gpus[i];
    return NULL;
}

const struct fr__gpu_facts *fr__gpu_facts_at(size_t i)
{
    return i < N_GPUS ? &gpus[i] : NULL;
}

const struct fr_device_type *fr__gpu_facts_type(const struct fr__gpu_facts *f)
{
    const struct fr_device_type *type = fr_device_type_find(f->type);

    return type ? type : fr__amd_type_find(f->type);
}

const struct fr__host *fr__host_find(char vendor, int64_t family, int64_t model, bool *is_exact)
{
    /* Intel's by the first model number of each generation, as NCCL tells them apart (topo.cc) */
    static const struct {
        int64_t first;
        const struct fr__host *host;
        int64_t own;
    } intel[] = {{0xcf, &fr__host_emerald_rapids, 0xcf},
                 {0x8f, &fr__host_sapphire_rapids, 0x8f},
                 {0x55, &fr__host_skylake, 0x55},
                 {0, &fr__host_broadwell, 0x4f}};
    size_t i = 0;

    *is_exact = false;
    if (vendor == 'a') {
        *is_exact = family == 23 && model == 49;
        return &fr__host_rome;
    }
    if (vendor == 'r')
        return &fr__host_grace;
    if (vendor != 'i')
        return &fr__host_skylake;
    while (intel[i].first > model && intel[i].first > 0)
        i++;
    *is_exact = model == intel[i].own;
    return intel[i].host;
}
