/* topo/import/simgrid_graph.c - draws the links of a SimGrid platform and checks its routes. */
#include "config.h"

#include "topo/import/simgrid_graph.h"

#include "base/rng.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ROUTES = 16384 }; /* all of 128 hosts */

static const char SOURCE[] = "bandwidth and latency of the file";

void fr__sg_init(struct fr__sg *g, struct fr__sketch *s)
{
    memset(g, 0, sizeof(*g));
    g->s = s;
}

void fr__sg_fini(struct fr__sg *g)
{
    fr__strings_fini(&g->ids);
    fr__strings_fini(&g->link_ids);
    fr__hash_fini(&g->by_ends);
    free(g->names);
    free(g->is_host);
    free(g->links);
    free(g->edges);
    free(g->routes);
}

/* ---- vertices ---- */

/* The id as a name of ours: other characters become '-', and what had to change or is too long gets
 * the vertex's number behind. */
static void make_name(const char *id, uint32_t vertex, char name[FR__MAX_VERTEX_NAME + 1])
{
    static const char known[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:-";
    size_t n = strlen(id);
    bool has_changed = n == 0 || n > FR__MAX_VERTEX_NAME;

    n = n > FR__MAX_VERTEX_NAME ? FR__MAX_VERTEX_NAME : n;
    memcpy(name, id, n);
    name[n] = '\0';
    for (size_t i = 0; i < n; i++)
        if (!strchr(known, name[i])) {
            name[i] = '-';
            has_changed = true;
        }
    if (has_changed)
        snprintf(name + (n > 50 ? 50 : n), FR__MAX_VERTEX_NAME + 1 - (n > 50 ? 50 : n), "-%u",
                 (unsigned)vertex);
}

enum fr_status fr__sg_vertex(struct fr__sg *g, const char *id, const char *global,
                             struct fr_loc loc, uint32_t *out)
{
    const char *copy = fr__arena_strdup(g->s->arena, id);
    char excerpt[FR__EXCERPT], name[FR__MAX_VERTEX_NAME + 1];
    bool is_new;

    *out = copy ? fr__strings_add(&g->ids, copy, &is_new) : FR_NONE;
    if (*out == FR_NONE || !fr__grow(&g->names, &g->cap_names, g->ids.n, sizeof(*g->names)) ||
        !fr__grow(&g->is_host, &g->cap_hosts, g->ids.n, sizeof(*g->is_host)))
        return fr__fail_nomem(g->s->err);
    if (!is_new)
        return fr__fail(g->s->err, FR_EPARSE, loc, "'%s' appears twice", fr__excerpt(id, excerpt));
    make_name(id, *out, name);
    g->is_host[*out] = global != NULL;
    g->names[*out] = fr__arena_strdup(g->s->arena, global ? global : name);
    if (!g->names[*out])
        return fr__fail_nomem(g->s->err);
    if (!global)
        fr__sketch_switch(g->s, name, loc);
    return FR_OK;
}

enum fr_status fr__sg_find(struct fr__sg *g, const char *id, struct fr_loc loc, uint32_t *out)
{
    char excerpt[FR__EXCERPT];

    *out = fr__strings_find(&g->ids, id);
    if (*out == FR_NONE)
        return fr__fail(g->s->err, FR_EPARSE, loc, "no host or router '%s'",
                        fr__excerpt(id, excerpt));
    return FR_OK;
}

/* ---- edges ---- */

static uint64_t hash_of(uint32_t from, uint32_t to)
{
    return fr__hash_id((uint64_t)from << 32 | to);
}

static bool has_edge(const struct fr__sg *g, uint32_t from, uint32_t to)
{
    size_t at;

    for (uint32_t e = fr__hash_first(&g->by_ends, hash_of(from, to), &at); e != FR_NONE;
         e = fr__hash_next(&g->by_ends, hash_of(from, to), &at))
        if (g->edges[e][0] == from && g->edges[e][1] == to)
            return true;
    return false;
}

void fr__sg_edge(struct fr__sg *g, uint32_t from, uint32_t to, double bw_Bps, double latency_s,
                 struct fr_loc loc)
{
    if (has_edge(g, from, to))
        return;
    if (!fr__grow(&g->edges, &g->cap_edges, g->n_edges + 1, sizeof(*g->edges)) ||
        !fr__hash_add(&g->by_ends, hash_of(from, to), (uint32_t)g->n_edges)) {
        g->is_full = true;
        return;
    }
    g->edges[g->n_edges][0] = from;
    g->edges[g->n_edges++][1] = to;
    fr__sketch_cable(g->s, FR_LINK_NET, g->names[from], g->names[to], bw_Bps, latency_s, false,
                     SOURCE, loc);
}

/* Two vertices "<id><suffix>.in" and ".out" with the link between them; *in, *out. */
static enum fr_status add_pair(struct fr__sg *g, const char *id, const char *suffix, double bw_Bps,
                               double latency_s, struct fr_loc loc, uint32_t pair[2])
{
    char name[256];

    if (pair[0] != FR_NONE)
        return FR_OK;
    snprintf(name, sizeof(name), "%.200s%s.in", id, suffix);
    FR_TRY(fr__sg_vertex(g, name, NULL, loc, &pair[0]));
    snprintf(name, sizeof(name), "%.200s%s.out", id, suffix);
    FR_TRY(fr__sg_vertex(g, name, NULL, loc, &pair[1]));
    fr__sg_edge(g, pair[0], pair[1], bw_Bps, latency_s, loc);
    return FR_OK;
}

enum fr_status fr__sg_cable(struct fr__sg *g, const char *id, uint32_t one, uint32_t other,
                            double bw_Bps, double latency_s, enum fr__sg_policy policy,
                            struct fr_loc loc)
{
    uint32_t pair[2] = {FR_NONE, FR_NONE};

    if (policy != FR__SG_SHARED) {
        fr__sg_edge(g, one, other, bw_Bps, latency_s, loc);
        fr__sg_edge(g, other, one, bw_Bps, latency_s, loc);
        return FR_OK;
    }
    FR_TRY(add_pair(g, id, "", bw_Bps, latency_s, loc, pair));
    fr__sg_edge(g, one, pair[0], bw_Bps, 0, loc);
    fr__sg_edge(g, pair[1], other, bw_Bps, 0, loc);
    fr__sg_edge(g, other, pair[0], bw_Bps, 0, loc);
    fr__sg_edge(g, pair[1], one, bw_Bps, 0, loc);
    return FR_OK;
}

/* ---- links and routes ---- */

enum fr_status fr__sg_add_link(struct fr__sg *g, const struct fr__sg_link *link)
{
    char excerpt[FR__EXCERPT];
    bool is_new;
    uint32_t id = fr__strings_add(&g->link_ids, link->id, &is_new);

    if (id == FR_NONE || !fr__grow(&g->links, &g->cap_links, g->link_ids.n, sizeof(*g->links)))
        return fr__fail_nomem(g->s->err);
    if (!is_new)
        return fr__fail(g->s->err, FR_EPARSE, link->loc, "link '%s' appears twice",
                        fr__excerpt(link->id, excerpt));
    g->links[id] = *link;
    return FR_OK;
}

enum fr_status fr__sg_find_link(struct fr__sg *g, const char *id, struct fr_loc loc,
                                struct fr__sg_link **out)
{
    uint32_t i = fr__strings_find(&g->link_ids, id);
    char excerpt[FR__EXCERPT];

    if (i == FR_NONE)
        return fr__fail(g->s->err, FR_EPARSE, loc, "no link '%s'", fr__excerpt(id, excerpt));
    *out = &g->links[i];
    return FR_OK;
}

static enum fr_status keep_route(struct fr__sg *g, uint32_t src, uint32_t dst, size_t n_edges,
                                 struct fr_loc loc)
{
    if (g->n_routes == MAX_ROUTES)
        return fr__fail(g->s->err, FR_ERANGE, loc, "more than %d routes", MAX_ROUTES);
    if (!fr__grow(&g->routes, &g->cap_routes, g->n_routes + 1, sizeof(*g->routes)))
        return fr__fail_nomem(g->s->err);
    g->routes[g->n_routes++] = (struct fr__sg_route){src, dst, (uint32_t)n_edges, loc};
    return FR_OK;
}

/* The vertices of a link in one direction; both share one pair where the link is SHARED. */
static enum fr_status pair_of(struct fr__sg *g, struct fr__sg_link *l, bool is_down,
                              uint32_t pair[2])
{
    unsigned side = l->policy == FR__SG_SHARED ? 0 : is_down;

    FR_TRY(add_pair(g, l->id,
                    l->policy == FR__SG_SHARED ? ""
                    : is_down                  ? ":down"
                                               : ":up",
                    l->bw_Bps, l->latency_s, l->loc, l->pairs[side]));
    memcpy(pair, l->pairs[side], sizeof(l->pairs[side]));
    return FR_OK;
}

/* One direction of a route; is_back: the links from the last to the first, each the other way. */
static enum fr_status draw_route(struct fr__sg *g, uint32_t src, uint32_t dst, size_t n,
                                 struct fr__sg_link *const links[], const unsigned char is_down[],
                                 bool is_back, struct fr_loc loc)
{
    uint32_t at = src, pair[2];
    double before_Bps = 0;

    for (size_t i = 0; i < n; i++) {
        size_t k = is_back ? n - 1 - i : i;
        struct fr__sg_link *l = links[k];

        FR_TRY(pair_of(g, l, (is_down[k] != 0) != is_back, pair));
        fr__sg_edge(g, at, pair[0], i > 0 && before_Bps < l->bw_Bps ? before_Bps : l->bw_Bps, 0,
                    loc);
        at = pair[1];
        before_Bps = l->bw_Bps;
    }
    fr__sg_edge(g, at, dst, before_Bps, 0, loc);
    return keep_route(g, src, dst, 2 * n + 1, loc);
}

enum fr_status fr__sg_route(struct fr__sg *g, uint32_t src, uint32_t dst, size_t n,
                            struct fr__sg_link *const links[], const unsigned char is_down[],
                            bool is_symmetrical, struct fr_loc loc)
{
    struct fr__sg_link *l = n == 1 ? links[0] : NULL;

    for (size_t i = 0; i < n; i++)
        if (links[i]->policy == FR__SG_FATPIPE)
            fr__sketch_note(g->s,
                            "link %.60s shares nothing (FATPIPE) in SimGrid; here the routes "
                            "over it share it",
                            links[i]->id);
    if (n == 0) {
        /* nothing between the two: the wire of an ideal switch */
        fr__sg_edge(g, src, dst, 1e15, 0, loc);
        if (is_symmetrical)
            fr__sg_edge(g, dst, src, 1e15, 0, loc);
        return FR_OK;
    }
    if (l && l->policy != FR__SG_SHARED && l->n_uses == 1 && is_symmetrical &&
        !has_edge(g, src, dst)) {
        fr__sg_edge(g, src, dst, l->bw_Bps, l->latency_s, loc);
        fr__sg_edge(g, dst, src, l->bw_Bps, l->latency_s, loc);
        FR_TRY(keep_route(g, src, dst, 1, loc));
        return keep_route(g, dst, src, 1, loc);
    }
    FR_TRY(draw_route(g, src, dst, n, links, is_down, false, loc));
    return is_symmetrical ? draw_route(g, dst, src, n, links, is_down, true, loc) : FR_OK;
}

/* ---- are the file's routes ours? ---- */

struct search {
    const struct fr__sg *g;
    uint32_t *first, *next; /* adjacency: [vertices + 1], [edges] */
    uint32_t *distance, *queue;
    uint32_t *link_of; /* [vertices] whose pair it is, both directions alike; FR_NONE: no link's */
    uint64_t *trail;   /* [vertices] a hash of the links of all shortest ways there */
    bool *has_lanes;   /* [vertices] these ways differ in the direction of a link */
};

/* Trails that differ in a link; no hash of one (fr__splitmix64 of a sum) is taken to be it. */
static const uint64_t SEVERAL = 0;

static uint64_t longer_trail(const struct search *s, uint64_t trail, uint32_t v)
{
    uint64_t state = trail + (s->link_of[v] != FR_NONE ? s->link_of[v] + 1 : (uint64_t)v << 32);
    uint64_t x = fr__splitmix64(&state);

    return x == SEVERAL ? 1 : x;
}

/* One more shortest way to w, over v. */
static void meet(struct search *s, uint32_t v, uint32_t w, bool is_first)
{
    uint64_t trail = s->trail[v] == SEVERAL ? SEVERAL : longer_trail(s, s->trail[v], w);

    if (is_first) {
        s->trail[w] = trail;
        s->has_lanes[w] = s->has_lanes[v];
        return;
    }
    if (s->trail[w] != trail)
        s->trail[w] = SEVERAL;
    s->has_lanes[w] = true;
}

/* Fewest links from src to all, and whether all such ways go over the same links of the file. */
static void search(struct search *s, uint32_t src)
{
    size_t head = 0, tail = 0;

    for (size_t v = 0; v < s->g->ids.n; v++) {
        s->distance[v] = FR_NONE;
        s->has_lanes[v] = false;
    }
    s->distance[src] = 0;
    s->trail[src] = 1;
    s->queue[tail++] = src;
    while (head < tail) {
        uint32_t v = s->queue[head++];

        if (s->g->is_host[v] && v != src)
            continue; /* a GPU sends on nothing of others */
        for (uint32_t i = s->first[v]; i < s->first[v + 1]; i++) {
            uint32_t w = s->g->edges[s->next[i]][1];

            bool is_first = s->distance[w] == FR_NONE;

            if (is_first) {
                s->distance[w] = s->distance[v] + 1;
                s->queue[tail++] = w;
            }
            if (s->distance[w] == s->distance[v] + 1)
                meet(s, v, w, is_first);
        }
    }
}

/* Vertices of a link's pairs; into and out of it are told apart. */
static void name_links(struct search *s)
{
    const struct fr__sg *g = s->g;

    for (size_t v = 0; v < g->ids.n; v++)
        s->link_of[v] = FR_NONE;
    for (uint32_t i = 0; i < g->link_ids.n; i++)
        for (unsigned side = 0; side < 2; side++)
            for (uint32_t end = 0; end < 2; end++)
                if (g->links[i].pairs[side][end] != FR_NONE)
                    s->link_of[g->links[i].pairs[side][end]] = 2 * i + end;
}

static enum fr_status check_all(struct search *s)
{
    const struct fr__sg *g = s->g;

    for (size_t v = 0; v <= g->ids.n; v++)
        s->first[v] = 0;
    for (size_t e = 0; e < g->n_edges; e++)
        s->first[g->edges[e][0] + 1]++;
    for (size_t v = 0; v < g->ids.n; v++)
        s->first[v + 1] += s->first[v];
    for (size_t v = 0; v < g->ids.n; v++)
        s->queue[v] = s->first[v];
    for (size_t e = 0; e < g->n_edges; e++)
        s->next[s->queue[g->edges[e][0]]++] = (uint32_t)e;
    name_links(s);
    for (size_t i = 0; i < g->n_routes; i++) {
        const struct fr__sg_route *r = &g->routes[i];

        if (i == 0 || g->routes[i - 1].src != r->src)
            search(s, r->src);
        if (s->distance[r->dst] == r->n_edges && s->has_lanes[r->dst])
            fr__sketch_note(g->s,
                            "where routes cross links alike, messages may take either of their "
                            "directions, which the file keeps apart");
        if (s->distance[r->dst] != r->n_edges || s->trail[r->dst] == SEVERAL)
            return fr__fail(g->s->err, FR_EPARSE, r->loc,
                            "the route from '%.60s' to '%.60s' is not the only one of fewest "
                            "links, which is how messages go here",
                            g->ids.keys[r->src], g->ids.keys[r->dst]);
    }
    return FR_OK;
}

enum fr_status fr__sg_check_routes(struct fr__sg *g)
{
    struct fr__arena *a;
    struct search s = {.g = g};
    enum fr_status status;

    if (g->is_full)
        return fr__fail_nomem(g->s->err);
    if (g->n_routes == 0)
        return FR_OK;
    a = fr__arena_new();
    if (a) {
        s.first = fr__arena_alloc(a, g->ids.n + 1, sizeof(*s.first));
        s.next = fr__arena_alloc(a, g->n_edges, sizeof(*s.next));
        s.distance = fr__arena_alloc(a, g->ids.n, sizeof(*s.distance));
        s.link_of = fr__arena_alloc(a, g->ids.n, sizeof(*s.link_of));
        s.trail = fr__arena_alloc(a, g->ids.n, sizeof(*s.trail));
        s.has_lanes = fr__arena_alloc(a, g->ids.n, sizeof(*s.has_lanes));
        s.queue = fr__arena_alloc(a, g->ids.n, sizeof(*s.queue));
    }
    status = s.first && s.next && s.distance && s.link_of && s.trail && s.has_lanes && s.queue
                 ? check_all(&s)
                 : fr__fail_nomem(g->s->err);
    fr__arena_free(a);
    return status;
}
