/* workloads/passes/ring.c - the steps of the ring pass in their order, and what is told of the new
 * ops: see ring.h. */
#include "config.h"

#include "workloads/passes/ring_parts.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

/* ---- the whole ---- */

static uint32_t *nones(struct fr__arena *arena, size_t n)
{
    uint32_t *ids = fr__arena_take(arena, n + 1, sizeof(*ids));

    if (ids)
        memset(ids, 0xff, n * sizeof(*ids)); /* FR_NONE each */
    return ids;
}

static bool allocate(struct fr__ring *r)
{
    size_t n_ops = r->g->n_ops, n_tensors = r->g->n_tensors;

    r->keep = fr__arena_new();
    r->scratch = fr__arena_new();
    r->b = fr_graph_builder_new();
    if (!r->keep || !r->scratch || !r->b)
        return false;
    r->axis = nones(r->scratch, n_ops);
    r->lead = nones(r->scratch, n_ops);
    r->joined = nones(r->scratch, n_ops);
    r->first = nones(r->scratch, n_ops);
    r->last = nones(r->scratch, n_ops);
    r->tensor = nones(r->scratch, n_tensors);
    r->part = nones(r->scratch, n_ops);
    r->apart = nones(r->scratch, n_ops);
    r->reads_parts = fr__arena_alloc(r->scratch, n_ops + 1, sizeof(*r->reads_parts));
    r->sums_parts = fr__arena_alloc(r->scratch, n_ops + 1, sizeof(*r->sums_parts));
    return r->axis && r->lead && r->joined && r->first && r->last && r->tensor && r->part &&
           r->apart && r->reads_parts && r->sums_parts;
}

/* What is told of an op of the given graph, for the new one that stands for it; others get
 * `none`. */
static bool carry(const struct fr__ring *r, const uint32_t *given, uint32_t none,
                  const uint32_t **out)
{
    uint32_t *of = fr__arena_take(r->keep, r->n_ops + 1, sizeof(*of));

    for (uint32_t o = 0; of && o < r->n_ops; o++)
        of[o] = r->is_main[o] ? given[r->from[o]] : none;
    *out = of;
    return of;
}

static bool carry_splits(const struct fr__ring *r, const uint8_t **out)
{
    uint8_t *split = fr__arena_alloc(r->keep, r->in->n_axes * r->n_ops + 1, 1);

    for (size_t a = 0; split && a < r->in->n_axes; a++)
        for (uint32_t o = 0; o < r->n_ops; o++)
            split[a * r->n_ops + o] = r->s->split[a * r->g->n_ops + r->from[o]];
    *out = split;
    return split;
}

static enum fr_status publish(struct fr__ring *r, struct fr__sharded *out, struct fr_error *err)
{
    uint32_t *comm_of = nones(r->keep, r->n_ops);
    uint32_t *from = fr__arena_take(r->keep, r->n_ops + 1, sizeof(*from));
    struct fr__comm *comms = fr__arena_take(r->keep, r->n_comms + 1, sizeof(*comms));

    if (!comm_of || !from || !comms || !carry(r, r->s->partial, 0, &out->partial) ||
        !carry(r, r->s->divided, 0, &out->divided) ||
        !carry(r, r->s->replicas, 1, &out->replicas) || !carry_splits(r, &out->split))
        return fr__fail_nomem(err);
    for (size_t k = 0; k < r->n_comms; k++) {
        comms[k] = r->comms[k];
        comm_of[comms[k].op] = (uint32_t)k;
    }
    for (uint32_t o = 0; o < r->n_ops; o++)
        from[o] = r->s->from[r->from[o]];
    out->from = from;
    out->n_comms = r->n_comms;
    out->comms = comms;
    out->comm_of = comm_of;
    out->priv = r->keep;
    return FR_OK;
}

enum fr_status fr__ring_cut(struct fr__sharded *out, const struct fr__ring_problem *in,
                            size_t n_cut[], struct fr_error *err)
{
    struct fr__ring r = {.in = in, .s = in->sharded, .g = in->sharded->graph};
    struct fr__sharded made = {.graph = NULL};
    enum fr_status st = FR_OK;

    if (!allocate(&r))
        st = fr__fail_nomem(err);
    else {
        fr__ring_find(&r, n_cut);
        st = fr__ring_emit(&r, &made.graph, err);
    }
    if (st == FR_OK)
        st = publish(&r, &made, err);
    fr_graph_builder_free(r.b);
    fr__arena_free(r.scratch);
    free(r.from);
    free(r.is_main);
    free(r.comms);
    if (st == FR_OK) {
        *out = made;
        return FR_OK;
    }
    fr_graph_free(made.graph);
    fr__arena_free(r.keep);
    return st;
}
