/* workloads/passes/fuse_parts.h - what the files of the fusing pass share; others use fuse.h. */
#ifndef FR_WORKLOADS_PASSES_FUSE_PARTS_H
#define FR_WORKLOADS_PASSES_FUSE_PARTS_H

#include "workloads/graph/rewriter.h"
#include "workloads/passes/fuse.h"

/* Sets of op kinds. */
#define FR__KIND(name) (UINT64_C(1) << FR_OP_##name)
#define FR__ACTIVATION                                                                             \
    (FR__KIND(RELU) | FR__KIND(GELU) | FR__KIND(SILU) | FR__KIND(TANH) | FR__KIND(SIGMOID))
_Static_assert(FR_N_OP_KINDS <= 64, "a kind is a bit");

/* Which ops become one. */
struct fr__fusing {
    const struct fr_graph *g;
    unsigned fusions;
    struct fr__arena *scratch;
    uint32_t *parent;  /* [n_ops] a forest, whose roots are groups: fr__fusing_group() */
    uint32_t *size;    /* [n_ops] of roots: ops of the group */
    bool *has_rows;    /* [n_ops] of roots: a norm or softmax is among them */
    bool *has_product; /* [n_ops] of roots: a matrix product is among them */
    /* [n_ops] of roots: FR__OWNS_* of its ops. Ops with trained and with frozen parameters stay
     * apart, for an op's parameters are either. */
    uint8_t *owns;
    uint8_t *by;       /* [n_ops] of roots: the fr_fusion that began it; FR_N_FUSIONS: none */
    bool *is_internal; /* [n_tensors] no tensor of the new graph */
};

/* The group of an op, by its root. */
static inline uint32_t fr__fusing_group(const struct fr__fusing *f, uint32_t op)
{
    while (f->parent[op] != op)
        op = f->parent[op] = f->parent[f->parent[op]];
    return op;
}

/* Whether norms and softmax are reductions and elementwise ops: XLA's, unless each is one
 * kernel. */
enum { FR__OWNS_TRAINED = 1, FR__OWNS_FROZEN = 2 };
/* Whether ops that own this and that may be one. */
static inline bool fr__fusing_agrees(unsigned owns, unsigned more)
{
    return (owns | more) != (FR__OWNS_TRAINED | FR__OWNS_FROZEN);
}

static inline bool fr__fusing_splits_rows(const struct fr__fusing *f)
{
    return (f->fusions & (1u << FR_FUSE_XLA | 1u << FR_FUSE_INDUCTOR)) == 1u << FR_FUSE_XLA;
}

/* An elementwise kind: each number of the result needs one of each input. */
bool fr__fusing_is_elementwise(enum fr_op_kind kind);

/* fuse_groups.c: */
/* A norm or softmax. */
bool fr__fusing_is_on_rows(enum fr_op_kind kind);
/* Whether an op may be one of several: elementwise or on rows, of the forward or backward pass. */
bool fr__fusing_may_join(const struct fr__fusing *f, uint32_t op);
/* Makes one group of two ops' groups, begun by that fusion. */
void fr__fusing_unite(struct fr__fusing *f, uint32_t a, uint32_t b, enum fr_fusion fusion);
/* The one op of the op's phase that reads it, and reads its first output; FR_NONE: none, or there
 * are others. */
uint32_t fr__fusing_only_reader(const struct fr__fusing *f, uint32_t op);
/* Products with what stands behind them. false: out of memory. fuse_product.c. */
bool fr__fusing_find_products(struct fr__fusing *f);

/* Fills the groups. false: out of memory. fuse_find.c. */
bool fr__fusing_find(struct fr__fusing *f);

/* Fills is_internal. fuse_inside.c. */
bool fr__fusing_look_inside(struct fr__fusing *f);
/* Calls with each tensor from which an internal one is made number by number, of those that are not
 * internal themselves. false: some op draws random numbers or works on rows, or the tensors are
 * many; some calls may have been made. Always true for an internal tensor that is read outside. */
typedef void (*fr__fusing_input)(void *user, uint32_t tensor);
bool fr__fusing_inputs(const struct fr__fusing *f, uint32_t tensor, fr__fusing_input call,
                       void *user);

#endif
