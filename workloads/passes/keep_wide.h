/* workloads/passes/keep_wide.h - the first and last blocks of a model whose linear layers keep 16
 * bits in training with narrower operands.
 *
 * Source:  NVIDIA, Pretraining Large Language Models with NVFP4, arXiv 2509.25149, section 4;
 *          Megatron-LM, --first-last-layers-bf16, --num-layers-at-start-in-bf16 and -at-end-.
 */
#ifndef FR_WORKLOADS_PASSES_KEEP_WIDE_H
#define FR_WORKLOADS_PASSES_KEEP_WIDE_H

#include "workloads/workloads.h"

/* Makes the graph in which the products of the first and last units (workloads/passes/units.h) keep
 * 16 bits. The caller frees it. FR_EUSAGE: there are not so many units; FR_ENOMEM. O(ops +
 * edges). */
enum fr_status fr__keep_wide(const struct fr_graph *g, uint64_t first, uint64_t last,
                             struct fr_graph **out, struct fr_error *err);
#endif
