/* topo/routes/thin.c - leaves out machines of a topology: see thin.h. */
#include "config.h"

#include "topo/routes/thin.h"

#include "base/error.h"

#include <stdlib.h>

static bool stays(const struct fr_topo *t, uint32_t vertex, const bool is_kept[])
{
    uint32_t machine = t->vertices[vertex].machine;

    return machine == FR_NONE || is_kept[machine];
}

static bool is_link_kept(const struct fr_topo *t, uint32_t link, const bool is_kept[])
{
    return stays(t, t->links[link].src, is_kept) && stays(t, t->links[link].dst, is_kept);
}

static bool thin_vertices(struct fr__thin *thin, const struct fr_topo *t, const bool is_kept[])
{
    size_t n = 0;

    for (uint32_t v = 0; v < t->n_vertices; v++)
        n += stays(t, v, is_kept);
    thin->vertices = calloc(n + 1, sizeof(*thin->vertices));
    thin->topo.vertices = thin->vertices;
    thin->vertex_of = calloc(n + 1, sizeof(*thin->vertex_of));
    if (!thin->vertices || !thin->vertex_of)
        return false;
    for (uint32_t v = 0; v < t->n_vertices; v++)
        if (stays(t, v, is_kept)) {
            thin->vertices[thin->topo.n_vertices] = t->vertices[v];
            thin->vertex_of[thin->topo.n_vertices++] = v;
        }
    return true;
}

static bool thin_links(struct fr__thin *thin, const struct fr_topo *t, const bool is_kept[])
{
    size_t n = 0;

    for (uint32_t l = 0; l < t->n_links; l++)
        n += is_link_kept(t, l, is_kept);
    thin->links = calloc(n + 1, sizeof(*thin->links));
    thin->topo.links = thin->links;
    thin->link_of = calloc(n + 1, sizeof(*thin->link_of));
    if (!thin->links || !thin->link_of)
        return false;
    for (uint32_t l = 0; l < t->n_links; l++)
        if (is_link_kept(t, l, is_kept)) {
            struct fr_link *k = &thin->links[thin->topo.n_links];

            *k = t->links[l];
            k->src = fr__thin_vertex(thin, k->src);
            k->dst = fr__thin_vertex(thin, k->dst);
            thin->link_of[thin->topo.n_links++] = l;
        }
    return true;
}

enum fr_status fr__thin_init(struct fr__thin *thin, const struct fr_topo *t, const bool is_kept[],
                             struct fr_error *err)
{
    *thin = (struct fr__thin){.topo = {.name = t->name,
                                       .n_machines = t->n_machines,
                                       .has_relays = t->has_relays,
                                       .has_hash = t->has_hash}};
    return thin_vertices(thin, t, is_kept) && thin_links(thin, t, is_kept) ? FR_OK
                                                                           : fr__fail_nomem(err);
}

void fr__thin_fini(struct fr__thin *thin)
{
    free(thin->vertices);
    free(thin->links);
    free(thin->vertex_of);
    free(thin->link_of);
    *thin = (struct fr__thin){.vertex_of = NULL};
}

uint32_t fr__thin_vertex(const struct fr__thin *thin, uint32_t vertex)
{
    size_t low = 0, high = thin->topo.n_vertices;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (thin->vertex_of[middle] <= vertex)
            low = middle;
        else
            high = middle;
    }
    return (uint32_t)low;
}
