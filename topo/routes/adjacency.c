/* topo/routes/adjacency.c - lists the links at each vertex: see adjacency.h. */
#include "config.h"

#include "topo/routes/adjacency.h"

#include <stdlib.h>

static bool has_gate(const struct fr_topo *t, uint32_t vertex, const uint32_t gate[])
{
    uint32_t machine = t->vertices[vertex].machine;

    return machine != FR_NONE && gate[machine] != FR_NONE;
}

static bool is_listed(const struct fr_topo *t, const struct fr_link *l, const uint32_t gate[])
{
    return !gate || (!has_gate(t, l->src, gate) && !has_gate(t, l->dst, gate));
}

/* A counting sort of the links. */
static bool list_links(struct fr__adjacency *a, const struct fr_topo *t, bool is_out,
                       const uint32_t gate[])
{
    a->first = calloc(t->n_vertices + 2, sizeof(*a->first));
    if (!a->first)
        return false;
    for (size_t l = 0; l < t->n_links; l++)
        if (is_listed(t, &t->links[l], gate))
            a->first[(is_out ? t->links[l].src : t->links[l].dst) + 2]++;
    for (size_t v = 0; v < t->n_vertices; v++)
        a->first[v + 2] += a->first[v + 1];
    a->list = calloc((size_t)a->first[t->n_vertices + 1] + 1, sizeof(*a->list));
    a->ends = calloc((size_t)a->first[t->n_vertices + 1] + 1, sizeof(*a->ends));
    for (size_t l = 0; a->list && a->ends && l < t->n_links; l++) {
        const struct fr_link *link = &t->links[l];
        uint32_t *at = &a->first[(is_out ? link->src : link->dst) + 1];

        if (!is_listed(t, link, gate))
            continue;
        a->list[*at] = (uint32_t)l;
        a->ends[(*at)++] = is_out ? link->dst : link->src;
    }
    return a->list && a->ends;
}

bool fr__adjacency_init(struct fr__adjacency *a, const struct fr_topo *t, bool is_out)
{
    return list_links(a, t, is_out, NULL);
}

bool fr__adjacency_trunks(struct fr__adjacency *a, const struct fr_topo *t, bool is_out,
                          const uint32_t gate[])
{
    return list_links(a, t, is_out, gate);
}

void fr__adjacency_fini(struct fr__adjacency *a)
{
    free(a->first);
    free(a->list);
    free(a->ends);
}

void fr__find_gates(const struct fr_topo *t, uint32_t gate[])
{
    const uint32_t not_seen = FR_NONE - 1;

    for (size_t m = 0; m < t->n_machines; m++)
        gate[m] = not_seen;
    for (size_t l = 0; l < t->n_links; l++) {
        uint32_t ends[2] = {t->links[l].src, t->links[l].dst};
        uint32_t machines[2] = {t->vertices[ends[0]].machine, t->vertices[ends[1]].machine};

        for (int i = 0; i < 2 && machines[0] != machines[1]; i++) {
            uint32_t *of = machines[i] == FR_NONE ? NULL : &gate[machines[i]];

            if (of)
                *of = *of == not_seen || *of == ends[1 - i] ? ends[1 - i] : FR_NONE;
        }
    }
}

/* The only link of a vertex that has one, or FR_NONE. */
static uint32_t only_link(const struct fr__adjacency *a, uint32_t v)
{
    return a->first[v + 1] - a->first[v] == 1 ? a->list[a->first[v]] : FR_NONE;
}

bool fr__are_on_one_switch(const struct fr_topo *t, const struct fr__adjacency *out,
                           const struct fr__adjacency *in, uint32_t src, uint32_t dst,
                           uint32_t links[2])
{
    uint32_t up = only_link(out, src), down = only_link(in, dst);

    if (up == FR_NONE || down == FR_NONE || t->links[up].dst != t->links[down].src ||
        t->vertices[t->links[up].dst].kind == FR_VERTEX_GPU)
        return false;
    links[0] = up;
    links[1] = down;
    return true;
}
