/* topo/import/nccl.c - makes a machine of an NCCL or RCCL topology file.
 *
 * PCI elements become PCIe switches, GPUs and NICs; NUMA domains become sockets, any two of which
 * are joined, as NCCL takes it. All NVSwitches are one, since each GPU spreads its traffic over
 * them. GPUs are numbered by `dev` where all have one, else in order of the file.
 *
 * Source: NVIDIA/nccl src/graph/topo.cc (what joins what, PCIe's rates).
 * Ignores: affinity, GPUDirect, connections a NIC holds, rails, planes.
 */
#include "config.h"

#include "base/units.h"
#include "topo/gpus/gpus.h"
#include "topo/import/import.h"
#include "topo/import/nccl_xml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DOMAINS = 64 };

static const char PCIE_SOURCE[] =
    "PCIe of the file's link_speed and link_width, as NCCL src/graph/topo.cc counts it; latency: "
    "half of the 1 us that NCCL src/graph/tuning.cc gives a PCIe hop, which is two links";
static const double PCIE_LATENCY_s = 0.5e-6;

struct gpu {
    const struct fr__nccl_node *node; /* <gpu>, or <pci> of a GPU without one */
    const struct fr__gpu_facts *facts;
    int64_t links_to_switch; /* NVLinks */
    uint32_t row;
};

struct reader {
    struct fr__sketch *s;
    const struct fr__nccl_system *system;
    const struct fr__host *host;
    struct gpu *gpus; /* in order of devices; arena */
    size_t n_gpus;
    uint32_t sockets[MAX_DOMAINS];
    uint32_t n_switches, n_nics;
    bool has_links; /* somewhere an NVLink is said */
};

/* ---- what the file tells of each GPU ---- */

static const struct fr__nccl_node *pci_of(const struct gpu *g)
{
    return fr__nccl_pci_of(g->node);
}

/* GPUs below a node: <gpu> elements, and PCI elements of that class without one. */
static void collect_gpus(struct reader *r, const struct fr__nccl_node *node)
{
    for (size_t i = 0; i < node->n; i++) {
        const struct fr__nccl_node *item = node->items[i];
        bool has_gpu = false;

        for (size_t k = 0; k < item->n; k++)
            has_gpu |= item->items[k]->tag == FR__NCCL_GPU;
        if (item->tag == FR__NCCL_GPU ||
            (item->tag == FR__NCCL_PCI && !has_gpu && item->u.pci.kind == FR__NCCL_PCI_GPU))
            r->gpus[r->n_gpus++] = (struct gpu){.node = item};
        collect_gpus(r, item);
    }
}

static int64_t dev_of(const struct gpu *g)
{
    return g->node->tag == FR__NCCL_GPU ? g->node->u.gpu.dev : FR__NCCL_UNSAID;
}

static int compare_devs(const void *a, const void *b)
{
    int64_t x = dev_of(a), y = dev_of(b);

    return (x > y) - (x < y);
}

/* Sorts by CUDA's number where each GPU has one of its own. */
static void order_gpus(struct reader *r)
{
    struct gpu *sorted = fr__arena_alloc(r->s->arena, r->n_gpus, sizeof(*sorted));

    if (!sorted)
        return; /* the order of the file stands */
    memcpy(sorted, r->gpus, r->n_gpus * sizeof(*sorted));
    qsort(sorted, r->n_gpus, sizeof(*sorted), compare_devs);
    for (size_t i = 0; i < r->n_gpus; i++)
        if (dev_of(&sorted[i]) < 0 || (i > 0 && dev_of(&sorted[i]) == dev_of(&sorted[i - 1]))) {
            fr__sketch_note(r->s, "GPUs are numbered in order of the file: not each <gpu> has a "
                                  "'dev' of its own");
            return;
        }
    r->gpus = sorted;
}

/* Whether an NVLink leads back to the GPU it starts at, as files of some clouds have it. */
static bool is_loop(const struct fr__nccl_node *link)
{
    return link->u.nvlink.gpu == link->parent;
}

static void read_joins(struct reader *r, struct gpu *g, struct fr__gpu_clues *c)
{
    for (size_t i = 0; i < g->node->n; i++) {
        const struct fr__nccl_node *item = g->node->items[i];

        c->has_c2c |= item->tag == FR__NCCL_C2C;
        if (item->tag != FR__NCCL_NVLINK || is_loop(item))
            continue;
        r->has_links = true;
        if (item->u.nvlink.kind == FR__NCCL_PCI_NVSWITCH) {
            g->links_to_switch += item->u.nvlink.count;
            c->join = FR__JOIN_SWITCH;
        } else if (c->join == FR__JOIN_NONE) {
            c->join = FR__JOIN_PEERS;
        }
    }
}

static void note_match(struct reader *r, const struct gpu *g, const struct fr__gpu_clues *c,
                       enum fr__gpu_match match)
{
    char chip[64] = "";

    if (c->gcn)
        snprintf(chip, sizeof(chip), "gfx%.40s", c->gcn);
    else
        snprintf(chip, sizeof(chip), "sm %d", (int)c->sm);
    if (match == FR__MATCH_MODEL)
        fr__sketch_note(r->s, "GPUs of %s are taken for %s: the file does not say which model",
                        chip, g->facts->type);
    else if (match == FR__MATCH_CHIP)
        fr__sketch_note(r->s, "GPUs of %s are taken for %s: the model is not known here", chip,
                        g->facts->type);
    else if (match == FR__MATCH_NEAREST)
        fr__sketch_note(r->s, "GPUs of %s are taken for %s: no newer one is known here", chip,
                        g->facts->type);
}

static enum fr_status identify(struct reader *r, struct gpu *g)
{
    const struct fr__nccl_pci *pci = &pci_of(g)->u.pci;
    bool has_gpu = g->node->tag == FR__NCCL_GPU;
    struct fr__gpu_clues c = {.type = r->s->gpu_type,
                              .device = pci->device,
                              .sm = has_gpu ? g->node->u.gpu.sm : FR__NCCL_UNSAID,
                              .gcn = has_gpu ? g->node->u.gpu.gcn : NULL};
    enum fr__gpu_match match;
    char excerpt[FR__EXCERPT];

    if (has_gpu)
        read_joins(r, g, &c);
    g->facts = fr__gpu_facts_find(&c, &match);
    if (!g->facts)
        return fr__fail(r->s->err, FR_EPARSE, g->node->loc,
                        "the GPU at '%s' does not say what it is: a 'device' of its <pci> or an "
                        "'sm' of its <gpu> that is known expected, or --gpu-type of 'topo import'",
                        fr__excerpt(pci->busid, excerpt));
    note_match(r, g, &c, match);
    return FR_OK;
}

/* ---- the PCI tree ---- */

static enum fr_status draw(struct reader *r, const struct fr__nccl_node *parent, uint32_t row);

static void join_pcie(struct reader *r, const struct fr__nccl_node *pci, uint32_t parent,
                      uint32_t row)
{
    const struct fr__nccl_pci *p = &pci->u.pci;

    if (p->link_GTps <= 0 || p->link_width <= 0)
        fr__sketch_note(r->s, "PCIe links without speed or width are taken for 8 GT/s and 16 "
                              "lanes, as NCCL does");
    fr__sketch_link(r->s, FR_LINK_PCIE, parent, row, fr__nccl_pcie_Bps(p), PCIE_LATENCY_s, true,
                    PCIE_SOURCE, pci->loc);
}

static struct gpu *find_gpu(struct reader *r, const struct fr__nccl_node *node)
{
    for (size_t i = 0; i < r->n_gpus; i++)
        if (r->gpus[i].node == node)
            return &r->gpus[i];
    return NULL;
}

/* The kind of network, by the class of the card: InfiniBand or Ethernet. */
static const char *net_kind(const struct fr__nccl_node *nic)
{
    const struct fr__nccl_node *pci = fr__nccl_pci_of(nic);

    return pci && pci->u.pci.class_code >> 8 == 0x0207 ? "ib" : "roce";
}

/* What a NIC of that many Mbit/s speaks; 0: the default of the machine's GPUs. */
static const char *network_text(struct reader *r, const struct fr__nccl_node *nic, double Mbps)
{
    char text[64], rate[32];

    if (Mbps > 0) {
        snprintf(text, sizeof(text), "%s:%sGbps", net_kind(nic),
                 fr__format_double(Mbps / 1000, rate, sizeof(rate)));
    } else {
        snprintf(text, sizeof(text), "%s", r->gpus[0].facts->network);
        fr__sketch_note(r->s, "NICs without a speed speak %s, the default beside %s", text,
                        r->gpus[0].facts->type);
    }
    return fr__arena_strdup(r->s->arena, text);
}

static bool is_same_card(const struct fr__nccl_node *a, const struct fr__nccl_node *b)
{
    return a->u.net.has_guid && b->u.net.has_guid && a->u.net.guid == b->u.net.guid;
}

/* The ports of <nic>, those of one adapter as one NIC with the sum of their rates. */
static void draw_nic(struct reader *r, const struct fr__nccl_node *nic, uint32_t parent,
                     const struct fr__nccl_node *pci)
{
    for (size_t i = 0; i < nic->n; i++) {
        const struct fr__nccl_node *port = nic->items[i];
        bool is_first = true;
        double Mbps = 0;
        uint32_t row;

        for (size_t k = 0; k < i; k++)
            is_first &= !is_same_card(port, nic->items[k]);
        if (!is_first)
            continue;
        for (size_t k = i; k < nic->n; k++)
            if (k == i || is_same_card(port, nic->items[k]))
                Mbps += nic->items[k]->u.net.speed_Mbps;
        row = fr__sketch_vertex(r->s, FR_VERTEX_NIC, "nic", r->n_nics++, NULL, port->loc);
        if (pci)
            join_pcie(r, pci, parent, row);
        else
            fr__sketch_link(r->s, FR_LINK_PCIE, parent, row, r->host->memory.bw_Bps, PCIE_LATENCY_s,
                            true, r->host->memory.source, port->loc);
        fr__sketch_network(r->s, row, network_text(r, nic, Mbps));
    }
}

static const struct fr__nccl_node *child_of(const struct fr__nccl_node *node, enum fr__nccl_tag tag)
{
    for (size_t i = 0; i < node->n; i++)
        if (node->items[i]->tag == tag)
            return node->items[i];
    return NULL;
}

static size_t count_below(const struct fr__nccl_node *node, enum fr__nccl_tag tag)
{
    size_t n = 0;

    for (size_t i = 0; i < node->n; i++)
        n += node->items[i]->tag == tag;
    return n;
}

/* A PCI element below a row: what it is and what hangs below it. */
static enum fr_status draw_pci(struct reader *r, const struct fr__nccl_node *pci, uint32_t parent)
{
    const struct fr__nccl_node *nic = child_of(pci, FR__NCCL_NIC);
    struct gpu *bare = find_gpu(r, pci); /* a GPU without <gpu> */
    size_t n_gpus = count_below(pci, FR__NCCL_GPU), n_pcis = count_below(pci, FR__NCCL_PCI);
    uint32_t row = parent;

    if (pci->u.pci.kind == FR__NCCL_PCI_NVSWITCH && pci->n == 0)
        return FR_OK; /* its management function: NVLinks alone carry data */
    if (bare) {
        join_pcie(r, pci, parent, bare->row);
    } else if (n_gpus == 1 && n_pcis == 0 && !nic) {
        join_pcie(r, pci, parent, find_gpu(r, child_of(pci, FR__NCCL_GPU))->row);
    } else if (nic && n_gpus == 0 && n_pcis == 0 && nic->n == 1) {
        draw_nic(r, nic, parent, pci);
    } else if (pci->n > 0) {
        row = fr__sketch_vertex(r->s, FR_VERTEX_PCIE, "plx", r->n_switches++, NULL, pci->loc);
        join_pcie(r, pci, parent, row);
        for (size_t i = 0; i < pci->n; i++)
            if (pci->items[i]->tag == FR__NCCL_GPU)
                join_pcie(r, pci, row, find_gpu(r, pci->items[i])->row);
            else if (pci->items[i]->tag == FR__NCCL_NIC)
                draw_nic(r, pci->items[i], row, pci);
        return draw(r, pci, row);
    } else if (pci->u.pci.kind == FR__NCCL_PCI_NIC) {
        uint32_t id = fr__sketch_vertex(r->s, FR_VERTEX_NIC, "nic", r->n_nics++, NULL, pci->loc);

        join_pcie(r, pci, parent, id);
        fr__sketch_network(r->s, id, network_text(r, pci, 0));
    }
    return FR_OK;
}

/* The PCI elements and NICs directly below a node whose vertex is the row. */
static enum fr_status draw(struct reader *r, const struct fr__nccl_node *parent, uint32_t row)
{
    for (size_t i = 0; i < parent->n; i++) {
        const struct fr__nccl_node *item = parent->items[i];

        if (item->tag == FR__NCCL_PCI)
            FR_TRY(draw_pci(r, item, row));
        else if (item->tag == FR__NCCL_NIC && parent->tag == FR__NCCL_CPU)
            draw_nic(r, item, row, NULL);
    }
    return FR_OK;
}

/* What of the file has no place in the machine. */
static void note_skipped(struct reader *r)
{
    if (r->system->n_skipped)
        fr__sketch_note(r->s, "%zu element%s that NCCL does not read: <%s>", r->system->n_skipped,
                        r->system->n_skipped == 1 ? "" : "s", r->system->skipped);
}

/* ---- NVLinks ---- */

static void mark_messages(struct reader *r, const struct gpu *g)
{
    if (g->facts->messages[0])
        fr__sketch_message(r->s, g->facts->messages[0], g->facts->messages[1]);
}

/* All NVLinks to one peer in one direction; the way back stands at the peer. */
static enum fr_status draw_peer(struct reader *r, const struct gpu *g,
                                const struct fr__nccl_node *link)
{
    const struct gpu *peer = find_gpu(r, link->u.nvlink.gpu);
    const struct fr__wire *wire = g->facts->link;
    int64_t there = 0, back = 0;
    char excerpt[FR__EXCERPT];

    for (size_t i = 0; i < g->node->n; i++)
        if (g->node->items[i]->tag == FR__NCCL_NVLINK &&
            g->node->items[i]->u.nvlink.gpu == peer->node)
            there += g->node->items[i]->u.nvlink.count;
    for (size_t i = 0; i < peer->node->n; i++)
        if (peer->node->items[i]->tag == FR__NCCL_NVLINK &&
            peer->node->items[i]->u.nvlink.gpu == g->node)
            back += peer->node->items[i]->u.nvlink.count;
    if (back == 0)
        return fr__fail(r->s->err, FR_EPARSE, link->loc,
                        "%d NVLinks lead to '%s' and none leads back", (int)there,
                        fr__excerpt(link->u.nvlink.target, excerpt));
    if (!wire)
        return fr__fail(r->s->err, FR_EPARSE, link->loc,
                        "NVLinks of a %s, which has none: what they carry is not known",
                        g->facts->type);
    fr__sketch_link(r->s, FR_LINK_NVLINK, g->row, peer->row, (double)there * wire->bw_Bps,
                    wire->latency_s, false, wire->source, link->loc);
    if (g->facts->join == FR__JOIN_PEERS)
        mark_messages(r, g);
    return FR_OK;
}

static enum fr_status draw_switched(struct reader *r, const struct gpu *g, uint32_t *nvswitch)
{
    const struct fr__gpu_facts *f = g->facts;

    if (g->links_to_switch == 0)
        return FR_OK;
    if (!f->switched)
        return fr__fail(r->s->err, FR_EPARSE, g->node->loc,
                        "NVLinks to an NVSwitch of a %s, which is never behind one", f->type);
    if (*nvswitch == FR_NONE)
        *nvswitch =
            fr__sketch_vertex(r->s, FR_VERTEX_NVSWITCH, "nvswitch", FR_NONE, NULL, g->node->loc);
    fr__sketch_link(r->s, FR_LINK_NVLINK, g->row, *nvswitch,
                    f->switched->bw_Bps * ((double)g->links_to_switch / f->n_links),
                    f->switched->latency_s, true, f->switched->source, g->node->loc);
    mark_messages(r, g);
    return FR_OK;
}

static enum fr_status draw_links_of(struct reader *r, const struct gpu *g)
{
    const struct fr__nccl_node *cpu = fr__nccl_cpu_of(g->node);

    for (size_t i = 0; i < g->node->n; i++) {
        const struct fr__nccl_node *item = g->node->items[i];
        uint32_t socket = 0;

        while (r->system->root->items[socket] != cpu)
            socket++;
        if (item->tag == FR__NCCL_C2C)
            fr__sketch_link(r->s, FR_LINK_NVLINK, r->sockets[socket], g->row,
                            item->u.c2c.bw_MBps * 1e6 * (double)item->u.c2c.count, PCIE_LATENCY_s,
                            true, "NVLink-C2C of the file; latency: our assumption", item->loc);
        if (item->tag != FR__NCCL_NVLINK || item->u.nvlink.kind == FR__NCCL_PCI_NVSWITCH)
            continue;
        if (is_loop(item))
            fr__sketch_note(r->s, "NVLinks from a GPU to itself are left out, as NCCL does");
        else if (item->u.nvlink.kind == FR__NCCL_PCI_CPU_BRIDGE && g->facts->link)
            fr__sketch_link(r->s, FR_LINK_NVLINK, r->sockets[socket], g->row,
                            g->facts->link->bw_Bps * (double)item->u.nvlink.count,
                            g->facts->link->latency_s, true, g->facts->link->source, item->loc);
        else if (!item->u.nvlink.gpu)
            fr__sketch_note(r->s, "NVLinks to GPUs that are not in the file are left out, as NCCL "
                                  "does");
        else
            FR_TRY(draw_peer(r, g, item));
    }
    return FR_OK;
}

/* Files of clouds have no <gpu>: NCCL asks the driver for NVLinks. Where GPUs of that type always
 * stand behind NVSwitches, they do here. */
static void assume_links(struct reader *r)
{
    const struct fr__gpu_facts *f = r->gpus[0].facts;

    for (size_t i = 0; i < r->n_gpus; i++)
        if (r->gpus[i].node->tag == FR__NCCL_GPU || r->gpus[i].facts != f)
            return;
    if (f->join != FR__JOIN_SWITCH) {
        fr__sketch_note(r->s, "no NVLinks: the file says none, and NCCL would ask the driver");
        return;
    }
    for (size_t i = 0; i < r->n_gpus; i++)
        r->gpus[i].links_to_switch = f->n_links;
    fr__sketch_note(r->s, "each GPU has %u NVLinks to NVSwitches, as any %s: the file says none",
                    f->n_links, f->type);
}

static enum fr_status draw_nvlinks(struct reader *r)
{
    uint32_t nvswitch = FR_NONE;

    if (!r->has_links)
        assume_links(r);
    for (size_t i = 0; i < r->n_gpus; i++) {
        FR_TRY(draw_switched(r, &r->gpus[i], &nvswitch));
        if (r->gpus[i].node->tag == FR__NCCL_GPU)
            FR_TRY(draw_links_of(r, &r->gpus[i]));
    }
    return FR_OK;
}

/* A whole board of one type behind NVSwitches behaves as it was measured. */
static void name_system(struct reader *r)
{
    const struct fr__gpu_facts *f = r->gpus[0].facts;

    if (!f->collectives || r->n_gpus != f->n_board)
        return;
    for (size_t i = 0; i < r->n_gpus; i++)
        if (r->gpus[i].facts != f || r->gpus[i].links_to_switch != f->n_links)
            return;
    fr__sketch_system(r->s, f->collectives);
    if (f->network_collectives)
        fr__sketch_network_system(r->s, f->network_collectives, f->network);
}

/* ---- the host ---- */

static enum fr_status check_hosts(struct reader *r)
{
    const struct fr__nccl_node *root = r->system->root;

    if (root->n > MAX_DOMAINS)
        return fr__fail(r->s->err, FR_ERANGE, root->loc, "more than %d NUMA domains", MAX_DOMAINS);
    for (size_t i = 1; i < root->n; i++) {
        if (root->items[i]->u.cpu.host_hash != root->items[0]->u.cpu.host_hash)
            return fr__fail(r->s->err, FR_EPARSE, root->items[i]->loc,
                            "NUMA domains of several hosts in one file: write one file a host");
        for (size_t k = 0; k < i; k++)
            if (root->items[k]->u.cpu.numa_id == root->items[i]->u.cpu.numa_id)
                return fr__fail(r->s->err, FR_EPARSE, root->items[i]->loc,
                                "NUMA domain %d appears twice, first at line %u",
                                (int)root->items[i]->u.cpu.numa_id, root->items[k]->loc.line);
    }
    return FR_OK;
}

static void draw_host(struct reader *r)
{
    const struct fr__nccl_node *root = r->system->root;
    const struct fr__nccl_cpu *c = &root->items[0]->u.cpu;
    char vendor = c->arch == FR__NCCL_ARM       ? 'r'
                  : c->vendor == FR__NCCL_INTEL ? 'i'
                  : c->vendor == FR__NCCL_AMD   ? 'a'
                                                : '\0';
    uint32_t numbers[MAX_DOMAINS];
    bool is_exact;

    r->host = fr__host_find(vendor, c->family_id, c->model_id, &is_exact);
    if (!is_exact)
        fr__sketch_note(r->s, "the host is taken for %s: %s", r->host->cpu,
                        vendor ? "its own model is not known here"
                               : "the file does not say what it is");
    if (root->n > 2)
        fr__sketch_note(r->s, "%zu NUMA domains share the memory of two sockets of %s", root->n,
                        r->host->cpu);
    for (size_t i = 0; i < root->n; i++)
        numbers[i] = root->items[i]->u.cpu.numa_id < 0 ? (uint32_t)i
                                                       : (uint32_t)root->items[i]->u.cpu.numa_id;
    fr__sketch_host(r->s, r->host, root->n, numbers, r->sockets, root->loc);
}

/* ---- the whole ---- */

static enum fr_status read_gpus(struct reader *r)
{
    r->gpus = fr__arena_alloc(r->s->arena, r->system->n_nodes, sizeof(*r->gpus));
    if (!r->gpus)
        return fr__fail_nomem(r->s->err);
    collect_gpus(r, r->system->root);
    if (r->n_gpus == 0)
        return fr__fail(r->s->err, FR_EPARSE, r->system->root->loc,
                        "no GPU: no <pci> has a GPU's class (NCCL asks the driver; a file that "
                        "NCCL_TOPO_DUMP_FILE writes has all)");
    order_gpus(r);
    for (size_t i = 0; i < r->n_gpus; i++)
        FR_TRY(identify(r, &r->gpus[i]));
    for (size_t i = 0; i < r->n_gpus; i++)
        r->gpus[i].row =
            fr__sketch_vertex(r->s, FR_VERTEX_GPU, "gpu", (uint32_t)i,
                              fr__gpu_facts_type(r->gpus[i].facts), r->gpus[i].node->loc);
    return FR_OK;
}

static enum fr_status read(struct fr__sketch *s, const char *text, size_t len)
{
    struct reader r = {.s = s};

    FR_TRY(fr__nccl_xml_load_text(s->arena, text, len, s->path, &r.system, s->err));
    FR_TRY(check_hosts(&r));
    fr__sketch_machine(s, 1, r.system->root->loc);
    FR_TRY(read_gpus(&r));
    draw_host(&r);
    for (size_t i = 0; i < r.system->root->n; i++)
        FR_TRY(draw(&r, r.system->root->items[i], r.sockets[i]));
    FR_TRY(draw_nvlinks(&r));
    note_skipped(&r);
    name_system(&r);
    return FR_OK;
}

static bool is(const char *text, size_t len)
{
    return fr__xml_begins_with(text, len, "system");
}

const struct fr__importer fr__importer_nccl = {
    .name = "nccl",
    .summary = "NCCL's or RCCL's topology XML (NCCL_TOPO_DUMP_FILE)",
    .source = "NVIDIA/nccl src/graph/xml.cc, topo.cc",
    .is = is,
    .read = read,
};
