/* study/explain/step_products.h - the matrix products of an optimizer's step, by the sizes of the
 * tensors that they are for: what a replica makes in all, however its ranks share it. */
#ifndef FR_STUDY_EXPLAIN_STEP_PRODUCTS_H
#define FR_STUDY_EXPLAIN_STEP_PRODUCTS_H

#include "base/arena.h"
#include "lowering/lowering.h"
#include "lowering/weights.h"

/* Tensors of equal sizes; FLOPs and time are of each, on the first GPU's type. */
struct fr__step_row {
    struct fr__tensors tensors;
    double flops, time_s;
};

/* Rows in the order in which the graph has their first tensors; none where the optimizer makes no
 * products. g: one rank's, of the problem. Rows are the arena's. FR_ENOMEM. O(ops x
 * rows). */
enum fr_status fr__step_rows(struct fr__step_row **rows, size_t *n, const struct fr_problem *in,
                             const struct fr_graph *g, struct fr__arena *arena,
                             struct fr_error *err);
#endif
