/* lowering/dag/lines.c - sorts the messages of each pair of devices, or of each link, and lets
 * each wait for the one before the last. */
#include "config.h"

#include "lowering/dag/lines.h"

#include "base/error.h"
#include "lowering/dag/plan.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

enum { AT_ONCE = 2 }; /* messages of a pair */

struct queued {
    struct fr__dag_message m;
    double start_s; /* of its slot on its links; 0 where messages wait for pairs */
    uint32_t place; /* in the plan's order: of the maker, or of the first reader of parameters */
    uint32_t op;    /* the maker */
    bool is_made;   /* by an operation; else parameters, which are there from the start */
};

struct fr__dag_lines {
    struct fr__placer *pl;
    const struct fr__placed_dag *placed;
    uint32_t *place; /* [n_ops] */
    struct queued *queued;
    size_t n, cap;
};

enum fr_status fr__dag_lines_new(struct fr__dag_lines **out, struct fr__placer *pl,
                                 const struct fr__placed_dag *placed, size_t n_messages,
                                 struct fr_error *err)
{
    struct fr__dag_lines *l = fr__arena_alloc(pl->arena, 1, sizeof(*l));
    size_t n_ops = placed->dag->n_ops;

    if (!l)
        return fr__fail_nomem(err);
    *l = (struct fr__dag_lines){.pl = pl, .placed = placed, .cap = n_messages};
    l->place = fr__arena_alloc(pl->arena, n_ops + 1, sizeof(*l->place));
    l->queued = fr__arena_alloc(pl->arena, n_messages + 1, sizeof(*l->queued));
    if (!l->place || !l->queued)
        return fr__fail_nomem(err);
    for (uint32_t i = 0; i < n_ops; i++)
        l->place[placed->order[i]] = i;
    *out = l;
    return FR_OK;
}

static uint32_t first_reader(const struct fr__dag_lines *l, uint32_t op)
{
    const struct fr__dag *dag = l->placed->dag;
    uint32_t first = UINT32_MAX;

    for (uint32_t e = dag->out_first[op]; e < dag->out_first[op + 1]; e++)
        if (l->place[dag->edges[e].dst] < first)
            first = l->place[dag->edges[e].dst];
    return first;
}

/* Seconds a byte on the link that holds a pair's messages up. */
static double slowest_s_per_byte(const struct fr__link_map *m, size_t pair)
{
    double slowest_s = 0;

    for (uint32_t k = m->first[pair]; k < m->first[pair + 1]; k++)
        slowest_s = fmax(slowest_s, m->link_s_per_byte[m->links[k]]);
    return slowest_s;
}

/* When a message was planned to arrive. The planner noted the first part of a way for one of the
 * edges that carry the same to the same device. */
static double arrival_s(const struct fr__dag_lines *l, const struct fr__dag_message *m)
{
    const struct fr__dag_turns *turns = l->placed->turns;
    const struct fr__dag *dag = l->placed->dag;
    const struct fr__dag_edge *e = &dag->edges[m->edge];
    uint32_t there = l->placed->device[e->dst];

    if (m->hop > 0 || m->dst == there)
        return turns->there_s[m->edge];
    for (uint32_t k = dag->out_first[e->src]; k < dag->out_first[e->src + 1]; k++)
        if (l->placed->device[dag->edges[k].dst] == there && !isnan(turns->between_s[k]) &&
            fr__dag_is_same_message(&dag->edges[k], e))
            return turns->between_s[k];
    return turns->there_s[m->edge];
}

/* When a message was planned to take its links: it arrives when the slowest of them is free. */
static double start_s(const struct fr__dag_lines *l, const struct fr__dag_message *m)
{
    const struct fr__link_map *map = l->placed->turns->links;
    double bytes = (double)l->placed->dag->edges[m->edge].bytes;

    return arrival_s(l, m) - bytes * slowest_s_per_byte(map, m->src * map->n_devices + m->dst);
}

void fr__dag_lines_add(struct fr__dag_lines *l, const struct fr__dag_message *m)
{
    const struct fr__dag *dag = l->placed->dag;
    uint32_t op = dag->edges[m->edge].src;
    bool is_made = dag->ops[op].role != FR__DAG_VARIABLE;

    assert(l->n < l->cap);
    l->queued[l->n++] = (struct queued){.m = *m,
                                        .start_s = l->placed->turns ? start_s(l, m) : 0,
                                        .place = is_made ? l->place[op] : first_reader(l, op),
                                        .op = op,
                                        .is_made = is_made};
}

static int compare(uint32_t a, uint32_t b)
{
    return (a > b) - (a < b);
}

/* Parameters that an operation reads go before what it makes. */
static int by_place(const struct queued *x, const struct queued *y)
{
    int c = compare(x->place, y->place);

    c = c ? c : x->is_made - y->is_made;
    c = c ? c : compare(x->op, y->op);
    c = c ? c : compare(x->m.hop, y->m.hop);
    return c ? c : compare(x->m.send, y->m.send);
}

static int by_pair(const void *a, const void *b)
{
    const struct queued *x = a, *y = b;
    int c = compare(x->m.src, y->m.src);

    c = c ? c : compare(x->m.dst, y->m.dst);
    return c ? c : by_place(x, y);
}

static int by_start(const void *a, const void *b)
{
    const struct queued *x = a, *y = b;

    if (x->start_s < y->start_s || x->start_s > y->start_s)
        return x->start_s < y->start_s ? -1 : 1;
    return by_place(x, y);
}

static void join_pairs(struct fr__dag_lines *l)
{
    qsort(l->queued, l->n, sizeof(*l->queued), by_pair);
    for (size_t i = AT_ONCE; i < l->n; i++) {
        const struct fr__dag_message *m = &l->queued[i].m, *before = &l->queued[i - AT_ONCE].m;

        if (before->src == m->src && before->dst == m->dst)
            fr_plan_add_dep(l->pl->plan, before->recv, m->send);
    }
}

/* ---- by links ---- */

/* last: [n_links] the end of the last message that each link held up; FR_NONE: none yet. */
static void wait_for_links(struct fr__dag_lines *l, const struct fr__dag_message *m,
                           uint32_t last[])
{
    const struct fr__link_map *map = l->placed->turns->links;
    size_t pair = m->src * map->n_devices + m->dst;
    double slowest_s = slowest_s_per_byte(map, pair);
    uint32_t waits_for = FR_NONE;

    for (uint32_t k = map->first[pair]; k < map->first[pair + 1]; k++) {
        uint32_t *on = &last[map->links[k]];

        if (*on != FR_NONE && *on != waits_for) /* neighbouring links often say the same */
            fr_plan_add_dep(l->pl->plan, *on, m->send);
        waits_for = *on;
        if (map->link_s_per_byte[map->links[k]] >= slowest_s)
            *on = m->recv;
    }
}

enum fr_status fr__dag_lines_join(struct fr__dag_lines *l, struct fr_error *err)
{
    size_t n_links;
    uint32_t *last;

    if (l->n == 0)
        return FR_OK;
    if (!l->placed->turns) {
        join_pairs(l);
        return FR_OK;
    }
    n_links = l->placed->turns->links->n_links;
    last = fr__arena_take(l->pl->arena, n_links + 1, sizeof(*last));
    if (!last)
        return fr__fail_nomem(err);
    for (size_t k = 0; k < n_links; k++)
        last[k] = FR_NONE;
    qsort(l->queued, l->n, sizeof(*l->queued), by_start);
    for (size_t i = 0; i < l->n; i++)
        wait_for_links(l, &l->queued[i].m, last);
    return FR_OK;
}
