/* workloads/graph/shape.h - the sizes of shapes by name: what the readers, writers and checks of
 * shapes share.
 *
 * struct fr_shape (workloads.h) has a field for each size. The tables here list the fields of each
 * class once, so that a size is read, written and checked in one place.
 */
#ifndef FR_WORKLOADS_GRAPH_SHAPE_H
#define FR_WORKLOADS_GRAPH_SHAPE_H

#include "workloads/workloads.h"

enum fr__size_type { FR__SIZE_COUNT, FR__SIZE_FLAG, FR__SIZE_OPERAND };

/* One size of a class of shapes. */
struct fr__size {
    const char *name; /* as ops.csv has it */
    size_t offset;    /* in struct fr_shape */
    enum fr__size_type type;
    uint64_t least;   /* of a count */
    bool is_optional; /* then it is `fallback`, or where like is not 0 what stands at that offset */
    uint64_t fallback;
    size_t like;
};

/* The sizes of a class; a NULL name ends them. */
const struct fr__size *fr__shape_sizes(enum fr_shape_class c);

/* Flags are 0 and 1, operands numbers of enum fr_operand. */
uint64_t fr__size_get(const struct fr_shape *shape, const struct fr__size *size);
void fr__size_set(struct fr_shape *shape, const struct fr__size *size, uint64_t value);
const char *fr__operand_name(enum fr_operand operand); /* "none", "left", "right" */

/* The size that grows with the batch; NULL: the shape is not known. */
uint64_t *fr__shape_samples(struct fr_shape *shape, enum fr_op_kind kind);

/* The shape of ops whose output says it: elementwise ops, batch norms, norms and softmax. Unknown
 * for other kinds and for tensors without dims. */
struct fr_shape fr__shape_of_output(enum fr_op_kind kind, const struct fr_tensor *output);
/* n numbers that are parameters or their gradients. */
struct fr_shape fr__shape_of_parameters(double n);

/* Elements of a forward op's first output by its shape; 0: the shape does not say. */
double fr__shape_output_elements(const struct fr_op *op);

/* Whether the shape can be that of the op; if not, why. Does not look at the op's FLOPs. */
bool fr__shape_is_sound(const struct fr_op *op, char why[], size_t n);
/* Whether FLOPs and shape agree within 1 %, or one of them does not say. */
bool fr__shape_fits_flops(const struct fr_op *op);
#endif
