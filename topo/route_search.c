/* topo/route_search.c - breadth-first from the target, or from both ends at once. */
#include "config.h"

#include "topo/route_search.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* Compressed adjacency: the links at v are list[first[v]] to list[first[v + 1] - 1], ascending. */
struct adjacency {
    uint32_t *first, *list;
};

/* A breadth-first search from one end. */
struct front {
    const struct adjacency *links; /* those that it grows along */
    uint32_t *dist;                /* [n_vertices] from that end, FR_NONE: not reached */
    uint32_t *queue;               /* [n_vertices] reached, nearest first */
    size_t level, n;               /* the outermost level starts there; how many are reached */
    size_t n_links;                /* that the next level has to look at */
    uint32_t radius;               /* of the outermost level */
};

struct fr__route_search {
    const struct fr_topo *topo;
    struct adjacency out, in;
    uint64_t *latency_ps; /* [n_links] */
    struct front to_dst, from_src;
    /* [n_vertices] of the chosen way to the target */
    uint64_t *sum_ps;
    double *width_Bps;
    uint32_t *next;
    /* of a pair's search: vertices on shortest routes */
    uint32_t *on_route; /* [2 n_vertices], those where the ends met from the middle on */
    bool *is_on_route;  /* [n_vertices] */
};

/* ---- life ---- */

static bool adjacency_init(struct adjacency *a, const struct fr_topo *t, bool is_out)
{
    a->first = calloc(t->n_vertices + 2, sizeof(*a->first));
    a->list = calloc(t->n_links + 1, sizeof(*a->list));
    if (!a->first || !a->list)
        return false;
    for (size_t l = 0; l < t->n_links; l++)
        a->first[(is_out ? t->links[l].src : t->links[l].dst) + 2]++;
    for (size_t v = 0; v < t->n_vertices; v++)
        a->first[v + 2] += a->first[v + 1];
    for (size_t l = 0; l < t->n_links; l++)
        a->list[a->first[(is_out ? t->links[l].src : t->links[l].dst) + 1]++] = (uint32_t)l;
    return true;
}

static bool front_init(struct front *f, const struct adjacency *links, size_t n_vertices)
{
    f->links = links;
    f->dist = malloc(n_vertices * sizeof(*f->dist));
    f->queue = malloc(n_vertices * sizeof(*f->queue));
    for (size_t v = 0; f->dist && v < n_vertices; v++)
        f->dist[v] = FR_NONE;
    return f->dist && f->queue;
}

struct fr__route_search *fr__route_search_new(const struct fr_topo *t)
{
    struct fr__route_search *s = calloc(1, sizeof(*s));
    size_t n = t->n_vertices;

    if (!s)
        return NULL;
    s->topo = t;
    s->latency_ps = calloc(t->n_links + 1, sizeof(*s->latency_ps));
    s->sum_ps = calloc(n, sizeof(*s->sum_ps));
    s->width_Bps = calloc(n, sizeof(*s->width_Bps));
    s->next = calloc(n, sizeof(*s->next));
    s->on_route = calloc(2 * n, sizeof(*s->on_route));
    s->is_on_route = calloc(n, sizeof(*s->is_on_route));
    if (!s->latency_ps || !s->sum_ps || !s->width_Bps || !s->next || !s->on_route ||
        !s->is_on_route || !adjacency_init(&s->out, t, true) || !adjacency_init(&s->in, t, false) ||
        !front_init(&s->to_dst, &s->in, n) || !front_init(&s->from_src, &s->out, n)) {
        fr__route_search_free(s);
        return NULL;
    }
    for (size_t l = 0; l < t->n_links; l++)
        s->latency_ps[l] = (uint64_t)(t->links[l].latency_s * 1e12 + 0.5);
    return s;
}

void fr__route_search_free(struct fr__route_search *s)
{
    if (!s)
        return;
    free(s->out.first);
    free(s->out.list);
    free(s->in.first);
    free(s->in.list);
    free(s->latency_ps);
    free(s->to_dst.dist);
    free(s->to_dst.queue);
    free(s->from_src.dist);
    free(s->from_src.queue);
    free(s->sum_ps);
    free(s->width_Bps);
    free(s->next);
    free(s->on_route);
    free(s->is_on_route);
    free(s);
}

/* ---- growing a front ---- */

static bool is_gpu(const struct fr__route_search *s, uint32_t v)
{
    return s->topo->vertices[v].kind == FR_VERTEX_GPU;
}

static void reach(struct front *f, uint32_t v, uint32_t dist)
{
    f->dist[v] = dist;
    f->queue[f->n++] = v;
    f->n_links += f->links->first[v + 1] - f->links->first[v];
}

static void start(struct front *f, uint32_t v)
{
    f->n = f->level = f->n_links = 0;
    f->radius = 0;
    reach(f, v, 0);
}

/* Reaches the next level; false: there is none. */
static bool grow(const struct fr__route_search *s, struct front *f)
{
    size_t begin = f->level, end = f->n;
    bool is_in = f->links == &s->in;

    f->level = end;
    f->n_links = 0;
    f->radius++;
    for (size_t i = begin; i < end; i++) {
        uint32_t v = f->queue[i];

        if (f->radius > 1 && is_gpu(s, v))
            continue;
        for (uint32_t k = f->links->first[v]; k < f->links->first[v + 1]; k++) {
            const struct fr_link *l = &s->topo->links[f->links->list[k]];
            uint32_t u = is_in ? l->src : l->dst;

            if (f->dist[u] == FR_NONE)
                reach(f, u, f->radius);
        }
    }
    return f->n > end;
}

static void clear(struct front *f)
{
    for (size_t i = 0; i < f->n; i++)
        f->dist[f->queue[i]] = FR_NONE;
    f->n = 0;
}

/* ---- the choice of the next link ---- */

static double narrower(double a, double b)
{
    return a < b ? a : b;
}

/* Whether link l leads from u one step nearer to the target through a vertex that forwards. */
static bool is_step(const struct fr__route_search *s, uint32_t u, uint32_t l)
{
    const uint32_t *dist = s->to_dst.dist;
    uint32_t v = s->topo->links[l].dst;

    return dist[v] != FR_NONE && dist[v] + 1 == dist[u] && (dist[v] == 0 || !is_gpu(s, v));
}

/* The next link of u by the rule of topo.h; sets u's own sum and width. */
static uint32_t choose(struct fr__route_search *s, uint32_t u, uint32_t dst_device)
{
    const struct fr_link *links = s->topo->links;
    const uint32_t *list = s->out.list;
    uint32_t end = s->out.first[u + 1], n_best = 0, pick;
    uint64_t best_ps = UINT64_MAX;
    double best_Bps = 0;

    for (uint32_t i = s->out.first[u]; i < end; i++) {
        uint32_t l = list[i], v = links[l].dst;
        uint64_t ps;
        double width_Bps;

        if (!is_step(s, u, l))
            continue;
        ps = s->sum_ps[v] + s->latency_ps[l];
        width_Bps = narrower(s->width_Bps[v], links[l].bw_Bps);
        if (ps < best_ps || (ps == best_ps && width_Bps > best_Bps)) {
            best_ps = ps;
            best_Bps = width_Bps;
            n_best = 1;
        } else if (ps == best_ps && !(width_Bps < best_Bps)) {
            n_best++;
        }
    }
    assert(n_best > 0);
    s->sum_ps[u] = best_ps;
    s->width_Bps[u] = best_Bps;
    pick = dst_device % n_best;
    for (uint32_t i = s->out.first[u]; i < end; i++) {
        uint32_t l = list[i], v = links[l].dst;

        if (is_step(s, u, l) && s->sum_ps[v] + s->latency_ps[l] == best_ps &&
            !(narrower(s->width_Bps[v], links[l].bw_Bps) < best_Bps) && pick-- == 0)
            return l;
    }
    return FR_NONE;
}

static void start_choices(struct fr__route_search *s, uint32_t target)
{
    s->sum_ps[target] = 0;
    s->width_Bps[target] = INFINITY;
}

/* ---- for all sources ---- */

void fr__route_search_all(struct fr__route_search *s, uint32_t dst, uint32_t next[])
{
    uint32_t target = s->topo->devices[dst].vertex;

    for (size_t v = 0; v < s->topo->n_vertices; v++)
        next[v] = FR_NONE;
    start(&s->to_dst, target);
    while (grow(s, &s->to_dst))
        ;
    start_choices(s, target);
    for (size_t i = 1; i < s->to_dst.n; i++)
        next[s->to_dst.queue[i]] = choose(s, s->to_dst.queue[i], dst);
    clear(&s->to_dst);
}

/* ---- for one source ---- */

/* Vertices on shortest routes, nearest to the target first: on_route[low] to on_route[high - 1]. */
struct corridor {
    size_t low, high;
};

/* Whether a shortest route may run through v, which both fronts have reached. */
static bool joins(const struct fr__route_search *s, uint32_t v)
{
    uint32_t from = s->from_src.dist[v], to = s->to_dst.dist[v];

    return from != FR_NONE && to != FR_NONE && (from == 0 || to == 0 || !is_gpu(s, v));
}

/* Grows the fronts until they meet and puts where they do into the corridor; false: they never do. */
static bool meet(struct fr__route_search *s, struct corridor *c)
{
    for (;;) {
        bool from_src = s->from_src.n_links < s->to_dst.n_links;
        struct front *f = from_src ? &s->from_src : &s->to_dst;

        if (!grow(s, f))
            return false;
        for (size_t i = f->level; i < f->n; i++)
            if (joins(s, f->queue[i])) {
                s->is_on_route[f->queue[i]] = true;
                s->on_route[c->high++] = f->queue[i];
            }
        if (c->high > c->low)
            return true;
    }
}

/* From the meeting vertices down to the target: whatever is one step nearer. */
static void follow_to_target(struct fr__route_search *s, struct corridor *c)
{
    for (size_t i = c->high; i-- > c->low;) {
        uint32_t u = s->on_route[i];

        for (uint32_t k = s->out.first[u]; k < s->out.first[u + 1]; k++) {
            uint32_t l = s->out.list[k], v = s->topo->links[l].dst;

            if (is_step(s, u, l) && !s->is_on_route[v]) {
                s->is_on_route[v] = true;
                s->on_route[--c->low] = v;
            }
        }
    }
}

/* From the meeting vertices, which stand from `middle` on, up to the source, which gives each its
 * distance to the target. */
static void follow_to_source(struct fr__route_search *s, size_t middle, struct corridor *c)
{
    const uint32_t *from = s->from_src.dist;

    for (size_t i = middle; i < c->high; i++) {
        uint32_t v = s->on_route[i];

        for (uint32_t k = s->in.first[v]; k < s->in.first[v + 1]; k++) {
            uint32_t u = s->topo->links[s->in.list[k]].src;

            if (from[u] == FR_NONE || from[u] + 1 != from[v] || s->is_on_route[u] ||
                (from[u] > 0 && is_gpu(s, u)))
                continue;
            s->is_on_route[u] = true;
            reach(&s->to_dst, u, s->to_dst.dist[v] + 1);
            s->on_route[c->high++] = u;
        }
    }
}

static size_t walk(const struct fr__route_search *s, uint32_t src, uint32_t dst, size_t max,
                   uint32_t links[])
{
    const struct fr_topo *t = s->topo;
    size_t n = s->to_dst.dist[t->devices[src].vertex], i = 0;

    if (n <= max)
        for (uint32_t v = t->devices[src].vertex; v != t->devices[dst].vertex;
             v = t->links[links[i++]].dst)
            links[i] = s->next[v];
    return n;
}

size_t fr__route_search_pair(struct fr__route_search *s, uint32_t src, uint32_t dst, size_t max,
                             uint32_t links[])
{
    uint32_t target = s->topo->devices[dst].vertex;
    struct corridor c = {s->topo->n_vertices, s->topo->n_vertices};
    size_t n = 0;

    start(&s->to_dst, target);
    start(&s->from_src, s->topo->devices[src].vertex);
    if (meet(s, &c)) {
        follow_to_target(s, &c);
        follow_to_source(s, s->topo->n_vertices, &c);
        start_choices(s, target);
        for (size_t i = c.low; i < c.high; i++)
            if (s->on_route[i] != target)
                s->next[s->on_route[i]] = choose(s, s->on_route[i], dst);
        n = walk(s, src, dst, max, links);
    }
    for (size_t i = c.low; i < c.high; i++)
        s->is_on_route[s->on_route[i]] = false;
    clear(&s->to_dst);
    clear(&s->from_src);
    return n;
}
