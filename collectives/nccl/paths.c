/* collectives/nccl/paths.c - the best paths between nodes, by kind and bandwidth (paths.cc). */
#include "config.h"

#include "collectives/nccl/system.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

/* ---- order of links ---- */

/* Puts the link upwards of each node of a PCIe tree last. */
static void sort_tree(struct fr__ns *s, uint32_t node, uint32_t up)
{
    struct fr__ns_node *k = &s->nodes[node];

    for (uint32_t i = 0; up != FR_NONE && i + 1 < k->n_links; i++)
        if (k->links[i].to == up) {
            struct fr__ns_link link = k->links[i];

            memmove(&k->links[i], &k->links[i + 1], (k->n_links - i - 1) * sizeof(link));
            k->links[k->n_links - 1] = link;
            break;
        }
    for (uint32_t i = 0; i < k->n_links; i++)
        if (k->links[i].type == FR__NS_PCIE && k->links[i].to != up &&
            s->nodes[k->links[i].to].type != FR__NS_CPU)
            sort_tree(s, k->links[i].to, node);
}

/* ---- breadth first from one node ---- */

struct front {
    uint16_t at[FR__NS_MOST_NODES];
    uint32_t n;
};

static enum fr__nccl_path kind_of_step(const struct fr__ns *s, uint32_t node,
                                       const struct fr__ns_link *l, const struct fr__ns_path *path)
{
    static const enum fr__nccl_path KINDS[] = {[FR__NS_NVLINK] = FR__PATH_NVL,
                                               [FR__NS_C2C] = FR__PATH_C2C,
                                               [FR__NS_PCIE] = FR__PATH_PIX,
                                               [FR__NS_BETWEEN_CPUS] = FR__PATH_SYS,
                                               [FR__NS_TO_NET] = FR__PATH_LOC};
    const struct fr__ns_node *from = &s->nodes[node], *to = &s->nodes[l->to];
    enum fr__nccl_path kind = KINDS[l->type];

    if (from->type == FR__NS_PCI && to->type == FR__NS_PCI)
        kind = FR__PATH_PXB;
    if (l->type == FR__NS_PCIE && (from->type == FR__NS_CPU || to->type == FR__NS_CPU))
        kind = FR__PATH_PHB;
    if (from->type == FR__NS_GPU && path->type == FR__PATH_NVL && kind == FR__PATH_NVL &&
        path->count >= 1)
        kind = FR__PATH_NVB;
    /* over C2C and then PCIe */
    if ((kind == FR__PATH_PHB && path->type == FR__PATH_C2C) ||
        (kind == FR__PATH_C2C && path->type == FR__PATH_PHB))
        kind = FR__PATH_P2C;
    else if (kind < (enum fr__nccl_path)path->type)
        kind = (enum fr__nccl_path)path->type;
    return kind;
}

static bool is_better(const struct fr__ns *s, const struct fr__ns_path *known,
                      const struct fr__ns_path *path, float bw, enum fr__nccl_path kind)
{
    if (s->version < 223)
        return (known->bw == 0 || known->count > path->count) && known->bw < bw;
    if (known->bw == 0 || kind != (enum fr__nccl_path)known->type)
        return known->bw == 0 || kind < (enum fr__nccl_path)known->type;
    return known->bw < bw || (known->bw == bw && known->count > path->count + 1);
}

static uint32_t link_back(const struct fr__ns *s, uint32_t node, uint32_t to,
                          enum fr__ns_link_type type)
{
    uint32_t i = 0;

    while (s->nodes[node].links[i].to != to || s->nodes[node].links[i].type != type)
        i++;
    return i;
}

static void step_on(struct fr__ns *s, enum fr__ns_type type, uint32_t base, uint32_t node,
                    struct front *next)
{
    struct fr__ns_node *k = &s->nodes[node];
    const struct fr__ns_path *path = &s->paths[type][(size_t)node * s->count[type] + base];

    for (uint32_t i = 0; i < k->n_links; i++) {
        const struct fr__ns_link *l = &k->links[i];
        struct fr__ns_path *known = &s->paths[type][(size_t)l->to * s->count[type] + base];
        float bw = path->bw < l->bw ? path->bw : l->bw;
        enum fr__nccl_path kind = kind_of_step(s, node, l, path);
        uint32_t n = 0;

        /* a GPU lets through one hop of NVLink to another GPU */
        if (path->count > 0 && k->type == FR__NS_GPU &&
            (l->type != FR__NS_NVLINK || s->nodes[l->to].type != FR__NS_GPU || path->count > 1))
            continue;
        if (l->to == s->of[type][base] || path->count + 1 >= FR__NS_MOST_HOPS ||
            !is_better(s, known, path, bw, kind))
            continue;
        known->hops[0].node = (uint16_t)l->to;
        known->hops[0].link = (uint16_t)link_back(s, l->to, node, l->type);
        memcpy(&known->hops[1], path->hops, path->count * sizeof(*path->hops));
        known->count = (uint16_t)(path->count + 1);
        known->bw = bw;
        known->type = (uint8_t)kind;
        while (n < next->n && next->at[n] != l->to)
            n++;
        if (n == next->n)
            next->at[next->n++] = (uint16_t)l->to;
    }
}

static void find_paths_to(struct fr__ns *s, enum fr__ns_type type, uint32_t base,
                          struct front two[2])
{
    struct fr__ns_path *own = fr__ns_path(s, type, base, type, base);
    unsigned now = 0;

    own->bw = 5000; /* LOC_BW */
    own->type = FR__PATH_LOC;
    two[0].at[0] = (uint16_t)s->of[type][base];
    two[0].n = 1;
    while (two[now].n > 0) {
        two[!now].n = 0;
        for (uint32_t i = 0; i < two[now].n; i++)
            step_on(s, type, base, two[now].at[i], &two[!now]);
        now = !now;
    }
}

/* ---- detours ---- */

/* The path from node `from` to node j of a type goes through another node, which has its own. */
static void go_through(struct fr__ns *s, uint32_t from, enum fr__ns_type via, uint32_t v,
                       enum fr__ns_type to, uint32_t j)
{
    struct fr__ns_path *path = &s->paths[to][(size_t)from * s->count[to] + j];
    const struct fr__ns_path *first = &s->paths[via][(size_t)from * s->count[via] + v];
    const struct fr__ns_path *second = fr__ns_path(s, via, v, to, j);
    struct fr__ns_path joined = *first;

    if (first->count + second->count > FR__NS_MOST_HOPS)
        return;
    memcpy(&joined.hops[first->count], second->hops, second->count * sizeof(*second->hops));
    joined.count = (uint16_t)(first->count + second->count);
    joined.type = first->type > second->type ? first->type : second->type;
    if (via == FR__NS_GPU)
        joined.type = FR__PATH_PXN;
    joined.bw = first->bw < second->bw ? first->bw : second->bw;
    *path = joined;
}

static uint32_t local_cpu(const struct fr__ns *s, uint32_t gpu)
{
    uint32_t best = 0, least = UINT32_MAX;

    for (uint32_t c = 0; c < s->count[FR__NS_CPU]; c++) {
        const struct fr__ns_path *p = fr__ns_path(s, FR__NS_GPU, gpu, FR__NS_CPU, c);

        if (p->count > 0 && p->count < least) {
            least = p->count;
            best = c;
        }
    }
    return best;
}

/* NCCL_P2P_LEVEL's default. */
static bool may_peer(const struct fr__ns *s, const struct fr__ns_path *p)
{
    unsigned most = FR__PATH_PXB;
    bool is_amd = s->count[FR__NS_CPU] > 0 && fr__ns_at(s, FR__NS_CPU, 0)->is_x86 &&
                  fr__ns_at(s, FR__NS_CPU, 0)->vendor == FR__NCCL_CPU_AMD;

    if (is_amd && s->count[FR__NS_GPU] <= 2)
        most = FR__PATH_SYS;
    return p->type <= most && (s->can_peer || p->type <= FR__PATH_NVB);
}

static void divert_gpus(struct fr__ns *s)
{
    for (uint32_t g = 0; g < s->count[FR__NS_GPU]; g++)
        for (uint32_t p = 0; p < s->count[FR__NS_GPU]; p++)
            if (p != g && !may_peer(s, fr__ns_path(s, FR__NS_GPU, p, FR__NS_GPU, g)))
                go_through(s, s->of[FR__NS_GPU][p], FR__NS_CPU, local_cpu(s, g), FR__NS_GPU, g);
}

/* Through a GPU joined by NVLink that is nearer to the NIC: PXN. */
/* Returns the kind of path from the GPU that meets the NIC. */
static unsigned try_pxn(struct fr__ns *s, uint32_t g, uint32_t n)
{
    uint32_t peer = fr__ns_local_gpu(s, n);
    unsigned most = s->version >= 227 ? FR__PATH_P2C : FR__PATH_PXB;
    const struct fr__ns_path *own = fr__ns_path(s, FR__NS_GPU, g, FR__NS_NET, n), *theirs;

    if (peer == FR_NONE || peer == g)
        return own->type;
    theirs = fr__ns_path(s, FR__NS_GPU, peer, FR__NS_NET, n);
    if (theirs->type > most ||
        fr__ns_path(s, FR__NS_GPU, peer, FR__NS_GPU, g)->type > FR__PATH_NVL ||
        (theirs->bw <= own->bw && own->type <= FR__PATH_PXN))
        return own->type;
    go_through(s, s->of[FR__NS_GPU][g], FR__NS_GPU, peer, FR__NS_NET, n);
    return theirs->type;
}

/* GPUDirect RDMA: both can, and the way is no longer than several PCIe switches. */
static bool has_gdr(const struct fr__ns *s, uint32_t g, uint32_t n, unsigned type)
{
    unsigned most = s->version >= 227 ? FR__PATH_P2C : FR__PATH_PXB;

    return fr__ns_at(s, FR__NS_GPU, g)->has_gdr && fr__ns_at(s, FR__NS_NET, n)->has_gdr &&
           type <= most;
}

static void divert_nets(struct fr__ns *s)
{
    for (uint32_t n = 0; n < s->count[FR__NS_NET]; n++)
        for (uint32_t g = 0; g < s->count[FR__NS_GPU]; g++) {
            unsigned direct = try_pxn(s, g, n);

            if (fr__ns_path(s, FR__NS_GPU, g, FR__NS_NET, n)->type < FR__PATH_PHB &&
                !has_gdr(s, g, n, direct)) {
                uint32_t cpu = local_cpu(s, g);

                go_through(s, s->of[FR__NS_NET][n], FR__NS_CPU, cpu, FR__NS_GPU, g);
                go_through(s, s->of[FR__NS_GPU][g], FR__NS_CPU, cpu, FR__NS_NET, n);
            }
        }
}

/* ---- the whole ---- */

static enum fr_status make_room(struct fr__ns *s, bool with_nets, struct fr_error *err)
{
    for (unsigned t = 0; t < FR__NS_N; t++) {
        free(s->paths[t]);
        s->paths[t] = NULL;
        if (t == FR__NS_PCI || t == FR__NS_NIC)
            continue;
        if (t == FR__NS_NET && !with_nets)
            s->count[t] = 0;
        s->paths[t] = calloc((size_t)s->n * s->count[t] + 1, sizeof(struct fr__ns_path));
        if (!s->paths[t])
            return fr__fail_nomem(err);
        for (size_t i = 0; i < (size_t)s->n * s->count[t]; i++)
            s->paths[t][i].type = FR__PATH_DIS;
    }
    return FR_OK;
}

static void set_limits(struct fr__ns *s)
{
    enum fr__ns_type to = s->count[FR__NS_NET] > 0 ? FR__NS_NET : FR__NS_GPU;

    s->max_bw = s->total_bw = 0;
    if (s->count[FR__NS_NET] == 0 && s->count[FR__NS_GPU] == 1)
        s->max_bw = s->total_bw = 5000;
    for (uint32_t g = 0; g < s->count[FR__NS_GPU]; g++) {
        const struct fr__ns_node *k = fr__ns_at(s, FR__NS_GPU, g);
        float nvlink = 0, pcie = 0;

        for (uint32_t i = 0; i < s->count[to]; i++) {
            const struct fr__ns_path *p = fr__ns_path(s, FR__NS_GPU, g, to, i);

            if (p->count > 0 && p->bw > s->max_bw)
                s->max_bw = p->bw;
        }
        for (uint32_t i = 0; i < k->n_links; i++)
            if (k->links[i].type == FR__NS_NVLINK)
                nvlink += k->links[i].bw;
            else if (k->links[i].type == FR__NS_PCIE)
                pcie = k->links[i].bw;
        nvlink = nvlink > pcie ? nvlink : pcie;
        s->total_bw = nvlink > s->total_bw ? nvlink : s->total_bw;
    }
}

enum fr_status fr__ns_finish(struct fr__ns *s, bool with_nets, struct fr_error *err)
{
    struct front *two = calloc(2, sizeof(*two));
    enum fr_status st = two ? make_room(s, with_nets, err) : fr__fail_nomem(err);

    if (st == FR_OK) {
        for (uint32_t c = 0; c < s->count[FR__NS_CPU]; c++)
            sort_tree(s, s->of[FR__NS_CPU][c], FR_NONE);
        for (unsigned t = 0; t < FR__NS_N; t++)
            for (uint32_t i = 0; s->paths[t] && i < s->count[t]; i++)
                find_paths_to(s, (enum fr__ns_type)t, i, two);
        if (s->count[FR__NS_CPU] > 0) {
            divert_gpus(s);
            divert_nets(s);
        }
        set_limits(s);
    }
    free(two);
    return st;
}
