/* workloads/passes/small_ops.c - the table of small_ops.h. */
#include "config.h"

#include "workloads/passes/small_ops.h"

#include "workloads/graph/elements.h"

#include <stddef.h>

/* Reads and writes of a tensor like the result, by all small ops and by the one kernel that the
 * graph has; bytes of masks, random numbers and numbers in 32 bits, likewise; what casts to 32 bits
 * and back add where the result has fewer. */
static const struct row {
    enum fr_fusion by;
    enum fr_op_kind kind;
    bool is_forward;
    unsigned n_ops, passes, own_passes;
    unsigned other_bytes, own_other_bytes;
    unsigned n_casts, cast_passes, cast_bytes;
} rows[] = {
    {FR_FUSE_SMALL_OPS, FR_OP_GELU, true, 5, 11, 2, 0, 0, 0, 0, 0},
    {FR_FUSE_SMALL_OPS, FR_OP_GELU, false, 10, 24, 3, 0, 0, 0, 0, 0},
    {FR_FUSE_SMALL_OPS, FR_OP_DROPOUT, true, 5, 6, 2, 10, 1, 0, 0, 0},
    {FR_FUSE_SMALL_OPS, FR_OP_DROPOUT, false, 2, 5, 2, 0, 1, 0, 0, 0},
    {FR_FUSE_SMALL_OPS, FR_OP_LAYERNORM, true, 8, 15, 2, 0, 0, 0, 0, 0},
    {FR_FUSE_SMALL_OPS, FR_OP_LAYERNORM, false, 19, 38, 5, 0, 0, 0, 0, 0},
    {FR_FUSE_SMALL_OPS, FR_OP_SOFTMAX, true, 1, 4, 2, 0, 0, 0, 0, 0},
    {FR_FUSE_SMALL_OPS, FR_OP_SOFTMAX, false, 4, 9, 3, 0, 0, 0, 0, 0},
    {FR_FUSE_TORCH_NORMS, FR_OP_RMSNORM, true, 6, 2, 2, 20, 0, 2, 2, 8},
    {FR_FUSE_TORCH_NORMS, FR_OP_RMSNORM, false, 13, 6, 5, 60, 0, 2, 2, 8},
    {FR_FUSE_TORCH_NORMS, FR_OP_ROTARY, true, 1, 0, 2, 8, 0, 2, 2, 8},
    {FR_FUSE_TORCH_NORMS, FR_OP_ROTARY, false, 1, 0, 2, 8, 0, 2, 2, 8},
    {FR_FUSE_TORCH_GELU, FR_OP_GELU, true, 8, 18, 2, 0, 0, 0, 0, 0},
    {FR_FUSE_TORCH_GELU, FR_OP_GELU, false, 11, 28, 3, 0, 0, 0, 0, 0},
};
enum { WIDE_BYTES = 4 };

static struct fr__small_ops moved_by(const struct row *r, const struct fr_tensor *t)
{
    double n = fr__tensor_elements(t), bytes = (double)t->bytes;
    bool casts = r->n_casts > 0 && bytes < WIDE_BYTES * n;
    struct fr__small_ops small = {
        .by = r->by,
        .n_ops = r->n_ops,
        .more_bytes = ((double)r->passes - r->own_passes) * bytes +
                      ((double)r->other_bytes - r->own_other_bytes) * n,
    };

    if (casts) {
        small.n_ops += r->n_casts;
        small.more_bytes += r->cast_passes * bytes + r->cast_bytes * n;
    }
    return small;
}

struct fr__small_ops fr__small_ops_of(const struct fr_graph *g, uint32_t op, unsigned fusions)
{
    const struct fr_op *o = &g->ops[op];
    const struct fr_tensor *t = &g->tensors[o->first_tensor];
    bool is_forward = fr_op_runs_forward(o);

    if (o->n_tensors == 0 || (!is_forward && o->phase != FR_PHASE_BACKWARD_DATA))
        return (struct fr__small_ops){.n_ops = 0};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (rows[i].kind == o->kind && rows[i].is_forward == is_forward &&
            (fusions >> rows[i].by & 1))
            return moved_by(&rows[i], t);
    return (struct fr__small_ops){.n_ops = 0};
}
