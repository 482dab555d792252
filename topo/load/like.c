/* topo/load/like.c - which preset a machine behaves like, so that one word can stand for a file.
 *
 * Two machines are alike where their GPUs have the same types in the same order, and the routes
 * between any two have as many links, the same narrowest rate and the same latency. Copies of them
 * are alike in a cluster where in addition each NIC speaks the same network and reaches the GPUs
 * that are nearest to it over as many links of the same width. Sockets are not compared: how many
 * links lie between a NIC and a GPU of another socket is not either.
 */
#include "config.h"

#include "topo/load/load.h"
#include "topo/machines/machines.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Latencies add up in another order: equal in whole picoseconds. */
static bool is_same_time(double a_s, double b_s)
{
    return fabs(a_s - b_s) < 0.5e-12;
}

static enum fr_status measure(struct fr_router *r, uint32_t src, uint32_t dst, size_t *n,
                              double *bw_Bps, double *latency_s, struct fr_error *err)
{
    const struct fr_topo *t = fr__router_topo(r);
    const uint32_t *links;

    FR_TRY(fr_router_path(r, src, dst, &links, n, err));
    *bw_Bps = INFINITY;
    *latency_s = 0;
    for (size_t i = 0; i < *n; i++) {
        *bw_Bps = fmin(*bw_Bps, t->links[links[i]].bw_Bps);
        *latency_s += t->links[links[i]].latency_s;
    }
    return FR_OK;
}

static enum fr_status compare_routes(struct fr_router *a, struct fr_router *b, bool *is_alike,
                                     struct fr_error *err)
{
    size_t n_gpus = fr__router_topo(a)->n_gpus;

    for (uint32_t src = 0; src < n_gpus; src++)
        for (uint32_t dst = 0; dst < n_gpus; dst++) {
            double bw[2], latency[2];
            size_t n[2];

            if (src == dst)
                continue;
            FR_TRY(measure(a, src, dst, &n[0], &bw[0], &latency[0], err));
            FR_TRY(measure(b, src, dst, &n[1], &bw[1], &latency[1], err));
            if (n[0] != n[1] || bw[0] != bw[1] || !is_same_time(latency[0], latency[1]))
                return FR_OK;
        }
    *is_alike = true;
    return FR_OK;
}

static bool has_same_gpus(const struct fr_topo *a, const struct fr_topo *b)
{
    if (a->n_gpus != b->n_gpus || a->n_machines != b->n_machines)
        return false;
    for (size_t i = 0; i < a->n_gpus; i++)
        if (strcmp(a->types[a->devices[i].type].name, b->types[b->devices[i].type].name) != 0 ||
            a->devices[i].machine != b->devices[i].machine)
            return false;
    return true;
}

static enum fr_status compare(const struct fr_topo *t, const char *preset, bool *is_alike,
                              struct fr_error *err)
{
    struct fr_router *a = NULL, *b = NULL;
    struct fr_topo *other = NULL;
    enum fr_status status;

    *is_alike = false;
    FR_TRY(fr_topo_load(&other, preset, err));
    status = FR_OK;
    if (has_same_gpus(t, other)) {
        status = fr_router_new(&a, t, err);
        if (status == FR_OK)
            status = fr_router_new(&b, other, err);
        if (status == FR_OK)
            status = compare_routes(a, b, is_alike, err);
        if (status == FR_ENOENT)
            status = FR_OK; /* no route: not alike */
    }
    fr_router_free(a);
    fr_router_free(b);
    fr_topo_free(other);
    return status;
}

enum fr_status fr_topo_preset_like(const struct fr_topo *t, const char **out, struct fr_error *err)
{
    bool is_alike = false;

    *out = NULL;
    for (size_t i = 0; fr_topo_preset_name(i) && !is_alike; i++) {
        FR_TRY(compare(t, fr_topo_preset_name(i), &is_alike, err));
        if (is_alike)
            *out = fr_topo_preset_name(i);
    }
    return FR_OK;
}

/* ---- copies in a cluster ---- */

/* The way from a NIC to a vertex: fewest links, of these the widest. */
struct reach {
    uint32_t n_links; /* FR_NONE: none */
    double bw_Bps;
};

/* to: [n_vertices]. GPUs and NICs pass nothing on. Cost: O(links * length of the longest way). */
static void reach_all(const struct fr_topo *t, uint32_t nic, struct reach to[])
{
    bool has_changed = true;

    for (size_t v = 0; v < t->n_vertices; v++)
        to[v] = (struct reach){FR_NONE, 0};
    to[nic] = (struct reach){0, INFINITY};
    while (has_changed) {
        has_changed = false;
        for (size_t i = 0; i < t->n_links; i++) {
            const struct fr_link *l = &t->links[i];
            enum fr_vertex_kind kind = t->vertices[l->src].kind;
            struct reach *there = &to[l->dst], here = to[l->src];
            double bw_Bps = fmin(here.bw_Bps, l->bw_Bps);

            if (here.n_links == FR_NONE ||
                (l->src != nic && (kind == FR_VERTEX_GPU || kind == FR_VERTEX_NIC)))
                continue;
            if (here.n_links + 1 > there->n_links ||
                (here.n_links + 1 == there->n_links && bw_Bps <= there->bw_Bps))
                continue;
            *there = (struct reach){here.n_links + 1, bw_Bps};
            has_changed = true;
        }
    }
}

/* The next NIC from vertex v on; n_vertices: none. */
static size_t next_nic(const struct fr_topo *t, size_t v)
{
    while (v < t->n_vertices && t->vertices[v].kind != FR_VERTEX_NIC)
        v++;
    return v;
}

static bool has_same_network(const char *a, const char *b)
{
    struct fr__network one, other;
    struct fr_error ignored;

    if (!a || !b)
        return a == b;
    if (strcmp(a, b) == 0)
        return true;
    return fr__network_parse(&one, a, FR_NOWHERE, &ignored) == FR_OK &&
           fr__network_parse(&other, b, FR_NOWHERE, &ignored) == FR_OK &&
           fr__network_is_same(&one, &other);
}

/* Fewest links to a GPU; FR_NONE: none is reached. */
static uint32_t nearest_gpu(const struct fr_topo *t, const struct reach to[])
{
    uint32_t least = FR_NONE;

    for (size_t g = 0; g < t->n_gpus; g++)
        least = to[t->devices[g].vertex].n_links < least ? to[t->devices[g].vertex].n_links : least;
    return least;
}

/* Of machines with the same GPUs: whether the same are nearest, and as near. */
static bool has_same_neighbours(const struct fr_topo *a, const struct fr_topo *b,
                                const struct reach to_a[], const struct reach to_b[])
{
    uint32_t least = nearest_gpu(a, to_a);

    if (nearest_gpu(b, to_b) != least)
        return false;
    for (size_t g = 0; g < a->n_gpus; g++) {
        struct reach one = to_a[a->devices[g].vertex], other = to_b[b->devices[g].vertex];

        if ((one.n_links == least) != (other.n_links == least) ||
            (one.n_links == least && one.bw_Bps != other.bw_Bps))
            return false;
    }
    return true;
}

/* Of machines with the same GPUs. to: room for all vertices of each. */
static bool has_same_nics(const struct fr_topo *a, const struct fr_topo *b, struct reach *to_a,
                          struct reach *to_b)
{
    size_t at = next_nic(a, 0), bt = next_nic(b, 0);

    for (; at < a->n_vertices && bt < b->n_vertices;
         at = next_nic(a, at + 1), bt = next_nic(b, bt + 1)) {
        if (!has_same_network(a->vertices[at].network, b->vertices[bt].network))
            return false;
        reach_all(a, (uint32_t)at, to_a);
        reach_all(b, (uint32_t)bt, to_b);
        if (!has_same_neighbours(a, b, to_a, to_b))
            return false;
    }
    return at == a->n_vertices && bt == b->n_vertices;
}

enum fr_status fr_topo_preset_stands_for(const struct fr_topo *t, const char *preset, bool *out,
                                         struct fr_error *err)
{
    enum fr_status status = FR_OK;
    struct fr_topo *other = NULL;
    struct reach *to_a, *to_b;

    FR_TRY(fr_topo_load(&other, preset, err));
    to_a = calloc(t->n_vertices + 1, sizeof(*to_a));
    to_b = calloc(other->n_vertices + 1, sizeof(*to_b));
    if (to_a && to_b)
        *out = has_same_gpus(t, other) && has_same_nics(t, other, to_a, to_b);
    else
        status = fr__fail_nomem(err);
    free(to_a);
    free(to_b);
    fr_topo_free(other);
    return status;
}
