/* strategies/fastt/dag_lines.c - sorts the messages of each pair of devices and lets each wait for
 * the one before the last. */
#include "config.h"

#include "strategies/fastt/dag_lines.h"

#include "base/error.h"

#include <stdlib.h>

enum { AT_ONCE = 2 }; /* messages of a pair */

struct message {
    uint32_t src, dst; /* devices */
    uint32_t place;    /* in the order: of the maker, or of the first reader of parameters */
    uint32_t reader;   /* place of the first reader */
    uint32_t send, recv;
    bool is_made; /* by an operation; else parameters, which are there from the start */
};

struct fr__dag_lines {
    struct fr__placer *pl;
    const struct fr__dag *dag;
    const uint32_t *device;
    uint32_t *place; /* [n_ops] */
    struct message *messages;
    size_t n;
};

enum fr_status fr__dag_lines_new(struct fr__dag_lines **out, struct fr__placer *pl,
                                 const struct fr__dag *dag, const uint32_t device[],
                                 const uint32_t order[], struct fr_error *err)
{
    struct fr__dag_lines *l = fr__arena_alloc(pl->arena, 1, sizeof(*l));
    size_t n = 0;

    for (size_t e = 0; e < dag->n_edges; e++)
        n += device[dag->edges[e].src] != device[dag->edges[e].dst];
    if (!l)
        return fr__fail_nomem(err);
    *l = (struct fr__dag_lines){.pl = pl, .dag = dag, .device = device};
    l->place = fr__arena_alloc(pl->arena, dag->n_ops + 1, sizeof(*l->place));
    l->messages = fr__arena_alloc(pl->arena, n + 1, sizeof(*l->messages));
    if (!l->place || !l->messages)
        return fr__fail_nomem(err);
    for (uint32_t i = 0; i < dag->n_ops; i++)
        l->place[order[i]] = i;
    *out = l;
    return FR_OK;
}

static void read_by(struct fr__dag_lines *l, struct message *m, uint32_t edge)
{
    uint32_t reader = l->place[l->dag->edges[edge].dst];

    if (reader < m->reader)
        m->reader = reader;
    if (!m->is_made)
        m->place = m->reader;
}

void fr__dag_lines_add(struct fr__dag_lines *l, uint32_t edge, uint32_t send, uint32_t recv)
{
    const struct fr__dag_edge *e = &l->dag->edges[edge];
    struct message *m = &l->messages[l->n++];

    *m = (struct message){.src = l->device[e->src],
                          .dst = l->device[e->dst],
                          .place = l->place[e->src],
                          .reader = UINT32_MAX,
                          .send = send,
                          .recv = recv,
                          .is_made = l->dag->ops[e->src].role != FR__DAG_VARIABLE};
    read_by(l, m, edge);
}

void fr__dag_lines_read(struct fr__dag_lines *l, uint32_t edge, uint32_t recv)
{
    for (size_t i = l->n; i-- > 0;) /* one of those that the operation just made */
        if (l->messages[i].recv == recv) {
            read_by(l, &l->messages[i], edge);
            return;
        }
}

static int compare_u32(uint32_t a, uint32_t b)
{
    return (a > b) - (a < b);
}

/* Parameters that an operation reads go before what it makes. */
static int in_line(const void *a, const void *b)
{
    const struct message *x = a, *y = b;
    int c = compare_u32(x->src, y->src);

    c = c ? c : compare_u32(x->dst, y->dst);
    c = c ? c : compare_u32(x->place, y->place);
    c = c ? c : x->is_made - y->is_made;
    c = c ? c : compare_u32(x->reader, y->reader);
    return c ? c : compare_u32(x->send, y->send);
}

void fr__dag_lines_join(struct fr__dag_lines *l)
{
    qsort(l->messages, l->n, sizeof(*l->messages), in_line);
    for (size_t i = AT_ONCE; i < l->n; i++) {
        const struct message *m = &l->messages[i], *before = m - AT_ONCE;

        if (before->src == m->src && before->dst == m->dst)
            fr_plan_add_dep(l->pl->plan, before->recv, m->send);
    }
}
