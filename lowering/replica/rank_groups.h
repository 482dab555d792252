/* lowering/replica/rank_groups.h - how replicas fall into groups that do something together,
 * stage by stage of a pipeline.
 *
 * Replicas are those that are placed. In a folded plan one stands for others, and its groups name
 * devices that have no task.
 */
#ifndef FR_LOWERING_REPLICA_RANK_GROUPS_H
#define FR_LOWERING_REPLICA_RANK_GROUPS_H

#include "base/base.h"

struct fr__rank_groups {
    uint32_t n_groups;                  /* with a replica that is placed */
    uint32_t n_ranks;                   /* of each group */
    const uint32_t *plan_group;         /* [n_stages][n_groups] groups of the plan */
    const uint32_t *group_of, *rank_of; /* [n_replicas] */
};

#endif
