/* lowering/share.h - how evenly whole tensors are shared out among ranks.
 *
 * Muon, Shampoo and SOAP update a tensor as a whole. Where ZeRO shares their states out, each rank
 * has whole tensors: the largest first, each to the rank that has least so far. The ranks of a plan
 * do the same, so each is priced as the busiest: its share is the mean times a factor of at least
 * 1.
 *
 * Source:  NVIDIA/Megatron-LM, megatron/core/optimizer/layer_wise_optimizer.py,
 *          _compute_per_buffer_param_layout (greedy, by numbers of parameters; embeddings and
 *          vectors are sliced element by element, by another optimizer); R. Graham, SIAM Journal on
 *          Applied Mathematics 17(2), 1969.
 * Ignores: that Megatron-LM shares out bucket by bucket, and pads each to the fullest share.
 */
#ifndef FR_LOWERING_SHARE_H
#define FR_LOWERING_SHARE_H

#include "base/arena.h"
#include "lowering/params.h"

/* Of the busiest rank, over the mean of all: numbers of parameters, and FLOPs of the step. */
struct fr__busiest {
    double held, worked;
};

/* Matrices of some owners, [n_owners] indices into p->owners, among n_ranks >= 1 ranks, by what
 * fr__rule_holds() for the optimizer. 1 and 1 where there is nothing to share. Scratch comes from
 * the arena. Cost: O((matrices + ranks) log (matrices + ranks)). */
enum fr_status fr__share_out(struct fr__busiest *out, const struct fr__params *p,
                             const uint32_t owners[], size_t n_owners, uint32_t n_ranks,
                             enum fr_optimizer optimizer, struct fr__arena *arena,
                             struct fr_error *err);
#endif
