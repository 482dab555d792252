/* collectives/nccl/from_xml.c - see from_xml.h. Source: NVIDIA/nccl src/graph/topo.cc of
 * 2.30.7. */
#include "config.h"

#include "collectives/nccl/from_xml.h"

#include <string.h>

struct reader {
    struct fr__ns *s;
    const struct fr__nccl_system *x;
    uint32_t gpus[FR__NS_MOST_GPUS]; /* nodes, in the order of the file */
    const struct fr__nccl_node *gpu_items[FR__NS_MOST_GPUS];
    int64_t models[FR__NS_MOST_NODES]; /* of CPUs */
    bool is_full;
};

float fr__ns_nvlink(unsigned version, unsigned sm)
{
    if (sm >= 100 && version >= 227)
        return version >= 230 ? 40.1f : 40.0f;
    if (sm >= 90)
        return version >= 221 ? 20.6f : 20.0f;
    if (sm == 86)
        return 12;
    return sm >= 70 ? 20 : 18;
}

/* GB/s between two CPUs as NCCL counts them, by the first's kind (topo.cc, ncclTopoGetInterCpuBw).
 * */
static float ns_between_cpus(const struct fr__ns *s, enum fr__nccl_cpu_kind vendor, bool is_x86,
                             int64_t model)
{
    if (!is_x86)
        return 6; /* ARM */
    if (vendor == FR__NCCL_CPU_AMD)
        return s->version >= 221 ? 16 : 5000;
    if (vendor == FR__NCCL_CPU_OTHER)
        return 6;
    if (s->version >= 226 && model >= 0xCF)
        return 40;
    if (s->version >= 226 && model >= 0x8F)
        return 22;
    return model >= 0x55 ? 10 : 6;
}

static uint32_t add(struct reader *r, enum fr__ns_type type)
{
    uint32_t node = fr__ns_add(r->s, type);

    r->is_full |= node == FR_NONE;
    return node;
}

static void join(struct reader *r, uint32_t one, uint32_t other, enum fr__ns_link_type type,
                 double bw)
{
    if (!r->is_full && !fr__ns_connect(r->s, one, other, type, (float)bw))
        r->is_full = true;
}

/* ---- the PCIe tree ---- */

static void add_nets(struct reader *r, const struct fr__nccl_node *nic, uint32_t node)
{
    for (size_t i = 0; i < nic->n && !r->is_full; i++) {
        const struct fr__nccl_net *net = &nic->items[i]->u.net;
        double speed = net->speed_Mbps > 0 ? net->speed_Mbps : 10000;
        uint32_t at;

        if (nic->items[i]->tag != FR__NCCL_NET || net->dev == FR__NCCL_UNSAID)
            continue;
        at = add(r, FR__NS_NET);
        if (r->is_full)
            return;
        r->s->nodes[at].net_bw = (float)(speed / 8000);
        r->s->nodes[at].net_latency = (float)net->latency_us;
        r->s->nodes[at].dev = (unsigned)net->dev;
        r->s->nodes[at].has_gdr = net->gdr == 1;
        r->s->nodes[at].asic = net->has_guid ? net->guid : (uint64_t)net->dev;
        r->s->nodes[at].port = net->port > 0 ? (uint32_t)net->port : 0;
        join(r, node, at, FR__NS_TO_NET, speed / 8000);
    }
}

static const struct fr__nccl_node *item_of(const struct fr__nccl_node *pci, enum fr__nccl_tag tag)
{
    for (size_t i = 0; i < pci->n; i++)
        if (pci->items[i]->tag == tag)
            return pci->items[i];
    return NULL;
}

static uint32_t add_gpu(struct reader *r, const struct fr__nccl_node *item)
{
    const struct fr__nccl_gpu *gpu = &item->u.gpu;
    uint32_t node;

    if (gpu->rank == FR__NCCL_UNSAID)
        return FR_NONE;
    node = add(r, FR__NS_GPU);
    if (r->is_full)
        return FR_NONE;
    r->gpus[r->s->nodes[node].number] = node;
    r->gpu_items[r->s->nodes[node].number] = item;
    r->s->nodes[node].sm = gpu->sm > 0 ? (unsigned)gpu->sm : 0;
    r->s->nodes[node].dev = gpu->dev >= 0 ? (unsigned)gpu->dev : 0;
    r->s->nodes[node].has_gdr = gpu->gdr == 1;
    return node;
}

/* A level of the file is at most as deep as fr__nccl_xml_parse lets it be. */
static void add_pci(struct reader *r, const struct fr__nccl_node *pci, uint32_t parent)
{
    const struct fr__nccl_node *gpu = item_of(pci, FR__NCCL_GPU), *nic = item_of(pci, FR__NCCL_NIC);
    uint32_t node = FR_NONE;

    if (gpu) {
        node = add_gpu(r, gpu);
    } else if (nic) {
        node = add(r, FR__NS_NIC);
        if (!r->is_full)
            add_nets(r, nic, node);
    } else if (pci->u.pci.kind == FR__NCCL_PCI_SWITCH || pci->u.pci.kind == FR__NCCL_PCI_UNSAID) {
        node = add(r, FR__NS_PCI);
        for (size_t i = 0; i < pci->n && !r->is_full; i++)
            if (pci->items[i]->tag == FR__NCCL_PCI)
                add_pci(r, pci->items[i], node);
    }
    if (node != FR_NONE)
        join(r, node, parent, FR__NS_PCIE, fr__nccl_pcie_Bps(&pci->u.pci) / 1e9);
}

static void add_cpu(struct reader *r, const struct fr__nccl_node *item)
{
    const struct fr__nccl_cpu *cpu = &item->u.cpu;
    uint32_t node = add(r, FR__NS_CPU);

    if (r->is_full)
        return;
    r->models[r->s->nodes[node].number] = cpu->model_id;
    r->s->nodes[node].is_x86 = cpu->arch == FR__NCCL_X86;
    r->s->nodes[node].vendor = cpu->vendor == FR__NCCL_INTEL ? FR__NCCL_CPU_INTEL
                               : cpu->vendor == FR__NCCL_AMD ? FR__NCCL_CPU_AMD
                                                             : FR__NCCL_CPU_OTHER;
    for (size_t i = 0; i < item->n && !r->is_full; i++) {
        if (item->items[i]->tag == FR__NCCL_PCI)
            add_pci(r, item->items[i], node);
        if (item->items[i]->tag == FR__NCCL_NIC) {
            uint32_t nic = add(r, FR__NS_NIC);

            if (r->is_full)
                return;
            add_nets(r, item->items[i], nic);
            join(r, nic, node, FR__NS_PCIE, 5000);
        }
    }
}

/* ---- links of GPUs ---- */

static uint32_t cpu_of(const struct reader *r, const struct fr__nccl_node *item)
{
    const struct fr__nccl_node *cpu = fr__nccl_cpu_of(item);
    uint32_t n = 0;

    for (size_t i = 0; i < r->x->root->n; i++) {
        if (r->x->root->items[i] == cpu)
            return r->s->of[FR__NS_CPU][n];
        n += r->x->root->items[i]->tag == FR__NCCL_CPU;
    }
    return FR_NONE;
}

static void add_nvlink(struct reader *r, uint32_t gpu, const struct fr__nccl_node *item)
{
    const struct fr__nccl_nvlink *l = &item->u.nvlink;
    float bw = (float)l->count * fr__ns_nvlink(r->s->version, r->s->nodes[gpu].sm);

    if (l->kind == FR__NCCL_PCI_GPU) {
        for (uint32_t g = 0; g < r->s->count[FR__NS_GPU]; g++)
            if (r->gpu_items[g] == l->gpu && r->gpus[g] != gpu)
                r->is_full |= !fr__ns_link(r->s, gpu, r->gpus[g], FR__NS_NVLINK, bw);
    } else if (l->kind == FR__NCCL_PCI_CPU_BRIDGE) {
        uint32_t cpu = cpu_of(r, item);

        if (cpu != FR_NONE)
            join(r, gpu, cpu, FR__NS_NVLINK, (double)bw);
    } else { /* all NVSwitches are one */
        if (r->s->count[FR__NS_NVS] == 0)
            add(r, FR__NS_NVS);
        if (!r->is_full)
            join(r, gpu, r->s->of[FR__NS_NVS][0], FR__NS_NVLINK, (double)bw);
    }
}

static void add_links(struct reader *r)
{
    for (uint32_t g = 0; g < r->s->count[FR__NS_GPU]; g++)
        for (size_t i = 0; i < r->gpu_items[g]->n && !r->is_full; i++)
            if (r->gpu_items[g]->items[i]->tag == FR__NCCL_NVLINK)
                add_nvlink(r, r->gpus[g], r->gpu_items[g]->items[i]);
    for (uint32_t g = 0; g < r->s->count[FR__NS_GPU]; g++)
        for (size_t i = 0; i < r->gpu_items[g]->n && !r->is_full; i++) {
            const struct fr__nccl_node *item = r->gpu_items[g]->items[i];
            uint32_t cpu = item->tag == FR__NCCL_C2C ? cpu_of(r, item) : FR_NONE;

            if (cpu != FR_NONE)
                join(r, r->gpus[g], cpu, r->s->version >= 226 ? FR__NS_C2C : FR__NS_NVLINK,
                     item->u.c2c.bw_MBps * (double)item->u.c2c.count / 1000);
        }
}

static void join_cpus(struct reader *r)
{
    for (uint32_t a = 0; a < r->s->count[FR__NS_CPU]; a++)
        for (uint32_t b = 0; b < r->s->count[FR__NS_CPU] && !r->is_full; b++) {
            const struct fr__ns_node *k = fr__ns_at(r->s, FR__NS_CPU, a);

            if (a != b)
                r->is_full |= !fr__ns_link(
                    r->s, r->s->of[FR__NS_CPU][a], r->s->of[FR__NS_CPU][b], FR__NS_BETWEEN_CPUS,
                    ns_between_cpus(r->s, k->vendor, k->is_x86, r->models[a]));
        }
}

enum fr_status fr__ns_from_xml(struct fr__ns *s, const struct fr__nccl_system *x,
                               struct fr_error *err)
{
    struct reader r = {.s = s, .x = x};

    for (size_t i = 0; i < x->root->n && !r.is_full; i++)
        if (x->root->items[i]->tag == FR__NCCL_CPU)
            add_cpu(&r, x->root->items[i]);
    add_links(&r);
    join_cpus(&r);
    if (r.is_full)
        return fr__ns_fail_full(s, err);
    return FR_OK;
}
