/* lowering/replica/group_ops.h - ops of a sharded graph that are messages: each becomes a member
 * of a collective of the plan, one collective a micro-batch and group.
 *
 * A message of axis a runs on a stream of its own (fr__group_stream), so that it stands in the way
 * of what reads it and of nothing else: a sum of an input's gradient runs beside the gradient of
 * the weights, which does not wait for it. Messages of an axis may also take the stream that
 * computes: then nothing else runs meanwhile.
 */
#ifndef FR_LOWERING_REPLICA_GROUP_OPS_H
#define FR_LOWERING_REPLICA_GROUP_OPS_H

#include "lowering/replica/rank_groups.h"
#include "lowering/replica/replica.h"
#include "workloads/passes/shard.h"

enum { FR__N_SHARD_AXES = 32 };

/* A tensor that each rank of a tensor group has whole, read on another rank of the pipeline: each
 * sends its part, and the readers' group gathers it (D. Narayanan et al., Megatron-LM, SC 2021,
 * section 4.1: scatter/gather communication optimization). */
struct fr__crossing {
    uint32_t stage; /* of a reader, whose group gathers */
    double bytes;   /* of the whole tensor, at the graph's batch */
    bool scales;    /* with the batch */
};

struct fr__group_ops_problem {
    const struct fr__sharded *sharded;                    /* of the placer's graph */
    const struct fr__rank_groups *axes[FR__N_SHARD_AXES]; /* by fr__comm.axis; NULL: not used */
    const uint32_t *stage_of;                             /* [n_ops]; NULL: all in the first */
    const struct fr__share *share;                        /* the same for all replicas */
    bool is_folded;
    bool computes_nothing_beside[FR__N_SHARD_AXES]; /* by axis: nothing runs beside its messages */
    /* Tensors that are sent in parts; all on axis `crossing_axis` */
    uint32_t n_crossings, crossing_axis;
    const struct fr__crossing *crossings; /* [n_crossings] */
    const uint32_t *crossing_of;          /* [n_edges] FR_NONE; NULL: all are sent whole */
};

/* The collective that an op is whose kind is a message (fr_op_kind_is_message). */
enum fr_collective_kind fr__collective_of(enum fr_op_kind kind);

/* Adds the collectives of all micro-batches to the plan and tells the placer, whose replicas ask
 * for them from then on. Its memory comes from the placer's arena; *in is copied, what it points to
 * must stay. FR_ENOMEM; FR_ERANGE: more collectives than a plan holds. */
enum fr_status fr__group_ops_add(struct fr__placer *pl, const struct fr__group_ops_problem *in,
                                 struct fr_error *err);

struct fr__group_ops;

/* Whether an op is a message. x: NULL where the graph is not sharded. */
bool fr__is_group_op(const struct fr__group_ops *x, uint32_t op);
/* Adds the member of a replica. */
uint32_t fr__add_group_op(const struct fr__group_ops *x, struct fr__placer *pl, uint32_t op,
                          uint32_t device, uint32_t replica, uint32_t micro, uint32_t microbatch);
/* The crossing of an edge that leads to another rank of the pipeline; FR_NONE: it is sent whole. */
uint32_t fr__crossing_of(const struct fr__group_ops *x, uint32_t edge);
/* In how many parts. */
uint32_t fr__crossing_parts(const struct fr__group_ops *x);
/* Adds the member of a replica in the gather of a crossing; *member says device, op, micro-batch
 * and phase. */
uint32_t fr__add_crossing(const struct fr__group_ops *x, struct fr__placer *pl, uint32_t crossing,
                          const struct fr_task *member, uint32_t replica, uint32_t micro);
/* What a tensor that a body op writes is kept as: gathered parameters are communication, whole
 * gradients before they are scattered are gradients, all else activations. x: NULL: likewise. */
enum fr_buffer_kind fr__group_ops_buffer(const struct fr__group_ops *x, const struct fr_graph *g,
                                         uint32_t tensor);
/* How far the numbers of collectives are apart from one micro-batch to the next. 0 without
 * messages. */
uint32_t fr__group_ops_stride(const struct fr__group_ops *x);

#endif
