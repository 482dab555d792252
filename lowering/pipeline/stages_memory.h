/* lowering/pipeline/stages_memory.h - what the items of a chain hold, by which cuts are made.
 *
 * An estimate of what a run's account of memory will find, from the graph alone: parameters with
 * what is kept beside them; tensors that a forward op makes and a backward op reads, for each
 * micro-batch in flight, where they are read if that is another stage; and what a pass has at its
 * fullest moment. What it leaves out is measured: struct fr_cut_memory. Those are messages that
 * come early, buckets of gradients, and what an allocator cannot use. */
#ifndef FR_LOWERING_PIPELINE_STAGES_MEMORY_H
#define FR_LOWERING_PIPELINE_STAGES_MEMORY_H

#include "lowering/pipeline/stages.h"

/* Arrays as in struct fr__chain. */
struct fr__stages_memory {
    double *fixed_bytes, *live_bytes, *enter_bytes, *leave_bytes; /* [n + 1] */
    double *half_bytes, *burst_bytes;                             /* [n + 1] */
};

/* Of the graph's items at micro-batches of `batch` samples, from the placer's arena. FR_ENOMEM.
 * O(ops + edges + tensors). */
enum fr_status fr__stages_memory(struct fr__stages_memory *out, struct fr__placer *pl,
                                 const struct fr__items *items, double batch, struct fr_error *err);

/* What a run before found on that device beyond what was believed. */
double fr__stages_more_bytes(const struct fr__placer *pl, uint32_t device);
/* Leaves the note that so many layers cannot be shared out evenly, where that costs time: what is
 * planned, and what it would be if they could (0: not known). */
void fr__stages_tell_layers(const struct fr__placer *pl, size_t n_layers, size_t n_stages,
                            double planned_s, double even_s);
/* Leaves what is believed of the cut, and a note of what memory or the number of items did to it,
 * for who will run the plan. */
void fr__stages_tell(const struct fr__placer *pl, const struct fr__stages_problem *in,
                     const struct fr__chain *c, const uint32_t first[],
                     const struct fr__choice *choice);

#endif
