/* workloads/passes/quantise_parts.h - what the files of the quantising pass share. */
#ifndef FR_WORKLOADS_PASSES_QUANTISE_PARTS_H
#define FR_WORKLOADS_PASSES_QUANTISE_PARTS_H

#include "workloads/passes/quantise.h"
#include "workloads/passes/sharded.h"

/* How an op reads a tensor; both: 3. */
enum { FR__BY_ROWS = 1, FR__BY_COLUMNS = 2 };

struct fr__quantising {
    const struct fr__quantise_problem *in;
    const struct fr_graph *g;
    const struct fr_formats *f;
    bool takes_columns; /* the units do */
    /* found first */
    uint8_t *uses;     /* [n_tensors] how narrow products read it, all together */
    uint8_t *carries;  /* [n_ops] what a message that gathers carries of copies; 0: 16 bits */
    bool *is_gradient; /* [n_tensors] of the backward pass, not of an activation */
    bool *is_wide;     /* [n_tensors] some op reads it in 16 bits, */
    bool *is_kept;     /* [n_tensors] in the backward pass, an activation */
    /* made on the way */
    struct fr__rewriter w;
    struct fr__messages messages;
    uint32_t *rows, *columns; /* [n_tensors] copies, new tensors; FR_NONE: not made yet */
    uint8_t *n_made;          /* [n_tensors] casts of it so far, for their names */
};

/* Fills what is found first. false: out of memory. */
bool fr__quantise_find(struct fr__quantising *q);
/* How op o reads in-edge e as a narrow operand; 0: in 16 bits, or only its order. */
unsigned fr__quantise_use(const struct fr__quantising *q, uint32_t o, const struct fr_edge *e);
#endif
