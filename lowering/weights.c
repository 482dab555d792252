/* lowering/weights.c - parameter tensors by the shape of their op; see weights.h. */
#include "config.h"

#include "lowering/weights.h"

#include "workloads/graph/infer_shape.h"

#include <math.h>

double fr__tensor_elements_of(const struct fr__tensors *t)
{
    double n = 1;

    for (unsigned d = 0; d < t->n_dims; d++)
        n *= t->dims[d];
    return n;
}

/* One tensor of the op's shape. n_dims 0: the shape has none. */
static struct fr__tensors first_of(const struct fr_shape *s)
{
    switch (s->of) {
    case FR_SHAPE_PRODUCT:
        return (struct fr__tensors){
            .n = 1, .dims = {(double)s->product.columns, (double)s->product.depth}, .n_dims = 2};
    case FR_SHAPE_CONV:
        return (struct fr__tensors){.n = 1,
                                    .dims = {(double)s->conv.out_channels,
                                             (double)s->conv.in_channels / (double)s->conv.groups,
                                             (double)s->conv.filter_height,
                                             (double)s->conv.filter_width},
                                    .n_dims = 4};
    case FR_SHAPE_EMBEDDING:
        return (struct fr__tensors){
            .n = 1,
            .dims = {(double)s->embedding.vocabulary, (double)s->embedding.width},
            .n_dims = 2};
    default:
        return (struct fr__tensors){.n = 0};
    }
}

struct fr__weights fr__weights_of(const struct fr_graph *g, uint32_t op)
{
    const struct fr_op *o = &g->ops[op];
    double elements = (double)o->param_bytes / g->param_elem_bytes;
    double n_tensors = o->n_params > 0 ? o->n_params : 1, each;
    struct fr__weights w = {.is_end = o->kind == FR_OP_EMBEDDING};
    struct fr_shape shape;

    if (fr__op_shape(g, op, &shape))
        w.matrices = first_of(&shape);
    each = fr__tensor_elements_of(&w.matrices);
    if (w.matrices.n_dims == 0 || each > elements)
        w.matrices = (struct fr__tensors){.n = 0};
    else if (n_tensors * each <= elements)
        w.matrices.n = n_tensors; /* all alike, as far as they go */
    elements -= w.matrices.n * each;
    n_tensors = fmax(n_tensors - w.matrices.n, 1);
    if (elements > 0)
        w.vectors =
            (struct fr__tensors){.n = n_tensors, .dims = {elements / n_tensors}, .n_dims = 1};
    return w;
}
