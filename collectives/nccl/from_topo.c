/* collectives/nccl/from_topo.c - see from_topo.h.
 *
 * NVLinks have NCCL's rates; other links keep the topology's bandwidths, which are those that large
 * messages get. NCCL's numbers for them are the same to some percent. A
 * PCIe vertex with a link between sockets is a CPU of NCCL's. GPUDirect RDMA is taken to work.
 */
#include "config.h"

#include "collectives/nccl/from_topo.h"

#include "base/error.h"
#include "base/hash.h"
#include "collectives/nccl/from_xml.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Compute capability by the beginning of a device type's name: NVIDIA, CUDA GPUs (list). */
static const struct {
    const char *start;
    unsigned sm;
} GENERATIONS[] = {
    {"k80", 37},    {"p100", 60},  {"p40", 61},    {"p4", 61},         {"v100", 70},
    {"t4", 75},     {"a100", 80},  {"a800", 80},   {"a30", 80},        {"a40", 86},
    {"a10", 86},    {"a6000", 86}, {"l40", 89},    {"l4", 89},         {"h100", 90},
    {"h200", 90},   {"h800", 90},  {"h20", 90},    {"gh200", 90},      {"b300", 103},
    {"gb300", 103}, {"b200", 100}, {"gb200", 100}, {"rtx6000ada", 89}, {"rtx20", 75},
    {"rtx30", 86},  {"rtx40", 89}, {"rtx50", 120},
};

static unsigned sm_of(const struct fr_topo *t, uint32_t device)
{
    const char *name = t->types[t->devices[device].type].name;

    for (size_t i = 0; i < sizeof(GENERATIONS) / sizeof(GENERATIONS[0]); i++)
        if (strncmp(name, GENERATIONS[i].start, strlen(GENERATIONS[i].start)) == 0)
            return GENERATIONS[i].sm;
    return 0;
}

struct builder {
    const struct fr_topo *t;
    struct fr__ns *s;
    uint32_t *node_of;   /* [n_vertices] FR_NONE: not taken */
    bool *is_here;       /* [n_machines] */
    uint32_t *domain_of; /* [n_vertices] of GPUs: their machine, or an NVSwitch of several */
    uint32_t *links;     /* [n_links] those that begin at vertices which are here */
    size_t n_links;
    bool is_full;
};

/* ---- domains ---- */

static void find_domains(struct builder *b)
{
    const struct fr_topo *t = b->t;

    for (size_t g = 0; g < t->n_gpus; g++)
        b->domain_of[t->devices[g].vertex] = t->devices[g].machine;
    for (size_t l = 0; l < t->n_links; l++) {
        const struct fr_vertex *to = &t->vertices[t->links[l].dst];

        if (to->kind == FR_VERTEX_NVSWITCH && to->machine == FR_NONE)
            b->domain_of[t->links[l].src] = (uint32_t)t->n_machines + t->links[l].dst;
    }
}

/* GPUs of each domain, all as many; 0: not so. */
static uint32_t per_domain(const struct builder *b, const uint32_t devices[], uint32_t n)
{
    uint32_t each = 0, here = 0;

    for (uint32_t i = 0; i < n; i++) {
        uint32_t domain = b->domain_of[b->t->devices[devices[i]].vertex];

        if (i > 0 && domain != b->domain_of[b->t->devices[devices[i - 1]].vertex]) {
            if (each > 0 && here != each)
                return 0;
            each = here;
            here = 0;
        }
        here++;
    }
    return each == 0 || here == each ? here : 0;
}

/* ---- nodes ---- */

static bool is_socket(const struct builder *b, uint32_t vertex)
{
    for (size_t i = 0; i < b->n_links; i++) {
        const struct fr_link *l = &b->t->links[b->links[i]];

        if (l->src == vertex && l->kind == FR_LINK_CPU)
            return true;
    }
    return false;
}

static uint32_t add(struct builder *b, uint32_t vertex, enum fr__ns_type type)
{
    uint32_t node = fr__ns_add(b->s, type);

    b->node_of[vertex] = node;
    b->is_full |= node == FR_NONE;
    return node;
}

static enum fr__nccl_cpu_kind vendor_of(const struct fr_topo *t, uint32_t machine)
{
    for (size_t d = t->n_gpus; d < t->n_devices; d++) {
        const char *name = t->types[t->devices[d].type].name;

        if (t->devices[d].machine != machine)
            continue;
        if (strstr(name, "epyc"))
            return FR__NCCL_CPU_AMD;
        if (strstr(name, "xeon"))
            return FR__NCCL_CPU_INTEL;
    }
    return FR__NCCL_CPU_OTHER;
}

static void add_cpu(struct builder *b, uint32_t vertex, uint32_t machine)
{
    uint32_t node = add(b, vertex, FR__NS_CPU);

    if (b->is_full)
        return;
    b->s->nodes[node].vendor = vendor_of(b->t, machine);
    b->s->nodes[node].is_x86 = b->s->nodes[node].vendor != FR__NCCL_CPU_OTHER;
}

/* A NIC and its port; the port's speed is that of its cable. */
static void add_nic(struct builder *b, uint32_t vertex)
{
    double most_Bps = 0;
    uint32_t nic, net;

    for (size_t i = 0; i < b->n_links; i++) {
        const struct fr_link *l = &b->t->links[b->links[i]];

        if (l->src == vertex && l->kind == FR_LINK_NET && l->bw_Bps > most_Bps)
            most_Bps = l->bw_Bps;
    }
    if (!(most_Bps > 0))
        return;
    nic = add(b, vertex, FR__NS_NIC);
    net = b->is_full ? FR_NONE : fr__ns_add(b->s, FR__NS_NET);
    b->is_full |= net == FR_NONE;
    if (b->is_full)
        return;
    b->s->nodes[net].net_bw = (float)(most_Bps / 1e9);
    b->s->nodes[net].dev = b->s->nodes[net].number;
    b->s->nodes[net].asic = b->s->nodes[net].number;
    b->s->nodes[net].has_gdr = true;
    b->is_full |= !fr__ns_connect(b->s, nic, net, FR__NS_TO_NET, (float)(most_Bps / 1e9));
}

static void add_gpus(struct builder *b, const uint32_t devices[], uint32_t n)
{
    for (uint32_t i = 0; i < n && !b->is_full; i++) {
        const struct fr_device *d = &b->t->devices[devices[i]];
        uint32_t node = add(b, d->vertex, FR__NS_GPU);

        b->is_here[d->machine] = true;
        if (b->is_full)
            return;
        b->s->nodes[node].sm = sm_of(b->t, devices[i]);
        b->s->nodes[node].dev = i;
        b->s->nodes[node].has_gdr = true;
    }
}

static bool is_ours(const struct builder *b, const struct fr_vertex *v)
{
    return v->machine == FR_NONE ? v->kind == FR_VERTEX_NVSWITCH : b->is_here[v->machine];
}

/* The links of the machine, which are few of a cluster's. */
static void list_links(struct builder *b)
{
    const struct fr_topo *t = b->t;

    for (uint32_t l = 0; l < t->n_links; l++)
        if (is_ours(b, &t->vertices[t->links[l].src]))
            b->links[b->n_links++] = l;
}

static void add_vertices(struct builder *b)
{
    uint32_t nvs = FR_NONE;

    for (uint32_t i = 0; i < b->t->n_vertices && !b->is_full; i++) {
        const struct fr_vertex *v = &b->t->vertices[i];

        if (!is_ours(b, v) || b->node_of[i] != FR_NONE)
            continue;
        if (v->kind == FR_VERTEX_NIC)
            add_nic(b, i);
        else if (v->kind == FR_VERTEX_PCIE && is_socket(b, i))
            add_cpu(b, i, v->machine);
        else if (v->kind == FR_VERTEX_PCIE)
            add(b, i, FR__NS_PCI);
        else if (v->kind == FR_VERTEX_NVSWITCH) /* all are one */
            nvs = b->node_of[i] = nvs != FR_NONE ? nvs : add(b, i, FR__NS_NVS);
    }
    for (uint32_t i = 0; i < b->t->n_vertices && b->s->count[FR__NS_CPU] == 0; i++)
        if (b->t->vertices[i].kind == FR_VERTEX_CPU && is_ours(b, &b->t->vertices[i]))
            add_cpu(b, i, b->t->vertices[i].machine);
}

/* GB/s of a bundle of NVLinks as NCCL counts them: links times its own rate of one. How many there
 * are follows from what large messages get of each: between GPUs about .93 of the 20 (P100), 25 or
 * 50 (SM100) GB/s of a link, through NVSwitches .75 or more and at most all of the GPU (6, 12, 18).
 * */
static double nvlink_GBps(const struct builder *b, uint32_t from, uint32_t to, double bw_GBps)
{
    const struct fr__ns_node *one = &b->s->nodes[from], *other = &b->s->nodes[to];
    unsigned sm = one->type == FR__NS_GPU ? one->sm : other->sm;
    double raw = sm >= 100 ? 50 : sm >= 70 ? 25 : 20, n;

    if (one->type == FR__NS_NVS || other->type == FR__NS_NVS)
        n = fmin(sm >= 90 ? 18 : sm >= 80 ? 12 : 6, ceil(bw_GBps / (.75 * raw)));
    else
        n = fmax(round(bw_GBps / (.93 * raw)), 1);
    return n * (double)fr__ns_nvlink(b->s->version, sm);
}

static void add_links(struct builder *b)
{
    static const enum fr__ns_link_type TYPES[FR_N_LINK_KINDS] = {
        [FR_LINK_NVLINK] = FR__NS_NVLINK,
        [FR_LINK_PCIE] = FR__NS_PCIE,
        [FR_LINK_CPU] = FR__NS_BETWEEN_CPUS,
        [FR_LINK_NET] = FR__NS_TO_NET,
    };

    for (size_t i = 0; i < b->n_links && !b->is_full; i++) {
        const struct fr_link *k = &b->t->links[b->links[i]];
        uint32_t from = b->node_of[k->src], to = b->node_of[k->dst];
        enum fr__ns_link_type type = TYPES[k->kind];
        double bw_GBps = k->bw_Bps / 1e9;

        if (from == FR_NONE || to == FR_NONE || k->kind == FR_LINK_NET)
            continue;
        if (k->kind == FR_LINK_NVLINK &&
            (b->s->nodes[from].type == FR__NS_CPU || b->s->nodes[to].type == FR__NS_CPU))
            type = FR__NS_C2C;
        if (type == FR__NS_NVLINK)
            bw_GBps = nvlink_GBps(b, from, to, bw_GBps);
        b->is_full |= !fr__ns_link(b->s, from, to, type, (float)bw_GBps);
    }
}

/* ---- machines of one kind ---- */

enum { MOST_KINDS = 64 };

/* What tells machines apart for NCCL: their GPUs that take part, CPUs and links. */
struct kinds {
    uint64_t *of_machine; /* [n_machines] */
    uint64_t hash[MOST_KINDS];
    uint32_t first[MOST_KINDS]; /* of the devices of the first domain of the kind */
    size_t n;
};

static uint64_t mix(uint64_t hash, uint64_t x)
{
    return fr__hash_id(hash ^ fr__hash_id(x + 1));
}

static uint64_t bits_of(double x)
{
    uint64_t bits;

    memcpy(&bits, &x, sizeof(bits));
    return bits;
}

/* Links by where they begin and end in their machine. Vertices of a machine are counted from its
 * first one. */
static bool hash_machines(const struct fr_topo *t, struct kinds *k)
{
    uint32_t *first = malloc(t->n_machines * sizeof(*first));

    k->of_machine = calloc(t->n_machines, sizeof(*k->of_machine));
    if (!first || !k->of_machine) {
        free(first);
        return false;
    }
    for (size_t v = t->n_vertices; v-- > 0;)
        if (t->vertices[v].machine != FR_NONE)
            first[t->vertices[v].machine] = (uint32_t)v;
    for (size_t l = 0; l < t->n_links; l++) {
        const struct fr_link *link = &t->links[l];
        uint32_t from = t->vertices[link->src].machine, to = t->vertices[link->dst].machine;

        if (from != FR_NONE) /* between switches of the network: of no machine */
            k->of_machine[from] = mix(
                mix(k->of_machine[from], link->kind),
                mix(bits_of(link->bw_Bps),
                    mix(link->src - first[from], from == to ? link->dst - first[from] : FR_NONE)));
    }
    for (size_t d = t->n_gpus; d < t->n_devices; d++)
        k->of_machine[t->devices[d].machine] =
            mix(k->of_machine[t->devices[d].machine], t->devices[d].type);
    free(first);
    return true;
}

/* The first domain of each kind, so far as there is room. */
static void find_kinds(const struct fr_topo *t, const uint32_t devices[], uint32_t n, uint32_t each,
                       struct kinds *k)
{
    for (uint32_t at = 0; at < n; at += each) {
        const struct fr_device *first = &t->devices[devices[at]];
        uint64_t hash = each;
        size_t i = 0;

        for (uint32_t g = at; g < at + each; g++) {
            const struct fr_device *d = &t->devices[devices[g]];

            hash = mix(mix(hash, d->type), d->vertex - first->vertex);
            if (g == at || d->machine != t->devices[devices[g - 1]].machine)
                hash = mix(hash, k->of_machine[d->machine]);
        }
        while (i < k->n && k->hash[i] != hash)
            i++;
        if (i == k->n && k->n < MOST_KINDS) {
            k->hash[k->n] = hash;
            k->first[k->n++] = at;
        }
    }
}

/* ---- the whole ---- */

static enum fr_status search(struct builder *b, const uint32_t devices[], uint32_t each,
                             uint32_t n_nodes, struct fr__nccl_comm *out, uint32_t **chains,
                             struct fr_error *err)
{
    struct fr__ns_channels tree = {NULL, NULL};

    memset(b->node_of, 0xff, b->t->n_vertices * sizeof(*b->node_of)); /* FR_NONE */
    memset(b->is_here, 0, b->t->n_machines * sizeof(*b->is_here));
    b->n_links = 0;
    add_gpus(b, devices, each);
    list_links(b);
    add_vertices(b);
    add_links(b);
    if (b->is_full)
        return fr__ns_fail_full(b->s, err);
    for (uint32_t g = 0; g < b->s->count[FR__NS_GPU]; g++)
        if (fr__ns_at(b->s, FR__NS_GPU, g)->sm == 0)
            return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                            "the compute capability of these GPUs is not known");
    if (n_nodes > 1 && b->s->count[FR__NS_NET] == 0)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "the machines have no NICs");
    FR_TRY(fr__ns_finish(b->s, n_nodes > 1, err));
    FR_TRY(fr__ns_comm(b->s, n_nodes, out, &tree, err));
    free(tree.nets);
    *chains = tree.gpus;
    return FR_OK;
}

static double tree_GBps(const struct fr__nccl_comm *c)
{
    return c->tree.n_channels * c->tree.bw_intra;
}

/* One kind after the other. The chains are those of the kind with the narrowest trees: NVSwitches
 * take any order. */
static enum fr_status search_kinds(struct builder *b, const struct kinds *k,
                                   const uint32_t devices[], uint32_t n, uint32_t each,
                                   struct fr__nccl_comm *out, uint32_t **chains,
                                   struct fr_error *err)
{
    double least_GBps = INFINITY;

    for (size_t i = 0; i < k->n; i++) {
        struct fr__ns s = {.version = b->s->version, .can_peer = true};
        struct builder of = *b;
        struct fr__nccl_comm comm;
        uint32_t *own = NULL;
        enum fr_status st;

        of.s = &s;
        st = search(&of, devices + k->first[i], each, n / each, &comm, &own, err);
        fr__ns_fini(&s);
        if (st != FR_OK)
            return st;
        if (tree_GBps(&comm) < least_GBps) {
            least_GBps = tree_GBps(&comm);
            free(*chains);
            *chains = own;
        } else {
            free(own);
        }
        if (i == 0)
            *out = comm;
        else
            fr__ns_comm_merge(out, &comm);
    }
    return FR_OK;
}

static enum fr_status make_comm(struct builder *b, const uint32_t devices[], uint32_t n,
                                struct fr__nccl_comm *out, uint32_t **chains, struct fr_error *err)
{
    struct kinds kinds = {.n = 0};
    uint32_t each;

    find_domains(b);
    each = per_domain(b, devices, n);
    if (each == 0)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "the machines have different numbers of these GPUs");
    if (!hash_machines(b->t, &kinds)) {
        free(kinds.of_machine);
        return fr__fail_nomem(err);
    }
    find_kinds(b->t, devices, n, each, &kinds);
    free(kinds.of_machine);
    return search_kinds(b, &kinds, devices, n, each, out, chains, err);
}

enum fr_status fr__nccl_comm_of(const struct fr_topo *t, const uint32_t devices[], uint32_t n,
                                unsigned version, struct fr__nccl_comm *out, uint32_t **chains,
                                struct fr_error *err)
{
    struct fr__ns s = {.version = version};
    struct builder b = {.t = t, .s = &s};
    uint32_t *found = NULL;
    enum fr_status st;

    b.node_of = malloc(t->n_vertices * sizeof(*b.node_of));
    b.domain_of = calloc(t->n_vertices, sizeof(*b.domain_of));
    b.is_here = calloc(t->n_machines + 1, sizeof(*b.is_here));
    b.links = malloc((t->n_links + 1) * sizeof(*b.links));
    if (b.node_of && b.domain_of && b.is_here && b.links)
        st = make_comm(&b, devices, n, out, &found, err);
    else
        st = fr__fail_nomem(err);
    if (st == FR_OK && chains)
        *chains = found;
    else
        free(found);
    free(b.node_of);
    free(b.domain_of);
    free(b.is_here);
    free(b.links);
    return st;
}
