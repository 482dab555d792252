/* strategies/fastt/dag_lines.c - sorts the messages of each pair of devices and lets each wait for
 * the one before the last. */
#include "config.h"

#include "strategies/fastt/dag_lines.h"

#include "base/error.h"

#include <assert.h>
#include <stdlib.h>

enum { AT_ONCE = 2 }; /* messages of a pair */

struct queued {
    struct fr__dag_message m;
    uint32_t place; /* in the plan's order: of the maker, or of the first reader of parameters */
    uint32_t op;    /* the maker */
    bool is_made;   /* by an operation; else parameters, which are there from the start */
};

struct fr__dag_lines {
    struct fr__placer *pl;
    const struct fr__dag *dag;
    uint32_t *place; /* [n_ops] */
    struct queued *queued;
    size_t n, cap;
};

enum fr_status fr__dag_lines_new(struct fr__dag_lines **out, struct fr__placer *pl,
                                 const struct fr__dag *dag, const uint32_t order[],
                                 size_t n_messages, struct fr_error *err)
{
    struct fr__dag_lines *l = fr__arena_alloc(pl->arena, 1, sizeof(*l));

    if (!l)
        return fr__fail_nomem(err);
    *l = (struct fr__dag_lines){.pl = pl, .dag = dag, .cap = n_messages};
    l->place = fr__arena_alloc(pl->arena, dag->n_ops + 1, sizeof(*l->place));
    l->queued = fr__arena_alloc(pl->arena, n_messages + 1, sizeof(*l->queued));
    if (!l->place || !l->queued)
        return fr__fail_nomem(err);
    for (uint32_t i = 0; i < dag->n_ops; i++)
        l->place[order[i]] = i;
    *out = l;
    return FR_OK;
}

static uint32_t first_reader(const struct fr__dag_lines *l, uint32_t op)
{
    uint32_t first = UINT32_MAX;

    for (uint32_t e = l->dag->out_first[op]; e < l->dag->out_first[op + 1]; e++)
        if (l->place[l->dag->edges[e].dst] < first)
            first = l->place[l->dag->edges[e].dst];
    return first;
}

void fr__dag_lines_add(struct fr__dag_lines *l, const struct fr__dag_message *m)
{
    uint32_t op = l->dag->edges[m->edge].src;
    bool is_made = l->dag->ops[op].role != FR__DAG_VARIABLE;

    assert(l->n < l->cap);
    l->queued[l->n++] = (struct queued){.m = *m,
                                        .place = is_made ? l->place[op] : first_reader(l, op),
                                        .op = op,
                                        .is_made = is_made};
}

static int compare(uint32_t a, uint32_t b)
{
    return (a > b) - (a < b);
}

/* Parameters that an operation reads go before what it makes. */
static int in_line(const void *a, const void *b)
{
    const struct queued *x = a, *y = b;
    int c = compare(x->m.src, y->m.src);

    c = c ? c : compare(x->m.dst, y->m.dst);
    c = c ? c : compare(x->place, y->place);
    c = c ? c : x->is_made - y->is_made;
    c = c ? c : compare(x->op, y->op);
    c = c ? c : compare(x->m.hop, y->m.hop);
    return c ? c : compare(x->m.send, y->m.send);
}

void fr__dag_lines_join(struct fr__dag_lines *l)
{
    if (l->n > 0)
        qsort(l->queued, l->n, sizeof(*l->queued), in_line);
    for (size_t i = AT_ONCE; i < l->n; i++) {
        const struct fr__dag_message *m = &l->queued[i].m, *before = &l->queued[i - AT_ONCE].m;

        if (before->src == m->src && before->dst == m->dst)
            fr_plan_add_dep(l->pl->plan, before->recv, m->send);
    }
}
