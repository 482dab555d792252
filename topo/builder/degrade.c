/* topo/builder/degrade.c - links of a builder that carry less, nothing any more, or more.
 *
 * A name stands for links in one of two ways: it matches a vertex, and means the network links
 * there, or it matches a link, and means that link and the way back.
 *
 * Sockets: NCCL without the verbs of InfiniBand sends through the kernel of the host. A card then
 *          carries SOCKET_FRAC of its wire and SOCKET_Bps at most, and a message takes KERNEL_S
 *          longer at each card.
 * Sources: NVIDIA/nccl issue 465, four machines with a 100 Gbit/s card each: 4 GB/s over IPoIB;
 *          issue 450, 100 Gbit/s Ethernet, 4 x 8 V100: 4 to 6 GB/s at best, 1.2 to 1.5 with two
 *          threads; issue 209, 32 Gbit/s, 4 x 8 GPUs: 2.8 GB/s of 4. KERNEL_S: Rumble et al., HotOS
 *          2011, table 1.
 * Ignores: that several cards share the host's cores and memory; NCCL_SOCKET_NTHREADS.
 */
#include "config.h"

#include "base/units.h"
#include "topo/builder/builder.h"
#include "topo/select/pattern.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double SOCKET_Bps = 4e9, SOCKET_FRAC = 0.7, KERNEL_S = 15e-6;

enum { MAX_HINTS = 4096, LINK_NAME = 2 * FR__MAX_VERTEX_NAME + 2 };

static void mark_names(const struct fr_topo_builder *b, const char *pattern, bool is_matched[])
{
    for (size_t v = 0; v < b->n_vertices; v++)
        is_matched[v] = fr__pattern_matches(pattern, b->vertices[v].name);
}

/* Which links are meant: [n_links]. Returns how many vertices match. */
static size_t mark_at_vertices(const struct fr_topo_builder *b, const char *name, bool is_meant[],
                               bool is_matched[])
{
    size_t n = 0;

    mark_names(b, name, is_matched);
    for (size_t v = 0; v < b->n_vertices; v++)
        n += is_matched[v];
    for (size_t i = 0; n > 0 && i < b->n_links; i++)
        is_meant[i] = b->links[i].kind == FR_LINK_NET &&
                      (is_matched[b->links[i].src] || is_matched[b->links[i].dst]);
    return n;
}

/* The links "FROM>TO" whose ends the two patterns stand for, and the ways back. Returns how
 * many. */
static size_t mark_links(const struct fr_topo_builder *b, const char *from, const char *to,
                         bool is_meant[], bool is_from[], bool is_to[])
{
    size_t n = 0;

    mark_names(b, from, is_from);
    mark_names(b, to, is_to);
    for (size_t i = 0; i < b->n_links; i++) {
        const struct fr_link *l = &b->links[i];
        bool is_there = is_from[l->src] && is_to[l->dst];

        n += is_there;
        is_meant[i] = is_there || (is_from[l->dst] && is_to[l->src]);
    }
    return n;
}

/* Splits "FROM>TO". false: it is not of that form. */
static bool split_link(const char *name, char from[FR__MAX_PATTERN + 1], const char **to)
{
    const char *between = strchr(name, '>');

    if (!between || between - name > FR__MAX_PATTERN)
        return false;
    memcpy(from, name, (size_t)(between - name));
    from[between - name] = '\0';
    *to = between + 1;
    return true;
}

/* Names of some vertices, or of links, for a suggestion: [MAX_HINTS] of them. NULL: no memory. */
static char (*hint_names(const struct fr_topo_builder *b, bool is_link, size_t *n))[LINK_NAME]
{
    char(*names)[LINK_NAME] = calloc(MAX_HINTS, sizeof(*names));

    *n = is_link ? b->n_links : b->n_vertices;
    *n = *n < MAX_HINTS ? *n : MAX_HINTS;
    for (size_t i = 0; names && i < *n; i++)
        snprintf(names[i], LINK_NAME, "%s%s%s", b->vertices[is_link ? b->links[i].src : i].name,
                 is_link ? ">" : "", is_link ? b->vertices[b->links[i].dst].name : "");
    return names;
}

/* "gpu0>gpu1" as it is called on machine 0: "n0.gpu0>n0.gpu1". */
static void name_on_first(const char *name, char out[LINK_NAME])
{
    const char *to = strchr(name, '>');

    if (to)
        snprintf(out, LINK_NAME, "n0.%.*s>n0.%s", (int)(to - name), name, to + 1);
    else
        snprintf(out, LINK_NAME, "n0.%s", name);
}

static enum fr_status fail_unknown(const struct fr_topo_builder *b, const char *name,
                                   struct fr_error *err)
{
    size_t n;
    char(*texts)[LINK_NAME] = hint_names(b, strchr(name, '>') != NULL, &n);
    const char **names = calloc(MAX_HINTS, sizeof(*names));
    char word[FR__EXCERPT], full[LINK_NAME], hint[LINK_NAME + 32] = "";
    bool has_room = texts && names;

    name_on_first(name, full);
    for (size_t i = 0; has_room && i < n; i++)
        names[i] = texts[i];
    if (has_room && strlen(name) < LINK_NAME && !fr__pattern_is_many(name))
        fr__did_you_mean(name, names, n, hint, sizeof(hint));
    for (size_t i = 0; has_room && i < n && !hint[0]; i++)
        if (strcmp(texts[i], full) == 0)
            snprintf(hint, sizeof(hint), ", did you mean '%s'?", full);
    free(texts);
    free(names);
    if (!has_room)
        return fr__fail_nomem(err);
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
    bool *is_meant, *is_matched, *is_end;
    char from[FR__MAX_PATTERN + 1];
    const char *to;
    size_t n_named = 0, n_meant;

    if (b->fault != FR_OK)
        return FR_OK; /* told by finish */
    FR_TRY(fr__pattern_check(name, err));
    is_meant = calloc(b->n_links + 1, sizeof(*is_meant));
    is_matched = calloc(b->n_vertices + 1, sizeof(*is_matched));
    is_end = calloc(b->n_vertices + 1, sizeof(*is_end));
    if (!is_meant || !is_matched || !is_end) {
        free(is_meant);
        free(is_matched);
        free(is_end);
        return fr__fail_nomem(err);
    }
    if (split_link(name, from, &to))
        n_named = mark_links(b, from, to, is_meant, is_matched, is_end);
    else
        n_named = mark_at_vertices(b, name, is_meant, is_matched);
    n_meant = lower(b, is_meant, frac);
    free(is_meant);
    free(is_matched);
    free(is_end);
    if (n_named == 0)
        return fail_unknown(b, name, err);
    if (n_meant > 0)
        return FR_OK;
    return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                    "'%s' has no link of the network; another link is named by both ends, like "
                    "n0.gpu0>n0.gpu1",
                    name);
}

enum fr_status fr__topo_builder_degrade_all(struct fr_topo_builder *b, const char *text,
                                            struct fr_error *err)
{
    while (*text) {
        size_t n = strcspn(text, ","), name_length = strcspn(text, "=,");
        char name[2 * FR__MAX_VERTEX_NAME + 2], part[32];
        double frac = 0;

        if (name_length >= n || name_length >= sizeof(name) || n - name_length > sizeof(part) ||
            name_length == 0)
            return fr__fail(err, FR_EPARSE, FR_NOWHERE,
                            "\"%.60s\" after 'less', links like n0.nic1=0.5 expected", text);
        snprintf(name, sizeof(name), "%.*s", (int)name_length, text);
        snprintf(part, sizeof(part), "%.*s", (int)(n - name_length - 1), text + name_length + 1);
        FR_TRY(fr__parse_number(part, "what is left of a link", FR_NOWHERE, 0, 1, &frac, err));
        FR_TRY(fr__topo_builder_degrade(b, name, frac, err));
        text += n + (text[n] == ',');
    }
    return FR_OK;
}

static bool is_nic(const struct fr_topo_builder *b, uint32_t vertex)
{
    return b->vertices[vertex].kind == FR_VERTEX_NIC;
}

void fr__topo_builder_over_sockets(struct fr_topo_builder *b)
{
    for (size_t i = 0; i < b->n_links && b->fault == FR_OK; i++) {
        struct fr_link *l = &b->links[i];
        unsigned n_nics = is_nic(b, l->src) + is_nic(b, l->dst);
        double most_Bps = SOCKET_FRAC * l->bw_Bps;

        if (l->kind != FR_LINK_NET || n_nics == 0)
            continue;
        forget_fits(b, l);
        l->bw_Bps = most_Bps < SOCKET_Bps ? most_Bps : SOCKET_Bps;
        if (l->latency_s < KERNEL_S) /* of Ethernet's it is part */
            l->latency_s += n_nics * KERNEL_S;
    }
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
