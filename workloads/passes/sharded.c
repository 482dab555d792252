/* workloads/passes/sharded.c - the end of a pass that makes a struct fr__sharded. */
#include "config.h"

#include "workloads/passes/sharded.h"

#include "base/error.h"

#include <stdlib.h>

void fr__messages_add(struct fr__messages *m, struct fr__rewriter *w, struct fr__comm comm)
{
    if (fr__grow(&m->comms, &m->cap, m->n + 1, sizeof(*m->comms)))
        m->comms[m->n++] = comm;
    else
        fr__rewriter_fail(w);
}

/* Whether the op stands for the given one: parameters are its own. */
static bool stands_for_given(const struct fr__rewriter *w, uint32_t o)
{
    return w->now.op[w->from[o]] == o;
}

/* What is told of ops, for the new ones that stand for them; of others `none` is told. NULL: out of
 * memory. */
static const uint32_t *carry(const struct fr__rewriter *w, const uint32_t given[], uint32_t none,
                             struct fr__arena *keep)
{
    uint32_t n = fr__rewriter_n_ops(w), *of = fr__arena_take(keep, n, sizeof(*of));

    for (uint32_t o = 0; of && o < n; o++)
        of[o] = given && stands_for_given(w, o) ? given[w->from[o]] : none;
    return of;
}

static const uint8_t *carry_splits(const struct fr__rewriter *w, const struct fr__sharded_end *end,
                                   struct fr__arena *keep)
{
    const uint8_t *given = end->given ? end->given->split : NULL;
    size_t n = fr__rewriter_n_ops(w);
    uint8_t *split = fr__arena_alloc(keep, end->n_axes * n, sizeof(*split));

    for (size_t a = 0; split && a < end->n_axes; a++)
        for (uint32_t o = 0; o < n; o++)
            split[a * n + o] = given && (end->divides_ops || stands_for_given(w, o))
                                   ? given[a * w->g->n_ops + w->from[o]]
                                   : FR__SPLIT_NONE;
    return split;
}

static int by_op(const void *a, const void *b)
{
    const struct fr__comm *x = a, *y = b;

    return (x->op > y->op) - (x->op < y->op);
}

static bool list_messages(struct fr__sharded *out, const struct fr__messages *m, size_t n_ops,
                          struct fr__arena *keep)
{
    struct fr__comm *comms = fr__arena_take(keep, m->n, sizeof(*comms));
    uint32_t *comm_of = fr__arena_nones(keep, n_ops);

    if (!comms || !comm_of)
        return false;
    for (size_t k = 0; k < m->n; k++)
        comms[k] = m->comms[k];
    if (m->n > 1)
        qsort(comms, m->n, sizeof(*comms), by_op);
    for (size_t k = 0; k < m->n; k++)
        comm_of[comms[k].op] = (uint32_t)k;
    out->n_comms = m->n;
    out->comms = comms;
    out->comm_of = comm_of;
    return true;
}

static bool tell(struct fr__sharded *out, const struct fr__rewriter *w,
                 const struct fr__sharded_end *end)
{
    static const struct fr__sharded nothing = {.graph = NULL};
    const struct fr__sharded *given = end->given ? end->given : &nothing;
    uint32_t *from = fr__rewriter_from(w, out->priv);

    for (uint32_t o = 0; from && given->from && o < fr__rewriter_n_ops(w); o++)
        from[o] = given->from[from[o]];
    out->from = from;
    out->partial = carry(w, given->partial, 0, out->priv);
    out->divided = carry(w, given->divided, 0, out->priv);
    out->replicas = carry(w, given->replicas, 1, out->priv);
    out->split = carry_splits(w, end, out->priv);
    return from && out->partial && out->divided && out->replicas && out->split &&
           list_messages(out, end->messages, fr__rewriter_n_ops(w), out->priv);
}

enum fr_status fr__sharded_finish(struct fr__sharded *out, struct fr__rewriter *w,
                                  const struct fr__sharded_end *end, struct fr_error *err)
{
    struct fr__sharded made = {.graph = NULL};

    FR_TRY(fr__rewriter_finish(w, w->g, &made.graph, err));
    made.priv = fr__arena_new();
    if (made.priv && tell(&made, w, end)) {
        *out = made;
        return FR_OK;
    }
    fr__sharded_free(&made);
    return fr__fail_nomem(err);
}

void fr__sharded_free(struct fr__sharded *s)
{
    fr_graph_free(s->graph);
    fr__arena_free(s->priv);
    *s = (struct fr__sharded){.graph = NULL};
}
