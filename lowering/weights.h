/* lowering/weights.h - the parameter tensors of an op, as an optimizer sees them.
 *
 * Optimizers that work on matrices need to know their rows and columns. A graph says how many
 * parameters an op has and in how many tensors; the op's shape says the sizes of the first.
 *
 *     linear layer    [outputs][inputs], or several of these
 *     convolution     [outputs][inputs of a group][height][width]
 *     embedding       [vocabulary][width]
 *     others          vectors of equal length
 *
 * What is left of an op's parameters is vectors, such as a bias.
 *
 * Source:  PyTorch, torch/nn/modules: linear.py, conv.py, sparse.py (shapes of weights).
 * Ignores: tensors of whole layers that an import gives as one op: they are vectors.
 */
#ifndef FR_LOWERING_WEIGHTS_H
#define FR_LOWERING_WEIGHTS_H

#include "workloads/workloads.h"

enum { FR__MOST_WEIGHT_DIMS = 4 };

/* `n` tensors of equal sizes; 0: there are none. */
struct fr__tensors {
    double n, dims[FR__MOST_WEIGHT_DIMS];
    unsigned n_dims; /* at least 1 where there are some */
};

struct fr__weights {
    struct fr__tensors matrices; /* of at least two dims */
    struct fr__tensors vectors;
    bool is_end; /* an embedding, or a product whose result goes to the loss */
};

/* Those of a forward op with parameters. `is_end` is right but for the products before a loss,
 * which fr__params_find() knows. */
struct fr__weights fr__weights_of(const struct fr_graph *g, uint32_t op);

/* Numbers of one tensor. */
double fr__tensor_elements_of(const struct fr__tensors *t);

#endif
