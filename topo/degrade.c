/* topo/degrade.c - links of a builder that carry less, nothing any more, or more.
 *
 * A name stands for links in one of two ways: it matches a vertex, and means the network links
 * there, or it matches a link, and means that link and the way back.
 */
#include "config.h"

#include "topo/builder.h"
#include "topo/pattern.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_HINTS = 4096 };

/* Which links are meant: [n_links]. Returns how many vertices match. */
static size_t mark_at_vertices(const struct fr_topo_builder *b, const char *name, bool is_meant[],
                               bool is_matched[])
{
    size_t n = 0;

    for (size_t v = 0; v < b->n_vertices; v++) {
        is_matched[v] = fr__pattern_matches(name, b->vertices[v].name);
        n += is_matched[v];
    }
    for (size_t i = 0; n > 0 && i < b->n_links; i++)
        is_meant[i] = b->links[i].kind == FR_LINK_NET &&
                      (is_matched[b->links[i].src] || is_matched[b->links[i].dst]);
    return n;
}

/* "src>dst". Returns text. */
static const char *link_name(const struct fr_topo_builder *b, const struct fr_link *l,
                             char text[FR_LINK_NAME])
{
    snprintf(text, FR_LINK_NAME, "%s>%s", b->vertices[l->src].name, b->vertices[l->dst].name);
    return text;
}

/* The links of that name, and the ways back. Returns how many match. */
static size_t mark_links(const struct fr_topo_builder *b, const char *name, bool is_meant[])
{
    char link[FR_LINK_NAME];
    size_t n = 0;

    for (size_t i = 0; i < b->n_links; i++) {
        if (!fr__pattern_matches(name, link_name(b, &b->links[i], link)))
            continue;
        is_meant[i] = true;
        n++;
        /* duplex links stand one behind the other (fr_topo_builder_link) */
        for (size_t k = i > 0 ? i - 1 : 0; k <= i + 1 && k < b->n_links; k++)
            if (b->links[k].src == b->links[i].dst && b->links[k].dst == b->links[i].src)
                is_meant[k] = true;
    }
    return n;
}

/* The names of the first n links. texts: for the caller to free. false: out of memory. */
static bool name_links(const struct fr_topo_builder *b, size_t n, const char *names[], char **texts)
{
    *texts = malloc(n * FR_LINK_NAME + 1);
    for (size_t i = 0; *texts && i < n; i++)
        names[i] = link_name(b, &b->links[i], *texts + i * FR_LINK_NAME);
    return *texts;
}

static enum fr_status fail_unknown(const struct fr_topo_builder *b, const char *name,
                                   struct fr_error *err)
{
    bool is_link = strchr(name, '>') != NULL;
    size_t n = is_link ? b->n_links : b->n_vertices;
    const char **names = calloc(MAX_HINTS, sizeof(*names));
    char word[FR__EXCERPT], hint[160] = "", *texts = NULL;

    if (!names)
        return fr__fail_nomem(err);
    n = n < MAX_HINTS ? n : MAX_HINTS;
    if (is_link && !name_links(b, n, names, &texts)) {
        free(names);
        return fr__fail_nomem(err);
    }
    for (size_t i = 0; i < n && !is_link; i++)
        names[i] = b->vertices[i].name;
    if (strlen(name) <= 2 * FR__MAX_VERTEX_NAME + 1 && !fr__pattern_is_many(name))
        fr__did_you_mean(name, names, n, hint, sizeof(hint));
    free(names);
    free(texts);
    return fr__fail(err, FR_ENOENT, FR_NOWHERE, "no vertex or link '%s'%s", fr__excerpt(name, word),
                    hint[0] ? hint : "; names are like n0.nic1, net.rail3 or n0.nic1>net.rail1");
}

/* Measured times are of whole machines, links and networks. */
static void forget_fits(struct fr_topo_builder *b, struct fr_link *l)
{
    uint32_t machine = b->vertices[l->src].machine;
    struct fr_loc loc = FR_NOWHERE;
    char why[256];

    l->message = FR_NONE;
    if (l->kind == FR_LINK_NET && b->network_system != FR_NONE) {
        const char *name = b->systems[b->network_system].name;

        snprintf(why, sizeof(why), "%.200s was measured on links that are whole", name);
        b->network_system = FR_NONE;
        fr_topo_builder_network_system(b, name, why, loc);
    }
    if (machine != FR_NONE && machine == b->vertices[l->dst].machine && machine < b->n_system_of)
        b->system_of[machine] = FR_NONE;
}

static size_t lower(struct fr_topo_builder *b, const bool is_meant[], double frac)
{
    size_t n_kept = 0, n_meant = 0;

    for (size_t i = 0; i < b->n_links; i++) {
        struct fr_link *l = &b->links[i];

        n_meant += is_meant[i];
        if (is_meant[i] && frac < 1)
            forget_fits(b, l);
        if (is_meant[i] && !(frac > 0))
            continue;
        if (is_meant[i])
            l->bw_Bps *= frac;
        b->links[n_kept++] = *l;
    }
    b->n_links = n_kept;
    return n_meant;
}

enum fr_status fr__topo_builder_degrade(struct fr_topo_builder *b, const char *name, double frac,
                                        struct fr_error *err)
{
    bool *is_meant, *is_matched;
    size_t n_named, n_meant;

    if (b->fault != FR_OK)
        return FR_OK; /* told by finish */
    FR_TRY(fr__pattern_check(name, err));
    is_meant = calloc(b->n_links + 1, sizeof(*is_meant));
    is_matched = calloc(b->n_vertices + 1, sizeof(*is_matched));
    if (!is_meant || !is_matched) {
        free(is_meant);
        free(is_matched);
        return fr__fail_nomem(err);
    }
    n_named = mark_at_vertices(b, name, is_meant, is_matched);
    if (n_named == 0)
        n_named = mark_links(b, name, is_meant);
    n_meant = lower(b, is_meant, frac);
    free(is_meant);
    free(is_matched);
    if (n_named == 0)
        return fail_unknown(b, name, err);
    if (n_meant > 0)
        return FR_OK;
    return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                    "'%s' has no link of the network; another link is named by both ends, like "
                    "n0.gpu0>n0.gpu1",
                    name);
}

void fr__topo_builder_widen(struct fr_topo_builder *b, const double factors[])
{
    for (size_t i = 0; i < b->n_links; i++) {
        struct fr_link *l = &b->links[i];
        double factor = factors[l->src] > 0 ? factors[l->src] : factors[l->dst];

        if (l->kind == FR_LINK_PCIE && factor > 0)
            l->bw_Bps *= factor;
    }
}
