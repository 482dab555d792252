/* workloads/passes/fuse_groups.c - groups of ops that become one: which ops may join, and how two
 * groups become one. Those that find groups (fuse_find.c, fuse_product.c) share it.
 */
#include "config.h"

#include "workloads/passes/fuse_parts.h"

#define NORM                                                                                       \
    (FR__KIND(SOFTMAX) | FR__KIND(LOG_SOFTMAX) | FR__KIND(LAYERNORM) | FR__KIND(RMSNORM) |         \
     FR__KIND(BATCHNORM))
#define ELEMENTWISE                                                                                \
    (FR__ACTIVATION | FR__KIND(BIAS) | FR__KIND(DROPOUT) | FR__KIND(ADD) | FR__KIND(MUL) |         \
     FR__KIND(SCALE) | FR__KIND(MASK) | FR__KIND(CAST) | FR__KIND(GRAD_ADD))

static bool is_of(enum fr_op_kind kind, uint64_t kinds)
{
    return kinds >> kind & 1;
}

bool fr__fusing_is_elementwise(enum fr_op_kind kind)
{
    return is_of(kind, ELEMENTWISE);
}

bool fr__fusing_is_on_rows(enum fr_op_kind kind)
{
    return is_of(kind, NORM);
}

/* A weight that is cast is a parameter, and an op that runs again stands where its copy does. */
bool fr__fusing_may_join(const struct fr__fusing *f, uint32_t o)
{
    const struct fr_op *op = &f->g->ops[o];

    return op->scales && !op->is_recomputed && op->n_tensors > 0 &&
           (op->phase == FR_PHASE_FORWARD || op->phase == FR_PHASE_BACKWARD_DATA) &&
           is_of(op->kind, ELEMENTWISE | NORM);
}

void fr__fusing_unite(struct fr__fusing *f, uint32_t a, uint32_t b, enum fr_fusion fusion)
{
    a = fr__fusing_group(f, a);
    b = fr__fusing_group(f, b);
    if (a == b)
        return;
    f->parent[b] = a;
    f->size[a] += f->size[b];
    f->has_rows[a] |= f->has_rows[b];
    f->has_product[a] |= f->has_product[b];
    f->owns[a] |= f->owns[b];
    if (f->by[a] == FR_N_FUSIONS)
        f->by[a] = f->by[b] != FR_N_FUSIONS ? f->by[b] : (uint8_t)fusion;
}

/* The one op of o's phase that reads o, and reads its first output; FR_NONE: there are others. */
uint32_t fr__fusing_only_reader(const struct fr__fusing *f, uint32_t o)
{
    const struct fr_graph *g = f->g;
    uint32_t reader = FR_NONE;

    for (uint32_t i = g->out_first[o]; i < g->out_first[o + 1]; i++) {
        const struct fr_edge *e = &g->edges[i];

        if (g->ops[e->dst].phase != g->ops[o].phase || fr__edge_is_tie(e))
            continue; /* of another phase, or a tie */
        if (e->tensor != g->ops[o].first_tensor || (reader != FR_NONE && reader != e->dst))
            return FR_NONE;
        reader = e->dst;
    }
    return reader;
}
