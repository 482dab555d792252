/* lowering/exchange/exchange.h - how replicas of a model, or of its stages, average their
 * gradients.
 *
 * A policy decides which gradients travel together, over what, and who updates the parameters:
 *
 *   FR__EXCHANGE_BUCKETS  ring all-reduce over all replicas, in buckets: gradients in the order in
 *       which the backward pass completes them; a bucket is closed as soon as it holds
 *       bucket_bytes, so it may exceed them by less than its last gradient. All ranks start the
 *       buckets in the same order. Each rank keeps the buckets' storage beside its gradients, as
 *       DDP does by default.
 *       Source: S. Li et al., PyTorch Distributed, VLDB 2020, section 3.2.
 *   FR__EXCHANGE_STAGES   one all-reduce for each stage of a pipeline over the replicas of the
 *       stage, of all its gradients, in place.
 *   FR__EXCHANGE_STAGE_BUCKETS   likewise, but in buckets that leave during the backward pass of
 *       the last micro-batch, as soon as their gradients are complete, for each stage by itself.
 *       A stage's dense gradients and those of its experts fill buckets apart. On a device the
 *       buckets start one after the other, in the order in which they are complete.
 *       Source: Megatron-LM, megatron/core/distributed/param_and_grad_buffer.py
 *       (overlap_grad_reduce). There only the first stage has several buckets, since later stages
 *       end while the first still works; here all have.
 *   FR__EXCHANGE_SERVERS  parameter servers. A worker pushes a gradient to the server that holds
 *       its parameters as soon as it is complete. The server sums what all workers sent and
 *       updates. A worker pulls the new parameters when its backward pass is done; or, with
 *       pulls_at_start, when the next iteration begins, as TensorFlow reads remote variables: then
 *       an op waits for its own parameters alone. A server sends to one worker one message after
 *       the other: in the order of updates, or at the start in that of the model. A worker that is
 *       the server moves nothing.
 *       Source: M. Li et al., Scaling Distributed Machine Learning with the Parameter Server, OSDI
 *       2014 (synchronous mode). Traffic as in Y. Jiang et al., BytePS, OSDI 2020, section 2: a
 *       worker moves the model once each way, the servers together n times each way for n workers.
 *
 * A new policy is a row in the table of exchange.c.
 */
#ifndef FR_LOWERING_EXCHANGE_EXCHANGE_H
#define FR_LOWERING_EXCHANGE_EXCHANGE_H

#include "lowering/replica/rank_groups.h"
#include "lowering/replica/replica.h"

enum fr__exchange_policy {
    FR__EXCHANGE_BUCKETS,
    FR__EXCHANGE_STAGES,
    FR__EXCHANGE_STAGE_BUCKETS,
    FR__EXCHANGE_SERVERS
};

enum fr__server_place {
    FR__SERVER_CPU,    /* the CPU of the first device's machine */
    FR__SERVER_GPU0,   /* the first device */
    FR__SERVER_SHARDED /* all devices: the largest owner first, to the least loaded */
};

/* Gradients that are summed over the same ranks: all of a model, or its dense ones and its experts'
 * apart. The replicas fall into groups; each sums by itself. */
struct fr__reduce_part {
    struct fr__rank_groups over;
    uint32_t shards; /* > 1: each rank keeps its share of the optimizer's state and updates it: the
                        sum is a reduce-scatter, and an all-gather of parameters follows (S.
                        Rajbhandari et al., ZeRO, SC 2020, stages 1 and 2) */
    bool is_summed;  /* ops of the graph sum it: what follows is the all-gather */
};

/* A sum over further ranks: see late.c. */
struct fr__late_sum {
    struct fr__rank_groups over;
    const bool *is_partial; /* [n_ops] owners whose gradients are summed */
    const uint32_t
        *shards;       /* [n_ops] of owners: a rank has one of so many parts; NULL: all of it */
    const char *label; /* "norms' gradients" */
    bool joins_stages; /* a group has a rank on each of two stages; each has its owners, as many
                          bytes. over: every stage has the same groups */
};

struct fr__exchange_options {
    enum fr__exchange_policy policy;
    bool overlap; /* buckets, servers: gradients leave during the backward pass */
    /* buckets, stage buckets */
    uint64_t bucket_bytes;
    uint64_t most_in_bucket;     /* buckets: tensors of gradients in one at most; 0: any number */
    uint64_t first_bucket_bytes; /* buckets: the first is closed at so many; 0: as the others */
    /* Buckets: passes over a bucket's bytes that bring gradients into its storage and back, 0: they
     * travel from where they are (copies.c) */
    uint64_t n_passes_in, n_passes_out;
    /* Buckets: bytes of a gradient as it travels, and as these passes copy it, over those as it is
     * kept; 0: as kept. Sizes of buckets count what is kept */
    double travel_frac, copy_frac;
    bool copies_on_comm;    /* the copies take turns with the collectives on their stream */
    bool is_step_by_bucket; /* an update waits for its own bucket, not for all on its device */
    bool keeps_copies;      /* buckets, without stages, have storage of their own beside the
                               gradients; main gradients (recipe.h) travel from where they are:
                               Megatron-LM, param_and_grad_buffer.py */
    /* Parameters that ranks update in shares are gathered when an iteration begins, not at its
     * end: see gather.c */
    bool gathers_at_start;
    /* [n_stages] stage buckets: the stages in the order in which they end their backward passes */
    const uint32_t *stage_order;
    /* buckets, stages, stage buckets */
    uint32_t n_stages, n_replicas; /* buckets: one stage */
    const uint32_t *stage_of;      /* [n_ops]; NULL: all in the first */
    const uint32_t *devices;       /* [n_stages][n_replicas] */
    uint32_t n_parts;
    const struct fr__reduce_part *parts;
    const uint8_t *part_of; /* [n_ops] of owners; NULL: all of the first part */
    uint32_t n_late;
    const struct fr__late_sum *late;
    bool is_folded;      /* a replica stands for others that do the same */
    bool has_two_stages; /* a device has a stage of each of two copies of the model */
    /* [n_stages] stages: of n_replicas, the most, those that the stage has: the first ones; its
     * groups are of so many. NULL: all */
    const uint32_t *replicas_of;
    /* servers */
    enum fr__server_place place;
    bool pulls_at_start;
};

/* All replicas in one group a stage. devices: [n_stages][n_replicas]; its arrays come from the
 * placer's arena. FR_ENOMEM. */
enum fr_status fr__group_all(struct fr__rank_groups *out, struct fr__placer *pl, uint32_t n_stages,
                             uint32_t n_replicas, const uint32_t devices[], struct fr_error *err);

struct fr__exchange; /* memory of the placer's arena */

/* Decides what travels together and adds the collectives, or the servers' memory. Logs it.
 * FR_EUSAGE: no CPU for FR__SERVER_CPU; FR_ENOMEM. *o is copied, its arrays must stay. */
enum fr_status fr__exchange_new(struct fr__exchange **out, struct fr__placer *pl,
                                const struct fr__exchange_options *o, struct fr_error *err);

/* Whether a replica updates its own parameters, and so keeps the optimizer's state. Then a replica
 * can be placed and forgotten; else all must stay until fr__exchange_finish. */
bool fr__exchange_is_local(const struct fr__exchange *x);

/* The replica's part; its body and sums must be placed. rank: of the replica. Where the exchange is
 * local this adds the updates too. */
void fr__exchange_place(struct fr__exchange *x, struct fr__replica *r, uint32_t rank);

/* What joins all replicas: [n_devices] one a device. To be called once, at the end; it does nothing
 * where the exchange is local. FR_ENOMEM. */
enum fr_status fr__exchange_finish(struct fr__exchange *x, struct fr__replica replicas[],
                                   struct fr_error *err);

/* ---- buckets ---- */

struct fr__buckets {
    size_t n;
    const uint32_t *first;  /* [n + 1] into owners */
    const uint32_t *owners; /* indices of trained owners, in the order their gradients are ready */
    const uint64_t *bytes;  /* [n] */
};

/* What closes a bucket. */
struct fr__bucket_limits {
    uint64_t bytes;       /* so many or more */
    uint64_t first_bytes; /* the first; 0: as the others */
    uint64_t tensors;     /* one more would be over so many; 0: any number */
};

/* part_of: [n_ops] of owners; a bucket is closed too where the part changes; NULL: it never does.
 * An owner's tensors stay together, even where they are more than the limit. All memory comes from
 * the arena. Cost: O(n log n). */
enum fr_status fr__buckets_make(struct fr__buckets *out, const struct fr__params *p,
                                const struct fr__bucket_limits *limits, const uint8_t part_of[],
                                struct fr__arena *arena, struct fr_error *err);
#endif
