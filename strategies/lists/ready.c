/* strategies/lists/ready.c - a heap of ready operations. */
#include "config.h"

#include "strategies/lists/ready.h"

bool fr__ready_init(struct fr__ready *r, struct fr__timetable *t)
{
    r->at = fr__arena_alloc(t->arena, t->dag->n_ops, sizeof(*r->at));
    r->n = 0;
    return r->at;
}

static bool is_before(const struct fr__ranked *a, const struct fr__ranked *b)
{
    return a->key < b->key || (a->key <= b->key && a->op < b->op);
}

static void swap(struct fr__ranked *a, struct fr__ranked *b)
{
    struct fr__ranked c = *a;

    *a = *b;
    *b = c;
}

void fr__ready_push(struct fr__ready *r, double key, uint32_t op)
{
    size_t i = r->n++;

    r->at[i] = (struct fr__ranked){key, op};
    for (; i > 0 && is_before(&r->at[i], &r->at[(i - 1) / 2]); i = (i - 1) / 2)
        swap(&r->at[i], &r->at[(i - 1) / 2]);
}

uint32_t fr__ready_pop(struct fr__ready *r)
{
    uint32_t op = r->at[0].op;
    size_t i = 0;

    r->at[0] = r->at[--r->n];
    for (;;) {
        size_t least = i;

        for (size_t child = 2 * i + 1; child <= 2 * i + 2 && child < r->n; child++)
            if (is_before(&r->at[child], &r->at[least]))
                least = child;
        if (least == i)
            return op;
        swap(&r->at[i], &r->at[least]);
        i = least;
    }
}

bool fr__ready_is_new(const struct fr__timetable *t, uint32_t op, uint32_t edge)
{
    const struct fr__dag_edge *edges = t->dag->edges;

    if (!fr__timetable_is_ready(t, edges[edge].dst))
        return false;
    /* edges are sorted by reader within a source */
    return edge == t->dag->out_first[op] || edges[edge - 1].dst != edges[edge].dst;
}
