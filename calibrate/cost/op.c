/* calibrate/cost/op.c - the cost of one op: by its recorded samples (cost_samples.c), or else by
 * rule (cost.c). */
#include "config.h"

#include "calibrate/cost/model.h"
#include "calibrate/cost/samples.h"

void fr_cost_op(const struct fr_cost_model *m, uint32_t type, const struct fr_graph *g, uint32_t op,
                const struct fr_part *part, struct fr_cost *out)
{
    const struct fr_op *o = &g->ops[op];

    *out = (struct fr_cost){.kind = o->kind, .trust = FR_TRUST_DATASHEET};
    if (g->n_samples > 0 && fr__cost_by_samples(m, type, g, op, part, out))
        return;
    if (fr__op_is_free(o))
        return;
    fr__cost_by_rule(out, m, type, g, op, part);
    out->launch_s = fr__cost_model_launch_s(m, type);
}
