/* topo/degrade.c - links of a builder that carry less, or nothing any more. */
#include "config.h"

#include "topo/builder.h"

#include <string.h>

/* Whether the link is the named one, its way back, or a network's at the vertex. */
static bool is_meant(const struct fr_link *l, uint32_t vertex, const struct fr_link *named)
{
    if (named)
        return (l->src == named->src && l->dst == named->dst) ||
               (l->src == named->dst && l->dst == named->src);
    return l->kind == FR_LINK_NET && (l->src == vertex || l->dst == vertex);
}

/* By "src>dst". */
static const struct fr_link *find_link(const struct fr_topo_builder *b, const char *name)
{
    const char *between = strchr(name, '>');
    char from[FR__MAX_VERTEX_NAME + 1];
    uint32_t src, dst;

    if (!between || between - name > FR__MAX_VERTEX_NAME)
        return NULL;
    memcpy(from, name, (size_t)(between - name));
    from[between - name] = '\0';
    src = fr__topo_builder_find(b, from);
    dst = fr__topo_builder_find(b, between + 1);
    for (size_t i = 0; i < b->n_links && src != FR_NONE && dst != FR_NONE; i++)
        if (b->links[i].src == src && b->links[i].dst == dst)
            return &b->links[i];
    return NULL;
}

enum fr_status fr__topo_builder_degrade(struct fr_topo_builder *b, const char *name, double frac,
                                        struct fr_error *err)
{
    uint32_t vertex = fr__topo_builder_find(b, name);
    const struct fr_link *found = vertex == FR_NONE ? find_link(b, name) : NULL;
    struct fr_link named = found ? *found : (struct fr_link){0};
    size_t n_kept = 0, n_meant = 0;

    if (b->fault != FR_OK)
        return FR_OK; /* told by finish */
    if (vertex == FR_NONE && !found)
        return fr__fail(err, FR_ENOENT, FR_NOWHERE,
                        "no vertex or link '%s'; names are like n0.nic1, net.rail3 or "
                        "n0.nic1>net.rail1",
                        name);
    for (size_t i = 0; i < b->n_links; i++) {
        struct fr_link *l = &b->links[i];
        bool is_one = is_meant(l, vertex, found ? &named : NULL);

        n_meant += is_one;
        if (is_one && !(frac > 0))
            continue;
        if (is_one)
            l->bw_Bps *= frac;
        b->links[n_kept++] = *l;
    }
    b->n_links = n_kept;
    if (n_meant > 0)
        return FR_OK;
    return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "'%s' has no link of the network", name);
}
