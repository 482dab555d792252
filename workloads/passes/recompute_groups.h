/* workloads/passes/recompute_groups.h - which ops make up a group that is recomputed together; used
 * by workloads/passes/recompute.c alone.
 */
#ifndef FR_WORKLOADS_PASSES_RECOMPUTE_GROUPS_H
#define FR_WORKLOADS_PASSES_RECOMPUTE_GROUPS_H

#include "base/arena.h"
#include "workloads/passes/recompute.h"

struct fr__groups {
    size_t n_groups;
    uint32_t *group_of_op; /* [n_ops] of forward and backward ops; FR_NONE */
    uint32_t *first, *ops; /* [n_groups + 1], [n_grouped]: a group's ops in graph order */
    bool *discards;        /* [n_groups] its outputs are not kept either */
};

/* Sets group_of_op of the forward ops of all modules that are asked for, and n_groups;
 * is_discarded: [n_ops] room for groups, numbered as they are. FR_EUSAGE: a module that the
 * graph has not; FR_ENOMEM. (recompute_modules.c) */
enum fr_status fr__groups_of_modules(struct fr__groups *out, const struct fr__recompute_problem *in,
                                     struct fr__arena *arena, struct fr_error *err);

/* The ends of the attention core around a softmax, marked with the group unless that is FR_NONE;
 * false: it is no core. (recompute_core.c) */
bool fr__groups_mark_core(const struct fr_graph *g, uint32_t softmax, uint32_t group,
                          uint32_t group_of_op[]);

/* Everything in `arena`. FR_EUSAGE: the graph has no units. FR_ENOMEM. */
enum fr_status fr__groups_find(struct fr__groups *out, const struct fr__recompute_problem *in,
                               struct fr__arena *arena, struct fr_error *err);

#endif
