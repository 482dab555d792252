/* topo/import/simgrid_cluster.c - the <cluster> of a SimGrid platform: star, backbone, fat tree or
 * torus.
 *
 * Source:  SimGrid's manual, "The XML reference" and "Platform examples" (cluster, FAT_TREE,
 * TORUS).
 * Ignores: loopbacks, since a host's message to itself takes nothing here; power and properties.
 *          In a torus routes have the fewest links, as SimGrid's dimension order has, but between
 *          several such ways the choice is ours.
 */
#include "config.h"

#include "topo/import/simgrid.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LEVELS = 8, NAME = 128 };

struct cluster {
    struct fr__sg_reader *r;
    const struct fr__xml *x;
    const char *id, *prefix, *suffix;
    uint32_t n, first;
    uint32_t *numbers;  /* [n] of the hosts, by radical; arena */
    uint32_t *vertices; /* [n] arena */
    double bw_Bps, latency_s;
    enum fr__sg_policy policy;
};

/* ---- radical: "0-99,105" ---- */

/* The next "a-b" or "a" of the list; *p goes behind it. */
static bool next_range(const char **p, uint64_t *from, uint64_t *to)
{
    char *end;

    if (**p < '0' || **p > '9')
        return false;
    *from = *to = strtoull(*p, &end, 10);
    if (*end == '-' && end[1] >= '0' && end[1] <= '9')
        *to = strtoull(end + 1, &end, 10);
    if ((*end && *end != ',') || *to < *from || *to >= FR_NONE)
        return false;
    *p = *end ? end + 1 : end;
    return true;
}

static enum fr_status read_radical(struct cluster *c)
{
    struct fr_error *err = c->r->s->err;
    char excerpt[FR__EXCERPT];
    uint64_t from, to, n = 0;
    const char *text, *p;

    FR_TRY(fr__xml_text(c->x, "radical", &text, err));
    for (p = text; *p && next_range(&p, &from, &to);) {
        n += to - from + 1;
        if (n > FR__MAX_GPUS)
            return fr__fail(err, FR_ERANGE, c->x->loc, "more than %d hosts", (int)FR__MAX_GPUS);
    }
    if (*p || n == 0)
        return fr__fail(err, FR_EPARSE, c->x->loc,
                        "'radical' of <cluster> is \"%s\", numbers like 0-99,105 expected",
                        fr__excerpt(text, excerpt));
    c->n = (uint32_t)n;
    c->numbers = fr__arena_alloc(c->r->s->arena, c->n, sizeof(*c->numbers));
    c->vertices = fr__arena_alloc(c->r->s->arena, c->n, sizeof(*c->vertices));
    if (!c->numbers || !c->vertices)
        return fr__fail_nomem(err);
    n = 0;
    for (p = text; *p && next_range(&p, &from, &to);)
        for (; from <= to; from++)
            c->numbers[n++] = (uint32_t)from;
    return FR_OK;
}

/* ---- stars ---- */

static enum fr_status add_hosts(struct cluster *c)
{
    FR_TRY(fr__sg_hosts(c->r, c->x, c->n, &c->first));
    for (uint32_t i = 0; i < c->n; i++) {
        char name[NAME];

        snprintf(name, sizeof(name), "%s%u%s", c->prefix, (unsigned)c->numbers[i], c->suffix);
        FR_TRY(fr__sg_name_host(c->r, c->first + i, name, c->x->loc, &c->vertices[i]));
    }
    return FR_OK;
}

/* Each host's own link to where all meet: `in` on the way there, `out` on the way back. */
static enum fr_status join_hosts(struct cluster *c, uint32_t in, uint32_t out)
{
    struct fr__sg *g = &c->r->graph;

    for (uint32_t i = 0; i < c->n; i++) {
        char name[NAME];

        if (c->policy == FR__SG_SHARED && in == out) {
            snprintf(name, sizeof(name), "%.60s_link_%u", c->id, (unsigned)c->numbers[i]);
            FR_TRY(fr__sg_cable(g, name, c->vertices[i], in, c->bw_Bps, c->latency_s, c->policy,
                                c->x->loc));
            continue;
        }
        if (c->policy == FR__SG_SHARED) {
            uint32_t middle;

            /* both directions over one link, then on to the backbone or back to the host */
            snprintf(name, sizeof(name), "%.60s_link_%u", c->id, (unsigned)c->numbers[i]);
            FR_TRY(fr__sg_vertex(g, name, NULL, c->x->loc, &middle));
            snprintf(name, sizeof(name), "%.60s_link_%u.cable", c->id, (unsigned)c->numbers[i]);
            FR_TRY(fr__sg_cable(g, name, c->vertices[i], middle, c->bw_Bps, c->latency_s, c->policy,
                                c->x->loc));
            fr__sg_edge(g, middle, in, c->bw_Bps, 0, c->x->loc);
            fr__sg_edge(g, out, middle, c->bw_Bps, 0, c->x->loc);
            continue;
        }
        fr__sg_edge(g, c->vertices[i], in, c->bw_Bps, c->latency_s, c->x->loc);
        fr__sg_edge(g, out, c->vertices[i], c->bw_Bps, c->latency_s, c->x->loc);
    }
    return FR_OK;
}

/* Hosts on a crossbar, or on a backbone that all of them share. */
static enum fr_status draw_star(struct cluster *c)
{
    const char *router = fr__xml_get(c->x, "router_id");
    struct fr__sg *g = &c->r->graph;
    struct fr_error *err = c->r->s->err;
    enum fr__sg_policy policy;
    double bw_Bps, latency_s;
    uint32_t hub, in, out;
    char name[NAME];

    snprintf(name, sizeof(name), "%s%s_router%s", c->prefix, c->id, c->suffix);
    FR_TRY(fr__sg_vertex(g, router ? router : name, NULL, c->x->loc, &hub));
    if (!fr__xml_get(c->x, "bb_bw"))
        return join_hosts(c, hub, hub);
    FR_TRY(fr__sg_rate(c->x, "bb_bw", NULL, &bw_Bps, err));
    FR_TRY(fr__sg_time(c->x, "bb_lat", "0", &latency_s, err));
    FR_TRY(fr__sg_read_policy(c->x, "bb_sharing_policy", FR__SG_SHARED, &policy, err));
    if (policy == FR__SG_FATPIPE) {
        fr__sketch_note(c->r->s,
                        "the backbone of %.60s shares nothing (FATPIPE): here it is as "
                        "wide as all hosts together",
                        c->id);
        bw_Bps *= c->n;
    }
    snprintf(name, sizeof(name), "%.60s_backbone.in", c->id);
    FR_TRY(fr__sg_vertex(g, name, NULL, c->x->loc, &in));
    snprintf(name, sizeof(name), "%.60s_backbone.out", c->id);
    FR_TRY(fr__sg_vertex(g, name, NULL, c->x->loc, &out));
    fr__sg_edge(g, in, out, bw_Bps, latency_s, c->x->loc);
    fr__sg_edge(g, out, hub, bw_Bps, 0, c->x->loc);
    fr__sg_edge(g, hub, in, bw_Bps, 0, c->x->loc);
    return join_hosts(c, in, out);
}

/* ---- parameters of the other shapes ---- */

/* Numbers between commas up to stop; *p goes behind it. Returns how many, 0: broken. */
static size_t read_numbers(const char **p, char stop, uint32_t out[MAX_LEVELS])
{
    size_t n = 0;
    char *end;

    for (; n < MAX_LEVELS && **p >= '0' && **p <= '9'; n++) {
        unsigned long long x = strtoull(*p, &end, 10);

        if (x == 0 || x > FR__MAX_GPUS)
            return 0;
        out[n] = (uint32_t)x;
        *p = end;
        if (*end == stop) {
            *p += stop != '\0';
            return n + 1;
        }
        if (*end != ',')
            return 0;
        ++*p;
    }
    return 0;
}

static enum fr_status fail_parameters(const struct cluster *c, const char *expected)
{
    char excerpt[FR__EXCERPT];

    return fr__fail(c->r->s->err, FR_EPARSE, c->x->loc,
                    "'topo_parameters' of <cluster> is \"%s\", %s expected",
                    fr__excerpt(fr__xml_get(c->x, "topo_parameters"), excerpt), expected);
}

/* ---- tori ---- */

/* Each host has a switch of its own; neighbours share one link a dimension. */
static enum fr_status draw_torus(struct cluster *c, const char *text)
{
    uint32_t dims[MAX_LEVELS], *switches = fr__arena_alloc(c->r->s->arena, c->n, sizeof(uint32_t));
    size_t n_dims = read_numbers(&text, '\0', dims);
    struct fr__sg *g = &c->r->graph;
    uint64_t product = 1;
    uint32_t step = 1;

    for (size_t d = 0; d < n_dims; d++)
        product = product > FR__MAX_GPUS ? product : product * dims[d];
    if (n_dims == 0 || product != c->n)
        return fail_parameters(c, "sizes whose product is the number of hosts");
    if (!switches)
        return fr__fail_nomem(c->r->s->err);
    for (uint32_t i = 0; i < c->n; i++) {
        char name[NAME];

        snprintf(name, sizeof(name), "%.60s_switch_%u", c->id, (unsigned)i);
        FR_TRY(fr__sg_vertex(g, name, NULL, c->x->loc, &switches[i]));
        /* a host sends over all dimensions at once */
        FR_TRY(fr__sg_cable(g, name, c->vertices[i], switches[i], 2 * (double)n_dims * c->bw_Bps, 0,
                            FR__SG_SPLIT, c->x->loc));
    }
    for (size_t d = 0; d < n_dims; step *= dims[d++])
        for (uint32_t i = 0; i < c->n; i++) {
            uint32_t at = i / step % dims[d];
            uint32_t other = i - at * step + (at + 1) % dims[d] * step;
            char name[NAME];

            if (dims[d] == 1 || (dims[d] == 2 && at == 1))
                continue;
            snprintf(name, sizeof(name), "%.60s_link_%zu_%u", c->id, d, (unsigned)i);
            FR_TRY(fr__sg_cable(g, name, switches[i], switches[other], c->bw_Bps, c->latency_s,
                                c->policy, c->x->loc));
        }
    fr__sketch_note(c->r->s,
                    "each host of %.60s has a switch of its own, which forwards for others", c->id);
    return FR_OK;
}

/* ---- fat trees ---- */

struct tree {
    size_t levels;
    uint32_t down[MAX_LEVELS], up[MAX_LEVELS], count[MAX_LEVELS];
};

/* "levels;down;up;count" */
static bool read_tree(const char *text, struct tree *t)
{
    uint32_t levels[MAX_LEVELS];

    if (read_numbers(&text, ';', levels) != 1)
        return false;
    t->levels = levels[0];
    return t->levels <= MAX_LEVELS && read_numbers(&text, ';', t->down) == t->levels &&
           read_numbers(&text, ';', t->up) == t->levels &&
           read_numbers(&text, '\0', t->count) == t->levels;
}

/* Level l has prod(up[0..l)) * prod(down[l..]) nodes, level 0 the hosts. Node i of level l is given
 * by digits: which copy c < prod(up[0..l)) and which position p < prod(down[l..]); its parents have
 * copies c + prod(up[0..l)) * u for u < up[l] and position p / down[l]. */
static enum fr_status draw_level(struct cluster *c, const struct tree *t, size_t l, uint32_t copies,
                                 uint32_t positions, const uint32_t nodes[], uint32_t parents[])
{
    struct fr__sg *g = &c->r->graph;
    uint32_t n = copies * t->up[l], above = positions / t->down[l];
    char name[NAME];

    for (uint32_t i = 0; i < n * above; i++) {
        snprintf(name, sizeof(name), "%.60s_switch_%zu_%u", c->id, l + 1, (unsigned)i);
        FR_TRY(fr__sg_vertex(g, name, NULL, c->x->loc, &parents[i]));
    }
    for (uint32_t p = 0; p < positions; p++)
        for (uint32_t k = 0; k < copies; k++)
            for (uint32_t u = 0; u < t->up[l]; u++) {
                uint32_t from = p * copies + k, to = p / t->down[l] * n + k + copies * u;

                snprintf(name, sizeof(name), "%.60s_link_%zu_%u_%u", c->id, l, (unsigned)from,
                         (unsigned)to);
                FR_TRY(fr__sg_cable(g, name, nodes[from], parents[to], t->count[l] * c->bw_Bps,
                                    c->latency_s, c->policy, c->x->loc));
            }
    return FR_OK;
}

static enum fr_status draw_fat_tree(struct cluster *c, const char *text)
{
    struct tree t;
    uint64_t hosts = 1, widest = 0, copies = 1, positions;
    uint32_t *nodes, *parents;

    if (!read_tree(text, &t))
        return fail_parameters(c, "levels;down;up;count, like 2;4,4;1,2;1,2,");
    for (size_t l = 0; l < t.levels; l++)
        hosts = hosts > FR__MAX_GPUS ? hosts : hosts * t.down[l];
    if (hosts != c->n)
        return fail_parameters(c, "sizes down whose product is the number of hosts");
    positions = hosts;
    for (size_t l = 0; l < t.levels; l++) {
        uint64_t cables = positions * copies * t.up[l];

        widest = cables > widest ? cables : widest;
        if (cables > FR__MAX_VERTICES)
            return fail_parameters(c, "a tree of fewer cables");
        copies *= t.up[l];
        positions /= t.down[l];
    }
    nodes = c->vertices;
    copies = 1;
    positions = hosts;
    for (size_t l = 0; l < t.levels; l++) {
        parents = fr__arena_alloc(c->r->s->arena, (size_t)widest, sizeof(*parents));
        if (!parents)
            return fr__fail_nomem(c->r->s->err);
        FR_TRY(draw_level(c, &t, l, (uint32_t)copies, (uint32_t)positions, nodes, parents));
        nodes = parents;
        copies *= t.up[l];
        positions /= t.down[l];
    }
    return FR_OK;
}

/* ---- any cluster ---- */

enum fr_status fr__sg_cluster(struct fr__sg_reader *r, const struct fr__xml *x)
{
    struct cluster c = {.r = r, .x = x};
    const char *shape = fr__xml_get(x, "topology"), *parameters = NULL;
    char excerpt[FR__EXCERPT];

    FR_TRY(fr__xml_text(x, "id", &c.id, r->s->err));
    FR_TRY(fr__xml_text(x, "prefix", &c.prefix, r->s->err));
    FR_TRY(fr__xml_text(x, "suffix", &c.suffix, r->s->err));
    FR_TRY(fr__sg_rate(x, "bw", NULL, &c.bw_Bps, r->s->err));
    FR_TRY(fr__sg_time(x, "lat", NULL, &c.latency_s, r->s->err));
    FR_TRY(fr__sg_read_policy(x, "sharing_policy", FR__SG_SPLIT, &c.policy, r->s->err));
    if (fr__xml_get(x, "limiter_link"))
        return fr__fail(r->s->err, FR_EPARSE, x->loc,
                        "'limiter_link' of <cluster> has no counterpart here");
    FR_TRY(read_radical(&c));
    FR_TRY(add_hosts(&c));
    if (!shape || strcmp(shape, "FLAT") == 0)
        return draw_star(&c);
    FR_TRY(fr__xml_text(x, "topo_parameters", &parameters, r->s->err));
    if (strcmp(shape, "TORUS") == 0)
        return draw_torus(&c, parameters);
    if (strcmp(shape, "FAT_TREE") == 0)
        return draw_fat_tree(&c, parameters);
    return fr__fail(r->s->err, FR_EPARSE, x->loc,
                    "'topology' of <cluster> is \"%s\", one of FLAT, FAT_TREE, TORUS expected",
                    fr__excerpt(shape, excerpt));
}
