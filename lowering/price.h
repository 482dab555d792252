/* lowering/price.h - what an op, an update, a sum or a collective costs, and what it
 * holds. */
#ifndef FR_LOWERING_PRICE_H
#define FR_LOWERING_PRICE_H

#include "lowering/recipe.h"
#include "lowering/lowering.h"

struct fr__owner;
struct fr__placer;
struct fr__update;

/* ---- seconds ---- */

/* What fr_cost_op says of an op of the problem's graph, which a memo may know. */
void fr__price_by_model(const struct fr_problem *in, uint32_t type, uint32_t op,
                        const struct fr_part *part, struct fr_cost *cost);
/* A kernel of the kind that only moves so many bytes. */
void fr__price_bytes(const struct fr_problem *in, uint32_t type, double bytes, enum fr_op_kind kind,
                     struct fr_cost *cost);
/* What a row costs on a device type over param_bytes > 0 of the parameters of an owner, of which
 * a rank has one of `shards` shares. Fills *cost. */
void fr__price_update(const struct fr__placer *pl, uint32_t type, const struct fr__update *u,
                      const struct fr__owner *w, uint64_t param_bytes, double shards,
                      struct fr_cost *cost);
/* What a part of an op costs on a device type; an update as the optimizer makes it. */
void fr__price_op(const struct fr__placer *pl, uint32_t type, uint32_t op,
                  const struct fr_part *part, struct fr_cost *cost);

/* The costs of ops on one device type at one batch, filled as they are asked for. NULL: out of
 * memory. Cost: linear in the number of different (type, batch). */
struct fr__cost_rows *fr__cost_rows(struct fr__placer *pl, uint32_t type, double batch);
/* Row of the plan's cost table. */
uint32_t fr__op_cost(struct fr__placer *pl, struct fr__cost_rows *rows, uint32_t op);

/* Bytes of a tensor when the step has `batch` samples. */
uint64_t fr__bytes_at(const struct fr__placer *pl, uint64_t bytes, bool scales, double batch);

/* Bytes of gradients as they are kept, for so many bytes of parameters. */
uint64_t fr__gradient_bytes(const struct fr__placer *pl, uint64_t param_bytes);
/* So many bytes of a tensor of the graph when the step has `batch` samples: as they are, but of a
 * parameter's gradient as it is kept. */
uint64_t fr__tensor_bytes(const struct fr__placer *pl, uint32_t tensor, uint64_t bytes,
                          double batch);

/* A sum of n gradients of so many bytes on a device type: it reads them all and writes one. */
void fr__price_sum(const struct fr__placer *pl, uint32_t type, uint64_t bytes, size_t n,
                   struct fr_cost *cost);

/* What a collective on a group of the plan costs as a whole, as measured on the group's system.
 * false: not known, *cost untouched. */
bool fr__price_collective(const struct fr__placer *pl, const struct fr_collective *c,
                          struct fr_cost *cost);

/* ---- what the optimizer keeps and moves ---- */

/* Bytes of a part of the recipe that a rank holds, for so many bytes of parameters of an owner.
 * Only where the placer has a keeping. */
uint64_t fr__kept_bytes(const struct fr__placer *pl, enum fr__recipe_part part, uint32_t owner,
                        uint64_t param_bytes);
/* Bytes of parameters of an owner that are gathered once they are updated: none where another owner
 * holds them. */
uint64_t fr__gathered_bytes(const struct fr__placer *pl, const struct fr__owner *w);
/* Bytes that a rank has of the weights of an owner, which are so many in the graph. */
uint64_t fr__weight_bytes(const struct fr__placer *pl, uint32_t owner, uint64_t param_bytes);
/* Whether the backward pass adds to gradients that are there from the start. */
bool fr__has_main_gradients(const struct fr__placer *pl);
/* Whether gradients are no tensors, but added to main gradients that are always there. */
bool fr__adds_to_main(const struct fr__placer *pl);

/* Whether the gradient of an owner goes when it has been summed, and the rank's share of it stays:
 * ZeRO's second level where gradients are tensors of the graph. */
bool fr__gradient_leaves(const struct fr__placer *pl, uint32_t owner);

/* What the optimizer keeps for that many bytes of an owner's parameters (lowering/optimizer.h), and
 * three products of Adam's where it is written as ops; where parameters have under 4 bytes each,
 * the states and a master copy are fp32 (P. Micikevicius et al., Mixed Precision Training, ICLR
 * 2018). */
uint64_t fr__optimizer_bytes(const struct fr_problem *in, const struct fr__owner *w,
                             uint64_t param_bytes);

/* The same of a rank that shares nothing out, by what the placer keeps. */
uint64_t fr__whole_optimizer_bytes(const struct fr__placer *pl, const struct fr__owner *w,
                                   uint64_t param_bytes);
/* With the parameters, and gradients that are kept from step to step. */
uint64_t fr__variable_bytes(const struct fr__placer *pl, const struct fr__owner *w,
                            uint64_t param_bytes);

/* How many tensors these bytes are, all of a size but for what an optimizer's rule adds. */
unsigned fr__optimizer_tensors(const struct fr_problem *in, const struct fr__owner *w);

/* Temporaries of one update: PyTorch's Adam makes two of the parameter's size, SGD none (measured
 * with PyTorch 1.13.1, one parameter at a time; a fused optimizer needs none, one that updates all
 * parameters in one call, as newer versions do on GPUs, as much as all gradients). Where Adam is
 * written as ops one, beside its products (struct fr_problem): (1 - beta) g; the others are made in
 * place. */
unsigned fr__update_temporaries(const struct fr_problem *in);
uint64_t fr__update_workspace_bytes(const struct fr_problem *in, uint64_t param_bytes);

#endif
