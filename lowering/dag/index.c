/* lowering/dag/index.c - edges in the order of their ends, and where those of each op are.
 *
 * Apart from dag.c, which makes the edges: some searches have tens of millions, and sorting them is
 * most of the time that a dag takes. So they are put to their sources first, which is O(edges), and
 * the few of each source are sorted then.
 */
#include "config.h"

#include "lowering/dag/dag.h"

#include "base/error.h"
#include "lowering/log.h"

#include <stdlib.h>
#include <string.h>

static int by_ends(const void *a, const void *b)
{
    const struct fr__dag_edge *x = a, *y = b;

    if (x->dst != y->dst)
        return x->dst < y->dst ? -1 : 1;
    return x->tensor < y->tensor ? -1 : x->tensor > y->tensor;
}

/* Equal edges stay in their order. to: [n_edges]; next: [n_ops], first place of each source. */
static void put_to_sources(const struct fr__dag *d, struct fr__dag_edge to[], uint32_t next[])
{
    memcpy(next, d->out_first, d->n_ops * sizeof(*next));
    for (size_t i = 0; i < d->n_edges; i++)
        to[next[d->edges[i].src]++] = d->edges[i];
}

/* By source, receiver and tensor. out_first is set. */
static enum fr_status sort_edges(struct fr__dag *d, const struct fr_context *ctx,
                                 struct fr_error *err)
{
    struct fr__dag_edge *sorted = malloc((d->n_edges + 1) * sizeof(*sorted));
    uint32_t *next = malloc((d->n_ops + 1) * sizeof(*next));
    enum fr_status st = sorted && next ? FR_OK : fr__fail_nomem(err);

    if (st == FR_OK)
        put_to_sources(d, sorted, next);
    for (size_t o = 0; o < d->n_ops && st == FR_OK; o++) {
        uint32_t first = d->out_first[o], n = d->out_first[o + 1] - first;

        st = fr__check_cancelled(ctx, err);
        if (n > 1)
            qsort(sorted + first, n, sizeof(*sorted), by_ends);
    }
    free(next);
    free(st == FR_OK ? d->edges : sorted);
    if (st == FR_OK)
        d->edges = sorted;
    return st;
}

enum fr_status fr__dag_index(struct fr__dag *d, const struct fr_context *ctx, struct fr_error *err)
{
    d->out_first = fr__arena_alloc(d->arena, d->n_ops + 1, sizeof(*d->out_first));
    d->in_first = fr__arena_alloc(d->arena, d->n_ops + 2, sizeof(*d->in_first));
    d->in_edges = fr__arena_alloc(d->arena, d->n_edges + 1, sizeof(*d->in_edges));
    if (!d->out_first || !d->in_first || !d->in_edges)
        return fr__fail_nomem(err);
    for (size_t i = 0; i < d->n_edges; i++) {
        d->out_first[d->edges[i].src + 1]++;
        d->in_first[d->edges[i].dst + 2]++;
    }
    for (size_t o = 0; o < d->n_ops; o++) {
        d->out_first[o + 1] += d->out_first[o];
        d->in_first[o + 2] += d->in_first[o + 1];
    }
    FR_TRY(sort_edges(d, ctx, err));
    for (uint32_t i = 0; i < d->n_edges; i++)
        d->in_edges[d->in_first[d->edges[i].dst + 1]++] = i;
    return FR_OK;
}
