/* calibrate/cost_samples.h - the time of an op from measured times of it.
 *
 * Same device type and batch: the mean of the samples. Another batch: the curve times the ratio
 * measured / curve, which between two sampled batches goes linearly from one's ratio to the other's
 * and outside stays at the nearer end's; so the result meets every sample. An op whose FLOPs and
 * bytes are not known has a curve proportional to the batch.
 *
 * Without samples of the device type: those of its nearest relative that has some, with the ratio
 * measured / curve on that type and the curve on this one. An op without curves (a layer's whole
 * backward pass) moves by those of its forward op; else, if it is made of matrix products, by those
 * of one product of as many FLOPs. Where only this type has a curve it is taken by itself. Where
 * neither has one, and for samples of a type that is not named ("*"): the samples as they are.
 */
#ifndef FR_CALIBRATE_COST_SAMPLES_H
#define FR_CALIBRATE_COST_SAMPLES_H

#include "calibrate/calibrate.h"

/* false: there are no samples, or a curve of this type alone says more; *out is untouched. Sets
 * mean, spread, error, launch and trust. g has samples. */
bool fr__cost_by_samples(const struct fr_cost_model *m, uint32_t type, const struct fr_graph *g,
                         uint32_t op, const struct fr_part *part, struct fr_cost *out);

/* The cost of a matrix product of as many FLOPs as the op's, with as many rows as columns as depth,
 * for an op of matrix products whose sizes are not known. false: it is none, or the type has no
 * curve of products. */
bool fr__cost_as_product(struct fr_cost *c, const struct fr_cost_model *m, uint32_t type,
                         const struct fr_graph *g, uint32_t op, const struct fr_part *part);

/* The cost without samples: by the type's curve for the op, else as a roofline (cost.c). c->kind is
 * set. */
void fr__cost_by_rule(struct fr_cost *c, const struct fr_cost_model *m, uint32_t type,
                      const struct fr_graph *g, uint32_t op, const struct fr_part *part);
#endif
