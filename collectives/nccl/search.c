/* collectives/nccl/search.c - NCCL's search for rings, trees and heads of NVLS: what one try
 * finds.
 *
 * Source: NVIDIA/nccl src/graph/search.cc (ncclTopoSearchRec and what it calls) of 2.30.7. A try
 * walks GPUs depth first, takes the channel's speed from each link on its way, and adds channels
 * until none fits. levels.c says what is tried, in which order.
 */
#include "config.h"

#include "collectives/nccl/try.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- bandwidth of links ---- */

static float less(float a, float b)
{
    return roundf((a - b) * 1000) / 1000;
}

static struct fr__ns_link *link_back(const struct fr__ns *s, uint32_t node,
                                     const struct fr__ns_link *l)
{
    struct fr__ns_node *to = &s->nodes[l->to];

    for (uint32_t i = 0; i < to->n_links; i++)
        if (to->links[i].to == node && to->links[i].type == l->type)
            return &to->links[i];
    return NULL;
}

/* PCIe through an Intel root complex between a GPU and something else costs more. */
static float pcie_speed(const struct fr__ns *s, const struct fr__ns_path *p, uint32_t start,
                        float speed)
{
    if (p->type != FR__PATH_PHB || s->nodes[start].type != FR__NS_GPU)
        return speed;
    for (uint32_t i = 0; i < p->count; i++) {
        const struct fr__ns_node *from = &s->nodes[p->hops[i].node];
        const struct fr__ns_node *to = &s->nodes[from->links[p->hops[i].link].to];

        if (to->type == FR__NS_CPU && to->is_x86 && to->vendor == FR__NCCL_CPU_INTEL)
            return speed * 6 / 5;
    }
    return speed;
}

/* Takes the speed (which may be below 0) from the first `most` links of a path; returns for how
 * many there was enough. */
static uint32_t take_links(struct fr__ns *s, const struct fr__ns_path *p, uint32_t start,
                           uint32_t most, float speed)
{
    float pcie = pcie_speed(s, p, start, speed);

    for (uint32_t i = 0; i < most; i++) {
        struct fr__ns_link *l = &s->nodes[p->hops[i].node].links[p->hops[i].link];
        struct fr__ns_link *back = NULL;
        float forth = l->type == FR__NS_PCIE ? pcie : speed, backwards = 0;
        const struct fr__ns_node *to = &s->nodes[l->to];

        if (to->type == FR__NS_GPU && to->sm < 80 && s->nodes[start].type != FR__NS_GPU) {
            back = link_back(s, p->hops[i].node, l);
            backwards = forth / 8;
        }
        if (l->bw < forth || (back && back->bw < backwards))
            return i;
        l->bw = less(l->bw, forth);
        if (back)
            back->bw = less(back->bw, backwards);
    }
    return most;
}

static bool is_gpu_side(enum fr__ns_type type)
{
    return type == FR__NS_GPU || type == FR__NS_NVS;
}

/* Goes from one node to another at the graph's speed times mult. false: the path is not good
 * enough, or has too little left. */
static bool follow(struct trial *t, enum fr__ns_type from, uint32_t i, enum fr__ns_type to,
                   uint32_t j, int mult)
{
    const struct fr__ns_path *p = fr__ns_path(t->s, from, i, to, j);
    const struct fr__ns_path *back = fr__ns_path(t->s, to, j, from, i);
    bool is_inside = is_gpu_side(from) && is_gpu_side(to);
    float speed = (is_inside ? t->now.speed_intra : t->now.speed_inter) * (float)mult;
    unsigned most = is_inside ? t->now.type_intra : t->now.type_inter;
    uint32_t start = t->s->of[from][i], n;

    if (p->count == 0)
        return true;
    if (p->type >= FR__PATH_DIS || (mult == 1 && p->type > most))
        return false;
    if (mult == 1 && t->now.pattern <= FR__NCCL_TREE && back->type > most)
        return false;
    n = take_links(t->s, p, start, p->count, speed);
    if (n < p->count) {
        take_links(t->s, p, start, n, -speed);
        return false;
    }
    t->now.n_hops += mult * p->count;
    return true;
}

/* ---- the next GPU ---- */

static int by_score(const void *one, const void *other)
{
    const struct score *a = one, *b = other;

    if (a->inter_bw != b->inter_bw)
        return b->inter_bw - a->inter_bw;
    if (a->pci_bw != b->pci_bw)
        return b->pci_bw - a->pci_bw;
    if (a->inter_hops != b->inter_hops)
        return a->inter_hops - b->inter_hops;
    if (a->intra_bw != b->intra_bw)
        return b->intra_bw - a->intra_bw;
    if (a->intra_hops != b->intra_hops)
        return a->intra_hops - b->intra_hops;
    return (int)a->start - (int)b->start;
}

static float pci_bw(const struct fr__ns *s, uint32_t g)
{
    const struct fr__ns_node *k = fr__ns_at(s, FR__NS_GPU, g);

    for (uint32_t i = 0; i < k->n_links; i++)
        if (k->links[i].type == FR__NS_PCIE) {
            const struct fr__ns_link *back = link_back(s, s->of[FR__NS_GPU][g], &k->links[i]);

            return k->links[i].bw < back->bw ? k->links[i].bw : back->bw;
        }
    return -1;
}

/* With an NVSwitch only the neighbours by number are tried. */
static uint32_t neighbours_only(const struct trial *t, uint32_t g, uint32_t next[], uint32_t n)
{
    uint32_t n_gpus = t->s->count[FR__NS_GPU], up = (g + 1) % n_gpus,
             down = (g + n_gpus - 1) % n_gpus;
    uint32_t first[2] = {up, down}, n_first = 2, real = 0;

    if (t->now.pattern == FR__NCCL_BALANCED_TREE || t->now.pattern == FR__NCCL_SPLIT_TREE) {
        first[0] = down;
        first[1] = up;
    } else if (t->now.pattern != FR__NCCL_RING) {
        n_first = 1;
    }
    if (up == down && n_first == 2)
        n_first = 1;
    for (uint32_t k = 0; k < n_first; k++) {
        uint32_t i = 0;

        while (i < n && next[i] != first[k])
            i++;
        if (i == n)
            continue;
        for (; i > 0; i--)
            next[i] = next[i - 1];
        next[0] = first[k];
        real++;
    }
    return real;
}

/* order: 0: as it is, 1: those near the NIC first, -1: those near the NIC last where all are alike
 * */
static uint32_t sort_next(const struct trial *t, uint32_t g, int order, uint32_t next[])
{
    const struct fr__ns *s = t->s;
    uint32_t n_gpus = s->count[FR__NS_GPU], n = 0;
    struct score *scores = t->scores;
    bool is_even = true;

    for (uint32_t i = 1; i < n_gpus; i++) {
        uint32_t k = (g + i) % n_gpus;
        const struct fr__ns_path *p = fr__ns_path(s, FR__NS_GPU, g, FR__NS_GPU, k);

        if (p->count == 0 || fr__ns_at(s, FR__NS_GPU, k)->used >> t->now.n & 1)
            continue;
        scores[n] =
            (struct score){.g = k, .start = i, .intra_bw = (int)p->bw, .intra_hops = p->count};
        if (order != 0) {
            const struct fr__ns_path *net =
                fr__ns_path(s, FR__NS_NET, t->now.nets[2 * t->now.n], FR__NS_GPU, k);

            scores[n].inter_hops = net->count;
            scores[n].pci_bw = (int)pci_bw(s, k);
            scores[n].inter_bw = (int)net->bw;
        }
        is_even &= scores[n].intra_bw == scores[0].intra_bw &&
                   scores[n].intra_hops == scores[0].intra_hops;
        n++;
    }
    qsort(scores, n, sizeof(*scores), by_score);
    for (uint32_t i = 0; i < n; i++)
        next[i] = scores[order == -1 && is_even ? n - 1 - i : i].g;
    return s->count[FR__NS_NVS] > 0 ? neighbours_only(t, g, next, n) : n;
}

/* ---- depth first ---- */

enum { ANY_ORDER, PCI_ORDER, REPLAY };

/* What is still to be done on the way: the step at which to go back to the NIC, and to the first
 * GPU; -1: not at all. */
struct way_back {
    int net, first;
};

static void search(struct trial *t, int *time);
static void at_gpu(struct trial *t, uint32_t g, uint32_t step, struct way_back w, int order,
                   int *time);

static bool is_kept(const struct trial *t)
{
    const struct found *a = &t->now, *b = t->best;
    float ours = (float)a->n * a->speed_intra, theirs = (float)b->n * b->speed_intra;

    if (a->n < t->least)
        return false;
    if (a->pattern == FR__NCCL_NVLS)
        return (a->n > b->n && a->n <= t->s->count[FR__NS_GPU]) ||
               (float)a->n * a->speed_inter > (float)b->n * b->speed_inter;
    if (ours != theirs)
        return ours > theirs;
    return a->pattern == b->pattern && a->cross_nic == b->cross_nic && a->n_hops < b->n_hops;
}

static void keep(struct trial *t)
{
    struct found *b = t->best;
    uint32_t *gpus = b->gpus, *nets = b->nets;

    memcpy(gpus, t->now.gpus, (size_t)t->now.n * t->s->count[FR__NS_GPU] * sizeof(*gpus));
    memcpy(nets, t->now.nets, 2 * (size_t)t->now.n * sizeof(*nets));
    *b = t->now;
    b->gpus = gpus;
    b->nets = nets;
}

static void channel_done(struct trial *t, int *time)
{
    t->now.n++;
    if (is_kept(t)) {
        keep(t);
        if (t->now.n == t->most)
            *time = -1;
    }
    if (t->now.n < t->most)
        search(t, time);
    t->now.n--;
}

static void try_gpu(struct trial *t, int from, uint32_t i, uint32_t g, uint32_t step,
                    struct way_back w, int order, int *time)
{
    uint64_t flag = (uint64_t)1 << t->now.n;
    struct fr__ns_node *gpu = fr__ns_at(t->s, FR__NS_GPU, g);

    if (from >= 0 && !follow(t, (enum fr__ns_type)from, i, FR__NS_GPU, g, 1))
        return;
    gpu->used ^= flag;
    at_gpu(t, g, step, w, order, time);
    gpu->used ^= flag;
    if (from >= 0)
        follow(t, (enum fr__ns_type)from, i, FR__NS_GPU, g, -1);
}

/* Every GPU sends and receives once, the head twice. */
static void try_nvls(struct trial *t, uint32_t g, int *time)
{
    uint32_t n = t->s->count[FR__NS_GPU], down = 0, up = 0, step = 1;

    while (down < n && follow(t, FR__NS_NVS, 0, FR__NS_GPU, down, down == g ? 2 : 1))
        down++;
    while (down == n && up < n && follow(t, FR__NS_GPU, up, FR__NS_NVS, 0, up == g ? 2 : 1))
        up++;
    if (up == n) {
        for (uint32_t i = 0; i < n; i++)
            if (i != g)
                t->now.gpus[t->now.n * n + step++] = i;
        channel_done(t, time);
    }
    while (up > 0) {
        up--;
        follow(t, FR__NS_GPU, up, FR__NS_NVS, 0, up == g ? -2 : -1);
    }
    while (down > 0) {
        down--;
        follow(t, FR__NS_NVS, 0, FR__NS_GPU, down, down == g ? -2 : -1);
    }
}

static bool may_leave_by(const struct trial *t, uint32_t net)
{
    const struct found *a = &t->now;
    uint32_t start = a->nets[2 * a->n];
    const struct fr__ns_node *one = fr__ns_at(t->s, FR__NS_NET, net);
    const struct fr__ns_node *other = fr__ns_at(t->s, FR__NS_NET, start);

    if (a->pattern == FR__NCCL_TREE && net != start)
        return false;
    if (a->pattern == FR__NCCL_RING && a->cross_nic == 2)
        return a->n % 2 == 0 || net == a->nets[2 * (a->n - 1)];
    return a->cross_nic != 0 || (one->asic == other->asic && one->port == other->port);
}

static void back_to_net(struct trial *t, uint32_t g, uint32_t step, struct way_back w, int order,
                        int *time)
{
    bool is_balanced = t->now.pattern == FR__NCCL_BALANCED_TREE;
    uint32_t *nets = t->room + t->n_room;
    uint32_t n = fr__ns_select_nets(t->s, t->now.type_inter, g, nets);
    struct way_back after = {-1, w.first};
    float saved = t->now.speed_inter;

    t->n_room += FR__NS_MOST_NODES;
    for (uint32_t i = 0; i < n; i++) {
        bool is_there;

        if (!may_leave_by(t, nets[i]))
            continue;
        if (is_balanced && step == 0)
            after.net = 1;
        else if (is_balanced && nets[i] != t->now.nets[2 * t->now.n + 1])
            continue;
        t->now.speed_inter = is_balanced ? saved / 2 : saved;
        is_there = follow(t, FR__NS_GPU, g, FR__NS_NET, nets[i], 1);
        t->now.speed_inter = saved;
        if (!is_there)
            continue;
        t->now.nets[2 * t->now.n + 1] = nets[i];
        at_gpu(t, g, step, after, order, time);
        t->now.speed_inter = is_balanced ? saved / 2 : saved;
        follow(t, FR__NS_GPU, g, FR__NS_NET, nets[i], -1);
        t->now.speed_inter = saved;
    }
    t->n_room -= FR__NS_MOST_NODES;
}

static void next_gpus(struct trial *t, uint32_t g, uint32_t step, struct way_back w, int order,
                      int *time)
{
    uint32_t n_gpus = t->s->count[FR__NS_GPU], *next = t->room + t->n_room, n = 1;

    if (order == PCI_ORDER)
        next[0] = step + 1;
    else if (order == REPLAY)
        next[0] = t->now.gpus[(t->now.n - 1) * n_gpus + step + 1];
    else
        n = sort_next(t, g, w.net == -1 ? 0 : w.net == (int)step + 1 ? 1 : -1, next);
    t->n_room += n_gpus;
    for (uint32_t i = 0; i < n; i++)
        try_gpu(t, FR__NS_GPU, g, next[i], step + 1, w, order, time);
    t->n_room -= n_gpus;
}

static void at_gpu(struct trial *t, uint32_t g, uint32_t step, struct way_back w, int order,
                   int *time)
{
    uint32_t n_gpus = t->s->count[FR__NS_GPU];

    if (*time <= 0)
        return;
    (*time)--;
    if (step == n_gpus) {
        channel_done(t, time);
        return;
    }
    t->now.gpus[t->now.n * n_gpus + step] = g;
    if ((int)step == w.net) {
        back_to_net(t, g, step, w, order, time);
    } else if (t->now.pattern == FR__NCCL_NVLS) {
        try_nvls(t, g, time);
    } else if (step < n_gpus - 1) {
        next_gpus(t, g, step, w, order, time);
    } else if ((int)step == w.first) {
        uint32_t first = t->now.gpus[t->now.n * n_gpus];

        w.first = -1;
        if (follow(t, FR__NS_GPU, g, FR__NS_GPU, first, 1)) {
            at_gpu(t, first, step + 1, w, order, time);
            follow(t, FR__NS_GPU, g, FR__NS_GPU, first, -1);
        }
    } else {
        w.net = w.first = -1;
        at_gpu(t, g, n_gpus, w, order, time);
    }
}

/* ---- where channels begin ---- */

static void change_net(struct trial *t, uint32_t net, float by)
{
    const struct fr__ns_node *k = fr__ns_at(t->s, FR__NS_NET, net);
    uint64_t asic = k->asic;
    uint32_t port = k->port;

    for (uint32_t i = 0; i < t->s->count[FR__NS_NET]; i++) {
        struct fr__ns_node *other = fr__ns_at(t->s, FR__NS_NET, i);

        if (other->asic == asic && other->port == port)
            other->net_bw += by;
    }
}

static void from_local_gpus(struct trial *t, uint32_t net, struct way_back w, int *time)
{
    uint32_t gpus[FR__NS_MOST_NODES], n = fr__ns_local(t->s, FR__NS_NET, net, FR__NS_GPU, gpus);

    for (uint32_t i = 0; i < n; i++)
        try_gpu(t, FR__NS_NET, net, gpus[(t->now.n + i) % n], 0, w, ANY_ORDER, time);
}

/* 2.21 counts hops, not kinds of paths, and begins with GPUs by their number. */
static void from_near_gpus(struct trial *t, uint32_t net, struct way_back w, int *time)
{
    uint32_t n = t->s->count[FR__NS_GPU], least = UINT32_MAX;
    float most = 0;

    for (uint32_t g = 0; g < n; g++) {
        const struct fr__ns_path *p = fr__ns_path(t->s, FR__NS_NET, net, FR__NS_GPU, g);

        if (p->bw > most) {
            most = p->bw;
            least = p->count;
        } else if (p->bw == most && p->count > 0 && p->count < least) {
            least = p->count;
        }
    }
    for (uint32_t i = 0; i < n && most >= t->now.speed_inter; i++) {
        uint32_t g = (t->now.n + i) % n;
        const struct fr__ns_path *p = fr__ns_path(t->s, FR__NS_NET, net, FR__NS_GPU, g);

        if (p->bw == most && p->count == least)
            try_gpu(t, FR__NS_NET, net, g, 0, w, ANY_ORDER, time);
    }
}

static bool nvls_from_net(struct trial *t, uint32_t net, uint32_t n_nets, struct way_back w,
                          int *time)
{
    uint32_t g = t->now.n < n_nets ? fr__ns_local_gpu(t->s, net) : FR_NONE;

    for (uint32_t c = 0; c < t->now.n && g != FR_NONE; c++)
        if (t->now.gpus[c * t->s->count[FR__NS_GPU]] == g)
            return false;
    if (g == FR_NONE)
        return false;
    try_gpu(t, FR__NS_NET, net, g, 0, w, ANY_ORDER, time);
    return true;
}

static void rings_from_net(struct trial *t, uint32_t net, struct way_back w, int *time)
{
    uint32_t n_gpus = t->s->count[FR__NS_GPU];

    if (t->now.n > 0 && t->now.same_channels) {
        try_gpu(t, FR__NS_NET, net, t->now.gpus[(t->now.n - 1) * n_gpus], 0, w, REPLAY, time);
        return;
    }
    if (t->now.n == 0 && t->s->count[FR__NS_NVS] == 0) {
        int own = 1 << 10;

        try_gpu(t, FR__NS_NET, net, 0, 0, w, PCI_ORDER, &own);
        if (own == -1)
            *time = -1;
    }
    if (t->s->version < 223)
        from_near_gpus(t, net, w, time);
    else
        from_local_gpus(t, net, w, time);
}

static void from_nets(struct trial *t, struct way_back w, int *time)
{
    uint32_t nets[FR__NS_MOST_NODES],
        n = fr__ns_select_nets(t->s, t->now.type_inter, FR_NONE, nets);
    float whole = (float)(int)t->now.speed_inter;
    bool is_found = false;

    for (uint32_t i = 0; i < n && !is_found; i++) {
        uint32_t net = nets[(t->now.n + i) % n];
        struct fr__ns_node *k = fr__ns_at(t->s, FR__NS_NET, net);

        if (k->net_bw < whole)
            continue;
        if (t->now.pattern == FR__NCCL_RING && t->now.cross_nic == 2 && t->now.n % 2 == 1 &&
            net != t->now.nets[2 * (t->now.n - 1) + 1])
            continue;
        t->now.nets[2 * t->now.n] = net;
        t->now.latency_inter = k->net_latency;
        change_net(t, net, -whole);
        if (t->now.pattern == FR__NCCL_NVLS)
            is_found = nvls_from_net(t, net, n, w, time);
        else
            rings_from_net(t, net, w, time);
        change_net(t, net, whole);
    }
}

static void search(struct trial *t, int *time)
{
    uint32_t n_gpus = t->s->count[FR__NS_GPU];
    struct way_back w = {-1, -1};

    if (t->s->count[FR__NS_NET] > 0) {
        w.net = t->now.pattern == FR__NCCL_RING         ? (int)n_gpus - 1
                : t->now.pattern == FR__NCCL_SPLIT_TREE ? 1
                                                        : 0;
        if (t->now.pattern == FR__NCCL_NVLS)
            w.net = -1;
        from_nets(t, w, time);
        return;
    }
    w.first = t->now.pattern == FR__NCCL_RING ? (int)n_gpus - 1 : -1;
    if (t->now.pattern == FR__NCCL_NVLS) {
        try_gpu(t, -1, 0, t->now.n % n_gpus, 0, w, ANY_ORDER, time);
        return;
    }
    if (t->now.n == 0)
        try_gpu(t, -1, 0, 0, 0, w, PCI_ORDER, time);
    else
        try_gpu(t, -1, 0, t->now.gpus[(t->now.n - 1) * n_gpus], 0, w, REPLAY, time);
    for (uint32_t g = 0; g < n_gpus && (!t->now.same_channels || t->now.n == 0); g++)
        try_gpu(t, -1, 0, g, 0, w, ANY_ORDER, time);
}

void fr__ns_try(struct trial *t, int *time)
{
    search(t, time);
}
