/* topo/routes/search.c - searches routes breadth first, from the target or from both ends. */
#include "config.h"

#include "topo/routes/search.h"

#include "base/rng.h"
#include "topo/routes/adjacency.h"
#include "topo/routes/heap.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* The vertices at one distance. */
struct level {
    uint32_t first, end; /* in the queue */
    uint64_t n_links;    /* links along which the next level is searched */
};

/* A breadth-first search from one end. */
struct front {
    const struct fr__adjacency *links;  /* those that it grows along, */
    const struct fr__adjacency *trunks; /* in a pair's search in the network these */
    uint32_t *dist;                     /* [n_vertices] from that end, FR_NONE: not reached */
    uint32_t *queue;                    /* [n_vertices] reached, nearest first */
    struct level *levels;               /* [n_vertices + 1] */
    uint32_t radius;                    /* of the outermost level */
    uint32_t n;                         /* reached */
};

struct fr__route_search {
    const struct fr_topo *topo;
    struct fr__reached *heap; /* [n_links + 1], NULL: no relays */
    size_t n_heap;
    struct fr__adjacency out, in, trunks_out, trunks_in;
    uint64_t *latency_ps;    /* [n_links] */
    uint32_t target_machine; /* of the search for all, FR_NONE: no relays in this search */
    struct front to_dst, from_src;
    /* [n_vertices] of the chosen way to the target */
    uint64_t *sum_ps;
    double *width_Bps;
    uint32_t *next;
    uint32_t *steps; /* [n_links] those that gather found */
    size_t n_steps;
    /* of a pair's search: vertices on shortest routes */
    uint32_t modulus; /* see fr__route_search_modulus */
    uint32_t *gate;   /* [n_machines] see fr__find_gates */
    bool is_pair;     /* a pair's search is under way, between machines with these gates: */
    uint32_t end_machines[2], end_gates[2];
    uint32_t *on_route; /* [2 n_vertices], those where the ends met from the middle on */
    bool *is_on_route;  /* [n_vertices] */
};

/* ---- life ---- */

static bool front_init(struct front *f, const struct fr__adjacency *links,
                       const struct fr__adjacency *trunks, size_t n_vertices)
{
    f->links = links;
    f->trunks = trunks;
    f->dist = malloc(n_vertices * sizeof(*f->dist));
    f->queue = malloc(n_vertices * sizeof(*f->queue));
    f->levels = malloc((n_vertices + 1) * sizeof(*f->levels));
    for (size_t v = 0; f->dist && v < n_vertices; v++)
        f->dist[v] = FR_NONE;
    return f->dist && f->queue && f->levels;
}

struct fr__route_search *fr__route_search_new(const struct fr_topo *t)
{
    struct fr__route_search *s = calloc(1, sizeof(*s));
    size_t n = t->n_vertices;

    if (!s)
        return NULL;
    s->topo = t;
    s->target_machine = FR_NONE;
    s->modulus = 1;
    s->heap = t->has_relays ? calloc(t->n_links + 1, sizeof(*s->heap)) : NULL;
    s->latency_ps = calloc(t->n_links + 1, sizeof(*s->latency_ps));
    s->sum_ps = calloc(n, sizeof(*s->sum_ps));
    s->width_Bps = calloc(n, sizeof(*s->width_Bps));
    s->next = calloc(n, sizeof(*s->next));
    s->steps = calloc(t->n_links + 1, sizeof(*s->steps));
    s->on_route = calloc(2 * n, sizeof(*s->on_route));
    s->is_on_route = calloc(n, sizeof(*s->is_on_route));
    s->gate = malloc((t->n_machines + 1) * sizeof(*s->gate));
    if (s->gate)
        fr__find_gates(t, s->gate);
    if ((t->has_relays && !s->heap) || !s->latency_ps || !s->sum_ps || !s->width_Bps || !s->next ||
        !s->steps || !s->on_route || !s->is_on_route || !s->gate ||
        !fr__adjacency_init(&s->out, t, true) || !fr__adjacency_init(&s->in, t, false) ||
        !fr__adjacency_trunks(&s->trunks_out, t, true, s->gate) ||
        !fr__adjacency_trunks(&s->trunks_in, t, false, s->gate) ||
        !front_init(&s->to_dst, &s->in, &s->trunks_in, n) ||
        !front_init(&s->from_src, &s->out, &s->trunks_out, n)) {
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
    free(s->heap);
    fr__adjacency_fini(&s->out);
    fr__adjacency_fini(&s->in);
    fr__adjacency_fini(&s->trunks_out);
    fr__adjacency_fini(&s->trunks_in);
    free(s->latency_ps);
    free(s->to_dst.dist);
    free(s->to_dst.queue);
    free(s->to_dst.levels);
    free(s->from_src.dist);
    free(s->from_src.queue);
    free(s->from_src.levels);
    free(s->sum_ps);
    free(s->width_Bps);
    free(s->next);
    free(s->steps);
    free(s->on_route);
    free(s->is_on_route);
    free(s->gate);
    free(s);
}

/* ---- growing a front ---- */

static bool is_gpu(const struct fr__route_search *s, uint32_t v)
{
    return s->topo->vertices[v].kind == FR_VERTEX_GPU;
}

/* Whether a vertex of a pair's search has no links but trunks that it need look along. */
static bool is_inside_network(const struct fr__route_search *s, uint32_t v)
{
    return s->is_pair && s->topo->vertices[v].machine == FR_NONE && v != s->end_gates[0] &&
           v != s->end_gates[1];
}

/* Whether a pair's search need not look at v, as it is inside a third machine with a gate. */
static bool is_dead_end(const struct fr__route_search *s, uint32_t v)
{
    uint32_t machine = s->topo->vertices[v].machine;

    return s->is_pair && machine != FR_NONE && s->gate[machine] != FR_NONE &&
           machine != s->end_machines[0] && machine != s->end_machines[1];
}

static const struct fr__adjacency *links_at(const struct fr__route_search *s, const struct front *f,
                                            uint32_t v)
{
    return is_inside_network(s, v) ? f->trunks : f->links;
}

static void reach(const struct fr__route_search *s, struct front *f, uint32_t v, uint32_t dist)
{
    const uint32_t *first = links_at(s, f, v)->first + v;

    f->dist[v] = dist;
    f->queue[f->n++] = v;
    f->levels[f->radius].end = f->n;
    f->levels[f->radius].n_links += first[1] - first[0];
}

static void start(const struct fr__route_search *s, struct front *f, uint32_t v)
{
    f->n = f->radius = 0;
    f->levels[0] = (struct level){0, 0, 0};
    reach(s, f, v, 0);
}

static bool is_step(const struct fr__route_search *s, uint32_t u, uint32_t l);

/* How far a link is: with relays the network's count first, then those between sockets. */
static uint32_t length(const struct fr__route_search *s, uint32_t l)
{
    static const uint32_t lengths[FR_N_LINK_KINDS] = {1, 1, 1 << 10, 1 << 20};

    return s->target_machine == FR_NONE ? 1 : lengths[s->topo->links[l].kind];
}

/* Whether links between these two are NVLink's own: not a GPU's way to its host. */
static bool is_nvlink(const struct fr__route_search *s, uint32_t l)
{
    enum fr_vertex_kind src = s->topo->vertices[s->topo->links[l].src].kind;
    enum fr_vertex_kind dst = s->topo->vertices[s->topo->links[l].dst].kind;

    return (src == FR_VERTEX_GPU || src == FR_VERTEX_NVSWITCH) &&
           (dst == FR_VERTEX_GPU || dst == FR_VERTEX_NVSWITCH);
}

/* Whether the GPU, whose distance is known, passes on what comes over NVLink. */
static bool relays(const struct fr__route_search *s, uint32_t v)
{
    if (s->target_machine == FR_NONE || s->topo->vertices[v].machine == s->target_machine)
        return false;
    for (uint32_t i = s->out.first[v]; i < s->out.first[v + 1]; i++)
        if (is_nvlink(s, s->out.list[i]) && is_step(s, v, s->out.list[i]))
            return false;
    return true;
}

/* Reaches the next level; false: there is none. */
static bool grow(const struct fr__route_search *s, struct front *f)
{
    struct level last = f->levels[f->radius];

    f->levels[++f->radius] = (struct level){last.end, last.end, 0};
    for (uint32_t i = last.first; i < last.end; i++) {
        uint32_t v = f->queue[i];
        const struct fr__adjacency *a = links_at(s, f, v);

        if (f->radius > 1 && is_gpu(s, v))
            continue;
        for (uint32_t k = a->first[v]; k < a->first[v + 1]; k++) {
            uint32_t u = a->ends[k];

            if (f->dist[u] == FR_NONE && !is_dead_end(s, u))
                reach(s, f, u, f->radius);
        }
    }
    return f->n > last.end;
}

/* Links looked at, and one for the end itself. */
static uint64_t seen(const struct front *f)
{
    uint64_t n = 1;

    for (uint32_t d = 0; d < f->radius; d++)
        n += f->levels[d].n_links;
    return n;
}

static void clear(struct front *f)
{
    for (uint32_t i = 0; i < f->n; i++)
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

    return dist[v] != FR_NONE && dist[v] + length(s, l) == dist[u] &&
           (dist[v] == 0 || !is_gpu(s, v) || (is_nvlink(s, l) && relays(s, v)));
}

/* Looks for steps from u at the links into the vertices one level nearer, if these are fewer than
 * those out of u: a switch that joins thousands of machines is not looked through for one. */
static bool gather_backwards(struct fr__route_search *s, uint32_t u, uint32_t n_out)
{
    const struct front *f = &s->to_dst;
    const struct level *nearer = &f->levels[f->dist[u] - 1];

    if (f->dist[u] > f->radius || nearer->n_links >= n_out)
        return false;
    for (uint32_t i = nearer->first; i < nearer->end; i++) {
        uint32_t v = f->queue[i];
        const struct fr__adjacency *a = links_at(s, f, v);

        for (uint32_t k = a->first[v]; k < a->first[v + 1]; k++) {
            uint32_t l = a->list[k];
            size_t at = s->n_steps;

            if (a->ends[k] != u || !is_step(s, u, l))
                continue;
            for (; at && s->steps[at - 1] > l; at--)
                s->steps[at] = s->steps[at - 1];
            s->steps[at] = l;
            s->n_steps++;
        }
    }
    return true;
}

/* is_step() of link l from u to v. Without relays distances count links and no GPU forwards: then
 * there is no need to look at the link. */
static inline bool is_step_to(const struct fr__route_search *s, uint32_t u, uint32_t v, uint32_t l)
{
    uint32_t dist = s->to_dst.dist[v];

    if (s->target_machine != FR_NONE)
        return is_step(s, u, l);
    return dist != FR_NONE && dist + 1 == s->to_dst.dist[u] && (dist == 0 || !is_gpu(s, v));
}

/* Fills steps with the links from u one step nearer to the target, ascending. */
static void gather(struct fr__route_search *s, uint32_t u)
{
    const struct fr__adjacency *a = links_at(s, &s->from_src, u);

    s->n_steps = 0;
    if (s->target_machine == FR_NONE && gather_backwards(s, u, a->first[u + 1] - a->first[u]))
        return;
    for (uint32_t i = a->first[u]; i < a->first[u + 1]; i++)
        if (is_step_to(s, u, a->ends[i], a->list[i]))
            s->steps[s->n_steps++] = a->list[i];
}

/* What picks among equal links of u: the destination's number, or where ways of the network are
 * taken by hash, a hash of both. */
static uint64_t pick(const struct fr_topo *t, uint32_t link, uint32_t u, uint32_t number)
{
    uint64_t state = (uint64_t)u << 32 | number;

    return t->has_hash && t->links[link].kind == FR_LINK_NET ? fr__splitmix64(&state) : number;
}

enum { MOST_MODULUS = 1 << 16 };

/* Takes note of a choice among steps[0] to steps[n - 1]. */
static void note_choice(struct fr__route_search *s, uint32_t u, uint32_t n, uint32_t dst)
{
    const struct fr_topo *t = s->topo;
    uint32_t target = t->vertices[dst].machine, n_into = 0, multiple = s->modulus;

    for (uint32_t i = 0; i < n && t->vertices[u].machine == FR_NONE; i++) {
        uint32_t machine = t->vertices[t->links[s->steps[i]].dst].machine;

        n_into += machine == target;
        if (machine != FR_NONE && machine != target)
            s->modulus = 0;
    }
    if (n_into > 0 && n_into < n)
        s->modulus = 0;
    if (t->has_hash && n > 1 && t->links[s->steps[0]].kind == FR_LINK_NET)
        s->modulus = 0; /* no rule of numbers */
    if (s->modulus == 0 || s->modulus % n == 0)
        return;
    while (multiple <= MOST_MODULUS && multiple % n != 0)
        multiple += s->modulus;
    s->modulus = multiple <= MOST_MODULUS ? multiple : 0;
}

uint32_t fr__route_search_modulus(const struct fr__route_search *s)
{
    return s->modulus;
}

/* The next link of u by the rule of topo.h; sets u's own sum and width. */
static uint32_t choose(struct fr__route_search *s, uint32_t u, struct fr__target dst)
{
    const struct fr_link *links = s->topo->links;
    uint32_t n_best = 0;
    uint64_t best_ps = UINT64_MAX;
    double best_Bps = 0;

    gather(s, u);
    for (size_t i = 0; i < s->n_steps; i++) {
        uint32_t l = s->steps[i], v = links[l].dst;
        uint64_t ps = s->sum_ps[v] + s->latency_ps[l];
        double width_Bps = narrower(s->width_Bps[v], links[l].bw_Bps);

        if (ps < best_ps || (ps == best_ps && width_Bps > best_Bps)) {
            best_ps = ps;
            best_Bps = width_Bps;
            n_best = 0;
        }
        if (ps == best_ps && !(width_Bps < best_Bps))
            s->steps[n_best++] = l;
    }
    assert(n_best > 0);
    s->sum_ps[u] = best_ps;
    s->width_Bps[u] = best_Bps;
    if (s->modulus > 0)
        note_choice(s, u, n_best, dst.vertex);
    return s->steps[pick(s->topo, s->steps[0], u, dst.number) % n_best];
}

static void start_choices(struct fr__route_search *s, uint32_t target)
{
    s->sum_ps[target] = 0;
    s->width_Bps[target] = INFINITY;
}

/* ---- distances with relays: Dijkstra, Numerische Mathematik 1, 1959 ---- */

/* Reaches what leads to v, which is settled, over links that v passes on. */
static void settle(struct fr__route_search *s, uint32_t v)
{
    uint32_t *dist = s->to_dst.dist;
    bool is_relay = dist[v] > 0 && is_gpu(s, v);

    if (is_relay && !relays(s, v))
        return;
    for (uint32_t k = s->in.first[v]; k < s->in.first[v + 1]; k++) {
        uint32_t l = s->in.list[k], u = s->topo->links[l].src;
        uint32_t far = dist[v] + length(s, l);

        if (far >= dist[u] || (is_relay && !is_nvlink(s, l)))
            continue;
        dist[u] = far;
        fr__reached_push(s->heap, &s->n_heap, (struct fr__reached){far, u});
    }
}

/* The distances of all vertices from the target, and the vertices in that order. A vertex is pushed
 * at most once for each link out of it. */
static void settle_all(struct fr__route_search *s, uint32_t target)
{
    struct front *f = &s->to_dst;

    s->target_machine = s->topo->vertices[target].machine;
    s->n_heap = 0;
    f->n = 0;
    f->dist[target] = 0;
    fr__reached_push(s->heap, &s->n_heap, (struct fr__reached){0, target});
    while (s->n_heap > 0) {
        struct fr__reached r = fr__reached_pop(s->heap, &s->n_heap);

        if (r.dist > f->dist[r.vertex])
            continue; /* reached again since, and nearer */
        f->queue[f->n++] = r.vertex;
        settle(s, r.vertex);
    }
}

/* ---- for all sources ---- */

void fr__route_search_all(struct fr__route_search *s, struct fr__target dst, uint32_t next[])
{
    for (size_t v = 0; v < s->topo->n_vertices; v++)
        next[v] = FR_NONE;
    if (s->topo->has_relays) {
        settle_all(s, dst.vertex);
    } else {
        start(s, &s->to_dst, dst.vertex);
        while (grow(s, &s->to_dst))
            ;
    }
    start_choices(s, dst.vertex);
    for (uint32_t i = 1; i < s->to_dst.n; i++)
        next[s->to_dst.queue[i]] = choose(s, s->to_dst.queue[i], dst);
    clear(&s->to_dst);
}

size_t fr__route_search_follow(const struct fr__route_search *s, uint32_t src,
                               struct fr__target dst, const uint32_t next[], size_t max,
                               uint32_t links[])
{
    size_t n = 0;

    for (uint32_t v = src; v != dst.vertex; v = s->topo->links[next[v]].dst) {
        if (next[v] == FR_NONE)
            return 0;
        if (n < max)
            links[n] = next[v];
        n++;
    }
    return n;
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

static void put_on_route(struct fr__route_search *s, size_t at, uint32_t v)
{
    s->is_on_route[v] = true;
    s->on_route[at] = v;
}

/* Grows the fronts until they meet and puts where they do into the corridor; false: they never
 * do. */
static bool meet(struct fr__route_search *s, struct corridor *c)
{
    struct front *to = &s->to_dst, *from = &s->from_src;

    for (;;) {
        bool is_from = from->levels[from->radius].n_links < to->levels[to->radius].n_links;
        struct front *f = is_from ? from : to;

        if (!grow(s, f))
            return false;
        for (uint32_t i = f->levels[f->radius].first; i < f->n; i++)
            if (joins(s, f->queue[i]))
                put_on_route(s, c->high++, f->queue[i]);
        if (c->high > c->low)
            return true;
    }
}

/* Follows links from the vertices where both searches met to the target: each leads one step
 * nearer. */
static void follow_to_target(struct fr__route_search *s, struct corridor *c)
{
    for (size_t i = c->high; i-- > c->low;) {
        if (s->to_dst.dist[s->on_route[i]] == 0)
            continue;
        gather(s, s->on_route[i]);
        for (size_t k = 0; k < s->n_steps; k++) {
            uint32_t v = s->topo->links[s->steps[k]].dst;

            if (!s->is_on_route[v])
                put_on_route(s, --c->low, v);
        }
    }
}

/* Follows links from the vertices where both searches met back to the source, and gives each vertex
 * its distance to the target. The search from the source has looked at all of these links. */
static void follow_to_source(struct fr__route_search *s, struct corridor *c)
{
    const struct front *from = &s->from_src;
    uint32_t *to = s->to_dst.dist;

    for (uint32_t d = from->radius; d-- > 0;) {
        for (uint32_t i = from->levels[d].first; i < from->levels[d].end; i++) {
            uint32_t u = from->queue[i];
            const struct fr__adjacency *a = links_at(s, from, u);

            if (d > 0 && is_gpu(s, u))
                continue;
            for (uint32_t k = a->first[u]; k < a->first[u + 1]; k++) {
                uint32_t v = a->ends[k];

                if (s->is_on_route[v] && from->dist[v] == d + 1 && !s->is_on_route[u]) {
                    to[u] = to[v] + 1;
                    s->to_dst.queue[s->to_dst.n++] = u;
                    put_on_route(s, c->high++, u);
                }
            }
        }
    }
}

static void set_ends(struct fr__route_search *s, uint32_t src, uint32_t dst)
{
    s->is_pair = true;
    s->end_machines[0] = s->topo->vertices[src].machine;
    s->end_machines[1] = s->topo->vertices[dst].machine;
    for (int i = 0; i < 2; i++)
        s->end_gates[i] = s->end_machines[i] == FR_NONE ? FR_NONE : s->gate[s->end_machines[i]];
}

size_t fr__route_search_pair(struct fr__route_search *s, uint32_t src, struct fr__target dst,
                             size_t max, uint32_t links[], uint64_t *n_seen)
{
    struct corridor c = {s->topo->n_vertices, s->topo->n_vertices};
    size_t n = 0;

    if (max >= 2 && fr__are_on_one_switch(s->topo, &s->out, &s->in, src, dst.vertex, links)) {
        *n_seen += 2;
        return 2;
    }
    set_ends(s, src, dst.vertex);
    start(s, &s->to_dst, dst.vertex);
    start(s, &s->from_src, src);
    if (meet(s, &c)) {
        follow_to_target(s, &c);
        follow_to_source(s, &c);
        start_choices(s, dst.vertex);
        for (size_t i = c.low; i < c.high; i++)
            if (s->on_route[i] != dst.vertex)
                s->next[s->on_route[i]] = choose(s, s->on_route[i], dst);
        n = fr__route_search_follow(s, src, dst, s->next, max, links);
    }
    for (size_t i = c.low; i < c.high; i++)
        s->is_on_route[s->on_route[i]] = false;
    s->is_pair = false;
    *n_seen += seen(&s->to_dst) + seen(&s->from_src);
    clear(&s->to_dst);
    clear(&s->from_src);
    return n;
}

const uint32_t *fr__route_search_links_from(const struct fr__route_search *s, uint32_t vertex,
                                            size_t *n)
{
    *n = s->out.first[vertex + 1] - s->out.first[vertex];
    return s->out.list + s->out.first[vertex];
}
