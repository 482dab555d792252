/* topo/import/hwloc.c - makes a machine of hwloc's XML, as `lstopo --of xml` writes it (hwloc 2).
 *
 * Packages become sockets. Below each hang host bridges, PCI bridges and PCI devices: those of a
 * GPU's class become GPUs, those of a network card's NICs. NVLinks come from the matrix
 * "NVLinkBandwidth", in whole links of the GPU's type.
 *
 * Source:  open-mpi/hwloc, hwloc/hwloc2.dtd; hwloc's manual, "I/O Devices" and "Distances".
 * Ignores: cores, caches, memory attributes. pci_link_speed is the link's speed at that moment, and
 *          an idle GPU slows its link down, so GPUs take the speed of their type.
 */
#include "config.h"

#include "base/units.h"
#include "base/xml.h"
#include "topo/gpus/gpus.h"
#include "topo/import/import.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SOCKETS = 64, MAX_GPUS = 256, MAX_ENDS = 512 };

/* What a large message gets of what pci_link_speed counts: 12 of 15.75 GB/s on PCIe 3.0 x16, by
 * NCCL src/graph/topo.h. */
static const double PCIE_SHARE = 12 / 15.75;
static const char PCIE_SOURCE[] =
    "pci_link_speed of the file, of which NCCL src/graph/topo.h counts 12 of 15.75 GB/s; latency: "
    "half of the 1 us that NCCL src/graph/tuning.cc gives a PCIe hop, which is two links";

struct gpu {
    const struct fr__xml *x;
    const struct fr__gpu_facts *facts;
    int64_t number; /* CUDA's, -1: unsaid */
    int64_t gp_index[8];
    size_t n_indexes; /* of the device and what is inside */
    uint32_t row;
};

struct reader {
    struct fr__sketch *s;
    struct gpu gpus[MAX_GPUS];
    size_t n_gpus;
    const struct fr__xml *packages[MAX_SOCKETS];
    size_t n_packages;
    uint32_t sockets[MAX_SOCKETS];
    uint32_t n_bridges, n_nics;
};

static bool is_object(const struct fr__xml *x, const char *type)
{
    const char *own = strcmp(x->name, "object") == 0 ? fr__xml_get(x, "type") : NULL;

    return own && strcmp(own, type) == 0;
}

/* The value of <info name="..."> inside; NULL: none. */
static const char *info(const struct fr__xml *x, const char *name)
{
    for (size_t i = 0; i < x->n; i++) {
        const char *own = fr__xml_get(x->items[i], "name");

        if (strcmp(x->items[i]->name, "info") == 0 && own && strcmp(own, name) == 0)
            return fr__xml_get(x->items[i], "value");
    }
    return NULL;
}

static int64_t number_of(const char *text)
{
    return text && *text ? strtoll(text, NULL, 10) : -1;
}

/* pci_type="0302 [10de:20b0] [10de:1463] a1": class, vendor and device. */
static void read_pci_type(const struct fr__xml *x, unsigned *code, unsigned *vendor,
                          unsigned *device)
{
    const char *text = fr__xml_get(x, "pci_type"), *bracket = text ? strchr(text, '[') : NULL;

    *code = text ? (unsigned)strtoul(text, NULL, 16) & 0xffff : 0;
    *vendor = bracket ? (unsigned)strtoul(bracket + 1, NULL, 16) & 0xffff : 0;
    bracket = bracket ? strchr(bracket, ':') : NULL;
    *device = bracket ? (unsigned)strtoul(bracket + 1, NULL, 16) & 0xffff : 0;
}

/* ---- GPUs ---- */

/* Displays of other makers (a BMC's) compute nothing. */
static bool is_gpu(const struct fr__xml *x)
{
    unsigned code, vendor, device;

    read_pci_type(x, &code, &vendor, &device);
    return (code >> 8 == 0x03 && (vendor == 0x10de || vendor == 0x1002)) ||
           (code == 0x1200 && vendor == 0x1002);
}

static void collect_indexes(const struct fr__xml *x, struct gpu *g)
{
    for (size_t i = 0; i < x->n; i++) {
        const char *name = fr__xml_get(x->items[i], "name");

        if (!is_object(x->items[i], "OSDev"))
            continue;
        if (g->n_indexes < 8)
            g->gp_index[g->n_indexes++] = number_of(fr__xml_get(x->items[i], "gp_index"));
        if (name && strncmp(name, "cuda", 4) == 0 && name[4] >= '0' && name[4] <= '9')
            g->number = number_of(name + 4);
    }
}

static enum fr_status add_gpu(struct reader *r, const struct fr__xml *x)
{
    struct gpu *g = &r->gpus[r->n_gpus];
    struct fr__gpu_clues c = {.type = r->s->gpu_type, .sm = -1};
    enum fr__gpu_match match;
    unsigned code, vendor, device;

    if (r->n_gpus == MAX_GPUS)
        return fr__fail(r->s->err, FR_ERANGE, x->loc, "more than %d GPUs", MAX_GPUS);
    read_pci_type(x, &code, &vendor, &device);
    c.device = device;
    *g = (struct gpu){.x = x, .number = -1, .facts = fr__gpu_facts_find(&c, &match)};
    if (!g->facts)
        return fr__fail(r->s->err, FR_EPARSE, x->loc,
                        "nothing is known of the GPU %04x:%04x: say what it is with --gpu-type",
                        vendor, device);
    g->gp_index[g->n_indexes++] = number_of(fr__xml_get(x, "gp_index"));
    collect_indexes(x, g);
    r->n_gpus++;
    return FR_OK;
}

/* GPUs and packages, in order of the file. */
static enum fr_status collect(struct reader *r, const struct fr__xml *x)
{
    for (size_t i = 0; i < x->n; i++) {
        const struct fr__xml *item = x->items[i];

        if (is_object(item, "Package")) {
            if (r->n_packages == MAX_SOCKETS)
                return fr__fail(r->s->err, FR_ERANGE, item->loc, "more than %d packages",
                                MAX_SOCKETS);
            r->packages[r->n_packages++] = item;
        }
        if (is_object(item, "PCIDev") && is_gpu(item))
            FR_TRY(add_gpu(r, item));
        FR_TRY(collect(r, item));
    }
    return FR_OK;
}

static int compare_numbers(const void *a, const void *b)
{
    const struct gpu *x = a, *y = b;

    return (x->number > y->number) - (x->number < y->number);
}

/* By CUDA's number, where each has one of its own. */
static void order_gpus(struct reader *r)
{
    bool seen[MAX_GPUS] = {false};

    for (size_t i = 0; i < r->n_gpus; i++) {
        int64_t n = r->gpus[i].number;

        if (n < 0 || n >= (int64_t)r->n_gpus || seen[n]) {
            fr__sketch_note(r->s, "GPUs are numbered in order of the file: it does not give "
                                  "CUDA's numbers");
            return;
        }
        seen[n] = true;
    }
    qsort(r->gpus, r->n_gpus, sizeof(r->gpus[0]), compare_numbers);
}

/* ---- the PCI tree ---- */

static void join_pcie(struct reader *r, const struct fr__xml *x, uint32_t parent, uint32_t row,
                      const struct fr__wire *fallback)
{
    const char *text = fr__xml_get(x, "pci_link_speed");
    double GBps = text ? fr__strtod(text, NULL) : 0;
    bool is_said = GBps > 0 && GBps < 1e6;

    if (!is_said)
        fr__sketch_note(r->s, "PCIe links without a speed take that of the GPUs' slots");
    fr__sketch_link(r->s, FR_LINK_PCIE, parent, row,
                    is_said ? GBps * 1e9 * PCIE_SHARE : fallback->bw_Bps, fallback->latency_s, true,
                    is_said ? PCIE_SOURCE : fallback->source, x->loc);
}

static const struct gpu *find_gpu(const struct reader *r, const struct fr__xml *x)
{
    for (size_t i = 0; i < r->n_gpus; i++)
        if (r->gpus[i].x == x)
            return &r->gpus[i];
    return NULL;
}

static bool is_nic(const struct fr__xml *x)
{
    unsigned code, vendor, device;

    read_pci_type(x, &code, &vendor, &device);
    return code >> 8 == 0x02;
}

/* Whether anything below is a GPU or a NIC. */
static bool has_devices(const struct fr__xml *x)
{
    for (size_t i = 0; i < x->n; i++)
        if ((is_object(x->items[i], "PCIDev") && (is_gpu(x->items[i]) || is_nic(x->items[i]))) ||
            has_devices(x->items[i]))
            return true;
    return false;
}

/* Draws what is below an object whose vertex is the row. */
static void draw(struct reader *r, const struct fr__xml *x, uint32_t row)
{
    const struct fr__wire *slot = r->gpus[0].facts->pcie;

    for (size_t i = 0; i < x->n; i++) {
        const struct fr__xml *item = x->items[i];
        const struct gpu *g = find_gpu(r, item);
        const char *kind = fr__xml_get(item, "bridge_type");
        uint32_t below = row;

        if (g) {
            fr__sketch_link(r->s, FR_LINK_PCIE, row, g->row, g->facts->pcie->bw_Bps,
                            g->facts->pcie->latency_s, true, g->facts->pcie->source, item->loc);
            continue;
        }
        if (is_object(item, "PCIDev") && is_nic(item)) {
            uint32_t nic =
                fr__sketch_vertex(r->s, FR_VERTEX_NIC, "nic", r->n_nics++, NULL, item->loc);

            join_pcie(r, item, row, nic, slot);
            fr__sketch_network(r->s, nic, r->gpus[0].facts->network);
            continue;
        }
        for (size_t p = 0; p < r->n_packages; p++)
            if (r->packages[p] == item)
                below = r->sockets[p];
        if (is_object(item, "Bridge") && kind && strcmp(kind, "1-1") == 0 && has_devices(item)) {
            below = fr__sketch_vertex(r->s, FR_VERTEX_PCIE, "plx", r->n_bridges++, NULL, item->loc);
            join_pcie(r, item, row, below, slot);
        }
        draw(r, item, below);
    }
}

/* ---- NVLinks ---- */

struct matrix {
    size_t n;
    const struct gpu *ends[MAX_ENDS]; /* NULL: an NVSwitch */
    const char *values;               /* of all <u64values>, joined */
};

/* The texts of all elements of that name inside, with a blank after each. */
static char *join_texts(struct reader *r, const struct fr__xml *x, const char *name)
{
    size_t size = 1, used = 0;
    char *text;

    for (size_t i = 0; i < x->n; i++)
        size += strcmp(x->items[i]->name, name) == 0 ? strlen(x->items[i]->text) + 1 : 0;
    text = fr__arena_alloc(r->s->arena, size, 1);
    for (size_t i = 0; text && i < x->n; i++)
        if (strcmp(x->items[i]->name, name) == 0) {
            size_t len = strlen(x->items[i]->text);

            memcpy(text + used, x->items[i]->text, len);
            text[used + len] = ' ';
            used += len + 1;
        }
    return text;
}

static const struct gpu *gpu_at(const struct reader *r, int64_t index)
{
    for (size_t i = 0; i < r->n_gpus; i++)
        for (size_t k = 0; k < r->gpus[i].n_indexes; k++)
            if (r->gpus[i].gp_index[k] == index)
                return &r->gpus[i];
    return NULL;
}

/* "12 34" or "OSDev:12 PCIDev:34" */
static enum fr_status read_ends(struct reader *r, const struct fr__xml *x, struct matrix *m)
{
    char *p = join_texts(r, x, "indexes");

    if (!p)
        return fr__fail_nomem(r->s->err);
    while (*(p += strspn(p, " \t\r\n"))) {
        size_t len = strcspn(p, " \t\r\n");
        char *colon = memchr(p, ':', len);

        if (m->n == MAX_ENDS)
            return fr__fail(r->s->err, FR_ERANGE, x->loc, "a matrix of more than %d objects",
                            MAX_ENDS);
        m->ends[m->n++] = gpu_at(r, number_of(colon ? colon + 1 : p));
        p += len;
    }
    return FR_OK;
}

/* How many links of the type carry that many MB/s; hwloc counts what a link does raw. */
static unsigned links_of(const struct fr__gpu_facts *f, double MBps)
{
    double raw = strncmp(f->type, "p100", 4) == 0 ? 20e3
                 : f->sm >= 100                   ? 50e3
                 : f->gcn                         ? f->link->bw_Bps / 1e6
                                                  : 25e3;
    double n = MBps / raw + 0.5;

    return n < 1 ? 1 : n > 1024 ? 1024 : (unsigned)n;
}

static void draw_nvlink(struct reader *r, const struct gpu *g, const struct gpu *other, double MBps,
                        uint32_t *nvswitch, struct fr_loc loc)
{
    const struct fr__gpu_facts *f = g->facts;
    unsigned n;

    if (!f->link || (!other && !f->switched)) {
        fr__sketch_note(r->s, "NVLinks of a %s are left out: what they carry is not known",
                        f->type);
        return;
    }
    n = links_of(f, MBps);
    if (!other && *nvswitch == FR_NONE)
        *nvswitch = fr__sketch_vertex(r->s, FR_VERTEX_NVSWITCH, "nvswitch", FR_NONE, NULL, loc);
    if (other)
        fr__sketch_link(r->s, FR_LINK_NVLINK, g->row, other->row, n * f->link->bw_Bps,
                        f->link->latency_s, true, f->link->source, loc);
    else
        fr__sketch_link(r->s, FR_LINK_NVLINK, g->row, *nvswitch,
                        f->switched->bw_Bps * ((double)n / f->n_links), f->switched->latency_s,
                        true, f->switched->source, loc);
    if (f->messages[0] && (other != NULL) == (f->join == FR__JOIN_PEERS))
        fr__sketch_message(r->s, f->messages[0], f->messages[1]);
}

/* All that one GPU sends to NVSwitches counts together. */
static enum fr_status draw_matrix(struct reader *r, const struct fr__xml *x)
{
    struct matrix *m = fr__arena_alloc(r->s->arena, 1, sizeof(*m));
    uint32_t nvswitch = FR_NONE;
    const char *p;

    if (!m)
        return fr__fail_nomem(r->s->err);
    FR_TRY(read_ends(r, x, m));
    p = join_texts(r, x, "u64values");
    if (!p)
        return fr__fail_nomem(r->s->err);
    for (size_t i = 0; i < m->n; i++) {
        double switched = 0;

        for (size_t k = 0; k < m->n; k++) {
            const char *end;
            double MBps;

            p += strspn(p, " \t\r\n");
            MBps = fr__strtod(p, &end);
            if (end == p || MBps < 0 || MBps > 1e9)
                return fr__fail(r->s->err, FR_EPARSE, x->loc,
                                "the matrix has no value of row %zu and column %zu", i, k);
            p = end;
            if (i == k || !m->ends[i] || !(MBps > 0))
                continue;
            if (m->ends[k])
                draw_nvlink(r, m->ends[i], m->ends[k], MBps, &nvswitch, x->loc);
            else
                switched += MBps;
        }
        if (switched > 0)
            draw_nvlink(r, m->ends[i], NULL, switched, &nvswitch, x->loc);
    }
    return FR_OK;
}

static enum fr_status draw_nvlinks(struct reader *r, const struct fr__xml *root)
{
    bool is_there = false;

    for (size_t i = 0; i < root->n; i++) {
        const char *name = fr__xml_get(root->items[i], "name");

        if (strncmp(root->items[i]->name, "distances2", 10) != 0 || !name ||
            (strcmp(name, "NVLinkBandwidth") != 0 && strcmp(name, "XGMIBandwidth") != 0))
            continue;
        is_there = true;
        FR_TRY(draw_matrix(r, root->items[i]));
    }
    if (!is_there)
        fr__sketch_note(r->s, "no NVLinks: the file has no NVLinkBandwidth, which hwloc writes "
                              "where it was built with NVML");
    return FR_OK;
}

/* ---- the whole ---- */

static void draw_host(struct reader *r, const struct fr__xml *root)
{
    const struct fr__xml *first = r->n_packages ? r->packages[0] : root;
    const char *vendor = info(first, "CPUVendor");
    uint32_t numbers[MAX_SOCKETS];
    const struct fr__host *host;
    bool is_exact;
    char letter = !vendor                               ? '\0'
                  : strcmp(vendor, "GenuineIntel") == 0 ? 'i'
                  : strcmp(vendor, "AuthenticAMD") == 0 ? 'a'
                                                        : 'r';

    host = fr__host_find(letter, number_of(info(first, "CPUFamilyNumber")),
                         number_of(info(first, "CPUModelNumber")), &is_exact);
    if (!is_exact)
        fr__sketch_note(r->s, "the host is taken for %s: %s", host->cpu,
                        letter ? "its own model is not known here"
                               : "the file does not say what it is");
    for (uint32_t i = 0; i < MAX_SOCKETS; i++)
        numbers[i] = i;
    fr__sketch_host(r->s, host, r->n_packages ? r->n_packages : 1, numbers, r->sockets, first->loc);
}

static enum fr_status read(struct fr__sketch *s, const char *text, size_t len)
{
    struct reader *r = fr__arena_alloc(s->arena, 1, sizeof(*r));
    const struct fr__xml *root;
    const char *version;

    if (!r)
        return fr__fail_nomem(s->err);
    r->s = s;
    FR_TRY(fr__xml_load_text(s->arena, text, len, s->path, &root, s->err));
    version = fr__xml_get(root, "version");
    if (!version || *version < '2')
        return fr__fail(s->err, FR_EPARSE, root->loc,
                        "is of hwloc 1, of hwloc 2 expected: write it anew with lstopo --of xml");
    FR_TRY(collect(r, root));
    if (r->n_gpus == 0)
        return fr__fail(
            s->err, FR_EPARSE, root->loc,
            "no GPU among the PCI devices of the file (lstopo --of xml leaves none out)");
    order_gpus(r);
    fr__sketch_machine(s, 1, root->loc);
    for (uint32_t i = 0; i < r->n_gpus; i++)
        r->gpus[i].row = fr__sketch_vertex(s, FR_VERTEX_GPU, "gpu", i,
                                           fr__gpu_facts_type(r->gpus[i].facts), r->gpus[i].x->loc);
    draw_host(r, root);
    draw(r, root, r->sockets[0]);
    if (r->n_nics > 0)
        fr__sketch_note(s, "NICs speak %s, the default beside %s: the file does not say",
                        r->gpus[0].facts->network, r->gpus[0].facts->type);
    return draw_nvlinks(r, root);
}

static bool is(const char *text, size_t len)
{
    return fr__xml_begins_with(text, len, "topology");
}

const struct fr__importer fr__importer_hwloc = {
    .name = "hwloc",
    .summary = "hwloc's XML (lstopo --of xml)",
    .source = "open-mpi/hwloc, hwloc/hwloc2.dtd",
    .is = is,
    .read = read,
};
