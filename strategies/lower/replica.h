/* strategies/lower/replica.h - one copy of the model on one or more devices: its ops become tasks.
 *
 * The body (forward, backward) is placed once a micro-batch, the tail (sums of parameter gradients,
 * updates) once. An edge between devices becomes one send and receive a (tensor, destination,
 * micro-batch), with a buffer at the receiver.
 *
 * Memory follows the graph's edges: a tensor lives from its op's task until all its readers (here or
 * sent) are done; views and in-place outputs share the storage of what they are views of. Parameter
 * gradients live from the first task that writes them, over all micro-batches, until the device's last
 * update, and no update starts before its last backward task: the optimizer's step follows the
 * backward pass and gradients are dropped after it, as in PyTorch. The batch and the model's outputs
 * are held until then too, where there are no micro-batches. Staging copies of accumulated
 * gradients are not modelled.
 */
#ifndef FR_STRATEGIES_REPLICA_H
#define FR_STRATEGIES_REPLICA_H

#include "strategies/lower/placer.h"

/* A micro-batch on its way through the replica, or the tail. */
struct fr__micro {
    uint32_t index;       /* FR_NONE: there is only one */
    double batch;         /* samples */
    uint32_t *task_of;    /* [n_ops] FR_NONE: not placed yet */
    int32_t *priority_of; /* [n_ops] of that task */
    uint32_t *buffer_of;  /* [n_tensors] on its op's device, FR_NONE: none */
    uint32_t *copies;     /* [n_tensors] first of a list in the replica's copies, FR_NONE */
    bool *is_followed;    /* [n_ops] by a task on the same device */
    uint32_t *end_of;     /* [n_devices][2] join of the forward, backward ops there, FR_NONE */
};

struct fr__replica {
    struct fr__placer *pl;
    struct fr__arena *arena;
    const uint32_t *device_of; /* [n_ops] caller's, lives as long */
    struct fr__micro *micros;  /* [n_micros] */
    size_t n_micros;
    struct fr__micro tail;
    bool is_in_turn;       /* micro-batches run one after the other, forward and backward */
    uint32_t *first_task;  /* [n_ops] of all micro-batches, the one made first */
    uint32_t *gradient_of; /* [n_tensors] its storage over all micro-batches, FR_NONE */
    uint32_t *done_of;     /* [n_devices] marker after all of the body there, FR_NONE: unused */
    uint32_t *step_of;     /* [n_devices] marker after all updates there, FR_NONE: none yet */
    struct fr__copy *copies;
    size_t n_copies, cap_copies;
    bool is_out_of_memory;
};

/* A replica's samples in micro-batches. */
struct fr__share {
    uint32_t n_micros;        /* >= 1 */
    double batch, last_batch; /* samples of each but the last, of the last */
};

/* FR_EUSAGE where n_micros does not divide the samples. */
enum fr_status fr__share_equally(struct fr__share *out, uint32_t samples, uint64_t n_micros,
                                 struct fr_error *err);

/* fini may follow a failed init. FR_ERANGE: more tasks than a plan holds. */
enum fr_status fr__replica_init(struct fr__replica *r, struct fr__placer *pl,
                                const uint32_t device_of[], const struct fr__share *share,
                                struct fr_error *err);
void fr__replica_fini(struct fr__replica *r);

/* Persistent buffers: context, parameters (copies of tied ones where they are used too) and, if
 * wanted, what the optimizer keeps. */
void fr__place_persistent(struct fr__replica *r, bool with_optimizer);

/* Places ops of the body in that order; their producers must have been placed. Ops without an
 * earlier one of the same call on their device wait for task `after` (FR_NONE: for nothing). */
void fr__place_ops(struct fr__replica *r, size_t micro, const uint32_t ops[], size_t n,
                   uint32_t after);
/* A marker after those of the ops (all on that device, all forward or all backward) that nothing on
 * it follows yet. What leaves the device from then on waits for it: frameworks hand a stage's results
 * on when its whole pass is done, weight gradients included. */
uint32_t fr__place_join(struct fr__replica *r, size_t micro, const uint32_t ops[], size_t n,
                        uint32_t device);
/* The whole body, in graph order, and its markers. Each sum of parameter gradients follows the last of
 * what it adds, as in PyTorch, whose engine adds them as they come. Several micro-batches, which must
 * be on one device, run one after the other, forward and backward, and gradients are complete when
 * the last one's are: accumulation. The middle ones are copies (plan/pattern.h). */
void fr__place_body(struct fr__replica *r);

/* The tail, after the body is whole and done_of set: first the sums that are not placed yet, then the
 * updates; tied copies of parameters are refreshed after these. */
void fr__place_sums(struct fr__replica *r);
void fr__place_updates(struct fr__replica *r);
void fr__refresh_tied(struct fr__replica *r);

/* Makes `task` wait for all that the owner's gradient needs; with frees it is also the last to read
 * it (for plans that do not place the replica's updates). */
void fr__after_gradient(struct fr__replica *r, const struct fr__owner *w, uint32_t task,
                        bool frees);
/* Task of an update op, once placed. */
uint32_t fr__update_task(const struct fr__replica *r, uint32_t op);
/* FR_ENOMEM if any call above ran out of memory. */
enum fr_status fr__replica_status(const struct fr__replica *r, struct fr_error *err);

#endif
