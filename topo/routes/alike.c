/* topo/routes/alike.c - machines that are alike, and routes between them: see alike.h. */
#include "config.h"

#include "topo/routes/alike.h"

#include "base/hash.h"
#include "topo/internal.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_ROUTES = 1 << 15 };

/* Whose link a hop is. */
enum whose { OF_NETWORK, OF_DST, OF_SRC };

struct hop {
    uint32_t link; /* of the network: its number; of a machine: the place in its list */
    uint32_t whose;
};

struct kept {
    struct fr__stand_in in;
    uint32_t first, n; /* of hops */
};

struct machine {
    uint32_t like;                         /* the first machine like it */
    uint32_t second_like, third_like;      /* of a first one: the next ones, or FR_NONE */
    uint32_t first_device[2], stand_in[2]; /* of its GPUs, of its CPU; the machine that stands in */
    uint32_t n_vertices;
    bool is_special; /* has a link to another machine: like no other */
};

struct fr__alike {
    const struct fr_topo *topo;
    uint32_t modulus;
    struct machine *machines;
    uint32_t *local;      /* [n_vertices] number inside the machine */
    uint32_t *first_link; /* [n_machines + 1] of links */
    uint32_t *links;      /* those with an end in each machine, ascending */
    struct kept *kept;
    size_t n_kept, cap_kept;
    struct hop *hops;
    size_t n_hops, cap_hops;
    struct fr__hash_table by_ends; /* of kept */
};

/* ---- what is alike ---- */

static uint32_t machine_of(const struct fr_topo *t, uint32_t vertex)
{
    return t->vertices[vertex].machine;
}

/* Each machine's vertices, devices and links. */
static void number_parts(struct fr__alike *a)
{
    const struct fr_topo *t = a->topo;

    for (size_t m = 0; m < t->n_machines; m++)
        a->machines[m].first_device[0] = a->machines[m].first_device[1] = FR_NONE;
    for (size_t v = 0; v < t->n_vertices; v++)
        if (t->vertices[v].machine != FR_NONE)
            a->local[v] = a->machines[t->vertices[v].machine].n_vertices++;
    for (size_t d = t->n_devices; d-- > 0;)
        a->machines[t->devices[d].machine].first_device[d >= t->n_gpus] = (uint32_t)d;
}

static void count_link(struct fr__alike *a, uint32_t link, bool is_placed)
{
    const struct fr_link *l = &a->topo->links[link];
    uint32_t ends[2] = {machine_of(a->topo, l->src), machine_of(a->topo, l->dst)};
    bool is_between = ends[0] != FR_NONE && ends[1] != FR_NONE && ends[0] != ends[1];

    for (int i = 0; i < 2; i++) {
        if (ends[i] == FR_NONE || (i == 1 && ends[1] == ends[0]))
            continue;
        if (is_placed)
            a->links[a->first_link[ends[i] + 1]++] = link;
        else
            a->first_link[ends[i] + 2]++;
        a->machines[ends[i]].is_special |= is_between;
    }
}

/* A counting sort of the links by machine. */
static bool list_links(struct fr__alike *a)
{
    size_t n = a->topo->n_machines;

    for (uint32_t l = 0; l < a->topo->n_links; l++)
        count_link(a, l, false);
    for (size_t m = 0; m < n; m++)
        a->first_link[m + 2] += a->first_link[m + 1];
    a->links = malloc((a->first_link[n + 1] + 1) * sizeof(*a->links));
    for (uint32_t l = 0; a->links && l < a->topo->n_links; l++)
        count_link(a, l, true);
    return a->links != NULL;
}

/* An end of a machine's link, the same for all machines that are alike. */
static uint64_t end_of(const struct fr__alike *a, uint32_t vertex)
{
    bool is_inside = machine_of(a->topo, vertex) != FR_NONE;

    return is_inside ? a->local[vertex] : UINT64_C(1) << 32 | vertex;
}

static bool are_links_alike(const struct fr__alike *a, uint32_t one, uint32_t other)
{
    const struct fr_link *l = &a->topo->links[one], *k = &a->topo->links[other];

    return l->kind == k->kind && l->bw_Bps >= k->bw_Bps && l->bw_Bps <= k->bw_Bps &&
           l->latency_s >= k->latency_s && l->latency_s <= k->latency_s &&
           end_of(a, l->src) == end_of(a, k->src) && end_of(a, l->dst) == end_of(a, k->dst);
}

/* The vertices of machines stand in the same order as their kinds, since links lead to them. */
static bool are_alike(const struct fr__alike *a, uint32_t one, uint32_t other,
                      const uint64_t kinds[])
{
    uint32_t n = a->first_link[one + 1] - a->first_link[one];

    if (a->machines[one].is_special || a->machines[other].is_special ||
        a->machines[one].n_vertices != a->machines[other].n_vertices ||
        kinds[one] != kinds[other] || a->first_link[other + 1] - a->first_link[other] != n)
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (!are_links_alike(a, a->links[a->first_link[one] + i],
                             a->links[a->first_link[other] + i]))
            return false;
    return true;
}

/* The kinds of each machine's vertices in their order, as one number. */
static void sum_up_kinds(const struct fr__alike *a, uint64_t kinds[])
{
    const struct fr_topo *t = a->topo;

    for (size_t v = 0; v < t->n_vertices; v++)
        if (t->vertices[v].machine != FR_NONE)
            kinds[t->vertices[v].machine] =
                fr__hash_id(kinds[t->vertices[v].machine] + (uint64_t)t->vertices[v].kind + 1);
}

static uint64_t hash_of(const struct fr__alike *a, uint32_t machine, const uint64_t kinds[])
{
    uint64_t hash = kinds[machine];

    for (uint32_t i = a->first_link[machine]; i < a->first_link[machine + 1]; i++) {
        const struct fr_link *l = &a->topo->links[a->links[i]];

        hash = fr__hash_id(hash + end_of(a, l->src) * 31 + end_of(a, l->dst));
    }
    return hash;
}

/* Finds the first machine like each; false: out of memory. */
static bool compare_machines(struct fr__alike *a, bool *is_any)
{
    uint64_t *kinds = calloc(a->topo->n_machines + 1, sizeof(*kinds));
    struct fr__hash_table firsts = {.slots = NULL};
    bool is_kept = kinds != NULL;

    if (kinds)
        sum_up_kinds(a, kinds);
    for (uint32_t m = 0; m < a->topo->n_machines && is_kept; m++) {
        uint64_t hash = hash_of(a, m, kinds);
        size_t at;
        uint32_t like = fr__hash_first(&firsts, hash, &at);

        while (like != FR_NONE && !are_alike(a, like, m, kinds))
            like = fr__hash_next(&firsts, hash, &at);
        a->machines[m].like = like != FR_NONE ? like : m;
        a->machines[m].second_like = a->machines[m].third_like = FR_NONE;
        if (like == FR_NONE) {
            is_kept = fr__hash_add(&firsts, hash, m);
        } else if (a->machines[like].second_like == FR_NONE) {
            a->machines[like].second_like = m;
            *is_any = true;
        } else if (a->machines[like].third_like == FR_NONE) {
            a->machines[like].third_like = m;
        }
    }
    fr__hash_fini(&firsts);
    free(kinds);
    return is_kept;
}

/* ---- life ---- */

void fr__alike_free(struct fr__alike *a)
{
    if (!a)
        return;
    free(a->machines);
    free(a->local);
    free(a->first_link);
    free(a->links);
    free(a->kept);
    free(a->hops);
    fr__hash_fini(&a->by_ends);
    free(a);
}

enum fr_status fr__alike_new(struct fr__alike **out, const struct fr_topo *t, struct fr_error *err)
{
    struct fr__alike *a = calloc(1, sizeof(*a));
    bool is_any = false;

    *out = NULL;
    if (!a)
        return fr__fail_nomem(err);
    a->topo = t;
    a->machines = calloc(t->n_machines + 1, sizeof(*a->machines));
    a->local = calloc(t->n_vertices + 1, sizeof(*a->local));
    a->first_link = calloc(t->n_machines + 2, sizeof(*a->first_link));
    if (!a->machines || !a->local || !a->first_link) {
        fr__alike_free(a);
        return fr__fail_nomem(err);
    }
    number_parts(a);
    if (!list_links(a) || !compare_machines(a, &is_any)) {
        fr__alike_free(a);
        return fr__fail_nomem(err);
    }
    if (!is_any) {
        fr__alike_free(a);
        return FR_OK;
    }
    if (fr__alike_set_modulus(a, 1, err) != FR_OK) {
        fr__alike_free(a);
        return FR_ENOMEM;
    }
    *out = a;
    return FR_OK;
}

/* ---- stand-ins ---- */

uint32_t fr__alike_modulus(const struct fr__alike *a)
{
    return a->modulus;
}

/* The first machine like m whose GPUs (kind 0) or CPU (1) have the same remainders, of those that
 * are in the table; FR_NONE: it is the first. */
static uint32_t find_stand_in(const struct fr__alike *a, const struct fr__hash_table *firsts,
                              uint32_t m, unsigned kind, uint64_t hash)
{
    const struct machine *k = &a->machines[m];
    size_t at;
    uint32_t first = fr__hash_first(firsts, hash, &at);

    for (; first != FR_NONE; first = fr__hash_next(firsts, hash, &at))
        if (a->machines[first].like == k->like &&
            a->machines[first].first_device[kind] % a->modulus ==
                k->first_device[kind] % a->modulus)
            break;
    return first;
}

static bool set_stand_ins(struct fr__alike *a, unsigned kind)
{
    struct fr__hash_table firsts = {.slots = NULL};
    bool is_kept = true;

    for (uint32_t m = 0; m < a->topo->n_machines && is_kept; m++) {
        struct machine *k = &a->machines[m];
        uint64_t hash = fr__hash_id((uint64_t)k->like << 32 | k->first_device[kind] % a->modulus);
        uint32_t first = find_stand_in(a, &firsts, m, kind, hash);

        k->stand_in[kind] = first != FR_NONE ? first : m;
        if (first == FR_NONE)
            is_kept = fr__hash_add(&firsts, hash, m);
    }
    fr__hash_fini(&firsts);
    return is_kept;
}

enum fr_status fr__alike_set_modulus(struct fr__alike *a, uint32_t modulus, struct fr_error *err)
{
    a->modulus = modulus;
    a->n_kept = a->n_hops = 0;
    fr__hash_fini(&a->by_ends);
    return set_stand_ins(a, 0) && set_stand_ins(a, 1) ? FR_OK : fr__fail_nomem(err);
}

/* The device of machine `to` that stands where this one does in its own. */
static uint32_t same_in(const struct fr__alike *a, uint32_t device, uint32_t to)
{
    bool is_cpu = device >= a->topo->n_gpus;
    const struct machine *from = &a->machines[a->topo->devices[device].machine];

    return a->machines[to].first_device[is_cpu] + (device - from->first_device[is_cpu]);
}

struct fr__stand_in fr__alike_stand_in(const struct fr__alike *a, uint32_t src, uint32_t dst)
{
    const struct fr_topo *t = a->topo;
    uint32_t from = t->devices[src].machine, to = t->devices[dst].machine;
    uint32_t to_in = a->machines[to].stand_in[dst >= t->n_gpus], from_in = to_in;

    if (from != to) {
        from_in = a->machines[from].like;
        if (from_in == to_in)
            from_in = a->machines[from_in].second_like;
    }
    return (struct fr__stand_in){same_in(a, src, from_in), same_in(a, dst, to_in)};
}

size_t fr__alike_first_ones(const struct fr__alike *a, bool is_kept[])
{
    size_t n = 0;

    for (uint32_t m = 0; m < a->topo->n_machines; m++) {
        const struct machine *first = &a->machines[a->machines[m].like];

        is_kept[m] = m == a->machines[m].like || m == first->second_like || m == first->third_like;
        n += is_kept[m];
    }
    return n;
}

struct fr__stand_in fr__alike_among_first(const struct fr__alike *a, struct fr__stand_in in)
{
    uint32_t from = a->topo->devices[in.src].machine, to = a->topo->devices[in.dst].machine;
    uint32_t to_in = a->machines[to].like, from_in = a->machines[from].like;

    if (from != to && from_in == to_in)
        from_in = a->machines[from_in].second_like;
    return (struct fr__stand_in){same_in(a, in.src, from_in), same_in(a, in.dst, to_in)};
}

bool fr__alike_is_like(const struct fr__alike *a, uint32_t one, uint32_t other)
{
    const struct fr_topo *t = a->topo;
    uint32_t from = t->devices[one].machine, to = t->devices[other].machine;
    bool is_cpu = one >= t->n_gpus;

    return is_cpu == (other >= t->n_gpus) && a->machines[from].like == a->machines[to].like &&
           a->machines[from].stand_in[is_cpu] == a->machines[to].stand_in[is_cpu] &&
           same_in(a, one, to) == other;
}

size_t fr__alike_links(const struct fr__alike *a, uint32_t machine, const uint32_t **links)
{
    *links = a->links + a->first_link[machine];
    return a->first_link[machine + 1] - a->first_link[machine];
}

/* ---- routes ---- */

static uint64_t hash_ends(struct fr__stand_in in)
{
    return fr__hash_id((uint64_t)in.src << 32 | in.dst);
}

bool fr__alike_is_full(const struct fr__alike *a)
{
    return a->n_kept >= MOST_ROUTES;
}

bool fr__alike_find(const struct fr__alike *a, struct fr__stand_in in, uint32_t src, uint32_t dst,
                    uint32_t hops[FR__MAX_HOPS], size_t *n_hops)
{
    const uint32_t *of_src = a->links + a->first_link[a->topo->devices[src].machine];
    const uint32_t *of_dst = a->links + a->first_link[a->topo->devices[dst].machine];
    uint64_t hash = hash_ends(in);
    const struct hop *h;
    size_t at;
    uint32_t id = fr__hash_first(&a->by_ends, hash, &at);

    while (id != FR_NONE && (a->kept[id].in.src != in.src || a->kept[id].in.dst != in.dst))
        id = fr__hash_next(&a->by_ends, hash, &at);
    if (id == FR_NONE)
        return false;
    h = a->hops + a->kept[id].first;
    for (uint32_t i = 0; i < a->kept[id].n; i++)
        hops[i] = h[i].whose == OF_DST   ? of_dst[h[i].link]
                  : h[i].whose == OF_SRC ? of_src[h[i].link]
                                         : h[i].link;
    *n_hops = a->kept[id].n;
    return true;
}

uint32_t fr__alike_place(const struct fr__alike *a, uint32_t machine, uint32_t link)
{
    uint32_t low = a->first_link[machine], high = a->first_link[machine + 1];

    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;

        if (a->links[middle] <= link)
            low = middle;
        else
            high = middle;
    }
    return low - a->first_link[machine];
}

/* false: the link is a third machine's. */
static bool place(const struct fr__alike *a, struct fr__stand_in in, uint32_t link, struct hop *out)
{
    const struct fr_topo *t = a->topo;
    uint32_t src = t->devices[in.src].machine, dst = t->devices[in.dst].machine;
    uint32_t from = machine_of(t, t->links[link].src), to = machine_of(t, t->links[link].dst);

    if ((from != FR_NONE && from != src && from != dst) ||
        (to != FR_NONE && to != src && to != dst))
        return false;
    if (from == dst || to == dst)
        *out = (struct hop){fr__alike_place(a, dst, link), OF_DST};
    else if (from == src || to == src)
        *out = (struct hop){fr__alike_place(a, src, link), OF_SRC};
    else
        *out = (struct hop){link, OF_NETWORK};
    return true;
}

enum fr_status fr__alike_keep(struct fr__alike *a, struct fr__stand_in in, struct fr__stand_in ends,
                              const uint32_t hops[], size_t n_hops, bool *is_kept,
                              struct fr_error *err)
{
    *is_kept = false;
    if (!fr__grow(&a->hops, &a->cap_hops, a->n_hops + n_hops, sizeof(*a->hops)) ||
        !fr__grow(&a->kept, &a->cap_kept, a->n_kept + 1, sizeof(*a->kept)))
        return fr__fail_nomem(err);
    for (size_t i = 0; i < n_hops; i++)
        if (!place(a, ends, hops[i], &a->hops[a->n_hops + i]))
            return FR_OK;
    if (!fr__hash_add(&a->by_ends, hash_ends(in), (uint32_t)a->n_kept))
        return fr__fail_nomem(err);
    a->kept[a->n_kept++] = (struct kept){in, (uint32_t)a->n_hops, (uint32_t)n_hops};
    a->n_hops += n_hops;
    *is_kept = true;
    return FR_OK;
}
