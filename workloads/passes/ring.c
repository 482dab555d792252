/* workloads/passes/ring.c - the steps of the ring pass in their order: see ring.h. */
#include "config.h"

#include "workloads/passes/ring_parts.h"

#include "base/error.h"

#include <stdlib.h>

static bool allocate(struct fr__ring *r)
{
    struct fr__arena *a = r->w.scratch;
    size_t n_ops = r->g->n_ops;

    r->axis = fr__arena_nones(a, n_ops);
    r->lead = fr__arena_nones(a, n_ops);
    r->joined = fr__arena_nones(a, n_ops);
    r->last = fr__arena_nones(a, n_ops);
    r->part = fr__arena_nones(a, n_ops);
    r->apart = fr__arena_nones(a, n_ops);
    r->reads_parts = fr__arena_alloc(a, n_ops, sizeof(*r->reads_parts));
    r->sums_parts = fr__arena_alloc(a, n_ops, sizeof(*r->sums_parts));
    return r->axis && r->lead && r->joined && r->last && r->part && r->apart && r->reads_parts &&
           r->sums_parts;
}

static enum fr_status cut(struct fr__ring *r, struct fr__sharded *out, size_t n_cut[],
                          struct fr_error *err)
{
    const struct fr__sharded_end end = {
        .given = r->s, .n_axes = r->in->n_axes, .divides_ops = true, .messages = &r->messages};

    if (!allocate(r))
        return fr__fail_nomem(err);
    fr__ring_find(r, n_cut);
    fr__ring_emit(r);
    return fr__sharded_finish(out, &r->w, &end, err);
}

enum fr_status fr__ring_cut(struct fr__sharded *out, const struct fr__ring_problem *in,
                            size_t n_cut[], struct fr_error *err)
{
    struct fr__ring r = {.in = in, .s = in->sharded, .g = in->sharded->graph};
    enum fr_status st;

    FR_TRY(fr__rewriter_init(&r.w, r.g, err));
    st = cut(&r, out, n_cut, err);
    fr__rewriter_fini(&r.w);
    free(r.messages.comms);
    return st;
}
