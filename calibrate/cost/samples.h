/* calibrate/cost/samples.h - the time of an op from measured times (samples) of it.
 *
 * - Same device type and batch: the mean of the samples.
 * - Another batch: the curve, times the ratio measured / curve. Between two sampled batches the
 *   ratio is interpolated linearly; outside, it is that of the nearer end. So the result agrees
 *   with every sample. An op of unknown FLOPs and bytes has a curve proportional to the batch.
 * - No samples of the device type: the samples of the nearest relative that has some, with the
 *   ratio measured / curve on that type and the curve of this type. An op without a curve (a
 *   layer's whole backward pass) is moved by the curves of its forward op. If there are none, and
 *   it is made of matrix products, it is moved by the curves of one product of as many FLOPs. If
 *   only this type has a curve, that curve alone is used.
 * - No curves on either type, or samples of a type that is not named ("*"): the samples as they
 *   are.
 */
#ifndef FR_CALIBRATE_COST_SAMPLES_H
#define FR_CALIBRATE_COST_SAMPLES_H

#include "calibrate/calibrate.h"

/* false, with *out untouched: there are no samples, or a curve of this type alone is better. Sets
 * mean, spread, error, launch and trust. g has samples. */
bool fr__cost_by_samples(const struct fr_cost_model *m, uint32_t type, const struct fr_graph *g,
                         uint32_t op, const struct fr_part *part, struct fr_cost *out);

/* For an op of matrix products whose sizes are not known: the cost of one product with as many
 * FLOPs and equal rows, columns and depth. false: the op is none, or the type has no curve of
 * products. */
bool fr__cost_as_product(struct fr_cost *c, const struct fr_cost_model *m, uint32_t type,
                         const struct fr_graph *g, uint32_t op, const struct fr_part *part);

/* The cost without samples: by the type's curve for the op, or else by a roofline (cost.c). c->kind
 * is set. */
void fr__cost_by_rule(struct fr_cost *c, const struct fr_cost_model *m, uint32_t type,
                      const struct fr_graph *g, uint32_t op, const struct fr_part *part);

/* A view: no kernel, so nothing to launch. */
static inline bool fr__op_is_free(const struct fr_op *o)
{
    return o->flops <= 0 && o->bytes <= 0 && o->param_bytes == 0;
}
#endif
