/* workloads/passes/gather_buckets.c - which gradients leave together where parameters stay whole;
 * the rule is in gather.h. */
#include "config.h"

#include "workloads/passes/gather_parts.h"

#include <stdlib.h>

/* An owner, and the first and last op that write a gradient of it. */
struct gradient {
    uint32_t owner, first, last;
};

static int by_last(const void *a, const void *b)
{
    const struct gradient *x = a, *y = b;

    if (x->last != y->last)
        return x->last < y->last ? -1 : 1;
    return (x->owner > y->owner) - (x->owner < y->owner);
}

/* Those that leave, in the order in which they are complete. */
static size_t list_gradients(const struct fr__gathering *x, struct gradient list[],
                             uint32_t index_of[])
{
    size_t n = 0;

    for (size_t i = 0; i < x->g->n_edges; i++) {
        const struct fr_edge *e = &x->g->edges[i];
        uint32_t owner = x->g->ops[e->dst].forward;
        struct gradient *k;

        if (x->g->ops[e->dst].phase != FR_PHASE_UPDATE || owner == FR_NONE ||
            !fr__gather_owns(&x->g->ops[owner]) || !fr__gather_is_shared(x, owner) ||
            !fr__gather_is_backward(&x->g->ops[e->src]))
            continue;
        if (index_of[owner] == FR_NONE) {
            list[n] = (struct gradient){owner, e->src, e->src};
            index_of[owner] = (uint32_t)n++;
        }
        k = &list[index_of[owner]];
        k->first = e->src < k->first ? e->src : k->first;
        k->last = e->src > k->last ? e->src : k->last;
    }
    qsort(list, n, sizeof(*list), by_last);
    return n;
}

static void fill(struct fr__gathering *x, const struct gradient list[], size_t n)
{
    uint32_t open[FR__N_GATHER_SETS] = {FR_NONE, FR_NONE}, n_units = 0;
    uint64_t bytes[FR__N_GATHER_SETS] = {0, 0};

    for (size_t i = 0; i < n; i++) {
        uint32_t owner = list[i].owner, set = fr__gather_set_of(x, owner);

        if (open[set] == FR_NONE) {
            open[set] = n_units++;
            x->units[open[set]].first[FR__SIDE_BACKWARD] = list[i].first;
            bytes[set] = 0;
        }
        x->bucket_of[owner] = open[set];
        if (list[i].first < x->units[open[set]].first[FR__SIDE_BACKWARD])
            x->units[open[set]].first[FR__SIDE_BACKWARD] = list[i].first;
        bytes[set] += x->g->ops[owner].param_bytes;
        if (bytes[set] >= x->in->bucket_bytes)
            open[set] = FR_NONE;
    }
    x->n_units = n_units;
}

bool fr__gather_fill_buckets(struct fr__gathering *x)
{
    size_t n_ops = x->g->n_ops;
    struct gradient *list = fr__arena_alloc(x->w.scratch, n_ops, sizeof(*list));
    uint32_t *index_of = fr__arena_nones(x->w.scratch, n_ops);

    x->bucket_of = fr__arena_nones(x->w.scratch, n_ops);
    if (!list || !index_of || !x->bucket_of)
        return false;
    fill(x, list, list_gradients(x, list, index_of));
    return true;
}
