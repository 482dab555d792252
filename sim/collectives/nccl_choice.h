/* sim/collectives/nccl_choice.h - what NCCL chooses for a collective of a run. */
#ifndef FR_SIM_COLLECTIVES_NCCL_CHOICE_H
#define FR_SIM_COLLECTIVES_NCCL_CHOICE_H

#include "collectives/nccl/tuner.h"
#include "sim/collectives/schedule_choice.h"

/* By the cost table of the group's communicator, searched once and kept from run to run. way: its
 * protocol alone, or any if it has none; its version, and whether switches can sum. false: NCCL has
 * no model of this group or collective, or the failure is kept. */
bool fr__nccl_choice_of(struct fr__engine *e, uint32_t collective,
                        const struct fr_collective_way *way, struct fr__nccl_choice *out);
/* The lowest compute capability of the group's GPUs, 90; 0: NCCL has no model of them. */
unsigned fr__group_min_sm(struct fr__engine *e, uint32_t group, unsigned version);
/* How much slower an algorithm moves bytes by a protocol than by Simple, as NCCL's table has it: LL
 * is bound by the processor (llMaxBw). 0: NCCL has no model of them. */
double fr__protocol_slowdown(struct fr__engine *e, uint32_t collective, unsigned version,
                             enum fr__nccl_algorithm a, enum fr__nccl_protocol p);
/* fr__nccl_tree_in_turn_s of the collective; 0 where NCCL has no model. */
double fr__tree_in_turn_s(struct fr__engine *e, uint32_t collective, unsigned version);
/* The nodes that a group lies on: machines, or NVLink domains where one NVSwitch joins the GPUs of
 * several machines. 0: not as many GPUs in each, or the failure is kept. */
uint32_t fr__group_nodes(struct fr__engine *e, uint32_t group, unsigned version);
/* The chains inside machines of NCCL's trees, a lane a tree; the model keeps them. */
struct fr__chains {
    uint32_t n_lanes, per_node;
    const uint32_t *order, *place; /* [n_lanes][per_node] */
};
bool fr__group_chains(struct fr__engine *e, uint32_t group, unsigned version,
                      struct fr__chains *out);
void fr__kept_models_free(struct fr__kept_models *k);

#endif
