/* strategies/fastt/dpos_bound.c - lower bounds that hold for any plan of a dag, and the longest
 * path of one plan. */
#include "config.h"

#include "base/arena.h"
#include "base/error.h"
#include "strategies/fastt/dpos_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double cheapest(const struct fr__dag *dag, const struct fr__dpos_machine *m, size_t op)
{
    size_t at = dag->ops[op].cost;
    const double *row = (at < dag->n_least ? dag->least_s : dag->cost_s) + at * dag->n_types;
    double least = INFINITY;

    for (size_t d = 0; d < m->n_devices; d++)
        least = fmin(least, row[m->type[d]]);
    return least;
}

/* The ways between two devices that are the fastest for some number of bytes, so that an edge need
 * not ask all pairs. */
struct way {
    double latency_s, s_per_byte;
};
struct ways {
    struct way *at;
    size_t n, cap;
};

/* Adds a way unless another is always at least as fast, in place of those that are never faster.
 * false: out of memory. */
static bool add_way(struct ways *w, struct way new)
{
    size_t n_kept = 0;

    for (size_t k = 0; k < w->n; k++)
        if (w->at[k].latency_s <= new.latency_s && w->at[k].s_per_byte <= new.s_per_byte)
            return true;
    for (size_t k = 0; k < w->n; k++)
        if (w->at[k].latency_s < new.latency_s || w->at[k].s_per_byte < new.s_per_byte)
            w->at[n_kept++] = w->at[k];
    if (!fr__grow(&w->at, &w->cap, n_kept + 1, sizeof(*w->at)))
        return false;
    w->at[n_kept++] = new;
    w->n = n_kept;
    return true;
}

static enum fr_status find_ways(struct ways *w, const struct fr__dpos_machine *m,
                                struct fr_error *err)
{
    *w = (struct ways){.n = 0};
    for (size_t k = 0; k < m->n_devices * m->n_devices; k++)
        if (k / m->n_devices != k % m->n_devices &&
            !add_way(w, (struct way){m->latency_s[k], m->s_per_byte[k]})) {
            free(w->at);
            return fr__fail_nomem(err);
        }
    return FR_OK;
}

static double fastest_move_s(const struct ways *w, const struct fr__dag_edge *e)
{
    double least = INFINITY;

    if (e->cargo == FR__DAG_ORDER)
        return 0;
    for (size_t k = 0; k < w->n; k++)
        least = fmin(least, w->at[k].latency_s + (double)e->bytes * w->at[k].s_per_byte);
    return least;
}

static uint32_t root_of(uint32_t *parent, uint32_t i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

/* Whether the dag is connected by edges and groups, so that any placement on two devices has an
 * edge that crosses. parent: [n_ops + n_groups]. */
static bool is_connected(const struct fr__dag *dag, uint32_t *parent)
{
    size_t n = dag->n_ops;
    size_t n_parts = n;

    for (size_t i = 0; i < n + dag->n_groups; i++)
        parent[i] = (uint32_t)i;
    for (size_t i = 0; i < n; i++) /* a group's first member stands for the group */
        if (dag->ops[i].group != FR_NONE) {
            uint32_t g = root_of(parent, (uint32_t)(n + dag->ops[i].group));

            n_parts -= g < n; /* the first member takes the group's place */
            parent[i] = g < n ? g : (uint32_t)i;
            if (g >= n)
                parent[g] = (uint32_t)i;
        }
    for (size_t e = 0; e < dag->n_edges; e++) {
        uint32_t a = root_of(parent, dag->edges[e].src), b = root_of(parent, dag->edges[e].dst);

        if (a != b) {
            parent[b] = a;
            n_parts--;
        }
    }
    return n_parts == 1;
}

/* head_s[i]: least time from the start of the step until i begins; tail_s[i]: least time from the
 * end of i to the end of the step. */
static void chains(const struct fr__dag *dag, const struct fr__dpos_machine *m, double *head_s,
                   double *tail_s, double *cost_s)
{
    for (size_t i = 0; i < dag->n_ops; i++) {
        cost_s[i] = cheapest(dag, m, i);
        head_s[i] = tail_s[i] = 0;
    }
    for (size_t e = 0; e < dag->n_edges;
         e++) { /* edges are sorted by source, so sources are ready */
        uint32_t i = dag->edges[e].src, j = dag->edges[e].dst;

        head_s[j] = fmax(head_s[j], head_s[i] + cost_s[i]);
    }
    for (size_t e = dag->n_edges; e-- > 0;) {
        uint32_t i = dag->edges[e].src, j = dag->edges[e].dst;

        tail_s[i] = fmax(tail_s[i], cost_s[j] + tail_s[j]);
    }
}

static uint64_t largest_room(const struct fr__dpos_machine *m)
{
    uint64_t most = 0;

    for (size_t d = 0; d < m->n_devices; d++)
        if (m->room_bytes[d] > most)
            most = m->room_bytes[d];
    return most;
}

/* The least over all edges of the longest chain through an edge that crosses devices. */
static double cross(const struct fr__dag *dag, const struct ways *ways, const double *head_s,
                    const double *tail_s, const double *cost_s)
{
    double least = INFINITY;

    for (size_t e = 0; e < dag->n_edges; e++) {
        uint32_t i = dag->edges[e].src, j = dag->edges[e].dst;
        double through_s = head_s[i] + cost_s[i] + cost_s[j] + tail_s[j];

        if (dag->ops[i].group != FR_NONE && dag->ops[i].group == dag->ops[j].group)
            continue;
        if (through_s < least)
            least = fmin(least, through_s + fastest_move_s(ways, &dag->edges[e]));
    }
    return least < INFINITY ? least : 0;
}

enum fr_status fr__dpos_bounds(struct fr__dpos_bounds *b, const struct fr__dag *dag,
                               const struct fr__dpos_machine *m, struct fr_error *err)
{
    size_t n = dag->n_ops;
    double *head_s = malloc((3 * n + 1) * sizeof(*head_s));
    uint32_t *parent = malloc((n + dag->n_groups + 1) * sizeof(*parent));
    enum fr_status st = FR_OK;

    memset(b, 0, sizeof(*b));
    if (!head_s || !parent) {
        st = fr__fail_nomem(err);
        goto free_arrays;
    }
    chains(dag, m, head_s, head_s + n, head_s + 2 * n);
    for (size_t i = 0; i < n; i++) {
        double cost_s = head_s[2 * n + i];

        b->path_s = fmax(b->path_s, head_s[i] + cost_s);
        b->work_s += cost_s;
        b->bytes += fr__dpos_op_bytes(&dag->ops[i]);
    }
    b->work_s /= (double)m->n_devices;
    if (m->n_devices > 1 && b->bytes > largest_room(m) && is_connected(dag, parent)) {
        struct ways ways;

        st = find_ways(&ways, m, err);
        if (st != FR_OK)
            goto free_arrays;
        b->cross_s = cross(dag, &ways, head_s, head_s + n, head_s + 2 * n);
        free(ways.at);
    }
    b->best_s = fmax(b->path_s, fmax(b->work_s, b->cross_s));
free_arrays:
    free(parent);
    free(head_s);
    return st;
}

enum fr_status fr__dpos_placed_path(const struct fr__dag *dag, const struct fr__dpos_machine *m,
                                    const uint32_t device[], uint32_t ops[], size_t *n,
                                    struct fr_error *err)
{
    double *tail_s = malloc((dag->n_ops + 1) * sizeof(*tail_s));
    uint32_t *next = malloc((dag->n_ops + 1) * sizeof(*next));
    uint32_t at = FR_NONE;

    if (!tail_s || !next) {
        free(tail_s);
        free(next);
        return fr__fail_nomem(err);
    }
    for (size_t i = dag->n_ops; i-- > 0;) {
        double after_s = 0;

        next[i] = FR_NONE;
        for (uint32_t k = dag->out_first[i]; k < dag->out_first[i + 1]; k++) {
            const struct fr__dag_edge *e = &dag->edges[k];
            double t_s = fr__dpos_move_s(m, e, device[i], device[e->dst]) + tail_s[e->dst];

            if (next[i] == FR_NONE || t_s > after_s) {
                next[i] = e->dst;
                after_s = t_s;
            }
        }
        tail_s[i] = dag->cost_s[dag->ops[i].cost * dag->n_types + m->type[device[i]]] + after_s;
    }
    for (size_t i = 0; i < dag->n_ops; i++)
        if (dag->in_first[i] == dag->in_first[i + 1] && (at == FR_NONE || tail_s[i] > tail_s[at]))
            at = (uint32_t)i;
    *n = 0;
    for (; at != FR_NONE; at = next[at])
        ops[(*n)++] = at;
    free(tail_s);
    free(next);
    return FR_OK;
}
