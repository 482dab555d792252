/* workloads/passes/shard/emit.c - one op of the new graph, at the size that one rank has. */
#include "config.h"

#include "workloads/passes/shard/walk.h"

#include "workloads/graph/elements.h"

#include <string.h>

/* The new tensor whose storage a view or an op in place shares: of what it reads. */
static uint32_t local_alias(const struct fr__sharding *s, uint32_t alias,
                            const struct fr__input in[], size_t n_in)
{
    const struct fr_graph *g = s->g;

    if (alias == FR_NONE)
        return FR_NONE;
    for (size_t i = 0; i < n_in; i++)
        if (fr__tensor_storage(g, g->edges[in[i].edge].tensor) == alias)
            return in[i].v.tensor;
    return s->first_version[alias] == FR_NONE ? FR_NONE
                                              : s->versions[s->first_version[alias]].tensor;
}

/* Bytes that the op moves: as much of the whole op's as is left of what it reads and writes. */
static double local_traffic(const struct fr__sharding *s, uint32_t o, const struct fr__input in[],
                            size_t n_in, const struct fr_tensor out[])
{
    const struct fr_graph *g = s->g;
    const struct fr_op *op = &g->ops[o];
    double whole = 0, local = 0;

    for (size_t i = 0; i < n_in; i++)
        if (g->tensors[g->edges[in[i].edge].tensor].scales == op->scales) {
            whole += (double)g->tensors[g->edges[in[i].edge].tensor].bytes;
            local += (double)in[i].v.bytes;
        }
    for (uint32_t k = 0; k < op->n_tensors; k++)
        if (out[k].scales == op->scales) {
            whole += (double)g->tensors[op->first_tensor + k].bytes;
            local += (double)out[k].bytes;
        }
    return whole > 0 && (local < whole || local > whole) ? op->bytes * (local / whole) : op->bytes;
}

/* Edges without tensors: order, and tied parameters. */
static void copy_order(struct fr__sharding *s, uint32_t o)
{
    const struct fr_graph *g = s->g;

    for (uint32_t i = g->in_first[o]; i < g->in_first[o + 1]; i++) {
        const struct fr_edge *e = &g->edges[g->in_edges[i]];

        if (e->tensor == FR_NONE)
            fr__rewriter_keep_edge(&s->w, e);
    }
}

/* A part of the tensor if the edge carries a part. */
static uint64_t edge_bytes(const struct fr_graph *g, const struct fr__input *in)
{
    const struct fr_edge *e = &g->edges[in->edge];
    uint64_t whole = g->tensors[e->tensor].bytes;

    if (e->bytes == whole || whole == 0)
        return in->v.bytes;
    return (uint64_t)((double)e->bytes / (double)whole * (double)in->v.bytes);
}

/* What o writes on one rank. The gradient of parameters has no dimensions. */
static void set_outputs(struct fr__sharding *s, uint32_t o, const struct fr__input in[],
                        size_t n_in, const int8_t *at, struct fr_tensor out[])
{
    const struct fr_graph *g = s->g;
    const struct fr_op *op = &g->ops[o];

    s->is_raw = fr__sharding_sends(s, o);
    for (uint32_t k = 0; k < op->n_tensors; k++) {
        uint32_t t = op->first_tensor + k;
        int8_t here[FR__MAX_AXES];

        memcpy(here, &at[k * s->n_axes], s->n_axes);
        if (s->is_raw && s->etp_axis < s->n_axes) /* the axis does not exist there */
            here[s->etp_axis] = FR__WHOLE;
        out[k] = fr__sharding_local_tensor(s, t, here);
        out[k].alias = local_alias(s, g->tensors[t].alias, in, n_in);
        if (s->twin[t] == FR_NONE && op->phase == FR_PHASE_BACKWARD_WEIGHT &&
            op->forward != FR_NONE)
            out[k].bytes = fr__sharding_local_params(s, op->forward, out[k].bytes);
    }
    s->is_raw = false;
}

void fr__sharding_emit(struct fr__sharding *s, uint32_t o, const struct fr__input in[], size_t n_in,
                       const int8_t *at)
{
    const struct fr_graph *g = s->g;
    struct fr__mark mark = fr__arena_mark(s->w.scratch);
    struct fr_op op = fr__rewriter_op(&s->w, o);
    struct fr_tensor *out = fr__rewriter_take(&s->w, op.n_tensors);

    if (fr__rewriter_has_failed(&s->w))
        return;
    set_outputs(s, o, in, n_in, at, out);
    fr__sharding_local_op(s, o, op.n_tensors ? &out[0] : NULL, &op);
    op.bytes = local_traffic(s, o, in, n_in, out);
    s->w.now.op[o] = fr__rewriter_add(&s->w, o, &op, out, op.n_tensors);
    for (size_t i = 0; i < n_in; i++)
        fr__rewriter_edge(&s->w, in[i].v.op, s->w.now.op[o], in[i].v.tensor, edge_bytes(g, &in[i]));
    copy_order(s, o);
    if (fr__sharding_sends(s, o))
        fr__sharding_send(s, o, at);
    for (uint32_t k = 0; k < op.n_tensors && !fr__sharding_sends(s, o); k++)
        fr__sharding_add_version(s, g->ops[o].first_tensor + k, op.n_tensors - k, out[k].bytes,
                                 &at[k * s->n_axes], fr__sharding_pass(&g->ops[o]), false);
    fr__arena_rewind(s->w.scratch, mark);
}
