/* calibrate/cost/efficiency.h - ops with the same efficiency, and the table of efficiencies. */
#ifndef FR_CALIBRATE_COST_EFFICIENCY_H
#define FR_CALIBRATE_COST_EFFICIENCY_H

#include "calibrate/calibrate.h"

enum fr__op_class {
    FR__OP_CLASS_CONV,
    FR__OP_CLASS_MATMUL,
    FR__OP_CLASS_BATCH_MATMUL,
    FR__OP_CLASS_ATTENTION,
    FR__OP_CLASS_LSTM,
    FR__OP_CLASS_ELEMENTWISE,
    FR__OP_CLASS_LIKE_ELEMENTWISE,
    FR__OP_CLASS_SOFTMAX,
    FR__OP_CLASS_LAYERNORM,
    FR__OP_CLASS_LIKE_LAYERNORM,
    FR__OP_CLASS_LAYER,
    FR__N_OP_CLASSES
};

/* By class: the rows of calibrate/cost/efficiencies.yaml, which has the sources; the build makes a
 * constant table. */
extern const struct fr_efficiency fr__efficiencies[];
extern const size_t fr__n_efficiencies;

#endif
