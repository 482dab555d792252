/* topo/import/nccl_xml.c - reads the typed tree of an NCCL topology file.
 *
 * One reader a kind of element, in a table by name; a loop goes over the XML tree. Links between
 * GPUs are joined to the GPU they lead to at the end, when all bus numbers are known.
 */
#include "config.h"

#include "base/error.h"
#include "topo/import/nccl_xml.h"

#include <stdlib.h>
#include <string.h>

enum {
    MAX_NODES = 4096,          /* NCCL's own limit is 256 a host */
    MAX_DEVICE = 65535,        /* dev, rank, rail */
    MAX_LINKS = 1024,          /* parallel links; 18 on a B200 */
    MAX_LANES = 32,            /* PCIe's widest link */
    MAX_SPEED_Mbps = 10000000, /* 10 Tbit/s a port; 800 Gbit/s are sold */
};

struct reader {
    struct fr__arena *arena;
    struct fr_error *err;
    struct fr__nccl_system *system;
    struct fr__nccl_node **nodes; /* [MAX_NODES] those made so far, in order of the file */
    size_t n_nodes;
};

typedef enum fr_status (*read_fn)(struct reader *r, const struct fr__xml *x,
                                  struct fr__nccl_node *node);

/* ---- values ---- */

/* The hexadecimal digits of a bus number; FR_EPARSE where something else than ':' and '.' is
 * between. */
static enum fr_status read_address(const struct fr__xml *x, const char *key, const char **text,
                                   uint64_t *address, struct fr_error *err)
{
    char excerpt[FR__EXCERPT];
    unsigned n = 0;

    FR_TRY(fr__xml_text(x, key, text, err));
    *address = 0;
    for (const char *p = *text; *p; p++) {
        static const char digits[] = "0123456789abcdef0123456789ABCDEF";
        const char *d = strchr(digits, *p);

        if (*p == ':' || *p == '.')
            continue;
        if (!d || ++n > 16)
            return fr__fail(err, FR_EPARSE, x->loc,
                            "'%s' of <%s> is \"%s\", a bus number like 0000:10:00.0 expected", key,
                            x->name, fr__excerpt(*text, excerpt));
        *address = *address << 4 | (uint64_t)(d - digits) % 16;
    }
    if (n == 0)
        return fr__fail(err, FR_EPARSE, x->loc, "'%s' of <%s> is empty, a bus number expected", key,
                        x->name);
    return FR_OK;
}

/* "0x030200": at most 64 bits; fallback where it is missing or empty. */
static enum fr_status read_hex(const struct fr__xml *x, const char *key, uint64_t max, int64_t *out,
                               struct fr_error *err)
{
    const char *text = fr__xml_get(x, key), *digits = text;
    char excerpt[FR__EXCERPT];
    uint64_t value = 0;

    *out = FR__NCCL_UNSAID;
    if (!text || !*text)
        return FR_OK;
    if (strncmp(digits, "0x", 2) == 0)
        digits += 2;
    if (!*digits || strlen(digits) > 16 ||
        strspn(digits, "0123456789abcdefABCDEF") != strlen(digits))
        return fr__fail(err, FR_EPARSE, x->loc,
                        "'%s' of <%s> is \"%s\", a number like 0x030200 expected", key, x->name,
                        fr__excerpt(text, excerpt));
    value = strtoull(digits, NULL, 16);
    if (value > max)
        return fr__fail(err, FR_ERANGE, x->loc, "'%s' of <%s> is \"%s\", too large", key, x->name,
                        fr__excerpt(text, excerpt));
    *out = (int64_t)value;
    return FR_OK;
}

/* Longest fitting prefix of the class, as NCCL compares them. */
static enum fr__nccl_pci_kind kind_of_class(uint32_t code)
{
    if (code == 0)
        return FR__NCCL_PCI_UNSAID;
    if (code == 0x068001)
        return FR__NCCL_PCI_CPU_BRIDGE;
    if (code == 0x068000)
        return FR__NCCL_PCI_NVSWITCH;
    if (code >> 16 == 0x03 || code >> 8 == 0x1200) /* display; AMD's processing accelerators */
        return FR__NCCL_PCI_GPU;
    return code >> 16 == 0x02 ? FR__NCCL_PCI_NIC : FR__NCCL_PCI_SWITCH;
}

/* ---- elements ---- */

static enum fr_status read_cpu(struct reader *r, const struct fr__xml *x,
                               struct fr__nccl_node *node)
{
    struct fr__nccl_cpu *c = &node->u.cpu;
    const char *arch = fr__xml_get(x, "arch"), *vendor = fr__xml_get(x, "vendor");
    const char *unused;
    int64_t hash;

    FR_TRY(fr__xml_text(x, "numaid", &unused, r->err));
    FR_TRY(fr__xml_integer(x, "numaid", 0, -1, MAX_DEVICE, &c->numa_id, r->err));
    FR_TRY(fr__xml_integer(x, "familyid", FR__NCCL_UNSAID, 0, 65535, &c->family_id, r->err));
    FR_TRY(fr__xml_integer(x, "modelid", FR__NCCL_UNSAID, 0, 65535, &c->model_id, r->err));
    FR_TRY(read_hex(x, "host_hash", UINT64_MAX, &hash, r->err));
    c->host_hash = hash == FR__NCCL_UNSAID ? 0 : (uint64_t)hash;
    c->affinity = fr__xml_get(x, "affinity");
    if (arch)
        c->arch = strcmp(arch, "x86_64") == 0  ? FR__NCCL_X86
                  : strcmp(arch, "arm64") == 0 ? FR__NCCL_ARM
                  : strcmp(arch, "ppc64") == 0 ? FR__NCCL_POWER
                                               : FR__NCCL_ARCH_UNSAID;
    if (vendor)
        c->vendor = strcmp(vendor, "GenuineIntel") == 0   ? FR__NCCL_INTEL
                    : strcmp(vendor, "AuthenticAMD") == 0 ? FR__NCCL_AMD
                    : strcmp(vendor, "CentaurHauls") == 0 || strcmp(vendor, "  Shanghai  ") == 0
                        ? FR__NCCL_ZHAOXIN
                        : FR__NCCL_VENDOR_UNSAID;
    r->system->n_cpus++;
    return FR_OK;
}

/* Gigatransfers a second of "8 GT/s", "8.0 GT/s PCIe"; what Linux calls unknown is unsaid. */
static enum fr_status read_link_speed(const struct fr__xml *x, struct fr__nccl_pci *p,
                                      struct fr_error *err)
{
    static const struct {
        const char *text;
        double GTps;
    } speeds[] = {{"2.5 ", 2.5}, {"5 ", 5},   {"5.0 ", 5},   {"8 ", 8},   {"8.0 ", 8},  {"16 ", 16},
                  {"16.0 ", 16}, {"32 ", 32}, {"32.0 ", 32}, {"64 ", 64}, {"64.0 ", 64}};
    const char *text = fr__xml_get(x, "link_speed");
    char excerpt[FR__EXCERPT];

    if (!text || !*text || strncmp(text, "Unknown", 7) == 0)
        return FR_OK;
    for (size_t i = 0; i < sizeof(speeds) / sizeof(speeds[0]); i++) {
        size_t n = strlen(speeds[i].text);

        if (strncmp(text, speeds[i].text, n) == 0 && strncmp(text + n, "GT/s", 4) == 0) {
            p->link_speed = text;
            p->link_GTps = speeds[i].GTps;
            return FR_OK;
        }
    }
    return fr__fail(err, FR_EPARSE, x->loc,
                    "'link_speed' is \"%s\", one of 2.5, 5, 8, 16, 32, 64 GT/s expected",
                    fr__excerpt(text, excerpt));
}

static enum fr_status read_pci(struct reader *r, const struct fr__xml *x,
                               struct fr__nccl_node *node)
{
    struct fr__nccl_pci *p = &node->u.pci;
    int64_t code;

    FR_TRY(read_address(x, "busid", &p->busid, &p->address, r->err));
    FR_TRY(read_hex(x, "class", 0xffffff, &code, r->err));
    p->class_code = code == FR__NCCL_UNSAID ? 0 : (uint32_t)code;
    p->kind = kind_of_class(p->class_code);
    FR_TRY(read_hex(x, "vendor", 0xffff, &p->vendor, r->err));
    FR_TRY(read_hex(x, "device", 0xffff, &p->device, r->err));
    FR_TRY(read_hex(x, "subsystem_vendor", 0xffff, &p->sub_vendor, r->err));
    FR_TRY(read_hex(x, "subsystem_device", 0xffff, &p->sub_device, r->err));
    FR_TRY(fr__xml_integer(x, "link_width", FR__NCCL_UNSAID, 0, MAX_LANES, &p->link_width, r->err));
    return read_link_speed(x, p, r->err);
}

static enum fr_status read_gpu(struct reader *r, const struct fr__xml *x,
                               struct fr__nccl_node *node)
{
    struct fr__nccl_gpu *g = &node->u.gpu;

    FR_TRY(fr__xml_integer(x, "dev", FR__NCCL_UNSAID, -1, MAX_DEVICE, &g->dev, r->err));
    FR_TRY(fr__xml_integer(x, "sm", FR__NCCL_UNSAID, 0, 4096, &g->sm, r->err));
    FR_TRY(fr__xml_integer(x, "rank", FR__NCCL_UNSAID, -1, MAX_DEVICE, &g->rank, r->err));
    FR_TRY(fr__xml_integer(x, "gdr", FR__NCCL_UNSAID, 0, 1, &g->gdr, r->err));
    FR_TRY(fr__xml_integer(x, "gcn", FR__NCCL_UNSAID, 0, MAX_DEVICE, &g->gcn, r->err));
    r->system->is_rccl |= g->gcn != FR__NCCL_UNSAID;
    return FR_OK;
}

static enum fr_status read_nvlink(struct reader *r, const struct fr__xml *x,
                                  struct fr__nccl_node *node)
{
    struct fr__nccl_nvlink *l = &node->u.nvlink;
    int64_t code;

    FR_TRY(read_address(x, "target", &l->target, &l->address, r->err));
    FR_TRY(fr__xml_integer(x, "count", 1, 1, MAX_LINKS, &l->count, r->err));
    FR_TRY(read_hex(x, "tclass", 0xffffff, &code, r->err));
    l->kind = kind_of_class(code == FR__NCCL_UNSAID ? 0 : (uint32_t)code);
    if (l->kind == FR__NCCL_PCI_SWITCH && code >> 8 == 0x0680)
        l->kind = FR__NCCL_PCI_NVSWITCH;
    r->system->is_rccl |= strcmp(x->name, "xgmi") == 0;
    return FR_OK;
}

static enum fr_status read_c2c(struct reader *r, const struct fr__xml *x,
                               struct fr__nccl_node *node)
{
    struct fr__nccl_c2c *c = &node->u.c2c;

    FR_TRY(fr__xml_number(x, "bw", 0, 1, 1e7, &c->bw_MBps, r->err));
    return fr__xml_integer(x, "count", 1, 1, MAX_LINKS, &c->count, r->err);
}

static enum fr_status read_net(struct reader *r, const struct fr__xml *x,
                               struct fr__nccl_node *node)
{
    struct fr__nccl_net *n = &node->u.net;
    int64_t guid;

    n->name = fr__xml_get(x, "name");
    FR_TRY(fr__xml_integer(x, "dev", FR__NCCL_UNSAID, -1, MAX_DEVICE, &n->dev, r->err));
    FR_TRY(fr__xml_number(x, "speed", 0, 0, MAX_SPEED_Mbps, &n->speed_Mbps, r->err));
    FR_TRY(fr__xml_integer(x, "port", FR__NCCL_UNSAID, 0, MAX_DEVICE, &n->port, r->err));
    FR_TRY(fr__xml_number(x, "latency", 0, 0, 1e6, &n->latency_us, r->err));
    FR_TRY(read_hex(x, "guid", UINT64_MAX, &guid, r->err));
    n->has_guid = fr__xml_get(x, "guid") != NULL;
    n->guid = n->has_guid ? (uint64_t)guid : 0;
    FR_TRY(fr__xml_integer(x, "gdr", FR__NCCL_UNSAID, 0, 1, &n->gdr, r->err));
    FR_TRY(fr__xml_integer(x, "coll", FR__NCCL_UNSAID, 0, 1, &n->coll, r->err));
    FR_TRY(
        fr__xml_integer(x, "maxconn", FR__NCCL_UNSAID, 0, INT32_MAX, &n->max_connections, r->err));
    FR_TRY(fr__xml_integer(x, "rail", FR__NCCL_UNSAID, -1, MAX_DEVICE, &n->rail, r->err));
    FR_TRY(fr__xml_integer(x, "plane", FR__NCCL_UNSAID, -1, MAX_DEVICE, &n->plane, r->err));
    return FR_OK;
}

static enum fr_status read_pcilink(struct reader *r, const struct fr__xml *x,
                                   struct fr__nccl_node *node)
{
    struct fr__nccl_pcilink *l = &node->u.pcilink;

    return read_address(x, "target", &l->target, &l->address, r->err);
}

static enum fr_status read_nothing(struct reader *r, const struct fr__xml *x,
                                   struct fr__nccl_node *node)
{
    (void)r, (void)x, (void)node;
    return FR_OK;
}

/* ---- the tree ---- */

#define BELOW(tag) (1u << (tag))

static const struct {
    const char *name;
    enum fr__nccl_tag tag;
    unsigned parents; /* the tags below which NCCL looks for it */
    read_fn read;
} elements[] = {
    {"cpu", FR__NCCL_CPU, BELOW(FR__NCCL_SYSTEM), read_cpu},
    {"pci", FR__NCCL_PCI, BELOW(FR__NCCL_CPU) | BELOW(FR__NCCL_PCI), read_pci},
    {"gpu", FR__NCCL_GPU, BELOW(FR__NCCL_PCI), read_gpu},
    {"nvlink", FR__NCCL_NVLINK, BELOW(FR__NCCL_GPU), read_nvlink},
    {"xgmi", FR__NCCL_NVLINK, BELOW(FR__NCCL_GPU), read_nvlink},
    {"c2c", FR__NCCL_C2C, BELOW(FR__NCCL_GPU), read_c2c},
    {"nic", FR__NCCL_NIC, BELOW(FR__NCCL_CPU) | BELOW(FR__NCCL_PCI), read_nothing},
    {"net", FR__NCCL_NET, BELOW(FR__NCCL_NIC), read_net},
    {"pcilink", FR__NCCL_PCILINK, BELOW(FR__NCCL_PCI), read_pcilink},
};

enum { N_ELEMENTS = sizeof(elements) / sizeof(elements[0]) };

static enum fr_status read_children(struct reader *r, const struct fr__xml *x,
                                    struct fr__nccl_node *parent);

/* The node of one element, with all below it; NULL for one that is passed over. */
static enum fr_status read_node(struct reader *r, const struct fr__xml *x,
                                const struct fr__nccl_node *parent, struct fr__nccl_node **out)
{
    size_t e = 0;

    *out = NULL;
    while (e < N_ELEMENTS &&
           (strcmp(elements[e].name, x->name) != 0 || !(elements[e].parents & BELOW(parent->tag))))
        e++;
    if (e == N_ELEMENTS) {
        if (r->system->n_skipped++ == 0)
            r->system->skipped = x->name;
        return FR_OK;
    }
    if (r->n_nodes == MAX_NODES)
        return fr__fail(r->err, FR_ERANGE, x->loc, "more than %d elements in a topology",
                        MAX_NODES);
    *out = fr__arena_alloc(r->arena, 1, sizeof(**out));
    if (!*out)
        return fr__fail_nomem(r->err);
    (*out)->tag = elements[e].tag;
    (*out)->loc = x->loc;
    (*out)->parent = parent;
    r->nodes[r->n_nodes++] = *out;
    FR_TRY(elements[e].read(r, x, *out));
    return read_children(r, x, *out);
}

static enum fr_status read_children(struct reader *r, const struct fr__xml *x,
                                    struct fr__nccl_node *parent)
{
    const struct fr__nccl_node **items = fr__arena_alloc(r->arena, x->n, sizeof(*items));

    if (!items)
        return fr__fail_nomem(r->err);
    parent->items = items;
    for (size_t i = 0; i < x->n; i++) {
        struct fr__nccl_node *node;

        FR_TRY(read_node(r, x->items[i], parent, &node));
        if (node)
            items[parent->n++] = node;
    }
    return FR_OK;
}

/* ---- lists of the whole tree ---- */

static int compare_addresses(const void *a, const void *b)
{
    const struct fr__nccl_node *x = *(struct fr__nccl_node *const *)a;
    const struct fr__nccl_node *y = *(struct fr__nccl_node *const *)b;

    if (x->u.pci.address != y->u.pci.address)
        return x->u.pci.address < y->u.pci.address ? -1 : 1;
    return x->loc.line != y->loc.line ? (x->loc.line < y->loc.line ? -1 : 1)
                                      : (x->loc.col > y->loc.col) - (x->loc.col < y->loc.col);
}

/* The nodes of one tag in order of the file; NULL: out of memory. */
static struct fr__nccl_node **list_of(struct reader *r, enum fr__nccl_tag tag, size_t *n)
{
    struct fr__nccl_node **list = fr__arena_alloc(r->arena, r->n_nodes, sizeof(*list));

    *n = 0;
    for (size_t i = 0; list && i < r->n_nodes; i++)
        if (r->nodes[i]->tag == tag)
            list[(*n)++] = r->nodes[i];
    return list;
}

static const struct fr__nccl_node *gpu_below(const struct fr__nccl_node *pci)
{
    for (size_t i = 0; i < pci->n; i++)
        if (pci->items[i]->tag == FR__NCCL_GPU)
            return pci->items[i];
    return NULL;
}

/* The GPU at a bus number, among PCI elements sorted by it; NULL: none. */
static const struct fr__nccl_node *find_gpu(struct fr__nccl_node *const pcis[], size_t n,
                                            uint64_t address)
{
    size_t low = 0, high = n;

    while (low < high) {
        size_t mid = (low + high) / 2;

        if (pcis[mid]->u.pci.address < address)
            low = mid + 1;
        else
            high = mid;
    }
    return low < n && pcis[low]->u.pci.address == address ? gpu_below(pcis[low]) : NULL;
}

static enum fr_status check_addresses(struct reader *r, struct fr__nccl_node *const pcis[],
                                      size_t n)
{
    char excerpt[FR__EXCERPT];

    for (size_t i = 1; i < n; i++)
        if (pcis[i - 1]->u.pci.address == pcis[i]->u.pci.address)
            return fr__fail(r->err, FR_EPARSE, pcis[i]->loc,
                            "bus number '%s' appears twice, first at line %u",
                            fr__excerpt(pcis[i]->u.pci.busid, excerpt), pcis[i - 1]->loc.line);
    return FR_OK;
}

/* Lists GPUs and ports, refuses doubled bus numbers, joins NVLinks to the GPUs they lead to. */
static enum fr_status finish(struct reader *r)
{
    struct fr__nccl_system *s = r->system;
    struct fr__nccl_node **pcis, **gpus, **nets;
    size_t n_pcis;

    s->n_nodes = r->n_nodes;
    gpus = list_of(r, FR__NCCL_GPU, &s->n_gpus);
    nets = list_of(r, FR__NCCL_NET, &s->n_nets);
    pcis = list_of(r, FR__NCCL_PCI, &n_pcis);
    if (!gpus || !nets || !pcis)
        return fr__fail_nomem(r->err);
    s->gpus = (const struct fr__nccl_node *const *)gpus;
    s->nets = (const struct fr__nccl_node *const *)nets;
    qsort(pcis, n_pcis, sizeof(struct fr__nccl_node *), compare_addresses);
    FR_TRY(check_addresses(r, pcis, n_pcis));
    for (size_t i = 0; i < r->n_nodes; i++)
        if (r->nodes[i]->tag == FR__NCCL_NVLINK)
            r->nodes[i]->u.nvlink.gpu = find_gpu(pcis, n_pcis, r->nodes[i]->u.nvlink.address);
    return FR_OK;
}

/* ---- whole files ---- */

bool fr__nccl_xml_is(const struct fr__xml *root)
{
    return strcmp(root->name, "system") == 0;
}

enum fr_status fr__nccl_xml_parse(struct fr__arena *a, const struct fr__xml *root,
                                  const struct fr__nccl_system **out, struct fr_error *err)
{
    struct fr__nccl_system *s = fr__arena_alloc(a, 1, sizeof(*s));
    struct fr__nccl_node *node = fr__arena_alloc(a, 1, sizeof(*node));
    struct fr__nccl_node **nodes = fr__arena_alloc(a, MAX_NODES, sizeof(*nodes));
    struct reader r = {a, err, s, nodes, 0};
    char excerpt[FR__EXCERPT];

    if (!s || !node || !nodes)
        return fr__fail_nomem(err);
    if (!fr__nccl_xml_is(root))
        return fr__fail(err, FR_EPARSE, root->loc,
                        "<%s> is not the root of an NCCL topology, <system> expected",
                        fr__excerpt(root->name, excerpt));
    FR_TRY(fr__xml_integer(root, "version", 1, 1, 2, &s->version, err));
    s->file = root->loc.file;
    s->is_rccl = s->version == 2;
    s->root = node;
    nodes[r.n_nodes++] = node;
    node->tag = FR__NCCL_SYSTEM;
    node->loc = root->loc;
    FR_TRY(read_children(&r, root, node));
    FR_TRY(finish(&r));
    *out = s;
    return FR_OK;
}

enum fr_status fr__nccl_xml_load_text(struct fr__arena *a, const char *text, size_t len,
                                      const char *name, const struct fr__nccl_system **out,
                                      struct fr_error *err)
{
    const struct fr__xml *root;

    FR_TRY(fr__xml_load_text(a, text, len, name, &root, err));
    return fr__nccl_xml_parse(a, root, out, err);
}

enum fr_status fr__nccl_xml_load(struct fr__arena *a, const char *path,
                                 const struct fr__nccl_system **out, struct fr_error *err)
{
    const struct fr__xml *root;

    FR_TRY(fr__xml_load(a, path, &root, err));
    return fr__nccl_xml_parse(a, root, out, err);
}

/* ---- reading the tree ---- */

const struct fr__nccl_node *fr__nccl_pci_of(const struct fr__nccl_node *node)
{
    while (node && node->tag != FR__NCCL_PCI)
        node = node->parent;
    return node;
}

const struct fr__nccl_node *fr__nccl_cpu_of(const struct fr__nccl_node *node)
{
    while (node && node->tag != FR__NCCL_CPU)
        node = node->parent;
    return node;
}

double fr__nccl_pcie_Bps(const struct fr__nccl_pci *pci)
{
    double GTps = pci->link_GTps > 0 ? pci->link_GTps : 8;
    double lanes = pci->link_width > 0 ? (double)pci->link_width : 16;

    /* NCCL counts 60 a lane at 8 GT/s, in 1/80 GB/s; 15, 30, 120, 240, 480 at the others */
    return lanes * 60e9 / 80 * GTps / 8;
}
