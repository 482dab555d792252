/* strategies/layout.h - how the ops of a training step are spread over a mesh of ranks: what a
 * strategy that splits ops tells of its plan.
 *
 * Part of a record of decisions (strategies/decisions.h), which owns all of it. Ops are ops of the
 * plan's graph. Rank r of the mesh has the coordinate r / stride % size along an axis.
 */
#ifndef FORERUN_LAYOUT_H
#define FORERUN_LAYOUT_H

#include "base/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An axis of the mesh. Experts have a mesh of their own over the same ranks. */
struct fr_layout_axis {
    const char *name; /* "tp" */
    const char *what; /* what its ranks share out: "columns and rows of each layer" */
    uint32_t size, stride;
    bool is_of_experts;
    bool is_stages; /* its ranks are the ranks of a pipeline */
};

enum fr_layout_placement {
    FR_LAYOUT_WHOLE,   /* every rank has all of it */
    FR_LAYOUT_SPLIT,   /* along a dimension */
    FR_LAYOUT_PARTIAL, /* every rank has a term of the sum */
};

/* How an axis divides an op. */
struct fr_layout_split {
    uint32_t axis;        /* index of axes */
    const char *loop;     /* "columns" */
    bool divides_weights; /* else each rank has all of them */
    enum fr_layout_placement output;
    uint8_t dim; /* FR_LAYOUT_SPLIT: of the output */
};

struct fr_layout_op {
    uint32_t op;
    size_t n_splits;
    const struct fr_layout_split *splits;
};

struct fr_layout {
    size_t n_axes;
    const struct fr_layout_axis *axes; /* innermost first, then those of experts; some of size 1 */
    const char *map;                   /* the order as the user named it */
    uint32_t n_ranks;
    const uint32_t *devices;        /* [n_ranks] of the topology */
    uint32_t n_stages;              /* 1: no pipeline */
    const uint32_t *rank_of;        /* [n_stages] coordinate along the axis of stages */
    uint32_t n_micros, micro_batch; /* of a replica; samples */
    unsigned zero;                  /* what replicas share out: 1 optimizer, 2 gradients too, 3
                                       parameters too */
    size_t n_units;
    const char *const *units; /* [n_units] "layer3": the blocks that the model repeats */
    size_t n_graph_ops;
    const uint32_t *unit_of;  /* [n_graph_ops] FR_NONE: of no unit */
    const uint32_t *stage_of; /* [n_graph_ops] */
    size_t n_ops;
    const struct fr_layout_op *ops; /* forward ops that compute, in graph order */
};

#ifdef __cplusplus
}
#endif
#endif
