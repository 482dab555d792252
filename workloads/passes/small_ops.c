/* workloads/passes/small_ops.c - the table of small_ops.h. */
#include "config.h"

#include "workloads/passes/small_ops.h"

#include "workloads/graph/elements.h"

#include <stddef.h>

/* Reads and writes of a tensor like the result, by all small ops and by the one kernel that the
 * graph has; bytes of masks and random numbers a number, likewise. */
static const struct row {
    enum fr_op_kind kind;
    bool is_forward;
    unsigned n_ops, passes, own_passes;
    unsigned other_bytes, own_other_bytes;
} rows[] = {
    {FR_OP_GELU, true, 5, 11, 2, 0, 0},      {FR_OP_GELU, false, 10, 24, 3, 0, 0},
    {FR_OP_DROPOUT, true, 5, 6, 2, 10, 1},   {FR_OP_DROPOUT, false, 2, 5, 2, 0, 1},
    {FR_OP_LAYERNORM, true, 8, 15, 2, 0, 0}, {FR_OP_LAYERNORM, false, 19, 38, 5, 0, 0},
    {FR_OP_SOFTMAX, true, 1, 4, 2, 0, 0},    {FR_OP_SOFTMAX, false, 4, 9, 3, 0, 0},
};

struct fr__small_ops fr__small_ops_of(const struct fr_graph *g, uint32_t op)
{
    const struct fr_op *o = &g->ops[op];
    const struct fr_tensor *t = &g->tensors[o->first_tensor];
    bool is_forward = fr_op_runs_forward(o);

    if (o->n_tensors == 0 || (!is_forward && o->phase != FR_PHASE_BACKWARD_DATA))
        return (struct fr__small_ops){.n_ops = 0};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct row *r = &rows[i];

        if (r->kind == o->kind && r->is_forward == is_forward)
            return (struct fr__small_ops){
                .n_ops = r->n_ops,
                .more_bytes =
                    (double)(r->passes - r->own_passes) * (double)t->bytes +
                    ((double)r->other_bytes - r->own_other_bytes) * fr__tensor_elements(t)};
    }
    return (struct fr__small_ops){.n_ops = 0};
}
